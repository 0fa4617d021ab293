#!/usr/bin/env python3
"""pytorch.py OUT.json [--seconds 120] [--device cuda]: times of PyTorch on this GPU, the figures to compare dlc with.

Networks of torchvision with random weights, by batch, precision and mode, the most wanted first; what time does not
allow for is named in "left".  mode: graph is eager execution in one CUDA graph, compile is torch.compile with
max-autotune and frozen weights.  precision: fp32 has TF32 off everywhere, tf32 has it on everywhere, fp16 has weights
and activations of that type; all are in channels_last.  A time is the median over rounds of many runs back to back with
one synchronisation, in milliseconds."""
import argparse
import json
import statistics
import time

import torch

NETWORKS = ["resnet18", "resnet50", "mobilenet_v2", "squeezenet1_1"]
ORDER = [(n, b, p, m) for b in (1, 32) for m in ("graph", "compile") for p in ("fp32", "tf32", "fp16")
         for n in NETWORKS]
COMPILE_SECONDS = 45  # what torch.compile needs at most for one of them


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


def captured(net, x):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            net(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        net(x)
    return graph.replay


def measure(name, batch, precision, mode, device):
    import torchvision.models
    tf32 = precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    kind = torch.float16 if precision == "fp16" else torch.float32
    layout = torch.channels_last
    net = getattr(torchvision.models, name)(weights=None).eval().to(device, kind).to(memory_format=layout)
    x = torch.randn(batch, 3, 224, 224, device=device, dtype=kind).to(memory_format=layout)
    with torch.no_grad():
        if mode == "compile":
            import torch._inductor.config
            torch._dynamo.reset()
            torch._inductor.config.freezing = True
            fast = torch.compile(net, mode="max-autotune", fullgraph=True)
            return median_ms(lambda: fast(x), device)
        if device == "cuda":
            return median_ms(captured(net, x), device)
        return median_ms(lambda: net(x), device)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("out")
    a.add_argument("--seconds", type=float, default=120)
    a.add_argument("--device", default="cuda")
    a = a.parse_args()
    end = time.monotonic() + a.seconds
    facts = {"torch": torch.__version__, "cuda": torch.version.cuda}
    if a.device == "cuda":
        facts["device"] = torch.cuda.get_device_name()
    rows, left = [], []
    for name, batch, precision, mode in ORDER:
        needed = COMPILE_SECONDS if mode == "compile" else 5
        row = {"network": name, "batch": batch, "precision": precision, "mode": mode}
        if time.monotonic() > end - needed:
            left.append(row)
            continue
        try:
            row["ms"] = measure(name, batch, precision, mode, a.device)
        except Exception as e:  # one network or mode must not lose the others
            row["error"] = f"{type(e).__name__}: {e}"[:300]
        rows.append(row)
        print(json.dumps(row), flush=True)
        with open(a.out, "w") as f:
            json.dump({"facts": facts, "rows": rows, "left": left}, f, indent=1)
    with open(a.out, "w") as f:
        json.dump({"facts": facts, "rows": rows, "left": left}, f, indent=1)


if __name__ == "__main__":
    main()
