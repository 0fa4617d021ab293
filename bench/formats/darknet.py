#!/usr/bin/env python3
"""Networks of DarkNet, with seeded weights, against DarkNet itself (Debian's libdarknet.so) or OpenCV's importer.

    darknet.py DLC FOLDER [side=N] [CFG ...]      # CFG: parts of names; all of FOLDER/*/*.cfg without

side=N gives images of N by N to networks that take images of any size.
Weights are written here, in the order of the layers; sizes are worked out apart from dlc. Where the oracle lacks what a
file of the fork has, it gets another file of the same meaning: shared weights are written again, dilated kernels with
their zeros, gates in DarkNet's order, convolutions of 1x1 in a crnn as 3x3. Each network runs in a process of its own,
since libdarknet ends the process where it refuses one. The largest difference is printed as a part of the largest
value."""
import ctypes
import glob
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

TREES = "/usr/share/darknet"  # of Debian's package


def read_cfg(path):
    sections = []
    for line in open(path, errors="replace"):
        line = "".join(line.split())
        if not line or line[0] in "#;":
            continue
        if line[0] == "[":
            sections.append((line[1:-1], {}))
        else:
            key, value = line.split("=", 1)
            sections[-1][1].setdefault(key, value)
    return sections


def activated(name, mean, square):
    """Mean and mean square behind an activation of normal numbers that have these in front of it."""
    x = np.linspace(-6, 6, 2001)
    p = np.exp(-x * x / 2)
    p, x = p / p.sum(), mean + max(square - mean * mean, 0) ** 0.5 * x
    soft = np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0)
    y = {"leaky": np.where(x > 0, x, 0.1 * x), "relu": np.maximum(x, 0), "mish": x * np.tanh(soft),
         "swish": x / (1 + np.exp(-x)),
         "logistic": 1 / (1 + np.exp(-x)), "loggy": 2 / (1 + np.exp(-x)) - 1, "tanh": np.tanh(x),
         "ramp": np.maximum(x, 0) + 0.1 * x}.get(name, x)
    return (p * y).sum(), (p * y * y).sum()


