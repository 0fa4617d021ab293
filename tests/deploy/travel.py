#!/usr/bin/env python3
"""travel.py BUILD SOURCE: the folder of tools/gpu-bundle, where nothing else is: in an empty root with a single folder
to write to.  It starts, tells what is there, compiles and runs a network on the CPU, and says that there is no GPU."""
import os
import shutil
import subprocess
import sys
import tempfile

build, source = (os.path.abspath(a) for a in sys.argv[1:3])
SMALL = ["squeezenet1_1", "--shape=data=1,3,32,32", "--tuning-db=none"]


def fail(text):
    sys.exit("travel: " + text)


def enter():
    """The command that makes a folder the root; None where this user may not."""
    chroot = shutil.which("chroot", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")
    unshare = shutil.which("unshare")
    for way in [[chroot]] + ([[unshare, "--user", "--map-root-user", chroot]] if unshare else []):
        if subprocess.run(way + ["/", "true"], capture_output=True).returncode == 0:
            return way
    return None


def main():
    way = enter()
    if way is None:
        print("skipped: travel: this user may not change the root folder")
        return
    with tempfile.TemporaryDirectory() as temporary:
        root = temporary + "/root"
        made = subprocess.run([source + "/tools/gpu-bundle", "--build=" + build, root], capture_output=True, text=True)
        if made.returncode != 0:
            fail("gpu-bundle: " + made.stderr)
        again = subprocess.run([source + "/tools/gpu-bundle", "--build=" + build, root], capture_output=True, text=True)
        if again.returncode == 0 or "exists" not in again.stderr:
            fail("gpu-bundle writes into a folder that exists")

        def run(*args):
            env = {"HOME": "/home", "PATH": "/bin"}
            r = subprocess.run(way + [root] + list(args), capture_output=True, text=True, env=env)
            return r.returncode, r.stdout, r.stderr

        os.mkdir(root + "/home")
        for line, says in ((["/bin/dlc", "--version"], "dlc "), (["/bin/dlc-info"], "/share/dlc/targets"),
                           (["/bin/dlc", "run"] + SMALL, "out f32[1,1000]"),
                           (["/bin/dlc-compile"] + SMALL + ["-o", "/home/s.dlcb"], ""),
                           (["/bin/dlc-run", "/home/s.dlcb"], "out f32[1,1000]"),
                           (["/bin/dlc-run"] + SMALL, "out f32[1,1000]")):
            code, out, err = run(*line)
            if code != 0 or says not in out + err:
                fail(f"{' '.join(line)} ended with {code}: {out}{err}")
        code, out, err = run("/bin/dlc-tune", "squeezenet1_1", "--target=cuda")
        if code not in (2, 5) or "cuda" not in err.lower():
            fail(f"dlc-tune --target=cuda ended with {code}: {out}{err}")
        print(err.strip())


main()
