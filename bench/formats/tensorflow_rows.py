#!/usr/bin/env python3
"""Each operator that dlc imports from TensorFlow, on random inputs, against TensorFlow itself.

    python3 bench/formats/tensorflow_rows.py DLC [PATTERN]

DLC is the program; with PATTERN only cases whose names match run. Needs tensorflow (checked with 2.21.0). A case is a
function of its inputs; its graph is written as a GraphDef and run by `dlc run`. Prints what differs by more than 1e-4
of the largest element, what is refused, and which rows of src/frontend/tensorflow no case has.
"""
import glob, os, re, subprocess, sys, tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import tensorflow as tf

R = tf.raw_ops
rng = np.random.default_rng(7)


def f(*shape, lo=-2.0, hi=2.0):
    return rng.uniform(lo, hi, shape).astype(np.float32)


def i(*shape, lo=0, hi=5, t=np.int32):
    return rng.integers(lo, hi, shape).astype(t)


def b(*shape):
    return rng.integers(0, 2, shape).astype(bool)


cases = []


def case(name, fn, *inputs):
    cases.append((name, fn, inputs))


for op in ("Abs Neg Exp Expm1 Square Erf Erfc Sin Cos Tan Atan Sinh Cosh Asinh Sign Floor Ceil Round Rint ZerosLike "
           "OnesLike").split():
    case(op, lambda x, op=op: getattr(R, op)(x=x), f(3, 5))
for op in "Log Log1p Sqrt Rsqrt Reciprocal Inv".split():
    case(op, lambda x, op=op: getattr(R, op)(x=x), f(3, 5, lo=0.1, hi=3))
for op in "Asin Acos Atanh".split():
    case(op, lambda x, op=op: getattr(R, op)(x=x), f(3, 5, lo=-0.9, hi=0.9))
case("Acosh", lambda x: R.Acosh(x=x), f(3, 5, lo=1.1, hi=3))
for op in ("Add AddV2 Sub Mul Div RealDiv Maximum Minimum SquaredDifference Atan2 DivNoNan MulNoNan FloorDiv FloorMod "
           "Xdivy").split():
    case(op, lambda x, y, op=op: getattr(R, op)(x=x, y=y), f(3, 5), f(5, lo=0.3))
case("Xlogy", lambda x, y: R.Xlogy(x=x, y=y), f(3, 5), f(5, lo=0.3))
case("Pow", lambda x, y: R.Pow(x=x, y=y), f(3, 5, lo=0.2), f(3, 5))
case("Atan2 quadrants", lambda x, y: R.Atan2(y=x, x=y), f(40), f(40))
for op in "FloorDiv FloorMod TruncateDiv TruncateMod Mod Div".split():
    case(op + " i32", lambda x, y, op=op: getattr(R, op)(x=x, y=y), i(40, lo=-20, hi=20), i(40, lo=1, hi=6) * i(40,
        lo=0, hi=2) * 2 - 7)
case("DivNoNan 0", lambda x, y: R.DivNoNan(x=x, y=y), f(6), np.array([0, 1, 2, 0, 3, 4], np.float32))
case("MulNoNan 0", lambda x, y: R.MulNoNan(x=x, y=y), f(6), np.array([0, 1, 2, 0, 3, 4], np.float32))
case("AddN", lambda x, y, z: R.AddN(inputs=[x, y, z]), f(3, 2), f(3, 2), f(3, 2))
case("AccumulateNV2", lambda x, y: R.AccumulateNV2(inputs=[x, y], shape=[3, 2]), f(3, 2), f(3, 2))
for to in (tf.int32, tf.int64, tf.bool, tf.uint8, tf.float64):
    case(f"Cast {to.name}", lambda x, to=to: R.Cast(x=x, DstT=to), f(9, lo=0, hi=9))
case("Cast bool", lambda x: R.Cast(x=x, DstT=tf.float32), b(7))
case("Bitcast", lambda x: R.Bitcast(input=x, type=tf.int32), f(7))
case("ClipByValue", lambda x: tf.clip_by_value(x, -0.5, 0.7), f(3, 5))
case("ClipByValue i32", lambda x: tf.raw_ops.ClipByValue(t=x, clip_value_min=1, clip_value_max=3), i(9))
for op in "Relu Relu6 Elu Selu Softplus Softsign".split():
    case(op, lambda x, op=op: getattr(R, op)(features=x), f(3, 5, lo=-9, hi=9))
