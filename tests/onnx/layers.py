"""Nodes of random graphs (build.py) that reduce, multiply, have windows or states, and small networks of them, as
elements.py. Reductions read values that have elements."""
from build import BOOL, F32, I32, I64, broadcast, product
from elements import binary, clip, divide, tame, unary
from moves import concat, slices


def reduction(g):
    v = g.full()
    if v is None:
        return
    op = g.r.choice(("ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceL2", "ReduceLogSumExp",
                     "ReduceSumSquare", "ReduceMean", "ReduceProd"))
    axes = sorted(g.r.sample(range(v.rank), g.r.randint(0 if g.chance(0.1) else min(1, v.rank), min(3, v.rank))))
    keep = int(g.chance(0.6))
    noop = int(not axes and g.chance(0.4))
    over = axes or ([] if noop else list(range(v.rank)))
    to = [1 if i in over else d for i, d in enumerate(v.shape) if keep or i not in over]
    said = [k - v.rank if g.chance(0.3) else k for k in axes]
    out = g.add(op, [v, g.ints(said)] if axes or g.chance(0.5) else [v], v.kind, to, keepdims=keep,
                noop_with_empty_axes=noop)
    if op in ("ReduceSum", "ReduceSumSquare", "ReduceL1", "ReduceProd"):
        tame(g, out)


def arg_extreme(g):
    v = g.full(lambda v: v.rank > 0)
    if v is None:
        return
    said, k = g.axis(v)
    keep = int(g.chance(0.5))
    if g.chance(0.5):
        to = [1 if i == k else d for i, d in enumerate(v.shape) if keep or i != k]
        g.add(g.r.choice(("ArgMax", "ArgMin")), [v], I64, to, axis=said, keepdims=keep,
              select_last_index=int(g.chance(0.3)))
    else:
        n = g.r.randint(1, v.shape[k])
        to = v.shape[:k] + (n,) + v.shape[k + 1:]
        g.values.append(g.node("TopK", [v, g.ints([n])], [(v.kind, to), (I64, to)], axis=said,
                               largest=int(g.chance(0.6)))[0])


def softmax(g):
    v = g.full(lambda v: v.rank > 0)
    if v is not None:
        g.add(g.r.choice(("Softmax", "Softmax", "LogSoftmax")), [v], v.kind, v.shape, axis=g.axis(v)[0])


def cumulate(g):
    v = g.full(lambda v: v.rank > 0)
    if v is not None:
        said, _ = g.axis(v)
        tame(g, g.add("CumSum", [v, g.scalar(I64, said)], v.kind, v.shape, exclusive=int(g.chance(0.4)),
                      reverse=int(g.chance(0.4))))


def trilu(g):
    v = g.pick(lambda v: v.rank >= 2)
    if v is not None:
        g.add("Trilu", [v] + ([g.scalar(I64, g.r.randint(-2, 2))] if g.chance(0.7) else []), v.kind, v.shape,
              upper=int(g.chance(0.5)))


def one_hot(g):
    v = g.pick(lambda v: v.kind in (I64, I32) and 0 < v.rank < 5)
    if v is None:
        return
    n = g.r.randint(1, 5)
    k = g.r.randint(0, v.rank)
    to = v.shape[:k] + (n,) + v.shape[k:]
    if g.fits(to):
        g.add("OneHot", [v, g.scalar(I64, n), g.constant(g.kind, [2], [0.0, 1.0])], g.kind, to, axis=k)


