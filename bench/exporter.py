"""exporter.py CASE FOLDER: builds one network with random weights, runs it in its own framework and exports it as ONNX.

exports.py starts this file as a process of its own for each case, so that an exporter that crashes costs one row and
that a framework's memory is free before dlc compiles.  FOLDER gets model.onnx, input_K.npy and want_K.npy in the order
of the file's inputs and outputs; stdout gets one line of JSON.

A case is NETWORK:EXPORTER.  Exporters of PyTorch are script (TorchScript-based) and dynamo, of TensorFlow keras
(Keras' own export) and tf2onnx, of scikit-learn skl2onnx, of PaddlePaddle paddle2onnx.  A number behind an exporter is
the opset to ask for.  BERT, DistilBERT and GPT-2 have their sequence length behind them and perhaps eager (attention as
matrix products) or dynamic (a symbolic length in the file).  hf.NAME is a small network of exporter_transformers.py,
timm.NAME one of timm, fn.NAME a function of exporter_functions.py."""
import json
import os
import re
import sys
import time
import warnings

import exporter_functions
import exporter_paddle
import exporter_transformers

SEED = 2026
# One or more of each family of torchvision's classification networks.
TORCHVISION = """alexnet convnext_tiny densenet121 densenet169 efficientnet_b0 efficientnet_b4 efficientnet_v2_s
    googlenet inception_v3 maxvit_t mnasnet0_5 mnasnet1_3 mobilenet_v2 mobilenet_v3_large mobilenet_v3_small
    regnet_x_400mf regnet_y_400mf regnet_y_3_2gf resnet18 resnet34 resnet50 resnet101 resnet152 resnext50_32x4d
    shufflenet_v2_x0_5 shufflenet_v2_x2_0 squeezenet1_0 squeezenet1_1 swin_t swin_v2_t vgg11 vgg16_bn vgg19 vit_b_16
    vit_b_32 wide_resnet50_2""".split()
VIDEO = ["r3d_18", "mc3_18", "r2plus1d_18", "s3d", "swin3d_t"]
SIZES = {"inception_v3": 299, "swin_v2_t": 256}
OTHER_VISION = """deeplabv3_mobilenet_v3_large deeplabv3_resnet50 fcn_resnet50 lraspp_mobilenet_v3_large r3d_18 mc3_18
    r2plus1d_18 s3d swin3d_t""".split()
TIMM = """vit_tiny_patch16_224 deit3_small_patch16_224 beit_base_patch16_224 eva02_tiny_patch14_224 cait_xxs24_224
    xcit_nano_12_p16_224 crossvit_9_240 pvt_v2_b0 twins_pcpvt_small mobilevit_xxs mobilevitv2_050 edgenext_xx_small
    efficientformerv2_s0 fastvit_t8 levit_128s tiny_vit_5m_224 swiftformer_xs gcvit_xxtiny davit_tiny focalnet_tiny_srf
    convmixer_768_32 mixer_s32_224 resmlp_12_224 gmlp_s16_224 poolformer_s12 mobilenetv4_conv_small
    mobilenetv4_hybrid_medium ghostnet_100 lcnet_050 repvgg_a0 rexnet_100 hrnet_w18_small dla34 dpn68 res2net50_14w_8s
    resnest14d nfnet_l0 skresnet18 halonet26t lambda_resnet26t botnet26t_256 sequencer2d_s volo_d1_224 mambaout_femto
    starnet_s1 inception_next_tiny convnextv2_atto hgnetv2_b0 ese_vovnet19b_dw selecsls42b""".split()
LANGUAGE = ["bert", "distilbert", "gpt2"]
KERAS = ["dense", "convolutions", "separable", "recurrent", "attention", "transposed"]
SKLEARN = ["logistic_regression", "linear_regression", "mlp_classifier", "mlp_regressor", "scaler_pipeline",
           "normalizer_pipeline", "pca_pipeline", "ridge_pipeline"]
QUICK_LAYERS = 2


