#!/usr/bin/env python3
"""knobs.py [RECORDING...]: which knobs of a recorded space (docs/search.md) keep its default from the best.

A line for each recording: the default's time over the best one. Below it, for each knob that matters: how much slower
the best config is that has the default's option of this knob, which option the best config has, and the default's time
over that of the default with this one option (a dash: it was not recorded). Knobs of less than 3 % in both are left
out. Times are medians; what scatters more than 3 % says so in its noise."""
import glob, json, lzma, os, statistics, sys

def recording(path):
    opened = lzma.open(path, "rt") if path.endswith(".xz") else open(path)
    head, *rows = opened.read().split("\n")
    head, times = json.loads(head), {}
    for number, row in enumerate(rows):
        column = row.split("\t")
        if len(column) > 2 and column[1] == "ok":
            config = tuple(tuple(word.split("=", 1)) for word in column[0].split())
            times[config] = statistics.median(float(t) for t in column[2].split(","))
            if number == head["first"]:
                default = config
    return head, times, default

def main():
    here = os.path.dirname(os.path.abspath(__file__))
    for path in sys.argv[1:] or sorted(glob.glob(here + "/*.space.xz")):
        head, times, default = recording(path)
        best = min(times, key=times.get)
        print(f"{os.path.basename(path).split('.')[0]}: default / best {times[default] / times[best]:.3f}; "
              f"{head['noise']}")
        for knob, option in default:
            other = dict(best).get(knob)
            if other is None or other == option:
                continue
            kept = min(t for c, t in times.items() if (knob, option) in c)
            moved = tuple((k, other if k == knob else o) for k, o in default)
            alone = times[default] / times[moved] if moved in times else None
            if kept > 1.03 * times[best] or (alone or 1) > 1.03:
                print(f"    {knob}: {option} -> {other}: without it {kept / times[best]:.3f}, it alone "
                      f"{'-' if alone is None else '%.3f' % alone}")

main()
