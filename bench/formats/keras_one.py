#!/usr/bin/env python3
"""Files of Keras 1, written here by their tables, against tf_keras, which still reads their weights.

    python3 bench/formats/keras_one.py DLC [PATTERN]

Needs tf_keras and h5py (checked with tf_keras 2.21.0 on tensorflow 2.21.0). Each case has the configuration in the
words of Keras 1 and the network in those of Keras 2. Weights are random, in the layout of Keras 1; tf_keras turns them
into its own. The largest error is printed, as a part of the largest element.
"""
import json

from keras_compare import compare
import h5py
import numpy as np
import tf_keras
from tf_keras import layers as L

IMAGE, LINE, FLAT = (9, 8, 3), (7, 3), (6,)
rng = np.random.default_rng(5)


def numbers(*shape):
    return rng.normal(0, 0.5, shape).astype(np.float32)


def old(cls, **config):
    return {"class_name": cls, "config": {"trainable": True, **config}}


def conv(cls, **more):
    return old(cls, init="glorot_uniform", activation="linear", W_regularizer=None, b_regularizer=None,
               W_constraint=None, b_constraint=None, activity_regularizer=None, bias=True, **more)


def recurrent(cls, **more):
    return old(cls, output_dim=5, init="glorot_uniform", inner_init="orthogonal", forget_bias_init="one",
               activation="tanh", inner_activation="hard_sigmoid", go_backwards=False, stateful=False, unroll=False,
               dropout_W=0.1, dropout_U=0.0, input_dim=3, input_length=None, U_regularizer=None, **more)


def gates(n):
    return [numbers(*s) for _ in range(n) for s in ((3, 5), (5, 5), (5,))]


