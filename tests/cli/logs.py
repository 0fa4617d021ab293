#!/usr/bin/env python3
"""logs.py BUILD: folders of logs as databases, from the command line.

Every check is a function; its first line says what a user may rely on."""
import glob, gzip, hashlib, json, os, re, shutil, subprocess, sys

from world import BUILD, ENV, TMP, lines, main, run

MODEL = ["squeezenet1_1", "--shape=data=1,3,35,35"]
TEAM = TMP + "/team"

def db(verb, *args, **how):
    return run("dlc-db", verb, *args, **how)

def segments(folder=TEAM):
    return sorted(glob.glob(folder + "/*.jsonl*") + glob.glob(folder + "/*/*.jsonl*"))

def unpacked(path):
    return gzip.open(path, "rt").read().splitlines()

def compiled(*args, want=0, **how):
    p = run("dlc-compile", *MODEL, *args, "-o", TMP + "/m.dlcb", "--json", want=want, **how)
    return (json.loads(p.stdout)["hits"] if want == 0 else None), p.stderr

def a_folder_is_a_database():
    """tune, list, show, best, stats, log, check, verify, compile, show take a folder; each session has a segment."""
    run("dlc-tune", *MODEL, f"--tuning-db={TEAM}/", "--trials=30")
    assert len(segments()) == 1, segments()
    head = json.loads(open(segments()[0]).readline())
    assert head["kind"] == "log" and head["version"] == 1 and head["machine"].startswith("cpu:"), head
    assert head["command"] == f"dlc tune {' '.join(MODEL)} --tuning-db={TEAM}/ --trials=30", head
    for verb in ("list", "stats", "log", "best"):
        assert len(db(verb, TEAM).stdout) > 40
    n = len(lines(TEAM))
    assert db("check", TEAM).stdout == f"{n} records, all sound\n"
    runs = [json.loads(l) for l in lines(TEAM) if '"kind":"run"' in l]
    assert len(runs) == 30
    assert "measured      here" in db("show", TEAM, runs[0]["id"][:12]).stdout
    hits, said = compiled("--tuning-db=" + TEAM)
    assert hits["exact"] > 0 and said == "", (hits, said)
    task = runs[0]["workload"]
    assert runs[0]["target"] and " 0 for other targets" in db("verify", TEAM, task, want=[0, 1]).stdout
    tuned = run("dlc-tune", *MODEL, f"--tuning-db={TEAM}", "--trials=30", "--json").stdout.splitlines()[-1]
    assert json.loads(tuned)["reused"] >= 25 and json.loads(tuned)["trials"] <= 5, tuned
    db("retract", TEAM, runs[0]["id"])
    assert "retracted" in db("show", TEAM, runs[0]["id"]).stdout

def own_records_outlive_the_cache():
    """The index may be deleted at any time: records stay this user's own, and the same bundle comes out."""
    before = compiled("--tuning-db=" + TEAM)[0], open(TMP + "/m.dlcb", "rb").read()
    shutil.rmtree(TMP + "/cache/dlc/logs")
    assert (compiled("--tuning-db=" + TEAM)[0], open(TMP + "/m.dlcb", "rb").read()) == before
    owned = [json.loads(l)["own"] for l in db("best", TEAM, "--json").stdout.splitlines()]
    assert owned and all(owned)

def a_colleagues_folder():
    """Another user's records are hints; his segments and mine are merged by copying files, in any order."""
    his = dict(ENV, XDG_DATA_HOME=TMP + "/his/data", XDG_CACHE_HOME=TMP + "/his/cache")
    os.makedirs(TMP + "/his")
    run("dlc-tune", *MODEL, f"--tuning-db={TMP}/his/logs/", "--trials=16", env=his)
    both = TMP + "/both"
    os.makedirs(both + "/cpu")
    for s in segments():
        shutil.copy(s, both)
    mine = lines(both)
    for s in segments(TMP + "/his/logs"):
        shutil.copy(s, both + "/cpu")
    assert set(lines(both)) == set(mine) | set(lines(TMP + "/his/logs", env=his))
    owned = {json.loads(l)["own"] for l in db("best", both, "--json").stdout.splitlines()}
    assert True in owned
    assert {json.loads(l)["own"] for l in db("best", TMP + "/his/logs", "--json").stdout.splitlines()} == {False}
    db("check", both)

