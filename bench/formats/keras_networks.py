#!/usr/bin/env python3
"""Networks of keras.applications with random weights, as .keras and as .h5, against Keras itself.

    python3 bench/formats/keras_networks.py DLC [PATTERN]

Needs keras 3 with a back end (checked with Keras 3.15.1 and tensorflow 2.21.0). Each line: the largest error over the
largest element for both files, and the moves of layout in the plan.
"""
import re, subprocess, sys, tempfile

from keras_applications import count_moves  # before keras: it says which devices are seen
import numpy as np
import keras

networks = dict(
    MobileNet=96, MobileNetV2=96, MobileNetV3Small=64, MobileNetV3Large=64, EfficientNetB0=64, EfficientNetB1=64,
    EfficientNetV2B0=64, EfficientNetV2B1=64, EfficientNetV2S=64, NASNetMobile=64, DenseNet121=64, DenseNet169=64,
    ResNet50=64, ResNet101=64, ResNet50V2=64, ResNet101V2=64, Xception=72, InceptionV3=80, InceptionResNetV2=80,
    VGG16=32, VGG19=32, ConvNeXtTiny=64, ConvNeXtSmall=64)


def run(dlc, model, name, folder):
    r = subprocess.run([dlc, "run", model, "--tuning-db=none", f"--input={name}={folder}/x.npy",
                        f"--output={folder}/y.npz"], capture_output=True, text=True)
    if r.returncode != 0:
        return r.stderr.strip()[:300]
    y = np.load(f"{folder}/y.npz")
    return y[y.files[-1]]


def main():
    dlc, word, bad = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", 0
    rng = np.random.default_rng(3)
    for name, size in networks.items():
        if not re.search(word, name):
            continue
        keras.backend.clear_session()
        keras.utils.set_random_seed(5)
        net = getattr(keras.applications, name)(input_shape=(size, size, 3), weights=None, classes=10)
        for w in net.weights:  # normalisations that do something
            if "gamma" in w.path:  # of residual networks values grow by each block, and roundings with them
                w.assign(rng.uniform(0.25, 0.75, w.shape))
            elif "moving_variance" in w.path:
                w.assign(rng.uniform(0.5, 1.5, w.shape))
            elif re.search("beta|moving_mean|bias", w.path):
                w.assign(rng.uniform(-0.2, 0.2, w.shape))
        x = rng.uniform(-1, 1, (1, size, size, 3)).astype(np.float32)
        want, said = np.array(net(x, training=False)), []
        with tempfile.TemporaryDirectory() as d:
            np.save(f"{d}/x.npy", x)
            for file in ("m.keras", "m.h5"):
                try:
                    net.save(f"{d}/{file}")
                except Exception as e:
                    said.append(f"not saved: {str(e)[:60]}")
                    continue
                y = run(dlc, f"{d}/{file}", net.inputs[0]._keras_history[0].name, d)
                error = y if isinstance(y, str) else np.abs(y - want).max() / np.abs(want).max()
                bad += isinstance(y, str) or not error <= 1e-4
                said.append(error if isinstance(y, str) else f"{error:.1e}")
            moves = count_moves(dlc, f"{d}/m.keras")
        print(f"{name} {size}: .keras {said[0]}, .h5 {said[1]}, {moves}", flush=True)
    print(f"{bad} wrong")


main()
