#!/usr/bin/env python3
"""One CNN and one LSTM network in every format, with the same weights: all files give the same numbers.

    one_network.py write FOLDER                           # with each Python whose packages save one of the formats
    one_network.py compare DLC FOLDER [DLC-RUN OF AARCH64]

Checked with torch 2.15.0, onnx 1.23.2 and onnxscript 0.7.2; coremltools 9.0 with torch 2.7.0; tensorflow 2.21.0 with
keras 3.15.1; mxnet 1.9.1 with numpy 1.23.5. `write` saves what the packages of its Python can, beside the framework's
own result. Files of frameworks that are gone come from one_network_tables.py. `compare` runs each file on this CPU: a
file's error is against its framework (1e-4 of the largest), the spread against all other files (1e-5). Then each file
is compiled for other targets, whose results may differ by 1e-4 (strict), those of the LSTM network by 1e-3. For AArch64
it needs qemu-aarch64 and the dlc-run that configs/cross/aarch64-linux-gnu.ini builds; for CUDA it only compiles.

CNN [1,3,24,20]: a = relu(bn(conv 3x3)), max pool 2, b = leaky(bn(conv 3x3 / 2)), c = relu(b + bn(conv 3x3)),
d = relu(bn(depthwise 3x3)), e = tanh(conv 1x1 of c and d), global mean, dense, softmax.
LSTM [1,7,12]: 16 hidden values, then a dense layer on each of the 7 steps."""
import importlib.util, os, subprocess, sys, tempfile, warnings

os.environ["TF_CPP_MIN_LOG_LEVEL"], os.environ["CUDA_VISIBLE_DEVICES"] = "3", ""
warnings.filterwarnings("ignore")
import numpy as np

CONVS = dict(a=(8, 3, 3), b=(16, 8, 3), c=(16, 16, 3), d=(16, 1, 3), e=(24, 32, 1))  # results, inputs of a group, size
STEPS, INPUTS, HIDDEN = 7, 12, 16
NORM = ("gamma", "beta", "mean", "var")


def make_weights():
    """All weights by name: filters as [results, inputs, height, width], gates of the LSTM as PyTorch has them."""
    rng, w = np.random.default_rng(7), {}

    def put(name, low, high, *shape):
        w[name] = rng.uniform(low, high, shape).astype(np.float32)

    for k, (n, inputs, size) in CONVS.items():
        reach = (6 / (inputs * size * size)) ** 0.5
        put(f"{k}.w", -reach, reach, n, inputs, size, size)
        if k == "e":
            put("e.bias", -0.3, 0.3, n)
            continue
        for name, low, high in zip(NORM, (0.5, -0.3, -0.3, 0.5), (1.5, 0.3, 0.3, 1.5)):
            put(f"{k}.{name}", low, high, n)
    put("f.w", -1, 1, 10, 24), put("f.bias", -0.3, 0.3, 10)
    put("lstm.w", -0.6, 0.6, 4 * HIDDEN, INPUTS), put("lstm.r", -0.6, 0.6, 4 * HIDDEN, HIDDEN)
    put("lstm.wb", -0.3, 0.3, 4 * HIDDEN), put("lstm.rb", -0.3, 0.3, 4 * HIDDEN)
    put("dense.w", -1, 1, 5, HIDDEN), put("dense.bias", -0.3, 0.3, 5)
    put("cnn.x", -1, 1, 1, 3, 24, 20), put("lstm.x", -1, 1, 1, STEPS, INPUTS)
    return w


# ---- PyTorch, ONNX and CoreML


