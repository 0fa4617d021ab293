#!/usr/bin/env python3
"""Each operator that dlc imports from TensorFlow Lite, on random inputs, against TensorFlow Lite itself.

    python3 bench/formats/tflite_rows.py DLC [PATTERN]

DLC is the program; with PATTERN only cases whose names match run. Needs tensorflow and tf_keras (checked with 2.21.0).
A case is a function of its inputs, which TensorFlow's converter makes a model of; with `int8` it is quantised after
training, with `uint8` its inputs and results are. Prints what differs by more than 1e-4 of the largest element, or of
quantised models by more than a step of the result's codes; what is refused; and which rows of src/frontend/tflite no
case has.
"""
import glob, os, re, subprocess, sys, tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
os.environ["TF_USE_LEGACY_KERAS"] = "1"  # the converter takes models of version 2, and functions of version 3
import numpy as np
import tensorflow as tf

tf.get_logger().setLevel("ERROR")
R = tf.raw_ops
rng = np.random.default_rng(7)


def f(*shape, lo=-2.0, hi=2.0):
    return rng.uniform(lo, hi, shape).astype(np.float32)


def i(*shape, lo=0, hi=5, t=np.int32):
    return rng.integers(lo, hi, shape).astype(t)


def b(*shape):
    return rng.integers(0, 2, shape).astype(bool)


cases = []


def case(name, fn, *inputs, how="float"):
    cases.append((name, fn, inputs, how))


def both(name, fn, *inputs):
    """The case in f32 and quantised."""
    case(name, fn, *inputs)
    case(name + " int8", fn, *inputs, how="int8")


image = f(1, 9, 8, 4)
for padding in ("SAME", "VALID"):
    both(f"conv {padding}", lambda x, w=f(3, 3, 4, 6), b=f(6), p=padding: tf.nn.relu(tf.nn.bias_add(
        tf.nn.conv2d(x, w, [1, 2, 2, 1], p), b)), image)
    both(f"depthwise {padding}", lambda x, w=f(3, 3, 4, 2), b=f(8), p=padding: tf.nn.relu6(tf.nn.bias_add(
        tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], p), b)), image)
    case(f"transpose_conv {padding}", lambda x, w=f(3, 3, 5, 4), p=padding: tf.nn.conv2d_transpose(
        x, w, [1, 18, 16, 5] if p == "SAME" else [1, 19, 17, 5], 2, p), image)
    for op in (tf.nn.max_pool2d, tf.nn.avg_pool2d):
        both(f"{op.__name__} {padding}", lambda x, op=op, p=padding: op(x, 3, 2, p), image)
both("conv 1x1", lambda x, w=f(1, 1, 4, 16): tf.nn.conv2d(x, w, 1, "SAME"), image)
case("conv dilated", lambda x, w=f(3, 3, 4, 6): tf.nn.conv2d(x, w, 1, "SAME", dilations=2), image)
case("conv groups", lambda x, w=f(3, 3, 2, 6): tf.nn.conv2d(x, w, 1, "SAME"), image)
both("conv 16", lambda x, w=f(3, 3, 16, 32), b=f(32): tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, 1, "SAME"), b)),
    f(1, 8, 8, 16))
both("transpose_conv bias", lambda x, w=f(2, 2, 5, 4), b=f(5): tf.nn.bias_add(tf.nn.conv2d_transpose(
    x, w, [1, 18, 16, 5], 2, "VALID"), b), image)
case("conv fp16", lambda x, w=f(3, 3, 4, 6): tf.nn.conv2d(x, w, 1, "SAME"), image, how="fp16")
case("conv hybrid", lambda x, w=f(3, 3, 4, 512): tf.nn.conv2d(x, w, 1, "SAME"), image, how="weights")
case("conv3d", lambda x, w=f(2, 3, 3, 2, 4): tf.nn.conv3d(x, w, [1, 1, 2, 1, 1], "SAME"), f(1, 4, 6, 5, 2))
case("conv3d_transpose", lambda x, w=f(2, 3, 3, 4, 2): tf.nn.conv3d_transpose(x, w, [1, 8, 12, 10, 4], 2, "SAME"),
    f(1, 4, 6, 5, 2))
