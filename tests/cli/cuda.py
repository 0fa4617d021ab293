#!/usr/bin/env python3
"""The daily verbs for CUDA, on a driver without a GPU that interprets PTX (tests/fake_cuda).

    cuda.py BUILD

Every check is a function; its first line says what a user may rely on."""
import json, os

from onnx_bytes import conv, conv_pool
from world import BUILD, ENV, TMP, array, lines, main, run

MODEL, DB, BUNDLE, TRIALS = TMP + "/conv.onnx", TMP + "/a.sqlite", TMP + "/conv.dlcb", 4
# Slow, so few samples are taken; too small for the probe that reads 256 MiB, which takes half of a small search.
ENV.update(FAKE_CUDA_MEMORY=str(128 << 20), FAKE_CUDA_LAUNCH_NS="5000000")
LARGE = {"FAKE_CUDA_MEMORY": str(4 << 30)}
conv(MODEL, 4, 8, 6)

def tune(*args, db=DB, **how):
    return run("dlc-tune", MODEL, "--target=cuda", "--tuning-db=" + db, *args, **how)

def records(kind, db=DB):
    return [r for r in map(json.loads, lines(db)) if r["kind"] == kind]

def refused(code, sentence, program, *args, **env):
    said = run(program, *args, want=code, env=dict(ENV, **env)).stderr
    assert sentence in said and said.count("\n") == 1, f"wanted \"{sentence}\": {said}"

def equal(a, b):
    most = max(map(abs, b))
    assert len(a) == len(b) > 1 and most > 0 and max(abs(x - y) for x, y in zip(a, b)) <= 1e-4 * most

def naive(model):
    """What the naive loops give on the CPU from the default seed."""
    run("dlc-compile", model, "--unscheduled", "--tuning-db=none", "-o", TMP + "/naive.dlcb")
    run("dlc-run", TMP + "/naive.dlcb", f"--output={model}.npy")
    return model + ".npy"

def device_is_listed():
    """dlc info shows the device and how to name it."""
    said = run("dlc-info").stdout
    assert "cuda:fake-gpu t1  Fake GPU  (--target=cuda --device=0)" in said, said

def tunes_and_reuses():
    """Candidates are measured, and the same command measures none of them again."""
    tune(f"--trials={TRIALS}")
    runs = records("run")
    assert len(runs) == TRIALS and all(r["status"] == "ok" for r in runs), runs
    assert [(t["type"], t["model"]) for t in records("target")] == [("cuda", "fake-gpu")]
    last = json.loads(tune(f"--trials={TRIALS}", "--json").stdout.splitlines()[-1])
    assert last["reused"] == TRIALS and last["trials"] == 0, last

def measures_the_device():
    """dlc info --probe says what the device gives and in which state it is; records and notes of dlc tune do, too."""
    def probe(**env):
        p = run("dlc-info", "--probe", "--json", env=dict(ENV, **dict(LARGE, **env)))
        return next(d for d in json.loads(p.stdout)["devices"] if d["kind"] == "cuda")["measured"]
    rates = {"fma_gflops", "mma_f16_gflops", "mma_bf16_gflops", "mma_tf32_gflops", "memory_gbps"}
    hot = probe(FAKE_NVML="1410:87:0x65")  # idle is no reason
    assert set(hot) == rates | {"device_mhz", "celsius", "slowed"} and all(hot[r] > 0 for r in rates), hot
    assert (hot["device_mhz"], hot["celsius"]) == (1410, 87), hot
    assert hot["slowed"] == "power limit, temperature, hardware temperature limit", hot
    assert set(probe(FAKE_CUDA_SM="61")) == {"fma_gflops", "memory_gbps"}
    assert set(probe(FAKE_CUDA_MEMORY="100000000")) == rates - {"memory_gbps"}, "what lacks memory is left out"
    said = run("dlc-info", "--probe", env=dict(ENV, FAKE_CUDA_STICKY="2:700"))
    assert "cuda:0: the device cannot be measured: " in said.stderr and "Fake GPU" in said.stdout, said.stderr

    db = TMP + "/state.sqlite"
    said = tune("--trials=1", db=db, env=dict(ENV, **LARGE, FAKE_NVML="1980:60:0 1200:91:0x20 1980:70:0")).stderr
    assert "cuda:0 is slowed down by its temperature, at 1200 MHz and 91 C" in said, said
    assert "cuda:0 is no longer slowed down, at 1980 MHz and 70 C" in said, said
    r = records("run", db)[0]
    assert (r["device_mhz"], r["celsius"]) == (1980, 70) and "slowed" not in r, r
    assert r["probe_mflops"] > 0 and r["probe_mma_mflops"] > 0 and r["probe_mbps"] > 0, r
    tune("--trials=+1", db=db, env=dict(ENV, FAKE_NVML="1200:91:0x20"))
    assert any(r.get("slowed") == "temperature" for r in records("run", db)), records("run", db)

