"""Nodes of random graphs (build.py) with subgraphs, whose conditions and trip counts are known, and transforms of
signals, as elements.py."""
from build import BOOL, F16, F32, I64, product
from elements import UNARY

STEPS = [op for op in UNARY if op not in ("Exp", "Sqrt", "Log", "Reciprocal", "ThresholdedRelu", "Celu", "Identity",
                                          "Abs", "Relu")]


def step(g, v):
    """A value of v's shape that depends on it, on a constant of the graph around or on an older value."""
    w = g.node(g.r.choice(STEPS), [v], [(v.kind, v.shape)])[0]
    if g.chance(0.6):
        old = g.real(lambda x: x.shape == v.shape)
        other = old if old is not None and g.chance(0.5) else g.constant(v.kind, v.shape[g.r.randrange(v.rank + 1):])
        w = g.node(g.r.choice(("Add", "Sub", "Max")), [w, other], [(v.kind, v.shape)])[0]
    return g.node(g.r.choice(("Tanh", "Softsign")), [w], [(v.kind, v.shape)])[0] if g.chance(0.6) else w


def loop(g):
    """Trip counts from 0 on, a state or two, perhaps a collected result, the number of the iteration."""
    v = g.full(lambda v: v.rank < 5)
    if v is None:
        return
    n, collects, counts, pair = g.r.choice((0, 1, 2, 3, 4)), g.chance(0.6), g.chance(0.4), g.chance(0.3)
    if not g.fits((n,) + v.shape):
        return
    states = [v, g.constant(v.kind, v.shape)] if pair else [v]

    def make(i, go, *state):
        new = [step(g, s) for s in reversed(state)]  # two states change places
        if counts:
            number = g.node("Cast", [i], [(v.kind, ())], to=v.kind)[0]
            number = g.node("Mul", [number, g.scalar(v.kind, 0.1)], [(v.kind, ())])[0]
            new[0] = g.node("Add", [new[0], number], [(v.kind, v.shape)])[0]
        out = [g.node("Identity", [go], [(BOOL, ())])[0], *new]
        return out + [step(g, new[0])] if collects else out
    body = g.body([(I64, ()), (BOOL, ())] + [(s.kind, s.shape) for s in states], make)
    outs = [(s.kind, s.shape) for s in states] + ([(v.kind, (n,) + v.shape)] if collects else [])
    # ONNX's evaluator, which is asked for other types, takes an absent condition as false
    go = g.scalar(BOOL, 1) if g.kind != F32 or g.chance(0.5) else None
    g.values += g.node("Loop", [g.scalar(I64, n), go, *states], outs, body=body)


def branch(g):
    v = g.full()
    if v is None:
        return
    bodies = [g.body([], lambda: [step(g, v)]) for _ in range(2)]
    cond = g.scalar(BOOL, g.chance(0.5))
    if g.chance(0.3):
        cond = g.node("Not", [cond], [(BOOL, ())])[0]
    g.add("If", [cond], v.kind, v.shape, then_branch=bodies[0], else_branch=bodies[1])


def scan(g):
    """Along any axis, in both directions; results are stacked along any axis."""
    v = g.full(lambda v: 2 <= v.rank < 5)
    if v is None:
        return
    said, k = g.axis(v)
    part = v.shape[:k] + v.shape[k + 1:]
    state = g.constant(v.kind, part)
    at = g.r.randrange(len(part) + 1)

    def make(s, x):
        new = step(g, g.node("Add", [s, x], [(v.kind, part)])[0])
        return [new, step(g, new)]
    body = g.body([(v.kind, part), (v.kind, part)], make)
    to = part[:at] + (v.shape[k],) + part[at:]
    g.values += g.node("Scan", [state, v], [(v.kind, part), (v.kind, to)], body=body, num_scan_inputs=1,
                       scan_input_axes=[said], scan_output_axes=[at], scan_input_directions=[int(g.chance(0.4))],
                       scan_output_directions=[int(g.chance(0.4))])


def transform(g):
    """DFT of real and complex signals, cut or filled with zeros, one side or both, and back."""
    if g.kind == F16:
        return
    b, n, m = g.r.choice((1, 2)), g.r.choice((1, 2, 5, 8, 12)), g.r.choice((1, 3))
    last = g.r.choice((1, 2))
    v = g.new_input(g.kind, [b, n, m, last])
    axis = g.r.choice((1, 2, -2, -3))
    at = axis if axis > 0 else axis + 4
    size = g.r.choice((None, v.shape[at], v.shape[at] + 2, max(1, v.shape[at] - 1)))
    inverse = int(last == 2 and g.chance(0.4))
    side = int(last == 1 and g.chance(0.5))
    to = list(v.shape[:3]) + [2]
    to[at] = size or v.shape[at]
    if side:
        to[at] = to[at] // 2 + 1
    g.add("DFT", [v, g.scalar(I64, size) if size else None, g.scalar(I64, axis)], v.kind, to, inverse=inverse,
          onesided=side)


def frames(g):
    """STFT, with a window or without."""
    if g.kind == F16:
        return
    b, n, size, jump = g.r.choice((1, 2)), g.r.choice((16, 21)), g.r.choice((4, 7, 8)), g.r.choice((2, 3, 5))
    side = int(g.chance(0.6))
    v = g.new_input(g.kind, [b, n, 1])
    window = g.constant(g.kind, [size]) if g.chance(0.6) else None
    to = [b, (n - size) // jump + 1, size // 2 + 1 if side else size, 2]
    g.add("STFT", [v, g.scalar(I64, jump), window, g.scalar(I64, size)], v.kind, to, onesided=side)


def volume(g):
    """Samples of three dimensions."""
    if g.kind != F32:
        return
    b, c = g.r.choice((1, 2)), g.r.choice((1, 3))
    v = g.new_input(g.kind, [b, c] + [g.r.randint(1, 4) for _ in range(3)])
    to = [g.r.randint(1, 3) for _ in range(3)]
    grid = [b] + to + [3]
    grid = g.constant(g.kind, grid, scale=1.3) if g.chance(0.5) else g.new_input(g.kind, grid)
    g.add("GridSample", [v, grid], v.kind, [b, c] + to, mode="linear",
          padding_mode=g.r.choice(("zeros", "border", "reflection")), align_corners=int(g.chance(0.5)))


def ellipsis(g):
    """Einsum with dimensions that have no letter, which broadcast."""
    v = g.full(lambda v: 3 <= v.rank <= 4)
    if v is None:
        return
    lead = [d if g.chance(0.6) else 1 for d in v.shape[:-2]]
    j, k = v.shape[-1], g.r.choice((1, 3, 8))
    w = g.constant(v.kind, lead + [j, k], scale=1.7 / max(1, j) ** 0.5)
    equation, to = g.r.choice((("...ij,...jk->...ik", v.shape[:-1] + (k,)), ("...ij,...jk->...ki",
                               v.shape[:-2] + (k, v.shape[-2])), ("...ij,...jk->...i", v.shape[:-1])))
    if g.fits(to) and product(to) > 0:
        g.add("Einsum", [v, w], v.kind, to, equation=equation)
