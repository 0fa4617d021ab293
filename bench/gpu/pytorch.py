#!/usr/bin/env python3
"""pytorch.py OUT.json [--seconds 150] [--device cuda]: times of PyTorch on this GPU, the figures to compare dlc with.

Networks with random weights, by batch, precision and mode; and the product of two matrices (gemm, its batch is the
size), which is cuBLAS. mode: graph is eager execution in one CUDA graph, compile is torch.compile with max-autotune and
frozen weights. precision: fp32 has TF32 off everywhere, tf32 has it on everywhere, fp16 and bf16 have weights and
activations of that type; all networks are in channels_last. A time is the median over rounds of many runs back to back
with one synchronisation, in milliseconds.

Rows come in the order of what is wanted most: at batch 1 both modes of the four networks of docs/benchmarks.md, in fp16
and then in fp32. A row begins only if the time left suffices for the longest of its mode so far. Each row is printed
and kept in OUT.json when it is done; rows that are there from an earlier run on this device are not measured again.
What the time did not allow for is in "left"."""
import argparse
import json
import os
import statistics
import time

import torch

GOALS = ["resnet18", "resnet50", "mobilenet_v1", "mobilenet_v2"]
NETWORKS = GOALS + ["squeezenet1_1"]
GEMM = [("gemm", 4096, p, "graph") for p in ("fp16", "bf16", "tf32", "fp32")]
# At batch 1 the graphs of a precision take seconds, so they precede torch.compile of the same networks.
WANTED = [(n, 1, p, m) for p in ("fp16", "fp32") for m in ("graph", "compile") for n in GOALS]
REST = [(n, b, p, m) for m in ("graph", "compile") for b in (1, 32) for p in ("fp16", "fp32", "tf32", "bf16")
        for n in NETWORKS]
ORDER = list(dict.fromkeys(GEMM[:1] + WANTED + GEMM[1:] + REST))
SECONDS = {"graph": 5.0, "compile": 30.0}  # assumed time of a row until one is measured
TYPES = {"fp16": torch.float16, "bf16": torch.bfloat16}


def wait(device):
    if device == "cuda":
        torch.cuda.synchronize()


def median_ms(run, device):
    for _ in range(5):
        run()
    wait(device)
    begin = time.perf_counter()
    run()
    wait(device)
    often = max(3, min(200, int(0.1 / max(time.perf_counter() - begin, 1e-6))))
    rounds = []
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(often):
            run()
        wait(device)
        rounds.append((time.perf_counter() - begin) / often * 1e3)
    return statistics.median(rounds)


def captured(run):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    return graph.replay


def mobilenet_v1():
    """MobileNet v1 as in dlc's zoo: torchvision has only later versions."""
    from torch import nn

    def layer(inputs, outputs, kernel, stride, groups):
        return [nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
                nn.BatchNorm2d(outputs), nn.ReLU6(inplace=True)]
    layers, width = layer(3, 32, 3, 2, 1), 32
    for outputs, stride in [(64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)] + [(512, 1)] * 5 + \
            [(1024, 2), (1024, 1)]:
        layers += layer(width, width, 3, stride, width) + layer(width, outputs, 1, 1, 1)
        width = outputs
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 1000))


def network(name):
    if name == "mobilenet_v1":
        return mobilenet_v1()
    import torchvision.models
    return getattr(torchvision.models, name)(weights=None)


def measure(name, batch, precision, mode, device):
    cuda = device == "cuda"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False  # dlc adds in fp32, too
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    kind = TYPES.get(precision, torch.float32)
    with torch.no_grad():
        if name == "gemm":
            a, b = (torch.randn(batch, batch, device=device, dtype=kind) for _ in range(2))
            out = torch.empty(batch, batch, device=device, dtype=kind)
            run = lambda: torch.matmul(a, b, out=out)  # noqa: E731
            return median_ms(captured(run) if cuda else run, device)
        layout = torch.channels_last
        net = network(name).eval().to(device, kind).to(memory_format=layout)
        x = torch.randn(batch, 3, 224, 224, device=device, dtype=kind).to(memory_format=layout)
        if mode == "compile":
            import torch._inductor.config
            torch._dynamo.reset()
            torch._inductor.config.freezing = True
            fast = torch.compile(net, mode="max-autotune", fullgraph=True)
            return median_ms(lambda: fast(x), device)
        return median_ms(captured(lambda: net(x)) if cuda else lambda: net(x), device)


def write(path, facts, rows, left):
    """Replaces the file at once, so that it is valid JSON even after a killed run."""
    with open(path + ".part", "w") as f:
        json.dump({"facts": facts, "rows": rows, "left": left}, f, indent=1)
    os.replace(path + ".part", path)


def known(path, facts):
    try:
        with open(path) as f:
            old = json.load(f)
        return [r for r in old["rows"] if "ms" in r] if old["facts"] == facts else []
    except (OSError, ValueError, KeyError):
        return []


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("out")
    a.add_argument("--seconds", type=float, default=150)
    a.add_argument("--device", default="cuda")
    a = a.parse_args()
    end = time.monotonic() + a.seconds
    facts = {"torch": torch.__version__, "cuda": torch.version.cuda}
    if a.device == "cuda":
        facts["device"] = torch.cuda.get_device_name()
    # The cache of max-autotune is kept beside the results, for the next run.
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.abspath(a.out) + ".inductor")
    rows, left, needed = known(a.out, facts), [], dict(SECONDS)
    done = {(r["network"], r["batch"], r["precision"], r["mode"]) for r in rows}
    for key in ORDER:
        row = dict(zip(("network", "batch", "precision", "mode"), key))
        begin = time.monotonic()
        if key in done:
            continue
        if begin + needed[row["mode"]] > end:
            left.append(row)
            continue
        try:
            row["ms"] = measure(*key, a.device)
        except Exception as e:  # one network or mode must not lose the others
            row["error"] = f"{type(e).__name__}: {e}"[:300]
        row["seconds"] = round(time.monotonic() - begin, 1)
        if "ms" in row:
            needed[row["mode"]] = max(row["seconds"] * 1.2, needed[row["mode"]] if row["mode"] == "compile" else 1)
        rows.append(row)
        print(json.dumps(row), flush=True)
        write(a.out, facts, rows, left)
    write(a.out, facts, rows, left)


if __name__ == "__main__":
    main()
