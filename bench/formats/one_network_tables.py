"""The networks of one_network.py as files of MXNet, Caffe, Caffe2 and DarkNet, written by the tables of their formats.

Where mxnet is installed, MXNet computes its own result of the files that are written here."""
import importlib.util, json, struct

import numpy as np

from caffe import block, varint, write_model

# ---- MXNet: a symbol, and arrays of version 2


def write_mxnet_arrays(path, arrays):
    with open(path, "wb") as f:
        f.write(struct.pack("<QQQ", 0x112, 0, len(arrays)))
        for a in arrays.values():
            f.write(struct.pack(f"<IiI{a.ndim}qiii", 0xF993FAC9, 0, a.ndim, *a.shape, 1, 0, 0) + a.tobytes())
        f.write(struct.pack("<Q", len(arrays)))
        for name in arrays:
            f.write(struct.pack("<Q", len(name)) + name.encode())


class Symbol:
    """Nodes of a symbol.json; a value is the number of its node."""

    def __init__(self):
        self.nodes, self.arrays = [], {}

    def node(self, op, name, *inputs, **attrs):
        self.nodes.append(dict(op=op, name=name, inputs=[[k, 0, 0] for k in inputs],
                               attrs={k: str(v) for k, v in attrs.items()}))
        return len(self.nodes) - 1

    def weight(self, name, data, kind="arg"):
        self.arrays[f"{kind}:{name}"] = np.ascontiguousarray(data)
        return self.node("null", name)

    def save(self, folder, net):
        rows = list(range(len(self.nodes) + 1))
        args = [k for k, n in enumerate(self.nodes) if n["op"] == "null"]
        symbol = dict(nodes=self.nodes, arg_nodes=args, node_row_ptr=rows, heads=[[len(self.nodes) - 1, 0, 0]],
                      attrs=dict(mxnet_version=["int", 10901]))
        json.dump(symbol, open(f"{folder}/{net}-symbol.json", "w"), indent=1)
        write_mxnet_arrays(f"{folder}/{net}-0000.params", self.arrays)


def write_mxnet(w, folder):
    s = Symbol()

    def conv(k, x):
        n, size = w[f"{k}.w"].shape[0], w[f"{k}.w"].shape[2]
        inputs = [x, s.weight(f"{k}_weight", w[f"{k}.w"])]
        if k == "e":
            inputs.append(s.weight("e_bias", w["e.bias"]))
        step, pad = 2 if k == "b" else 1, size // 2
        x = s.node("Convolution", k, *inputs, kernel=(size, size), num_filter=n, stride=(step, step), pad=(pad, pad),
                   num_group=n if k == "d" else 1, no_bias=k != "e")
        if k == "e":
            return x
        args = [s.weight(f"{k}_{name}", w[f"{k}.{name}"]) for name in ("gamma", "beta")]
        args += [s.weight(f"{k}_moving_{name}", w[f"{k}.{name}"], "aux") for name in ("mean", "var")]
        return s.node("BatchNorm", f"{k}_norm", x, *args, eps=1e-5, fix_gamma=False)

    def relu(x, name):
        return s.node("Activation", name, x, act_type="relu")

    x = relu(conv("a", s.node("null", "data")), "a_relu")
    x = s.node("Pooling", "pool", x, kernel=(2, 2), stride=(2, 2), pool_type="max")
    b = s.node("LeakyReLU", "b_leaky", conv("b", x), act_type="leaky", slope=0.1)
    c = relu(s.node("elemwise_add", "sum", b, conv("c", b)), "c_relu")
    d = relu(conv("d", c), "d_relu")
    e = s.node("Activation", "e_tanh", conv("e", s.node("Concat", "both", c, d, dim=1, num_args=2)), act_type="tanh")
    x = s.node("Pooling", "mean", e, kernel=(1, 1), global_pool=True, pool_type="avg")
    x = s.node("FullyConnected", "f", x, s.weight("f_weight", w["f.w"]), s.weight("f_bias", w["f.bias"]),
               num_hidden=10)
    s.node("SoftmaxOutput", "softmax", x, s.node("null", "softmax_label"))
    s.save(folder, "cnn")

    s = Symbol()
    x = s.node("SwapAxis", "time", s.node("null", "data"), dim1=0, dim2=1)
    hidden = w["lstm.r"].shape[1]
    parameters = np.concatenate([w[f"lstm.{k}"].ravel() for k in ("w", "r", "wb", "rb")])
    zero = [s.node("_zeros", name, shape=(1, 1, hidden)) for name in ("h", "c")]
    x = s.node("RNN", "lstm", x, s.weight("lstm_parameters", parameters), *zero, mode="lstm", num_layers=1,
               state_size=hidden)
    x = s.node("SwapAxis", "batch", x, dim1=0, dim2=1)
    s.node("FullyConnected", "dense", x, s.weight("dense_weight", w["dense.w"]), s.weight("dense_bias",
           w["dense.bias"]), num_hidden=5, flatten=False)
    s.save(folder, "lstm")
    for net in ("cnn", "lstm") if importlib.util.find_spec("mxnet") else ():
        import mxnet as mx
        names, inputs = ["data"], [mx.nd.array(w[f"{net}.x"])]
        if net == "cnn":
            names.append("softmax_label"), inputs.append(mx.nd.zeros(1))
        read = mx.gluon.SymbolBlock.imports(f"{folder}/{net}-symbol.json", names, f"{folder}/{net}-0000.params")
        np.save(f"{folder}/{net}.symbol.json.npy", read(*inputs).asnumpy())


