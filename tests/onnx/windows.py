"""Nodes of random graphs (build.py) that slide windows over one to three dimensions or take samples of them, with all
of their attributes, as elements.py."""
from build import F16, F32, I64, product

AUTO = ("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def image(g, spatial=(1, 2, 3)):
    """A value with batch, channels and spatial dimensions: one that there is, or a new input."""
    v = g.full(lambda v: v.rank - 2 in spatial)
    if v is not None and g.chance(0.6):
        return v
    n = g.r.choice(spatial)
    most = {1: 40, 2: 12, 3: 6}[n]
    dims = [g.r.choice((1, 2, 3)), g.r.choice((1, 2, 3, 4, 6, 8, 16))] + [g.r.randint(1, most) for _ in range(n)]
    return g.new_input(g.kind, dims) if g.fits(dims) else v


class Window:
    """The geometry that a node's attributes say: `to` is None where no window fits."""

    def __init__(self, g, space, ceil=0, least=0):
        n = len(space)
        self.kernel = [g.r.choice((1, 1, 2, 3, 3, 4, 5)) for _ in space]
        self.stride = [g.r.choice((1, 1, 2, 3)) for _ in space]
        self.dilation = [g.r.choice((1, 1, 1, 2, 3)) for _ in space]
        self.auto = g.r.choice(AUTO)
        if self.auto[:4] == "SAME":  # ONNX Runtime takes no dilation then
            self.dilation = [1] * n
        self.span = [(k - 1) * e + 1 for k, e in zip(self.kernel, self.dilation)]
        self.lo, self.hi = ([g.r.choice((0, 0, 1, 2, k // 2)) for k in self.kernel] for _ in range(2))
        if least:  # a pool's pads are smaller than its window
            self.lo, self.hi = ([min(p, k - 1) for p, k in zip(side, self.kernel)] for side in (self.lo, self.hi))
        self.to = []
        if self.auto[:4] == "SAME":
            self.to = [-(-d // s) for d, s in zip(space, self.stride)]
            if any((n - 1) * s + w < d for n, s, w, d in zip(self.to, self.stride, self.span, space)):
                self.to = None  # ONNX Runtime takes negative pads
            return
        if self.auto == "VALID":
            self.lo, self.hi = [0] * n, [0] * n
        for d, a, b, w, s in zip(space, self.lo, self.hi, self.span, self.stride):
            room = d + a + b - w
            if room < 0:
                self.to = None
                return
            steps = -(-room // s) if ceil else room // s
            if ceil and steps * s >= d + a:
                steps -= 1
            self.to.append(steps + 1)

    def attributes(self, g):
        more = {"strides": self.stride, "dilations": self.dilation}
        if self.auto != "NOTSET":
            more["auto_pad"] = self.auto
        elif any(self.lo + self.hi) or g.chance(0.5):
            more["pads"] = self.lo + self.hi
        return more


def convolution(g):
    v = image(g)
    if v is None:
        return
    c, space = v.shape[1], v.shape[2:]
    group = g.r.choice([k for k in range(1, c + 1) if c % k == 0])
    out = group * g.r.choice((1, 2, 3, 4, 8))
    w = Window(g, space)
    if w.to is None or not g.fits([v.shape[0], out] + w.to):
        return
    shape = [out, c // group] + w.kernel
    scale = 1.7 / product(shape[1:]) ** 0.5
    ins = [v, g.constant(v.kind, shape, scale=scale) if g.chance(0.85) else g.new_input(v.kind, shape)]
    if g.chance(0.5):
        ins.append(g.constant(v.kind, [out]))
    more = w.attributes(g)
    if g.chance(0.6):
        more["kernel_shape"] = w.kernel
    g.add("Conv", ins, v.kind, [v.shape[0], out] + w.to, group=group, **more)


def transposed_convolution(g):
    v = image(g)
    if v is None:
        return
    c, space = v.shape[1], v.shape[2:]
    group = g.r.choice([k for k in range(1, c + 1) if c % k == 0])
    out = g.r.choice((1, 2, 3, 8))
    w = Window(g, space)
    extra = [g.r.randrange(s) if g.chance(0.4) else 0 for s in w.stride]
    reach = [(d - 1) * s + n + x for d, s, n, x in zip(space, w.stride, w.span, extra)]
    more = {"strides": w.stride, "dilations": w.dilation, "kernel_shape": w.kernel, "group": group}
    if any(extra) or g.chance(0.2):
        more["output_padding"] = extra
    how = g.r.randrange(5)
    if how == 0:
        to = [g.r.randint(max(1, r - 3), r) for r in reach]
        more["output_shape"] = to
        more["auto_pad"] = g.r.choice(("SAME_UPPER", "SAME_LOWER", "NOTSET"))
    elif how == 1:
        to = [d * s for d, s in zip(space, w.stride)]
        more["auto_pad"] = g.r.choice(("SAME_UPPER", "SAME_LOWER"))
        if any(r < t for r, t in zip(reach, to)):
            return
    elif how == 2:
        to = reach
        more["auto_pad"] = "VALID"
    else:
        lo, hi = ([g.r.choice((0, 0, 1, 2)) for _ in space] for _ in range(2))
        to = [r - a - b for r, a, b in zip(reach, lo, hi)]
        more["pads"] = lo + hi
    if min(to) < 1 or not g.fits([v.shape[0], out * group] + to):
        return
    shape = [c, out] + w.kernel
    ins = [v, g.constant(v.kind, shape, scale=1.7 / (c * product(w.kernel)) ** 0.5)]
    if g.chance(0.85) is False:
        ins[1] = g.new_input(v.kind, shape)
    if g.chance(0.5):
        ins.append(g.constant(v.kind, [out * group]))
    g.add("ConvTranspose", ins, v.kind, [v.shape[0], out * group] + to, **more)


def pooling(g):
    v = image(g)
    if v is None:
        return
    op = g.r.choice(("MaxPool", "MaxPool", "AveragePool", "AveragePool", "LpPool", "GlobalLpPool"))
    lead = v.shape[:2]
    if op == "GlobalLpPool":
        g.add(op, [v], v.kind, lead + (1,) * (v.rank - 2), p=g.r.choice((1, 2, 3)))
        return
    ceil = int(g.chance(0.4))
    w = Window(g, v.shape[2:], ceil, 1)
    if w.to is None or not g.fits(lead + tuple(w.to)):
        return
    if op == "AveragePool" and ceil and max(w.dilation) > 1:
        return  # what counts as padding differs between versions
    more = {**w.attributes(g), "kernel_shape": w.kernel, "ceil_mode": ceil}
    to = lead + tuple(w.to)
    if op == "MaxPool" and g.chance(0.4):
        more["storage_order"] = int(g.chance(0.3))
        g.values += g.node(op, [v], [(v.kind, to), (I64, to)], **more)
    elif op == "MaxPool":
        g.add(op, [v], v.kind, to, **more)
    elif op == "AveragePool":
        g.add(op, [v], v.kind, to, count_include_pad=int(g.chance(0.5)), **more)
    elif max(w.dilation) == 1:
        g.add(op, [v], v.kind, to, p=g.r.choice((1, 2, 3)), **more)


def local_norm(g):
    v = image(g)
    if v is None:
        return
    if g.chance(0.5) and v.rank == 4:
        g.add("LRN", [v], v.kind, v.shape, size=g.r.choice((1, 3, 5)), alpha=0.3, beta=0.75,
              bias=g.r.choice((1.0, 2.0)))
    else:
        g.add("LpNormalization", [v], v.kind, v.shape, axis=g.axis(v)[0], p=g.r.choice((1, 2)))


def resizing(g):
    """Nearest neighbours only where coordinates have no ties."""
    v = image(g)
    if v is None:
        return
    n = v.rank - 2
    axes = sorted(g.r.sample(range(2, v.rank), g.r.randint(1, n))) if g.chance(0.4) else None
    over = axes or list(range(v.rank))
    mode = g.r.choice(("nearest", "linear", "linear", "cubic"))
    if v.rank != 4:
        mode = "nearest" if v.rank == 5 else "linear"
    how = g.r.choice(("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "half_pixel_symmetric"))
    more = {"mode": mode, "coordinate_transformation_mode": how}
    to = list(v.shape)
    if mode == "nearest":
        more["nearest_mode"] = g.r.choice(("floor", "ceil"))
        how = more["coordinate_transformation_mode"] = "asymmetric"
    if mode == "cubic":
        more["cubic_coeff_a"] = g.r.choice((-0.75, -0.5))
        more["exclude_outside"] = int(g.chance(0.3))
    if mode != "nearest" and v.rank == 4 and g.chance(0.3):
        more["antialias"] = 1
    if axes:
        more["axes"] = axes
    if how[:2] in ("ha", "py", "as") and g.chance(0.5):  # ONNX Runtime rounds what others multiply
        scales = [1.0 if k < 2 else g.r.choice((0.5, 1.0, 1.5, 2.0, 0.75, 3.0)) for k in over]
        for k, s in zip(over, scales):
            to[k] = int(v.shape[k] * s)
        ins = [v, None, g.constant(F32, [len(over)], scales)]
    else:
        sizes = [v.shape[k] if k < 2 else g.r.randint(1, 2 * v.shape[k] + 1) for k in over]
        for k, s in zip(over, sizes):
            to[k] = s
        ins = [v, None, None, g.ints(sizes)]
    if min(to) > 0 and g.fits(to):
        g.add("Resize", ins, v.kind, to, **more)


def samples(g):
    """Samples at places that are data or constants."""
    v = image(g, (2,))
    if v is None or v.kind == F16:
        return
    b, c, y, x = v.shape
    how = g.r.randrange(4)
    if how == 0:
        ty, tx = g.r.randint(1, 5), g.r.randint(1, 5)
        grid = g.constant(v.kind, [b, ty, tx, 2], scale=1.3) if g.chance(0.5) else g.new_input(v.kind, [b, ty, tx, 2])
        g.add("GridSample", [v, grid], v.kind, (b, c, ty, tx), mode=g.r.choice(("linear", "cubic")),
              padding_mode=g.r.choice(("zeros", "border", "reflection")), align_corners=int(g.chance(0.5)))
    elif how == 1:
        n, ty, tx = g.r.randint(1, 3), g.r.randint(1, 3), g.r.randint(1, 3)
        boxes = []
        for _ in range(n):
            x0, y0 = g.r.uniform(0, x), g.r.uniform(0, y)
            boxes += [round(e, 2) for e in (x0, y0, x0 + g.r.uniform(0, x), y0 + g.r.uniform(0, y))]
        if v.kind == F32 and g.chance(0.3):
            rows = [e for i in range(n) for e in [g.r.randrange(b)] + boxes[4 * i:4 * i + 4]]
            g.add("MaxRoiPool", [v, g.constant(F32, [n, 5], rows)], F32, (n, c, ty, tx), pooled_shape=[ty, tx],
                  spatial_scale=g.r.choice((1.0, 0.5)))
            return
        ins = [v, g.constant(v.kind, [n, 4], boxes), g.constant(I64, [n], [g.r.randrange(b) for _ in range(n)])]
        g.add("RoiAlign", ins, v.kind, (n, c, ty, tx), output_height=ty, output_width=tx,
              sampling_ratio=g.r.choice((0, 1, 2)), spatial_scale=g.r.choice((1.0, 0.5)),
              mode=g.r.choice(("avg", "max")),
              coordinate_transformation_mode=g.r.choice(("half_pixel", "output_half_pixel")))
    elif how == 2:
        block = g.r.choice((2, 3))
        if c % (block * block) == 0:
            g.add("DepthToSpace", [v], v.kind, (b, c // block ** 2, y * block, x * block), blocksize=block,
                  mode=g.r.choice(("DCR", "CRD")))
        elif y % block == 0 and x % block == 0:
            g.add("SpaceToDepth", [v], v.kind, (b, c * block ** 2, y // block, x // block), blocksize=block)
    else:
        k = [g.r.randint(1, 3) for _ in range(2)]
        to = [g.r.randint(a, a + 5) for a in k]
        stride, dilation = [g.r.choice((1, 2)) for _ in k], [1, 1]
        pads = [g.r.choice((0, 1)) for _ in range(4)]
        blocks = product((t + pads[i] + pads[2 + i] - (a - 1) * e - 1) // s + 1
                         for i, (t, a, s, e) in enumerate(zip(to, k, stride, dilation)))
        shape = [g.r.choice((1, 2)), g.r.choice((1, 3)) * product(k), blocks]
        if g.fits(shape):
            w = g.new_input(v.kind, shape)
            g.add("Col2Im", [w, g.ints(to), g.ints(k)], v.kind, [shape[0], shape[1] // product(k)] + to,
                  strides=stride, pads=pads, dilations=dilation)


def crop(g):
    v = g.full(lambda v: v.rank > 0)
    if v is None:
        return
    to = [g.r.randint(1, d + 3) for d in v.shape]  # all axes: others expand wrongly in ONNX Runtime
    if g.fits(to):
        g.add("CenterCropPad", [v, g.ints(to)], v.kind, to)