def as_gates(blocks, kind):
    """The weights of the fork's gates in DarkNet's order."""
    if kind == "gru":
        return blocks[len(blocks) // 2:] + blocks[:len(blocks) // 2]
    each = len(blocks) // 8
    gates = [blocks[k:k + each] for k in range(0, len(blocks), each)]
    return sum((gates[side + k] for side in (0, 4) for k in (1, 0, 3, 2)), [])


def zeros_between(kernels, d, pad=0):
    """Kernels [..,size,size] whose elements lie d apart."""
    size = (kernels.shape[-1] - 1) * d + 1
    out = np.zeros((*kernels.shape[:2], size, size), np.float32)
    out[:, :, ::d, ::d] = kernels
    return np.pad(out, ((0, 0), (0, 0), (pad, pad), (pad, pad)))


def write_weights(sections, path, fork, reader=None):
    """Random numbers in the order of the file; returns the shape of the input.

    Beside its shape each layer has the mean and the mean square of its values as they should be; weights are drawn so
    that a sum of products has the mean square 1. Thus no network overflows or saturates, however deep it is. A file of
    the fork may be written for a `reader`, "OpenCV" or "DarkNet": the variances make good its other epsilon."""
    variance_for = {"OpenCV": lambda x: x + 9e-6, "DarkNet": lambda x: ((x + 1e-5) ** 0.5 - 1e-6) ** 2}.get(
        reader, lambda x: x)
    rng = np.random.default_rng(1)
    net = sections[0][1]
    c, h, w = (int(net.get(k, 0)) for k in ("channels", "height", "width"))
    if not c * h * w:
        c, h, w = int(net["inputs"]), 1, 1
    shape, out, size_of, kept = (c, h, w), [], [], []
    mean, square = 0.5, 1 / 3

    with open(path, "wb") as f:
        f.write(np.array([0, 2, 5, 0, 0], np.int32).tobytes())

        def put(n, mean, spread, become=lambda x: x):
            blocks.append(become((mean + spread * rng.standard_normal(n)).clip(mean - 3 * spread, mean + 3 * spread))
                          .astype(np.float32))

        def statistics(n):
            put(n, 1, 0.1), put(n, 0, 0.1), put(n, 1, 0.1, variance_for)

        def spread(inputs):
            return (inputs * max(square, 1e-6)) ** -0.5

        def filters(n, channels, size, normalized, pad=0):
            put(n, 0, 0.1)
            if normalized:
                statistics(n)
            put(n * channels * size * size, 0, spread(channels * size * size),
                lambda x: zeros_between(x.reshape(n, channels, size, size), 1, pad))

        def connected(n, inputs, normalized):
            put(n, 0, 0.1), put(n * inputs, 0, spread(inputs))
            if normalized:
                statistics(n)

        for k, (kind, o) in enumerate(sections[1:]):
            c, h, w = shape
            blocks = []
            i = {key: int(v) for key, v in o.items() if v.lstrip("-").isdigit()}
            normalized, size, stride = i.get("batch_normalize", 0), i.get("size", 1), i.get("stride", 1)
            layers = [int(x) for x in o.get("layers", o.get("from", "-1")).split(",") if x]
            layers = [x if x >= 0 else k + x for x in layers] if k else []
            sizes, layers = [size_of[x] for x in layers], [out[x] for x in layers]
            before, behind = (mean, square), o.get("activation", "linear" if kind == "shortcut" else "logistic")
            if kind == "convolutional":
                pad = size // 2 if i.get("pad") else i.get("padding", 0)
                n = i.get("filters", 1)
                if "share_index" not in i:
                    filters(n, c // i.get("groups", 1), size, normalized)
                elif reader:
                    blocks = kept[i["share_index"]]
                shape = n, (h + 2 * pad - size) // stride + 1, (w + 2 * pad - size) // stride + 1
            elif kind == "connected":
                connected(i["output"], c * h * w, normalized)
                shape = i["output"], 1, 1
            elif kind == "maxpool":
                size, pad = i.get("size", stride), i.get("padding", i.get("size", stride) - 1)
                shape = c, (h + pad - size) // stride + 1, (w + pad - size) // stride + 1
            elif kind == "local":
                high, wide = ((x - (1 if i.get("pad") else size)) // stride + 1 for x in (h, w))
                n = i["filters"]
                put(n * high * wide, 0, 0.1), put(high * wide * n * c * size * size, 0, spread(c * size * size))
                shape = n, high, wide
            elif kind in ("rnn", "crnn"):
                n, hidden = i["output"], i.get("hidden", i["output"])
                for a, b in ((c, hidden), (hidden, hidden), (hidden, n)):
                    if kind == "rnn":
                        connected(b, a * h * w, normalized)
                    else:
                        filters(b, a, size, normalized, (3 - size) // 2 if reader == "DarkNet" else 0)
                same = np.eye(n, dtype=np.float32)[:, :, None, None]
                if kind == "crnn" and reader == "DarkNet":  # the convolution behind it
                    blocks = [*blocks, np.zeros(n, np.float32), zeros_between(same, 1, 1)]
                shape = n, h, w
            elif kind in ("gru", "lstm"):
                n, gates = i["output"], 3 if kind == "gru" else 4
                for side in range(2 * gates):
                    connected(n, n if (side < gates) != (fork and kind == "gru") else c * h * w, normalized)
                if reader == "DarkNet":
                    blocks = as_gates(blocks, kind)
                shape = n, 1, 1
            elif kind == "route":
                shape = sum(x[0] for x in layers) // i.get("groups", 1), *layers[0][1:]
            elif kind == "scale_channels":
                shape = layers[0]
            elif kind == "upsample":
                shape = c, h * i["stride"], w * i["stride"]
            elif kind == "reorg":
                shape = c * stride ** 2, h // stride, w // stride
            elif kind == "avgpool":
                shape = c, 1, 1
            elif kind == "crop":
                shape = c, i["crop_height"], i["crop_width"]
            kept.append(blocks)
            if reader == "OpenCV" and "dilation" in i and blocks:
                blocks = [*blocks[:-1], zeros_between(blocks[-1].reshape(i["filters"], -1, size, size), i["dilation"])]
            f.writelines(b.tobytes() for b in blocks)
            if kind in ("convolutional", "connected", "local"):
                mean, square = activated(behind, 0, 1)
            elif kind in ("rnn", "crnn", "gru", "lstm"):
                mean, square = 0, 0.5
            elif kind == "route":
                mean, square = (sum(v[m] * x[0] for v, x in zip(sizes, layers)) / sum(x[0] for x in layers)
                                for m in (0, 1))
            elif kind == "shortcut":
                every = [before, *sizes]
                mean = sum(m for m, _ in every)
                square = mean ** 2 + sum(v - m * m for m, v in every)
                mean, square = activated(behind, mean, square)
            elif kind in ("scale_channels", "sam"):
                mean, square = before[0] * sizes[0][0], before[1] * sizes[0][1]
            elif kind == "avgpool":
                square = mean ** 2 + (square - mean ** 2) / max(h * w, 1) ** 0.5
            size_of.append((mean, square))
            out.append(shape)
    c, h, w = (int(net.get(k, 0)) for k in ("channels", "height", "width"))
    return (1, c, h, w) if c * h * w else (1, int(net["inputs"]))


def with_darknet(cfg, weights, x, n):
    """The last layer, of each step of a sequence: DarkNet keeps the state of recurrent layers."""
    lib = ctypes.CDLL("/usr/lib/darknet/libdarknet.so")
    lib.load_network.restype = ctypes.c_void_p
    lib.load_network.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int]
    lib.set_batch_network.argtypes = [ctypes.c_void_p, ctypes.c_int]
    lib.network_predict.restype = ctypes.POINTER(ctypes.c_float)
    lib.network_predict.argtypes = [ctypes.c_void_p, ctypes.POINTER(ctypes.c_float)]
    net = lib.load_network(cfg.encode(), weights.encode(), 0)
    lib.set_batch_network(net, 1)
    out = []
    for step in np.ascontiguousarray(x, np.float32):
        y = lib.network_predict(net, step.ctypes.data_as(ctypes.POINTER(ctypes.c_float)))
        out.append(np.ctypeslib.as_array(y, (n // len(x),)).copy())
    return np.stack(out)


def with_opencv(cfg, weights, x, names):
    """Layers by name; of yolo layers the boxes as OpenCV decodes them."""
    import cv2
    net = cv2.dnn.readNetFromDarknet(cfg, weights)
    net.setPreferableBackend(cv2.dnn.DNN_BACKEND_OPENCV)
    net.enableWinograd(False)  # its rounding doubles the difference of yolov4-tiny-3l
    net.setInput(x)
    have = net.getLayerNames()
    number = {n: n.rsplit("_", 1)[1] for n in names}
    return [net.forward([h for h in have if h.rsplit("_", 1)[-1] == number[n]][-1]) for n in names]


def with_tree(y, region, tree):
    """The region layer with a hierarchy of classes: y[N,C,H,W] is its input."""
    parents = [int(line.split()[1]) for line in open(tree)]
    n, classes = int(region["num"]), int(region["classes"])
    y = y.reshape(n, classes + 5, -1).astype(np.float64)
    out = 1 / (1 + np.exp(-y))
    out[:, 2:4] = y[:, 2:4]
    begins = [k for k in range(classes) if k == 0 or parents[k] != parents[k - 1]]
    for a, b in zip(begins, [*begins[1:], classes]):
        e = np.exp(y[:, 5 + a:5 + b] - y[:, 5 + a:5 + b].max(1, keepdims=True))
        out[:, 5 + a:5 + b] = e / e.sum(1, keepdims=True)
    return out


def decode(y, section, net):
    """What dlc gives for a yolo layer, as OpenCV's rows: x, y, width, height, objectness."""
    anchors = np.array([float(a) for a in section["anchors"].split(",")]).reshape(-1, 2)
    mask = [int(m) for m in section["mask"].split(",")]
    c, h, w = y.shape[1:]
    y = y[0].reshape(len(mask), c // len(mask), h, w).astype(np.float64)
    grid = np.meshgrid(np.arange(w), np.arange(h))
    size = anchors[mask][:, :, None, None]
    if int(section.get("new_coords", 0)):
        wide, high = (2 * y[:, 2]) ** 2 * size[:, 0], (2 * y[:, 3]) ** 2 * size[:, 1]
    else:
        wide, high = np.exp(y[:, 2]) * size[:, 0], np.exp(y[:, 3]) * size[:, 1]
    rows = [(y[:, 0] + grid[0]) / w, (y[:, 1] + grid[1]) / h, wide / int(net["width"]), high / int(net["height"]),
            y[:, 4]]
    return np.stack(rows, -1).transpose(1, 2, 0, 3).reshape(-1, 5)


def for_opencv(sections):
    """The network without what OpenCV does not know: its weights make that good."""
    out = []
    for kind, o in sections:
        size = {"size": (int(o.get("size", 1)) - 1) * int(o["dilation"]) + 1} if "dilation" in o else {}
        out.append((kind, {k: v for k, v in o.items() if k not in ("share_index", "dilation")} | size))
    return out


def for_darknet(sections):
    """The network in DarkNet's words; a region with a hierarchy is left out, since its CPU takes other elements.

    A crnn of DarkNet claims no memory for its convolutions: one that changes nothing, behind it, does."""
    words, out = {"output": "output_filters", "hidden": "hidden_filters"}, []
    for kind, o in sections:
        out.append((kind, {words.get(k, k) if kind == "crnn" else k: v for k, v in o.items()}))
        if kind == "crnn":
            out.append(("convolutional", dict(filters=o["output"], size=3, stride=1, pad=1, activation="linear")))
    return out[:-1] if "tree" in out[-1][1] else out


def write_cfg(sections, path):
    with open(path, "w") as f:
        for kind, o in sections:
            f.write("".join([f"[{kind}]\n", *(f"{k}={v}\n" for k, v in o.items())]))


RECURRENT, STEPS = {"rnn", "gru", "lstm", "crnn"}, 3


def one(dlc, cfg, side):
    sections = read_cfg(cfg)
    kinds = {kind for kind, _ in sections}
    net, region = sections[0][1], sections[-1][1]
    if side and not {"connected", "local", "crop"} & kinds and "width" in net:
        net.update(width=side, height=side)
    net.update(batch=1, subdivisions=1)
    fork, recurrent, tree = "AlexeyAB" in cfg, RECURRENT & kinds, region.get("tree")
    if recurrent:
        net["time_steps"] = 1
    if fork:
        net["mosaic"] = 0
    with tempfile.TemporaryDirectory() as tmp:
        shape = write_weights(sections, f"{tmp}/w.weights", fork)
        x = np.random.default_rng(2).random((STEPS if recurrent else 1, *shape[1:]), np.float32)
        np.save(f"{tmp}/x.npy", x)
        write_cfg(sections, f"{tmp}/net.cfg")
        if tree:
            os.mkdir(f"{tmp}/data")
            shutil.copy(f"{TREES}/{tree}", f"{tmp}/{tree}")
        p = subprocess.run([dlc, "run", f"{tmp}/net.cfg", f"--weights={tmp}/w.weights", "--tuning-db=none",
                            *([f"--seq={STEPS}"] if recurrent else []),
                            f"--input=data={tmp}/x.npy", f"--output={tmp}/y.npz"], capture_output=True, text=True)
        if p.returncode != 0:
            return f"dlc: {p.stderr.strip().splitlines()[-1]}"
        y = np.load(f"{tmp}/y.npz")
        have = [y[name] for name in y.files]
        if fork and not recurrent:
            write_weights(sections, f"{tmp}/cv.weights", fork, "OpenCV")
            write_cfg(for_opencv(sections), f"{tmp}/cv.cfg")
            want = with_opencv(f"{tmp}/cv.cfg", f"{tmp}/cv.weights", x, y.files)
            for k, name in enumerate(y.files):
                kind, options = sections[1 + int(name.rsplit("_", 1)[1])]
                if kind == "yolo":
                    have[k], want[k] = decode(have[k], options, net), want[k].reshape(-1, want[k].shape[-1])[:, :5]
        else:
            write_weights(sections, f"{tmp}/o.weights", fork, "DarkNet" if fork else None)
            write_cfg(for_darknet(sections), f"{tmp}/o.cfg")
            have = have[-1:]
            want = [with_darknet(f"{tmp}/o.cfg", f"{tmp}/o.weights", x, have[0].size)]
            if tree:
                want = [with_tree(want[0], region, f"{tmp}/{tree}")]
        most = [np.abs(w).max() for w in want]
        difference = max(np.abs(h.ravel() - w.ravel()).max() / m for h, w, m in zip(have, want, most))
        return f"{difference:.1e} of {max(most):.3g} ({'OpenCV' if fork and not recurrent else 'DarkNet'})"


def main():
    dlc, folder, *names = sys.argv[1:]
    side = next((n[5:] for n in names if n.startswith("side=")), None)
    names = [n for n in names if not n.startswith("side=")]
    if names[:1] == ["--one"]:
        print(one(dlc, folder, side))
        return
    for cfg in sorted(glob.glob(f"{folder}/*/*.cfg")):
        if names and not any(n in cfg for n in names):
            continue
        p = subprocess.run([sys.executable, __file__, dlc, cfg, "--one", *([f"side={side}"] if side else [])],
                           capture_output=True, text=True)
        said = p.stdout.strip().splitlines()
        why = (p.stderr.strip().splitlines() or ["ended without a word"])[-1]
        result = said[-1] if p.returncode == 0 and said else f"oracle: {why}"
        print(f"{os.path.relpath(cfg, folder):36} {result}", flush=True)


main()
