#!/usr/bin/env python3
"""kill.py BUILD: the tuner is killed at random moments, and three of them share one database.

Killed with SIGKILL, at any moment from its start on: every trial that it announced is in the database, the database
is sound, no child is left (a busy machine has some seconds to end them), and the next run goes on.  4 times, 50
with DLC_TEST_ALL=1."""
import json, os, random, signal, sqlite3, subprocess, time

from world import BUILD, ENV, TMP, check_all, end, lines, run

ROUNDS, SEED = (50, int(time.time())) if os.environ.get("DLC_TEST_ALL") else (4, 1)
SHAPE = "--shape=data=1,3,35,35"

def start(model, db, *args):
    return subprocess.Popen([BUILD + "/dlc-tune", model, SHAPE, "--tuning-db=" + db, "--json", *args],
                            stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, env=ENV, start_new_session=True)

def children():
    """Live processes with this test's environment."""
    out = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if pid != str(os.getpid()) and (TMP + "/data").encode() in open(f"/proc/{pid}/environ", "rb").read():
                if open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] != "Z":
                    out.append(int(pid))
        except OSError:
            pass
    return out

def runs(db):
    return {r["id"] for r in map(json.loads, lines(db)) if r["kind"] == "run"}

def sound(db):
    run("dlc-db", "check", db)
    c = sqlite3.connect(db)
    try:
        assert c.execute("pragma integrity_check").fetchone()[0] == "ok"
    finally:
        c.close()

def killed():
    db, rng, told = TMP + "/kill.sqlite", random.Random(SEED), set()
    for i in range(ROUNDS):
        measures = i % 3 == 0 # surely, however slow this build is; and the random search never ends
        p = start("squeezenet1_1", db, "--trials=+100000", "--search=" + ("random" if measures else "rank"))
        for _ in range(1 + i if measures else 0):
            told.add(json.loads(p.stdout.readline())["trial"])
        time.sleep(rng.uniform(0, 0.3) if i % 3 == 2 else rng.uniform(0, 1))
        p.kill()
        deadline = time.time() + 20
        while children() and time.time() < deadline:
            time.sleep(0.05)
        assert not children(), f"round {i}: {children()} are left"
        for line in p.communicate()[0].split("\n")[:-1]: # a last line may be cut: it is not announced
            told |= {t for k, t in json.loads(line).items() if k == "trial"} # the other search may have come to its end
        if os.path.exists(db) and os.path.getsize(db) > 0:
            sound(db)
            assert told <= runs(db), f"round {i}: {len(told - runs(db))} announced trials are missing"
    assert told, "nothing was ever announced"
    p = start("squeezenet1_1", db, "--trials=+1")
    out, err = p.communicate(timeout=120)
    assert p.returncode == 0 and json.loads(out.splitlines()[-1])["reused"] >= len(told), err
    return f"{ROUNDS} kills (seed {SEED}), {len(told)} announced trials"

def three_at_once():
    db, models = TMP + "/three.sqlite", ("squeezenet1_1", "mobilenet_v2", "resnet18")
    ps = [start(m, db, "--trials=12", "--budget=60s") for m in models] # all make the new file
    out = [p.communicate(timeout=240) for p in ps]
    assert not any(p.returncode for p in ps), [(p.returncode, o[1][-200:]) for p, o in zip(ps, out)]
    lines = [[json.loads(l) for l in o.splitlines()] for o, _ in out]
    told = {l["trial"] for ls in lines for l in ls[:-1]}
    n = [ls[-1]["trials"] for ls in lines]
    assert min(n) >= 1 and len(told) == sum(n) and told == runs(db), (n, len(told), len(runs(db)))
    sound(db)
    return f"trials {n}"

failed, _ = check_all((c.__name__, c) for c in (killed, three_at_once))
for pid in children():
    os.kill(pid, signal.SIGKILL)
end(failed)
