#!/usr/bin/env python3
"""Runs searches on the recorded spaces beside this file and prints a table.

    bench/search/run.py BUILD [NAME...] [--kind=KIND] [--bench=search|network|ranks] [--OPTION=...]
    bench/search/run.py --list

NAME is a recording or a pattern of names (default: all of them). --kind takes those of one kind of target: avx512,
avx2, threads or opencl, or large, those of AVX-512 with more than 2000 configs; the model `warm` then learns from that
kind alone. --list prints the table of recordings that docs/search.md has. The options are those of bench/search/lab.c,
which is built by `ninja -C BUILD tests/tuner/bench_search`: --search, --model, --file, --seeds, --preset, --most,
--first, --tasks, --runs. With --bench=network they are those of bench/search/network.c: --search, --model, --seeds,
--preset, --most, --first.
--bench=ranks is bench/search/ranks.c: NAMEs that end in .model are files of learned models, which it compares.
--lab=PROGRAM takes another program than BUILD's, as bench/search/ablation.py does.
"""
import fnmatch
import json
import lzma
import pathlib
import subprocess
import sys
import tempfile

KINDS = ["avx512", "large", "avx2", "threads", "opencl"]
LARGE = 2000  # configs: what lies above is a kind of its own
HERE = pathlib.Path(__file__).resolve().parent


def text_of(name):
    return lzma.decompress((HERE / (name + ".space.xz")).read_bytes()).decode()


def kind_of(head):
    target = head["target"]
    if target["kind"] != "cpu":
        return target["kind"]
    if head["threads"] > 1:
        return "threads"
    return "avx2" if "avx512f" not in json.dumps(target) else "large" if head["configs"] > LARGE else "avx512"


def kinds_in_order(name):
    head = json.loads(text_of(name).split("\n", 1)[0])
    return KINDS.index(kind_of(head)), name


def list_row(name):
    """A row of the table of recordings."""
    head, *rows = text_of(name).split("\n")
    head, median = json.loads(head), {}
    for row in rows:
        column = row.split("\t")
        if len(column) > 2 and column[1] == "ok":
            times = sorted(float(t) for t in column[2].split(","))
            median[column[5]] = times[len(times) // 2]
    best, default = min(median.values()), rows[head["first"]].split("\t")[5]
    return "| %s | %s | %d | %.4g | %d | %.2f | %d | %s |" % (name, kind_of(head), head["configs"], head["size"],
        len(median), median[default] / best, sum(t <= best * 1.05 for t in median.values()), head["noise"])


def main():
    words = sys.argv[1:]
    every = sorted(p.name.removesuffix(".space.xz") for p in HERE.glob("*.space.xz"))
    if words == ["--list"]:
        print("\n".join(list_row(name) for name in sorted(every, key=kinds_in_order)))
        return
    bench = next((w[8:] for w in words if w.startswith("--bench=")), "search")
    kind = next((w[7:] for w in words if w.startswith("--kind=")), None)
    options = [w for w in words if w.startswith("--") and not w.startswith(("--bench=", "--kind=", "--lab="))]
    options = ["--file=%s" % pathlib.Path(w[7:]).resolve() if w.startswith("--file=") else w for w in options]
    names = [w for w in words if not w.startswith("--")]
    if not names or "--help" in options:
        sys.exit(__doc__)
    models = [str(pathlib.Path(name).resolve()) for name in names[1:] if name.endswith(".model")]
    build, wanted = names[0], [name for name in names[1:] if not name.endswith(".model")] or ["*"]
    for name in wanted:
        if not fnmatch.filter(every, name):
            sys.exit("run.py: there is no recording %s; bench/search has %s" % (name, ", ".join(every)))
    names = [name for name in every if any(fnmatch.fnmatchcase(name, w) for w in wanted)]
    names = [name for name in names if kind is None or kind_of(json.loads(text_of(name).split("\n", 1)[0])) == kind]
    if not names:
        sys.exit("run.py: no recording is of the kind %s; kinds are %s" % (kind, ", ".join(KINDS)))
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name in names:
            files.append(pathlib.Path(folder, name + ".space"))
            files[-1].write_text(text_of(name))
        lab = next((w[6:] for w in words if w.startswith("--lab=")), build + "/tests/tuner/bench_" + bench)
        command = [lab] + options + models + [f.name for f in files]
        command[0] = str(pathlib.Path(command[0]).resolve())
        sys.exit(subprocess.run(command, cwd=folder, check=False).returncode)


if __name__ == "__main__":
    main()
