#!/usr/bin/env python3
"""Databases from outside: what dlc db says, which records dlc compile takes, and what bad ones cost.

    records.py BUILD

Every check is a function; its first line says what a user may rely on."""
import json, os, random, re, shutil, sqlite3, struct, subprocess, sys, tempfile, time

from world import BUILD, ENV, TMP, array, lines, main, run, seal

MODEL = ["squeezenet1_1", "--shape=data=1,3,35,35"]
DB = TMP + "/a.sqlite"
STAGES = ["look", "full", "race", "network"]

def db(verb, *args, **how):
    return run("dlc-db", verb, *args, **how)

def rows(verb, *args, **how):
    return [json.loads(l) for l in db(verb, *args, "--json", **how).stdout.splitlines()]

def merged(name, *extra):
    """A new database with the records of DB and more lines."""
    path = f"{TMP}/{name}.sqlite"
    open(TMP + "/more.jsonl", "w").write("\n".join([*lines(DB), *extra]) + "\n")
    return path, db("import", path, TMP + "/more.jsonl").stdout

def compiled(path, *args, want=0):
    p = run("dlc-compile", *MODEL, "--tuning-db=" + path, "-o", TMP + "/m.dlcb", "--json", *args, want=want)
    return (json.loads(p.stdout) if want == 0 else None), p.stderr

def bytes_of(path):
    return open(path, "rb").read()

def a_run(path, **fields):
    """An ok run of a task, as a record, and changed."""
    r = next(r for r in map(json.loads, lines(path)) if r["kind"] == "run" and r["status"] == "ok")
    return dict(r, **fields)