def computes_what_it_means():
    """The tuned network gives what the naive loops give on the CPU, also where its plan is replayed."""
    run("dlc-compile", MODEL, "--target=cuda", "--tuning-db=" + DB, "-o", BUNDLE)
    run("dlc-compile", MODEL, "--unscheduled", "--tuning-db=none", "-o", TMP + "/naive.dlcb")
    for name in (BUNDLE, TMP + "/naive.dlcb"):
        run("dlc-run", name, "--seed=7", f"--output={name}.npy")
    equal(array(BUNDLE + ".npy"), array(TMP + "/naive.dlcb.npy"))
    assert "CUDA device" in run("dlc-run", BUNDLE, "--bench", "--runs=5").stdout
    assert "conv3x3" in run("dlc-run", BUNDLE, "--profile", "--runs=5").stdout

def loads_one_module():
    """The driver is given the code of all tasks at once."""
    net, two = TMP + "/two.onnx", TMP + "/two.dlcb"
    conv_pool(net, 4, 8, 6)
    out = run("dlc-compile", net, "--target=cuda:h200", "--code=ptx", "--tuning-db=none", "--json", "-o", two).stdout
    assert json.loads(out)["tasks"] == 2, out
    run("dlc-run", two, "--expect=" + naive(net), "--rtol=1e-4", "--atol=1e-4",
        env=dict(ENV, FAKE_CUDA_FAIL="cuModuleLoadDataEx:2:2"))
    refused(5, "out of memory", "dlc-run", two, FAKE_CUDA_FAIL="cuModuleLoadDataEx:1:2")

def holds_machine_code():
    """A bundle has PTX for each target, and a cubin where the assembler knows the target; each GPU takes its own."""
    several, only = TMP + "/several.dlcb", TMP + "/only.dlcb"
    env = dict(ENV, LD_LIBRARY_PATH=f"{ENV['LD_LIBRARY_PATH']}:{BUILD}/tests/fake_cuda/jit")
    want = "--expect=" + naive(MODEL)
    def compiled(out, *args, code=0):
        return run("dlc-compile", MODEL, "--target=cuda:h200", "--tuning-db=none", "--json", "-o", out, *args, env=env,
                   want=code)
    def forms(out):
        return [(r["form"], r["target"].split()[0]) for r in json.loads(out.stdout)["code"] if r["bytes"] > 0]
    out = compiled(several, "--also=cuda:k80", "--also=cuda:a100")
    assert forms(out) == [("cubin", "cuda:h200"), ("cubin", "cuda:a100"), ("ptx", "cuda:h200"), ("ptx", "cuda:a100"),
                          ("ptx", "cuda:k80")], out.stdout
    first = open(several, "rb").read()
    compiled(several, "--also=cuda:a100", "--also=cuda:k80")
    assert open(several, "rb").read() == first
    for sm, loaded in (90, "a cubin for sm_90"), (89, "a cubin for sm_80"), (80, "a cubin for sm_80"), \
            (75, "PTX for sm_37"), (100, "PTX for sm_90"):
        said = run("dlc-run", several, want, "--rtol=1e-4", "--atol=1e-4",
                   env=dict(ENV, FAKE_CUDA_SAY="1", FAKE_CUDA_SM=str(sm))).stderr
        assert "loads " + loaded in said and said.count("loads") == 1, said
    said = run("dlc-run", several, env=dict(ENV, FAKE_CUDA_SAY="1", FAKE_CUDA_DRIVER="12000")).stderr
    assert "loads PTX for sm_90" in said and "cubin" not in said, said
    refused(1, "it is PTX 4.1, and the driver is for CUDA 6.0", "dlc-run", several, FAKE_CUDA_DRIVER="6000")
    assert forms(compiled(only, "--code=ptx")) == [("ptx", "cuda:h200")]
    assert forms(compiled(only, "--code=both")) == [("cubin", "cuda:h200"), ("ptx", "cuda:h200")]
    assert forms(compiled(only, "--code=cubin")) == [("cubin", "cuda:h200")]
    run("dlc-run", only, want, "--rtol=1e-4", "--atol=1e-4")
    refused(1, "the driver is for CUDA 12.0, and does not take this machine code", "dlc-run", only,
            FAKE_CUDA_DRIVER="12000")
    refused(1, "the bundle needs sm_90..sm_99, which this device does not have", "dlc-run", only, FAKE_CUDA_SM="100")
    said = compiled(only, "--also=cuda:k80", "--code=cubin", code=1).stderr
    assert "no machine code can be made for sm_37" in said, said
    env["FAKE_JIT_FAILS"] = "1"
    assert forms(compiled(only)) == [("ptx", "cuda:h200")]
    assert "sm_90: " in compiled(only, "--code=both", code=4).stderr
    del env["FAKE_JIT_FAILS"]
    said = run("dlc-compile", MODEL, "--code=both", "-o", only, want=2).stderr
    assert "has one form of code" in said, said

