#!/usr/bin/env python3
"""rivals.py [OPTIONS] [MODEL ...]: the same networks by dlc and by its rivals, side by side.

    bench/rivals.py --tuning-db=tuning.sqlite                          # the zoo, with the records of that database
    bench/rivals.py --sessions=3 --budget=3m --threads=1,2 --out=zoo.jsonl
    bench/rivals.py --sessions=3 --budget=3m --target=cpu:x86-64-v3 --out=avx2.jsonl densenet.onnx

MODEL is a zoo name or an ONNX file (default: the networks of the zoo).  `dlc show --stage=onnx` writes it for the
rivals (ONNX Runtime, OpenVINO, ncnn: bench/engine.py says how each is set), dlc-compile compiles it.  All get the same
random input, and their outputs must agree with those of ONNX Runtime within 1e-4 of the largest one.  Then they
run in turns, each for a while back to back, in an order that moves on by one each round.  The FMA probe of dlc-run
stands beside them and shows a slow clock; the load average shows other work, which makes all sides slower in leaps.

With --sessions=N, each session begins with an empty database of its own for each network, and with empty folders for
all else that dlc keeps.  dlc-tune fills it with the --budget, dlc-compile compiles the network with it (tuned) and with
none (untuned), and the turns follow.  Each finished session of a network is a line of --out; what is there already
from the same command, CPU and programs is not measured again, so that a run that was stopped goes on.

A time is the median over the sessions of the median over the rounds, milliseconds.  A ratio is taken in each round and
its figure formed in the same way.  Its interval holds 95 % of the same figure in 4 000 bootstrap samples: as
many sessions are drawn with replacement, and in each as many of its rounds.

The first start fetches the rivals from PyPI into .venv-rivals/."""
import argparse
import hashlib
import json
import math
import os
import platform
import random
import re
import shlex
import statistics
import sys
import time

import engine
import rival

ZOO = ["resnet18", "resnet50", "mobilenet_v1", "mobilenet_v2", "squeezenet1_1"]
TOLERANCE = 1e-4
DRAWS = 4000


def parse():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("model", nargs="*", metavar="MODEL", default=ZOO)
    a.add_argument("--build", default=rival.ROOT + "/build", metavar="DIR",
                   help="where the programs are (default build)")
    a.add_argument("--tuning-db", action="append", default=[], metavar="DB",
                   help="a tuning database for dlc-compile; repeats; without it nothing is read: dlc untuned")
    a.add_argument("--sessions", type=int, default=0, metavar="N", help="tune N times from empty databases")
    a.add_argument("--budget", default="60s", metavar="TIME", help="of each run of dlc-tune (default 60s)")
    a.add_argument("--keep", metavar="DIR", help="keep the databases of the sessions there")
    a.add_argument("--target", metavar="TARGET", help="of dlc (default: this CPU); the rivals are left out then")
    a.add_argument("--shape", action="append", default=[], metavar="NAME=DIMS", help="shape of an input; repeats")
    a.add_argument("--rivals", metavar="NAMES", help=f"some of {','.join(engine.RIVALS)}, or none (default all)")
    a.add_argument("--unscheduled", action="store_true", help="also the naive loops as they are")
    a.add_argument("--threads", default="1", metavar="N,...", help="for all sides, one after the other (default 1)")
    a.add_argument("--rounds", type=int, default=9, metavar="N", help="turns of each side (default 9)")
    a.add_argument("--seconds", type=float, default=0.7, metavar="S", help="of each turn (default 0.7)")
    a.add_argument("--out", metavar="FILE", help="append a line of JSON for each network and session")
    o = a.parse_args()
    for name in ("sessions", "rounds"):
        if getattr(o, name) < (name == "rounds"):
            a.error(f"--{name} takes a number from {int(name == 'rounds')} on")
    if not re.fullmatch(r"[1-9]\d*(,[1-9]\d*)*", o.threads):
        a.error("--threads takes numbers, separated by commas")
    o.threads = [int(x) for x in o.threads.split(",")]
    if o.sessions and o.tuning_db:
        a.error("--sessions fills databases of its own; leave --tuning-db out")
    if o.rivals is None:
        o.rivals = "none" if o.target else ",".join(engine.RIVALS)
    o.rivals = [] if o.rivals == "none" else o.rivals.split(",")
    unknown = [x for x in o.rivals if x not in engine.RIVALS]
    if unknown:
        a.error(f"--rivals: {unknown[0]} is none of {', '.join(engine.RIVALS)}")
    return o


