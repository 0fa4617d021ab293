"""What the scripts share that compare layers with Keras: each model is saved, run by dlc, and its results compared.

Import this before Keras: it says which devices are seen.
"""
import os, re, subprocess, sys, tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np


def run(dlc, folder, inputs, file, *options):
    """The results of a model's file in their order, or dlc's sentence."""
    line = [dlc, "run", f"{folder}/{file}", "--tuning-db=none", "--batch=2", f"--output={folder}/y.npz", *options]
    for k, (name, x) in enumerate(inputs.items()):
        np.save(f"{folder}/x{k}.npy", x)
        line.append(f"--input={name}={folder}/x{k}.npy")
    r = subprocess.run(line, capture_output=True, text=True)
    if r.returncode != 0:
        return " ".join(r.stderr.replace(folder, "").split())[:300]
    y = np.load(f"{folder}/y.npz")
    return [y[k] for k in y.files]


def difference(y, want):
    """The largest error as a part of the largest element, or what is wrong."""
    if isinstance(y, str):
        return y
    if [a.shape for a in y] != [b.shape for b in want]:
        return f"shapes {[a.shape for a in y]}, not {[b.shape for b in want]}"
    pairs = [(np.asarray(a, np.float64), np.asarray(b, np.float64)) for a, b in zip(y, want)]
    if any((np.isfinite(a) != np.isfinite(b)).any() for a, b in pairs):
        return "numbers that are not finite"
    pairs = [(a[np.isfinite(a)], b[np.isfinite(b)]) for a, b in pairs]
    return max((np.abs(a - b).max() / max(np.abs(b).max(), 1e-6) for a, b in pairs if a.size > 0), default=0.0)


def compare(cases, save, limit=lambda name: 1e-4):
    """The arguments are DLC [PATTERN].

    save(name, case, folder) gives the inputs by name, the results of Keras, and a list (file, options ..) of what it
    wrote to the folder.
    """
    dlc, word, bad, done = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", 0, 0
    for name, case in cases.items():
        if not re.search(word, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                inputs, want, files = save(name, case, folder)
            except Exception as e:
                print(f"{name}: Keras: {str(e).strip().splitlines()[0][:100]}", flush=True)
                continue
            want = [np.array(w) for w in (want if isinstance(want, (list, tuple)) else [want])]
            said = [difference(run(dlc, folder, inputs, *file), want) for file in files]
        ok = all(not isinstance(s, str) and s <= limit(name) for s in said)
        bad, done = bad + (not ok), done + 1
        print(f"{name}: {max(said):.1e}" if ok else f"{name}: WRONG {said}", flush=True)
    print(f"{done} models, {bad} wrong")
    sys.exit(bad > 0)
