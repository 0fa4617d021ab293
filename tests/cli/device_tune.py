#!/usr/bin/env python3
"""Tuning for a device of OpenCL, which is PoCL where nothing else is, and for a CUDA driver that interprets PTX.

    device_tune.py BUILD FAKE CUDA PTX [--no-cuda|--no-opencl]

FAKE is the folder of a loader that fails when it is told to (tests/measure/fake_opencl.c); CUDA that of a driver
without a GPU, which runs kernels by the library PTX (tests/fake_cuda). An option leaves out one of the two, but not
with DLC_TEST_ALL=1. Every check is a function; its first line says what a user may rely on."""
import ctypes, json, os, re, subprocess, sys

from onnx_bytes import conv
from world import ALL, BUILD, ENV, TMP, array, end, check_all, lines, run

FAKE, CUDA, PTX = map(os.path.abspath, sys.argv[2:5])
MODEL, DB, TARGET, TRIALS = TMP + "/conv.onnx", TMP + "/a.sqlite", "--target=opencl", 3

def tune(*args, db=DB, **how):
    return run("dlc-tune", MODEL, TARGET, "--tuning-db=" + db, *args, **how)

def records(kind, db=DB):
    return [r for r in map(json.loads, lines(db)) if r["kind"] == kind]

def sentence(p, *words):
    """One line of the program's own, with these words."""
    said = [l for l in p.stderr.splitlines() if l.startswith("dlc: ")]
    assert len(said) == 1 and all(w in said[0] for w in words), p.stderr[-600:]

def real_loader():
    """The file of the machine's loader; None: it has none, or no device."""
    try:
        ctypes.CDLL("libOpenCL.so.1")
    except OSError as e:
        assert not os.environ.get("DLC_TEST_STRICT"), f"OpenCL devices: {e}, which ./check installs"
        print("skipped: OpenCL devices:", e)
        return None
    maps = open("/proc/self/maps").read()
    return re.search(r"/\S*libOpenCL\.so\S*", maps)[0]

def faulty(fault, lost=None):
    more = {"DLC_FAKE_LOST": lost} if lost else {}
    return dict(ENV, LD_LIBRARY_PATH=FAKE, DLC_FAKE_REAL=REAL, DLC_FAKE_FAULT=fault, **more)

def tunes_and_reuses():
    """Candidates are measured, and the same command measures none of them again."""
    tune(f"--trials={TRIALS}")
    runs = records("run")
    assert len(runs) == TRIALS and any(r["status"] == "ok" for r in runs), runs
    assert all(e["device"] and e["driver"] for e in records("environment"))
    assert [t["type"] for t in records("target")] == ["opencl"]
    last = json.loads(tune(f"--trials={TRIALS}", "--json").stdout.splitlines()[-1])
    assert last["reused"] == TRIALS and last["trials"] == 0, last
    assert len(records("run")) == TRIALS

def computes_what_it_means():
    """The tuned network gives what the naive loops give on the CPU."""
    out = {}
    for name, options in {"tuned": [TARGET, "--tuning-db=" + DB, "--explain"],
                          "naive": ["--unscheduled", "--tuning-db=none"]}.items():
        p = run("dlc-compile", MODEL, *options, "-o", f"{TMP}/{name}.dlcb")
        assert name == "naive" or "exact" in p.stdout, p.stdout
        run("dlc-run", f"{TMP}/{name}.dlcb", "--seed=7", f"--output={TMP}/{name}.npy")
        out[name] = array(f"{TMP}/{name}.npy")
    most = max(map(abs, out["naive"]))
    assert most > 0 and max(abs(a - b) for a, b in zip(out["tuned"], out["naive"])) <= 1e-4 * most

def records_are_tried_again():
    """dlc db verify replays a record on the device."""
    said = run("dlc-db", "verify", DB, TARGET).stdout.splitlines()
    assert said[-1].startswith("1 good, 0 wrong, 0 retracted, 0 for other targets"), said

def no_device():
    """Without a device there is a sentence, exit code 5, and no new record."""
    before = lines(DB)
    os.mkdir(TMP + "/none")
    sentence(tune("--trials=+1", want=5, env=dict(ENV, OCL_ICD_VENDORS=TMP + "/none")), "no device")
    assert lines(DB) == before

