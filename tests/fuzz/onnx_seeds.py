#!/usr/bin/env python3
"""Seeds for fuzz_onnx: ONNX's own test models ($DLC_TEST_DATA or ../shared, libonnx-testdata) and what dlc's writer
makes of every operator.

    onnx_seeds.py ONNX_DAMAGE FOLDER      ONNX_DAMAGE: the program of tests/frontend/damage.c

An operator of src/frontend/onnx/op_*.c that no model has gets a model of one node. Fails if there are no models but the
writer's."""
import glob
import hashlib
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
MOST = 1 << 15  # bytes of a seed: long ones are mutated in vain


def models():
    data = os.environ.get("DLC_TEST_DATA") or os.path.join(ROOT, "../shared")
    for base in os.path.join(data, "onnx-backend"), "/usr/share/libonnx-testdata":
        yield from glob.glob(base + "/**/*.onnx", recursive=True)


def operators():
    for path in glob.glob(os.path.join(ROOT, "src/frontend/onnx/op_*.c")):
        for name in re.findall(r'^\t\{ "([\w.:]+)", \d+, "', open(path).read(), re.M):
            yield name.split("::")[-1]


def field(number, *parts):
    body = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return bytes([number << 3 | 2, len(body)]) + body


def number(of, value):
    return bytes([of << 3, value])


def model(op):
    """y = op(x[1,2,3,4])"""
    shape = field(2, *(field(1, number(1, d)) for d in (1, 2, 3, 4)))
    x = field(11, field(1, "x"), field(2, field(1, number(1, 1), shape)))
    node = field(1, field(1, "x"), field(2, "y"), field(4, op))
    return number(1, 8) + field(7, node, x, field(12, field(1, "y"))) + field(8, number(2, 22))


def main():
    damage, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    if subprocess.run([damage, "seeds", folder]).returncode:
        return 1
    for path in models():
        data = open(path, "rb").read()
        if len(data) <= MOST:
            with open(os.path.join(folder, hashlib.sha1(data).hexdigest()), "wb") as f:
                f.write(data)
    whole = [open(f, "rb").read() for f in glob.glob(folder + "/*")]
    missing = [o for o in sorted(set(operators()))  # op_type is field 4 of a node
               if not any(field(4, o) in data for data in whole)]
    for op in missing:
        with open(os.path.join(folder, op + ".onnx"), "wb") as f:
            f.write(model(op))
    print(f"{len(whole)} models; of one node: {', '.join(missing) or 'none'}")
    return 0 if any(models()) else 1


sys.exit(main())