for op in "Sigmoid Tanh".split():
    case(op, lambda x, op=op: getattr(R, op)(x=x), f(3, 5))
case("LeakyRelu", lambda x: R.LeakyRelu(features=x, alpha=0.3), f(3, 5))
case("Softmax", lambda x: R.Softmax(logits=x), f(2, 3, 5))
case("LogSoftmax", lambda x: R.LogSoftmax(logits=x), f(4, 5))
case("FakeQuantWithMinMaxArgs", lambda x: R.FakeQuantWithMinMaxArgs(inputs=x, min=-1.3, max=1.9), f(40))
case("FakeQuantWithMinMaxVars", lambda x: R.FakeQuantWithMinMaxVars(inputs=x, min=-1.3, max=1.9, narrow_range=True,
    num_bits=6), f(40))
for op in "Equal NotEqual Less LessEqual Greater GreaterEqual".split():
    case(op, lambda x, y, op=op: getattr(R, op)(x=x, y=y), i(4, 5), i(5))
for op in "LogicalAnd LogicalOr".split():
    case(op, lambda x, y, op=op: getattr(R, op)(x=x, y=y), b(9), b(9))
case("LogicalNot", lambda x: R.LogicalNot(x=x), b(9))
for op in "BitwiseAnd BitwiseOr BitwiseXor".split():
    case(op, lambda x, y, op=op: getattr(R, op)(x=x, y=y), i(9, hi=99), i(9, hi=99))
case("Invert", lambda x: R.Invert(x=x), i(9, hi=99))
case("LeftShift", lambda x, y: R.LeftShift(x=x, y=y), i(9, lo=-99, hi=99), i(9))
case("RightShift", lambda x, y: R.RightShift(x=x, y=y), i(9, lo=-99, hi=99), i(9))
odd = np.array([np.nan, np.inf, -np.inf, 1, 0], np.float32)
for op in "IsNan IsInf IsFinite".split():
    case(op, lambda x, op=op: getattr(R, op)(x=x), odd)
case("Select", lambda c, x, y: R.Select(condition=c, x=x, y=y), b(4), f(4, 3), f(4, 3))
case("SelectV2", lambda c, x, y: R.SelectV2(condition=c, t=x, e=y), b(4, 1), f(3), f(4, 3))
for op in "Sum Mean Max Min Prod EuclideanNorm".split():
    for keep in (False, True):
        case(f"{op} {keep}", lambda x, op=op, keep=keep: getattr(R, op)(input=x, axis=[0, -1], keep_dims=keep),
            f(3, 4, 5))
case("Sum all", lambda x: R.Sum(input=x, axis=[0, 1]), f(3, 4))
case("Mean i32", lambda x: R.Mean(input=x, axis=[1]), i(3, 8))
case("All", lambda x: R.All(input=x, axis=[1]), b(6, 2))
case("Any", lambda x: R.Any(input=x, axis=[0], keep_dims=True), b(2, 6))
case("ArgMax", lambda x: R.ArgMax(input=x, dimension=1), f(3, 7))
case("ArgMin", lambda x: R.ArgMin(input=x, dimension=-2, output_type=tf.int32), f(3, 7))
for ex in (False, True):
    for rev in (False, True):
        case(f"Cumsum {ex} {rev}", lambda x, ex=ex, rev=rev: R.Cumsum(x=x, axis=1, exclusive=ex, reverse=rev), f(3, 5))
