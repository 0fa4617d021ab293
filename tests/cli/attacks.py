#!/usr/bin/env python3
"""attacks.py BUILD [[-]NAME...]: records that lie, and files that are none, against a user's own tuning.

A small model is tuned honestly. Each attack starts from a copy of that database: lines are forged and imported, or
read from a second database, or the file itself is changed. Then the user tunes a little more and compiles. Whatever
was done: every program ends with an exit code of its own, the honest lines are all still there, and the schedule
that is compiled is not slower than the honest one, both timed here (1.3 times is noise). NAMEs choose attacks, -NAME
leaves out those that begin so, and of attacks that go the same way one is made; with DLC_TEST_ALL=1 all are."""
import json, os, shutil, sqlite3, subprocess, sys, time

import world
from world import ALL, BUILD, ENV, TMP, canon, end, lines, seal
import onnx_bytes

ONLY = [a for a in sys.argv[2:] if a[0] != "-" and not ALL]
OUT = [a[1:] for a in sys.argv[2:] if a[0] == "-" and not ALL]
MODEL, BASE = TMP + "/conv.onnx", TMP + "/honest.sqlite"
NOISE = 1.3
SLOW = "# slow\n"  # the naive loops: legal, right, and many times slower
CLEAN = range(6)  # exit codes that dlc has

def run(program, *args, **how):
    p = world.run(program, *args, errors="replace", timeout=60, **how)
    assert "Sanitizer" not in p.stderr and "runtime error" not in p.stderr, p.stderr[-600:]
    return p

def trace_of(*dbs):
    shown = run("dlc-show", MODEL, "--stage=trace", *("--tuning-db=" + d for d in dbs)).stdout
    return "".join(l + "\n" for l in shown.splitlines() if l and not l.startswith(("#", "task ")))

def milliseconds(paths):
    """The least time of each bundle, taken in turns: three, or more while the last one seems slower than noise."""
    best = [float("inf")] * len(paths)
    for turn in range(12):
        if turn >= 3 and best[-1] <= NOISE * best[0]:
            break
        for i, path in enumerate(paths):
            out = run("dlc-run", path, "--bench", "--seconds=0.1", "--json").stdout
            best[i] = min(best[i], json.loads(out.splitlines()[-1])["min_ms"])
    return best

class Honest:
    """The honest database: its lines, its best run, and what a session of somebody else needs."""
    def __init__(self):
        onnx_bytes.conv(MODEL, 16, 32, 14)
        run("dlc-tune", MODEL, "--tuning-db=" + BASE, "--budget=20s", "--trials=60")
        self.lines = lines(BASE)
        records = [json.loads(l) for l in self.lines]
        self.kind = lambda kind: [r for r in records if r["kind"] == kind]
        self.trace = trace_of(BASE)
        ok = [r for r in self.kind("run") if r["status"] == "ok" and r["max_err_e9"] >= 0]
        mine = [r for r in ok if r["trace"] == self.trace]
        self.best = max(mine or ok, key=lambda r: r["samples"])
        run("dlc-compile", MODEL, "--tuning-db=" + BASE, "-o", TMP + "/honest.dlcb")

    def sessions(self, n, **fields):
        """Sessions of strangers: their lines and ids."""
        made = [seal(dict(self.kind("session")[0], mark=1000 + i, seed=i, **fields)) for i in range(n)]
        return made, [json.loads(l)["id"] for l in made]

    def forged(self, n=1, **fields):
        """A run like the best one, changed, in n sessions of strangers."""
        made, ids = self.sessions(n)
        return made + [seal(dict(self.best, session=s, seq=i, **fields)) for i, s in enumerate(ids)]

    def claim(self, factor, trace=SLOW, n=1, **fields):
        """That a trace is `factor` times faster than the best."""
        ns = max(1, int(self.best["median_ns"] / factor))
        return self.forged(n, **dict(dict(trace=trace, median_ns=ns, min_ns=ns, mad_ns=0), **fields))