case("lrn", lambda x: tf.nn.local_response_normalization(x, 2, 1.5, 0.3, 0.6), image)
both("dense", lambda x, w=f(12, 7), b=f(7): tf.nn.relu(tf.matmul(x, w) + b), f(3, 12))
both("dense 32", lambda x, w=f(64, 32), b=f(32): tf.matmul(x, w) + b, f(4, 64))
case("dense 3d", lambda x, w=f(12, 7): tf.matmul(x, w), f(2, 3, 12))
case("dense hybrid", lambda x, w=f(64, 512): tf.matmul(x, w), f(3, 64), how="weights")
case("batch_matmul", lambda x, y: tf.matmul(x, y, transpose_b=True), f(2, 3, 4), f(2, 5, 4))
both("batch_matmul adj", lambda x, y: tf.matmul(x, y, transpose_a=True), f(2, 4, 3), f(2, 4, 5))
for name, op in dict(ADD=tf.add, SUB=tf.subtract, MUL=tf.multiply, MAXIMUM=tf.maximum, MINIMUM=tf.minimum,
                     SQUARED_DIFFERENCE=tf.math.squared_difference).items():
    both(name, lambda x, y, op=op: op(x, y), f(3, 5), f(5))
case("ADD relu", lambda x, y: tf.nn.relu6(x + y), f(3, 5), f(3, 5))
both("ADD relu image", lambda x, y: tf.nn.relu(x + y), image, f(1, 9, 8, 4))
for name, op in dict(DIV=tf.divide, FLOOR_DIV=tf.math.floordiv, FLOOR_MOD=tf.math.floormod, ATAN2=tf.atan2).items():
    case(name, lambda x, y, op=op: op(x, y), f(3, 5), f(5, lo=0.3))
case("POW", lambda x, y: tf.pow(x, y), f(3, 5, lo=0.2), f(3, 5))
case("ADD_N", lambda x, y, z: tf.add_n([x, y, z]), f(3, 2), f(3, 2), f(3, 2))
for name, op in dict(LOGISTIC=tf.sigmoid, TANH=tf.tanh, RELU=tf.nn.relu, RELU6=tf.nn.relu6, ELU=tf.nn.elu,
                     LEAKY_RELU=lambda x: tf.nn.leaky_relu(x, 0.3), HARD_SWISH=lambda x: x * tf.nn.relu6(x + 3) / 6,
                     RELU_N1_TO_1=lambda x: tf.maximum(-1.0, tf.minimum(x, 1.0)),
                     RELU_0_TO_1=lambda x: tf.maximum(0.0, tf.minimum(x, 1.0)), ABS=tf.abs, NEG=tf.negative,
                     SOFTMAX=tf.nn.softmax, LOG_SOFTMAX=tf.nn.log_softmax, L2_NORMALIZATION=lambda x:
                     tf.math.l2_normalize(x, -1)).items():
    both(name, lambda x, op=op: op(x), f(3, 5, lo=-4, hi=4))
for name, op in dict(EXP=tf.exp, SIN=tf.sin, COS=tf.cos, FLOOR=tf.floor, CEIL=tf.math.ceil, ROUND=tf.round,
                     SQUARE=tf.square, SIGN=tf.sign, ZEROS_LIKE=tf.zeros_like,
                     GELU=lambda x: tf.nn.gelu(x, approximate=False),
                     GELU_tanh=lambda x: tf.nn.gelu(x, approximate=True)).items():
    case(name, lambda x, op=op: op(x), f(3, 5, lo=-3, hi=3))
for name, op in dict(LOG=tf.math.log, SQRT=tf.sqrt, RSQRT=tf.math.rsqrt).items():
    case(name, lambda x, op=op: op(x), f(3, 5, lo=0.1, hi=3))
both("PRELU", lambda x, a=f(4, lo=0, hi=0.5): tf.maximum(x, 0.0) + a * tf.minimum(x, 0.0), image)
case("GELU image", lambda x, w=f(1, 1, 4, 4): tf.nn.gelu(tf.nn.conv2d(x, w, 1, "SAME")), image)
case("FAKE_QUANT", lambda x: tf.quantization.fake_quant_with_min_max_args(x, -1.3, 1.9), f(40))
for name, op in dict(EQUAL=tf.equal, NOT_EQUAL=tf.not_equal, LESS=tf.less, LESS_EQUAL=tf.less_equal,
                     GREATER=tf.greater, GREATER_EQUAL=tf.greater_equal).items():
    case(name, lambda x, y, op=op: op(x, y), i(4, 5), i(5))
