#!/usr/bin/env python3
"""includes.py ROOT: every #include of src/ and include/ obeys src/LAYERS, and every folder has a row.

A room includes its own headers and those of the rooms its row names, always as "room/file.h".  A
public header belongs to one room and may be included where that room may be."""
import os
import re
import sys

import layers

PUBLIC = {"dlc/dlc_runtime.h": "runtime", "dlc/dlc.h": "compile"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+(["<])([^">]+)[">]', re.M)
SOURCES = (".c", ".h", ".def", ".inc")


def sources(folder):
    for base, _, names in os.walk(folder):
        for name in sorted(names):
            if name.endswith(SOURCES):
                yield os.path.join(base, name)


def includes(path):
    with open(path, errors="replace") as f:
        return INCLUDE.findall(f.read())


def breach(rows, room, quote, name):
    """Why `room` may not include `name`; None if it may."""
    first = name.split("/")[0]
    grant = rows[room] + [room]
    if ".." in name.split("/"):
        return "leaves its folder"
    if first == "dlc":
        if name not in PUBLIC:
            return "is no public header that includes.py knows"
        return None if PUBLIC[name] in grant else f"belongs to {PUBLIC[name]}, which is not in its row"
    if first in rows:
        if quote == "<":
            return 'is ours: write "room/file.h"'
        return None if first in grant else f"is not in its row ({' '.join(rows[room])})"
    if quote == '"':
        return 'is not "room/file.h" of a room of LAYERS'
    return None


def check(root):
    src = os.path.join(root, "src")
    rows = layers.read(src)
    bad = [f"src/{d} has no row in LAYERS" for d in sorted(os.listdir(src))
           if os.path.isdir(os.path.join(src, d)) and d not in rows]
    n = 0
    for room in rows:
        if not os.path.isdir(os.path.join(src, room)):
            bad.append(f"LAYERS names {room}, but there is no src/{room}")
            continue
        for path in sources(os.path.join(src, room)):
            for quote, name in includes(path):
                n += 1
                why = breach(rows, room, quote, name)
                if why:
                    bad.append(f"{os.path.relpath(path, root)} includes {name}, which {why}")
    for path in sources(os.path.join(root, "include")):
        bad += [f"{os.path.relpath(path, root)} includes {name}: a public header stands alone"
                for quote, name in includes(path) if quote == '"' and name not in PUBLIC]
    return bad, n, len(rows)


def main():
    try:
        bad, n, rooms = check(sys.argv[1])
    except layers.Breach as e:
        bad, n, rooms = [str(e)], 0, 0
    for line in bad:
        print(line)
    print(f"{n} includes of {rooms} rooms, {len(bad)} breaches")
    return 1 if bad or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
