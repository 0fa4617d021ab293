"""Python packages in a virtual environment of their own, and dlc's programs beside them.

correct.py, rivals.py and exports.py import this first: enter() makes .venv-rivals/ (or another name) at the root of the
checkout (pip, from PyPI, once), and starts the script again in it.  For rivals ONNX Runtime is required: it computes
the expected outputs.  The packages of the other rivals are optional.  Nothing else of dlc needs Python packages."""
import importlib.metadata
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REQUIRED = ["numpy", "onnxruntime"]
# Packages of modules that have another name.
PACKAGES = {"sklearn": "scikit-learn", "tensorflow": "tensorflow-cpu", "paddle": "paddlepaddle"}


def give_up(code, sentence):
    sys.stderr.write(f"{os.path.basename(sys.argv[0])}: {sentence}\n")
    sys.exit(code)


def install(module):
    """None, or the reason of pip.  pnnx comes alone: it names PyTorch, which its program does not need."""
    if importlib.util.find_spec(module):
        return None
    package = PACKAGES.get(module, module)
    sys.stderr.write(f"installing {package} from PyPI into {sys.prefix} (once)\n")
    pip = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    p = subprocess.run([*pip, *(["--no-deps"] if package == "pnnx" else []), package],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    importlib.invalidate_caches()
    if p.returncode == 0:
        return None
    return (p.stdout.decode(errors="replace").strip().splitlines() or ["pip said nothing"])[-1]


def version(module):
    return importlib.metadata.version(PACKAGES.get(module, module))


def enter(optional=(), name=".venv-rivals", required=REQUIRED):
    """Comes back only inside the environment: {optional package that cannot be installed: why}."""
    path = os.path.join(ROOT, name)
    if os.path.realpath(sys.prefix) != os.path.realpath(path):
        python = os.path.join(path, "bin", "python")
        if not os.path.exists(python):
            try:
                venv.create(path, with_pip=True)
            except (OSError, subprocess.CalledProcessError) as e:
                give_up(5, f"{path} cannot be made: {e}; Debian's package python3-venv is needed")
        os.execv(python, [python, *sys.argv])
    for package in required:
        why = install(package)
        if why:
            give_up(3, f"{package} cannot be installed from PyPI ({why}); this comparison needs network once")
    return {package: why for package, why in ((p, install(p)) for p in optional) if why}


class Dlc:
    """dlc's programs of one build folder; they see the variables of `env` too."""

    def __init__(self, build, env=None):
        self.build = os.path.abspath(build)
        self.env = {**os.environ, **(env or {})}
        if not os.path.exists(self.path("dlc-run")):
            give_up(2, f"there is no dlc-run in {self.build}; build dlc first, or say --build=DIR")

    def path(self, program):
        return os.path.join(self.build, program)

    def call(self, program, *words):
        """stdout; RuntimeError with dlc's own sentence where it fails."""
        p = subprocess.run([self.path(program), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, env=self.env)
        if p.returncode:
            last = (p.stderr.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            raise RuntimeError(f"{program} {words[0]}: exit {p.returncode}: {last}")
        return p.stdout.decode()

    def json(self, program, *words):
        return json.loads(self.call(program, *words, "--json").splitlines()[-1])

    def fresh(self, bundle, folder, *options):
        """What dlc-run says, as values, of a fresh copy of the bundle: which pages of memory a file gets makes a small
        network up to 7 % faster or slower."""
        copy = os.path.join(folder, "turn.dlcb")
        shutil.copyfile(bundle, copy)
        said = self.call("dlc-run", copy, *options, "--json")
        os.remove(copy)
        return [json.loads(line) for line in said.splitlines()]

    def turn(self, bundle, folder, *options):
        """Median ms of a run by --bench, from a fresh copy of the bundle."""
        return self.fresh(bundle, folder, "--bench", *options)[-1]["median_ms"]

    def onnx(self, model, folder, options=()):
        """The model as dlc understood it, written as an ONNX file."""
        path = os.path.join(folder, "model.onnx")
        self.call("dlc-show", model, *options, "--stage=onnx", "--output=" + path)
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
    """Random inputs {name: array} for a session, and the words that give them to dlc-run.  Integers are below 100, so
    that they may be tokens or places."""
    import numpy
    rng = numpy.random.default_rng(seed)
    arrays, words = {}, []
    for k, x in enumerate(s.get_inputs()):
        if x.type not in ("tensor(float)", "tensor(int64)") or not all(isinstance(d, int) for d in x.shape):
            raise RuntimeError(f"input {x.name} is {x.type} {x.shape}; only fixed shapes of float32 or int64 are fed")
        arrays[x.name] = rng.standard_normal(x.shape, dtype=numpy.float32) if x.type == "tensor(float)" else \
            rng.integers(0, 100, x.shape)
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


def has_equal_weights(path):
    """A file like the light models of the onnx package: its weights are ConstantOfShape nodes."""
    with open(path, "rb") as f:
        return b"ConstantOfShape" in f.read()


def fill_weights(path, folder):
    """The same network with He-normal weights from a fixed seed, and its path.  Weights that are all equal would take
    no memory in a compiler that shares them, and would hide a wrong result.  Scales, shifts and biases stay."""
    import numpy
    import onnx
    m = onnx.load(path)
    rng = numpy.random.default_rng(2021)
    shapes = {x.name: onnx.numpy_helper.to_array(x) for x in m.graph.initializer}
    for node in [n for n in m.graph.node if n.op_type == "ConstantOfShape" and n.input[0] in shapes]:
        shape = shapes[node.input[0]]
        value = onnx.numpy_helper.to_array(node.attribute[0].t) if node.attribute else numpy.zeros(1, numpy.float32)
        if value.dtype != numpy.float32:
            continue
        w = numpy.full(shape, value[0])
        if len(shape) > 1:
            w = rng.standard_normal(shape, dtype=numpy.float32) * numpy.float32((2 / numpy.prod(shape[1:])) ** 0.5)
        m.graph.initializer.append(onnx.numpy_helper.from_array(w, node.output[0]))
        m.graph.node.remove(node)
    out = os.path.join(folder, os.path.basename(path))
    onnx.save(m, out)
    return out


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
