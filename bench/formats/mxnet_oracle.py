#!/usr/bin/env python3
"""Compares dlc with MXNet, network by network and operator by operator.

    python3 -m venv env && env/bin/pip install mxnet==1.9.1 numpy==1.23.5      # Python 3.11; numpy 1.24 has no np.bool
    env/bin/python bench/formats/mxnet_oracle.py build/dlc ops [NAME ...]
    env/bin/python bench/formats/mxnet_oracle.py build/dlc zoo [NAME ...]

`ops` makes a small symbol for each case below, with random inputs and parameters. `zoo` exports networks of gluon's
vision zoo with random weights. MXNet writes the files and computes the result; dlc compiles the same files and runs
them. A case fails when a result differs by more than 1e-4 of the largest element. The last line has the counts.
"""
import os
import subprocess
import sys
import tempfile

# Networks that it joins with oneDNN lie up to 0.36 of the largest element apart from those that it does not join.
os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE"
import numpy as np
import mxnet as mx

S = mx.sym
TOLERANCE = 1e-4


def op(name):
    return getattr(S, name) if hasattr(S, name) else getattr(S._internal, name)


def var(name="x"):
    return S.Variable(name)


def f(*shape, lo=-2, hi=2):
    """A random input."""
    return lambda r: r.uniform(lo, hi, shape).astype("float32")


def whole(lo, hi, *shape):
    return lambda r: r.randint(lo, hi, shape).astype("float32")


def unary(name):
    pos = {"log", "sqrt", "rsqrt", "log2", "log10", "log1p", "arccosh", "cbrt", "rcbrt", "reciprocal"}
    unit = {"arcsin", "arccos", "arctanh"}
    lo, hi = (1.1, 4) if name in pos else (-0.9, 0.9) if name in unit else (-2.3, 2.3)
    return name, lambda: op(name)(var()), {"x": f(3, 7, lo=lo, hi=hi)}


def binary(name, other=(3, 4)):
    return name, lambda: op(name)(var(), var("y")), {"x": f(3, 4, lo=0.5, hi=3), "y": f(*other, lo=0.5, hi=3)}


def compare(name, other=(3, 4)):
    return name, lambda: op(name)(var(), var("y")), {"x": whole(0, 3, 3, 4), "y": whole(0, 3, *other)}


def scalar(name, number=1.5):
    return name, lambda: op(name)(var(), scalar=number), {"x": whole(1, 4, 3, 4)}


def one(name, make, *shape, **more):
    return name, make, dict({"x": f(*shape)}, **more)


X = var
Y = lambda: var("y")
IMAGE = (2, 6, 9, 8)
CASES = [unary(n) for n in """relu sigmoid tanh erf exp log sqrt abs negative sign floor ceil rint round trunc fix sin
    cos tan arcsin arccos arctan sinh cosh arcsinh arccosh arctanh expm1 log1p
    square rsqrt reciprocal cbrt rcbrt log2 log10
    degrees radians softsign hard_sigmoid smooth_l1 logical_not zeros_like ones_like identity BlockGrad
    shape_array size_array softmax log_softmax softmin""".split()]
CASES += [binary(n) for n in "elemwise_add elemwise_sub elemwise_mul elemwise_div _maximum _minimum _power _mod _hypot "
          "_grad_add".split()]
CASES += [binary("broadcast_" + n, (1, 4)) for n in "add sub mul div mod power maximum minimum hypot".split()]
CASES += [compare("broadcast_" + n, (1, 4)) for n in
          "equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or logical_xor".split()]
CASES += [compare("_" + n) for n in
          "equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or logical_xor".split()]
CASES += [scalar("_" + n + "_scalar",
    2.0) for n in """plus minus rminus mul div rdiv mod rmod power rpower maximum minimum
    hypot equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or logical_xor""".split()]