def cases():
    """All of them, in the order of the table."""
    for network in TORCHVISION:
        yield from (f"{network}:{exporter}" for exporter in ("script", "dynamo"))
    for network in LANGUAGE:
        for way in ("7", "128", "384", "128-eager", "128-dynamic"):
            yield from (f"{network}-{way}:{exporter}" for exporter in ("script", "dynamo"))
        yield from (f"{network}-128:{exporter}" for exporter in ("script14", "dynamo23"))
    yield from (f"vit_b_16:{exporter}" for exporter in ("script14", "dynamo23"))
    yield from (f"{network}:{exporter}" for network in OTHER_VISION for exporter in ("script", "dynamo"))
    yield from (f"timm.{network}:dynamo" for network in TIMM)
    for network in exporter_transformers.NETWORKS:
        yield from (f"hf.{network}:{exporter}" for exporter in ("script", "dynamo"))
    for function in exporter_functions.names():
        yield from (f"fn.{function}:{exporter}" for exporter in ("script17", "dynamo"))
    for network in KERAS:
        yield from (f"{network}:{exporter}" for exporter in ("keras", "tf2onnx"))
    yield from (f"{network}:skl2onnx" for network in SKLEARN)
    yield from (f"{network}:paddle2onnx" for network in [*exporter_paddle.VISION, *exporter_paddle.OWN])


def save(folder, inputs, outputs):
    import numpy
    for kind, arrays in (("input", inputs), ("want", outputs)):
        for k, a in enumerate(arrays):
            numpy.save(os.path.join(folder, f"{kind}_{k}.npy"), numpy.asarray(a))


# ---- PyTorch ----

def shake(model):
    """Constant parameters and statistics become random: a bias of zeros or a scale of ones would vanish."""
    import torch
    with torch.no_grad():
        for name, p in [*model.named_parameters(), *model.named_buffers()]:
            if not p.is_floating_point() or p.numel() < 2 or p.min() != p.max():
                continue
            p.add_(torch.randn_like(p) * (0.1 if name.endswith(("running_var", "running_mean")) else 0.02)).abs_()
    return model.eval()


def vision(name):
    import torch
    import torchvision
    if name.startswith("timm."):
        import timm
        model = timm.create_model(name[5:], pretrained=False)
        return shake(model), {"x": torch.randn(1, *model.default_cfg["input_size"])}
    segments = any(name.startswith(s) for s in ("deeplab", "fcn", "lraspp"))
    options = {"weights_backbone": None} if segments else {}
    model = torchvision.models.get_model(name, weights=None, **options)
    size = SIZES.get(name, 224)
    return shake(model), {"x": torch.randn(1, 3, 8, 112, 112) if name in VIDEO else torch.randn(1, 3, size, size)}


def language(name, words, quick):
    """A network of Hugging Face, and one row of tokens of which the last one is padding."""
    import torch
    import transformers
    layers = QUICK_LAYERS if quick else None
    options = {"attn_implementation": "eager" if "eager" in words else "sdpa"}
    if name == "bert":
        model = transformers.BertModel(transformers.BertConfig(num_hidden_layers=layers or 12, **options))
    elif name == "distilbert":
        model = transformers.DistilBertModel(transformers.DistilBertConfig(n_layers=layers or 6, **options))
    else:
        model = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=layers or 12, use_cache=False, **options))

    class First(torch.nn.Module):
        """The first result alone: exporters write tensors, no result classes."""

        def __init__(self):
            super().__init__()
            self.inner = model

        def forward(self, input_ids, attention_mask):
            return self.inner(input_ids=input_ids, attention_mask=attention_mask)[0]

    length = int(words[0])
    mask = torch.ones(1, length, dtype=torch.int64)
    mask[:, -1] = 0
    return shake(First()), {"input_ids": torch.randint(0, 1000, (1, length)), "attention_mask": mask}


