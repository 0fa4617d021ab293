#!/usr/bin/env python3
"""Operators of ML programs, one model each, against PyTorch and NumPy.

    python3 bench/formats/coreml_rows.py DLC [PATTERN]

Needs torch and coremltools (checked with 2.7.0 and 9.0). A case is a program of coremltools' builder, which is saved as
an ML program and, where coremltools can, as a neural network. Prints what differs by more than 1e-4 of the largest
element, what is refused, and which rows of docs/coreml.md no case has.
"""
import logging, os, re, subprocess, sys, tempfile, warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import torch
import torch.nn.functional as F
import coremltools as ct
from coremltools.converters.mil import Builder as mb
from coremltools.converters.mil.mil import types

rng = np.random.default_rng(7)
T = torch.from_numpy
torch.set_num_threads(1)
seen = set()


def f(*shape, lo=-2.0, hi=2.0):
    return rng.uniform(lo, hi, shape).astype(np.float32)


def i(*shape, lo=0, hi=5):
    return rng.integers(lo, hi, shape).astype(np.int32)


programs = []


def case(name, make, want, *inputs, since="iOS15", nn=True, state=False):
    """`state`: the last input is a state of halves."""
    programs.append((name, make, want, inputs, since, nn, state))


# ---- elementwise

for name, fn in dict(abs=np.abs, ceil=np.ceil, cos=np.cos, cosh=np.cosh, exp=np.exp, floor=np.floor, sign=np.sign,
                     sin=np.sin, sinh=np.sinh, tan=np.tan, tanh=np.tanh, exp2=np.exp2, square=np.square,
                     atan=np.arctan, round=np.round, identity=lambda x: x).items():
    case(name, lambda x, name=name: getattr(mb, name)(x=x), fn, f(3, 5))
for name, fn in dict(acos=np.arccos, asin=np.arcsin, atanh=np.arctanh).items():
    case(name, lambda x, name=name: getattr(mb, name)(x=x), fn, f(3, 5, lo=-0.9, hi=0.9))
for name, fn in dict(sqrt=np.sqrt, log=np.log, rsqrt=lambda x: 1 / np.sqrt(x),
                     inverse=lambda x: 1 / (x + 1e-4)).items():
    case(name, lambda x, name=name: getattr(mb, name)(x=x), fn, f(3, 5, lo=0.2, hi=3))
case("erf", lambda x: mb.erf(x=x), lambda x: torch.erf(T(x)), f(3, 5))
case("clip", lambda x: mb.clip(x=x, alpha=-0.5, beta=1.0), lambda x: np.clip(x, -0.5, 1), f(3, 5))
case("threshold", lambda x: mb.threshold(x=x, alpha=0.3), lambda x: np.maximum(x, 0.3), f(3, 5))
case("cast", lambda x: mb.cast(x=mb.cast(x=x, dtype="int32"), dtype="fp32"), np.trunc, f(3, 5))
case("logical_not", lambda x: mb.cast(x=mb.logical_not(x=mb.greater(x=x, y=0.1)), dtype="fp32"),
     lambda x: (x <= 0.1).astype("f"), f(3, 5))
for name, fn in dict(add=np.add, sub=np.subtract, mul=np.multiply, real_div=np.divide, maximum=np.maximum,
                     minimum=np.minimum, floor_div=np.floor_divide, mod=np.mod).items():
    case(name, lambda x, y, name=name: getattr(mb, name)(x=x, y=y), fn, f(3, 5), f(1, 5, lo=0.3))
case("pow", lambda x, y: mb.pow(x=x, y=y), np.power, f(3, 5, lo=0.2), f(1, 5))
for name, fn in dict(equal=np.equal, not_equal=np.not_equal, less=np.less, less_equal=np.less_equal,
                     greater=np.greater, greater_equal=np.greater_equal).items():
    case(name, lambda x, y, name=name: mb.cast(x=getattr(mb, name)(x=x, y=y), dtype="fp32"), fn,
         np.round(f(4, 6)), np.round(f(4, 6)))
for name, fn in dict(logical_and=np.logical_and, logical_or=np.logical_or, logical_xor=np.logical_xor).items():
    case(name, lambda x, y, name=name: mb.cast(
        x=getattr(mb, name)(x=mb.greater(x=x, y=0.1), y=mb.greater(x=y, y=0.2)), dtype="fp32"),
        lambda x, y, fn=fn: fn(x > 0.1, y > 0.2), f(4, 6), f(4, 6))
case("select", lambda x, y: mb.select(cond=mb.greater(x=x, y=y), a=x, b=y), np.maximum, f(3, 5), f(3, 5))
case("floor_div i32", lambda x, y: mb.cast(x=mb.floor_div(x=mb.cast(x=x, dtype="int32"), y=mb.cast(
    x=y, dtype="int32")), dtype="fp32"), lambda x, y: np.floor_divide(x, y), i(40, lo=-20, hi=20).astype("f"),
     (i(40, lo=1, hi=6) * (2 * i(40, lo=0, hi=2) - 1)).astype("f"), nn=False)
case("mod i32", lambda x, y: mb.cast(x=mb.mod(x=mb.cast(x=x, dtype="int32"), y=mb.cast(x=y, dtype="int32")),
                                     dtype="fp32"), np.mod, i(40, lo=-20, hi=20).astype("f"),
     (i(40, lo=1, hi=6) * (2 * i(40, lo=0, hi=2) - 1)).astype("f"), nn=False)

# ---- activations

for name, fn in dict(relu=F.relu, relu6=F.relu6, sigmoid=torch.sigmoid, silu=F.silu, softplus=F.softplus,
                     softsign=F.softsign).items():
    case(name, lambda x, name=name: getattr(mb, name)(x=x), lambda x, fn=fn: fn(T(x)), f(2, 3, 4, 5, lo=-8, hi=8))
for mode, fn in (("EXACT", F.gelu), ("TANH_APPROXIMATION", lambda x: F.gelu(x, approximate="tanh")),
                 ("SIGMOID_APPROXIMATION", lambda x: x * torch.sigmoid(1.702 * x))):
    case(f"gelu {mode}", lambda x, mode=mode: mb.gelu(x=x, mode=mode), lambda x, fn=fn: fn(T(x)), f(2, 3, 4, 5))