CASES += [
    one("conv", lambda: S.Convolution(X(), kernel=(3, 2), num_filter=4, stride=(2, 1), pad=(1, 0), dilate=(1,
        2)), *IMAGE),
    one("conv groups", lambda: S.Convolution(X(), kernel=(3, 3), num_filter=4, num_group=2, no_bias=True), *IMAGE),
    one("conv 1d", lambda: S.Convolution(X(), kernel=(3,), num_filter=4, pad=(1,)), 2, 3, 9),
    one("conv 3d", lambda: S.Convolution(X(), kernel=(2, 3, 3), num_filter=2), 1, 2, 4, 6, 5),
    one("deconv", lambda: S.Deconvolution(X(), kernel=(3, 4), num_filter=4, stride=(2, 2), pad=(1, 1), adj=(1,
        0)), *IMAGE),
    one("deconv target", lambda: S.Deconvolution(X(), kernel=(4, 4), num_filter=4, num_group=2, stride=(2, 2),
                                                 target_shape=(17, 18), no_bias=False), *IMAGE),
    one("fc", lambda: S.FullyConnected(X(), num_hidden=5), 3, 4, 2),
    one("fc last", lambda: S.FullyConnected(X(), num_hidden=5, flatten=False), 3, 4, 2),
    one("fc no bias", lambda: S.FullyConnected(X(), num_hidden=5, no_bias=True), 3, 4),
    one("bn", lambda: S.BatchNorm(X()), *IMAGE),
    one("bn gamma", lambda: S.BatchNorm(X(), fix_gamma=False, eps=1e-5), *IMAGE),
    one("bn last", lambda: S.BatchNorm(X(), fix_gamma=False, axis=-1), 3, 4, 5),
    one("bn matrix", lambda: S.BatchNorm(X(), fix_gamma=False), 3, 4),
    one("bn v1", lambda: S.BatchNorm_v1(X(), fix_gamma=False), *IMAGE),
    one("ln", lambda: S.LayerNorm(X(), axis=-1), 3, 4, 5),
    one("ln middle", lambda: S.LayerNorm(X(), axis=1, eps=1e-3), 3, 4, 5),
    one("in", lambda: S.InstanceNorm(X()), *IMAGE),
    one("gn", lambda: S.GroupNorm(X(), num_groups=2), *IMAGE),
    one("l2 instance", lambda: S.L2Normalization(X()), *IMAGE),
    one("l2 channel", lambda: S.L2Normalization(X(), mode="channel"), *IMAGE),
    one("l2 spatial", lambda: S.L2Normalization(X(), mode="spatial"), *IMAGE),
    one("lrn", lambda: S.LRN(X(), nsize=3, alpha=0.01), *IMAGE),
    one("softmax axis", lambda: S.softmax(X(), axis=1, temperature=2.0), 2, 3, 4),
    one("softmax length", lambda: S.softmax(X(), Y(), use_length=True), 2, 5, y=lambda r: np.array([2, 4],
        "int32")),
    one("softmax output", lambda: S.SoftmaxOutput(X(), name="softmax"), 2, 5),
    one("softmax output multi", lambda: S.SoftmaxOutput(X(), name="softmax", multi_output=True), 2, 3, 4),
    one("softmax output flat", lambda: S.SoftmaxOutput(X(), name="softmax"), 2, 3, 4),
    one("softmax output last", lambda: S.SoftmaxOutput(X(), name="softmax", preserve_shape=True), 2, 3, 4),
    one("softmax activation", lambda: S.SoftmaxActivation(X(), mode="channel"), *IMAGE),
    one("softmax activation flat", lambda: S.SoftmaxActivation(X()), *IMAGE),
    one("linear regression", lambda: S.LinearRegressionOutput(X(), name="out"), 2, 5),
    one("logistic regression", lambda: S.LogisticRegressionOutput(X(), name="out"), 2, 5),
    one("mae regression", lambda: S.MAERegressionOutput(X(), name="out"), 2, 5),
    one("svm", lambda: S.SVMOutput(X(), name="out"), 2, 5),
    one("make loss", lambda: S.MakeLoss(X()), 2, 5),
    one("dropout", lambda: S.Dropout(X(), p=0.5), 2, 5),
] + [one("pool %s %s %s" % (t, c, i), lambda t=t, c=c, i=i: S.Pooling(
    X(), kernel=(3, 2), stride=(3, 2), pad=(1, 1), pool_type=t, pooling_convention=c, count_include_pad=i), *IMAGE)
     for t in ("max", "avg", "sum") for c in ("valid", "full") for i in (True, False)] + [
    one("pool lp", lambda: S.Pooling(X(), kernel=(3, 2), pool_type="lp", p_value=2), *IMAGE),
    one("pool 1d", lambda: S.Pooling(X(), kernel=(3,), pool_type="avg"), 2, 3, 9),
    one("pool 3d", lambda: S.Pooling(X(), kernel=(2, 2, 2), pool_type="max", stride=(1, 2, 1)), 1, 2, 4, 6, 5),
    one("pool global", lambda: S.Pooling(X(), global_pool=True, pool_type="avg", kernel=(1, 1)), *IMAGE),
    one("pool global max", lambda: S.Pooling(X(), global_pool=True, pool_type="max", kernel=(1, 1)), *IMAGE),
    one("pool global sum", lambda: S.Pooling(X(), global_pool=True, pool_type="sum", kernel=(1, 1)), *IMAGE),
    one("adaptive", lambda: S.contrib.AdaptiveAvgPooling2D(X(), output_size=(4, 3)), *IMAGE),
    one("adaptive one", lambda: S.contrib.AdaptiveAvgPooling2D(X(), output_size=1), *IMAGE),
] + [one("act " + a, lambda a=a: S.Activation(X(), act_type=a), 3, 4)
     for a in ("relu", "sigmoid", "tanh", "softrelu", "softsign")] + [
    one("leaky " + a, lambda a=a: S.LeakyReLU(X(), act_type=a, slope=0.3), *IMAGE)
    for a in ("leaky", "elu", "selu", "gelu", "prelu")] + [
    one("upsampling", lambda: S.UpSampling(X(), scale=2, sample_type="nearest"), *IMAGE),
    one("upsampling two", lambda: S.UpSampling(X(), Y(), scale=2, sample_type="nearest", num_args=2), 1, 2, 4, 6,
        y=f(1, 3, 8, 12)),
    one("upsampling bilinear", lambda: S.UpSampling(X(), scale=2, sample_type="bilinear", num_filter=6), *IMAGE),
    one("upsampling bilinear 3", lambda: S.UpSampling(X(), scale=3, sample_type="bilinear", num_filter=6), *IMAGE),
    # ---- reductions
] + [one("%s %s %s" % (n, a, k), lambda n=n, a=a, k=k: op(n)(X(), axis=a, keepdims=k), 2, 3, 4)
     for n in ("sum", "mean", "max", "min", "prod") for a in (None, 1, (0, 2)) for k in (False, True)] + [
    one("sum exclude", lambda: S.sum(X(), axis=1, exclude=True), 2, 3, 4),
    one("nansum", lambda: S.nansum(X(), axis=1), 2, 3),
    one("nanprod", lambda: S.nanprod(X(), axis=1), 2, 3),
    one("norm", lambda: S.norm(X()), 2, 3, 4),
    one("norm 1", lambda: S.norm(X(), ord=1, axis=1), 2, 3, 4),
    one("norm keep", lambda: S.norm(X(), axis=(1, 2), keepdims=True), 2, 3, 4),
    one("moments", lambda: S.Group(list(S.moments(X(), axes=(0, 2)))), 2, 3, 4),
    one("argmax", lambda: S.argmax(X(), axis=1), 2, 3, 4),
    one("argmax all", lambda: S.argmax(X()), 2, 3, 4),
    one("argmin keep", lambda: S.argmin(X(), axis=-1, keepdims=True), 2, 3, 4),
    one("argmax channel", lambda: S.argmax_channel(X()), 2, 3),
    one("topk", lambda: S.topk(X(), k=2), 3, 5),
    one("topk both", lambda: S.Group(list(S.topk(X(), k=2, axis=0, ret_typ="both", is_ascend=True))), 3, 5),
    one("topk value", lambda: S.topk(X(), k=3, ret_typ="value"), 3, 5),
    one("topk mask", lambda: S.topk(X(), k=3, ret_typ="mask"), 3, 5),
    one("topk all", lambda: S.topk(X(), k=3, axis=None), 3, 5),
    one("sort", lambda: S.sort(X(), axis=0), 3, 5),
    one("sort down", lambda: S.sort(X(), is_ascend=False), 3, 5),
    one("argsort", lambda: S.argsort(X()), 3, 5),
    one("cumsum", lambda: S.cumsum(X(), axis=1), 3, 5),
    one("cumsum all", lambda: S.cumsum(X()), 3, 5),
    # ---- shapes
    one("flatten", lambda: S.Flatten(X()), 2, 3, 4),
] + [one("reshape %s %s" % (s, r), lambda s=s, r=r: S.Reshape(X(), shape=s, reverse=r), 2, 3, 4, 5)
     for s, r in (((-1, 0), False), ((0, -1), False), ((-2,), False), ((-3, -3), False), ((0, -4, -1, 3, -2),
         False),
                  ((-1, 0), True), ((0, 0, 20), False), ((-3, 0, 0), False), ((2, -1, 10), False),
                  ((-1, 4, 0), True), ((0, 0, -1), True))
     ] + [
    one("reshape like", lambda: S.reshape_like(X(), Y()), 2, 6, y=f(3, 4)),
    one("reshape like part", lambda: S.reshape_like(X(), Y(), lhs_begin=0, lhs_end=1, rhs_begin=0, rhs_end=2), 6, 5,
        y=f(2, 3, 4)),
    one("expand dims", lambda: S.expand_dims(X(), axis=-1), 2, 3),
    one("squeeze", lambda: S.squeeze(X()), 2, 1, 3, 1),
    one("squeeze axis", lambda: S.squeeze(X(), axis=(1,)), 2, 1, 3, 1),
    one("transpose", lambda: S.transpose(X()), 2, 3, 4),
    one("transpose axes", lambda: S.transpose(X(), axes=(1, 2, 0)), 2, 3, 4),
    one("swapaxes", lambda: S.SwapAxis(X(), dim1=0, dim2=2), 2, 3, 4),
    one("concat", lambda: S.Concat(X(), Y(), dim=1), 2, 3, y=f(2, 4)),
    one("stack", lambda: S.stack(X(), Y(), axis=1), 2, 3, y=f(2, 3)),
    one("tile", lambda: S.tile(X(), reps=(2, 1, 3)), 2, 3),
    one("tile short", lambda: S.tile(X(), reps=(2,)), 2, 3),
    one("repeat", lambda: S.repeat(X(), repeats=2, axis=1), 2, 3),
    one("repeat all", lambda: S.repeat(X(), repeats=3), 2, 3),
    one("reverse", lambda: S.reverse(X(), axis=(0, 1)), 2, 3),
    one("broadcast to", lambda: S.broadcast_to(X(), shape=(0, 5)), 2, 1),
    one("broadcast axis", lambda: S.broadcast_axis(X(), axis=(0, 2), size=(2, 4)), 1, 3, 1),
    one("broadcast like", lambda: S.broadcast_like(X(), Y()), 1, 3, y=f(2, 3)),
    one("broadcast like axes", lambda: S.broadcast_like(X(), Y(), lhs_axes=(0,), rhs_axes=(2,)), 1, 3, y=f(2, 3,
        4)),
] + [one("pad " + m, lambda m=m: S.Pad(X(), mode=m, pad_width=(0, 0, 0, 0, 1, 2, 2, 1), constant_value=3), *IMAGE)
     for m in ("constant", "edge", "reflect")] + [
    one("depth to space", lambda: S.depth_to_space(X(), block_size=2), 1, 8, 2, 3),
    one("space to depth", lambda: S.space_to_depth(X(), block_size=2), 1, 2, 4, 6),
    one("slice", lambda: S.slice(X(), begin=(None, 1), end=(None, 3)), 2, 4),
    one("slice step", lambda: S.slice(X(), begin=(None, 3), end=(None, None), step=(None, -2)), 2, 5),
    one("slice negative", lambda: S.slice(X(), begin=(0, -3), end=(2, -1)), 2, 5),
    one("slice axis", lambda: S.slice_axis(X(), axis=1, begin=-3, end=None), 2, 5),
    one("slice like", lambda: S.slice_like(X(), Y(), axes=(1,)), 3, 5, y=f(2, 3)),
    one("split", lambda: S.SliceChannel(X(), num_outputs=2, axis=1), 3, 6),
    one("split squeeze", lambda: S.SliceChannel(X(), num_outputs=2, axis=0, squeeze_axis=True), 2, 6),
    one("split v2", lambda: S.split_v2(X(), (2, 3), axis=1), 3, 6),
    one("split v2 equal", lambda: S.split_v2(X(), 3, axis=1), 3, 6),
    one("crop", lambda: S.Crop(X(), offset=(1, 2), h_w=(4, 3), num_args=1), *IMAGE),
    one("crop like", lambda: S.Crop(X(), Y(), center_crop=True, num_args=2), *IMAGE, y=f(2, 6, 5, 4)),
    one("mask", lambda: S.SequenceMask(X(), Y(), use_sequence_length=True, value=-1), 4, 3, 2,
        y=lambda r: np.array([1, 4, 2], "float32")),
    one("mask batch", lambda: S.SequenceMask(X(), Y(), use_sequence_length=True, axis=1), 3, 4, 2,
        y=lambda r: np.array([1, 4, 2], "float32")),
    one("last", lambda: S.SequenceLast(X(), Y(), use_sequence_length=True), 4, 3, 2,
        y=lambda r: np.array([1, 4, 2], "float32")),
    one("last whole", lambda: S.SequenceLast(X()), 4, 3, 2),
    one("seq reverse", lambda: S.SequenceReverse(X(), Y(), use_sequence_length=True), 4, 3, 2,
        y=lambda r: np.array([1, 4, 2], "float32")),
    one("seq reverse whole", lambda: S.SequenceReverse(X()), 4, 3, 2),
    # ---- places
    one("take", lambda: S.take(X(), Y()), 4, 3, y=whole(-2, 7, 2, 2)),
    one("take wrap", lambda: S.take(X(), Y(), axis=1, mode="wrap"), 4, 3, y=whole(-2, 7, 5)),
    ("embedding", lambda: S.Embedding(X(), input_dim=7, output_dim=3), {"x": whole(0, 7, 2, 4)}),
    one("gather nd", lambda: S.gather_nd(X(), Y()), 4, 3, y=whole(0, 3, 2, 5)),
    one("scatter nd", lambda: S.scatter_nd(X(), Y(), shape=(5, 4)), 3, y=lambda r: np.array([[0, 2, 4], [1, 3, 0]],
                                                                                           "float32")),
    ("one hot", lambda: S.one_hot(X(), depth=4, on_value=2, off_value=-1), {"x": whole(0, 6, 2, 3)}),
    one("pick", lambda: S.pick(X(), Y(), axis=1), 3, 4, y=whole(0, 6, 3)),
    one("pick keep", lambda: S.pick(X(), Y(), axis=0, keepdims=True), 3, 4, y=whole(0, 3, 4)),
    one("batch take", lambda: S.batch_take(X(), Y()), 3, 4, y=lambda r: np.array([1, 3, 0], "int32")),
    ("where", lambda: S.where(X(), Y(), var("z")), {"x": whole(0, 2, 3, 4), "y": f(3, 4), "z": f(3, 4)}),
    ("where rows", lambda: S.where(X(), Y(), var("z")), {"x": whole(0, 2, 3), "y": f(3, 4), "z": f(3, 4)}),
    one("clip", lambda: S.clip(X(), a_min=-1, a_max=0.5), 3, 4),
    one("cast", lambda: S.Cast(X(), dtype="int32"), 3, 4),
    one("cast half", lambda: S.Cast(S.Cast(X(), dtype="float16"), dtype="float32"), 3, 4),
    one("add n", lambda: (lambda x: S.add_n(x, Y(), x))(X()), 3, 4, y=f(3, 4)),
    one("div sqrt dim", lambda: S.contrib.div_sqrt_dim(X()), 3, 4),
    one("quadratic", lambda: S.contrib.quadratic(X(), a=1, b=2, c=3), 3, 4),
    one("arange", lambda: S.broadcast_add(X(), S.arange(1, 9, 2)), 3, 4),
    one("arange like", lambda: S.contrib.arange_like(X(), axis=1, start=2, step=3), 3, 4),
    one("arange like all", lambda: S.contrib.arange_like(X()), 3, 4),
    one("full", lambda: S.broadcast_add(X(), S.full((3, 4), 2.5)), 3, 4),
    one("zeros", lambda: S.broadcast_add(X(), S.zeros((3, 4)) + S.ones((3, 4))), 3, 4),
    one("eye", lambda: S.dot(X(), S.eye(4, 5, 1)), 3, 4),
    one("linspace", lambda: S.broadcast_add(X(), S.linspace(0, 1, 4)), 3, 4),
    # ---- products
    one("dot", lambda: S.dot(X(), Y()), 3, 4, y=f(4, 5)),
    one("dot ta", lambda: S.dot(X(), Y(), transpose_a=True), 4, 3, y=f(4, 5)),
    one("dot tb", lambda: S.dot(X(), Y(), transpose_b=True), 3, 4, y=f(5, 4)),
    one("dot wide", lambda: S.dot(X(), Y()), 2, 3, 4, y=f(4, 5, 2)),
    one("dot lists", lambda: S.dot(X(), Y()), 4, y=f(4)),
    one("batch dot", lambda: S.batch_dot(X(), Y(), transpose_b=True), 2, 3, 4, y=f(2, 5, 4)),
    one("gemm", lambda: S.linalg.gemm(X(), Y(), var("z"), alpha=2, beta=0.5), 3, 4, y=f(4, 5), z=f(3, 5)),
    one("gemm2", lambda: S.linalg.gemm2(X(), Y(), transpose_a=True, alpha=2), 2, 4, 3, y=f(2, 4, 5)),
    one("syrk", lambda: S.linalg.syrk(X(), alpha=2, transpose=True), 2, 4, 3),
    one("det", lambda: S.linalg.det(X()), 2, 3, 3),
    one("selfatt qk", lambda: S.contrib.interleaved_matmul_selfatt_qk(X(), heads=2), 5, 3, 24),
    one("selfatt valatt", lambda: S.contrib.interleaved_matmul_selfatt_valatt(X(), Y(), heads=2), 5, 3, 24,
        y=f(6, 5, 5)),
    one("encdec qk", lambda: S.contrib.interleaved_matmul_encdec_qk(X(), Y(), heads=2), 5, 3, 8, y=f(4, 3, 16)),
    one("encdec valatt", lambda: S.contrib.interleaved_matmul_encdec_valatt(X(), Y(), heads=2), 4, 3, 16, y=f(6,
        5, 4)),
]