case("Cumprod", lambda x: R.Cumprod(x=x, axis=-1), f(3, 5))
case("TopKV2", lambda x: tuple(R.TopKV2(input=x, k=3)), f(4, 9))
case("SegmentSum", lambda x: R.SegmentSum(data=x, segment_ids=[0, 0, 1, 3]), f(4, 3))
case("UnsortedSegmentSum", lambda x: R.UnsortedSegmentSum(data=x, segment_ids=[2, 0, 2, 1], num_segments=3), f(4, 3))
case("SegmentProd", lambda x: R.SegmentProd(data=x, segment_ids=[0, 0, 1, 2]), f(4, 3))
case("UnsortedSegmentProd", lambda x: R.UnsortedSegmentProd(data=x, segment_ids=[2, 0, 2, 1], num_segments=3), f(4, 3))
# windows
for pad in ("SAME", "VALID"):
    for stride in (1, 2, 3):
        case(f"Conv2D {pad} {stride}", lambda x, pad=pad, s=stride: tf.nn.conv2d(x, f(3, 2, 4, 5), s, pad), f(2, 8,
            7, 4))
        case(f"MaxPool {pad} {stride}", lambda x, pad=pad, s=stride: tf.nn.max_pool2d(x, 3, s, pad), f(2, 8, 7, 4))
        case(f"AvgPool {pad} {stride}", lambda x, pad=pad, s=stride: tf.nn.avg_pool2d(x, 3, s, pad), f(2, 8, 7, 4))
        case(f"Depthwise {pad} {stride}", lambda x, pad=pad, s=stride: tf.nn.depthwise_conv2d(x, f(3, 3, 4, 2), [1,
            s, s, 1], pad), f(1, 8, 8, 4))
        case(f"Conv2DBackpropInput {pad} {stride}", lambda x, pad=pad, s=stride: tf.nn.conv2d_transpose(x, f(3, 4,
            5, 4), [2, (6 if pad == "SAME" else 5) * s + (0 if pad == "SAME" else max(3 - s, 0)) if 1 else 0,
            7 * s if pad == "SAME" else 6 * s + 4, 5] if pad == "SAME" else [2, 5 * s + 3, 6 * s + 4, 5], s, pad),
            f(2, 6, 7, 4))
case("Conv2D dilated", lambda x: R.Conv2D(input=x, filter=f(3, 3, 4, 5), strides=[1, 1, 1, 1], padding="SAME",
    dilations=[1, 2, 3, 1]), f(1, 9, 9, 4))
case("Conv2D explicit", lambda x: tf.nn.conv2d(x, f(3, 3, 4, 5), 2, [[0, 0], [1, 2], [0, 3], [0, 0]]), f(1, 9, 9, 4))
case("Conv2D groups", lambda x: tf.nn.conv2d(x, f(3, 3, 2, 6), 1, "SAME"), f(1, 5, 5, 4))
case("Conv3D", lambda x: tf.nn.conv3d(x, f(2, 3, 3, 3, 4), [1, 1, 2, 1, 1], "SAME"), f(1, 4, 6, 6, 3))
case("Conv3DBackpropInputV2", lambda x: tf.nn.conv3d_transpose(x, f(3, 3, 3, 2, 3), [1, 8, 8, 8, 2], 2, "SAME"),
    f(1, 4, 4, 4, 3))
case("MaxPool3D", lambda x: tf.nn.max_pool3d(x, 2, 2, "SAME"), f(1, 5, 6, 7, 3))
case("AvgPool3D", lambda x: tf.nn.avg_pool3d(x, 3, 2, "SAME"), f(1, 5, 6, 7, 3))
case("Dilation2D", lambda x: R.Dilation2D(input=x, filter=f(3, 2, 4), strides=[1, 2, 1, 1], rates=[1, 1, 2, 1],
    padding="SAME"), f(1, 7, 6, 4))
for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
    case(op, lambda x, op=op: getattr(R, op)(x=x, scale=f(4), offset=f(4), mean=f(4), variance=f(4, lo=0.1),
        is_training=False, epsilon=1e-3)[0], f(2, 3, 3, 4))
