#!/usr/bin/env python3
"""What a stranger touches to add something: seven small additions, as patches beside this file.

    run.py ROOT [--each] [--refresh] [--built=DIR] [NAME ...] [-- CC ...]

Each patch adds one thing that CONTRIBUTING's table "Where things go" names.  This script copies the tree, checks
that a patch touches only the files of its row, applies it, builds, shows that the addition works, and takes it back.
All patches go into one copy, which is built once; --each makes a copy for each.  NAME picks patches.  --built names a
build folder of ROOT: objects of src/ that see no file of a patch are taken from there.

Two thirds of all objects see the table of operators.  So an operator among other patches is applied after them: its
tests of the room op run, and the other files of its patch compile.  With --each, or DLC_TEST_ALL=1, the whole tree is
built with it.

A patch that no longer applies is out of date: --refresh NAME merges it into today's tree and writes it anew, for you
to read before you commit it.  Where it conflicts you are told what to do."""
import argparse
import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = "squeezenet1_1"
DAG = """dag
in data: f32[1,4]
const w: f32[2,4] = {1, 2, 3, 4, 5, 6, 7, 8}
d = dense(data, w)
y = relu(d)
out y
"""


# Stands for the compiler: copies the object that it is asked for, or compiles.
TAKE = """#!/bin/sh
before=
for a; do
	if [ "$before" = -o ] && [ -f "$TAKEN/$a" ]; then exec cp "$TAKEN/$a" "$a"; fi
	before=$a
done
exec "$@"
"""


class Wrong(Exception):
    pass


def field(number, value):
    """A protobuf field: a message, bytes, a text or an integer."""
    if isinstance(value, int):
        return bytes([number << 3, value])
    data = value.encode() if isinstance(value, str) else value
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def onnx_model(op, dims, opset, attributes=b""):
    """An ONNX model of one node, from `data` to `out`; float32."""
    shape = b"".join(field(1, field(1, d)) for d in dims)
    info = lambda name: field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))
    node = field(1, "data") + field(2, "out") + field(4, op) + attributes
    graph = field(1, node) + field(2, "g") + field(11, info("data")) + field(12, field(1, "out"))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, opset))


class Copy:
    """A copy of the tree, its build folder, and what the shows below need."""

    def __init__(self, root, folder, cc):
        self.root, self.cc, self.env = folder, cc, dict(os.environ, XDG_DATA_HOME=folder + "/data",
                                                        XDG_CACHE_HOME=folder + "/cache")
        self.env.pop("DLC_TUNING_DB", None)
        for path in tree(root):
            os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
            shutil.copy2(os.path.join(root, path), os.path.join(folder, path))

    def run(self, *args, ok=True):
        p = subprocess.run(args, cwd=self.root, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                           text=True, errors="replace")
        if ok and p.returncode != 0:
            raise Wrong(f"{' '.join(args)[:150]}: exit {p.returncode}:\n{p.stdout[-3000:]}")
        return p.stdout

    def dlc(self, *args):
        return self.run(self.root + "/build/dlc", *args)

    def test(self, *names):
        self.run("meson", "test", "-C", "build", "--timeout-multiplier", "8", *names)

    def first_task(self, *options):
        return re.search(r"^task ([0-9a-f]+)", self.dlc("show", MODEL, "--stage=tasks", *options), re.M)[1]

    def file(self, name, content):
        with open(os.path.join(self.root, name), "wb") as f:
            f.write(content.encode() if isinstance(content, str) else content)
        return os.path.join(self.root, name)

    def take(self, built, touched):
        """Objects of another build that are the same here: ninja knows the files that each of them sees. It does not
        know what objects see that were taken before: those that see a file of the patch now are removed."""
        shutil.rmtree(self.root + "/build-taken", ignore_errors=True)
        p = subprocess.run(["ninja", "-C", built, "-t", "deps"], stdout=subprocess.PIPE, text=True)
        for part in p.stdout.split("\n\n"):
            head, *files = part.splitlines() or [""]
            name = head.split(":")[0]
            if not name.startswith("src/") or "(VALID)" not in head:
                continue
            if touched & {os.path.normpath(f.strip())[3:] for f in files}:
                pathlib.Path(f"{self.root}/build/{name}").unlink(missing_ok=True)
            else:
                os.makedirs(os.path.dirname(f"{self.root}/build-taken/{name}"), exist_ok=True)
                shutil.copy(f"{built}/{name}", f"{self.root}/build-taken/{name}")
        os.makedirs(self.root + "/build-taken", exist_ok=True)
        with open(self.root + "/build-taken/cc", "w") as f:
            f.write(TAKE)
        os.chmod(self.root + "/build-taken/cc", 0o755)
        if "TAKEN" not in self.env:
            self.env["TAKEN"] = self.root + "/build-taken"
            self.cc = [self.root + "/build-taken/cc", *(self.cc or ["cc"])]

    def build(self):
        if self.cc:
            self.env["CC"] = " ".join(self.cc)
        self.run("meson", "setup", "build", "-Ddebug=false", "-Doptimization=0")
        self.run("ninja", "-C", "build", "dlc", "dlc-run")