alpha3, beta3 = f(3), f(3)
by = lambda a: a.reshape(1, 3, 1, 1)
for name, args, fn in (
        ("leaky_relu", dict(alpha=0.1), lambda x: F.leaky_relu(T(x), 0.1)), ("elu", dict(alpha=0.7), lambda x: F.elu(
            T(x), 0.7)), ("scaled_tanh", dict(alpha=0.7, beta=1.3), lambda x: 0.7 * np.tanh(1.3 * x)),
        ("sigmoid_hard", dict(alpha=0.3, beta=0.4), lambda x: np.clip(0.3 * x + 0.4, 0, 1)),
        ("thresholded_relu", dict(alpha=0.6), lambda x: np.where(x >= 0.6, x, 0)),
        ("linear_activation", dict(alpha=0.6, beta=-0.2), lambda x: 0.6 * x - 0.2),
        ("clamped_relu", dict(alpha=0.2, beta=1.1), lambda x: np.minimum(np.where(x >= 0, x, 0.2 * x), 1.1)),
        ("prelu", dict(alpha=alpha3), lambda x: np.where(x >= 0, x, by(alpha3) * x)),
        ("softplus_parametric", dict(alpha=alpha3, beta=beta3),
        lambda x: by(alpha3) * np.log1p(np.exp(by(beta3) * x)))):
    case(name, lambda x, name=name, args=args: getattr(mb, name)(x=x, **args), fn, f(2, 3, 4, 5))
case("softmax", lambda x: mb.softmax(x=x, axis=1), lambda x: F.softmax(T(x), 1), f(2, 3, 4))

# ---- windows

w2, w1, w3, bias = f(6, 2, 3, 2), f(6, 2, 3), f(6, 2, 2, 3, 2), f(6)
case("conv", lambda x: mb.conv(x=x, weight=w2, bias=bias, strides=[2, 1], pad_type="custom", pad=[1, 2, 0, 1],
     groups=2,
     dilations=[1, 2]), lambda x: F.conv2d(F.pad(T(x), (0, 1, 1, 2)), T(w2), T(bias), (2, 1), 0, (1, 2), 2), f(2,
     4, 9, 8))
case("conv same", lambda x: mb.conv(x=x, weight=w2, pad_type="same", groups=2), lambda x: F.conv2d(F.pad(
    T(x), (0, 1, 1, 1)), T(w2), groups=2), f(2, 4, 9, 8))
case("conv same_lower", lambda x: mb.conv(x=x, weight=w2, pad_type="same_lower", groups=2), lambda x: F.conv2d(
    F.pad(T(x), (1, 0, 1, 1)), T(w2), groups=2), f(2, 4, 9, 8),
     since="iOS16")
case("conv 1d", lambda x: mb.conv(x=x, weight=w1, strides=[2], pad_type="valid", groups=2), lambda x: F.conv1d(
    T(x), T(w1), None, 2, groups=2), f(2, 4, 9))
case("conv 3d", lambda x: mb.conv(x=x, weight=w3, pad_type="custom", pad=[1, 1, 0, 1, 1, 0], groups=2), lambda x:
     F.conv3d(F.pad(T(x), (1, 0, 0, 1, 1, 1)), T(w3), groups=2), f(2, 4, 5, 6, 7))
t2, t1, t3 = f(4, 3, 3, 2), f(4, 3, 3), f(4, 3, 2, 3, 2)
case("conv_transpose", lambda x: mb.conv_transpose(x=x, weight=t2, strides=[2, 3], pad_type="custom", pad=[1, 1, 1,
     1],
     groups=2, bias=bias), lambda x: F.conv_transpose2d(T(x), T(t2), T(bias), (2, 3), 1, groups=2), f(2, 4, 5, 6))
case("conv_transpose 1d", lambda x: mb.conv_transpose(x=x, weight=t1, strides=[2], pad_type="valid", groups=2),
     lambda x: F.conv_transpose1d(T(x), T(t1), None, 2, groups=2), f(2, 4, 5))
case("conv_transpose 3d", lambda x: mb.conv_transpose(x=x, weight=t3, strides=[2, 1, 2], pad_type="valid"),
     lambda x: F.conv_transpose3d(T(x), T(t3), None, (2, 1, 2)), f(2, 4, 3, 4, 3))
case("conv_transpose shape", lambda x: mb.conv_transpose(x=x, weight=t2, strides=[2, 2], pad_type="custom",
     pad=[1, 0, 1, 0], output_shape=[2, 3, 10, 11]), lambda x: F.conv_transpose2d(T(x), T(t2), None, 2, 1,
                                                                                (1, 1))[:, :, :10, :11], f(2, 4, 5,
                                                                                6))
for d, size, fn, an in ((1, (9,), F.max_pool1d, F.avg_pool1d), (2, (9, 8), F.max_pool2d, F.avg_pool2d),
                        (3, (7, 6, 5), F.max_pool3d, F.avg_pool3d)):
    for ceil in (False, True) if d < 3 else (False,):
        args = dict(kernel_sizes=[3] * d, strides=[2] * d, pad_type="custom", pad=[1] * 2 * d, ceil_mode=ceil)
        case(f"max_pool {d}d ceil {ceil}", lambda x, args=args: mb.max_pool(x=x, **args), lambda x, fn=fn, ceil=ceil:
             fn(T(x), 3, 2, 1, 1, ceil), f(2, 3, *size))
        for count in (False, True):
            case(f"avg_pool {d}d ceil {ceil} count {count}", lambda x, args=args, count=count: mb.avg_pool(
                x=x, exclude_padding_from_average=not count, **args), lambda x, an=an, ceil=ceil, count=count: an(
                T(x), 3, 2, 1, ceil, count), f(2, 3, *size))
case("l2_pool", lambda x: mb.l2_pool(x=x, kernel_sizes=[2, 3], strides=[2, 2], pad_type="valid"),
     lambda x: F.lp_pool2d(
    T(x), 2, (2, 3), 2), f(2, 3, 8, 9))
