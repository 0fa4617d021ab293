#!/usr/bin/env python3
"""devices.py BUILD [--all]: the daily verbs for a device of OpenCL, which is PoCL where nothing else is.

Networks of the zoo compile to bundles that are the same when compiled again, run beside dlc-run of a CPU and give
what the CPU gives; each stage of the code is shown; while a tuner measures, the driver's threads have CPUs of their
own. What a device lacks is one sentence and an exit code."""
import atexit
import os
import shutil
import struct
import subprocess
import sys
import tempfile

BUILD = os.path.abspath(sys.argv[1])
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
TMP = tempfile.mkdtemp(prefix="dlc-devices.")
atexit.register(shutil.rmtree, TMP, ignore_errors=True)
ENV = dict(os.environ, XDG_DATA_HOME=TMP, XDG_CACHE_HOME=TMP)
ENV.pop("DLC_TUNING_DB", None)
TARGET = "--target=opencl:pocl"
TOLERANCE = 1e-4  # of the largest output: what schedules may differ by ("strict")
SMALL = ["squeezenet1_1", "--shape=data=1,3,32,32"]
NETWORKS = [SMALL, ["mobilenet_v2", "--shape=data=1,3,32,32"]]
MORE = [["mobilenet_v2", "--shape=data=1,3,32,32", "--unscheduled"]]
MORE += [[n, "--shape=data=1,3,32,32"] for n in ("resnet18", "resnet50", "mobilenet_v1")]
MORE += [["resnet18", "--shape=data=1,3,64,64"], ["resnet50", "--shape=data=2,3,64,64"]]
ALL = "--all" in sys.argv or os.environ.get("DLC_TEST_ALL")


def call(*cmd, want=0, **env):
    p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                       env=dict(ENV, **env), timeout=600)
    assert p.returncode == want, f"{' '.join(cmd)}: exit {p.returncode}, wanted {want}: {p.stdout[-300:]}{p.stderr}"
    return p.stderr if want else p.stdout


def compile(network, name, *options, target=TARGET):
    path = f"{TMP}/{name}.dlcb"
    call(f"{BUILD}/dlc", "compile", *network, "--tuning-db=none", target, "-o", path, *options)
    return path


def output(*cmd):
    call(*cmd, "--seed=7", f"--output={TMP}/out.npy")
    data = open(f"{TMP}/out.npy", "rb").read()
    head = struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - 10 - head) // 4}f", data[10 + head:])


def equal(a, b):
    most = max(map(abs, b))
    assert len(a) == len(b) > 1 and most > 0
    off = max(abs(x - y) for x, y in zip(a, b))
    assert off <= TOLERANCE * most, f"off by {off} of {most}"


def same(a, b):
    assert open(a, "rb").read() == open(b, "rb").read(), f"{a} and {b} differ"


def refused(sentence, code, *cmd, **env):
    said = call(*cmd, want=code, **env)
    assert sentence in said and said.count("\n") <= 2, f"wanted \"{sentence}\": {said}"


def is_there():
    p = subprocess.run([f"{BUILD}/dlc-run", compile(SMALL, "probe", "--unscheduled")], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True, env=ENV)
    if p.returncode != 0:
        assert not os.environ.get("DLC_TEST_STRICT"), f"OpenCL devices: {p.stderr}, which ./check installs"
        print("skipped: OpenCL devices:", p.stderr.strip())
    return p.returncode == 0


def networks():
    for n in NETWORKS + (MORE if ALL else []):
        there, here = compile(n, "device"), compile(n, "cpu", target="--target=host")
        equal(output(f"{BUILD}/dlc-run", there), output(f"{BUILD}/dlc-run", here))
    lock = f"--lock={TMP}/lock"
    same(compile(SMALL, "one", lock), compile(SMALL, "two", lock))  # the first writes it, the second obeys
    same(f"{TMP}/one.dlcb", compile(SMALL, "again"))
    run = [f"{BUILD}/dlc", "run", *SMALL, "--tuning-db=none"]
    equal(output(*run, TARGET), output(*run))
    said = call(f"{BUILD}/dlc-run", f"{TMP}/one.dlcb", "--profile")
    assert "conv3x3" in said, said
    said = call(f"{BUILD}/dlc", "compile", *SMALL, "--tuning-db=none", TARGET, "-o", f"{TMP}/one.dlcb", "--explain")
    assert "default" in said and "--target=opencl:pocl" in said, said


