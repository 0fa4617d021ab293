#!/usr/bin/env python3
"""finalists.py [RECORDING...]: how far behind the fastest single time a finalist may be (NEAR_BEST in
src/tuner/tuning.def), and what single times alone decide.

Of each recorded space (docs/search.md) a hundred schedules are drawn, the fastest two thirds of these stay, and each
gets a single time: its median times the ratio of a time and a median of that recording, drawn, and that to the power
of `noise`. The finalists are the three fastest by single times within the limit; a race finds the best of them. Printed
are the time of that one over the best of all (geometric mean), the finalists of a race, and how often and how far the
fastest single time is slower than the default."""
import glob, json, lzma, math, os, random, statistics, sys

LIMITS, ROUNDS, DRAWN, FINALISTS = (1.1, 1.2, 1.5, math.inf), 300, 100, 3

def recording(path):
    """Medians of its schedules, ratios of times and medians, the default's median."""
    head, *rows = lzma.open(path, "rt").read().split("\n")
    first, medians, ratios, plain = json.loads(head)["first"], [], [], None
    for number, row in enumerate(rows):
        column = row.split("\t")
        if len(column) > 2 and column[1] == "ok":
            times = [float(t) for t in column[2].split(",")]
            medians.append(statistics.median(times))
            plain = medians[-1] if number == first else plain
            ratios += [t / medians[-1] for t in times] if len(times) > 1 else []
    return medians, ratios or [1.0], plain

def mean(logs):
    return math.exp(statistics.mean(logs))

rng, spaces = random.Random(1), [recording(p) for p in sys.argv[1:] or sorted(glob.glob(
    os.path.dirname(os.path.abspath(__file__)) + "/*.space.xz"))]
for noise in (1, 2, 4):
    lost, raced, slower = {l: [] for l in LIMITS}, {l: [] for l in LIMITS}, []
    single = lambda true: (true * rng.choice(ratios) ** noise, true)
    for medians, ratios, plain in spaces:
        for _ in range(ROUNDS):
            drawn = sorted(rng.sample(medians, min(DRAWN, len(medians))))
            seen = sorted(single(t) for t in drawn[:max(6, len(drawn) * 2 // 3)])
            for limit in LIMITS:
                few = [t for s, t in seen if s <= seen[0][0] * limit][:FINALISTS]
                lost[limit].append(math.log(min(few) / drawn[0]))
                raced[limit].append(len(few))
            if plain is not None:
                slower.append(math.log(min(seen[0], single(plain))[1] / plain))
    worse = [s for s in slower if s > 0.01]
    print(f"noise {noise}: " + ", ".join(f"within {l}: {mean(lost[l]):.4f} ({statistics.mean(raced[l]):.2f} finalists)"
                                         for l in LIMITS))
    print(f"  fastest single time: {100 * len(worse) / len(slower):.1f} % slower than the default, these "
          f"{mean(worse or [0]):.3f} times; all {mean(slower):.3f} times the default")
