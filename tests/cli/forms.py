#!/usr/bin/env python3
"""forms.py BUILD [--two]: one command line means the same in `dlc-run x.dlcb`, `dlc run x.onnx` and `dlc-run x.onnx`
(which hands over): exit code, stdout and stderr are equal but for the program's name.
Each row is a command line, M standing for the model, and the exit code. --two: without the hand-over, but not with
DLC_TEST_ALL=1."""
import os
import re
import struct
import subprocess
import sys
import tempfile
import zipfile

FORMS = (("dlc-run", "m.dlcb"), ("dlc run", "m.onnx"), ("dlc-run", "m.onnx"))
if "--two" in sys.argv and not os.environ.get("DLC_TEST_ALL"):
    FORMS = FORMS[:2]
BUILD = os.path.abspath(sys.argv[1])
ROWS = [
    ("M", 0), ("-- M", 0), ("M --json", 0), ("M --seed=3", 0), ("M --seed 3", 0), ("--seed 3 M", 0),
    ("M --seed 3 --seed 4", 0),
    ("M --threads 1", 0), ("M --threads=2 --seed=2", 0), ("M --random", 0),
    ("M --input x=x.npy", 0), ("M --input=x=x.npy", 0), ("M --input=x.npy", 0), ("M --input x=- <x.npy", 0),
    ("M --input x.npz", 0),
    ("M --input x=x.npy -o y.npy && cat y.npy", 0), ("M --input x=x.npy -oy.npy && cat y.npy", 0),
    ("M --input x=x.npy --output=y.npy && cat y.npy", 0), ("M --input x=x.npy --output y=y.npy && cat y.npy", 0),
    ("M --input x=x.npy -o - | cat", 0), ("M -o y.npz && cat y.npz", 0),
    ("M --input x=x.npy -o y.npy --output z.npy && cmp y.npy z.npy", 0),
    ("M --check", 0), ("--check M", 0), ("M --check=good", 0), ("M --check good", 0), ("--check good M", 0),
    ("--check=good M", 0),
    ("M --check good --json", 0), ("M --check --json", 0), ("--check good/test_data_set_0 M", 0),
    ("M --check=good --rtol 0 --atol=0", 0),
    ("M --check=bad", 1), ("M --check bad", 1), ("M --check bad --atol 100", 0), ("M --check=nosuch", 1),
    ("M --check nosuch", 1),
    ("M --check=", 2), ("M --check good good", 2), ("M --check --input x=x.npy", 2), ("M --check --random", 2),
    ("M --check --bench", 2),
    ("", 2), ("''", 2), ("M M", 2), ("M ''", 2), ("M -- --json", 2), ("M --nosuch", 2), ("M --nosuch=3", 2),
    ("M -x", 2), ("M -xyz", 2),
    ("M --bench=yes", 2), ("M --bench=", 2), ("M --json=1", 2), ("M --random=1", 2), ("M --bench --profile", 2),
    ("M --runs 5", 2),
    ("M --seconds=1", 2), ("M --bench --runs=0", 2), ("M --bench --runs=x", 2), ("M --bench --runs 1 --seconds 1", 2),
    ("M --bench --seconds=0", 2), ("M --bench --seconds=nan", 2), ("M --bench --seconds=", 2),
    ("M --seed", 2), ("M --seed=", 2), ("M --seed=-1", 2), ("M --seed=1e3", 2), ("M --seed=9223372036854775807", 0),
    ("M --seed=9223372036854775808", 2),
    ("M --threads", 2), ("M --threads=0", 2), ("M --threads=257", 2), ("M --threads=two", 2),
    ("M --input x=x.npy -o y.npy --expect y.npy", 0), ("M --check --expect y.npy", 2), ("M --expect", 2),
    ("M --expect ''", 2), ("M --expect nosuch.npy", 1), ("M --expect nosuch=y.npy", 2),
    ("M --expect y.npy --profile", 2),
    ("M --rtol=-1 --check=good", 2), ("M --atol=x", 2),
    ("M --input", 2), ("M --input=", 2), ("M --input ''", 2), ("M --input nosuch=x.npy", 2),
    ("M --input x=x.npy --input x=x.npy", 2),
    ("M --input nosuch.npy", 1), ("M --input x=nosuch.npy", 1), ("M --input x=bad/test_data_set_0/input_0.pb", 1),
    ("M --input x=good", 1),
    ("M --input x=ints.npy", 1), ("M --input x=long.npy", 1), ("M --input x=other.npz", 2), ("M --input other.npz", 2),
    ("M --input x=cut.npy", 1),
    ("M --input x=column.npy", 0), ("M --input x=big.npy", 0), ("M --input x=nan.npy", 0),
    ("M --input x=empty.npy", 1), ("M --input x=complex.npy", 1),
    ("M -o", 2), ("M -o ''", 2), ("M --output nosuch=y.npy", 2), ("M -o /nonexistent/y.npy", 5), ("M -o good", 5),
    ("M -o /dev/full", 5),
    ("M -o y.npy -o y.npy", 2), ("M -o M", 2), ("M --input x=x.npy -o x.npy", 2), ("M -o /dev/null -o /dev/null", 0),
    ("M > /dev/full", 5), ("M >&-", 5), ("M --json > /dev/full", 5), ("M --bench --runs=1 >&-", 5),
    ("M -o - > /dev/full", 5),
    ("M --input x=x.npy -o y.npy >&- && cat y.npy", 0), ("M --input x=x.npy -o y.npy 2>&- && cat y.npy", 0),
    ("--help --nosuch >/dev/null", 0), ("-h > /dev/null", 0), ("--version --nosuch >/dev/null", 0),
    # Options that say how to compile: what is wrong with a value is said before a model is looked at.
    ("M --batch", 2), ("M --batch=0", 2), ("M --batch=x", 2), ("M --target=", 2), ("M --tuning-db", 2),
    ("M --shape=", 2), ("M --precision", 2), ("M --precision=fp8", 2), ("M --precision=", 2),
]