for mode, torch_mode in (("constant", "constant"), ("reflect", "reflect"), ("replicate", "replicate")):
    case(f"pad {mode}", lambda x, mode=mode: mb.pad(x=x, pad=[1, 2, 2, 1], mode=mode, constant_val=0.0), lambda x,
         mode=torch_mode: F.pad(T(x), (2, 1, 1, 2), mode), f(2, 3, 5, 6))
case("pad all", lambda x: mb.pad(x=x, pad=[1, 0, 0, 2, 1, 1], mode="constant", constant_val=0.5), lambda x: np.pad(
    x, ((1, 0), (0, 2), (1, 1)), constant_values=0.5), f(2, 3, 5))

# ---- matrices and normalisations

wl, bl, g3, b3 = f(6, 5), f(6), f(3), f(3)
case("linear", lambda x: mb.linear(x=x, weight=wl, bias=bl), lambda x: F.linear(T(x), T(wl), T(bl)), f(2, 3, 5))
case("matmul", lambda x, y: mb.matmul(x=x, y=y, transpose_y=True), lambda x, y: x @ y.swapaxes(-1, -2), f(2, 3, 4, 5),
     f(2, 3, 6, 5))
case("matmul const", lambda x: mb.matmul(x=x, y=wl, transpose_y=True), lambda x: x @ wl.T, f(2, 3, 5))
case("matmul x", lambda x, y: mb.matmul(x=x, y=y, transpose_x=True), lambda x, y: x.swapaxes(-1, -2) @ y, f(2, 5, 4),
     f(2, 5, 6))
case("einsum", lambda x, y: mb.einsum(values=[x, y], equation="nchw,nwhu->nchu"), lambda x, y: np.einsum(
    "nchw,nwhu->nchu", x, y), f(2, 3, 4, 5), f(2, 5, 4, 6))
for name, mask in (("", None), (" mask", f(4, 6))):
    case("scaled_dot_product_attention" + name, lambda q, k, v, mask=mask: mb.scaled_dot_product_attention(
        query=q, key=k, value=v, **({} if mask is None else dict(attn_mask=mask))), lambda q, k, v, mask=mask:
        F.scaled_dot_product_attention(T(q), T(k), T(v), None if mask is None else T(mask)), f(2, 3, 4, 8), f(2, 3,
        6, 8),
         f(2, 3, 6, 5), since="iOS18", nn=False)
case("scaled_dot_product_attention 3d", lambda q, k, v: mb.scaled_dot_product_attention(query=q, key=k, value=v),
     lambda q, k, v: F.scaled_dot_product_attention(T(q), T(k), T(v)), f(3, 4, 8), f(3, 6, 8), f(3, 6, 5),
     since="iOS18",
     nn=False)
case("layer_norm", lambda x: mb.layer_norm(x=x, axes=[-1], gamma=wl[0], beta=wl[1], epsilon=1e-3), lambda x:
     F.layer_norm(T(x), (5,), T(wl[0]), T(wl[1]), 1e-3), f(2, 3, 5))
case("layer_norm two", lambda x: mb.layer_norm(x=x, axes=[1, 2], epsilon=1e-3), lambda x: F.layer_norm(
    T(x), (3, 5), None, None, 1e-3), f(2, 3, 5))
case("instance_norm", lambda x: mb.instance_norm(x=x, gamma=g3, beta=b3), lambda x: F.instance_norm(
    T(x), None, None, T(g3), T(b3)), f(2, 3, 5, 6))
m3, v3 = f(3), f(3, lo=0.5)
case("batch_norm", lambda x: mb.batch_norm(x=x, mean=m3, variance=v3, gamma=g3, beta=b3, epsilon=1e-3), lambda x:
     F.batch_norm(T(x), T(m3), T(v3), T(g3), T(b3), False, 0, 1e-3), f(2, 3, 5, 6))
case("l2_norm", lambda x: mb.l2_norm(x=x, epsilon=1e-6), lambda x: x / np.sqrt((x * x).sum((1, 2, 3), keepdims=True) +
     1e-6), f(2, 3, 4, 5))
case("local_response_norm", lambda x: mb.local_response_norm(x=x, size=3, alpha=0.2, beta=0.6, k=1.5), lambda x:
     F.local_response_norm(T(x), 3, 0.2, 0.6, 1.5), f(2, 7, 4, 5))

# ---- reductions, order

for name, fn in dict(reduce_sum=np.sum, reduce_mean=np.mean, reduce_prod=np.prod, reduce_max=np.max,
     reduce_min=np.min,
                     reduce_l1_norm=lambda x, a, keepdims: np.abs(x).sum(a, keepdims=keepdims),
                     reduce_l2_norm=lambda x, a, keepdims: np.sqrt((x * x).sum(a, keepdims=keepdims)),
                     reduce_sum_square=lambda x, a, keepdims: (x * x).sum(a, keepdims=keepdims),
                     reduce_log_sum=lambda x, a, keepdims: np.log(x.sum(a, keepdims=keepdims)),
                     reduce_log_sum_exp=lambda x, a, keepdims: np.log(np.exp(x).sum(a, keepdims=keepdims))).items():
    for keep in (False, True):
        case(f"{name} {keep}", lambda x, name=name, keep=keep: getattr(mb, name)(x=x, axes=[0, -1], keep_dims=keep),
             lambda x, fn=fn, keep=keep: fn(x, (0, 2), keepdims=keep), f(2, 3, 4, lo=0.2))
case("reduce_argmax", lambda x: mb.cast(x=mb.reduce_argmax(x=x, axis=1, keep_dims=False), dtype="fp32"), lambda x:
     x.argmax(1), f(3, 6, 2))
case("reduce_argmin", lambda x: mb.cast(x=mb.reduce_argmin(x=x, axis=1), dtype="fp32"), lambda x: x.argmin(
    1, keepdims=True), f(3, 6, 2))