def the_verbs():
    """list, best, show, stats and log agree with the lines."""
    run("dlc-tune", *MODEL, "--tuning-db=" + DB, "--trials=40")
    records = [json.loads(l) for l in lines(DB)]
    runs = [r for r in records if r["kind"] == "run"]
    tasks = {r["id"] for r in records if r["kind"] == "workload"}
    listed = rows("list", DB)
    assert {r["workload"] for r in listed} == tasks and sum(r["runs"] for r in listed) == len(runs) == 40
    keys = {"workload", "target", "trace", "median_ns", "samples", "status", "verified", "session"}
    best = rows("best", DB)
    assert len(best) == len(tasks) and all(keys <= set(b) for b in best)
    for b in best:
        mine = [r for r in runs if r["workload"] == b["workload"] and r["trace"] == b["trace"] and r["status"] == "ok"]
        stage = max(STAGES.index(r["stage"]) for r in mine)
        mine = [r for r in mine if STAGES.index(r["stage"]) == stage]
        mine = [r["median_ns"] for r in mine if r["samples"] == max(r["samples"] for r in mine)]
        mine.sort()
        n = len(mine)
        assert b["median_ns"] == mine[(n - 1) // 2] + (mine[n // 2] - mine[(n - 1) // 2]) // 2, b
        assert b["verified"] is True and b["status"] == "ok"
    session = rows("log", DB)
    assert len(session) == 1 and session[0]["runs"] == 40 and session[0]["model"] == MODEL[0]
    stats = rows("stats", DB)[0]
    assert stats["records"]["run"] == 40 and stats["status"]["ok"] == sum(r["status"] == "ok" for r in runs)
    assert sum(stats["targets"].values()) == 40 and stats["line_bytes"] == sum(map(len, lines(DB)))
    for r in random.Random(1).sample(records, 10):
        assert json.loads(db("show", DB, r["id"][:14], "--json").stdout) == r
        assert r["id"] in db("show", DB, r["id"]).stdout
    for verb in ("list", "best", "log", "stats"):
        assert len(db(verb, DB).stdout) > 40

def prefixes():
    """Several records that begin so are named; none is exit 3; a task's lines travel alone."""
    ids = [json.loads(l)["id"] for l in lines(DB)]
    first = max("0123456789abcdef", key=lambda d: sum(i[0] == d for i in ids))
    p = db("show", DB, first, want=3)
    same = sorted(i for i in ids if i[0] == first)
    assert len(same) >= 2 and all(i[:12] in p.stderr for i in same[:10]) and len(p.stderr.splitlines()) <= 12, p.stderr
    for prefix in ("ffffffffffff", "zz", "f" * 33):
        assert db("show", DB, prefix, want=3).stdout == ""
    db("best", DB, "ffffffff", want=3)
    db("show", DB, want=2)
    task = rows("best", DB)[0]["workload"]
    mine = [json.loads(l) for l in lines(DB, task[:10])]
    assert {r["id"] for r in mine if r["kind"] == "workload"} == {task}
    assert all(r["workload"] == task for r in mine if r["kind"] == "run")
    open(TMP + "/one.jsonl", "w").write("\n".join(map(seal, mine)) + "\n")
    assert db("import", TMP + "/one.sqlite", TMP + "/one.jsonl").stdout == f"{len(mine)} new, 0 known, 0 skipped\n"
    open(TMP + "/t.trace", "w").write(db("best", DB, task[:10]).stdout)
    assert "for " in run("dlc-show", *MODEL, "--stage=ir", f"--apply={TMP}/t.trace").stdout

def empty_databases():
    """Nothing in it is no error: list, stats, log, best, export, check, verify, import."""
    open(TMP + "/none.jsonl", "w")
    assert db("import", TMP + "/empty.sqlite", TMP + "/none.jsonl").stdout.startswith("0 new")
    for verb in "list stats log best export check verify".split():
        db(verb, TMP + "/empty.sqlite")
    db("best", TMP + "/empty.sqlite", "12", want=3)
    assert compiled(TMP + "/empty.sqlite")[0]["hits"]["exact"] == 0

def any_order():
    """A log's lines may come in any order and again; what names a record that never comes is skipped, with its line."""
    text = lines(DB)
    run_line = next(l for l in text if '"kind":"run"' in l)
    text.append(seal({"kind": "retraction", "run": json.loads(run_line)["id"], "reason": "try"}))
    for seed in range(3):
        mixed = text + text[:20]
        random.Random(seed).shuffle(mixed)
        open(TMP + "/mixed.jsonl", "w").write("\n".join(mixed) + "\n")
        path = f"{TMP}/mixed{seed}.sqlite"
        assert db("import", path, TMP + "/mixed.jsonl").stdout == f"{len(text)} new, 20 known, 0 skipped\n"
        assert sorted(lines(path)) == sorted(text)
        db("check", path)
    env = json.loads(run_line)["environment"]
    some = [l for l in reversed(text) if json.loads(l)["id"] != env]
    runs = sum('"kind":"run"' in l for l in text)
    p = db("import", TMP + "/some.sqlite", "-", input="\n".join(some))
    assert p.stdout == f"{len(some) - runs - 1} new, 0 known, {runs + 1} skipped\n", p.stdout
    assert re.search(r"skipped \d+ lines; the first: -:\d+: the r.* names a record that is not there",
                     p.stderr), p.stderr
    assert db("import", TMP + "/some.sqlite", TMP + "/mixed.jsonl").stdout.endswith(" 0 skipped\n")

def what_there_is_to_tune():
    """dlc show --stage=tasks --json has the promised keys; --stage=space the knobs and their defaults."""
    keys = {"key", "op", "weight", "flops", "bytes", "space", "valid_percent", "best_ms", "default_ms",
            "direct_roof_percent", "bound"}
    show = lambda *a: [json.loads(l) for l in run("dlc-show", *MODEL, "--json", *a).stdout.splitlines()]
    with_db, without = show("--stage=tasks", "--tuning-db=" + DB), show("--stage=tasks", "--tuning-db=none")
    best = {b["workload"]: b["median_ns"] / 1e6 for b in rows("best", DB)}
    assert {t["key"] for t in with_db} == {t["key"] for t in without} == set(best)
    for t, u in zip(with_db, without):
        assert keys <= set(t) and abs(t["best_ms"] - best[t["key"]]) < 1e-9, t
        assert t["space"] >= 1 and 0 < t["valid_percent"] <= 100 and t["direct_roof_percent"] > 0, t
        assert t["bound"] in ("compute", "memory"), t
        assert u["best_ms"] is None and u["default_ms"] is None and u["direct_roof_percent"] is None, u
    for s in show("--stage=space"):
        options = {}
        rows_of = [(k["name"], k.get("under")) for k in s["knobs"]]
        assert len(set(rows_of)) == len(rows_of), rows_of
        for k in s["knobs"]:
            options.setdefault(k["name"], []).extend(k["options"])
        assert s["default"] and all(option in options[k] for k, option in s["default"].items()), s
        assert s["space"] == next(t["space"] for t in without if t["key"] == s["key"]), s
    task = without[0]["key"]
    assert "knobs" in run("dlc-show", *MODEL, "--stage=space", "--task=" + task).stdout
    run("dlc-show", *MODEL, "--stage=space", "--task=zz", want=3)
    run("dlc-show", *MODEL, "--stage=ir", "--json", want=2)

def folders_of_logs():
    """A folder's logs are imported, all of them; one without logs is told."""
    os.makedirs(TMP + "/logs")
    text = lines(DB)
    open(TMP + "/logs/a.jsonl", "w").write("\n".join(text[:-5]) + "\n")
    open(TMP + "/logs/b.jsonl", "w").write("\n".join(text[-5:]) + "\n")
    open(TMP + "/logs/note.txt", "w").write("not a log\n")
    assert db("import", TMP + "/folder.sqlite", TMP + "/logs").stdout == f"{len(text)} new, 0 known, 0 skipped\n"
    assert lines(TMP + "/folder.sqlite") == text
    os.makedirs(TMP + "/empty")
    db("import", TMP + "/folder.sqlite", TMP + "/empty", want=1)

def databases_are_imported():
    """A database is taken as a log is, itself included; one that fails leaves none, but what came before stays."""
    n, path = len(lines(DB)), TMP + "/taken.sqlite"
    assert db("import", path, DB).stdout == f"{n} new, 0 known, 0 skipped\n" and lines(path) == lines(DB)
    assert db("import", path, DB, path).stdout == f"0 new, {2 * n} known, 0 skipped\n"
    db("check", path)
    for log in (TMP + "/nowhere.jsonl", TMP + "/empty", "/dev/null"):
        db("import", TMP + "/failed.sqlite", log, want=1)
        assert not os.path.exists(TMP + "/failed.sqlite")
    db("import", TMP + "/half.sqlite", DB, TMP + "/nowhere.jsonl", want=1)
    assert lines(TMP + "/half.sqlite") == lines(DB)

def older_databases():
    """dlc compiles from a database of an older schema; writing upgrades it, keeps a backup and says so on stderr."""
    path = TMP + "/v3.sqlite"
    c = sqlite3.connect(path)
    c.executescript("pragma journal_mode=wal; create table x(y); drop table x; "
        "CREATE TABLE record(id BLOB PRIMARY KEY NOT NULL,kind INTEGER NOT NULL,line TEXT NOT NULL);"
        "CREATE TABLE run(id BLOB PRIMARY KEY,workload BLOB NOT NULL);"
        "CREATE TABLE retraction(run BLOB PRIMARY KEY) WITHOUT ROWID;"
        "CREATE TABLE task(id BLOB PRIMARY KEY,family BLOB NOT NULL) WITHOUT ROWID;"
        "CREATE INDEX run_trace ON run(workload);"
        "pragma application_id=1145848660; pragma user_version=3;")
    c.executemany("insert into record values(?,4,?)", [(os.urandom(16), l) for l in lines(DB)])
    c.commit()
    c.close()
    before, (got, err) = bytes_of(path), compiled(path, "--require=exact")
    assert "version 3" in err and bytes_of(path) == before, err
    p = db("check", path)
    assert p.stdout == f"{len(lines(DB))} records, all sound\n" and "version 3" in p.stderr
    p = run("dlc-tune", *MODEL, "--tuning-db=" + path, "--trials=+1")
    assert f"upgraded from the schema of version 3" in p.stderr and path + ".v3.bak" in p.stderr, p.stderr
    assert set(lines(DB)) < set(lines(path)) and lines(path + ".v3.bak") == lines(DB)
    assert compiled(path, "--require=exact")[1] == ""

def hits():
    """Exact where there is a record, stale where the code was other, default for none."""
    n = len(rows("list", DB))
    assert compiled(DB)[0]["hits"] == {"exact": n, "near": 0, "stale": 0, "model": 0, "default": 0}
    assert compiled("none")[0]["hits"]["default"] == n
    env = next(r for r in map(json.loads, lines(DB)) if r["kind"] == "environment")
    other = seal(dict(env, codegen_epoch=env["codegen_epoch"] + 1))
    old = [seal(dict(r, environment=json.loads(other)["id"])) if r["kind"] == "run" else seal(r)
           for r in map(json.loads, lines(DB))
           if r["kind"] != "closing"] # which lists the runs as they were
    open(TMP + "/old.jsonl", "w").write("\n".join([other, *old]) + "\n")
    db("import", TMP + "/old.sqlite", TMP + "/old.jsonl")
    stale, _ = compiled(TMP + "/old.sqlite")
    assert stale["hits"]["stale"] == n, stale
    p = run("dlc-compile", "squeezenet1_1", "--shape=data=1,3,40,40", "--tuning-db=" + DB, "-o", TMP + "/n.dlcb",
            "--explain")
    counts = r"exact \d+, near \d+, stale 0, model 0, default \d+; estimated [0-9.]+ ms"
    assert re.search(counts, p.stdout), p.stdout[-200:]
    assert f"next: dlc-tune squeezenet1_1 --tuning-db={DB} --shape=data=1,3,40,40" in p.stdout, p.stdout[-200:]
    run("dlc-compile", "squeezenet1_1", "--shape=data=1,3,40,40", "--tuning-db=none", "--unscheduled", "-o",
        TMP + "/u.dlcb")
    for f in "nu":
        run("dlc-run", f"{TMP}/{f}.dlcb", "--seed=5", "--output", f"{TMP}/{f}.npy")
    a, b = array(TMP + "/n.npy"), array(TMP + "/u.npy")
    assert len(a) == 1000 and max(abs(x - y) for x, y in zip(a, b)) <= 1e-4 * max(map(abs, b))

def renamed_models_hit():
    """A model of other names with the same layers finds the same records."""
    run("dlc-show", *MODEL, "--stage=onnx", "-o", TMP + "/other.onnx")
    p = run("dlc-compile", TMP + "/other.onnx", "--tuning-db=" + DB, "-o", TMP + "/o.dlcb", "--json", "--require=exact")
    assert json.loads(p.stdout)["hits"]["exact"] == len(rows("list", DB))

def by_hand():
    """--try stores one run of the trace as it stands, in a session that says so; what is refused is none."""
    task, path = a_run(DB)["workload"], TMP + "/try.sqlite"
    trace = db("best", DB, task).stdout
    open(TMP + "/t.trace", "w").write(trace)
    p = run("dlc-tune", *MODEL, "--tuning-db=" + path, f"--try={TMP}/t.trace", "--json")
    out = [json.loads(l) for l in p.stdout.splitlines()]
    tried = json.loads(db("show", path, out[0]["trial"], "--json").stdout)
    assert out[1]["trials"] == 1 and tried["workload"] == task, tried
    assert tried["trace"] == rows("best", DB, task)[0]["trace"] and tried["probe_mflops"] > 0, tried
    assert "wall clock" in json.loads(db("show", path, tried["session"], "--json").stdout)["method"]
    assert 0 < out[1]["fma_probe_gflops_least"] <= out[1]["fma_probe_gflops_most"]
    steps = "".join(l for l in trace.splitlines(True) if not l.startswith(("#", "task")))
    run("dlc-tune", *MODEL, "--tuning-db=" + path, "--try=-", "--tasks=" + task[:10], input=steps)
    run("dlc-tune", *MODEL, "--tuning-db=" + path, "--try=-", input=steps, want=1) # for which task?
    times = {} # of each task
    for r in map(json.loads, lines(DB)):
        if r["kind"] == "run" and r["status"] == "ok":
            times.setdefault(r["workload"], []).append((r["median_ns"], r["trace"]))
    task = max(times, key=lambda t: max(times[t])[0] / min(times[t])[0])
    full, slow = merged("tried")[0], max(times[task])[1] # the database has faster ones
    p = run("dlc-tune", *MODEL, "--tuning-db=" + full, "--try=-", "--tasks=" + task, "--json", input=slow)
    out = [json.loads(l) for l in p.stdout.splitlines()]
    tried = json.loads(db("show", full, out[0]["trial"], "--json").stdout)
    assert tried["trace"] == slow, tried # slow when it was measured first, at least
    shown = run("dlc-show", *MODEL, "--json", "--stage=tasks", "--tuning-db=none").stdout.splitlines()
    weight = next(t["weight"] for t in map(json.loads, shown) if t["key"] == task)
    assert round(out[1]["tasks_ms"] * 1e6) == weight * tried["median_ns"], (tried, out[1])
    p = run("dlc-tune", *MODEL, "--tuning-db=" + path, "--try=-", input=f"task {task}\nsplit nowhere 4\n", want=1)
    assert "standard input:2: there is no loop" in p.stderr, p.stderr
    assert [(s["search"], s["runs"]) for s in rows("log", path)] == [("by hand", 1)] * 2 # of one second, mostly

def who_may_only_read():
    """A reader who may not write a database leaves nothing beside it; a writer is told what is in the way."""
    user, folder = 65534, TMP + "/folder"
    if os.getuid() == 0: # who may write anything
        other = dict(preexec_fn=lambda: os.setuid(user))
        try:
            subprocess.run([BUILD + "/dlc-db", "--version"], stdout=subprocess.DEVNULL, env=ENV, check=True, **other)
        except (OSError, subprocess.SubprocessError):
            return print("skipped: who_may_only_read: nobody may not run " + BUILD)
        os.chmod(TMP, 0o755)
    else:
        user, other = os.getuid(), {}
    os.mkdir(folder)
    shutil.copy(DB, folder + "/a.sqlite")
    for path in (folder, folder + "/a.sqlite"):
        os.chown(path, user, -1)
    os.chmod(folder + "/a.sqlite", 0o444)
    db("list", folder + "/a.sqlite", **other)
    assert os.listdir(folder) == ["a.sqlite"], os.listdir(folder)
    assert "read-only" in db("import", folder + "/a.sqlite", TMP + "/one.jsonl", want=5, **other).stderr
    os.chmod(folder + "/a.sqlite", 0o644)
    db("import", folder + "/a.sqlite", TMP + "/none.jsonl", **other)
    open(folder + "/a.sqlite-wal", "w")
    os.chmod(folder + "/a.sqlite-wal", 0o444)
    os.chown(folder + "/a.sqlite-wal", user, -1)
    assert "a.sqlite-wal: cannot be written" in db("import", folder + "/a.sqlite", TMP + "/none.jsonl", want=5,
                                                   **other).stderr
    os.chmod(folder, 0o555)
    assert "the database cannot be made" in db("import", folder + "/b.sqlite", TMP + "/none.jsonl", want=5,
                                               **other).stderr

def locks():
    """A lock is written once and then obeyed: same bundle; what it names must be there; --require refuses less."""
    lock = TMP + "/m.lock"
    compiled(DB, "--lock=" + lock, "--require=exact")
    first, text = bytes_of(TMP + "/m.dlcb"), open(lock).read()
    slow = seal(a_run(DB, median_ns=900, min_ns=900, seq=999, trace="split n 1\n"))
    path, _ = merged("later", slow)
    compiled(path, "--lock=" + lock)
    assert bytes_of(TMP + "/m.dlcb") == first and open(lock).read() == text
    compiled("none", "--lock=" + lock, want=3)
    assert bytes_of(TMP + "/m.dlcb") == first
    _, err = compiled("none", "--require=near", want=3)
    assert len(err.splitlines()) <= 12 and "no near schedule" in err
    compiled("none", "--lock=" + TMP + "/new.lock", "--require=exact", want=3)
    assert not os.path.exists(TMP + "/new.lock")
    open(lock, "w").write(text.replace("exact", "perhaps", 1))
    compiled(DB, "--lock=" + lock, want=1)
    run("dlc-compile", "resnet18", "--shape=data=1,3,33,33", "--tuning-db=" + DB, "-o", TMP + "/x.dlcb",
        "--lock=" + TMP + "/m.lock", want=1)
    open(lock, "w").write(text)
    run("dlc-compile", "resnet18", "--shape=data=1,3,33,33", "--tuning-db=" + DB, "-o", TMP + "/x.dlcb",
        "--lock=" + lock, want=3)

def claims():
    """A log that claims 1 ns is told and wins nothing, here and in the tuner; so does an illegal trace."""
    want = compiled(DB)[0]
    good = bytes_of(TMP + "/m.dlcb")
    task = a_run(DB)["workload"]
    ns = rows("best", DB, task)[0]["median_ns"] * 9 // 10
    session = seal(dict(next(r for r in map(json.loads, lines(DB)) if r["kind"] == "session"), seed=12345))
    claim = lambda **fields: seal(a_run(DB, session=json.loads(session)["id"], stage="network", **fields))
    path, said = merged("claims", session, claim(median_ns=1, min_ns=1, mad_ns=0, trace="split n 1\n"),
                        claim(median_ns=ns, min_ns=ns, mad_ns=0, trace="split nowhere 4\n"),
                        claim(median_ns=ns, min_ns=ns, trace="split n 1\nsplit n.o 1\n", max_err_e9=-1),
                        claim(median_ns=ns, min_ns=ns, trace="split n 1\nsplit n.i 1\n", max_err_e9=10**9))
    assert int(said.split()[0]) == len(lines(DB)) + 5, said
    got, err = compiled(path)
    assert bytes_of(TMP + "/m.dlcb") == good and got["hits"] == want["hits"], got
    assert "1 record is left out: no core is as fast" in err, err
    path2, _ = merged("tuned", session, claim(median_ns=1, min_ns=1, mad_ns=0, trace="split n 1\n"))
    p = run("dlc-tune", *MODEL, "--tuning-db=" + path2, "--tasks=" + task, "--trials=+2", "--json")
    t = json.loads(p.stdout.splitlines()[-1])
    assert t["trials"] <= 2 and t["failed"] == 0 and (t["tasks_ms"] or 1) > 1e-5, t
    p = db("verify", path, task, want=1)
    assert "WRONG" in p.stdout and "1 wrong" in p.stdout, p.stdout
    for i in range(2): # the second one is the best where the first is retracted
        p = db("verify", path, task, "--retract")
        assert p.stdout.count("WRONG") == 1 and "1 wrong, 1 retracted" in p.stdout, p.stdout
    assert compiled(path)[1] == "" and bytes_of(TMP + "/m.dlcb") == good
    db("verify", path)
    slow, _ = merged("slow", session, claim(median_ns=100 * ns, min_ns=100 * ns, mad_ns=0, trace="split n 1\n"))
    p = db("verify", slow, task, "--all") # a busy machine recorded it, and nothing is claimed that is not so
    assert "WRONG" not in p.stdout, p.stdout
    db("check", path)
    assert sum(json.loads(l)["kind"] == "retraction" for l in lines(path)) == 2
    mine = next(r["id"] for r in map(json.loads, lines(path)) if r["kind"] == "run" and r["workload"] == task
                and r["trace"] == a_run(DB)["trace"])
    db("retract", path, mine, "--reason=a draught")
    assert "retracted" in db("show", path, mine).stdout

def disputes():
    """A schedule that failed in others' sessions is still the best where it was measured; verify tries it."""
    path, best = TMP + "/disputed.sqlite", rows("best", DB)[0]
    shutil.copy(DB, path)
    first = next(r for r in map(json.loads, lines(DB)) if r["kind"] == "session")
    sessions = [seal(dict(first, seed=k)) for k in range(100, 105)]
    failed = dict(a_run(DB), workload=best["workload"], trace=best["trace"], status="wrong_result", median_ns=0,
                  min_ns=0, mad_ns=0, samples=0,
                  max_err_e9=-1, detail="it is not so")
    runs = [seal(dict(failed, session=json.loads(s)["id"])) for s in sessions]
    open(TMP + "/disputes.jsonl", "w").write("\n".join(sessions + runs) + "\n")
    assert db("import", path, TMP + "/disputes.jsonl").stdout == "10 new, 0 known, 0 skipped\n"
    assert rows("best", path, best["workload"])[0]["record"] == best["record"]
    p = db("verify", path, best["workload"])
    assert "good" in p.stdout and "1 good, 0 wrong" in p.stdout, p.stdout
    # In a database that holds only those lines the failures bar the schedule, and it is tried.
    theirs = TMP + "/theirs.sqlite"
    db("import", theirs, *(open(f"{TMP}/{n}.jsonl", "w").write("\n".join(l) + "\n") and f"{TMP}/{n}.jsonl" for n,
                           l in [("l", lines(path))]))
    assert best["trace"] not in [b["trace"] for b in rows("best", theirs) if b["workload"] == best["workload"]]
    p = db("verify", theirs, best["workload"])
    assert "; 5 sessions saw it fail" in p.stdout, p.stdout

def hostile():
    """A few lines that would keep a compiler for minutes cost seconds and themselves, wherever they are replayed."""
    channels = lambda l: int(re.search(r"(\d+),3,3\]", l)[1]) # written out, those of the largest are too much code
    conv = json.loads(max((l for l in lines(DB) if '"kind":"workload"' in l and "conv(" in l and "kernel" not in l
                           and ",3,3]" in l), key=channels))["id"]
    mine = next(r for r in map(json.loads, lines(DB)) if r["kind"] == "run" and r["status"] == "ok"
                and r["workload"] == conv)
    best = next(b for b in rows("best", DB) if b["workload"] == conv)["median_ns"]
    cuts = lambda loop, n: "".join(f"cut {loop}{'.2' * i} 1\n" for i in range(n))
    bad = ["".join(f"unroll {l}\n" for l in ("kw", "kh", "c")) + cuts("o", 14) + cuts("h", 14),
           "unroll kw\nunroll kh\nunroll c\nunroll w\nsplit h 2\nunroll h.i\n" + cuts("o", 14),
           "".join(cuts(l, 8) for l in ("kw", "kh", "c", "w", "h", "o")) * 3,
           "split n 1\n" * 5000, "cut o 1 # \x1b]0;title\x07\n" * 3]
    path, said = merged("hostile", *(seal(dict(mine, median_ns=best * 9 // 10 - i, min_ns=best * 9 // 10 - i,
                                               trace=t)) for i, t in enumerate(bad)))
    start = time.time()
    got, err = compiled(path)
    assert got["hits"]["default"] <= 1 and time.time() - start < 60, (got, time.time() - start)
    p = db("verify", path, conv, "--all", want=1)
    assert "at most" in p.stdout, p.stdout
    start = time.time()
    run("dlc-tune", *MODEL, "--tuning-db=" + path, "--tasks=" + conv, "--budget=2s")
    assert time.time() - start < 60, time.time() - start
    open(TMP + "/bad.trace", "w").write(f"task {conv}\n" + bad[1])
    for p in (run("dlc-show", *MODEL, "--stage=ir", "--apply=" + TMP + "/bad.trace", want=1),
              run("dlc-tune", *MODEL, "--tuning-db=" + TMP + "/try.sqlite", "--try=" + TMP + "/bad.trace", want=1)):
        assert "at most" in p.stderr and "bad.trace:" in p.stderr, p.stderr

def terminals():
    """What strangers write moves no cursor: no verb prints a control character of a record, a trace or a model."""
    evil = "\x1b[31m\x1b]0;t\x07\x7f\u009b2J\u202e\r"
    run_, r = a_run(DB), lambda k: next(r for r in map(json.loads, lines(DB)) if r["kind"] == k)
    session = seal(dict(r("session"), tool="t" + evil, search="s" + evil, model="m" + evil, method="w" + evil))
    env = seal(dict(r("environment"), compiler="c" + evil))
    target = seal(dict(r("target"), type="cpu" + evil, model="z" + evil))
    named = dict(session=json.loads(session)["id"], environment=json.loads(env)["id"])
    ns = dict(median_ns=run_["median_ns"] // 2 + 100, min_ns=run_["median_ns"] // 2)
    runs = [seal(dict({**run_, **named, **ns}, detail="d" + evil, trace="split n 1 # " + evil + "\n")),
            seal(dict({**run_, **named, **ns}, detail="d" + evil, trace="split " + evil + " 1\n")),
            seal(dict({**run_, **named}, status="crash", detail="d" + evil, target=json.loads(target)["id"],
                      trace=evil))]
    gone = seal({"kind": "retraction", "run": json.loads(runs[2])["id"], "reason": "r" + evil})
    path, said = merged("evil", session, env, target, *runs, gone)
    steps = "\nsplit n 1 # " + evil + "\nunroll " + evil + "\n"
    open(TMP + "/evil.trace", "w").write("task " + run_["workload"] + steps)
    open(TMP + "/evil.jsonl", "w").write('{"kind":"' + evil + '"}\n\x1b[2J\n')
    ids = [json.loads(l)["id"] for l in (session, env, target, *runs, gone)]
    assert said.endswith(" 0 skipped\n"), said
    calls = [["dlc-db", v, path] for v in ("list", "best", "stats", "log", "check")]
    calls += [["dlc-db", "show", path, i] for i in ids]
    calls += [["dlc-db", "verify", path, run_["workload"], "--all"], ["dlc-db", "import", path, TMP + "/evil.jsonl"],
              ["dlc-compile", *MODEL, "--tuning-db=" + path, "-o", TMP + "/e.dlcb", "--explain"],
              ["dlc-show", *MODEL, "--stage=tasks", "--tuning-db=" + path],
              ["dlc-show", *MODEL, "--stage=plan", "--tuning-db=" + path],
              ["dlc-show", *MODEL, "--stage=ir", "--apply=" + TMP + "/evil.trace"],
              ["dlc-show", *MODEL, "--stage=trace", "--apply=" + TMP + "/evil.trace"],
              ["dlc-tune", *MODEL, "--tuning-db=" + TMP + "/t.sqlite", "--try=" + TMP + "/evil.trace"]]
    for call in calls:
        p = subprocess.run([BUILD + "/" + call[0], *call[1:]], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENV,
                           timeout=240)
        out = (p.stdout + p.stderr).replace(b"\r\x1b[K", b"") # the progress of dlc-compile
        bad = [c for c in out.decode() if (ord(c) < 32 and c not in "\n\t") or 127 <= ord(c) < 160 or c == "\u202e"]
        assert p.returncode in (0, 1) and not bad, (call, p.returncode, bad, out[:300])

def garbage():
    """Whatever is imported: one sentence, in bounded memory, and the lines around it are taken."""
    good = lines(DB)
    run_ = next(l for l in good if '"kind":"run"' in l)
    for name, junk in dict(giant=b"x" * 100_000_000, nested=b"[" * 1_000_000, object=b'{"a":' * 1_000_000,
                           half=run_[:len(run_) // 2].encode(),
                           binary=random.Random(1).randbytes(3_000_000), nul=b"\0" * 100_000,
                           quote=b'"' * 2_000_001).items():
        open(TMP + "/junk.jsonl", "wb").write(junk + b"\n" + "\n".join(good).encode() + b"\n")
        path = f"{TMP}/junk.{name}.sqlite"
        code = ("import resource, subprocess, sys;"
                "p = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT);"
                "print(p.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, p.stdout.decode())")
        p = subprocess.run([sys.executable, "-c", code, BUILD + "/dlc-db", "import", path, TMP + "/junk.jsonl"],
                           stdout=subprocess.PIPE, env=ENV, timeout=240)
        rc, kb, said = p.stdout.decode().split(" ", 2)
        assert rc == "0" and f"{len(good)} new" in said, (name, rc, said[:300])
        assert len(said.strip().splitlines()) == 2 and len(said) < 700, (name, said[:300])
        assert int(kb) < 400_000, (name, kb)

def damage():
    """Damaged, cut, newer and foreign databases and logs: a sentence, exit 1, nothing changed, no crash."""
    rng, data = random.Random(1), bytes_of(DB)
    for i in range(12):
        bad = bytearray(data)
        if i % 3 == 0:
            bad = bad[:rng.randrange(len(bad))]
        else:
            for _ in range(16):
                bad[rng.randrange(min(len(bad), 65536 if i % 3 == 1 else len(bad)))] ^= 1 << rng.randrange(8)
        path = TMP + "/bad.sqlite"
        open(path, "wb").write(bad)
        for verb in ("check", "list", "best", "stats", "log"):
            p = subprocess.run([BUILD + "/dlc-db", verb, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               env=ENV, timeout=60)
            assert p.returncode in (0, 1) and (p.returncode == 0) == (p.stderr == b""), (verb, i, p.returncode,
                    p.stderr)
        p = subprocess.run([BUILD + "/dlc-compile", *MODEL, "--tuning-db=" + path, "-o", TMP + "/x.dlcb"],
                           stderr=subprocess.PIPE, env=ENV, timeout=60)
        assert p.returncode in (0, 1) and len(p.stderr.splitlines()) <= 12, (i, p.returncode, p.stderr)
        assert bytes_of(path) == bytes(bad)
    shutil.copy(DB, TMP + "/newer.sqlite")
    c = sqlite3.connect(TMP + "/newer.sqlite")
    c.execute("pragma user_version=99")
    c.commit()
    c.close()
    newer = bytes_of(TMP + "/newer.sqlite")
    for args in (["dlc-db", "list", TMP + "/newer.sqlite"],
                 ["dlc-db", "import", TMP + "/newer.sqlite", TMP + "/more.jsonl"],
                 ["dlc-compile", *MODEL, "--tuning-db=" + TMP + "/newer.sqlite", "-o", TMP + "/x.dlcb"],
                 ["dlc-tune", *MODEL, "--tuning-db=" + TMP + "/newer.sqlite", "--trials=1"]):
        assert "version 99" in run(*args, want=1).stderr
    assert bytes_of(TMP + "/newer.sqlite") == newer
    text = lines(DB)
    text[-1] = text[-1].replace('"id":"', '"id":"0', 1)
    open(TMP + "/hash.jsonl", "w").write("\n".join(text) + "\n")
    assert ", 1 skipped" in db("import", TMP + "/hash.sqlite", TMP + "/hash.jsonl").stdout

main(the_verbs, prefixes, empty_databases, any_order, what_there_is_to_tune, folders_of_logs, databases_are_imported,
     older_databases, hits, renamed_models_hit, by_hand, who_may_only_read, locks, claims, disputes, hostile,
     terminals, garbage, damage)