case("LRN", lambda x: R.LRN(input=x, depth_radius=2, bias=1.5, alpha=0.3, beta=0.7), f(2, 3, 3, 9))
case("BiasAdd", lambda x: R.BiasAdd(value=x, bias=f(4)), f(2, 3, 3, 4))
case("BiasAdd NCHW", lambda x: R.BiasAdd(value=x, bias=f(3), data_format="NCHW"), f(2, 3, 5, 4))
case("BiasAddV1", lambda x: R.BiasAddV1(value=x, bias=f(4)), f(2, 4))
for ta in (False, True):
    for tb in (False, True):
        case(f"MatMul {ta} {tb}", lambda x, y, ta=ta, tb=tb: tf.matmul(x, y, ta, tb), f(*((4, 3) if ta else (3,
            4))), f(*((5, 4) if tb else (4, 5))))
        case(f"BatchMatMulV2 {ta} {tb}", lambda x, y, ta=ta, tb=tb: R.BatchMatMulV2(x=x, y=y, adj_x=ta, adj_y=tb),
            f(2, *((4, 3) if ta else (3, 4))), f(*((5, 4) if tb else (4, 5))))
case("BatchMatMul", lambda x, y: R.BatchMatMul(x=x, y=y), f(2, 3, 4), f(2, 4, 5))
case("BatchMatMulV3", lambda x, y: R.BatchMatMulV3(x=x, y=y, Tout=tf.float32), f(2, 3, 4), f(2, 4, 5))
for eq in ("abc,cd->abd", "bqhd,bkhd->bhqk", "ij,ij->", "ii->i", "a...b,bc->a...c"):
    n = eq.split("->")[0].replace("...", "zz")
    case(f"Einsum {eq}", lambda *x, eq=eq: tf.einsum(eq, *x), *[f(*[2 + ord(c) % 3 for c in t]) for t in n.split(",")])
case("L2Loss", lambda x: R.L2Loss(t=x), f(3, 4))
# shapes and moves
case("IdentityN", lambda x, y: R.IdentityN(input=[x, y])[1], f(2), f(3))
for op in "Snapshot StopGradient PreventGradient".split():
    case(op, lambda x, op=op: getattr(R, op)(input=x) if op != "StopGradient" else tf.stop_gradient(x), f(3))
case("CheckNumerics", lambda x: R.CheckNumerics(tensor=x, message="m"), f(3))
case("CheckNumericsV2", lambda x: R.CheckNumericsV2(tensor=x, message="m"), f(3))
case("EnsureShape", lambda x: tf.ensure_shape(x, [3]), f(3))
case("PlaceholderWithDefault", lambda x: x + R.PlaceholderWithDefault(input=f(3), shape=[3]), f(3))
case("Shape", lambda x: tf.shape(x) + tf.cast(x[0, 0], tf.int32) * 0, f(3, 4))
case("ShapeN", lambda x, y: R.ShapeN(input=[x, y])[1] + tf.cast(x[0], tf.int32) * 0, f(3), f(3, 4))
case("Size", lambda x: R.Size(input=x) + tf.cast(x[0], tf.int32) * 0, f(3))
case("Rank", lambda x: R.Rank(input=x) + tf.cast(x[0, 0], tf.int32) * 0, f(3, 2))
case("BroadcastArgs", lambda x: tf.broadcast_to(x, R.BroadcastArgs(s0=R.Shape(input=x), s1=[4, 1])), f(3))
case("Reshape", lambda x: R.Reshape(tensor=x, shape=[2, -1]), f(4, 3))
case("Squeeze", lambda x: tf.squeeze(x, [1]), f(4, 1, 3, 1))
case("Squeeze all", lambda x: tf.squeeze(x), f(4, 1, 3, 1))
case("ExpandDims", lambda x: R.ExpandDims(input=x, axis=-2), f(4, 3))
case("Transpose", lambda x: R.Transpose(x=x, perm=[2, 0, 1]), f(4, 3, 2))
case("BroadcastTo", lambda x: R.BroadcastTo(input=x, shape=[2, 4, 3]), f(4, 1))
case("Concat", lambda x, y: R.Concat(concat_dim=1, values=[x, y]), f(2, 3), f(2, 4))
case("ConcatV2", lambda x, y: R.ConcatV2(values=[x, y], axis=-1), f(2, 3), f(2, 4))
case("Pack", lambda x, y: R.Pack(values=[x, y], axis=1), f(2, 3), f(2, 3))
case("Unpack", lambda x: tuple(R.Unpack(value=x, num=3, axis=1)), f(2, 3, 2))
case("Split", lambda x: tuple(R.Split(axis=1, value=x, num_split=3)), f(2, 6))
case("SplitV", lambda x: tuple(R.SplitV(value=x, size_splits=[1, -1, 2], axis=1, num_split=3)), f(2, 6))
case("Slice", lambda x: R.Slice(input=x, begin=[1, 0], size=[2, -1]), f(4, 3))
for k, s in enumerate([np.s_[1:3, ::2], np.s_[..., -1], np.s_[:, None, ::-1], np.s_[2], np.s_[-3:-1, 1:],
    np.s_[5:1:-2, ..., 0]]):
    case(f"StridedSlice {k}", (lambda s: lambda x: x[s])(s), f(6, 5, 4))