def refuses_what_cannot_run():
    """No device, another device, one too old, a driver too old, no memory: a sentence and an exit code."""
    refused(5, "the CUDA driver finds no device", "dlc-run", BUNDLE, FAKE_CUDA_DEVICES="0")
    refused(5, "there is no CUDA device: libcuda.so.1 cannot be opened", "dlc-run", BUNDLE, LD_LIBRARY_PATH="")
    refused(1, "the bundle needs ", "dlc-run", BUNDLE, FAKE_CUDA_SM="75")
    refused(1, "it is PTX 7.8, and the driver is for CUDA 11.4", "dlc-run", BUNDLE, FAKE_CUDA_DRIVER="11040")
    refused(5, "take a smaller batch", "dlc-run", BUNDLE, FAKE_CUDA_MEMORY="2000")
    refused(5, "device 0 (Fake GPU) is lost to this process", "dlc-run", BUNDLE, FAKE_CUDA_STICKY="1:700")

def no_device():
    """Without a device tuning ends with exit code 5 and stores nothing."""
    before = lines(DB)
    refused(5, "the CUDA driver finds no device", "dlc-tune", MODEL, "--target=cuda", "--tuning-db=" + DB,
            "--trials=+1", FAKE_CUDA_DEVICES="0")
    assert lines(DB) == before

def tried(name, trials, code, **env):
    """The sentences of a search with a driver that fails, and what became of its candidates."""
    db = f"{TMP}/{name}.sqlite"
    said = tune(f"--trials={trials}", db=db, want=code, env=dict(ENV, **env)).stderr
    return said, [r["status"] for r in records("run", db)]

def goes_on():
    """A candidate that ends the device's context fails, and the search goes on in another process."""
    found = tried("crash", 5, 0, FAKE_CUDA_STICKY="12:700")[1]
    assert len(found) == 5 and set(found) == {"ok", "crash"}, found

def nothing_runs():
    """Where every candidate fails, the command says how many, why most of them, and what to do: exit code 5."""
    said, found = tried("threads", 2, 5, FAKE_CUDA_THREADS="1")
    assert "none of 2 candidates could be measured, and 2 failed as launch_error (" in said, said
    assert "run the model untuned on this target" in said, said
    assert found == ["launch_error"] * 2, found

def ends_without_a_device():
    """A device that is full, or lost before any kernel runs or later, ends the search: exit code 5, nothing recorded
    of the candidates that it did not measure."""
    for name, fault, words in ("full", "cuMemAlloc_v2:6:2", "bytes of memory left: end other programs on it"), \
            ("lost", "cuModuleLoadDataEx:1:719", "while it loaded the code: CUDA_ERROR_LAUNCH_FAILED"):
        said, found = tried(name, 30, 5, FAKE_CUDA_FAIL=fault)
        assert words in said and "candidates in a row could not be run" in said, said
        assert found == [], found
    said, found = tried("gone", 30, 5, FAKE_CUDA_GONE=f"0:14:{TMP}/gone")
    assert "candidates in a row could not be run: it exited with code 5: dlc-device-worker: CUDA device 0" in said, said
    assert found and set(found) == {"ok"}, found

def full_before_ten_failed():
    """A device that is full ends the search with exit code 5 also where fewer trials were asked for than that takes."""
    large = TMP + "/large.onnx"
    conv(large, 2, 2, 256)  # its two tensors do not fit together
    for n, args in enumerate((["--trials=3"], ["--budget=1s"])):
        db = f"{TMP}/few{n}.sqlite"
        said = run("dlc-tune", large, "--target=cuda", "--tuning-db=" + db, *args, want=5,
                   env=dict(ENV, FAKE_CUDA_MEMORY=str(1 << 20))).stderr
        assert "bytes of memory left: end other programs" in said, said
        assert {r["status"] for r in records("run", db)} <= {"oom"}, said

def lost_at_the_end():
    """A device that is lost while the network is timed ends the command with exit code 5; all trials are kept."""
    said, found = tried("end", 3, 5, FAKE_CUDA_GONE=f"0:0:{TMP}/gone-end")
    mine = [l for l in said.splitlines() if "could not be timed" in l]
    assert len(mine) == 1 and "all trials are kept, and the same command goes on" in mine[0], said
    assert "was not measured" not in said and len(found) >= 3 and set(found) == {"ok"}, (said, found)

main(device_is_listed, tunes_and_reuses, measures_the_device, computes_what_it_means, loads_one_module,
     holds_machine_code, refuses_what_cannot_run, no_device, goes_on, nothing_runs, ends_without_a_device,
     full_before_ten_failed, lost_at_the_end)