def boxes(score, n, classes=3):
    """Rows id, score, left, top, right, bottom; some scores below the threshold."""
    def make(r):
        at = r.uniform(0, 0.6, (2, n, 2))
        size = r.uniform(0.2, 0.4, (2, n, 2))
        head = np.stack([r.randint(0, classes, (2, n)), r.uniform(0, 1, (2, n))], -1)
        return np.concatenate([head, at, at + size], -1).astype("float32")
    return make


def anchors(n):
    return lambda r: boxes(0, n)(r)[:1, :, 2:]


def detection(**more):
    return lambda: S.contrib.MultiBoxDetection(X(), var("y"), var("z"), **more)


DETECTOR = {"x": lambda r: r.dirichlet([0.4] * 4, (2, 30)).transpose(0, 2, 1).astype("float32"),
            "y": f(2, 120, lo=-1, hi=1), "z": anchors(30)}
CASES += [
    one("prior", lambda: S.contrib.MultiBoxPrior(X(), sizes=(0.5, 0.25), ratios=(1, 2, 0.5)), 1, 2, 3, 5),
    one("prior clip", lambda: S.contrib.MultiBoxPrior(X(), sizes=(0.9,), ratios=(1, 3), clip=True, steps=(0.2, 0.3),
                                                      offsets=(0.3, 0.6)), 1, 2, 3, 3),
    ("detection", detection(), DETECTOR),
    ("detection all", detection(force_suppress=True, threshold=0.5, clip=False, nms_threshold=0.3), DETECTOR),
    ("detection none", detection(nms_threshold=-1, threshold=0.5), DETECTOR),
    # What nms_topk leaves out is -1 here; MXNet keeps its score and box.
    ("detection topk", lambda: S.slice_axis(detection(nms_topk=10)(), axis=1, begin=0, end=10), DETECTOR),
    ("nms", lambda: S.contrib.box_nms(X(), overlap_thresh=0.3, valid_thresh=0.2, id_index=0), {"x": boxes(1, 20)}),
    ("nms all", lambda: S.contrib.box_nms(X(), overlap_thresh=0.3, force_suppress=True, id_index=0),
        {"x": boxes(1, 20)}),
    ("nms topk", lambda: S.contrib.box_nms(X(), overlap_thresh=0.3, topk=7, id_index=0), {"x": boxes(1, 20)}),
    ("nms background", lambda: S.contrib.box_nms(X(), overlap_thresh=0.3, id_index=0, background_id=1),
     {"x": boxes(1, 20)}),
    ("nms centre", lambda: S.contrib.box_nms(X(), overlap_thresh=0.3, in_format="center", out_format="corner"),
     {"x": boxes(1, 20)}),
    ("nms to centre", lambda: S.contrib.box_nms(X(), overlap_thresh=0.3, out_format="center"), {"x": boxes(1, 20)}),
    ("deformable", lambda: S.contrib.DeformableConvolution(X(), var("o"), kernel=(3, 3), num_filter=4, pad=(1, 1),
                                                           stride=(2, 2), num_deformable_group=2, name="d"),
     {"x": f(1, 4, 7, 9), "o": f(1, 36, 4, 5, lo=-4, hi=4)}),
    ("deformable groups", lambda: S.contrib.DeformableConvolution(
        X(), var("o"), kernel=(2, 3), num_filter=4, num_group=2, dilate=(2, 1), no_bias=True, name="d"),
     {"x": f(2, 4, 7, 9), "o": f(2, 12, 5, 7, lo=-9, hi=9)}),
    ("modulated", lambda: S.contrib.ModulatedDeformableConvolution(X(), var("o"), var("m"), kernel=(3, 3), num_filter=4,
                                                                   pad=(1, 1), num_deformable_group=2, name="d"),
     {"x": f(1, 4, 7, 9), "o": f(1, 36, 7, 9, lo=-4, hi=4), "m": f(1, 18, 7, 9)}),
    ("roi align", lambda: S.contrib.ROIAlign(X(), var("r"), pooled_size=(3, 2), spatial_scale=0.5, sample_ratio=2),
     {"x": f(2, 3, 8, 8), "r": lambda _: np.array([[0, 1, 1, 12, 9], [1, 0.5, 2, 3, 14]], np.float32)}),
    ("roi aligned", lambda: S.contrib.ROIAlign(X(), var("r"), pooled_size=(2, 2), spatial_scale=1, sample_ratio=3,
                                               aligned=True),
     {"x": f(2, 3, 8, 8), "r": lambda _: np.array([[0, 1, 1, 7, 6], [1, 0.5, 2, 3, 7.5]], np.float32)}),
    ("iou", lambda: S.contrib.box_iou(X(), var("y")), {"x": anchors(5), "y": anchors(7)}),
]


