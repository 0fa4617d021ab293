#!/usr/bin/env python3
"""Layers of CoreML's neural networks that coremltools writes for no program, against PyTorch and NumPy.

    python3 bench/formats/coreml_layers.py DLC [PATTERN]

As coreml_rows.py, with networks of coremltools' other builder.
"""
import re, sys, tempfile

import numpy as np
import torch.nn.functional as F
import coremltools as ct
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder
from coreml_rows import (T, b3, bias, bl, by, chosen_boxes, compare, f, found, g3, grid, i, note_kinds, report, run,
                         t2, wl)

networks = []


def layer(name, make, want, *inputs, **how):
    networks.append((name, make, want, inputs, how))


# ---- layers that programs do not become

img = f(1, 3, 4, 5)
for k, (mode, np_mode) in enumerate((("SUM", np.sum), ("AVG", np.mean), ("PROD", np.prod), ("MAX", np.max),
                                     ("MIN", np.min), ("L1", lambda x, a, keepdims: np.abs(x).sum(a,
                                     keepdims=keepdims)),
                                     ("L2", lambda x, a, keepdims: np.sqrt((x * x).sum(a, keepdims=keepdims))),
                                     ("SUMSQUARE", lambda x, a, keepdims: (x * x).sum(a, keepdims=keepdims)),
                                     ("LOGSUM", lambda x, a, keepdims: np.log(x + 1e-6).sum(a, keepdims=keepdims)))):
    for axis, axes in (("CHW", (1, 2, 3)), ("HW", (2, 3)), ("C", (1,)), ("W", (3,))):
        layer(f"reduce {mode} {axis}", lambda b, mode=mode, axis=axis: b.add_reduce("l", "x", "y", axis, mode),
              lambda x, fn=np_mode, axes=axes: fn(x, axes, keepdims=True), f(1, 3, 4, 5, lo=0.2))
layer("reduce ARGMAX", lambda b: b.add_reduce("l", "x", "y", "C", "ARGMAX"), lambda x: x.argmax(1, keepdims=True),
     img)
layer("flatten", lambda b: b.add_flatten("l", 1, "x", "y"), lambda x: x.transpose(0, 2, 3, 1).reshape(1, -1, 1, 1),
     img)
layer("reshape", lambda b: b.add_reshape("l", "x", "y", (5, 6, 2), 0), lambda x: x.reshape(1, 5, 6, 2), img)
layer("reshape last", lambda b: b.add_reshape("l", "x", "y", (5, 6, 2), 1), lambda x: x.transpose(0, 2, 3, 1).reshape(
    1, 6, 2, 5).transpose(0, 3, 1, 2), img)
layer("permute", lambda b: b.add_permute("l", (0, 3, 1, 2), "x", "y"), lambda x: x.transpose(0, 3, 1, 2), img)
layer("slice", lambda b: b.add_slice("l", "x", "y", "width", 1, 4, 2), lambda x: x[..., 1:4:2], img)
layer("split", lambda b: (b.add_split("s", "x", ["a", "b", "c"]), b.add_elementwise("l", ["a", "c"], "y", "ADD")),
      lambda x: x[:, :1] + x[:, 2:], img)
layer("add multiply", lambda b: (b.add_elementwise("a", ["x"], "a", "ADD", 0.5), b.add_elementwise(
    "l", ["a"], "y", "MULTIPLY", 3)), lambda x: (x + 0.5) * 3, img)
layer("average max min", lambda b: (b.add_elementwise("a", ["x", "z"], "a", "AVE"), b.add_elementwise(
    "b", ["x", "z"], "b", "MAX"), b.add_elementwise("c", ["a", "b"], "c", "MIN"), b.add_elementwise(
        "l", ["c", "a", "z"], "y", "CONCAT")), lambda x, z: np.concatenate([np.minimum((x + z) / 2, np.maximum(x, z)),
                                                                           (x + z) / 2, z], 1), img, f(1, 3, 4, 5))
layer("dot", lambda b: b.add_elementwise("l", ["x", "z"], "y", "COS"), lambda x, z: (x * z).sum(1, keepdims=True) / (
    np.sqrt((x * x).sum(1, keepdims=True)) * np.sqrt((z * z).sum(1, keepdims=True))), f(1, 6, 1, 1), f(1, 6, 1, 1))
