"""Nodes of random graphs (build.py) with states and of attention, with all of their inputs and attributes, as
elements.py."""
from build import BOOL, F32, I32, I64, product

ACTIVATIONS = ("Sigmoid", "Tanh", "Relu", "HardSigmoid", "Softsign", "Elu", "LeakyRelu", "ScaledTanh", "Affine",
               "ThresholdedRelu")


def own(g, shape, scale=1.0):
    """Half of them are inputs, which no pass folds."""
    return g.constant(g.kind, shape, scale=scale) if g.chance(0.5) else g.new_input(g.kind, shape)


def recurrence(g):
    """Activations, clip, peepholes, initial states, lengths."""
    v = g.full(lambda v: v.rank == 3 and v.shape[0] <= 8)
    if v is None:
        v = g.new_input(g.kind, [g.r.randint(1, 6), g.r.randint(1, 4), g.r.choice((1, 3, 8, 16))])
    t, b, c = v.shape
    op, gates, functions = g.r.choice((("LSTM", 4, 3), ("GRU", 3, 2), ("RNN", 1, 1)))
    h = g.r.choice((1, 3, 8, 16))
    way = g.r.choice(("forward", "reverse", "bidirectional"))
    n = 2 if way == "bidirectional" else 1
    ins = [v, own(g, [n, gates * h, c], 0.5), own(g, [n, gates * h, h], 0.5)]
    ins.append(own(g, [n, 2 * gates * h], 0.5) if g.chance(0.6) else None)
    ins.append(g.constant(I32, [b], [g.r.randint(1, t) for _ in range(b)]) if g.chance(0.4) else None)
    ins.append(own(g, [n, b, h]) if g.chance(0.5) else None)
    if op == "LSTM":
        ins.append(own(g, [n, b, h]) if g.chance(0.5) else None)
        ins.append(own(g, [n, 3 * h], 0.5) if g.chance(0.5) else None)
    while ins[-1] is None:
        ins.pop()
    more = {"hidden_size": h, "direction": way}
    if g.chance(0.5):
        names = [g.r.choice(ACTIVATIONS[:4]) for _ in range(functions * n)]
        more["activations"] = names
    if g.chance(0.3):
        more["clip"] = g.r.choice((0.3, 1.5))
    if op == "GRU":
        more["linear_before_reset"] = int(g.chance(0.5))
    elif op == "LSTM" and g.chance(0.2):
        more["input_forget"] = 1
    outs = [(v.kind, (t, n, b, h)), (v.kind, (n, b, h))] + ([(v.kind, (n, b, h))] if op == "LSTM" else [])
    g.values += g.node(op, ins, outs, **more)


def attention_node(g):
    """The operator: shared heads, masks of both kinds, causal, cap, past, results of one or four dimensions."""
    if g.kind != F32:
        return
    g.opset = 23
    b, heads, d, e = g.r.choice((1, 2)), g.r.choice((1, 2, 4)), g.r.choice((1, 4, 8, 16)), g.r.choice((1, 4, 8, 16))
    shared = g.r.choice([k for k in (1, 2, 4) if heads % k == 0])
    n, m, past = g.r.choice((1, 2, 5, 9)), g.r.choice((1, 3, 8, 17)), g.r.choice((0, 0, 0, 2))
    flat = g.chance(0.4)
    if flat:
        q, k, v = ([b, n, heads * d], [b, m, shared * d], [b, m, shared * e])
    else:
        q, k, v = ([b, heads, n, d], [b, shared, m, d], [b, shared, m, e])
    ins = [g.new_input(g.kind, s) for s in (q, k, v)]
    more = {}
    if flat:
        more = {"q_num_heads": heads, "kv_num_heads": shared}
    causal = g.chance(0.3)
    if causal:
        more["is_causal"] = 1
    if g.chance(0.4):
        more["scale"] = g.r.choice((0.3, 1.0))
    if g.chance(0.3):
        more["softcap"] = 2.0
    mask = None
    if g.chance(0.5):
        shape = g.r.choice(([n, m + past], [b, 1, n, m + past], [1, heads, n, m + past], [b, heads, n, m + past]))
        if g.chance(0.5):  # each query sees the first key, so that no row is empty
            mask = g.constant(BOOL, shape, [i % (m + past) == 0 or g.chance(0.6) for i in range(product(shape))])
        else:
            mask = own(g, shape)
    outs = [(g.kind, (b, n, heads * e) if flat else (b, heads, n, e))]
    if past:
        ins += [mask, g.new_input(g.kind, [b, shared, past, d]), g.new_input(g.kind, [b, shared, past, e])]
        outs += [(g.kind, (b, shared, m + past, d)), (g.kind, (b, shared, m + past, e))]
    elif mask is not None:
        ins.append(mask)
    g.values += g.node("Attention", ins, outs, **more)


