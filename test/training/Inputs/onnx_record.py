"""The trace record of ONNX models that are trained (S003): what tracing the training would write.

    onnx_record.py MODEL    writes a model with a normalization, whose running mean is no output
    onnx_record.py -        prints the record that is in a listing
"""
import re
import sys

if sys.argv[1] == "-":
    lines = re.search(r'^  trace = hex "([0-9a-f]*)"', sys.stdin.read(), re.M)
    print(bytes.fromhex(lines.group(1)).decode(), end="")
    sys.exit()

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

float_info = lambda name, *dims: helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
random = np.random.default_rng(1)
values = {
    "w": random.standard_normal((4, 3)),
    "scale": np.ones(3),
    "shift": np.zeros(3),
    "mean": np.zeros(3),
    "variance": np.ones(3),
}
nodes = [
    helper.make_node("MatMul", ["x", "w"], ["h"]),
    helper.make_node(
        "BatchNormalization",
        ["h", "scale", "shift", "mean", "variance"],
        ["n", "mean_new", "variance_new"],
        training_mode=1,
    ),
    helper.make_node("ReduceMean", ["n"], ["loss"], keepdims=0),
]
graph = helper.make_graph(
    nodes,
    "g",
    [float_info("x", 8, 4)],
    [float_info("loss"), float_info("variance_new", 3)],
    [numpy_helper.from_array(value.astype("f4"), name) for name, value in values.items()],
)
opset = [helper.make_opsetid("", 17)]
onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), sys.argv[1])