case("topk", lambda x: mb.topk(x=x, k=3, axis=1)[0], lambda x: T(x).topk(3, 1)[0], f(2, 6, 3))
case("topk places", lambda x: mb.cast(x=mb.topk(x=x, k=3, axis=1, ascending=True)[1], dtype="fp32"),
     lambda x: T(x).topk(
    3, 1, False)[1], f(2, 6, 3))
case("topk iOS17", lambda x: mb.topk(x=x, k=3, axis=1, sort=True, output_indices_dtype="uint16")[0],
     lambda x: T(x).topk(
    3, 1)[0], f(2, 6, 3), since="iOS17", nn=False)
case("argsort", lambda x: mb.cast(x=mb.argsort(x=x, axis=1, ascending=True), dtype="fp32"), lambda x: x.argsort(1),
     f(2, 6, 3))
case("cumsum", lambda x: mb.cumsum(x=x, axis=1, reverse=True, exclusive=True), lambda x: np.flip(np.cumsum(np.flip(
    x, 1), 1), 1) - x, f(2, 6, 3))

# ---- moves

case("transpose", lambda x: mb.transpose(x=x, perm=[2, 0, 1]), lambda x: x.transpose(2, 0, 1), f(2, 3, 4))
case("reshape", lambda x: mb.reshape(x=x, shape=[3, -1]), lambda x: x.reshape(3, -1), f(2, 3, 4))
case("reshape_like", lambda x, y: mb.reshape_like(x=x, ref_tensors=[y], begins=[0], ends=[2], end_masks=[False]),
     lambda x, y: x.reshape(4, 6), f(2, 3, 4), f(4, 6), since="iOS16", nn=False)
case("expand_dims", lambda x: mb.expand_dims(x=x, axes=[0, 2]), lambda x: x[None, :, None], f(2, 3))
case("squeeze", lambda x: mb.squeeze(x=x, axes=[1]), lambda x: x[:, 0], f(2, 1, 3, 1))
case("flatten2d", lambda x: mb.flatten2d(x=x, axis=2), lambda x: x.reshape(6, 20), f(2, 3, 4, 5))
case("concat", lambda x, y: mb.concat(values=[x, y], axis=1), lambda x, y: np.concatenate([x, y], 1), f(2, 3, 4),
     f(2, 2, 4))
case("concat interleave", lambda x, y: mb.concat(values=[x, y], axis=1, interleave=True), lambda x, y: np.stack(
    [x, y], 2).reshape(2, 6, 4, 2), f(2, 3, 4, 2), f(2, 3, 4, 2))
case("stack", lambda x, y: mb.stack(values=[x, y], axis=1), lambda x, y: np.stack([x, y], 1), f(2, 3), f(2, 3))
case("split", lambda x: mb.add(x=mb.split(x=x, num_splits=2, axis=1)[0], y=mb.split(x=x, split_sizes=[1, 2, 3],
     axis=1)[
    2]), lambda x: x[:, :3] + x[:, 3:], f(2, 6))
case("tile", lambda x: mb.tile(x=x, reps=[2, 1, 3]), lambda x: np.tile(x, (2, 1, 3)), f(2, 3, 2))
case("reverse", lambda x: mb.reverse(x=x, axes=[0, 2]), lambda x: x[::-1, :, ::-1], f(2, 3, 4))
case("reverse_sequence", lambda x: mb.reverse_sequence(x=x, lengths=[2, 4], seq_axis=1, batch_axis=0),
     lambda x: np.stack(
    [np.concatenate([x[k, :n][::-1], x[k, n:]]) for k, n in ((0, 2), (1, 4))]), f(2, 5, 3))
case("slice_by_index", lambda x: mb.slice_by_index(x=x, begin=[0, 5, 1, 0], end=[2, 0, 0, 0], stride=[1, -2, 1, 1],
     begin_mask=[True, False, False, False], end_mask=[False, False, True, False], squeeze_mask=[False, False, False,
                                                                                                True]),
     lambda x: x[:2, 5:0:-2, 1:, 0], f(3, 7, 4, 2))
case("slice_by_size", lambda x: mb.slice_by_size(x=x, begin=[1, 0], size=[2, -1]), lambda x: x[1:3], f(4, 5),
     nn=False)
case("slice_update", lambda x, y: mb.slice_update(x=x, update=y, begin=[1, 0], end=[3, 4], stride=[1, 2]),
     lambda x, y: [x.__setitem__((slice(1, 3), slice(0, 4, 2)), y), x][1], f(4, 5), f(2, 2), since="iOS18", nn=False)
case("sliding_windows", lambda x: mb.sliding_windows(x=x, axis=1, size=3, stride=2), lambda x: np.stack(
    [x[:, k:k + 3] for k in (0, 2, 4)], 1), f(2, 7, 3))
case("crop", lambda x: mb.crop(x=x, crop_height=[1, 2], crop_width=[0, 1]), lambda x: x[:, :, 1:-2, :-1], f(2, 3,
     7, 6))
case("band_part", lambda x: mb.band_part(x=x, lower=1, upper=2), lambda x: np.tril(np.triu(x, -1), 2), f(2, 5, 6))
case("space_to_depth", lambda x: mb.space_to_depth(x=x, block_size=2), lambda x: x.reshape(2, 3, 2, 2, 3,
     2).transpose(
    0, 3, 5, 1, 2, 4).reshape(2, 12, 2, 3), f(2, 3, 4, 6))
case("depth_to_space", lambda x: mb.depth_to_space(x=x, block_size=2), lambda x: x.reshape(2, 2, 2, 3, 4,
     5).transpose(
    0, 3, 4, 1, 5, 2).reshape(2, 3, 8, 10), f(2, 12, 4, 5))
case("pixel_shuffle", lambda x: mb.pixel_shuffle(x=x, upscale_factor=2), lambda x: F.pixel_shuffle(T(x), 2),
     f(2, 12, 4, 5))
case("pixel_unshuffle", lambda x: mb.pixel_unshuffle(x=x, downscale_factor=np.uint32(2)), lambda x: F.pixel_unshuffle(
    T(x), 2), f(2, 3, 4, 6), since="iOS16", nn=False)
