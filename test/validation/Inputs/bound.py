"""The least cycles a model can take, from its operators' shapes (onnx's own shape inference) and
the table of machine parameters: multiply-accumulates of Conv, Gemm and MatMul over the chip's peak,
and the bytes that must cross the chip's edge (graph inputs, weights of those operators, graph
outputs) over the peak of its DRAM, whichever takes longer."""
import math

import onnx
from samba import machine

BYTES = {
    onnx.TensorProto.FLOAT: 4,
    onnx.TensorProto.FLOAT16: 2,
    onnx.TensorProto.INT32: 4,
    onnx.TensorProto.INT64: 8,
}


def types_of(model):
    graph = model.graph
    values = [
        (value.name, value.type.tensor_type)
        for value in [*graph.input, *graph.output, *graph.value_info]
    ]
    types = {
        name: (kind.elem_type, [dim.dim_value for dim in kind.shape.dim]) for name, kind in values
    }
    types.update(
        (tensor.name, (tensor.data_type, list(tensor.dims))) for tensor in graph.initializer
    )
    return types


def work(model, narrow):
    """(multiply-accumulates, bytes that must cross the chip's edge)."""
    types, weights = types_of(model), {tensor.name for tensor in model.graph.initializer}
    macs, crossing = (
        0,
        {value.name for value in [*model.graph.input, *model.graph.output]} - weights,
    )
    for node in model.graph.node:
        if node.op_type not in ("Conv", "Gemm", "MatMul"):
            continue
        out, left, right = (types[name][1] for name in (node.output[0], *node.input[:2]))
        attributes = {
            attribute.name: onnx.helper.get_attribute_value(attribute)
            for attribute in node.attribute
        }
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


def bound(source, model, target, narrow):
    """Cycles below which no run of the model can be on the target; narrow: f32 computes as bf16."""
    parameters = machine(source, target)
    macs, size = work(model, narrow)
    pcus = (parameters["grid_columns"] * parameters["grid_rows"] + 1) // 2
    array = (
        parameters["systolic_rows"]
        * parameters["systolic_columns"]
        / (1 if narrow else parameters["systolic_f32_rate"])
    )
    peak = pcus * max(array, parameters["simd_lanes"] * parameters["simd_stages"])
    memory = "hbm" if parameters["hbm_bytes"] else "ddr"
    rate = (
        parameters[f"{memory}_channels"]
        * parameters[f"{memory}_channel_mbps"]
        * 1e6
        / parameters["clock_hz"]
    )
    return max(macs / peak, size / rate)