case("Pad", lambda x: R.Pad(input=x, paddings=[[1, 2], [0, 3]]), f(4, 3))
case("PadV2", lambda x: R.PadV2(input=x, paddings=[[1, 2], [0, 3]], constant_values=1.5), f(4, 3))
case("MirrorPad REFLECT", lambda x: R.MirrorPad(input=x, paddings=[[1, 2], [2, 2]], mode="REFLECT"), f(4, 3))
case("MirrorPad SYMMETRIC", lambda x: R.MirrorPad(input=x, paddings=[[1, 4], [2, 3]], mode="SYMMETRIC"), f(4, 3))
case("Tile", lambda x: R.Tile(input=x, multiples=[2, 3]), f(4, 3))
case("Fill", lambda x: x + R.Fill(dims=[3], value=2.5), f(3))
case("Range", lambda x: x + R.Range(start=1.0, limit=7.0, delta=2.0), f(3))
case("LinSpace", lambda x: x + R.LinSpace(start=1.0, stop=7.0, num=3), f(3))
case("OneHot", lambda x: R.OneHot(indices=x, depth=5, on_value=2.0, off_value=-1.0, axis=1), i(3, 4, hi=7))
case("MatrixBandPart", lambda x: R.MatrixBandPart(input=x, num_lower=1, num_upper=-1), f(2, 5, 4))
case("BatchMatrixBandPart", lambda x: R.MatrixBandPart(input=x, num_lower=0, num_upper=2), f(5, 5))
case("MatrixDiag", lambda x: R.MatrixDiag(diagonal=x), f(2, 5))
case("MatrixDiagPart", lambda x: R.MatrixDiagPart(input=x), f(2, 5, 4))
case("InvertPermutation", lambda x: tf.transpose(x, R.InvertPermutation(x=[2, 0, 1])), f(2, 5, 4))
case("Gather", lambda x, k: R.Gather(params=x, indices=k), f(5, 3), i(2, 4))
case("GatherV2", lambda x, k: tf.gather(x, k, axis=2, batch_dims=1), f(2, 3, 5), i(2, 4))
case("GatherNd", lambda x, k: R.GatherNd(params=x, indices=k), f(5, 5, 3), i(4, 2))
case("ScatterNd", lambda k, x: R.ScatterNd(indices=k, updates=x, shape=[5, 3]), i(4, 1), f(4, 3))
for op in "Update Add Sub Min Max".split():
    case(f"TensorScatter{op}", lambda t, x, op=op: getattr(R, f"TensorScatter{op}")(tensor=t, indices=[[3], [1],
        [0]], updates=x), f(5, 3), f(3, 3))
case("SparseToDense", lambda x: R.SparseToDense(sparse_indices=[[0, 1], [2, 0]], output_shape=[3, 3],
    sparse_values=x, default_value=1.5), f(2))
case("DynamicStitch", lambda x, y: R.DynamicStitch(indices=[[0, 2], [1, 3, 0]], data=[x, y]), f(2, 3), f(3, 3))
case("ParallelDynamicStitch", lambda x, y: R.ParallelDynamicStitch(indices=[[0, 2], [1, 3]], data=[x, y]), f(2, 3),
    f(2, 3))
case("UnravelIndex", lambda x: R.UnravelIndex(indices=x, dims=[3, 4, 5]), i(7, hi=60))
case("DepthToSpace", lambda x: R.DepthToSpace(input=x, block_size=2), f(1, 3, 4, 12))
case("SpaceToDepth", lambda x: R.SpaceToDepth(input=x, block_size=2), f(1, 6, 4, 3))
case("SpaceToBatchND", lambda x: R.SpaceToBatchND(input=x, block_shape=[2, 3], paddings=[[1, 0], [2, 0]]), f(2, 5,
    7, 3))
