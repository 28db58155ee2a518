"""Weights in files of their own: inside the model's folder they are read, anything outside is
refused and nothing is written."""
import os
import subprocess
import sys
import tempfile

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

failures = []
WEIGHTS = np.array([1.5, -2, 3, 0.25], np.float32)
SECRET = b"root:x:0:0:root:/root:/bin/bash\n"  # what must never get into a PEF
OUTSIDE = "where the model's data must be; copy the file into that folder"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def model(path, location):
    weight = numpy_helper.from_array(WEIGHTS, "w")
    weight.ClearField("raw_data")
    weight.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", "16")):
        entry = weight.external_data.add()
        entry.key, entry.value = key, value
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "g", values[:1], values[1:], [weight]
    )
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)


def accepted(name, source, folder, *options):
    """Compiles and runs, and compares with numpy."""
    pef = f"{folder}/{name}.pef"
    x = np.arange(4, dtype=np.float32)
    np.save(f"{folder}/x.npy", x)
    done = run("samba-compile", source, "-o", pef, *options)
    if done.returncode == 0:
        done = run(
            "samba-run", pef, "--input", f"x={folder}/x.npy", "--output", f"y={folder}/y.npy"
        )
    if done.returncode or not np.array_equal(np.load(f"{folder}/y.npy"), x + WEIGHTS):
        failures.append(f"{name}: {done.stderr[:400]}")


def refused(name, source, folder, message, *options):
    pef = f"{folder}/{name}.pef"
    done = run("samba-compile", source, "-o", pef, *options)
    if (
        done.returncode != 1
        or message not in done.stderr
        or os.path.exists(pef)
        or os.path.exists(f"{pef}.log")
    ):
        failures.append(f"{name}: exit {done.returncode}, {done.stderr[:400]} instead of {message}")


with tempfile.TemporaryDirectory() as top:
    folder = f"{top}/model"
    os.makedirs(f"{folder}/weights")
    os.makedirs(f"{top}/other")
    WEIGHTS.tofile(f"{folder}/weights/w.bin")
    WEIGHTS.tofile(f"{top}/other/w.bin")
    with open(f"{top}/secret", "wb") as file:
        file.write(SECRET)
    with open(f"{folder}/short.bin", "wb") as file:
        file.write(b"abc")
    os.symlink("weights/w.bin", f"{folder}/inner")
    os.symlink("../secret", f"{folder}/outer")
    os.symlink("..", f"{folder}/up")
    os.symlink(f"{folder}", f"{top}/linked")

    for name, location in (("below", "weights/w.bin"), ("link", "inner")):
        model(f"{folder}/{name}.onnx", location)
        accepted(name, f"{folder}/{name}.onnx", top)
        accepted(f"{name}-by-reference", f"{folder}/{name}.onnx", top, "--external-weights")
    accepted("through-a-linked-folder", f"{top}/linked/below.onnx", top)

    textual = "but a location must be relative to the model's folder and have no '..'"
    for name, location, message in (
        ("parent", "../secret", textual),
        ("hidden-parent", "weights/../../secret", textual),
        ("absolute", "/etc/passwd", textual),
        ("symlink", "outer", OUTSIDE),
        ("folder-symlink", "up/secret", OUTSIDE),
        (
            "short",
            "short.bin",
            "has 3 bytes, but the tensor needs 16 from byte 0 on; the file is cut off",
        ),
        ("folder", "weights", "it is not a regular file"),
    ):
        model(f"{folder}/{name}.onnx", location)
        for option in ([], ["--external-weights"]):
            refused(name, f"{folder}/{name}.onnx", top, message, *option)
        refused(name, f"{folder}/{name}.onnx", top, 'node 0 "" (Add): input 1, "w": ')

    # Samba's own IR names files relative to itself and follows the same rule.
    done = run(
        "samba-translate", "--onnx-to-samba", f"{folder}/below.onnx", "-o", f"{folder}/below.mlir"
    )
    accepted("ir", f"{folder}/below.mlir", top)
    done = run(
        "samba-translate", "--onnx-to-samba", f"{folder}/below.onnx", "-o", f"{top}/above.mlir"
    )
    accepted("ir-above", f"{top}/above.mlir", top)
    done = run(
        "samba-translate",
        "--onnx-to-samba",
        f"{folder}/below.onnx",
        "-o",
        f"{top}/other/beside.mlir",
    )
    refused("ir-beside", f"{top}/other/beside.mlir", top, OUTSIDE)
    with open(f"{top}/above.mlir", encoding="utf-8") as file:
        text = file.read()
    for name, location in (
        ("ir-parent", "../secret"),
        ("ir-absolute", "/etc/passwd"),
        ("ir-symlink", "outer"),
    ):
        with open(f"{folder}/{name}.mlir", "w", encoding="utf-8") as file:
            file.write(text.replace(f"{folder}/weights/w.bin", location))
        for option in ([], ["--external-weights"]):
            refused(name, f"{folder}/{name}.mlir", top, OUTSIDE, *option)

    # The model that the user named may be a link itself.
    initializer = numpy_helper.from_array(WEIGHTS, "w")
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [4]) for name in ("x", "y")]
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])], "g", values[:1], values[1:], [initializer]
    )
    save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8),
        f"{top}/blob",
    )
    os.symlink("../blob", f"{folder}/named.onnx")
    accepted("named", f"{folder}/named.onnx", top)

if failures:
    sys.exit("\n".join(failures))
