#!/usr/bin/env python3
"""targets.py BUILD SOURCE: one network made for several targets gives one answer.

Bundles for this CPU and for the levels of x86-64 below it run as they are; one that needs what this
CPU lacks is refused by name and unharmed.  Those for AArch64 run under qemu-aarch64 with the dlc-run
that configs/cross/aarch64-linux-gnu.ini builds, which is how a board gets it; its sizes are checked
too.  Where the cross compiler or the emulator is missing, that part counts as skipped."""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
TMP = tempfile.mkdtemp(prefix="dlc-targets.")
ENV = dict(os.environ, XDG_DATA_HOME=TMP, XDG_CACHE_HOME=TMP)
ENV.pop("DLC_TUNING_DB", None)
QEMU, CC = "qemu-aarch64", "aarch64-linux-gnu-gcc"
ROOT = "/usr/aarch64-linux-gnu"  # where Debian's cross libc lies

# Levels of instruction sets; plain x86-64 has no file in configs/targets.
LEVELS = ["x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"]
BOARDS = ["armv8-a", "cortex-a72"]
# Network and options of dlc-compile, and the targets it is made for.
NETWORKS = [
    (["squeezenet1_1", "--shape=data=1,3,64,64"], LEVELS + BOARDS),
    (["mobilenet_v2", "--shape=data=1,3,64,64"], ["x86-64", "cortex-a72"]),
    (["squeezenet1_1", "--shape=data=1,3,35,35", "--unscheduled"], ["x86-64-v2", "armv8-a"]),
    (["resnet18", "--shape=data=1,3,32,32", "--threads=2"], ["x86-64-v3", "armv8-a"]),
]
if os.environ.get("DLC_TEST_ALL"):
    NETWORKS.append((["mobilenet_v1", "--shape=data=1,3,32,32"], ["x86-64-v4", "armv8-a"]))
TOLERANCE = 1e-4  # of the largest output: what schedules may differ by ("strict")
RUNTIME_BYTES, WORKER_BYTES = 100_000, 1_000_000


def call(*cmd, want=0):
    p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=ENV,
                       timeout=300)
    assert p.returncode == want, f"{' '.join(cmd)}: exit {p.returncode}, wanted {want}: {p.stdout[-600:]}"
    return p.stdout


def target(level):
    if level in BOARDS or level == "host":
        return level
    path = f"{TMP}/{level}.json"
    with open(path, "w") as f:
        json.dump({"kind": "cpu", "model": level}, f)
    return path


def bundle(network, level):
    path = f"{TMP}/net-{level}.dlcb"
    call(f"{BUILD}/dlc", "compile", *network, "--tuning-db=none", f"--target={target(level)}", "-o", path)
    return path


def output(runner, path):
    call(*runner, path, "--seed=7", f"--output={TMP}/out.npy")
    data = open(f"{TMP}/out.npy", "rb").read()
    head = struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - 10 - head) // 4}f", data[10 + head:])


def gap(a, b):
    assert len(a) == len(b) > 1 and max(map(abs, b)) > 0
    return max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b))


def here(level):
    """Whether this CPU has the level, as its own list of features says."""
    flags = open("/proc/cpuinfo").read().split("flags", 1)[1].split("\n", 1)[0].split()
    need = {"x86-64": "", "x86-64-v2": "ssse3 sse4_1 sse4_2 popcnt cx16 lahf_lm",
            "x86-64-v3": "avx avx2 bmi1 bmi2 f16c fma abm movbe",
            "x86-64-v4": "avx512f avx512bw avx512cd avx512dq avx512vl"}
    return all(set(need[x].split()) <= set(flags) for x in LEVELS[:LEVELS.index(level) + 1])


def check(network, level, runner, reference):
    e = gap(output(runner, bundle(network, level)), reference)
    print(f"{' '.join(network)} for {level}: {e:.1e}")
    assert e <= TOLERANCE, f"{network} for {level} differs from host by {e:.1e} of the largest output"


def cross():
    """The runtime for AArch64, built as for a board; None and a sentence where that cannot be."""
    lack = [x for x in (QEMU, CC, "ninja", "meson") if shutil.which(x) is None]
    if lack or not os.path.exists(f"{ROOT}/lib/libc.so.6"):
        why = f"no {', '.join(lack) or 'C library for it'}"
        assert not os.environ.get("DLC_TEST_STRICT"), f"AArch64: {why}, which ./check installs"
        print(f"skipped: AArch64: {why} (see scripts/packages)")
        return None
    path = f"{TMP}/arm64"
    call("meson", "setup", path, SOURCE, f"--cross-file={SOURCE}/configs/cross/aarch64-linux-gnu.ini",
         "-Dcompiler=disabled",
         "--buildtype=release")
    call("ninja", "-C", path, "dlc-run", "dlc-worker", "libdlc_runtime.so.1")
    for name, most in (("libdlc_runtime.so.1", RUNTIME_BYTES), ("dlc-worker", WORKER_BYTES)):
        call("aarch64-linux-gnu-strip", "-o", f"{path}/stripped", f"{path}/{name}")
        size = os.path.getsize(f"{path}/stripped")
        print(f"arm64 {name}: {size} bytes stripped")
        assert size <= most, f"{name} has {size} bytes, {most} are allowed"
    assert "dlc-worker" in call(QEMU, f"{path}/dlc-worker", "--version")
    return [QEMU, "-L", ROOT, f"{path}/dlc-run"]


def main():
    x86 = os.uname().machine == "x86_64"
    board, native = cross(), [f"{BUILD}/dlc-run"]
    for network, targets in NETWORKS:
        reference = output(native, bundle(network, "host"))
        for level in [t for t in targets if t in LEVELS and x86]:
            if here(level):
                check(network, level, native, reference)
            else:
                text = call(*native, bundle(network, level), want=1)
                assert "which this CPU does not have" in text, text
                print(f"skipped: {' '.join(network)} for {level}: this CPU lacks the level")
        for level in [t for t in targets if t in BOARDS]:
            made = bundle(network, level)
            if x86:
                call(*native, made, want=1)
            if board:
                check(network, level, board, reference)


try:
    main()
finally:
    shutil.rmtree(TMP, ignore_errors=True)
