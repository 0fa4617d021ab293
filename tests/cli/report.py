#!/usr/bin/env python3
"""report.py BUILD SOURCE: events and reports of dlc tune.

The page's script is run where there is a Chromium; what else a page must be is checked everywhere."""
import html.parser, json, os, re, shutil, subprocess, sys

import world
from world import TMP, ENV, BUILD, run

DB = TMP + "/mlp.sqlite"
PAGE, EVENTS = TMP + "/mlp.html", TMP + "/mlp.jsonl"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium-headless-shell", "chromium", "chromium-browser",
    "google-chrome"))), None)
result = {}

def tune(*args, model="mlp", db=DB, want=0, **how):
    return run("dlc-tune", model, "--tuning-db=" + db, *args, want=want, **how)

def events(path):
    return [json.loads(line) for line in open(path)]

def of(kind, path=EVENTS):
    return [e for e in events(path) if e["event"] == kind]

class Page(html.parser.HTMLParser):
    """Elements that are opened and closed, and the text of each script."""
    VOID = {"meta", "link", "br", "img", "input", "hr"}

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.scripts, self.names = [], [], []
        self.feed(text)
        self.close()
        assert not self.open, f"not closed: {self.open}"

    def handle_starttag(self, name, attributes):
        self.names.append(name)
        if name == "script":
            self.scripts.append([dict(attributes), ""])
        if name not in self.VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open and self.open[-1] == name, f"</{name}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += text

def data_of(path):
    """The events in a page, as objects; ids are short there."""
    page = Page(open(path, encoding="utf-8").read())
    assert [s[0] for s in page.scripts] == [{"type": "application/json", "id": "data"}, {}], page.scripts
    data = json.loads(page.scripts[0][1])
    kinds = list(data["names"])
    rows = [dict(zip(["event", *data["names"][kinds[r[0]]]], [kinds[r[0]], *r[1:]])) for r in data["rows"]]
    return data["from"], rows

def shown(path, width=1200):
    """The page after its script has run and all in it was opened, as text; its own errors are an error here."""
    page = path + ".probe.html"
    text = open(path, encoding="utf-8").read().replace('<script type="application/json"', """<script>
        window.onerror = (m, s, l) => document.documentElement.setAttribute("data-error", m + " at line " + l);
        window.onload = () => document.querySelectorAll("details").forEach(d => d.open = true);
        </script><script type="application/json\"""", 1)
    open(page, "w", encoding="utf-8").write(text)
    p = subprocess.run([CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        f"--user-data-dir={TMP}/chromium", f"--window-size={width},900", "--virtual-time-budget=3000", "--dump-dom",
        "file://" + page], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=200)
    assert p.returncode == 0, p.stderr[-300:]
    error = re.search(r'data-error="([^"]*)"', p.stdout)
    assert error is None, error and error[1]
    return p.stdout

def ms(v):
    """Milliseconds as the page writes them."""
    return f"{v:.3f}" if v >= 0.1 else repr(float(f"{v:.3g}"))

def is_debian():
    return os.path.exists("/etc/os-release") and "ID=debian\n" in open("/etc/os-release", encoding="utf-8").read()

def needs_chromium(check):
    def checked():
        if CHROMIUM is None:
            assert not os.environ.get("DLC_TEST_STRICT") or not is_debian(), "./check installs Chromium"
            print(f"skipped: {check.__name__}: there is no Chromium")
            return None
        return check()
    checked.__name__ = check.__name__
    return checked

def tunes():
    """dlc tune writes both files, and says what it said without them"""
    p = tune("--trials=60", "--search=rank", "--preset=quick", "--json", "--events=" + EVENTS, "--report=" + PAGE)
    lines = [json.loads(line) for line in p.stdout.splitlines()]
    result.update(lines[-1])
    measured = of("measured")
    assert [e["record"] for e in measured] == [x["trial"] for x in lines[:-1]]
    assert [e["seq"] for e in measured] == list(range(len(measured)))