# x: f32[2,3] -> y = x + x
def field(number, value):
    key = lambda kind: bytes([number << 3 | kind])
    if isinstance(value, int):
        return key(0) + bytes([value])
    value = value.encode() if isinstance(value, str) else value
    assert len(value) < 128
    return key(2) + bytes([len(value)]) + value

def of_type(name):
    dims = b"".join(field(1, field(1, n)) for n in (2, 3))
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))

def onnx():
    node = field(1, "x") + field(1, "x") + field(2, "y") + field(4, "Add")
    graph = field(1, node) + field(2, "g") + field(11, of_type("x")) + field(12, of_type("y"))
    return field(1, 8) + field(7, graph) + field(8, field(2, 13))

def tensor(name, values):
    return field(1, 2) + field(1, 3) + field(2, 1) + field(8, name) + field(9, struct.pack("<6f", *values))

def npy(values, order="<", kind="f4", code="6f", fortran=False, shape="(2, 3)"):
    head = f"{{'descr': '{order}{kind}', 'fortran_order': {fortran}, 'shape': {shape}, }}".ljust(117) + "\n"
    data = struct.pack(order.replace("|", "<") + code, *values)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data

def npz(path, name):
    with zipfile.ZipFile(path, "w") as z:
        z.writestr(name + ".npy", npy(X))

X = [1, 2, 3, 4, 5, 6.5]

def files():
    put = {"m.onnx": onnx(), "x.npy": npy(X), "ints.npy": npy([1] * 6, kind="i4", code="6i"),
           "long.npy": npy(X + X, code="12f", shape="(2, 6)"),
           "column.npy": npy([1, 4, 2, 5, 3, 6], fortran=True), "big.npy": npy(X, order=">"),
           "nan.npy": npy([float("nan")] * 6),
           "cut.npy": npy(X)[:-3], "empty.npy": b"", "complex.npy": npy([1, 0] * 6, kind="c8", code="12f")}
    for name, last in (("good", 13), ("bad", 14)):
        os.makedirs(name + "/test_data_set_0")
        put[name + "/test_data_set_0/input_0.pb"] = tensor("x", X)
        put[name + "/test_data_set_0/output_0.pb"] = tensor("y", [2, 4, 6, 8, 10, last])
    for name, data in put.items():
        with open(name, "wb") as f:
            f.write(data)
    npz("x.npz", "x")
    npz("other.npz", "other")
    with zipfile.ZipFile("other.npz", "a") as z:
        z.writestr("third.npy", npy(X))

def play(program, line, model):
    words = re.sub(r"\bM\b", model, line)
    for left in ("y.npy", "y.npz", "z.npy"):
        if os.path.exists(left):
            os.unlink(left)
    p = subprocess.run(["sh", "-c", f"{BUILD}/{program} {words}"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=100)
    said = p.stderr.decode(errors="replace").replace(model, "M")
    said = re.sub(r"^(dlc-run|dlc run|dlc): ", "PROGRAM: ", said, flags=re.M)
    said = re.sub(r"^see (dlc-run|dlc run) --help", "see PROGRAM --help", said, flags=re.M)
    return p.returncode, p.stdout.replace(model.encode(), b"M"), said

def main():
    failed = 0
    os.environ.update(DLC_TUNING_DB="none", LC_ALL="C")
    with tempfile.TemporaryDirectory(prefix="dlc-forms.") as folder:
        os.chdir(folder)
        os.environ["DLC_CODE_CACHE"] = folder + "/code"
        files()
        subprocess.run([BUILD + "/dlc", "compile", "m.onnx", "-o", "m.dlcb"], check=True)
        for line, code in ROWS:
            got = [(how, play(*how)) for how in ((x, line, m) for x, m in FORMS)]
            one = got[0][1]
            wrong = one[0] != code or any(x != one for _, x in got[1:])
            wrong = wrong or (code != 0 and not 1 <= len(one[2].splitlines()) <= 2) or one[0] < 0
            if wrong:
                failed += 1
                print(f"{line}: wanted exit {code}")
                for (program, _, model), x in got:
                    print(f"    {program} {model}: exit {x[0]}, {x[1][:100]!r}, {x[2]!r}")
        left = [x for x in os.listdir(".") if ".tmp" in x]
        if left:
            failed += 1
            print(f"left behind: {left}")
    print(f"{len(ROWS)} lines, {failed} differ")
    return 1 if failed else 0

if __name__ == "__main__":
    sys.exit(main())
