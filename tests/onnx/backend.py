#!/usr/bin/env python3
"""ONNX's own test folders through the compiled path: `dlc run model.onnx --check=DIR`. A folder counts as passed when
its outputs were computed and compared. What does not pass is listed beside this file, in open.tsv, with its reason.
A folder that fails and is not listed is a failure, and so is a listed one that passes. Folders of types or operators
beyond those of docs/onnx.md (strings, training, fp8; tiers T3, X and reject) may be refused by name: of the
operator, or of the type or kind of a node's value. Refusals are counted by themselves and listed with what was said.

    backend.py DLC [--all|PART]        data: $DLC_TEST_DATA or ../shared (onnx-backend/), Debian's libonnx-testdata

Where no data is found it says so and exits with 77 (meson: skipped). Without --all (or DLC_TEST_ALL=1) one folder in
PART (8) is taken, chosen by its name's hash; with it the numbers of passed folders must reach those in PASSED."""
import os
import re
import subprocess
import sys
import tempfile
import zlib
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
PART = int(sys.argv[2]) if sys.argv[2:] and sys.argv[2].isdigit() else 8
# The absolute tolerance of folders whose own numbers are rounded more than the usual 1e-7. Results that are 0 to 16
# digits are 1.9e-7 in this file, which was computed in single precision; ONNX Runtime's own tests allow 1e-3.
ROUNDED = {"node/test_dft_inverse_opset19": "3e-7"}
PASSED = {"T1": 1467, "T2": 147, "T3": 129, "debian": 131, "debian-node": 894}
# What a refusal names: a node with its operator, an operator that is missing, or the type of an input.
NAMED = re.compile(r"node '[^']+' \(\w+\)|^ *\S+ \(opset \d+, node '|input '[^']+' has element type \w+", re.M)


