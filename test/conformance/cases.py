"""What the runners of ONNX's operator tests share: which inputs are bound at compile time, where
data lie, what counts as equal."""
import glob
import re

import numpy
import onnx

# Which operands must be known while compiling, by the operators' definitions: they decide shapes.
STATIC_OPERANDS = {
    "CenterCropPad": [1],
    "ConstantOfShape": [0],
    "CumSum": [1],
    "Expand": [1],
    "OneHot": [1],
    "Pad": [1, 3],
    "Range": [0, 1, 2],
    "Reshape": [1],
    "Resize": [1, 2, 3],
    "Slice": [1, 2, 3, 4],
    "Split": [1],
    "Squeeze": [1],
    "Tile": [1],
    "TopK": [1],
    "Trilu": [1],
    "Unsqueeze": [1],
    "Upsample": [1],
    "DFT": [1],
    "BlackmanWindow": [0],
    "HammingWindow": [0],
    "HannWindow": [0],
    "MelWeightMatrix": [0, 1, 2, 3, 4],
    "MaxUnpool": [2],
    "Dropout": [1, 2],
}


def static_operands(node):
    return [1] if node.op_type.startswith("Reduce") else STATIC_OPERANDS.get(node.op_type, [])


def bound_inputs(model, names):
    """Graph inputs that reach a static operand, also through other nodes (the 'expanded' cases are
    whole graphs)."""
    wanted = {}
    for node in reversed(model.graph.node):
        whole = any(output in wanted for output in node.output) and node.op_type not in (
            "Shape",
            "Size",
        )
        positions = range(len(node.input)) if whole else static_operands(node)
        for position in positions:
            if position < len(node.input) and node.input[position]:
                wanted[node.input[position]] = True
    return [name for name in names if name in wanted]


def compare(got, reference):
    if got.shape != reference.shape:
        return f"shape {got.shape}, expected {reference.shape}"
    if got.dtype != reference.dtype:
        return f"dtype {got.dtype}, expected {reference.dtype}"
    if reference.dtype.kind in "biu":
        count = int((got != reference).sum())
        return f"{count} of {got.size} integers differ" if count else None
    got, reference = got.astype(numpy.float64), reference.astype(numpy.float64)
    same = numpy.isclose(got, reference, rtol=1e-3, atol=1e-7, equal_nan=True)
    return None if same.all() else f"{int((~same).sum())} of {same.size} numbers differ"


def files(folder, kind):
    return sorted(
        glob.glob(f"{folder}/{kind}_*.pb"), key=lambda path: int(re.findall(r"\d+", path)[-1])
    )


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.split("#")[0].strip() for line in file if line.split("#")[0].strip()]
