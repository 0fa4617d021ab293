#!/usr/bin/env python3
"""correct.py [OPTIONS] [MODEL ...]: does dlc compute what ONNX Runtime computes, and its own unscheduled loops?

MODEL is a zoo name or an ONNX file; default: the four zoo networks, and the files of models/onnx in
$DLC_TEST_DATA, else ../shared.  For each: `dlc show --stage=onnx` writes the network as dlc read it, ONNX
Runtime runs that file, dlc-compile and dlc-run run the network: its default schedules, with --tuning-db also the
best ones, and its unscheduled loops, all on the same random inputs (--inputs of them), for the CPU and the threads
that --more says.  For an ONNX file ONNX Runtime also runs the original, which checks what dlc read and wrote; and
where NAME.data.npy and NAME.out.npy lie beside it, dlc's output for that input is compared with that one.
Everything must agree within 1e-4 of the largest output.

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


def worst(errors, key, value):
    errors[key] = max(errors.get(key, 0.0), value)


def errors(dlc, model, o, folder):
    """{against what: the largest error over all inputs}"""
    ways = {"unscheduled": ["--tuning-db=none", "--unscheduled"], "untuned": ["--tuning-db=none"]}
    if o.tuning_db:
        ways["tuned"] = ["--tuning-db=" + x for x in o.tuning_db]
    s = rival.session(dlc.onnx(model, folder), 1)
    original = rival.session(model, 1) if os.path.isfile(model) else None
    bundles, out = {}, {}
    for way, options in ways.items():
        bundles[way] = f"{folder}/{way}.dlcb"
        dlc.call("dlc-compile", model, *options, *o.more, "--output=" + bundles[way])
    for seed in range(1, o.inputs + 1):
        arrays, words = rival.feed(s, folder, seed)
        want = dict(zip([x.name for x in s.get_outputs()], s.run(None, arrays)))
        got = {way: rival.run_bundle(dlc, bundle, words, folder) for way, bundle in bundles.items()}
        for way in ways:
            worst(out, way, rival.gap(got[way], want))
            if way != "unscheduled":
                worst(out, way + " against unscheduled", rival.gap(got[way], got["unscheduled"]))
        if original:
            same = dict(zip([x.name for x in original.get_outputs()], original.run(None, arrays)))
            worst(out, "original", rival.gap(want, same))
    if original:
        out.update(recorded(dlc, model, bundles["untuned"], folder))
    return out


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL")
    a.add_argument("--build", default=rival.ROOT + "/build", metavar="DIR",
                   help="where the programs are (default build)")
    a.add_argument("--tuning-db", action="append", default=[], metavar="DB",
                   help="also the best schedules of it; repeats")
    a.add_argument("--more", action="append", default=[], metavar="OPTION",
                   help="of dlc-compile, such as --more=--threads=2 or --more=--target=cpu:x86-64-v3; repeats")
    a.add_argument("--inputs", type=int, default=1, metavar="N", help="random inputs of each network (default 1)")
    o = a.parse_args()
    dlc = rival.Dlc(o.build)
    rival.enter()
    models, bad = o.model or ZOO + files(), 0
    if not o.model and len(models) == len(ZOO):
        print("no ONNX files in $DLC_TEST_DATA/models/onnx or ../shared/models/onnx: skipped")
    for model in models:
        with rival.folder() as folder:
            try:
                e = errors(dlc, model, o, folder)
            except Exception as x:  # ONNX Runtime has a dozen kinds of its own
                bad += 1
                print(f"{os.path.basename(model):28} {x}")
                continue
        ok = all(x <= TOLERANCE for x in e.values())
        bad += not ok
        said = ", ".join(f"{k} {x:.1e}" for k, x in e.items())
        print(f"{os.path.basename(model):28} {said}{'' if ok else '  DIFFERS'}")
    print(f"{len(models)} networks, {bad} differ or failed (allowed: {TOLERANCE:g} of the largest output)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
