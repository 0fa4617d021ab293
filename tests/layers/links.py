#!/usr/bin/env python3
"""Each room links with what its row of src/LAYERS grants.

    links.py [--cc CC ...] [--without=LIBRARY ...] SRC .../libROOM.a ...

The whole of a room's archive, the archives of its row and, transitively, of what that names, and the
libraries below become one shared object without undefined symbols.  A symbol that is missing is one
the room uses and its row does not grant; a library that is missing is one that it must not use.
No two archives define the same name."""
import argparse
import os
import re
import subprocess
import sys
import tempfile

import layers

# Which libraries outside of libc a room may use; those of what it may link come with it.
LIBRARIES = {
    "runtime": ["m", "pthread"],
    "run": ["z"],
    "base": ["jansson", "sodium", "z", "m", "dl", "pthread"],
    "codegen": ["dl"],
    "cost_model": ["m", "pthread"],
    "db": ["sqlite3"],
    "measure": ["uv"],
}


def room_of(rows, lib):
    """The room of libROOM.a or of a second archive of its sources, libROOM_part.a; None if none."""
    return max((r for r in rows if lib == r or lib.startswith(r + "_")), key=len, default=None)


def link(cc, rows, libs, room, absent):
    """The names that stay undefined when `room` is linked; empty if all is well."""
    rooms = [room_of(rows, room)] + layers.closure(rows, room_of(rows, room))
    granted = [lib for r in rooms for lib in libs if room_of(rows, lib) == r and lib != room]
    external = [f"-l{x}" for r in [room] + granted for x in LIBRARIES.get(r, []) if x not in absent]
    with tempfile.TemporaryDirectory() as tmp:
        cmd = [*cc, "-shared", "-o", f"{tmp}/room.so", "-Wl,-z,defs", "-Wl,--whole-archive", libs[room],
               "-Wl,--no-whole-archive", "-Wl,--start-group", *[libs[x] for x in granted],
               "-Wl,--end-group", *external]
        p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if p.returncode == 0:
        return []
    return sorted(set(re.findall(r"undefined reference to [`']([^']+)'", p.stdout))) or [p.stdout.strip()[-400:]]


def twice(libs):
    """Names that two archives define: which one a program gets would depend on the order of linking."""
    seen, bad = {}, []
    for lib, path in libs.items():
        out = subprocess.run(["nm", "-g", "--defined-only", "-P", path], stdout=subprocess.PIPE, text=True).stdout
        for name in {x.split()[0] for x in out.splitlines() if len(x.split()) > 1}:
            if name in seen and not name.startswith("__"):
                bad.append(f"{name} is defined by {seen[name]} and {lib}")
            seen[name] = lib
    return sorted(bad)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--cc", action="append", default=[])
    ap.add_argument("--without", action="append", default=[], help="an optional library that was not built in")
    ap.add_argument("src")
    ap.add_argument("lib", nargs="+")
    a = ap.parse_args()
    try:
        rows = layers.read(a.src)
    except layers.Breach as e:
        print(e)
        return 1
    libs = {os.path.basename(x)[3:-2]: x for x in a.lib}
    alien = [x for x in libs if room_of(rows, x) is None]
    if alien:
        print(f"libraries of no room: {alien}")
        return 1
    bad = 0
    for room in libs:
        missing = link(a.cc or ["cc"], rows, libs, room, a.without)
        if missing:
            bad += 1
            print(f"{room} uses what its row does not grant: {' '.join(missing[:8])}")
    for line in twice(libs):
        bad += 1
        print(line)
    print(f"{len(libs)} archives of {len(rows)} rooms; {bad} breaches")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
