#!/usr/bin/env python3
"""Quantised modules of PyTorch (eager mode, dynamic, decomposed operators of pt2e) in dlc against PyTorch itself.

    python3 bench/formats/torch_quantised.py DLC

Needs torch (checked with 2.15.0) and torchvision (0.29.2). Weights are random. Prints each model's largest difference
and the largest result; one code of the last scale is what rounding may change.
"""
import re, subprocess, sys, tempfile, warnings

import numpy as np
import torch
from torch import nn
import torch.ao.nn.quantized as nnq
import torch.ao.quantization as Q
import torch.ao.quantization.fx._decomposed # registers quantized_decomposed
import torch.nn.functional as F
import torchvision

warnings.filterwarnings("ignore")


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.quant, self.back = Q.QuantStub(), Q.DeQuantStub()
        self.conv, self.norm, self.relu = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU()
        self.deep, self.dense = nn.Conv2d(8, 8, 3, groups=8, stride=2), nn.Linear(8, 5)
        self.swish, self.leaky, self.pool = nn.Hardswish(), nn.LeakyReLU(0.1), nn.AdaptiveAvgPool2d(1)
        self.add, self.mul, self.cat = nnq.FloatFunctional(), nnq.FloatFunctional(), nnq.FloatFunctional()

    def forward(self, x):
        x = F.max_pool2d(self.relu(self.norm(self.conv(self.quant(x)))), 2)
        x = self.swish(self.mul.mul(self.add.add(x, x), x))
        x = self.leaky(self.deep(x))
        x = self.pool(self.cat.cat([x, x], 1)[:, :8])
        return self.back(self.dense(torch.flatten(x, 1)))


class Dense(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(20, 30), nn.Linear(30, 7)

    def forward(self, x):
        return self.b(torch.relu(self.a(x)))


class Transposed(nn.Module):
    def __init__(self, dims):
        super().__init__()
        make = (nn.ConvTranspose1d, nn.ConvTranspose2d, nn.ConvTranspose3d)[dims - 1]
        self.quant, self.back = Q.QuantStub(), Q.DeQuantStub()
        self.a, self.b = make(4, 6, 3, 2, 1, 1), make(6, 4, 2, groups=2, dilation=2, bias=False)

    def forward(self, x):
        return self.back(self.b(torch.relu(self.a(self.quant(x)))))


class Decomposed(nn.Module):
    def forward(self, x):
        d, scales, zeros = torch.ops.quantized_decomposed, torch.tensor([0.1, 0.02, 0.3]), torch.tensor([0, 5, -3])
        q = d.quantize_per_tensor(x, 0.03, 7, 0, 255, torch.uint8)
        y = d.dequantize_per_tensor(q, 0.03, 7, 0, 255, torch.uint8)
        q = d.quantize_per_channel(y, scales, zeros, 1, -128, 127, torch.int8)
        y = d.dequantize_per_channel(q, scales, zeros, 1, -128, 127, torch.int8)
        scale, zero = torch.ops.quantized_decomposed.choose_qparams.tensor(y, 0, 255, 1e-6, torch.uint8)
        q = torch.ops.quantized_decomposed.quantize_per_tensor.tensor(y, scale, zero, 0, 255, torch.uint8)
        return torch.ops.quantized_decomposed.dequantize_per_tensor.tensor(q, scale, zero, 0, 255, torch.uint8)


def converted(module, x, engine, config=None):
    torch.backends.quantized.engine = engine
    module.qconfig = config or Q.get_default_qconfig(engine)
    Q.prepare(module, inplace=True)
    with torch.no_grad():
        module(x)
    return Q.convert(module, inplace=True)


def main():
    torch.manual_seed(0)
    dlc, wrong = sys.argv[1], 0

    def compare(name, path, x, want):
        nonlocal wrong
        shape = ",".join(map(str, x.shape))
        info = subprocess.run([dlc, "show", path, "--imported", "--shape=x=" + shape], capture_output=True, text=True)
        names = re.findall(r"^in (\S+):", info.stdout, re.M)
        np.save(f"{folder}/x.npy", x.numpy())
        p = info if not names else subprocess.run(
            [dlc, "run", path, "--tuning-db=none", f"--output={folder}/y.npz", f"--shape={names[0]}={shape}",
             f"--input={names[0]}={folder}/x.npy"], capture_output=True, text=True)
        if p.returncode != 0:
            wrong += 1
            print(f"{name}: {p.stderr.strip()[:300]}", flush=True)
            return
        y, want = np.load(f"{folder}/y.npz"), want.detach().numpy()
        off, most = np.abs(y[y.files[0]] - want).max(), np.abs(want).max()
        wrong += not off <= 1e-5 * most
        print(f"{name}: {off:.2g} of {most:.3g}", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        model = folder + "/model.pt"
        for engine in "fbgemm", "qnnpack":
            small = Q.fuse_modules(Small().eval(), [["conv", "norm", "relu"]])
            small, x = converted(small, torch.randn(8, 3, 8, 8), engine), torch.randn(16, 3, 8, 8)
            for way, script in ("traced", torch.jit.trace(small, x)), ("scripted", torch.jit.script(small)):
                script.save(model)
                compare(f"small {engine} {way}", model, x, small(x))
        torch.backends.quantized.engine = "fbgemm"
        dense, x = Q.quantize_dynamic(Dense().eval(), {nn.Linear}, dtype=torch.qint8), torch.randn(4, 20)
        for way, script in ("traced", torch.jit.trace(dense, x)), ("scripted", torch.jit.script(dense)):
            script.save(model)
            compare("dynamic " + way, model, x, dense(x))
        for dims in 1, 2, 3:  # with one scale for a weight, as PyTorch has it for these
            net, x = Transposed(dims).eval(), torch.randn((2, 4) + (5,) * dims)
            net = converted(net, x, "fbgemm", Q.get_default_qconfig("qnnpack"))
            for way, script in ("traced", torch.jit.trace(net, x)), ("scripted", torch.jit.script(net)):
                script.save(model)
                compare(f"transposed {dims}d {way}", model, x, net(x))
        x = torch.randn(4, 3, 5)
        torch.export.save(torch.export.export(Decomposed(), (x,)), folder + "/model.pt2")
        compare("decomposed", folder + "/model.pt2", x, Decomposed()(x))
        for name in "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_large", "googlenet", "shufflenet_v2_x1_0":
            more = {"init_weights": True, "aux_logits": False} if name == "googlenet" else {}
            network = getattr(torchvision.models.quantization, name)(quantize=False, **more).eval()
            for m in network.modules():
                if isinstance(m, nn.BatchNorm2d): # random weights shrink or grow from layer to layer
                    m.running_var.fill_(0.3)
            network.fuse_model()
            network, x = converted(network, torch.randn(2, 3, 96, 96), "fbgemm"), torch.randn(1, 3, 96, 96)
            torch.jit.script(network).save(model)
            compare(name, model, x, network(x))
    print(f"{wrong} wrong")


main()
