#!/usr/bin/env python3
"""Files of dlc's ONNX writer with one byte changed: no crash, no hang, and no result that ONNX Runtime contradicts.

    damage.py ONNX_DAMAGE [--all] [--seed=N] [FILE ...]      ONNX_DAMAGE: the program of tests/frontend/damage.c

FILEs are damaged in place of the writer's, such as small models of exporters (bench/exports.py --keep=DIR keeps them).
1000 files, with --all (or DLC_TEST_ALL=1) 10 000. Results are compared where ONNX Runtime takes the file, too; it is
looked for in this Python and in .venv-rivals (bench/rivals.py says how to make it). Without it only crashes, hangs and
refusals are checked."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RIVALS = os.path.join(HERE, "../../.venv-rivals/bin/python3")
TYPES = {"f16": "float16", "f32": "float32", "f64": "float64", "bool": "bool"}


def numpy_type(name):
    """None: NumPy does not have it."""
    if name in TYPES or name[0] not in "iu" or int(name[1:]) < 8:
        return TYPES.get(name)
    return ("uint" if name[0] == "u" else "int") + name[1:]


def read_case(path, numpy):
    """[(what, name, array)]; None: a type that NumPy does not have."""
    tensors = []
    for line in open(path):
        head, numbers = line.split("=")
        what, name, kind, *dims = head.split()
        if numpy_type(kind) is None:
            return None
        shape = [int(d) for d in dims[0].split(",")] if dims else []
        whole = kind[0] in "iub"
        values = [int(float(x)) if whole and "." not in x and "e" not in x else float(x) for x in numbers.split()]
        tensors.append((what, bytes.fromhex(name).decode("utf-8", "surrogateescape"),
                        numpy.array(values).astype(numpy_type(kind)).reshape(shape)))
    return tensors


def compare_one(path):
    """0: equal, 1: ONNX Runtime does not take the file or the inputs, 2: other results."""
    import numpy
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
    tensors = read_case(path, numpy)
    if tensors is None:
        return 1
    try:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        session = onnxruntime.InferenceSession(path[:-3] + "onnx", options, providers=["CPUExecutionProvider"])
        results = session.run([o.name for o in session.get_outputs()],
                              {name: x for what, name, x in tensors if what == "in"})
    except Exception:  # whatever it refuses is no reference
        return 1
    wanted = [x for what, _, x in tensors if what == "out"]
    for want, got in zip(wanted, results):
        got = numpy.asarray(got)
        rtol = 1e-2 if got.dtype == numpy.float16 else 1e-3
        if want.shape != got.shape or want.dtype != got.dtype or \
                not numpy.allclose(want.astype(float), got.astype(float), rtol=rtol, atol=1e-5, equal_nan=True):
            print(f"DIFFERS {path[:-3]}onnx: {want.ravel()[:6]} of dlc, {got.ravel()[:6]} of ONNX Runtime", flush=True)
            return 2
    return 0 if len(wanted) == len(results) else 2


def compare(folder):
    """Each file in a child of its own, since ONNX Runtime may crash, too."""
    import onnxruntime  # before the forks, once
    count = [0, 0, 0]
    for name in sorted(n for n in os.listdir(folder) if n.endswith(".txt")):
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            os._exit(compare_one(os.path.join(folder, name)))
        status = os.waitpid(child, 0)[1]
        code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 1
        count[code if code < 3 else 1] += 1
    print(f"ONNX Runtime {onnxruntime.__version__}: {count[0]} equal, {count[2]} differ, {count[1]} no reference")
    return 1 if count[2] else 0


def has_runtime(python):
    return subprocess.run([python, "-c", "import onnxruntime"], stderr=subprocess.DEVNULL).returncode == 0


def main():
    if sys.argv[1] == "--compare":
        return compare(sys.argv[2])
    everything = "--all" in sys.argv or bool(os.environ.get("DLC_TEST_ALL"))
    seed = next((a[7:] for a in sys.argv if a.startswith("--seed=")), "1")
    files = [a for a in sys.argv[2:] if not a.startswith("--")]
    with tempfile.TemporaryDirectory() as folder:
        ran = subprocess.run([sys.argv[1], "10000" if everything else "1000", seed, folder, *files])
        if ran.returncode:
            return 1
        for python in sys.executable, RIVALS:
            if os.path.exists(python) and has_runtime(python):
                return subprocess.run([python, __file__, "--compare", folder]).returncode
    print("no ONNX Runtime found: results are not compared")
    return 0


if __name__ == "__main__":
    sys.exit(main())
