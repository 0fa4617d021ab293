#!/usr/bin/env python3
"""embed.py PAGE STYLE SCRIPT HEAD TAIL: makes of the page of a report two lists of bytes, which C includes.

The style and the script replace the marks @STYLE@ and @SCRIPT@ of the page; HEAD is what stands before the mark @DATA@,
TAIL what stands behind it."""
import sys

page, style, script = (open(name, encoding="utf-8").read() for name in sys.argv[1:4])
page = page.replace("@STYLE@", style).replace("@SCRIPT@", script)
for part, name in zip(page.split("@DATA@"), sys.argv[4:], strict=True):
    data = part.encode()
    with open(name, "w", encoding="ascii") as out:
        for i in range(0, len(data), 24):
            out.write(",".join(str(b if b < 128 else b - 256) for b in data[i:i + 24]) + ",\n")