# ---- measuring ----

class Network:
    """A model as all sides get it: files, inputs and expected outputs, the same for all sessions."""

    def __init__(self, dlc, model, o, folder):
        os.makedirs(folder, exist_ok=True)
        self.folder, self.name = folder, os.path.basename(model).removesuffix(".onnx")
        equal = os.path.isfile(model) and rival.has_equal_weights(model)
        self.path = rival.fill_weights(model, folder) if equal else model
        self.shapes = ["--shape=" + s for s in o.shape]
        self.onnx = dlc.onnx(self.path, folder, self.shapes)
        s = rival.session(self.onnx, 1)
        arrays, self.words = rival.feed(s, folder)
        self.want = dict(zip([x.name for x in s.get_outputs()], s.run(None, arrays)))

    def gap(self, outputs):
        """Of a rival's outputs, which come in the order of the file, perhaps without a batch axis."""
        if len(outputs) != len(self.want) or any(a.size != w.size for a, w in zip(outputs, self.want.values())):
            raise RuntimeError("its outputs have other shapes")
        return rival.gap({n: a.reshape(w.shape) for a, (n, w) in zip(outputs, self.want.items())}, self.want)


def start_engines(net, threads, o, missing, record):
    """{name: Engine} of those that load the network and compute the same; why not, of the others, in the record."""
    engines = {}
    for name in o.rivals:
        try:
            lacks = [missing[p] for p in engine.RIVALS[name].packages if p in missing]
            if lacks:
                raise RuntimeError("it cannot be installed: " + lacks[0])
            e = engines[name] = engine.Engine(name, net.onnx, threads)
            error = net.gap(e.outputs())
            if not error <= TOLERANCE:
                raise RuntimeError(f"its outputs differ by {error:.1e} of the largest one")
            record["error"][name] = error
            record["versions"][name] = engine.version(name)
            if e.note:
                record["notes"][name] = e.note
        except RuntimeError as x:
            drop(engines, name, x, record)
    return engines


def drop(engines, name, why, record):
    record["missing"][name] = str(why)
    record["ms"].pop(name, None)
    if name in engines:
        engines.pop(name).close()


def take_turns(dlc, bundles, engines, o, record):
    record["ms"].update({c: [] for c in [*bundles, *engines]})
    for n in range(o.rounds):
        columns = [*bundles, *engines]
        for c in columns[n % len(columns):] + columns[:n % len(columns)]:
            if c in bundles:
                b = dlc.json("dlc-run", bundles[c], "--bench", f"--seconds={o.seconds}")
                record["ms"][c].append(b["median_ms"])
                record["probe"].append(b["fma_probe_gflops"])
                continue
            try:
                record["ms"][c].append(engines[c].median_ms(o.seconds))
            except (RuntimeError, OSError) as x:
                drop(engines, c, x, record)


