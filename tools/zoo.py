"""What tools/retune and tools/teach share: they tune networks of the zoo, and write what ran as segments of logs."""
import gzip, hashlib, json, os, re, subprocess, sys, tempfile

SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Standard output of a program. Exits with its code if it fails; the program has printed why.
def call(program, *words, env):
    p = subprocess.run([*program, *words], stdout=subprocess.PIPE, text=True, env=env)
    if p.returncode != 0:
        sys.exit(p.returncode)
    return p.stdout

def epoch(source=SOURCE):
    with open(os.path.join(source, "src/codegen/codegen.h")) as f:
        return int(re.search(r"CODEGEN_EPOCH\D+(\d+)", f.read())[1])

def size(folder):
    return sum(os.path.getsize(os.path.join(d, f)) for d, _, files in os.walk(folder) for f in files)

def replace(path, data):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    with open(path + ".new", "wb") as f:
        f.write(data)
    os.replace(path + ".new", path)

# The same lines become the same file, by one version of zlib.
def pack(text):
    return gzip.compress(text.encode(), 9, mtime=0)

def read_log(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as f:
        return f.read()

# A record's line with its id (src/record/record.h).
def sealed(record):
    record = {k: v for k, v in record.items() if k != "id"}
    line = json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    record["id"] = hashlib.blake2b(f"dlc/{record['kind']}/v1\0{line}".encode(), digest_size=16).hexdigest()
    return record["id"], json.dumps(record, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

# Where a target's logs are while tuning: a folder of logs that is a part of the folder WORK/logs.
def logs_of(work, target):
    return os.path.join(work, "logs", re.sub(r"[^A-Za-z0-9.-]", "-", os.path.basename(target)))

# Tunes each network, unless WORK says that this was done with these words and this note by code of this epoch. What dlc
# refuses, as a target that there is not, ends it; a network that fails is left out.
def tune(dlc, o, networks, words, env, note="", unsaid=()):
    path, now = os.path.join(o.work, "done.json"), epoch()
    done = json.load(open(path)) if os.path.exists(path) else {}
    for network, target, threads in ((n, t, k) for n in networks for t in o.target for k in o.threads or [1]):
        ask = [network, f"--target={target}", f"--threads={threads}", *words]
        key = " ".join(ask) + note
        if done.get(key) == now:
            continue
        print(key, flush=True)
        p = subprocess.run([*dlc, "tune", *ask, *unsaid, f"--tuning-db={logs_of(o.work, target)}/"], env=env)
        if p.returncode in (2, 130): # of dlc: the command is wrong; Ctrl-C
            sys.exit(p.returncode)
        if p.returncode != 0:
            print(f"{key}: exit {p.returncode}; left out", file=sys.stderr)
            continue
        done[key] = now
        replace(path, json.dumps(done, indent=1).encode())

# Of records: the name of their target's folder, and a segment of them whose head has the command.
def segment(dlc, records, command, env):
    record = next((r for r in map(json.loads, records.splitlines()) if r["kind"] == "target"), None)
    if record is None:
        sys.exit("nothing that was tuned is verified")
    with tempfile.TemporaryDirectory() as t: # the import writes the head, which says whence the records come
        subprocess.run([*dlc, "db", "import", "logs/", "-"], input=records, text=True, check=True, env=env, cwd=t,
            stdout=subprocess.DEVNULL)
        name, = os.listdir(t + "/logs")
        with open(os.path.join(t, "logs", name)) as f:
            head, lines = f.read().split("\n", 1)
    head = json.dumps(dict(json.loads(head), command=command), separators=(",", ":"), ensure_ascii=False)
    return f"{record['type']}-{record['model']}", f"{head}\n{lines}"
