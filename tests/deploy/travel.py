#!/usr/bin/env python3
"""travel.py BUILD SOURCE: the folder of tools/gpu-bundle.

In an empty root with a single folder to write to it starts, tells what is there, compiles and runs a network on the
CPU, and says that there is no GPU. Where it lies, with the driver of tests/fake_cuda, it tunes, runs what it tuned, and
its bench/gpu goes through all that it does; without a device it ends as its head says."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

build, source = (os.path.abspath(a) for a in sys.argv[1:3])
sys.path.insert(0, source + "/tests/cli")
sys.dont_write_bytecode = True
import onnx_bytes  # noqa: E402

SMALL = ["squeezenet1_1", "--shape=data=1,3,32,32", "--tuning-db=none"]
NO_DRIVER = "dlc: cuda: there is no CUDA device: libcuda.so.1 cannot be opened"
FAKE = build + "/tests/fake_cuda"


def fail(text):
    sys.exit("travel: " + text)


def expect(what, got, code, out="", err="", lines=None):
    """The exit code, words of both streams, and how many lines the second has."""
    c, o, e = got
    if c != code or out not in o or err not in e or (lines is not None and e.count("\n") != lines):
        fail(f"{what} ended with {c}, wanted {code}, {out!r}, {err!r}: {o[-1000:]}{e[-1000:]}")


def called(words, env, folder):
    r = subprocess.run(words, capture_output=True, text=True, env=env, cwd=folder, timeout=120)
    return r.returncode, r.stdout, r.stderr


def enter():
    """The command that makes a folder the root; None where this user may not."""
    chroot = shutil.which("chroot", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    unshare = shutil.which("unshare")
    for way in [[chroot]] + ([[unshare, "--user", "--map-root-user", chroot]] if unshare else []):
        if subprocess.run(way + ["/", "true"], capture_output=True).returncode == 0:
            return way
    return None


def alone(root):
    """In a root where nothing else is."""
    way = enter()
    if way is None:
        print("skipped: travel in an empty root: this user may not change the root folder")
        return
    os.mkdir(root + "/home")

    def run(*args):
        return called(way + [root] + list(args), {"HOME": "/home", "PATH": "/bin"}, "/")

    expect("dlc --version", run("/bin/dlc", "--version"), 0, "dlc ")
    expect("dlc-info", run("/bin/dlc-info"), 0, "/share/dlc/targets")
    expect("dlc run", run("/bin/dlc", "run", *SMALL), 0, "out f32[1,1000]")
    expect("dlc-compile", run("/bin/dlc-compile", *SMALL, "-o", "/home/s.dlcb"), 0)
    expect("dlc-run", run("/bin/dlc-run", "/home/s.dlcb"), 0, "out f32[1,1000]")
    expect("dlc-run MODEL", run("/bin/dlc-run", *SMALL), 0, "out f32[1,1000]")
    for verb in ("tune", "run"):
        got = run("/bin/dlc", verb, *SMALL[:2], "--target=cuda")
        expect(f"dlc {verb} --target=cuda", got, 5, err=NO_DRIVER, lines=1)


def beside_a_driver(root, folder):
    """With a driver that interprets PTX, in place of a GPU's; too small for the probe that reads 256 MiB."""
    env = {"HOME": folder, "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": FAKE, "FAKE_CUDA_MEMORY": str(200 << 20),
           "FAKE_CUDA_KERNELS": FAKE + "/fake_ptx.so", "FAKE_CUDA_LAUNCH_NS": "3000000"}
    model, db = folder + "/tiny.onnx", folder + "/a.sqlite"
    onnx_bytes.conv(model, 2, 4, 5)
    tune = [root + "/bin/dlc-tune", model, "--target=cuda", "--tuning-db=" + db, "--json"]
    got = called(tune + ["--trials=4"], env, folder)
    expect("dlc-tune", got, 0)
    last = json.loads(got[1].splitlines()[-1])
    if last["trials"] != 4 or last["failed"] != 0:
        fail(f"dlc-tune: {last}")
    run = [root + "/bin/dlc-run", model, "--target=cuda", "--tuning-db=" + db]
    expect("dlc-run", called(run, env, folder), 0, "y f32[1,4,5,5]")

    for name in os.listdir(root + "/bench/operators"):  # three of them, for their time
        if name not in ("dense.onnx", "softmax.onnx", "max_pool.onnx", "gemm"):
            os.remove(f"{root}/bench/operators/{name}")
    bench = [root + "/bench/gpu", "--seconds=200", "--trials=2", "--gemm=16", "--out=results"]
    expect("bench/gpu", called(bench + [model], env, folder), 0, "tiny 1 fp32  untuned ")
    rows = [json.loads(line) for line in open(folder + "/results/bench.jsonl")]
    kinds = {(r["network"], r["precision"], r["schedules"]) for r in rows}
    wanted = {("tiny", p, s) for p in ("fp16", "fp32") for s in ("untuned", "tuned")} | {("gemm", "fp16", "tuned")}
    checked = open(folder + "/results/check.txt").read()
    if not wanted <= kinds or checked.count(": ok, largest error ") < 12 or "error of" in checked:
        fail(f"bench/gpu: {kinds}\n{checked}")
    for name in ("tune.jsonl", "records.jsonl"):
        if not [json.loads(line) for line in open(f"{folder}/results/{name}")]:
            fail(f"bench/gpu: {name} is empty")
    none = dict(env, FAKE_CUDA_DEVICES="0")
    got = called(bench + [model], none, folder)
    expect("bench/gpu without a device", got, 5, err="the CUDA driver finds no device", lines=1)
    got = called(bench + ["--seconds=x"], env, folder)
    expect("bench/gpu --seconds=x", got, 2, err="wants a whole number", lines=1)


def main():
    with tempfile.TemporaryDirectory() as temporary:
        root = temporary + "/root"
        make = [source + "/tools/gpu-bundle", "--build=" + build, root]
        made = subprocess.run(make, capture_output=True, text=True)
        if made.returncode != 0:
            fail("gpu-bundle: " + made.stderr)
        again = subprocess.run(make, capture_output=True, text=True)
        if again.returncode == 0 or "exists" not in again.stderr:
            fail("gpu-bundle writes into a folder that exists")
        os.mkdir(temporary + "/work")
        alone(root)
        beside_a_driver(root, temporary + "/work")


main()
