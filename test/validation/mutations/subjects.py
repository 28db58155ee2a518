"""The listings that are changed: compiled models and sections written by hand, their inputs and
what they must compute. The unchanged program is compared with outside references (PyTorch's outputs
that lie beside the models, NumPy) before its own outputs become what changes are compared with, bit
by bit."""
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "Inputs"))
HERE = os.path.dirname(os.path.abspath(__file__))


class Subject:
    """A listing, its PEF, and runs: (input files, expected files) by name."""

    def __init__(self, tools, name, folder, pef, text, integers):
        self.tools, self.name, self.folder, self.pef = tools, name, folder, pef
        self.integers, self.lines = integers, text.split("\n")
        self.given, self.outputs, self.random, self.runs = {}, [], None, []

    def prepare(self, given, outputs, seed):
        self.given, self.outputs = given, outputs
        self.random = np.random.default_rng(seed)

    def run(self, number):
        """Inputs and outputs number so and so. What one input hides another shows: so the values
        of later runs are mostly zeros, then few bits, then values of very different sizes."""
        while len(self.runs) <= number:
            self.runs.append(self._make(len(self.runs)))
        return self.runs[number]

    def _make(self, number):
        files, expected, command = {}, {}, [self.pef, "--values-only"]
        for name, array in self.given.items():
            files[name] = os.path.join(self.folder, f"in{number}.{name}.npy")
            exact = name in self.integers  # what picks addresses stays: meaning.py knows it
            np.save(files[name], array if exact else _like(array, self.random, number))
            command += ["--input", f"{name}={files[name]}"]
        for name in self.outputs:
            expected[name] = os.path.join(self.folder, f"out{number}.{name}.npy")
            command += ["--output", f"{name}={expected[name]}"]
        tool(self.tools, "samba-run", *command, folder=self.folder)
        return files, expected


