#!/usr/bin/env python3
"""Runs searches on the recorded spaces beside this file and prints a table.

    bench/search/run.py BUILD [NAME...] [--bench=search|network] [--OPTION=...]

NAME is a recording (default: all of them). The options are those of bench/search/lab.c, which is built by
`ninja -C BUILD tests/tuner/bench_search`: --search, --model, --seeds, --preset, --most, --first, --tasks. With
--bench=network they are those of bench/search/network.c: --search, --model, --seeds, --preset, --most, --first.
"""
import lzma
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def main():
    words = sys.argv[1:]
    bench = next((w[8:] for w in words if w.startswith("--bench=")), "search")
    options = [w for w in words if w.startswith("--") and not w.startswith("--bench=")]
    names = [w for w in words if not w.startswith("--")]
    if not names or "--help" in options:
        sys.exit(__doc__)
    build, names = names[0], names[1:] or sorted(p.name.removesuffix(".space.xz") for p in HERE.glob("*.space.xz"))
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name in names:
            kept = HERE / (name + ".space.xz")
            if not kept.exists():
                sys.exit("run.py: there is no recording %s; bench/search has %s" % (name, ", ".join(sorted(
                    p.name.removesuffix(".space.xz") for p in HERE.glob("*.space.xz")))))
            files.append(pathlib.Path(folder, name + ".space"))
            files[-1].write_bytes(lzma.decompress(kept.read_bytes()))
        command = [build + "/tests/tuner/bench_" + bench] + options + [f.name for f in files]
        command[0] = str(pathlib.Path(command[0]).resolve())
        sys.exit(subprocess.run(command, cwd=folder, check=False).returncode)


if __name__ == "__main__":
    main()
