#!/usr/bin/env python3
"""man.py BUILD MANDIR: --help and the manual pages say the same.

For every program: each option row of --help, with the name of its value, is a paragraph of a section
OPTIONS of its page, and the other way round; so are verbs of verbs (dlc db check) and a section VERBS.
dlc(1) has a page for every verb but `builder`, which nobody types; dlc-run(1) has what `dlc run` takes
besides.  --help and --version are everybody's and need to stand in dlc(1) only."""
import os
import re
import subprocess
import sys

COMMON = {"help", "version"}


def call(words):
    p = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
    if p.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {p.returncode}: {p.stderr.decode(errors='replace')}")
    return p.stdout.decode()


def help_rows(text):
    """{option: (letter, value)} of a --help text."""
    rows = {}
    for line in text.splitlines():
        m = re.match(r"  (?:-(\w), )?--([a-z][a-z-]*)(?:=(\S+)|  ?(\S*[\[A-Z]\S*) )?", line + " ")
        if m and m[2] not in COMMON:
            rows[m[2]] = (m[1] or "", m[3] or m[4] or "")
    return rows


def help_verbs(text):
    part = text.split("verbs:\n", 1)
    return set(re.findall(r"^  ([a-z]+) ", part[1].split("\n\n")[0], re.M)) if len(part) > 1 else set()


def plain(line):
    """The text of one line of roff: fonts and escapes gone, arguments of .BI and its like joined."""
    m = re.match(r"\.([BI]|[BIR][BIR])\s+(.*)", line)
    if m:
        words = [a or b for a, b in re.findall(r'"([^"]*)"|(\S+)', m[2])]
        line = (" " if len(m[1]) == 1 else "").join(words)
    return re.sub(r"\\f.", "", line).replace("\\-", "-").replace("\\~", " ")


def paragraphs(path, section):
    """The heads of the tagged paragraphs in the sections whose titles begin so."""
    heads, inside, tag = [], False, False
    with open(path) as f:
        for line in f.read().splitlines():
            if line.startswith(".SH"):
                inside = line[3:].strip().startswith(section)
            elif inside and tag:
                heads.append(plain(line))
            tag = line in (".TP", ".TQ")
    return heads


def page_rows(path):
    rows = {}
    for head in paragraphs(path, "OPTIONS"):
        m = re.fullmatch(r"(?:-(\w), )?--([a-z-]+)(?:[= ](\S+))?", head)
        if not m:
            sys.exit(f'{path}: the head "{head}" is no option')
        if m[2] not in COMMON:
            rows[m[2]] = (m[1] or "", m[3] or "")
    return rows


def differ(page, what, want, got):
    bad = [f"{page}: {what} {k} is missing" for k in want if k not in got]
    bad += [f"{page}: {what} {k} is not in --help" for k in got if k not in want]
    bad += [f"{page}: {what} {k} is {got[k]}, --help says {want[k]}" for k in want if k in got and want[k] != got[k]]
    return bad


def main():
    build, pages = sys.argv[1:3]
    dlc, bad, n = os.path.join(build, "dlc"), [], 0
    programs = {"dlc-worker": call([os.path.join(build, "dlc-worker"), "--help"])}
    for verb in sorted(help_verbs(call([dlc, "--help"])) - {"builder"}):
        programs["dlc-" + verb] = call([dlc, verb, "--help"])
    for name, text in programs.items():
        page = os.path.join(pages, name + ".1")
        if not os.path.exists(page):
            bad.append(f"{page} is missing")
            continue
        want = help_rows(text)
        if name == "dlc-run":  # the program has fewer options than the verb, and says more of them
            want.update(help_rows(call([os.path.join(build, name), "--help"])))
        got = page_rows(page)
        n += len(want)
        bad += differ(name + "(1)", "option", want, got)
        verbs = help_verbs(text)
        bad += differ(name + "(1)", "verb", dict.fromkeys(verbs), dict.fromkeys(paragraphs(page, "VERBS")))
    with open(os.path.join(pages, "dlc.1")) as f:
        text = plain(f.read())
    bad += [f"dlc(1) does not mention --{x}" for x in sorted(COMMON) if "--" + x not in text]
    bad += [f"dlc(1) does not refer to {x}(1)" for x in programs if f".BR {x} (1)" not in text]
    print("\n".join([*bad, f"{len(programs)} pages, {n} options, {len(bad)} differences"]))
    return 1 if bad or n == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
