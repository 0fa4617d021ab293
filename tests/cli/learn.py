#!/usr/bin/env python3
"""learn.py BUILD SOURCE: learned cost models, from records to schedules.

The records are those of tests/cost_model/records.jsonl, sealed here: schedules of nine layers on one machine."""
import glob, hashlib, json, os, struct, sys

import world
from world import TMP, canon, run, seal, lines

DB = TMP + "/zoo.sqlite"
MODEL = DB + ".cpu.model"
TARGET = TMP + "/machine.json"
MACHINE = {"kind": "cpu", "model": "sapphirerapids", "features": ["x86-64-v4"]}

def sealed(kind, **fields):
    line = seal(dict(fields, kind=kind))
    return json.loads(line)["id"], line

def import_records():
    """The database that all checks read."""
    target, t = sealed("target", type="cpu", model="sapphirerapids", features=["x86-64-v4"], threads=1)
    env, e = sealed("environment", codegen_epoch=1, compiler="llvm")
    session, s = sealed("session", tool="dlc", search="test", model="zoo", seed=1, started_s=1700000000)
    out, work = [t, e, s], {}
    for n, line in enumerate(open(os.path.join(sys.argv[2], "tests/cost_model/records.jsonl"))):
        r = json.loads(line)
        if r["kind"] == "workload":
            work[r["id"]], line = sealed("workload", dag=r["dag"])
            out.append(line)
        else:
            out.append(sealed("run", workload=work[r["workload"]], target=target, environment=env, session=session,
                trace=r["trace"], status="ok", detail="", seq=n, median_ns=r["median_ns"], min_ns=r["median_ns"],
                mad_ns=1, samples=9, max_err_e9=0, compile_ns=1000)[1])
    run("dlc-db", "import", DB, "-", input="\n".join(out) + "\n")
    with open(TARGET, "w") as f:
        json.dump(MACHINE, f)

def there():
    return json.loads(run("dlc-info", "--json").stdout)["features"]["xgboost"]

def train(*args):
    return json.loads(run("dlc-db", "train", *args, "--json").stdout)

def ranks(cost_model, db=DB, want=0):
    p = run("dlc-compile", "mlp", "--target=" + TARGET, "--tuning-db=" + db, "--cost-model=" + cost_model, "-o",
            TMP + "/m.dlcb", want=want)
    return p.stderr

def trains():
    """dlc db train makes the same model of the same records, beside the database"""
    one = train(DB)
    trees = open(MODEL, "rb").read().split(b"\n", 1)[1][:-16]
    two = train(DB)
    assert trees == open(MODEL, "rb").read().split(b"\n", 1)[1][:-16], "other trees"
    assert one["model"] == MODEL and one["schedules"] > 64 and one["tasks"] == 9 and one["targets"] == 1, one
    same = lambda info: {k: v for k, v in info.items() if k not in ("trained_s", "replayed")}
    assert same(one) == same(two)
    assert one["score"][0]["operator"] == "all" and one["score"][0]["schedules"] > 64, one["score"]
    assert abs(sum(one["predictors"].values()) - 1) < 0.01

def shows():
    """dlc db model prints what the file says, and tells where the records are others by now"""
    said = run("dlc-db", "model", DB)
    assert "analytic" in said.stdout and "xgboost" in said.stdout and said.stderr == "", said.stderr
    more = TMP + "/more.sqlite"
    run("dlc-db", "import", more, "-", input="\n".join(lines(DB)) + "\n")
    run("dlc-db", "retract", more, json.loads([l for l in lines(more) if '"kind":"run"' in l][0])["id"])
    os.link(MODEL, more + ".cpu.model")
    assert "other records" in run("dlc-db", "model", more).stderr
    assert train(more, DB)["runs"] > 64

def rows():
    """The only file of remembered predictors."""
    name, = glob.glob(TMP + "/cache/dlc/rows/*")
    assert name.endswith("/cpu.rows")
    return name

