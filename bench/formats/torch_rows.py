#!/usr/bin/env python3
"""Operators of PyTorch, a tiny module for each, as .pt2 and as a traced script, against PyTorch itself.

    python3 bench/formats/torch_rows.py DLC [PATTERN]

Needs torch (checked with 2.15.0), for its operators torchvision (0.29.2). Prints what differs or is refused, and how
many were right.
"""
import re, subprocess, sys, tempfile, warnings

import numpy as np
import torch
from torch import nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.manual_seed(3)
r = lambda *s: torch.rand(*s) * 2 - 1
X, Y, V, I, P = r(2, 6), r(2, 6), r(2, 4, 8, 8), torch.tensor([[0, 2, 1], [3, 5, 4]]), torch.rand(2, 6) + 0.5
V1, V3 = r(2, 4, 9), r(1, 2, 4, 6, 6)
cases = {}


def add(name, fn, *x):
    cases[name] = (fn, x)


for n in """abs neg sign relu ceil floor round trunc frac exp exp2 expm1 erf erfc sin cos tan asin acos atan sinh cosh
tanh asinh deg2rad rad2deg sinc sigmoid square nan_to_num isnan isinf isfinite logical_not t flipud fliplr sgn positive
""".split():
    add(n, getattr(torch, n), X)
for n in "sqrt rsqrt reciprocal log log1p log2 log10 lgamma".split()[:-1]:
    add(n, getattr(torch, n), P)
add("acosh", torch.acosh, P + 1)
add("atanh", torch.atanh, X * 0.9)
add("logit", torch.logit, P / 2)
add("logit_eps", lambda x: torch.logit(x, 0.1), P / 2)
for n in """relu6 silu mish softsign hardswish selu hardsigmoid hardtanh gelu leaky_relu elu celu softplus logsigmoid
hardshrink softshrink tanhshrink glu""".split():
    add("F." + n, getattr(F, n), X * 3)