def events_say_the_same():
    """the events end with the numbers of --json, and begin with the session and its Tasks"""
    kinds = [e["event"] for e in events(EVENTS)]
    tasks = of("task")
    assert kinds[0] == "session" and kinds[1:1 + len(tasks)] == ["task"] * len(tasks) and kinds[-1] == "end", kinds
    session, network, end = of("session")[0], of("network")[0], of("end")[0]
    assert session["model"] == result["model"] == "mlp" and session["target"] == result["target"], session
    assert session["command"].startswith("dlc tune mlp --tuning-db=") and "--preset=quick" in session["command"]
    for key in "trials", "reused", "failed", "pruned", "candidates_per_s", "tasks_ms":
        assert end[key] == result[key], (key, end[key], result[key])
    for key in "network_ms", "default_network_ms", "gain_least", "gain_most":
        assert network[key] == result[key], (key, network[key], result[key])
    outcome = of("outcome")
    assert sum(o["trials"] for o in outcome) == end["trials"]
    assert sum(o["certificate"] == "open" and o["weight"] > 0 for o in outcome) == result["open"]
    assert abs(sum(o["best_ms"] * o["weight"] for o in outcome) - end["tasks_ms"]) < 1e-9
    assert all(o["left"] <= 1 for o in outcome), outcome
    known = all(o["left"] >= 0 or o["weight"] == 0 for o in outcome)
    left = sum(o["best_ms"] * o["weight"] * o["left"] for o in outcome) / end["tasks_ms"]
    assert result["left"] is None if not known else abs(result["left"] - left) < 1e-9, (result["left"], left)

def events_follow_each_other():
    """what is measured was proposed; the best time only falls until the races; times never run back"""
    proposed, best, at, raced = set(), {}, 0, False
    for e in events(EVENTS):
        assert e["at_s"] >= at, e
        at = e["at_s"]
        raced |= e["event"] == "race" or e.get("stage") in ("race", "network")
        if e["event"] == "proposed":
            assert e["source"] and e["believed_ns"] > 0, e
            proposed.add((e["task"], e["trace"]))
        if e["event"] == "measured" and e["stage"] in ("full", "look"):
            assert (e["task"], e["trace"]) in proposed, e
        if e["event"] == "best" and not raced:
            assert e["best_ms"] < best.get(e["task"], 1e9), e
            best[e["task"]] = e["best_ms"]
    sources = [e["source"] for e in of("proposed")]
    assert sources.count("default") == len({e["task"] for e in of("proposed")}), sources

def documented():
    """docs/report.md has every event and every source that a run has told"""
    doc = open(os.path.join(sys.argv[2], "docs/report.md")).read()
    table = {m[1]: m[2].replace("`", "").split() for m in re.finditer(r"^\| `(\w+)` \| ((?:`\w+` ?)+)\|", doc, re.M)}
    for e in events(EVENTS):
        assert set(e) == {"event", "at_s", *table[e["event"]]}, e
    for source in {e["source"] for e in of("proposed")}:
        assert f"| `{source}` |" in doc, source

def page_holds_the_events():
    """the page is well-formed, and has the events of the run, ids cut"""
    origin, rows = data_of(PAGE)
    assert origin == "run"
    def cut(e):
        return {k: v[:12] if k in ("session", "task", "trace", "record") else v for k, v in e.items()}
    assert rows == [cut(e) for e in events(EVENTS)]

def appends():
    """a second run adds its lines, also behind a line that a full disk has cut; trials are reused"""
    n = len(events(EVENTS))
    with open(EVENTS, "a") as f:
        f.write('{"event":"meas')
    tune("--trials=+3", "--preset=quick", "--events=" + EVENTS)
    lines = open(EVENTS).read().splitlines()
    assert lines[n] == '{"event":"meas' and json.loads(lines[n + 1])["event"] == "session"
    again = [json.loads(line) for line in lines[n + 1:]]
    assert sum(e["reused"] for e in again if e["event"] == "task") > 0
    assert all(e["best_ms"] for e in again if e["event"] == "task" and e["weight"] > 0)