layer("scale", lambda b: b.add_scale("l", g3, b3, True, "x", "y", [3], [3]), lambda x: x * by(g3) + by(b3), img)
layer("bias", lambda b: b.add_bias("l", b3, "x", "y", [3]), lambda x: x + by(b3), img)
layer("mvn", lambda b: b.add_mvn("l", "x", "y", False, True, 1e-3), lambda x: F.instance_norm(T(x), eps=1e-3), img)
layer("mvn across", lambda b: b.add_mvn("l", "x", "y", True, True, 1e-3), lambda x: F.layer_norm(T(x), (3, 4, 5),
                                                                                                 eps=1e-3), img)
layer("batchnorm instance", lambda b: b.add_batchnorm("l", 3, g3, b3, input_name="x", output_name="y",
      compute_mean_var=True, instance_normalization=True, epsilon=1e-3), lambda x: F.instance_norm(
          T(x), None, None, T(g3), T(b3), eps=1e-3), img)
for fn, np_fn in (("sqrt", lambda x: np.sqrt(2 * x + 1)), ("rsqrt", lambda x: 1 / np.sqrt(2 * x + 1 + 1e-6)),
                  ("inverse", lambda x: 1 / (2 * x + 1 + 1e-6)), ("power", lambda x: (2 * x + 1)**1.5),
                  ("exp", lambda x: np.exp(2 * x + 1)), ("log", lambda x: np.log(2 * x + 1)),
                  ("abs", lambda x: np.abs(2 * x + 1)), ("threshold", lambda x: np.maximum(2 * x + 1, 1.5))):
    layer(f"unary {fn}", lambda b, fn=fn: b.add_unary("l", "x", "y", fn, 1.5, 1, 2, 1e-6), np_fn, f(1, 3, 4, 5,
     lo=0.1))
layer("upsample", lambda b: b.add_upsample("l", 2, 3, "x", "y", "NN"), lambda x: x.repeat(2, 2).repeat(3, 3), img)
layer("upsample DEFAULT", lambda b: b.add_upsample("l", 2, 3, "x", "y", "BILINEAR"), lambda x: grid(
    x, (8, 15), lambda k, n, o: k * n / o), img)
layer("loadConstant", lambda b: (b.add_load_constant("c", "c", img[0].reshape(-1), (3, 4, 5)), b.add_elementwise(
    "l", ["x", "c"], "y", "ADD")), lambda x: x + img[0], img[0], rank5=True)
layer("sequenceRepeat", lambda b: b.add_sequence_repeat("l", 2, "x", "y"), lambda x: np.concatenate([x, x]), img[0],
      rank5=True)
layer("pooling complete", lambda b: b.add_pooling("l", 3, 3, 2, 2, "MAX", "INCLUDE_LAST_PIXEL", "x", "y",
      padding_top=1, padding_bottom=1, padding_left=1, padding_right=1), lambda x: F.max_pool2d(T(x), 3, 2, 1, 1,
      True),
      f(1, 3, 8, 6))
layer("deconvolution", lambda b: b.add_convolution("l", 4, 6, 3, 2, 2, 2, "valid", 2, t2.transpose(2, 3, 0, 1),
     bias, True,
      True, None, "x", "y"), lambda x: F.conv_transpose2d(T(x), T(t2), T(bias), 2, groups=2), f(1, 4, 5, 6))
layer("rangeStatic", lambda b: (b.add_range_static("r", "r", end=5.0, start=0.0, step=1.0), b.add_add_broadcastable(
    "l", ["x", "r"], "y")), lambda x: x + np.arange(5), img)
layer("constantPad", lambda b: b.add_constant_pad("l", ["x"], "y", 0.5, False, [0, 0, 1, 0, 0, 2, 1, 1]),
     lambda x: np.pad(
    x, ((0, 0), (1, 0), (0, 2), (1, 1)), constant_values=0.5), img)