def rnn(mode, layers, both, length=False):
    def make():
        more = [var("c")] if mode == "lstm" else []
        more += [var("len")] if length else []
        out = S.RNN(X(), var("rnn_parameters"), var("h"), *more, mode=mode, state_size=5, num_layers=layers,
                    bidirectional=both, state_outputs=True, use_sequence_length=length, name="rnn")
        return S.Group(list(out))
    rows = layers * (2 if both else 1)
    data = {"x": f(4, 3, 6), "h": f(rows, 3, 5)}
    if mode == "lstm":
        data["c"] = f(rows, 3, 5)
    if length:
        data["len"] = lambda r: np.array([2, 4, 1], "float32")
    return "rnn %s %d %s %s" % (mode, layers, both, length), make, data


CASES += [rnn(m, l, b) for m in ("lstm", "gru", "rnn_tanh", "rnn_relu") for l, b in ((1, False), (2, True))]


def proposals(name, batch, **more):
    """Boxes of a map of 6 x 7 places, in images that are smaller than the map."""
    def scores(r):
        return r.permutation(batch * 12 * 42).reshape(batch, 12, 6, 7).astype("float32") / (batch * 504)

    def infos(r):
        return np.array([[88, 104, 1.5], [96, 112, 1]], "float32")[:batch]
    how = dict(scales=(1, 2), ratios=(0.5, 1, 2), feature_stride=16, output_score=True, rpn_pre_nms_top_n=80,
               rpn_post_nms_top_n=30, rpn_min_size=12)
    return (lambda: S.Group(list(getattr(S.contrib, name)(X(), var("d"), var("i"), name="p", **dict(how, **more)))),
            {"x": scores, "d": f(batch, 24, 6, 7, lo=-0.4, hi=0.4), "i": infos})


