"""Graphs whose inputs, outputs, weights, constants and casts are DOUBLE, compiled with --f64=f32,
against numpy in f64. Weights are in the file, in typed fields, and in a file of their own."""
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

DOUBLE, INT64 = TensorProto.DOUBLE, TensorProto.INT64
LEAST = -1.7e308  # less than every f32
generator = np.random.default_rng(5)
failures = []

x, counts = generator.standard_normal((3, 4)), generator.integers(0, 3, (3, 5))
w, b = generator.standard_normal((4, 5)), generator.standard_normal(5)
bounds = np.array([LEAST, 2.0, 0.0, 1.0, 1.0])
node = helper.make_node


def model(nodes, weights):
    graph = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("x", DOUBLE, x.shape),
            helper.make_tensor_value_info("counts", INT64, counts.shape),
        ],
        [helper.make_tensor_value_info("y", DOUBLE, None)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def check(name, nodes, expected, weights=(), tensors=0, **storage):
    with tempfile.TemporaryDirectory() as folder:
        path, pef = f"{folder}/m.onnx", f"{folder}/m.pef"
        save(model(nodes, list(weights)), path, **storage)
        done = run("samba-compile", path, "-o", pef)
        if done.returncode != 1 or "DOUBLE" not in done.stderr or "--f64=f32" not in done.stderr:
            failures.append(f"{name}: not refused: {done.stderr}")
        done = run("samba-compile", path, "-o", pef, "--f64=f32")
        remark = f"the model computes in DOUBLE; {tensors} of its tensors become f32 (--f64=f32)"
        if done.returncode or f"remark: {path}: {remark}" not in done.stderr:
            failures.append(f"{name}: {done.stderr}")
            return
        np.save(f"{folder}/x.npy", x.astype(np.float32))
        np.save(f"{folder}/counts.npy", counts)
        inputs = [w for n in ["x", "counts"] for w in ("--input", f"{n}={folder}/{n}.npy")]
        done = run("samba-run", pef, *inputs, "--output", f"y={folder}/y.npy")
        if done.returncode:
            failures.append(f"{name}: {done.stderr}")
            return
        y = np.load(f"{folder}/y.npy")
        if y.dtype != np.float32 or not np.allclose(y, expected, rtol=1e-5, atol=1e-6):
            failures.append(f"{name}: {y} instead of {expected}")


layer = [
    node("MatMul", ["x", "w"], ["a"]),
    node("Add", ["a", "b"], ["c"]),
    node("Cast", ["counts"], ["d"], to=DOUBLE),
    node("Add", ["c", "d"], ["e"]),
    node("Constant", [], ["k"], value=numpy_helper.from_array(bounds)),
    node("Max", ["e", "k"], ["y"]),
]
y = np.maximum(x @ w + b + counts, bounds)
raw = [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")]
typed = [helper.make_tensor(n, DOUBLE, a.shape, a.ravel()) for n, a in [("w", w), ("b", b)]]
check("in the file", layer, y, raw, 6)
check("in typed fields", layer, y, typed, 6)
outside = {"save_as_external_data": True, "location": "m.data", "size_threshold": 0}
check("in a file of their own", layer, y, raw, 6, **outside)

# A finite number stays finite: 0 times an infinity would be NaN.
mask = helper.make_tensor("least", DOUBLE, [2], [LEAST, -LEAST])
nodes = [
    node("Sub", ["x", "x"], ["zero"]),
    node("Gather", ["least", "one"], ["most"]),
    node("Mul", ["zero", "most"], ["p"]),
    node("Add", ["p", "x"], ["y"]),
]
one = numpy_helper.from_array(np.array(1), "one")
check("too large", nodes, x, [mask, one], 3)

# Shape arithmetic stays in doubles (in f32 the last axis would be 3), and types that attributes
# ask for are f32.
nodes = [
    node("Shape", ["x"], ["s"]),
    node("Cast", ["s"], ["sizes"], to=DOUBLE),
    node("Constant", [], ["third"], value=numpy_helper.from_array(np.array([1 / 3, 0.75 - 1e-10]))),
    node("Mul", ["sizes", "third"], ["parts"]),
    node("Cast", ["parts"], ["whole"], to=INT64),
    node("Concat", ["minus", "s"], ["shape"], axis=0),
    node("Reshape", ["x", "shape"], ["r"]),
    node("ReduceSum", ["r", "whole"], ["q"], keepdims=0),
    node("EyeLike", ["x"], ["eye"], dtype=DOUBLE),
    node("CastLike", ["eye", "x"], ["like"]),
    node("Add", ["q", "like"], ["y"]),
]
minus = numpy_helper.from_array(np.array([1]), "minus")
check("constants and attributes", nodes, x.sum() + np.eye(3, 4), [minus], 3)

with tempfile.TemporaryDirectory() as folder:
    save(model(layer, raw), f"{folder}/m.onnx")
    done = run("samba-translate", "--onnx-to-samba", f"{folder}/m.onnx", "--f64=f16")
    if done.returncode != 1 or "--f64 f16: DOUBLE can only become f32" not in done.stderr:
        failures.append(f"--f64=f16: {done.stderr}")
    done = run("samba-translate", "--onnx-to-samba", f"{folder}/m.onnx", "--f64=f32")
    if done.returncode or "f64" in done.stdout or "remark: " not in done.stderr:
        failures.append(f"samba-translate: {done.stderr}")

print("\n".join(failures))
sys.exit(bool(failures))