# ---- Caffe: the text of the layers, and their blobs


class Prototxt:
    def __init__(self, shape):
        dims = " ".join(f"dim: {d}" for d in shape)
        self.text, self.blobs = f"input: 'data' input_shape {{ {dims} }}\n", []

    def layer(self, kind, name, bottoms, options="", blobs=(), tops=None):
        edges = " ".join([f"bottom: '{b}'" for b in bottoms] + [f"top: '{t}'" for t in tops or [name]])
        self.text += f"layer {{ name: '{name}' type: '{kind}' {edges} {options} }}\n"
        self.blobs.append((name, kind, [np.ascontiguousarray(b) for b in blobs]))
        return name

    def save(self, folder, net):
        open(f"{folder}/{net}.prototxt", "w").write(self.text)
        write_model(f"{folder}/{net}.caffemodel", self.blobs)


def write_caffe(w, folder):
    p = Prototxt(w["cnn.x"].shape)

    def conv(k, x):
        n, size = w[f"{k}.w"].shape[0], w[f"{k}.w"].shape[2]
        options = (f"num_output: {n} kernel_size: {size} pad: {size // 2} stride: {2 if k == 'b' else 1} group: "
                   f"{n if k == 'd' else 1} bias_term: {str(k == 'e').lower()}")
        blobs = [w[f"{k}.w"]] + [w["e.bias"]] * (k == "e")
        x = p.layer("Convolution", k, [x], f"convolution_param {{ {options} }}", blobs)
        if k == "e":
            return x
        count = np.array([1], np.float32)  # sums are divided by it
        x = p.layer("BatchNorm", f"{k}_norm", [x], "", [w[f"{k}.mean"], w[f"{k}.var"], count])
        return p.layer("Scale", f"{k}_scale", [x], "scale_param { bias_term: true }", [w[f"{k}.gamma"],
                       w[f"{k}.beta"]])

    x = p.layer("ReLU", "a_relu", [conv("a", "data")])
    x = p.layer("Pooling", "pool", [x], "pooling_param { kernel_size: 2 stride: 2 }")
    b = p.layer("ReLU", "b_leaky", [conv("b", x)], "relu_param { negative_slope: 0.1 }")
    c = p.layer("ReLU", "c_relu", [p.layer("Eltwise", "sum", [b, conv("c", b)])])
    d = p.layer("ReLU", "d_relu", [conv("d", c)])
    e = p.layer("TanH", "e_tanh", [conv("e", p.layer("Concat", "both", [c, d]))])
    x = p.layer("Pooling", "mean", [e], "pooling_param { pool: AVE global_pooling: true }")
    x = p.layer("InnerProduct", "f", [x], "inner_product_param { num_output: 10 }", [w["f.w"], w["f.bias"]])
    p.layer("Softmax", "softmax", [x])
    p.save(folder, "cnn")

    p = Prototxt(w["lstm.x"].shape)  # Caffe has its LSTM written out: layers for each step, with shared weights
    steps, hidden = w["lstm.x"].shape[1], w["lstm.r"].shape[1]

    def dense(name, x, weight, bias=None):
        options = f"num_output: {len(weight)} axis: 2 bias_term: {str(bias is not None).lower()}"
        return p.layer("InnerProduct", name, [x], f"inner_product_param {{ {options} }}", [weight] if bias is None else
                       [weight, bias])

    def cut(name, x, axis, n):
        return p.layer("Slice", name, [x], f"slice_param {{ axis: {axis} }}", (), [f"{name}{k}" for k in
                       range(n)]) and [f"{name}{k}" for k in range(n)]

    def product(name, x, y):
        return p.layer("Eltwise", name, [x, y], "eltwise_param { operation: PROD }")

    gates, h, c = cut("x", dense("wx", "data", w["lstm.w"], w["lstm.wb"] + w["lstm.rb"]), 1, steps), [], None
    for t in range(steps):
        g = gates[t]
        if h:
            g = p.layer("Eltwise", f"gates_{t}", [g, dense(f"r_{t}", h[-1], w["lstm.r"])])
        i, f, a, o = cut(f"gate_{t}_", g, 2, 4)
        i, f, o = (p.layer("Sigmoid", f"{n}_{t}", [y]) for n, y in (("i", i), ("f", f), ("o", o)))
        made = product(f"new_{t}", i, p.layer("TanH", f"a_{t}", [a]))
        c = made if c is None else p.layer("Eltwise", f"c_{t}", [product(f"old_{t}", f, c), made])
        if t == 0:
            p.layer("Silence", "unused", [f], tops=[])
        h.append(product(f"h_{t}", o, p.layer("TanH", f"tanh_{t}", [c])))
    dense("dense", p.layer("Concat", "h", h, "concat_param { axis: 1 }"), w["dense.w"], w["dense.bias"])
    p.save(folder, "lstm")


