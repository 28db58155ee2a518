"""roofline.py SOURCE [--targets T,..] [--outside FOLDER...]: no run is faster than the chip could be.

The bound of a model comes from its operators' shapes (onnx's own shape inference) and the table of machine parameters:
multiply-accumulates of Conv, Gemm and MatMul over the chip's peak, and the bytes that must cross the chip's edge (graph
inputs, weights of those operators, graph outputs) over the peak of its DRAM, whichever takes longer. --outside: folders
with model.onnx. Prints one line per model, precision and target: cycles, bound, cycles over bound."""
import argparse
import math
import os
import sys
import tempfile

import onnx
from models import MODELS
from samba import compile, machine, statistics

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("--targets", default="tiny,sn40l,plasticine")
parser.add_argument("--precisions", default="mp0,mp4")
parser.add_argument("--outside", nargs="*")
options = parser.parse_args()


BYTES = {onnx.TensorProto.FLOAT: 4, onnx.TensorProto.FLOAT16: 2, onnx.TensorProto.INT32: 4, onnx.TensorProto.INT64: 8}


def types_of(model):
    graph = model.graph
    values = [(value.name, value.type.tensor_type) for value in [*graph.input, *graph.output, *graph.value_info]]
    types = {name: (kind.elem_type, [dim.dim_value for dim in kind.shape.dim]) for name, kind in values}
    types.update((tensor.name, (tensor.data_type, list(tensor.dims))) for tensor in graph.initializer)
    return types


def work(model, narrow):
    """(multiply-accumulates, bytes that must cross the chip's edge)."""
    types, weights = types_of(model), {tensor.name for tensor in model.graph.initializer}
    macs, crossing = 0, {value.name for value in [*model.graph.input, *model.graph.output]} - weights
    for node in model.graph.node:
        if node.op_type not in ("Conv", "Gemm", "MatMul"):
            continue
        out, left, right = (types[name][1] for name in (node.output[0], *node.input[:2]))
        attributes = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in node.attribute}
        if node.op_type == "Conv":
            depth = math.prod(right[1:])
        else:
            depth = left[-2] if attributes.get("transA") else left[-1]
        macs += math.prod(out) * depth
        crossing.update(weights.intersection(node.input[:2]))
    size = 0
    for element, shape in (types[name] for name in crossing):
        small = narrow and element == onnx.TensorProto.FLOAT
        size += math.prod(shape) * (2 if small else BYTES.get(element, 1))
    return macs, size


def bound(model, target, narrow):
    parameters = machine(options.source, target)
    macs, size = work(model, narrow)
    pcus = (parameters["grid_columns"] * parameters["grid_rows"] + 1) // 2
    array = parameters["systolic_rows"] * parameters["systolic_columns"] / (1 if narrow else parameters["systolic_f32_rate"])
    peak = pcus * max(array, parameters["simd_lanes"] * parameters["simd_stages"])
    memory = "hbm" if parameters["hbm_bytes"] else "ddr"
    rate = parameters[f"{memory}_channels"] * parameters[f"{memory}_channel_mbps"] * 1e6 / parameters["clock_hz"]
    return max(macs / peak, size / rate)


def load(path):
    model = onnx.load(path)
    return onnx.shape_inference.infer_shapes(model, data_prop=True)


models = {name: make() for name, make in MODELS.items()}
models["digits"] = load(f"{options.source}/examples/digits/digits.onnx")
if options.outside is not None:
    models = {os.path.basename(folder): load(f"{folder}/model.onnx") for folder in options.outside}
failures = 0
print(f"{'model':28} {'target':10} {'precision':9} {'cycles':>12} {'bound':>12} {'ratio':>8}")
with tempfile.TemporaryDirectory() as folder:
    for name, model in models.items():
        half = model.graph.input[0].type.tensor_type.elem_type == onnx.TensorProto.FLOAT16
        path = f"{folder}/model.onnx"
        onnx.save(model, path)
        for target in options.targets.split(","):
            for precision in ["mp0"] if half else options.precisions.split(","):
                compile(path, f"{folder}/model.pef", target, f"--precision={precision}")
                cycles = statistics(f"{folder}/model.pef")["cycles"]
                least = bound(model, target, half or precision == "mp4")
                failures += cycles < least
                print(f"{name:28} {target:10} {precision:9} {cycles:12.0f} {least:12.1f} {cycles / least:8.2f}"
                      f"{' BELOW THE BOUND' if cycles < least else ''}", flush=True)
print(f"{failures} below the bound")
sys.exit(failures != 0)
