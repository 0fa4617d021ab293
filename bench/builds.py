#!/usr/bin/env python3
"""builds.py BEFORE AFTER [MODEL ...]: two builds of dlc in turns, to show that a change costs nothing.

For each MODEL (default: the four zoo networks) and in each of --rounds rounds, both builds in changing order:

    untuned   dlc-compile --tuning-db=none, then dlc-run --bench: the network's median, ms
    compile   dlc-compile with an empty code cache: its seconds
    rate      dlc-tune for --budget from an empty database: candidates per second

Prints for each the medians of both sides and the ratio AFTER / BEFORE: median over the rounds and its range.
--what leaves some out; --same compares the bundles of both builds byte for byte as well."""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

ZOO = ["resnet18", "resnet50", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1"]


def last_object(words, home):
    env = {**os.environ, "XDG_DATA_HOME": home, "XDG_CACHE_HOME": home}
    p = subprocess.run(words, env=env, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return json.loads(p.stdout.splitlines()[-1])


def compiled(build, model, o, home):
    bundle = f"{home}/{os.path.basename(model)}.dlcb"
    j = last_object([f"{build}/dlc", "compile", model, f"--threads={o.threads}", "--tuning-db=none", "-o", bundle,
                     "--json"],
                    home)
    return bundle, j["seconds"]


def untuned(build, model, o, home):
    bundle, _ = compiled(build, model, o, home)
    return last_object([f"{build}/dlc-run", bundle, "--bench", f"--threads={o.threads}", "--json"], home)["median_ms"]


def compile_time(build, model, o, home):
    return compiled(build, model, o, home)[1]


def rate(build, model, o, home):
    return last_object([f"{build}/dlc", "tune", model, f"--threads={o.threads}", f"--budget={o.budget}",
                        f"--tuning-db={home}/t.sqlite", "--json"], home)["candidates_per_s"]


WHAT = {"untuned": (untuned, "ms"), "compile": (compile_time, "s"), "rate": (rate, "trials/s")}


def compare(what, model, o):
    measure, unit = WHAT[what]
    took = {side: [] for side in o.build}
    for r in range(o.rounds):
        for side in o.build if r % 2 == 0 else o.build[::-1]:
            with tempfile.TemporaryDirectory(prefix="dlc-builds.") as home:
                took[side].append(measure(side, model, o, home))
    before, after = (took[side] for side in o.build)
    ratio = sorted(b / a for a, b in zip(before, after))
    print(f"{what:8} {model:16} {statistics.median(before):9.3f} -> {statistics.median(after):9.3f} {unit:9}"
          f" ratio {statistics.median(ratio):.3f} ({ratio[0]:.3f} to {ratio[-1]:.3f})", flush=True)


def same(model, o):
    with tempfile.TemporaryDirectory(prefix="dlc-builds.") as home:
        bytes_of = []
        for side in o.build:
            with open(compiled(side, model, o, home)[0], "rb") as f:
                bytes_of.append(f.read())
    print(f"same     {model:16} {'bundles are equal' if bytes_of[0] == bytes_of[1] else 'bundles differ'}", flush=True)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("build", nargs=2, metavar="BUILD")
    a.add_argument("model", nargs="*", metavar="MODEL")
    a.add_argument("--rounds", type=int, default=5)
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--budget", default="20s")
    a.add_argument("--what", default=",".join(WHAT), help="of " + ",".join(WHAT))
    a.add_argument("--same", action="store_true")
    o = a.parse_args()
    o.build = [os.path.abspath(b) for b in o.build]
    for model in o.model or ZOO:
        if o.same:
            same(model, o)
        for what in o.what.split(","):
            compare(what, model, o)


if __name__ == "__main__":
    main()
