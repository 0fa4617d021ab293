#!/usr/bin/env python3
"""Networks of keras.applications, random weights, as SavedModel and as frozen graph, against TensorFlow itself.

    python3 bench/formats/tensorflow_networks.py DLC [PATTERN]

Needs tensorflow (checked with 2.21.0 and Keras 3.15.1). Each line: the largest error over the largest element for both
files, and the moves of layout in the plan.
"""
import os, re, subprocess, sys, tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import keras
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

A = keras.applications
networks = {
    "MobileNet": (lambda s: A.MobileNet(s, 0.25, weights=None, classes=10), 96),
    "MobileNetV2": (lambda s: A.MobileNetV2(s, 0.35, weights=None, classes=10), 96),
    "MobileNetV3Small": (lambda s: A.MobileNetV3Small(s, weights=None, classes=10), 64),
    "MobileNetV3Large": (lambda s: A.MobileNetV3Large(s, weights=None, classes=10), 64),
    "EfficientNetB0": (lambda s: A.EfficientNetB0(input_shape=s, weights=None, classes=10), 64),
    "EfficientNetV2B0": (lambda s: A.EfficientNetV2B0(input_shape=s, weights=None, classes=10), 64),
    "NASNetMobile": (lambda s: A.NASNetMobile(s, weights=None, classes=10), 64),
    "DenseNet121": (lambda s: A.DenseNet121(input_shape=s, weights=None, classes=10), 64),
    "ResNet50": (lambda s: A.ResNet50(input_shape=s, weights=None, classes=10), 64),
    "ResNet50V2": (lambda s: A.ResNet50V2(input_shape=s, weights=None, classes=10), 64),
    "Xception": (lambda s: A.Xception(input_shape=s, weights=None, classes=10), 72),
    "InceptionV3": (lambda s: A.InceptionV3(input_shape=s, weights=None, classes=10), 80),
    "InceptionResNetV2": (lambda s: A.InceptionResNetV2(input_shape=s, weights=None, classes=10), 80),
    "VGG16": (lambda s: A.VGG16(input_shape=s, weights=None, classes=10), 32),
    "ConvNeXtTiny": (lambda s: A.ConvNeXtTiny(input_shape=s, weights=None, classes=10), 64),
}
dlc, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
rng = np.random.default_rng(3)


def run(model, name_in, name_out, x, folder):
    np.save(f"{folder}/x.npy", x)
    r = subprocess.run([dlc, "run", model, "--input", f"{name_in}={folder}/x.npy", "--output",
        f"{name_out}={folder}/y.npy"],
                       capture_output=True, text=True)
    return np.load(f"{folder}/y.npy") if r.returncode == 0 else r.stderr.strip()[:300]


def shown(y, want):
    return y if isinstance(y, str) else f"{np.abs(y - want).max() / np.abs(want).max():.1e}"


bad = 0
for name, (make, size) in networks.items():
    if not re.search(word, name):
        continue
    keras.backend.clear_session()
    keras.utils.set_random_seed(5)
    net = make((size, size, 3))
    for w in net.weights:  # normalisations that do something
        if re.search("gamma|moving_variance", w.path):
            w.assign(rng.uniform(0.5, 1.5, w.shape))
        elif re.search("beta|moving_mean|bias", w.path):
            w.assign(rng.uniform(-0.2, 0.2, w.shape))
    x = rng.uniform(-1, 1, (1, size, size, 3)).astype(np.float32)
    with tempfile.TemporaryDirectory() as folder:
        net.export(f"{folder}/saved", verbose=False)
        served = tf.saved_model.load(f"{folder}/saved").signatures["serving_default"]
        key_in, key_out = list(served.structured_input_signature[1])[0], list(served.structured_outputs)[0]
        want = served(**{key_in: tf.constant(x)})[key_out].numpy()
        f = tf.function(lambda a: net(a, training=False)).get_concrete_function(tf.TensorSpec((1, size, size, 3),
            tf.float32, name="x"))
        frozen = convert_variables_to_constants_v2(f)
        open(f"{folder}/frozen.pb", "wb").write(frozen.graph.as_graph_def().SerializeToString())
        saved_y = run(f"{folder}/saved", key_in, key_out, x, folder)
        frozen_y = run(f"{folder}/frozen.pb", "x", frozen.outputs[0].name.split(":")[0], x, folder)
        plan = subprocess.run([dlc, "show", f"{folder}/saved", "--stage=plan"], capture_output=True, text=True).stdout
        moves = len(re.findall(r"\((?:transpose|reshape|identity)|^\d+ copy", plan, re.M))
        bad += any(isinstance(y, str) or not np.abs(y - want).max() <= 1e-4 * np.abs(want).max() for y in (saved_y,
            frozen_y))
        print(f"{name} {size}: SavedModel {shown(saved_y, want)}, frozen {shown(frozen_y, want)}, {moves} moves",
            flush=True)
sys.exit(bad > 0)
