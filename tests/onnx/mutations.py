#!/usr/bin/env python3
"""ONNX's own small models with attributes, inputs, shapes, types and opsets changed: what dlc makes of each beside what
ONNX Runtime makes of it.

    mutations.py ONNX_DAMAGE [--count=N] [--seed=N] [--only=PATTERN] [--keep=DIR]

Sources are the node tests of $DLC_TEST_DATA or ../shared (onnx-backend/). All of a model's inputs become initialisers,
but for the first that has floats. One or two things are changed, as a hostile or an unusual exporter would: numbers at
the ends of their ranges, missing and surplus inputs, dimensions of 0, other ranks. A crash or another result is a
failure. What only one of both takes is listed by operator and reason, to be read. Needs the packages onnx and
onnxruntime: they are looked for in this Python and in .venv-rivals."""
import argparse
import collections
import fnmatch
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
RIVALS = os.path.join(HERE, "../../.venv-rivals/bin/python3")
WHOLE = (-1 << 63, -(1 << 31) - 1, -1000, -3, -2, -1, 0, 1, 2, 3, 4, 5, 7, 16, 1000, 1 << 31, 1 << 33, (1 << 63) - 1)
REAL = (float("nan"), float("inf"), -1.0, 0.0, 0.5, 1.0, 2.0, 1e30)
TEXTS = ("", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", "linear", "nearest", "cubic", "reflect", "edge", "wrap",
         "constant", "add", "mul", "max", "none", "tanh", "forward", "reverse", "bidirectional", "nonsense", "LEFT",
         "RIGHT", "CRD", "align_corners", "half_pixel", "asymmetric", "tf_crop_and_resize", "zeros", "border", "mean",
         "sum", "avg", "bilinear", "bicubic")

# Sources, and changes, whose results may differ.
OPEN = (("test_resize_downsample_scales_linear_align_corners*", "*", "ONNX divides by length times scale less 1"),
        ("test_maxunpool*", "*xI*", "two elements may have one place"),
        ("test_maxunpool*", "*output_shape*", "the places are those of the other shape"),
        ("test_*", "*ignore_index*", "classes out of range are no longer ignored; of dlc they count as 0"),
        ("test_*", "*cubic_coeff_a=1.0*e+30*", "sums of huge numbers"), ("test_*", "*=1e+30*", "the same"),
        ("test_clip*", "*=inf*", "ONNX Runtime takes the largest finite number"),
        ("test_blackman*", "*x[[]0[]]=1", "0 / 0"), ("test_squeeze*", "axes: [[]0[]]", "no axes are not all axes"),
        ("test_maxpool*dilations*", "*SAME*", "ONNX Runtime forgets dilations"))


# ---- making them (with the package onnx)

def read_source(folder, onnx):
    """The model, with its inputs but one as initialisers; None: not small, or not of tensors alone."""
    m = onnx.load(os.path.join(folder, "model.onnx"))
    if len(m.graph.node) > 3 or any(not v.type.HasField("tensor_type") for v in [*m.graph.input, *m.graph.output]):
        return None
    keep = None
    for k, v in enumerate(list(m.graph.input)):
        path = os.path.join(folder, f"test_data_set_0/input_{k}.pb")
        if keep is None and v.type.tensor_type.elem_type in (1, 10, 11) or not os.path.exists(path):
            keep = v.name
            continue
        t = onnx.TensorProto()
        with open(path, "rb") as f:
            t.ParseFromString(f.read())
        t.name = v.name
        m.graph.initializer.append(t)
        m.graph.input.remove(v)
    for v in m.graph.output:  # both derive them
        v.type.tensor_type.ClearField("shape")
    return m


def change_attribute(m, r, onnx):
    nodes = [n for n in m.graph.node if n.attribute]
    if not nodes:
        return None
    n = r.choice(nodes)
    a = r.choice(n.attribute)
    kind = a.type
    if r.random() < 0.12:
        n.attribute.remove(a)
        return f"no {a.name}"
    if kind == onnx.AttributeProto.INT:
        a.i = r.choice(WHOLE)
        return f"{a.name}={a.i}"
    if kind == onnx.AttributeProto.FLOAT:
        a.f = r.choice(REAL)
        return f"{a.name}={a.f}"
    if kind == onnx.AttributeProto.STRING:
        a.s = r.choice(TEXTS).encode()
        return f"{a.name}={a.s}"
    if kind in (onnx.AttributeProto.INTS, onnx.AttributeProto.FLOATS, onnx.AttributeProto.STRINGS):
        at, some = (a.ints, WHOLE) if kind == onnx.AttributeProto.INTS else \
            (a.floats, REAL) if kind == onnx.AttributeProto.FLOATS else (a.strings, [t.encode() for t in TEXTS])
        how = r.randrange(5)
        if how == 0:
            at.append(r.choice(some))
        elif how == 1 and len(at) > 0:
            at.pop()
        elif len(at) > 0:
            at[r.randrange(len(at))] = r.choice(some)
        return f"{a.name}={list(at)}"
    return None


