#!/usr/bin/env python3
"""selftest.py [CC ...]: the two tests of src/LAYERS fail where they should, and only there."""
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
LAYERS = "low:\nmid: low\nside: low\ntop: (all)\n"
GOOD = {
    "src/LAYERS": LAYERS,
    "src/low/a.h": "int low(void);\n",
    "src/low/a.c": '#include "low/a.h"\n#include <stdio.h>\nint low(void) { return 1; }\n',
    "src/mid/b.h": '#include "low/a.h"\nint mid(void);\n',
    "src/mid/b.c": '#include "mid/b.h"\nint mid(void) { return low(); }\n',
    "src/side/c.c": '#include "low/a.h"\nint side(void);\nint side(void) { return low(); }\n',
    "src/top/d.c": '#include "mid/b.h"\nint top(void);\nint top(void) { return mid(); }\n',
    "include/dlc/dlc_runtime.h": "#include <stdint.h>\n",
}
# The same with folders in a room, one of them closed.
FOLDERS = {
    "src/LAYERS": "low:\nmid: low\nmid/deep -> mid\nmid/shut -> mid mid/deep (closed)\nside: low\ntop: (all)\n",
    "src/mid/deep/c.h": '#include "low/a.h"\n#include "mid/b.h"\n',
    "src/mid/shut/d.h": '#include "mid/deep/c.h"\n',
    "src/top/e.h": '#include "mid/deep/c.h"\n',
}
# What is changed, which of the tests must object, and what it must say.
BAD = [
    ({"src/low/a.c": '#include "mid/b.h"\n'}, "includes", "src/low/a.c includes mid/b.h"),
    ({"src/side/x.def": '#include "mid/b.h"\n'}, "includes", "src/side/x.def includes mid/b.h"),
    ({"src/mid/b.c": '#include "../low/a.h"\n'}, "includes", "leaves its folder"),
    ({"src/mid/b.c": '#include "b.h"\n'}, "includes", "is not \"room/file.h\""),
    ({"src/mid/b.c": "#include <low/a.h>\n"}, "includes", "is ours"),
    ({"src/mid/b.c": '#include "dlc/dlc_runtime.h"\n'}, "includes", "belongs to runtime"),
    ({"src/mid/b.c": '  #  include   "top/d.h"\n'}, "includes", "includes top/d.h"),
    ({**FOLDERS, "src/mid/b.c": '#include "mid/deep/c.h"\n'}, "includes", "which is not in the row of mid"),
    ({**FOLDERS, "src/mid/deep/c.h": '#include "mid/shut/d.h"\n'}, "includes", "not in the row of mid/deep (mid)"),
    ({**FOLDERS, "src/top/d.c": '#include "mid/shut/d.h"\n'}, "includes", "is for mid/shut alone"),
    ({**FOLDERS, "src/side/c.c": '#include "mid/deep/c.h"\n'}, "includes", "is not in its row (low)"),
    ({"src/LAYERS": LAYERS + "mid/gone -> mid\n"}, "includes", "there is no src/mid/gone"),
    ({"src/LAYERS": LAYERS + "mid/deep -> low\n"}, "includes", "a folder parts of its own room"),
    ({"src/extra/e.c": "\n"}, "includes", "src/extra has no row"),
    ({"src/LAYERS": LAYERS + "gone:\n"}, "includes", "there is no src/gone"),
    ({"src/LAYERS": "low: mid\nmid:\nside: low\ntop: (all)\n"}, "includes", "low names mid, which is no row above"),
    ({"src/LAYERS": LAYERS + "mid: low\n"}, "includes", "mid has two rows"),
    ({"include/dlc/dlc_runtime.h": '#include "low/a.h"\n'}, "includes", "a public header stands alone"),
    ({"src/side/c.c": "int mid(void);\nint side(void);\nint side(void) { return mid(); }\n"}, "links",
     "side uses what its row does not grant: mid"),
    ({"src/low/a.c": "int json_array(void);\nint low(void);\nint low(void) { return json_array(); }\n"}, "links",
     "low uses what its row does not grant: json_array"),
    ({"src/side/c.c": "int mid(void);\nint mid(void) { return 1; }\n"}, "links", "mid is defined by mid and side"),
]


def write(root, files):
    for name, text in files.items():
        path = os.path.join(root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)


def run(which, root, cc):
    if which == "includes":
        cmd = [sys.executable, f"{HERE}/includes.py", root]
    else:
        cmd = [sys.executable, f"{HERE}/links.py", *[f"--cc={x}" for x in cc], f"{root}/src"]
        for room in ("low", "mid", "side", "top"):
            objects = []
            for name in sorted(os.listdir(f"{root}/src/{room}")):
                if name.endswith(".c"):
                    objects.append(f"{root}/{name}.o")
                    subprocess.check_call([*cc, "-fPIC", f"-I{root}/src", "-c", f"{root}/src/{room}/{name}", "-o",
                                           objects[-1]])
            subprocess.check_call(["ar", "rcs", f"{root}/lib{room}.a", *objects])
            cmd.append(f"{root}/lib{room}.a")
    p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return p.returncode, p.stdout


def main():
    cc, failed = sys.argv[1:] or ["cc"], 0
    cases = [({}, "includes", None), ({}, "links", None), (FOLDERS, "includes", None)] + BAD
    for change, which, want in cases:
        with tempfile.TemporaryDirectory() as root:
            write(root, {**GOOD, **change})
            code, text = run(which, root, cc)
        ok = code == 0 if want is None else code == 1 and want in text
        if not ok:
            failed += 1
            print(f"{which} with {list(change)}: exit {code}, wanted {want!r}:\n{text}")
    print(f"{len(cases)} trees, {failed} judged wrongly")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
