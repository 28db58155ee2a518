"""What is measured: kernels (one operator each, with the same in PyTorch or NumPy) and networks,
made from seeds by the graph builder of test/validation. Nothing here is measured against stored
files."""
import os
import sys

sys.path.insert(
    0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "validation", "Inputs")
)
import onnx  # noqa: E402
from models import Graph, batched, conv, convnet, matmul, mlp, norms  # noqa: E402

OPSET_OF_GELU = 20


# ---- Kernels ----
# A peer takes (library, inputs, weights) and returns a function to time. NumPy has one only where a
# single call of it is the operator. macs: multiply-accumulates, for rates.


def _one(build):
    graph = Graph()
    return graph.finish(build(graph))


def _softmax(rows, columns):
    return _one(lambda g: g.op("Softmax", g.input(rows, columns), axis=-1))


def _layer_norm(rows, columns):
    def build(g):
        x = g.input(rows, columns)
        return g.op(
            "LayerNormalization",
            x,
            g.weight(columns, scale=1),
            g.weight(columns, scale=1),
            axis=-1,
            epsilon=1e-5,
        )

    return _one(build)


def _gelu(rows, columns):
    """By erf, as exporters write it."""

    def build(g):
        x = g.input(rows, columns)
        half, one, root = (_constant(g, value) for value in (0.5, 1.0, 2**0.5))
        return g.op(
            "Mul", g.op("Mul", x, g.op("Add", g.op("Erf", g.op("Div", x, root)), one)), half
        )

    return _one(build)


def _constant(graph, value):
    graph.weights.append(
        onnx.numpy_helper.from_array(onnx.numpy_helper.np.float32(value), f"w{len(graph.weights)}")
    )
    return graph.weights[-1].name


def _attend(graph, query, key, value, head):
    """softmax(query key^T / sqrt(head)) value; key is given transposed."""
    scores = graph.op("Div", graph.op("MatMul", query, key), _constant(graph, head**0.5))
    return graph.op("MatMul", graph.op("Softmax", scores, axis=-1), value)


def _attention(heads, tokens, head):
    def build(g):
        query, key, value = (
            g.input(heads, tokens, head),
            g.input(heads, head, tokens),
            g.input(heads, tokens, head),
        )
        return _attend(g, query, key, value, head)

    return _one(build)


def _torch_attention(head):
    def make(torch, x, w):
        return lambda: torch.matmul(torch.softmax(torch.matmul(x[0], x[1]) / head**0.5, -1), x[2])

    return make


def _torch_conv(**options):
    def make(torch, x, w):
        return lambda: torch.nn.functional.conv2d(x[0], w[0], w[1], **options)

    return make


def _matmul_peer(library, x, w):
    return lambda: library.matmul(x[0], x[1])


class Kernel:
    def __init__(self, model, torch, macs=0, numpy=None, blas=False):
        self.model, self.torch, self.macs, self.numpy = model, torch, macs, numpy
        self.blas = blas  # in f32 PyTorch hands it to its BLAS


def _conv_kernel(channels, size, out, window, groups=1):
    pads = window // 2
    return Kernel(
        lambda: conv(1, channels, size, size, out, window, groups, pads=[pads] * 4),
        _torch_conv(padding=pads, groups=groups),
        size * size * out * channels // groups * window * window,
        blas=window == 1,
    )


KERNELS = {
    f"matmul {n}": Kernel(lambda n=n: matmul(n, n, n), _matmul_peer, n**3, _matmul_peer, True)
    for n in (256, 512, 1024)
}
KERNELS.update(
    {
        "conv2d 3x3 64x56x56": _conv_kernel(64, 56, 64, 3),
        "conv2d 3x3 256x14x14": _conv_kernel(256, 14, 256, 3),
        "conv2d 1x1 256x28x28": _conv_kernel(256, 28, 512, 1),
        "depthwise 3x3 128x56x56": _conv_kernel(128, 56, 128, 3, 128),
        "softmax 1024x1024": Kernel(
            lambda: _softmax(1024, 1024), lambda torch, x, w: lambda: torch.softmax(x[0], -1)
        ),
        "layer_norm 1024x768": Kernel(
            lambda: _layer_norm(1024, 768),
            lambda torch, x, w: lambda: torch.nn.functional.layer_norm(
                x[0], (768,), w[0], w[1], 1e-5
            ),
        ),
        "gelu 1024x3072": Kernel(
            lambda: _gelu(1024, 3072), lambda torch, x, w: lambda: torch.nn.functional.gelu(x[0])
        ),
        "attention 12x256x64": Kernel(
            lambda: _attention(12, 256, 64),
            _torch_attention(64),
            2 * 12 * 256 * 256 * 64,
            blas=True,
        ),
    }
)


# ---- A graph for other compilers, too ----


