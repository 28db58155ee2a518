"""roofline.py SOURCE [--targets T,..] [--outside FOLDER...]: no run is faster than the chip could
be.

The bound of a model: bound.py. --outside: folders with model.onnx. Prints one line per model,
precision and target: cycles, bound, cycles over bound."""
import argparse
import os
import sys
import tempfile

import onnx
from bound import bound
from models import MODELS
from samba import compile, statistics

parser = argparse.ArgumentParser()
parser.add_argument("source")
parser.add_argument("--targets", default="tiny,sn40l,plasticine")
parser.add_argument("--precisions", default="mp0,mp4")
parser.add_argument("--outside", nargs="*")
options = parser.parse_args()


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
                least = bound(options.source, model, target, half or precision == "mp4")
                failures += cycles < least
                print(
                    (
                        f"{name:28} {target:10} {precision:9} {cycles:12.0f} {least:12.1f} "
                        f"{cycles / least:8.2f}"
                        f"{' BELOW THE BOUND' if cycles < least else ''}"
                    ),
                    flush=True,
                )
print(f"{failures} below the bound")
sys.exit(failures != 0)