def stages():
    show = [f"{BUILD}/dlc", "show", *SMALL, "--tuning-db=none", TARGET]
    tasks = call(*show, "--stage=tasks").count("\ntask ") + 1
    text = call(*show, "--stage=opencl")
    programs = text.split("// task ")
    assert programs[0] == "" and len(programs) > tasks // 2, text[:300]
    assert all("__kernel" in p for p in programs[1:])
    rows = [r for r in call(*show, "--stage=resources").split("\n") if r.startswith("k.")]
    assert len(rows) >= len(programs) - 1 and all(len(r.split()) >= 4 for r in rows), rows[:3]
    assert "grid.x" in call(*show, "--stage=lowered")
    assert "workspace" in call(*show, "--stage=plan")
    refused("there is no stage \"asm\" for a target of kind", 2, *show, "--stage=asm")


def variants():
    """PoCL lacks fp16, so it runs the second variant."""
    text = open(f"{SOURCE}/configs/targets/pocl.json").read().replace('"fp64"', '"fp64", "fp16"')
    open(f"{TMP}/half.json", "w").write(text)
    naive = [*SMALL, "--unscheduled"]
    both = compile(naive, "both", f"--also={TMP}/half.json")
    equal(output(f"{BUILD}/dlc-run", both), output(f"{BUILD}/dlc-run", compile(naive, "plain")))
    refused("is no target beside cpu:", 2, f"{BUILD}/dlc", "compile", *SMALL, "--tuning-db=none", "--also=opencl:pocl",
            "-o", f"{TMP}/cpu.dlcb")
    cuda = open(compile(naive, "cuda", "--also=cuda:t4", target="--target=cuda:k80"), "rb").read()
    assert 0 < cuda.index(b".target sm_75") < cuda.index(b".target sm_37")  # the better one is tried first


def driver_threads():
    """While a tuner measures, each thread of the driver has a CPU of its own, unless the user says otherwise."""
    cpus = os.sched_getaffinity(0)
    if cpus != set(range(os.sysconf("SC_NPROCESSORS_CONF"))) or len(cpus) < 2:
        return print("skipped: threads of the driver: this process may use the CPUs", cpus)
    for env, alone in (({}, True), ({"POCL_AFFINITY": "0"}, False)):
        p = subprocess.Popen([f"{BUILD}/dlc-device-worker", "--stdio", "--device=opencl:0"], env={**ENV, **env},
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert p.stdout.read(1)  # it is ready
        tasks = [int(name) for name in os.listdir(f"/proc/{p.pid}/task")]
        found = [os.sched_getaffinity(task) for task in tasks if task != p.pid]
        p.communicate()
        assert len(found) >= 2 and all((len(own) == 1) == alone for own in found), f"{env}: {found}"
        assert not alone or len(set().union(*found)) == len(cpus), found


def bad_input():
    run, bundle = f"{BUILD}/dlc-run", f"{TMP}/one.dlcb"
    os.mkdir(f"{TMP}/none")
    refused("finds no device", 5, run, bundle, OCL_ICD_VENDORS=f"{TMP}/none")
    refused("the bundle needs fp16, which this device does not have", 1, run,
            compile(SMALL, "half", "--unscheduled", target=f"--target={TMP}/half.json"))
    large = compile(["resnet18", "--shape=data=1,3,3000,3000", "--unscheduled"], "large")
    refused("take a smaller batch", 5, run, large, POCL_MEMORY_LIMIT="1")  # GiB; the largest buffer has a quarter
    data = bytearray(open(bundle, "rb").read())
    at = data.index(b"__kernel")
    data[at] ^= 1
    open(f"{TMP}/bad.dlcb", "wb").write(data)
    refused("damaged bundle", 1, run, f"{TMP}/bad.dlcb")


if not is_there():
    sys.exit(77)
networks()
stages()
variants()
driver_threads()
bad_input()
