#!/usr/bin/env python3
"""Layers that only Keras 2 has, or computes otherwise than Keras 3, with random weights, against tf_keras.

    python3 bench/formats/keras_two.py DLC [PATTERN]

Needs tf_keras (checked with tf_keras 2.21.0 on tensorflow 2.21.0). Each model is saved as .h5 and as .keras; the larger
error is printed, as a part of the largest element.
"""
from keras_compare import compare
import numpy as np
import tf_keras
from tf_keras import layers as L

image, line, codes = (9, 8, 3), (11, 6), (5,)


def call(shape, f, dtype="float32"):
    x = tf_keras.Input(shape, dtype=dtype)
    return tf_keras.Model(x, f(x))


def embedded(f):
    """A model of f on vectors with a mask."""
    return call(codes, lambda x: f(L.Embedding(3, 4, mask_zero=True)(x)), "int32")


cases = {}
for k in (1, 2, 3):
    cases |= {
        f"LocallyConnected1D {k}": lambda k=k: call(line, L.LocallyConnected1D(4, 3, 2, implementation=k,
                                                                               activation="relu")),
        f"LocallyConnected1D first {k}": lambda k=k: call(line, L.LocallyConnected1D(
            4, 3, implementation=k, data_format="channels_first")),
        f"LocallyConnected2D {k}": lambda k=k: call(image, L.LocallyConnected2D(4, (3, 2), (2, 1), implementation=k)),
        f"LocallyConnected2D first {k}": lambda k=k: call((3, 7, 6), L.LocallyConnected2D(
            4, (3, 2), implementation=k, use_bias=False, data_format="channels_first")),
    }
    if k > 1:
        cases |= {
            f"LocallyConnected1D same {k}": lambda k=k: call(line, L.LocallyConnected1D(
                4, 3, 2, "same", implementation=k)),
            f"LocallyConnected2D same {k}": lambda k=k: call(image, L.LocallyConnected2D(
                4, (3, 2), (2, 1), "same", implementation=k)),
        }
for how in "bicubic area gaussian lanczos3 lanczos5 mitchellcubic".split():
    cases[f"Resizing {how}"] = lambda how=how: call(image, L.Resizing(5, 13, how))
    cases[f"UpSampling2D {how}"] = lambda how=how: call(image, L.UpSampling2D((2, 3), interpolation=how))
cases |= {
    "Resizing crop": lambda: call(image, L.Resizing(5, 13, crop_to_aspect_ratio=True)),
    "CenterCrop": lambda: call(image, L.CenterCrop(5, 4)),
    "CenterCrop larger": lambda: call(image, L.CenterCrop(12, 5)),
    "RandomCrop": lambda: call(image, L.RandomCrop(5, 4)), "RandomHeight": lambda: call(image, L.RandomHeight(0.2)),
    "RandomWidth": lambda: call(image, L.RandomWidth(0.2)), "RandomFlip": lambda: call(image, L.RandomFlip()),
    "RandomFlip integers": lambda: call(image, lambda x: L.Rescaling(0.1)(L.RandomFlip()(x)), "int32"),
    "CategoryEncoding": lambda: call(codes, L.CategoryEncoding(4), "int32"),
    "CategoryEncoding count": lambda: call(codes, L.CategoryEncoding(4, "count"), "int32"),
    "Discretization": lambda: call((7,), L.Discretization([-1.0, 0.25, 1.5])),
    "ConvLSTM2D": lambda: call((4, 7, 6, 3), L.ConvLSTM2D(5, (3, 2), padding="same", return_sequences=True)),
    "ConvLSTM1D": lambda: call((4, 9, 3), L.ConvLSTM1D(5, 3)),
    "LSTM gelu": lambda: call(line, L.LSTM(5, "gelu", return_sequences=True)),
    "GRU softmax": lambda: call(line, L.GRU(5, "swish", "softmax", reset_after=False)),
    "LSTM mask gelu": lambda: embedded(lambda e: L.LSTM(5, "gelu", return_sequences=True)(e)),
    "Bidirectional mask gelu": lambda: embedded(lambda e: L.Bidirectional(L.GRU(5, "gelu", return_sequences=True))(e)),
    "MultiHeadAttention mask": lambda: embedded(lambda e: L.MultiHeadAttention(2, 3)(e, e)),
    "MultiHeadAttention mask causal": lambda: embedded(lambda e: L.GlobalAveragePooling1D()(L.MultiHeadAttention(2, 3)(
        e, e, use_causal_mask=True))),
    "MultiHeadAttention mask scores": lambda: embedded(lambda e: L.MultiHeadAttention(2, 3)(
        e, e, return_attention_scores=True)),
    "MultiHeadAttention image": lambda: call((4, 3, 6), lambda x: L.MultiHeadAttention(2, 3)(x, x)),
    "MultiHeadAttention axis": lambda: call((4, 3, 6), lambda x: L.MultiHeadAttention(2, 3, attention_axes=(2,))(x, x)),
    "Attention mask": lambda: embedded(lambda e: L.Attention()([e, e])),
    "Attention mask scores causal": lambda: embedded(lambda e: L.Attention(use_scale=True)(
        [e, e], return_attention_scores=True, use_causal_mask=True)),
    "AdditiveAttention mask": lambda: embedded(lambda e: L.GlobalAveragePooling1D()(L.AdditiveAttention()([e, e]))),
    "Softmax mask input": lambda: call(line, lambda x: L.Softmax()(x, mask=x > 0)),
}


rng = np.random.default_rng(6)


def save(name, make, folder):
    tf_keras.backend.clear_session()
    net = make()
    for w in net.weights:
        w.assign(rng.normal(0, 0.3, w.shape))
    size, kind = (2, *net.inputs[0].shape[1:]), net.inputs[0].dtype
    x = (rng.integers(0, 3, size) if kind.is_integer else rng.uniform(-2, 2, size)).astype(kind.as_numpy_dtype)
    for file in ("m.h5", "m.keras"):
        net.save(f"{folder}/{file}")
    return {net.inputs[0].name: x}, net(x, training=False), [("m.h5",), ("m.keras",)]


compare(cases, save)
