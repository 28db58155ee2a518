"""Data for the graphs beside this file, and what numpy says of them.

    in_place.py data | accumulate STEPS BATCHES | cache
"""
import sys

import numpy as np

LR = np.float32(0.0625)


def close(name, expected):
    found = np.load(name + ".npy")
    assert found.shape == expected.shape, (name, found.shape, expected.shape)
    error = np.abs(found - expected).max() / np.abs(expected).max()
    assert error < 2e-6, (name, error)


def data():
    random = np.random.RandomState(5)
    np.save("xs.npy", random.standard_normal((6, 8, 16)).astype("f4") / 4)
    np.save("w.npy", random.standard_normal((16, 16)).astype("f4"))
    np.save("ks.npy", random.standard_normal((4, 1, 16)).astype("f4"))
    np.save("qs.npy", random.standard_normal((4, 1, 16)).astype("f4"))
    np.save("turn.npy", random.standard_normal((128, 128)).astype("f4"))
    np.save("masks.npy", np.eye(8, dtype=bool)[[2, 5, 2, 7]][:, :, None])


def accumulate(steps, batches):
    xs, w = np.load("xs.npy").astype("f8"), np.load("w.npy").astype("f8")
    weights, gradients, late = [], [], []
    for step in range(steps):
        gradient = 0
        for batch in range(batches):
            x = xs[step * batches + batch]
            gradient = gradient + x.T @ (x @ w)
        new = w - LR * gradient
        late.append(x @ w @ new)
        w = new
        weights.append(w)
        gradients.append(gradient)
    close("weights", np.stack(weights))
    close("gradients", np.stack(gradients))
    if batches == 1:
        close("late", np.stack(late))


def cache():
    held, scores, before = np.zeros((8, 16), "f4"), [], []
    for k, q, mask in zip(np.load("ks.npy"), np.load("qs.npy"), np.load("masks.npy")):
        before.append(held.sum(1))
        held = np.where(mask, k, held)
        scores.append(q @ held.T)
    close("scores", np.stack(scores))
    close("before", np.stack(before))
    for name in "cache", "cache__new", "other":
        assert (np.load(name + ".npy") == held).all(), name


if __name__ == "__main__":
    globals()[sys.argv[1]](*map(int, sys.argv[2:]))
