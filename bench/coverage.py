#!/usr/bin/env python3
"""coverage.py [OPTIONS] [MODEL ...]: which steps of a network take time without being scheduled well.

    bench/coverage.py                                  # the whole zoo, untuned, one thread
    bench/coverage.py --tuning-db=tuning.sqlite bert_base model.onnx

For each MODEL (default: all networks of the zoo), dlc-compile compiles it and dlc-run times every step.  A step that
takes more than --least percent of its network's time fails where one of these holds:

    naive      its Task has no schedule: its loops are those of the operator's definition;
    scalar     its schedule makes no loop a vector;
    slow       it computes fewer than --flops operations and moves fewer than --bytes bytes a cycle: a scalar loop does
               as much, whatever the code looks like.  Cycles are those of the FMA probe beside it.

A time is the least of --rounds means, each of --seconds of runs back to back.  Prints a line for each network (the
slowest step by what it does a cycle, among those above --least) and one for each failing step; exits with 1 if there
are any, with 2 on wrong arguments, and with 5 where a network cannot be compiled."""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def parse():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL", help="a zoo name or a file (default: the whole zoo)")
    a.add_argument("--build", default=ROOT + "/build", metavar="DIR", help="where the programs are (default build)")
    a.add_argument("--tuning-db", action="append", default=[], metavar="DB", help="for dlc-compile (default: none)")
    a.add_argument("--least", type=float, default=2, metavar="P", help="percent of a network's time (default 2)")
    a.add_argument("--flops", type=float, default=2, metavar="N", help="operations a cycle (default 2)")
    a.add_argument("--bytes", type=float, default=4, metavar="N", help="bytes a cycle (default 4)")
    a.add_argument("--rounds", type=int, default=3, metavar="N", help="timings of a network (default 3)")
    a.add_argument("--seconds", type=float, default=0.5, metavar="S", help="of each timing (default 0.5)")
    a.add_argument("--json", action="store_true", help="each step above --least as a line of JSON")
    return a.parse_args()


class Dlc:
    def __init__(self, o):
        self.build = os.path.abspath(o.build)
        self.databases = ["--tuning-db=" + x for x in o.tuning_db or ["none"]]

    def call(self, verb, *words):
        p = subprocess.run([f"{self.build}/{verb}", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
        if p.returncode:
            last = (p.stderr.strip().splitlines() or ["it said nothing"])[-1]
            raise RuntimeError(f"{verb} {words[0]}: exit {p.returncode}: {last}")
        return p.stdout

    def lines(self, verb, *words):
        return [json.loads(x) for x in self.call(verb, *words, "--json").splitlines()]

    def zoo(self):
        return self.lines("dlc-info")[-1]["zoo"]

    def peak(self):
        """Operations of float32 in a cycle, as this CPU's model says."""
        d = self.lines("dlc-info")[-1]["devices"][0]
        return d["vector_bits"] / 32 * 2 * d["core"]["fma_rate"]

    def tasks(self, model):
        """{what a step is called: its Tasks}; Tasks of one name differ in layouts or constants."""
        traces, key = {}, None
        for line in self.call("dlc-show", model, *self.databases, "--stage=trace").splitlines():
            if line.startswith("task "):
                key = line.split()[1]
                traces[key] = []
            elif line and not line.startswith("#"):
                traces[key].append(line.split()[0])
        templates = {j["key"]: j["template"] for j in self.lines("dlc-show", model, *self.databases, "--stage=space")}
        got = {}
        for j in self.lines("dlc-show", model, *self.databases, "--stage=tasks"):
            steps = next((t for k, t in traces.items() if j["key"].startswith(k)), None)
            if steps is None:
                continue  # of an alternative that is not taken
            got.setdefault(j["op"], []).append({"flops": j["flops"], "bytes": j["bytes"], "steps": steps,
                                                "template": templates.get(j["key"])})
        return got


def timed(dlc, model, o, folder):
    """[(what, least ms)] of all steps of one network, and the best of the probe, GFLOP/s."""
    bundle = os.path.join(folder, "network.dlcb")
    dlc.call("dlc-compile", model, *dlc.databases, "--output=" + bundle)
    best = None
    for _ in range(o.rounds):
        steps = dlc.lines("dlc-run", bundle, "--random", "--profile", f"--seconds={o.seconds}")[:-1]
        ms = [s["ms"] for s in steps]
        best = ms if best is None else [min(a, b) for a, b in zip(best, ms)]
    probe = dlc.lines("dlc-run", bundle, "--bench", "--random", "--seconds=0.1")[-1]["fma_probe_gflops"]
    return [(s["name"], m) for s, m in zip(steps, best)], probe


def faults(task, flops, moved, o):
    """Why a step of this Task fails; flops and moved: what it does in a cycle."""
    found = []
    if not task["steps"]:
        found.append("naive")
    elif "vectorize" not in task["steps"]:
        found.append("scalar")
    if flops < o.flops and moved < o.bytes:
        found.append("slow")
    return found


def cover(dlc, model, o, folder):
    """All steps of a network above --least, each with its Task's template and why it fails."""
    tasks = dlc.tasks(model)
    steps, probe = timed(dlc, model, o, folder)
    per_ms = probe * 1e6 / dlc.peak()  # cycles
    whole, kinds = sum(ms for _, ms in steps), {}
    for name, ms in steps:
        kinds.setdefault(name, []).append(ms)
    rows = []
    for name, times in kinds.items():
        share = 100 * sum(times) / whole
        if share < o.least:
            continue
        cycles = min(times) * per_ms
        for t in tasks.get(name, []):
            flops, moved = t["flops"] / cycles, t["bytes"] / cycles
            rows.append({"model": model, "step": name, "times": len(times), "ms": sum(times), "percent": share,
                         "template": t["template"], "flops_per_cycle": flops, "bytes_per_cycle": moved,
                         "faults": faults(t, flops, moved, o)})
        if name not in tasks:  # a copy or a move without a Task
            rows.append({"model": model, "step": name, "times": len(times), "ms": sum(times), "percent": share,
                         "template": None, "flops_per_cycle": 0, "bytes_per_cycle": 0, "faults": ["without a Task"]})
    return whole, rows


def say(row):
    return (f"{row['step']}: {row['percent']:.1f} % in {row['times']}, template {row['template']}, "
            f"{row['flops_per_cycle']:.1f} operations and {row['bytes_per_cycle']:.1f} bytes a cycle")


def main():
    o = parse()
    dlc, failing, broken = Dlc(o), 0, 0
    models = o.model or dlc.zoo()
    for model in models:
        try:
            with tempfile.TemporaryDirectory(prefix="dlc-coverage.") as folder:
                whole, rows = cover(dlc, model, o, folder)
        except RuntimeError as e:
            broken += 1
            sys.stderr.write(f"coverage.py: {e}\n")
            continue
        bad = [r for r in rows if r["faults"]]
        failing += len(bad)
        if o.json:
            print(*(json.dumps(r) for r in rows), sep="\n", flush=True)
            continue
        least = min(rows, key=lambda r: max(r["flops_per_cycle"] / o.flops, r["bytes_per_cycle"] / o.bytes))
        print(f"{model:20} {whole:9.3f} ms, least: {say(least)}", flush=True)
        for r in bad:
            print(f"  {' '.join(r['faults'])}: {say(r)}", flush=True)
    if not o.json:
        print(f"{len(models)} networks, {failing} failing steps")
    sys.exit(5 if broken else 1 if failing else 0)


main()
