"""Functions and layers of PyTorch by themselves, for exporter.py: what its exporters make of one call each."""
import re


def names():
    """Of the table below, read as text: PyTorch is not there where cases are listed."""
    return re.findall(r'^        "(\w+)": \(', open(__file__).read(), re.M)


def table():
    """{name: (function or module, its inputs ...)}"""
    import torch
    import torch.nn.functional as F
    from torch import nn
    R = torch.randn
    X, S, V, I = R(2, 4, 9, 11), R(2, 7, 12), R(3, 17), torch.randint(0, 5, (2, 7))

    def setslice(x):
        y = x.clone()
        y[:, 1, ::2, 3:-1] = 0
        return y

    return {
        "lstm": (nn.LSTM(12, 5, 2, bidirectional=True, batch_first=True), S),
        "gru": (nn.GRU(12, 5, batch_first=True), S),
        "rnn": (nn.RNN(12, 5, nonlinearity="relu", batch_first=True), S),
        "lstm_cell": (nn.LSTMCell(84, 5), S.flatten(1)),
        "grid_reflection": (lambda x, g: F.grid_sample(x, g, padding_mode="reflection", mode="bicubic",
            align_corners=False), X, R(2, 6, 7, 2)),
        "encoder": (nn.TransformerEncoder(nn.TransformerEncoderLayer(12, 3, 20, batch_first=True), 2,
            enable_nested_tensor=False).eval(), S),
        "encoder_norm_first": (nn.TransformerEncoderLayer(12, 3, 20, batch_first=True, norm_first=True,
            activation="gelu").eval(), S),
        "decoder": (nn.TransformerDecoderLayer(12, 3, 20, batch_first=True).eval(), S, R(2, 5, 12)),
        "mha_weights": (nn.MultiheadAttention(12, 3, batch_first=True).eval(), S, S, S),
        "sdpa_causal": (lambda q: F.scaled_dot_product_attention(q, q, q, is_causal=True), R(2, 3, 7, 8)),
        "sdpa_mask": (lambda q, m: F.scaled_dot_product_attention(q, q, q, attn_mask=m > 0), R(2, 3, 7, 8),
            torch.ones(7, 7).tril()),
        "convT2": (nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1, groups=2, dilation=1), X),
        "convT1": (nn.ConvTranspose1d(7, 5, 4, 3, 1, dilation=2), S),
        "conv3d": (nn.Conv3d(2, 3, (2, 3, 3), padding=(0, 1, 1)), R(1, 2, 5, 6, 7)),
        "conv_reflect": (nn.Conv2d(4, 5, 3, padding=2, padding_mode="reflect"), X),
        "conv_circular": (nn.Conv2d(4, 5, 3, padding=1, padding_mode="circular"), X),
        "conv_same": (nn.Conv2d(4, 5, 4, padding="same", dilation=2), X),
        "interp_bilinear": (lambda x: F.interpolate(x, size=(15, 20), mode="bilinear", align_corners=False), X),
        "interp_corners": (lambda x: F.interpolate(x, size=(15, 20), mode="bilinear", align_corners=True), X),
        "interp_bicubic": (lambda x: F.interpolate(x, scale_factor=1.7, mode="bicubic"), X),
        "interp_nearest": (lambda x: F.interpolate(x, scale_factor=(2.5, 0.5)), X),
        "interp_nexact": (lambda x: F.interpolate(x, size=(13, 7), mode="nearest-exact"), X),
        "interp_aa": (lambda x: F.interpolate(x, size=(5, 7), mode="bilinear", antialias=True), X),
        "interp_1d": (lambda x: F.interpolate(x, scale_factor=1.5, mode="linear"), S),
        "interp_3d": (lambda x: F.interpolate(x, size=(4, 5, 8), mode="trilinear"), R(1, 2, 3, 4, 5)),
        "grid_sample": (lambda x, g: F.grid_sample(x, g.tanh(), align_corners=False), X, R(2, 6, 7, 2)),
        "grid_border": (lambda x, g: F.grid_sample(x, g, padding_mode="border", mode="bicubic", align_corners=True),
            X, R(2, 6, 7, 2)),
        "affine_grid": (lambda x, t: F.grid_sample(x, F.affine_grid(t, [2, 4, 5, 6], align_corners=False),
            align_corners=False), X, R(2, 2, 3)),
        "pixel": (lambda x: F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), X),
        "adaptive_avg": (lambda x: F.adaptive_avg_pool2d(x, (3, 11)), X),
        "adaptive_max": (lambda x: F.adaptive_max_pool2d(x, 1), X),
        "maxpool_idx": (lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True), X),
        "unpool": (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), R(1, 2, 6, 8)),
        "avg_ceil": (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=True), X),
        "avg_nopad": (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False), X),
        "max_ceil_dil": (lambda x: F.max_pool2d(x, 2, 2, 1, dilation=2, ceil_mode=True), X),
        "lp_pool": (lambda x: F.lp_pool2d(x.abs(), 2.0, 3), X),
        "unfold": (lambda x: F.unfold(x, 3, padding=1, stride=2), X),
        "fold": (lambda x: F.fold(x, (8, 10), 3, padding=1), R(2, 4 * 9, 80)),
        "groupnorm": (nn.GroupNorm(2, 4), X),
        "instnorm": (nn.InstanceNorm2d(4, affine=True), X),
        "layernorm": (nn.LayerNorm([9, 11]), X),
        "rmsnorm": (nn.RMSNorm(12), S),
        "lrn": (nn.LocalResponseNorm(3), X),
        "bn1d": (nn.BatchNorm1d(7).eval(), S),
        "weightnorm": (nn.utils.parametrizations.weight_norm(nn.Linear(12, 5)), S),
        "gelu_tanh": (lambda x: F.gelu(x, approximate="tanh"), X),
        "glu": (lambda x: F.glu(x, 1), X),
        "prelu": (nn.PReLU(4), X),
        "softmax_dims": (lambda x: F.softmax(x, 1) + F.log_softmax(x, 2), X),
        "gumbel_argmax": (lambda x: F.one_hot(x.argmax(-1), 11).float(), X),
        "cumsum": (lambda x: x.cumsum(1) + x.flip(1).cumsum(-1), X),
        "cumprod": (lambda x: x.cumprod(1), X),
        "topk": (lambda x: x.topk(3, dim=1), V),
        "sort": (lambda x: x.sort(dim=-1, descending=True), V),
        "argsort": (lambda x: x.argsort(-1), V),
        "kthvalue": (lambda x: x.kthvalue(2, dim=1)[0], V),
        "median": (lambda x: x.median(dim=1)[0], V),
        "max_dim": (lambda x: x.max(dim=2), X),
        "min_max": (lambda x: (x.amin((1, 2)), x.amax(3), x.min(), x.argmin()), X),
        "std_var": (lambda x: (x.std(dim=1), x.var(dim=(2, 3), unbiased=False), x.std()), X),
        "norms": (lambda x: (x.norm(), x.norm(dim=1, p=1), torch.linalg.vector_norm(x, ord=3, dim=2)), X),
        "logsumexp": (lambda x: x.logsumexp((1, 2)), X),
        "prod": (lambda x: x.prod(2), X),
        "anyall": (lambda x: ((x > 0).any(1), (x > -2).all(2), (x > 0).sum(1)), X),
        "gather": (lambda x, i: x.gather(1, i), V, torch.randint(0, 17, (3, 5))),
        "index_select": (lambda x: x.index_select(1, torch.tensor([2, 0, 3])), X),
        "fancy": (lambda x, i: x[:, i], X, torch.tensor([3, -1, 0])),
        "fancy2": (lambda x, i: x[torch.arange(2), i[:, 0] % 4], X, I),
        "mask_fill": (lambda x: x.masked_fill(x > 0.5, -1000000000.0), X),
        "scatter": (lambda x, i: torch.zeros(3, 17).scatter(1, i, x), R(3, 5),
            torch.stack([torch.randperm(17)[:5] for _ in range(3)])),
        "scatter_add": (lambda x, i: torch.zeros(3, 17).scatter_add(1, i, x), R(3, 5), torch.randint(0, 17, (3, 5))),
        "scatter_reduce": (lambda x, i: torch.zeros(3, 17).scatter_reduce(1, i, x, "amax"), R(3, 5), torch.randint(0,
            17, (3, 5))),
        "index_put": (lambda x, i, v: x.index_put((i,), v), V.clone(), torch.tensor([2, 0]), R(2, 17)),
        "slice_set": (lambda x: torch.cat([x[:, :2] * 2, x[:, 2:]], 1), X),
        "setslice": (setslice, X),
        "roll": (lambda x: torch.roll(x, (2, -3), (2, 3)), X),
        "flip": (lambda x: x.flip((1, 3)), X),
        "tile_repeat": (lambda x: x.tile((1, 2, 1, 1)).repeat_interleave(2, 3), X),
        "expand": (lambda x: x[:, :1].expand(-1, 4, -1, -1) + x, X),
        "meshgrid": (lambda x: sum(torch.meshgrid(x[0], x[1], indexing="ij")), V),
        "tril": (lambda x: x.tril(-1) + x.triu(2), V),
        "diag": (lambda x: torch.diagonal(x, 1, 2, 3), X),
        "diag_embed": (lambda x: torch.diag_embed(x), V),
        "trace_outer": (lambda x: torch.outer(x[0], x[1]), V),
        "einsum": (lambda x: torch.einsum("bchw,bdhw->bcdh", x, x), X),
        "einsum2": (lambda a, b: torch.einsum("bij,bkj->bik", a, b), S, S),
        "einsum_dots": (lambda a, b: torch.einsum("...ij,...jk->...ik", a, b), R(2, 3, 4, 5), R(3, 5, 6)),
        "baddbmm": (lambda a: torch.baddbmm(a[:, :, :7], a, a.transpose(1, 2), beta=0.5, alpha=2), S),
        "addmm": (lambda x: torch.addmm(x[:, :3], x, x.T, beta=2.0), V),
        "bilinear": (nn.Bilinear(12, 12, 3), S, S),
        "cdist": (lambda a, b: torch.cdist(a, b), R(4, 5), R(6, 5)),
        "cosine": (lambda a, b: F.cosine_similarity(a, b, -1), S, S),
        "pairwise": (lambda a, b: F.pairwise_distance(a, b), V, V + 1),
        "normalize": (lambda x: F.normalize(x, dim=1), X),
        "embedding": (nn.Embedding(5, 8), I),
        "embeddingbag": (nn.EmbeddingBag(5, 8, mode="mean"), I),
        "pad_modes": (lambda x: (F.pad(x, (1, 2, -1, 3)), F.pad(x, (1, 2, 2, 1), "replicate"), F.pad(x, (3, 1, 2, 0),
            "reflect"), F.pad(x, (1, 2), value=2.5)), X),
        "where_clamp": (lambda x: torch.where(x > 0, x.clamp(max=0.5), x.clamp(-1, 0)), X),
        "rounding": (lambda x: (x.round(), x.floor(), x.ceil(), x.trunc(), x.frac(), x.sign()), X * 3),
        "round_dec": (lambda x: x.round(decimals=2), X),
        "intdiv": (lambda i: (i // 3, i % 3, torch.div(i - 3, 2, rounding_mode="trunc"), torch.fmod(i - 3, 2)), I),
        "bits": (lambda i: (i & 3, i | 8, i ^ 5, i << 2, i >> 1, ~i), I),
        "trig": (lambda x: (x.sin(), x.cos(), x.tan(), x.tanh().asin(), x.tanh().acos(), x.atan(), x.sinh(), x.cosh(),
            x.asinh(), (x.abs() + 1.01).acosh(), (x * 0.1).tanh().atanh(), torch.atan2(x, x.flip(0))), X),
        "exps": (lambda x: (x.exp(), x.expm1(), x.abs().log1p(), (x.abs() + 1).log2(), x.exp2(), x.erf(), x.erfc(),
            x.sigmoid(), (x.abs() + 0.1).rsqrt(), x.abs().pow(1.7), (x.abs() + 0.1) ** (-2), 2 ** x, x.reciprocal()),
            X),
        "logit": (lambda x: torch.logit(x.sigmoid()), X),
        "xlogy": (lambda x: torch.xlogy(x.abs(), x.abs() + 1), X),
        "lerp": (lambda a, b: torch.lerp(a, b, 0.3), V, V + 1),
        "addcmul": (lambda a: torch.addcmul(a, a, a, value=0.3) + torch.addcdiv(a, a, a.abs() + 1), V),
        "bucketize": (lambda x: torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])), V),
        "searchsorted": (lambda x: torch.searchsorted(torch.tensor([-1.0, 0.0, 1.0]), x, right=True), V),
        "unbind_stack": (lambda x: torch.stack(x.unbind(1)[::-1], -1), X),
        "chunk_split": (lambda x: (x.chunk(3, 3)[1], x.split([1, 3], 1)[1]), X),
        "movedim": (lambda x: x.movedim(1, -1).flatten(1, 2).unflatten(1, (3, 33)), X),
        "channel_shuffle": (lambda x: F.channel_shuffle(x, 2), X),
        "unfold_t": (lambda x: x.unfold(2, 3, 2), X),
        "as_strided": (lambda x: torch.as_strided(x, (3, 5), (17, 3)), V),
        "view_dyn": (lambda x: x.view(x.size(0), -1, x.shape[3] * 3), X),
        "arange": (lambda x: x + torch.arange(x.shape[-1], dtype=x.dtype), X),
        "linspace": (lambda x: x * torch.linspace(0, 1, x.shape[-1]), X),
        "full_like": (lambda x: torch.full_like(x,
            3) + torch.ones(x.shape[1:]) + torch.zeros_like(x) + torch.eye(11)[:9], X),
        "stft": (lambda x: torch.view_as_real(torch.stft(x, 16, 4, window=torch.hann_window(16),
            return_complex=True)), R(2, 64)),
        "rfft": (lambda x: torch.fft.rfft(x).abs(), R(2, 16)),
        "fft2": (lambda x: torch.view_as_real(torch.fft.fft2(x)), R(2, 8, 6)),
        "irfft": (lambda x: torch.fft.irfft(torch.fft.rfft(x) * 2, n=16), R(2, 16)),
        "bce": (lambda x, t: F.binary_cross_entropy_with_logits(x, t), V, V.sigmoid()),
        "ce": (lambda x, t: F.cross_entropy(x, t, label_smoothing=0.1), R(4, 5), torch.tensor([0, 3, 2, 1])),
        "nll": (lambda x, t: F.nll_loss(F.log_softmax(x, 1), t, reduction="none"), R(4, 5), torch.tensor([0, 3, 2, 1])),
        "losses": (lambda a, b: (F.mse_loss(a, b), F.l1_loss(a, b), F.smooth_l1_loss(a, b), F.huber_loss(a, b),
            F.kl_div(a.log_softmax(1), b.softmax(1))), V, V.flip(0)),
        "double": (lambda x: x.double().exp().float(), V),
        "casts": (lambda x: ((x * 3).int(), (x * 3).to(torch.int8), x > 0, (x > 0).long(),
            x.to(torch.uint8) if False else x.bool()), V),
        "cummax": (lambda x: x.cummax(1)[0], V),
        "det": (lambda x: torch.linalg.det(x), R(2, 3, 3)),
        "inv": (lambda x: torch.linalg.inv(x + 3 * torch.eye(3)), R(2, 3, 3)),
        "matpow": (lambda x: torch.linalg.matrix_power(x, 3), R(2, 3, 3)),
        "kron": (lambda a: torch.kron(a[:, :2], a[:2]), V),
        "tensor_split": (lambda x: torch.tensor_split(x, 3, 1)[1], V),
        "hypot": (lambda a: torch.hypot(a, a + 1), V),
        "heaviside": (lambda a: torch.heaviside(a, a.new_ones(())), V),
        "dropout": (nn.Dropout(0.5).eval(), V),
        "alpha_do": (nn.AlphaDropout(0.5).eval(), V),
        "maxmin2": (lambda a: torch.maximum(a, a.flip(0)) - torch.minimum(a, torch.zeros_like(a)), V),
        "count": (lambda a: torch.count_nonzero(a, 1), V),
        "aminmax": (lambda a: torch.aminmax(a, dim=1), V),
        "bincount_like": (lambda i: F.one_hot(i, 5).sum(1), I),
        "take_along": (lambda a, i: torch.take_along_dim(a, i, 1), V, torch.randint(0, 17, (3, 5))),
        "take": (lambda a: a.take(torch.tensor([0, 5, 20])), V),
        "renorm": (lambda a: torch.renorm(a, 2, 0, 1.0), V),
        "quantile_like": (lambda a: a.sort(1)[0][:, 8], V),
        "polar": (lambda a: torch.view_as_real(torch.polar(a.abs(), a)), V),
        "complexmul": (lambda a: torch.view_as_real(torch.view_as_complex(a) * torch.view_as_complex(a.flip(0))), R(3,
            4, 2)),
    }


def network(name):
    """(module, {name: tensor}); the module's results are one flat tuple, or one tensor."""
    import torch
    function, *given = table()[name]

    def flat(y):
        return [t for part in y for t in flat(part)] if isinstance(y, (list, tuple)) else [y]

    class Function(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = function

        def forward(self, *tensors):
            y = flat(self.inner(*tensors))
            return y[0] if len(y) == 1 else tuple(y)

    return Function(), {f"x{k}": t for k, t in enumerate(given)}
