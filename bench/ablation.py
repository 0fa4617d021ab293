#!/usr/bin/env python3
"""ablation.py [MODEL ...]: what each feature of the graph gains, by leaving it out (dlc-compile --without).

For each MODEL (default: some of the zoo) in each of --rounds rounds, in changing order: the network with default
schedules as it is, and without each feature of src/graph/without.def. Time is the processor time of a run: that of a
dlc-run with many runs less that of one with two, each the least over the rounds, so that other programs on the machine
disturb little. Prints a line for each model: its time in ms, then the ratio to it of the time without each feature. A
ratio above 1 is a gain of the feature; - stands where the bundle is the same."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

ZOO = ["resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "efficientnet_b0", "densenet121", "convnext_tiny",
       "vit_b_16", "bert_base", "gpt2"]
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def features():
    with open(f"{ROOT}/src/graph/without.def", encoding="utf-8") as f:
        return re.findall(r"^FEATURE\((\w+),", f.read(), re.M)


def compiled(o, model, without, home):
    bundle = f"{home}/{os.path.basename(model)}.{without or 'all'}.dlcb"
    words = [f"{o.build}/dlc", "compile", model, f"--threads={o.threads}", "--tuning-db=none", "-o", bundle]
    subprocess.run(words + ([f"--without={without}"] if without else []), check=True, stderr=subprocess.DEVNULL)
    return bundle


def used(o, bundle, runs):
    """Seconds of processor time of a program that runs the network so often."""
    child = subprocess.Popen([f"{o.build}/dlc-run", bundle, "--random", "--bench", f"--runs={runs}",
                              f"--threads={o.threads}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit(f"ablation.py: dlc-run of {bundle} failed")
    return usage.ru_utime + usage.ru_stime


def same(a, b):
    with open(a, "rb") as x, open(b, "rb") as y:
        return x.read() == y.read()


def ablate(o, model, names):
    with tempfile.TemporaryDirectory(prefix="dlc-ablation.") as home:
        bundles = {name: compiled(o, model, name, home) for name in [None] + names}
        differ = [None] + [n for n in names if not same(bundles[None], bundles[n])]
        # The least of each before the difference: of differences, the least is where the shorter one was disturbed.
        few, many = (dict.fromkeys(differ, float("inf")) for _ in range(2))
        for r in range(o.rounds):
            for name in differ if r % 2 == 0 else differ[::-1]:
                few[name] = min(few[name], used(o, bundles[name], 2))
                many[name] = min(many[name], used(o, bundles[name], 2 + o.runs))
        least = {name: (many[name] - few[name]) / o.runs * 1e3 for name in differ}
    ratios = [f"{least[n] / least[None]:10.2f}" if n in least else f"{'-':>10}" for n in names]
    print(f"{model:20} {least[None]:9.2f}" + "".join(ratios), flush=True)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL", default=ZOO)
    a.add_argument("--build", default=f"{ROOT}/build")
    a.add_argument("--features", help="some of them, between commas")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--runs", type=int, default=10)
    a.add_argument("--threads", type=int, default=1)
    o = a.parse_args()
    names = o.features.split(",") if o.features else features()
    print(f"{'without':20} {'ms':>9}" + "".join(f"{n:>10}" for n in names))
    for model in o.model:
        ablate(o, model, names)


if __name__ == "__main__":
    main()
