"""A rival in a process of its own: Engine starts one, which loads an ONNX file and times it on demand.

Each rival is a class below: what loads a network, and what runs it once.  All compute in float32, with the threads that
are asked for and all optimisations of their own.  The process writes its outputs to files, and a line of JSON for each
line that it gets; it ends with its input.  A rival that refuses a network or crashes costs its own column only."""
import glob
import importlib.metadata
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

START_SECONDS = 900  # conversion and loading of a large network on a busy machine


class OnnxRuntime:
    """One sequential session with all graph optimisations."""
    title, packages = "ONNX Runtime", ["onnxruntime"]

    def __init__(self, path, arrays, threads):
        import rival
        self.session = rival.session(path, threads)
        self.feed = dict(zip([x.name for x in self.session.get_inputs()], arrays))

    def run(self):
        return self.session.run(None, self.feed)


class OpenVino:
    """The CPU plug-in with the latency hint, one stream, float32.  Threads are pinned to cores or not, whichever is
    faster in a few turns before the comparison."""
    title, packages = "OpenVINO", ["openvino"]

    def __init__(self, path, arrays, threads):
        import openvino
        core = openvino.Core()
        model = core.read_model(path)
        ways = {}
        for pinned in (False, True):
            compiled = core.compile_model(model, "CPU", {
                "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": "1", "INFERENCE_PRECISION_HINT": "f32",
                "INFERENCE_NUM_THREADS": str(threads), "ENABLE_CPU_PINNING": pinned})
            request = compiled.create_infer_request()
            for k, a in enumerate(arrays):
                request.set_input_tensor(k, openvino.Tensor(a, shared_memory=True))
            ways[pinned] = request
        self.outputs, took = len(model.outputs), {False: [], True: []}
        for _ in range(3):
            for pinned, request in ways.items():
                took[pinned].append(median_ms(request.infer, 0.3))
        best = min(took, key=lambda pinned: min(took[pinned]))
        self.request = ways.pop(best)
        self.note = "pinned" if best else "not pinned"

    def run(self):
        self.request.infer()
        return [self.request.get_output_tensor(k).data for k in range(self.outputs)]


