#!/usr/bin/env python3
"""rivals.py [OPTIONS] [MODEL ...]: the same networks by dlc and by ONNX Runtime, side by side.

    bench/rivals.py --tuning-db=tuning.sqlite                  # the zoo, with the records of that database
    bench/rivals.py --unscheduled --rounds=3 squeezenet1_1 model.onnx

MODEL is a zoo name or an ONNX file (default: the four zoo networks).  `dlc show --stage=onnx` writes it for
ONNX Runtime (all graph optimisations, the same number of threads), dlc-compile compiles it; both get the
same random input, and their outputs must agree within 1e-4 of the largest one.  Then they run in turns
(A B A B), each for a while back to back; a figure is the median over the rounds of the medians of each.
Beside them stands what the FMA probe of dlc-run reached in those moments, which shows a slow clock; and the
load average before and after: other work on the same cores makes both sides slower in leaps, which the probe
does not show, and then only the ratios mean something, roughly.

--json=FILE keeps all rounds.  The first start fetches ONNX Runtime from PyPI into .venv-rivals/."""
import argparse
import json
import os
import platform
import statistics
import sys
import time

import rival

ZOO = ["resnet18", "resnet50", "mobilenet_v2", "squeezenet1_1"]
TOLERANCE = 1e-4


def parse():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL", default=ZOO)
    a.add_argument("--build", default=rival.ROOT + "/build", metavar="DIR", help="where the programs are (default build)")
    a.add_argument("--tuning-db", action="append", default=[], metavar="DB",
                   help="a tuning database for dlc-compile; repeats; without it nothing is read: dlc untuned")
    a.add_argument("--unscheduled", action="store_true", help="also the naive loops as they are")
    a.add_argument("--threads", type=int, default=1, metavar="N", help="for both sides (default 1)")
    a.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of each side (default 5)")
    a.add_argument("--seconds", type=float, default=1.0, metavar="S", help="of each turn (default 1)")
    a.add_argument("--json", metavar="FILE", help="write every round there")
    return a.parse_args()


def variants(o):
    """{column: options of dlc-compile}"""
    v = {"untuned": ["--tuning-db=none"]}
    if o.tuning_db:
        v = {"tuned": ["--tuning-db=" + x for x in o.tuning_db], **v}
    if o.unscheduled:
        v["unscheduled"] = ["--tuning-db=none", "--unscheduled"]
    return v


def time_session(s, arrays, seconds):
    """Median milliseconds of runs back to back."""
    for _ in range(2):
        s.run(None, arrays)
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        t = time.perf_counter()
        s.run(None, arrays)
        times.append((time.perf_counter() - t) * 1e3)
    return statistics.median(times)


def compare(dlc, model, o, folder):
    """One network: {"error", "onnxruntime": [ms of each round], column: [...], "probe": [...]}"""
    s = rival.session(dlc.onnx(model, folder), o.threads)
    arrays, words = rival.feed(s, folder)
    want = dict(zip([x.name for x in s.get_outputs()], s.run(None, arrays)))
    bundles, result = {}, {"model": model, "onnxruntime": [], "probe": [], "error": 0.0}
    for column, options in variants(o).items():
        bundles[column] = f"{folder}/{column}.dlcb"
        dlc.call("dlc-compile", model, f"--threads={o.threads}", *options, "--output=" + bundles[column])
        error = rival.gap(rival.run_bundle(dlc, bundles[column], words, folder), want)
        result["error"] = max(result["error"], error)
        result[column] = []
        if not error <= TOLERANCE:
            raise RuntimeError(f"{column}: the outputs differ by {error:.1e} of the largest one")
    for _ in range(o.rounds):
        result["onnxruntime"].append(time_session(s, arrays, o.seconds))
        for column, path in bundles.items():
            b = dlc.json("dlc-run", path, "--bench", f"--seconds={o.seconds}")
            result[column].append(b["median_ms"])
            result["probe"].append(b["fma_probe_gflops"])
    return result


def row(r, columns):
    ort = statistics.median(r["onnxruntime"])
    cells = [r["model"].rsplit("/", 1)[-1], f"{ort:.2f}"]
    cells += [f"{statistics.median(r[c]):.2f}" for c in columns]
    cells += [f"{ort / statistics.median(r[columns[0]]):.2f}x", f"{r['error']:.0e}"]
    cells.append(f"{min(r['probe']):.0f} .. {max(r['probe']):.0f}")
    return cells


def print_table(rows):
    width = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    for n, r in enumerate(rows):
        print("| " + " | ".join(x.ljust(w) if k == 0 else x.rjust(w) for k, (x, w) in enumerate(zip(r, width))) + " |")
        if n == 0:
            print("|" + "|".join("-" * (w + 2) for w in width) + "|")


def cpu():
    try:
        with open("/proc/cpuinfo") as f:
            return next(x.split(":", 1)[1].strip() for x in f if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main():
    o = parse()
    dlc = rival.Dlc(o.build)
    rival.enter()
    import onnxruntime
    results, failed, load = [], 0, os.getloadavg()[0]
    for model in o.model:
        with rival.folder() as folder:
            try:
                sys.stderr.write(f"{model} ...\n")
                results.append(compare(dlc, model, o, folder))
            except Exception as e:  # ONNX Runtime has a dozen kinds of its own
                failed += 1
                sys.stderr.write(f"rivals.py: {model}: {e}\n")
    if results:
        columns = list(variants(o))
        print(f"{time.strftime('%Y-%m-%d')}, {cpu()}, {o.threads} thread{'s' * (o.threads > 1)}, "
              f"{o.rounds} rounds of {o.seconds:g} s, ONNX Runtime {onnxruntime.__version__}, "
              f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after; milliseconds\n")
        head = ["network", "ONNX Runtime", *("dlc " + c for c in columns), "ONNX Runtime / dlc", "error", "FMA GFLOP/s"]
        print_table([head, *(row(r, columns) for r in results)])
    if o.json:
        with open(o.json, "w") as f:
            json.dump({"cpu": cpu(), "threads": o.threads, "onnxruntime": onnxruntime.__version__, "results": results}, f)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
