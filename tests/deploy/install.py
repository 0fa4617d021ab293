#!/usr/bin/env python3
"""install.py BUILD SOURCE [--sanitized]: what meson installs works from wherever it is moved to.

The build is installed into a DESTDIR, the tree is moved, and from there: dlc info finds the targets, a short tuning
its children, dlc-compile and dlc-run their work, and a C program is built against the installed headers and
pkg-config files alone, which tunes, compiles and runs a network. The man pages are there. libdlc.so shows the names
that its headers declare and no others."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
SANITIZED = "--sanitized" in sys.argv
TMP = tempfile.mkdtemp(prefix="dlc-install.")
MODEL = f"{TMP}/net.onnx"


def call(*cmd, env=None):
    p = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=280,
                       cwd=TMP,
                       env=env)
    assert p.returncode == 0, f"{' '.join(cmd)}: exit {p.returncode}: {p.stdout[-800:]}"
    return p.stdout


def installed():
    """The moved tree: PREFIX/bin and so on, far from where it was installed."""
    call("meson", "install", "-C", BUILD, "--no-rebuild", "--quiet", "--destdir", f"{TMP}/stage")
    prefix = next(d for d, names, _ in os.walk(f"{TMP}/stage") if "bin" in names)
    os.rename(prefix, f"{TMP}/moved")
    shutil.rmtree(f"{TMP}/stage")
    return f"{TMP}/moved"


def find(prefix, name):
    found = [os.path.join(d, name) for d, _, names in os.walk(prefix) if name in names]
    assert found, f"{name} is not installed"
    return found[0]


def check_exports(prefix):
    shown = {x.split()[-1].split("@")[0] for x in call("nm", "-D", "--defined-only",
                                                       find(prefix, "libdlc.so.1")).splitlines()
             if " T " in x or " D " in x or " R " in x}
    declared = set()
    for name in os.listdir(f"{prefix}/include/dlc"):
        if name != "dlc_runtime.h":
            declared |= set(re.findall(r"DLC_API [^;]*?\b(dlc_\w+)\s*\(", open(f"{prefix}/include/dlc/{name}").read()))
    assert declared and shown == declared, f"shown and not declared, or the other way round: {shown ^ declared}"


def main():
    prefix = installed()
    bin_ = f"{prefix}/bin"
    env = {"PATH": f"{bin_}:{os.environ['PATH']}", "HOME": TMP, "LANG": "C"}
    text = call("dlc", "info", env=env)
    assert "cortex-a72" in text and f"programs  {bin_}\n" in text, text
    for page in ("dlc.1", "dlc-tune.1", "dlc-run.1", "dlc-worker.1", "libdlc.3"):
        find(f"{prefix}/share/man", page)
    check_exports(prefix)
    call("dlc", "show", "squeezenet1_1", "--shape=data=1,3,35,35", "--stage=onnx", "-o", MODEL, env=env)
    out = call("dlc-tune", MODEL, "--trials=4", "--tuning-db=t.sqlite", "--json", env=env)
    assert '"trials":4' in out, out
    call("dlc-compile", MODEL, "--tuning-db=t.sqlite", "-o", "net.dlcb", env=env)
    assert "out" in call("dlc-run", "net.dlcb", env=env)
    if SANITIZED:
        print("skipped: the C program: an instrumented library needs an instrumented program")
        return
    pc = os.path.dirname(find(prefix, "dlc.pc"))
    # A build folder that was set up without pkgconfig.relocatable has files for one place.
    moved = [] if "${pcfiledir}" in open(f"{pc}/dlc.pc").read() else [f"--define-variable=prefix={prefix}"]
    flags = call("pkg-config", *moved, "--cflags", "--libs", "dlc", "dlc_runtime",
                 env=dict(env, PKG_CONFIG_PATH=pc)).split()
    assert SOURCE not in " ".join(flags) and BUILD not in " ".join(flags), flags
    call("cc", "-std=c11", "-Wall", "-Werror", f"{SOURCE}/examples/tune_model.c", *flags, "-o", f"{TMP}/tune_model",
         env=dict(env, PATH=os.environ["PATH"]))
    call("cc", "-std=c11", "-Wall", "-Werror", f"{SOURCE}/examples/build_model.c", *flags, "-o", f"{TMP}/build_model",
         env=dict(env, PATH=os.environ["PATH"]))
    out = call(f"{TMP}/build_model", env={"LD_LIBRARY_PATH": os.path.dirname(find(prefix, "libdlc.so.1"))})
    assert out == "shares adds up to 1.000\n", out
    # A front end of another program has nothing but the installed headers.
    with open(f"{TMP}/net.toy", "w") as f:
        f.write("toy 1\ninput x 1 3 8 8\nconv c 4 3 relu\noutput y\n")
    cflags = [x for x in flags if x.startswith("-I")]
    call("cc", "-std=c11", "-shared", "-fPIC", f"{SOURCE}/tests/strangers/toy_front_end.c", *cflags, "-o",
         f"{TMP}/toy.so", env=dict(env, PATH=os.environ["PATH"]))
    assert "y: f32[1,4,8,8] = relu(c)" in call("dlc", "show", "net.toy", "--frontend=toy.so", "--stage=graph",
                                               "--imported", env=env)
    # No HOME, no PATH: the library finds its children and targets by its own place.
    print(call(f"{TMP}/tune_model", MODEL, "lib.sqlite",
               env={"LD_LIBRARY_PATH": os.path.dirname(find(prefix, "libdlc.so.1"))}))


try:
    main()
finally:
    shutil.rmtree(TMP, ignore_errors=True)
