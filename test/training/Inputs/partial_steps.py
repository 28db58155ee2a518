"""Parts of a step of regression.mlir: y = x w + b, the mean of the squared errors, SGD with lr 0.25
and momentum 0.5, against the formulas in f64.

    partial_steps.py data         writes x.npy, y.npy and gradients of our own
    partial_steps.py check PEF    runs samba-run"""
import subprocess
import sys

import numpy as np

LR, MOMENTUM = 0.25, 0.5
W, B = np.full((1, 8), 0.5), np.full(1, -1.0)


def data():
    random = np.random.RandomState(5)
    np.save("x.npy", random.rand(32, 8).astype("f"))
    np.save("y.npy", random.rand(32, 1).astype("f"))
    np.save("gw.npy", random.rand(1, 8).astype("f"))
    np.save("gb.npy", random.rand(1).astype("f"))


def gradients():
    x, y = np.load("x.npy").astype("d"), np.load("y.npy").astype("d")
    error = 2 * (x @ W.T + B - y) / y.size
    return error.T @ x, error.sum(axis=0)


def run(pef, *arguments):
    """The parameters and their gradients after a run."""
    command = ["samba-run", pef, "--values-only", *arguments]
    for name in ("w", "b", "w__grad", "b__grad"):
        command += ["--output", "%s=out_%s.npy" % (name, name)]
    subprocess.run(command, check=True)
    return [np.load("out_%s.npy" % name) for name in ("w", "b", "w__grad", "b__grad")]


def close(what, got, want):
    for part, value, wanted in zip(("w", "b", "gradient of w", "gradient of b"), got, want):
        error = np.abs(value - wanted).max() / np.abs(wanted).max()
        assert value.shape == wanted.shape and error < 1e-5, (what, part, value, wanted)


def check(pef):
    fed = ["--input", "x=x.npy", "--input", "y=y.npy"]
    gw, gb = gradients()
    alone = run(pef, *fed, "--section-types", "FWD,BCKWD")
    close("FWD, BCKWD", alone, (W, B, gw, gb))
    close("both twice", run(pef, *fed, "--section-types", "FWD,BCKWD,FWD,BCKWD"), (W, B, gw, gb))
    close("FWD twice", run(pef, *fed, "--section-types", "FWD,FWD,BCKWD"), (W, B, gw, gb))

    once = W - LR * gw, B - LR * gb, gw, gb
    close("a whole step", run(pef, *fed), once)
    close("all types", run(pef, *fed, "--section-types", "FWD,BCKWD,OPT"), once)
    factor = LR * (1 + 1 + MOMENTUM)
    twice = W - factor * gw, B - factor * gb, gw, gb
    close("OPT twice", run(pef, *fed, "--section-types", "FWD,BCKWD,OPT,OPT"), twice)

    given = [np.load(name).astype("d") for name in ("gw.npy", "gb.npy")]
    inputs = ["--input", "w__grad=gw.npy", "--input", "b__grad=gb.npy"]
    wanted = W - LR * given[0], B - LR * given[1], *given
    close("given gradients", run(pef, *inputs, "--section-types", "OPT"), wanted)


if sys.argv[1] == "data":
    data()
else:
    check(sys.argv[2])