def compare(dlc, net, threads, ways, o, missing):
    """One network: the record of --out without its key.  ways: {column: options of dlc-compile}."""
    record = {"date": time.strftime("%Y-%m-%d %H:%M"), "load": [os.getloadavg()[0]], "ms": {}, "probe": [], "hits": {},
              "error": {}, "versions": {"reference": engine.version("onnxruntime")}, "notes": {}, "missing": {}}
    bundles = {}
    for column, options in ways.items():
        bundles[column] = f"{net.folder}/{column}.dlcb"
        j = dlc.json("dlc-compile", net.path, *net.shapes, f"--threads={threads}", *target(o), *options,
                     "--output=" + bundles[column])
        record["target"], record["hits"][column] = j["target"], j["hits"]
        error = rival.gap(rival.run_bundle(dlc, bundles[column], net.words, net.folder), net.want)
        record["error"][column] = error
        if not error <= TOLERANCE:
            raise RuntimeError(f"{column}: the outputs differ by {error:.1e} of the largest one")
    engines = start_engines(net, threads, o, missing, record)
    try:
        take_turns(dlc, bundles, engines, o, record)
    finally:
        for e in engines.values():
            e.close()
    record["load"].append(os.getloadavg()[0])
    return record


def target(o):
    return ["--target=" + o.target] if o.target else []


def ways(o, tuned):
    """{column: options of dlc-compile}; tuned: the databases."""
    v = {"tuned": ["--tuning-db=" + x for x in tuned]} if tuned else {}
    v["untuned"] = ["--tuning-db=none"]
    if o.unscheduled:
        v["unscheduled"] = ["--tuning-db=none", "--unscheduled"]
    return v


def tune_and_compare(net, threads, session, o, missing):
    """A session of one network, in folders that nothing else has used."""
    with rival.folder() as home:
        fresh = {"XDG_DATA_HOME": home + "/data", "XDG_CACHE_HOME": home + "/cache", "DLC_TUNING_DB": "none"}
        dlc = rival.Dlc(o.build, fresh)
        db = home + "/tuning.sqlite"
        if o.keep:
            os.makedirs(o.keep, exist_ok=True)
            db = os.path.join(o.keep, f"{net.name}.t{threads}.{session}.sqlite")
            for x in ("", "-wal", "-shm"):
                if os.path.exists(db + x):
                    os.remove(db + x)
        start = time.monotonic()
        j = dlc.json("dlc-tune", net.path, *net.shapes, f"--threads={threads}", *target(o), "--tuning-db=" + db,
                     "--budget=" + o.budget)
        j["wall_s"] = round(time.monotonic() - start, 1)
        return {"tune": j, **compare(dlc, net, threads, ways(o, [db]), o, missing)}


# ---- figures ----

def figure(sessions):
    """sessions: a list of rounds for each."""
    return statistics.median(statistics.median(x) for x in sessions)


def interval(sessions):
    draw, got = random.Random(1), []
    for _ in range(DRAWS):
        some = draw.choices(sessions, k=len(sessions))
        got.append(figure([draw.choices(x, k=len(x)) for x in some]))
    got.sort()
    return got[int(0.025 * DRAWS)], got[int(0.975 * DRAWS) - 1]


def ratios(records, over, under):
    """over / under, round by round, of the sessions that have both."""
    both = [r["ms"] for r in records if over in r["ms"] and under in r["ms"]]
    return [[a / b for a, b in zip(ms[over], ms[under])] for ms in both]


def times(records, column):
    return [r["ms"][column] for r in records if column in r["ms"]]


def spread(values, form="{:.0f}"):
    low, high = form.format(min(values)), form.format(max(values))
    return low if low == high else f"{low} .. {high}"


# ---- tables ----

def print_table(rows):
    width = [max(len(r[k]) for r in rows) for k in range(len(rows[0]))]
    for n, r in enumerate(rows):
        print("| " + " | ".join(x.ljust(w) if k == 0 else x.rjust(w) for k, (x, w) in enumerate(zip(r, width))) + " |")
        if n == 0:
            print("|" + "|".join("-" * (w + 2) for w in width) + "|")
    print()


def title(column):
    return engine.RIVALS[column].title if column in engine.RIVALS else "dlc " + column