for name, op in dict(LOGICAL_AND=tf.logical_and, LOGICAL_OR=tf.logical_or).items():
    case(name, lambda x, y, op=op: op(x, y), b(9), b(9))
case("LOGICAL_NOT", tf.logical_not, b(9))
case("BITWISE_XOR", tf.bitwise.bitwise_xor, i(9, hi=99), i(9, hi=99))
case("RIGHT_SHIFT", tf.bitwise.right_shift, i(9, lo=-99, hi=99), i(9))
case("SELECT_V2", lambda c, x, y: tf.where(c, x, y), b(4, 3), f(4, 3), f(3))
for to in (tf.int32, tf.int64, tf.uint8, tf.bool):
    case(f"CAST {to.name}", lambda x, to=to: tf.cast(x, to), f(9, lo=0, hi=9))
case("CAST f32", lambda x: tf.cast(x, tf.float32), i(9))
case("BITCAST", lambda x: tf.bitcast(x, tf.int32), f(7))
for name, op in dict(SUM=tf.reduce_sum, MEAN=tf.reduce_mean, REDUCE_MAX=tf.reduce_max, REDUCE_MIN=tf.reduce_min,
                     REDUCE_PROD=tf.reduce_prod).items():
    case(name, lambda x, op=op: op(x, [0, 2]), f(3, 4, 5))
    case(name + " keep", lambda x, op=op: op(x, 1, keepdims=True), f(3, 4, 5))
case("MEAN image int8", lambda x: tf.reduce_mean(x, [1, 2]), image, how="int8")
case("REDUCE_ANY", lambda x: tf.reduce_any(x, 1), b(4, 5))
case("REDUCE_ALL", lambda x: tf.reduce_all(x, 1), b(4, 5))
case("ARG_MAX", lambda x: tf.argmax(x, 1), f(4, 6))
case("ARG_MIN", lambda x: tf.argmin(x, 0, output_type=tf.int32), f(4, 6))
case("TOPK_V2", lambda x: tf.math.top_k(x, 3), f(4, 6))
case("CUMSUM", lambda x: tf.cumsum(x, 1, exclusive=True, reverse=True), f(4, 6))
both("CONCATENATION", lambda x, y: tf.concat([x, y], 2), f(2, 3, 4), f(2, 3, 2))
both("RESHAPE", lambda x: tf.reshape(x, [6, -1]), f(2, 3, 4))
both("TRANSPOSE", lambda x: tf.transpose(x, [2, 0, 1]), f(2, 3, 4))
case("SQUEEZE", lambda x: tf.squeeze(x, [1]), f(2, 1, 4, 1))
case("EXPAND_DIMS", lambda x: tf.expand_dims(x, 1), f(2, 3))
both("PAD", lambda x: tf.pad(x, [[0, 0], [1, 2], [3, 0], [0, 0]]), image)
case("PADV2", lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=3.5), f(3, 4))
for mode in ("REFLECT", "SYMMETRIC"):
    case(f"MIRROR_PAD {mode}", lambda x, m=mode: tf.pad(x, [[1, 2], [0, 1]], m), f(4, 3))
case("SLICE", lambda x: tf.slice(x, [1, 0, 2], [2, -1, 1]), f(4, 3, 5))
both("STRIDED_SLICE", lambda x: x[1:3, ::2, -1], f(4, 5, 3))
case("STRIDED_SLICE new", lambda x: x[..., tf.newaxis, ::-1], f(4, 3))
case("SPLIT", lambda x: tf.split(x, 3, 1), f(2, 6))
case("SPLIT_V", lambda x: tf.split(x, [1, 4, 2], 1), f(2, 7))
case("PACK", lambda x, y: tf.stack([x, y], 1), f(2, 3), f(2, 3))
case("UNPACK", lambda x: tf.unstack(x, axis=1), f(2, 3, 4))
case("TILE", lambda x: tf.tile(x, [2, 3]), f(2, 3))
case("BROADCAST_TO", lambda x: tf.broadcast_to(x, [4, 2, 3]), f(2, 1))
case("FILL", lambda x: tf.fill([2, 3], x[0]), f(2))
case("RANGE", lambda x: tf.cast(tf.range(0, tf.shape(x)[0], 1), tf.float32) + x, f(6))
case("SHAPE", lambda x: tf.cast(tf.shape(x), tf.float32) * x[0, 0], f(3, 4))
case("RANK", lambda x: tf.cast(tf.rank(x), tf.float32) * x, f(3, 4))
case("GATHER", lambda x, j: tf.gather(x, j, axis=1), f(3, 5, 2), i(4))
case("GATHER batch", lambda x, j: tf.gather(x, j, axis=1, batch_dims=1), f(3, 5, 2), i(3, 4))
case("GATHER_ND", lambda x, j: tf.gather_nd(x, j), f(5, 5, 2), i(3, 2))
case("SCATTER_ND", lambda j, u: tf.scatter_nd(j, u, [8, 2]), np.array([[1], [4], [6]], np.int32), f(3, 2))
case("SPARSE_TO_DENSE", lambda v: R.SparseToDense(sparse_indices=[1, 3, 4], output_shape=[6], sparse_values=v,
    default_value=0.5), f(3))
