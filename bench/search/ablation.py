#!/usr/bin/env python3
"""ablation.py BUILD [PART...] [--kind=avx512,large,avx2,threads,opencl] [--model=cold,warm] [--seeds=5] [--most=200]
                    [--first=default|drawn] [--jobs=2]

What each part of the search `portfolio` is good for, by leaving it out. Each of PARTS is an edit of a source in
src/tuner. A copy of that source is edited, compiled as BUILD compiles it (`ninja -C BUILD tests/tuner/bench_search`
comes first), and linked into the lab in place of the library's own, so the searches themselves have no switches for
this. PART+PART leaves out both. For each kind of recordings and each model: a row of the search as it is, and one
without each part. Printed are the trials to 5 % and 2 % (median, 90th percentile; never: fewer runs got there), how
many runs got within 2 %, the trials of a run, the best time at the end over the best recorded one, and how many times
the trials to 5 % it takes: in the geometric mean over recordings and seeds (a run that never gets there counts as
--most), with the standard error between seeds. A part helps where that is above 1 by two errors."""
import argparse
import collections
import concurrent.futures
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORTFOLIO, SURROGATE = "search_portfolio.c", "surrogate.c"
# Name, source, text in it, text instead, what is left out.
PARTS = [
    ("estimate", PORTFOLIO, "static bool by_estimate(Portfolio *s, uint32_t *i)\n{\n",
        "static bool by_estimate(Portfolio *s, uint32_t *i)\n{\n\treturn false;\n", "the source of best estimates"),
    ("surrogate", PORTFOLIO, "static bool by_surrogate(Portfolio *s, uint32_t *i)\n{\n",
        "static bool by_surrogate(Portfolio *s, uint32_t *i)\n{\n\treturn false;\n", "the source of what is expected"),
    ("step", PORTFOLIO, "static bool by_step(Portfolio *s, uint32_t *i)\n{\n",
        "static bool by_step(Portfolio *s, uint32_t *i)\n{\n\treturn false;\n", "the source of moves of one knob"),
    ("credit", PORTFOLIO, "draw_beta(&s->rng, 1 + s->good[k], 1 + s->bad[k])", "draw_beta(&s->rng, 1, 1)",
        "the odds by success: sources are equal"),
    ("diversity", PORTFOLIO, "(strict > 0 ? 2 : 1)", "1", "that estimates lie two knobs apart"),
    ("alike", PORTFOLIO, "(strict == 2 && is_alike(s, x))", "(strict > 2 && is_alike(s, x))",
        "that estimates differ from those before"),
    ("neighbours", PORTFOLIO, "k < s->around.n; k++)\n\t\t\tvec_push", "k < 0; k++)\n\t\t\tvec_push",
        "neighbours of the best, for all sources but steps"),
    ("resample", PORTFOLIO, "s->resampled > s->effort->restarts", "s->resampled >= 0",
        "further samples before the end"),
    ("draws", PORTFOLIO, "!is_over(s) && !choose(s, &i, &source) &&",
        "!is_over(s) && (rng_below(&s->rng, 20) == 0 || !choose(s, &i, &source)) &&",
        "that nothing is drawn: one of twenty is"),
    ("line", SURROGATE, "s->b = fmin(", "s->b = 0 * fmin(", "the line through the estimates"),
    ("order", SURROGATE, "d += 0.5 + 0.5 * abs(a->pick[k] - b->pick[at]) / space_knob(p->space, a, k)->n;",
        "d += 1;", "the order of a knob's options"),
]


def without(parts):
    """By name of a source: its text without the parts."""
    texts = {}
    for name, source, old, new, _ in parts:
        text = texts.get(source) or (ROOT / "src/tuner" / source).read_text()
        if text.count(old) != 1:
            sys.exit("ablation.py: part %s: src/tuner/%s has %d times \"%s\", not once; mend the row of PARTS" % (name,
                source, text.count(old), old))
        texts[source] = text.replace(old, new)
    return texts


