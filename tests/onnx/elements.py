"""Nodes of random graphs (build.py) that compute or move elements: each function adds some, or none if no value fits.

Elementwise functions keep values near 1, so that results can be compared. Comparisons of floats, which turn rounding
errors into jumps, are left out."""
from build import BOOL, F32, FLOATS, I32, I64, broadcast, product

UNARY = ("Relu", "Sigmoid", "Tanh", "Neg", "Abs", "Erf", "HardSwish", "Softsign", "Sin", "Cos", "Softplus", "Selu",
         "Elu", "LeakyRelu", "HardSigmoid", "Gelu", "Mish", "Identity", "ThresholdedRelu", "Celu", "Atan", "Exp",
         "Sqrt", "Log", "Reciprocal")
WHOLE_UNARY = ("Abs", "Neg", "Identity", "Sign", "Relu")


def unary(g):
    v = g.pick()
    if v.kind == BOOL:
        g.add("Not", [v], BOOL, v.shape)
        return
    if v.kind not in FLOATS:
        if v.kind in (I32, I64):
            g.add(g.r.choice(WHOLE_UNARY), [v], v.kind, v.shape)
        return
    op = g.r.choice(UNARY)
    if op in ("Sqrt", "Log", "Reciprocal"):
        v = g.node("Abs", [v], [(v.kind, v.shape)])[0]
        v = g.node("Add", [v, g.constant(v.kind, [], [0.5])], [(v.kind, v.shape)])[0]
    if op == "Exp":
        v = g.node("Clip", [v, g.scalar(v.kind, -3.0), g.scalar(v.kind, 2.0)], [(v.kind, v.shape)])[0]
    more = {}
    if op == "Celu" and g.kind != F32:
        op = "Elu"
    if op in ("Elu", "LeakyRelu", "ThresholdedRelu", "Celu") and g.chance(0.7):
        more["alpha"] = g.r.choice((0.1, 0.5, 1.0, 1.5))
    if op == "ThresholdedRelu":
        op, more = "Relu", {}
    g.add(op, [v], v.kind, v.shape, **more)


def clip(g):
    v = g.pick(lambda v: v.kind in FLOATS + (I32, I64))
    if v is None:
        return
    lo = g.scalar(v.kind, g.r.choice((-1, 0, -2))) if g.chance(0.8) else None
    hi = g.scalar(v.kind, g.r.choice((1, 6, 0))) if g.chance(0.8) else None
    g.add("Clip", [v, lo, hi] if hi else [v, lo] if lo else [v], v.kind, v.shape)

def other_operand(g, v, scale=1.0):
    """A value or constant that broadcasts with v, which may grow."""
    if g.chance(0.6):
        w = g.pick(lambda w: w is not v and w.kind == v.kind and broadcast(v.shape, w.shape) is not None
                   and g.fits(broadcast(v.shape, w.shape)))
        if w is not None:
            return w
    shape = list(v.shape)[g.r.randrange(v.rank + 1):]
    shape = [d if g.chance(0.6) else 1 for d in shape]
    if g.chance(0.1) and len(shape) == v.rank < 5:
        shape = [g.r.choice((1, 2))] * (1 + (len(shape) < 4 and g.chance(0.3))) + shape
    if not g.fits(broadcast(v.shape, shape)):
        shape = []
    return g.constant(v.kind, shape, scale=scale)


def binary(g):
    v = g.pick(lambda v: v.kind in FLOATS + (I32, I64))
    w = other_operand(g, v)
    shape = broadcast(v.shape, w.shape)
    op = g.r.choice(("Add", "Add", "Sub", "Mul", "Mul", "Max", "Min", "Div", "Pow", "Mod", "PRelu"))
    if op in ("Mod", "Pow") and v.kind in FLOATS or op == "PRelu" and v.kind not in FLOATS:
        op = "Div"
    if op == "Pow":
        op, w, shape = "Mul", v, v.shape
    if op in ("Div", "Mod"):
        w = g.node("Abs", [w], [(w.kind, w.shape)])[0]
        w = g.node("Add", [w, g.constant(w.kind, [], [1])], [(w.kind, w.shape)])[0]
    elif op == "PRelu":
        if shape != v.shape:
            return
    elif g.chance(0.5):
        v, w = w, v
    if op in ("Add", "Max", "Min") and g.chance(0.1) and op != "Add":
        g.add(op, [v, w, v], v.kind, shape)
        return
    out = g.add(op, [v, w], v.kind, shape)
    if op == "Mul" and v.kind in FLOATS:
        tame(g, out)
    elif v.kind not in FLOATS:
        g.values[-1] = g.node("Clip", [out, g.scalar(v.kind, -50), g.scalar(v.kind, 50)], [(v.kind, shape)])[0]


def divide(g):
    """By a constant, the same for many elements or not."""
    v = g.real()
    w = [d if g.chance(0.4) else 1 for d in v.shape][g.r.randrange(v.rank + 1):]
    c = g.constant(v.kind, w, [g.r.choice((2.0, 0.7, -1.3, 3.0, 8.0)) for _ in range(product(w))])
    g.add("Div", [v, c], v.kind, broadcast(v.shape, w))


def power(g):
    v = g.real()
    e = g.r.choice((2.0, 3.0, 0.5, -1.0, 1.0, 0.0, -2.0))
    v = g.node("Abs", [v], [(v.kind, v.shape)])[0] if e != int(e) or e < 0 else v
    if e < 0:
        v = g.node("Add", [v, g.constant(v.kind, [], [0.7])], [(v.kind, v.shape)])[0]
    tame(g, g.add("Pow", [v, g.scalar(v.kind, e)], v.kind, v.shape))


def tame(g, v):
    """Keeps a product's values near 1."""
    if g.chance(0.5):
        g.values[-1] = g.node(g.r.choice(("Tanh", "Softsign", "HardSigmoid")), [v], [(v.kind, v.shape)])[0]


def compare(g):
    v = g.pick(lambda v: v.kind in (I32, I64, BOOL))
    if v is None:
        return
    if v.kind == BOOL:
        w = other_operand(g, v)
        g.add(g.r.choice(("And", "Or", "Xor")), [v, w], BOOL, broadcast(v.shape, w.shape))
        return
    w = other_operand(g, v)
    g.add(g.r.choice(("Greater", "Less", "Equal", "LessOrEqual", "GreaterOrEqual")), [v, w], BOOL,
          broadcast(v.shape, w.shape))


def where(g):
    v = g.pick(lambda v: v.kind in FLOATS + (I64,))
    w = other_operand(g, v)
    shape = broadcast(v.shape, w.shape)
    c = g.pick(lambda c: c.kind == BOOL and broadcast(c.shape, shape) and g.fits(broadcast(c.shape, shape)))
    if c is None or g.chance(0.3):
        c = g.constant(BOOL, [d if g.chance(0.7) else 1 for d in shape][g.r.randrange(len(shape) + 1):])
    g.add("Where", [c, v, w], v.kind, broadcast(c.shape, shape))


def cast(g):
    v = g.pick()
    to = g.r.choice((BOOL, g.kind) if v.kind in FLOATS else (I64, I32, g.kind))
    if v.kind in FLOATS and to == BOOL and g.chance(0.7):
        return
    g.add("Cast", [v], to, v.shape, to=to)
