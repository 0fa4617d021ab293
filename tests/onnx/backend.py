#!/usr/bin/env python3
"""ONNX's own test folders through the compiled path: `dlc run model.onnx --check=DIR` for every one
whose nodes are all operators that dlc has (OPERATORS); prints what passed, and every failure.

    backend.py DLC [--all]        data: $DLC_TEST_DATA or ../shared (onnx-backend/), Debian's libonnx-testdata

Where no data is found it says so and exits with 77 (meson: skipped); data of which no folder passes is a
failure. Without --all (or DLC_TEST_ALL=1) a third of the folders is taken, chosen by their name's hash."""
import os, subprocess, sys, zlib
from concurrent.futures import ThreadPoolExecutor

OPERATORS = set("""Conv MaxPool AveragePool GlobalAveragePool GlobalMaxPool BatchNormalization Gemm MatMul Add Sub
Mul Div Pow Max Min Abs Neg Exp Log Sqrt Erf Tanh Sigmoid Relu LeakyRelu PRelu Clip Elu HardSigmoid HardSwish Softmax
LogSoftmax LRN ReduceMean ReduceSum ReduceMax ReduceMin Reshape Flatten Transpose Squeeze Unsqueeze Concat Slice Split
Pad Identity Constant Shape Expand Dropout Cast
Gather GatherND GatherElements Scatter ScatterND ScatterElements
RNN GRU LSTM
ConvTranspose LpPool GlobalLpPool MaxUnpool Det Einsum ReduceProd ReduceLogSumExp ReduceL1 ReduceL2 ReduceLogSum
ReduceSumSquare ArgMax ArgMin CumSum CumProd TopK Hardmax LayerNormalization RMSNormalization GroupNormalization
InstanceNormalization MeanVarianceNormalization LpNormalization NegativeLogLikelihoodLoss
SoftmaxCrossEntropyLoss DeformConv""".split())
OPERATORS |= set("""Attention RotaryEmbedding LinearAttention CausalConvWithState QuantizeLinear
DequantizeLinear DynamicQuantizeLinear MatMulInteger ConvInteger QLinearMatMul QLinearConv DFT STFT HannWindow
HammingWindow BlackmanWindow MelWeightMatrix""".split())
OPERATORS |= set("""CastLike BitCast Equal Less LessOrEqual Greater GreaterOrEqual And Or Xor Not BitwiseAnd BitwiseOr
BitwiseXor BitwiseNot BitShift Where IsNaN IsInf Mod Sign Floor Ceil Round Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh
Acosh Atanh Reciprocal Sum Mean Softplus Softsign Selu Celu Gelu Mish Swish Shrink ThresholdedRelu""".split())
OPERATORS |= set("""Resize Upsample Range EyeLike Trilu OneHot Compress NonZero DepthToSpace SpaceToDepth Tile
CenterCropPad ReverseSequence TensorScatter AffineGrid GridSample Col2Im RoiAlign""".split())
# What these operators are refused for, by the words of the refusal; counted apart.
DEBIAN = "libonnx-testdata"
REFUSALS = ("indices", "training", "mask", "type", "sequence", "optional", "string", "STRING")

# Data that is not what ONNX says today; counted apart.
OUTDATED = {"node/test_dft_inverse_opset19": "it holds rounding errors of 2e-7 where the result is 0",
            "test_cast_FLOAT_to_BFLOAT16": "ONNX 1.12 cut the bits off, later versions round to nearest as dlc does",
            "test_castlike_FLOAT_to_BFLOAT16": "its input 'like' has another shape in its file than in the model",
            "test_castlike_BFLOAT16_to_FLOAT": "its input 'like' has another shape in its file than in the model"}

def fields(data):
    """(number, value) of a protobuf message's varint and length-delimited fields."""
    at = 0
    def varint():
        nonlocal at
        v = shift = 0
        while True:
            b = data[at]; at += 1
            v |= (b & 127) << shift; shift += 7
            if b < 128: return v
    while at < len(data):
        key = varint(); kind = key & 7
        if kind == 0: yield key >> 3, varint()
        elif kind == 1: at += 8
        elif kind == 5: at += 4
        elif kind == 2:
            n = varint(); yield key >> 3, data[at:at + n]; at += n
        else: return

