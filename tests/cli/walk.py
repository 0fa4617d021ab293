#!/usr/bin/env python3
"""The main job from outside, on a small network: tune, interrupt, resume, compile, run; kill.py kills.

    walk.py BUILD

Every check is a function; its first line says what a user may rely on."""
import json, os, signal, subprocess, sys, time

from world import BUILD, ENV, TMP, array, lines, main, run

MODEL = ["squeezenet1_1", "--shape=data=1,3,35,35"]

def tune(db, *args, **how):
    lines = run("dlc-tune", *MODEL, "--tuning-db=" + db, "--json", *args, **how).stdout.splitlines()
    return [json.loads(l) for l in lines]

def exported(db):
    return [json.loads(l) for l in lines(db)]

def runs(db):
    return {r["id"] for r in exported(db) if r["kind"] == "run"}

def children_of(group):
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = open(f"/proc/{pid}/environ", "rb").read()
            state = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0]
        except OSError:
            continue
        if (TMP + "/data").encode() in environ and state != "Z" and int(pid) != os.getpid():
            out.append(int(pid))
    return out

def none_is_left(group):
    deadline = time.time() + 20 # a busy machine has some seconds to end them
    while children_of(group) and time.time() < deadline:
        time.sleep(0.02)
    assert not children_of(group), children_of(group)

def every_trial_is_a_record():
    """Each announced trial is in the database, named by its hash; a second run reuses them."""
    db = TMP + "/a.sqlite"
    out = tune(db, "--trials=30")
    trials, result = [o["trial"] for o in out[:-1]], out[-1]
    assert result["trials"] == 30 and len(trials) == 30, result
    assert 0 <= result["open"] <= result["tasks"], result
    assert set(trials) == runs(db)
    assert result["failed"] == 0, result
    assert result["network_ms"] > 0 and result["default_network_ms"] > 0 and result["tasks_ms"] > 0, result
    again = tune(db, "--trials=30")
    assert again[-1]["trials"] == 0 and again[-1]["reused"] == 30, again[-1]
    more = tune(db, "--trials=+3")
    assert more[-1]["trials"] == 3, more[-1]
    assert "sound" in run("dlc", "db", "check", db).stdout

def best_schedules_are_compiled():
    """dlc-compile takes exact hits, never writes the database, and gives the same bundle twice."""
    db = TMP + "/a.sqlite"
    before = open(db, "rb").read()
    for i in "12":
        p = run("dlc-compile", *MODEL, "--tuning-db=" + db, "-o", f"{TMP}/{i}.dlcb", "--json")
    hits = json.loads(p.stdout)["hits"]
    assert hits["exact"] >= 1, hits
    assert open(TMP + "/1.dlcb", "rb").read() == open(TMP + "/2.dlcb", "rb").read()
    assert open(db, "rb").read() == before
    run("dlc-compile", *MODEL, "--tuning-db=none", "--unscheduled", "-o", TMP + "/plain.dlcb")
    for f in ("1", "plain"):
        run("dlc-run", f"{TMP}/{f}.dlcb", "--seed=5", "--output", f"{TMP}/{f}.npy")
    a, b = array(TMP + "/1.npy"), array(TMP + "/plain.npy")
    assert len(a) == 1000 and max(abs(x - y) for x, y in zip(a, b)) <= 1e-4 * max(map(abs, b))

def interrupt_keeps_all():
    """Ctrl-C: exit 130, what was announced is kept, no child is left."""
    db = TMP + "/b.sqlite"
    p = subprocess.Popen([BUILD + "/dlc-tune", *MODEL, "--tuning-db=" + db, "--trials=100000", "--json"],
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, env=ENV, start_new_session=True)
    told = {json.loads(p.stdout.readline())["trial"] for _ in range(5)}
    os.killpg(p.pid, signal.SIGINT)
    out, err = p.communicate(timeout=30)
    assert p.returncode == 130, (p.returncode, err)
    told |= {json.loads(l)["trial"] for l in out.splitlines() if "trial\"" in l and "trials" not in l}
    assert told <= runs(db), "announced trials are missing"
    none_is_left(p.pid)