layer("getShape", lambda b: (b.add_get_shape("s", "x", "s"), b.add_reshape_dynamic("l", ["z", "s"], "y")),
      lambda x, z: z.reshape(x.shape), img, f(60))
layer("lowerTriangular", lambda b: b.add_lower_triangular("l", "x", "y", 1), lambda x: np.tril(x, 1), img)
layer("upperTriangular", lambda b: b.add_upper_triangular("l", "x", "y", -1), lambda x: np.triu(x, -1), img)
layer("rankPreservingReshape", lambda b: b.add_rank_preserving_reshape("l", "x", "y", [0, 4, -1, 5]),
     lambda x: x.reshape(
    1, 4, 3, 5), img)
layer("embeddingND", lambda b: b.add_embedding_nd("l", "x", "y", 6, 5, wl.T.copy(), bl[:5]),
     lambda x: wl[x.astype(
    int)[..., 0]] + bl[:5], i(2, 3, 1).astype("f"))


# ---- control flow: what is inside has layers of its own


def inside(network):
    return NeuralNetworkBuilder(nn_spec=network)


def positive(b, blob, out):
    b.add_reduce_sum(out + "s", blob, out + "s", reduce_all=True)
    b.add_greater_than(out, [out + "s"], out, alpha=0.0)


def branched(b):
    positive(b, "x", "c")
    sides = b.add_branch("l", "c").branch
    inside(sides.ifBranch).add_activation("t", "LINEAR", "x", "y", [2.0, 0.0])
    inside(sides.elseBranch).add_activation("e", "LINEAR", "x", "y", [-3.0, 1.0])


def counted(b):
    b.add_copy("f", "x", "y")
    body = inside(b.add_loop("l", max_iterations=3).loop.bodyNetwork)
    body.add_add_broadcastable("a", ["y", "x"], "y")


def repeated(b):
    """Takes x away while the sum is positive, five times at most."""
    b.add_activation("f", "LINEAR", "x", "y", [2.5, 0.0])
    b.add_activation("m", "LINEAR", "x", "m", [-1.0, 0.0])
    loop = b.add_loop("l", max_iterations=5, condition="c").loop
    positive(inside(loop.conditionNetwork), "y", "c")
    inside(loop.bodyNetwork).add_add_broadcastable("a", ["y", "m"], "y")


layer("branch then", branched, lambda x: 2 * x, f(2, 3, lo=0.1))
layer("branch else", branched, lambda x: 1 - 3 * x, -f(2, 3, lo=0.1))
layer("loop count", counted, lambda x: 4 * x, img)
layer("loop while", repeated, lambda x: -0.5 * x, f(2, 3, lo=0.1))
layer("loop ended", repeated, lambda x: 2.5 * x, -f(2, 3, lo=0.1))
for apart in (False, True):
    layer(f"NonMaximumSuppression {apart}", lambda b, apart=apart: b.add_nms("l", ["x", "z"], ["y", "s", "i", "n"], 0.3,
          0.2, 8, apart), lambda x, s, apart=apart: chosen_boxes(x[0], s[0], 0.3, 0.2, 8, apart), found,
          f(1, 12, 3, lo=0, hi=1))


def main():
    dlc, word, ran, bad, unmade = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", 0, 0, 0
    for name, make, want, inputs, how in networks:
        if not re.search(word, name):
            continue
        names = ["x", "z"][:len(inputs)]
        with tempfile.TemporaryDirectory() as d:
            try:
                b = NeuralNetworkBuilder([(n, datatypes.Array(*x.shape)) for n, x in zip(names, inputs)], [("y",
                None)],
                                         disable_rank5_shape_mapping=not how.get("rank5"))
                make(b)
                model = ct.models.MLModel(b.spec)
                model.save(f"{d}/m.mlmodel")
                note_kinds(model)
            except Exception as e:
                unmade += 1
                print(f"{name} (layer) is not made: {type(e).__name__} {str(e)[:150]}")
                continue
            expected = want(*[x.copy() for x in inputs])
            said = compare(run(dlc, f"{d}/m.mlmodel", names, inputs, d), expected)
            ran += 1
            if said:
                bad += 1
                print(f"{name} (layer): {said}", flush=True)
    report(ran, bad, unmade)


main()