def operators(path):
    """Types of the model's nodes (None: it cannot be read that simply)."""
    try:
        data, out = open(path, "rb").read(), set()
        for number, graph in fields(data):
            if number != 7: continue
            for k, node in fields(graph):
                if k != 1: continue
                f = dict(fields(node))
                out.add((f.get(7, b"").decode(), f.get(4, b"").decode()))
        return out
    except Exception:
        return None

def folders():
    here = os.path.dirname(os.path.abspath(__file__))
    data = os.environ.get("DLC_TEST_DATA") or os.path.join(here, "../../../shared")
    base = os.path.join(data, "onnx-backend")
    index = os.path.join(base, "index.tsv")
    if os.path.exists(index):
        for line in open(index).read().splitlines()[1:]:
            f = line.split("\t")
            if f[9] == "T1" and f[6] in ("0", "-", ""):
                yield os.path.join(base, f[0])
    try:
        listed = subprocess.run(["dpkg", "-L", "libonnx-testdata"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                text=True).stdout
    except OSError:
        listed = ""
    for line in listed.splitlines():
        if line.endswith("/model.onnx") and "expanded" not in line:
            yield os.path.dirname(line)

def wanted(folder):
    ops = operators(os.path.join(folder, "model.onnx"))
    return ops and all(domain in ("", "ai.onnx") and op in OPERATORS for domain, op in ops)

def outdated_name(folder):
    """The key in OUTDATED: Debian's folders by their name, those of onnx-backend with the folder above."""
    name = os.path.basename(folder)
    return name if DEBIAN in folder else os.path.basename(os.path.dirname(folder)) + "/" + name

def run(dlc, folder):
    model = os.path.join(folder, "model.onnx")
    try:
        p = subprocess.run([dlc, "run", model, "--check=" + folder, "--tuning-db=none"], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, timeout=120, text=True, errors="replace")
        return folder, p.returncode, p.stdout.strip()
    except subprocess.TimeoutExpired:
        return folder, 124, "no answer within 120 s"

def main():
    dlc, everything = sys.argv[1], "--all" in sys.argv or os.environ.get("DLC_TEST_ALL")
    todo = [f for f in folders() if os.path.isdir(f)]
    if not todo:
        print("no ONNX test data found (DLC_TEST_DATA, ../shared, libonnx-testdata): nothing checked")
        return 77
    todo = [f for f in todo if wanted(f)]
    chosen = [f for f in todo if everything or zlib.crc32(os.path.basename(f).encode()) % 3 == 0]
    passed, refused, failed, outdated = {}, [], [], []
    with ThreadPoolExecutor(2) as pool:
        for folder, code, text in pool.map(lambda f: run(dlc, f), chosen):
            group = os.path.basename(os.path.dirname(folder))
            if code == 0 and ": ok" in text:
                passed[group] = passed.get(group, 0) + 1
            elif code == 1 and outdated_name(folder) in OUTDATED:
                outdated.append(folder)
            elif code == 1 and any(w in text for w in REFUSALS) and "differs" not in text:
                refused.append((folder, text))
            else:
                failed.append((folder, code, text))
    for folder, text in refused:
        print(f"refused {os.path.basename(folder)}: {text.splitlines()[-1][:160] if text else ''}")
    for folder in outdated:
        print(f"outdated {os.path.basename(folder)}: {OUTDATED[outdated_name(folder)]}")
    for folder, code, text in failed:
        print(f"FAILED  {folder}: exit {code}: {text[-300:]}")
    print(f"{sum(passed.values())} of {len(chosen)} chosen folders (of {len(todo)}) passed: "
          + ", ".join(f"{k} {v}" for k, v in sorted(passed.items()))
          + f"; refused by name {len(refused)}; outdated data {len(outdated)}; failed {len(failed)}")
    return 1 if failed or not passed else 0

sys.exit(main())
