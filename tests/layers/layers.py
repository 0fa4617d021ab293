"""src/LAYERS as both tests of it read it: room -> the rooms it may name, in the order of the file."""
import os

CLOSED = "(closed)"


class Breach(Exception):
    pass


class Rows(dict):
    """Rooms and folders of rooms ("ir/text") -> the rows each may name; `closed`: folders for themselves alone."""

    def __init__(self):
        super().__init__()
        self.closed = set()

    def rooms(self):
        return [name for name in self if "/" not in name]

    def place(self, path):
        """The row that a path below src/ belongs to: that of its folder if there is one, else its room's."""
        folder = "/".join(path.split("/")[:2])
        return folder if folder in self else path.split("/")[0]


def read(src):
    """
    Rows in order; "(all)" becomes every room. A row may name only rows above it. The row of a folder
    stands below its room's: it names parts of its room and has the room's grants beside.
    """
    rows = Rows()
    with open(os.path.join(src, "LAYERS")) as f:
        for line in f:
            if line.startswith("#") or not line.strip():
                continue
            sign = "->" if "/" in line.split()[0] else ":"
            if sign not in line:
                raise Breach(f"LAYERS: not a row: {line.strip()}")
            name, names = line.split(sign, 1)
            name, names = name.strip(), names.split()
            room = name.split("/")[0]
            if CLOSED in names:
                names.remove(CLOSED)
                rows.closed.add(name)
            if names == ["(all)"]:
                names = rows.rooms()
            for other in names:
                if other not in rows:
                    raise Breach(f"LAYERS: {name} names {other}, which is no row above it")
                if (other.split("/")[0] == room) != ("/" in name):
                    raise Breach(f"LAYERS: {name} names {other}: a room names rooms, a folder parts of its own room")
            if name in rows:
                raise Breach(f"LAYERS: {name} has two rows")
            if "/" in name and room not in rows:
                raise Breach(f"LAYERS: {name} stands above its room")
            rows[name] = names
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