case("space_to_batch", lambda x: mb.space_to_batch(x=x, block_shape=[2, 2], paddings=[[1, 1], [0, 2]]),
     lambda x: np.pad(
    x, ((0, 0), (0, 0), (1, 1), (0, 2))).reshape(1, 3, 3, 2, 4, 2).transpose(3, 5, 0, 1, 2, 4).reshape(4, 3, 3, 4),
     f(1, 3, 4, 6))
case("batch_to_space", lambda x: mb.batch_to_space(x=x, block_shape=[2, 2], crops=[[1, 0], [0, 1]]),
     lambda x: x.reshape(
    2, 2, 1, 3, 3, 4).transpose(2, 3, 4, 0, 5, 1).reshape(1, 3, 6, 8)[:, :, 1:, :-1], f(4, 3, 3, 4))
case("shape fill", lambda x: mb.add(x=x, y=mb.fill(shape=mb.shape(x=x), value=0.5)), lambda x: x + 0.5, f(2, 3),
     nn=False)
case("fill_like", lambda x: mb.add(x=x, y=mb.fill_like(ref_tensor=x, value=0.5)), lambda x: x + 0.5, f(2, 3),
     since="iOS16", nn=False)
case("range_1d", lambda x: mb.add(x=x, y=mb.range_1d(end=5.0, start=0.0, step=1.0)), lambda x: x + np.arange(5),
     f(2, 5))

# ---- places

case("gather", lambda x, y: mb.gather(x=x, indices=mb.cast(x=y, dtype="int32"), axis=1), lambda x, y: x[:,
     y.astype(int)],
     f(2, 5, 3), np.array([3, 0, 4], "f"))
case("gather negative", lambda x: mb.gather(x=x, indices=[-1, 0], axis=1), lambda x: x[:, [-1, 0]], f(2, 5, 3))
case("gather_along_axis", lambda x: mb.gather_along_axis(x=x, indices=[[1, 0, 1], [0, 0, 1]], axis=0), lambda x:
     np.take_along_axis(x, np.array([[1, 0, 1], [0, 0, 1]]), 0), f(2, 3))
case("gather_nd", lambda x: mb.gather_nd(x=x, indices=[[1, 0], [0, 2]]), lambda x: x[[1, 0], [0, 2]], f(2, 3, 4))
case("gather batch", lambda x: mb.gather(x=x, indices=np.array([[1, 0], [2, 2]], np.int32), axis=1, batch_dims=1),
     lambda x: np.stack([x[0, [1, 0]], x[1, [2, 2]]]), f(2, 5, 3), since="iOS17", nn=False)
for mode, fn in (("add", np.add.at), ("update", lambda a, k, v: a.__setitem__(k, v)), ("sub", np.subtract.at),
                 ("mul", np.multiply.at), ("div", np.divide.at), ("max", np.maximum.at), ("min", np.minimum.at)):
    def scatter(x, u, fn=fn):
        x = x.copy()
        fn(x, np.array([2, 0]), u)
        return x

    case(f"scatter {mode}", lambda x, u, mode=mode: mb.scatter(data=x, indices=[2, 0], updates=u, axis=0, mode=mode),
         scatter, f(3, 4), f(2, 4, lo=0.5))

    def scatter_nd(x, u, fn=fn):
        x = x.copy()
        fn(x, (np.array([2, 0]), np.array([1, 3])), u)
        return x

    case(f"scatter_nd {mode}", lambda x, u, mode=mode: mb.scatter_nd(data=x, indices=[[2, 1], [0, 3]], updates=u,
         mode=mode), scatter_nd, f(3, 4), f(2, lo=0.5))


def scatter_along(x, u):
    x = x.copy()
    np.put_along_axis(x, np.array([[1, 0, 2, 2]]), u, 0)
    return x


case("scatter_along_axis", lambda x, u: mb.scatter_along_axis(data=x, indices=[[1, 0, 2, 2]], updates=u, axis=0,
     mode="update"), scatter_along, f(3, 4), f(1, 4))
case("one_hot", lambda x: mb.one_hot(indices=mb.cast(x=x, dtype="int32"), one_hot_vector_size=5, axis=1, on_value=2.0,
     off_value=-1.0), lambda x: np.where(np.arange(5)[None, :, None] == x[:, None], 2, -1), i(2, 3).astype("f"))

# ---- images

case("upsample_nearest_neighbor", lambda x: mb.upsample_nearest_neighbor(x=x, scale_factor_height=2,
     scale_factor_width=3), lambda x: x.repeat(2, 2).repeat(3, 3), f(2, 3, 4, 5))
for corners in (False, True):
    case(f"upsample_bilinear {corners}", lambda x, corners=corners: mb.upsample_bilinear(
        x=x, scale_factor_height=2, scale_factor_width=3, align_corners=corners), lambda x, corners=corners:
        F.interpolate(T(x), scale_factor=(2, 3), mode="bilinear", align_corners=corners), f(2, 3, 4, 5))
case("upsample_bilinear fraction", lambda x: mb.upsample_bilinear(x=x, scale_factor_height=1.5,
     scale_factor_width=2.5,
     align_corners=False), lambda x: F.interpolate(T(x), scale_factor=(1.5, 2.5), mode="bilinear",
                                                  recompute_scale_factor=True), f(2, 3, 4, 6))
case("resize_nearest_neighbor", lambda x: mb.resize_nearest_neighbor(x=x, target_size_height=7, target_size_width=3),
     lambda x: F.interpolate(T(x), (7, 3)), f(2, 3, 4, 5), nn=False)


def grid(x, size, at):
    for axis, out in zip((2, 3), size):
        n = x.shape[axis]
        p = np.clip(at(np.arange(out), n, out), 0, n - 1)
        lo = np.floor(p).astype(int)
        hi, part = np.minimum(lo + 1, n - 1), (p - lo).reshape([-1 if k == axis else 1 for k in range(4)])
        x = x.take(lo, axis) * (1 - part) + x.take(hi, axis) * part
    return x


