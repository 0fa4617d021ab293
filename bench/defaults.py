#!/usr/bin/env python3
"""defaults.py [OPTIONS] [MODEL ...]: which options of a template's knobs beat its defaults, over many Tasks?

    bench/defaults.py --template=conv --tasks=20 resnet18 densenet121 inception_v3

Takes the Tasks of the MODELs (default: eight networks of the zoo) that one template schedules, the first --tasks of
them by their ids, and times the default of each against itself with one knob changed (tests/schedule/bench_trace of
the build: one thread, constants from memory). Of a knob with many options, such as a tile, --most are taken, evenly.

A row of a Markdown table for each option that a knob had instead of its default in --least Tasks or more, the best
first: how many Tasks, the geometric mean of the times over the default's, the best, the worst. What lies below 1 in the
mean is a default to look at; times of a single Task scatter by some percent."""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import tempfile

import rival

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ZOO = ["resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "squeezenet1_1", "densenet121", "inception_v3",
       "yolo_v2_tiny"]


def dags_of(dlc, model, target):
    """{a Task's id: its text}"""
    said = dlc.call("dlc-show", model, "--stage=tasks", "--target=" + target)
    parts = re.split(r"(?m)^task (\w+) .*\n", said)
    return {key: text.split("\n\n")[0].rstrip("\n") + "\n" for key, text in zip(parts[1::2], parts[2::2])}


def changes(space, most):
    """[(knob, option)]: what a knob that the default asks for may have instead, `most` of them for each knob."""
    got, seen = [], set()
    for knob in space["knobs"]:
        name, own = knob["name"], space["default"].get(knob["name"])
        holds = all(str(space["default"].get(k)) == v for k, v in
                    (part.split("=", 1) for part in knob.get("under", "").split()))
        if own is None or name in seen or not holds or own not in knob["options"]:
            continue
        seen.add(name)
        other = [x for x in knob["options"] if x != own]
        got += [(name, x) for x in other[::max(1, math.ceil(len(other) / most))]]
    return got


def times(o, dag, configs):
    """Least us of each config, None where it is refused."""
    got = []
    target = [] if o.target == "host" else [f"--target={ROOT}/configs/targets/{o.target}.json"]
    for k in range(0, len(configs), 8): # one that cannot be made ends the program
        p = subprocess.run([f"{o.build}/tests/schedule/bench_trace", dag, *configs[k:k + 8], *target, f"--mb={o.mb}"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        least = [float(x) for x in re.findall(r"least +([\d.]+)", p.stdout)]
        got += least + [None] * (len(configs[k:k + 8]) - len(least))
    return got


def compare(o, key, text, space, top, ratios):
    dag = f"{top}/{key}.dag"
    with open(dag, "w") as f:
        f.write(text)
    ways = changes(space, o.most)
    us = times(o, dag, ["default", *(f"{k}={v}" for k, v in ways), "default"])
    if us[0] is None or us[-1] is None:
        return
    for (knob, option), t in zip(ways, us[1:-1]):
        if t is not None:
            own = space["default"][knob]
            ratios.setdefault(f"{knob} {own} -> {option}", []).append(t / min(us[0], us[-1]))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL", default=ZOO)
    a.add_argument("--build", default=ROOT + "/build", metavar="DIR", help="where the programs are (default build)")
    a.add_argument("--target", default="host", help="host, or a name of configs/targets")
    a.add_argument("--template", default="conv", metavar="NAME", help="whose Tasks (default conv)")
    a.add_argument("--tasks", type=int, default=20, metavar="N", help="to time (default 20)")
    a.add_argument("--most", type=int, default=4, metavar="N", help="of a knob, at most (default 4)")
    a.add_argument("--least", type=int, default=3, metavar="N", help="Tasks that had an option (default 3)")
    a.add_argument("--mb", type=int, default=64, metavar="N", help="of copies of constants (default 64)")
    o = a.parse_intermixed_args()
    dlc = rival.Dlc(o.build, {"DLC_TUNING_DB": "none", "DLC_TUNING_LOGS": "none"})
    tasks, ratios = {}, {}
    for model in o.model:
        try:
            dags = dags_of(dlc, model, o.target)
            said = dlc.call("dlc-show", model, "--stage=space", "--json", "--target=" + o.target)
        except RuntimeError as e:
            rival.give_up(5, f"{model}: {e}")
        for space in map(json.loads, said.splitlines()):
            if space.get("template") == o.template and space["key"] in dags:
                tasks[space["key"]] = (dags[space["key"]], space)
    with tempfile.TemporaryDirectory(prefix="dlc-defaults.") as top:
        for key in sorted(tasks)[:o.tasks]:
            compare(o, key, *tasks[key], top, ratios)
    rows = [(statistics.geometric_mean(v), name, v) for name, v in ratios.items() if len(v) >= o.least]
    print("| default -> option | Tasks | time over the default's | best | worst |\n|---|---|---|---|---|")
    for mean, name, v in sorted(rows):
        print(f"| {name} | {len(v)} | {mean:.3f} | {min(v):.2f} | {max(v):.2f} |")


if __name__ == "__main__":
    main()
