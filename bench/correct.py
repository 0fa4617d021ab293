#!/usr/bin/env python3
"""correct.py [--build=DIR] [--unscheduled] [MODEL ...]: does dlc compute what ONNX Runtime computes?

MODEL is a zoo name or an ONNX file; default: the four zoo networks, and the files of models/onnx in
$DLC_TEST_DATA, else ../shared.  For each: `dlc show --stage=onnx` writes the network as dlc read it, ONNX
Runtime runs that file, dlc-compile and dlc-run run the network, both on one random input.  For an ONNX file
ONNX Runtime also runs the original, which checks what dlc read and wrote; and where NAME.data.npy and
NAME.out.npy lie beside it, dlc's output for that input is compared with that one.  Everything must agree
within 1e-4 of the largest output.

The first start fetches ONNX Runtime from PyPI into .venv-rivals/."""
import argparse
import glob
import os
import sys

import rival
from rivals import TOLERANCE, ZOO


def files():
    data = os.environ.get("DLC_TEST_DATA") or os.path.join(rival.ROOT, "..", "shared")
    return sorted(glob.glob(os.path.join(data, "models", "onnx", "*.onnx")))


def recorded(dlc, path, bundle, folder):
    """Against the output that its exporter computed; {} where there is none."""
    import numpy
    stem = os.path.join(os.path.dirname(path), os.path.basename(path).split(".")[0])
    if not os.path.exists(stem + ".data.npy") or not os.path.exists(stem + ".out.npy"):
        return {}
    got = rival.run_bundle(dlc, bundle, [f"--input={stem}.data.npy"], folder)
    want = numpy.load(stem + ".out.npy")
    return {"recorded": rival.gap({"y": next(iter(got.values()))}, {"y": want})}


def errors(dlc, model, options, folder):
    """{against what: error}"""
    s = rival.session(dlc.onnx(model, folder), 1)
    arrays, words = rival.feed(s, folder)
    want = dict(zip([x.name for x in s.get_outputs()], s.run(None, arrays)))
    bundle = folder + "/model.dlcb"
    dlc.call("dlc-compile", model, "--tuning-db=none", *options, "--output=" + bundle)
    out = {"onnxruntime": rival.gap(rival.run_bundle(dlc, bundle, words, folder), want)}
    if os.path.isfile(model):
        original = rival.session(model, 1)
        same = dict(zip([x.name for x in original.get_outputs()], original.run(None, arrays)))
        out["original"] = rival.gap(want, same)
        out.update(recorded(dlc, model, bundle, folder))
    return out


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL")
    a.add_argument("--build", default=rival.ROOT + "/build", metavar="DIR", help="where the programs are (default build)")
    a.add_argument("--unscheduled", action="store_true", help="the naive loops instead of the default schedules")
    o = a.parse_args()
    dlc = rival.Dlc(o.build)
    rival.enter()
    models, bad = o.model or ZOO + files(), 0
    if not o.model and len(models) == len(ZOO):
        print("no ONNX files in $DLC_TEST_DATA/models/onnx or ../shared/models/onnx: skipped")
    for model in models:
        with rival.folder() as folder:
            try:
                e = errors(dlc, model, ["--unscheduled"] if o.unscheduled else [], folder)
            except Exception as x:  # ONNX Runtime has a dozen kinds of its own
                bad += 1
                print(f"{os.path.basename(model):28} {x}")
                continue
        ok = all(x <= TOLERANCE for x in e.values())
        bad += not ok
        print(f"{os.path.basename(model):28} {', '.join(f'{k} {x:.1e}' for k, x in e.items())}{'' if ok else '  DIFFERS'}")
    print(f"{len(models)} networks, {bad} differ or failed (allowed: {TOLERANCE:g} of the largest output)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
