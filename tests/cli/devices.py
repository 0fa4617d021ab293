#!/usr/bin/env python3
"""devices.py BUILD: which device a command means, and what it says where there is none.

The OpenCL loader looks for drivers in an empty folder, so the machine has no OpenCL device. CUDA's driver is
tests/fake_cuda. Records of a target are sealed here and imported: nothing is measured."""
import json, os

import world
from world import TMP, seal
import onnx_bytes

NONE = "OpenCL"  # the sentence depends on whether a loader is installed
POOL = f"{TMP}/pool.onnx"
os.mkdir(f"{TMP}/drivers")
world.ENV["OCL_ICD_VENDORS"] = f"{TMP}/drivers"
onnx_bytes.max_pool(POOL, 4, 9)


def database(name, *targets):
    """A run of the pool on each OpenCL target (model, features), where these are PTX's on each CUDA target."""
    path, text = f"{TMP}/{name}.sqlite", []
    def record(kind, **fields):
        text.append(seal(dict(fields, kind=kind)))
        return json.loads(text[-1])["id"]
    shown = world.run("dlc-show", POOL, "--stage=tasks", "--tuning-db=none").stdout
    dag = shown[shown.index("dag\n"):].split("\n\n")[0].rstrip("\n") + "\n"
    work = record("workload", dag=dag)
    env = record("environment", codegen_epoch=1, compiler="opencl")
    session = record("session", tool="dlc", search="test", model="pool", seed=1, started_s=1700000000)
    for model, features in targets:
        kind = "cuda" if "sm_37" in features else "opencl"
        target = record("target", type=kind, model=model, features=features, threads=1)
        record("run", workload=work, target=target, environment=env, session=session, trace="", status="ok", detail="",
               seq=1, median_ns=50000, min_ns=49000, mad_ns=10, samples=9, max_err_e9=0, compile_ns=1000)
    said = world.run("dlc-db", "import", path, "-", input="\n".join(text) + "\n").stdout
    assert " 0 known, 0 skipped" in said, said
    return path


def refused(sentence, code, program, *args, **how):
    said = world.run(program, *args, want=code, **how).stderr
    assert sentence in said, f"wanted \"{sentence}\": {said}"
    assert said.count("\n") == (2 if code == 2 else 1), said


def no_device():
    """A command that runs something says which driver is missing and exits with 5."""
    for command in (["run", POOL], ["tune", POOL, f"--tuning-db={TMP}/new.sqlite"]):
        refused(NONE, 5, "dlc", *command, "--target=opencl")
        refused(NONE, 5, "dlc", *command, "--target=opencl:generic")
    assert not os.path.exists(f"{TMP}/new.sqlite")
    refused(NONE, 5, "dlc", "show", POOL, "--target=opencl", "--device=1")
    for command in (["run", POOL, "--tuning-db=none"], ["tune", POOL, f"--tuning-db={TMP}/new.sqlite"]):
        refused("there is no CPU 1", 5, "dlc", *command, "--device=1")
    refused("there is no device 7: this machine has 1 of cuda and 0 of opencl, counted from 0", 5, "dlc", "info",
            "--device=7", env=fake(DEVICES=1))
    refused("an integer from 0 to 4095", 2, "dlc", "run", POOL, "--device=-1")


