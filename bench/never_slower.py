#!/usr/bin/env python3
"""never_slower.py [OPTIONS] [MODEL ...]: is a tuned network ever slower than an untuned one?

    bench/never_slower.py --budget=20s --runs=10 --threads=1,2 squeezenet1_1 mlp lstm

For each MODEL (default: small networks of the zoo) and number of threads, --runs times: dlc-tune fills an empty
database for --budget, dlc-compile compiles with it (tuned) and with none (untuned), and dlc-run --bench times both in
turn, for --seconds each, in an order that changes from round to round.  Each turn runs a fresh copy of its bundle.

A line for each run: untuned / tuned, the mean of --rounds pairs and 95 % of what it may be (Student's t of the
logarithms); beside it what dlc-tune itself told.  A row of a Markdown table for each network: kept counts the runs
that told that the default stays, slower those whose interval lies below 1.  The exit code is 1 where there is one."""
import argparse
import math
import statistics
import sys
import tempfile

import rival

SMALL = ["squeezenet1_1", "mobilenet_v3_small", "mlp", "lstm", "deit_tiny"]
# Student's t, 97.5 %, by degrees of freedom.
T = [math.inf, 12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]


def interval(ratios):
    logs = [math.log(r) for r in ratios]
    mean = statistics.mean(logs)
    half = T[min(len(logs), len(T)) - 1] * statistics.stdev(logs) / math.sqrt(len(logs)) if len(logs) > 1 else math.inf
    return [math.exp(x) for x in (mean, mean - half, min(mean + half, 700))]


def one_run(model, threads, o):
    """(untuned / tuned and its interval, untuned ms, what dlc-tune told)"""
    with tempfile.TemporaryDirectory(prefix="dlc-never-slower.") as home:
        dlc = rival.Dlc(o.build, {"XDG_DATA_HOME": home, "XDG_CACHE_HOME": home})
        db, threads = home + "/t.sqlite", f"--threads={threads}"
        told = dlc.json("dlc-tune", model, threads, f"--budget={o.budget}", f"--tuning-db={db}")
        bundle = {"untuned": home + "/untuned.dlcb", "tuned": home + "/tuned.dlcb"}
        for side, read in zip(bundle, ("none", db)):
            dlc.call("dlc-compile", model, threads, "--tuning-db=" + read, "-o", bundle[side])
        ms = {side: [] for side in bundle}
        for r in range(o.rounds):
            for side in sorted(bundle, reverse=r % 2 == 0):
                ms[side].append(dlc.turn(bundle[side], home, f"--seconds={o.seconds}", threads))
        return interval([u / t for u, t in zip(ms["untuned"], ms["tuned"])]), statistics.median(ms["untuned"]), told


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL", default=SMALL)
    a.add_argument("--build", default=rival.ROOT + "/build", metavar="DIR", help="where the programs are")
    a.add_argument("--budget", default="20s", metavar="TIME", help="of each tuning (default 20s)")
    a.add_argument("--runs", type=int, default=3, metavar="N", help="tunings of a network (default 3)")
    a.add_argument("--rounds", type=int, default=8, metavar="N", help="turns of both bundles (default 8)")
    a.add_argument("--seconds", type=float, default=0.4, metavar="S", help="of a turn (default 0.4)")
    a.add_argument("--threads", default="1,2", metavar="N,...", help="default 1,2")
    o = a.parse_args()
    rows, slower = [], 0
    for model in o.model:
        for threads in o.threads.split(","):
            runs = []
            for k in range(o.runs):
                try:
                    ratio, ms, told = one_run(model, threads, o)
                except RuntimeError as e:
                    rival.give_up(5, f"{model}: {e}")
                gain = [told[x] for x in ("gain_least", "gain_most")]
                runs.append((ratio, ms, gain == [1, 1]))
                print(f"{model} t{threads} run {k + 1}: {ratio[0]:.3f} ({ratio[1]:.3f} to {ratio[2]:.3f}), told " +
                      ("nothing" if None in gain else f"{gain[0]:.3f} to {gain[1]:.3f}"), file=sys.stderr, flush=True)
            bad, kept = sum(r[2] < 1 for r, _, _ in runs), sum(default for _, _, default in runs)
            slower += bad
            least = min((r for r, _, _ in runs), key=lambda r: r[0])
            mean = math.exp(statistics.mean(math.log(r[0]) for r, _, _ in runs))
            rows.append(f"| {model} | {threads} | {statistics.median(ms for _, ms, _ in runs):.3g} | {mean:.3f} | "
                        f"{least[0]:.3f} ({least[1]:.3f} to {least[2]:.3f}) | {kept} of {len(runs)} | {bad} |")
    print("| network | threads | untuned ms | untuned / tuned | least of a run | kept | slower |")
    print("|---|---|---|---|---|---|---|")
    print("\n".join(rows))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
