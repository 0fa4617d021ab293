#!/usr/bin/env python3
"""What a precision costs is said: by dlc-compile for this CPU, by dlc-run --against on the target.

    precision.py BUILD

The target is a GPU that interprets PTX (tests/fake_cuda). Every check is a function; its first line says what a user
may rely on."""
import json, os

from onnx_bytes import conv, conv_pool
from world import TMP, main, run

MODEL, OTHER = TMP + "/conv.onnx", TMP + "/other.onnx"
MOST = {"fp16": 2e-3, "bf16": 2e-2}  # a few roundings by 2^-11 or 2^-8, of sums of 36 products
conv(MODEL, 4, 8, 6)
conv_pool(OTHER, 4, 8, 6)

def compiled(name, *args):
    path = f"{TMP}/{name}.dlcb"
    p = run("dlc-compile", MODEL, "--tuning-db=none", "--json", "-o", path, *args)
    return path, json.loads(p.stdout), p.stderr

def against(want, program, *args):
    rows = [json.loads(l) for l in run(program, *args, "--against=" + want, "--json").stdout.splitlines()]
    assert [r["output"] for r in rows] == ["y"] and rows[0]["not_finite"] == 0, rows
    return rows[0]

def compile_says():
    """dlc-compile measures the error of fp16 and bf16, and names the command that shows it on the target."""
    error = {}
    for p, most in MOST.items():
        _, out, said = compiled(p, "--precision=" + p)
        row, = out["precision_error"]
        error[p] = row["relative"]
        assert row["output"] == "y" and 0 < error[p] < most and row["max_value"] > 1, row
        assert f"dlc: {p}, output y: largest error " in said and "against fp32, 4 inputs" in said, said
        assert f"dlc run {MODEL} --precision={p} --against=fp32\n" in said, said
    assert error["bf16"] > 2 * error["fp16"], error
    _, out, said = compiled("fp32")
    assert "precision_error" not in out and said == "", said
    _, out, said = compiled("tf32", "--precision=tf32", "--target=cuda:h200")
    assert "precision_error" not in out and "only tensor cores round to tf32" in said, said

def is_refused():
    """tf32 is refused where no matrix units round to it, since fp32 is the same there."""
    for target in "host", "cuda:t4", "opencl:generic":
        for command in ["dlc-compile", MODEL, "-o", TMP + "/no.dlcb"], ["dlc-show", MODEL, "--stage=tasks"]:
            p = run(*command, "--tuning-db=none", "--precision=tf32", "--target=" + target, want=2)
            assert "has no matrix units that round to tf32" in p.stderr and "ask for fp32" in p.stderr, p.stderr
        assert not os.path.exists(TMP + "/no.dlcb")

def run_says():
    """dlc run compares what the target computes with fp32 on the CPU; equal precisions differ by roundings only."""
    for target in "host", "cuda:h200":
        args = [MODEL, "--tuning-db=none", "--target=" + target]
        assert against("fp32", "dlc-run", *args)["relative"] < 1e-5
        row = against("fp32", "dlc-run", *args, "--precision=fp16")
        assert 1e-5 < row["relative"] < MOST["fp16"] and row["inputs"] == 4, row
    said = run("dlc-run", *args, "--precision=fp16", "--against=fp32").stdout
    assert said.startswith("y: largest error ") and said.endswith(" over 4 inputs\n"), said

def bundles():
    """Two bundles are compared without the compiler, on random or on given inputs."""
    one, two, half = compiled("one")[0], compiled("two", "--unscheduled")[0], compiled("half", "--precision=fp16")[0]
    assert against(two, "dlc-run", one)["relative"] < 1e-5
    assert against(two, "dlc-run", half)["relative"] > 1e-5
    run("dlc-run", one, f"--output={TMP}/y.npy")
    conv_pool(OTHER, 4, 8, 6)
    run("dlc-compile", OTHER, "--tuning-db=none", "-o", TMP + "/other.dlcb")
    for args, code, sentence in (
            (["--against=fp32"], 2, "is a bundle, which has no fp32 of its own"),
            ([f"--against={TMP}/other.dlcb"], 1, "the inputs or outputs of the two models differ"),
            ([f"--against={TMP}/none.dlcb"], 1, "none.dlcb: No such file"),
            (["--against=" + two, "--bench"], 2, "--against compares the outputs of two models")):
        said = run("dlc-run", one, *args, want=code).stderr
        assert sentence in said, said

main(compile_says, is_refused, run_says, bundles)
