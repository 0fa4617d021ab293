#!/usr/bin/env python3
"""The end of a tuning run: what is chosen was timed inside the network beside the default, and the screen says so.

    confirm.py BUILD"""
import fcntl, json, os, re, subprocess, threading, time

from world import BUILD, ENV, TMP, lines, main, run

ENV["XDG_RUNTIME_DIR"] = TMP + "/run"
MODEL = ["squeezenet1_1", "--shape=data=1,3,63,63"]
EVERY = 10  # seconds: what the manual promises where stderr is no terminal

def tuned(db, *args):
    """Of a run: stdout, and of each line of stderr when it came."""
    start = time.monotonic()
    p = subprocess.Popen([BUILD + "/dlc-tune", *MODEL, "--tuning-db=" + db, *args], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True, env=ENV)
    said = []
    reader = threading.Thread(target=lambda: said.extend((time.monotonic() - start, l) for l in p.stderr))
    reader.start()
    out = p.stdout.read()
    reader.join()
    assert p.wait() == 0, said[-3:]
    return out, said, time.monotonic() - start

def with_time(db, seconds, enough, *args):
    """tuned() into an empty database, with more time where a slow or busy machine has not come as far as `enough`."""
    for budget in (seconds, 3 * seconds, 9 * seconds):
        if os.path.exists(db):
            os.unlink(db)
        out, said, end = tuned(db, f"--budget={budget}s", *args)
        if enough(out, said):
            break
    return out, said, end

def rows(db):
    return [json.loads(l) for l in run("dlc-db", "best", db, "--json").stdout.splitlines()]

def the_choice_is_of_the_network():
    """With two threads: each Task's best is this user's, timed in the network, and no slower there than the default."""
    db = TMP + "/two.sqlite"
    def measured():
        runs = [r for r in map(json.loads, lines(db)) if r["kind"] == "run"]
        return runs, {r["workload"] for r in runs if r.get("stage") == "network"}
    out, _, _ = with_time(db, 8, lambda out, _: len(measured()[1]) >= json.loads(out.splitlines()[-1])["tasks"],
                          "--threads=2", "--json")
    j = json.loads(out.splitlines()[-1])
    runs, confirmed = measured()
    assert len(runs) == j["trials"] and len(confirmed) >= j["tasks"] > 5, (len(runs), j)
    assert j["alone_ms"] > 0 and (j["gain_least"] is None
                                  or 0 < j["gain_least"] <= j["gain_most"]), j # None: time for one round
    best = {b["workload"]: b for b in rows(db)}
    for w in confirmed:
        mine = [r for r in runs if r["workload"] == w and r.get("stage") == "network"]
        assert best[w]["own"] and best[w]["median_ns"] == min(r["median_ns"] for r in mine), best[w]
        assert all(r["clock"] == "wall" and r["max_err_e9"] >= 0 for r in mine)
    tasks = list(map(json.loads, run("dlc-show", *MODEL, "--threads=2", "--stage=tasks", "--tuning-db=" + db,
                                     "--json").stdout.splitlines()))
    shown = sum(best[t["key"]]["median_ns"] * t["weight"] for t in tasks)
    # Records have whole nanoseconds.
    assert abs(shown - j["tasks_ms"] * 1e6) <= sum(t["weight"] for t in tasks), (shown, j["tasks_ms"])
    p = run("dlc-compile", *MODEL, "--threads=2", "--tuning-db=" + db, "-o", TMP + "/m.dlcb", "--json",
            "--require=exact")
    assert json.loads(p.stdout)["hits"]["exact"] == j["tasks"], p

def the_screen_goes_on():
    """A line at least every ten seconds until the end, and both networks' times with what their difference is worth."""
    out, said, end = tuned(TMP + "/again.sqlite", "--budget=12s")
    at = [0] + [t for t, _ in said] + [end]
    assert max(b - a for a, b in zip(at, at[1:])) < EVERY + 1, at
    assert re.search(r"network [\d.]+ ms( with the default schedules, which stay| with the best schedules, "
                     r"[\d.]+ ms with the default ones: (no gain beyond noise|[\d.]+ to [\d.]+ times as fast))",
                     out), out

def the_last_choice_is_compiled():
    """What a later session times inside the network and chooses is compiled, also where an earlier one saw less."""
    db = TMP + "/again.sqlite"  # the earlier one is that of the_screen_goes_on
    out, _, _ = tuned(db, "--budget=7s", "--json")
    if json.loads(out.splitlines()[-1])["network_ms"] is None:
        return # there was no time: nothing was chosen anew
    all = [json.loads(l) for l in lines(db)]
    last = max((r for r in all if r["kind"] == "session"), key=lambda r: r["started_s"])["id"]
    best = {b["workload"]: b for b in rows(db)}
    told = {}  # the runs of each Task there
    for r in all:
        if r["kind"] == "run" and r["session"] == last and r.get("stage") == "network":
            told.setdefault(r["workload"], []).append(r)
    for w, ran in told.items():
        least = min(r["median_ns"] for r in ran)  # whole nanoseconds: two may be equal
        assert best[w]["trace"] in [r["trace"] for r in ran if r["median_ns"] == least], (best[w], ran)
    gone = {r["run"] for r in all if r["kind"] == "retraction"}
    assert gone <= {r["id"] for r in all if r["kind"] == "run" and r.get("stage") == "network"}

def others_are_waited_for():
    """While another tuner holds the device's lock, the screen says so."""
    with open(TMP + "/run/dlc-cpu.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        waited = lambda said: re.search(r"waited [\d.]+ s for another tuner on this device",
                                        "".join(l for _, l in said))
        _, said, _ = with_time(TMP + "/wait.sqlite", 4, lambda _, said: waited(said))
    assert waited(said), said[-2:]

os.mkdir(TMP + "/run", 0o700)
main(the_choice_is_of_the_network, the_screen_goes_on, the_last_choice_is_compiled, others_are_waited_for)
