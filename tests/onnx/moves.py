"""Nodes of random graphs (build.py) that move elements, as elements.py."""
from build import BOOL, I32, I64, product


def transpose(g, v=None):
    v = v or g.pick(lambda v: v.rank > 0)
    if v is None:
        return
    perm = list(range(v.rank))
    if g.chance(0.4) and v.rank >= 2:
        perm[-1], perm[-2] = perm[-2], perm[-1]
    else:
        g.r.shuffle(perm)
    if g.chance(0.1):
        return g.add("Transpose", [v], v.kind, v.shape[::-1])
    return g.add("Transpose", [v], v.kind, [v.shape[k] for k in perm], perm=perm)


def factors(g, n, rank):
    dims = [1] * rank
    for p in (2, 3, 5, 7, 11, 13):
        while n % p == 0 and n > 1:
            n //= p
            dims[g.r.randrange(rank)] *= p
    dims[g.r.randrange(rank)] *= n
    return dims


def reshape(g, v=None):
    v = v or g.pick(lambda v: product(v.shape) > 0)
    if v is None:
        return
    kind = g.r.randrange(5)
    if kind == 0 and v.rank < 6:
        k = g.r.randrange(v.rank + 1)
        g.add("Unsqueeze", [v, g.ints([k - v.rank - 1 if g.chance(0.4) else k])], v.kind,
              v.shape[:k] + (1,) + v.shape[k:])
    elif kind == 1 and 1 in v.shape:
        k = g.r.choice([i for i in range(v.rank) if v.shape[i] == 1])
        g.add("Squeeze", [v, g.ints([k - v.rank if g.chance(0.4) else k])], v.kind, v.shape[:k] + v.shape[k + 1:])
    elif kind == 2:
        k = g.r.randrange(v.rank + 1)
        g.add("Flatten", [v], v.kind, (product(v.shape[:k]), product(v.shape[k:])), axis=k)
    elif kind == 3 and v.rank >= 2:  # split or merge a dimension
        k = g.r.randrange(v.rank - 1)
        to = list(v.shape[:k]) + [v.shape[k] * v.shape[k + 1]] + list(v.shape[k + 2:])
        text = [0] * k + to[k:]
        g.add("Reshape", [v, g.ints(text)], v.kind, to)
    elif v.rank < 6:
        n = product(v.shape)
        if g.chance(0.5) and v.rank:
            k = g.r.randrange(v.rank)
            to = list(v.shape[:k]) + factors(g, v.shape[k], 2) + list(v.shape[k + 1:])
        else:
            to = factors(g, n, g.r.randint(1, 5))
        text = list(to)
        if g.chance(0.4):
            text[g.r.randrange(len(text))] = -1
        g.add("Reshape", [v, g.ints(text)], v.kind, to)


def expand(g):
    v = g.pick(lambda v: v.rank > 0)
    if v is None:
        return
    if g.chance(0.5):
        to = [d if d != 1 or g.chance(0.4) else g.r.choice((2, 3, 4)) for d in v.shape]
        if g.chance(0.2) and v.rank < 5:
            to = [2] + to
        text = [1 if d == t and g.chance(0.3) and len(to) == v.rank else t for d, t in zip(v.shape, to)] \
            if len(to) == v.rank else to
        if g.fits(to):
            g.add("Expand", [v, g.ints(text)], v.kind, to)
    else:
        by = [g.r.choice((1, 1, 2, 3)) for _ in v.shape]
        to = [a * b for a, b in zip(v.shape, by)]
        if g.fits(to):
            g.add("Tile", [v, g.ints(by)], v.kind, to)


def concat(g):
    v = g.pick(lambda v: v.rank > 0)
    if v is None:
        return
    said, k = g.axis(v)
    parts = [v]
    for _ in range(g.r.randint(1, 3)):
        w = g.pick(lambda w: w.kind == v.kind and w.rank == v.rank
                   and all(i == k or a == b for i, (a, b) in enumerate(zip(v.shape, w.shape))))
        if g.chance(0.3):
            dims = list(v.shape)
            dims[k] = g.r.choice((1, 2))
            w = g.constant(v.kind, dims)
        parts.append(w)
    g.r.shuffle(parts)
    to = list(v.shape)
    to[k] = sum(p.shape[k] for p in parts)
    if g.fits(to):
        g.add("Concat", parts, v.kind, to, axis=said)


