"""check(): compiles and runs one model of a few nodes and compares with what numpy says. Shapes
between the nodes are not declared, those of results on demand."""
import subprocess
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

TYPES = {
    np.dtype(np.float32): TensorProto.FLOAT,
    np.dtype(np.float16): TensorProto.FLOAT16,
    np.dtype(np.bool_): TensorProto.BOOL,
    np.dtype(np.int8): TensorProto.INT8,
    np.dtype(np.uint8): TensorProto.UINT8,
    np.dtype(np.int16): TensorProto.INT16,
    np.dtype(np.int32): TensorProto.INT32,
    np.dtype(np.int64): TensorProto.INT64,
}
failures = []


def compile_model(model, folder):
    """Compiles the model to FOLDER/m.pef; the finished process, with its output."""
    save(model, f"{folder}/m.onnx")
    command = ["samba-compile", f"{folder}/m.onnx", "-o", f"{folder}/m.pef"]
    return subprocess.run(command, capture_output=True, text=True)


def check(
    name, nodes, inputs, expected, known=None, declare=False, opset=18, rtol=0, precision="f32"
):
    """nodes: (operator, inputs, outputs, attributes); expected: arrays of the outputs, by name."""
    with tempfile.TemporaryDirectory() as folder:
        values = [
            helper.make_tensor_value_info(n, TYPES[a.dtype], a.shape) for n, a in inputs.items()
        ]
        results = [
            helper.make_tensor_value_info(n, TYPES[a.dtype], a.shape if declare else None)
            for n, a in expected.items()
        ]
        graph = helper.make_graph(
            [helper.make_node(o, i, y, **a) for o, i, y, a in nodes],
            "g",
            values,
            results,
            [numpy_helper.from_array(np.asarray(v), n) for n, v in (known or {}).items()],
        )
        save(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]),
            f"{folder}/m.onnx",
        )
        commands = [
            [
                "samba-compile",
                f"{folder}/m.onnx",
                "-o",
                f"{folder}/m.pef",
                f"--precision={precision}",
            ],
            ["samba-run", f"{folder}/m.pef"],
        ]
        for n, a in inputs.items():
            np.save(f"{folder}/in_{n}.npy", a)
            commands[1] += ["--input", f"{n}={folder}/in_{n}.npy"]
        for n in expected:
            commands[1] += ["--output", f"{n}={folder}/{n}.npy"]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                failures.append(f"{name}: {done.stderr.splitlines()[0]}")
                return
        for n, reference in expected.items():
            got = np.load(f"{folder}/{n}.npy")
            if (
                got.shape != reference.shape
                or got.dtype != reference.dtype
                or not (
                    np.allclose(got, reference, rtol, 0, equal_nan=True)
                    if got.dtype.kind == "f"
                    else np.array_equal(got, reference)
                )
            ):
                failures.append(
                    f"{name}: {n} is {got.dtype} {got.shape} {got}, expected"
                    f" {reference.shape} {reference}"
                )
