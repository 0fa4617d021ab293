#!/usr/bin/env python3
"""Networks of torchvision with random weights, converted by coremltools, against PyTorch.

    python3 bench/formats/coreml_networks.py DLC [PATTERN]

Needs torch, torchvision and coremltools (checked with 2.7.0, 0.22.0 and 9.0). Each network becomes a neural network
(.mlmodel), an ML program of floats and one of halves (.mlpackage). Each line: the largest error over the largest
element of each; halves may differ by 3%, the others by 1e-4.
"""
import logging, os, re, subprocess, sys, tempfile, warnings

warnings.filterwarnings("ignore")
logging.disable(logging.ERROR)
os.environ["CUDA_VISIBLE_DEVICES"] = ""
import numpy as np
import torch
import torchvision.models as M
import coremltools as ct

classes = dict(num_classes=10)
networks = dict(
    alexnet=(96, classes), resnet18=(64, classes), mobilenet_v2=(64, classes), mobilenet_v3_small=(64, classes),
    squeezenet1_1=(64, classes), densenet121=(64, classes), efficientnet_b0=(64, classes),
    shufflenet_v2_x0_5=(64, classes), mnasnet0_5=(64, classes), regnet_y_400mf=(64, classes), convnext_tiny=(64,
     classes),
    googlenet=(64, dict(num_classes=10, aux_logits=False, init_weights=False)), swin_t=(64, classes),
    vit_b_16=(32, dict(num_classes=10, image_size=32)))


class Segmentation(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = M.segmentation.lraspp_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=5)

    def forward(self, x):
        return self.net(x)["out"]


def fill(net):
    """Weights that keep the size of values, and statistics that do something."""
    torch.manual_seed(5)
    for m in net.modules():
        if isinstance(m, torch.nn.BatchNorm2d):
            m.running_mean.uniform_(-0.2, 0.2)
            m.running_var.uniform_(0.5, 1.5)
            m.weight.data.uniform_(0.5, 1)
            m.bias.data.uniform_(-0.2, 0.2)
        elif isinstance(m, torch.nn.Conv2d):
            torch.nn.init.kaiming_normal_(m.weight)


def run(dlc, model, folder):
    r = subprocess.run([dlc, "run", model, "--tuning-db=none", f"--input=x={folder}/x.npy",
                        f"--output={folder}/y.npz"], capture_output=True, text=True)
    if r.returncode != 0:
        return r.stderr.strip()[:300]
    y = np.load(f"{folder}/y.npz")
    return y[y.files[-1]].astype(np.float32)


forms = (("m.mlmodel", dict(convert_to="neuralnetwork"), 1e-4),
         ("m.mlpackage", dict(convert_to="mlprogram", compute_precision=ct.precision.FLOAT32), 1e-4),
         ("h.mlpackage", dict(convert_to="mlprogram", compute_precision=ct.precision.FLOAT16), 0.03))


def main():
    dlc, word, bad = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "", 0
    for name, (size, args) in dict(networks, lraspp_mobilenet_v3_large=(64, None)).items():
        if not re.search(word, name):
            continue
        net = Segmentation() if args is None else getattr(M, name)(weights=None, **args)
        net.eval()
        fill(net)
        x = torch.rand(1, 3, size, size) * 2 - 1
        with torch.no_grad():
            want, traced, said = net(x).numpy(), torch.jit.trace(net, x), []
        with tempfile.TemporaryDirectory() as d:
            np.save(f"{d}/x.npy", x.numpy())
            for file, how, most in forms:
                try:
                    ct.convert(traced, inputs=[ct.TensorType(name="x", shape=x.shape)], **how).save(f"{d}/{file}")
                except Exception as e:
                    said.append(f"not converted: {str(e)[:60]}")
                    continue
                y = run(dlc, f"{d}/{file}", d)
                error = y if isinstance(y, str) else np.abs(y - want).max() / np.abs(want).max()
                bad += isinstance(y, str) or not error <= most
                said.append(error if isinstance(y, str) else f"{error:.1e}")
        print(f"{name} {size}: .mlmodel {said[0]}, .mlpackage {said[1]}, of halves {said[2]}", flush=True)
    print(f"{bad} wrong")


main()