def tosa_chain(count, growth=0):
    """TOSA in text: `count` operators one after the other on a matrix. Each product makes it wider
    by `growth` columns: then hardly two of them are alike."""
    operators, arguments = [], ["%x: tensor<1x32x16xf32>"]
    kinds = ("matmul", "add", "tanh", "maximum", "sigmoid", "sub")
    value, width = "%x", 16

    for i in range(count):
        kind = kinds[i % len(kinds)]
        inputs, types = [value], [f"tensor<1x32x{width}xf32>"]
        if kind == "matmul":
            types.append(f"tensor<1x{width}x{width + growth}xf32>")
            width += growth
        elif kind in ("add", "maximum", "sub"):
            types.append(types[0])
        if len(types) == 2:
            arguments.append(f"%w{i}: {types[1]}")
            inputs.append(f"%w{i}")
        if kind == "matmul":
            inputs += ["%zero", "%zero"]
            types += ["tensor<1xf32>"] * 2
        result = f"tensor<1x32x{width}xf32>"
        operators.append(
            f"  %{i} = tosa.{kind} {', '.join(inputs)} : ({', '.join(types)}) -> {result}"
        )
        value = f"%{i}"

    return "\n".join(
        [
            f"func.func @forward({', '.join(arguments)}) -> {result} {{",
            '  %zero = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>',
            *operators,
            f"  return {value} : {result}",
            "}",
            "",
        ]
    )


# ---- Networks ----


def resnet(blocks=(3, 4, 6, 3), size=224, width=64, batch=1):
    """Bottleneck blocks as ResNet-50 has them (3, 4, 6, 3), normalizations folded into the
    convolutions."""
    graph = Graph()
    x = graph.op(
        "Relu",
        graph.conv(graph.input(batch, 3, size, size), width, 3, 7, strides=[2, 2], pads=[3] * 4),
    )
    x = graph.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    channels = width
    for stage, count in enumerate(blocks):
        inner = width << stage
        for block in range(count):
            strides = [2, 2] if stage and not block else [1, 1]
            y = graph.op("Relu", graph.conv(x, inner, channels, 1))
            y = graph.op("Relu", graph.conv(y, inner, inner, 3, strides=strides, pads=[1] * 4))
            y = graph.conv(y, 4 * inner, inner, 1)
            if not block:
                x = graph.conv(x, 4 * inner, channels, 1, strides=strides)
            x, channels = graph.op("Relu", graph.op("Add", y, x)), 4 * inner
    return graph.finish(
        graph.linear(graph.op("Flatten", graph.op("GlobalAveragePool", x)), channels, 1000)
    )


def transformer(layers, tokens, width, heads):
    """An encoder: attention and a feed-forward part of four times the width, each after a layer
    norm."""
    graph, head = Graph(), width // heads
    shape = {
        n: (
            graph.weights.append(
                onnx.numpy_helper.from_array(onnx.numpy_helper.np.array(v, "int64"), n)
            )
            or n
        )
        for n, v in {"split": [tokens, heads, head], "joined": [tokens, width]}.items()
    }

    def norm(x):
        return graph.op(
            "LayerNormalization",
            x,
            graph.weight(width, scale=1),
            graph.weight(width, scale=0.1),
            axis=-1,
            epsilon=1e-5,
        )

    def project(x, rows, columns):
        return graph.op(
            "Add",
            graph.op("MatMul", x, graph.weight(rows, columns, scale=rows**-0.5)),
            graph.weight(columns, scale=0.1),
        )

    x = graph.input(tokens, width)
    for _ in range(layers):
        y = norm(x)
        parts = [
            graph.op(
                "Transpose",
                graph.op("Reshape", project(y, width, width), shape["split"]),
                perm=perm,
            )
            for perm in ([1, 0, 2], [1, 2, 0], [1, 0, 2])
        ]
        y = graph.op("Transpose", _attend(graph, *parts, head), perm=[1, 0, 2])
        x = graph.op("Add", x, project(graph.op("Reshape", y, shape["joined"]), width, width))
        y = project(norm(x), width, 4 * width)
        half, one, root = (_constant(graph, value) for value in (0.5, 1.0, 2**0.5))
        y = graph.op(
            "Mul",
            graph.op("Mul", y, graph.op("Add", graph.op("Erf", graph.op("Div", y, root)), one)),
            half,
        )
        x = graph.op("Add", x, project(y, 4 * width, width))
    return graph.finish(x)


def lenet():
    graph = Graph()
    x = graph.op("Relu", graph.conv(graph.input(1, 1, 28, 28), 6, 1, 3, pads=[1] * 4))
    x = graph.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = graph.op(
        "MaxPool", graph.op("Relu", graph.conv(x, 16, 6, 5)), kernel_shape=[2, 2], strides=[2, 2]
    )
    x = graph.op("Flatten", x)
    for rows, columns in ((400, 120), (120, 84)):
        x = graph.op("Relu", graph.linear(x, rows, columns))
    return graph.finish(graph.linear(x, 84, 10))


NETWORKS = {
    "mlp 784-128-10": lambda: mlp(1, 784, 128, 10),
    "lenet": lenet,
    "convnet": convnet,
    "norms": norms,
    "batched matmul": lambda: batched(12, 128, 64, 128),
    "transformer 2 x 64": lambda: transformer(2, 16, 64, 4),
    "transformer 2 x 768": lambda: transformer(2, 128, 768, 12),
    "resnet-50, 64 pixels": lambda: resnet(size=64),
}
# Sections for the cycle engine, from a few units to most of the chip.
STEPPED = {
    "matmul 128": lambda: matmul(128, 128, 128),
    "matmul 512": lambda: matmul(512, 512, 512),
    "matmul 1024": lambda: matmul(1024, 1024, 1024),
}
LARGE = {
    "transformer 12 x 768": lambda: transformer(12, 128, 768, 12),
    "resnet-50, 224 pixels": resnet,
}