def split(g):
    v = g.pick(lambda v: v.rank > 0 and max(v.shape) >= 2)
    if v is None:
        return
    k = g.r.choice([i for i in range(v.rank) if v.shape[i] >= 2])
    n, sizes = v.shape[k], []
    while n > 0 and len(sizes) < 3:
        sizes.append(n if len(sizes) == 2 else g.r.randint(1, n))
        n -= sizes[-1]
    if g.chance(0.4) and v.shape[k] % 2 == 0:
        sizes = [v.shape[k] // 2] * 2
    outs = [(v.kind, v.shape[:k] + (s,) + v.shape[k + 1:]) for s in sizes]
    g.values += g.node("Split", [v, g.ints(sizes)], outs, axis=k - v.rank if g.chance(0.3) else k)


def slices(g):
    v = g.pick(lambda v: v.rank > 0 and product(v.shape) > 0)
    if v is None:
        return
    axes = g.r.sample(range(v.rank), g.r.randint(1, min(2, v.rank)))
    to, starts, ends, steps = list(v.shape), [], [], []
    for k in axes:
        n = v.shape[k]
        step = g.r.choice((1, 1, 1, 2, -1, -1, -2, 3))
        a, b = g.r.randrange(n), g.r.randrange(n)
        if step > 0:
            a, b = min(a, b), max(a, b) + 1
            ends.append(g.r.choice((b, b - n if b < n else n + 3)) if b != n else g.r.choice((n, 1 << 40)))
            starts.append(a - n if g.chance(0.3) else a)
            to[k] = len(range(a, b, step))
        else:
            a, b = max(a, b), min(a, b) - 1
            starts.append(g.r.choice((a, a - n)))
            ends.append(b if b >= 0 else -n - 1)
            to[k] = len(range(a, b, step))
        if b == n and step > 0 and ends[-1] <= 0:
            ends[-1] = n
        steps.append(step)
    said = [k - v.rank if g.chance(0.3) else k for k in axes]
    g.add("Slice", [v] + [g.ints(x) for x in (starts, ends, said, steps)], v.kind, to)


def pad(g):
    v = g.full(lambda v: v.rank > 0)
    if v is None:
        return
    mode = g.r.choice(("constant", "constant", "reflect", "edge", "wrap"))
    lo = [g.r.choice((0, 0, 1, 2)) for _ in v.shape]
    hi = [g.r.choice((0, 0, 1, 2)) for _ in v.shape]
    if mode in ("reflect", "wrap"):
        lo = [min(a, d - 1) for a, d in zip(lo, v.shape)]
        hi = [min(a, d - 1) for a, d in zip(hi, v.shape)]
    elif mode == "constant" and g.chance(0.3):
        k = g.r.randrange(v.rank)
        lo[k] = -g.r.randrange(v.shape[k])
    to = [d + a + b for d, a, b in zip(v.shape, lo, hi)]
    if g.fits(to) and min(to) > 0:
        ins = [v, g.ints(lo + hi)] + ([g.scalar(v.kind, 0.5)] if mode == "constant" and g.chance(0.5) else [])
        g.add("Pad", ins, v.kind, to, mode=mode)


def gather(g):
    v = g.pick(lambda v: v.rank > 0 and product(v.shape) > 0)
    if v is None:
        return
    said, k = g.axis(v)
    n = v.shape[k]
    shape = g.dims(g.r.choice((0, 1, 1, 2)))
    to = v.shape[:k] + tuple(shape) + v.shape[k + 1:]
    if not g.fits(to):
        return
    if g.chance(0.3):  # all the same, or in order
        a = g.r.randrange(n)
        index = [min(n - 1, a + i) for i in range(product(shape))]
    else:
        index = [g.r.randrange(-n, n) for _ in range(product(shape))]
    g.add("Gather", [v, g.constant(g.r.choice((I64, I32)), shape, index)], v.kind, to, axis=said)


def gather_elements(g):
    v = g.pick(lambda v: v.rank > 0 and product(v.shape) > 0)
    if v is None:
        return
    said, k = g.axis(v)
    shape = [g.r.randint(1, 4) if i == k else g.r.randint(1, d) for i, d in enumerate(v.shape)]
    n = v.shape[k]
    if g.chance(0.3):
        w = g.pick(lambda w: w.kind == I64 and w.rank == v.rank and product(w.shape) > 0
                   and all(i == k or a <= d for i, (a, d) in enumerate(zip(w.shape, v.shape))))
        if w is not None:
            w = g.node("Mod", [w, g.scalar(I64, n)], [(I64, w.shape)])[0]
            g.add("GatherElements", [v, w], v.kind, w.shape, axis=said)
            return
    index = [g.r.randrange(-n, n) for _ in range(product(shape))]
    g.add("GatherElements", [v, g.constant(I64, shape, index)], v.kind, shape, axis=said)


def gather_nd(g):
    v = g.pick(lambda v: v.rank > 1 and product(v.shape) > 0)
    if v is None:
        return
    batch = g.r.choice((0, 0, 1))
    depth = g.r.randint(1, v.rank - batch)
    lead = list(v.shape[:batch]) + g.dims(1)
    if product(lead) == 0:
        return
    to = lead + list(v.shape[batch + depth:])
    index = [g.r.randrange(-v.shape[batch + j], v.shape[batch + j]) for _ in range(product(lead)) for j in range(depth)]
    if g.fits(to):
        g.add("GatherND", [v, g.constant(I64, lead + [depth], index)], v.kind, to, batch_dims=batch)


def scatter(g):
    v = g.full(lambda v: v.rank > 0)
    if v is None:
        return
    said, k = g.axis(v)
    if g.chance(0.5):
        shape = [g.r.randint(1, d) for d in v.shape]
        n = v.shape[k]
        rest = product(shape[:k] + shape[k + 1:])
        inner = product(shape[k + 1:])
        index = [0] * product(shape)
        for o in range(rest // max(inner, 1)):
            for i in range(inner):
                for j, at in enumerate(g.r.sample(range(n), shape[k])):
                    index[(o * shape[k] + j) * inner + i] = at
        how = g.r.choice(("none", "add", "mul", "max", "min"))
        g.add("ScatterElements", [v, g.constant(I64, shape, index), g.constant(v.kind, shape)], v.kind, v.shape,
              axis=said, reduction=how)
    else:
        depth = g.r.randint(1, v.rank)
        n = g.r.randint(1, 3)
        places = g.r.sample(range(product(v.shape[:depth])), min(n, product(v.shape[:depth])))
        index = []
        for p in places:
            one = []
            for d in reversed(v.shape[:depth]):
                one.append(p % d)
                p //= d
            index += reversed(one)
        n = len(places)
        g.add("ScatterND", [v, g.constant(I64, [n, depth], index),
                            g.constant(v.kind, [n] + list(v.shape[depth:]))], v.kind, v.shape,
              reduction=g.r.choice(("none", "add", "mul")))