def print_times(networks, columns):
    rows = [["ms", *map(title, columns), "error", "FMA GFLOP/s"]]
    for name, records in networks.items():
        cells = [f"{figure(times(records, c)):.2f}" if times(records, c) else "-" for c in columns]
        error = max(x for r in records for x in r["error"].values())
        rows.append([name, *cells, f"{error:.0e}", spread([x for r in records for x in r["probe"]])])
    print_table(rows)


def print_ratios(networks, base, others):
    """The others against base, and the fastest rival of each network against it."""
    rivals = [c for c in others if c in engine.RIVALS]
    heads = [f"{title(c)} / {base}" for c in others] + [f"best rival / {base}"] * (len(rivals) > 1)
    rows, logs = [["ratio (95 %)", *heads]], [[] for _ in heads]
    for name, records in networks.items():
        there = [c for c in rivals if times(records, c)]
        best = min(there, key=lambda c: figure(times(records, c)), default=None)
        cells = [name]
        for k, c in enumerate(others + [best] * (len(rivals) > 1)):
            sessions = ratios(records, c, base) if c else []
            if not sessions:
                cells.append("-")
                continue
            logs[k].append(math.log(figure(sessions)))
            many = sum(map(len, sessions)) > 1
            cells.append(f"{figure(sessions):.2f}x" + many * " ({:.2f} .. {:.2f})".format(*interval(sessions)))
        rows.append(cells)
    if len(networks) > 1:
        rows.append(["geometric mean", *(f"{math.exp(statistics.mean(x)):.2f}x" if x else "-" for x in logs)])
    print_table(rows)


def number(v, form="{:.2f}"):
    return "-" if v is None else form.format(v)


def print_tuning(networks):
    rows = [["tuning", "session", "trials", "failed", "pruned", "seconds", "ended by", "trials/s", "network ms",
             "default ms"]]
    for name, records in networks.items():
        for r in records:
            t = r["tune"]
            by = {None: "-", 0: "certificate"}.get(t.get("open"), f"budget, {t.get('open')} of {t['tasks']} tasks open")
            rows.append([name, *map(str, (r["session"], t["trials"], t["failed"], t["pruned"])), f"{t['seconds']:.1f}",
                         by, f"{t['candidates_per_s']:.1f}", number(t["network_ms"]), number(t["default_network_ms"])])
    print_table(rows)


def print_group(networks, o):
    """Networks with the same target and threads."""
    records = [r for x in networks.values() for r in x]
    columns = [c for c in ("tuned", "untuned", "unscheduled") if times(records, c)]
    rivals = o.rivals
    print_times(networks, columns + rivals)
    print_ratios(networks, columns[0], columns[1:] + rivals)
    if o.sessions:
        print_tuning(networks)
    for name, rs in networks.items():
        for (c, why), n in count(x for r in rs for x in r["missing"].items()).items():
            print(f"{title(c)}, {name}: missing (sessions: {n} of {len(rs)}): {why}")
    for name, rs in networks.items():
        for c in rivals:
            said = count(r["notes"][c] for r in rs if c in r["notes"])
            if said:
                print(f"{title(c)}, {name}: " + ", ".join(f"{w} (sessions: {n})" for w, n in said.items()))


def count(words):
    got = {}
    for w in words:
        got[w] = got.get(w, 0) + 1
    return got


def print_all(records, o, commandline, version):
    dates = [r["date"] for r in records]
    print(f"Command: `{commandline}`\n")
    print(f"{cpu()}, {os.cpu_count()} CPUs; {spread(dates, '{}')}; {version}; "
          f"{', '.join(count(v for r in records for v in r['versions'].values()))}; "
          f"sessions: {max(1, o.sessions)}, rounds: {o.rounds} of {o.seconds:g} s; "
          f"FMA probe {spread([x for r in records for x in r['probe']])} GFLOP/s; "
          f"load average {spread([x for r in records for x in r['load']], '{:.1f}')}\n")
    for group in count(r["target"] for r in records):
        networks = {}
        for r in records:
            if r["target"] == group:
                networks.setdefault(r["network"], []).append(r)
        print(f"`{group}`\n")
        print_group(networks, o)
        print()