case("ONE_HOT", lambda j: tf.one_hot(j, 5, 2.0, -1.0, axis=0), i(4))
case("ONE_HOT last", lambda j: tf.one_hot(j, 5), i(4))
case("MATRIX_DIAG", lambda x: tf.linalg.diag(x), f(2, 4))
case("REVERSE_V2", lambda x: tf.reverse(x, [1]), f(3, 4))
case("REVERSE_SEQUENCE", lambda x: tf.reverse_sequence(x, np.array([2, 4, 1], np.int32), seq_axis=1, batch_axis=0),
    f(3, 5, 2))
case("SPACE_TO_DEPTH", lambda x: tf.nn.space_to_depth(x, 2), f(1, 4, 6, 3))
case("DEPTH_TO_SPACE", lambda x: tf.nn.depth_to_space(x, 2), f(1, 4, 6, 8))
case("SPACE_TO_BATCH_ND", lambda x: tf.space_to_batch(x, [2, 2], [[1, 0], [0, 0]]), f(1, 5, 6, 3))
case("BATCH_TO_SPACE_ND", lambda x: tf.batch_to_space(x, [2, 2], [[1, 0], [0, 1]]), f(4, 3, 3, 2))
for half in (False, True):
    both(f"RESIZE_BILINEAR half={half}", lambda x, h=half: R.ResizeBilinear(images=x, size=[13, 16],
        align_corners=False, half_pixel_centers=h), image)
    case(f"RESIZE_NEAREST_NEIGHBOR half={half}", lambda x, h=half: R.ResizeNearestNeighbor(images=x, size=[13, 16],
        align_corners=False, half_pixel_centers=h), image)
case("RESIZE_BILINEAR corners", lambda x: R.ResizeBilinear(images=x, size=[13, 5], align_corners=True), image)
case("RESIZE_NEAREST_NEIGHBOR corners", lambda x: R.ResizeNearestNeighbor(images=x, size=[13, 5],
    align_corners=True), image)
case("RESIZE_NEAREST_NEIGHBOR int8", lambda x: R.ResizeNearestNeighbor(images=x, size=[18, 16]), image, how="int8")
case("BROADCAST_ARGS", lambda x, y: tf.broadcast_to(x, tf.broadcast_dynamic_shape(tf.shape(x), tf.shape(y))) + y,
    f(3, 1), f(1, 4))
case("SEGMENT_SUM", lambda x: tf.math.segment_sum(x, np.array([0, 0, 1, 3], np.int32)), f(4, 2))
case("UNSORTED_SEGMENT_SUM", lambda x: tf.math.unsorted_segment_sum(x, np.array([2, 0, 1, 0], np.int32), 3), f(4, 2))
for word in ("max", "min"):
    case(f"UNSORTED_SEGMENT_{word.upper()}", lambda x, op=getattr(tf.math, f"unsorted_segment_{word}"): op(
        x, np.array([2, 0, 1, 0], np.int32), 3), f(4, 2))
case("BUCKETIZE", lambda x: R.Bucketize(input=x, boundaries=[-1.0, 0.0, 0.5, 1.5]), f(4, 6))
case("MATRIX_SET_DIAG", lambda x, d: tf.linalg.set_diag(x, d), f(2, 4, 3), f(2, 3))
case("UNSORTED_SEGMENT_PROD", lambda x: tf.math.unsorted_segment_prod(x, np.array([2, 0, 1, 0], np.int32), 3), f(4, 2))
case("DYNAMIC_UPDATE_SLICE", lambda x, u, s: tf.raw_ops.XlaDynamicUpdateSlice(input=x, update=u, indices=s),
    f(5, 6), f(2, 3), np.array([1, 5], np.int32))