def rotary(g):
    if g.kind != F32:
        return
    g.opset = 23
    b, heads, t, d = g.r.choice((1, 2)), g.r.choice((1, 3)), g.r.choice((1, 4, 7)), g.r.choice((4, 8, 16))
    part = g.r.choice((0, 0, 4))
    half = (part or d) // 2
    flat = g.chance(0.4)
    shape = [b, t, heads * d] if flat else [b, heads, t, d]
    more = {"interleaved": int(g.chance(0.5))}
    if part:
        more["rotary_embedding_dim"] = part
    if flat or part:
        more["num_heads"] = heads
    v = g.new_input(g.kind, shape)
    if g.chance(0.5):
        ins = [v, own(g, [t + 2, half]), own(g, [t + 2, half]),
               g.constant(I64, [b, t], [g.r.randrange(t + 2) for _ in range(b * t)])]
    else:
        ins = [v, own(g, [b, t, half]), own(g, [b, t, half])]
    g.add("RotaryEmbedding", ins, v.kind, shape, **more)


def rms(g):
    v = g.full(lambda v: v.rank > 0 and v.kind == F32)
    if v is None:
        return
    g.opset = 23
    k = g.r.randrange(v.rank)
    g.add("RMSNormalization", [v, own(g, v.shape[k:])], v.kind, v.shape, axis=k, epsilon=1e-2)


def places(g):
    """Scatters with equal places, gathers at computed places, sequences turned, one-hot with numbers of its own."""
    v = g.full(lambda v: v.rank > 0)
    if v is None:
        return
    how = g.r.randrange(5)
    said, k = g.axis(v)
    n = v.shape[k]
    if how == 0:
        shape = [g.r.randint(1, d) if i != k else g.r.randint(1, d + 3) for i, d in enumerate(v.shape)]
        index = g.constant(I64, shape, [g.r.randrange(-n, n) for _ in range(product(shape))])
        g.add("ScatterElements", [v, index, own(g, shape)], v.kind, v.shape, axis=said,
              reduction=g.r.choice(("add", "max", "min")))
    elif how == 1:
        depth, m = g.r.randint(1, v.rank), g.r.randint(1, 6)
        index = [g.r.randrange(-d, d) for _ in range(m) for d in v.shape[:depth]]
        g.add("ScatterND", [v, g.constant(I64, [m, depth], index), own(g, [m] + list(v.shape[depth:]))], v.kind,
              v.shape, reduction=g.r.choice(("add", "max", "min")))
    elif how == 2:
        index = g.new_input(I64, [g.r.randint(1, 4)])
        to = v.shape[:k] + index.shape + v.shape[k + 1:]
        if g.fits(to):
            index = g.node("Mod", [index, g.scalar(I64, n)], [(I64, index.shape)])[0]
            g.add("Gather", [v, index], v.kind, to, axis=said)
    elif how == 3 and v.rank >= 2:
        time = g.r.choice((0, 1))
        t, b = v.shape[time], v.shape[1 - time]
        g.add("ReverseSequence", [v, g.constant(I64, [b], [g.r.randint(1, t) for _ in range(b)])], v.kind, v.shape,
              time_axis=time, batch_axis=1 - time)
    else:
        m = g.r.randint(1, 5)
        index = g.constant(I64, [g.r.randint(1, 4), 2], None)
        to = list(index.shape)
        at = g.r.randint(-3, 2)
        to.insert(at if at >= 0 else at + 3, m)
        g.add("OneHot", [index, g.scalar(I64, m), g.constant(g.kind, [2], [-0.5, 1.5])], g.kind, to, axis=at)