def torch_case(network, exporter, opset, folder, quick):
    import torch
    torch.manual_seed(SEED)
    torch.set_num_threads(1)
    words = network.split("-")
    if words[0] in LANGUAGE:
        model, inputs = language(words[0], words[1:], quick)
    elif network.startswith("hf."):
        model, inputs = exporter_transformers.network(network[3:])
        shake(model)
    elif network.startswith("fn."):
        model, inputs = exporter_functions.network(network[3:])
        model.eval()
    else:
        model, inputs = vision(network)
    length = {name: {1: "length"} for name in inputs} if "dynamic" in words else None
    with torch.no_grad():
        want = model(*inputs.values())
    path = os.path.join(folder, "model.onnx")
    want = list(want.values())[:1] if isinstance(want, dict) else want if isinstance(want, tuple) else [want]
    outputs = ["y"] if len(want) == 1 else [f"y{k}" for k in range(len(want))]
    options = {"input_names": list(inputs), "output_names": outputs, **({"opset_version": opset} if opset else {})}
    if exporter == "script":
        torch.onnx.export(model, tuple(inputs.values()), path, dynamo=False, dynamic_axes=length, **options)
    else:
        shapes = length and {name: {1: torch.export.Dim("length", min=2, max=512)} for name in inputs}
        torch.onnx.export(model, tuple(inputs.values()), path, dynamo=True, dynamic_shapes=shapes, verbose=False,
                          **options)
    save(folder, [x.numpy() for x in inputs.values()], [x.numpy() for x in want])
    return [f"{n}={','.join(map(str, x.shape))}" for n, x in inputs.items()] if length else []


# ---- TensorFlow ----

def keras_network(name):
    import keras
    layers = keras.layers
    if name == "dense":
        x = keras.Input((32,))
        y = layers.Dense(10, activation="softmax")(layers.LayerNormalization()(layers.Dense(64, activation="selu")(x)))
    elif name == "convolutions":
        x = keras.Input((33, 33, 3))
        y = layers.Conv2D(16, 3, strides=2, padding="same", activation="relu")(x)
        y = layers.MaxPooling2D(2)(layers.BatchNormalization()(y))
        y = layers.Conv2D(32, 3, activation="swish")(layers.ZeroPadding2D(1)(y))
        y = layers.Dense(10)(layers.Flatten()(layers.AveragePooling2D(2, padding="same")(y)))
    elif name == "separable":
        x = keras.Input((32, 32, 8))
        y = layers.SeparableConv2D(16, 3, padding="same", activation="relu6")(x)
        y = layers.DepthwiseConv2D(3, padding="same", strides=2)(layers.LeakyReLU()(y))
        gate = layers.Dense(16, "sigmoid")(layers.GlobalAveragePooling2D()(y))
        y = layers.Multiply()([y, layers.Reshape((1, 1, 16))(gate)])
        y = layers.Dense(4)(layers.GlobalMaxPooling2D()(y))
    elif name == "recurrent":
        x = keras.Input((12, 8))
        y = layers.Bidirectional(layers.LSTM(16, return_sequences=True))(x)
        y = layers.Dense(4)(layers.GRU(16)(y))
    elif name == "attention":
        x = keras.Input((12,), dtype="int32")
        y = layers.Embedding(100, 32)(x)
        y = layers.LayerNormalization()(y + layers.MultiHeadAttention(4, 8)(y, y))
        y = layers.Dense(4)(layers.GlobalAveragePooling1D()(y))
    else:
        x = keras.Input((8, 8, 4))
        y = layers.Conv2DTranspose(8, 3, strides=2, padding="same", activation="elu")(x)
        y = layers.UpSampling2D(interpolation="bilinear")(y)
        y = layers.Conv2D(3, 1, activation="tanh")(layers.Cropping2D(1)(y))
    model = keras.Model(x, y)
    rng = __import__("numpy").random.default_rng(SEED)
    model.set_weights([w + rng.uniform(0, 0.1, w.shape).astype(w.dtype) if w.dtype.kind == "f" else w
                       for w in model.get_weights()])
    return model


def keras_case(network, exporter, opset, folder):
    import keras
    import numpy
    import tensorflow as tf
    keras.utils.set_random_seed(SEED)
    model = keras_network(network)
    rng = numpy.random.default_rng(SEED)
    shape = (1, *model.inputs[0].shape[1:])
    whole = model.inputs[0].dtype.startswith("int")
    x = rng.integers(0, 100, shape).astype(model.inputs[0].dtype) if whole else rng.standard_normal(shape, "float32")
    path, want = os.path.join(folder, "model.onnx"), model(x, training=False)
    if exporter == "keras":
        model.export(path, format="onnx", verbose=False, **({"opset_version": opset} if opset else {}))
    else:
        import tf2onnx
        call = tf.function(lambda t: model(t, training=False))
        tf2onnx.convert.from_function(call, input_signature=[tf.TensorSpec(shape, x.dtype, name="x")],
                                      opset=opset or 18, output_path=path)
    save(folder, [x], [want])
    return []