add("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), X)
add("elu_alpha", lambda x: F.elu(x, 0.3), X)
add("softplus_beta", lambda x: F.softplus(x, 2, 1), X)
add("threshold", lambda x: F.threshold(x, 0.1, 20), X)
add("prelu", nn.PReLU(4), V)
add("prelu1", nn.PReLU(), X)
add("rrelu", nn.RReLU().eval(), X)
for n in """add sub mul div fmod remainder maximum minimum atan2 hypot copysign logaddexp logaddexp2 eq ne lt le gt ge
fmax fmin floor_divide""".split():
    add(n + "2", getattr(torch, n), X, Y)
for n in "add sub mul div remainder fmod eq lt".split():
    add(n + "_scalar", lambda x, n=n: getattr(torch, n)(x, 0.7), X)
    add(n + "_int", lambda x, n=n: getattr(torch, n)(x, 3), I)
add("add_alpha", lambda x, y: torch.add(x, y, alpha=2), X, Y)
add("rsub", lambda x: 3 - x, X)
add("rdiv", lambda x: 3 / x, P)
add("div_floor", lambda x, y: torch.div(x, y, rounding_mode="floor"), X, Y)
add("div_trunc", lambda x, y: torch.div(x, y, rounding_mode="trunc"), X, Y)
add("int_floordiv", lambda x: (x - 3) // 2, I)
add("int_mod", lambda x: (x - 3) % 4, I)
add("pow2", lambda x: x ** 2, X)
add("pow_tensor", torch.pow, P, Y)
add("rpow", lambda x: 2 ** x, X)
add("pow_half", lambda x: x ** 0.5, P)
add("xlogy", torch.xlogy, X, P)
add("heaviside", torch.heaviside, X, Y)
add("lerp", lambda x, y: torch.lerp(x, y, 0.3), X, Y)
add("addcmul", lambda x, y: torch.addcmul(x, x, y, value=2), X, Y)
add("addcdiv", lambda x, y: torch.addcdiv(x, x, y), X, P)
add("clamp", lambda x: torch.clamp(x, -0.2, 0.5), X)
add("clamp_min", lambda x: torch.clamp(x, min=-0.2), X)
add("clamp_tensor", lambda x, y: torch.clamp(x, max=y), X, Y)
add("clamp_int", lambda x: torch.clamp(x, 1, 4), I)
for n in "logical_and logical_or logical_xor".split():
    add(n, lambda x, y, n=n: getattr(torch, n)(x > 0, y > 0), X, Y)
add("bits", lambda x: (x & 3) | (x ^ 5), I)
add("shifts", lambda x: (x << 2) + (x >> 1), I)
add("bitwise_not", torch.bitwise_not, I)
add("where", lambda x, y: torch.where(x > 0, x, y), X, Y)
add("where_scalar", lambda x: torch.where(x > 0, x, 0.5), X)
add("masked_fill", lambda x: x.masked_fill(x > 0, -1.0), X)
add("isin", lambda i: torch.isin(i, torch.tensor([[5, 2], [9, 0]])), I)
add("isin_both", lambda x, y: torch.isin(x, torch.cat([y, x[:, :2]], 1)), X, Y)
add("isin_not", lambda i: torch.isin(i, torch.tensor([5, 2]), invert=True), I)
add("isin_types", lambda i: torch.isin(i, torch.tensor([5.0, 2.5, float("nan")])), I)
add("isin_number", lambda i: (torch.isin(i, 3), torch.isin(3, i)), I)
add("isin_none", lambda i: torch.isin(i, torch.zeros(0, dtype=torch.int64)), I)
add("isclose", lambda x: torch.isclose(x, x + 1e-9), X)
for n in "sum mean prod amax amin any all logsumexp std var norm argmax argmin cumsum cumprod".split():
    add(n + "_dim", lambda x, n=n: getattr(torch, n)(x, dim=1), X)
for n in "sum mean prod max min std var norm argmax argmin median count_nonzero any".split():
    add(n + "_all", lambda x, n=n: getattr(torch, n)(x), X)
add("mean_keep", lambda x: x.mean([2, 3], keepdim=True), V)
add("var_biased", lambda x: torch.var(x, dim=1, unbiased=False), X)
add("var_mean", lambda x: torch.var_mean(x, dim=1), X)
add("std_mean", lambda x: torch.std_mean(x, dim=[2, 3]), V)
add("max_dim", lambda x: torch.max(x, 1), X)
add("min_dim", lambda x: torch.min(x, 1, keepdim=True), X)
add("median_dim", lambda x: torch.median(x, 1), X)
add("aminmax", lambda x: torch.aminmax(x, dim=1), X)
add("norm1", lambda x: torch.norm(x, p=1, dim=1), X)
add("norm3", lambda x: torch.linalg.vector_norm(x, 3, dim=1), X)
add("norm_inf", lambda x: torch.linalg.vector_norm(x, float("inf")), X)
add("softmax", lambda x: F.softmax(x, 1), X)
add("softmin", lambda x: F.softmin(x, 1), X)
add("log_softmax", lambda x: F.log_softmax(x, -1), X)
add("normalize", lambda x: F.normalize(x, dim=1), X)
add("cosine_similarity", lambda x, y: F.cosine_similarity(x, y), X, Y)
add("pairwise_distance", lambda x, y: F.pairwise_distance(x, y), X, Y)
add("cdist", torch.cdist, X, Y)
add("sum_int", torch.sum, I)
add("topk", lambda x: torch.topk(x, 3, 1), X)
add("sort", lambda x: torch.sort(x, 1, descending=True), X)
add("argsort", lambda x: torch.argsort(x, 1), X)
add("kthvalue", lambda x: torch.kthvalue(x, 2, 1), X)
add("is_all_true", lambda x: torch._is_all_true(x > -9), X)
add("is_any_true", lambda x: torch._is_any_true(x > 9), X)
add("histc", lambda x: torch.histc(x, 8), X)
add("histc_range", lambda x: torch.histc(x, 8, -0.5, 1.5), X)
add("bucketize", lambda x: torch.bucketize(x, torch.tensor([-0.5, 0.0, 0.5])), X)
add("searchsorted", lambda x: torch.searchsorted(torch.tensor([-0.5, 0.0, 0.5]), x, right=True), X)
add("view", lambda x: x.view(3, -1), X)
add("reshape_t", lambda x: x.t().reshape(4, 3), X)
add("flatten", lambda x: x.flatten(1, 2), V)
add("unflatten", lambda x: x.unflatten(1, (2, -1)), V)
add("squeeze", lambda x: x.unsqueeze(0).unsqueeze(-1).squeeze(0).squeeze(), X)
add("permute", lambda x: x.permute(0, 2, 3, 1), V)
add("movedim", lambda x: x.movedim(1, -1), V)
add("swapaxes", lambda x: x.swapaxes(1, 2), V)
add("mT", lambda x: x.mT, V)
add("expand", lambda x: x.unsqueeze(1).expand(2, 3, -1), X)
add("expand_as", lambda x, y: x[:1].expand_as(y), X, Y)
add("broadcast_to", lambda x: torch.broadcast_to(x, (3, 2, 6)), X)
add("select", lambda x: x.select(1, -2), V)
add("slices", lambda x: x[:, 1:3, ::2, -3:], V)
add("narrow", lambda x: x.narrow(1, 1, 2), V)
add("split", lambda x: torch.split(x, 3, 1), V)
add("split_sizes", lambda x: torch.split(x, [1, 5], 1), X)
add("chunk", lambda x: torch.chunk(x, 3, 1), V)
add("tensor_split", lambda x: torch.tensor_split(x, 4, 1), X)
add("tensor_split_at", lambda x: torch.tensor_split(x, (1, 3), 1), X)
add("unbind", lambda x: torch.unbind(x, 0), X)
add("unfold", lambda x: x.unfold(1, 3, 2), X)
add("as_strided", lambda x: torch.as_strided(x * 2, (2, 3), (1, 2), 3), X)
try:
    import torchvision.ops as O
    OFFSET, MASK, W2 = r(2, 36, 4, 4) * 3, torch.rand(2, 18, 4, 4), r(6, 2, 3, 3)
    add("deform_conv", lambda x, o, w, m: O.deform_conv2d(x, o, w, torch.ones(6), 2, 1, 1, m), V, OFFSET, W2, MASK)
    add("deform_conv_plain", lambda x, o, w: O.deform_conv2d(x, o, w), V, r(2, 18, 6, 6) * 9, r(6, 4, 3, 3))
    ROIS = torch.tensor([[0, 1, 1, 6, 5], [1, 0.5, 2, 3, 7.5]])
    add("roi_pool", lambda x, b: O.roi_pool(x, b, 3, 0.5), V, ROIS)
    add("roi_align", lambda x, b: O.roi_align(x, b, 3, 0.5, 2, True), V, ROIS)
except ImportError:
    print("no torchvision: its operators are left out")
WIDE = torch.tensor([[-200.0, -float("inf"), 3, 90, -5, 1], [-float("inf"), -float("inf"), 1, float("inf"), 0, 2]])
add("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), X * 5)
add("logcumsumexp0", lambda x: torch.logcumsumexp(x, 0), V)
add("logcumsumexp_wide", lambda x: torch.atan(torch.logcumsumexp(x, -1)), WIDE)
add("logsumexp_wide", lambda x: torch.atan(torch.logsumexp(x[:, :4], 1)), WIDE)
add("cat", lambda x, y: torch.cat([x, y], 1), X, Y)
add("stack", lambda x, y: torch.stack([x, y], 1), X, Y)
add("hstack", lambda x, y: torch.hstack([x, y]), X, Y)
add("vstack", lambda x, y: torch.vstack([x, y]), X, Y)
add("repeat", lambda x: x.repeat(2, 1, 3), X)
add("tile", lambda x: x.tile(2), X)
add("repeat_interleave", lambda x: x.repeat_interleave(2, 1), X)
add("flip", lambda x: x.flip(1, 2), V)
add("roll", lambda x: x.roll((1, -2), (2, 3)), V)
add("roll_all", lambda x: x.roll(3), X)
add("rot90", lambda x: x.rot90(1, [2, 3]), V)
add("rot270", lambda x: x.rot90(3, [2, 3]), V)
add("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), V)
add("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), V)
add("channel_shuffle", lambda x: F.channel_shuffle(x, 2), V)
add("meshgrid", lambda x: torch.meshgrid(x[0], x[1], indexing="ij"), X)
add("meshgrid_xy", lambda x: torch.meshgrid(x[0], x[1, :3], indexing="xy"), X)
add("broadcast_tensors", lambda x: torch.broadcast_tensors(x, x[:1]), X)
add("tril", lambda x: torch.tril(x, -1), X)
add("triu", lambda x: torch.triu(x, 1), X)
add("zeros_like", lambda x: torch.zeros_like(x) + torch.ones_like(x) * torch.full_like(x, 3), X)
add("new", lambda x: x.new_zeros(2, 6) + x.new_ones(6) + x.new_full((2, 1), 4) + x, X)
add("arange", lambda x: x + torch.arange(6) + torch.arange(0, 3, 0.5), X)
add("linspace", lambda x: x + torch.linspace(0, 1, 6), X)
for n in "hann hamming blackman bartlett kaiser".split():
    w = getattr(torch, n + "_window")
    add(n, lambda x, w=w: x + w(6), X)
    add(n + "_whole", lambda x, w=w: (x[:, :5] + w(5, periodic=False), w(1) + x, w(0), w(4, dtype=torch.float64)), X)
add("hamming_alpha", lambda x: x + torch.hamming_window(6, True, 0.6, 0.3), X)
add("kaiser_beta", lambda x: x + torch.kaiser_window(6, False, 5.0), X)
add("eye", lambda x: x @ torch.eye(6), X)
add("full", lambda x: x + torch.full((6,), 2.5) + torch.zeros(2, 1) + torch.ones(6), X)
add("tril_indices", lambda x: torch.tril_indices(3, 3) + x[0, 0], X)
add("to_int", lambda x: (x * 10).to(torch.int32), X)
add("type_as", lambda x, i: i.type_as(x), X, I)
add("double", lambda x: x.double() * 2, X)
add("half", lambda x: x.half().float(), X)
add("bool", lambda x: (x > 0).float() + x.bool().float(), X)
add("embedding", nn.Embedding(7, 5), I)
add("index_select", lambda x: torch.index_select(x, 1, torch.tensor([3, 0])), X)
add("gather", lambda x, i: torch.gather(x, 1, i), X, I)
add("take", lambda x, i: torch.take(x, i), X, I)
add("take_along", lambda x, i: torch.take_along_dim(x, i, 1), X, I)
add("index", lambda x, i: x[:, i[0]], X, I)
add("index2", lambda x, i: x[torch.tensor([0, 1]), i[:, 0]], X, I)
add("index_mid", lambda x: x[:, torch.tensor([[0, 1]]), torch.tensor([2, -1])], V)
add("index_mask", lambda x: x[torch.tensor([True, False])], X)
MASK, NUMBERS = torch.tensor([True, False, True, True, False, True]), torch.tensor([3, 1, 3, 0, 6])
add("masked_select", lambda x: torch.masked_select(x, MASK), X)
add("masked_select_wide", lambda x: torch.masked_select(x[:, :1], torch.tensor([[True, True], [False, True]])), X)
add("masked_select_none", lambda x: torch.masked_select(x, torch.tensor(False)), X)
add("bincount", lambda x: x[0, 0] + torch.bincount(NUMBERS), X)
add("bincount_weights", lambda x: torch.bincount(NUMBERS, x[0, :5], 9), X)
add("bincount_int_weights", lambda i: torch.bincount(NUMBERS, i.flatten()[:5]), I)
add("one_hot", lambda i: F.one_hot(i, 6), I)
add("index_put", lambda x: torch.index_put(x, (torch.tensor([1]), torch.tensor([2])), torch.tensor(5.0)), X)
add("index_put_mask", lambda x: torch.index_put(x, (x > 0,), torch.tensor(5.0)), X)
add("scatter", lambda x, i: x.scatter(1, i, 3.0), X, I)
add("scatter_src", lambda x, i, y: x.scatter(1, i, y), X, I, Y)
add("scatter_add", lambda x, i, y: x.scatter_add(1, i, y), X, I, Y)
add("scatter_reduce", lambda x, i, y: x.scatter_reduce(1, i, y, "amax"), X, I, Y)
add("index_add", lambda x, y: x.index_add(1, torch.tensor([0, 2]), y[:, :2]), X, Y)
add("index_copy", lambda x, y: x.index_copy(1, torch.tensor([0, 2]), y[:, :2]), X, Y)
add("index_fill", lambda x: x.index_fill(1, torch.tensor([0, 2]), 9.0), X)
add("slice_scatter", lambda x, y: torch.slice_scatter(x, y[:, :2], 1, 1, 5, 2), X, Y)
add("select_scatter", lambda x: torch.select_scatter(x, torch.zeros(2), 1, 3), X)
add("matmul", lambda x, y: x @ y.t(), X, Y)
add("matmul_v", lambda x, y: torch.matmul(x, y[0]), X, Y)
add("matmul_vv", lambda x, y: torch.matmul(x[0], y[0]), X, Y)
add("matmul_vm", lambda x, y: torch.matmul(x[0], y.t()), X, Y)
add("bmm", lambda x: torch.bmm(x[0], x[1]), V)
add("linear", nn.Linear(6, 3), X)
add("linear_nd", nn.Linear(8, 3, bias=False), V)
add("addmm", lambda x, y: torch.addmm(y[:, :2], x, y.t(), beta=0.5, alpha=2), X, Y)
add("baddbmm", lambda x: torch.baddbmm(x[0], x[1], x[0]), V)
add("outer", lambda x: torch.outer(x[0], x[1]), X)
add("inner", lambda x, y: torch.inner(x, y), X, Y)
add("dot", lambda x: torch.dot(x[0], x[1]), X)
add("einsum", lambda x, y: torch.einsum("ij,kj->ik", x, y), X, Y)
add("tensordot", lambda x: torch.tensordot(x, x, dims=([1, 2], [1, 2])), V)
add("bilinear", nn.Bilinear(6, 6, 3), X, Y)
for d, v in ((1, V1), (2, V), (3, V3)):
    c = v.shape[1]
    for n, m in (("conv", nn.__dict__[f"Conv{d}d"]), ("conv_t", nn.__dict__[f"ConvTranspose{d}d"])):
        add(f"{n}{d}", m(c, 6, 3, stride=2, padding=1), v)
    add(f"conv{d}_group", nn.__dict__[f"Conv{d}d"](c, c * 2, 3, groups=2, dilation=2, padding=2), v)
    add(f"conv{d}_same", nn.__dict__[f"Conv{d}d"](c, 3, 4, padding="same"), v)
    add(f"max_pool{d}", getattr(F, f"max_pool{d}d"), v, 3)
    cases[f"max_pool{d}"] = (lambda x, d=d: getattr(F, f"max_pool{d}d")(x, 3, 2, 1, ceil_mode=True), (v,))
    add(f"avg_pool{d}", lambda x, d=d: getattr(F, f"avg_pool{d}d")(x, 3, 2, 1), v)
    add(f"avg_pool{d}_count", lambda x, d=d: getattr(F, f"avg_pool{d}d")(x, 3, 2, 1, True, False), v)
    add(f"adaptive_avg{d}", lambda x, d=d: getattr(F, f"adaptive_avg_pool{d}d")(x, 3), v)
    add(f"adaptive_avg{d}_1", lambda x, d=d: getattr(F, f"adaptive_avg_pool{d}d")(x, 1), v)
    add(f"adaptive_max{d}", lambda x, d=d: getattr(F, f"adaptive_max_pool{d}d")(x, 3), v)
    add(f"batch_norm{d}", nn.__dict__[f"BatchNorm{d}d"](c).eval(), v)
    add(f"instance_norm{d}", nn.__dict__[f"InstanceNorm{d}d"](c, affine=True).eval(), v)
    add(f"reflect{d}", nn.__dict__[f"ReflectionPad{d}d"](2), v)
    add(f"replicate{d}", nn.__dict__[f"ReplicationPad{d}d"](2), v)
    add(f"pad{d}", lambda x, d=d: F.pad(x, (1, 2) * d, value=0.5), v)
    add(f"nearest{d}", lambda x: F.interpolate(x, scale_factor=1.6), v)
    add(f"nearest_exact{d}", lambda x: F.interpolate(x, scale_factor=1.6, mode="nearest-exact"), v)
    mode = ("linear", "bilinear", "trilinear")[d - 1]
    add(f"linear{d}", lambda x, mode=mode: F.interpolate(x, scale_factor=1.7, mode=mode), v)
    add(f"linear{d}_corners", lambda x, mode=mode: F.interpolate(x, scale_factor=2, mode=mode, align_corners=True), v)
    add(f"circular{d}", lambda x, d=d: F.pad(x, (1, 2) * d, mode="circular"), v)
add("bicubic", lambda x: F.interpolate(x, size=(13, 5), mode="bicubic"), V)
add("bilinear_aa", lambda x: F.interpolate(x, size=(3, 5), mode="bilinear", antialias=True), V)
add("bicubic_aa", lambda x: F.interpolate(x, size=(3, 13), mode="bicubic", antialias=True), V)
add("max_pool_indices", lambda x: F.max_pool2d(x, 2, return_indices=True), V)
add("lp_pool", lambda x: F.lp_pool2d(x.abs(), 3, 2), V)
add("unfold2d", lambda x: F.unfold(x, (2, 3), 1, 1, 2), V)
add("fold2d", lambda x: F.fold(F.unfold(x, 3, 1, 1, 2), 8, 3, 1, 1, 2), V)
add("layer_norm", nn.LayerNorm([8, 8]), V)
add("layer_norm_1", nn.LayerNorm(8, elementwise_affine=False), V)
add("group_norm", nn.GroupNorm(2, 4), V)
add("rms_norm", nn.RMSNorm(8), V)
for dim in 0, 2:
    add(f"weight_norm{dim}", nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 6, 3), dim=dim), V1)
add("weight_norm_all", lambda x, y: torch._weight_norm(x, y[0, 0], -1), X, Y)
add("lrn", nn.LocalResponseNorm(3), V)
add("dropout", nn.Dropout(0.5).eval(), X)
for n, m in (("lstm", nn.LSTM), ("gru", nn.GRU), ("rnn", nn.RNN)):
    add(n, m(9, 5, 2, bidirectional=True), V1)
    add(n + "_first", m(9, 5, batch_first=True, bias=False), V1)
add("lstm_2d", nn.LSTM(6, 5), X)
add("rnn_relu", nn.RNN(9, 5, nonlinearity="relu"), V1)
for n, m in (("lstm_cell", nn.LSTMCell), ("gru_cell", nn.GRUCell), ("rnn_cell", nn.RNNCell)):
    add(n, m(6, 5), X)
add("sdpa", lambda x: F.scaled_dot_product_attention(x, x, x), V)
add("sdpa_causal", lambda x: F.scaled_dot_product_attention(x, x, x, is_causal=True), V)
add("sdpa_mask", lambda x: F.scaled_dot_product_attention(x, x, x, x[:1, :1] > -0.9, scale=0.3), V)
add("sdpa_bias", lambda x: F.scaled_dot_product_attention(x, x, x, x[0, 0]), V)
add("mha", nn.MultiheadAttention(8, 2, batch_first=True).eval(), V[0], V[0], V[0])
add("encoder", nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), V[0])
add("encoder_first", nn.TransformerEncoderLayer(8, 2, 16, norm_first=True, activation="gelu").eval(), V[0])
add("decoder", nn.TransformerDecoderLayer(8, 2, 16, batch_first=True).eval(), V[0], V[1])
for n in "mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss".split():
    add(n, getattr(F, n), X, Y)
add("bce", lambda x: F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(x * 2)), X)
add("bce_logits", lambda x: F.binary_cross_entropy_with_logits(x, torch.sigmoid(x * 2)), X)
add("kl_div", lambda x, y: F.kl_div(x, y, reduction="sum"), X, P)
add("nll", lambda x: F.nll_loss(F.log_softmax(x, 1), torch.tensor([1, 4])), X)
add("cross_entropy", lambda x: F.cross_entropy(x, torch.tensor([1, 4])), X)


def writes(x):
    y = x * 1
    y[:, 0] = 2
    y[:, 1:4:2] += 1
    y.t()[5].fill_(7)
    z = y.view(3, 4)
    z[1].mul_(3)
    return y, z


add("writes", writes, X)
add("relu_", lambda x: F.relu_(x * 1) + torch.clone(x).add_(1).mul_(2), X)
add("copy_", lambda x, y: (x * 1).copy_(y), X, Y)
add("grid_sample", lambda x, y: F.grid_sample(x, y, align_corners=False), V, r(2, 3, 3, 2))
add("grid_border", lambda x, y: F.grid_sample(x, y, "nearest", "border", True), V, r(2, 3, 3, 2))
add("affine_grid", lambda x: F.affine_grid(x[:, :2, 0, :3], (2, 1, 4, 5), align_corners=False), V)
add("cross", lambda x: torch.cross(x[:, :3], x[:, 3:], dim=1), X)
add("diag", lambda x: torch.diagonal(x, dim1=2, dim2=3), V)
add("logcumsumexp", lambda x: torch.logcumsumexp(x, 1), X)
add("diff", lambda x: torch.diff(x, dim=1), X)
add("std_keep", lambda x: x.std(1, keepdim=True), X)
add("unsafe", lambda x: x.sum(dtype=torch.float64), X)


# Arguments that are rare, and the ends of ranges.
Q, K4 = r(2, 8, 5, 4), r(2, 2, 7, 4)
add("rare_gqa", lambda q, k: F.scaled_dot_product_attention(q, k, k, enable_gqa=True), Q, K4)
add("rare_causal", lambda q, k: F.scaled_dot_product_attention(q[:, :2], k, k, is_causal=True), Q, K4)
add("rare_sdpa_3d", lambda q, k: F.scaled_dot_product_attention(q[0, :2], k[0], k[0]), Q, K4)
for d, v in ((1, V1), (2, V), (3, V3)):
    for count in True, False:
        add(f"rare_avg_ceil{d}_{count}", lambda x, d=d, c=count: getattr(F, f"avg_pool{d}d")(x, 3, 2, 1, True, c), v)
add("rare_avg_divisor", lambda x: F.avg_pool2d(x, 3, 2, 1, divisor_override=5), V)
add("rare_max_stride", lambda x: F.max_pool2d(x, (3, 2), (2, 3), (1, 0), (1, 2)), V)
add("rare_max_places", lambda x: F.max_pool2d(x, 3, 2, 1, ceil_mode=True, return_indices=True), V)
add("rare_lp_ceil", lambda x: F.lp_pool2d(x.abs(), 3, 3, 2, ceil_mode=True), V)
add("rare_adaptive_none", lambda x: F.adaptive_avg_pool2d(x, (None, 3)), V)
add("rare_adaptive_uneven", lambda x: F.adaptive_max_pool2d(x, (5, 3)), V)
add("rare_conv_circular", nn.Conv2d(4, 3, 3, padding=1, padding_mode="circular"), V)
add("rare_conv_single", nn.Conv2d(4, 3, 3), V[0])
add("rare_conv_t", nn.ConvTranspose2d(4, 6, 3, 3, 2, 1, groups=2, dilation=2), V)
add("rare_bicubic_corners", lambda x: F.interpolate(x, size=(13, 5), mode="bicubic", align_corners=True), V)
add("rare_nearest_size", lambda x: F.interpolate(x, size=(13, 5)), V)
add("rare_rescale", lambda x: F.interpolate(x, scale_factor=1.7, mode="bilinear", recompute_scale_factor=True), V)
add("rare_bilinear_down", lambda x: F.interpolate(x, scale_factor=(0.4, 1.3), mode="bilinear"), V)
for mode in "bilinear", "nearest", "bicubic":
    for pad in "zeros", "border", "reflection":
        for corners in False, True:
            add(f"rare_grid_{mode}_{pad}_{corners}", lambda x, y, m=mode, p=pad, c=corners:
                F.grid_sample(x, y * 1.7, m, p, c), V, r(2, 3, 3, 2))
add("rare_div_floor", lambda x: torch.div(x - 3, 2, rounding_mode="floor"), I)
add("rare_div_trunc", lambda x: torch.div(x - 3, 2, rounding_mode="trunc"), I)
add("rare_floor_divide", lambda x: torch.floor_divide(x * 5, -0.7), X)
add("rare_remainder", lambda x: torch.remainder(x * 5, -0.7), X)
add("rare_fmod", lambda x: torch.fmod(x * 5, -0.7), X)
add("rare_fmod_int", lambda x: torch.fmod(x - 3, 2), I)
add("rare_shift", lambda x: (x - 3) >> 1, I)
add("rare_round", lambda x: torch.round(x * 10, decimals=1), X)
add("rare_clamp", lambda x: torch.clamp(x, 0.5, -0.5), X)
add("rare_clamp_tensors", lambda x, y: torch.clamp(x, y, y + 0.1), X, Y)
add("rare_pow_int", lambda x: (x - 3) ** 3, I)
add("rare_float_power", lambda x: torch.float_power(x, 3), X)
add("rare_float_power_f", lambda x: torch.float_power(x, 0.3), P)
add("rare_isclose", lambda x: torch.isclose(x / 0, x), X)
add("rare_isclose_int", lambda x: torch.isclose(x * 100000, x * 100000 + 1), I)
add("rare_equal", lambda x, y: x + torch.logical_not((x == y).all()), X, Y)
add("rare_rot90", lambda x: torch.rot90(x), X)
add("rare_norm_matrix", lambda x: torch.linalg.norm(x), X)
add("rare_norm_fro", lambda x: torch.linalg.norm(x, "fro", dim=(1, 2)), V)
add("rare_norm_vector", lambda x: torch.linalg.norm(x, 3, dim=1), X)
add("rare_norm_0", lambda x: torch.norm(F.relu(x), p=0, dim=1), X)
add("rare_std_correction", lambda x: torch.std(x, dim=1, correction=2, keepdim=True), X)
add("rare_prod_int", lambda x: x.prod(1), I)
add("rare_mean_dtype", lambda x: x.mean(1, dtype=torch.float64), X)
add("rare_cumsum_bool", lambda x: (x > 0).cumsum(1), X)
add("rare_argmax_keep", lambda x: x.argmax(keepdim=True), X)
add("rare_ties", lambda x: (x.argmax(1), x.argmin(1), x.max(1)[1]), torch.tensor([[1., 3., 3., 1.], [2., 2., 2., 2.]]))
add("rare_sort_ties", lambda x: torch.sort(x, dim=1, stable=True), torch.tensor([[1., 3., 3., 1.], [2., 2., 2., 2.]]))
add("rare_topk_least", lambda x: torch.topk(x, 2, 0, largest=False), V[0])
add("rare_median_even", lambda x: torch.median(x[:, :4], 1, keepdim=True), X)
add("rare_index_back", lambda x: x[torch.tensor([-1, 0]), :, torch.tensor([2, -3])], V)
add("rare_index_add", lambda x: torch.index_put(x, (torch.tensor([1, 1]),), torch.ones(2, 6), accumulate=True), X)
add("rare_index_set", lambda x: torch.index_put(x, (torch.tensor([1, 0]), torch.tensor([2, 3])), x[0, :2]), X)
add("rare_scatter_smaller", lambda x, i, y: x.scatter(1, i[:1], y), X, I, Y)
add("rare_scatter_sum", lambda x, i, y: x.scatter_reduce(1, i, y, "sum"), X, I, Y)
add("rare_index_add_alpha", lambda x, y: x.index_add(1, torch.tensor([0, 0]), y[:, :2], alpha=3), X, Y)
add("rare_gather_smaller", lambda x, i: torch.gather(x, 1, i[:1]), X, I)
add("rare_einsum", lambda x: torch.einsum("...ij,...kj->...ik", x, x), V)
add("rare_einsum_trace", lambda x: torch.einsum("bcii->bc", x), V)
add("rare_slice", lambda x: x[..., 1:-1:3], V)
add("rare_split_rest", lambda x: torch.split(x, 4, 1), X)
add("rare_tensor_split_back", lambda x: torch.tensor_split(x, (-2,), 1), X)
add("rare_diag_offset", lambda x: torch.diagonal(x, -2, 3, 2), V)
add("rare_tile_less", lambda x: x.tile(2, 1), V)
add("rare_stack_last", lambda x, y: torch.stack([x, y], -1), X, Y)
add("rare_cat_types", lambda x, i: torch.cat([x, i[:, :2]], 1), X, I)
add("rare_types", lambda x, i: (i + 1.5, i * True, i / 2, x.half() + 1, (x > 0) + i[:, :1], i.to(torch.int8) + 1), X, I)
add("rare_linspace", lambda x: x + torch.linspace(-1, 1, 6, dtype=torch.float64), X)
add("rare_arange_back", lambda x: x + torch.arange(5, -1, -1), X)
add("rare_tril", lambda x: torch.tril(x, 2), V)
add("rare_layer_norm", nn.LayerNorm([4, 8, 8], eps=0.1), V)
add("rare_group_norm", nn.GroupNorm(4, 4, eps=0.1), V)
add("rare_batch_norm", nn.BatchNorm2d(4, eps=0.1, affine=False).eval(), V)
add("rare_instance", nn.InstanceNorm2d(4, track_running_stats=True).eval(), V)
add("rare_rms", nn.RMSNorm([8, 8], eps=0.1), V)
add("rare_celu", lambda x: F.celu(x, 0.3), X)
add("rare_shrink", lambda x: F.softshrink(x, 0.2) + F.hardshrink(x, 0.3), X)
add("rare_glu_first", lambda x: F.glu(x, 1), V)
add("rare_prelu_2d", nn.PReLU(6), X)
add("rare_nan", lambda x: torch.nan_to_num(x / F.relu(x), 1, 2, 3), X)
add("rare_pad_crop", lambda x: F.pad(x, (-1, 2, 1, -2)), V)
add("rare_unfold_step", lambda x: x.unfold(2, 3, 2).unfold(3, 2, 3), V)
add("rare_smooth", lambda x, y: F.smooth_l1_loss(x, y, beta=0.2, reduction="sum"), X, Y)
add("rare_huber", lambda x, y: F.huber_loss(x, y, delta=0.2, reduction="none"), X, Y)
add("rare_weighted", lambda x: F.cross_entropy(x, torch.tensor([1, -100]), P[0]), X)
add("rare_nll2d", lambda x: F.nll_loss(F.log_softmax(x, 1), torch.ones(2, 8, 8, dtype=torch.int64)), V)
add("rare_kl_log", lambda x, y: F.kl_div(x, y, reduction="batchmean", log_target=True), X, Y)
add("rare_bce_weight", lambda x: F.binary_cross_entropy_with_logits(x, (x > 0).float(), x, pos_weight=P[0]), X)
add("rare_normalize", lambda x: F.normalize(x, 3, 2), V)
add("rare_cdist", lambda x: torch.cdist(x[0], x[1], p=1), V)
add("rare_cosine", lambda x: F.cosine_similarity(x, x[:1], dim=-1, eps=0.5), V)
add("rare_searchsorted", lambda x: torch.bucketize(x, torch.tensor([-0.5, 0.0, 0.5]), right=True, out_int32=True), X)


def rare_writes(x):
    y = x * 1
    y.diagonal().add_(5)
    y[x > 0.5] = 0
    y[:, -1] -= y[:, 0]
    z = y.unsqueeze(0).transpose(1, 2)
    z[0, 2:4].clamp_(-0.1, 0.1)
    w = y.reshape(-1)
    w[3] = 9
    y.unfold(1, 2, 2)[:, 0, 0]
    return y, z, w, y.chunk(2, 1)[1].mul_(2)


add("rare_writes", rare_writes, X)



class Module(nn.Module):
    def __init__(self, fn):
        super().__init__()
        self.fn = fn

    def forward(self, *x):
        return self.fn(*x)


def flat(y):
    return [y] if isinstance(y, torch.Tensor) else [t for p in y for t in flat(p) if p is not None]


def main():
    dlc, word, right, bad = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", 0, 0
    for name, (fn, x) in cases.items():
        if not re.search(word, name):
            continue
        module = Module(fn).eval()
        with torch.no_grad(), tempfile.TemporaryDirectory() as d:
            try:
                want = flat(module(*x))
            except Exception as e:
                print(f"{name}: not run, {str(e)[:80]!r}", flush=True)
                continue
            for way in "pt2", "traced":
                try:
                    if way == "pt2":
                        torch.export.save(torch.export.export(module, x), f"{d}/m.pt2")
                    else:
                        torch.jit.trace(module, x, check_trace=False).save(f"{d}/m.pt")
                except Exception as e:
                    print(f"{name} {way}: not saved, {str(e)[:80]!r}", flush=True)
                    continue
                model = f"{d}/m.pt2" if way == "pt2" else f"{d}/m.pt"
                for k, t in enumerate(x):
                    np.save(f"{d}/{k}.npy", t.numpy())
                info = subprocess.run([dlc, "show", model, "--imported"], capture_output=True,
                                      text=True)
                names = re.findall(r"^in (\S+):", info.stdout, re.M)
                given = [f"--input={n}={d}/{k}.npy" for k, n in enumerate(names)]
                p = subprocess.run([dlc, "run", model, "--tuning-db=none", f"--output={d}/y.npz"] + given,
                                   capture_output=True, text=True)
                said = (info.stderr + p.stderr).strip().split(": ", 2)[-1][:220]
                if p.returncode == 0:
                    y = np.load(f"{d}/y.npz")
                    got = [y[k] for k in y.files]
                    said = None
                    for a, b in zip(got, want):
                        b = b.numpy()
                        gap = np.abs(a.astype(float) - b.astype(float)) if a.shape == b.shape else np.inf
                        off = np.max(gap, initial=0)
                        if a.dtype != b.dtype or not off <= 1e-4 * np.max(np.abs(b.astype(float)), initial=1):
                            said = f"{a.dtype}{a.shape} where {b.dtype}{b.shape}, error {off:.2g}"
                    if len(got) != len(want):
                        said = f"{len(got)} results where {len(want)} are"
                right += said is None
                bad += said is not None
                if said is not None:
                    print(f"{name} {way}: {said}", flush=True)
    print(f"{right} right, {bad} wrong")


main()
