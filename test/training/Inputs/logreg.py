"""Runs the steps of logreg.pef; the expected numbers are NumPy's in f64.

logreg.py PEF [tolerance of samba-run]...
"""
import subprocess
import sys

import numpy as np

pef, tolerance = sys.argv[1], sys.argv[2:] or ["--atol=1e-6"]
random = np.random.default_rng(3)
x = random.standard_normal((16, 64)).astype("f4")
y = random.integers(0, 10, 16)
bias = np.arange(10, dtype="f4") / 10
np.save("x.npy", x)
np.save("y.npy", y)


def step(w, b, lr, decay):
    """What one step makes of weight and bias."""
    w, b = w.astype("f8"), b.astype("f8")
    logits = x @ w.T + b
    log_p = logits - logits.max(1, keepdims=True)
    log_p -= np.log(np.exp(log_p).sum(1, keepdims=True))
    hot = np.eye(10)[y]
    d = (np.exp(log_p) - hot) / 16
    dw, db = d.T @ x, d.sum(0)
    return {
        "loss": -(log_p * hot).sum() / 16,
        "w__grad": dw,
        "b__grad": db,
        "w__new": w - lr * (dw + decay * w),
        "b__new": b - lr * (db + decay * b),
    }


def run(values, *arguments):
    """The command line of one run that must give these values."""
    for name, value in values.items():
        np.save(name + ".npy", value.astype("f4"))
    command = ["samba-run", pef, "--input=x=x.npy", "--input=y=y.npy"]
    command += [f"--expect={name}={name}.npy" for name in values]
    subprocess.run(command + list(arguments) + tolerance, check=True, stdout=subprocess.DEVNULL)


# The defaults; another rate; a weight decay whose default is 0.
zeros = np.zeros((10, 64), "f4")
run(step(zeros, bias, 0.05, 0))
run(step(zeros, bias, 0.2, 0), "--set=lr=0.2")
run(step(zeros, bias, 0.05, 0.5), "--set=weight_decay=0.5")
# From other weights, and a gradient that the host scales.
weight = (random.standard_normal((10, 64)) / 8).astype("f4")
np.save("w.npy", weight)
run(step(weight, bias, 0.05, 0), "--input=w=w.npy")
scaled = step(weight, bias, 0.05, 0)
np.save("scale.npy", np.float32(4))
run(
    {"w__grad": 4 * scaled["w__grad"], "b__grad": 4 * scaled["b__grad"]},
    "--input=w=w.npy",
    "--input=loss__grad=scale.npy",
)

# Steps go on from what the one before left in memory.
w, b, losses = zeros, bias, []
for _ in range(20):
    after = step(w, b, 0.2, 0.01)
    w, b = after["w__new"], after["b__new"]
    losses.append(after["loss"])
run(
    {"w": w, "b": b, "loss": after["loss"]},
    "--steps=20",
    "--set=lr=0.2",
    "--set=weight_decay=0.01",
    "--each-step=loss=losses.npy",
)
limit = 2e-2 if len(sys.argv) > 2 else 1e-5
assert np.allclose(np.load("losses.npy").ravel(), losses, rtol=limit), losses