def lost_in_the_middle():
    """A device that is lost ends the search with exit code 5; what was measured before is kept, and nothing else."""
    db, now = TMP + "/lost.sqlite", TMP + "/now"
    p = subprocess.Popen([BUILD + "/dlc-tune", MODEL, TARGET, "--tuning-db=" + db, "--trials=30", "--json"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         env=dict(faulty("clFinish 2 -36", TMP + "/lost"), DLC_FAKE_WHEN=now))
    p.stdout.readline()  # the first trial: from now on calls count
    open(now, "w").close()
    p.stderr = p.communicate(timeout=240)[1]
    assert p.returncode == 5, p.stderr
    sentence(p, "candidates in a row could not be run")
    status = [r["status"] for r in records("run", db)]
    assert status and set(status) == {"ok"}, status

def no_memory():
    """A device whose memory others fill ends the search with exit code 5, and says nothing of the candidates."""
    db = TMP + "/memory.sqlite"
    p = tune("--trials=30", db=db, want=5, env=faulty("clCreateBuffer 3 -4"))
    sentence(p, "candidates in a row could not be run", "bytes of memory left: end other programs on it")
    assert records("run", db) == []

def no_code():
    """A driver that builds no kernel fails each candidate, and the command ends with 5 and its reason."""
    db = TMP + "/code.sqlite"
    p = tune("--trials=2", db=db, want=5, env=faulty("clBuildProgram 1 -11"))
    sentence(p, "none of 2 candidates could be measured, and 2 failed as launch_error (", "run the model untuned")
    assert [r["status"] for r in records("run", db)] == ["launch_error"] * 2

def built_code_is_kept():
    """A GPU's driver gets a text once: what it built is kept for this user alone, and built anew where damaged."""
    kept, bundle = TMP + "/kept", TMP + "/tuned.dlcb"
    gpu = dict(faulty("none 1 1"), DLC_FAKE_GPU="1", DLC_CODE_CACHE=kept)
    no_text = dict(gpu, DLC_FAKE_FAULT="clCreateProgramWithSource 1 -6")
    def output(env):
        run("dlc-run", bundle, "--seed=7", f"--output={TMP}/kept.npy", env=env)
        return array(TMP + "/kept.npy")
    def builds(**more):
        assert "CL_OUT_OF_HOST_MEMORY" in run("dlc-run", bundle, want=1, env=dict(no_text, **more)).stderr
    builds()
    first = output(gpu)
    [name] = os.listdir(kept)
    path = f"{kept}/{name}"
    assert re.fullmatch(r"[0-9a-f]{32}\.code\.opencl", name) and os.stat(path).st_mode & 0o777 == 0o600, name
    assert output(no_text) == first
    builds(DLC_CODE_CACHE="none")
    data = bytearray(open(path, "rb").read())
    for damaged in data[:-1], data[:len(data) // 2] + b"?" + data[len(data) // 2 + 1:], b"":
        open(path, "wb").write(damaged)
        builds()
    assert output(gpu) == first and open(path, "rb").read()[:8] == b"dlcclbin"
    assert output(no_text) == first
    os.chmod(kept, 0o777)
    builds()
    os.chmod(kept, 0o700)
    output(dict(faulty("none 1 1"), DLC_CODE_CACHE=TMP + "/cpu"))  # PoCL compiles when a kernel runs, and keeps that
    assert not os.path.exists(TMP + "/cpu")

def workers_say_why():
    """A worker whose device does not exist, or that opens no driver, says so and ends."""
    said = run("dlc-device-worker", "--stdio", "--device=gpu:x", want=2).stderr
    assert "there is no device \"gpu:x\": write a kind and a number, as in opencl:0" in said, said
    said = run("dlc-device-worker", "--stdio", "--device=opencl:99", want=5).stderr
    assert "no OpenCL device 99" in said and said.count("\n") == 1, said
    said = run("dlc-worker", "--stdio", "--device=opencl:99", want=5).stderr
    assert said.startswith("dlc-worker: ") and said.count("\n") == 1, said

def cuda_too():
    """The same command tunes for CUDA: records name the device, and say how fast it multiplied and added."""
    db, env = TMP + "/cuda.sqlite", dict(ENV, LD_LIBRARY_PATH=CUDA, FAKE_CUDA_KERNELS=PTX)
    for turn in range(2):
        run("dlc-tune", TINY, "--target=cuda", "--tuning-db=" + db, "--trials=2", env=env)
    runs = records("run", db)
    assert [r["status"] for r in runs] == ["ok"] * 2 and all(r["probe_mflops"] > 0 for r in runs), runs
    assert {e["device"] for e in records("environment", db)} == {"Fake GPU"}

TINY = TMP + "/tiny.onnx"
conv(TINY, 2, 4, 5)
conv(MODEL, 8, 16, 12)
REAL = real_loader() if ALL or "--no-opencl" not in sys.argv else None
checks = [cuda_too] if ALL or "--no-cuda" not in sys.argv else []
if REAL is not None:
    checks += [tunes_and_reuses, computes_what_it_means, records_are_tried_again, built_code_is_kept, workers_say_why,
               no_device, lost_in_the_middle, no_memory, no_code]
end(check_all((c.__name__, c) for c in checks)[0])
