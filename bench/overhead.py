#!/usr/bin/env python3
"""What a call of an operator costs besides its work: a network of 1 000 softmaxes of two elements.

    bench/overhead.py [BUILD]         prints microseconds per call, the work of the softmax included"""
import json, os, subprocess, sys, tempfile

if sys.argv[1:] in (["-h"], ["--help"]):
    sys.exit(print(__doc__))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
CALLS = 1000

def varint(v):
    out = b""
    while v >= 128:
        out += bytes([v & 127 | 128]); v >>= 7
    return out + bytes([v])

def field(number, value):
    if isinstance(value, int): return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value

def tensor_info(name, dims):
    shape = b"".join(field(1, field(1, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, shape)))

def model():
    names = ["data"] + [f"t{i}" for i in range(CALLS - 1)] + ["out"]
    nodes = b"".join(field(1, field(1, a) + field(2, b) + field(4, "Softmax")) for a, b in zip(names, names[1:]))
    graph = nodes + field(2, "tiny") + field(11, tensor_info("data", [1, 2])) + field(12, tensor_info("out", [1, 2]))
    return field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, graph)

def run(program, *args):
    out = subprocess.run([BUILD + "/" + program, *args], stdout=subprocess.PIPE, check=True).stdout
    return json.loads(out)

with tempfile.TemporaryDirectory() as folder:
    path = folder + "/tiny.onnx"
    open(path, "wb").write(model())
    bundle = folder + "/tiny.dlcb"
    compiled = run("dlc-compile", path, "--tuning-db=none", "-o", bundle, "--json")
    bench = run("dlc-run", bundle, "--bench", "--runs=2000", "--json")
    print(f"{CALLS} calls, {compiled['tasks']} task(s): {bench['median_ms'] * 1000 / CALLS:.3f} us per call "
          f"(median of {bench['runs']} runs)")
