#!/usr/bin/env python3
"""The recorder of bench/search, on a small Task: it lists a space and completes it later; searches run on the result.

    record_space.py BUILD SOURCE

A recording of another target or with other threads is not continued, and configs/targets has targets to record for.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

BUILD, SOURCE = (pathlib.Path(p).resolve() for p in sys.argv[1:])
DAG = "dag\nin v0: f32[16,32]\nconst c0: f32[32,16]\nv1: f32[16,16] = matmul(v0, c0)\nout v1\n"
POOL = "dag\nin v0: f32[1,16,14,14]:NCHW16c\nv1: f32[1,16,7,7]:NCHW16c = max_pool(v0) kernel=[3,3] strides=[2,2] " \
    "pads=[1,1,1,1]\nout v1\n"


def run(*words):
    done = subprocess.run([str(w) for w in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def expect(condition, what, said):
    if not condition:
        sys.exit("record_space.py: %s: %s" % (what, said))


def rows(path):
    head, *lines = path.read_text().split("\n")
    return json.loads(head), [line.split("\t") for line in lines if line.count("\t") == 5]


def record(folder, name, *options):
    """A space of a few configs, listed and then recorded."""
    dag, out = folder / "task.dag", folder / (name + ".space")
    dag.write_text(DAG)
    command = [BUILD / "tests/tuner/bench_record", dag, out, "--programs=%s" % BUILD, "--most=6", *options]
    code, said = run(*command, "--seconds=0")
    head, listed = rows(out)
    expect(code == 3 and 1 < len(listed) <= 6, "a list has no times and ends with 3", said)
    expect(all(row[2] == "" for row in listed), "a list has no times", said)
    code, said = run(*command, "--seconds=60", "--steady=0")
    head, recorded = rows(out)
    expect(code == 0, "the second run records all", said)
    expect([row[0] for row in recorded] == [row[0] for row in listed], "the configs stay as they were listed", said)
    expect(all((row[1] == "ok") == (row[2] != "") for row in recorded), "what ran has times", said)
    default = recorded[head["first"]]
    expect(default[1] == "ok" and default[2].count(",") >= 2, "the default was measured several times", default)
    code, again = run(*command, "--seconds=60", "--steady=0")
    expect(code == 0 and rows(out)[1] == recorded, "nothing is left to measure", again)
    return command, out, head


def shared_schedules(folder):
    """Configs that share a schedule have its times, and those behind them have their own."""
    dag, out = folder / "shared.dag", folder / "shared.space"
    dag.write_text(POOL)
    code, said = run(BUILD / "tests/tuner/bench_record", dag, out, "--programs=%s" % BUILD, "--most=60", "--seconds=60",
        "--steady=0", "--again=0")
    expect(code == 0, "all is recorded", said)
    listed = rows(out)[1]
    traces = [row[5] for row in listed]
    expect(4 < len(set(traces)) < len(traces), "some configs share a schedule, most do not",
        "%d of %d: %s" % (len(set(traces)), len(traces), said))
    twice = next(i for i, trace in enumerate(traces) if trace in traces[:i])
    new = set(traces[twice + 1:]) - set(traces[:twice])
    expect(len(new) > 0, "schedules behind the first shared one are new", said)
    expect(all(row[2] == listed[traces.index(row[5])][2] for row in listed), "one schedule has one set of times", said)


def outlier(command, out, head):
    """Of a config that was once among the best, the third time decides, however slow the second one was."""
    lines = out.read_text().split("\n")[:-2]
    trace = [line.split("\t")[-1] for line in lines[1:]]
    at = next(i for i, line in enumerate(lines[1:]) if line.split("\t")[1] == "ok" and trace.count(trace[i]) == 1
        and i != head["first"])
    times = [row[2] for row in rows(out)[1] if row[2]]
    best = min(sorted(int(t) for t in text.split(","))[text.count(",") // 2] for text in times)
    column = lines[at + 1].split("\t")
    lines[at + 1] = "\t".join(column[:2] + ["%d,%d" % (best, 3 * best)] + column[3:])
    text = "\n".join(lines) + "\n"
    digest = hashlib.blake2b(b"dlc/recorded-space/v2\0" + text.encode(), digest_size=16).hexdigest()
    out.write_text(text + "hash %s\n" % digest)
    code, said = run(*command, "--seconds=60", "--steady=0")
    expect(code == 0 and rows(out)[1][at][2].count(",") == 2, "two times are not the end of a fast config", said)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        command, out, head = record(folder, "one")
        expect(head["threads"] == 1, "one thread is the default", head)
        code, said = run(*command, "--threads=2")
        expect(code == 1 and "is of another Task, target, epoch or machine" in said, "other threads are refused", said)
        code, said = run(BUILD / "tests/tuner/bench_search", "--model=analytic", "--seeds=1", out)
        expect(code == 0 and "| rank | analytic |" in said, "searches run on it", said)
        outlier(command, out, head)
        shared_schedules(folder)
        head = record(folder, "two", "--threads=2")[2]
        expect(head["threads"] == 2, "the recording says its threads", head)
        if "device    opencl:" in run(BUILD / "dlc", "info")[1]:
            head = record(folder, "device", "--target=opencl")[2]
            expect(head["target"]["kind"] == "opencl", "the recording says its device", head)
        else:
            print("skipped: opencl: there is no OpenCL device")
        flags = pathlib.Path("/proc/cpuinfo").read_text() if pathlib.Path("/proc/cpuinfo").exists() else ""
        if " avx2 " not in flags or " fma " not in flags:
            print("skipped: avx2: this CPU has no AVX2")
            return
        head = record(folder, "v3", "--target=%s" % (SOURCE / "configs/targets/x86-64-v3.json"))[2]
        expect("avx512f" not in json.dumps(head["target"]), "the target has fewer features than the CPU", head)


main()