def standard_output():
    """- is standard output: lines of JSON alone, and what was printed there goes to standard error"""
    p = tune("--trials=+2", "--preset=quick", "--events=-")
    assert [json.loads(line)["event"] for line in p.stdout.splitlines()][-1] == "end"
    assert re.search("with the (best|default) schedules|was not measured", p.stderr), p.stderr[-300:]
    p = tune("--trials=+1", "--preset=quick", "--report=-")
    Page(p.stdout)
    assert p.stdout.startswith("<!doctype html>") and p.stdout.endswith("</html>\n")

def goes_on():
    """a full disk and a closed pipe are told once, and all trials are kept"""
    p = tune("--trials=+3", "--preset=quick", "--json", "--events=/dev/full")
    assert p.stderr.count("events are not written any more") == 1 and "No space left" in p.stderr, p.stderr
    lines = [json.loads(line) for line in p.stdout.splitlines()]
    assert lines[-1]["trials"] == len(lines) - 1, lines
    reader, writer = os.pipe()
    os.close(reader)
    p = subprocess.run([BUILD + "/dlc-tune", "mlp", "--tuning-db=" + DB, "--trials=+3", "--preset=quick", "--events=-"],
        stdout=writer, stderr=subprocess.PIPE, env=ENV, text=True, timeout=240)
    os.close(writer)
    assert p.returncode == 0 and p.stderr.count("events are not written any more") == 1, p.stderr
    assert re.search("with the (best|default) schedules|was not measured", p.stderr), p.stderr

def by_hand():
    """a schedule of --try is an event, too"""
    best, path = run("dlc-db", "best", DB).stdout.split("\n\n")[0], TMP + "/best.trace"
    open(path, "w").write(best + "\n")
    p = tune("--try=" + path, "--events=-", "--report=" + TMP + "/hand.html")
    said = [json.loads(line) for line in p.stdout.splitlines()]
    assert [e["event"] for e in said] == ["session", "task", "proposed", "measured", "outcome", "end"], said
    assert said[2]["source"] == "by hand" and said[3]["trace"] == said[2]["trace"], said
    assert data_of(TMP + "/hand.html")[0] == "run"

def refuses():
    """files that cannot be, are inputs, or are one another"""
    nowhere = TMP + "/nowhere/x"
    assert nowhere in tune("--report=" + nowhere, want=5).stderr
    assert nowhere in tune("--events=" + nowhere, want=5).stderr
    assert "overwritten" in tune("--report=" + DB, want=2).stderr
    assert "overwritten" in tune("--events=" + DB, want=2).stderr
    assert "--report" in tune("--events=" + TMP + "/x", "--report=" + TMP + "/x", want=2).stderr
    assert "--report" in tune("--report=-", "--json", want=2).stderr
    assert "dry run" in tune("--report=" + TMP + "/x", "--dry-run", want=2).stderr
    old = TMP + "/old.html"
    open(old, "w").write("old")
    tune("--report=" + old, "--tasks=ffffffff", want=3)
    assert open(old).read() == "old" and not [f for f in os.listdir(TMP) if "old.html." in f]