case("BatchToSpaceND", lambda x: R.BatchToSpaceND(input=x, block_shape=[2, 3], crops=[[1, 0], [2, 0]]), f(12, 3, 3, 2))
case("ReverseV2", lambda x: R.ReverseV2(tensor=x, axis=[0, -1]), f(3, 4, 5))
case("ReverseSequence", lambda x: R.ReverseSequence(input=x, seq_lengths=[2, 5, 0], seq_dim=2, batch_dim=0), f(3,
    2, 5))
for corners, half in ((False, False), (True, False), (False, True)):
    for size in ([7, 9], [3, 4], [10, 12]):
        for op in "ResizeBilinear ResizeNearestNeighbor ResizeBicubic".split():
            case(f"{op} {corners} {half} {size}", lambda x, op=op, c=corners, h=half, s=size: getattr(R,
                op)(images=x, size=s, align_corners=c, half_pixel_centers=h), f(1, 5, 6, 2))
case("ResizeArea", lambda x: R.ResizeArea(images=x, size=[3, 4]), f(1, 7, 9, 2))
for method in ("bilinear", "nearest"):
    case(f"CropAndResize {method}", lambda x, y, m=method: R.CropAndResize(image=x, boxes=y, box_ind=[1, 0, 1],
        crop_size=[4, 3], method=m, extrapolation_value=0.5), f(2, 7, 9, 2), f(3, 4, lo=-0.1, hi=1.1))


# lists, loops, functions
def lists(x):
    l = R.TensorListFromTensor(tensor=x, element_shape=[3])
    l = R.TensorListPushBack(input_handle=l, tensor=x[0] * 2)
    n = R.TensorListLength(input_handle=l)
    s = R.TensorListStack(input_handle=l, element_shape=[3], element_dtype=tf.float32)
    g = R.TensorListGather(input_handle=l, indices=[1, 0], element_shape=[3], element_dtype=tf.float32)
    c = R.TensorListConcatV2(input_handle=l, element_shape=[3], leading_dims=tf.constant([], tf.int64),
        element_dtype=tf.float32)[0]
    return s, g, c, n + tf.cast(x[0, 0], tf.int32) * 0


def arrays(x):
    h, flow = R.TensorArrayV3(size=4, dtype=tf.float32)
    flow = R.TensorArrayScatterV3(handle=h, indices=[2, 0, 1], value=x, flow_in=flow)
    flow = R.TensorArrayWriteV3(handle=h, index=3, value=x[1] * 3, flow_in=flow)
    g = R.TensorArrayGatherV3(handle=h, indices=[0, 1, 3], flow_in=flow, dtype=tf.float32)
    r = R.TensorArrayReadV3(handle=h, index=2, flow_in=flow, dtype=tf.float32)
    c = R.TensorArrayConcatV3(handle=h, flow_in=flow, dtype=tf.float32)[0]
    return g, r, c, R.TensorArraySizeV3(handle=h, flow_in=flow) + tf.cast(x[0, 0], tf.int32) * 0


def loop(x):
    return tf.while_loop(lambda k, y: k < 4, lambda k, y: (k + 1, tf.tanh(y @ x)), (0, x))[1]


case("lists", lists, f(2, 3))
case("arrays", arrays, f(3, 2))
case("While", loop, f(3, 3))
case("If data", lambda x: tf.cond(x[0] > 0, lambda: x + 1, lambda: x * 2), f(3))
case("PartitionedCall", lambda x: tf.function(lambda y: tf.exp(y) + 1)(x), f(3))