def merging_is_a_union():
    """Import of an export is the same export; again changes nothing; a bad line costs itself."""
    lines = run("dlc", "db", "export", TMP + "/a.sqlite").stdout
    log = TMP + "/a.jsonl"
    open(log, "w").write(lines)
    run("dlc", "db", "import", TMP + "/d.sqlite", log)
    assert run("dlc", "db", "export", TMP + "/d.sqlite").stdout == lines
    assert run("dlc", "db", "import", TMP + "/d.sqlite", log).stdout.startswith("0 new")
    open(log, "w").write("{\n" + lines)
    assert "1 skipped" in run("dlc", "db", "import", TMP + "/e.sqlite", log).stdout
    open(log, "w").write("{\n")
    run("dlc", "db", "import", TMP + "/e.sqlite", log, want=1)

def refusals():
    """Usage is 2, a missing folder 5, a model that is none 1, a task that is not there 3."""
    run("dlc-tune", want=2)
    run("dlc-tune", *MODEL, "--trials=-3", want=2)
    run("dlc-tune", *MODEL, "--budget=10parsecs", want=2)
    run("dlc-tune", *MODEL, "--tuning-db=/nonexistent/dir/x.sqlite", want=5)
    run("dlc-tune", *MODEL, "--tuning-db=none", want=2)
    run("dlc-tune", *MODEL, f"--tuning-db={TMP}/f.sqlite", "--tasks=zzzz", want=3)
    run("dlc-compile", *MODEL, "-o", "/nonexistent/x.dlcb", want=5)
    run("dlc-compile", *MODEL, "--target=toaster", "-o", TMP + "/x.dlcb", want=2)
    run("dlc-show", *MODEL, "--task=zzzz", "--stage=ir", want=3)
    run("dlc-show", *MODEL, "--task=zzzz", "--stage=tasks", want=3)
    other = "x86-64-v4" if os.uname().machine == "aarch64" else "cortex-a72"
    run("dlc-tune", *MODEL, "--target=" + other, f"--tuning-db={TMP}/f.sqlite", want=3)
    run("dlc", "run", *MODEL, "--target=" + other, want=3)
    assert not os.path.exists(TMP + "/x.dlcb")

def traces():
    """A trace that was shown can be applied again; it chooses its task, or --task does."""
    task = run("dlc-show", *MODEL, "--stage=tasks").stdout.split()[1]
    shown = run("dlc-show", *MODEL, "--stage=trace", "--tuning-db=none", "--task=" + task).stdout
    want = run("dlc-show", *MODEL, "--stage=ir", "--tuning-db=none", "--task=" + task).stdout
    open(TMP + "/t.trace", "w").write(shown)
    assert run("dlc-show", *MODEL, "--stage=ir", f"--apply={TMP}/t.trace").stdout == want
    assert run("dlc-show", *MODEL, "--stage=trace", f"--apply={TMP}/t.trace").stdout == shown
    other = ("0" if task[0] != "0" else "1") + task[1:7]
    p = run("dlc-show", *MODEL, "--stage=ir", f"--apply={TMP}/t.trace", "--task=" + other, want=2)
    assert f"t.trace: is a trace for task {task[:12]}, but task {other} is asked for" in p.stderr, p.stderr
    for names in "for in", "as.b b.":
        open(TMP + "/t.trace", "w").write("# one\nsplit o 4 as " + names + "\n")
        p = run("dlc-show", *MODEL, "--stage=ir", f"--apply={TMP}/t.trace", "--task=" + task, want=1)
        assert "t.trace:2: split: \"" in p.stderr and "is no name; names are letters" in p.stderr, p.stderr
    p = run("dlc-show", *MODEL, "--stage", want=2)
    assert "--stage: wants a value, STAGE: graph (default)" in p.stderr and "llvm" in p.stderr, p.stderr
    open(TMP + "/t.trace", "w").write("# one\n\nsplit nowhere 4\n")
    p = run("dlc-show", *MODEL, "--stage=ir", f"--apply={TMP}/t.trace", "--task=" + task, want=1)
    assert "t.trace:3: there is no loop" in p.stderr, p.stderr
    run("dlc-show", *MODEL, "--stage=ir", f"--apply={TMP}/t.trace", want=2) # for which task?

def the_screen_fits():
    """On a terminal of 80 columns (one that does not say counts as such) no number of a row is cut."""
    ours, theirs = os.openpty()
    p = subprocess.Popen([BUILD + "/dlc-tune", *MODEL, "--tuning-db=" + TMP + "/a.sqlite", "--trials=0"], env=ENV,
                         stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 65536):
            shown += part
    except OSError:
        pass # the other side has ended
    assert p.wait(240) == 0, shown[-300:]
    os.close(ours)
    lines = shown.decode().replace("\r", "").split("\033[J")[-1].split("\n") # as drawn last
    rows = [l for l in lines if "conv" in l and l[:7].isalnum()]
    assert lines[1].endswith(" roof") and rows and all("%" in l for l in rows), lines
    assert all(len(l) < 80 for l in lines), lines

