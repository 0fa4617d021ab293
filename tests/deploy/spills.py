#!/usr/bin/env python3
"""spills.py BUILD [--all]: no default schedule of a network spills registers on a CUDA device, and all kernels have
at least a warp of threads: four networks of the zoo for three architectures, one with a batch, two in matrix units;
with --all the zoo for each architecture, batch and precision.

What kernels take is known where nvJitLink is found; elsewhere the test is skipped."""
import os
import subprocess
import sys

BUILD = os.path.abspath(sys.argv[1])
ENV = {k: v for k, v in os.environ.items() if k != "DLC_TUNING_DB"}
ALL = "--all" in sys.argv or os.environ.get("DLC_TEST_ALL")
ZOO = ("resnet18", "resnet50", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1")
RUNS = [(n, d, b, p) for n in ZOO for d in ("t4", "a100", "h200") for b in (1, 32)
        for p in ("fp32", "tf32", "fp16") if (d, p) != ("t4", "tf32")]
# Each architecture and precision, and both batches.
FEW = [("mobilenet_v1", "h200", 1, "fp32"), ("squeezenet1_1", "t4", 1, "fp16"), ("mobilenet_v2", "t4", 32, "fp32"),
       ("resnet18", "a100", 1, "tf32")]


def kernels(network, device, batch, precision):
    command = [f"{BUILD}/dlc", "show", network, f"--target=cuda:{device}", "--stage=resources", "--tuning-db=none",
               f"--batch={batch}", f"--precision={precision}"]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=ENV, check=True).stdout
    rows = [line.split() for line in out.splitlines() if line and line[0] != "#"]
    head = next(r for r in rows if r[0] == "kernel")
    columns = " ".join(head).replace("shared B", "shared").replace("work B", "work").replace("frame B", "frame").split()
    return [dict(zip(columns, r)) for r in rows if r[0] != "kernel"]


found = 0
for network, device, batch, precision in RUNS if ALL else FEW:
    for k in kernels(network, device, batch, precision):
        if "registers" not in k:
            print("skipped: CUDA's assembler: libnvJitLink.so is not installed")
            sys.exit(77)
        found += 1
        assert int(k["spills"]) == 0, f"{network} for {device}, batch {batch}, {precision}: {k} spills"
        assert int(k["threads"]) >= 32, f"{network} for {device}, batch {batch}: {k} has less than a warp"
assert found > 30, f"{found} kernels only"