def lines_go_in_and_out():
    """export and import take folders on either side; an import is a segment of its own, once."""
    file, again = TMP + "/file.sqlite", TMP + "/again"
    n = len(lines(TEAM))
    assert db("import", file, TEAM).stdout == f"{n} new, 0 known, 0 skipped\n"
    assert lines(file) == lines(TEAM)
    assert db("import", again + "/", file).stdout == f"{n} new, 0 known, 0 skipped\n"
    assert db("import", again + "/", TEAM, file).stdout == f"0 new, {2 * n} known, 0 skipped\n"
    assert len(segments(again)) == 1 and lines(again) == lines(TEAM)

def damage_is_named():
    """A damaged line is named with file and line by every verb, and the rest is used; a torn end is nothing."""
    bad = TMP + "/bad"
    shutil.copytree(TEAM, bad)
    whole = compiled("--tuning-db=" + bad)[0]
    name = segments(bad)[0]
    text = open(name).read().splitlines(True)
    at = max(i for i, l in enumerate(text) if '"kind":"run"' in l)
    text[at] = text[at].replace('"median_ns":', '"median_ns":1')
    open(name, "w").write("".join(text) + text[1][:50])
    for _ in range(2):
        hits, said = compiled("--tuning-db=" + bad)
        assert f"{name}:{at + 1}:" in said and "1 line of its logs is damaged" in said, said
        assert sum(hits.values()) == sum(whole.values()), hits
    assert f"{name}:{at + 1}:" in db("check", bad, want=1).stderr

