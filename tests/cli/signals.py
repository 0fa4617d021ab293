#!/usr/bin/env python3
"""signals.py BUILD: what a bug (abort), Ctrl-C and a reader that leaves do to dlc.

dlc is held while it prints: its stdout is a pipe that is full already."""
import os
import signal
import subprocess
import sys
import time

CASES = [
    (signal.SIGABRT, 4, "this is a bug of dlc"),
    (signal.SIGINT, 130, ""),
    (signal.SIGTERM, -signal.SIGTERM, ""),
]


def held(program):
    """`dlc info` that cannot get rid of its output, and the end of the pipe to read."""
    r, w = os.pipe()
    os.set_blocking(w, False)
    try:
        while True:
            os.write(w, b"x" * 4096)
    except BlockingIOError:
        pass
    os.set_blocking(w, True)
    p = subprocess.Popen([program, "info"], stdout=w, stderr=subprocess.PIPE)
    os.close(w)
    for _ in range(500):  # until it sleeps in write()
        with open(f"/proc/{p.pid}/wchan") as f:
            if "pipe" in f.read():
                break
        time.sleep(0.01)
    return p, r


def main():
    program, failed = os.path.join(sys.argv[1], "dlc"), 0
    for sig, code, text in CASES:
        p, r = held(program)
        p.send_signal(sig)
        err = p.communicate(timeout=30)[1].decode()
        os.close(r)
        if p.returncode != code or text not in err:
            failed += 1
            print(f"{sig.name}: exit {p.returncode}, wanted {code}: {err}")
    p, r = held(program)
    os.close(r)
    err = p.communicate(timeout=30)[1].decode()
    if p.returncode != -signal.SIGPIPE or err:
        failed += 1
        print(f"reader gone: exit {p.returncode}: {err}")
    print(f"{len(CASES) + 1} cases, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
