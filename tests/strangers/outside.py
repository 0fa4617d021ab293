#!/usr/bin/env python3
"""outside.py BUILD SOURCE: a front end of another program (toy_front_end.c) through --frontend=FILE.so.

It is built with the public headers alone.  Its networks are shown, tuned, compiled and run; a model of another format
goes to dlc's own front ends; shared objects that are no front ends, and files that are damaged, are one sentence."""
import os
import random
import shutil
import subprocess
import sys
import tempfile

BUILD, SOURCE = map(os.path.abspath, sys.argv[1:3])
TMP = tempfile.mkdtemp(prefix="dlc-outside.")
ENV = dict(os.environ, HOME=TMP, XDG_CACHE_HOME=TMP, XDG_DATA_HOME=TMP)
ENV.pop("DLC_TUNING_DB", None)
NET = """toy 1
input x ? 3 8 8
conv c 16 3 relu
conv e 16 3
skip c
pool p 2
dense d 10 softmax
output y
"""
ROW = "#include <dlc/dlc.h>\nextern const DlcFrontend dlc_frontend;\n"
YES = "static int yes(const void *b, size_t n) { (void)b; (void)n; return 1; }\n"
NO = "static int no(DlcBuilder *b, const DlcModelFile *f) { (void)b; (void)f; return 1; }\n"


def path(name):
    return f"{TMP}/{name}"


def file(name, content):
    with open(path(name), "wb") as f:
        f.write(content if isinstance(content, bytes) else content.encode())
    return path(name)


def build(name, source, *options):
    subprocess.run(["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{SOURCE}/include",
                    *options, source, "-o", path(name)], check=True)
    return path(name)


def dlc(*args, code=0):
    p = subprocess.run([f"{BUILD}/dlc", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                       errors="replace", cwd=TMP, env=ENV, timeout=250)
    assert p.returncode == code, f"{args}: exit {p.returncode}, not {code}: {p.stdout[-500:]}{p.stderr[-1500:]}"
    return p.stdout + p.stderr


def refused(says, code, *args):
    out = dlc("show", *args, code=code)
    assert says in out and out.replace("see dlc show --help\n", "").count("\n") == 1, out


def works(toy, net):
    out = dlc("show", net, f"--frontend={toy}", "--stage=graph", "--imported", "--batch=2")
    assert "in x: f32[2,3,8,8]" in out and "y: f32[2,10] = softmax(d)" in out, out
    out = dlc("tune", net, f"--frontend={toy}", "--trials=2", "--tuning-db=t.sqlite", "--json")
    assert '"trials":2' in out, out
    dlc("compile", net, f"--frontend={toy}", "--tuning-db=t.sqlite", "-o", "n.dlcb")
    assert "y f32[1,10]" in dlc("run", net, f"--frontend={toy}", "--tuning-db=none"), "no result"
    dlc("show", "mlp", "--stage=onnx", "-o", "mlp.onnx")
    assert "dense(" in dlc("show", "mlp.onnx", f"--frontend={toy}", "--stage=graph"), "not dlc's own front end"
    shutil.copy(toy, path("near.so"))
    assert "conv(" in dlc("show", net, "--frontend=near.so", "--stage=graph"), "a name without a folder"


def objects_that_are_none(toy, net):
    source = f"{SOURCE}/tests/strangers/toy_front_end.c"
    bad = lambda name, *lines: build(name, file(name + ".c", ROW + "".join(lines)))
    row = 'DLC_FRONTEND_ROW("toy", recognise, load);'
    with open(source) as f:
        toy_code = f.read()
    assert row in toy_code and toy_code.count("\n") <= 100, "the toy is one of at most 100 lines"
    old = file("old.c", toy_code.replace(row, "DlcFrontend dlc_frontend = { 77, \"toy\", recognise, load };"))
    other = file("other.c", toy_code.replace(row, "DlcFrontend other = { 1, \"toy\", recognise, load };"))
    refused("is a front end of ABI 77, but dlc", 1, net, f"--frontend={build('abi.so', old)}")
    refused("has no symbol dlc_frontend", 1, net, f"--frontend={build('symbol.so', other)}")
    refused("text.so: is no shared object that can be opened", 1, net, f"--frontend={file('text.so', 'no object')}")
    with open(toy, "rb") as f:
        refused("is no shared object that can be opened", 1, net, f"--frontend={file('cut.so', f.read()[:300])}")
    refused("--frontend: there is no file", 2, net, f"--frontend={path('none.so')}")
    refused("--frontend: there is no file", 2, net, f"--frontend={TMP}")
    refused("without a name or without its two functions", 1, net, "--frontend=" + bad(
        "empty.so", "const DlcFrontend dlc_frontend = { DLC_FRONTEND_ABI, \"x\", 0, 0 };\n"))
    refused("net.toy: front end silent refuses it without saying why", 1, net, "--frontend=" + bad(
        "silent.so", YES, NO, "const DlcFrontend dlc_frontend = { DLC_FRONTEND_ABI, \"silent\", yes, no };\n"))
    says = """#include <stdio.h>
static int says(DlcBuilder *b, const DlcModelFile *f)
{
    char s[99];
    snprintf(s, sizeof s, "is told %s and %s", f->signature, f->tags);
    dlc_builder_refuse(b, DLC_FAULT_INPUT, s);
    return 1;
}
const DlcFrontend dlc_frontend = { DLC_FRONTEND_ABI, "told", yes, says };
"""
    refused("is told f and a,b", 1, net, "--signature=f", "--tags=a,b", "--frontend=" + bad("told.so", YES, says))
    refused("no value is an output", 1, net, "--frontend=" + bad(
        "idle.so", YES, NO.replace("return 1", "return 0"),
        "const DlcFrontend dlc_frontend = { DLC_FRONTEND_ABI, \"idle\", yes, no };\n"))


def files_that_are_wrong(toy):
    def net(text):
        return file("wrong.toy", "toy 1\ninput x 1 3 8 8\n" + text)

    refused("wrong.toy: line 3: is no layer of a toy", 1, net("frob q\noutput y\n"), f"--frontend={toy}")
    refused("wrong.toy: line 3: there is no value 'q'", 1, net("skip q\n"), f"--frontend={toy}")
    refused("wrong.toy: line 3: layer 'c' (conv): there is no activation 'rule'", 1, net("conv c 4 3 rule\n"),
            f"--frontend={toy}")
    refused("wrong.toy: line 3: layer 'p' (max_pool): max_pool: ", 1, net("pool p 99\noutput y\n"), f"--frontend={toy}")
    refused("--shape: the model has no input 'z'; it has: x", 2, net("conv c 4 3\noutput y\n"), f"--frontend={toy}",
            "--shape=z=1,3,8,8")
    rng = random.Random(5)
    for k in range(120):
        data = bytearray(NET.encode())
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(5, len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            data = data[:rng.randrange(5, len(data))]
        p = subprocess.run([f"{BUILD}/dlc", "show", file("damaged.toy", bytes(data)), f"--frontend={toy}"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=ENV, timeout=120)
        assert p.returncode in (0, 1, 2), f"{bytes(data)!r}: exit {p.returncode}: {p.stderr[-800:]}"


try:
    TOY = build("toy.so", f"{SOURCE}/tests/strangers/toy_front_end.c")
    works(TOY, file("net.toy", NET))
    objects_that_are_none(TOY, path("net.toy"))
    files_that_are_wrong(TOY)
finally:
    shutil.rmtree(TMP, ignore_errors=True)