# ---- scikit-learn ----

def sklearn_case(network, exporter, opset, folder):
    import numpy
    import skl2onnx
    from sklearn import decomposition, linear_model, neural_network, pipeline, preprocessing
    rng = numpy.random.default_rng(SEED)
    x = rng.standard_normal((200, 12)).astype(numpy.float32)
    classes = (x[:, 0] + x[:, 1] * x[:, 2] > 0).astype(int) + (x[:, 3] > 0.5)
    values = x[:, :3] @ rng.standard_normal((3, 2)) + 1
    logistic = linear_model.LogisticRegression()
    model, target = {
        "logistic_regression": (logistic, classes),
        "linear_regression": (linear_model.LinearRegression(), values),
        "mlp_classifier": (neural_network.MLPClassifier((16, 8), max_iter=50, random_state=1), classes),
        "mlp_regressor": (neural_network.MLPRegressor(hidden_layer_sizes=(16,), activation="tanh", max_iter=50,
                                                      random_state=1), values[:, 0]),
        "scaler_pipeline": (pipeline.make_pipeline(preprocessing.StandardScaler(), logistic), classes),
        "normalizer_pipeline": (pipeline.make_pipeline(preprocessing.Normalizer(), preprocessing.MinMaxScaler(),
                                                       logistic), classes > 1),
        "pca_pipeline": (pipeline.make_pipeline(decomposition.PCA(5), logistic), classes),
        "ridge_pipeline": (pipeline.make_pipeline(preprocessing.RobustScaler(), preprocessing.PolynomialFeatures(2),
                                                  linear_model.Ridge()), values[:, 0]),
    }[network]
    model.fit(x, target)
    some = x[:5]
    proba = hasattr(model, "predict_proba")
    options = {id(model): {"zipmap": False}} if proba else None
    file = skl2onnx.to_onnx(model, x[:1], options=options, target_opset=opset)
    with open(os.path.join(folder, "model.onnx"), "wb") as f:
        f.write(file.SerializeToString())
    want = [model.predict(some), model.predict_proba(some)] if proba else [model.predict(some).reshape(5, -1)]
    save(folder, [some], [w.astype(numpy.int64 if w.dtype.kind in "ib" else numpy.float32) for w in want])
    return [f"{file.graph.input[0].name}=5,12"]


def main():
    case, folder, *rest = sys.argv[1:]
    warnings.filterwarnings("ignore")
    network, exporter, opset = re.fullmatch(r"([\w.-]+):([a-z]+|tf2onnx|skl2onnx|paddle2onnx)(\d*)", case).groups()
    opset = int(opset) if opset else None
    start = time.monotonic()
    if exporter in ("script", "dynamo"):
        shapes = torch_case(network, exporter, opset, folder, "--quick" in rest)
    elif exporter in ("keras", "tf2onnx"):
        shapes = keras_case(network, exporter, opset, folder)
    elif exporter == "skl2onnx":
        shapes = sklearn_case(network, exporter, opset, folder)
    else:
        inputs, outputs = exporter_paddle.case(network, opset, folder)
        save(folder, inputs, outputs)
        shapes = []
    import onnx
    onnx.checker.check_model(os.path.join(folder, "model.onnx"))
    m = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    weights = {x.name for x in m.graph.initializer}
    print(json.dumps({"inputs": [x.name for x in m.graph.input if x.name not in weights],
                      "outputs": [x.name for x in m.graph.output], "shapes": shapes, "nodes": len(m.graph.node),
                      "opset": {x.domain or "ai.onnx": x.version for x in m.opset_import},
                      "seconds": round(time.monotonic() - start, 1)}))


if __name__ == "__main__":
    main()
