"""Builds random ONNX graphs: values, constants and nodes, and the bytes of a model, without any package.

Nodes read recent values more often than old ones, values have several readers, outputs are also intermediate values,
and dimensions of 0 and 1 occur. Left out: strings, sequences."""
import math
import random
import struct

F32, U8, I8, U16, I16, I32, I64, BOOL, F16, F64, U32, U64 = 1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13
CODES = {F32: "f", U8: "B", I8: "b", U16: "H", I16: "h", I32: "i", I64: "q", BOOL: "?", F16: "e", F64: "d", U32: "I",
         U64: "Q"}
NAMES = {F32: "<f4", U8: "|u1", I8: "|i1", U16: "<u2", I16: "<i2", I32: "<i4", I64: "<i8", BOOL: "|b1", F16: "<f2",
         F64: "<f8", U32: "<u4", U64: "<u8"}
FLOATS = (F32, F16, F64)
UNSIGNED = (U8, U16, U32, U64)
SMALL = (1, 2, 3, 4, 5, 7, 8, 16)
LARGE = (1, 2, 3, 7, 8, 9, 14, 16, 17, 32)


def product(dims):
    return math.prod(dims)


# ---- the protocol buffers of ONNX

def varint(n):
    n &= (1 << 64) - 1
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def packed(kind, values):
    return struct.pack(f"<{len(values)}{CODES[kind]}", *values)


def tensor(name, kind, dims, values):
    return b"".join(field(1, d) for d in dims) + field(2, kind) + field(8, name) + field(9, packed(kind, values))


class Body:
    """The bytes of a subgraph, as an attribute."""

    def __init__(self, data):
        self.data = data


def attribute(name, value):
    out = field(1, name)
    if isinstance(value, Body):
        return out + field(6, value.data) + field(20, 5)
    if isinstance(value, bytes):
        return out + field(5, value) + field(20, 4)
    if isinstance(value, int):
        return out + field(3, value) + field(20, 2)
    if isinstance(value, float):
        return out + field(2, value) + field(20, 1)
    if isinstance(value, str):
        return out + field(4, value) + field(20, 3)
    if value and isinstance(value[0], float):
        return out + b"".join(field(7, x) for x in value) + field(20, 6)
    if value and isinstance(value[0], str):
        return out + b"".join(field(9, x) for x in value) + field(20, 8)
    return out + b"".join(field(8, x) for x in value) + field(20, 7)