def norm(g):
    v = g.full(lambda v: v.rank > 0)
    if v is None:
        return
    how = g.r.randrange(4)
    if how == 0:
        k = g.r.randrange(v.rank)
        ins = [v, g.constant(v.kind, v.shape[k:])] + ([g.constant(v.kind, v.shape[k:])] if g.chance(0.7) else [])
        g.add("LayerNormalization", ins, v.kind, v.shape, axis=k, epsilon=1e-2)
    elif how == 1 and v.rank >= 2:
        c = v.shape[1]
        ins = [g.constant(v.kind, [c]) for _ in range(3)]
        ins.append(g.constant(v.kind, [c], [round(g.r.uniform(0.3, 2), 3) for _ in range(c)]))
        g.add("BatchNormalization", [v] + ins, v.kind, v.shape, epsilon=1e-3)
    elif how == 2 and v.rank >= 3:
        c = v.shape[1]
        ins = [v, g.constant(v.kind, [c]), g.constant(v.kind, [c])]
        if g.chance(0.5):
            g.add("InstanceNormalization", ins, v.kind, v.shape, epsilon=1e-2)
        else:
            n = g.r.choice([k for k in range(1, c + 1) if c % k == 0])
            g.add("GroupNormalization", ins, v.kind, v.shape, num_groups=n, epsilon=1e-2)
    elif how == 3:  # written out, as exporters do
        k = g.r.randrange(v.rank)
        to = [1 if i == k else d for i, d in enumerate(v.shape)]
        mean = g.node("ReduceMean", [v, g.ints([k])], [(v.kind, to)])[0]
        off = g.node("Sub", [v, mean], [(v.kind, v.shape)])[0]
        two = g.node("Pow", [off, g.scalar(v.kind, 2.0)], [(v.kind, v.shape)])[0]
        var = g.node("ReduceMean", [two, g.ints([k])], [(v.kind, to)])[0]
        var = g.node("Add", [var, g.scalar(v.kind, 0.01)], [(v.kind, to)])[0]
        dev = g.node("Sqrt", [var], [(v.kind, to)])[0]
        out = g.add("Div", [off, dev], v.kind, v.shape)
        if g.chance(0.3):
            g.values.append(g.r.choice((mean, off, var, dev)))
        if g.chance(0.7):
            out = g.add("Mul", [out, g.constant(v.kind, v.shape[k:])], v.kind, v.shape)
            g.add("Add", [out, g.constant(v.kind, v.shape[k:])], v.kind, v.shape)


def matmul(g):
    v = g.full(lambda v: v.rank > 0)
    if v is None:
        return
    w = g.full(lambda w: w is not v and v.rank >= 2 and w.rank >= 2 and w.shape[-2] == v.shape[-1]
               and broadcast(v.shape[:-2], w.shape[:-2]) is not None)
    k = v.shape[-1]
    if w is None or g.chance(0.5):
        lead = [d if g.chance(0.5) else 1 for d in v.shape[:-2]] if g.chance(0.2) else []
        columns = g.r.choice((1, 8, 17, 32, 64) if g.large else (1, 2, 3, 5, 8, 16, 17))
        w = g.constant(v.kind, [k] if not lead and g.chance(0.1) else lead + [k, columns], scale=1.7 / max(1, k) ** 0.5)
    if w.rank == 1:
        to = v.shape[:-1]
    elif v.rank == 1:
        to = w.shape[:-2] + w.shape[-1:]
    else:
        lead = broadcast(v.shape[:-2], w.shape[:-2])
        if lead is None:
            return
        to = tuple(lead) + (v.shape[-2], w.shape[-1])
    if g.fits(to):
        tame(g, g.add("MatMul", [v, w], v.kind, to))


def gemm(g):
    v = g.full(lambda v: v.rank == 2)
    if v is None:
        return
    ta, tb = int(g.chance(0.4)), int(g.chance(0.5))
    m, k = v.shape[::-1] if ta else v.shape
    n = g.r.choice((1, 3, 8, 16, 10))
    b = g.constant(v.kind, [n, k] if tb else [k, n], scale=1.7 / k ** 0.5)
    ins = [v, b]
    if g.chance(0.7):
        ins.append(g.constant(v.kind, g.r.choice(([n], [1, n], [m, 1], [m, n], [], [1]))))
    g.add("Gemm", ins, v.kind, (m, n), transA=ta, transB=tb, alpha=g.r.choice((1.0, 0.5)),
          beta=g.r.choice((1.0, 2.0)))