CASES += [("proposal " + n, *proposals(kind, batch, **more)) for n, kind, batch, more in (
    ("one", "Proposal", 1, {}), ("several", "MultiProposal", 2, {}), ("few", "Proposal", 1, dict(threshold=0.05)),
    ("corners", "MultiProposal", 2, dict(iou_loss=True)), ("all", "Proposal", 1, dict(rpn_pre_nms_top_n=0)))]


# ---- control flow

def looped(test, most=5, ended=False):
    """Rows behind the last iteration are what was in memory, in MXNet."""
    def make():
        out, state = S.contrib.while_loop(
            test, lambda i, a: ([S.broadcast_mul(a, i)], [i + 1, S.broadcast_add(a, i)]), [S.ones((1,)), X()],
            max_iterations=most)
        return S.Group([*(out if not ended else []), *state])
    return make


def chosen(limit):
    return lambda: (lambda x: S.contrib.cond(S.sum(x) > limit, lambda: x + 1, lambda: x * Y()))(X())


CASES += [
    one("foreach", lambda: S.Group([s for k in S.contrib.foreach(
        lambda d, h: ([d[0] + h[0] * d[1], d[0]], [h[0] + d[0] * var("w"), h[1] * 0.5]), [X(), Y()],
        [var("h"), var("g")]) for s in k]), 4, 3, y=f(4, 3), h=f(3), g=f(3), w=f(3)),
    one("foreach cell", lambda: (lambda out, state: S.Group([out, state[0]]))(*S.contrib.foreach(
        lambda d, h: (lambda y: (y, [y]))(S.tanh(
            S.FullyConnected(d, S.Variable("w", shape=(5, 3)), S.Variable("b", shape=(5,)), num_hidden=5) +
            S.FullyConnected(h[0], S.Variable("r", shape=(5, 5)), num_hidden=5, no_bias=True))),
        X(), [var("h")])), 4, 2, 3, h=f(2, 5)),
    one("while known", looped(lambda i, a: i < 4, most=3), 3),
    one("while ended", looped(lambda i, a: i < 4, ended=True), 3),
    one("while whole", looped(lambda i, a: i < 99), 3),
    one("while data", looped(lambda i, a: S.sum(a) < 20, ended=True), 3),
    ("cond data", chosen(0), {"x": f(3, lo=0.5), "y": f(3)}),
    ("cond else", chosen(99), {"x": f(3), "y": f(3)}),
]

