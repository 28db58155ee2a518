"""same_bits.py SOURCE: what a model computes does not depend on how it is computed.

Each model is compiled in several ways and run in several ways; all outputs must be the same bytes:
tilings (machines and optimization levels), threads, host instruction sets, one engine alone. Cycles
must be the same wherever the PEF is the same: threads, instruction sets, without values, without
memoized calls, without skipped periods. docs/numerics.md says why; no outside library computes an
expected value here (test/pipeline and test/models do that)."""
import itertools
import sys
import tempfile

import numpy
import onnx
from models import MODELS
from samba import compile, statistics, tool

SOURCE = sys.argv[1]
FLAGS = open("/proc/cpuinfo", encoding="utf-8").read().split()
RUNS = [
    ["--threads", "1"],
    ["--threads", "2"],
    ["--threads", "2", "--no-memo"],
    ["--no-skip"],
    ["--values-only"],
    ["--cpu", "x86-64", "--threads", "1"],
    ["--cpu", "generic"],
]
if "avx2" in FLAGS and "fma" in FLAGS:
    RUNS.append(["--cpu", "x86-64-v3"])


def models():
    for name in (
        "mlp",
        "convnet",
        "norms",
        "matmul 100x70x30",
        "matmul 256x256x256 f16",
        "conv 3x3 in 4 groups",
    ):
        yield name, MODELS[name]()
    yield "digits", onnx.load(f"{SOURCE}/examples/digits/digits.onnx")


def inputs_of(model, folder):
    """Seeded values of every graph input; flags for samba-run."""
    random, flags = numpy.random.RandomState(7), []
    for value in model.graph.input:
        kind = value.type.tensor_type
        dtype = numpy.float16 if kind.elem_type == onnx.TensorProto.FLOAT16 else numpy.float32
        path = f"{folder}/{value.name.replace('/', '_')}.npy"
        numpy.save(path, random.randn(*[dim.dim_value for dim in kind.shape.dim]).astype(dtype))
        flags += ["--input", f"{value.name}={path}"]
    return flags


def bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


failures = []


def expect(same, *what):
    if not same:
        failures.append(" ".join(map(str, what)))


def check(name, model, precision, folder):
    path, pef, out = (f"{folder}/{file}" for file in ("model.onnx", "model.pef", "out.npy"))
    onnx.save(model, path)
    given, first = inputs_of(model, folder), None
    result = f"{model.graph.output[0].name}={out}"
    for target, level in itertools.product(("tiny", "sn40l"), ("-O0", "-O1")):
        compile(path, pef, target, level, f"--precision={precision}")
        cycles = statistics(pef)["cycles"]
        for flags in (["--no-memo"], ["--no-skip"], ["--no-memo", "--no-skip"]):
            expect(
                statistics(pef, *flags)["cycles"] == cycles,
                name,
                precision,
                target,
                level,
                *flags,
                "cycles",
            )
        for flags in RUNS if level == "-O1" else RUNS[:1]:
            tool(
                "samba-run",
                pef,
                *given,
                "--output",
                result,
                "--stats",
                f"{folder}/run.json",
                *flags,
            )
            first = first or bytes_of(out)
            expect(bytes_of(out) == first, name, precision, target, level, *flags, "values")
            if "--values-only" not in flags:
                expect(
                    f'"cycles":\t{cycles},' in bytes_of(f"{folder}/run.json").decode(),
                    name,
                    precision,
                    target,
                    level,
                    *flags,
                    "cycles",
                )
    values = numpy.load(out).astype(numpy.float64)
    expect(
        numpy.isfinite(values).all() and values.std() > 0, name, precision, "has nothing to compare"
    )


for name, model in models():
    half = model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT16
    for precision in ["mp0"] if half else ["mp0", "mp4"]:
        with tempfile.TemporaryDirectory() as folder:
            before = len(failures)
            check(name, model, precision, folder)
            print(f"{name}, {precision}: {len(failures) - before} differences", flush=True)
if failures:
    sys.exit("\n".join(failures))
