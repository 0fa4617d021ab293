"""ONNX Runtime in a virtual environment of its own, and dlc's programs beside it.

rivals.py and correct.py import this first: enter() makes .venv-rivals/ at the root of the checkout (pip,
from PyPI, once), and starts the script again in it.  Nothing else of dlc needs Python packages."""
import json
import os
import subprocess
import sys
import tempfile
import venv

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv-rivals")
PACKAGES = ["onnxruntime", "numpy"]


def give_up(code, sentence):
    sys.stderr.write(f"{os.path.basename(sys.argv[0])}: {sentence}\n")
    sys.exit(code)


def enter():
    """Comes back only inside the environment."""
    if os.path.realpath(sys.prefix) == os.path.realpath(VENV):
        return
    python = os.path.join(VENV, "bin", "python")
    probe = [python, "-c", "import onnxruntime, numpy"]
    if not os.path.exists(python) or subprocess.run(probe, stderr=subprocess.DEVNULL).returncode:
        sys.stderr.write(f"making {VENV} with {', '.join(PACKAGES)} from PyPI (once)\n")
        try:
            venv.create(VENV, with_pip=True)
        except (OSError, subprocess.CalledProcessError) as e:
            give_up(5, f"{VENV} cannot be made: {e}; Debian's package python3-venv is needed")
        p = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if p.returncode:
            why = (p.stdout.decode(errors="replace").strip().splitlines() or ["pip said nothing"])[-1]
            give_up(3, "ONNX Runtime could not be installed from PyPI; without network this comparison cannot "
                       f"be made, once installed it can ({why})")
    os.execv(python, [python, *sys.argv])


class Dlc:
    """dlc's programs of one build folder."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        if not os.path.exists(self.path("dlc-run")):
            give_up(2, f"there is no dlc-run in {self.build}; build dlc first, or say --build=DIR")

    def path(self, program):
        return os.path.join(self.build, program)

    def call(self, program, *words):
        """stdout; RuntimeError with dlc's own sentence where it fails."""
        p = subprocess.run([self.path(program), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE)
        if p.returncode:
            last = (p.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            raise RuntimeError(f"{program} {words[0]}: exit {p.returncode}: {last}")
        return p.stdout.decode()

    def json(self, program, *words):
        return json.loads(self.call(program, *words, "--json").splitlines()[-1])

    def onnx(self, model, folder):
        """The model as dlc understood it, written as an ONNX file."""
        path = os.path.join(folder, "model.onnx")
        self.call("dlc-show", model, "--stage=onnx", "--output=" + path)
        return path


def session(path, threads):
    import onnxruntime
    o = onnxruntime.SessionOptions()
    o.intra_op_num_threads = threads
    o.inter_op_num_threads = 1
    o.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
    o.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    o.log_severity_level = 3
    return onnxruntime.InferenceSession(path, o, providers=["CPUExecutionProvider"])


def feed(s, folder, seed=1):
    """Random inputs {name: array} for a session, and the words that give them to dlc-run."""
    import numpy
    rng = numpy.random.default_rng(seed)
    arrays, words = {}, []
    for k, x in enumerate(s.get_inputs()):
        if x.type != "tensor(float)" or not all(isinstance(d, int) for d in x.shape):
            raise RuntimeError(f"input {x.name} is {x.type} {x.shape}; this script feeds fixed shapes of float32")
        arrays[x.name] = rng.standard_normal(x.shape, dtype=numpy.float32)
        path = os.path.join(folder, f"input_{k}.npy")
        numpy.save(path, arrays[x.name])
        words.append(f"--input={x.name}={path}")
    return arrays, words


def run_bundle(dlc, bundle, words, folder):
    """All outputs {name: array} of a bundle."""
    import numpy
    path = os.path.join(folder, "outputs.npz")
    dlc.call("dlc-run", bundle, *words, "--output=" + path)
    with numpy.load(path) as f:
        return dict(f)


def gap(got, want):
    """Largest difference over the largest expected value, over all outputs."""
    import numpy
    worst = 0.0
    for name, w in want.items():
        if got[name].shape != w.shape:
            raise RuntimeError(f"output {name} has shape {got[name].shape} instead of {w.shape}")
        top = float(numpy.max(numpy.abs(w))) if w.size else 0.0
        d = float(numpy.max(numpy.abs(got[name].astype(numpy.float64) - w))) if w.size else 0.0
        if not d <= worst * (top or 1):  # a nan counts
            worst = d / (top or 1)
    return worst


def folder():
    return tempfile.TemporaryDirectory(prefix="dlc-bench.")