for mode, at in (("STRICT_ALIGN_CORNERS", lambda k, n, o: k * (n - 1) / (o - 1)),
                 ("ALIGN_CORNERS", lambda k, n, o: k * (n - 1) / (o - 1)), ("DEFAULT", lambda k, n, o: k * n / o),
                 ("OFFSET_CORNERS", lambda k, n, o: (k + 0.5) * max(1, n - 1) / o),
                 ("UNALIGN_CORNERS", lambda k, n, o: (k + 0.5) * n / o - 0.5)):
    case(f"resize_bilinear {mode}", lambda x, mode=mode: mb.resize_bilinear(
        x=x, target_size_height=7, target_size_width=3, sampling_mode=mode), lambda x, at=at: grid(x, (7, 3), at),
         f(2, 3, 4, 5), nn=mode != "UNALIGN_CORNERS")
    case(f"resize {mode}", lambda x, mode=mode: mb.resize(x=x, shape=[7, 3], resized_dims=np.uint32(2),
         interpolation_mode="LINEAR", sampling_mode=mode), lambda x, at=at: grid(x, (7, 3), at), f(2, 3, 4, 5),
         since="iOS17", nn=False)
case("resize nearest", lambda x: mb.resize(x=x, shape=[1, 8, 3], resized_dims=np.uint32(2),
     interpolation_mode="NEAREST_NEIGHBOR", sampling_mode="DEFAULT"), lambda x: F.interpolate(T(x), (8, 3)), f(2,
     3, 4, 5),
     since="iOS17", nn=False)


def crop_corners(x, boxes, out):
    """Boxes y0 x0 y1 x1 with ends that are aligned."""
    result = []
    for y0, x0, y1, x1 in boxes:
        part = x
        for axis, lo, hi, n in ((2, y0, y1, out[0]), (3, x0, x1, out[1])):
            p = lo + np.arange(n) * (hi - lo) / (n - 1)
            a = np.floor(p).astype(int)
            b = np.minimum(a + 1, part.shape[axis] - 1)
            t = (p - a).reshape([-1 if k == axis else 1 for k in range(4)])
            part = part.take(a, axis) * (1 - t) + part.take(b, axis) * t
        result.append(part)
    return np.stack(result)


boxes = np.array([[0.5, 1, 4, 3], [1, 0, 2, 5]], "f")
case("crop_resize", lambda x, r: mb.crop_resize(x=x, roi=r, target_height=3, target_width=4,
     sampling_mode="ALIGN_CORNERS"), lambda x, r: crop_corners(x, r.reshape(2, 4), (3, 4)), f(1, 3, 6, 7),
     boxes.reshape(2, 1, 4, 1, 1))
case("crop_resize iOS17", lambda x, r: mb.crop_resize(x=x, boxes=r, box_indices=np.array([0, 0], np.int32),
     target_height=3, target_width=4, sampling_mode="ALIGN_CORNERS"), lambda x, r: crop_corners(x, r, (3, 4))[:, 0],
     f(1, 3, 6, 7), boxes, since="iOS17", nn=False)

# ---- recurrences, [steps, batch, size]; PyTorch's gates are i f g o and r z n

H, I = 4, 3


def rnn_of(kind, both=False):
    torch.manual_seed(3)
    net = kind(I, H, bidirectional=both).eval()
    return net, {k: v.detach().numpy() for k, v in net.state_dict().items()}


def gates(w, order):
    return np.concatenate([np.split(w, len(order))[k] for k in order])


lstm, L = rnn_of(torch.nn.LSTM)
bi, B = rnn_of(torch.nn.LSTM, True)
rnn, N = rnn_of(torch.nn.RNN)
gru, G = rnn_of(torch.nn.GRU)
O = (0, 1, 3, 2)
h0, c0, h2, c2 = f(2, H), f(2, H), f(2, 2 * H), f(2, 2 * H)
one = lambda D, e="": dict(weight_ih=gates(D["weight_ih_l0" + e], O), weight_hh=gates(D["weight_hh_l0" + e], O),
                           bias=gates(D["bias_ih_l0" + e] + D["bias_hh_l0" + e], O))
for all_steps in (False, True):
    case(f"lstm {all_steps}", lambda x, s=all_steps: mb.lstm(x=x, initial_h=h0, initial_c=c0, output_sequence=s,
         **one(L))[0], lambda x, s=all_steps: lstm(T(x), (T(h0)[None], T(c0)[None]))[0][0 if s else -1:], f(5, 2, I))
case("lstm cell", lambda x: mb.lstm(x=x, initial_h=h0, initial_c=c0, **one(L))[2], lambda x: lstm(
    T(x), (T(h0)[None], T(c0)[None]))[1][1][0], f(5, 2, I))
case("lstm reverse", lambda x: mb.lstm(x=x, initial_h=h0, initial_c=c0, output_sequence=True, direction="reverse",
     **one(
    L))[1], lambda x: lstm(T(x).flip(0), (T(h0)[None], T(c0)[None]))[1][0][0], f(5, 2, I))
back = {k + "_back": v for k, v in one(B, "_reverse").items()}
case("lstm bidirectional", lambda x: mb.lstm(x=x, initial_h=h2, initial_c=c2, output_sequence=True,
     direction="bidirectional", **one(B), **back)[0], lambda x: bi(T(x), tuple(T(s).reshape(2, 2, H).transpose(
         0, 1).contiguous() for s in (h2, c2)))[0], f(5, 2, I))
case("rnn", lambda x: mb.rnn(x=x, initial_h=h0, weight_ih=N["weight_ih_l0"], weight_hh=N["weight_hh_l0"], bias=N[
    "bias_ih_l0"] + N["bias_hh_l0"], output_sequence=True)[0], lambda x: rnn(T(x), T(h0)[None])[0], f(5, 2, I))


def gru_of(x, w, r, b, h, after=None):
    sigmoid, out = lambda v: 1 / (1 + np.exp(-v)), []
    (wr, wo, wz), (rr, ro, rz), (br, bo, bz) = np.split(w, 3), np.split(r, 3), np.split(b, 3)
    for step in x:
        reset, update = sigmoid(step @ wr.T + h @ rr.T + br), sigmoid(step @ wz.T + h @ rz.T + bz)
        new = np.tanh(step @ wo.T + bo + reset * (h @ ro.T))
        h = (1 - update) * new + update * h
        out.append(h)
    return np.stack(out)


