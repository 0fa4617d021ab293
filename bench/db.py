#!/usr/bin/env python3
"""Measures what databases take: the library's calls, then dlc as a whole.

    bench/db.py [--build=build[,OTHER]] [--rounds=5] [--records=100000] [--trials=300] [--tuning-db=FILE]

First part: bench_db (ninja -C BUILD tests/db/bench_db) times look-ups, imports and a cold open.  Several builds take
turns on the same machine.  The figures are wall seconds: median and range of the rounds.
Second part: dlc-tune fills the database with TRIALS trials of resnet18, unless the file is there already (0 leaves
this part out).  A log of RECORDS runs is imported into a copy.  resnet18 is then compiled with the copy, with the
database alone and with none, five times each, in turns."""
import argparse, json, os, re, statistics, subprocess, sys, tempfile, time

def rounds(builds, n, run, *args):
    took = {}
    for _ in range(n):
        for b in builds:
            for line in run(os.path.join(b, "tests/db/bench_db"), *args).splitlines():
                what, number, rest = re.match(r"(.{34}) +([0-9.]+) (s, CPU.*|us.*)", line).groups()
                each = float(re.search(r"([0-9.]+) us each", rest)[1]) if "each" in rest else float(number)
                took.setdefault((what.strip(), b), []).append((float(number), each))
    for what, b in sorted(took, key=lambda key: [w for w, _ in took].index(key[0])):
        pairs = took[what, b]
        wall, each = sorted(p[0] for p in pairs), sorted(p[1] for p in pairs)
        print(f"{what:34} {b}: {statistics.median(wall):.3f} ({wall[0]:.3f} to {wall[-1]:.3f}), "
              f"us each {statistics.median(each):.2f} ({each[0]:.2f} to {each[-1]:.2f})")

def main():
    ap = argparse.ArgumentParser(usage=__doc__)
    ap.add_argument("--build", default="build")
    ap.add_argument("--rounds", type=int, default=5)
    ap.add_argument("--records", type=int, default=100000)
    ap.add_argument("--trials", type=int, default=300)
    ap.add_argument("--tuning-db")
    a = ap.parse_args()
    with tempfile.TemporaryDirectory(prefix="dlc-bench-db.") as tmp:
        tuned, full, log = a.tuning_db or tmp + "/tuned.sqlite", tmp + "/full.sqlite", tmp + "/log.jsonl"
        run = lambda *words: subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
        builds = a.build.split(",")
        a.build = builds[0]
        bench = os.path.join(a.build, "tests/db/bench_db")
        rounds(builds, a.rounds, run, str(a.records), tmp)
        if a.trials == 0:
            return 0
        if not os.path.exists(tuned):
            run(a.build + "/dlc-tune", "resnet18", "--tuning-db=" + tuned, f"--trials={a.trials}")
        run(bench, str(a.records), tmp, log)
        start = time.time()
        said = run(a.build + "/dlc-db", "import", full, log).strip()
        print(f"dlc db import: {said} in {time.time() - start:.2f} s")
        with open(tmp + "/own.jsonl", "w") as f:
            f.write(run(a.build + "/dlc-db", "export", tuned))
        run(a.build + "/dlc-db", "import", full, tmp + "/own.jsonl")
        took = {name: [] for name in ("full", "own", "none")}
        for _ in range(5):
            for name, db in (("full", full), ("own", tuned), ("none", "none")):
                out = run(a.build + "/dlc-compile", "resnet18", "--tuning-db=" + db, "-o", tmp + "/r.dlcb", "--json")
                j = json.loads(out)
                took[name].append(j["seconds"])
                if len(took[name]) == 5:
                    print(f"dlc compile resnet18, {name} database: median {statistics.median(took[name]):.2f} s, "
                          f"least {min(took[name]):.2f} s, {os.path.getsize(db) / 1e6 if db != 'none' else 0:.1f} MB, "
                          f"hits {j['hits']}")
    return 0

if __name__ == "__main__":
    sys.exit(main())
