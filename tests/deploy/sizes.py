#!/usr/bin/env python3
"""sizes.py BUILD SOURCE STATIC: what is deployed is small and alone.

libdlc_runtime.so, stripped, has at most 100 KB, needs libc, libm and pthreads only, and shows no name
that the public header does not declare; a static dlc-worker has at most 1 MB,
and dlc-device-worker needs the C library alone."""
import os
import re
import subprocess
import sys
import tempfile

BUILD, SOURCE, STATIC = sys.argv[1], sys.argv[2], sys.argv[3] == "true"
ALLOWED = re.compile(r"(libc|libm|libpthread|ld-linux[-a-z0-9_]*)\.so\.\d+")


def tool(*cmd):
    return subprocess.run(cmd, stdout=subprocess.PIPE, check=True, text=True).stdout


def stripped(path):
    with tempfile.TemporaryDirectory() as tmp:
        tool("strip", "-o", f"{tmp}/x", path)
        return os.path.getsize(f"{tmp}/x")


def main():
    so = f"{BUILD}/libdlc_runtime.so"
    size = stripped(so)
    needed = re.findall(r"NEEDED\s+(\S+)", tool("objdump", "-p", so))
    shown = {x.split()[-1] for x in tool("nm", "-D", "--defined-only", so).splitlines()}
    declared = set(re.findall(r"\b(dlc_\w+)\s*\(", open(f"{SOURCE}/include/dlc/dlc_runtime.h").read()))
    print(f"libdlc_runtime.so: {size} bytes stripped; needs {' '.join(needed)}; {len(shown)} functions")
    assert size <= 100_000, f"libdlc_runtime.so has {size} bytes stripped, 100000 are allowed"
    assert all(map(ALLOWED.fullmatch, needed)), f"libdlc_runtime.so needs {needed}"
    assert shown == declared, f"shown and not declared, or the other way round: {shown ^ declared}"
    worker = stripped(f"{BUILD}/dlc-worker")
    print(f"dlc-worker: {worker} bytes stripped, {'static' if STATIC else 'dynamic'}")
    assert worker <= 1_000_000, f"dlc-worker has {worker} bytes stripped, 1000000 are allowed"
    if STATIC:
        assert "NEEDED" not in tool("objdump", "-p", f"{BUILD}/dlc-worker")
    needed = re.findall(r"NEEDED\s+(\S+)", tool("objdump", "-p", f"{BUILD}/dlc-device-worker"))
    assert all(map(ALLOWED.fullmatch, needed)), f"dlc-device-worker needs {needed}"


main()