# ---- Caffe2: two nets, of which one fills the weights


class Nets:
    def __init__(self):
        self.init, self.predict, self.weights, self.count = b"", b"", [], 0

    @staticmethod
    def argument(name, value):
        data = block(1, name.encode())
        if isinstance(value, float):
            return data + varint(2 << 3 | 5) + struct.pack("<f", value)
        if isinstance(value, int):
            return data + varint(3 << 3) + varint(value)
        if isinstance(value, np.ndarray):
            return data + b"".join(varint(5 << 3 | 5) + x.tobytes() for x in value.ravel())
        return data + b"".join(varint(6 << 3) + varint(x) for x in value)

    def op(self, kind, inputs, outputs, **args):
        data = b"".join(block(1, x.encode()) for x in inputs) + b"".join(block(2, x.encode()) for x in outputs)
        data += block(4, kind.encode()) + b"".join(block(5, self.argument(k, v)) for k, v in args.items())
        return block(2, data)

    def add(self, kind, *inputs, out=None, **args):
        self.count += 1
        outputs = out or [f"v{self.count}"]
        self.predict += self.op(kind, inputs, outputs, **args)
        return outputs[0]

    def weight(self, name, data):
        if name not in self.weights:
            self.init += self.op("GivenTensorFill", [], [name], shape=list(data.shape), values=data)
            self.weights.append(name)
        return name

    def save(self, folder, net, last):
        edges = b"".join(block(7, k.encode()) for k in ["data", *self.weights]) + block(8, last.encode())
        open(f"{folder}/{net}_predict_net.pb", "wb").write(block(1, net.encode()) + self.predict + edges)
        edges = b"".join(block(8, k.encode()) for k in self.weights)
        open(f"{folder}/{net}_init_net.pb", "wb").write(block(1, b"init") + self.init + edges)