def torch_networks(w):
    import torch
    from torch.nn import functional as F

    class Cnn(torch.nn.Module):
        def __init__(self):
            super().__init__()
            t = {k: torch.from_numpy(v) for k, v in w.items()}
            for k, (n, inputs, size) in CONVS.items():
                conv = torch.nn.Conv2d(n if k == "d" else inputs, n, size, 2 if k == "b" else 1, size // 2,
                                       groups=n if k == "d" else 1, bias=k == "e")
                state = dict(weight=t[f"{k}.w"], **(dict(bias=t["e.bias"]) if k == "e" else {}))
                conv.load_state_dict(state)
                setattr(self, k, conv)
                if k != "e":
                    norm = torch.nn.BatchNorm2d(n)
                    names = zip(("weight", "bias", "running_mean", "running_var"), NORM)
                    norm.load_state_dict({to: t[f"{k}.{name}"] for to, name in names}, strict=False)
                    setattr(self, f"{k}_norm", norm)
            self.f = torch.nn.Linear(24, 10)
            self.f.load_state_dict(dict(weight=t["f.w"], bias=t["f.bias"]))

        def forward(self, x):
            x = F.max_pool2d(F.relu(self.a_norm(self.a(x))), 2)
            b = F.leaky_relu(self.b_norm(self.b(x)), 0.1)
            c = F.relu(b + self.c_norm(self.c(b)))
            d = F.relu(self.d_norm(self.d(c)))
            e = torch.tanh(self.e(torch.cat([c, d], 1)))
            return F.softmax(self.f(F.adaptive_avg_pool2d(e, 1).flatten(1)), 1)

    class Lstm(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm, self.dense = torch.nn.LSTM(INPUTS, HIDDEN, batch_first=True), torch.nn.Linear(HIDDEN, 5)
            names = dict(weight_ih_l0="w", weight_hh_l0="r", bias_ih_l0="wb", bias_hh_l0="rb")
            self.lstm.load_state_dict({to: torch.from_numpy(w[f"lstm.{k}"]) for to, k in names.items()})
            self.dense.load_state_dict({k: torch.from_numpy(w[f"dense.{k[0] if k == 'weight' else k}"])
                                        for k in ("weight", "bias")})

        def forward(self, x):
            return self.dense(self.lstm(x)[0])

    return dict(cnn=Cnn().eval(), lstm=Lstm().eval())


def write_torch(w, to):
    """The forms of PyTorch and ONNX, or with coremltools installed those of CoreML."""
    import torch
    for net, module in torch_networks(w).items():
        x = torch.from_numpy(w[f"{net}.x"])
        with torch.no_grad():
            traced = torch.jit.trace(module, x)
            want = module(x).numpy()
        if importlib.util.find_spec("coremltools"):
            import coremltools as ct
            for file, how in (("mlmodel", dict(convert_to="neuralnetwork")),
                              ("mlpackage", dict(convert_to="mlprogram", compute_precision=ct.precision.FLOAT32))):
                ct.convert(traced, inputs=[ct.TensorType(name="x", shape=x.shape)], **how).save(to(net, file))
                np.save(to(net, f"{file}.npy"), want)
            continue
        traced.save(to(net, "traced.pt"))
        torch.jit.script(module).save(to(net, "scripted.pt"))
        torch.export.save(torch.export.export(module, (x,)), to(net, "pt2"))
        for file, dynamo in (("onnx", False), ("dynamo.onnx", True)):
            torch.onnx.export(module, (x,), to(net, file), dynamo=dynamo, input_names=["x"])
        for file in ("traced.pt", "scripted.pt", "pt2", "onnx", "dynamo.onnx"):
            np.save(to(net, f"{file}.npy"), want)


# ---- Keras and TensorFlow


def keras_networks(w):
    import keras
    L = keras.layers
    x = inputs = keras.Input((24, 20, 3), batch_size=1)

    def conv(k, x):
        n, _, size = CONVS[k]
        x = L.ZeroPadding2D(1)(x) if k == "b" else x
        more = dict(padding="valid" if k == "b" else "same", strides=2 if k == "b" else 1, use_bias=k == "e", name=k)
        x = (L.DepthwiseConv2D(size, **more) if k == "d" else L.Conv2D(n, size, **more))(x)
        return x if k == "e" else L.BatchNormalization(epsilon=1e-5, name=f"{k}_norm")(x)

    x = L.MaxPooling2D(2)(L.ReLU()(conv("a", x)))
    b = L.LeakyReLU(negative_slope=0.1)(conv("b", x))
    c = L.ReLU()(L.Add()([b, conv("c", b)]))
    d = L.ReLU()(conv("d", c))
    e = L.Activation("tanh")(conv("e", L.Concatenate()([c, d])))
    cnn = keras.Model(inputs, L.Dense(10, activation="softmax", name="f")(L.GlobalAveragePooling2D()(e)))
    for k in CONVS:
        filters = w[f"{k}.w"].transpose(2, 3, 0, 1) if k == "d" else w[f"{k}.w"].transpose(2, 3, 1, 0)
        cnn.get_layer(k).set_weights([filters, w["e.bias"]] if k == "e" else [filters])
        if k != "e":
            cnn.get_layer(f"{k}_norm").set_weights([w[f"{k}.{name}"] for name in NORM])
    cnn.get_layer("f").set_weights([w["f.w"].T, w["f.bias"]])
    inputs = keras.Input((STEPS, INPUTS), batch_size=1)
    made = L.LSTM(HIDDEN, return_sequences=True, name="lstm")(inputs)
    lstm = keras.Model(inputs, L.Dense(5, name="dense")(made))
    lstm.get_layer("lstm").set_weights([w["lstm.w"].T, w["lstm.r"].T, w["lstm.wb"] + w["lstm.rb"]])
    lstm.get_layer("dense").set_weights([w["dense.w"].T, w["dense.bias"]])
    return dict(cnn=cnn, lstm=lstm)


def write_keras(w, to):
    """The forms of Keras, TensorFlow and TensorFlow Lite."""
    import tensorflow as tf
    from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2
    for net, model in keras_networks(w).items():
        x = w[f"{net}.x"].transpose(0, 2, 3, 1) if net == "cnn" else w[f"{net}.x"]
        want = np.array(model(x, training=False))
        model.save(to(net, "keras")), model.save(to(net, "h5"))
        open(to(net, "json"), "w").write(model.to_json())
        model.save_weights(to(net, "weights.h5"))
        model.export(to(net, "saved_model"), verbose=False)
        f = tf.function(lambda a: model(a, training=False)).get_concrete_function(tf.TensorSpec(x.shape, tf.float32))
        frozen = convert_variables_to_constants_v2(f)
        open(to(net, "pb"), "wb").write(frozen.graph.as_graph_def().SerializeToString())
        open(to(net, "pbtxt"), "w").write(str(frozen.graph.as_graph_def()))
        for file in ("keras", "h5", "json", "saved_model", "pb", "pbtxt"):
            np.save(to(net, f"{file}.npy"), want)
        lite = tf.lite.TFLiteConverter.from_keras_model(model).convert()
        open(to(net, "tflite"), "wb").write(lite)
        t = tf.lite.Interpreter(model_content=lite)
        t.allocate_tensors()
        t.set_tensor(t.get_input_details()[0]["index"], x)
        t.invoke()
        np.save(to(net, "tflite.npy"), t.get_tensor(t.get_output_details()[0]["index"]))


# ---- the comparison

ENDS = """pt2 traced.pt scripted.pt onnx dynamo.onnx keras h5 json saved_model pb pbtxt tflite mlmodel mlpackage
symbol.json prototxt predict_net.pb cfg""".split()
CHANNELS_LAST = "keras h5 json saved_model pb pbtxt tflite".split()
TARGETS = dict(avx512="x86-64-v4", avx2="x86-64-v3", aarch64="armv8-a", opencl="opencl", cuda="a100")


def options(net, end, folder):
    form = "nhwc" if net == "cnn" and end in CHANNELS_LAST else "steps" if (net, end) == ("lstm", "cfg") else "x"
    x = f"{folder}/{net}.{form}.npy"
    shape = ",".join(map(str, np.load(x).shape))
    more = {"scripted.pt": [f"--shape=x={shape}"], "symbol.json": [f"--shape=data={shape}"],
            "predict_net.pb": [f"--shape=data={shape}"], "cfg": [f"--seq={STEPS}"] if net == "lstm" else []}
    return x, more.get(end, [])


def result(call, folder):
    """The last result that a command writes, or what it says."""
    p = subprocess.run(call, capture_output=True, text=True)
    if p.returncode != 0:
        return (p.stderr.strip() or f"exit {p.returncode}").splitlines()[-1][:300]
    if not call[-1].startswith("--output"):
        return np.zeros(1)
    y = np.load(f"{folder}/y.npz")
    return y[y.files[-1]].ravel()


def apart(y, want):
    return y if isinstance(y, str) else f"{np.abs(y - want.ravel()).max() / np.abs(want).max():.1e}"


def run_target(dlc, model, more, target, x, board, folder):
    made = result([dlc, "compile", model, *more, "--tuning-db=none", f"--target={TARGETS[target]}", "-o",
                   f"{folder}/net.dlcb"], folder)
    if isinstance(made, str) or target == "cuda":
        return made
    run = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu", board] if target == "aarch64" else [f"{dlc}-run"]
    return result([*run, f"{folder}/net.dlcb", f"--input={x}", f"--output={folder}/y.npz"], folder)


def compare(dlc, folder, board=None):
    bad = 0
    for net, most in (("cnn", 1e-4), ("lstm", 1e-3)):
        made = {}
        for end in ENDS:
            model = f"{folder}/{net}.{end}" if end != "symbol.json" else f"{folder}/{net}-symbol.json"
            if end == "predict_net.pb":
                model = f"{folder}/{net}_predict_net.pb"
            if not os.path.exists(model):
                print(f"{net} {end}: not there")
                continue
            x, more = options(net, end, folder)
            with tempfile.TemporaryDirectory() as d:
                y = result([dlc, "run", model, "--tuning-db=none", *more, f"--input={x}", f"--output={d}/y.npz"], d)
                if isinstance(y, str):
                    print(f"{net} {end}: {y}")
                    bad += 1
                    continue
                made[end] = y
                framework = f"{folder}/{net}.{end}.npy"
                line = f"{net} {end}:"
                if os.path.exists(framework):
                    want = np.load(framework)
                    line += f" framework {apart(y, want)}"
                    bad += not np.abs(y - want.ravel()).max() <= 1e-4 * np.abs(want).max()
                for target in TARGETS:
                    if target == "aarch64" and not board:
                        continue
                    z = run_target(dlc, model, more, target, x, board, d)
                    text = "compiles" if target == "cuda" and not isinstance(z, str) else apart(z, y)
                    bad += isinstance(z, str) or target != "cuda" and not np.abs(z - y).max() <= most * np.abs(y).max()
                    line += f", {target} {text}"
            print(line, flush=True)
        all_made = np.stack(list(made.values()))
        spread = (all_made.max(0) - all_made.min(0)).max() / np.abs(all_made).max()
        bad += not spread <= 1e-5
        print(f"{net}: {len(made)} files, whose results differ by {spread:.1e} at most", flush=True)
    print(f"{bad} wrong")
    return bad > 0


def write(folder):
    os.makedirs(folder, exist_ok=True)
    w = make_weights()

    def to(net, end):
        return f"{folder}/{net}.{end}"

    for net in ("cnn", "lstm"):
        np.save(to(net, "x.npy"), w[f"{net}.x"])
    np.save(to("cnn", "nhwc.npy"), w["cnn.x"].transpose(0, 2, 3, 1))
    np.save(to("lstm", "steps.npy"), w["lstm.x"][0])
    if importlib.util.find_spec("torch"):
        write_torch(w, to)
    if importlib.util.find_spec("tensorflow"):
        write_keras(w, to)
    from one_network_tables import write_tables
    write_tables(w, folder)


if __name__ == "__main__":
    sys.exit(write(sys.argv[2]) if sys.argv[1] == "write" else compare(*sys.argv[2:]))