def text(lines_):
    return "\n".join(lines_) + "\n"

def judge(honest, db, others=(), tuned=True):
    """What every attack is held to."""
    dbs = [db, *others]
    if tuned:
        run("dlc-tune", MODEL, *("--tuning-db=" + d for d in dbs), "--trials=+6", "--budget=5s")
    run("dlc-db", "check", db)
    gone = set(honest.lines) - set(lines(db))
    assert not gone, f"{len(gone)} honest lines are gone"
    lock = TMP + "/lock"
    if os.path.exists(lock):
        os.unlink(lock)
    run("dlc-compile", MODEL, *("--tuning-db=" + d for d in dbs), "-o", TMP + "/now.dlcb", "--lock=" + lock,
        "--explain")
    if trace_of(*dbs) != honest.trace:
        before, now = milliseconds([TMP + "/honest.dlcb", TMP + "/now.dlcb"])
        assert now <= NOISE * before, f"the schedule takes {now:.4f} ms, the honest one {before:.4f} ms"

def copy(name="own"):
    path = f"{TMP}/{name}.sqlite"
    for end in ("", "-wal", "-shm"):
        if os.path.exists(path + end):
            os.unlink(path + end)
    shutil.copy(BASE, path)
    return path

# ---- attacks by lines: (name, what is imported into a copy) ----

def forgeries(h):
    step = h.trace.splitlines()[0]
    wrong = dict(median_ns=0, min_ns=0, mad_ns=0, samples=0, max_err_e9=-1)
    for factor in (1.2, 2, 3, 10, 100, 1000):
        yield f"claim {factor}x", h.claim(factor)
    yield "claim 2x, a million samples", h.claim(2, samples=10**6)
    yield "claim 2x, fifty sessions", h.claim(2, n=50)
    yield "claim 3x, under the honest session", [seal(dict(h.best, trace=SLOW, median_ns=h.best["median_ns"] // 3,
            min_ns=1000, seq=10**6))]
    yield "claim 1.5x of twenty slow schedules", [l for i in range(20) for l in h.claim(1.5, trace=f"# slow {i}\n",
            n=1)]
    yield "claim 2x of the slowest that was measured", h.claim(2, trace=max(
        (r for r in h.kind("run") if r["status"] == "ok"), key=lambda r: r["median_ns"])["trace"], n=9)
    yield "best called 3x slower by three sessions", h.forged(3, median_ns=3 * h.best["median_ns"],
            min_ns=3 * h.best["min_ns"], samples=10**6)
    yield "best called 100x slower by fifty sessions", h.forged(50, median_ns=100 * h.best["median_ns"],
            min_ns=100 * h.best["min_ns"])
    for status in ("wrong_result", "crash", "run_timeout", "compile_error"):
        yield f"best fails with {status} in five sessions", h.forged(5, status=status, detail="so it is said", **wrong)
    yield "every schedule crashes in five sessions", [l for r in h.kind("run") for l in h.forged(
        5, status="crash", detail="x", trace=r["trace"], **wrong)]
    yield "retractions of all honest runs", [seal({"kind": "retraction", "run": r["id"],
                                                   "reason": "a draught"}) for r in h.kind("run")]
    yield "retractions of the best, thrice", [seal({"kind": "retraction", "run": h.best["id"],
            "reason": r}) for r in ("a", "b", "c")]
    yield "out-of-bounds trace", h.claim(5, trace="split o.w 1099511627776 overlap\n" + h.trace)
    yield "unknown steps", h.claim(5, trace="frobnicate n 4\n", n=3)
    yield "a trace of another task", h.claim(5, trace="task 00000000000000000000000000000000\n" + h.trace)
    yield "a trace of 60 000 steps", h.claim(5, trace=(step + "\n") * 60000)
    yield "comments that make a schedule another", h.claim(4, trace="# " + "x" * 200 + "\n", n=3)
    yield "epoch 10^9", later_epoch(h, 10**9)
    yield "another target of the same text", other_target(h)
    yield "verified by nobody, 10x", h.claim(10, max_err_e9=-1, n=3)
    yield "wrong by far, 10x", h.claim(10, max_err_e9=10**9, n=3)
    yield "one nanosecond", h.claim(10**9, n=3)