def add_attribute(m, r, onnx):
    """One that the operator has and the model does not set."""
    n = r.choice(m.graph.node)
    try:
        opset = next(o.version for o in m.opset_import if o.domain == n.domain)
        schema = onnx.defs.get_schema(n.op_type, opset, n.domain)
    except (StopIteration, onnx.defs.SchemaError):
        return None
    free = [a for name, a in schema.attributes.items() if not any(x.name == name for x in n.attribute)]
    if not free:
        return None
    a = r.choice(free)
    kinds = onnx.defs.OpSchema.AttrType
    length = r.choice((0, 1, 2, 2, 3, 4))
    value = {kinds.INT: r.choice(WHOLE), kinds.FLOAT: r.choice(REAL), kinds.STRING: r.choice(TEXTS),
             kinds.INTS: [r.choice(WHOLE[3:13]) for _ in range(length)],
             kinds.FLOATS: [r.choice(REAL) for _ in range(length)],
             kinds.STRINGS: [r.choice(TEXTS) for _ in range(length)]}.get(a.type)
    if value is None or value == []:
        return None
    n.attribute.append(onnx.helper.make_attribute(a.name, value))
    return f"{a.name}={value}"


def change_inputs(m, r, onnx):
    n = r.choice(m.graph.node)
    if not n.input:
        return None
    k = r.randrange(len(n.input))
    how = r.randrange(4)
    if how == 0:
        n.input[k] = ""
        return f"input {k} empty"
    if how == 1:
        n.input.pop()
        return "last input missing"
    if how == 2:
        n.input.append(n.input[k])
        return "an input more"
    n.input[k] = r.choice(n.input)
    return f"input {k} is another"


def change_number(m, r, onnx):
    """One element of an initialiser."""
    from onnx import numpy_helper
    fit = [t for t in m.graph.initializer if t.data_type in (1, 2, 3, 6, 7, 9, 10, 11)]
    if not fit:
        return None
    t = r.choice(fit)
    x = numpy_helper.to_array(t).copy()
    if x.size == 0:
        return None
    some = r.choice(REAL) if x.dtype.kind == "f" else r.choice(WHOLE)
    if x.dtype.kind in "iu" and not -1 << 8 * x.dtype.itemsize - 1 <= some < 1 << 8 * x.dtype.itemsize - 1:
        some = 1
    at = r.randrange(x.size)
    x.reshape(-1)[at] = some if x.dtype.kind != "u" else abs(some)
    t.CopyFrom(numpy_helper.from_array(x, t.name))
    return f"{t.name}[{at}]={some}"


def change_shape(m, r, onnx):
    import numpy
    from onnx import numpy_helper

    def other(d):
        d = list(d)
        how = r.randrange(6)
        if how == 0 and d:
            d[r.randrange(len(d))] = 0
        elif how == 1 and d:
            d.pop(r.randrange(len(d)))
        elif how == 2:
            d.insert(r.randrange(len(d) + 1), 1)
        elif how == 3 and d:
            d[r.randrange(len(d))] = 1
        elif how == 4:
            d = []
        elif d:
            k = r.randrange(len(d))
            d[k] = max(0, d[k] + r.choice((-1, 1, 1, 2)))
        return d
    k = r.randrange(len(m.graph.input) + len(m.graph.initializer))
    if k < len(m.graph.input):
        t = m.graph.input[k].type.tensor_type
        d = other([x.dim_value for x in t.shape.dim])
        t.ClearField("shape")
        t.shape.SetInParent()
        for x in d:
            t.shape.dim.add().dim_value = x
        return f"{m.graph.input[k].name}: {d}"
    t = m.graph.initializer[k - len(m.graph.input)]
    d = other(t.dims)
    x = numpy_helper.to_array(t)
    x = numpy.resize(x, d) if x.size else numpy.zeros(d, x.dtype)
    t.CopyFrom(numpy_helper.from_array(numpy.ascontiguousarray(x).reshape(d), t.name))
    return f"{t.name}: {d}"


def change_opset(m, r, onnx):
    for o in m.opset_import:
        if o.domain in ("", "ai.onnx"):
            o.version = r.randint(1, 27)
            return f"opset {o.version}"
    return None


