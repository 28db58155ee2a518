"""determinism.py SOURCE: a PEF's bytes depend on the model and the flags alone, and nobody's
folders are in it.

Compiles the same model from and into folders of different names, by relative and by absolute paths,
with and without MLIR's threads, as ONNX and (written by samba-translate) as MLIR, whose locations
name files."""
import glob
import os
import shutil
import sys
import tempfile

import onnx
from models import MODELS
from samba import tool

SOURCE = sys.argv[1]
failures = []


def compiled(folder, model, pef, *flags):
    here = os.getcwd()
    os.chdir(folder)
    try:
        tool("samba-compile", model, "-o", pef, *flags)
        with open(pef, "rb") as file:
            return file.read()
    finally:
        os.chdir(here)


def check(name, folders, model, *flags):
    first, second = folders
    reference = compiled(first, model, "a.pef", *flags)
    ways = {
        "again": compiled(first, model, "a.pef", *flags),
        "another folder": compiled(second, model, "other.pef", *flags),
        "absolute paths": compiled("/", f"{second}/{model}", f"{second}/absolute.pef", *flags),
        "one thread": compiled(second, model, "a.pef", "--mlir-disable-threading", *flags),
    }
    for way, found in ways.items():
        if found != reference:
            failures.append(f"{name}: {way}: {len(found)} bytes differ from {len(reference)}")
    for path in (
        first,
        second,
        SOURCE,
        os.path.dirname(SOURCE),
        os.path.expanduser("~") + "/",
        tempfile.gettempdir() + "/",
    ):
        for way, found in ways.items():
            if len(path) > 2 and path.encode() in found:
                failures.append(f"{name}: {way}: the PEF contains {path}")
    left = [
        path
        for folder in folders
        for path in glob.glob(f"{folder}/*")
        if not path.endswith((model, ".pef", ".pef.log"))
    ]
    if left:
        failures.append(f"{name}: left behind: {left}")
    print(f"{name}: {len(reference)} bytes, {len(ways)} ways")


with tempfile.TemporaryDirectory() as folder:
    for name in ("mlp", "convnet", "norms", "digits"):
        onnx_file = f"{folder}/model.onnx"
        if name == "digits":
            shutil.copy(f"{SOURCE}/examples/digits/digits.onnx", onnx_file)
        else:
            onnx.save(MODELS[name](), onnx_file)
        tool(
            "samba-translate",
            "--onnx-to-samba",
            onnx_file,
            "-o",
            f"{folder}/model.mlir",
            "--mlir-print-debuginfo",
        )
        for kind, target, level in (
            ("onnx", "tiny", "-O1"),
            ("onnx", "tiny", "-O3"),
            ("onnx", "sn40l", "-O1"),
            ("mlir", "tiny", "-O1"),
        ):
            folders = [
                f"{folder}/{name}-{kind}-{target}{level}",
                f"{folder}/a/much/longer/{name}-{kind}-{target}{level}",
            ]
            for place in folders:
                os.makedirs(place)
                shutil.copy(f"{folder}/model.{kind}", place)
            # The module refers to the ONNX model's weights, where it was translated.
            data = ["--data-folder", folder] if kind == "mlir" else []
            case = f"{name}.{kind} for {target} {level}"
            check(case, folders, f"model.{kind}", f"--target={target}", level, *data)
if failures:
    sys.exit("\n".join(failures))
