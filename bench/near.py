#!/usr/bin/env python3
"""near.py [OPTIONS] [MODEL ...]: what do shipped logs gain, above all records of other targets?

    bench/near.py --logs=tuning_logs mobilenet_v2 resnet34
    bench/near.py --logs=FOLDER_WITHOUT_THIS_CPU mobilenet_v2

Compiles each MODEL (default: nine networks of the zoo) with the shipped logs in --logs and without any record.
dlc-run --bench times both bundles in turn, --rounds times for --seconds each, each from a fresh copy of its file; then
--profile times their steps in the same way.

A row of a Markdown table for each network: how many of its Tasks have which source, the time with the logs, and its
ratio to the time without: the median over the rounds, in brackets that of the least times. Then one for each source of
steps, and for near ones by what the estimate promised: how many steps, the geometric mean of their times over those of
the defaults, the worst and the best. Steps below 0.2 % of a network's time are left out."""
import argparse
import json
import math
import os
import statistics
import tempfile
from collections import Counter

import rival

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ZOO = ["mobilenet_v2", "mobilenet_v3_large", "squeezenet1_1", "resnet18", "efficientnet_b0", "densenet121",
       "resnet34", "deit_tiny", "unet"]
PROMISED = [(0, 0.8), (0.8, 0.9), (0.9, 0.95), (0.95, 1), (1, math.inf)]


def made(dlc, model, path, o):
    """The lines of --explain, one for each Task."""
    said = dlc.call("dlc-compile", model, f"--target={o.target}", f"--threads={o.threads}", "--explain", "--json", "-o",
                    path)
    return [r for r in map(json.loads, said.splitlines()) if "source" in r]


def by_name(tasks):
    """{a Task's operators: its line}; steps are told by them, so Tasks that share them are left out."""
    count = Counter(t["op"] for t in tasks)
    return {t["op"]: t for t in tasks if count[t["op"]] == 1}


def compare(model, o):
    """(words for a row, ratio, [(source, promised, ratio)])"""
    with tempfile.TemporaryDirectory(prefix="dlc-near.") as top:
        sides = [rival.Dlc(o.build, {"XDG_DATA_HOME": top, "XDG_CACHE_HOME": f"{top}/{k}", "DLC_TUNING_DB": "",
                                     "DLC_TUNING_LOGS": o.logs if k == 0 else "none"}) for k in range(2)]
        bundle = [f"{top}/{k}.dlcb" for k in range(2)]
        tasks = [made(d, model, b, o) for d, b in zip(sides, bundle)]
        ms, steps = [[], []], [[], []]
        for r in range(o.rounds):
            for k in (0, 1) if r % 2 else (1, 0):
                how = [bundle[k], top, f"--seconds={o.seconds}", f"--threads={o.threads}"]
                ms[k].append(sides[k].turn(*how))
                step = Counter()
                for row in sides[k].fresh(*how, "--profile"):
                    if "step" in row: # launches of a Task, and Tasks that occur again, have one name
                        step[row["name"]] += row["ms"]
                steps[k].append(step)
    least = [{name: min(round_[name] for round_ in side) for name in side[0]} for side in steps]
    times, of = [], [by_name(t) for t in tasks]
    for name in least[0].keys() & least[1].keys() & of[0].keys() & of[1].keys():
        if least[1][name] > 0.002 * sum(least[1].values()):
            times.append((of[0][name]["source"], of[0][name]["ms"] / of[1][name]["ms"],
                          least[0][name] / least[1][name]))
    ratio = statistics.median(a / b for a, b in zip(*ms))
    sources = Counter(t["source"] for t in tasks[0])
    return (f"| {model} | {', '.join(f'{n} {s}' for s, n in sources.most_common())} | {statistics.median(ms[0]):.3f} |"
            f" {ratio:.3f} ({min(ms[0]) / min(ms[1]):.3f}) |"), ratio, times


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL", default=ZOO)
    a.add_argument("--build", default=ROOT + "/build", metavar="DIR", help="where the programs are (default build)")
    a.add_argument("--logs", default=ROOT + "/tuning_logs", metavar="DIR", help="shipped logs (default tuning_logs)")
    a.add_argument("--target", default="host")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--rounds", type=int, default=5, metavar="N", help="turns of both bundles (default 5)")
    a.add_argument("--seconds", type=float, default=0.3, metavar="S", help="of a turn (default 0.3)")
    o = a.parse_args()
    o.logs = os.path.abspath(o.logs)
    print("| network | Tasks | ms | with / without |\n|---|---|---|---|")
    ratios, times = [], []
    for model in o.model:
        try:
            row, ratio, of = compare(model, o)
        except RuntimeError as e:
            rival.give_up(5, f"{model}: {e}")
        print(row, flush=True)
        ratios.append(ratio)
        times += of
    print(f"| geometric mean | | | {statistics.geometric_mean(ratios):.3f} |\n\n"
          "| source | promised | steps | with / without | worst | best |\n|---|---|---|---|---|---|")
    for source in sorted({t[0] for t in times}):
        for low, high in PROMISED if source == "near" else [(0, math.inf)]:
            part = [t[2] for t in times if t[0] == source and low <= t[1] < high]
            if part:
                promised = f"{low} to {high}" if source == "near" else ""
                mean = statistics.geometric_mean(part)
                print(f"| {source} | {promised} | {len(part)} | {mean:.3f} | {max(part):.2f} | {min(part):.2f} |")


if __name__ == "__main__":
    main()