def data_folders():
    """(name, folder, tier): of onnx-backend by its index, then Debian's."""
    base = os.path.join(os.environ.get("DLC_TEST_DATA") or os.path.join(HERE, "../../../shared"), "onnx-backend")
    index = os.path.join(base, "index.tsv")
    if os.path.exists(index):
        lines = open(index).read().splitlines()
        tier = lines[0].split("\t").index("tier")
        for f in (line.split("\t") for line in lines[1:]):
            yield f[0], os.path.join(base, f[0]), "reject" if f[0].startswith("reject/") else f[tier]
    try:
        listed = subprocess.run(["dpkg", "-L", "libonnx-testdata"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True).stdout
    except OSError:
        listed = ""
    for line in listed.splitlines():
        if line.endswith("/model.onnx"):
            folder = os.path.dirname(line)
            part = os.path.basename(os.path.dirname(folder))
            yield "debian/" + os.path.basename(folder), folder, "debian-node" if part == "node" else "debian"


def fields(b):
    """(number, value) of a protobuf message."""
    def varint():
        nonlocal at
        v = shift = 0
        while True:
            v |= (b[at] & 127) << shift
            shift, at = shift + 7, at + 1
            if b[at - 1] < 128:
                return v
    at = 0
    while at < len(b):
        key = varint()
        n = varint() if key & 7 in (0, 2) else 4 if key & 7 == 5 else 8
        yield key >> 3, n if key & 7 == 0 else b[at:at + n]
        at += n if key & 7 else 0


def take(b, *path):
    """All values at the end of a path of field numbers."""
    for number in path:
        b = [v for m in (b if isinstance(b, list) else [b]) for k, v in fields(m) if k == number]
    return b


def elements(b, kind):
    """(what follows the name, TensorProto) of a file: of an optional its value, of a sequence its elements."""
    if 9 in kind:
        b = (take(b, 3) + take(b, 5) + [b""])[0]
    return [(f".{i}", t) for i, t in enumerate(take(b, 3))] if 4 in kind else [("", b)] * (b != b"")


def value_kinds(model):
    """{role: [(name, [9 of an optional, 4 of a sequence])]}; None: all are tensors."""
    graph, out = take(open(model, "rb").read(), 7), {}
    for role, number in ("input", 11), ("output", 12):
        out[role] = []
        for v in take(graph, number):
            kind, t = [], take(v, 2)
            while t and (of := [k for k, _ in fields(t[0]) if k in (4, 9)]):
                kind, t = kind + of, take(t, of[0], 1)
            out[role].append((take(v, 1)[0].decode(), kind))
    return out if any(kind for values in out.values() for _, kind in values) else None


def unpack(kinds, folder, to):
    """Writes data of optionals and sequences as the tensors that they are for dlc; their shapes as options."""
    shapes = []
    for part in sorted(p for p in os.listdir(folder) if p.startswith("test_data_set_")):
        os.mkdir(os.path.join(to, part))
        for role, values in kinds.items():
            tensors = []
            for k, (name, kind) in enumerate(values):
                data = open(os.path.join(folder, part, f"{role}_{k}.pb"), "rb").read()
                tensors += [(name + tail, tail, t) for tail, t in elements(data, kind)]
            for k, (name, tail, t) in enumerate(tensors):
                own = name.encode()
                with open(os.path.join(to, part, f"{role}_{k}.pb"), "wb") as f:
                    f.write(t + b"\x42" + bytes([len(own)]) + own)
                if role == "input" and take(t, 1) and part == "test_data_set_0":
                    shapes.append(f"--shape={name}=" + ",".join(map(str, take(t, 1))))
    return shapes


def run(dlc, name, folder):
    kinds = value_kinds(os.path.join(folder, "model.onnx"))
    if kinds is None:
        return check(dlc, name, folder, os.path.join(folder, "model.onnx"), [])
    with tempfile.TemporaryDirectory() as to:
        return check(dlc, name, to, os.path.join(folder, "model.onnx"), unpack(kinds, folder, to))


def check(dlc, name, folder, model, more):
    more = more + (["--atol=" + ROUNDED[name]] if name in ROUNDED else [])
    try:
        p = subprocess.run([dlc, "run", model, "--check=" + folder, "--tuning-db=none", *more], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=120, text=True, errors="replace")
        return p.returncode, p.stdout.strip()
    except subprocess.TimeoutExpired:
        return 124, "no answer within 120 s"


def verdict(tier, code, text):
    """(passed, refused, what is wrong otherwise)"""
    passed = code == 0 and ": ok" in text
    may = tier in ("T3", "X", "reject") and code == 1 and "differs" not in text
    if may and not NAMED.search(text):
        return False, False, f"refused without a name: {text[-300:]}"
    return passed, may, None if passed or may else f"exit {code}: {text[-300:]}"


def main():
    dlc, everything = sys.argv[1], "--all" in sys.argv or bool(os.environ.get("DLC_TEST_ALL"))
    todo = [t for t in data_folders() if os.path.isdir(t[1])]
    if not todo:
        print("no ONNX test data found (DLC_TEST_DATA, ../shared, libonnx-testdata): nothing checked")
        return 77
    listed = dict(line.split("\t") for line in open(os.path.join(HERE, "open.tsv")) if line[0] != "#")
    chosen = [t for t in todo if everything or zlib.crc32(t[0].encode()) % PART == 0]
    passed, refused, of, wrong, said = {}, {}, {}, [], []
    with ThreadPoolExecutor(2) as pool:
        for (name, _, tier), result in zip(chosen, pool.map(lambda t: run(dlc, *t[:2]), chosen)):
            ok, no, why = verdict(tier, *result)
            of[tier] = of.get(tier, 0) + 1
            passed[tier] = passed.get(tier, 0) + ok
            refused[tier] = refused.get(tier, 0) + no
            if no:
                said.append(f"refused {name}: " + " ".join(result[1].split("model.onnx: ")[-1].split()))
            if result[0] not in (0, 1):
                wrong.append(f"FAILED {name}: {why}")
            elif why is None and name in listed:
                wrong.append(f"PASSES {name}: take it out of open.tsv")
            elif why is not None and name not in listed:
                wrong.append(f"FAILED {name}: {why}")
    print("\n".join(said + wrong))
    print("passed: " + ", ".join(f"{t} {passed[t]} of {of[t]}" + (f" ({refused[t]} refused)" if refused[t] else "")
                                for t in sorted(of)))
    for tier, least in PASSED.items():
        if everything and tier in of and passed[tier] < least:
            wrong.append(tier)
            print(f"{tier}: {passed[tier]} passed, {least} did before")
    return 1 if wrong else 0


sys.exit(main())
