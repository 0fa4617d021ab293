#!/usr/bin/env python3
"""Networks of Caffe, with seeded weights, against OpenCV's importer (pip install 'opencv-python-headless<5').

    caffe.py DLC FOLDER [PART ...]      # PART: parts of names; all of FOLDER/*/*.prototxt without
    caffe.py DLC --layers               # a network for each kind of layer

The .caffemodel is written here, byte by byte; shapes are worked out apart from dlc. The largest difference is printed
as a part of the largest value. Networks of a folder are compared without the Softmax at their end: it would be 1 in one
place and hide all differences."""
import glob
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

# ---- the text of a network


def read_text(text):
    """Fields of a message, in order: (name, value); a value is a text or a list of fields."""
    tokens = re.findall(r'"[^"]*"|\'[^\']*\'|[{}:\[\],]|[^\s{}:\[\],]+', re.sub(r"#.*", "", text))
    at = 0

    def message():
        nonlocal at
        out = []
        while at < len(tokens) and tokens[at] != "}":
            name = tokens[at]
            at += 1
            if tokens[at] == ":":
                at += 1
            if tokens[at] == "{":
                at += 1
                out.append((name, message()))
                at += 1
            elif tokens[at] == "[":
                while tokens[at] != "]":
                    at += 1
                    if tokens[at] not in ",]":
                        out.append((name, tokens[at]))
                at += 1
            else:
                out.append((name, tokens[at].strip("\"'")))
                at += 1
        return out

    return message()


def every(fields, name):
    return [v for k, v in fields if k == name]


def one(fields, name, otherwise=None):
    return (every(fields, name) or [otherwise])[0]


def write_text(fields):
    return "".join(f"{k} {{\n{write_text(v)}}}\n" if isinstance(v, list) else
                   f"{k}: {v if bare(k, v) else repr(v)}\n" for k, v in fields)


def bare(key, value):
    number_or_word = re.fullmatch(r"[-+.\d]+(e[-+]?\d+)?f?|true|false|[A-Z_]+", value) is not None
    return number_or_word and key not in ("name", "type", "bottom", "top", "input")


def without_softmax(text):
    net = read_text(text)
    layers = every(net, "layer")
    read = {b for n in layers for b in every(n, "bottom") if b not in every(n, "top")}
    last = [n for n in layers if one(n, "type") == "Softmax" and not read & set(every(n, "top"))]
    return write_text([(k, v) for k, v in net if not any(v is n for n in last)]) if last else text


# ---- shapes and weights