def later_epoch(h, epoch):
    env = seal(dict(h.kind("environment")[0], codegen_epoch=epoch))
    return [env, *h.claim(5, environment=json.loads(env)["id"])]

def other_target(h):
    """The honest target's text with one feature more, under its own id; and claims for it."""
    t = dict(h.kind("target")[0])
    t["features"] = sorted([*t["features"], "avx512fp16"])
    line = seal(t)
    return [line, *h.claim(5, target=json.loads(line)["id"])]

# ---- attacks by lines that are no records: all are refused, the others taken ----

def nonsense(h):
    good = h.claim(2)
    run_line = json.loads(good[-1])
    for field in ("trace", "detail", "status"):
        yield f"control characters in {field}", text([*good[:-1],
                seal(dict(run_line, **{field: "split\x1b[2J\x07\n\x00"}))])
    for kind, field in (("session", "tool"), ("session", "model"), ("environment", "compiler"), ("target", "model"),
                        ("workload", "dag")):
        yield f"control characters in {kind}.{field}", text([seal(dict(h.kind(kind)[0],
                **{field: "\x1b]0;owned\x07\x00"}))])
    for what, number in (("negative", -1), ("huge", 2**63 - 1), ("too large", 2**64), ("a fraction", 0.5),
                         ("a text", "7"), ("null", None)):
        yield f"{what} times", text([*good[:-1], seal(dict(run_line, median_ns=number, min_ns=number, samples=number,
                seq=number))])
    yield "zero times", text([*good[:-1], seal(dict(run_line, median_ns=0, min_ns=0, samples=0))])
    yield "a line of 8 MB", text([*good, seal(dict(run_line, detail="x" * (8 << 20)))])
    yield "brackets, a million", "[" * 10**6 + "\n" + text(good)
    yield "half a log", text(h.lines + good)[:len(text(h.lines)) // 2]
    yield "duplicate ids", text([good[-1].replace('"seq":', '"seq":1'), *good, *good])
    yield "duplicate keys", text([good[-1].replace('"kind":', '"kind":"session","kind":', 1)])
    yield "bytes that are no UTF-8", "\udcff\udcfe" + text(good)

# ---- attacks on the file ----

def triggers(db):
    c = sqlite3.connect(db)
    c.execute("create trigger t after insert on run begin delete from run; end")
    c.commit()
    c.close()

def tables(db):
    c = sqlite3.connect(db)
    c.execute("create table more(x)")
    c.commit()
    c.close()

def view(db):
    c = sqlite3.connect(db)
    c.executescript("alter table run rename to hidden; create view run as select * from hidden;")
    c.commit()
    c.close()

def index_rows(db):
    """The index says what the lines do not."""
    c = sqlite3.connect(db)
    c.execute("update run set median_ns = 20 where n = (select max(n) from run)")
    c.commit()
    c.close()

def truncated(db):
    os.truncate(db, os.path.getsize(db) * 2 // 3)

def half_a_page(db):
    os.truncate(db, 2048)

def foreign_wal(db):
    other = sqlite3.connect(TMP + "/wal.sqlite")
    other.execute("pragma journal_mode=wal")
    other.execute("create table a(b)")
    other.execute("insert into a values (zeroblob(100000))")
    other.commit()
    shutil.copy(TMP + "/wal.sqlite-wal", db + "-wal")
    other.close()

def zeroes(db):
    with open(db, "r+b") as f:
        f.seek(8192)
        f.write(bytes(8192))

FILES = (triggers, tables, view, index_rows, truncated, half_a_page, foreign_wal, zeroes)

def tampered(honest, change):
    """Refused, or read as the lines say: no crash, no hang, and no slow schedule. What cannot be read is told."""
    db = copy()
    change(db)
    told = [run("dlc-db", verb, db, want=CLEAN).returncode for verb in ("check", "list", "best")]
    p = run("dlc-tune", MODEL, "--tuning-db=" + db, "--trials=+2", "--budget=5s", want=CLEAN)
    q = run("dlc-compile", MODEL, "--tuning-db=" + db, "-o", TMP + "/now.dlcb", want=CLEAN)
    if p.returncode == q.returncode == 0 and not any(told):
        judge(honest, db, tuned=False)

# ---- the ways in ----

def imported(honest, log):
    db = copy()
    run("dlc-db", "import", db, "-", input=text(log))
    judge(honest, db)

def beside(honest, log):
    """The same lines in a second database that is only read."""
    db, other = copy(), TMP + "/other.sqlite"
    if os.path.exists(other):
        os.chmod(other, 0o644)
        os.unlink(other)
    run("dlc-db", "import", other, "-", input=text([*(l for l in honest.lines if '"kind":"run"' not in l), *log]))
    os.chmod(other, 0o444)
    judge(honest, db, [other])

def unseen(honest, log):
    """Before the user has tuned anything: the claims stand beside honest lines, and all are hints."""
    db = TMP + "/fresh.sqlite"
    if os.path.exists(db):
        os.unlink(db)
    run("dlc-db", "import", db, "-", input=text([*honest.lines, *log]))
    judge(honest, db)

def refused(honest, log):
    db = copy()
    p = subprocess.run([BUILD + "/dlc-db", "import", db, "-"], input=log.encode(errors="surrogateescape"),
                       stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, env=ENV, timeout=60)
    assert p.returncode in (0, 1) and not any(c < 32 and c not in (9, 10) for c in p.stdout + p.stderr), (p.returncode,
            p.stderr[-300:])
    shown = run("dlc-db", "list", db).stdout + run("dlc-db", "log", db).stdout + run("dlc-db", "best", db).stdout
    assert "\x1b" not in shown and "\x07" not in shown, "control characters reach the terminal"
    judge(honest, db, tuned=False)

# Attacks that go the same way as one of those that are made: with DLC_TEST_ALL=1.
REPEATED = ("claim 1.2x", "claim 3x", "claim 100x", "claim 1000x", "best called 3x slower by three sessions",
            "best fails with crash in five sessions", "best fails with run_timeout in five sessions",
            "best fails with compile_error in five sessions", "beside: claim 3x", "unseen: claim 10x",
            "beside: best fails with wrong_result in five sessions", "beside: retractions of all honest runs")

def attacks(honest):
    """Rows: name, function, its arguments."""
    log = dict(forgeries(honest))
    for name in log:
        yield name, imported, log[name]
    for name in ("claim 3x", "claim 10x", "best called 3x slower by three sessions",
                 "best fails with wrong_result in five sessions",
                 "every schedule crashes in five sessions", "retractions of all honest runs"):
        yield "beside: " + name, beside, log[name]
    for name in ("claim 2x, fifty sessions", "claim 10x", "comments that make a schedule another"):
        yield "unseen: " + name, unseen, log[name]
    for name, lines_ in nonsense(honest):
        yield "line: " + name, refused, lines_
    for change in FILES:
        yield "file: " + change.__name__, tampered, change

def wanted(honest):
    for name, function, argument in attacks(honest):
        if any(o in name for o in ONLY) or not (ONLY or name.startswith(tuple(OUT)) or name in REPEATED and not ALL):
            yield name, lambda function=function, argument=argument: function(honest, argument)

try:
    failed, n = world.check_all(wanted(Honest()))
    print(f"{n - failed} attacks held, {failed} won")
    failed += n == failed
except BaseException:
    subprocess.run(["rm", "-rf", TMP])
    raise
end(failed)