def change_outputs(m, r, onnx):
    n = r.choice(m.graph.node)
    if r.random() < 0.5:
        n.output.append("surplus")
        return "an output more"
    if len(n.output) > 1:
        k = r.randrange(len(n.output))
        for v in list(m.graph.output):
            if v.name == n.output[k]:
                m.graph.output.remove(v)
        n.output[k] = ""
        return f"output {k} empty"
    return None


def change_type(m, r, onnx):
    from onnx import numpy_helper
    kind = r.choice((1, 2, 3, 4, 5, 6, 7, 9, 10, 11, 12, 13))
    k = r.randrange(len(m.graph.input) + len(m.graph.initializer))
    if k < len(m.graph.input):
        v = m.graph.input[k]
        v.type.tensor_type.elem_type = kind
    else:
        v = m.graph.initializer[k - len(m.graph.input)]
        x = numpy_helper.to_array(v).astype(onnx.helper.tensor_dtype_to_np_dtype(kind))
        v.CopyFrom(numpy_helper.from_array(x, v.name))
    for o in m.graph.output:
        o.ClearField("type")
    return f"{v.name} is {onnx.TensorProto.DataType.Name(kind)}"


CHANGES = ((change_attribute, 8), (add_attribute, 4), (change_number, 5), (change_shape, 5), (change_inputs, 2),
           (change_opset, 2), (change_outputs, 1), (change_type, 1))


def make(count, seed, only, folder):
    """Writes FOLDER/N.onnx; the lines "N.onnx<tab>SOURCE<tab>OPERATORS<tab>CHANGES" of FOLDER/list."""
    import onnx
    base = os.path.join(os.environ.get("DLC_TEST_DATA") or os.path.join(HERE, "../../../shared"), "onnx-backend")
    if not os.path.isdir(base):
        return 77
    with open(os.path.join(base, "index.tsv")) as f:
        sources = [line.split("\t")[0] for line in f.read().splitlines()[1:]]
    sources = [s for s in sources if s.startswith("node") and fnmatch.fnmatch(s.split("/")[-1], only)
               and os.path.isdir(os.path.join(base, s))]
    r = random.Random(seed)
    functions = [f for f, n in CHANGES for _ in range(n)]
    lines, cache = [], {}
    while len(lines) < count:
        s = r.choice(sources)
        if s not in cache:
            cache[s] = read_source(os.path.join(base, s), onnx)
        if cache[s] is None:
            continue
        m = onnx.ModelProto()
        m.CopyFrom(cache[s])
        said = []
        for _ in range(r.choice((1, 1, 1, 2))):
            try:
                word = r.choice(functions)(m, r, onnx)
            except (ValueError, OverflowError, IndexError):
                word = None
            if word:
                said.append(word)
        if not said:
            continue
        with open(f"{folder}/{len(lines)}.onnx", "wb") as f:
            f.write(m.SerializeToString())
        ops = ",".join(sorted({n.op_type for n in m.graph.node}))
        lines.append(f"{len(lines)}.onnx\t{s}\t{ops}\t{'; '.join(said)}".replace("\n", " "))
    with open(f"{folder}/list", "w") as f:
        f.write("\n".join(lines) + "\n")
    return 0


# ---- comparing

def ones(session):
    """Inputs for a model that dlc does not run: what ONNX Runtime refuses while running counts, too."""
    import numpy
    types = {"float": "float32", "double": "float64"}
    feed = {}
    for x in session.get_inputs():
        kind = re.sub(r"tensor\((.*)\)", r"\1", x.type)
        feed[x.name] = numpy.ones(x.shape, types.get(kind, kind))
    return feed


