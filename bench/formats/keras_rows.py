#!/usr/bin/env python3
"""Each layer that dlc reads, with random weights and inputs, against Keras itself.

    python3 bench/formats/keras_rows.py DLC [PATTERN]

Needs keras 3 with a back end (checked with Keras 3.15.1 and tensorflow 2.21.0). Each model is saved as .keras, as .h5,
and as configuration with weights apart; the largest error of the three is printed, as a part of the largest element.
"""
from keras_compare import compare
import numpy as np
import keras
from keras import layers as L, ops

image, image3, line, flat = (9, 8, 6), (5, 6, 7, 4), (11, 6), (7,)


def call(shape, f, dtype="float32"):
    """A model of one input."""
    x = keras.Input(shape, dtype=dtype)
    return keras.Model(x, f(x))


def two(a, b, f):
    x, y = keras.Input(a), keras.Input(b)
    return keras.Model([x, y], f(x, y))


def three(a, b, c, f):
    x = [keras.Input(s) for s in (a, b, c)]
    return keras.Model(x, f(*x))


def shared():
    x, y, d = keras.Input(flat), keras.Input(flat), L.Dense(5, "relu")
    return keras.Model([x, y], L.Concatenate()([d(x), d(y)]))


def nested(twice=False):
    inner = keras.Sequential([keras.Input(flat), L.Dense(5, "tanh"), L.BatchNormalization(), L.Dense(7)])
    a = keras.Input(flat)
    deep = keras.Model(a, [inner(a), L.Dense(3)(a)])
    x = keras.Input(flat)
    p, q = deep(x)
    if twice:
        p, r = deep(p)
        q = L.Add()([q, r])
    return keras.Model(x, [L.Dense(2)(p), q])


cases = {}
for act in ("linear relu relu6 elu selu celu gelu silu swish tanh sigmoid softmax log_softmax softplus softsign "
            "exponential hard_sigmoid hard_silu hard_tanh leaky_relu mish log_sigmoid tanh_shrink squareplus "
            "sparse_plus sparse_sigmoid soft_shrink hard_shrink sparsemax").split():
    cases[f"activation {act}"] = lambda act=act: call(image, L.Activation(act))
    cases[f"Dense {act}"] = lambda act=act: call(flat, L.Dense(5, act))
for name, layer in {
    "ReLU": lambda: L.ReLU(), "ReLU max": lambda: L.ReLU(1.0), "ReLU slope": lambda: L.ReLU(negative_slope=0.2),
    "ReLU all": lambda: L.ReLU(1.5, 0.1, 0.3), "LeakyReLU": lambda: L.LeakyReLU(0.15), "ELU": lambda: L.ELU(0.7),
    "PReLU": lambda: L.PReLU(alpha_initializer="normal"),
    "PReLU shared": lambda: L.PReLU(alpha_initializer="normal", shared_axes=[1, 2]), "Softmax": lambda: L.Softmax(),
    "Softmax axis": lambda: L.Softmax(1), "Dense image": lambda: L.Dense(5), "Dropout": lambda: L.Dropout(0.3),
    "SpatialDropout2D": lambda: L.SpatialDropout2D(0.3), "GaussianNoise": lambda: L.GaussianNoise(0.3),
    "GaussianDropout": lambda: L.GaussianDropout(0.3), "AlphaDropout": lambda: L.AlphaDropout(0.3),
    "Identity": lambda: L.Identity(), "ActivityRegularization": lambda: L.ActivityRegularization(0.1),
    "Flatten": lambda: L.Flatten(), "Reshape": lambda: L.Reshape((6, -1)), "Permute": lambda: L.Permute((3, 1, 2)),
    "Rescaling": lambda: L.Rescaling(0.5, -1), "Rescaling list": lambda: L.Rescaling([.1, .2, .3, .4, .5, .6]),
    "Normalization": lambda: L.Normalization(mean=[.1, .2, .3, .4, .5, .6], variance=[1, 2, 3, 4, 5, 6]),
    "Normalization scalar": lambda: L.Normalization(axis=None, mean=.1, variance=2),
    "Normalization invert": lambda: L.Normalization(axis=None, mean=.1, variance=2, invert=True),
    "EinsumDense": lambda: L.EinsumDense("abcd,de->abce", (None, None, 5), bias_axes="e"),
    "EinsumDense two": lambda: L.EinsumDense("abcd,cde->abe", (9, 5), "relu", bias_axes="be"),
    "EinsumDense dots": lambda: L.EinsumDense("...x,xy->...y", 5, bias_axes="y"),
    "Conv2D": lambda: L.Conv2D(5, 3), "Conv2D same": lambda: L.Conv2D(5, (3, 4), 2, "same", activation="relu"),
    "Conv2D dilated": lambda: L.Conv2D(5, 3, dilation_rate=2, use_bias=False),
    "Conv2D groups": lambda: L.Conv2D(4, 3, groups=2, padding="same"),
    "DepthwiseConv2D": lambda: L.DepthwiseConv2D(3, 2, "same", depth_multiplier=2),
    "SeparableConv2D": lambda: L.SeparableConv2D(5, 3, depth_multiplier=2, padding="same", activation="elu"),
    "Conv2DTranspose": lambda: L.Conv2DTranspose(5, 3),
    "Conv2DTranspose same": lambda: L.Conv2DTranspose(5, 3, 2, "same", activation="relu"),
    "Conv2DTranspose valid": lambda: L.Conv2DTranspose(5, (4, 3), (2, 3)),
    "Conv2DTranspose small": lambda: L.Conv2DTranspose(5, 2, 3),
    "Conv2DTranspose small same": lambda: L.Conv2DTranspose(5, 2, 3, "same"),
    "Conv2DTranspose output_padding": lambda: L.Conv2DTranspose(5, 3, 2, "same", output_padding=1),
    "Conv2DTranspose output_padding valid": lambda: L.Conv2DTranspose(5, 3, 2, output_padding=1),
    "MaxPooling2D": lambda: L.MaxPooling2D(), "MaxPooling2D same": lambda: L.MaxPooling2D(3, 2, "same"),
    "AveragePooling2D": lambda: L.AveragePooling2D((3, 2)),
    "AveragePooling2D same": lambda: L.AveragePooling2D(3, 2, "same"),
    "GlobalAveragePooling2D": lambda: L.GlobalAveragePooling2D(),
    "GlobalAveragePooling2D keep": lambda: L.GlobalAveragePooling2D(keepdims=True),
    "GlobalMaxPooling2D": lambda: L.GlobalMaxPooling2D(), "UpSampling2D": lambda: L.UpSampling2D((2, 3)),
    "UpSampling2D bilinear": lambda: L.UpSampling2D(2, interpolation="bilinear"),
    "ZeroPadding2D": lambda: L.ZeroPadding2D(), "ZeroPadding2D pairs": lambda: L.ZeroPadding2D(((1, 2), (3, 0))),
    "Cropping2D": lambda: L.Cropping2D((1, 2)), "Cropping2D pairs": lambda: L.Cropping2D(((1, 2), (3, 0))),
    "Resizing": lambda: L.Resizing(5, 13), "Resizing nearest": lambda: L.Resizing(5, 13, "nearest"),
    "BatchNormalization": lambda: L.BatchNormalization(), "BatchNormalization axis": lambda: L.BatchNormalization(1),
    "BatchNormalization middle": lambda: L.BatchNormalization(2),
    "BatchNormalization plain": lambda: L.BatchNormalization(center=False, scale=False, epsilon=0.1),
    "LayerNormalization": lambda: L.LayerNormalization(),
    "LayerNormalization axes": lambda: L.LayerNormalization([1, 3], epsilon=1e-5),
    "LayerNormalization plain": lambda: L.LayerNormalization(center=False, scale=False),
    "GroupNormalization": lambda: L.GroupNormalization(3), "GroupNormalization each": lambda: L.GroupNormalization(-1),
    "RMSNormalization": lambda: L.RMSNormalization(), "UnitNormalization": lambda: L.UnitNormalization(),
    "TimeDistributed Dense": lambda: L.TimeDistributed(L.Dense(5)),
    "TimeDistributed Conv1D": lambda: L.TimeDistributed(L.Conv1D(5, 3)),
    "TimeDistributed model": lambda: L.TimeDistributed(
        keras.Sequential([keras.Input((8, 6)), L.Conv1D(5, 3), L.Flatten(), L.Dense(4)])),
}.items():
    cases[name] = lambda layer=layer: call(image, layer())
