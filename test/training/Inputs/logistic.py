"""Trains logistic.mlir and compares with the optimizers' formulas in f64; where PyTorch is
installed, the formulas are compared with its optimizers first.

logistic.py MODEL.mlir KIND STEPS KEY=NUMBER,...
"""
import subprocess
import sys

import numpy as np

try:
    import torch
except ImportError:
    torch = None

model, kind, steps = sys.argv[1], sys.argv[2], int(sys.argv[3])
settings = {key: float(value) for key, value in (s.split("=") for s in sys.argv[4].split(","))}
random = np.random.default_rng(4)
xs = random.random((steps, 16, 784), "f4")
ys = random.integers(0, 10, (steps, 16))
start = {
    "fc.weight": random.uniform(-1, 1, (10, 784)).astype("f4") / 28,
    "fc.bias": random.uniform(-1, 1, 10).astype("f4") / 28,
}


def gradients(parameters, x, y):
    """(loss, gradients) of the mean cross entropy."""
    logits = x @ parameters["fc.weight"].T + parameters["fc.bias"]
    log_p = logits - logits.max(1, keepdims=True)
    log_p -= np.log(np.exp(log_p).sum(1, keepdims=True))
    hot = np.eye(10)[y]
    d = (np.exp(log_p) - hot) / len(y)
    return -(log_p * hot).sum() / len(y), {"fc.weight": d.T @ x, "fc.bias": d.sum(0)}


def train():
    """(losses, parameters) after all steps."""
    p = {name: array.astype("f8") for name, array in start.items()}
    states = {name: [np.zeros_like(array), np.zeros_like(array)] for name, array in p.items()}
    lr, decay, losses = settings["lr"], settings["weight_decay"], []
    for step, (x, y) in enumerate(zip(xs.astype("f8"), ys), 1):
        loss, grads = gradients(p, x, y)
        losses.append(loss)
        for name, g in grads.items():
            if kind == "sgd":
                g = g + decay * p[name]
                states[name][0] = settings["momentum"] * states[name][0] + g
                p[name] = p[name] - lr * states[name][0]
            else:
                betas = settings["beta1"], settings["beta2"]
                p[name] = p[name] * (1 - lr * decay)
                for k, beta in enumerate(betas):
                    states[name][k] = beta * states[name][k] + (1 - beta) * g ** (k + 1)
                m, v = (states[name][k] / (1 - beta**step) for k, beta in enumerate(betas))
                p[name] = p[name] - lr * m / (np.sqrt(v) + settings["eps"])
    return np.array(losses), p


def train_by_torch():
    p = {
        name: torch.tensor(array.astype("f8"), requires_grad=True) for name, array in start.items()
    }
    rest = {"lr": settings["lr"], "weight_decay": settings["weight_decay"]}
    if kind == "sgd":
        optimizer = torch.optim.SGD(p.values(), momentum=settings["momentum"], **rest)
    else:
        betas = settings["beta1"], settings["beta2"]
        optimizer = torch.optim.AdamW(p.values(), betas=betas, eps=settings["eps"], **rest)
    for x, y in zip(xs.astype("f8"), ys):
        optimizer.zero_grad()
        logits = torch.nn.functional.linear(torch.tensor(x), *p.values())
        torch.nn.functional.cross_entropy(logits, torch.tensor(y)).backward()
        optimizer.step()
    return {name: value.detach().numpy() for name, value in p.items()}


losses, expected = train()
if torch:
    for name, value in train_by_torch().items():
        assert np.allclose(value, expected[name], rtol=1e-12, atol=1e-14), name

arguments = f"{kind},{sys.argv[4]}"
compile_command = ["samba-compile", model, "-o", "l.pef", "--training", "--loss", "loss"]
subprocess.run(compile_command + ["--optimizer", arguments], check=True)
command = [
    "samba-run",
    "l.pef",
    "--values-only",
    "--steps",
    str(steps),
    "--each-step",
    "loss=l.npy",
]
for name, array in {"x": xs, "y": ys, **start}.items():
    np.save(f"{name}.npy", array)
    command += ["--input", f"{name}={name}.npy"]
for name in start:
    command += ["--output", f"{name}={name}.out.npy"]
subprocess.run(command, check=True)

relative = np.abs(np.load("l.npy") - losses) / losses
assert relative.max() <= 1e-5, relative
for name, value in expected.items():
    update = value - start[name]
    # The last bit of a parameter is the least that its update can be off.
    least = np.linalg.norm(np.spacing(np.abs(start[name]))) * np.sqrt(steps)
    off = np.linalg.norm(np.load(f"{name}.out.npy") - value)
    assert off <= max(1e-5 * np.linalg.norm(update), least), (name, off, np.linalg.norm(update))
