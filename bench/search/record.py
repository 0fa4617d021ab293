#!/usr/bin/env python3
"""Records the spaces of bench/search on this machine, one after another, and keeps them compressed beside this file.

    bench/search/record.py BUILD [NAME...] [--seconds=20] [--rounds=1] [--most=N] [--draw=1] [--again=0.2]
                                        [--steady=0.1] [--machine=TEXT] [--run-with=WORDS] [--pack=no]

BUILD is a build folder with `dlc` and `tests/tuner/bench_record` (`ninja -C BUILD tests/tuner/bench_record`). NAME is a
name of TASKS or a pattern of names, such as 'avx2_*'. A round gives each of the named Tasks (default: all) `--seconds`.
What is recorded already stays, so a machine can be used for a while now and a while later. While a space is being
recorded it lies in BUILD/spaces as text; the end of a run compresses it beside this file, `--pack=no` leaves that to a
later run. `--most` is how many configs of a space are recorded: of a larger one, those that drawn options of each knob
span. docs/search.md has the form of the files, and which of them are there.
"""
import argparse
import fnmatch
import lzma
import pathlib
import re
import subprocess
import sys

BATCHED = """dag
in v0: f32[12,128,64]
in v1: f32[12,64,128]
v2: f32[12,128,128] = matmul(v0, v1)
out v2
"""
CONV, CONV1, READ = "conv3x3 64>64 56 +relu", "conv1x1 512>512 14 +clip", "mul+add+relu+conv1x1 512>128 14 +relu"
PAIR, DENSE, ATTENTION = "conv1x1 128>128 56 +clip+conv+clip", "dense 768>2304 m64", "attention 1x12x128x64"
MEAN, LSTM, DEPTH = "reduce_mean 1x144x56x56", "lstm 64x1x2048", "dwconv3x3 512 14 +clip"
# Name, network of the zoo, label of the Task as `dlc show NETWORK --stage=tasks` has it (or the Task's text), space,
# target (host, opencl, or one of configs/targets), threads, configs at most.
TASKS = [
    ("conv3x3", "resnet18", CONV, "template", "host", 1, 2000),
    ("conv3x3_add", "resnet18", "conv3x3 256>256 14 +add+relu", "template", "host", 1, 2000),
    ("conv1x7", "inception_v3", "conv1x7 192>192 17 +relu", "template", "host", 1, 2000),
    ("conv1x1", "mobilenet_v1", CONV1, "template", "host", 1, 2000),
    ("conv1x1_read", "densenet121", READ, "template", "host", 1, 2000),
    ("depthwise", "efficientnet_b0", "dwconv5x5 480 14 +sigmoid+mul", "template", "host", 1, 2000),
    ("pair", "mobilenet_v1", PAIR, "template", "host", 1, 2000),
    ("dense", "gpt2", DENSE, "template", "host", 1, 2000),
    ("attention", "bert_base", ATTENTION, "template", "host", 1, 2000),
    ("batched", "", BATCHED, "template", "host", 1, 2000),
    ("mean", "efficientnet_b0", MEAN, "template", "host", 1, 2000),
    ("pool", "resnet18", "max_pool3x3 64 56 /2", "template", "host", 1, 2000),
    ("add", "resnet18", "add 1x64x56x56 +relu", "template", "host", 1, 2000),
    ("lstm", "lstm", LSTM, "template", "host", 1, 2000),
    ("loops_conv", "resnet18", "conv3x3 128>128 28 +add+relu", "generated", "host", 1, 2000),
    ("loops_dense", "gpt2", "dense 768>768 m64", "generated", "host", 1, 2000),
    ("loops_depthwise", "mobilenet_v1", DEPTH, "generated", "host", 1, 2000),
    ("loops_rows", "bert_base", "reduce_mean 1x128x768 +sub+mul+reduce_mean+add+sqrt+div+3", "generated", "host", 1,
        2000),
    ("large_conv3x3", "resnet50", "conv3x3 128>128 28 +relu", "template", "host", 1, 5000),
    ("large_conv1x1", "resnet50", "conv1x1 1024>256 14 +relu", "template", "host", 1, 5000),
    ("large_dense", "bert_base", "dense 768>768 m128", "template", "host", 1, 5000),
    ("large_attention", "vit_b_16", "attention 1x12x197x64", "template", "host", 1, 5000),
    ("large_loops", "bert_base", "dense 768>768 m128", "generated", "host", 1, 5000),
    ("avx2_conv3x3", "resnet18", CONV, "template", "x86-64-v3", 1, 1500),
    ("avx2_conv1x1", "mobilenet_v1", CONV1, "template", "x86-64-v3", 1, 1500),
    ("avx2_conv1x1_read", "densenet121", READ, "template", "x86-64-v3", 1, 1500),
    ("avx2_depthwise", "mobilenet_v1", DEPTH, "template", "x86-64-v3", 1, 1500),
    ("avx2_pair", "mobilenet_v1", PAIR, "template", "x86-64-v3", 1, 1500),
    ("avx2_dense", "gpt2", DENSE, "template", "x86-64-v3", 1, 1500),
    ("avx2_attention", "bert_base", ATTENTION, "template", "x86-64-v3", 1, 1500),
    ("avx2_batched", "", BATCHED, "template", "x86-64-v3", 1, 1500),
    ("avx2_mean", "efficientnet_b0", MEAN, "template", "x86-64-v3", 1, 1500),
    ("avx2_lstm", "lstm", LSTM, "template", "x86-64-v3", 1, 1500),
    ("threads_conv3x3", "resnet18", CONV, "template", "host", 2, 1500),
    ("threads_conv1x1", "mobilenet_v1", CONV1, "template", "host", 2, 1500),
    ("threads_depthwise", "mobilenet_v1", DEPTH, "template", "host", 2, 1500),
    ("threads_dense", "gpt2", DENSE, "template", "host", 2, 1500),
    ("opencl_conv3x3", "resnet18", CONV, "template", "opencl", 1, 300),
    ("opencl_conv1x1", "mobilenet_v1", CONV1, "template", "opencl", 1, 300),
    ("opencl_dense", "gpt2", DENSE, "template", "opencl", 1, 300),
    ("opencl_mean", "efficientnet_b0", MEAN, "template", "opencl", 1, 300),
]
HERE = pathlib.Path(__file__).resolve().parent