for name, layer in {
    "Conv1D": lambda: L.Conv1D(5, 3, 2), "Conv1D causal": lambda: L.Conv1D(5, 3, padding="causal", dilation_rate=2),
    "SeparableConv1D": lambda: L.SeparableConv1D(5, 3), "DepthwiseConv1D": lambda: L.DepthwiseConv1D(3),
    "Conv1DTranspose": lambda: L.Conv1DTranspose(5, 3, 2, "same"), "MaxPooling1D": lambda: L.MaxPooling1D(3, 2),
    "AveragePooling1D": lambda: L.AveragePooling1D(3, 2, "same"), "GlobalMaxPooling1D": lambda: L.GlobalMaxPooling1D(),
    "GlobalAveragePooling1D": lambda: L.GlobalAveragePooling1D(), "UpSampling1D": lambda: L.UpSampling1D(3),
    "ZeroPadding1D": lambda: L.ZeroPadding1D((2, 1)), "Cropping1D": lambda: L.Cropping1D((2, 1)),
    "SpatialDropout1D": lambda: L.SpatialDropout1D(0.2), "Dense line": lambda: L.Dense(5, "relu"),
    "Permute line": lambda: L.Permute((2, 1)), "PReLU line": lambda: L.PReLU(alpha_initializer="normal"),
    "SimpleRNN": lambda: L.SimpleRNN(5), "SimpleRNN relu": lambda: L.SimpleRNN(5, "relu", return_sequences=True),
    "SimpleRNN back": lambda: L.SimpleRNN(5, go_backwards=True, return_sequences=True),
    "LSTM": lambda: L.LSTM(5), "LSTM sequences": lambda: L.LSTM(5, return_sequences=True),
    "LSTM acts": lambda: L.LSTM(5, "relu", "hard_sigmoid", use_bias=False),
    "LSTM state": lambda: L.LSTM(5, return_state=True, return_sequences=True),
    "GRU": lambda: L.GRU(5), "GRU before": lambda: L.GRU(5, reset_after=False, return_sequences=True),
    "GRU back": lambda: L.GRU(5, go_backwards=True, return_state=True), "GRU plain": lambda: L.GRU(5, use_bias=False),
    "RNN cell": lambda: L.RNN(L.LSTMCell(5), return_sequences=True),
    "RNN stacked": lambda: L.RNN([L.LSTMCell(5), L.GRUCell(4), L.SimpleRNNCell(3)]),
    "Bidirectional": lambda: L.Bidirectional(L.LSTM(5)),
    "Bidirectional sequences": lambda: L.Bidirectional(L.GRU(5, return_sequences=True)),
    "Bidirectional sum": lambda: L.Bidirectional(L.SimpleRNN(5, return_sequences=True), "sum"),
    "Bidirectional mul": lambda: L.Bidirectional(L.LSTM(5), "mul"),
    "Bidirectional ave": lambda: L.Bidirectional(L.LSTM(5), "ave"),
    "Bidirectional none": lambda: L.Bidirectional(L.LSTM(5, return_sequences=True), None),
    "Bidirectional state": lambda: L.Bidirectional(L.LSTM(5, return_state=True)),
    "Bidirectional two": lambda: L.Bidirectional(L.LSTM(5), backward_layer=L.GRU(4, go_backwards=True)),
}.items():
    cases[name] = lambda layer=layer: call(line, layer())
for act in ("gelu silu selu softmax relu6 hard_silu mish celu hard_tanh log_sigmoid log_softmax sparsemax "
            "tanh_shrink soft_shrink squareplus").split():
    cases[f"LSTM written out {act}"] = lambda act=act: call(line, L.LSTM(5, act, return_sequences=True))
    cases[f"GRU written out {act}"] = lambda act=act: call(line, L.GRU(5, "tanh", act))
