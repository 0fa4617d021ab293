#!/usr/bin/env python3
"""operators.py [OPTIONS]: every operator alone, untuned, beside ONNX Runtime.

    bench/operators.py --only='Resize|TopK'

Writes a model of one operator for each row of the table below, with sizes that networks have, compiles it without any
database and times both sides in turns; the least time of each counts.  Rows come out by the ratio of dlc's time to ONNX
Runtime's, the worst first, and say where results differ.  ONNX Runtime writes into tensors that it gets, as dlc does:
it allocates nothing in a run.  Where it lacks an operator, or computes nothing (constants), the row says so."""
import argparse
import math
import os
import re
import sys
import time

import rival

OPSET = 23
OLDER = {"RoiAlign": 16, "GlobalLpPool": 2}
IMAGE, ROWS, FEW = (1, 64, 56, 56), (1, 128, 768), (1, 16, 64, 64)
UNARY = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor Gelu HardSigmoid HardSwish
    LeakyRelu Log Mish Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh
    ThresholdedRelu Hardmax Softmax LogSoftmax GlobalAveragePool GlobalMaxPool GlobalLpPool MeanVarianceNormalization
    LpNormalization Shrink Clip IsNaN IsInf Identity Dropout""".split()
BINARY = "Add Sub Mul Div Pow Max Min Mean Sum PRelu Equal Greater GreaterOrEqual Less LessOrEqual".split()
REDUCE = "L1 L2 LogSum LogSumExp Max Mean Min Prod Sum SumSquare".split()


def parse():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--build", default=rival.ROOT + "/build", metavar="DIR", help="where the programs are")
    a.add_argument("--only", default="", metavar="REGEX", help="rows whose name it matches")
    a.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each side (default 5)")
    a.add_argument("--seconds", type=float, default=0.05, metavar="S", help="of each turn (default 0.05)")
    a.add_argument("--threads", type=int, default=1, metavar="N", help="(default 1)")
    return a.parse_args()


class Table:
    """Rows (name, operator, inputs, attributes, outputs).  An input is the shape of random floats, an array that is
    fed, a list that holds a constant array, or None for one that is left out."""

    def __init__(self):
        import numpy
        self.np, self.rng, self.rows = numpy, numpy.random.default_rng(1), []
        self.elementwise()
        self.windows()
        self.products()
        self.rows_of_numbers()
        self.moves()
        self.gathers()
        self.vision()
        self.recurrent()
        self.quantised()

    def add(self, op, *inputs, what="", outputs=1, **attributes):
        self.rows.append((f"{op} {what}".strip(), op, inputs, attributes, outputs))

    def real(self, *shape):
        return self.rng.standard_normal(shape, dtype=self.np.float32)

    def whole(self, low, high, shape, kind="int64"):
        return self.rng.integers(low, high, shape).astype(kind)

    def ints(self, *values):
        return [self.np.array(values, self.np.int64)]

    def elementwise(self):
        for op in UNARY:
            x = self.real(*IMAGE)
            above = op in ("Acosh", "Log", "Sqrt")
            self.add(op, abs(x) + 1 if above else self.np.tanh(x) if op[0] == "A" else x)
        for op in BINARY:
            self.add(op, abs(self.real(*IMAGE)), IMAGE)
            self.add(op, abs(self.real(*IMAGE)), (64, 1, 1), what="channel")
        self.add("Pow", abs(self.real(*IMAGE)), [self.np.float32(3)], what="3")
        for op in ("BitwiseAnd", "BitwiseOr", "BitwiseXor", "Mod", "Div"):
            self.add(op, self.whole(1, 99, IMAGE), self.whole(1, 99, IMAGE), what="" if op[0] == "B" else "i64")
        self.add("BitwiseNot", self.whole(1, 99, IMAGE, "int32"))
        for op in ("And", "Or", "Xor"):
            self.add(op, self.whole(0, 2, IMAGE, "bool"), self.whole(0, 2, IMAGE, "bool"))
        self.add("Not", self.whole(0, 2, IMAGE, "bool"))
        self.add("BitShift", self.whole(1, 99, IMAGE, "uint32"), self.whole(1, 9, IMAGE, "uint32"), direction="LEFT")
        self.add("Where", self.whole(0, 2, IMAGE, "bool"), IMAGE, IMAGE)
        self.add("Mod", IMAGE, abs(self.real(*IMAGE)) + 1, what="float", fmod=1)
        for a, to, b in (("float32", 7, "i64"), ("float32", 10, "f16"), ("float32", 2, "u8"), ("int64", 1, "f32"),
                         ("float16", 1, "f32"), ("uint8", 1, "f32"), ("float32", 9, "bool"), ("float32", 16, "bf16")):
            x = self.whole(1, 99, IMAGE).astype(a)
            self.add("Cast", x, what=f"{a} {b}", to=to)

    def windows(self):
        k3 = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4}
        for c, m, k, group, edge, stride in ((3, 64, 7, 1, 224, 2), (64, 64, 3, 1, 56, 1), (64, 256, 1, 1, 56, 1),
                                             (128, 128, 3, 32, 28, 1), (144, 144, 3, 144, 56, 1),
                                             (96, 96, 7, 96, 56, 1), (144, 144, 3, 144, 56, 2),
                                             (256, 256, 3, 256, 28, 2), (240, 240, 5, 240, 28, 2)):
            self.add("Conv", (1, c, edge, edge), [self.real(m, c // group, k, k)], [self.real(m)],
                     what=f"{c}>{m} {k}x{k}/{stride} groups {group}", group=group, pads=[k // 2] * 4,
                     strides=[stride] * 2)
        self.add("Conv", (1, 64, 56, 56), [self.real(64, 64, 3, 3)], what="dilated", dilations=[2, 2], pads=[2] * 4)
        self.add("Conv", (1, 80, 300), [self.real(256, 80, 5)], what="1d", pads=[2, 2])
        self.add("Conv", (1, 512, 500), [self.real(512, 1, 31)], what="1d depthwise", group=512, pads=[15, 15])
        self.add("Conv", (1, 16, 16, 28, 28), [self.real(32, 16, 3, 3, 3)], what="3d", pads=[1] * 6)
        for c, m, k, group, stride, p in ((64, 32, 4, 1, 2, 1), (64, 32, 2, 1, 2, 0), (64, 64, 4, 64, 2, 1),
                                          (64, 64, 3, 4, 1, 1), (64, 32, 3, 1, 2, 1)):
            self.add("ConvTranspose", (1, c, 28, 28), [self.real(c, m // group, k, k)], [self.real(m)],
                     what=f"{c}>{m} {k}x{k}/{stride} groups {group}", group=group, strides=[stride] * 2, pads=[p] * 4)
        self.add("ConvTranspose", (1, 64, 200), [self.real(64, 32, 16)], what="1d", strides=[8], pads=[4, 4])
        self.add("DeformConv", (1, 64, 28, 28), [self.real(64, 64, 3, 3)], (1, 18, 28, 28), [self.real(64)],
                 self.real(1, 9, 28, 28), pads=[1] * 4, kernel_shape=[3, 3])
        for op in ("MaxPool", "AveragePool", "LpPool"):
            self.add(op, (1, 64, 112, 112), **k3)
        self.add("MaxPool", (1, 64, 112, 112), what="indices", outputs=2, **k3)
        self.add("MaxPool", (1, 16, 16, 56, 56), what="3d", kernel_shape=[2] * 3, strides=[2] * 3)
        for op in ("MaxPool", "AveragePool"):
            self.add(op, (1, 64, 112, 112), what="2x2", kernel_shape=[2, 2], strides=[2, 2])
            self.add(op, (1, 192, 28, 28), what="3x3/1", kernel_shape=[3, 3], pads=[1] * 4)
        self.add("AveragePool", (1, 64, 28, 28), what="5x5", kernel_shape=[5, 5], pads=[2] * 4, count_include_pad=1)
        places = self.np.arange(64 * 28 * 28).reshape(1, 64, 28, 28)
        at = (places // 784) * 3136 + (places % 784) // 28 * 112 + places % 28 * 2
        self.add("MaxUnpool", (1, 64, 28, 28), at, kernel_shape=[2, 2], strides=[2, 2])
        self.add("LRN", (1, 64, 55, 55), size=5)
        self.add("Col2Im", (1, 64 * 9, 784), self.ints(28, 28), self.ints(3, 3), pads=[1] * 4)
        self.add("Col2Im", (1, 64 * 4, 784), self.ints(56, 56), self.ints(2, 2), what="patches", strides=[2, 2])
        self.add("CausalConvWithState", (1, 512, 128), [self.real(512, 1, 4)], outputs=2)

    def products(self):
        self.add("Gemm", (128, 768), [self.real(768, 768)], [self.real(768)])
        self.add("Gemm", (1, 2048), [self.real(2048, 1000)], what="vector")
        self.add("MatMul", (128, 768), [self.real(768, 3072)], what="weights")
        self.add("MatMul", (12, 128, 64), (12, 64, 128), what="batched")
        self.add("MatMul", (12, 1, 64), (12, 64, 128), what="one row")
        for eq, a, b in (("bhqd,bhkd->bhqk", (1, 12, 128, 64), (1, 12, 128, 64)), ("ij,kj->ik", (128, 768), (128, 768)),
                         ("bnm,bm->bn", (8, 256, 256), (8, 256)), ("bqhd,bkhd->bhqk", (1, 128, 12, 64),
                                                                   (1, 128, 12, 64)),
                         ("bhwc,hkc->bhwk", (8, 14, 14, 64), (14, 14, 64)), ("i,j->ij", (1000,), (1000,))):
            self.add("Einsum", a, b, what=eq, equation=eq)
        self.add("Einsum", (64, 64, 64), what="bii->bi", equation="bii->bi")
        self.add("Det", (64, 4, 4), what="4")
        self.add("Det", (8, 32, 32), what="32")
        self.add("Det", (1000, 3, 3), what="3")
        self.add("Attention", (1, 12, 128, 64), (1, 12, 128, 64), (1, 12, 128, 64))
        self.add("LinearAttention", (1, 128, 512), (1, 128, 512), (1, 128, 512), q_num_heads=8, kv_num_heads=8,
                 update_rule="linear", outputs=2)
        self.add("RotaryEmbedding", (1, 12, 128, 64), self.real(512, 32), self.real(512, 32),
                 self.np.arange(128).reshape(1, 128))

    def rows_of_numbers(self):
        for axis in (1, 2, -1):
            self.add("Softmax", IMAGE, what=f"axis {axis}", axis=axis)
            self.add("LogSoftmax", IMAGE, what=f"axis {axis}", axis=axis)
            self.add("ArgMax", IMAGE, what=f"axis {axis}", axis=axis)
            self.add("ArgMin", IMAGE, what=f"axis {axis} last", axis=axis, select_last_index=1)
            self.add("CumSum", IMAGE, [self.np.int64(axis)], what=f"axis {axis}")
            self.add("CumProd", IMAGE, [self.np.int64(axis)], what=f"axis {axis}")
            self.add("TopK", IMAGE, self.ints(5), what=f"axis {axis}", axis=axis, outputs=2)
            self.add("LpNormalization", IMAGE, what=f"axis {axis}", axis=axis)
        self.add("CumSum", (16, 1000), [self.np.int64(1)], what="rows")
        self.add("CumSum", (16, 1000), [self.np.int64(1)], what="reverse", reverse=1, exclusive=1)
        self.add("TopK", (1, 1000), self.ints(5), what="classes", outputs=2)
        self.add("TopK", (1, 8400), self.ints(300), what="detections", outputs=2)
        self.add("TopK", (1, 50257), self.ints(50), what="vocabulary", outputs=2)
        self.add("TopK", (1, 300 * 80), self.ints(300), what="queries", outputs=2)
        self.add("ArgMax", (1, 50257), what="vocabulary", axis=-1)
        for r in REDUCE:
            for axes in ((1,), (2, 3), (-1,), (0, 1, 2, 3), (0, 2, 3)):
                self.add("Reduce" + r, abs(self.real(*IMAGE)) + 1, self.ints(*axes), what=f"{list(axes)}")
        self.add("LayerNormalization", ROWS, [self.real(768)], [self.real(768)])
        self.add("LayerNormalization", (1, 96, 56, 56), [self.real(96, 56, 56)], what="image", axis=1)
        self.add("RMSNormalization", ROWS, [self.real(768)])
        self.add("InstanceNormalization", IMAGE, [self.real(64)], [self.real(64)])
        self.add("GroupNormalization", IMAGE, [self.real(64)], [self.real(64)], num_groups=32)
        self.add("BatchNormalization", IMAGE, *([abs(self.real(64)) + 1] for _ in range(4)))
        x, labels = (64, 1000), self.whole(0, 1000, 64)
        self.add("SoftmaxCrossEntropyLoss", x, labels)
        self.add("NegativeLogLikelihoodLoss", x, labels)
        self.add("DFT", (1, 64, 512, 1), None, [self.np.int64(2)], what="512")
        self.add("DFT", (1, 64, 400, 1), None, [self.np.int64(2)], what="400 onesided", onesided=1)
        self.add("STFT", (1, 16000, 1), [self.np.int64(160)], [self.real(400)], [self.np.int64(400)])
        self.add("NonZero", [self.whole(0, 2, IMAGE).astype("float32")])
        self.add("Trilu", (12, 128, 128))

    def moves(self):
        for shape, perm in ((IMAGE, (0, 2, 3, 1)), ((1, 56, 56, 64), (0, 3, 1, 2)), ((1, 128, 12, 64), (0, 2, 1, 3)),
                            ((768, 768), (1, 0)), ((1, 64, 7, 8, 7, 8), (0, 2, 4, 3, 5, 1)),
                            ((1, 2, 116, 28, 28), (0, 2, 1, 3, 4)), ((1, 12, 128, 64), (0, 1, 3, 2))):
            self.add("Transpose", shape, what=f"{shape} {perm}".replace(" ", ""), perm=perm)
        self.add("Transpose", self.whole(0, 256, (1, 224, 224, 3), "uint8"), what="bytes of pixels", perm=(0, 3, 1, 2))
        self.add("Concat", IMAGE, IMAGE, what="channels", axis=1)
        self.add("Concat", IMAGE, IMAGE, what="last", axis=-1)
        self.add("Split", IMAGE, what="channels", axis=1, outputs=2, num_outputs=2)
        self.add("Split", IMAGE, what="last", axis=3, outputs=2, num_outputs=2)
        for what, starts, ends, axes, steps in (("crop", (3, 3), (50, 50), (2, 3), (1, 1)),
                                                ("every second", (0, 0), (56, 56), (2, 3), (2, 2)),
                                                ("reversed", (55,), (-99,), (3,), (-1,)),
                                                ("focus", (1,), (56,), (3,), (2,))):
            self.add("Slice", IMAGE, *map(lambda v: self.ints(*v), (starts, ends, axes, steps)), what=what)
        for mode in ("constant", "reflect", "edge", "wrap"):
            self.add("Pad", IMAGE, self.ints(0, 0, 3, 3, 0, 0, 3, 3), what=mode, mode=mode)
        self.add("Tile", IMAGE, self.ints(1, 1, 2, 2))
        self.add("Expand", (1, 64, 1, 1), self.ints(1, 64, 56, 56), what="pixels")
        self.add("Expand", (1, 4, 1, 128, 64), self.ints(1, 4, 3, 128, 64), what="heads")
        self.add("DepthToSpace", IMAGE, what="DCR", blocksize=2)
        self.add("DepthToSpace", IMAGE, what="CRD", blocksize=2, mode="CRD")
        self.add("SpaceToDepth", IMAGE, blocksize=2)
        self.add("CenterCropPad", IMAGE, self.ints(48, 64), axes=[2, 3])
        self.add("ReverseSequence", (64, 8, 256), self.whole(1, 65, 8), time_axis=0, batch_axis=1)
        self.add("Reshape", IMAGE, self.ints(64, 3136))
        self.add("Flatten", IMAGE)
        self.add("Compress", IMAGE, [self.whole(0, 2, 64, "bool")], axis=1)
        self.add("EyeLike", (256, 256))

    def gathers(self):
        self.add("Gather", [self.real(30522, 768)], self.whole(0, 30522, (1, 128)), what="words")
        self.add("Gather", IMAGE, self.whole(0, 56, 56), what="columns", axis=3)
        self.add("Gather", IMAGE, self.whole(0, 64, 32), what="channels", axis=1)
        self.add("GatherElements", IMAGE, self.whole(0, 56, IMAGE), axis=3)
        self.add("GatherElements", (8, 196, 768), self.whole(0, 196, (8, 49, 768)), what="patches", axis=1)
        self.add("GatherND", (56, 56, 64), self.whole(0, 56, (3000, 2)), what="pixels")
        self.add("GatherND", (64, 56, 56), self.whole(0, 56, (10000, 3)), what="points")
        self.add("ScatterElements", IMAGE, self.whole(0, 56, (1, 64, 56, 8)), (1, 64, 56, 8), axis=3)
        self.add("ScatterElements", IMAGE, self.whole(0, 64, IMAGE), IMAGE, what="add axis 1", axis=1, reduction="add")
        self.add("ScatterND", (56, 56, 64), self.whole(0, 56, (3000, 2)), (3000, 64), what="pixels")
        self.add("ScatterND", (64, 56, 56), self.whole(0, 56, (10000, 3)), (10000,), what="points")
        self.add("TensorScatter", (1, 8, 512, 64), (1, 8, 1, 64), self.whole(5, 6, 1), axis=2)
        self.add("OneHot", self.whole(0, 1000, 128), [self.np.int64(1000)], [self.np.array([0, 1], "float32")])
        self.add("OneHot", self.whole(0, 19, (1, 128, 128)), [self.np.int64(19)], [self.np.array([0, 1], "float32")],
                 what="masks", axis=1)
        self.add("ai.onnx.ml::ArrayFeatureExtractor", (64, 512), self.whole(0, 512, (1, 100)))

    def vision(self):
        for mode in ("nearest", "linear", "cubic"):
            for what, scale in (("2x", 2), ("0.5x", 0.5), ("1.7x", 1.7)):
                self.add("Resize", IMAGE, None, [self.np.array([1, 1, scale, scale], "float32")],
                         what=f"{mode} {what}", mode=mode)
        self.add("Resize", (1, 16, 28, 28), None, None, self.ints(1, 16, 224, 224), what="linear 8x aligned",
                 mode="linear", coordinate_transformation_mode="align_corners")
        self.add("Resize", (1, 3, 480, 640), None, None, self.ints(1, 3, 224, 224), what="linear antialias",
                 mode="linear", antialias=1)
        self.add("Resize", (1, 56, 56, 64), None, [self.np.array([1, 2, 2, 1], "float32")], what="linear NHWC",
                 mode="linear")
        grid = self.rng.uniform(-1.1, 1.1, (1, 64, 64, 2)).astype("float32")
        for mode in ("linear", "nearest", "cubic"):
            for pad in ("zeros", "border", "reflection"):
                self.add("GridSample", FEW, grid, what=f"{mode} {pad}", mode=mode, padding_mode=pad)
        self.add("AffineGrid", self.real(1, 2, 3), self.ints(1, 3, 224, 224))
        box = self.np.sort(self.rng.uniform(0, 200, (50, 2, 2)), axis=1).reshape(50, 4).astype("float32")
        for mode in ("avg", "max"):
            self.add("RoiAlign", (1, 64, 56, 56), box, self.np.zeros(50, "int64"), what=mode, mode=mode,
                     output_height=7, output_width=7, sampling_ratio=2, spatial_scale=0.25)

    def recurrent(self):
        r = self.real
        for op, g in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
            self.add(op, (50, 1, 128), [r(1, g * 256, 128) / 16], [r(1, g * 256, 256) / 16], [r(1, 2 * g * 256)],
                     hidden_size=256)
            self.add(op, (50, 8, 128), [r(2, g * 128, 128) / 16], [r(2, g * 128, 128) / 16], [r(2, 2 * g * 128)],
                     what="both ways batch 8", hidden_size=128, direction="bidirectional")

    def quantised(self):
        scale, zero, one = [self.np.float32(0.02)], [self.np.uint8(128)], [self.np.int8(0)]
        u8, i8 = self.whole(0, 256, IMAGE, "uint8"), [self.whole(-99, 99, (64, 64, 3, 3), "int8")]
        rows, weights = self.whole(0, 256, (128, 768), "uint8"), [self.whole(-99, 99, (768, 768), "int8")]
        per = [abs(self.real(64)) + 0.01]
        self.add("QuantizeLinear", IMAGE, scale, zero)
        self.add("QuantizeLinear", IMAGE, per, [self.np.zeros(64, "int8")], what="channels", axis=1)
        self.add("DequantizeLinear", u8, scale, zero)
        self.add("DequantizeLinear", u8, per, [self.np.zeros(64, "uint8")], what="channels", axis=1)
        self.add("DynamicQuantizeLinear", IMAGE, outputs=3)
        self.add("QLinearConv", u8, scale, zero, i8, scale, one, scale, zero, pads=[1] * 4)
        self.add("ConvInteger", u8, i8, zero, pads=[1] * 4)
        self.add("QLinearMatMul", rows, scale, zero, weights, scale, one, scale, zero)
        self.add("MatMulInteger", rows, weights, zero)


def write(row, number, folder):
    """The path of the file and what is fed, {name: array}."""
    import numpy
    import onnx
    name, op, inputs, attributes, outputs = row
    rng, feed, weights, words = numpy.random.default_rng(number), {}, [], []
    for k, x in enumerate(inputs):
        words.append(f"x{k}" if x is not None else "")
        if isinstance(x, list):
            weights.append(onnx.numpy_helper.from_array(numpy.asarray(x[0]), words[-1]))
        elif x is not None:
            feed[words[-1]] = rng.standard_normal(x, dtype=numpy.float32) if isinstance(x, tuple) else x
    *domain, op = op.split("::")
    names = [f"y{k}" for k in range(outputs)]
    node = onnx.helper.make_node(op, words, names, domain=domain[0] if domain else None, **attributes)
    kinds = [onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(a.dtype), a.shape)
             for n, a in feed.items()]
    graph = onnx.helper.make_graph([node], "one", kinds, [onnx.helper.make_empty_tensor_value_info(n) for n in names],
                                   weights)
    opsets = [onnx.helper.make_opsetid("", opset_of(op)), onnx.helper.make_opsetid("ai.onnx.ml", 3)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=10)
    if op != "CausalConvWithState":
        model = onnx.shape_inference.infer_shapes(model)
    path = os.path.join(folder, f"operator{number}.onnx")
    onnx.save(model, path)
    return path, feed


def opset_of(op):
    """The newest but for what ONNX Runtime lacks in that; an operator that came later has its own."""
    import onnx
    if op in OLDER:
        return OLDER[op]
    newest = onnx.defs.onnx_opset_version()
    return next((v for v in range(OPSET, newest + 1) if onnx.defs.has(op, v, "")), OPSET)


class Rival:
    """ONNX Runtime with inputs and outputs in place."""

    def __init__(self, path, feed, threads):
        import onnxruntime
        self.session = rival.session(path, threads)
        self.names = [x.name for x in self.session.get_outputs()]
        self.want = dict(zip(self.names, self.session.run(None, feed)))
        self.binding = self.session.io_binding()
        for n, a in feed.items():
            self.binding.bind_ortvalue_input(n, onnxruntime.OrtValue.ortvalue_from_numpy(a))
        for n in self.names:
            self.binding.bind_ortvalue_output(n, onnxruntime.OrtValue.ortvalue_from_numpy(self.want[n]))

    def least_ms(self, seconds):
        least, end = math.inf, time.perf_counter() + seconds
        while time.perf_counter() < end:
            t = time.perf_counter()
            self.session.run_with_iobinding(self.binding)
            least = min(least, time.perf_counter() - t)
        return least * 1e3


def measure(dlc, path, feed, o, folder):
    """(dlc's ms, ONNX Runtime's ms or None, a remark)"""
    import numpy
    words, bundle = [], os.path.join(folder, "operator.dlcb")
    for n, a in feed.items():
        numpy.save(os.path.join(folder, n + ".npy"), a)
        words.append(f"--input={n}={os.path.join(folder, n + '.npy')}")
    dlc.call("dlc-compile", path, f"--threads={o.threads}", "--tuning-db=none", "--output=" + bundle)
    bench = [bundle, *words, "--bench", f"--seconds={o.seconds}"]
    try:
        other, remark = Rival(path, feed, o.threads), ""
    except Exception as e:  # what it lacks, and models that it refuses
        return dlc.json("dlc-run", *bench)["min_ms"], None, "ONNX Runtime: " + " ".join(str(e).split())[:80]
    try:
        got = rival.run_bundle(dlc, bundle, words, folder)
        gap = rival.gap({n: got[n].astype(numpy.float64) for n in other.want}, other.want)
        remark = f"differs by {gap:.1e}" if not gap <= 1e-3 else ""
    except (RuntimeError, KeyError, TypeError) as e:
        remark = " ".join(str(e).split())[:80]
    ours = theirs = math.inf
    for _ in range(o.rounds):
        ours = min(ours, dlc.json("dlc-run", *bench)["min_ms"])
        theirs = min(theirs, other.least_ms(o.seconds))
    return ours, theirs, remark


def main():
    o = parse()
    rival.enter()
    why = rival.install("onnx")
    if why:
        rival.give_up(3, f"onnx cannot be installed from PyPI ({why})")
    rows, lines, refused = [r for r in Table().rows if re.search(o.only, r[0])], [], []
    with rival.folder() as folder:
        dlc = rival.Dlc(o.build, {"XDG_CACHE_HOME": folder + "/cache", "DLC_TUNING_DB": "none"})
        for number, row in enumerate(rows):
            try:
                ours, theirs, remark = measure(dlc, *write(row, number, folder), o, folder)
            except Exception as e:
                refused.append(f"{row[0]:44} {' '.join(str(e).split())[:200]}")
                continue
            ratio = ours / theirs if theirs else math.nan
            lines.append((-ratio if theirs else 0, f"{row[0]:44} dlc {ours:9.4f} ms, ONNX Runtime "
                          f"{theirs or math.nan:9.4f} ms, ratio {ratio:6.2f}  {remark}".rstrip()))
            sys.stderr.write(f"{number + 1}/{len(rows)} {lines[-1][1]}\n")
    for _, line in sorted(lines):
        print(line)
    for line in refused:
        print(line)
    known = [-r for r, _ in lines if r]
    if known:
        mean = math.exp(sum(map(math.log, known)) / len(known))
        print(f"{len(known)} rows: dlc / ONNX Runtime {mean:.3f} (geometric mean), {sum(r > 1.3 for r in known)} above "
              f"1.3; {len(refused)} failed")


main()
