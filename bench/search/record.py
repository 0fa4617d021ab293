#!/usr/bin/env python3
"""Records the spaces of bench/search on this machine, one after another, and keeps them compressed beside this file.

    bench/search/record.py BUILD [NAME...] [--seconds=20] [--rounds=1] [--most=1500] [--machine=TEXT] [--run-with=WORDS]

BUILD is a build folder with `dlc` and `tests/tuner/bench_record` (`ninja -C BUILD tests/tuner/bench_record`). A round
gives each of the named Tasks (default: all rows of TASKS) `--seconds`; what is recorded already stays, so a machine
can be used for a while now and a while later. `--most` is how many configs of a space are recorded: of a larger one,
those that some options of each knob span. docs/search.md has the form of the files, and which of them are there.
"""
import argparse
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

# Name, network of the zoo, label of the Task as `dlc show NETWORK --stage=tasks` has it.
TASKS = [
    ("conv1x1", "resnet18", "conv1x1 128>256 14 /2"),
    ("conv1x1_clip", "mobilenet_v1", "conv1x1 512>512 14 +clip"),
    ("conv3x3", "resnet18", "conv3x3 64>64 56 +relu"),
    ("conv3x3_small", "resnet18", "conv3x3 512>512 7 +relu"),
    ("depthwise", "mobilenet_v1", "dwconv3x3 128 56 +clip"),
    ("pair", "mobilenet_v1", "conv1x1 128>128 56 +clip+conv+clip"),
    ("dense", "bert_base", "dense 768>768 m128"),
    ("attention", "bert_base", "attention 1x12x128x64"),
    ("gather", "bert_base", "gather 1x128x768"),
    ("pool", "resnet18", "max_pool3x3 64 56 /2"),
    ("generated", "resnet18", "add 1x64x56x56 +relu"),
    ("lstm", "lstm", "lstm 64x1x2048"),
]
HERE = pathlib.Path(__file__).resolve().parent


def dag_of(dlc, network, label):
    """The text of a network's Task."""
    out = subprocess.run([dlc, "show", network, "--stage=tasks"], stdout=subprocess.PIPE, text=True, check=True).stdout
    for part in re.split(r"^task ", out, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        if re.sub(r"^\S+ x\d+ |: [0-9.]+ MFLOP.*$", "", head) == label:
            return body.split("\n\n")[0].strip() + "\n"
    sys.exit("record.py: %s has no Task \"%s\"; dlc show %s --stage=tasks lists them" % (network, label, network))


def record(ask, name, network, label):
    """One round of one Task; whether all of it is recorded."""
    kept = HERE / (name + ".space.xz")
    with tempfile.TemporaryDirectory() as folder:
        dag, space = pathlib.Path(folder, "task.dag"), pathlib.Path(folder, name + ".space")
        dag.write_text(dag_of(ask.build + "/dlc", network, label))
        if kept.exists():
            space.write_bytes(lzma.decompress(kept.read_bytes()))
        command = [ask.build + "/tests/tuner/bench_record", str(dag), str(space), "--programs=" + ask.build,
            "--seconds=%d" % ask.seconds, "--most=%d" % ask.most, "--machine=" + ask.machine]
        done = subprocess.run(command + (["--run-with=" + ask.run_with] if ask.run_with else []), check=False)
        if done.returncode not in (0, 3):
            sys.exit("record.py: %s: the recorder ended with %d" % (name, done.returncode))
        kept.write_bytes(lzma.compress(space.read_bytes(), preset=9 | lzma.PRESET_EXTREME))
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--most", type=int, default=1500)
    parser.add_argument("--machine", default="not said")
    parser.add_argument("--run-with", default="")
    ask = parser.parse_args()
    left = [row for row in TASKS if row[0] in ask.names or not ask.names]
    for _ in range(ask.rounds):
        left = [row for row in left if not record(ask, *row)]
    print("recorded; not complete: %s" % (", ".join(row[0] for row in left) or "none"))


if __name__ == "__main__":
    main()