def tool(tools, name, *arguments, folder):
    done = subprocess.run(
        [os.path.join(tools, name), *arguments], cwd=folder, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"error: {name} {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def _like(array, random, number):
    """Random values of the same type and shape."""
    shape, way = array.shape, number % 4
    if array.dtype.kind == "f":
        values = random.standard_normal(shape)
        if way == 1:
            values *= random.random(shape) < 0.05
        elif way == 2:
            values = values * 2.0 ** random.integers(-8, 9, shape)
        elif way == 3:
            values = abs(values)
        return values.astype(array.dtype)
    values = random.integers(-(2**20), 2**20, shape)
    if way == 1:
        values *= random.random(shape) < 0.05
    elif way == 2:
        values = 1 << random.integers(0, 21, shape)
    elif way == 3:
        values = np.sort(values.ravel()).reshape(shape)
    return values.astype(array.dtype)


def _compiled(tools, folder, name, path, given, references, seed):
    """A model of a file with inputs and references from outside."""
    folder = os.path.join(folder, name)
    os.mkdir(folder)
    tool(tools, "samba-compile", path, "-o", "base.pef", folder=folder)
    text = tool(tools, "samba-objdump", "base.pef", folder=folder)
    pef = os.path.join(folder, "base.pef")
    integers = {key: array for key, array in given.items() if array.dtype.kind == "i"}
    subject = Subject(tools, name, folder, pef, text, integers if "has_index=yes" in text else {})
    command = [pef, "--values-only"]
    for key, array in given.items():
        np.save(os.path.join(folder, f"{key}.npy"), array)
        command += ["--input", f"{key}={folder}/{key}.npy"]
    for key, file in references.items():
        command += ["--expect", f"{key}={file}"]
    tool(tools, "samba-run", *command, folder=folder)
    subject.prepare(given, list(references), seed)
    return subject


def _model(tools, folder, name, place, seed, inputs=None, outputs=None):
    import onnx

    graph = onnx.load(os.path.join(place, "model.onnx")).graph
    weights = {tensor.name for tensor in graph.initializer}
    names = [value.name for value in graph.input if value.name not in weights]
    given = {
        value: np.load(inputs[i] if inputs else os.path.join(place, f"input_{i}.npy"))
        for i, value in enumerate(names)
    }
    references = {
        value.name: outputs[i] if outputs else os.path.join(place, f"output_{i}.npy")
        for i, value in enumerate(graph.output)
    }
    return _compiled(
        tools, folder, name, os.path.join(place, "model.onnx"), given, references, seed
    )


def digits(tools, source, folder, seed):
    import onnx

    place = os.path.join(source, "examples", "digits")
    graph = onnx.load(os.path.join(place, "digits.onnx")).graph
    given = {graph.input[0].name: np.load(os.path.join(place, "images.npy"))}
    references = {graph.output[0].name: os.path.join(place, "outputs.npy")}
    return _compiled(
        tools, folder, "digits", os.path.join(place, "digits.onnx"), given, references, seed
    )


def _outside(name, file):
    def make(tools, source, folder, seed):
        inputs = os.environ.get("SAMBA_INPUTS") or os.path.join(source, "..", "shared", "inputs")
        place = os.path.join(inputs, "torch", file)
        return _model(tools, folder, name, place, seed) if os.path.isdir(place) else None

    return make


def made(name):
    """A model of test/models/made, whose outputs PyTorch or NumPy computed."""

    def make(tools, source, folder, seed):
        maker = os.path.join(source, "test", "models", "made", "make-models")
        place = os.path.join(folder, "made")
        subprocess.run([sys.executable, maker, place, name], check=True, capture_output=True)
        return _model(tools, folder, f"made_{name}", os.path.join(place, name), seed)

    return make


# ---- Written by hand ----


def _by_hand(name, path, given, compute, integers=()):
    """A listing with what NumPy says that it computes."""

    def make(tools, source, folder, seed):
        folder = os.path.join(folder, name)
        os.mkdir(folder)
        tool(tools, "samba-objdump", "--assemble", path, "-o", "base.pef", folder=folder)
        with open(path, encoding="utf-8") as text:
            written = text.read().rstrip("\n")
        arrays = given(np.random.default_rng(seed))
        chosen = {key: arrays[key] for key in integers}
        subject = Subject(tools, name, folder, os.path.join(folder, "base.pef"), written, chosen)
        expected, command = compute(**arrays), [subject.pef, "--values-only"]
        for key, array in arrays.items():
            np.save(os.path.join(folder, f"{key}.npy"), array)
            command += ["--input", f"{key}={folder}/{key}.npy"]
        for key, array in expected.items():
            np.save(os.path.join(folder, f"{key}.reference.npy"), array)
            command += ["--expect", f"{key}={folder}/{key}.reference.npy"]
        tool(tools, "samba-run", *command, folder=folder)
        subject.prepare(arrays, list(expected), seed)
        return subject

    return make


def _picked(table, rows):
    chosen = table.reshape(9, 20)[rows]
    first, rest = chosen[:, :16], chosen[:, 16:]
    second = np.concatenate([rest, np.ones((12, 12), np.float32)], axis=1)
    sums = np.empty((12, 2), np.float32)
    sums[:, 0] = (first * first).sum(1)
    sums[:, 1] = np.exp(second.max(1))
    return {"sums": sums.reshape(24)}


SUBJECTS = {
    "gather": _by_hand(
        "gather",
        os.path.join(HERE, "gather.s"),
        lambda random: {
            "table": random.standard_normal(180).astype("f4"),
            "rows": random.integers(0, 9, 12).astype("i4"),
        },
        _picked,
        integers=("rows",),
    ),
    "product": _by_hand(
        "product",
        os.path.join(HERE, "product.s"),
        lambda random: {
            "a": random.standard_normal((32, 64)).astype("f4"),
            "b": random.standard_normal((64, 48)).astype("f4"),
            "d": random.standard_normal((32, 48)).astype("f4"),
        },
        lambda a, b, d: {"c": d + a @ b},
    ),
    "carry": _by_hand(
        "carry",
        os.path.join(HERE, "carry.s"),
        lambda random: {
            "a": random.standard_normal((16, 64)).astype("f4"),
            "b": random.standard_normal((64, 48)).astype("f4"),
        },
        lambda a, b: {"c": np.stack(np.split(a @ b, 3, axis=1))},
    ),
    "digits": digits,
    "lenet5": _outside("lenet5", "lenet5"),
    "gpt2_d128": _outside("gpt2_d128", "gpt2_d128_2l_s64"),
    "mlp": made("mlp"),
    "norms": made("norms"),
}


def prepare(tools, source, folder, names, seed):
    for name in names or []:
        if name not in SUBJECTS:
            sys.exit(f"error: there is no listing '{name}': {', '.join(SUBJECTS)}")
    found = []
    for name in names or SUBJECTS:
        subject = SUBJECTS[name](os.path.abspath(tools), source, folder, seed)
        if subject is None:
            print(f"skipped: {name}: its model is not there (SAMBA_INPUTS)", file=sys.stderr)
        else:
            found.append(subject)
    return found