def dag_of(dlc, network, label, target):
    """The text of a network's Task, with the layouts that the target asks for."""
    command = [dlc, "show", network, "--stage=tasks", "--target=" + target]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    for part in re.split(r"^task ", out, flags=re.M)[1:]:
        head, _, body = part.partition("\n")
        if re.sub(r"^\S+ x\d+ |: [0-9.]+ MFLOP.*$", "", head) == label:
            return body.split("\n\n")[0].strip() + "\n"
    sys.exit("record.py: %s has no Task \"%s\"; dlc show %s --stage=tasks lists them" % (network, label, network))


def opened(ask, name):
    """The text that goes on being recorded, in BUILD/spaces."""
    kept, text = HERE / (name + ".space.xz"), pathlib.Path(ask.build, "spaces", name + ".space")
    text.parent.mkdir(exist_ok=True)
    if kept.exists() and not (text.exists() and text.stat().st_mtime >= kept.stat().st_mtime):
        text.write_bytes(lzma.decompress(kept.read_bytes()))
    return text


def pack(text):
    kept = HERE / (text.name + ".xz")
    if text.exists() and not (kept.exists() and kept.stat().st_mtime > text.stat().st_mtime):
        kept.write_bytes(lzma.compress(text.read_bytes(), preset=9 | lzma.PRESET_EXTREME))


def record(ask, name, network, label, space_of, target, threads, most):
    """One round of one Task; whether all of it is recorded."""
    text, dag = opened(ask, name), pathlib.Path(ask.build, "spaces", name + ".dag")
    if target not in ("host", "opencl"):
        target = str(HERE.parents[1] / "configs" / "targets" / (target + ".json"))
    if not dag.exists():
        dag.write_text(dag_of(ask.build + "/dlc", network, label, target) if network else label)
    command = [ask.build + "/tests/tuner/bench_record", str(dag), str(text), "--programs=" + ask.build,
        "--seconds=%d" % ask.seconds, "--most=%d" % (ask.most or most), "--draw=%d" % ask.draw,
        "--machine=" + ask.machine, "--space=" + space_of, "--network=" + network, "--again=%g" % ask.again,
        "--steady=%g" % ask.steady, "--target=" + target, "--threads=%d" % threads]
    done = subprocess.run(command + (["--run-with=" + ask.run_with] if ask.run_with else []), check=False)
    if done.returncode not in (0, 3):
        sys.exit("record.py: %s: the recorder ended with %d" % (name, done.returncode))
    return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("names", nargs="*")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--most", type=int)
    parser.add_argument("--draw", type=int, default=1)
    parser.add_argument("--again", type=float, default=0.2)
    parser.add_argument("--steady", type=float, default=0.1)
    parser.add_argument("--machine", default="not said")
    parser.add_argument("--run-with", default="")
    parser.add_argument("--pack", choices=("yes", "no"), default="yes")
    ask = parser.parse_args()
    rows = [row for row in TASKS if not ask.names or any(fnmatch.fnmatchcase(row[0], name) for name in ask.names)]
    left = rows
    for _ in range(ask.rounds):
        left = [row for row in left if not record(ask, *row)]
    for row in rows if ask.pack == "yes" else []:
        pack(opened(ask, row[0]))
    print("recorded; not complete: %s" % (", ".join(row[0] for row in left) or "none"))


if __name__ == "__main__":
    main()