cases |= {
    "SimpleRNN written out": lambda: call(line, L.SimpleRNN(5, "gelu", return_sequences=True, go_backwards=True)),
    "GRU written out before": lambda: call(line, L.GRU(5, "silu", "softmax", reset_after=False, return_sequences=True)),
    "GRU written out exponential": lambda: call((3, 6), L.GRU(5, "tanh", "exponential")),
    "GRU written out plain": lambda: call(line, L.GRU(5, "mish", use_bias=False)),
    "LSTM written out states": lambda: three(line, (5,), (5,), lambda x, h, c: L.LSTM(5, "gelu", return_state=True)(
        x, initial_state=[h, c])),
    "LSTM written out layer": lambda: call(line, L.LSTM(5, L.ReLU(1.5), L.LeakyReLU(0.1))),
    "Bidirectional written out": lambda: call(line, L.Bidirectional(L.LSTM(5, "selu", return_sequences=True))),
    "RNN written out": lambda: call(line, L.RNN([L.LSTMCell(5, "gelu"), L.GRUCell(4, "relu6")], return_sequences=True)),
    "mask LSTM written out": lambda: call(line, lambda x: L.LSTM(5, "gelu", return_sequences=True)(L.Masking()(x))),
    "mask GRU written out backwards": lambda: call(line, lambda x: L.GRU(5, "gelu", return_sequences=True,
                                                                          go_backwards=True)(L.Masking()(x))),
    "ConvLSTM1D": lambda: call((4, 9, 3), L.ConvLSTM1D(5, 3, return_sequences=True)),
    "ConvLSTM2D": lambda: call((4, 7, 6, 3), L.ConvLSTM2D(5, (3, 2), padding="same")),
    "ConvLSTM2D back": lambda: call((4, 7, 6, 3), L.ConvLSTM2D(
        5, 3, 2, "same", return_sequences=True, activation="relu", go_backwards=True, use_bias=False)),
    "ConvLSTM2D states": lambda: call((3, 7, 6, 3), L.ConvLSTM2D(4, 3, dilation_rate=2, return_state=True,
                                                                  activation="softmax")),
    "ConvLSTM3D": lambda: call((3, 4, 5, 6, 2), L.ConvLSTM3D(3, 2, return_sequences=True)),
    "AdaptiveAveragePooling1D": lambda: call(line, L.AdaptiveAveragePooling1D(4)),
    "AdaptiveAveragePooling2D": lambda: call(image, L.AdaptiveAveragePooling2D((3, 5))),
    "AdaptiveAveragePooling2D even": lambda: call(image, L.AdaptiveAveragePooling2D((3, 4))),
    "AdaptiveAveragePooling3D": lambda: call(image3, L.AdaptiveAveragePooling3D((2, 4, 3))),
    "AdaptiveMaxPooling1D": lambda: call(line, L.AdaptiveMaxPooling1D(4)),
    "AdaptiveMaxPooling2D": lambda: call(image, L.AdaptiveMaxPooling2D((4, 5))),
    "AdaptiveMaxPooling3D": lambda: call(image3, L.AdaptiveMaxPooling3D((2, 4, 3))),
    "SpectralNormalization": lambda: call(image, L.SpectralNormalization(L.Conv2D(5, 3, activation="relu"))),
    "SpectralNormalization Dense": lambda: call(line, L.SpectralNormalization(L.Dense(5))),
    "CenterCrop": lambda: call(image, L.CenterCrop(5, 4)),
    "CenterCrop larger": lambda: call(image, L.CenterCrop(12, 5)),
    "Resizing crop": lambda: call(image, L.Resizing(5, 13, crop_to_aspect_ratio=True)),
    "Resizing pad": lambda: call(image, L.Resizing(5, 13, pad_to_aspect_ratio=True, fill_value=0.5)),
    "Resizing antialias": lambda: call(image, L.Resizing(5, 4, antialias=True)),
    "Resizing antialias bicubic": lambda: call(image, L.Resizing(5, 4, "bicubic", antialias=True)),
}
for name in ("RandomBrightness RandomColorDegeneration RandomColorJitter RandomContrast RandomElasticTransform "
             "RandomErasing RandomFlip RandomGaussianBlur RandomGrayscale RandomHue RandomInvert RandomPerspective "
             "RandomPosterization RandomRotation RandomSaturation RandomSharpness RandomShear RandomTranslation "
             "RandomZoom AugMix CutMix MixUp RandAugment Solarization").split():
    given = {"RandomPosterization": (4,), "RandomTranslation": (0.2, 0.2)}.get(name, (0.2,) if name in (
        "RandomBrightness", "RandomContrast", "RandomSaturation", "RandomSharpness", "RandomHue", "RandomRotation",
        "RandomColorDegeneration", "RandomZoom") else ())
    cases[name] = lambda name=name, given=given: call((9, 8, 3), getattr(L, name)(*given))
cases |= {
    "RandomCrop": lambda: call(image, L.RandomCrop(5, 4)),
    "CategoryEncoding codes": lambda: call((5,), L.CategoryEncoding(4), "int32"),
    "CategoryEncoding codes count": lambda: call((5,), L.CategoryEncoding(4, "count"), "int32"),
    "CategoryEncoding codes one_hot": lambda: call((1,), L.CategoryEncoding(4, "one_hot"), "int32"),
    "Discretization": lambda: call(flat, L.Discretization([-1.0, 0.25, 1.5])),
    "Discretization one_hot": lambda: call((1,), L.Discretization([-1.0, 0.25, 1.5], output_mode="one_hot")),
    "Discretization multi_hot": lambda: call(flat, L.Discretization([-1.0, 0.25, 1.5], output_mode="multi_hot")),
    "ReversibleEmbedding codes": lambda: call((5,), (lambda e: lambda x: e(e(x), reverse=True))(
        L.ReversibleEmbedding(4, 6, logit_soft_cap=2.0)), "int32"),
    "ReversibleEmbedding codes untied": lambda: call((5,), (lambda e: lambda x: e(e(x), reverse=True))(
        L.ReversibleEmbedding(4, 6, tie_weights=False)), "int32"),
}
for how in "bicubic lanczos3 lanczos5".split():
    cases[f"UpSampling2D {how}"] = lambda how=how: call(image, L.UpSampling2D((2, 3), interpolation=how))
    cases[f"Resizing {how}"] = lambda how=how: call(image, L.Resizing(5, 13, how))
for name, layer in {
    "Conv3D": lambda: L.Conv3D(5, 3, padding="same"), "Conv3DTranspose": lambda: L.Conv3DTranspose(3, 2, 2),
    "MaxPooling3D": lambda: L.MaxPooling3D(), "AveragePooling3D": lambda: L.AveragePooling3D(2, padding="same"),
    "GlobalMaxPooling3D": lambda: L.GlobalMaxPooling3D(), "UpSampling3D": lambda: L.UpSampling3D((2, 1, 3)),
    "GlobalAveragePooling3D": lambda: L.GlobalAveragePooling3D(), "Cropping3D": lambda: L.Cropping3D((1, 2, 1)),
    "ZeroPadding3D": lambda: L.ZeroPadding3D(((1, 0), (0, 2), (1, 1))),
    "SpatialDropout3D": lambda: L.SpatialDropout3D(0.1),
    "TimeDistributed Conv2D": lambda: L.TimeDistributed(L.Conv2D(5, 3, 2, "same")),
}.items():
    cases[name] = lambda layer=layer: call(image3, layer())
for name, f in {
    "Add": L.Add, "Subtract": L.Subtract, "Multiply": L.Multiply, "Average": L.Average, "Maximum": L.Maximum,
    "Minimum": L.Minimum,
}.items():
    cases[name] = lambda f=f: two(image, image, lambda x, y: f()([x, y]))
    cases[f"{name} broadcast"] = lambda f=f: two(image, (1, 1, 6), lambda x, y: f()([L.Conv2D(6, 1)(x), y]))
