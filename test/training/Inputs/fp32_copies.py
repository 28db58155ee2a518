"""Weights of bf16 with copies in f32 (fp32_params of AdamW), which follow the weights that somebody
else writes: against AdamW's formulas in f64, started from what a copy must be.

    fp32_copies.py data          writes inputs and gradients
    fp32_copies.py written PEF   of regression.mlir: a host that writes weights and copies
    fp32_copies.py saved PEF     of regression.mlir: checkpoints
    fp32_copies.py halved PEF    of halved.mlir: a graph that writes the weight alone"""
import json
import subprocess
import sys

import numpy as np

LR, BETA1, BETA2, EPS = 1e-3, 0.9, 0.997, 1e-8
FED = ["--input", "x=x.npy", "--input", "y=y.npy"]


def bf16(x):
    """The nearest value of bf16, ties to even."""
    bits = np.asarray(x, "f").view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view("f")


def data():
    random = np.random.RandomState(7)
    np.save("x.npy", random.rand(32, 8).astype("f"))
    np.save("y.npy", random.rand(32, 1).astype("f"))
    np.save("g1.npy", bf16(random.randn(1, 8)))
    np.save("g2.npy", bf16(random.randn(1, 8)))


class Adamw:
    """Steps of a weight through its copy."""

    def __init__(self, start):
        self.copy = np.asarray(start, "d")
        self.mean, self.square, self.steps = 0.0, 0.0, 0

    def step(self, gradient):
        gradient = gradient.astype("d")
        self.steps += 1
        self.mean = BETA1 * self.mean + (1 - BETA1) * gradient
        self.square = BETA2 * self.square + (1 - BETA2) * gradient**2
        scale = np.sqrt(self.square / (1 - BETA2**self.steps)) + EPS
        self.copy = self.copy - LR / (1 - BETA1**self.steps) * self.mean / scale

    def write(self, weight):
        """The host, or a graph, writes the weight."""
        self.copy = np.where(bf16(self.copy) == weight, self.copy, weight)


def run(pef, *arguments):
    """The weight and its copy after a run; the weight is the copy, rounded."""
    outputs = ["--output", "w=w.npy", "--output", "w__fp32=copy.npy"]
    subprocess.run(["samba-run", pef, "--values-only", *arguments, *outputs], check=True)
    weight, copy = np.load("w.npy"), np.load("copy.npy")
    assert np.array_equal(weight, bf16(copy)), (weight, copy)
    return weight, copy


def close(what, copy, expected):
    error = np.abs(copy - expected).max()
    assert copy.shape == expected.shape and error < 3e-7, (what, error, copy, expected)


def written(pef):
    first, second = np.load("g1.npy"), np.load("g2.npy")
    one = ["--section-types", "OPT", "--input", "w__grad=g1.npy"]
    one += ["--input", "b__grad=b.npy"]
    two = ["--load", "saved"] + [a.replace("g1", "g2") for a in one]
    np.save("b.npy", np.zeros(1, "f"))

    expected = Adamw(np.full((1, 8), 0.5))
    expected.step(first)
    weight, copy = run(pef, *one, "--save", "saved")
    close("a first step, from a copy of zeros", copy, expected.copy)
    assert np.any(copy != weight)

    start = Adamw(np.full((1, 8), 0.25))
    start.step(first)
    np.save("start.npy", np.full((1, 8), 0.25, "f"))
    close("a first weight", run(pef, *one, "--input", "w=start.npy")[1], start.copy)

    weight[0, 3] = 2.0
    weight[0, 5] = 0.0
    np.save("changed.npy", weight)
    changed = run(pef, *two, "--input", "w=changed.npy")[1]
    expected.write(weight)
    expected.step(second)
    close("two elements of the weight", changed, expected.copy)

    # What rounds to the weight's element is taken, anything else gives way to it.
    given = np.where(np.arange(8) % 2, copy + 0.25, np.nextafter(copy, 2, dtype="f")).astype("f")
    np.save("given.npy", given)
    after = [run(pef, *two, *order)[1] for order in orders("w__fp32=given.npy", "w=changed.npy")]
    assert np.array_equal(*after)
    expected = Adamw(np.full((1, 8), 0.5))
    expected.step(first)
    expected.copy = given.astype("d")
    expected.write(weight)
    expected.step(second)
    close("a copy that is given", after[0], expected.copy)


def orders(first, second):
    return [["--input", a, "--input", b] for a, b in ((first, second), (second, first))]


def saved(pef):
    whole = run(pef, "--steps", "5", *FED)
    run(pef, "--steps", "2", *FED, "--save", "half")
    for way in ("as saved", "backwards"):
        rest = run(pef, "--load", "half", "--steps", "3", *FED)
        assert all(map(np.array_equal, whole, rest)), (way, whole, rest)
        with open("half/checkpoint.json") as file:
            index = json.load(file)
        index["tensors"].reverse()
        with open("half/checkpoint.json", "w") as file:
            json.dump(index, file)


def halved(pef):
    gradient = bf16(np.random.RandomState(4).randn(64))
    np.save("g.npy", gradient)
    command = ["samba-run", pef, "--values-only", "--steps", "3", "--input", "g=g.npy"]
    subprocess.run(command + ["--each-step", "w__fp32=copies.npy"], check=True)

    expected, weight = Adamw(np.zeros(64)), np.full(64, 1.25)
    for step, copy in enumerate(np.load("copies.npy")):
        expected.write(weight)
        expected.step(gradient)
        close("step %d" % step, copy, expected.copy)
        weight = bf16(expected.copy) / 2


if sys.argv[1] == "data":
    data()
else:
    {"written": written, "saved": saved, "halved": halved}[sys.argv[1]](sys.argv[2])
