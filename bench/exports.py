#!/usr/bin/env python3
"""exports.py [OPTIONS] [CASE ...]: do the ONNX files that exporters write import, compile and compute the same?

    bench/exports.py                                    # all cases, some hours
    bench/exports.py --quick 'bert*' 'vit_b_16:*'       # patterns of cases; transformers with two layers
    bench/exports.py --list

bench/exporter.py builds each network with random weights, runs it in its own framework and exports it, in a process of
its own.  dlc-compile compiles the file untuned, dlc-run runs it on the same input, and the outputs must agree within
1e-4 of the largest one.  A line of the table is a case: the opset of the file, its nodes, dlc's calls as imported and
after the passes of the graph, the steps of the plan, and the error or the sentence that refused it.  A network that
its exporter cannot write is no failure of dlc and is counted apart.

The first start fetches the frameworks from PyPI into .venv-exports/ (8 GB), and PaddlePaddle, which needs an older
onnx, into .venv-paddle/ (1 GB)."""
import argparse
import fnmatch
import json
import os
import subprocess
import sys
import time

import exporter
import rival

PACKAGES = {".venv-exports": ["numpy", "torch", "torchvision", "timm", "transformers", "onnx", "onnxscript", "sklearn",
                              "skl2onnx", "tensorflow", "tf2onnx", "keras"],
            ".venv-paddle": ["numpy", "packaging", "sympy", "paddle", "paddle2onnx", "onnx"]}
TOLERANCE = 1e-4
EXPORT_SECONDS = 900  # the dynamo exporter of a large network on a busy machine
COLUMNS = ["case", "opset", "nodes", "imported", "calls", "steps", "export s", "compile s", "error, or why not"]


def parse():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("case", nargs="*", metavar="CASE", help="a case or a pattern (default: all)")
    a.add_argument("--build", default=rival.ROOT + "/build", metavar="DIR",
                   help="where the programs are (default build)")
    a.add_argument("--quick", action="store_true", help="Hugging Face's networks with two layers")
    a.add_argument("--keep", metavar="DIR", help="keep each case's files in DIR/CASE")
    a.add_argument("--list", action="store_true", help="print the cases")
    o = a.parse_args()
    known = list(exporter.cases())
    chosen = [c for c in known if not o.case or any(fnmatch.fnmatch(c, p) for p in o.case)]
    # Any network of torchvision may be named, also one that is no case.
    chosen += [c for c in o.case if ":" in c and "*" not in c and c not in known]
    if not chosen:
        a.error(f"no case matches {' '.join(o.case)}; --list prints all")
    o.case = chosen
    return o


def last_line(text):
    return (text.decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1][:200]


def export(case, folder, quick):
    """What exporter.py said of the case; RuntimeError with its last line where it failed."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "exporter.py")
    p = subprocess.run([sys.executable, script, case, folder, *["--quick"] * quick], stdin=subprocess.DEVNULL,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=EXPORT_SECONDS,
                       env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""})
    if p.returncode:
        raise RuntimeError(last_line(p.stderr))
    return json.loads(p.stdout.splitlines()[-1])


def calls(dlc, path, options):
    """How many calls the graph has."""
    lines = dlc.call("dlc-show", path, *options).splitlines()
    return sum(" = " in x and not x.startswith("const ") for x in lines)


def compare(dlc, folder, said):
    """Compiles and runs; {column: value}.  RuntimeError with dlc's sentence."""
    import numpy
    path, bundle = os.path.join(folder, "model.onnx"), os.path.join(folder, "model.dlcb")
    shapes = ["--shape=" + x for x in said["shapes"]]
    row = {"imported": calls(dlc, path, [*shapes, "--imported"]), "calls": calls(dlc, path, shapes)}
    start = time.monotonic()
    dlc.call("dlc-compile", path, *shapes, "--tuning-db=none", "--output=" + bundle)
    row["compile s"] = f"{time.monotonic() - start:.1f}"
    words = [f"--input={name}={folder}/input_{k}.npy" for k, name in enumerate(said["inputs"])]
    got = rival.run_bundle(dlc, bundle, words, folder)
    row["steps"] = dlc.json("dlc-run", bundle, *words, "--profile", "--runs=1").get("steps")
    want = {name: numpy.load(f"{folder}/want_{k}.npy") for k, name in enumerate(said["outputs"])}
    row["error"] = rival.gap(got, want)
    return row


def measure(dlc, case, folder, quick):
    """A row of the table, and "passed", "failed" or "not exported"."""
    row = {"case": case}
    try:
        said = export(case, folder, quick)
    except (RuntimeError, subprocess.TimeoutExpired) as x:
        return {**row, COLUMNS[-1]: f"not exported: {x}"}, "not exported"
    row.update(opset=", ".join(f"{d} {v}" if d != "ai.onnx" else str(v) for d, v in sorted(said["opset"].items())
                               if d in ("ai.onnx", "ai.onnx.ml")), nodes=said["nodes"])
    row["export s"] = said["seconds"]
    try:
        row.update(compare(dlc, folder, said))
    except (RuntimeError, KeyError) as x:
        return {**row, COLUMNS[-1]: str(x)}, "failed"
    ok = row["error"] <= TOLERANCE
    return {**row, COLUMNS[-1]: f"{row['error']:.1e}" + " DIFFERS" * (not ok)}, "passed" if ok else "failed"


def environment(case):
    return ".venv-paddle" if case.endswith(":paddle2onnx") else ".venv-exports"


def main():
    o = parse()
    if o.list:
        print("\n".join(o.case))
        return 0
    dlc = rival.Dlc(o.build)
    groups = [[c for c in o.case if environment(c) == name] for name in PACKAGES]
    if all(groups):
        words = ["--build=" + o.build, *["--quick"] * o.quick, *["--keep=" + o.keep] * bool(o.keep)]
        return max(subprocess.call([sys.executable, __file__, *words, *g]) for g in groups)
    venv = environment(o.case[0])
    rival.enter(name=venv, required=PACKAGES[venv])
    counts = {"passed": 0, "failed": 0, "not exported": 0}
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    for case in o.case:
        with rival.folder() as scratch:
            folder = scratch
            if o.keep:
                folder = os.path.join(o.keep, case.replace(":", "."))
                os.makedirs(folder, exist_ok=True)
            row, verdict = measure(dlc, case, folder, o.quick)
        counts[verdict] += 1
        print("| " + " | ".join(str(row.get(c, "-")) for c in COLUMNS) + " |", flush=True)
    print(f"\n{time.strftime('%Y-%m-%d')}, {dlc.call('dlc-run', '--version').splitlines()[0]}; "
          + ", ".join(f"{n} {rival.version(n)}" for n in PACKAGES[venv])
          + f"\n{len(o.case)} cases: {counts['passed']} passed, {counts['failed']} failed, "
          f"{counts['not exported']} that the exporter refuses (allowed: {TOLERANCE:g} of the largest output)")
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