case("NON_MAX_SUPPRESSION_V4", lambda x, s: tf.image.non_max_suppression_padded(x, s, 8, 0.5, 0.2,
    pad_to_max_output_size=True), np.sort(f(20, 2, 2, lo=0, hi=9), 1).reshape(20, 4), f(20, lo=0, hi=1))
case("NON_MAX_SUPPRESSION_V5", lambda x, s: R.NonMaxSuppressionV5(boxes=x, scores=s, max_output_size=8,
    iou_threshold=0.5, score_threshold=0.2, soft_nms_sigma=0.0, pad_to_max_output_size=True),
    np.sort(f(20, 2, 2, lo=0, hi=9), 1).reshape(20, 4), f(20, lo=0, hi=1))


def detections(regular, classes, background=1, most=5, each=1, score=0.1, of_class=100):
    """The custom operator of detectors, as the exporter of TensorFlow's object detection writes it."""
    options = {"max_detections": f"i: {most}", "max_classes_per_detection": f"i: {each}",
               "num_classes": f"i: {classes}", "detections_per_class": f"i: {of_class}",
               "nms_score_threshold": f"f: {score}", "nms_iou_threshold": "f: 0.5", "y_scale": "f: 10.0",
               "x_scale": "f: 10.0", "h_scale": "f: 5.0", "w_scale": "f: 5.0",
               "use_regular_nms": f"b: {str(regular).lower()}"}
    words = ['name: "TFLite_Detection_PostProcess"'] + [
        f'attr {{ key: "{k}" value {{ {x} }} }}' for k, x in options.items()]

    @tf.function(experimental_implements=" ".join(words))
    def ends(x, s, a):
        return [tf.fill([1, most * each, 4], 1.0), tf.fill([1, most * each], 2.0), tf.fill([1, most * each], 3.0),
                tf.fill([1], 4.0)]

    n = 40
    anchors = np.concatenate([f(n, 2, lo=0, hi=1), f(n, 2, lo=0.1, hi=0.5)], 1)
    case(f"DETECTION_POSTPROCESS {'regular' if regular else 'fast'} {classes} {background} {each} {score} {of_class}",
         lambda x, s, ends=ends, a=anchors: ends(x, s, tf.constant(a)), f(1, n, 4),
         f(1, n, classes + background, lo=0, hi=1))


detections(False, 3)
detections(False, 7, most=8)
detections(False, 3, background=0)
detections(False, 5, each=2)
detections(True, 3)
detections(True, 4, background=0, most=9, of_class=2)
detections(True, 3, score=0.97, most=9)


def keras_case(name, layers, x, how="float", version=3):
    if version == 2:
        import tf_keras as keras
    else:
        import keras
    keras.utils.set_random_seed(3)
    net = keras.Sequential([keras.Input(batch_shape=x.shape)] + layers(keras.layers))
    case(name, net if version == 2 else lambda a, net=net: net(a), x, how=how)


keras_case("UNIDIRECTIONAL_SEQUENCE_LSTM", lambda L: [L.LSTM(6, return_sequences=True)], f(1, 7, 5))
keras_case("BIDIRECTIONAL lstm", lambda L: [L.Bidirectional(L.LSTM(6, return_sequences=True))], f(1, 7, 5))
keras_case("UNIDIRECTIONAL_SEQUENCE_RNN", lambda L: [L.SimpleRNN(6, return_sequences=True, unroll=True)], f(1, 7, 5))
for how in ("float", "weights", "int8"):  # version 2 makes one operator of it
    keras_case(f"UNIDIRECTIONAL_SEQUENCE_LSTM fused {how}", lambda L: [L.LSTM(16, return_sequences=True)],
               f(1, 40, 5), how=how, version=2)
keras_case("EMBEDDING_LOOKUP", lambda L: [L.Embedding(9, 4)], i(1, 6, hi=9))
both("two convolutions", lambda x, v=f(3, 3, 4, 16), w=f(1, 1, 16, 8): tf.nn.conv2d(tf.nn.relu6(tf.nn.conv2d(
    x, v, 2, "SAME")), w, 1, "SAME"), image)
case("two convolutions uint8", lambda x, v=f(3, 3, 4, 16), w=f(1, 1, 16, 8): tf.nn.conv2d(tf.nn.relu6(tf.nn.conv2d(
    x, v, 2, "SAME")), w, 1, "SAME"), image, how="uint8")