def write_caffe2(w, folder):
    s = Nets()

    def conv(k, x):
        inputs, size = [x, s.weight(f"{k}_w", w[f"{k}.w"])], w[f"{k}.w"].shape[2]
        if k == "e":
            inputs.append(s.weight("e_b", w["e.bias"]))
        x = s.add("Conv", *inputs, kernel=size, pad=size // 2, stride=2 if k == "b" else 1, group=16 if k == "d" else 1)
        if k == "e":
            return x
        return s.add("SpatialBN", x, *(s.weight(f"{k}_{n}", w[f"{k}.{n}"]) for n in ("gamma", "beta", "mean", "var")),
                     is_test=1, epsilon=1e-5)

    x = s.add("MaxPool", s.add("Relu", conv("a", "data")), kernel=2, stride=2)
    b = s.add("LeakyRelu", conv("b", x), alpha=0.1)
    c = s.add("Relu", s.add("Sum", b, conv("c", b)))
    d = s.add("Relu", conv("d", c))
    e = s.add("Tanh", conv("e", s.add("Concat", c, d, out=["both", "sizes"], axis=1)))
    x = s.add("AveragePool", e, global_pooling=1)
    s.save(folder, "cnn", s.add("Softmax", s.add("FC", x, s.weight("f_w", w["f.w"]), s.weight("f_b", w["f.bias"]))))

    s = Nets()  # unrolled, as UnrolledCell writes it
    steps, hidden = w["lstm.x"].shape[1], w["lstm.r"].shape[1]
    gates = [f"x_{t}" for t in range(steps)]
    s.add("Split", s.add("FC", "data", s.weight("w", w["lstm.w"]), s.weight("wb", w["lstm.wb"]), axis=2), out=gates,
          axis=1)
    h, c = [], None
    for t in range(steps):
        before = h[-1] if h else s.weight("zero", np.zeros((1, 1, hidden), np.float32))
        g = s.add("FC", before, s.weight("r", w["lstm.r"]), s.weight("rb", w["lstm.rb"]), axis=2)
        part = [f"{k}_{t}" for k in "ifao"]
        s.add("Split", s.add("Add", gates[t], g), out=part, axis=2)
        i, f, o = (s.add("Sigmoid", part[k]) for k in (0, 1, 3))
        made = s.add("Mul", i, s.add("Tanh", part[2]))
        c = s.add("Add", s.add("Mul", f, c or "zero"), made)
        h.append(s.add("Mul", o, s.add("Tanh", c)))
    all_h = s.add("Concat", *h, out=["h", "sizes"], axis=1)
    s.save(folder, "lstm", s.add("FC", all_h, s.weight("dense_w", w["dense.w"]), s.weight("dense_b", w["dense.bias"]),
                                 axis=2))


# ---- DarkNet, by the rules of AlexeyAB's program (mosaic): numbers in the order of the layers

CNN_CFG = """[net]
channels=3
height=24
width=20
mosaic=0
{a}activation=relu
[maxpool]
size=2
stride=2
{b}activation=leaky
{c}activation=linear
[shortcut]
from=-2
activation=relu
{d}activation=relu
[route]
layers=-2,-1
{e}activation=tanh
[avgpool]
[connected]
output=10
activation=linear
[softmax]
"""


def write_darknet(w, folder):
    cfg = {}
    with open(f"{folder}/cnn.weights", "wb") as f:
        f.write(np.array([0, 2, 5, 0, 0], np.int32).tobytes())
        for k in "abcde":
            n, size = w[f"{k}.w"].shape[0], w[f"{k}.w"].shape[2]
            cfg[k] = (f"[convolutional]\nfilters={n}\nsize={size}\nstride={2 if k == 'b' else 1}\npad=1\n"
                      f"groups={n if k == 'd' else 1}\nbatch_normalize={int(k != 'e')}\n")
            for name in ("bias",) if k == "e" else ("beta", "gamma", "mean", "var"):
                f.write(w[f"{k}.{name}"].tobytes())
            f.write(w[f"{k}.w"].tobytes())
        f.write(w["f.bias"].tobytes() + w["f.w"].tobytes())
    open(f"{folder}/cnn.cfg", "w").write(CNN_CFG.format(**cfg))

    steps, inputs, hidden = *w["lstm.x"].shape[1:], w["lstm.r"].shape[1]
    open(f"{folder}/lstm.cfg", "w").write(f"[net]\ninputs={inputs}\nmosaic=0\n[lstm]\noutput={hidden}\n[connected]\n"
                                          "output=5\nactivation=linear\n")
    with open(f"{folder}/lstm.weights", "wb") as f:
        f.write(np.array([0, 2, 5, 0, 0], np.int32).tobytes())
        for weight, bias in (("lstm.r", "lstm.rb"), ("lstm.w", "lstm.wb")):
            for gate in (1, 0, 2, 3):  # PyTorch's are i, f, g, o
                rows = slice(gate * hidden, (gate + 1) * hidden)
                f.write(w[bias][rows].tobytes() + w[weight][rows].tobytes())
        f.write(w["dense.bias"].tobytes() + w["dense.w"].tobytes())


def write_tables(w, folder):
    write_mxnet(w, folder), write_caffe(w, folder), write_caffe2(w, folder), write_darknet(w, folder)
