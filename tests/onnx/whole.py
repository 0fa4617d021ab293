"""Nodes of random graphs (build.py) on integers of all widths and on quantised tensors, as elements.py.

Scales are odd numbers and values have three digits, so that rounding seldom meets a tie."""
from build import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, UNSIGNED, broadcast, product
from elements import other_operand

KINDS = (U8, I8, U16, I16, U32, I32, U64, I64)
BITS = {U8: 8, I8: 8, U16: 16, I16: 16, U32: 32, I32: 32, U64: 64, I64: 64}


def number(g):
    """A value of some integer type, often of the extremes of its type."""
    v = g.pick(lambda v: v.kind in KINDS)
    if v is not None and g.chance(0.6):
        return v
    kind = g.r.choice(KINDS)
    shape = g.dims(g.r.choice((0, 1, 2, 2, 3, 4)))
    return g.new_input(kind, shape) if g.chance(0.7) else g.constant(kind, shape)


def wide(g, kind, shape):
    """A constant with values over the whole range of a type."""
    least, most = (0, (1 << BITS[kind]) - 1) if kind in UNSIGNED else \
        (-(1 << BITS[kind] - 1), (1 << BITS[kind] - 1) - 1)
    some = (least, most, 0, 1, most // 3)
    return g.constant(kind, shape, [g.r.choice(some) if g.chance(0.3) else g.r.randint(least, most)
                                    for _ in range(product(shape))])


def whole_binary(g):
    v = number(g)
    w = wide(g, v.kind, list(v.shape)[g.r.randrange(v.rank + 1):]) if g.chance(0.3) else other_operand(g, v)
    shape = broadcast(v.shape, w.shape)
    op = g.r.choice(("Add", "Sub", "Mul", "Max", "Min", "Div", "Mod", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor",
                     "BitShift", "Pow"))
    if op in ("Div", "Mod"):  # not by zero, nor the least number by -1
        w = g.node("Max", [w, g.constant(v.kind, [], [1])], [(v.kind, w.shape)])[0]
        more = {"fmod": 1} if op == "Mod" and g.chance(0.3) else {}
        if op == "Mod" and v.kind not in UNSIGNED and g.chance(0.5):
            w = g.node("Sub", [g.constant(v.kind, [], [0]), w], [(v.kind, w.shape)])[0]
        g.add(op, [v, w], v.kind, shape, **more)
    elif op == "BitShift":
        if v.kind in UNSIGNED:
            w = g.constant(v.kind, [], [g.r.randint(0, BITS[v.kind] - 1)])
            g.add(op, [v, w], v.kind, v.shape, direction=g.r.choice(("LEFT", "RIGHT")))
    elif op == "Pow":
        if v.kind in (I32, I64):
            v = g.node("Clip", [v, g.scalar(v.kind, -9), g.scalar(v.kind, 9)], [(v.kind, v.shape)])[0]
            g.add(op, [v, g.scalar(v.kind, g.r.randint(0, 3))], v.kind, v.shape)
    else:
        g.add(op, [v, w], v.kind, shape)


def whole_unary(g):
    v = number(g)
    op = g.r.choice(("Abs", "Neg", "Sign", "BitwiseNot", "Identity", "Relu", "Clip"))
    if op == "Neg" and v.kind in UNSIGNED:
        op = "BitwiseNot"
    if op == "Relu" and v.kind in UNSIGNED:
        op = "Identity"
    if op == "Clip":
        g.add(op, [v, g.constant(v.kind, [], [1]), g.constant(v.kind, [], [5])], v.kind, v.shape)
    else:
        g.add(op, [v], v.kind, v.shape)


def whole_cast(g):
    """Between integers all bits count; a float must be in the range of the type."""
    v = number(g)
    to = g.r.choice(KINDS + (BOOL, F32, F64, F16))
    if to in (F32, F64, F16):
        v = g.node("Clip", [v, g.constant(v.kind, [], [0]), g.constant(v.kind, [], [100])], [(v.kind, v.shape)])[0]
        v = g.node("Cast", [v], [(to, v.shape)], to=to)[0]
        v = g.node("Mul", [v, g.scalar(to, 0.3)], [(to, v.shape)])[0]
        to = g.r.choice(KINDS)
    g.add("Cast", [v], to, v.shape, to=to)


def whole_compare(g):
    v = number(g)
    w = wide(g, v.kind, list(v.shape)[g.r.randrange(v.rank + 1):]) if g.chance(0.5) else other_operand(g, v)
    c = g.add(g.r.choice(("Greater", "Less", "Equal", "LessOrEqual", "GreaterOrEqual")), [v, w], BOOL,
              broadcast(v.shape, w.shape))
    if g.chance(0.5):
        g.add("Where", [c, v, w], v.kind, c.shape)


def whole_reduce(g):
    v = number(g)
    if v.rank == 0 or product(v.shape) == 0:
        return
    kind = v.kind
    if kind not in (I32, I64, U32, U64):
        kind = I32 if kind != U16 else I64
        v = g.node("Cast", [v], [(kind, v.shape)], to=kind)[0]
    axes = sorted(g.r.sample(range(v.rank), g.r.randint(1, v.rank)))
    keep = int(g.chance(0.5))
    to = [1 if i in axes else d for i, d in enumerate(v.shape) if keep or i not in axes]
    op = g.r.choice(("ReduceSum", "ReduceMax", "ReduceMin", "ReduceSumSquare", "ReduceL1", "ArgMax",
                     "CumSum", "TopK"))
    if op == "ArgMax":
        to = [1 if i == axes[0] else d for i, d in enumerate(v.shape) if keep or i != axes[0]]
        g.add(g.r.choice(("ArgMax", "ArgMin")), [v], I64, to, axis=axes[0], keepdims=keep,
              select_last_index=int(g.chance(0.5)))
    elif op == "CumSum":
        g.add(op, [v, g.scalar(I64, axes[0])], kind, v.shape, exclusive=int(g.chance(0.5)), reverse=int(g.chance(0.5)))
    elif op == "TopK":
        n = g.r.randint(1, v.shape[axes[0]])
        to = v.shape[:axes[0]] + (n,) + v.shape[axes[0] + 1:]
        g.values += g.node(op, [v, g.ints([n])], [(kind, to), (I64, to)], axis=axes[0], largest=int(g.chance(0.5)))
    else:
        g.add(op, [v, g.ints(axes)], kind, to, keepdims=keep)


# ---- quantised tensors

def scale_of(g, shape=(), kind=F32):
    return g.constant(kind, shape, [g.r.choice((0.0137, 0.0213, 0.0071, 0.0391)) for _ in range(product(shape))])


def zero_of(g, kind, shape=()):
    return g.constant(kind, shape, [g.r.randint(100, 150) if kind == U8 else g.r.randint(-9, 9)
                                    for _ in range(product(shape))])


def codes_of(g, kind, shape):
    lo, hi = (0, 255) if kind == U8 else (-128, 127)
    return g.constant(kind, shape, [g.r.randint(lo, hi) for _ in range(product(shape))])


def quantise(g):
    """To codes and back, with scales for all, an axis or blocks; something between that keeps codes."""
    v = g.pick(lambda v: v.kind == F32 and product(v.shape) > 0)
    if v is None:
        return
    kind, more, shape = g.r.choice((U8, I8)), {}, ()
    how = g.r.randrange(3)
    if how == 1 and v.rank:
        said, k = g.axis(v)
        more, shape = {"axis": said}, (v.shape[k],)
    elif how == 2 and v.rank:
        said, k = g.axis(v)
        block = g.r.choice([b for b in range(1, v.shape[k] + 1) if v.shape[k] % b == 0])
        more, shape = {"axis": said, "block_size": block}, v.shape[:k] + (v.shape[k] // block,) + v.shape[k + 1:]
    if more.get("block_size") == 1:
        return  # which ONNX Runtime refuses
    g.jumps = True
    s, z = scale_of(g, shape), zero_of(g, kind, shape)
    q = g.node("QuantizeLinear", [v, s, z], [(kind, v.shape)], **more)[0]
    if how == 0 and v.rank == 4 and g.chance(0.4):
        q = g.node("MaxPool", [q], [(kind, v.shape)], kernel_shape=[1, 1])[0]
    g.values.append(q)
    if g.chance(0.8):
        g.add("DequantizeLinear", [q, s, z], F32, v.shape, **more)


def quantised_product(g):
    """Conv, MatMul or Gemm between DequantizeLinear and QuantizeLinear, with weights of bytes."""
    v = g.pick(lambda v: v.kind == F32 and v.rank in (2, 3, 4) and product(v.shape) > 0)
    if v is None:
        return
    g.jumps = True
    kind, wkind = g.r.choice((U8, I8)), g.r.choice((U8, I8, I8))
    s, z = scale_of(g), zero_of(g, kind)
    q = g.node("QuantizeLinear", [v, s, z], [(kind, v.shape)])[0]
    x = g.node("DequantizeLinear", [q, s, z], [(F32, v.shape)])[0]
    if v.rank == 4:
        c, n, k = v.shape[1], g.r.choice((1, 3, 8, 16)), g.r.choice((1, 2, 3))
        group = g.r.choice((1, 1, c))
        n, lo = n * group if group > 1 else n, g.r.choice((0, 1))
        shape, axis = [n, c // group, k, k], 0
        to = [v.shape[0], n] + [d + 2 * lo - k + 1 for d in v.shape[2:]]
        more = {"pads": [lo] * 4, "kernel_shape": [k, k], "group": group}
    else:
        c, n = v.shape[-1], g.r.choice((1, 3, 8, 16, 32))
        shape, axis, to, more = [c, n], 1, list(v.shape[:-1]) + [n], {}
    if min(to) < 1 or not g.fits(to):
        return
    each = (n,) if g.chance(0.5) else ()
    ws, wz = scale_of(g, each), zero_of(g, wkind, each)
    about = {"axis": axis} if each else {}
    w = g.node("DequantizeLinear", [codes_of(g, wkind, shape), ws, wz], [(F32, tuple(shape))], **about)[0]
    ins = [x, w]
    if v.rank == 4 and g.chance(0.5):
        ins.append(g.constant(F32, [n]))
    y = g.add("Conv" if v.rank == 4 else "MatMul", ins, F32, to, **more)
    if v.rank != 4 and g.chance(0.5):
        y = g.add("Add", [y, g.constant(F32, [n])], F32, to)
    if g.chance(0.4):
        y = g.add("Relu", [y], F32, to)
    if g.chance(0.6):
        kind = g.r.choice((U8, I8))
        s, z = g.constant(F32, [], [g.r.choice((0.0531, 0.0793))]), zero_of(g, kind)
        q = g.node("QuantizeLinear", [y, s, z], [(kind, tuple(to))])[0]
        g.add("DequantizeLinear", [q, s, z], F32, to)


def byte_product(g):
    """MatMulInteger, ConvInteger, QLinearMatMul, QLinearConv."""
    kind, wkind = g.r.choice((U8, I8)), g.r.choice((U8, I8))
    conv = g.chance(0.5)
    m, c, n = g.r.choice((1, 3, 7)), g.r.choice((1, 3, 4, 8, 12)), g.r.choice((1, 4, 8, 16, 17))
    if conv:
        group = g.r.choice((1, 1, 1, c))
        n, k, lo, size = n * group, g.r.choice((1, 2, 3)), g.r.choice((0, 1)), g.r.randint(3, 8)
        stride = g.r.choice((1, 2))
        shape, wshape = (m, c, size, size + 1), (n, c // group, k, k)
        to = (m, n) + tuple((d + 2 * lo - k) // stride + 1 for d in shape[2:])
        more = {"kernel_shape": [k, k], "pads": [lo] * 4, "group": group, "strides": [stride] * 2}
    else:
        lead = g.r.choice(((), (2,), (2, 3)))
        shape, wshape, to, more = lead + (m, c), (c, n), lead + (m, n), {}
    if not g.fits(shape) or not g.fits(to):
        return
    x = g.new_input(kind, shape)
    w = codes_of(g, wkind, wshape) if g.chance(0.8) else g.new_input(wkind, wshape)
    each = (n,) if g.chance(0.4) and (not conv or wkind == I8) else ()
    xz = zero_of(g, kind)
    wz = zero_of(g, wkind, each) if not conv else g.constant(wkind, each, [0 if each else 3] * product(each))
    if g.chance(0.5):
        ins = [x, w] + ([xz, wz] if g.chance(0.6) else [xz] if g.chance(0.5) else [])
        g.add("ConvInteger" if conv else "MatMulInteger", ins, I32, to, **more)
        return
    g.jumps, out = True, kind
    ins = [x, scale_of(g), xz, w, scale_of(g, each), wz, g.constant(F32, [], [0.0531]), zero_of(g, out)]
    if conv and g.chance(0.5):
        ins.append(g.constant(I32, [n], [g.r.randint(-900, 900) for _ in range(n)]))
    g.add("QLinearConv" if conv else "QLinearMatMul", ins, out, to, **more)


def dynamic(g):
    v = g.pick(lambda v: v.kind == F32 and product(v.shape) > 0)
    if v is None:
        return
    g.jumps = True
    q, s, z = g.node("DynamicQuantizeLinear", [v], [(U8, v.shape), (F32, ()), (U8, ())])
    if v.rank >= 2 and g.chance(0.6):
        n = g.r.choice((1, 8, 16))
        w = codes_of(g, I8, (v.shape[-1], n))
        to = v.shape[:-1] + (n,)
        if g.fits(to):
            y = g.node("MatMulInteger", [q, w, z], [(I32, to)])[0]
            y = g.node("Cast", [y], [(F32, to)], to=F32)[0]
            f = g.node("Mul", [s, g.constant(F32, [n] if g.chance(0.5) else [], scale=0.01)], [(F32, ())])[0]
            g.add("Mul", [y, f], F32, to)
            return
    g.add("DequantizeLinear", [q, s, z], F32, v.shape)