def remembers():
    """a second training replays nothing and gives the same trees; damage is named, and costs a replay"""
    trees = lambda: open(MODEL, "rb").read().split(b"\n", 1)[1][:-16]
    os.remove(rows())
    all = train(DB)["replayed"]
    want = trees()
    assert all >= 64 and train(DB)["replayed"] == 0 and trees() == want
    # They are those of any database.
    like = TMP + "/like.sqlite"
    run("dlc-db", "import", like, "-", input="\n".join(lines(DB)) + "\n")
    assert train(like)["replayed"] == 0
    path, whole = rows(), open(rows(), "rb").read()
    head, row = 48, (len(whole) - 48 - 16) // all
    assert len(whole) == head + all * row + 16
    def again(body):
        return body + hashlib.blake2b(b"dlc/predictor-rows/v1\0" + body, digest_size=16).digest()
    assert again(whole[:-16]) == whole
    other = bytearray(whole[:-16])
    for k in range(all): # the first predictor of each row
        struct.pack_into("<f", other, head + k * row + 24, 1.5)
    flipped = whole[:500] + bytes([whole[500] ^ 1]) + whole[501:]
    cases = [(whole[:-40], "damaged"), (flipped, "damaged"), (b"", "no predictor"),
        (again(whole[:-16 - row]), "number of rows"), (again(bytes(other)), "another program"),
        (again(whole[:8] + b"\1" + whole[9:-16]), ""), (again(whole[:16] + b"\77" + whole[17:-16]), "")]
    for content, word in cases:
        open(path, "wb").write(content)
        p = run("dlc-db", "train", DB, "--json")
        assert (path in p.stderr and word in p.stderr) if word else p.stderr == "", (word, p.stderr)
        assert json.loads(p.stdout)["replayed"] == all and trees() == want, word
        assert open(path, "rb").read() == whole and train(DB)["replayed"] == 0, word
    os.remove(path)
    os.mkdir(path)
    assert "not kept" in run("dlc-db", "train", DB).stderr and trees() == want
    os.rmdir(path)

def refuses():
    """too few records, a kind that there is not, a model that there is not"""
    few = TMP + "/few.sqlite"
    run("dlc-db", "import", few, "-", input="\n".join(lines(DB)[:12]) + "\n")
    said = run("dlc-db", "train", few, want=3).stderr
    assert "tune first" in said and not os.path.exists(few + ".cpu.model"), said
    run("dlc-db", "train", DB, "--kind=toaster", want=2)
    assert "dlc db train" in run("dlc-db", "model", few, want=3).stderr

def is_used():
    """a sound model is used without a word; a file that is named must be there"""
    assert "estimate ranks" not in ranks("xgboost:" + MODEL) or json.loads(
        run("dlc-db", "model", DB, "--json").stdout)["score"][0]["rank_xgboost"] <= 0.6
    ranks("xgboost:" + TMP + "/absent", want=3)

def useless_ones_are_named():
    """damage, other versions, foreign files: named, and the estimate ranks"""
    whole, path = open(MODEL, "rb").read(), TMP + "/bad.model"
    line, rest = whole.split(b"\n", 1)
    def again(new):
        body = new + b"\n" + rest[:-16]
        return body + hashlib.blake2b(b"dlc/cost-model/v1\0" + body, digest_size=16).digest()
    cases = [(whole[:-5], "damaged"), (whole[:900] + b"x" + whole[901:], "damaged"), (b"", "no learned"),
        (b"\x7fELF" + whole, "no learned"), (b"{" * 70000, "no learned"),
        (again(line.replace(b'"version":2', b'"version":3')), "version 3"),
        (again(line.replace(b'"untuned":[', b'"untuned":[{"arch":"abacus","best":0,"gain":0,"parallel":0,"taken":0,'
            b'"tasks":0,"vector_bits":512},')), "unknown architecture"),
        (again(line.replace(b'"predictors":"', b'"predictors":"0')), "no hash"),
        (again(line.replace(b'"kind":"cost_model"', b'"kind":"cost_mode"')), "no learned"),
        (again(line.replace(b'"target":"cpu"', b'"target":"cuda"')), "kind cuda"),
        (again(line.replace(b'"trees":100', b'"trees":99')), "as many trees")]
    for content, word in cases:
        with open(path, "wb") as f:
            f.write(content)
        said = ranks("xgboost:" + path)
        assert path in said and word in said and "the estimate ranks instead" in said, (word, said)
    said = ranks("xgboost", db=TMP + "/few.sqlite")
    assert "few.sqlite.cpu.model" in said and "estimate ranks" in said, said

