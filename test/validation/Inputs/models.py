"""Small ONNX models with seeded weights, made while the tests run. MODELS maps a name to a function
that returns one."""
import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

FLOAT = TensorProto.FLOAT


class Graph:
    """Collects nodes and weights; each method returns the name of its result."""

    def __init__(self, seed=1):
        self.nodes, self.weights, self.inputs = [], [], []
        self.random = numpy.random.RandomState(seed)

    def input(self, *shape, dtype=FLOAT):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def weight(self, *shape, scale=None):
        scale = scale or 1 / max(1, int(numpy.prod(shape[1:]))) ** 0.5
        array = (self.random.randn(*shape) * scale).astype(numpy.float32)
        self.weights.append(numpy_helper.from_array(array, f"w{len(self.weights)}"))
        return self.weights[-1].name

    def op(self, kind, *operands, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(
            helper.make_node(kind, operands, [name], name=f"{kind}_{len(self.nodes)}", **attributes)
        )
        return name

    def linear(self, x, columns, rows):
        return self.op(
            "Gemm", x, self.weight(rows, columns), self.weight(rows, scale=0.1), transB=1
        )

    def conv(self, x, out, channels, size, bias=True, **attributes):
        weights = [self.weight(out, channels, size, size)] + (
            [self.weight(out, scale=0.1)] if bias else []
        )
        return self.op("Conv", x, *weights, kernel_shape=[size, size], **attributes)

    def finish(self, result, dtype=FLOAT):
        self.nodes[-1].output[0] = "y"
        assert result == f"v{len(self.nodes) - 1}"
        body = helper.make_graph(
            self.nodes,
            "graph",
            self.inputs,
            [helper.make_tensor_value_info("y", dtype, None)],
            self.weights,
        )
        model = helper.make_model(
            body,
            opset_imports=[helper.make_opsetid("", 17)],
            ir_version=8,
            producer_name="samba tests",
        )
        return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def matmul(m, k, n, dtype=FLOAT):
    graph = Graph()
    return graph.finish(
        graph.op("MatMul", graph.input(m, k, dtype=dtype), graph.input(k, n, dtype=dtype)), dtype
    )


def batched(batch, m, k, n):
    graph = Graph()
    return graph.finish(graph.op("MatMul", graph.input(batch, m, k), graph.input(batch, k, n)))


def conv(batch, channels, height, width, out, size, groups=1, **attributes):
    graph = Graph()
    return graph.finish(
        graph.conv(
            graph.input(batch, channels, height, width),
            out,
            channels // groups,
            size,
            group=groups,
            **attributes,
        )
    )


def mlp(batch=32, *widths):
    graph, widths = Graph(), widths or (96, 160, 64, 10)
    x = graph.input(batch, widths[0])
    for i in range(1, len(widths)):
        x = graph.linear(x, widths[i - 1], widths[i])
        if i + 1 < len(widths):
            x = graph.op("Relu", x)
    return graph.finish(x)


def convnet():
    graph = Graph()
    x = graph.input(2, 3, 20, 20)
    x = graph.op("Relu", graph.conv(x, 8, 3, 3, pads=[1, 1, 1, 1]))
    x = graph.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    y = graph.op("Relu", graph.conv(x, 8, 8, 3, pads=[1, 1, 1, 1]))
    x = graph.op("Add", graph.conv(y, 8, 1, 3, pads=[1, 1, 1, 1], group=8), x)
    x = graph.op("Relu", graph.conv(x, 16, 8, 3, strides=[2, 2]))
    x = graph.op("Flatten", graph.op("GlobalAveragePool", x))
    return graph.finish(graph.linear(x, 16, 10))


def norms():
    """What is between the contractions of a transformer: layer norm, linear, gelu by erf's
    neighbours, softmax."""
    graph = Graph()
    x = graph.input(24, 48)
    y = graph.op(
        "LayerNormalization",
        x,
        graph.weight(48, scale=1),
        graph.weight(48, scale=1),
        axis=-1,
        epsilon=1e-5,
    )
    y = graph.op("Tanh", graph.op("Sigmoid", graph.op("Erf", graph.linear(y, 48, 40))))
    y = graph.op("Softmax", y, axis=-1)
    return graph.finish(graph.op("Softmax", graph.op("Add", x, graph.linear(y, 40, 48)), axis=0))


HALF = TensorProto.FLOAT16
MODELS = {
    "mlp": mlp,
    "convnet": convnet,
    "norms": norms,
    "matmul 16x16x16": lambda: matmul(16, 16, 16),
    "matmul 100x70x30": lambda: matmul(100, 70, 30),
    "matmul 64x64x64": lambda: matmul(64, 64, 64),
    "matmul 1x1024x512": lambda: matmul(1, 1024, 512),
    "matmul 256x256x256": lambda: matmul(256, 256, 256),
    "matmul 256x256x256 f16": lambda: matmul(256, 256, 256, HALF),
    "matmul 512x16x512": lambda: matmul(512, 16, 512),
    "matmul 16x2048x16": lambda: matmul(16, 2048, 16),
    "matmul 6 of 40x64x48": lambda: batched(6, 40, 64, 48),
    "conv 3x3": lambda: conv(1, 16, 28, 28, 32, 3, pads=[1, 1, 1, 1]),
    "conv 1x1": lambda: conv(2, 32, 16, 16, 64, 1),
    "conv 5x5 stride 2": lambda: conv(4, 3, 33, 33, 16, 5, strides=[2, 2], bias=False),
    "conv 3x3 in 4 groups": lambda: conv(1, 32, 14, 14, 32, 3, groups=4, pads=[1, 1, 1, 1]),
    "conv 3x3 depthwise": lambda: conv(1, 32, 14, 14, 32, 3, groups=32),
    "mlp 64x784x256x10": lambda: mlp(64, 784, 256, 10),
}
