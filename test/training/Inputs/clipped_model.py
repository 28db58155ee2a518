"""Writes a model whose initializer k is only a bound of Clip: loss = mean(clip(x w, -1, k) * s)."""
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

values = {"w": np.ones((4, 3)), "low": np.float32(-1), "k": np.float32(2), "s": np.float32(3)}
nodes = [
    helper.make_node("MatMul", ["x", "w"], ["h"]),
    helper.make_node("Clip", ["h", "low", "k"], ["c"]),
    helper.make_node("Mul", ["c", "s"], ["m"]),
    helper.make_node("ReduceMean", ["m"], ["loss"], keepdims=0),
]
graph = helper.make_graph(
    nodes,
    "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, (8, 4))],
    [helper.make_tensor_value_info("loss", TensorProto.FLOAT, ())],
    [numpy_helper.from_array(np.asarray(value, "f4"), name) for name, value in values.items()],
)
opset = [helper.make_opsetid("", 13)]
onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), sys.argv[1])
