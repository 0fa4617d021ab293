#!/usr/bin/env python3
"""Tuning does not know where a network comes from: ResNet-50 of Keras is tuned, that of PyTorch is compiled with it.

    python3 bench/formats/shared_tasks.py keras FOLDER                 # needs keras (checked with 3.15.1)
    python3 bench/formats/shared_tasks.py torch FOLDER                 # torch and torchvision (2.15.0 and 0.29.2)
    python3 bench/formats/shared_tasks.py compare DLC FOLDER [TRIALS]  # neither

The first two write a network each, PyTorch's with the strides where Keras has them. `compare` tunes Keras' for at most
TRIALS candidates (default 120), compiles PyTorch's with that database, and prints how many of its Tasks have a record
of their own, for convolutions and for others. The image of Keras comes with channels second, as PyTorch's does.
"""
import json, os, subprocess, sys


def keras_network(folder):
    import keras

    keras.utils.set_random_seed(5)
    net = keras.applications.ResNet50(weights=None)
    net.save(f"{folder}/resnet50.keras")
    with open(f"{folder}/input.txt", "w") as f:
        f.write(net.inputs[0]._keras_history[0].name)


def torch_network(folder):
    import torch
    import torchvision

    torch.manual_seed(5)
    net = torchvision.models.resnet50(weights=None).eval()
    for layer in (net.layer2, net.layer3, net.layer4):
        layer[0].conv1.stride, layer[0].conv2.stride = layer[0].conv2.stride, layer[0].conv1.stride
    with torch.no_grad():
        torch.export.save(torch.export.export(net, (torch.rand(1, 3, 224, 224),)), f"{folder}/resnet50.pt2")


def compare(dlc, folder, trials):
    db = f"{folder}/tuned.sqlite"
    if os.path.exists(db):
        os.remove(db)
    with open(f"{folder}/input.txt") as f:
        layout = f"--input-layout={f.read()}=nchw"
    subprocess.run([dlc, "tune", f"{folder}/resnet50.keras", layout, f"--tuning-db={db}", f"--trials={trials}",
                    "--preset=quick"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    compile_it = [dlc, "compile", f"{folder}/resnet50.pt2", f"--tuning-db={db}", "-o", f"{folder}/resnet50.dlcb"]
    out = subprocess.run(compile_it + ["--explain", "--json"], check=True, capture_output=True, text=True).stdout
    rows = [x for x in map(json.loads, out.splitlines()) if "source" in x]
    bad = 0
    for what, of in (("convolutions", lambda op: "conv" in op), ("others", lambda op: "conv" not in op)):
        mine = [x for x in rows if of(x["op"])]
        exact = [x for x in mine if x["source"] == "exact"]
        print(f"{what}: {len(exact)} of {len(mine)} Tasks exact, "
              f"{sum(x['weight'] for x in exact)} of {sum(x['weight'] for x in mine)} steps")
        for x in mine:
            if x["source"] != "exact":
                print(f"  {x['source']}: {x['op']}")
                bad += what == "convolutions"
    required = subprocess.run(compile_it + ["--require=exact"], capture_output=True, text=True)
    print("--require=exact:", "compiled" if required.returncode == 0 else required.stderr.strip()[:300])
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "keras":
        keras_network(sys.argv[2])
    elif sys.argv[1] == "torch":
        torch_network(sys.argv[2])
    else:
        sys.exit(compare(sys.argv[2], sys.argv[3], int(sys.argv[4]) if len(sys.argv) > 4 else 120) > 0)