def candidates():
    """A command that compiles takes the only target of the databases, and says so, or names what there is."""
    compile = ["dlc", "compile", POOL, "--target=opencl", "-o", f"{TMP}/pool.dlcb"]
    refused("the databases have no target of this kind: name a target, such as opencl:generic, opencl:pocl", 2,
            *compile, "--tuning-db=none")
    one = database("one", ("generic", []))
    said = world.run(*compile, f"--tuning-db={one}", "--json")
    assert "there is no opencl device here: the target is opencl:generic, the only one" in said.stderr, said.stderr
    assert json.loads(said.stdout)["target"] == "opencl:generic t1"
    said = world.run("dlc", "show", POOL, "--target=opencl", "--stage=opencl", f"--tuning-db={one}")
    assert "__kernel" in said.stdout and "opencl:generic" in said.stderr
    # A target without a file is what its records say of it.
    none = dict(world.ENV, LD_LIBRARY_PATH="")
    p100 = database("p100", ("tesla-p100", ["sm_37", "sm_60"]), ("pocl-znver4-256", []))
    for name in ("cuda", "cuda:tesla-p100"):
        said = world.run("dlc", "show", POOL, f"--target={name}", "--stage=ptx", f"--tuning-db={p100}", env=none)
        assert ".target sm_60" in said.stdout and ("the target is cuda:tesla-p100" in said.stderr) == (name == "cuda")
    said = world.run(*compile, f"--tuning-db={p100}", "--json")
    assert json.loads(said.stdout)["target"] == "opencl:pocl-znver4-256 t1"
    two = database("two", ("generic", []), ("pocl", ["fp64"]))
    refused("several targets of this kind: name a target, such as opencl:", 2, *compile, f"--tuning-db={two}")


def fake(**options):
    """The environment of a machine with GPUs."""
    return dict(world.ENV, LD_LIBRARY_PATH=f"{world.BUILD}/tests/fake_cuda",
                **{f"FAKE_CUDA_{k}": str(v) for k, v in options.items()})


def gpus():
    """A GPU is a target: its model is its name, --device says which, and one that dlc cannot use is named."""
    two = fake(DEVICES=2, SM=86)
    info = json.loads(world.run("dlc", "info", "--json", env=two).stdout)
    found = [(d["device"], d["target"], d["warp"]) for d in info["devices"] if d["kind"] == "cuda"]
    assert found == [(0, "cuda:fake-gpu t1", 32), (1, "cuda:fake-gpu t1", 32)], found
    assert "cuda" not in [m["kind"] for m in info["missing"]]
    compile = ["compile", POOL, "--target=cuda", "--tuning-db=none", "--json", "-o", f"{TMP}/gpu.dlcb"]
    said = json.loads(world.run("dlc", *compile, "--device=1", env=two).stdout)
    assert said["target"] == "cuda:fake-gpu t1", said
    compile[2] = "--target=cuda:fake-gpu"
    assert json.loads(world.run("dlc", *compile, env=two).stdout)["target"] == "cuda:fake-gpu t1"
    compile[2] = "--target=cuda:fake-gp"
    refused("there is no such cuda target", 2, "dlc", *compile, env=two)
    compile[2] = "--target=cuda"
    refused("there is no CUDA device 2: this machine has 2, counted from 0", 5, "dlc", *compile, "--device=2", env=two)
    refused("there is no CUDA device 7", 5, "dlc-run", f"{TMP}/gpu.dlcb", "--device=7", env=two)
    refused("Fake GPU, has no features that dlc makes code for: sm_35", 5, "dlc", *compile, env=fake(SM=35))
    refused("needs", 1, "dlc-run", f"{TMP}/gpu.dlcb", env=fake(SM=70))
    h200 = ["tune", POOL, "--target=cuda:h200", f"--tuning-db={TMP}/new.sqlite"]
    refused("the target needs features that this machine (fake-gpu) lacks: sm_89 sm_90", 3, "dlc", *h200, env=two)
    # Code of another model runs, but its times are no records of that model.
    wrong = "records of this target are times of its model, " \
            "and this device, Fake GPU, is fake-gpu: name the kind cuda alone"
    for command in (["tune", POOL, f"--tuning-db={TMP}/new.sqlite", "--device=1"], ["db", "verify", database("t4")]):
        refused(wrong, 3, "dlc", *command, "--target=cuda:t4", env=two)
    assert not os.path.exists(f"{TMP}/new.sqlite")


def levels():
    """A GPU of which only the compute capability is known is a target too."""
    ptx = world.run("dlc", "show", POOL, "--target=cuda:sm_86", "--stage=ptx", "--tuning-db=none").stdout
    assert ".target sm_86" in ptx and ptx.startswith(".version ") and "\n// task " in ptx, ptx[:300]
    refused("only a CPU's target has threads", 2, "dlc", "show", POOL, "--target=cuda:sm_86", "--threads=2")


world.main(no_device, candidates, gpus, levels)
