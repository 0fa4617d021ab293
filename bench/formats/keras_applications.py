"""Networks of keras.applications with random weights, for tensorflow_networks.py and tflite_networks.py."""
import os, re, subprocess

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import keras
import numpy as np

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


def make(word, rng):
    """Each network whose name has the pattern: its name, its size, itself, an input."""
    for name, (network, size) in networks.items():
        if not re.search(word, name):
            continue
        keras.backend.clear_session()
        keras.utils.set_random_seed(5)
        net = network((size, size, 3))
        for w in net.weights:  # normalisations that do something
            if re.search("gamma|moving_variance", w.path):
                w.assign(rng.uniform(0.5, 1.5, w.shape))
            elif re.search("beta|moving_mean|bias", w.path):
                w.assign(rng.uniform(-0.2, 0.2, w.shape))
        yield name, size, net, rng.uniform(-1, 1, (1, size, size, 3)).astype(np.float32)


def run(dlc, model, name_in, name_out, x, folder):
    """The result of dlc, or its refusal."""
    np.save(f"{folder}/x.npy", x)
    r = subprocess.run([dlc, "run", model, "--input", f"{name_in}={folder}/x.npy", "--output",
                        f"{name_out}={folder}/y.npy"], capture_output=True, text=True)
    return np.load(f"{folder}/y.npy") if r.returncode == 0 else r.stderr.strip()[:300]


def count_moves(dlc, model):
    """Steps of the plan that only move elements, and of these the moves of layout at inputs and results."""
    plan = subprocess.run([dlc, "show", model, "--stage=plan"], capture_output=True, text=True).stdout
    edges = re.search(r"^layout moves (\d+) of inputs, (\d+) of outputs", plan, re.M)
    steps = len(re.findall(r"^\d+ .*\((?:transpose|reshape|identity|pad) |^\d+ copy", plan, re.M))
    return f"{steps} moves, {edges[1]} of inputs, {edges[2]} of outputs"
