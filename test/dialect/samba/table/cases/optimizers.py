"""Optimizers: NumPy in float64, PyTorch's own where it has the form."""
import numpy as np
import torch

from writer import case

torch.manual_seed(29)
w, g = torch.randn(2, 3), torch.randn(2, 3)
s, v = torch.randn(2, 3), torch.rand(2, 3)
W, G, S, V = (t.double().numpy() for t in (w, g, s, v))


def number(value, dtype=torch.float32):
    return torch.tensor(value, dtype=dtype)


def out(*arrays):
    return [torch.from_numpy(np.asarray(a)).float() for a in arrays]


def hyper(*values):
    return [number(value) for value in values]


def exact(value):
    return float(np.float32(value))


case("sgd_update", [w, g, *hyper(0.1, 0.01)], out(W - exact(0.1) * (G + exact(0.01) * W)))
for nesterov in [False, True]:
    for t in [0, 3]:
        reg = exact(0.01) * W + G
        new = exact(0.9) * S + (exact(0.8) if t else 1) * reg
        case(
            "momentum_update",
            [w, g, s, number(0.1), number(t, torch.int64), *hyper(0.9, 0.8, 0.01)],
            out(W - exact(0.1) * ((reg + exact(0.9) * new) if nesterov else new), new),
            nesterov=nesterov,
        )
for t in [0, 5]:
    reg = exact(0.02) * W + G
    squares = V + reg * reg
    case(
        "adagrad_update",
        [w, g, v, torch.tensor([0.1]), number(t, torch.int32), *hyper(0.3, 1e-5, 0.02)],
        out(
            W - exact(0.1) / (1 + t * exact(0.3)) * reg / (np.sqrt(squares) + exact(1e-5)), squares
        ),
    )
for t in [0, 2]:
    a, b, reg = exact(0.9), exact(0.99), exact(0.01) * W + G
    mean, variance = a * S + (1 - a) * reg, b * V + (1 - b) * reg * reg
    rate = exact(0.1) * (np.sqrt(1 - b**t) / (1 - a**t) if t else 1)
    case(
        "adam_update",
        [w, g, s, v, number(0.1), number(t, torch.int64), *hyper(0.9, 0.99, 1e-6, 0.01, 0.02)],
        out(
            (1 - exact(0.02)) * (W - rate * mean / (np.sqrt(variance) + exact(1e-6))),
            mean,
            variance,
        ),
    )

parameter = torch.nn.Parameter(w.clone())
optimizer = torch.optim.AdamW([parameter], lr=0.1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.05)
optimizer.state[parameter] = {
    "step": torch.tensor(3.0),
    "exp_avg": s.clone(),
    "exp_avg_sq": v.clone(),
}
parameter.grad = g.clone()
optimizer.step()
state = optimizer.state[parameter]
case(
    "adamw_update",
    [w, g, s, v, number(0.1), number(4, torch.int64), *hyper(0.05)],
    [parameter.detach(), state["exp_avg"], state["exp_avg_sq"]],
    beta1=0.9,
    beta2=0.99,
    eps=1e-6,
)
# The parameter is of bf16, as its gradient: the new master, rounded.
master = w.clone()
parameter = torch.nn.Parameter(master.clone())
optimizer = torch.optim.AdamW([parameter], lr=0.1, betas=(0.9, 0.99), eps=1e-6, weight_decay=0.05)
optimizer.state[parameter] = {
    "step": torch.tensor(3.0),
    "exp_avg": s.clone(),
    "exp_avg_sq": v.clone(),
}
parameter.grad = g.bfloat16().float()
optimizer.step()
state, new = optimizer.state[parameter], parameter.detach()
case(
    "adamw_master_update",
    [g.bfloat16(), s, v, master, number(0.1), number(4, torch.int64), *hyper(0.05)],
    [new.bfloat16(), state["exp_avg"], state["exp_avg_sq"], new],
    beta1=0.9,
    beta2=0.99,
    eps=1e-6,
)