def value_info(name, kind, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


class Value:
    def __init__(self, name, kind, shape):
        self.name, self.kind, self.shape = name, kind, tuple(shape)

    @property
    def rank(self):
        return len(self.shape)


class Graph:
    """kind: the element type of its floats. most: elements of a value. large: dimensions fill vectors and blocks."""

    def __init__(self, seed, kind, large):
        self.r = random.Random(seed)
        self.kind, self.large, self.most = kind, large, 20000 if large else 3000
        self.nodes, self.weights, self.inputs, self.values, self.log = [], [], [], [], []
        self.zeros = self.r.random() < 0.04
        self.count = 0
        self.opset = 21
        self.jumps = False  # codes are rounded: a few elements may be the neighbouring code

    def name(self):
        self.count += 1
        return f"v{self.count}"

    def chance(self, p):
        return self.r.random() < p

    def number(self, kind, scale=1.0):
        if kind in FLOATS:
            return round(self.r.uniform(-scale, scale), 3)
        return self.chance(0.5) if kind == BOOL else self.r.randint(0 if kind in UNSIGNED else -9, 9)

    def constant(self, kind, shape, values=None, scale=1.0):
        name = self.name()
        if values is None:
            values = [self.number(kind, scale) for _ in range(product(shape))]
        self.weights.append(tensor(name, kind, shape, values))
        return Value(name, kind, shape)

    def ints(self, values, kind=I64):
        return self.constant(kind, [len(values)], values)

    def scalar(self, kind, value):
        return self.constant(kind, [], [float(value) if kind in FLOATS else int(value)])

    def fits(self, shape):
        return product(shape) <= self.most and len(shape) <= 6

    def node(self, op, ins, outs, **attributes):
        """outs: [(kind, shape)]; the values."""
        got = [Value(self.name(), k, s) for k, s in outs]
        self.log.append(f"{','.join(v.name for v in got)} = {op}("
                        + ", ".join(f"{v.name}:{list(v.shape)}" if v else "_" for v in ins)
                        + f") {attributes} -> {[list(v.shape) for v in got]}")
        domain = attributes.pop("domain_", None)
        self.nodes.append(b"".join(field(1, v.name if v else "") for v in ins)
                          + b"".join(field(2, v.name) for v in got) + field(3, "n" + got[0].name) + field(4, op)
                          + b"".join(field(5, attribute(k, v)) for k, v in attributes.items())
                          + (field(7, domain) if domain else b""))
        return got

    def body(self, ins, make):
        """The subgraph of inputs [(kind, shape)] and of the results that make(*inputs) returns; constants stay in the
        graph around it."""
        around, values, self.nodes = self.nodes, list(self.values), []
        inputs = [Value(self.name(), k, s) for k, s in ins]
        outs = make(*inputs)
        nodes, self.nodes, self.values = self.nodes, around, values
        return Body(b"".join(field(1, n) for n in nodes) + field(2, "body")
                    + b"".join(field(11, value_info(v.name, v.kind, v.shape)) for v in inputs)
                    + b"".join(field(12, value_info(v.name, v.kind, v.shape)) for v in outs))

    def add(self, op, ins, kind, shape, **attributes):
        v = self.node(op, ins, [(kind, shape)], **attributes)[0]
        self.values.append(v)
        return v

    def pick(self, test=lambda v: True):
        """A value, a recent one more often; None: there is none."""
        fit = [v for v in self.values if test(v)]
        if not fit:
            return None
        back = min(int(self.r.expovariate(0.35)), len(fit) - 1)
        return fit[-1 - back]

    def real(self, test=lambda v: True):
        return self.pick(lambda v: v.kind == self.kind and test(v))

    def full(self, test=lambda v: True):
        """A value of floats that has elements."""
        return self.real(lambda v: product(v.shape) > 0 and test(v))

    def new_input(self, kind, shape):
        v = Value(self.name(), kind, shape)
        self.inputs.append(v)
        self.values.append(v)
        return v

    def dims(self, rank):
        while True:
            d = [self.r.choice(LARGE if self.large else SMALL) for _ in range(rank)]
            if self.zeros and rank and self.chance(0.3):
                d[self.r.randrange(rank)] = 0
            if product(d) <= self.most / 2:
                return d

    def axis(self, v):
        """(as it may be written, as it is)"""
        k = self.r.randrange(v.rank)
        return (k - v.rank if self.chance(0.4) else k), k

    def model(self):
        outs = [v for v in self.values if self.chance(0.12) and not any(v is i for i in self.inputs)]
        last = [v for v in self.values if not any(v is i for i in self.inputs)][-3:]
        outs += [v for v in last if not any(v is o for o in outs)]
        self.r.shuffle(outs)
        self.outputs = outs
        graph = b"".join(field(1, n) for n in self.nodes) + field(2, "g") + b"".join(field(5, w) for w in self.weights)
        graph += b"".join(field(11, value_info(v.name, v.kind, v.shape)) for v in self.inputs)
        graph += b"".join(field(12, value_info(v.name, v.kind, v.shape)) for v in outs)
        return field(1, 10) + field(7, graph) + field(8, field(1, "") + field(2, self.opset))


def broadcast(a, b):
    n = max(len(a), len(b))
    a, b = (1,) * (n - len(a)) + tuple(a), (1,) * (n - len(b)) + tuple(b)
    out = []
    for x, y in zip(a, b):
        if x != y and 1 not in (x, y):
            return None
        out.append(y if x == 1 else x)
    return tuple(out)


def npy(kind, shape, values):
    head = f"{{'descr': '{NAMES[kind]}', 'fortran_order': False, 'shape': ({''.join(f'{d},' for d in shape)}), }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + packed(kind, values)
