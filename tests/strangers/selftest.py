#!/usr/bin/env python3
"""selftest.py: run.py objects to a patch that touches another file, has no row, or no longer applies."""
import os
import shutil
import sys
import tempfile

import run

TABLE = "| to add | touch |\n|---|---|\n| a front end | `src/NAME/NAME.c`, `src/a.def` |\n"
PATCH = "--- a/{0}\n+++ b/{0}\n@@ -1,1 +1,2 @@\n {1}\n+two\n"
# The file that the patch touches, the line it stands at, the table, and how the objection begins; None: none.
CASES = [
    ("src/a.def", "one", TABLE, None),
    ("src/x/y.c", "one", TABLE, None),
    ("src/b.def", "one", TABLE, "it touches src/b.def"),
    ("src/x/y/z.c", "one", TABLE, "it touches src/x/y/z.c"),
    ("src/a.def", "one", TABLE.replace("front end", "back end"), 'CONTRIBUTING.md has no row "front end"'),
    ("src/a.def", "another", TABLE, "the patch no longer applies: refresh it with"),
]


def objection(path, line, table, root):
    def write(name, text):
        os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
        with open(os.path.join(root, name), "w") as f:
            f.write(text)

    run.HERE = root + "/patches"
    write("tree/CONTRIBUTING.md", table)
    write("tree/" + path, "one\n")
    write("patches/front-end.patch", PATCH.format(path, line))
    c = object.__new__(run.Copy)
    c.root, c.env = root + "/tree", dict(os.environ)
    try:
        run.check_files(c.root, "front-end")
        run.apply_patch(c, "front-end")
        run.apply_patch(c, "front-end", "-R")
    except run.Wrong as e:
        return str(e)
    return None


def main():
    failed = 0
    for path, line, table, want in CASES:
        root = tempfile.mkdtemp(prefix="strangers.")
        said = objection(path, line, table, root)
        shutil.rmtree(root)
        if (said is None) != (want is None) or want and not said.startswith(want):
            failed += 1
            print(f"{path}, {line}: wanted {want!r}, said {said!r}")
    print(f"{len(CASES)} patches, {failed} judged wrongly")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