wg, rg, bg = f(3 * H, I), f(3 * H, H), f(3 * H)
case("gru", lambda x: mb.gru(x=x, initial_h=h0, weight_ih=wg, weight_hh=rg, bias=bg, output_sequence=True)[0],
     lambda x: gru_of(x, wg, rg, bg, h0), f(5, 2, I), nn=False)
P = (0, 2, 1)
case("gru reset_after", lambda x: mb.gru(x=x, initial_h=h0, weight_ih=gates(G["weight_ih_l0"], P), weight_hh=gates(
    G["weight_hh_l0"], P), bias=gates(G["bias_hh_l0"], P), input_bias=gates(G["bias_ih_l0"], P), reset_after=True,
    output_sequence=True)[0], lambda x: gru(T(x), T(h0)[None])[0], f(5, 2, I), since="iOS18", nn=False)

# ---- quantised

case("quantize", lambda x: mb.dequantize(input=mb.quantize(input=x, zero_point=np.int8(3), scale=np.float32(0.05),
     output_dtype="int8"), zero_point=np.int8(3), scale=np.float32(0.05)), lambda x: (np.clip(np.round(
         x / np.float32(0.05)) + 3, -128, 127) - 3) * np.float32(0.05), f(3, 5), since="iOS17", nn=False)
codes, scales, zeros = rng.integers(0, 255, (4, 6)).astype(np.uint8), f(4, lo=0.1, hi=1), rng.integers(
    0, 255, 4).astype(np.uint8)
case("constexpr_affine_dequantize", lambda x: mb.linear(x=x, weight=mb.constexpr_affine_dequantize(
    quantized_data=codes, zero_point=zeros, scale=scales, axis=0)), lambda x: x @ (scales[:, None] * (
        codes.astype("f") - zeros[:, None])).T, f(2, 6), since="iOS16", nn=False)
lut, bits = f(4), rng.integers(0, 4, 24)
packed = np.packbits(np.array([[b >> k & 1 for k in range(2)] for b in bits]).reshape(-1), bitorder="little")
case("constexpr_lut_to_dense", lambda x: mb.linear(x=x, weight=mb.constexpr_lut_to_dense(
    indices=packed, lut=lut, shape=np.array([4, 6], np.uint32))), lambda x: x @ lut[bits].reshape(4, 6).T, f(2, 6),
     since="iOS16", nn=False)
mask = rng.integers(0, 2, 24).astype(bool)
values = f(int(mask.sum()))
dense = np.zeros(24, "f")
dense[mask] = values
case("constexpr_sparse_to_dense", lambda x: mb.linear(x=x, weight=mb.constexpr_sparse_to_dense(
    nonzero_data=values, mask=np.packbits(mask, bitorder="little"), shape=np.array([4, 6], np.uint32))),
     lambda x: x @ dense.reshape(4, 6).T, f(2, 6), since="iOS16", nn=False)
case("constexpr_cast", lambda x: mb.linear(x=x, weight=mb.constexpr_cast(source_val=wl.astype(np.float16),
     output_dtype="fp32")), lambda x: x @ wl.astype(np.float16).astype("f").T, f(2, 5), since="iOS16", nn=False)
blocks = f(4, 2, lo=0.1, hi=1)
c8 = rng.integers(-128, 127, (4, 6)).astype(np.int8)
case("constexpr_blockwise_shift_scale", lambda x: mb.linear(x=x, weight=mb.constexpr_blockwise_shift_scale(
    data=c8, scale=blocks)), lambda x: x @ (c8 * blocks.repeat(3, 1)).T, f(2, 6), since="iOS18", nn=False)
u4 = types.nptype_from_builtin(types.string_to_builtin("uint4"))
c4 = rng.integers(0, 16, (4, 6)).astype(np.uint8)
case("constexpr_blockwise_shift_scale u4", lambda x: mb.linear(x=x, weight=mb.constexpr_blockwise_shift_scale(
    data=c4.astype(u4), scale=blocks, offset=np.full((4, 2), 8, np.uint8).astype(u4))), lambda x: x @ (
        (c4.astype("f") - 8) * blocks.repeat(3, 1)).T, f(2, 6), since="iOS18", nn=False)
