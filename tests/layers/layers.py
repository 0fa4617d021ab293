"""src/LAYERS as both tests of it read it: room -> the rooms it may name, in the order of the file."""
import os


class Breach(Exception):
    pass


def read(src):
    """Rows in order; "(all)" becomes every room. A row may name only rows above it."""
    rows = {}
    with open(os.path.join(src, "LAYERS")) as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            if ":" not in line:
                raise Breach(f"LAYERS: not a row: {line.strip()}")
            room, names = line.split(":", 1)
            room, names = room.strip(), names.split()
            if names == ["(all)"]:
                names = list(rows)
            for name in names:
                if name not in rows:
                    raise Breach(f"LAYERS: {room} names {name}, which is no row above it")
            if room in rows:
                raise Breach(f"LAYERS: {room} has two rows")
            rows[room] = names
    return rows


def closure(rows, room):
    """What a room may link: its row and, transitively, the rows of what it names; itself left out."""
    seen, todo = [], list(rows[room])
    while todo:
        name = todo.pop(0)
        if name not in seen:
            seen.append(name)
            todo += rows[name]
    return seen
