"""Libraries that a program opens when it first needs them: no start loads them, and one that is missing is refused in a
sentence that says what it is for and how to install it."""
import io, re, zipfile
import world
from world import BUILD, ENV, TMP, run

# What the sentence begins with, the package that it ends with, and the command that needs the library.
LATE = {
    "libzip": ("zip archives are read by libzip", "libzip-dev", ("dlc-compile", TMP + "/net.keras")),
    "libhdf5": ("HDF5 files are read by libhdf5", "libhdf5-dev", ("dlc-compile", TMP + "/net.h5")),
    "libxgboost": ("models are trained by libxgboost", "libxgboost-dev", ("dlc-db", "train", TMP + "/db.sqlite")),
}

def make_inputs():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as z:
        for name in ("config.json", "model.weights.h5"):
            z.writestr(name, "{}")
    open(TMP + "/net.keras", "wb").write(made.getvalue())
    open(TMP + "/net.h5", "wb").write(b"\x89HDF\r\n\x1a\n" + bytes(200))
    open(TMP + "/none.jsonl", "w").close()
    run("dlc-db", "import", TMP + "/db.sqlite", TMP + "/none.jsonl")

def opened(name, *command):
    """The soname by which a command opens a library; None if it does not."""
    said = run(*command, want=(0, 1, 3), env=dict(ENV, LD_DEBUG="libs")).stderr
    found = re.search(rf"find library=({name}[^ ]*)", said)
    return found and found.group(1)

def a_start_loads_none():
    """a program that needs none of them starts without them"""
    for name in [*LATE, "libLLVM", "libcurl", "libgomp"]:
        for command in [("dlc", "--version"), ("dlc-db", "list", TMP + "/db.sqlite"), ("dlc-run", "--version")]:
            assert opened(name, *command) is None, (name, command)

def missing_ones_are_refused():
    """a library that does not open is refused by what it is for and its package, and only where it is needed"""
    out = []
    for name, (work, package, command) in LATE.items():
        soname, said = opened(name, *command), run(*command, want=(1, 3)).stderr
        if soname is None:
            assert "build" in said and name in said, said
            out.append(f"skipped: {name}: this dlc was built without it")
            continue
        assert work not in said, said
        open(f"{TMP}/{soname}", "w").close()
        said = run(*command, want=3, env=dict(ENV, LD_LIBRARY_PATH=TMP)).stderr
        assert f"{work}, and {TMP}/{soname}: file too short: install Debian's package {package}\n" in said, said
        assert len(said.splitlines()) == 1, said
    print(*out, sep="\n", end="\n" if out else "")

make_inputs()
world.main(a_start_loads_none, missing_ones_are_refused)
