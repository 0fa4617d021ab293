#!/usr/bin/env python3
"""style.py ROOT [--warn] [PATH ...]: the rules of CONTRIBUTING's section Style that a machine can check.

    columns   no line is longer than 120 columns, a tab counted as 4
    words     no phrase and no identifier of style/words.txt
    names     no file name of style/names.txt; no util, common or internal.h
    sizes     a header of src and include has at most 120 lines, any other C file at most 600
    comments  C has no // comment
    twins     two files of src/ have one name only where style/allowed.txt says that they do the same thing; files of
              closed folders (src/LAYERS) do not count, since nothing outside of the folder names them

Each breach is one line: file:line: what is wrong and what to write instead.  style/allowed.txt holds the
exceptions, each with its reason; an exception that no file needs is a breach as well.  With PATH only what
begins with one of them is printed; --warn prints and passes."""
import os
import re
import subprocess
import sys

COLUMNS, TAB = 120, 4
HEADER_LINES, C_LINES = 120, 600
ROOMS = ("src", "include", "tests", "bench", "examples", "docs", "man", "scripts")
TEXTS = (".c", ".h", ".def", ".inc", ".py", ".md", ".sh", ".1", ".3")
C = (".c", ".h", ".def", ".inc")
ALONE = ("README.md", "CONTRIBUTING.md", "check", "quickstart", "meson.build", "meson_options.txt", "src/LAYERS")
# Between two words of a phrase: blanks, the end of a line and the leader of the next, or the seam of two literals.
GAP = r'(?:[ \t]|"[ \t]*\n[ \t]*"|\n[ \t]*(?:\*|#|\.\\")?[ \t]*)+'
# A string, a character, a block comment or a line comment of C.
TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|/\*.*?\*/|//[^\n]*', re.S)


class Breach:
    def __init__(self, rule, path, line, text):
        self.rule, self.path, self.line, self.text = rule, path, line, text

    def __str__(self):
        return f"{self.path}:{self.line}: {self.text}" if self.line else f"{self.path}: {self.text}"


def rows(path):
    """Lines of a data file as lists of their columns, which "|" separates; "#" begins a comment."""
    with open(path) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                yield [x.strip() for x in line.split("|")]


def files(root):
    """Files that people write, as paths below the root: what git knows, or all where there is no git."""
    p = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL, text=True)
    names = p.stdout.splitlines() if p.returncode == 0 else \
        [os.path.relpath(os.path.join(base, x), root) for base, _, found in os.walk(root) for x in found]
    for name in sorted(set(names)):
        if not os.path.isfile(os.path.join(root, name)):
            continue
        if name in ALONE or name.split("/")[0] in ROOMS and (name.endswith(TEXTS) or name.endswith("/meson.build")):
            yield name


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def columns(path, text):
    for n, line in enumerate(text.split("\n"), 1):
        if path.endswith(".md") and line.startswith("|"):
            continue  # a row of a table cannot be broken
        width = len(line.expandtabs(TAB))
        if width > COLUMNS:
            yield Breach("columns", path, n, f"has {width} columns, more than {COLUMNS} with tabs of {TAB}: break it")


def pattern(phrase):
    """The phrase as whole words, in any case, with line breaks in it.  "=word" is an identifier and its case counts."""
    if phrase.startswith("="):
        return re.compile(rf"\b{re.escape(phrase[1:])}\b")
    body = GAP.join(re.escape(w) for w in phrase.split())
    return re.compile(rf"(?<!\w){body}(?!\w)", re.I)


def words(path, text, phrases):
    lower = text.lower()
    for phrase, instead, found in phrases:
        if not all(w in lower for w in phrase.lstrip("=").lower().split()):
            continue  # most phrases are in no file, and this is faster than the pattern
        for m in found.finditer(text):
            yield Breach("words", path, line_of(text, m.start()), f'says "{phrase.lstrip("=")}": write {instead}')