boxes = np.sort(f(30, 2, 2, lo=0, hi=9), 1).reshape(30, 4)
for flipped in (False, True):
    x = boxes[:, [2, 1, 0, 3]] if flipped else boxes
    case("NonMaxSuppressionV4", lambda x, s: R.NonMaxSuppressionV4(boxes=x, scores=s, max_output_size=8,
        iou_threshold=0.4, score_threshold=0.2, pad_to_max_output_size=True), x, f(30, lo=0, hi=1))
    case("NonMaxSuppressionV5", lambda x, s: R.NonMaxSuppressionV5(boxes=x, scores=s, max_output_size=40,
        iou_threshold=0.4, score_threshold=0.5, soft_nms_sigma=0.0, pad_to_max_output_size=True), x, f(30, lo=0, hi=1))
for q, each, clip, per, total in ((1, False, True, 5, 12), (4, False, False, 3, 40), (1, True, True, 2, 30)):
    many = np.sort(f(2, 20, q, 2, 2, lo=-0.2, hi=1.3), 3).reshape(2, 20, q, 4)[..., [0, 2, 1, 3]]
    many = np.stack([np.minimum(many[..., 0], many[..., 2]), np.minimum(many[..., 1], many[..., 3]),
                     np.maximum(many[..., 0], many[..., 2]), np.maximum(many[..., 1], many[..., 3])], -1)
    case("CombinedNonMaxSuppression", lambda x, s, e=each, c=clip, p=per, t=total: R.CombinedNonMaxSuppression(
        boxes=x, scores=s, max_output_size_per_class=p, max_total_size=t, iou_threshold=0.4, score_threshold=0.3,
        pad_per_class=e, clip_boxes=c), many, f(2, 20, 4, lo=0, hi=1))
ids = np.array([2, 0, 1, 0, 4], np.int32)
case("UnsortedSegmentMax", lambda x: R.UnsortedSegmentMax(data=x, segment_ids=ids, num_segments=5), f(5, 3))
case("UnsortedSegmentMin", lambda x: R.UnsortedSegmentMin(data=x, segment_ids=ids, num_segments=5), i(5, 3))
case("Bincount", lambda x, w: R.Bincount(arr=x, size=4, weights=w), i(3, 5, hi=7), f(3, 5))
case("Bincount without weights", lambda x: R.Bincount(arr=x, size=9, weights=np.zeros(0, np.int32)), i(12, hi=7))
case("DenseBincount", lambda x, w: R.DenseBincount(input=x, size=4, weights=w), i(3, 5, hi=7), f(3, 5))
case("DenseBincount once", lambda x: R.DenseBincount(input=x, size=6, weights=np.zeros(0, np.float32),
    binary_output=True), i(3, 5, hi=7))
case("Bucketize", lambda x: R.Bucketize(input=x, boundaries=[-1.0, 0.0, 0.5, 1.5]), f(4, 6))
case("Bucketize of integers", lambda x: R.Bucketize(input=x, boundaries=[1.0, 2.0, 4.0]), i(4, 6))
for k, rows, columns in ((0, -1, -1), (2, -1, -1), (-1, -1, -1), (1, 3, -1), (-2, -1, 5), (0, 3, 5)):
    case(f"MatrixDiagV3 {k} {rows} {columns}", lambda x, k=k, r=rows, c=columns: R.MatrixDiagV3(
        diagonal=x, k=k, num_rows=r, num_cols=c, padding_value=7.0), f(2, 3))
case("MatrixDiagV2", lambda x: R.MatrixDiagV2(diagonal=x, k=0, num_rows=-1, num_cols=-1, padding_value=0.0), f(2, 3))
for k in (0, 1, -2, 3):
    case(f"MatrixDiagPartV3 {k}", lambda x, k=k: R.MatrixDiagPartV3(input=x, k=k, padding_value=0.0), f(2, 4, 5))
    case(f"MatrixSetDiagV3 {k}", lambda x, d, k=k: R.MatrixSetDiagV3(input=x, diagonal=d, k=k), f(2, 4, 5),
         f(2, min(4 + min(k, 0), 5 - max(k, 0))))
