"""Gradients of operators from IR to values: the cases of the table's gradients, compiled and run.

operators.py CASES_FOLDER [samba-compile's options]

For each file there the first case of every operator becomes part of one graph. Its operands are
trainable weights, or inputs where they have no gradient; its results are losses, whose gradients
the host writes. The gradients must be those in the file, to 2e-5 (relative L2).
"""
import glob
import os
import subprocess
import sys

import numpy as np

NUMPY = {"f32": "f4", "i64": "i8", "i32": "i4", "i1": "?"}


def read_tensor(text):
    """dtype, array; the text itself when it is none or any."""
    words = text.split()
    if words[0] in ("none", "any"):
        return words[0]
    at = words.index(":")
    dims = [int(word) for word in words[1:at]]
    values = np.array([float(word) for word in words[at + 1 :]]).reshape(dims)
    return words[0], values.astype(NUMPY.get(words[0], "f4"))


def read_cases(path):
    cases = []
    with open(path, encoding="utf-8") as file:
        for line in file:
            word, _, rest = line.rstrip("\n").partition(" ")
            if word == "case":
                cases.append({"name": rest, "attr": [], "in": [], "flow": [], "grad": []})
            elif word == "attr":
                cases[-1][word].append(rest)
            elif word in ("in", "flow", "grad"):
                cases[-1][word].append(read_tensor(rest))
    return cases


def is_wide(case):
    tensors = [t for t in case["in"] + case["flow"] if not isinstance(t, str)]
    return all(dtype in NUMPY for dtype, _ in tensors)


def number(text):
    return f"{float(text)!r}" if "inf" not in text else "0xFFF0000000000000 : f64"


def attribute(text):
    name, kind, *values = text.split(" ")
    value = {
        "i": lambda: values[0],
        "b": lambda: "true" if values[0] == "1" else "false",
        "f": lambda: number(values[0]),
        "s": lambda: '"' + " ".join(values) + '"',
        "t": lambda: values[0],
        "F": lambda: "[" + ", ".join(map(number, values)) + "]",
        "I": lambda: "[" + ", ".join(value for value in values if value) + "]",
    }[kind]()
    return f"{name} = {value}"


def type_of(tensor):
    dtype, values = tensor
    return "tensor<" + "".join(f"{size}x" for size in values.shape) + dtype + ">"


def constant_of(tensor):
    values = tensor[1]
    text = (
        f'"0x{values.tobytes().hex().upper()}"' if values.size > 1 else repr(float(values.flat[0]))
    )
    return f"dense<{text}> : {type_of(tensor)}"


class Graph:
    """The text of one function, the files that it reads and what it must compute."""

    def __init__(self):
        self.arguments, self.body, self.losses, self.given, self.expected = [], [], [], [], {}

    def give(self, name, values):
        np.save(name + ".npy", values)
        self.given += ["--input", f"{name}={name}.npy"]

    def add(self, case, at):
        for i, (tensor, gradient) in enumerate(zip(case["in"], case["grad"])):
            name = f"x{at}_{i}"
            role = '"input"'
            if gradient == "none":
                self.give(name, tensor[1])
            else:
                role = f'"weight", samba.requires_grad = true, samba.value = {constant_of(tensor)}'
            if not isinstance(gradient, str):
                self.expected[name + "__grad"] = (case["name"], gradient[1])
            text = f'{{samba.name = "{name}", samba.kind = {role}}}'
            self.arguments.append(f"%{name}: {type_of(tensor)} {text}")

        for i, flow in enumerate(case["flow"]):
            if isinstance(flow, str):
                continue
            self.give(f"y{at}_{i}__grad", flow[1])
            self.losses.append((f"y{at}_{i}", type_of(flow)))
        results = ", ".join(f"%y{at}_{i}" for i in range(len(case["flow"])))
        operands = ", ".join(f"%x{at}_{i}" for i in range(len(case["in"])))
        attributes = ", ".join(map(attribute, case["attr"]))
        types = ", ".join(map(type_of, case["in"]))
        self.body.append(
            f"  {results} = samba.{case['name']} {operands} {{{attributes}}} : {types}\n"
        )

    def text(self):
        results = ", ".join(
            f'{kind} {{samba.name = "{name}", samba.kind = "loss"}}' for name, kind in self.losses
        )
        names = ", ".join("%" + name for name, _ in self.losses)
        kinds = ", ".join(kind for _, kind in self.losses)
        return (
            "func.func @main(" + ",\n    ".join(self.arguments) + f")\n    -> ({results})\n"
            '    attributes {samba.graph = {mode = "training"}} {\n'
            + "".join(self.body)
            + f"  return {names} : {kinds}\n}}\n"
        )


def run(graph, name, options):
    with open(name + ".mlir", "w", encoding="utf-8") as file:
        file.write(graph.text())
    subprocess.run(["samba-compile", name + ".mlir", "-o", name + ".pef", *options], check=True)
    outputs = [word for key in graph.expected for word in ("--output", f"{key}={key}.npy")]
    command = ["samba-run", name + ".pef", *graph.given, *outputs]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    wrong = []
    for key, (operator, expected) in graph.expected.items():
        difference = np.linalg.norm((np.load(key + ".npy") - expected.astype("f8")).ravel())
        error = difference / max(np.linalg.norm(expected.ravel()), 1e-30)
        if not error <= 2e-5:
            wrong.append(f"{name}: {operator}: {key} has the relative error {error:.3g}")
    return wrong


def main():
    folder, options = sys.argv[1], sys.argv[2:]
    wrong, count = [], 0
    for path in sorted(glob.glob(os.path.join(folder, "*.txt"))):
        first = {}
        for case in filter(is_wide, read_cases(path)):
            first.setdefault(case["name"], case)
        graph = Graph()
        for at, case in enumerate(first.values()):
            graph.add(case, at)
        wrong += run(graph, os.path.basename(path)[:-4], options)
        count += len(first)
    print("\n".join(wrong))
    print(f"{count} operators")
    sys.exit(1 if wrong or count < 100 else 0)


main()
