#!/usr/bin/env python3
"""near.py BUILD: a Task without records takes the schedule that it has on the same core with other features.

A max pool has no record, but the same pool on a target with a feature more has one: the record's schedule is taken as
it is, says so, computes what the unscheduled loops do, and is not exact. A record of another shape is not taken, and
one of another core not where its estimate is only a little better than the default's.
The models are compiled for plain x86-64, whatever this machine is: estimates decide, and they are then the same
everywhere."""
import json, os

import world
from world import TMP, canon, end
import onnx_bytes

TARGET = TMP + "/plain.json"

# By the cost model it takes 0.97 of the default's time: nine columns in threes.
TRACE = """cache_write max_pool
split w.w 3
reorder n.w c.w w.w.o h.w w.w.i
compute_at max_pool w.w.o
reorder n c kh kw h w
unroll h
unroll kw
unroll kh
vectorize w
unroll h.w
vectorize w.w.i
"""

def run(program, *args, **how):
    return world.run(program, *args, **how).stdout

def seal(kind, **fields):
    line = world.seal(dict(fields, kind=kind))
    return json.loads(line)["id"], line

def dag(model):
    text = run("dlc-show", model, "--stage=tasks", "--target=" + TARGET)
    return text[text.index("dag\n"):].split("\n\n")[0].rstrip("\n") + "\n"

def database(name, model, cpu, features, trace):
    """One run of the model's only Task on that CPU."""
    work, w = seal("workload", dag=dag(model))
    target, t = seal("target", type="cpu", model=cpu, features=features, threads=1)
    env, e = seal("environment", codegen_epoch=1, compiler="llvm") # a near record may be of any epoch
    session, s = seal("session", tool="dlc", search="test", model="pool", seed=1, started_s=1700000000)
    _, r = seal("run", workload=work, target=target, environment=env, session=session, trace=trace, status="ok",
                detail="", seq=1,
                median_ns=50000, min_ns=49000, mad_ns=10, samples=9, max_err_e9=0, compile_ns=1000)
    path = f"{TMP}/{name}.sqlite"
    said = run("dlc-db", "import", path, "-", input="\n".join([w, t, e, s, r]) + "\n")
    assert said.startswith("5 new, 0 known, 0 skipped"), said
    return path

def taken(model, db, *args):
    out = run("dlc-compile", model, "--target=" + TARGET, "--tuning-db=" + db, "-o", TMP + "/near.dlcb", "--json",
              *args)
    return json.loads(out.splitlines()[-1])["hits"]

def check(model, db, whence, steps):
    assert taken(model, db) == {"exact": 0, "near": 1, "stale": 0, "model": 0, "default": 0}, taken(model, db)
    assert taken(model, "none")["default"] == 1
    said = run("dlc-compile", model, "--target=" + TARGET, "--tuning-db=" + db, "-o", TMP + "/near.dlcb", "--explain")
    row = next(l for l in said.splitlines() if "max_pool" in l)
    assert " near " in row and whence in row and "exact 0, near 1" in said, said
    shown = run("dlc-show", model, "--stage=trace", "--target=" + TARGET, "--tuning-db=" + db)
    assert [l for l in shown.splitlines() if not l.startswith(("#", "task")) and l] == steps.splitlines(), shown
    for least, code in (("exact", 3), ("stale", 3), ("near", 0)):
        made = TMP + "/" + least
        run("dlc-compile", model, "--target=" + TARGET, "--tuning-db=" + db, "-o", made, "--require=" + least,
            want=code)
        assert os.path.exists(made) == (code == 0), least
    os.unlink(made)
    if os.uname().machine != "x86_64":
        return print("skipped: results of near schedules: this is no x86-64")
    run("dlc-compile", model, "--target=" + TARGET, "--tuning-db=none", "--unscheduled", "-o", TMP + "/plain.dlcb")
    for name in ("near", "plain"):
        run("dlc-run", f"{TMP}/{name}.dlcb", "--seed=5", "--output", f"{TMP}/{name}.npy")
    near, plain = (open(f"{TMP}/{name}.npy", "rb").read() for name in ("near", "plain"))
    assert near == plain and len(near) > 1000, "the near schedule computes something else" # a maximum has no rounding

def main():
    with open(TARGET, "w") as f:
        json.dump({"kind": "cpu", "model": "x86-64"}, f)
    for size in (17, 19):
        onnx_bytes.max_pool(f"{TMP}/{size}.onnx", 64, size)
    like = database("like", TMP + "/17.onnx", "x86-64", [], TRACE)
    assert taken(TMP + "/19.onnx", like)["default"] == 1 # tests/compile/test_near.c has one of a better estimate
    other = database("other", TMP + "/19.onnx", "x86-64-v3", ["avx2"], TRACE)
    assert taken(TMP + "/19.onnx", other)["default"] == 1
    same = database("same", TMP + "/19.onnx", "x86-64", ["sse3"], TRACE)
    check(TMP + "/19.onnx", same, "of target ", TRACE)

end(world.check_all([("near", main)])[0])