case("MatrixDiagPartV2", lambda x: R.MatrixDiagPartV2(input=x, k=0, padding_value=0.0), f(4, 5))
case("MatrixSetDiag", lambda x, d: R.MatrixSetDiag(input=x, diagonal=d), f(2, 5, 4), f(2, 4))
case("MatrixSetDiagV2", lambda x, d: R.MatrixSetDiagV2(input=x, diagonal=d, k=[1, 1]), f(5, 4), f(3))
case("SpaceToBatch", lambda x: R.SpaceToBatch(input=x, paddings=[[1, 0], [2, 1]], block_size=3), f(2, 5, 6, 3))
case("BatchToSpace", lambda x: R.BatchToSpace(input=x, crops=[[1, 0], [0, 1]], block_size=2), f(8, 3, 4, 3))
for padding in ("SAME", "VALID"):
    case(f"ExtractImagePatches {padding}", lambda x, p=padding: R.ExtractImagePatches(images=x, ksizes=[1, 3, 2, 1],
        strides=[1, 2, 1, 1], rates=[1, 1, 2, 1], padding=p), f(2, 9, 8, 3))
case("Roll", lambda x: R.Roll(input=x, shift=[2, -1, 9], axis=[0, 1, 2]), f(5, 3, 4))
case("Roll of one axis", lambda x: R.Roll(input=x, shift=-7, axis=-1), f(5, 3))
case("Reverse", lambda x: R.Reverse(tensor=x, dims=[True, False, True]), f(5, 3, 4))
case("EmptyTensorList", lambda x, y: R.TensorListStack(input_handle=R.TensorListPushBack(
    input_handle=R.TensorListPushBack(input_handle=R.EmptyTensorList(element_shape=[3], max_num_elements=5,
    element_dtype=tf.float32), tensor=x), tensor=y), element_shape=[3], element_dtype=tf.float32), f(3), f(3))

dlc, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../src/frontend/tensorflow/op_*.c")
rows = set(re.findall(r'^\t\{ "(\w+)", 0', "".join(open(p).read() for p in glob.glob(root)), re.M))
seen, bad, good = set(), 0, 0
with tempfile.TemporaryDirectory() as folder:
    for name, fn, inputs in cases:
        if not re.search(word, name):
            continue
        specs = [tf.TensorSpec(x.shape, x.dtype, name=f"in{k}") for k, x in enumerate(inputs)]
        try:
            g = tf.function(fn).get_concrete_function(*specs)
            want = g(*[tf.constant(x) for x in inputs])
        except Exception as e:
            print(f"TensorFlow itself refuses {name}: {str(e)[:120]}")
            continue
        want = [w.numpy() for w in (want if isinstance(want, (tuple, list)) else [want])]
        d = g.graph.as_graph_def()
        seen |= {n.op for n in d.node} | {n.op for f_ in d.library.function for n in f_.node_def}
        model = f"{folder}/m.pb"
        open(model, "wb").write(d.SerializeToString())
        cmd = [dlc, "run", model, "--threads=1"]
        for k, x in enumerate(inputs):
            np.save(f"{folder}/in{k}.npy", x)
            cmd += ["--input", f"in{k}={folder}/in{k}.npy"]
        outs = [t.name.split(":")[0] for t in g.outputs]
        for k, o in enumerate(outs):
            cmd += ["--output", f"{o}={folder}/out{k}.npy"]
        r = subprocess.run(cmd, capture_output=True, text=True)
        if r.returncode != 0:
            bad += 1
            print(f"{name}: {r.stderr.strip()[:300]}")
            continue
        good += 1
        for k, w in enumerate(want):
            y = np.load(f"{folder}/out{k}.npy")
            if y.shape != w.shape or y.dtype != w.dtype:
                print(f"{name}: result {k} is {y.dtype}{y.shape}, not {w.dtype}{w.shape}")
                bad += 1
                continue
            a, c = y.astype(np.float64), w.astype(np.float64)
            same = (a == c) | (np.isnan(a) & np.isnan(c))
            err = np.where(same, 0, np.abs(a - c))
            top = np.max(np.abs(c[np.isfinite(c)]), initial=1e-6)
            if not (np.max(err, initial=0) <= 1e-4 * top):
                print(f"{name}: result {k} differs by {np.max(err) / top:.2g} of the largest")
                bad += 1
print(f"tensorflow {tf.__version__}: {good} of {good + bad} cases agree; rows without a case:",
      " ".join(sorted(rows - seen)))
sys.exit(bad > 0)
