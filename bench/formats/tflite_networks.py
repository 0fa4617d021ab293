#!/usr/bin/env python3
"""Networks of keras.applications, random weights, as TensorFlow Lite models in f32 and int8, against TensorFlow Lite.

    python3 bench/formats/tflite_networks.py DLC [PATTERN]

Needs tensorflow (checked with 2.21.0 and Keras 3.15.1). Each line: the largest error of f32 over the largest element;
of int8, whose inputs and results are f32, the largest error in steps of the result's codes, that of TensorFlow Lite's
own reference kernels beside it, and how many codes are equal to those of XNNPACK; moves of layout in both plans.
"""
import sys, tempfile

from keras_applications import count_moves, make, run  # before tensorflow: it says which devices are seen
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

dlc, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
rng = np.random.default_rng(3)


def convert(net, shape, data):
    f = tf.function(lambda a: net(a, training=False)).get_concrete_function(tf.TensorSpec(shape, tf.float32, name="x"))
    c = tf.lite.TFLiteConverter.from_concrete_functions([convert_variables_to_constants_v2(f)])
    if data is not None:
        c.optimizations = [tf.lite.Optimize.DEFAULT]
        c.representative_dataset = lambda: ([x] for x in data)
        c.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8, tf.lite.OpsSet.TFLITE_BUILTINS]
    return c.convert()


def lite(model, x, reference=False):
    kind = tf.lite.experimental.OpResolverType
    t = tf.lite.Interpreter(model_content=model, experimental_op_resolver_type=kind.BUILTIN_REF if reference else
                            kind.AUTO)
    t.allocate_tensors()
    a, b = t.get_input_details()[0], t.get_output_details()[0]
    t.set_tensor(a["index"], x)
    t.invoke()
    step = 0
    for op in t._get_ops_details():
        if b["index"] in op["outputs"] and op["op_name"] == "DEQUANTIZE":
            step = t._get_tensor_details(op["inputs"][0], 0)["quantization"][0]
    return t.get_tensor(b["index"]), a["name"], b["name"], step


count = bad = 0
for name, size, net, x in make(word, rng):
    data = [rng.uniform(-1, 1, x.shape).astype(np.float32) for _ in range(4)] + [x]
    line, wrong = f"{name} {size}:", 0
    with tempfile.TemporaryDirectory() as folder:
        for how in ("f32", "int8"):
            try:
                model = convert(net, x.shape, data if how == "int8" else None)
                want, key_in, key_out, step = lite(model, x)
            except Exception as e:
                line += f" {how} not converted: {str(e).strip().splitlines()[-1][:120]};"
                wrong += 1
                continue
            file = f"{folder}/m.tflite"
            open(file, "wb").write(model)
            y, moves = run(dlc, file, key_in, key_out, x, folder), count_moves(dlc, file)
            if isinstance(y, str):
                line += f" {how} refused: {y};"
                wrong += 1
            elif how == "f32":
                error = np.abs(y - want).max() / np.abs(want).max()
                line += f" f32 {error:.1e}, {moves};"
                wrong += not error <= 1e-4
            else:
                other = np.abs(lite(model, x, True)[0] - want).max() / step if step else 0
                apart = np.abs(y - want).max() / step if step else np.abs(y - want).max()
                equal = np.mean(np.abs(y - want) < step / 2) if step else 0
                line += f" int8 {apart:.0f} steps (reference {other:.0f}), {equal:.0%} equal, {moves}"
                wrong += not apart <= max(3, 2 * other)
    count += 1
    bad += wrong > 0
    print(line, flush=True)
print(f"{count - bad} of {count} networks right in f32 and int8")
sys.exit(bad > 0)
