#!/usr/bin/env python3
"""Networks of keras.applications, random weights, as SavedModel and as frozen graph, against TensorFlow itself.

    python3 bench/formats/tensorflow_networks.py DLC [PATTERN]

Needs tensorflow (checked with 2.21.0 and Keras 3.15.1). Each line: the largest error over the largest element for both
files, and the moves of layout in the plan.
"""
import sys, tempfile

from keras_applications import count_moves, make, run  # before tensorflow: it says which devices are seen
import numpy as np
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

dlc, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
rng = np.random.default_rng(3)


def shown(y, want):
    return y if isinstance(y, str) else f"{np.abs(y - want).max() / np.abs(want).max():.1e}"


count = bad = 0
for name, size, net, x in make(word, rng):
    count += 1
    with tempfile.TemporaryDirectory() as folder:
        net.export(f"{folder}/saved", verbose=False)
        served = tf.saved_model.load(f"{folder}/saved").signatures["serving_default"]
        key_in, key_out = list(served.structured_input_signature[1])[0], list(served.structured_outputs)[0]
        want = served(**{key_in: tf.constant(x)})[key_out].numpy()
        f = tf.function(lambda a: net(a, training=False)).get_concrete_function(tf.TensorSpec((1, size, size, 3),
            tf.float32, name="x"))
        frozen = convert_variables_to_constants_v2(f)
        open(f"{folder}/frozen.pb", "wb").write(frozen.graph.as_graph_def().SerializeToString())
        saved_y = run(dlc, f"{folder}/saved", key_in, key_out, x, folder)
        frozen_y = run(dlc, f"{folder}/frozen.pb", "x", frozen.outputs[0].name.split(":")[0], x, folder)
        moves = count_moves(dlc, f"{folder}/saved")
        bad += any(isinstance(y, str) or not np.abs(y - want).max() <= 1e-4 * np.abs(want).max() for y in (saved_y,
            frozen_y))
        print(f"{name} {size}: SavedModel {shown(saved_y, want)}, frozen {shown(frozen_y, want)}, {moves}",
            flush=True)
print(f"{count - bad} of {count} networks right")
sys.exit(bad > 0)