# ---- quantised operators


def coded(name, *ranges, **more):
    """An operator between codes, which are made of floats, and floats again."""
    def make():
        args = [S.contrib.quantize_v2(var("xyz"[k]), out_type=t, min_calib_range=a, max_calib_range=b)
                for k, (t, a, b) in enumerate(ranges)]
        out = getattr(S.contrib, "quantized_" + name)(*[a[0] for a in args], *[a[k] for a in args for k in (1, 2)],
                                                      **more)
        if name in ("fully_connected",) or name == "elemwise_add" and "min_calib_range" not in more:
            out = S.contrib.requantize(out[0], out[1], out[2])
        return S.contrib.dequantize(out[0], out[1], out[2])
    return make


I8, U8 = ("int8", -2.0, 1.5), ("uint8", 0.0, 2.0)
QUANTISED = [
    ("quantize", lambda: S.Group(list(S.contrib.quantize_v2(X(), out_type="int8"))), {"x": f(3, 7)}),
    ("quantize calibrated", lambda: S.Group(list(S.contrib.quantize_v2(
        X(), out_type="auto", min_calib_range=-1.5, max_calib_range=1.0))), {"x": f(3, 7)}),
    ("quantize u8", lambda: S.Group(list(S.contrib.quantize_v2(
        X(), out_type="auto", min_calib_range=0.0, max_calib_range=1.0))), {"x": f(3, 7)}),
    ("quantize ranges", lambda: S.Group(list(S.contrib.quantize(X(), var("a"), var("b"), out_type="int8"))),
     {"x": f(3, 7), "a": f(1, lo=-1.5, hi=-1), "b": f(1, lo=1, hi=2)}),
    ("dequantize", lambda: (lambda q: S.contrib.dequantize(q[0], q[1], q[2]))(S.contrib.quantize_v2(X())),
     {"x": f(3, 7)}),
    ("pooling avg", coded("pooling", I8, kernel=(3, 2), stride=(2, 2), pool_type="avg"), {"x": f(*IMAGE)}),
    ("pooling max", coded("pooling", U8, kernel=(2, 2), stride=(2, 2), pool_type="max"), {"x": f(*IMAGE, lo=0)}),
    ("pooling global", coded("pooling", I8, kernel=(1, 1), global_pool=True, pool_type="avg"), {"x": f(*IMAGE)}),
    ("act", coded("act", I8, act_type="relu"), {"x": f(3, 7)}),
    ("flatten", coded("flatten", I8), {"x": f(3, 4, 2)}),
    ("concat", coded("concat", I8, I8, num_args=2), {"x": f(3, 7), "y": f(3, 5)}),
    ("concat mixed", coded("concat", I8, U8, num_args=2), {"x": f(3, 7), "y": f(3, 5, lo=0)}),
    ("concat ranges", coded("concat", I8, ("int8", -1.0, 0.5), num_args=2), {"x": f(3, 7), "y": f(3, 5)}),
    ("add", coded("elemwise_add", I8, I8), {"x": f(3, 7), "y": f(3, 7)}),
    ("add calibrated", coded("elemwise_add", I8, I8, min_calib_range=-3.0, max_calib_range=3.0),
     {"x": f(3, 7), "y": f(3, 7)}),
    ("fully connected", coded("fully_connected", I8, I8, I8, num_hidden=4), {"x": f(3, 7), "y": f(4, 7), "z": f(4)}),
    ("fully connected u8", coded("fully_connected", U8, I8, I8, num_hidden=4),
     {"x": f(3, 7, lo=0), "y": f(4, 7), "z": f(4)}),
    ("fully connected rows", coded("fully_connected", I8, I8, I8, num_hidden=4, flatten=False),
     {"x": f(3, 2, 7), "y": f(4, 7), "z": f(4)}),
]
CASES += [("quantised " + n, make, data) for n, make, data in QUANTISED]


