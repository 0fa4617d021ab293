"""What the tests of programs share: a folder of their own, an environment in which no database of the user's is found,
programs that run and must end as wanted, records that are sealed, and a list of checks that is run to its end.

A test's first argument is the build folder."""
import hashlib, json, os, struct, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
BUILD = os.path.abspath(sys.argv[1])
TMP = tempfile.mkdtemp(prefix=f"dlc-{os.path.basename(sys.argv[0]).removesuffix('.py')}.")
ENV = dict(os.environ, XDG_DATA_HOME=TMP + "/data", XDG_CACHE_HOME=TMP + "/cache", DLC_TUNING_LOGS="none")
ENV.pop("DLC_TUNING_DB", None)
ALL = bool(os.environ.get("DLC_TEST_ALL"))

def run(program, *args, want=0, **how):
    """The ended process; its exit code is `want`, or one of it."""
    how = dict(dict(text=True, env=ENV, timeout=240), **how)
    p = subprocess.run([f"{BUILD}/{program}", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
    wanted = [want] if isinstance(want, int) else want
    assert p.returncode in wanted, f"{program} {' '.join(args)}: exit {p.returncode}, wanted {want}: {p.stderr[-300:]}"
    return p

def lines(db, *args, **how):
    return run("dlc-db", "export", db, *args, **how).stdout.splitlines()

def canon(o):
    return json.dumps(o, sort_keys=True, separators=(",", ":"), ensure_ascii=False).replace("\x7f", "\\u007f")

def seal(record):
    """A record's line with the id that its content has."""
    r = {k: v for k, v in record.items() if k != "id"}
    h = hashlib.blake2b(f"dlc/{r['kind']}/v1\0".encode() + canon(r).encode(), digest_size=16)
    return canon(dict(r, id=h.hexdigest()))

def array(path):
    """The floats of a .npy file."""
    data = open(path, "rb").read()
    n = struct.unpack("<H", data[8:10])[0]
    return struct.unpack(f"<{(len(data) - 10 - n) // 4}f", data[10 + n:])

def check_all(checks):
    """Calls each of (name, function), prints ok or why not; how many failed, how many there were."""
    failed = n = 0
    for name, check in checks:
        start, before, n = time.time(), os.times(), n + 1
        try:
            said = check()
            cpu = sum(os.times()[:4]) - sum(before[:4])
            print(f"ok      {name}{': ' + said if said else ''} ({time.time() - start:.1f} s, CPU {cpu:.1f} s)",
                  flush=True)
        except Exception as e:
            failed += 1
            print(f"FAILED  {name}: {type(e).__name__}: {str(e)[:600]}", flush=True)
    return failed, n

def end(failed):
    """Removes the folder and ends the test."""
    subprocess.run(["rm", "-rf", TMP])
    sys.exit(1 if failed else 0)

def main(*checks):
    """A whole test: every function is a check; its first line says what a user may rely on. Arguments after the build
    folder that name checks choose those; `-NAME` leaves one out, but not with DLC_TEST_ALL=1."""
    named = [a for a in sys.argv[2:] if a.lstrip("-") in {c.__name__ for c in checks}]
    out, only = [a[1:] for a in named if a[0] == "-" and not ALL], [a for a in named if a[0] != "-"]
    end(check_all((c.__name__, c) for c in checks if c.__name__ not in out and (not only or c.__name__ in only))[0])
