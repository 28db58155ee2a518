"""Models that are measured, with their inputs: made from seeds (networks.py), from the examples, or
from the folder of outside models that SAMBA_INPUTS names."""
import os

from networks import matmul, resnet, transformer

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.dirname(os.path.dirname(HERE))


def inputs():
    return os.environ.get("SAMBA_INPUTS") or os.path.join(SOURCE, "..", "shared", "inputs")


def made(build):
    """A model of test/benchmark/networks.py: path and --input arguments."""

    def place(folder, name):
        import numpy
        import onnx

        path = os.path.join(folder, f"{name}.onnx")
        model = build()
        onnx.save(model, path)
        given, random = [], numpy.random.RandomState(2)
        for value in model.graph.input:
            shape = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
            numpy.save(f"{path}.{value.name}.npy", random.randn(*shape).astype(numpy.float32))
            given += ["--input", f"{value.name}={path}.{value.name}.npy"]
        return path, given

    return place


def stored(path, *files):
    """A model of a file with its inputs; None where it is not there."""

    def place(folder, name):
        import onnx

        if not os.path.exists(path):
            return None
        graph = onnx.load(path).graph
        weights = {tensor.name for tensor in graph.initializer}
        names = [value.name for value in graph.input if value.name not in weights]
        given = []
        for i, value in enumerate(names):
            file = files[i] if files else os.path.join(os.path.dirname(path), f"input_{i}.npy")
            given += ["--input", f"{value}={file}"]
        return path, given

    return place


class Model:
    def __init__(self, place, peak=None, roofline=None, most=None, ratio=None, values=True):
        self.place, self.peak, self.roofline, self.most = place, peak, roofline, most
        self.ratio, self.values = ratio, values


def models():
    digits, torch = os.path.join(SOURCE, "examples", "digits"), os.path.join(inputs(), "torch")
    return {
        "matmul 4096": Model(made(lambda: matmul(4096, 4096, 4096)), peak=0.80, values=False),
        "matmul 1024": Model(made(lambda: matmul(1024, 1024, 1024)), roofline=0.45),
        "resnet-50 batch 64": Model(made(lambda: resnet(batch=64)), most=6.5e6, values=False),
        "digits": Model(
            stored(os.path.join(digits, "digits.onnx"), os.path.join(digits, "images.npy")),
            ratio=1.3,
        ),
        "lenet5": Model(stored(os.path.join(torch, "lenet5", "model.onnx")), ratio=1.3),
        "gpt2_d128": Model(
            stored(os.path.join(torch, "gpt2_d128_2l_s64", "model.onnx")), ratio=1.3
        ),
        "resnet-50 64 pixels": Model(made(lambda: resnet(size=64))),
        "transformer 2 x 768": Model(made(lambda: transformer(2, 128, 768, 12))),
    }