def compare_files(dlc, folder, data, want, more=()):
    """None, or what is wrong: dlc's results of net-symbol.json beside MXNet's."""
    command = [dlc, "run", os.path.join(folder, "net-symbol.json"), *more]
    for name, array in data.items():
        path = os.path.join(folder, name + ".npy")
        np.save(path, array)
        command += ["--input", "%s=%s" % (name, path)]
        if not any(m.startswith("--shape=" + name) for m in more) and array.ndim > 0:
            command.append("--shape=%s=%s" % (name, ",".join(map(str, array.shape))))
    for name, array in want.items():
        command += ["--output", "%s=%s" % (name, os.path.join(folder, "out-%s.npy" % name))]
    ran = subprocess.run(command, capture_output=True, text=True)
    if ran.returncode != 0:
        return " ".join(line for line in ran.stderr.split("\n") if "--help" not in line)[-300:].strip()
    for name, array in want.items():
        have = np.load(os.path.join(folder, "out-%s.npy" % name))
        if have.shape != array.shape:
            return "%s has the shape %s, not %s" % (name, have.shape, array.shape)
        if have.dtype != array.dtype:
            return "%s is %s, not %s" % (name, have.dtype, array.dtype)
        worst = np.abs(have.astype("float64") - array).max() if array.size else 0
        if not worst <= TOLERANCE * max(1e-3, np.abs(array.astype("float64")).max()):
            return "%s differs by %g of %g" % (name, worst, np.abs(array).max())
    return None


