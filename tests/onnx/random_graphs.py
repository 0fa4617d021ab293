#!/usr/bin/env python3
"""Random ONNX graphs of a seed: what dlc computes by default is what its unscheduled loops compute without any of the
rewrites of dlc-compile --without, and what ONNX Runtime computes.

    random_graphs.py DLC [--count=N] [--seed=N] [--precision=fp16|bf16] [--only=FUNCTION,..] [--more=OPTION]
        [--keep=DIR]

40 graphs from seed 1, with DLC_TEST_ALL=1 2000. ONNX Runtime is looked for in this Python and in .venv-rivals
(bench/rivals.py says how to make it); where it lacks a type, ONNX's own evaluator is asked. A graph that differs is
named by its seed; --keep keeps its files. --only makes nodes with some functions of NODES alone; --more is an option of
dlc run, such as --target=opencl."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import control
import elements
import layers
import moves
import states
import whole
import windows
from build import BOOL, F16, F32, F64, Graph, I32, I64, npy, product

HERE = os.path.dirname(os.path.abspath(__file__))
RIVALS = os.path.join(HERE, "../../.venv-rivals/bin/python3")
with open(os.path.join(HERE, "../../src/graph/without.def"), encoding="utf-8") as rows:
    EVERYTHING = ",".join(re.findall(r"^FEATURE\((\w+),", rows.read(), re.M))
RANKS = (0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4, 5, 6)
TOLERANCE = {"fp32": 1e-3, "f16": 3e-2, "fp16": 5e-2, "bf16": 3e-1}  # relative, and for values below 1 absolute
NODES = ((elements.unary, 8), (elements.clip, 2), (elements.binary, 12), (elements.divide, 3), (elements.power, 2),
         (elements.compare, 2), (elements.where, 3), (elements.cast, 1), (moves.transpose, 9), (moves.reshape, 8),
         (moves.expand, 3), (moves.concat, 6), (moves.split, 4), (moves.slices, 5), (moves.pad, 3), (moves.gather, 3),
         (moves.gather_elements, 1), (moves.gather_nd, 1), (moves.scatter, 2), (layers.reduction, 5),
         (layers.arg_extreme, 1), (layers.softmax, 3), (layers.cumulate, 1), (layers.trilu, 1), (layers.one_hot, 1),
         (layers.norm, 5), (layers.matmul, 6), (layers.gemm, 3), (layers.attention, 3), (layers.conv, 6),
         (layers.conv_transpose, 1), (layers.pool, 3), (layers.blocks, 1), (layers.resize, 1), (layers.recurrent, 1),
         (layers.einsum, 2), (layers.gate, 3), (layers.sandwich, 4), (windows.convolution, 3),
         (windows.transposed_convolution, 2), (windows.pooling, 3), (windows.local_norm, 1), (windows.resizing, 2),
         (windows.samples, 1), (windows.crop, 1), (whole.whole_binary, 3), (whole.whole_unary, 1),
         (whole.whole_cast, 2), (whole.whole_compare, 1), (whole.whole_reduce, 2), (whole.quantise, 2),
         (whole.quantised_product, 2), (whole.byte_product, 2), (whole.dynamic, 1), (states.recurrence, 1),
         (states.attention_node, 1), (states.rotary, 1), (states.rms, 1), (states.places, 2),
         (control.loop, 2), (control.branch, 1), (control.scan, 1), (control.transform, 1), (control.frames, 1),
         (control.volume, 1), (control.ellipsis, 1))
MOST_NODES = 14  # functions of NODES that a graph is made of


def make(seed, half, only=()):
    """half: the network runs in a precision of 16 bits, so its floats are f32."""
    kind = F32 if half or seed % 10 != 3 else F64 if seed % 20 == 3 else F16
    g = Graph(seed, kind, seed % 4 == 1)
    for _ in range(g.r.randint(1, 3)):
        g.new_input(g.kind, g.dims(g.r.choice(RANKS)))
    if g.chance(0.3):
        g.new_input(g.r.choice((I64, I32, BOOL)), g.dims(g.r.randint(0, 3)))
    functions = [f for f, n in NODES for _ in range(n) if not only or f.__name__ in only]
    for _ in range(g.r.randint(2, MOST_NODES)):
        g.r.choice(functions)(g)
    if all(v in g.inputs for v in g.values):
        g.add("Identity", [g.values[0]], g.values[0].kind, g.values[0].shape)
    return g


def write(path, data):
    with open(path, "wb") as f:
        f.write(data)


class Differs(Exception):
    pass


def may_jump(elements):
    return max(1, elements // 20)


def call(*command, jumps=False):
    """jumps: one of 20 elements of an output may differ, and one of any: a sum in another order that lies between two
    codes becomes the other one."""
    try:
        c = subprocess.run(command, capture_output=True, text=True, timeout=120)
    except subprocess.TimeoutExpired:
        raise Differs("no answer: " + " ".join(command))
    if c.returncode:
        said = c.stdout + c.stderr
        bad = [(int(n), int(of)) for n, of in re.findall(r"(\d+) of (\d+) outside the tolerance, 0 not", said)]
        if jumps and bad and all(n <= may_jump(of) for n, of in bad):
            return
        lines = [x for x in said.splitlines() if "differs" in x or x.startswith("dlc")]
        raise Differs("; ".join(lines[:3]) or c.stderr.strip() or f"exit {c.returncode}")


def check(dlc, seed, precision, folder, only, more=()):
    """Leaves the graph, its inputs and the outputs of plain loops in the folder."""
    g = make(seed, precision != "fp32", only)
    base = f"{folder}/{seed}"
    write(base + ".onnx", g.model())
    write(base + ".txt", "\n".join(g.log).encode() + b"\n")
    inputs = []
    for v in g.inputs:
        write(f"{base}.{v.name}.npy", npy(v.kind, v.shape, [g.number(v.kind) for _ in range(product(v.shape))]))
        inputs.append(f"--input={v.name}={base}.{v.name}.npy")
    call(dlc, "compile", base + ".onnx", "--tuning-db=none", "--unscheduled", "--without=" + EVERYTHING,
         f"--output={base}.dlcb")
    call(dlc, "run", base + ".dlcb", *inputs, f"--output={base}.npz")
    limit = TOLERANCE["f16" if g.kind == F16 else precision]
    call(dlc, "run", base + ".onnx", "--tuning-db=none", f"--threads={2 if seed % 8 == 5 and not more else 1}",
         "--precision=" + precision, *more, *inputs, f"--expect={base}.npz", f"--rtol={limit}", f"--atol={limit}",
         jumps=g.jumps)
    return g.jumps


def rival_outputs(path):
    """By name; None: ONNX Runtime does not have an operator for these types."""
    import glob
    import numpy
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    feed = {f.split(".")[-2]: numpy.load(f) for f in glob.glob(path[:-4] + "*.npy")}
    try:
        s = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return dict(zip([o.name for o in s.get_outputs()], s.run(None, feed)))
    except Exception as e:  # ONNX Runtime has a dozen kinds of its own
        if "NOT_IMPLEMENTED" in str(e) or "not support" in str(e) or "is invalid" in str(e):
            return reference_outputs(path, feed)
        raise Differs(str(e).splitlines()[0])


def reference_outputs(path, feed):
    """Those of ONNX's own evaluator, which is slow, has more types and lacks operators. It reads no direction and no
    lengths of recurrent operators."""
    try:
        import numpy
        import onnx
        from onnx.reference import ReferenceEvaluator
        m = onnx.load(path)
        if any(n.op_type in ("RNN", "GRU", "LSTM") for n in m.graph.node):
            return None
        types = [onnx.helper.tensor_dtype_to_np_dtype(o.type.tensor_type.elem_type) for o in m.graph.output]
        got = ReferenceEvaluator(m).run(None, feed)  # sums of some integers are wider than their type
        return {o.name: numpy.asarray(x).astype(t) for o, x, t in zip(m.graph.output, got, types)}
    except Exception:
        return None


def compare(folder):
    """The outputs in the folder beside those of ONNX Runtime; how many differ."""
    import numpy
    count = {"equal": 0, "differ": 0, "without reference": 0}
    for name in sorted(n for n in os.listdir(folder) if n.endswith(".npz")):
        way, got = "equal", numpy.load(f"{folder}/{name}")
        try:
            want = rival_outputs(f"{folder}/{name[:-3]}onnx")
            for k in want or {}:
                limit = TOLERANCE["f16" if want[k].dtype == numpy.float16 else "fp32"]
                few = may_jump(got[k].size) if os.path.exists(f"{folder}/{name[:-4]}.jumps") else 0
                if got[k].shape != want[k].shape or got[k].dtype != want[k].dtype or numpy.sum(
                        ~numpy.isclose(want[k].astype(float), got[k].astype(float), rtol=limit, atol=limit,
                                       equal_nan=True)) > few:
                    raise Differs(f"output {k} differs from ONNX Runtime's")
            way = "equal" if want else "without reference"
        except Differs as e:
            way = "differ"
            print(f"graph {name[:-4]}: {e}", flush=True)
        count[way] += 1
    print("ONNX Runtime: " + ", ".join(f"{n} {way}" for way, n in count.items()))
    return count["differ"]


def has_runtime(python):
    return os.path.exists(python) and \
        subprocess.run([python, "-c", "import onnxruntime"], stderr=subprocess.DEVNULL).returncode == 0


def run(o, folder):
    bad = 0
    for seed in range(o.seed, o.seed + o.count):
        try:
            if check(o.dlc, seed, o.precision, folder, o.only, o.more):
                write(f"{folder}/{seed}.jumps", b"")
        except Differs as e:
            bad += 1
            print(f"graph {seed}: {e}", flush=True)
    print(f"{o.count} graphs from seed {o.seed}, {bad} differ or failed")
    for python in [] if o.precision != "fp32" else (sys.executable, RIVALS):
        if has_runtime(python):
            return bad + subprocess.run([python, __file__, "--compare", folder]).returncode
    return bad


def main():
    if sys.argv[1:2] == ["--compare"]:
        return 1 if compare(sys.argv[2]) else 0
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("dlc", metavar="DLC")
    a.add_argument("--count", type=int, default=40)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--precision", default="fp32", choices=("fp32", "fp16", "bf16"))
    a.add_argument("--only", metavar="FUNCTIONS", type=lambda s: s.split(","), default=())
    a.add_argument("--more", metavar="OPTION", action="append", default=[], help="of dlc run; repeats")
    a.add_argument("--keep", metavar="DIR")
    o = a.parse_args()
    if os.environ.get("DLC_TEST_ALL"):
        o.count = max(o.count, 2000)
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
        return 1 if run(o, o.keep) else 0
    with tempfile.TemporaryDirectory() as folder:
        return 1 if run(o, folder) else 0


sys.exit(main())
