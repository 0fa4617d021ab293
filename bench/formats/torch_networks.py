#!/usr/bin/env python3
"""Networks of torchvision with random weights, as .pt2, traced and scripted, against PyTorch itself.

    python3 bench/formats/torch_networks.py DLC [PATTERN]

Needs torch and torchvision (checked with 2.15.0 and 0.29.2). Each line: the largest error over the largest element, or
the sentence that refused it, for each way of saving. A way in which PyTorch cannot save a network is no failure.
"""
import re, subprocess, sys, tempfile, warnings

import numpy as np
import torch
import torchvision

warnings.filterwarnings("ignore")
SIZES = dict(vgg=32, alexnet=64, inception=96, vit=32, swin=64, maxvit=224, googlenet=64)
NETWORKS = """alexnet vgg11 vgg11_bn vgg13 vgg16 vgg19_bn squeezenet1_0 squeezenet1_1 resnet18 resnet34 resnet50
resnext50_32x4d wide_resnet50_2 densenet121 densenet169 googlenet inception_v3 mobilenet_v2 mobilenet_v3_small
mobilenet_v3_large shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5 mnasnet0_5 mnasnet1_0 efficientnet_b0
efficientnet_b1 efficientnet_v2_s regnet_x_400mf regnet_y_400mf regnet_y_800mf convnext_tiny convnext_small swin_t
swin_v2_t vit_b_16 vit_b_32 maxvit_t""".split()


def build(name):
    size = next((s for k, s in SIZES.items() if name.startswith(k)), 64)
    more = dict(image_size=size) if name.startswith("vit") else {}
    if name in ("googlenet", "inception_v3"):
        more = dict(init_weights=True, aux_logits=False)
    torch.manual_seed(5)
    net = getattr(torchvision.models, name)(weights=None, num_classes=10, **more).eval()
    for key, w in net.state_dict().items():  # normalisations that do something
        if key.endswith("running_var"):
            w.uniform_(0.5, 1.5)
        elif key.endswith("running_mean"):
            w.uniform_(-0.2, 0.2)
        elif w.is_floating_point() and w.dim() > 1 and not w.any():  # a head of zeros, as ViT has, would hide the rest
            w.normal_(0, 0.02)
    return net, torch.rand(1, 3, size, size) * 2 - 1


def export(net, x, path):
    torch.export.save(torch.export.export(net, (x,)), path)


def trace(net, x, path):
    torch.jit.trace(net, x, check_trace=False).save(path)


def script(net, x, path):
    torch.jit.script(net).save(path)


def run(dlc, model, shape, folder):
    r = subprocess.run([dlc, "run", model, "--tuning-db=none", f"--input={folder}/x.npy", f"--output={folder}/y.npz"]
                       + shape, capture_output=True, text=True)
    if r.returncode != 0:
        return r.stderr.strip().split(": ", 2)[-1][:200]
    y = np.load(f"{folder}/y.npz")
    return y[y.files[0]]


def main():
    dlc, word = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    count, bad, good = 0, 0, dict(pt2=0, traced=0, scripted=0)
    for name in NETWORKS:
        if not re.search(word, name):
            continue
        count += 1
        net, x = build(name)
        with torch.no_grad():
            want = net(x).numpy()
        said = []
        with tempfile.TemporaryDirectory() as d:
            np.save(f"{d}/x.npy", x.numpy())
            for way, save, end in (("pt2", export, ".pt2"), ("traced", trace, ".pt"), ("scripted", script, ".s.pt")):
                try:
                    with torch.no_grad():
                        save(net, x, f"{d}/m{end}")
                except Exception as e:
                    said.append(f"{way}: not saved, {type(e).__name__} {str(e)[:60]!r}")
                    continue
                shape = [f"--shape=x={','.join(map(str, x.shape))}"] if way == "scripted" else []
                y = run(dlc, f"{d}/m{end}", shape, d)
                if isinstance(y, str) and "it has: " in y:
                    shape = [f"--shape={y.split('it has: ')[1].split(',')[0].strip()}={','.join(map(str, x.shape))}"]
                    y = run(dlc, f"{d}/m{end}", shape, d)
                error = y if isinstance(y, str) else np.abs(y - want).max() / np.abs(want).max()
                ok = not isinstance(y, str) and error <= 1e-4
                bad += not ok
                good[way] += ok
                said.append(f"{way}: {error if isinstance(y, str) else f'{error:.1e}'}")
        print(f"{name} {x.shape[-1]}: {', '.join(said)}", flush=True)
    print(f"{count} networks, {bad} wrong; right: {', '.join(f'{n} {way}' for way, n in good.items())}")


main()