def window(p, size, deconvolution=False, pooling=False):
    """The result of a layer with windows along height and width."""
    out = []
    for k, side in enumerate("hw"):
        def get(both, name, otherwise):
            numbers = every(p, both)
            return int(one(p, name, numbers[k if len(numbers) > 1 else 0] if numbers else otherwise))

        kernel, stride = get("kernel_size", f"kernel_{side}", 1), get("stride", f"stride_{side}", 1)
        pad, dilation = get("pad", f"pad_{side}", 0), get("dilation", "", 1)
        reach = (kernel - 1) * dilation + 1
        if deconvolution:
            out.append((size[k] - 1) * stride + reach - 2 * pad)
        elif pooling and one(p, "round_mode") != "FLOOR" and one(p, "ceil_mode") != "false":
            n = -(-(size[k] + 2 * pad - reach) // stride) + 1
            out.append(n - (pad > 0 and (n - 1) * stride >= size[k] + pad))
        else:
            out.append((size[k] + 2 * pad - reach) // stride + 1)
    return out


def make_weights(net, shapes):
    """The blobs of each layer, in order; `shapes` has those of the inputs and gets all others."""
    rng = np.random.default_rng(1)
    out = []

    def put(mean, spread, *shape):
        return (mean + spread * rng.uniform(-1.7, 1.7, shape)).astype(np.float32)

    for layer in every(net, "layer"):
        kind, bottom, top = one(layer, "type"), every(layer, "bottom"), every(layer, "top")
        rules = [one(r, "phase") for r in every(layer, "include")]
        if rules and "TEST" not in rules or not bottom:
            continue
        x, blobs = shapes[bottom[0]], []
        y = list(x)
        if kind in ("Convolution", "ConvolutionDepthwise", "Deconvolution"):
            p = one(layer, "convolution_param")
            n, groups = int(one(p, "num_output")), int(one(p, "group", 1))
            if kind == "ConvolutionDepthwise":
                groups = x[1]
            sizes = [int(v) for v in every(p, "kernel_size")] or [int(one(p, "kernel_h")), int(one(p, "kernel_w"))]
            sizes = sizes * 2 if len(sizes) == 1 else sizes
            shape = (x[1], n // groups) if kind == "Deconvolution" else (n, x[1] // groups)
            blobs = [put(0, (2 / (x[1] // groups * sizes[0] * sizes[1])) ** 0.5, *shape, *sizes)]
            if one(p, "bias_term", "true") == "true":
                blobs.append(put(0, 0.1, n))
            y = [x[0], n, *window(p, x[2:], deconvolution=kind == "Deconvolution")]
        elif kind == "Pooling":
            p = one(layer, "pooling_param")
            y = [*x[:2], 1, 1] if one(p, "global_pooling") == "true" else [*x[:2], *window(p, x[2:], pooling=True)]
        elif kind == "InnerProduct":
            p = one(layer, "inner_product_param")
            n, inputs = int(one(p, "num_output")), int(np.prod(x[1:]))
            blobs = [put(0, inputs ** -0.5, n, inputs)]
            if one(p, "bias_term", "true") == "true":
                blobs.append(put(0, 0.1, n))
            y = [x[0], n]
        elif kind == "BatchNorm":
            blobs = [put(0, 0.3, x[1]), put(3, 0.5, x[1]), np.array([2], np.float32)]
        elif kind == "Scale" and len(bottom) == 1:
            blobs = [put(1, 0.1, x[1])]
            if one(one(layer, "scale_param", []), "bias_term") == "true":
                blobs.append(put(0, 0.1, x[1]))
        elif kind == "PReLU":
            blobs = [put(0.25, 0.1, 1 if one(one(layer, "prelu_param", []), "channel_shared") == "true" else x[1])]
        elif kind == "Normalize":
            shared = one(one(layer, "norm_param", []), "channel_shared", "true") == "true"
            blobs = [put(1, 0.1, 1 if shared else x[1])]
        elif kind == "Concat":
            y[1] = sum(shapes[b][1] for b in bottom)
        elif kind == "Flatten":
            y = [x[0], int(np.prod(x[1:]))]
        elif kind == "Slice":
            points = [0, *(int(v) for v in every(one(layer, "slice_param", []), "slice_point")), x[1]]
            if len(points) == 2:
                points = [x[1] * k // len(top) for k in range(len(top) + 1)]
            for k, t in enumerate(top):
                shapes[t] = [x[0], points[k + 1] - points[k], *x[2:]]
        elif kind == "Reshape":
            dims = [int(v) for v in every(one(one(layer, "reshape_param"), "shape"), "dim")]
            y = [x[k] if d == 0 else d for k, d in enumerate(dims)]
            y = [int(-np.prod(x) // np.prod(y)) if d == -1 else d for d in y]
        for t in top if kind != "Slice" else []:
            shapes[t] = y
        out.append((one(layer, "name"), kind, blobs))
    return out


def input_shapes(net):
    shapes = {}
    names, dims = every(net, "input"), [int(v) for v in every(net, "input_dim")]
    for k, name in enumerate(names):
        blocks = every(net, "input_shape")
        shapes[name] = [int(v) for v in every(blocks[k], "dim")] if blocks else dims[4 * k:4 * k + 4]
    for layer in every(net, "layer"):
        if one(layer, "type") == "Input":
            shapes[one(layer, "top")] = [int(v) for v in every(one(one(layer, "input_param"), "shape"), "dim")]
    return shapes


# ---- the bytes of a .caffemodel


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def block(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def write_model(path, weights):
    with open(path, "wb") as f:
        for name, kind, blobs in weights:
            data = block(1, name.encode()) + block(2, kind.encode())
            for b in blobs:
                shape = block(7, block(1, b"".join(varint(d) for d in b.shape)))
                data += block(7, shape + block(5, b.tobytes()))
            f.write(block(100, data))


# ---- both programs


def compare(dlc, text):
    import cv2
    net = read_text(text)
    shapes = input_shapes(net)
    inputs = {k: list(v) for k, v in shapes.items()}
    with tempfile.TemporaryDirectory() as tmp:
        with open(f"{tmp}/net.prototxt", "w") as f:
            f.write(text)
        write_model(f"{tmp}/net.caffemodel", make_weights(net, shapes))
        rng, args = np.random.default_rng(2), []
        x = {k: rng.uniform(-1, 1, v).astype(np.float32) for k, v in inputs.items()}
        if "r" in x:  # regions: the number of an image and two corners
            corners = [[1, 2, 9, 11], [0, 0, 15, 17], [6, 4, 8, 5], [3, 9, 14, 16], [2, 2, 2, 2]]
            x["r"] = np.array([[k % 2, *c] for k, c in enumerate(corners)], np.float32)
        for k, v in x.items():
            np.save(f"{tmp}/{k}.npy", v)
            args.append(f"--input={k}={tmp}/{k}.npy")
        p = subprocess.run([dlc, "run", f"{tmp}/net.prototxt", "--tuning-db=none", *args, f"--output={tmp}/y.npz"],
                           capture_output=True, text=True)
        if p.returncode != 0:
            return f"dlc: {p.stderr.strip().splitlines()[-1]}"
        y = np.load(f"{tmp}/y.npz")
        oracle = cv2.dnn.readNetFromCaffe(f"{tmp}/net.prototxt", f"{tmp}/net.caffemodel")
        oracle.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
        for k, v in x.items():
            oracle.setInput(v, k)
        said = []
        for name in y.files:
            last = [one(n, "name") for n in every(net, "layer") if name in every(n, "top")][-1]
            tops = next(every(n, "top") for n in every(net, "layer") if one(n, "name") == last)
            want = oracle.forwardAndRetrieve([last])[0][tops.index(name)]
            have = y[name]
            if have.size != want.size:
                said.append(f"{name}: {have.shape} instead of {want.shape}")
                continue
            most = np.abs(want).max()
            said.append(f"{np.abs(have.ravel() - want.ravel()).max() / most:.1e} of {most:.3g}")
        return ", ".join(said)


# ---- a network for each kind of layer

INPUT = "input: 'data' input_shape { dim: 2 dim: 6 dim: 9 dim: 8 }\n"
LAYERS = {
    "convolution": "Convolution convolution_param { num_output: 4 kernel_size: 3 stride: 2 pad: 1 group: 2 }",
    "dilated": "Convolution convolution_param { num_output: 4 kernel_h: 3 kernel_w: 1 pad_h: 2 pad_w: 0 dilation: 2 }",
    "depthwise": "ConvolutionDepthwise convolution_param { num_output: 6 kernel_size: 3 pad: 1 bias_term: false }",
    "deconvolution": "Deconvolution convolution_param { num_output: 4 kernel_size: 4 stride: 2 pad: 1 }",
    "deconvolution groups": "Deconvolution convolution_param { num_output: 6 kernel_size: 4 stride: 2 group: 6 }",
    "max pool": "Pooling pooling_param { kernel_size: 3 stride: 2 }",
    "max pool padded": "Pooling pooling_param { kernel_size: 2 stride: 2 pad: 1 }",
    "mean pool": "Pooling pooling_param { pool: AVE kernel_size: 3 stride: 2 }",
    "mean pool padded": "Pooling pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 }",
    "global pool": "Pooling pooling_param { pool: AVE global_pooling: true }",
    "inner product": "InnerProduct inner_product_param { num_output: 5 }",
    "batch norm": "BatchNorm batch_norm_param { eps: 0.001 }",
    "scale": "Scale scale_param { bias_term: true }",
    "lrn": "LRN lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 }",
    "lrn within": "LRN lrn_param { local_size: 3 alpha: 0.5 beta: 0.75 norm_region: WITHIN_CHANNEL }",
    "mvn": "MVN mvn_param { eps: 0.00001 }",
    "mvn across": "MVN mvn_param { across_channels: true normalize_variance: false }",
    "softmax": "Softmax",
    "relu": "ReLU relu_param { negative_slope: 0.2 }",
    "prelu": "PReLU",
    "elu": "ELU elu_param { alpha: 0.5 }",
    "sigmoid": "Sigmoid",
    "tanh": "TanH",
    "absval": "AbsVal",
    "bnll": "BNLL",
    "power": "Power power_param { power: 2 scale: 0.5 shift: 1.5 }",
    "exp": "Exp exp_param { base: 2 scale: 0.5 shift: 1 }",
    "relu6": "ReLU6",
    "swish": "Swish",
    "flatten": "Flatten",
    "reshape": "Reshape reshape_param { shape { dim: 0 dim: -1 dim: 4 } }",
    "permute": "Permute permute_param { order: 0 order: 2 order: 3 order: 1 }",
    "normalize": "Normalize norm_param { across_spatial: false channel_shared: false }",
    "normalize all": "Normalize norm_param { across_spatial: true }",
    "interp": "Interp interp_param { height: 17 width: 11 }",
    "prior box": "PriorBox bottom: 'data' prior_box_param { min_size: 3 max_size: 5 aspect_ratio: 2 flip: true "
                 "clip: false variance: 0.1 variance: 0.1 variance: 0.2 variance: 0.2 offset: 0.5 }",
}
JOINS = {
    "concat": "Concat",
    "sum": "Eltwise eltwise_param { operation: SUM coeff: 1 coeff: -0.5 }",
    "product": "Eltwise eltwise_param { operation: PROD }",
    "maximum": "Eltwise eltwise_param { operation: MAX }",
}
NETS = {
    "slice": "layer { name: 'l' type: 'Slice' bottom: 'data' top: 'l' top: 'm' slice_param { slice_point: 2 } }",
    "crop": "layer { name: 'p' type: 'Pooling' bottom: 'data' top: 'p' pooling_param { kernel_size: 3 } }\n"
            "layer { name: 'l' type: 'Crop' bottom: 'data' bottom: 'p' top: 'l' crop_param { axis: 2 offset: 1 } }",
    "roi pooling": "input: 'r' input_shape { dim: 5 dim: 5 }\n"
                   "layer { name: 'l' type: 'ROIPooling' bottom: 'data' bottom: 'r' top: 'l' "
                   "roi_pooling_param { pooled_h: 2 pooled_w: 3 spatial_scale: 0.5 } }",
    "psroi pooling": "input: 'r' input_shape { dim: 5 dim: 5 }\n"
                     "layer { name: 'c' type: 'Convolution' bottom: 'data' top: 'c' convolution_param { "
                     "num_output: 8 kernel_size: 1 } }\n"
                     "layer { name: 'l' type: 'PSROIPooling' bottom: 'c' bottom: 'r' top: 'l' "
                     "psroi_pooling_param { output_dim: 2 group_size: 2 spatial_scale: 0.5 } }",
    "in place": "layer { name: 'b' type: 'BatchNorm' bottom: 'data' top: 'l' }\n"
                "layer { name: 's' type: 'Scale' bottom: 'l' top: 'l' scale_param { bias_term: true } }\n"
                "layer { name: 'r' type: 'ReLU' bottom: 'l' top: 'l' }",
}


def layer_nets():
    for name, layer in LAYERS.items():
        kind, _, rest = layer.partition(" ")
        yield name, f"{INPUT}layer {{ name: 'l' type: '{kind}' bottom: 'data' top: 'l' {rest} }}"
    for name, layer in JOINS.items():
        kind, _, rest = layer.partition(" ")
        yield name, (f"{INPUT}layer {{ name: 't' type: 'TanH' bottom: 'data' top: 't' }}\n"
                     f"layer {{ name: 'l' type: '{kind}' bottom: 'data' bottom: 't' top: 'l' {rest} }}")
    for name, net in NETS.items():
        yield name, INPUT + net


def main():
    dlc, folder, *names = sys.argv[1:]
    if folder == "--layers":
        nets = [(n, t) for n, t in layer_nets() if not names or any(k in n for k in names)]
    else:
        paths = sorted(glob.glob(f"{folder}/*/*.prototxt"))
        nets = [(os.path.relpath(p, folder), without_softmax(open(p).read())) for p in paths
                if not names or any(n in p for n in names)]
    for name, text in nets:
        try:
            result = compare(dlc, text)
        except Exception as why:
            result = f"oracle: {str(why).strip().splitlines()[-1][:150] if str(why).strip() else repr(why)}"
        print(f"{name:44} {result}", flush=True)


if __name__ == "__main__":
    main()
