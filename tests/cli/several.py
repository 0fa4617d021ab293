#!/usr/bin/env python3
"""One model tuned on two GPUs at once, on a driver without a GPU that interprets PTX (tests/fake_cuda).

    several.py BUILD

Every check is a function; its first line says what a user may rely on."""
import json, os, signal, subprocess, time

from onnx_bytes import conv
from world import BUILD, ENV, TMP, lines, main, run

MODEL, LOCKS = TMP + "/conv.onnx", TMP + "/locks"
conv(MODEL, 2, 4, 5)
os.mkdir(LOCKS)
# Slow, so few samples are taken, and too small for the probe of memory. Each worker opens the lock of its device.
ENV.update(FAKE_CUDA_MEMORY=str(128 << 20), FAKE_CUDA_LAUNCH_NS="5000000", FAKE_CUDA_DEVICES="2", XDG_RUNTIME_DIR=LOCKS)

def words(db, *args):
    return [MODEL, "--target=cuda", f"--tuning-db={TMP}/{db}.sqlite", *args]

def runs(db):
    return [r for r in map(json.loads, lines(f"{TMP}/{db}.sqlite")) if r["kind"] == "run"]

def workers():
    """Processes of this test that measure."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if TMP.encode() in open(f"/proc/{pid}/environ", "rb").read() and \
                    b"device-worker" in open(f"/proc/{pid}/cmdline", "rb").read():
                out.append(int(pid))
        except OSError:
            pass
    return out

def both_measure():
    """Candidates are measured on both devices, each with its rates, and all are records of one session."""
    run("dlc-tune", *words("both", "--device=all", "--trials=12"))
    found = runs("both")
    assert len(found) == 12 and all(r["status"] == "ok" for r in found), found
    tried = [r for r in found if r["stage"] != "network"]
    assert tried and all(r["probe_mflops"] > 0 and r["probe_mma_mflops"] > 0 for r in tried), found
    assert len({r["session"] for r in found}) == 1
    assert sorted(os.listdir(LOCKS)) == ["dlc-CUDA-0.lock", "dlc-CUDA-1.lock"], os.listdir(LOCKS)

def one_is_lost():
    """Where a device is lost in the middle, be it the one of the races, the other goes on, and a sentence says so."""
    for gone in (1, 0):
        db = f"lost{gone}"
        said = run("dlc-tune", *words(db, "--device=0,1", "--trials=12"),
                   env=dict(ENV, FAKE_CUDA_GONE=f"{gone}:4:{TMP}/gone{gone}")).stderr
        told = [l for l in said.splitlines() if "is lost" in l]
        assert len(told) == 1 and told[0].startswith(f"dlc: device cuda:{gone} is lost (") and \
            told[0].endswith("; the search goes on with 1 other"), said
        found = [r["status"] for r in runs(db)]
        assert len(found) == 12 and found.count("ok") >= 11, found

def refused_by_name():
    """Devices of two models or speeds, a device named twice or missing, a CPU: a sentence, and no database is made."""
    first = "device 0 is cuda:fake-gpu (Fake GPU, 132 units) and device 1 is "
    for code, sentence, args, env in (
            (2, first + "cuda:fake-gpu-75 (Fake GPU 75, 132 units): records are of one model",
             ["--device=0,1"], {"FAKE_CUDA_SM": "90,75"}),
            (2, first + "cuda:fake-gpu (Fake GPU, 114 units): records are of one model, so name devices "
             "of one model with equal numbers of units", ["--device=0,1"], {"FAKE_CUDA_UNITS": "132,114"}),
            (2, "device 1 is named twice", ["--device=1,0,1"], {}),
            (5, "there is no CUDA device 2: this machine has 2, counted from 0", ["--device=0,2"], {}),
            (2, "\"0,x\" is no list of devices", ["--device=0,x"], {}),
            (2, "only a target such as cuda has several devices", ["--device=0,1", "--target=host"], {})):
        said = run("dlc-tune", *words("none", *args), want=code, env=dict(ENV, **env)).stderr
        assert sentence in said, said
    assert not os.path.exists(TMP + "/none.sqlite")

def ended_in_the_middle():
    """Ctrl-C and SIGKILL end the workers of all devices; every announced trial is kept, and the search goes on."""
    told = set()
    for sig in (signal.SIGINT, signal.SIGKILL):
        p = subprocess.Popen([BUILD + "/dlc-tune", *words("ended", "--device=0,1", "--trials=+1000", "--search=random",
                              "--json")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
        for _ in range(3):
            told.add(json.loads(p.stdout.readline())["trial"])
        p.send_signal(sig)
        out = p.communicate(timeout=60)[0].splitlines()
        told |= {json.loads(l)["trial"] for l in out if l.startswith('{"trial"') and l.endswith("}")}
        assert p.returncode == (130 if sig == signal.SIGINT else -sig), p.returncode
        end = time.time() + 20
        while workers() and time.time() < end:
            time.sleep(0.05)
        assert not workers()
        assert told <= {r["id"] for r in runs("ended")}
    last = json.loads(run("dlc-tune", *words("ended", "--device=0,1", "--trials=+1", "--json")).stdout.splitlines()[-1])
    assert last["reused"] >= len(told) > 5, last

main(both_measure, one_is_lost, refused_by_name, ended_in_the_middle)
