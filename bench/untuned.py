#!/usr/bin/env python3
"""untuned.py [OPTIONS]: how much tuning gains on random operators, which no network of the zoo has.

    bench/untuned.py --count=50 --budget=10s

Draws --count operators with random shapes (convolutions with and without groups, depthwise ones, products, poolings,
softmax, layer norm, elementwise chains, resizing), writes each as an ONNX file with random weights, tunes it for
--budget from an empty database, and times three bundles in turns: tuned, untuned (what the learned model of
DLC_TUNING_LOGS or the shipped one chooses, else the default), and default (--cost-model=analytic).  The ratios
untuned / tuned and default / tuned of each and their geometric means are printed: near 1, they are as good as what the
search finds."""
import argparse
import math
import os
import statistics
import sys

import rival

OPSET = 20


def parse():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--build", default=rival.ROOT + "/build", metavar="DIR", help="where the programs are")
    a.add_argument("--count", type=int, default=50, metavar="N", help="operators (default 50)")
    a.add_argument("--seed", type=int, default=1, metavar="N", help="of shapes and weights (default 1)")
    a.add_argument("--budget", default="10s", metavar="TIME", help="of each run of dlc-tune (default 10s)")
    a.add_argument("--threads", type=int, default=1, metavar="N", help="(default 1)")
    a.add_argument("--target", metavar="TARGET", help="of dlc (default: this CPU)")
    a.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each side (default 5)")
    a.add_argument("--seconds", type=float, default=0.2, metavar="S", help="of each turn (default 0.2)")
    return a.parse_args()