image = dict(border_mode="same", subsample=[2, 1], nb_row=3, nb_col=2, nb_filter=4)
# name: input, layers of Keras 1, layers of Keras 2, weights of each layer that has some
cases = {
    "Dense": (FLAT, [old("Dense", output_dim=4, activation="relu", input_dim=6, bias=True), old("Dropout", p=0.5)],
              lambda: [L.Dense(4, "relu"), L.Dropout(0.5)], [[numbers(6, 4), numbers(4)]]),
    "Convolution2D tf": (IMAGE, [conv("Convolution2D", dim_ordering="tf", **image)],
                         lambda: [L.Conv2D(4, (3, 2), (2, 1), "same")], [[numbers(3, 2, 3, 4), numbers(4)]]),
    "Convolution2D th": ((3, 9, 8), [conv("Convolution2D", dim_ordering="th", **image)],
                         lambda: [L.Conv2D(4, (3, 2), (2, 1), "same", data_format="channels_first")],
                         [[numbers(4, 3, 3, 2), numbers(4)]]),
    "AtrousConvolution2D": (IMAGE, [conv("AtrousConvolution2D", dim_ordering="tf", atrous_rate=[2, 2], nb_filter=4,
                                         nb_row=3, nb_col=3, border_mode="valid", subsample=[1, 1])],
                            lambda: [L.Conv2D(4, 3, dilation_rate=2)], [[numbers(3, 3, 3, 4), numbers(4)]]),
    "Convolution1D": (LINE, [conv("Convolution1D", nb_filter=4, filter_length=3, subsample_length=2, border_mode="same",
                                  input_dim=3, input_length=7)],
                      lambda: [L.Conv1D(4, 3, 2, "same")], [[numbers(3, 1, 3, 4), numbers(4)]]),
    "Convolution1D of 1.0": (LINE, [conv("Convolution1D", nb_filter=4, filter_length=3, subsample_length=1,
                                         border_mode="valid")],
                             lambda: [L.Conv1D(4, 3)], [[numbers(4, 3, 3, 1), numbers(4)]]),
    "Convolution3D": ((5, 6, 7, 2), [conv("Convolution3D", dim_ordering="tf", nb_filter=4, kernel_dim1=2, kernel_dim2=3,
                                          kernel_dim3=2, subsample=[1, 1, 2], border_mode="valid")],
                      lambda: [L.Conv3D(4, (2, 3, 2), (1, 1, 2))], [[numbers(2, 3, 2, 2, 4), numbers(4)]]),
    "Deconvolution2D": (IMAGE, [conv("Deconvolution2D", dim_ordering="tf", output_shape=[None, 18, 16, 4], nb_filter=4,
                                     nb_row=3, nb_col=3, subsample=[2, 2], border_mode="same")],
                        lambda: [L.Conv2DTranspose(4, 3, 2, "same")], [[numbers(3, 3, 3, 4), numbers(4)]]),
    "SeparableConvolution2D": (IMAGE, [old("SeparableConvolution2D", nb_filter=4, nb_row=3, nb_col=3, init="x",
        activation="relu", border_mode="same", subsample=[1, 1], depth_multiplier=2, dim_ordering="tf", bias=True,
        depthwise_regularizer=None, pointwise_constraint=None)],
        lambda: [L.SeparableConv2D(4, 3, padding="same", depth_multiplier=2, activation="relu")],
        [[numbers(3, 3, 3, 2), numbers(1, 1, 6, 4), numbers(4)]]),
    "poolings": (IMAGE, [old("MaxPooling2D", pool_size=[2, 2], strides=[2, 1], border_mode="same", dim_ordering="tf"),
                         old("ZeroPadding2D", padding={"top_pad": 1, "bottom_pad": 0, "left_pad": 2, "right_pad": 1},
                             dim_ordering="tf"),
                         old("UpSampling2D", size=[2, 2], dim_ordering="tf"),
                         old("GlobalAveragePooling2D", dim_ordering="tf")],
                 lambda: [L.MaxPooling2D(2, (2, 1), "same"), L.ZeroPadding2D(((1, 0), (2, 1))), L.UpSampling2D(2),
                          L.GlobalAveragePooling2D()], []),
    "poolings 1D": (LINE, [old("AveragePooling1D", pool_length=2, stride=1, border_mode="valid"),
                           old("UpSampling1D", length=3), old("GaussianNoise", sigma=0.1), old("Flatten")],
                    lambda: [L.AveragePooling1D(2, 1), L.UpSampling1D(3), L.GaussianNoise(0.1), L.Flatten()], []),
    "BatchNormalization": (IMAGE, [old("BatchNormalization", epsilon=0.01, mode=0, axis=-1, momentum=0.9,
                                       gamma_regularizer=None, beta_regularizer=None)],
                           lambda: [L.BatchNormalization(epsilon=0.01)],
                           [[numbers(3), numbers(3), numbers(3), abs(numbers(3)) + 0.5]]),
    "LSTM": (LINE, [recurrent("LSTM", consume_less="cpu", return_sequences=True)],
             lambda: [L.LSTM(5, recurrent_activation="hard_sigmoid", return_sequences=True)], [gates(4)]),
    "LSTM gpu": (LINE, [recurrent("LSTM", consume_less="gpu", return_sequences=False)],
                 lambda: [L.LSTM(5, recurrent_activation="hard_sigmoid")],
                 [[numbers(3, 20), numbers(5, 20), numbers(20)]]),
    "GRU": (LINE, [recurrent("GRU", consume_less="mem", return_sequences=True)],
            lambda: [L.GRU(5, recurrent_activation="hard_sigmoid", return_sequences=True, reset_after=False)],
            [gates(3)]),
    "SimpleRNN": (LINE, [recurrent("SimpleRNN", consume_less="cpu", return_sequences=False)],
                  lambda: [L.SimpleRNN(5)], [gates(1)]),
    "Bidirectional": (LINE, [old("Bidirectional", merge_mode="concat", layer=recurrent("LSTM", consume_less="cpu",
                                                                                         return_sequences=True))],
                      lambda: [L.Bidirectional(L.LSTM(5, recurrent_activation="hard_sigmoid", return_sequences=True))],
                      [gates(4) + gates(4)]),
    "TimeDistributedDense": (LINE, [old("TimeDistributedDense", output_dim=4, init="x", activation="tanh", bias=True)],
                             lambda: [L.Dense(4, "tanh")], [[numbers(3, 4), numbers(4)]]),
}


class Highway(L.Layer):
    """As Keras 1 had it."""
    def __init__(self, **how):
        super().__init__(**how)
        self.own = [self.add_weight(f"w{k}", s) for k, s in enumerate(((6, 6), (6, 6), (6,), (6,)))]

    def call(self, x):
        w, carry, b, carry_bias = self.own
        t = tf_keras.activations.sigmoid(x @ carry + carry_bias)
        return tf_keras.activations.tanh(x @ w + b) * t + (1 - t) * x


class MaxoutDense(L.Layer):
    def __init__(self, **how):
        super().__init__(**how)
        self.own = [self.add_weight(f"w{k}", s) for k, s in enumerate(((3, 6, 4), (3, 4)))]

    def call(self, x):
        w, b = self.own
        return tf_keras.backend.max(tf_keras.backend.dot(x, w) + b, axis=1)