def need(text, *wants):
    for want in wants:
        if want not in text:
            raise Wrong(f"{want!r} is not in\n{text[:1500]}")


# ---- one function for each patch: the addition works


def show_target_model(c):
    out = c.dlc("compile", MODEL, "--target=example-a1", "--tuning-db=none", "-o", c.root + "/a1.dlcb", "--json")
    if json.loads(out.splitlines()[-1])["target"] != "cpu:example-a1 t1":
        raise Wrong(out)
    c.test("target")


def operator_alone(c):
    """The operator computes what its reference computes, and the other files of the patch compile."""
    c.test("dag", "naive", "style")
    files = touched(f"{HERE}/operator.patch")
    quoted = [f'"{os.path.basename(f)}"' for f in files if f.endswith(".inc")]
    outputs = []
    for e in json.load(open(c.root + "/build/compile_commands.json")):
        path = os.path.normpath(os.path.join(e["directory"], e["file"]))
        with open(path) as f:
            if os.path.relpath(path, c.root) in files or any(q in f.read() for q in quoted):
                outputs.append(e["output"])
    if len(outputs) < len([f for f in files if f.endswith(".c")]):
        raise Wrong(f"of {files} only {outputs} compile")
    c.run("ninja", "-C", "build", *outputs)


def show_operator(c):
    model = c.file("mish.onnx", onnx_model("Mish", [2, 40], 18))
    need(c.dlc("show", model, "--stage=graph"), "= mish(data)")
    c.dlc("compile", model, "--tuning-db=none", "-o", c.root + "/mish.dlcb")
    need(c.run(c.root + "/build/dlc-run", c.root + "/mish.dlcb"), "out f32[2,40]")
    c.test("dag", "naive", "frontend-onnx", "frontend-onnx_write")


def show_primitive(c):
    task = "--task=" + c.first_task()
    apply = lambda text: c.dlc("show", MODEL, "--stage=ir", task, "--apply=" + c.file("p.trace", text))
    need(apply("parallel o\n"), " parallel {")
    if " parallel {" in apply("parallel o\nserial o\n"):
        raise Wrong("the loop is still parallel")


def show_template(c):
    perm = field(5, field(1, "perm") + field(8, bytes([2, 0, 1])))
    model = c.file("transpose.onnx", onnx_model("Transpose", [3, 64, 48], 13, perm))
    need(c.dlc("show", model, "--stage=space"), "template transpose: ", "lanes ")
    c.dlc("compile", model, "--tuning-db=none", "-o", c.root + "/t.dlcb")
    need(c.run(c.root + "/build/dlc-run", c.root + "/t.dlcb"), "out f32[48,3,64]")


def show_back_end(c):
    target = c.file("board.json", '{"kind":"metal","model":"board","arch":"x86-64","features":["x86-64"]}')
    naive = "--apply=" + c.file("naive.trace", "# no step\n")
    task = "--task=" + c.first_task("--target=" + target)
    out = c.dlc("show", MODEL, "--target=" + target, "--stage=outline", task, naive)
    need(out, "kernel k, ", "  for o\n")


def show_cost_model(c):
    took = []
    for name in ("analytic", "peak"):
        out = c.dlc("compile", MODEL, "--tuning-db=none", "--cost-model=" + name, "-o", c.root + "/c.dlcb", "--json")
        took.append(json.loads(out.splitlines()[-1])["estimated_ms"])
    if not took[0] != took[1] > 0:
        raise Wrong(f"both cost models estimate {took} ms")
    c.test("cost_model")


def show_front_end(c):
    c.dlc("compile", c.file("model.txt", DAG), "--tuning-db=none", "-o", c.root + "/m.dlcb")
    need(c.run(c.root + "/build/dlc-run", c.root + "/m.dlcb"), "y f32[1,2]")


SHOWS = {name[5:].replace("_", "-"): f for name, f in list(globals().items()) if name.startswith("show_")}

# ---- patches


def tree(root):
    """Paths of the files that git knows or would know."""
    p = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], stdout=subprocess.PIPE, text=True)
    return [x for x in p.stdout.splitlines() if os.path.isfile(os.path.join(root, x))]


def touched(patch):
    with open(patch) as f:
        return sorted(set(re.findall(r"^(?:---|\+\+\+) [ab]/(\S+)", f.read(), re.M)))


