#!/usr/bin/env python3
"""style_selftest.py: each rule of style.py objects to the text that breaks it, at its line, and to no other."""
import os
import sys
import tempfile

import style

DATA = {
    "tests/layers/style/words.txt": "too, is wet | X is also wet\nin one bag | in one state\n=wish | gain\n",
    "tests/layers/style/names.txt": "src/db/near.c | src/db/rank.c\n",
    "tests/layers/style/allowed.txt": "# nothing\n",
}
GOOD = {
    "src/db/rank.c": "/* Ranks. */\nint rank(void);\n",
    "src/db/rank.h": "int rank(void);\n",
    "docs/db.md": "| " + "a long row of a table " * 10 + "|\n",
    "tests/golden/x.t": "x" * 200 + "\n",
}
LONG = "int " + "x" * 116 + ";\n"
# What is added or changed, and how the one line that style.py prints begins; None: no line.
CASES = [
    ({}, None),
    ({"src/a/b.c": LONG[1:]}, None),
    ({"src/a/b.c": LONG}, "src/a/b.c:1: has 121 columns"),
    ({"src/a/b.c": "\n\t" + "x" * 116 + "\n"}, None),
    ({"src/a/b.c": "\n\t" + "x" * 117 + "\n"}, "src/a/b.c:2: has 121 columns"),
    ({"README.md": "x " * 61 + "\n"}, "README.md:1: has 122 columns"),
    ({"tests/a/meson.build": "x" * 121 + "\n"}, "tests/a/meson.build:1: has 121 columns"),
    ({"src/a/b.c": '\n\tfail("outside of it, Too, is  wet %s");\n'},
     'src/a/b.c:2: says "too, is wet": write X is also wet'),
    ({"src/a/b.c": 'fail("outside of it, too, "\n\t"is wet %s");\n'}, 'src/a/b.c:1: says "too, is wet"'),
    ({"src/a/b.h": "\n/*\n * a machine in one\n * bag\n */\n"}, 'src/a/b.h:3: says "in one bag"'),
    ({"docs/a.md": "a machine in one\nbag\n"}, 'docs/a.md:1: says "in one bag"'),
    ({"scripts/a.sh": "# a machine in\n# one bag\n"}, 'scripts/a.sh:1: says "in one bag"'),
    ({"src/a/b.c": "/* Hope, hopes and in one bagy line. */\n"}, None),
    ({"src/a/b.c": "double wish = 1;\n"}, 'src/a/b.c:1: says "wish": write gain'),
    ({"src/db/near.c": "\n"}, "src/db/near.c: is a name that misled: src/db/rank.c"),
    ({"src/a/util.h": "\n"}, "src/a/util.h: says nothing about its content"),
    ({"src/a/b.h": "\n" * 120}, None),
    ({"src/a/b.h": "\n" * 121}, "src/a/b.h: has 121 lines, more than 120"),
    ({"tests/a/b.h": "\n" * 121}, None),
    ({"src/a/b.c": "\n" * 601}, "src/a/b.c: has 601 lines, more than 600"),
    ({"src/a/b.c": "\nint a; // no\n"}, "src/a/b.c:2: has a // comment"),
    ({"src/a/b.c": "/* http://x */\nchar *s = \"http://x\", c = '\\'', *t = \"//\";\n"}, None),
    ({"src/a/rank.c": "\n"}, "rank.c: is the name of 2 files (src/a/rank.c, src/db/rank.c)"),
    ({"src/a/rank.c": "\n", "tests/layers/style/allowed.txt": "twins | rank.c | both rank\n"}, None),
    ({"src/a/b/rank.c": "\n", "src/LAYERS": "a/b -> a (closed)\n"}, None),
    ({"src/a/bc/rank.c": "\n", "src/LAYERS": "a/b -> a (closed)\na/bc -> a\n"},
     "rank.c: is the name of 2 files (src/a/bc/rank.c, src/db/rank.c)"),
    ({"man/x.3": "x " * 61 + "\n"}, "man/x.3:1: has 122 columns"),
    ({"src/a/b.h": "\n" * 121, "tests/layers/style/allowed.txt": "sizes | src/a/b.h | one table\n"}, None),
    ({"src/a/b.c": LONG, "tests/layers/style/allowed.txt": "columns | src/a | one table\n"}, None),
    ({"src/a/b.h": "\n" * 121, "tests/layers/style/allowed.txt": "sizes | src/a/b.h |\n"},
     "tests/layers/style/allowed.txt: gives no reason for sizes in src/a/b.h"),
    ({"tests/layers/style/allowed.txt": "sizes | src/a | one table\n"},
     "tests/layers/style/allowed.txt: excuses sizes in src/a, which needs no excuse"),
]


def main():
    failed = 0
    for change, want in CASES:
        with tempfile.TemporaryDirectory() as root:
            for name, text in {**DATA, **GOOD, **change}.items():
                os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
                with open(os.path.join(root, name), "w") as f:
                    f.write(text)
            said = [str(b) for b in style.check(root, os.path.join(root, "tests/layers/style"))]
        if [x.startswith(want or "") for x in said] != ([True] if want else []):
            failed += 1
            print(f"{change}\n    wanted {want!r}, said {said}")
    print(f"{len(CASES)} trees, {failed} judged wrongly")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