def from_records():
    """dlc db report has the runs of the session that counts, and what records tell of its Tasks"""
    page, session = TMP + "/records.html", of("session")[0]
    p = run("dlc-db", "report", DB, "--session=" + session["session"][:9])
    origin, rows = data_of(PAGE)
    open(page, "w").write(p.stdout)
    origin, said = data_of(page)
    assert origin == "records"
    def runs(rows):
        return [{k: v for k, v in e.items() if k != "at_s"} for e in rows if e["event"] == "measured"]
    assert runs(said) == runs(rows)
    live = {e["task"]: e for e in rows if e["event"] == "task"}
    for e in (e for e in said if e["event"] == "task"):
        assert all(e[k] == live[e["task"]][k] for k in ("op", "flops", "bytes")), (e, live[e["task"]])
    first = {e["task"]: e["trace"] for e in rows if e["event"] == "proposed" and e["source"] == "default"}
    again = {e["task"]: e["trace"] for e in said if e["event"] == "proposed"}
    assert again == {task: first[task] for task in again} and again, (first, again)
    one = next(e for e in said if e["event"] == "session")
    assert one["session"] == session["session"][:12] and one["model"] == "mlp" and one["peak_gflops"] > 0
    assert one["target"] == session["target"] and one["search"] == "rank" and one["started_s"] == session["started_s"]
    gone = next(e for e in said if e["event"] == "measured")["record"]
    copy = TMP + "/copy.sqlite"
    run("dlc-db", "import", copy, DB)
    run("dlc-db", "retract", copy, gone)
    run("dlc-db", "report", copy, "-o", page)
    assert gone not in open(page).read() and len(data_of(page)[1]) == len(said) - 1
    run("dlc-db", "report", copy, "--session=ffffffffff", want=3)
    empty = TMP + "/empty.sqlite"
    run("dlc-db", "import", empty, "-", input=world.lines(DB)[0] + "\n")
    assert "no session" in run("dlc-db", "report", empty, want=3).stderr
    assert "overwritten" in run("dlc-db", "report", copy, "-o", copy, want=2).stderr
    run("dlc-db", "check", copy)

@needs_chromium
def records_are_shown():
    """Chromium draws the page of a session; it says what records do not tell"""
    page = TMP + "/shown.html"
    run("dlc-db", "report", DB, "-o", page)
    dom = shown(page)
    assert "Made from records." in dom and "Tasks with runs in the session" in dom and "NaN" not in dom
    assert "undefined" not in re.sub(r"<script.*?</script>", "", dom, flags=re.S)

@needs_chromium
def is_shown():
    """Chromium draws the page without an error; it shows the numbers of --json"""
    dom = shown(PAGE)
    text = re.sub(r"<(script|style).*?</\1>|<[^>]*>", " ", dom, flags=re.S)
    text = re.sub(r"\s+", " ", text.replace("\u202f", ""))
    assert f"{ms(result['default_network_ms'])} \u2192 {ms(result['network_ms'])} ms" in text, text[:600]
    assert f"{result['gain_least']:.2f}\u00d7 to {result['gain_most']:.2f}\u00d7 as fast" in text, text[:900]
    assert f"Trials {result['trials']} " in text, text[:900]
    rows = [e for e in of("outcome") if e["weight"] > 0][:result["tasks"]]
    body = re.search(r"<caption>Tasks that the network runs</caption>.*?</table>", dom, re.S)[0]
    assert body.count("<tr>") == result["tasks"] + 1, body.count("<tr>")
    for e in rows:
        assert e["task"][:7] in body and ms(e["best_ms"]) in body, e
    assert dom.count('role="img"') >= 4 and dom.count("<table") >= 6, (dom.count('role="img"'), dom.count("<table"))

@needs_chromium
def hostile():
    """names of strangers stay text: no element comes of them, and nothing runs"""
    evil = "</script><img src=x onerror=\"document.title='caught'\">.onnx"
    page = open(PAGE, encoding="utf-8").read()
    head, data, tail = re.match(r'(.*id="data">)(.*?)(</script>.*)', page, re.S).groups()
    data = json.loads(data)
    kinds = list(data["names"])
    for row in data["rows"]:
        names = data["names"][kinds[row[0]]]
        for k, name in enumerate(names):
            if name in ("model", "op", "source", "detail", "command", "machine", "target", "status"):
                row[k + 1] = evil
    path = TMP + "/evil.html"
    text = json.dumps(data).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    open(path, "w", encoding="utf-8").write(head + text + tail)
    dom = shown(path)
    assert "<img" not in dom and "caught" not in re.search("<title>(.*?)</title>", dom)[1].split("&lt;")[0]
    assert "&lt;img src=x onerror=" in dom

world.main(tunes, events_say_the_same, events_follow_each_other, documented, page_holds_the_events, from_records,
    is_shown, hostile, records_are_shown, appends, standard_output, goes_on, by_hand, refuses)