def attention(g):
    """Written out: transposes, scale, mask and softmax between two products."""
    v = g.full(lambda v: v.rank == 3 and v.shape[-1] % 2 == 0)
    if v is None:
        return
    b, t, c = v.shape
    h = g.r.choice([k for k in (1, 2, 4) if c % k == 0])
    d = c // h
    heads = []
    for what in range(3):
        p = v if g.chance(0.3) else \
            g.node("MatMul", [v, g.constant(v.kind, [c, c], scale=1.7 / c ** 0.5)], [(v.kind, (b, t, c))])[0]
        p = g.node("Reshape", [p, g.ints([b, t, h, d])], [(v.kind, (b, t, h, d))])[0]
        if what == 1 and g.chance(0.6):
            p = g.node("Transpose", [p], [(v.kind, (b, h, d, t))], perm=[0, 2, 3, 1])[0]
        else:
            p = g.node("Transpose", [p], [(v.kind, (b, h, t, d))], perm=[0, 2, 1, 3])[0]
            if what == 1:
                p = g.node("Transpose", [p], [(v.kind, (b, h, d, t))], perm=[0, 1, 3, 2])[0]
        heads.append(p)
    q, k, w = heads
    side = (b, h, t, t)
    if g.chance(0.4):
        q = g.node("Mul", [q, g.scalar(v.kind, d ** -0.5)], [(v.kind, q.shape)])[0]
    s = g.node("MatMul", [q, k], [(v.kind, side)])[0]
    if g.chance(0.4):
        s = g.node(g.r.choice(("Mul", "Div")), [s, g.scalar(v.kind, 1.5)], [(v.kind, side)])[0]
    if g.chance(0.5):
        shape = g.r.choice(([t, t], [1, 1, 1, t], [b, 1, 1, t], [b, 1, t, t], [1, h, t, t], [h, 1, t], [t, 1]))
        mask = g.constant(v.kind, shape, [0.0 if g.chance(0.7) else -100.0 for _ in range(product(shape))])
        s = g.node("Add", [s, mask], [(v.kind, side)])[0]
    elif g.chance(0.3):
        shape = g.r.choice(([t, t], [1, 1, 1, t], [b, 1, 1, t]))
        s = g.node("Where", [g.constant(BOOL, shape), s, g.scalar(v.kind, -50.0)], [(v.kind, side)])[0]
    p = g.node("Softmax", [s], [(v.kind, side)], axis=g.r.choice((-1, -1, -1, 3, 2)))[0]
    if g.chance(0.15):
        g.values.append(g.r.choice((p, s)))
    o = g.node("MatMul", [p, w], [(v.kind, (b, h, t, d))])[0]
    o = g.node("Transpose", [o], [(v.kind, (b, t, h, d))], perm=[0, 2, 1, 3])[0]
    g.add("Reshape", [o, g.ints([0, 0, -1])], v.kind, (b, t, c))


