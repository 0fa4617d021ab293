#!/usr/bin/env python3
"""operators.py DIR: small models of one operator each, which bench/gpu compares on the device with the CPU, and
gemm.onnx, a product of two matrices whose sizes are symbols. tools/gpu-bundle calls this; the files need no Python.
Other scripts take conv() from here."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "cli"))
from onnx_bytes import data, ints, number, weights


def value(name, shape):
    """A tensor of f32; a dimension that is a text is a symbol."""
    dims = b"".join(data(1, data(2, d) if isinstance(d, str) else number(1, d)) for d in shape)
    return data(1, name) + data(2, data(1, number(1, 1) + data(2, dims)))


def integer(name, v):
    return data(5, data(1, name) + number(3, v) + number(20, 2))


def node(inputs, output, op, *attributes):
    return data(1, b"".join(data(1, i) for i in inputs) + data(2, output) + data(4, op) + b"".join(attributes))


def write(path, inputs, output, nodes, tensors=()):
    graph = b"".join(nodes) + data(2, "g") + b"".join(data(5, t) for t in tensors)
    graph += b"".join(data(11, value(*i)) for i in inputs) + data(12, value(*output))
    with open(path, "wb") as f:
        f.write(number(1, 8) + data(7, graph) + data(8, number(2, 13)))


def conv(folder, name, channels, outputs, size, kernel, stride=1, groups=1):
    """Padded, with a bias and a relu behind it."""
    pad, half = kernel // 2, (size + stride - 1) // stride
    write(f"{folder}/{name}.onnx", [("x", (1, channels, size, size))], ("y", (1, outputs, half, half)),
          [node(["x", "w", "b"], "c", "Conv", ints("pads", [pad] * 4), ints("strides", [stride] * 2),
                integer("group", groups)), node(["c"], "y", "Relu")],
          [weights("w", (outputs, channels // groups, kernel, kernel)), weights("b", (outputs,), 2)])


def pool(folder, name, op, out, *attributes):
    write(f"{folder}/{name}.onnx", [("x", (1, 32, 28, 28))], ("y", out), [node(["x"], "y", op, *attributes)])


def unary(folder, name, op, *attributes, shape=(4, 33, 65), out=None):
    write(f"{folder}/{name}.onnx", [("x", shape)], ("y", out or shape), [node(["x"], "y", op, *attributes)])


def binary(folder, name, op, a, b, out):
    write(f"{folder}/{name}.onnx", [("a", a), ("b", b)], ("y", out), [node(["a", "b"], "y", op)])


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    conv(folder, "conv3x3", 32, 48, 28, 3)
    conv(folder, "conv3x3_stride2", 24, 32, 29, 3, stride=2)
    conv(folder, "conv1x1", 64, 96, 14, 1)
    conv(folder, "conv7x7_stride2", 3, 32, 56, 7, stride=2)
    conv(folder, "conv5x5_groups", 32, 32, 15, 5, groups=4)
    conv(folder, "depthwise3x3", 48, 48, 28, 3, groups=48)
    conv(folder, "depthwise3x3_stride2", 48, 48, 28, 3, stride=2, groups=48)
    write(f"{folder}/dense.onnx", [("x", (5, 200))], ("y", (5, 130)),
          [node(["x", "w", "b"], "y", "Gemm", integer("transB", 1))],
          [weights("w", (130, 200)), weights("b", (130,), 2)])
    binary(folder, "matmul", "MatMul", (65, 130), (130, 96), (65, 96))
    binary(folder, "matmul_batched", "MatMul", (6, 33, 64), (6, 64, 40), (6, 33, 40))
    pool(folder, "max_pool", "MaxPool", (1, 32, 14, 14), ints("kernel_shape", [3, 3]), ints("strides", [2, 2]),
         ints("pads", [1] * 4))
    pool(folder, "average_pool", "AveragePool", (1, 32, 14, 14), ints("kernel_shape", [2, 2]), ints("strides", [2, 2]))
    pool(folder, "global_pool", "GlobalAveragePool", (1, 32, 1, 1))
    unary(folder, "reduce_mean", "ReduceMean", ints("axes", [1]), shape=(8, 50, 33), out=(8, 1, 33))
    unary(folder, "softmax", "Softmax", integer("axis", 2))
    unary(folder, "sigmoid", "Sigmoid")
    unary(folder, "tanh", "Tanh")
    unary(folder, "erf", "Erf")
    unary(folder, "transpose", "Transpose", ints("perm", [2, 0, 1]), out=(65, 4, 33))
    binary(folder, "add_broadcast", "Add", (4, 33, 65), (33, 1), (4, 33, 65))
    write(f"{folder}/concat.onnx", [("a", (2, 16, 14, 14)), ("b", (2, 24, 14, 14))], ("y", (2, 40, 14, 14)),
          [node(["a", "b"], "y", "Concat", integer("axis", 1))])
    os.makedirs(f"{folder}/gemm", exist_ok=True)
    write(f"{folder}/gemm/gemm.onnx", [("a", ("m", "k")), ("b", ("k", "n"))], ("y", ("m", "n")),
          [node(["a", "b"], "y", "MatMul")])


if __name__ == "__main__":
    main()