def linked(folder, name, parts, commands):
    """The lab without some parts."""
    part, lab = folder / name, "tests/tuner/bench_search"
    linking = next(c for c in commands if " -o %s " % lab in c)
    for source, text in without(parts).items():
        own = folder / (name + "." + source)
        own.write_text(text)
        compiling = next(c for c in commands if c.endswith("/src/tuner/" + source))
        compiling = re.sub(r" -M[QF] \S+| -MD| -W\S+", "", re.sub(r" -c \S+$", " -c %s" % own, compiling))
        subprocess.run(re.sub(r" -o \S+", " -o %s.o" % own, compiling), shell=True, cwd=ARGS.build, check=True)
        linking = linking.replace(" -o ", " %s.o -o " % own)
    subprocess.run(linking.replace(" -o %s " % lab, " -o %s " % part), shell=True, cwd=ARGS.build, check=True)
    return part


def commands_of(build):
    command = [os.environ.get("NINJA", "ninja"), "-C", build, "-t", "commands", "tests/tuner/bench_search"]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split("\n")


def quantile(values, q):
    value = sorted(values)[int(q * (len(values) - 1) + 0.5)]
    return "never" if value == math.inf else "%d" % value


def runs_of(lab, kind, folder):
    """By model: the runs of the portfolio, as (seed, trials to 5 %, trials to 2 %, trials, end)."""
    command = [sys.executable, ROOT / "bench/search/run.py", ARGS.build, "--kind=" + kind, "--lab=%s" % lab,
        "--search=portfolio", "--model=" + ARGS.model, "--seeds=%d" % ARGS.seeds, "--most=%d" % ARGS.most,
        "--first=" + ARGS.first, "--runs"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=folder)
    runs = collections.defaultdict(list)
    line = re.compile(r"^run \S+ portfolio (\w+) (\d+): (\d+) (\d+) (\d+) (\S+)$", re.M)
    for model, seed, *rest in line.findall(done.stdout):
        near, nearer, trials, end = (float(x) for x in rest)
        runs[model].append((int(seed), near or math.inf, nearer or math.inf, trials, end))
    return runs


def means(runs):
    """By seed: the mean logarithm of the trials to 5 %."""
    each = collections.defaultdict(list)
    for seed, near, *_ in runs:
        each[seed].append(math.log(min(near, ARGS.most)))
    return {seed: statistics.mean(values) for seed, values in each.items()}


def print_row(kind, model, part, runs, whole):
    with_it, left = means(whole), means(runs)
    ratio = [left[seed] - with_it[seed] for seed in left]
    error = statistics.stdev(ratio) / math.sqrt(len(ratio)) if len(ratio) > 1 else 0
    near, nearer = [r[1] for r in runs], [r[2] for r in runs]
    print("| %s | %s | %s | %s, %s | %s, %s | %d %% | %.0f | %.3f | %.2f +- %.2f |" % (kind, model, part,
        quantile(near, 0.5), quantile(near, 0.9), quantile(nearer, 0.5), quantile(nearer, 0.9),
        100 * sum(n < math.inf for n in nearer) // len(nearer), statistics.mean(r[3] for r in runs),
        math.exp(statistics.mean(math.log(r[4]) for r in runs)), math.exp(statistics.mean(ratio)), error), flush=True)


def main():
    known = {part[0]: part for part in PARTS}
    for part in "+".join(ARGS.part).split("+") if ARGS.part else ():
        if part not in known:
            sys.exit("ablation.py: there is no part %s; parts are %s" % (part, ", ".join(known)))
    for part in PARTS:
        without([part])
    commands = commands_of(ARGS.build)
    with tempfile.TemporaryDirectory(prefix="dlc-ablation.") as name:
        folder = pathlib.Path(name)
        labs = {"-": ARGS.build / "tests/tuner/bench_search"}
        for name in ARGS.part or known:
            labs[name] = linked(folder, name, [known[part] for part in name.split("+")], commands)
        print("| kind | model | without | 5 %: median, 90th | 2 %: median, 90th | within 2 % | trials of a run | "
              "end / best | times the trials |\n|---|---|---|---|---|---|---|---|---|")
        for kind in ARGS.kind.split(","):
            with concurrent.futures.ThreadPoolExecutor(ARGS.jobs) as pool:
                each = pool.map(lambda lab: runs_of(lab, kind, folder), labs.values())
                runs = dict(zip(labs, each))
            for model in ARGS.model.split(","):
                for part in labs:
                    print_row(kind, model, part, runs[part][model], runs["-"][model])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("part", nargs="*")
    parser.add_argument("--kind", default="avx512,large,avx2,threads,opencl")
    parser.add_argument("--model", default="cold,warm")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--most", type=int, default=200)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first", choices=("default", "drawn"), default="default")
    ARGS = parser.parse_args()
    main()
