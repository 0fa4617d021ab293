#!/usr/bin/env python3
"""named.py BUILD SOURCE: what a message, a page or a document names is there.

Options (--x) in string literals of src/ and examples/, in man/, README.md, CONTRIBUTING.md and docs/ are rows
of some --help, or belong to another program that is named in the same paragraph; verbs (dlc-x, dlc db x)
are verbs; files of the tree (docs/x.md) are there.  Comments of src/ name a file by its path below src/, or by
a name in the comment's folder, above or below it.  The library names no option and no variable of the
environment: its programs do."""
import glob
import os
import re
import subprocess
import sys

# Options of programs that are not ours, and of our own scripts, which have no --help.
OTHERS = {
    "pkg-config": "cflags libs",
    "meson": "buildtype suite num-processes timeout-multiplier print-errorlogs no-rebuild",
    "llvm-config": "link-shared libs ldflags includedir",
    "bench": "build rounds inputs records sessions budget threads seconds rivals target shape tuning-db logs keep out "
             "unscheduled more blocks draw first most mb list kind steady pack count model file",
    "quickstart": "yes compare",
    "./check": "yes all",
    "tests/": "bless all set refresh each count keep",
    "tools/retune": "same segment hints",
    "tools/teach": "rounds without spaces",
}
# The files of programs, of what the library passes to its children, and of what the environment says.
PROGRAMS = re.compile(
    r"src/(cli/|run/|base/args|base/user_folder\.c|worker/worker_program|api/(session|folders)\.c)|(?!src/)")
VARIABLE = re.compile(r"\b(?:DLC_(?:TUNING_DB|TUNING_LOGS|CONFIGS|CODE_CACHE)|XDG_\w+|HOME)\b")
OPTION = re.compile(r"(?<![\w-])--([a-z][a-z-]*[a-z]|[a-z])\b")
PATH = re.compile(r"(?<![\w/.-])((?:src|docs|tests|bench|scripts|examples|configs|man|include)/[\w./-]*\w)")

COMMENT = re.compile(r"/\*.*?\*/", re.S)
# "t.c" in a comment is a dimension of a tensor, NAME stands for a name, <x.h> and linux/x.h are the system's.
FILE = re.compile(r"(?<![\w./<-])(?!asm/|linux/)((?:[\w-]+/)*[\w-]{2,}\.(?:c|h|def|inc|md|py))\b")


def missing_files(path, text, files):
    """(line number, name) of the files that comments name and that are not there."""
    folder = os.path.dirname(path)
    above = [folder[:m.start()] for m in re.finditer("/|$", folder)]
    for comment in COMMENT.finditer(text):
        for m in FILE.finditer(comment[0]):
            near = [f"{x}/{m[1]}" for x in [*above, "src", "include", "include/dlc"]] + [m[1]]
            if "NAME" not in m[1] and not files.intersection(near) and \
                    not any(f.startswith(folder + "/") and f.endswith("/" + m[1]) for f in files):
                yield text.count("\n", 0, comment.start() + m.start()) + 1, m[1]


def call(words):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    return p.stdout.decode() if p.returncode == 0 else ""


def verbs_of(text):
    part = text.split("verbs:\n", 1)
    return set(re.findall(r"^  ([a-z]+) ", part[1].split("\n\n")[0], re.M)) if len(part) > 1 else set()


def paragraphs(path):
    """(line number, text) of what a reader sees: literals of C, where neighbours are one; paragraphs of text."""
    with open(path, errors="replace") as f:
        text = f.read()
    if path.endswith((".c", ".h", ".def")):
        text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m[0]), text, flags=re.S)
        for m in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', text):
            yield text[:m.start()].count("\n") + 1, re.sub(r'"\s*"', "", m[0][1:-1])
        return
    at = 1
    for part in re.split(r"(\n(?:\s*\n|\.PP|\.TP|\.SH)+)", text):
        yield at, part.replace("\\-", "-").replace("\\~", " ")
        at += part.count("\n")


def main():
    build, source = map(os.path.abspath, sys.argv[1:3])
    dlc = os.path.join(build, "dlc")
    verbs = verbs_of(call([dlc, "--help"]))
    subs = {v: verbs_of(call([dlc, v, "--help"])) for v in verbs}
    rows = {"help", "version", "opt"}
    pages = [[os.path.join(build, p), "--help"] for p in ("dlc-worker", "dlc-run")]
    pages += [[dlc, v, *s, "--help"] for v in verbs for s in [[], *[[x] for x in subs[v]]]]
    for words in pages:
        rows |= set(OPTION.findall(call(words)))
    programs = verbs | {"worker", "device-worker"}
    os.chdir(source)
    files = call(["git", "ls-files"]).split() or [f for f in glob.glob("**", recursive=True) if os.path.isfile(f)]
    paths = [p for p in files if re.match(r"(src|examples|man|docs)/|README.md|CONTRIBUTING.md",
                         p) and p.endswith((".c", ".h", ".def", ".1", ".md"))]
    bad, n = [], 0
    for path in paths:
        if path.endswith((".c", ".h", ".def")):
            with open(path, errors="replace") as f:
                bad += [f"{path}:{line}: there is no file {name}: give its path below src/"
                        for line, name in missing_files(path, f.read(), set(files))]
        for line, text in paragraphs(path):
            if text.lstrip().startswith("Not yet"):
                continue
            foreign = {x for program, list in OTHERS.items() if program in text or program in path
                       for x in list.split()}
            if not PROGRAMS.match(path):
                bad += [f"{path}:{line}: the library names {x}: name the field, or the fact"
                        for x in [f"--{x}" for x in OPTION.findall(text)] + VARIABLE.findall(text)]
            for name in OPTION.findall(text):
                n += 1
                if name not in rows | foreign:
                    bad.append(f"{path}:{line}: there is no option --{name}")
            for name in re.findall(r"(?<![\w/.-])dlc-([a-z]+(?:-worker)?)\b(?![./])", text):
                if name not in programs:
                    bad.append(f"{path}:{line}: there is no program dlc-{name}")
            for verb, name in re.findall(r"\bdlc[- ]([a-z]+) ([a-z]+)\b", text):
                if subs.get(verb) and name not in subs[verb] and ("`dlc" in text or path.endswith(".c")):
                    bad.append(f"{path}:{line}: there is no verb dlc {verb} {name}")
            if path.endswith(".md"):
                for name in PATH.findall(text):
                    built = os.path.exists(os.path.join(build, name))
                    if not built and not re.search(r"[A-Z]{4}", name) and not glob.glob(name + "*"):
                        bad.append(f"{path}:{line}: there is no file {name}")
    print("\n".join([*bad, f"{len(paths)} files, {n} options named, {len(bad)} wrong"]))
    return 1 if bad or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