def conv(g):
    v = g.full(lambda v: v.rank in (3, 4))
    if v is None:
        return
    c, space = v.shape[1], v.shape[2:]
    group = g.r.choice((1, 1, c)) if c <= 16 else 1
    filters = (3, 8, 16, 17, 32, 64) if g.large else (1, 3, 4, 8, 16)
    out = group * g.r.choice((1, 2)) if group > 1 else g.r.choice(filters)
    kernel = [g.r.choice((1, 1, 3, 2, 5)) for _ in space] if g.chance(0.7) else [1] * len(space)
    stride = [g.r.choice((1, 1, 2)) for _ in space]
    dilation = [g.r.choice((1, 1, 1, 2)) for _ in space]
    lo, hi = ([g.r.choice((0, 1, k // 2)) for k in kernel] for _ in range(2))
    to = [(d + a + b - (k - 1) * e - 1) // s + 1
          for d, a, b, k, e, s in zip(space, lo, hi, kernel, dilation, stride)]
    if min(to) < 1 or not g.fits([v.shape[0], out] + to):
        return
    fan = c // group * product(kernel)
    ins = [v, g.constant(v.kind, [out, c // group] + kernel, scale=1.7 / fan ** 0.5)]
    if g.chance(0.6):
        ins.append(g.constant(v.kind, [out]))
    y = g.add("Conv", ins, v.kind, [v.shape[0], out] + to, kernel_shape=kernel, strides=stride, dilations=dilation,
              pads=lo + hi, group=group)
    if g.chance(0.4):
        stats = [g.constant(v.kind, [out]) for _ in range(3)]
        stats.append(g.constant(v.kind, [out], [round(g.r.uniform(0.3, 2), 3) for _ in range(out)]))
        y = g.add("BatchNormalization", [y] + stats, v.kind, y.shape)
    if g.chance(0.5):
        g.add("Relu", [y], v.kind, y.shape)


def conv_transpose(g):
    v = g.full(lambda v: v.rank in (3, 4))
    if v is None:
        return
    c, space = v.shape[1], v.shape[2:]
    group = g.r.choice([k for k in (1, 1, 2) if c % k == 0])
    out = g.r.choice((1, 2, 4))
    kernel, stride = [g.r.choice((1, 2, 3)) for _ in space], [g.r.choice((1, 2)) for _ in space]
    lo, hi = ([g.r.choice((0, 0, 1)) for _ in kernel] for _ in range(2))
    extra = [g.r.randrange(s) for s in stride]
    to = [(d - 1) * s - a - b + k + x for d, s, a, b, k, x in zip(space, stride, lo, hi, kernel, extra)]
    if min(to) < 1 or not g.fits([v.shape[0], out * group] + to):
        return
    ins = [v, g.constant(v.kind, [c, out] + kernel, scale=1.7 / (c * product(kernel)) ** 0.5)]
    if g.chance(0.5):
        ins.append(g.constant(v.kind, [out * group]))
    g.add("ConvTranspose", ins, v.kind, [v.shape[0], out * group] + to, kernel_shape=kernel, strides=stride,
          pads=lo + hi, output_padding=extra, group=group)


def pool(g):
    v = g.full(lambda v: v.rank in (3, 4))
    if v is None:
        return
    space = v.shape[2:]
    if g.chance(0.2):
        g.add(g.r.choice(("GlobalAveragePool", "GlobalMaxPool")), [v], v.kind, v.shape[:2] + (1,) * len(space))
        return
    kernel = [g.r.choice((1, 2, 3)) for _ in space]
    stride = [g.r.choice((1, 2)) for _ in space]
    lo, hi = ([g.r.randrange(k) if g.chance(0.5) else 0 for k in kernel] for _ in range(2))
    ceil = int(g.chance(0.2))
    if ceil:
        lo = hi = [0] * len(space)
    to = []
    for d, a, b, k, s in zip(space, lo, hi, kernel, stride):
        n = d + a + b - k
        if n < 0:
            return
        m = (n + (s - 1 if ceil else 0)) // s + 1
        if ceil and (m - 1) * s >= d + a:
            return  # such a window is left out, but not in all of ONNX's versions
        to.append(m)
    if not g.fits(v.shape[:2] + tuple(to)):
        return
    op = g.r.choice(("MaxPool", "AveragePool"))
    more = {"count_include_pad": int(g.chance(0.4))} if op == "AveragePool" else {}
    g.add(op, [v], v.kind, v.shape[:2] + tuple(to), kernel_shape=kernel, strides=stride, pads=lo + hi, ceil_mode=ceil,
          **more)


def blocks(g):
    v = g.full(lambda v: v.rank == 4)
    if v is None:
        return
    b, c, y, x = v.shape
    if c % 4 == 0 and g.chance(0.6):
        g.add("DepthToSpace", [v], v.kind, (b, c // 4, y * 2, x * 2), blocksize=2, mode=g.r.choice(("DCR", "CRD")))
    elif y % 2 == 0 and x % 2 == 0:
        g.add("SpaceToDepth", [v], v.kind, (b, c * 4, y // 2, x // 2), blocksize=2)


def resize(g):
    v = g.full(lambda v: v.rank == 4)
    if v is None:
        return
    to = v.shape[:2] + tuple(g.r.randint(1, 2 * d) for d in v.shape[2:])
    mode = g.r.choice(("nearest", "linear", "cubic"))
    how = g.r.choice(("half_pixel", "align_corners", "asymmetric"))
    more = {"nearest_mode": g.r.choice(("floor", "ceil", "round_prefer_floor"))} if mode == "nearest" else {}
    if mode == "nearest" and how != "asymmetric":
        return  # ties of coordinates hang on roundings
    if g.fits(to):
        g.add("Resize", [v, None, None, g.ints(to)], v.kind, to, mode=mode, coordinate_transformation_mode=how, **more)


def recurrent(g):
    v = g.full(lambda v: v.rank == 3 and v.shape[0] <= 8)
    if v is None:
        return
    t, b, c = v.shape
    op, gates = g.r.choice((("LSTM", 4), ("GRU", 3), ("RNN", 1)))
    h = g.r.choice((1, 3, 4, 8))
    way = g.r.choice(("forward", "reverse", "bidirectional"))
    n = 2 if way == "bidirectional" else 1
    ins = [v, g.constant(v.kind, [n, gates * h, c], scale=0.5), g.constant(v.kind, [n, gates * h, h], scale=0.5)]
    if g.chance(0.6):
        ins.append(g.constant(v.kind, [n, 2 * gates * h], scale=0.5))
    if g.chance(0.4):
        ins += [None] * (4 - len(ins))
        ins.append(g.constant(I32, [b], [g.r.randint(1, t) for _ in range(b)]) if g.chance(0.5) else None)
        ins.append(g.constant(v.kind, [n, b, h]))
    more = {"linear_before_reset": int(g.chance(0.5))} if op == "GRU" else {}
    outs = [(v.kind, (t, n, b, h)), (v.kind, (n, b, h))] + ([(v.kind, (n, b, h))] if op == "LSTM" else [])
    g.values += g.r.sample(g.node(op, ins, outs, hidden_size=h, direction=way, **more), len(outs))[:2]


def einsum(g):
    v = g.full(lambda v: 2 <= v.rank <= 4)
    if v is None:
        return
    a = "abcd"[:v.rank]
    shape = dict(zip(a, v.shape))
    shared = g.r.sample(a, g.r.randint(1, v.rank))
    b = shared + (["e"] if g.chance(0.7) else [])
    g.r.shuffle(b)
    shape["e"] = g.r.choice((1, 2, 5))
    w = g.constant(v.kind, [shape[x] for x in b], scale=0.7)
    out = [x for x in sorted(set(a) | set(b)) if x == "e" or g.chance(0.6)]
    g.r.shuffle(out)
    to = [shape[x] for x in out]
    if g.fits(to):
        tame(g, g.add("Einsum", [v, w], v.kind, to, equation=f"{a},{''.join(b)}->{''.join(out)}"))


def gate(g):
    """x * sigmoid(x) and the like, or a squeeze and an excitation."""
    v = g.full()
    if v is None:
        return
    if g.chance(0.5) or v.rank < 3:
        s = g.node(g.r.choice(("Sigmoid", "HardSigmoid", "Tanh")), [v], [(v.kind, v.shape)])[0]
        g.add("Mul", [v, s] if g.chance(0.5) else [s, v], v.kind, v.shape)
        return
    c = v.shape[1]
    lead = v.shape[:2] + (1,) * (v.rank - 2)
    m = g.node("ReduceMean", [v, g.ints(list(range(2, v.rank)))], [(v.kind, lead)])[0]
    if v.rank == 4:
        m = g.node("Conv", [m, g.constant(v.kind, [c, c, 1, 1], scale=0.5)], [(v.kind, lead)])[0]
    s = g.node("Sigmoid", [m], [(v.kind, lead)])[0]
    g.add("Mul", [v, s], v.kind, v.shape)


def sandwich(g):
    """Something between a transpose and its inverse, or the same operand through two orders."""
    v = g.full(lambda v: v.rank >= 2)
    if v is None:
        return
    perm = list(range(v.rank))
    g.r.shuffle(perm)
    back = [perm.index(k) for k in range(v.rank)]
    w = g.add("Transpose", [v], v.kind, [v.shape[k] for k in perm], perm=perm)
    for _ in range(g.r.randint(1, 3)):
        g.r.choice((unary, binary, divide, softmax, norm, clip, slices, concat, reduction))(g)
    u = g.values[-1]
    if u.rank == v.rank:
        g.add("Transpose", [u], u.kind, [u.shape[k] for k in back], perm=back)
        if u.kind == v.kind and [u.shape[k] for k in back] == list(v.shape) and g.chance(0.6):
            g.add("Add", [g.values[-1], v], v.kind, v.shape)