# ---- the run ----

def cpu():
    try:
        with open("/proc/cpuinfo") as f:
            return next(x.split(":", 1)[1].strip() for x in f if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def programs(dlc):
    """A hash of the programs that are measured."""
    h = hashlib.sha256()
    for p in ("dlc", "dlc-run", "dlc-worker"):
        with open(dlc.path(p), "rb") as f:
            h.update(f.read())
    return h.hexdigest()[:12]


def read_out(path):
    """{key: record}; a last line that is not whole is of a run that was killed, and is taken off."""
    if not path or not os.path.exists(path):
        return {}
    with open(path, "rb+") as f:
        whole = f.read()
        end = whole.rfind(b"\n") + 1
        try:
            records = [json.loads(x) for x in whole[:end].splitlines()]
            if whole[end:] and not whole[end:].startswith(b'{"key": '):
                raise ValueError
            done = {json.dumps(r["key"]): r for r in records}
        except (ValueError, KeyError, TypeError):
            rival.give_up(2, f"{path} is no file that --out has written; name another one")
        f.truncate(end)
    return done


def append(path, record):
    if path:
        with open(path, "a") as f:
            f.write(json.dumps(record) + "\n")
            f.flush()
            os.fsync(f.fileno())


def key_of(model, threads, session, build, o):
    """What makes two measurements the same one."""
    file = hashlib.sha256(open(model, "rb").read()).hexdigest()[:16] if os.path.isfile(model) else None
    return {"cpu": cpu(), "programs": build, "model": model, "file": file, "shape": o.shape, "target": o.target,
            "threads": threads, "budget": o.budget, "rounds": o.rounds, "seconds": o.seconds, "rivals": o.rivals,
            "unscheduled": o.unscheduled, "session": session}


def measure_all(dlc, build, o, missing, folder):
    """(records, how many failed): all models in each session, which spreads the sessions of a network over the time."""
    records, failed, networks = [], 0, {}
    done = read_out(o.out) if o.sessions else {}
    for session in range(1, max(1, o.sessions) + 1):
        for model, threads in ((m, t) for m in o.model for t in o.threads):
            key = key_of(model, threads, session, build, o)
            if json.dumps(key) in done:
                records.append(done[json.dumps(key)])
                continue
            sys.stderr.write(f"{time.strftime('%H:%M:%S')} {model}, {threads} thread{'s' * (threads > 1)}"
                             f"{f', session {session} of {o.sessions}' * (o.sessions > 0)} ...\n")
            try:
                if model not in networks:
                    networks[model] = Network(dlc, model, o, f"{folder}/{len(networks)}")
                if o.sessions:
                    got = tune_and_compare(networks[model], threads, session, o, missing)
                else:
                    got = compare(dlc, networks[model], threads, ways(o, o.tuning_db), o, missing)
            except Exception as e:  # ONNX Runtime has a dozen kinds of its own
                failed += 1
                sys.stderr.write(f"rivals.py: {model}: {e}\n")
                continue
            records.append({"key": key, "network": networks[model].name, "session": session, **got})
            append(o.out, records[-1])
    return records, failed


def main():
    o = parse()
    dlc = rival.Dlc(o.build)
    light = any(os.path.isfile(m) and rival.has_equal_weights(m) for m in o.model)
    missing = rival.enter([p for r in o.rivals for p in engine.RIVALS[r].packages] + ["onnx"] * light)
    if "onnx" in missing:
        rival.give_up(3, f"onnx cannot be installed from PyPI ({missing['onnx']}); a model with equal weights needs it")
    build = programs(dlc)
    with rival.folder() as folder:
        records, failed = measure_all(dlc, build, o, missing, folder)
    if records:
        version = f"{dlc.call('dlc-run', '--version').splitlines()[0]} (programs {build})"
        print_all(records, o, shlex.join(["bench/rivals.py", *sys.argv[1:]]), version)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