cases |= {
    "Add ranks": lambda: two(image, (6,), lambda x, y: L.Add()([x, y])),
    "Add three": lambda: three(line, line, line, lambda x, y, z: L.Add()([x, y, z])),
    "Concatenate": lambda: two(image, image, lambda x, y: L.Concatenate()([x, y])),
    "Concatenate axis": lambda: two(image, image, lambda x, y: L.Concatenate(axis=1)([L.Conv2D(6, 1)(x), y])),
    "Dot": lambda: two(line, line, lambda x, y: L.Dot(axes=(2, 2))([x, y])),
    "Dot one": lambda: two(line, line, lambda x, y: L.Dot(axes=1, normalize=True)([x, y])),
    "Dot flat": lambda: two(flat, flat, lambda x, y: L.Dot(axes=1)([x, y])),
    "RepeatVector": lambda: call(flat, L.RepeatVector(4)),
    "Embedding": lambda: call((5,), L.Embedding(9, 4), "int32"),
    "Embedding float": lambda: call((5,), L.Embedding(9, 4)),
    "LSTM from state": lambda: three(line, (5,), (5,), lambda x, h, c: L.LSTM(5)(x, initial_state=[h, c])),
    "GRU from state": lambda: two(line, (5,), lambda x, h: L.GRU(5, return_sequences=True)(x, initial_state=h)),
    "LayerNormalization rms": lambda: call(line, L.LayerNormalization(rms_scaling=True)),
    "mask LSTM": lambda: call(line, lambda x: L.LSTM(5)(L.Masking()(x))),
    "mask GRU sequences": lambda: call(line, lambda x: L.GRU(5, return_sequences=True)(L.Masking()(x))),
    "mask LSTM backwards": lambda: call(line, lambda x: L.LSTM(5, return_sequences=True, go_backwards=True)(
        L.Masking()(x))),
    "mask LSTM states": lambda: call(line, lambda x: L.LSTM(5, return_sequences=True, return_state=True)(
        L.Masking()(x))),
    "mask SimpleRNN zeros": lambda: call(line, lambda x: L.RNN(L.SimpleRNNCell(5), return_sequences=True,
                                                                zero_output_for_mask=True)(L.Masking()(x))),
    "mask Bidirectional": lambda: call(line, lambda x: L.Bidirectional(L.GRU(5, return_sequences=True))(
        L.Masking()(x))),
    "mask stacked": lambda: call(line, lambda x: L.RNN([L.GRUCell(4), L.LSTMCell(3)], return_sequences=True)(
        L.Masking()(x))),
    "mask Sequential": lambda: keras.Sequential([keras.Input(line), L.Masking(), L.Dense(4), L.Dropout(0.5),
        L.LSTM(5, return_sequences=True), L.Bidirectional(L.GRU(3)), L.Dense(2)]),
    "mask Sequential pooled": lambda: keras.Sequential([keras.Input((5,), dtype="int32"),
        L.Embedding(3, 4, mask_zero=True), L.GlobalAveragePooling1D()]),
    "mask Embedding": lambda: call((5,), lambda x: L.LSTM(5)(L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "mask dropped": lambda: call((5,), lambda x: L.LSTM(5)(L.Conv1D(3, 2)(L.Embedding(3, 4, mask_zero=True)(x))),
                                 "int32"),
    "MultiHeadAttention": lambda: call(line, lambda x: L.MultiHeadAttention(2, 3)(x, x)),
    "MultiHeadAttention cross": lambda: three(line, (5, 4), (5, 3), lambda q, v, k: L.MultiHeadAttention(
        2, 3, value_dim=4, output_shape=5, use_bias=False)(q, value=v, key=k)),
    "MultiHeadAttention causal": lambda: call(line, lambda x: L.MultiHeadAttention(2, 3)(x, x, use_causal_mask=True)),
    "MultiHeadAttention image": lambda: call((4, 3, 6), lambda x: L.MultiHeadAttention(2, 3)(x, x)),
    "MultiHeadAttention axis": lambda: call((4, 3, 6), lambda x: L.MultiHeadAttention(2, 3, attention_axes=2)(x, x)),
    "MultiHeadAttention axis one": lambda: call((4, 3, 6), lambda x: L.MultiHeadAttention(2, 3, attention_axes=(1,))(
        x, x, use_causal_mask=True)),
    "MultiHeadAttention axes": lambda: two((2, 4, 3, 6), (2, 5, 2, 6), lambda q, v: L.MultiHeadAttention(
        2, 3, attention_axes=(2, 3), value_dim=4)(q, v)),
    "MultiHeadAttention scores": lambda: two(line, (5, 6), lambda q, v: L.MultiHeadAttention(2, 3)(
        q, v, return_attention_scores=True)),
    "MultiHeadAttention scores causal": lambda: call(line, lambda x: L.MultiHeadAttention(2, 3)(
        x, x, return_attention_scores=True, use_causal_mask=True)),
    "MultiHeadAttention dropout causal": lambda: call(line, lambda x: L.MultiHeadAttention(2, 3, dropout=0.1)(
        x, x, use_causal_mask=True)),
    "MultiHeadAttention mask input": lambda: three(line, (5, 6), (11, 5), lambda q, v, m: L.MultiHeadAttention(2, 3)(
        q, v, attention_mask=m > 0)),
    "MultiHeadAttention mask input scores": lambda: three(line, (5, 6), (11, 5), lambda q, v, m: L.MultiHeadAttention(
        2, 3)(q, v, attention_mask=m > 0, return_attention_scores=True, use_causal_mask=True)),
    "MultiHeadAttention image mask input": lambda: two((2, 3, 6), (2, 3, 2, 3), lambda x, m: L.MultiHeadAttention(
        2, 3)(x, x, attention_mask=m > 0)),
    "MultiHeadAttention axis mask input": lambda: two((2, 3, 6), (2, 3, 3), lambda x, m: L.MultiHeadAttention(
        2, 3, attention_axes=2)(x, x, attention_mask=m > 0)),
    "MultiHeadAttention mask": lambda: call((5,), lambda x: (lambda e: L.MultiHeadAttention(2, 3)(e, e))(
        L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "MultiHeadAttention mask causal": lambda: call((5,), lambda x: (lambda e: L.GlobalAveragePooling1D()(
        L.MultiHeadAttention(2, 3)(e, e, use_causal_mask=True)))(L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "MultiHeadAttention mask dropout": lambda: call((5,), lambda x: (lambda e: L.MultiHeadAttention(
        2, 3, dropout=0.1)(e, e))(L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "MultiHeadAttention gate": lambda: call(line, lambda x: L.MultiHeadAttention(2, 3, use_gate=True)(x, x)),
    "MultiHeadAttention window": lambda: call(line, lambda x: L.MultiHeadAttention(2, 3, sliding_window=2)(
        x, x, use_causal_mask=True)),
    "MultiHeadAttention shape": lambda: call(line, lambda x: L.MultiHeadAttention(2, 3, output_shape=(4, 5))(x, x)),
    "GroupQueryAttention": lambda: call(line, lambda x: L.GroupQueryAttention(3, 4, 2)(x, x)),
    "GroupQueryAttention causal": lambda: two(line, (5, 6), lambda q, v: L.GroupQueryAttention(3, 4, 1, use_bias=False)(
        q, v, use_causal_mask=True)),
    "GroupQueryAttention scores": lambda: two(line, (5, 6), lambda q, v: L.GroupQueryAttention(3, 4, 2, use_gate=True)(
        q, v, return_attention_scores=True)),
    "GroupQueryAttention mask": lambda: call((5,), lambda x: (lambda e: L.GroupQueryAttention(2, 4, 2)(e, e))(
        L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "Attention scores": lambda: two(line, (5, 6), lambda q, v: L.Attention(use_scale=True)(
        [q, v], return_attention_scores=True)),
    "Attention mask": lambda: call((5,), lambda x: (lambda e: L.Attention()([e, e]))(
        L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "Attention mask causal": lambda: call((5,), lambda x: (lambda e: L.GlobalAveragePooling1D()(L.Attention()(
        [e, e], use_causal_mask=True)))(L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "Attention mask value": lambda: call((5,), lambda x: (lambda e: L.Attention()([L.Conv1D(4, 1)(e), e]))(
        L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "Attention mask concat scores": lambda: call((5,), lambda x: (lambda e: L.Attention(score_mode="concat")(
        [e, e], return_attention_scores=True))(L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "AdditiveAttention scores": lambda: two(line, (5, 6), lambda q, v: L.AdditiveAttention()(
        [q, v], return_attention_scores=True, use_causal_mask=True)),
    "AdditiveAttention mask": lambda: call((5,), lambda x: (lambda e: L.AdditiveAttention()([e, e]))(
        L.Embedding(3, 4, mask_zero=True)(x)), "int32"),
    "Softmax mask input": lambda: two(line, line, lambda x, m: L.Softmax()(x, mask=m > 0)),
    "Softmax axes": lambda: call(image, lambda x: L.Softmax([1, 2])(x)),
    "Attention": lambda: two(line, (5, 6), lambda q, v: L.Attention()([q, v])),
    "Attention scale": lambda: three(line, (5, 4), (5, 6), lambda q, v, k: L.Attention(use_scale=True)([q, v, k])),
    "Attention concat": lambda: two(line, (5, 6), lambda q, v: L.Attention(True, "concat")([q, v])),
    "Attention causal": lambda: two(line, line, lambda q, v: L.Attention()([q, v], use_causal_mask=True)),
    "AdditiveAttention": lambda: two(line, (5, 6), lambda q, v: L.AdditiveAttention()([q, v])),
    "ops": lambda: call(image, lambda x: ops.mean(ops.square((x + 3.0) * x / 2.5 - 1.0), axis=[1, 2])),
    "ops back": lambda: call(flat, lambda x: 1.0 - ops.exp(-x) ** 2.0),
    "ops shapes": lambda: call(line, lambda x: ops.transpose(
        ops.reshape(ops.expand_dims(x, 1), (-1, 6, 11)), (0, 2, 1))),
    "ops joined": lambda: two(line, line, lambda x, y: ops.matmul(
        ops.concatenate([x, y], 1), ops.transpose(y, (0, 2, 1)))),
    "shared": shared, "nested": nested, "nested twice": lambda: nested(True),
    "nested Sequential twice": lambda: (lambda x, a, b: keras.Model(x, a(b(a(x)))))(keras.Input(flat), *(
        keras.Sequential([keras.Input(flat), L.Dense(7, "tanh")]) for _ in "ab")),
    "result twice": lambda: (lambda x, y: keras.Model(x, [y, y]))(*(lambda x: (x, L.Dense(3)(x)))(keras.Input(flat))),
    "nested frozen": lambda: (lambda m: (setattr(m.layers[1], "trainable", False), m)[1])(nested()),
    "Sequential": lambda: keras.Sequential([keras.Input(image), L.Conv2D(4, 3), L.BatchNormalization(), L.ReLU(),
        L.MaxPooling2D(), L.Flatten(), L.Dense(5, "softmax")]),
}
functions = {  # of keras.ops, on one tensor
    "where": lambda x: ops.where(x > 0, x, -x * 0.1), "where number": lambda x: ops.where(x <= 0.5, 1.0, x),
    "softmax": lambda x: ops.softmax(x, axis=1), "log_softmax": ops.log_softmax, "gelu": ops.gelu,
    "gelu exact": lambda x: ops.gelu(x, approximate=False), "leaky_relu": lambda x: ops.leaky_relu(x, 0.3),
    "elu": lambda x: ops.elu(x, 0.7), "hard_tanh": ops.hard_tanh, "soft_shrink": lambda x: ops.soft_shrink(x, 0.3),
    "hard_shrink": lambda x: ops.hard_shrink(x, 0.8), "celu": lambda x: ops.celu(x, 0.8), "selu": ops.selu,
    "squareplus": lambda x: ops.squareplus(x, 2), "threshold": lambda x: ops.threshold(x, 0.2, 0.1),
    "einsum": lambda x: ops.einsum("abc,adc->abd", x, x), "getitem": lambda x: x[:, -1],
    "slices": lambda x: x[:, 1:5, ::2], "slices back": lambda x: x[:, ::-2, None, -3:],
    "ellipsis": lambda x: x[..., 1], "split": lambda x: ops.split(x, 2, axis=2)[1],
    "split indices": lambda x: ops.split(x, [1, 3], axis=2), "stack": lambda x: ops.stack([x, x + 1.0], axis=1),
    "unstack": lambda x: ops.unstack(x, axis=2)[1], "pad": lambda x: ops.pad(x, [[0, 0], [1, 2], [0, 0]]),
    "pad reflect": lambda x: ops.pad(x, [[0, 0], [1, 2], [2, 0]], mode="reflect"),
    "pad value": lambda x: ops.pad(x, [[0, 0], [1, 2], [0, 0]], constant_values=3),
    "var": lambda x: ops.var(x, axis=1), "std": lambda x: ops.std(x, axis=[1, 2], keepdims=True),
    "prod": lambda x: ops.prod(x, axis=1), "logsumexp": lambda x: ops.logsumexp(x, axis=1),
    "argmax": lambda x: ops.argmax(x, axis=1), "argmin": lambda x: ops.argmin(x, axis=-1, keepdims=True),
    "cast": lambda x: ops.cast(x > 0, "float32"), "cast to integers": lambda x: ops.cast(
        ops.cast(x, "int32"), "float32"),
    "any": lambda x: ops.cast(ops.any(ops.logical_and(x > 0, x < 1), axis=-1), "float32"),
    "all": lambda x: ops.cast(ops.all(ops.logical_or(x > 1, ops.logical_not(x > 0)), axis=-1), "float32"),
    "compared": lambda x: ops.cast(x >= 0, "float32") + ops.cast(x != 0.0, "float32") * ops.cast(x <= 1, "float32"),
    "tile": lambda x: ops.tile(x, (1, 2, 1)), "repeat": lambda x: ops.repeat(x, 2, axis=1),
    "cumsum": lambda x: ops.cumsum(x, axis=1), "cumprod": lambda x: ops.cumprod(x, axis=2),
    "normalize": lambda x: ops.normalize(x, axis=1), "take": lambda x: ops.take(x, [1, 2, 0], axis=1),
    "flip": lambda x: ops.flip(x, axis=1), "roll": lambda x: ops.roll(x, 2, axis=1),
    "swapaxes": lambda x: ops.swapaxes(x, 1, 2), "moveaxis": lambda x: ops.moveaxis(x, 2, 1),
    "full_like": lambda x: x + ops.full_like(x, 3), "top_k": lambda x: ops.top_k(x, 2)[0],
    "glu": lambda x: ops.glu(x, axis=2), "sparsemax": ops.sparsemax,
    "floor": lambda x: ops.floor(x) + ops.ceil(x * 2.0) + ops.sign(x), "floor_divide": lambda x: x // 0.7,
    "mod": lambda x: x % 0.7, "trigonometry": lambda x: ops.tan(x * 0.5) + ops.arctan(x) + ops.sinh(x) + ops.arcsinh(x),
    "reciprocal": lambda x: ops.reciprocal(x + 3.0), "one_hot": lambda x: ops.one_hot(ops.argmax(x, axis=1), 11),
    "erf": lambda x: ops.erf(x) + ops.expm1(x) + ops.log1p(ops.absolute(x)),
}
for name, f in functions.items():
    cases[f"ops.{name}"] = lambda f=f: call(line, f)
for name, layer in {  # channels_first, where the back end takes it
    "Conv2D": lambda: L.Conv2D(5, 3, 2, "same", "channels_first"), "Flatten": lambda: L.Flatten("channels_first"),
    "MaxPooling2D": lambda: L.MaxPooling2D(3, 2, "same", "channels_first"),
    "AveragePooling2D": lambda: L.AveragePooling2D(2, 2, "valid", "channels_first"),
    "GlobalAveragePooling2D": lambda: L.GlobalAveragePooling2D("channels_first"),
    "ZeroPadding2D": lambda: L.ZeroPadding2D(2, data_format="channels_first"),
    "Cropping2D": lambda: L.Cropping2D(2, data_format="channels_first"),
    "UpSampling2D": lambda: L.UpSampling2D(2, "channels_first"),
    "DepthwiseConv2D": lambda: L.DepthwiseConv2D(3, data_format="channels_first"),
    "SeparableConv2D": lambda: L.SeparableConv2D(4, 3, data_format="channels_first"),
    "Conv2DTranspose": lambda: L.Conv2DTranspose(4, 3, 2, "same", data_format="channels_first"),
    "BatchNormalization": lambda: L.BatchNormalization(axis=1),
    "GroupNormalization": lambda: L.GroupNormalization(3, 1),
}.items():
    cases[f"{name} first"] = lambda layer=layer: call((6, 9, 8), layer())


# functions of keras.ops on one tensor whose layers of version 3 are operators of their own
table = np.linspace(-1, 1, 6, dtype=np.float32)
filters = np.linspace(-1, 1, 3 * 3 * 6 * 4, dtype=np.float32).reshape(3, 3, 6, 4)
elementwise = {
    "arctan2": lambda x: ops.arctan2(x, x * x - 1.0), "cbrt": ops.cbrt, "deg2rad": ops.deg2rad, "rad2deg": ops.rad2deg,
    "divide_no_nan": lambda x: ops.divide_no_nan(x, ops.relu(x)), "erfc": ops.erfc, "exp2": ops.exp2,
    "fmax": lambda x: ops.fmax(ops.log(x), x), "fmin": lambda x: ops.fmin(x, ops.log(x)), "fabs": ops.fabs,
    "fmod": lambda x: ops.fmod(x, 0.7), "heaviside": lambda x: ops.heaviside(ops.relu(x), x),
    "hypot": lambda x: ops.hypot(x, x + 1.0), "isfinite": lambda x: ops.isfinite(ops.log(x)),
    "isneginf": lambda x: ops.isneginf(ops.log(ops.relu(x))), "isposinf": lambda x: ops.isposinf(-ops.log(ops.relu(x))),
    "isclose": lambda x: ops.isclose(x, ops.round(x, 1), 0.01, 0.01), "ldexp": lambda x: ops.ldexp(x, ops.cast(
        ops.round(x), "int32")),
    "log10": lambda x: ops.log10(x * x + 0.1), "log2": lambda x: ops.log2(x * x + 0.1), "sinc": ops.sinc,
    "logaddexp": lambda x: ops.logaddexp(x, 2.0 * x), "logaddexp2": lambda x: ops.logaddexp2(x, 2.0 * x),
    "trunc": ops.trunc, "round": ops.round, "round decimals": lambda x: ops.round(x, 2),
    "nan_to_num": lambda x: ops.nan_to_num(ops.log(ops.relu(x)), neginf=-3.0), "copy": lambda x: ops.copy(x) + 1.0,
    "nan_to_num nan": lambda x: ops.nan_to_num(ops.log(x), nan=2.0), "stop_gradient": ops.stop_gradient,
    "conjugate": lambda x: ops.conjugate(x) + ops.real(x) * ops.conj(x),
    "bitwise": lambda x: (lambda i: ops.bitwise_xor(ops.bitwise_and(i, i * 3), ops.bitwise_or(ops.bitwise_not(i), i)))(
        ops.cast(x * 9.0, "int32")),
    "array": lambda x: x * table, "array first": lambda x: ops.subtract(table, x),
    "array f64": lambda x: x * np.linspace(0, 1, 6),
    "array f64 dense": lambda x: L.Dense(3)(x * np.linspace(0, 1, 6)), "matmul array": lambda x: ops.matmul(
        x, table.reshape(6, 1)), "where array": lambda x: ops.where(x > 0, x, table),
    "concatenate array": lambda x: ops.concatenate([x, np.ones((2, 1, 6), np.float32)], 1),
    "einsum array": lambda x: ops.einsum("abc,c->ab", x, table), "maximum array": lambda x: ops.maximum(table, x),
}
statistics = {
    "count_nonzero": lambda x: ops.count_nonzero(ops.relu(x), axis=1), "ptp": lambda x: ops.max(x, 1) - ops.amin(x, 1),
    "amax": lambda x: ops.amax(x, axis=2, keepdims=True), "average": lambda x: ops.average(x, axis=1),
    "average weights": lambda x: ops.average(x, axis=2, weights=np.abs(table) + 0.1), "moments": lambda x: ops.moments(
        x, axes=[1]), "moments keep": lambda x: ops.moments(x, axes=[1, 2], keepdims=True)[1],
    "median": lambda x: ops.median(x, axis=1), "median axes": lambda x: ops.median(x, axis=[1, 2]),
    "quantile": lambda x: ops.quantile(x, 0.3, axis=1, keepdims=True), "norm": lambda x: ops.norm(x, axis=-1),
    "norm 1": lambda x: ops.norm(x, 1, 1), "norm 3": lambda x: ops.norm(x, 3, -1, True), "norm 0": lambda x: ops.norm(
        ops.relu(x), 0, -1), "norm fro": lambda x: ops.norm(x, "fro", (1, 2)),
    "sort": lambda x: ops.sort(x, axis=1), "argsort": lambda x: ops.argsort(x, axis=-1),
    "percentile": lambda x: ops.percentile(x, 80, axis=1),
}
for f in "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanargmax nanargmin nancumsum nancumprod".split():
    statistics[f] = lambda x, f=f: getattr(ops, f)(ops.log(x + 1.5), axis=1)
products = {
    "tensordot": lambda x: ops.tensordot(x, np.ones((11, 6, 3), np.float32), axes=2),
    "tensordot axes": lambda x: ops.tensordot(x, np.ones((3, 11), np.float32), axes=[[1], [1]]),
    "dot": lambda x: ops.dot(x, table), "dot matrix": lambda x: ops.dot(x, table.reshape(6, 1)),
    "inner": lambda x: ops.inner(x, np.stack([table, table])), "vdot": lambda x: ops.vdot(x[0, 0], table),
    "outer": lambda x: ops.outer(x[0, 0], table), "cross": lambda x: ops.cross(x[:, :, :3], x[:, :, 3:]),
    "cdist": lambda x: ops.cdist(x, x[:, :4]), "det": lambda x: ops.det(x[:, :6]),
    "logdet": lambda x: ops.logdet(ops.matmul(ops.transpose(x, (0, 2, 1)), x)), "slogdet": lambda x: ops.slogdet(
        x[:, :6]), "diff": lambda x: ops.diff(x, axis=1), "diff two": lambda x: ops.diff(x, n=2),
    "trapezoid": lambda x: ops.trapezoid(x, dx=0.5, axis=1), "digitize": lambda x: ops.digitize(x, table),
    "searchsorted": lambda x: ops.searchsorted(table, x[0, 0]), "isin": lambda x: ops.isin(
        ops.round(x), [0.0, 2.0]), "isin not": lambda x: ops.isin(ops.round(x), [1.0], invert=True),
    "searchsorted right": lambda x: ops.searchsorted(table, x[0, 0], side="right"),
    "segment_sum": lambda x: ops.segment_sum(x[0], np.array([0, 1, 1, 3, 0, 2, 2, 1, 0, 3, 0], np.int32), 4),
    "segment_max": lambda x: ops.segment_max(x[0], np.array([0, 1, 1, 3, 0, 2, 2, 1, 0, 3, 0], np.int32), 4),
    "scatter": lambda x: ops.scatter(np.array([[0, 2], [1, 3]], np.int32), x[0, 0, :2], (2, 4)),
    "scatter_update": lambda x: ops.scatter_update(x, [[0, 2], [1, 0]], np.ones((2, 6), np.float32)),
    "scatter_update add": lambda x: ops.scatter_update(x, [[0, 2], [0, 2]], np.ones((2, 6), np.float32), "add"),
}
arrays = {
    "hstack": lambda x: ops.hstack([x, x * 2.0]), "vstack": lambda x: ops.vstack([x, x * 2.0]),
    "vstack vectors": lambda x: ops.vstack([x[0, 0], x[1, 1], np.ones(6, np.float32)]),
    "dstack": lambda x: ops.dstack([x, x * 2.0]),
    "dstack lines": lambda x: ops.dstack([x[0, 0], table]), "append": lambda x: ops.append(x, x, axis=2),
    "hsplit": lambda x: ops.hsplit(x, 11)[3],
    "dsplit": lambda x: ops.dsplit(x, [1, 4]), "array_split": lambda x: ops.array_split(x, 4, axis=1),
    "ravel": ops.ravel, "meshgrid": lambda x: ops.meshgrid(x[0, 0], x[0, :, 0]), "fliplr": ops.fliplr,
    "flipud": ops.flipud, "meshgrid ij": lambda x: ops.meshgrid(x[0, 0], x[0, :, 0], indexing="ij"),
    "rot90": lambda x: ops.rot90(x, axes=(1, 2)),
    "rot90 three": lambda x: ops.rot90(x, 3, axes=(2, 1)), "tril": ops.tril, "triu": lambda x: ops.triu(x, 2),
    "tril below": lambda x: ops.tril(x, -1), "diagonal": lambda x: ops.diagonal(x, axis1=1, axis2=2),
    "diagonal above": lambda x: ops.diagonal(x, 2, axis1=1, axis2=2),
    "diag": lambda x: ops.diag(x[0, 0], 1), "diag below": lambda x: ops.diag(x[0, 0], -2),
    "diag of matrix": lambda x: ops.diag(x[0], -1), "diagflat": lambda x: ops.diagflat(x[0, :2]),
    "take_along_axis": lambda x: ops.take_along_axis(x, ops.argsort(x, axis=1), axis=1),
    "slice": lambda x: ops.slice(x, (0, 3, 1), (2, 4, 5)), "extract_sequences": lambda x: ops.extract_sequences(
        ops.transpose(x, (0, 2, 1)), 4, 3),
    "slice_update": lambda x: ops.slice_update(x, (0, 3, 1), ops.ones((1, 4, 5))),
    "take flat": lambda x: ops.take(x, [1, 2, 40]), "empty_like": lambda x: ops.zeros_like(x) + x,
    "take from array": lambda x: ops.take(np.eye(11, dtype=np.float32), ops.argmax(x, axis=1), axis=0),
    "multi_hot": lambda x: ops.multi_hot(ops.argmax(x, axis=1), 11), "layer_normalization": ops.layer_normalization,
    "layer_normalization factors": lambda x: ops.layer_normalization(x, table, table, axis=-1, epsilon=0.01),
    "rms_normalization": lambda x: ops.rms_normalization(x, table), "batch_normalization": lambda x:
        ops.batch_normalization(x, table, table * table + 0.1, -1, offset=table, scale=table * 2),
    "saved twice": lambda x: ops.cast(ops.cast(x, "float16"), "float32") * 0 + x,
}
pictures = {
    "max_pool": lambda x: ops.max_pool(x, 2), "average_pool": lambda x: ops.average_pool(x, 3, 2, "same"),
    "adaptive_average_pool": lambda x: ops.adaptive_average_pool(x, (3, 4)), "conv": lambda x: ops.conv(
        x, filters, 2, "same"), "adaptive_max_pool": lambda x: ops.adaptive_max_pool(x, (3, 4)),
    "depthwise_conv": lambda x: ops.depthwise_conv(x, filters, 1, "same"),
    "depth_to_space": lambda x: ops.depth_to_space(ops.concatenate([x, x], -1), 2),
    "space_to_depth": lambda x: ops.space_to_depth(x[:, :8], 2),
    "rgb_to_grayscale": lambda x: ops.image.rgb_to_grayscale(x[..., :3]),
    "resize": lambda x: ops.image.resize(x, (5, 13)), "resize cubic": lambda x: ops.image.resize(
        x, (5, 13), interpolation="bicubic", antialias=True),
    "pad_images": lambda x: ops.image.pad_images(x, 2, 1, target_height=15, target_width=12),
    "crop_images": lambda x: ops.image.crop_images(x, 2, 1, target_height=4, target_width=5),
    "extract_patches": lambda x: ops.image.extract_patches(x, (3, 2)),
    "extract_patches overlap": lambda x: ops.image.extract_patches(x, 3, strides=2, padding="same"),
    "extract_patches dilated": lambda x: ops.image.extract_patches(x, 3, strides=1, dilation_rate=2),
    "dot_product_attention": lambda x: ops.dot_product_attention(x, x[:, :4] * 0.5, x[:, :4]),
    "dot_product_attention causal": lambda x: ops.dot_product_attention(x, x, x, is_causal=True, scale=0.3),
    "dot_product_attention mask": lambda x: ops.dot_product_attention(x, x, x, mask=ops.matmul(ops.transpose(
        x, (0, 2, 1, 3)), ops.transpose(x, (0, 2, 3, 1))) > -1.0),
    "reshaped": lambda x: ops.reshape(x, (-1, 72, 6)),
}
for group, shape in ((elementwise, line), (statistics, line), (products, line), (arrays, line), (pictures, image)):
    for name, f in group.items():
        cases[f"ops.{name}"] = lambda f=f, shape=shape: call(shape, f)


def with_policy(policy, make):
    """A model whose layers have another policy of types."""
    keras.config.set_dtype_policy(policy)
    try:
        return make()
    finally:
        keras.config.set_dtype_policy("float32")


def small():
    return call(image, lambda x: L.Activation("softmax", dtype="float32")(L.Dense(5)(L.GlobalAveragePooling2D()(
        L.ReLU()(L.BatchNormalization()(L.Conv2D(8, 3, 2, "same")(L.Rescaling(0.5)(x))))))))


for policy in ("mixed_float16", "mixed_bfloat16"):
    cases |= {
        f"policy {policy}": lambda p=policy: with_policy(p, small),
        f"policy {policy} of one layer": lambda p=policy: call(image, lambda x: L.Conv2D(4, 3, padding="same")(
            L.Conv2D(6, 3, dtype=p)(x))),
        f"policy {policy} recurrent": lambda p=policy: with_policy(p, lambda: call(line, lambda x: L.Dense(
            3, dtype="float32")(L.Bidirectional(L.LSTM(5))(L.GRU(4, return_sequences=True)(x))))),
        f"policy {policy} attention": lambda p=policy: with_policy(p, lambda: call(line, lambda x: L.LayerNormalization(
            dtype="float32")(L.Add()([x, L.MultiHeadAttention(2, 3)(x, x)])))),
        f"policy {policy} functions": lambda p=policy: with_policy(p, lambda: call(line, lambda x: L.Dense(3)(
            ops.cast(L.Dense(4)(x), "float32") * table[:4]))),
    }
for kind in ("float16", "float64"):
    cases[f"policy {kind} of one layer"] = lambda kind=kind: call(line, lambda x: L.Dense(3)(L.Dense(
        4, "tanh", dtype=kind)(x)))
    cases[f"policy cast to {kind}"] = lambda kind=kind: call(line, lambda x: L.Dense(3)(ops.cast(x, kind)))


rng = np.random.default_rng(4)


def inputs_of(name, net):
    """Random numbers; of a mask's cases with steps that do not count."""
    first = net.inputs[0]
    if name.startswith("Embedding"):
        return [rng.integers(0, 9, (2, 5)).astype(first.dtype)]
    if "codes" in name:
        return [rng.integers(0, 4, (2, *first.shape[1:])).astype(first.dtype)]
    if "mask" not in name or "mask input" in name or name.startswith("ops"):
        return [rng.uniform(-2, 2, (2, *i.shape[1:])).astype(np.float32) for i in net.inputs]
    if len(first.shape) == 3:
        x = rng.uniform(-2, 2, (2, *first.shape[1:])) * (rng.uniform(size=(2, first.shape[1], 1)) > 0.5)
        return [x.astype(np.float32)]
    return [rng.integers(0, 3, (2, 5)).astype(first.dtype)]


# Of weights of steps that are written out: some of these activations grow without bound, in Keras to infinity;
# tanh_shrink of small numbers is the difference of almost equal ones.
sizes = {"GRU written out log_softmax": 0.02, "LSTM written out tanh_shrink": 0.3}


def save(name, make, folder):
    keras.backend.clear_session()
    net = make()
    size = 0.5 if "written out" not in name else next((n for word, n in sizes.items() if word in name), 0.1)
    for w in net.weights:
        w.assign(rng.uniform(0.5, 1.5, w.shape) if "variance" in w.path else rng.normal(0, size, w.shape))
    x = inputs_of(name, net)
    want = net(x[0] if len(x) == 1 else x, training=False)
    net.save(f"{folder}/m.keras")
    files = [("m.keras",)]
    try:
        net.save(f"{folder}/m.h5")
        files.append(("m.h5",))
    except TypeError:  # Keras 3.15.1 cannot copy the settings of some layers that change images
        pass
    net.save_weights(f"{folder}/w.weights.h5")
    open(f"{folder}/m.json", "w").write(net.to_json())
    files.append(("m.json", f"--weights={folder}/w.weights.h5"))
    return {i._keras_history[0].name: v for i, v in zip(net.inputs, x)}, want, files


# Keras rounds each result of a layer of halves, dlc the numbers between Tasks at most
compare(cases, save, lambda name: (3e-2 if "bfloat16" in name else 4e-3) if "policy" in name and "float64" not in name
        else 1e-4)
