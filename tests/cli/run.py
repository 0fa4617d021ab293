#!/usr/bin/env python3
"""run.py BUILD [--bless] FILE.t ...: plays transcripts of the command line.

A transcript is remarks ("# "), and commands ("$ ") with what they print below them: lines of stdout,
then lines of stderr behind "! ", then "[exit N]" where N is not 0; blank lines at the end are air.  "..." inside a
line stands for any characters, alone on a line for any lines.  Commands go to sh in an empty folder
with BUILD first in PATH; $DATA is the folder of the transcript.  --bless rewrites what differs."""
import os
import re
import subprocess
import sys
import tempfile


def play(command, build, data, cwd):
    env = dict(os.environ, PATH=build + ":" + os.environ["PATH"], DATA=data, HOME=cwd + "/home", LC_ALL="C")
    for name in ("DLC_TUNING_DB", "DLC_CONFIGS", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        env.pop(name, None)
    p = subprocess.run(["sh", "-c", command], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, timeout=100)
    got = p.stdout.decode(errors="replace").rstrip("\n").splitlines()
    got += ["! " + x for x in p.stderr.decode(errors="replace").splitlines()]
    return got + ([f"[exit {p.returncode}]"] if p.returncode else [])


def fits(want, got):
    """Whether the lines match, "..." being any characters or any lines."""
    parts = []
    for line in want:
        parts.append("(?:.*\n)*?" if line == "..." else ".*?".join(map(re.escape, line.split("..."))) + "\n")
    return re.fullmatch("".join(parts), "".join(x + "\n" for x in got)) is not None


def parse(text):
    """[(remarks before it, command or None, expected lines, blank lines behind)], in order."""
    steps = [[[], None, [], 0]]
    for line in text.splitlines():
        if line.startswith("$ ") or line.startswith("# "):
            if steps[-1][1] is not None:
                steps.append([[], None, [], 0])
            if line.startswith("# "):
                steps[-1][0].append(line)
            else:
                steps[-1][1] = line[2:]
        else:
            steps[-1][2 if steps[-1][1] is not None else 0].append(line)
    for step in steps:
        while step[2] and step[2][-1] == "":
            step[2].pop()
            step[3] += 1
    return steps


def main():
    args = [x for x in sys.argv[1:] if x != "--bless"]
    bless, build, failed, n = "--bless" in sys.argv, os.path.abspath(args[0]), 0, 0
    for path in args[1:]:
        out = []
        with tempfile.TemporaryDirectory(prefix="dlc-cli.") as cwd, open(path) as f:
            os.mkdir(cwd + "/home")
            for note, command, want, air in parse(f.read()):
                out += note
                if command is None:
                    continue
                n += 1
                got = play(command, build, os.path.dirname(os.path.abspath(path)), cwd)
                if not fits(want, got):
                    failed += 1
                    if failed <= 5:
                        print(f"{path}: $ {command}\nwanted:\n  " + "\n  ".join(want) + "\ngot:\n  " + "\n  ".join(got))
                    want = got
                out += ["$ " + command, *want] + [""] * air
        if bless:
            with open(path, "w") as f:
                f.write("\n".join(out) + "\n")
    print(f"{n} commands, {failed} differ")
    return 1 if failed or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