def run_case(dlc, name, make, data, seed):
    r = np.random.RandomState(seed)
    symbol = make()
    given = {k: v(r) for k, v in data.items()}
    types = {k: v.dtype for k, v in given.items()}
    for v in symbol.get_internals():
        if v.name in given and given[v.name].dtype != np.float32:
            v._set_attr(__dtype__=str({"int32": 4, "int64": 6, "float16": 2}[str(given[v.name].dtype)]))
    shapes, out_shapes, aux_shapes = symbol.infer_shape(**{k: v.shape for k, v in given.items()})
    if shapes is None:  # what a loop's result is, is not known; all of these arguments are given
        shapes, aux_shapes = [given[k].shape for k in symbol.list_arguments()], []
    args, aux = {}, {}
    for k, s in zip(symbol.list_arguments(), shapes):
        gamma = k.endswith("gamma")
        args[k] = mx.nd.array(given[k], dtype=types[k]) if k in given else mx.nd.array(
            r.uniform(0.5 if gamma else -1, 1.5 if gamma else 1, s))
    for k, s in zip(symbol.list_auxiliary_states(), aux_shapes):
        aux[k] = mx.nd.array(r.uniform(0.5, 1.5, s))
    executor = symbol.bind(mx.cpu(), args, aux_states=aux, grad_req="null")
    out = [o.asnumpy() for o in executor.forward(is_train=False)]
    want = dict(zip(symbol.list_outputs(), out))
    labels = {k for k in args if k.endswith("_label")}
    with tempfile.TemporaryDirectory() as folder:
        symbol.save(os.path.join(folder, "net-symbol.json"))
        arrays = {"arg:" + k: v for k, v in args.items() if k not in given and k not in labels}
        arrays.update({"aux:" + k: v for k, v in aux.items()})
        mx.nd.save(os.path.join(folder, "net-0000.params"), arrays) if arrays else None
        return compare_files(dlc, folder, given, want)


def run_zoo(dlc, name, seed):
    size = 299 if name.startswith("inception") else 64
    size = 224 if name.startswith("alexnet") or name.startswith("vgg") or name.startswith("squeezenet") or \
        name.startswith("densenet") else size
    np.random.seed(seed)
    mx.random.seed(seed)
    net = mx.gluon.model_zoo.vision.get_model(name, pretrained=False)
    net.initialize(mx.init.Xavier())
    net.hybridize()
    x = np.random.uniform(-1, 1, (1, 3, size, size)).astype("float32")
    net(mx.nd.array(x))
    for k, p in net.collect_params().items():
        if k.endswith(("running_mean", "running_var", "gamma", "beta")):
            base = 1 if k.endswith(("var", "gamma")) else 0
            p.set_data(mx.nd.array(base + np.random.uniform(-0.1, 0.1, p.shape)))
    out = net(mx.nd.array(x)).asnumpy()
    with tempfile.TemporaryDirectory() as folder:
        net.export(os.path.join(folder, "net"))
        head = mx.sym.load(os.path.join(folder, "net-symbol.json")).list_outputs()[0]
        return compare_files(dlc, folder, {"data": x}, {head: out})


ZOO = """alexnet densenet121 inceptionv3 mobilenet1.0 mobilenet0.5 mobilenetv2_1.0 mobilenetv2_0.25 resnet18_v1
    resnet50_v1 resnet18_v2 resnet50_v2 squeezenet1.0 squeezenet1.1 vgg11 vgg11_bn vgg16_bn densenet169 mobilenet0.25
    mobilenetv2_0.5 resnet34_v1 resnet101_v1 resnet34_v2""".split()


def main():
    dlc, what, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    failed = []
    cases = [(c[0], lambda k=k, c=c: run_case(dlc, *c, seed=k)) for k,
        c in enumerate(CASES)] if what == "ops" else \
        [(n, lambda n=n: run_zoo(dlc, n, 1)) for n in ZOO]
    cases = [c for c in cases if not names or any(c[0].startswith(n) for n in names)]
    for name, run in cases:
        try:
            wrong = run()
        except Exception as e:
            wrong = "MXNet: " + str(e).strip().split("\n")[-1]
        if wrong is not None:
            failed.append(name)
        if wrong is not None or what == "zoo":
            print("%s: %s" % (name, wrong or "equal"), flush=True)
    print("%d of %d equal MXNet %s" % (len(cases) - len(failed), len(cases), mx.__version__))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
