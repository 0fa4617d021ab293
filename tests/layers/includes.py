#!/usr/bin/env python3
"""includes.py ROOT: every #include of src/ and include/ obeys src/LAYERS, and every folder has a row.

A room includes its own headers and those of the rooms its row names, always as "room/file.h" or
"room/folder/file.h".  A folder of a room that has a row includes, of its own room, only what that row
names; what stands at the room's top includes none of its folders that have rows.  A closed folder is
included by no other.  A public header belongs to one room and may be included where that room may be."""
import os
import re
import sys

import layers

API = ("dlc", "dlc_network", "dlc_database", "dlc_records", "dlc_compile", "dlc_tune", "dlc_builder", "dlc_layers",
       "dlc_frontend")
PUBLIC = {"dlc/dlc_runtime.h": "runtime", **{f"dlc/{x}.h": "api" for x in API}}
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


def breach(rows, place, quote, name):
    """Why a file of `place`, a room or a folder with a row, may not include `name`; None if it may."""
    first, room = name.split("/")[0], place.split("/")[0]
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
        if first not in grant:
            return f"is not in its row ({' '.join(rows[room])})"
        there = rows.place(name)
        if there == place or first != room and there not in rows.closed:
            return None
        if first != room:
            return f"is for {there} alone"
        return None if there in rows[place] else f"is not in the row of {place} ({' '.join(rows[place])})"
    if quote == '"':
        return 'is not "room/file.h" of a room of LAYERS'
    return None


def check(root):
    src = os.path.join(root, "src")
    rows = layers.read(src)
    bad = [f"src/{d} has no row in LAYERS" for d in sorted(os.listdir(src))
           if os.path.isdir(os.path.join(src, d)) and d not in rows]
    n = 0
    for room in rows.rooms():
        if not os.path.isdir(os.path.join(src, room)):
            bad.append(f"LAYERS names {room}, but there is no src/{room}")
            continue
        for path in sources(os.path.join(src, room)):
            place = rows.place(os.path.relpath(path, src))
            for quote, name in includes(path):
                n += 1
                why = breach(rows, place, quote, name)
                if why:
                    bad.append(f"{os.path.relpath(path, root)} includes {name}, which {why}")
    for path in sources(os.path.join(root, "include")):
        bad += [f"{os.path.relpath(path, root)} includes {name}: a public header stands alone"
                for quote, name in includes(path) if quote == '"' and name not in PUBLIC]
    bad += [f"LAYERS names {x}, but there is no src/{x}" for x in rows
            if "/" in x and not os.path.isdir(os.path.join(src, x))]
    return bad, n, len(rows.rooms())


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