def allowed(root, name):
    """The paths in the row of CONTRIBUTING's table, as patterns: NAME, FORMAT and * stand for a part of a path."""
    with open(os.path.join(root, "CONTRIBUTING.md")) as f:
        row = re.search(rf"^\| an? {name.replace('-', ' ')} \|(.*)\|$", f.read(), re.M)
    if row is None:
        raise Wrong(f'CONTRIBUTING.md has no row "{name.replace("-", " ")}" in its table')
    return [re.sub("NAME", "*", x) for x in re.findall(r"`([^`]*/[^`]*)`", row[1])]


def check_files(root, name):
    patterns = allowed(root, name)
    for path in touched(f"{HERE}/{name}.patch"):
        if not any(fnmatch.fnmatch(path, p) and path.count("/") == p.count("/") for p in patterns):
            raise Wrong(f"it touches {path}, which the row of CONTRIBUTING's table does not name")


def apply_patch(c, name, *options):
    patch = f"{HERE}/{name}.patch"
    p = subprocess.run(["git", "apply", "-C1", *options, patch], cwd=c.root, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, text=True,
                       env=dict(c.env, GIT_CEILING_DIRECTORIES=os.path.dirname(c.root)))
    if p.returncode != 0:
        raise Wrong("the patch no longer applies: refresh it with "
                    f"python3 tests/strangers/run.py . --refresh {name}\n{p.stdout}")


def go(root, names, cc, built):
    """Applies the patches to one copy, builds it, shows each addition, and takes the patches back."""
    last = ["operator"] if "operator" in names[1:] and not os.environ.get("DLC_TEST_ALL") else []
    names, applied = [n for n in names if n not in last], []

    def apply(more):
        for name in more:
            check_files(root, name)
            apply_patch(c, name)
            applied.append(name)
        if built:
            c.take(built, {f for name in applied for f in touched(f"{HERE}/{name}.patch")})

    def show(name, function):
        function(c)
        print(f"ok: {name}: {' '.join(touched(f'{HERE}/{name}.patch'))}", flush=True)

    with tempfile.TemporaryDirectory(prefix="strangers.") as folder:
        c, name = Copy(root, folder, cc), " + ".join(names)
        try:
            apply(names)
            c.build()
            for name in names:
                show(name, SHOWS[name])
            name = " + ".join(names + last)
            c.test("style", "cli-refuse")  # a row more, or a file more, breaks no test of the tree
            apply(last)
            for name in last:
                show(name, operator_alone)
            name = " + ".join(applied)
            for name in reversed(applied):
                apply_patch(c, name, "-R")
            for path in tree(root):
                with open(os.path.join(root, path), "rb") as f, open(os.path.join(folder, path), "rb") as g:
                    if f.read() != g.read():
                        raise Wrong(f"{path} differs after the patch was taken back")
        except Wrong as e:
            print(f"FAILED: {name}: {e}")
            return 1
    return 0


def refresh(root, name):
    """Merges the patch into today's tree by the versions of files that it names, which git has; 0 if that succeeds."""
    folder = tempfile.mkdtemp(prefix="strangers.")
    subprocess.run(["git", "clone", "-q", "--shared", "--no-checkout", root, folder], check=True)
    c = Copy(root, folder, [])
    git = lambda *a, **k: c.run("git", "-c", "user.name=x", "-c", "user.email=x@x", *a, **k)
    git("add", "-A")
    git("commit", "-qm", "base", "--allow-empty")
    said = git("apply", "--3way", f"{HERE}/{name}.patch", ok=False)
    write = f"git -C {folder} diff -U1 --no-color HEAD > {HERE}/{name}.patch"
    if git("diff", "--name-only", "--diff-filter=U") or git("status", "--porcelain") == "":
        print(f"{said}{name}.patch: resolve the conflicts in {folder} and git add the files, then:\n{write}")
        return 1
    git("add", "-A")
    subprocess.run(write, shell=True, check=True)
    shutil.rmtree(folder)
    print(f"{HERE}/{name}.patch is written anew: read it, then run tests/strangers/run.py . --each {name}")
    return 0


def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("root")
    ap.add_argument("--each", action="store_true")
    ap.add_argument("--refresh", action="store_true")
    ap.add_argument("--built")
    ap.add_argument("names", nargs="*")
    argv, cc = sys.argv[1:], []
    if "--" in argv:
        argv, cc = argv[:argv.index("--")], argv[argv.index("--") + 1:]
    a = ap.parse_intermixed_args(argv)
    root, names = os.path.abspath(a.root), a.names or list(SHOWS)
    missing = [n for n in names if n not in SHOWS or not os.path.exists(f"{HERE}/{n}.patch")]
    if missing:
        print(f"there is no patch {missing[0]}; there are: {' '.join(SHOWS)}")
        return 2
    if a.refresh:
        return max(refresh(root, name) for name in names)
    built = a.built and os.path.abspath(a.built)
    return max([go(root, [n], cc, built) for n in names] if a.each else [go(root, names, cc, built)])


if __name__ == "__main__":
    sys.exit(main())