class Draw:
    """Nodes of one network with one input, and their weights."""

    def __init__(self, rng):
        self.rng, self.nodes, self.weights, self.shape = rng, [], [], None

    def one(self, low, high):
        """A number between the two, evenly on a logarithmic scale."""
        return round(math.exp(self.rng.uniform(math.log(low), math.log(high))))

    def of(self, values):
        return values[self.rng.integers(len(values))]

    def const(self, *shape):
        import numpy
        import onnx
        fan = max(1, math.prod(shape[1:]))
        w = self.rng.standard_normal(shape, dtype=numpy.float32) * numpy.float32((2 / fan) ** 0.5)
        self.weights.append(onnx.numpy_helper.from_array(w, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def node(self, op, *inputs, **attributes):
        import onnx
        self.nodes.append(onnx.helper.make_node(op, inputs, [f"v{len(self.nodes)}"], **attributes))
        return self.nodes[-1].output[0]

    def images(self, most):
        """An input NCHW with about `most` elements or fewer."""
        c, edge = self.one(3, 1024), self.one(5, 160)
        while c * edge * edge > most:
            c, edge = max(3, c // 2), max(5, edge * 3 // 4)
        self.shape = [1, c, edge, edge]
        return c, edge

    def conv(self):
        c, _ = self.images(400000)
        k, stride, m = self.of([1, 3, 3, 5, 7]), self.of([1, 1, 2]), self.one(8, 512)
        y = self.node("Conv", "x", self.const(m, c, k, k), self.const(m), pads=[k // 2] * 4, strides=[stride] * 2)
        return self.node(self.of(["Relu", "HardSwish", "Sigmoid"]), y)

    def groups(self):
        g, per = self.one(2, 32), self.one(4, 32)
        self.images(100000)
        self.shape[1] = g * per
        return self.node("Conv", "x", self.const(g * per, per, 3, 3), self.const(g * per), group=g, pads=[1] * 4)

    def depthwise(self):
        c, _ = self.images(600000)
        k, stride = self.of([3, 5, 7]), self.of([1, 2])
        return self.node("Conv", "x", self.const(c, 1, k, k), self.const(c), group=c, pads=[k // 2] * 4,
                         strides=[stride] * 2)

    def dense(self):
        m, k, n = self.one(1, 512), self.one(32, 3000), self.one(10, 3000)
        self.shape = [m, k]
        return self.node("Relu", self.node("Gemm", "x", self.const(n, k), self.const(n), transB=1))

    def product(self):
        b, m, k = self.one(1, 16), self.one(16, 300), self.one(16, 128)
        self.shape = [b, m, k]
        return self.node("MatMul", "x", self.node("Transpose", "x", perm=[0, 2, 1]))

    def pool(self):
        self.images(800000)
        return self.node(self.of(["MaxPool", "AveragePool"]), "x", kernel_shape=[3, 3], strides=[2, 2])

    def softmax(self):
        self.shape = [self.one(1, 64), self.one(1, 300), self.one(10, 3000)]
        if math.prod(self.shape) > 2000000:
            self.shape[1] = 1
        return self.node("Softmax", "x", axis=-1)

    def norm(self):
        self.shape = [1, self.one(16, 600), self.one(64, 3000)]
        return self.node("LayerNormalization", "x", self.const(self.shape[2]), self.const(self.shape[2]))

    def chain(self):
        c, _ = self.images(600000)
        y = self.node("Mul", "x", self.const(1, c, 1, 1))
        return self.node("Add", self.node("Tanh", y), "x")

    def resize(self):
        import numpy
        import onnx
        self.images(100000)
        self.weights.append(onnx.numpy_helper.from_array(numpy.array([1, 1, 2, 2], numpy.float32), "scales"))
        return self.node("Resize", "x", "", "scales", mode=self.of(["nearest", "linear"]))

    KINDS = [conv, conv, conv, groups, depthwise, dense, dense, product, pool, softmax, norm, chain, resize]

    def write(self, number, folder):
        """(what it is, the path of its file)"""
        import onnx
        kind = self.KINDS[number % len(self.KINDS)]
        last = kind(self)
        self.nodes[-1].output[0] = "y"
        assert last != "y"
        real = onnx.TensorProto.FLOAT
        x, y = (onnx.helper.make_tensor_value_info(n, real, s) for n, s in (("x", self.shape), ("y", None)))
        graph = onnx.helper.make_graph(self.nodes, "random", [x], [y], self.weights)
        model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=9)
        path = os.path.join(folder, f"random{number}.onnx")
        onnx.save(model, path)
        sides = " ".join("x".join(map(str, w.dims)) for w in self.weights if len(w.dims) > 1)
        return f"{kind.__name__} {'x'.join(map(str, self.shape))}" + (f" by {sides}" if sides else ""), path


def measure(dlc, path, o, folder):
    """(ms of the default, untuned and tuned, trials)"""
    options = [f"--threads={o.threads}", *([f"--target={o.target}"] if o.target else [])]
    db = path.replace(".onnx", ".sqlite")
    trials = dlc.json("dlc-tune", path, *options, "--tuning-db=" + db, "--budget=" + o.budget)["trials"]
    sides = {"default": ["--tuning-db=none", "--cost-model=analytic"], "untuned": ["--tuning-db=none"],
             "tuned": ["--tuning-db=" + db]}
    bundles = {side: os.path.join(folder, side + ".dlcb") for side in sides}
    for side, how in sides.items():
        dlc.call("dlc-compile", path, *options, *how, "--output=" + bundles[side])
    took = {side: [] for side in bundles}
    for r in range(o.rounds):
        for side in list(bundles)[::1 if r % 2 else -1]:
            j = dlc.json("dlc-run", bundles[side], "--random", "--bench", f"--seconds={o.seconds}")
            took[side].append(j["median_ms"])
    return *(statistics.median(took[side]) for side in bundles), trials


def main():
    o = parse()
    rival.enter()
    why = rival.install("onnx")
    if why:
        rival.give_up(3, f"onnx cannot be installed from PyPI ({why})")
    import numpy
    ratios = {"untuned": [], "default": []}
    with rival.folder() as folder:
        fresh = {"XDG_DATA_HOME": folder + "/data", "XDG_CACHE_HOME": folder + "/cache", "DLC_TUNING_DB": "none"}
        dlc = rival.Dlc(o.build, fresh)
        for number in range(o.count):
            what, path = Draw(numpy.random.default_rng([o.seed, number])).write(number, folder)
            try:
                default, untuned, tuned, trials = measure(dlc, path, o, folder)
            except RuntimeError as e:
                rival.give_up(5, f"{what}: {e}")
            ratios["untuned"].append(untuned / tuned)
            ratios["default"].append(default / tuned)
            print(f"{what:44} default {default:9.4f} ms, untuned {untuned:9.4f} ms, tuned {tuned:9.4f} ms, ratios "
                  f"{default / tuned:.3f} {untuned / tuned:.3f}, {trials} trials", flush=True)
    for side, all in ratios.items():
        mean = math.exp(statistics.fmean(map(math.log, all)))
        print(f"{len(all)} operators: {side} / tuned {mean:.3f} (geometric mean), {max(all):.3f} at most")


main()