def logs_may_be_packed():
    """Logs may be packed by gzip: they are read and imported as before; of one that is cut off, what it has is used."""
    packed = TMP + "/packed"
    shutil.copytree(TEAM, packed)
    before, n = compiled("--tuning-db=" + packed)[0], len(lines(packed))
    for log in segments(packed):
        data = open(log, "rb").read()
        with gzip.open(log + ".gz", "wb") as f:
            f.write(data)
        os.remove(log)
    assert compiled("--tuning-db=" + packed) == (before, "") and lines(packed) == lines(TEAM)
    assert db("check", packed).stdout == f"{n} records, all sound\n"
    assert db("import", TMP + "/packed.sqlite", packed).stdout == f"{n} new, 0 known, 0 skipped\n"
    log = segments(packed)[0]
    whole = open(log, "rb").read()
    open(log, "wb").write(whole[:len(whole) // 2])
    for said in compiled("--tuning-db=" + packed)[1], db("check", packed, want=1).stderr:
        assert f"{log}:" in said and "it is cut off" in said, said
    assert 0 < len(lines(packed)) < n
    p = db("import", TMP + "/half.sqlite", log)
    assert ", 1 skipped" in p.stdout and "it is cut off" in p.stderr, (p.stdout, p.stderr)
    open(log, "wb").write(whole)
    assert compiled("--tuning-db=" + packed) == (before, "")

def places_that_cannot_be_written():
    """A folder or a cache that is read-only is read; what cannot be written is refused before anything is measured."""
    if os.getuid() == 0:
        user = dict(preexec_fn=lambda: os.setuid(65534))
        try:
            run("dlc-db", "--version", **user)
        except (OSError, subprocess.SubprocessError, AssertionError):
            return "skipped: nobody may not run programs here"
        os.chmod(TMP, 0o755)
    else:
        user = {}
    shut = TMP + "/shut"
    shutil.copytree(TEAM, shut)
    os.chmod(shut, 0o555)
    none = dict(ENV, XDG_CACHE_HOME="/proc/nowhere", XDG_DATA_HOME="/proc/nowhere")
    said = db("list", shut, env=none, **user)
    assert len(said.stdout.splitlines()) > 5, said
    db("import", shut, TEAM, env=none, want=5, **user)
    run("dlc-tune", *MODEL, "--tuning-db=" + shut, "--trials=1", env=none, want=5, **user)
    os.chmod(shut, 0o755)

def what_is_not_there():
    """A folder that is missing is made to write, refused to read; --tuning-db and DLC_TUNING_DB mean the same."""
    compiled(f"--tuning-db={TMP}/missing/", want=1)
    assert not os.path.exists(TMP + "/missing")
    hits, _ = compiled(env=dict(ENV, DLC_TUNING_DB=TEAM))
    assert hits == compiled("--tuning-db=" + TEAM)[0]

def shipped(**more):
    """The environment of a new user whose dlc came with these logs."""
    new = f"{TMP}/new{len(glob.glob(TMP + '/new*'))}"
    os.makedirs(new)
    return dict(ENV, XDG_DATA_HOME=new + "/data", XDG_CACHE_HOME=new + "/cache", DLC_TUNING_LOGS=TMP + "/ship", **more)

def logs_are_shipped():
    """In an empty home compile hits what is shipped, unless there is to be no database; dlc info says what it is."""
    ran = {json.loads(l)["workload"] for l in db("best", TEAM, "--json").stdout.splitlines()}
    open(TMP + "/best.jsonl", "w").write(db("export", TEAM, "--best=1").stdout)
    os.makedirs(TMP + "/ship")
    assert compiled(env=shipped())[0]["exact"] == 0 # an empty folder is normal
    assert json.loads(run("dlc-info", "--json", env=shipped()).stdout)["shipped"] == []
    db("import", TMP + "/ship/cpu/", TMP + "/best.jsonl")
    env = shipped()
    hits, said = compiled(env=env)
    assert hits["exact"] == len(ran) and said == "", (hits, said)
    for none in (compiled("--tuning-db=none", env=env), compiled(env=dict(env, DLC_TUNING_DB="none"))):
        assert none[0]["exact"] == 0, none
    row, = json.loads(run("dlc-info", "--json", env=env).stdout)["shipped"]
    assert row["runs"] == len(ran) and row["target"].startswith("cpu:"), row
    said = run("dlc-info", env=env).stdout
    assert f"{row['target']}: {len(ran)} runs" in said and f"shipped   {TMP}/ship" in said, said
    assert "of others" in run("dlc-compile", *MODEL, "-o", TMP + "/m.dlcb", "--explain", env=env).stdout
    # The user's own come first.
    run("dlc-tune", *MODEL, "--trials=4", env=env)
    said = run("dlc-compile", *MODEL, "-o", TMP + "/m.dlcb", "--explain", env=env).stdout
    assert "of others" in said and any("exact" in l and "of others" not in l for l in said.splitlines()), said

def what_comes_with_dlc_is_hit():
    """In an empty home resnet18 and another network hit all their Tasks in the logs of this source tree, on one thread
    and on two."""
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    now = int(re.search(r"CODEGEN_EPOCH = (\d+)", open(source + "/src/codegen/codegen.h").read())[1])
    for target, segment, network in [(t, *s) for t in ("cpu-x86-64-v3", "cpu-x86-64-v4")
                                     for s in (("retune", "resnet18"), ("more", "dcgan"))]:
        head, *log = unpacked(f"{source}/tuning_logs/{target}/{segment}.jsonl.gz")
        epochs = {r["codegen_epoch"] for r in map(json.loads, log) if r["kind"] == "environment"}
        if now not in epochs:
            print(f"skipped: {target}: its log is of code {epochs}, not {now}: tools/retune renews it")
            continue
        assert f"--network={network} " in json.loads(head)["command"], head
        env = dict(shipped(), DLC_TUNING_LOGS=source + "/tuning_logs")
        for threads in "1", "2":
            p = run("dlc-compile", network, "--target=" + target.removeprefix("cpu-"), "--threads=" + threads,
                "--require=exact", "--json", "-o", TMP + "/m.dlcb", env=env)
            hits = json.loads(p.stdout)["hits"]
            assert hits["exact"] == sum(hits.values()) > 5, hits

def the_best_alone():
    """export --best has N schedules of each task, what they name, and nothing else; it imports whole."""
    every = [json.loads(l) for l in lines(TEAM)]
    best = {json.loads(l)["record"] for l in db("best", TEAM, "--json").stdout.splitlines()}
    one, two = ([json.loads(l) for l in db("export", TEAM, f"--best={n}").stdout.splitlines()] for n in (1, 2))
    assert {r["id"] for r in one if r["kind"] == "run"} == best
    assert all(r in every for r in two) and len(one) <= len(two) < len(every)
    per = {}
    for r in two:
        if r["kind"] == "run":
            per.setdefault(r["workload"], set()).add(r["trace"])
    assert {r["id"] for r in two if r["kind"] == "workload"} == set(per) and max(map(len, per.values())) <= 2
    assert not any(r["kind"] == "closing" for r in two)
    p = db("import", TMP + "/two.sqlite", "-", input="\n".join(json.dumps(r, sort_keys=True, separators=(",", ":"),
        ensure_ascii=False) for r in two))
    assert p.stdout == f"{len(two)} new, 0 known, 0 skipped\n", p.stdout
    db("export", TEAM, "12", "--best=1", want=2)

def sealed(record):
    del record["id"]
    line = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    record["id"] = hashlib.blake2b(f"dlc/{record['kind']}/v1\0{line}".encode(), digest_size=16).hexdigest()
    return json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

def same_code(tool, log):
    """A log of two older epochs: runs of the newer one get this epoch, since both builds make the same code; one of the
    older epoch stays."""
    head, *lines = unpacked(log)
    records = [json.loads(l) for l in lines]
    now, = {r["codegen_epoch"] for r in records if r["kind"] == "environment"}
    env = next(r for r in records if r["kind"] == "environment")
    older = [json.loads(sealed(dict(env, codegen_epoch=now - k))) for k in (1, 2)]
    runs = [r for r in records if r["kind"] == "run"]
    changed = [json.loads(sealed(dict(r, environment=older[k == 0]["id"]))) for k, r in enumerate(runs)]
    with gzip.open(log, "wt") as f:
        for r in [json.loads(head), *(r for r in records if r["kind"] not in ("environment", "run")), *older, *changed]:
            f.write(json.dumps(r, sort_keys=r["kind"] != "log", separators=(",", ":"), ensure_ascii=False) + "\n")
    p = subprocess.run([sys.executable, tool, "--same=" + BUILD, "--build=" + BUILD, f"--out={TMP}/out"], env=ENV,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200)
    said = f"{len(runs) - 1} of {len(runs)} runs have the same code in epoch {now}"
    assert p.returncode == 0 and said in p.stdout, (p.stdout, p.stderr[-300:])
    head, *lines = unpacked(log)
    ids = {r["id"] for r in map(json.loads, lines)}
    assert {r["id"] for r in runs[1:]} < ids and changed[0]["id"] in ids and runs[0]["id"] not in ids
    assert head.count("; tools/retune --same=") == 1 and len(lines) == len(records) + 2

def retune():
    """tools/retune fills a folder of a target, and a second call tunes nothing again. What has the same code stays."""
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/retune")
    words = [sys.executable, tool, "--build=" + BUILD, f"--work={TMP}/work", "--network=mlp", "--network=lstm",
             "--threads=1", "--budget=4s", "--search=random", f"--out={TMP}/out"]
    tuned = "mlp --target=host --threads=1 --budget=4s --search=random"
    for turn in range(2):
        p = subprocess.run(words, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200)
        assert p.returncode == 0 and (tuned in p.stdout) == (turn == 0), (p.stdout, p.stderr[-300:])
        log, = segments(TMP + "/out")
        head = unpacked(log)[0]
        assert json.loads(head)["command"].startswith("tools/retune --target=host --threads=1 --network=mlp"), head
        assert "/cpu-" in log and json.loads(head)["kind"] == "log" and "/tmp" not in head and TMP not in head, head
    p = subprocess.run([*words, "--target=nothing"], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert p.returncode == 2 and "no such target" in p.stderr and segments(TMP + "/out") == [log], p.stderr
    # Other segments stay.
    p = subprocess.run([*words, "--segment=more", "--best=1"], env=ENV, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, timeout=200)
    more, old = segments(TMP + "/out")
    assert p.returncode == 0 and "/more." in more and old == log, (p.stdout, p.stderr)
    assert json.loads(unpacked(more)[0])["command"].endswith(" --best=1 --segment=more"), unpacked(more)[0]
    os.remove(more)
    same_code(tool, log)
    env = dict(shipped(), DLC_TUNING_LOGS=TMP + "/out")
    p = run("dlc-compile", "mlp", "-o", TMP + "/m.dlcb", "--json", "--require=exact", env=env)
    assert json.loads(p.stdout)["hits"]["exact"] > 0

def teach():
    """tools/teach draws schedules, has a model choose some, keeps both, and trains a model that can be made again."""
    if not json.loads(run("dlc-info", "--json").stdout)["features"]["xgboost"]:
        return
    tool = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/teach")
    words = [sys.executable, tool, "--build=" + BUILD, f"--out={TMP}/taught", f"--logs={TMP}/taught_logs"]
    more = [f"--work={TMP}/teach", "--network=squeezenet1_1", "--rounds=20s,5s", "--segment=one"]
    models = []
    os.mkdir(TMP + "/taught_logs")
    for turn in more, more, ["--rounds=none"]:
        p = subprocess.run([*words, *turn], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            timeout=200)
        if not models and p.returncode != 0 and "tune first" in p.stderr:
            print("skipped: a model that is taught: the machine measured too few schedules in 20 s")
            return
        assert p.returncode == 0 and p.stdout.count("squeezenet1_1 ") == (2 if not models else 0), (p.stdout, p.stderr)
        with open(TMP + "/taught_logs/cpu.model", "rb") as f:
            head, trees = f.read()[:-16].split(b"\n", 1)
        models.append((json.loads(head)["data"], trees))
    assert models[0] == models[1] == models[2] and len(models[0][1]) <= 1 << 20, models
    log, = segments(TMP + "/taught")
    head, *lines = unpacked(log)
    assert "/cpu-" in log and log.endswith("/one.jsonl.gz") and TMP not in head, head
    assert json.loads(head)["command"] == \
        "tools/teach --target=host --threads=1 --network=squeezenet1_1 --rounds=20s,5s --segment=one", head
    records = [json.loads(l) for l in lines]
    assert {r["search"] for r in records if r["kind"] == "session"} == {"random", "rank"}, records[0]
    assert all(r["status"] == "ok" for r in records if r["kind"] == "run")
    os.rename(TMP + "/teach", TMP + "/teach_before")
    before = open(log, "rb").read()
    for bad, why in (([f"--work={TMP}/teach", "--network=mlp", "--rounds=2s", "--segment=one"], "another --segment"),
                     (["--rounds=none", "--logs=" + TMP + "/nowhere"], "there is no such folder")):
        p = subprocess.run([*words, *bad], env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert p.returncode == 1 and why in p.stderr and open(log, "rb").read() == before, p.stderr

main(a_folder_is_a_database, own_records_outlive_the_cache, a_colleagues_folder, lines_go_in_and_out, damage_is_named,
     logs_may_be_packed, places_that_cannot_be_written, what_is_not_there, the_best_alone, logs_are_shipped,
     what_comes_with_dlc_is_hit, retune, teach)
