#!/usr/bin/env python3
"""Programs of PyTorch whose conditions depend on data, and whose inputs may be None, against PyTorch itself.

    python3 bench/formats/torch_control.py DLC

Scripted modules and exported programs with torch.cond and loops over parts. Needs torch (checked with 2.15.0). Prints
what differs or is refused, and how many runs were right.
"""
import os, subprocess, sys, tempfile, warnings
from typing import List, Optional, Tuple

import numpy as np
import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as map_parts

warnings.filterwarnings("ignore")


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(6, 6), nn.Linear(6, 6)


class Choice(Two):
    def forward(self, x):
        if x.sum() > 0:
            y = self.a(x)
        else:
            y = self.b(x) * 2
        return torch.relu_(y) + x


class Early(nn.Module):
    def forward(self, x):
        if bool((x > 0.9).any()):
            return x * 2
        if x.mean() > 0:
            z = x + 1
            return z
        return -x


class Write(nn.Module):
    def forward(self, x):
        y = x * 2
        v = y[0]
        if x.sum() > 0:
            v.add_(1.0)
        else:
            y[:, 1] = 7.0
            y.mul_(3)
        return y, v


class Lists(nn.Module):
    def forward(self, x):
        l = [x, x * 2]
        d = {"a": x}
        if x.sum() > 0:
            l[0] = x + 5
            d["a"] = x * 9
        else:
            l[1] = torch.tanh(x)
        return torch.cat(l, 1), d["a"]


class Attributes(nn.Module):
    k: int

    def __init__(self):
        super().__init__()
        self.k = 1
        self.register_buffer("state", torch.ones(6))

    def forward(self, x):
        if x.sum() > 0:
            self.state = self.state + 1
            self.k = 3
        return x * self.state * self.k


class Numbers(nn.Module):
    def forward(self, x):
        n = int(x.sum().item() * 10)
        f = float(x.max())
        k = 2
        if n % 3 == 1:
            k = 5
        elif f > 0.5 and n > 0:
            k = n // 2
        return x * k + f


class Nested(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            if x[0, 0] > 0:
                y = x * 3
            else:
                y = x.clone()
                y.sub_(2)
        else:
            t = x + 1
            y = t if x[0, 1] > 0 else t * 4
        return y


class Check(nn.Module):
    def forward(self, x):
        if x.sum() > 1e6:
            raise ValueError("no")
        assert bool(x.sum() < 1e6), "large"
        return x + 1


class Pair(nn.Module):
    def pair(self, x) -> Tuple[torch.Tensor, int]:
        if x.sum() > 0:
            return x, 1
        return x * 2, 2

    def forward(self, x):
        a, k = self.pair(x)
        return a * k


class Mask(nn.Module):
    def forward(self, x, m: Optional[torch.Tensor], l: Optional[torch.Tensor] = None):
        if m is not None:
            x = x * m
        if l is not None:
            x = x + l
        return x


class Several(nn.Module):
    def forward(self, xs: List[torch.Tensor]):
        return xs[0] + xs[1] * 2


class Cond(Two):
    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda x: self.a(x), lambda x: torch.tanh(self.b(x)), (x,)) + 1


class CondInCond(nn.Module):
    def forward(self, x):
        def small(x, y):
            return torch.cond(x[0, 0] > 0, lambda x, y: (x * 5, y.sum()), lambda x, y: (x.cos(), y.max()), (x, y))
        return torch.cond(x.mean() > 0, lambda x, y: (x * 2, (y + 1).sum()), small, (x, x + 1))


class NoGrad(nn.Module):
    def forward(self, x):
        with torch.no_grad():
            y = x * 2
        return y + x


class Autocast(nn.Module):
    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            y = x * 2
        return y + x


class Scan(nn.Module):
    def forward(self, x):
        return scan(lambda c, x: (c * 0.5 + x, c * x), torch.zeros(6), x, dim=0)


class Map(nn.Module):
    def forward(self, x):
        return map_parts(lambda x, y: x * 2 + y, x, torch.ones(6))


class While(nn.Module):
    def forward(self, x):
        return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 1.5 + i), (torch.tensor(0), x))[1]


def flat(y):
    if isinstance(y, torch.Tensor):
        return [y.detach().numpy()]
    return [a for x in (y.values() if isinstance(y, dict) else y) for a in flat(x)]


def compare(dlc, folder, want, inputs, shapes):
    """None, or what is wrong."""
    for name, x in inputs.items():
        np.save(f"{folder}/{name}.npy", x.numpy())
    p = subprocess.run([dlc, "run", f"{folder}/model", "--tuning-db=none", f"--output={folder}/y.npz"]
                       + [f"--input={n}={folder}/{n}.npy" for n in inputs]
                       + ["--shape=" + n + "=2,6" for n in inputs if shapes], capture_output=True, text=True)
    if p.returncode != 0:
        return p.stderr.strip()[:300]
    y = np.load(f"{folder}/y.npz")
    got, want = [y[k] for k in y.files], flat(want)
    if [a.shape for a in got] != [b.shape for b in want]:
        return f"{[a.shape for a in got]} where {[b.shape for b in want]}"
    for a, b in zip(got, want):
        off = np.abs(a.astype(float) - b).max()
        if not off <= 1e-5 * max(1, np.abs(b).max()):
            return f"error {off:.2g}"
    return None


def main():
    torch.manual_seed(1)
    xs = [torch.rand(2, 6) * 0.8, -torch.rand(2, 6) * 0.8, torch.rand(2, 6) * 2 - 1,
          torch.tensor([[-.1, .5, .2, .3, .2, .1], [.1, .2, .1, .1, .1, .1]]),
          torch.tensor([[.1, -.5, -.2, -.3, -.2, -.1], [.1, -.2, -.1, -.1, -.1, .95]])]
    right = wrong = 0

    def count(name, said):
        nonlocal right, wrong
        right, wrong = right + (said is None), wrong + (said is not None)
        if said is not None:
            print(f"{name}: {said}", flush=True)

    with tempfile.TemporaryDirectory() as d:
        for c in Choice, Early, Write, Lists, Attributes, Numbers, Nested, Check, Pair:
            torch.jit.script(c().eval()).save(f"{d}/model")
            for k, x in enumerate(xs): # a run may change the module
                want = torch.jit.load(f"{d}/model")(x.clone())
                count(f"{c.__name__} {k}", compare(sys.argv[1], d, want, {"x": x}, True))
        module = torch.jit.script(Mask())
        module.save(f"{d}/model")
        for given in ("x", "xm", "xml", "xl"):
            inputs = {n: xs["xml".index(n)] for n in given}
            count("Mask " + given, compare(sys.argv[1], d, module(*[inputs.get(n) for n in "xml"]), inputs, True))
        module = torch.jit.script(Several())
        module.save(f"{d}/model")
        count("Several", compare(sys.argv[1], d, module(xs[:2]), {"xs.0": xs[0], "xs.1": xs[1]}, True))
        for c in Cond, CondInCond, NoGrad, Autocast, Scan, Map, While:
            module = c().eval()
            torch.export.save(torch.export.export(module, (xs[0],)), f"{d}/model.pt2")
            os.replace(f"{d}/model.pt2", f"{d}/model")
            for k, x in enumerate(xs):
                count(f"{c.__name__} {k}", compare(sys.argv[1], d, module(x.clone()), {"x": x}, False))
    print(f"{right} right, {wrong} wrong")


main()
