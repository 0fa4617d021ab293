"""Small ONNX files, byte by byte: one node, and weights that a seed draws."""
import random, struct

def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])

def number(field, n):
    return varint(field << 3) + varint(n)

def data(field, b):
    b = b.encode() if isinstance(b, str) else b
    return varint(field << 3 | 2) + varint(len(b)) + b

def ints(name, values):
    return data(5, data(1, name) + b"".join(number(8, v) for v in values) + number(20, 7))

def value(name, shape):
    return data(1, name) + data(2, data(1, number(1, 1) + data(2, b"".join(data(1, number(1, d)) for d in shape))))

def weights(name, shape, seed=1):
    rng, n = random.Random(seed), 1
    for d in shape:
        n *= d
    raw = struct.pack(f"<{n}f", *(rng.uniform(-1, 1) for _ in range(n)))
    return b"".join(number(1, d) for d in shape) + number(2, 1) + data(8, name) + data(9, raw)

def model(path, nodes, tensors, x, y):
    """Nodes: (inputs, output, type, attributes); x and y: shapes of the model's input and output."""
    graph = b"".join(data(1, b"".join(data(1, i) for i in ins) + data(2, out) + data(4, op) + attrs) for ins, out, op,
                     attrs in nodes)
    graph += data(2, "g") + b"".join(data(5, t) for t in tensors) + data(11, value("x", x)) + data(12, value("y", y))
    with open(path, "wb") as f:
        f.write(number(1, 8) + data(7, graph) + data(8, number(2, 13)))

def max_pool(path, channels, size):
    """Kernel 3, stride 2."""
    model(path, [(["x"], "y", "MaxPool", ints("kernel_shape", [3, 3]) + ints("strides", [2, 2]))], [],
          (1, channels, size, size), (1, channels, (size - 1) // 2, (size - 1) // 2))

def conv(path, inputs, outputs, size):
    """Kernel 3, padded: the map keeps its size."""
    model(path, [(["x", "w"], "y", "Conv", ints("pads", [1, 1, 1, 1]))], [weights("w", (outputs, inputs, 3, 3))],
          (1, inputs, size, size), (1, outputs, size, size))

def conv_pool(path, inputs, outputs, size):
    """The same, and a pooling behind it."""
    half = (size - 1) // 2
    model(path, [(["x", "w"], "c", "Conv", ints("pads", [1, 1, 1, 1])),
                 (["c"], "y", "MaxPool", ints("kernel_shape", [3, 3]) + ints("strides", [2, 2]))],
          [weights("w", (outputs, inputs, 3, 3))], (1, inputs, size, size), (1, outputs, half, half))