def what_was_not_measured():
    """A time that was not measured is no number: - in the table, null in JSON; counts are integers. The end of a
    run times the default of each Task inside the network, but what was compared with no oracle is no record."""
    shown = run("dlc-tune", *MODEL, f"--tuning-db={TMP}/one.sqlite", "--trials=1").stderr
    rows = [l for l in shown.splitlines() if " conv" in l]
    assert len(rows) > 10 and not any(" - " in l for l in rows), shown
    shown = run("dlc-tune", *MODEL, f"--tuning-db={TMP}/one.sqlite", "--dry-run").stdout
    rows = [l for l in shown.splitlines() if " conv" in l]
    assert len(rows) > 10 and sum(l.endswith(" -") for l in rows) >= len(rows) - 1, shown
    plan = [json.loads(l) for l in run("dlc-tune", *MODEL, f"--tuning-db={TMP}/one.sqlite", "--dry-run",
                                       "--json").stdout.splitlines()]
    assert sum(x["best_ms"] is None for x in plan[:-1]) >= 20, plan
    assert all(isinstance(x["space"], int) for x in plan[:-1]), plan
    assert plan[-1]["tasks_ms"] is None and plan[-1]["network_ms"] is None, plan[-1]

def homeless():
    """Without a home there is no default database to read: compiling does not need one, tuning does."""
    env = {k: v for k, v in ENV.items() if k not in ("HOME", "XDG_DATA_HOME", "DLC_TUNING_DB")}
    compile = [f"{BUILD}/dlc-compile", *MODEL, "-o", TMP + "/h.dlcb"]
    assert subprocess.run(compile, env=env, timeout=240).returncode == 0 and os.path.exists(TMP + "/h.dlcb")
    assert subprocess.run([f"{BUILD}/dlc-tune", *MODEL], env=env, stderr=subprocess.PIPE, timeout=240).returncode == 2
    run("dlc-compile", *MODEL, "--tuning-db=none", "--tuning-db=x.sqlite", "-o", TMP + "/x.dlcb", want=2)

def stages():
    """Every stage prints; a graph and its ONNX file describe the same tasks."""
    for stage in "graph tasks ir trace lowered llvm asm plan".split():
        assert len(run("dlc-show", *MODEL, "--stage=" + stage, "--tuning-db=none").stdout) > 500, stage
    run("dlc-show", *MODEL, "--stage=onnx", "-o", TMP + "/m.onnx")
    a = run("dlc-show", *MODEL, "--stage=tasks").stdout
    b = run("dlc-show", TMP + "/m.onnx", "--stage=tasks").stdout
    ids = lambda text: sorted(l.split()[1] for l in text.splitlines() if l.startswith("task "))
    assert ids(a) == ids(b), "the tasks of the model and of its ONNX file differ"

def models_run_in_memory():
    """dlc-run takes a model: it is compiled in memory, and equals the bundle."""
    run("dlc-show", *MODEL, "--stage=onnx", "-o", TMP + "/m.onnx")
    run("dlc-compile", TMP + "/m.onnx", "--tuning-db=none", "-o", TMP + "/m.dlcb")
    run("dlc-run", TMP + "/m.dlcb", "--seed=3", "--output", TMP + "/m1.npy")
    run("dlc-run", TMP + "/m.onnx", "--tuning-db=none", "--seed=3", "--output", TMP + "/m2.npy")
    assert open(TMP + "/m1.npy", "rb").read() == open(TMP + "/m2.npy", "rb").read()

def memory_plans():
    """The workspace of every zoo network is within a tenth of its largest live set."""
    for net in "resnet18 resnet50 mobilenet_v1 mobilenet_v2 squeezenet1_1".split():
        j = json.loads(run("dlc-compile", net, "--shape=data=1,3,96,96", "--unscheduled", "--tuning-db=none", "-o",
                           TMP + "/z.dlcb", "--json").stdout)
        assert j["live_bytes"] > 0 and j["workspace_bytes"] <= 1.1 * j["live_bytes"], (net, j)

main(every_trial_is_a_record, best_schedules_are_compiled, interrupt_keeps_all, merging_is_a_union, refusals, traces,
     the_screen_fits, what_was_not_measured, homeless, stages, models_run_in_memory, memory_plans)