def rival_answer(path, tensors):
    """Outputs by name, or the sentence that refused the model."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        s = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        feed = ones(s) if tensors is None else {name: x for what, name, x in tensors if what == "in"}
        return s.run(None, feed)
    except Exception as e:  # ONNX Runtime has a dozen kinds of its own
        return re.sub(r"\s+", " ", str(e))


def judge(line, said, folder, number):
    """A word and what is to be read of it."""
    import numpy
    from damage import read_case
    path = f"{folder}/{number}.onnx"
    if said is None:
        return "CRASH", "crashed or did not answer"
    tensors = None
    if said == "ran":
        tensors = read_case(f"{folder}/{number}.txt", numpy)
    got = rival_answer(path, tensors)
    if said.startswith("refused") or said.startswith("fails"):
        return ("both refuse", said) if isinstance(got, str) else ("dlc alone refuses", said)
    if isinstance(got, str):
        return "ONNX Runtime alone refuses", got
    if tensors is None:
        return "taken, not run", ""
    want = [x for what, _, x in tensors if what == "out"]
    for w, g in zip(want, got):
        g = numpy.asarray(g)
        limit = 1e-2 if g.dtype == numpy.float16 else 1e-3
        if w.shape != g.shape or w.dtype != g.dtype:
            return "DIFFERS", f"{w.dtype}{list(w.shape)} of dlc, {g.dtype}{list(g.shape)} of ONNX Runtime"
        if not numpy.allclose(w.astype(float), g.astype(float), rtol=limit, atol=1e-5, equal_nan=True):
            return "DIFFERS", f"{w.ravel()[:6]} of dlc, {g.ravel()[:6]} of ONNX Runtime"
    return "equal", ""


def compare(folder):
    """Judges in children of 50 files each, since ONNX Runtime may crash, too."""
    import onnxruntime  # before the forks, once
    onnxruntime.set_default_logger_severity(4)
    with open(f"{folder}/list") as f:
        lines = f.read().splitlines()
    said = {}
    with open(f"{folder}/answers") as f:
        for a in f:
            path, _, answer = a.rstrip("\n").partition(" ")
            said[os.path.basename(path)] = answer
    results = {}
    at = 0
    while at < len(lines):
        r, w = os.pipe()
        child = os.fork()
        if child == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            for k in range(at, min(at + 50, len(lines))):
                name = lines[k].split("\t")[0]
                os.write(w, f"{k}\tbegun\n".encode())
                word, about = judge(lines[k], said.get(name), folder, k)
                os.write(w, (f"{k}\t{word}\t" + about.replace("\n", " ").replace("\t", " ")[:600] + "\n").encode())
            os._exit(0)
        os.close(w)
        with os.fdopen(r, errors="replace") as f:
            for x in f:
                k, word, *about = x.rstrip("\n").split("\t")
                at = int(k) + 1
                results[int(k)] = (word, about[0] if about else "")
        os.waitpid(child, 0)
    count, groups = collections.Counter(), collections.defaultdict(list)
    for k, (word, about) in sorted(results.items()):
        word = "ONNX Runtime crashed" if word == "begun" else word
        name, source, ops, changes = lines[k].split("\t")
        if word == "DIFFERS" and any(fnmatch.fnmatch(source.split("/")[-1], a) and fnmatch.fnmatch(changes, b)
                                     for a, b, _ in OPEN):
            word = "differ as known"
        if word in ("DIFFERS", "CRASH"):
            print(f"{word} {name} ({source}, {ops}: {changes}): {about}")
        count[word] += 1
        groups[word, ops].append((re.sub(r"^refused: \S*/\d+\.onnx: ", "", about), name, source, changes))
    with open(f"{folder}/groups", "w") as f:
        for (word, ops), members in sorted(groups.items()):
            if word not in ("equal", "taken, not run"):
                f.write(f"== {word}: {ops}\n" + "".join(f"{n} [{c}] {s.split('/')[-1]}: {a}\n"
                                                        for a, n, s, c in sorted(members)))
    print(f"ONNX Runtime {onnxruntime.__version__}: " + ", ".join(f"{n} {w}" for w, n in sorted(count.items())))
    return 1 if count["DIFFERS"] or count["CRASH"] else 0


def has_packages(python):
    return os.path.exists(python) and \
        subprocess.run([python, "-c", "import onnx, onnxruntime"], stderr=subprocess.DEVNULL).returncode == 0


def run(o, folder):
    python = next((p for p in (sys.executable, RIVALS) if has_packages(p)), None)
    if python is None:
        print("skipped: mutations: no Python here has the packages onnx and onnxruntime")
        return 77
    made = subprocess.run([python, __file__, "--make", str(o.count), str(o.seed), o.only, folder])
    if made.returncode:
        return made.returncode
    with open(f"{folder}/list") as f:
        paths = "".join(f"{folder}/{line.split(chr(9))[0]}\n" for line in f)
    with open(f"{folder}/answers", "w") as out:
        subprocess.run([o.program, "each", folder], input=paths, text=True, stdout=out)
    return subprocess.run([python, __file__, "--compare", folder]).returncode


def main():
    if sys.argv[1:2] == ["--make"]:
        return make(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:6])
    if sys.argv[1:2] == ["--compare"]:
        return compare(sys.argv[2])
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("program", metavar="ONNX_DAMAGE")
    a.add_argument("--count", type=int, default=1000)
    a.add_argument("--seed", type=int, default=1)
    a.add_argument("--only", metavar="PATTERN", default="*", help="of the sources' names, such as test_conv*")
    a.add_argument("--keep", metavar="DIR", help="keep the files; DIR/groups lists what only one takes")
    o = a.parse_args()
    if o.keep:
        os.makedirs(o.keep, exist_ok=True)
        return run(o, os.path.abspath(o.keep))
    with tempfile.TemporaryDirectory() as folder:
        return run(o, folder)


if __name__ == "__main__":
    sys.exit(main())