class Cosine(L.Layer):
    """The mode cos of Merge."""
    def call(self, x):
        dot = tf_keras.backend.batch_dot
        a, b = x
        length = tf_keras.backend.sqrt(dot(a, a, (1, 1)) * dot(b, b, (1, 1)))
        return tf_keras.backend.expand_dims(dot(a, b, (1, 1)) / tf_keras.backend.maximum(length, 1e-7), 1)


cases |= {
    "Highway": (FLAT, [old("Highway", init="x", activation="tanh", bias=True, input_dim=6, W_regularizer=None)],
                lambda: [Highway()], [[numbers(6, 6), numbers(6, 6), numbers(6), numbers(6)]]),
    "MaxoutDense": (FLAT, [old("MaxoutDense", init="x", output_dim=4, nb_feature=3, bias=True, input_dim=6)],
                    lambda: [MaxoutDense()], [[numbers(3, 6, 4), numbers(3, 4)]]),
}
for mode, axes, layer in (("sum", {}, L.Add), ("mul", {}, L.Multiply), ("ave", {}, L.Average), ("max", {}, L.Maximum),
                          ("concat", {"concat_axis": 1}, lambda: L.Concatenate(axis=1)),
                          ("dot", {"dot_axes": [2, 2]}, lambda: L.Dot(axes=(2, 2)))):
    cases["Merge " + mode] = (LINE, (mode, axes), layer, [])
cases["Merge cos"] = (FLAT, ("cos", {"dot_axes": [1, 1]}), Cosine, [])


def write_weights(h, names, layers):
    """The layers' data sets, called and listed as Keras 1 does."""
    h.attrs["layer_names"] = [n.encode() for n in names]
    for name, arrays in zip(names, layers):
        g = h.create_group(name)
        g.attrs["weight_names"] = [f"{name}_{k}".encode() for k in range(len(arrays))]
        for k, a in enumerate(arrays):
            g[f"{name}_{k}"] = a


def sequence(shape, layers, make, weights):
    config, stored, k = [], [], 0
    for i, layer in enumerate(layers):
        config.append({"class_name": layer["class_name"], "config": {"name": f"y{i}", **layer["config"]}})
        if i == 0:
            config[0]["config"] |= {"batch_input_shape": [None, *shape], "input_dtype": "float32"}
    net = tf_keras.Sequential([tf_keras.Input(shape), *make()])
    for layer in net.layers:
        stored.append(weights[k] if layer.weights else [])
        k += bool(layer.weights)
    return {"class_name": "Sequential", "config": config}, net, stored, ["y0_input"]


def merge(shape, layers, make, _):
    mode, axes = layers
    x = [tf_keras.Input(shape, name=n) for n in ("a", "b")]
    members = [{"class_name": "InputLayer", "name": n, "inbound_nodes": [], "config": {
        "batch_input_shape": [None, *shape], "input_dtype": "float32", "sparse": False, "name": n}} for n in ("a", "b")]
    members.append({"class_name": "Merge", "name": "m", "inbound_nodes": [[["a", 0, 0], ["b", 0, 0]]], "config": {
        "name": "m", "mode": mode, "mode_type": "raw", "concat_axis": -1, "dot_axes": -1, "output_shape": None,
        "output_shape_type": "raw", "output_mask": None, "arguments": {}, **axes}})
    config = {"name": "net", "layers": members, "input_layers": [["a", 0, 0], ["b", 0, 0]],
              "output_layers": [["m", 0, 0]]}
    return {"class_name": "Model", "config": config}, tf_keras.Model(x, make()(x)), [[], [], []], ["a", "b"]


def save(name, case, folder):
    config, net, stored, inputs = (merge if name.startswith("Merge") else sequence)(*case)
    with h5py.File(f"{folder}/w.h5", "w") as h:
        write_weights(h, [layer.name for layer in net.layers], stored)
    with h5py.File(f"{folder}/m.h5", "w") as h:
        h.attrs["keras_version"], h.attrs["backend"] = b"1.2.2", b"tensorflow"
        h.attrs["model_config"] = json.dumps(config).encode()
        write_weights(h.create_group("model_weights"), [f"y{k}" for k in range(len(stored))], stored)
    net.load_weights(f"{folder}/w.h5")
    x = [numbers(2, *case[0]) for _ in inputs]
    return dict(zip(inputs, x)), net(x[0] if len(x) == 1 else x, training=False), [("m.h5",)]


compare(cases, save)