def convert(fn, inputs, how):
    spec = [tf.TensorSpec(x.shape, x.dtype, name=f"x{k}") for k, x in enumerate(inputs)]
    concrete = tf.function(lambda *a: fn(*a)).get_concrete_function(*spec)
    c = tf.lite.TFLiteConverter.from_concrete_functions([concrete]) if not hasattr(
        fn, "layers") else tf.lite.TFLiteConverter.from_keras_model(fn)
    c.allow_custom_ops = True
    if how != "float":
        c.optimizations = [tf.lite.Optimize.DEFAULT]
    if how == "fp16":
        c.target_spec.supported_types = [tf.float16]
    if how in ("int8", "uint8"):
        def data():
            yield list(inputs)
            for _ in range(8):
                yield [rng.uniform(x.min(), x.max(), x.shape).astype(x.dtype) for x in inputs]
        c.representative_dataset = data
        c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        c.inference_input_type = c.inference_output_type = tf.int8 if how == "int8" else tf.uint8
    return c.convert()


def codes(x, detail):
    scale, zero = detail["quantization"]
    if scale == 0:
        return x
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(x / scale) + zero, limits.min, limits.max).astype(detail["dtype"])


dlc, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
seen, good, bad, refused, skipped = set(), 0, [], [], []
for name, fn, inputs, how in cases:
    if not re.search(word, name):
        continue
    try:
        model = convert(fn, inputs, how)
        t = tf.lite.Interpreter(model_content=model)
        t.allocate_tensors()
        details, results = t.get_input_details(), t.get_output_details()
        given = {}
        for d in details:
            k = int(re.search(r"x(\d+)", d["name"]).group(1)) if re.search(r"x\d+", d["name"]) else 0
            given[d["name"]] = codes(inputs[k], d)
            t.set_tensor(d["index"], given[d["name"]])
        t.invoke()
        want = [(d, t.get_tensor(d["index"])) for d in results]
        seen |= {d["op_name"] for d in t._get_ops_details()}
    except Exception as e:
        skipped.append(f"{name}: {str(e).strip().splitlines()[-1][:160]}")
        continue
    with tempfile.TemporaryDirectory() as folder:
        open(f"{folder}/m.tflite", "wb").write(model)
        line = [dlc, "run", f"{folder}/m.tflite"]
        for k, (n, x) in enumerate(given.items()):
            np.save(f"{folder}/in{k}.npy", x)
            line += ["--input", f"{n}={folder}/in{k}.npy"]
        for k, (d, _) in enumerate(want):
            line += ["--output", f"{d['name']}={folder}/out{k}.npy"]
        r = subprocess.run(line, capture_output=True, text=True)
        if r.returncode != 0:
            refused.append(f"{name}: {r.stderr.strip()[:300]}")
            continue
        worst = ""
        for k, (d, y) in enumerate(want):
            have = np.load(f"{folder}/out{k}.npy")
            if have.shape != y.shape or have.dtype != y.dtype:
                worst = f"is {have.dtype}{have.shape}, but {y.dtype}{y.shape} in TensorFlow Lite"
                break
            if y.size == 0:
                continue
            apart = np.abs(have.astype(np.float64) - y.astype(np.float64)).max()
            limit = 1 if d["quantization"][0] != 0 else (2e-2 if how == "weights" else 1e-4) * max(
                1e-30, np.abs(y.astype(np.float64)).max())
            if not apart <= limit:
                worst = f"differs by {apart:.3g}, of {np.abs(y.astype(np.float64)).max():.3g}"
        if worst:
            bad.append(f"{name}: {worst}")
        else:
            good += 1
print(f"{good} equal, {len(bad)} differ, {len(refused)} refused, {len(skipped)} that TensorFlow Lite does not convert")
for what, lines in (("differs", bad), ("refused", refused), ("not converted", skipped)):
    for line in lines:
        print(f"{what}: {line}")
if not word:
    rows = set()
    for path in glob.glob(os.path.join(os.path.dirname(__file__), "../../src/frontend/tflite/op_*.c")):
        text = open(path).read()
        rows |= set(re.findall(r'^\t(?:\{ |ROW\()"([A-Z0-9_]+)"', text, re.M)) if "NodeRow" in text else set()
    print("without a case:", " ".join(sorted(rows - seen)))
sys.exit(bool(bad or refused))
