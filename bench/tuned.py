#!/usr/bin/env python3
"""tuned.py [OPTIONS] BEFORE AFTER [MODEL ...]: how fast are the networks that two builds of dlc tune?

    bench/tuned.py --threads=2 --budget=60s OLD_BUILD build resnet18 bert_base

For each MODEL (default: thirteen of the zoo) both builds tune from an empty database for --budget and compile with it
(tuned) and with none (untuned). No shipped log is read; --cost-model is the one that AFTER has shipped. Then dlc-run
--bench of its own build times the four bundles in turn, --rounds times for --seconds each, each from a fresh copy of
its file.

A row of a Markdown table for each network: medians over the rounds of ratios inside a round, in brackets the ratio of
the least times; candidates a second while searching. The geometric means end it."""
import argparse
import math
import os
import shutil
import statistics
import tempfile

import rival

ZOO = ["resnet18", "resnet50", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_large", "squeezenet1_1",
       "efficientnet_b0", "densenet121", "inception_v3", "yolo_v2_tiny", "bert_base", "lstm", "mlp"]
FORMS = ["tuned", "untuned"]


def bundles_of(dlc, model, home, o):
    """({form: bundle}, candidates a second)"""
    words = [model, f"--threads={o.threads}", f"--target={o.target}"]
    told = dlc.json("dlc-tune", *words, f"--budget={o.budget}", f"--tuning-db={home}/t.sqlite")
    bundle = {form: f"{home}/{form}.dlcb" for form in FORMS}
    for form, db in zip(FORMS, (home + "/t.sqlite", "none")):
        dlc.call("dlc-compile", *words, "--tuning-db=" + db, "-o", bundle[form])
    return bundle, told["candidates_per_s"]


def side_of(build, home, cost_model):
    """Programs that see a home of their own, where the cost model is all that is shipped."""
    os.makedirs(home + "/shipped")
    if cost_model:
        shutil.copy(cost_model, home + "/shipped")
    return rival.Dlc(build, {"XDG_DATA_HOME": home, "XDG_CACHE_HOME": home, "DLC_TUNING_DB": "none",
                             "DLC_TUNING_LOGS": home + "/shipped"})


def compare(model, o):
    """{(side, form): ms of each round}, [candidates a second]"""
    with tempfile.TemporaryDirectory(prefix="dlc-tuned.") as top:
        homes = [f"{top}/{side}" for side in range(2)]
        dlc = [side_of(b, home, model) for b, home, model in zip(o.build, homes, (None, o.cost_model))]
        made = [bundles_of(d, model, home, o) for d, home in zip(dlc, homes)]
        ms = {(side, form): [] for side in range(2) for form in FORMS}
        for r in range(o.rounds):
            for side, form in sorted(ms, reverse=r % 2 == 0):
                ms[side, form].append(dlc[side].turn(made[side][0][form], top, f"--seconds={o.seconds}",
                                                     f"--threads={o.threads}"))
        return ms, [rate for _, rate in made]


def ratio(above, below):
    return statistics.median(a / b for a, b in zip(above, below))


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("build", nargs=2, metavar="BUILD", help="folders of programs, BEFORE and AFTER")
    a.add_argument("model", nargs="*", metavar="MODEL", default=ZOO)
    a.add_argument("--target", default="host")
    a.add_argument("--threads", type=int, default=1)
    a.add_argument("--budget", default="60s", metavar="TIME", help="of each tuning (default 60s)")
    a.add_argument("--cost-model", metavar="FILE.model", help="of AFTER; its name tells the kind of target")
    a.add_argument("--rounds", type=int, default=9, metavar="N", help="turns of all four bundles (default 9)")
    a.add_argument("--seconds", type=float, default=0.2, metavar="S", help="of a turn (default 0.2)")
    o = a.parse_intermixed_args()
    print("| network | tuned ms | tuned, after / before | untuned | untuned / tuned, after | before |"
          " candidates a second, after, before |\n|---|---|---|---|---|---|---|")
    means = []
    for model in o.model:
        try:
            ms, rate = compare(model, o)
        except RuntimeError as e:
            rival.give_up(5, f"{model}: {e}")
        least = [min(ms[1, form]) / min(ms[0, form]) for form in FORMS]
        of = [ratio(ms[1, "tuned"], ms[0, "tuned"]), ratio(ms[1, "untuned"], ms[0, "untuned"]),
              ratio(ms[1, "untuned"], ms[1, "tuned"]), ratio(ms[0, "untuned"], ms[0, "tuned"])]
        means.append([*of, *least])
        print(f"| {model} | {statistics.median(ms[1, 'tuned']):.3f} | {of[0]:.2f} ({least[0]:.2f}) |"
              f" {of[1]:.2f} ({least[1]:.2f}) | {of[2]:.2f} | {of[3]:.2f} | {rate[1]:.0f}, {rate[0]:.0f} |", flush=True)
    mean = [math.exp(statistics.mean(math.log(row[k]) for row in means)) for k in range(len(means[0]))]
    print(f"| geometric mean | | {mean[0]:.3f} ({mean[4]:.3f}) | {mean[1]:.3f} ({mean[5]:.3f}) | {mean[2]:.3f} |"
          f" {mean[3]:.3f} | |")


if __name__ == "__main__":
    main()
