"""Inputs for train.s, and what it must compute, in NumPy's f64: y = w * x * (1 - p), the gradient
is the sum of x * (1 - p), halved; SGD with momentum.

    train.py data             writes x.npy (one slice), xs.npy (12 slices), and files that do
                              not fit
    train.py check STEPS MICRO_BATCHES SLICES NAME=VALUE..    y.npy, w.npy, g.npy, v.npy of a run
    train.py passes           FWD,BCKWD alone: g.npy adds up, w.npy does not change
    train.py seeds A.npy ..   each file has one seed per pass, all different; prints the first
"""
import sys

import numpy as np

W = np.array([1, 2, 3, 4, 5, 6, 7, 8, -1, -2, -3, -4, -5, -6, -7, 0.5])
SLICES = 12


def data():
    xs = np.random.RandomState(3).rand(SLICES, 16).astype("f")
    np.save("xs.npy", xs)
    np.save("x.npy", xs[0])
    np.save("short.npy", xs[:5])
    np.save("none.npy", xs[:0])
    np.save("wide.npy", xs[:, :8])
    np.save("w0.npy", W.astype("f"))


def close(what, got, want):
    got = np.asarray(got)
    assert got.shape == want.shape and got.dtype == np.float32, (what, got.shape, got.dtype)
    worst = np.abs(got - want).max() / np.abs(want).max()
    assert worst < 1e-6, (what, worst, got, want)


def check(steps, batches, slices, lr=0.1, momentum=0.0, p=0.5):
    xs = np.load("xs.npy").astype("d")[:slices]
    w, v = W.copy(), np.zeros(16)
    ys, ws, gs = [], [], []
    for step in range(steps):
        g = np.zeros(16)
        for k in range(batches):
            x = xs[(step * batches + k) if slices > steps else step if slices > 1 else 0]
            ys.append(w * x * (1 - p))
            g += x * (1 - p)
        g /= 2
        v = momentum * v + g
        w = w - lr * v
        ws.append(w.copy())
        gs.append(g)
    close("y", np.load("y.npy"), np.array(ys))
    close("w", np.load("w.npy"), np.array(ws))
    close("g", np.load("g.npy"), np.array(gs))
    close("v", np.load("v.npy"), v)


def passes():
    close("g", np.load("g.npy"), 0.5 * np.load("xs.npy").astype("d").cumsum(axis=0))
    close("w", np.load("w.npy"), W)


def seeds(*files):
    first = [np.load(f) for f in files]
    for f in first:
        assert f.dtype == np.int64 and (f == f[:, :1]).all() and (f >= 0).all()
        assert len(set(f[:, 0])) == len(f)
    print(" ".join(str(f[0, 0]) for f in first))


if sys.argv[1] == "check":
    settings = dict(pair.split("=") for pair in sys.argv[5:])
    check(*map(int, sys.argv[2:5]), **{name: float(value) for name, value in settings.items()})
else:
    {"data": data, "passes": passes, "seeds": seeds}[sys.argv[1]](*sys.argv[2:])