def is_shipped():
    """beside the shipped logs a model is named, chooses for Tasks without records, and is locked without a model"""
    ship, whole = TMP + "/ship", open(MODEL, "rb").read()
    os.makedirs(ship)
    run("dlc-db", "import", ship + "/cpu/", "-", input="\n".join(lines(DB)[:12]) + "\n")
    line, rest = whole.split(b"\n", 1)
    o = json.loads(line)
    groups = [(g["arch"], g["vector_bits"]) for g in o["untuned"]]
    assert o["epoch"] > 0 and groups in ([], [("x86-64", 512)]), groups
    o["untuned"] = [dict(arch="x86-64", vector_bits=512, parallel=0, tasks=9, taken=5, margin=1, gain=100, best=200)]
    o["score"][0].update(rank_model=900, rank_estimate=100)
    body = canon(o).encode() + b"\n" + rest[:-16]
    sound = body + hashlib.blake2b(b"dlc/cost-model/v1\0" + body, digest_size=16).digest()
    env = dict(world.ENV, DLC_TUNING_LOGS=ship)
    def compiled(*args, env=env):
        p = run("dlc-compile", "mobilenet_v3_small", "--target=" + TARGET, "--tuning-db=none", "-o", TMP + "/s.dlcb",
                "--json", *args, env=env)
        return json.loads(p.stdout.splitlines()[-1]), p.stderr, open(TMP + "/s.dlcb", "rb").read()
    with open(ship + "/cpu.model", "wb") as f:
        f.write(sound)
    row, = json.loads(run("dlc-info", "--json", env=env).stdout)["models"]
    assert row["kind"] == "cpu" and row["epoch"] == o["epoch"] and row["schedules"] == o["rows"], row
    assert "model     cpu: of" in run("dlc-info", env=env).stdout
    (first, said, code), (second, _, again) = compiled("--lock=" + TMP + "/s.lock"), compiled()
    assert first["hits"]["model"] > 0 and said == "" and second["hits"] == first["hits"], (first, said)
    assert " model " in open(TMP + "/s.lock").read() and os.listdir(TMP + "/cache/dlc/untuned")
    none = dict(env, DLC_TUNING_LOGS="none")
    locked, said, same = compiled("--lock=" + TMP + "/s.lock", env=none)
    assert locked["hits"] == first["hits"] and same == code and said == "", (locked, said)
    for how in (dict(env=none), dict(env=env, analytic=True)):
        hits, said, _ = compiled(*["--cost-model=analytic"] * ("analytic" in how), env=how["env"])
        assert hits["hits"]["model"] == 0 and said == "", (hits, said)
    run("dlc-compile", "mlp", "--target=" + TARGET, "--tuning-db=none", "--require=near", "-o", TMP + "/r.dlcb",
        env=env, want=3)
    # A user whose cache has no folder yet, and one that can have none: choices are kept, or made each time.
    new = dict(env, XDG_CACHE_HOME=TMP + "/new/deep", DLC_CODE_CACHE="none")
    hits, said, again = compiled(env=new)
    assert again == code and said == "" and os.listdir(TMP + "/new/deep/dlc/untuned"), said
    hits, said, again = compiled(env=dict(new, XDG_CACHE_HOME=MODEL))
    assert again == code and said == "" and hits["hits"] == first["hits"], said
    # A damaged one is named once and has no say.
    with open(ship + "/cpu.model", "wb") as f:
        f.write(sound[:-20])
    hits, said, _ = compiled()
    assert hits["hits"]["model"] == 0 and said.count("cpu.model") == 1 and "chooses no schedules" in said, said
    assert "damaged" in run("dlc-info", env=env).stdout

def tunes():
    """a tuner ranks by it, and learns; it keeps the predictors of what it ran, so that training replays nothing"""
    if os.uname().machine != "x86_64":
        return "skipped: this is no x86-64"
    own, before = TMP + "/own.sqlite", train(DB)
    run("dlc-tune", "mlp", "--tuning-db=" + own, "--cost-model=xgboost:" + MODEL, "--trials=12", "--json")
    both = train(DB, own)
    assert both["schedules"] > before["schedules"] and both["targets"] == 2 and both["replayed"] == 0, both
    os.remove(rows())
    assert train(DB, own)["replayed"] >= both["schedules"]
    for named, ranks in ([], "xgboost"), (["--cost-model=analytic"], "analytic"):
        p = run("dlc-tune", "mlp", "--tuning-db=" + own, "--tuning-db=" + DB, "--trials=+2", "--events=-", *named)
        session = next(e for e in map(json.loads, p.stdout.splitlines()) if e["event"] == "session")
        assert session["cost_model"] == ranks, session

def main():
    import_records()
    if not there():
        said = run("dlc-db", "train", DB, want=1).stderr
        assert "libxgboost-dev" in said, said
        assert os.environ.get("DLC_TEST_STRICT") is None, "libxgboost-dev is missing, which ./check installs"
        print("skipped: learned cost models: this dlc was built without libxgboost")
        world.end(0)
    world.main(trains, remembers, shows, refuses, is_used, useless_ones_are_named, is_shipped, tunes)

main()