u2 = types.nptype_from_builtin(types.string_to_builtin("uint2"))
c2b, lut2 = rng.integers(0, 4, (4, 6)).astype(np.uint8), f(2, 1, 4, 1)
case("constexpr_lut_to_dense iOS18", lambda x: mb.linear(x=x, weight=mb.constexpr_lut_to_dense(
    indices=c2b.astype(u2), lut=lut2)), lambda x: x @ np.stack([lut2[r // 2, 0, c2b[r], 0] for r in range(4)]).T,
     f(2, 6),
     since="iOS18", nn=False)
u1 = types.nptype_from_builtin(types.string_to_builtin("uint1"))
m46 = mask.reshape(4, 6).astype(np.uint8)
case("constexpr_sparse_to_dense iOS18", lambda x: mb.linear(x=x, weight=mb.constexpr_sparse_to_dense(
    nonzero_data=values, mask=m46.astype(u1))), lambda x: x @ dense.reshape(4, 6).T, f(2, 6), since="iOS18", nn=False)

# ---- control flow

case("cond", lambda x: mb.cond(pred=mb.squeeze(x=mb.greater(x=mb.reduce_sum(x=x, axes=[0], keep_dims=True), y=0.0),
     axes=[
    0]), _true_fn=lambda: mb.mul(x=x, y=2.0), _false_fn=lambda: mb.sub(x=x, y=1.0)),
     lambda x: x * 2 if x.sum() > 0 else x
     - 1, f(5), nn=False)
case("while_loop", lambda x: mb.while_loop(_cond=lambda k, v: mb.less(x=k, y=3.0), _body=lambda k, v: (mb.add(
    x=k, y=1.0), mb.mul(x=v, y=k)), loop_vars=(np.float32(1), x))[1], lambda x: x * 2, f(5), nn=False)


# ---- boxes, states


def chosen_boxes(boxes, scores, limit, least, most, apart):
    """Boxes [N,4] as centre and size, scores [N,C]: of the best `most` that do not overlap; places behind are 0."""
    corner = np.concatenate([boxes[:, :2] - boxes[:, 2:] / 2, boxes[:, :2] + boxes[:, 2:] / 2], 1)
    best, kind, kept = scores.max(1), scores.argmax(1), []
    for k in np.argsort(-best, kind="stable"):
        if best[k] < least or len(kept) == most:
            continue
        for j in kept:
            side = np.minimum(corner[k, 2:], corner[j, 2:]) - np.maximum(corner[k, :2], corner[j, :2])
            common = np.prod(np.maximum(side, 0))
            if (not apart or kind[k] == kind[j]) and common > limit * (boxes[k, 2] * boxes[k, 3] + boxes[j, 2] *
                                                                       boxes[j, 3] - common):
                break
        else:
            kept.append(k)
    return np.concatenate([boxes[kept], np.zeros((most - len(kept), 4), "f")])[None]


found = np.concatenate([f(12, 2, lo=0, hi=4), f(12, 2, lo=1, hi=3)], 1)[None]
for apart in (False, True):
    case(f"non_maximum_suppression {apart}", lambda x, s, apart=apart: mb.non_maximum_suppression(
        boxes=x, scores=s, iou_threshold=0.3, score_threshold=0.2, max_boxes=8, per_class_suppression=apart)[0],
        lambda x, s, apart=apart: chosen_boxes(x[0], s[0], 0.3, 0.2, 8, apart), found, f(1, 12, 3, lo=0, hi=1))
case("read_state", lambda x, s: mb.add(x=x, y=mb.cast(x=mb.read_state(input=s), dtype="fp32")), lambda x, s: x + s,
     f(3, 5), f(3, 5).astype(np.float16), since="iOS18", nn=False, state=True)


def updated(x, s):
    y = mb.add(x=mb.cast(x=x, dtype="fp16"), y=mb.read_state(input=s))
    return mb.cast(x=mb.mul(x=mb.coreml_update_state(state=s, value=y), y=np.float16(2)), dtype="fp32")


case("write_state", updated, lambda x, s: (x + s) * 2, np.round(f(3, 5) * 8) / 8,
     (np.round(f(3, 5) * 8) / 8).astype("e"), since="iOS18", nn=False, state=True)


def run(dlc, model, names, inputs, folder):
    args = []
    for n, x in zip(names, inputs):
        np.save(f"{folder}/{n}.npy", np.ascontiguousarray(x))
        args.append(f"--input={n}={folder}/{n}.npy")
    r = subprocess.run([dlc, "run", model, "--tuning-db=none", *args, f"--output={folder}/o.npz"],
     capture_output=True,
                       text=True)
    if r.returncode != 0:
        return r.stderr.strip()[:300]
    y = np.load(f"{folder}/o.npz")
    return y[[n for n in y.files if not n.endswith(".next")][-1]].astype(np.float32)


def compare(y, want):
    if isinstance(y, str):
        return y
    want = np.asarray(want, np.float32)
    if y.size != want.size:
        return f"has the shape {y.shape}, not {want.shape}"
    error = np.abs(y.reshape(want.shape) - want).max() / max(1e-6, np.abs(want).max())
    return None if error <= 1e-4 else f"differs by {error:.1e}"


def note_kinds(model):
    spec = model.get_spec()
    if spec.WhichOneof("Type") == "mlProgram":
        f = spec.mlProgram.functions["main"]
        seen.update(o.type for o in f.block_specializations[f.opset].operations)
    else:
        seen.update(l.WhichOneof("layer") for l in getattr(spec, spec.WhichOneof("Type")).layers)


def report(ran, bad, unmade):
    page = open(os.path.join(os.path.dirname(__file__), "../../docs/coreml.md")).read()
    rows = set(re.findall(r"`([A-Za-z0-9_]+)`", "\n".join(l for l in page.split("\n") if l.startswith("| `"))))
    print(f"{ran} models, {bad} wrong, {unmade} not made; rows without a case: {' '.join(sorted(rows - seen))}")


def main():
    dlc, word, ran, bad, unmade = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", 0, 0, 0
    for name, make, want, inputs, since, nn, state in programs:
        if not re.search(word, name):
            continue
        names = [chr(ord("p") + k) for k in range(len(inputs))]
        expected = want(*[x.copy() for x in inputs])
        expected = expected.detach().numpy() if isinstance(expected, torch.Tensor) else expected
        for kind in ("mlprogram", "neuralnetwork") if nn else ("mlprogram",):
            with tempfile.TemporaryDirectory() as d:
                target = getattr(ct.target, since)
                try:
                    spec = "def body(" + ", ".join(names) + "): return make(" + ", ".join(names) + ")"
                    scope = dict(make=make)
                    exec(spec, scope)
                    specs = [mb.TensorSpec(x.shape) for x in inputs]
                    if state:
                        specs[-1] = mb.StateTensorSpec(inputs[-1].shape, dtype=types.fp16)
                    prog = mb.program(input_specs=specs, opset_version=target if
                                      kind == "mlprogram" else None)(scope["body"])
                    how = dict(compute_precision=ct.precision.FLOAT32, minimum_deployment_target=target) if \
                        kind == "mlprogram" else dict(minimum_deployment_target=ct.target.iOS14)
                    model = ct.convert(prog, convert_to=kind, **how)
                    file = f"{d}/m." + ("mlpackage" if kind == "mlprogram" else "mlmodel")
                    model.save(file)
                    note_kinds(model)
                except Exception as e:
                    unmade += 1
                    print(f"{name} ({kind}) is not made: {type(e).__name__} {str(e)[:150]}", flush=True)
                    continue
                said = compare(run(dlc, file, names, inputs, d), expected)
                ran += 1
                if said:
                    bad += 1
                    print(f"{name} ({kind}): {said}", flush=True)
    report(ran, bad, unmade)


if __name__ == "__main__":
    main()