def names(path, misled):
    base = os.path.basename(path)
    if re.fullmatch(r"(util|utils|common|helpers?|misc)\.[ch]|internal\.h", base):
        yield Breach("names", path, 0, "says nothing about its content: name the file after what it does")
    for old, instead in misled:
        if path == old or path.startswith(old + "/"):
            yield Breach("names", path, 0, f"is a name that misled: {instead}")


def sizes(path, text):
    if path.endswith((".c", ".h")):
        contract = path.endswith(".h") and path.split("/")[0] in ("src", "include")
        most, n = HEADER_LINES if contract else C_LINES, text.count("\n")
        if n > most:
            yield Breach("sizes", path, 0, f"has {n} lines, more than {most}: split it by its ideas")


def comments(path, text):
    if path.endswith(C):
        for m in TOKEN.finditer(text):
            if m[0].startswith("//"):
                yield Breach("comments", path, line_of(text, m.start()), "has a // comment: write /* */")


def closed_folders(root):
    path = os.path.join(root, "src/LAYERS")
    if not os.path.isfile(path):
        return ()
    with open(path) as f:
        return tuple(f"src/{x}/" for x in re.findall(r"^(\S+) -> .*\(closed\)", f.read(), re.M))


def twins(paths, closed):
    """Files of src/ by name; a table and its reader of one folder (op.def, op.c) are no twins."""
    seen = {}
    for path in paths:
        base = os.path.basename(path)
        if path.startswith("src/") and base.endswith(C) and not path.startswith(closed):
            seen.setdefault(base, []).append(path)
    for base, where in seen.items():
        if len(where) > 1:
            yield Breach("twins", base, 0, f"is the name of {len(where)} files ({', '.join(where)}): rename those that "
                         "do something else, or say in tests/layers/style/allowed.txt what all of them do")


def breaches(root, data):
    phrases = [(p, instead, pattern(p)) for p, instead in rows(f"{data}/words.txt")]
    misled = [tuple(r) for r in rows(f"{data}/names.txt")]
    paths = list(files(root))
    for path in paths:
        with open(os.path.join(root, path), errors="replace") as f:
            text = f.read()
        yield from columns(path, text)
        if os.path.relpath(data, root) != os.path.dirname(path):
            yield from words(path, text, phrases)
        yield from names(path, misled)
        yield from sizes(path, text)
        yield from comments(path, text)
    yield from twins(paths, closed_folders(root))


def check(root, data):
    """The breaches that no row of allowed.txt (rule | path | reason) excuses, and the rows that excuse none."""
    allowed = {(rule, path): reason for rule, path, reason in rows(f"{data}/allowed.txt")}
    used, bad, name = set(), [], "tests/layers/style/allowed.txt"
    for b in breaches(root, data):
        keys = [(b.rule, b.path[:n]) for n in range(1, len(b.path) + 1) if n == len(b.path) or b.path[n] == "/"]
        hit = [k for k in keys if k in allowed]
        used.update(hit)
        if not hit:
            bad.append(b)
    for (rule, path), reason in allowed.items():
        if (rule, path) not in used:
            bad.append(Breach("allowed", name, 0, f"excuses {rule} in {path}, which needs no excuse: remove the row"))
        elif not reason:
            bad.append(Breach("allowed", name, 0, f"gives no reason for {rule} in {path}"))
    return bad


def main():
    root, warn, only = os.path.abspath(sys.argv[1]), "--warn" in sys.argv, [x for x in sys.argv[2:] if x != "--warn"]
    bad = check(root, os.path.join(root, "tests/layers/style"))
    for b in bad:
        if not only or b.path.startswith(tuple(only)):
            print(b)
    counts = {}
    for b in bad:
        counts[b.rule] = counts.get(b.rule, 0) + 1
    print(f"{len(list(files(root)))} files, {len(bad)} breaches", *[f"({k} {v})" for k, v in sorted(counts.items())])
    return 1 if bad and not warn else 0


if __name__ == "__main__":
    sys.exit(main())
