#!/usr/bin/env python3
"""Records the spaces of bench/search on this machine, one after another, and keeps them compressed beside this file.

    bench/search/record.py BUILD [NAME...] [--seconds=20] [--rounds=1] [--most=1500] [--draw=1] [--again=0.2]
                                        [--machine=TEXT] [--run-with=WORDS]

BUILD is a build folder with `dlc` and `tests/tuner/bench_record` (`ninja -C BUILD tests/tuner/bench_record`). A round
gives each of the named Tasks (default: all rows of TASKS) `--seconds`; what is recorded already stays, so a machine
can be used for a while now and a while later. `--most` is how many configs of a space are recorded: of a larger one,
those that drawn options of each knob span. docs/search.md has the form of the files, and which of them are there.
"""
import argparse
import lzma
import pathlib
import re
import subprocess
import sys
import tempfile

BATCHED = """dag
in v0: f32[12,128,64]
in v1: f32[12,64,128]
v2: f32[12,128,128] = matmul(v0, v1)
out v2
"""
# Name, network of the zoo, label of the Task as `dlc show NETWORK --stage=tasks` has it (or the Task's text), space.
TASKS = [
    ("conv3x3", "resnet18", "conv3x3 64>64 56 +relu", "template"),
    ("conv3x3_add", "resnet18", "conv3x3 256>256 14 +add+relu", "template"),
    ("conv1x7", "inception_v3", "conv1x7 192>192 17 +relu", "template"),
    ("conv1x1", "mobilenet_v1", "conv1x1 512>512 14 +clip", "template"),
    ("conv1x1_read", "densenet121", "mul+add+relu+conv1x1 512>128 14 +relu", "template"),
    ("depthwise", "efficientnet_b0", "dwconv5x5 480 14 +sigmoid+mul", "template"),
    ("pair", "mobilenet_v1", "conv1x1 128>128 56 +clip+conv+clip", "template"),
    ("dense", "gpt2", "dense 768>2304 m64", "template"),
    ("attention", "bert_base", "attention 1x12x128x64", "template"),
    ("batched", "", BATCHED, "template"),
    ("mean", "efficientnet_b0", "reduce_mean 1x144x56x56", "template"),
    ("pool", "resnet18", "max_pool3x3 64 56 /2", "template"),
    ("add", "resnet18", "add 1x64x56x56 +relu", "template"),
    ("lstm", "lstm", "lstm 64x1x2048", "template"),
    ("loops_conv", "resnet18", "conv3x3 128>128 28 +add+relu", "generated"),
    ("loops_dense", "gpt2", "dense 768>768 m64", "generated"),
    ("loops_depthwise", "mobilenet_v1", "dwconv3x3 512 14 +clip", "generated"),
    ("loops_rows", "bert_base", "reduce_mean 1x128x768 +sub+mul+reduce_mean+add+sqrt+div+3", "generated"),
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


def record(ask, name, network, label, space_of):
    """One round of one Task; whether all of it is recorded."""
    kept = HERE / (name + ".space.xz")
    with tempfile.TemporaryDirectory() as folder:
        dag, space = pathlib.Path(folder, "task.dag"), pathlib.Path(folder, name + ".space")
        dag.write_text(dag_of(ask.build + "/dlc", network, label) if network else label)
        if kept.exists():
            space.write_bytes(lzma.decompress(kept.read_bytes()))
        command = [ask.build + "/tests/tuner/bench_record", str(dag), str(space), "--programs=" + ask.build,
            "--seconds=%d" % ask.seconds, "--most=%d" % ask.most, "--draw=%d" % ask.draw, "--machine=" + ask.machine,
            "--space=" + space_of, "--network=" + network, "--again=%g" % ask.again]
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
    parser.add_argument("--draw", type=int, default=1)
    parser.add_argument("--again", type=float, default=0.2)
    parser.add_argument("--machine", default="not said")
    parser.add_argument("--run-with", default="")
    ask = parser.parse_args()
    left = [row for row in TASKS if row[0] in ask.names or not ask.names]
    for _ in range(ask.rounds):
        left = [row for row in left if not record(ask, *row)]
    print("recorded; not complete: %s" % (", ".join(row[0] for row in left) or "none"))


if __name__ == "__main__":
    main()