class Ncnn:
    """The file as pnnx converts it, without half precision; pools of memory as in ncnn's own benchmark.  ncnn has no
    batch axis: it is taken off the inputs, and the outputs are compared without it."""
    title, packages = "ncnn", ["ncnn", "pnnx"]

    def __init__(self, path, arrays, threads):
        import ncnn
        stem = os.path.splitext(path)[0]
        if not os.path.exists(stem + ".ncnn.param"):
            self.convert(path, arrays)
        if any(a.shape[0] != 1 for a in arrays):
            raise RuntimeError("ncnn takes a batch of 1 only")
        self.ncnn, self.net = ncnn, ncnn.Net()
        self.pools = ncnn.UnlockedPoolAllocator(), ncnn.PoolAllocator()
        ncnn.set_cpu_powersave(0)
        ncnn.set_omp_dynamic(0)
        ncnn.set_omp_num_threads(threads)
        o = self.net.opt
        o.num_threads, o.use_vulkan_compute, o.lightmode = threads, False, True
        o.blob_allocator, o.workspace_allocator = self.pools
        for name in [n for n in dir(o) if n.startswith(("use_fp16_", "use_bf16_", "use_int8_"))]:
            setattr(o, name, False)
        if self.net.load_param(stem + ".ncnn.param") or self.net.load_model(stem + ".ncnn.bin"):
            raise RuntimeError("ncnn cannot load what pnnx wrote")
        self.mats = [ncnn.Mat(a[0]).clone() for a in arrays]
        self.names = sorted(self.net.output_names(), key=lambda n: int(n[3:]))

    @staticmethod
    def convert(path, arrays):
        program = importlib.metadata.distribution("pnnx").locate_file("pnnx/pnnx")
        shapes = ",".join(f"[{','.join(map(str, a.shape))}]f32" for a in arrays)
        p = subprocess.run([program, path, "inputshape=" + shapes, "fp16=0"], cwd=os.path.dirname(path),
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        lines = [x for x in p.stdout.decode(errors="replace").splitlines() if "not supported" in x or "ignore" in x]
        if p.returncode or not os.path.exists(os.path.splitext(path)[0] + ".ncnn.bin"):
            raise RuntimeError(f"pnnx cannot convert it (exit {p.returncode}) {' '.join(lines[:1])}".strip())

    def run(self):
        extractor, out = self.net.create_extractor(), []
        for k, m in enumerate(self.mats):
            extractor.input(f"in{k}", m)
        for name in self.names:
            bad, m = extractor.extract(name)
            if bad:
                raise RuntimeError(f"ncnn cannot compute {name}; a layer of the converted network refuses its input")
            out.append(m)
        return out


RIVALS = {"onnxruntime": OnnxRuntime, "openvino": OpenVino, "ncnn": Ncnn}


def version(name):
    return ", ".join(f"{p} {importlib.metadata.version(p)}" for p in RIVALS[name].packages)


def median_ms(run, seconds):
    """Of runs back to back, after two that do not count."""
    run()
    run()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        t = time.perf_counter()
        run()
        times.append((time.perf_counter() - t) * 1e3)
    return statistics.median(times)


class Engine:
    """A rival's process, from the side of the comparison.  The inputs lie as input_K.npy beside the ONNX file."""

    def __init__(self, name, path, threads):
        self.name = name
        self.words = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, os.path.abspath(__file__), name, path, str(threads)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.words,
                                        start_new_session=True)
        self.folder = os.path.dirname(path)
        self.note = self.answer(START_SECONDS).get("note")

    def answer(self, seconds):
        ready, _, _ = select.select([self.process.stdout], [], [], seconds)
        if not ready:
            self.close()
            raise RuntimeError(f"{self.name} did not answer within {seconds:g} s")
        line = self.process.stdout.readline()
        if not line:
            self.words.seek(0)
            last = (self.words.read().decode(errors="replace").strip().splitlines() or ["it said nothing"])[-1]
            raise RuntimeError(f"{self.name} ended with status {self.process.wait()}: {last}")
        said = json.loads(line)
        if "error" in said:
            raise RuntimeError(said["error"])
        return said

    def outputs(self):
        import numpy
        count = len(glob.glob(os.path.join(self.folder, self.name + "_output_*.npy")))
        return [numpy.load(os.path.join(self.folder, f"{self.name}_output_{k}.npy")) for k in range(count)]

    def median_ms(self, seconds):
        self.process.stdin.write(f"{seconds}\n".encode())
        self.process.stdin.flush()
        return self.answer(60 + 60 * seconds)["ms"]

    def close(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)  # pnnx, too, which converts for ncnn
        except ProcessLookupError:
            pass
        self.process.communicate()


def main():
    if len(sys.argv) != 4:
        sys.exit(print(__doc__ + "\n\nbench/rivals.py starts it: engine.py NAME PATH THREADS"))
    name, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints is no answer

    def say(**what):
        reply.write(json.dumps(what) + "\n")
        reply.flush()

    try:
        import numpy
        folder = os.path.dirname(path)
        count = len(glob.glob(os.path.join(folder, "input_*.npy")))
        arrays = [numpy.load(os.path.join(folder, f"input_{k}.npy")) for k in range(count)]
        engine = RIVALS[name](path, arrays, threads)
        for k, a in enumerate(engine.run()):
            numpy.save(os.path.join(folder, f"{name}_output_{k}.npy"), numpy.array(a))
        say(note=getattr(engine, "note", None))
        for line in sys.stdin:
            say(ms=median_ms(engine.run, float(line)))
    except Exception as e:  # each rival has a dozen kinds of its own
        say(error=" ".join(str(e).split())[:300] or type(e).__name__)


if __name__ == "__main__":
    main()
