"""Gradients of recurrent layers and their cells: ONNX's equations, written in torch."""
import torch
import torch.nn.functional as F

from gradient_writer import gradients

torch.manual_seed(38)
functions = {
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "relu": torch.relu,
    "softplus": F.softplus,
    "softsign": F.softsign,
    "leaky_relu(0.1)": lambda x: F.leaky_relu(x, 0.1),
    "elu(0.7)": lambda x: F.elu(x, 0.7),
    "hardsigmoid": lambda x: torch.clamp(0.2 * x + 0.5, 0, 1),
    "thresholded_relu(0.2)": lambda x: torch.where(x >= 0.2, x, x * 0),
    "affine(0.5, 0.1)": lambda x: 0.5 * x + 0.1,
    "scaled_tanh(1.5, 0.5)": lambda x: 1.5 * torch.tanh(0.5 * x),
}
gates = {"rnn": 1, "gru": 3, "lstm": 4}
usual = {"rnn": ["tanh"], "gru": ["sigmoid", "tanh"], "lstm": ["sigmoid", "tanh", "tanh"]}


def r(*shape):
    return torch.randn(shape)


def cell(kind, x, states, w, f, clip=0, bias=None, p=None, coupled=False, late=False):
    """x: [B, gates H], the input's part of the gates."""
    f = [functions[name] for name in f]
    c = (lambda v: torch.clamp(v, -clip, clip)) if clip else (lambda v: v)
    h = states[0]
    if kind == "rnn":
        return [f[0](c(x + h @ w.T))]
    if kind == "gru":
        (xz, xr, xn), (wz, wr, wn) = x.chunk(3, 1), w.chunk(3, 0)
        z, reset = f[0](c(xz + h @ wz.T)), f[0](c(xr + h @ wr.T))
        if late:
            product = h @ wn.T
            n = reset * (product if bias is None else product + bias)
        else:
            n = (reset * h) @ wn.T
        n = f[1](c(xn + n))
        return [(1 - z) * n + z * h]
    i, o, forget, g = (x + h @ w.T).chunk(4, 1)
    pi, po, pf = (0, 0, 0) if p is None else p.chunk(3)
    i = f[0](c(i + pi * states[1]))
    forget = 1 - i if coupled else f[0](c(forget + pf * states[1]))
    new = forget * states[1] + i * f[1](c(g))
    return [f[0](c(o + po * new)) * f[2](c(new)), new]


def cell_case(kind, activations=None, clip=0.0, bias=False, peep=False, active=False, **flags):
    batch, hidden = 3, 2
    f = activations or usual[kind]
    states = 2 if kind == "lstm" else 1
    operands = [r(1, batch, gates[kind] * hidden)] + [r(1, batch, hidden) for _ in range(states)]
    operands.append(r(1, gates[kind] * hidden, hidden))
    operands += [r(1, hidden)] if bias else []
    operands += [r(1, 3 * hidden)] if peep else []
    operands += [torch.tensor([[[True], [False], [True]]])] if active else []

    def function(x, *rest):
        rest = list(rest)
        old = [rest.pop(0)[0] for _ in range(states)]
        w = rest.pop(0)[0]
        b = rest.pop(0)[0] if bias else None
        p = rest.pop(0)[0] if peep else None
        new = cell(
            kind,
            x[0],
            old,
            w,
            f,
            clip,
            b,
            p,
            flags.get("input_forget", False),
            flags.get("linear_before_reset", False),
        )
        if active:
            new = [torch.where(rest[0][0], a, b) for a, b in zip(new, old)]
        return [s[None] for s in new]

    given = {k: True for k, v in [("bias", bias), ("peepholes", peep), ("active", active)] if v}
    if activations:
        given["activations"] = ", ".join(activations)
    if clip:
        given["clip"] = clip
    gradients(kind + "_cell", function, operands, **given, **flags)


cell_case("lstm")
cell_case("lstm", peep=True, active=True)
cell_case("lstm", input_forget=True, clip=0.75)
cell_case("lstm", ["hardsigmoid", "softsign", "affine(0.5, 0.1)"], peep=True)
cell_case("lstm", ["sigmoid", "scaled_tanh(1.5, 0.5)", "softplus"])
cell_case("gru")
cell_case("gru", active=True, clip=0.75)
cell_case("gru", linear_before_reset=True)
cell_case("gru", bias=True, linear_before_reset=True, active=True)
cell_case("gru", ["softsign", "elu(0.7)"])
cell_case("rnn")
cell_case("rnn", ["relu"], active=True)
for name in ["leaky_relu(0.1)", "thresholded_relu(0.2)", "softplus"]:
    cell_case("rnn", [name], clip=0.875)


def layer_case(
    kind,
    bias=False,
    lengths=None,
    initial=False,
    peep=False,
    direction="forward",
    batch_first=False,
    activations=None,
    steps=3,
    **flags,
):
    batch, inputs, hidden, n = 2, 3, 2, gates[kind]
    count = 2 if direction == "bidirectional" else 1
    f = activations or usual[kind] * count
    states = 2 if kind == "lstm" else 1
    shape = (batch, steps) if batch_first else (steps, batch)
    operands = [r(*shape, inputs), r(count, n * hidden, inputs), r(count, n * hidden, hidden)]
    operands += [r(count, 2 * n * hidden)] if bias else []
    operands += [torch.tensor(lengths)] if lengths else []
    first = (batch, count, hidden) if batch_first else (count, batch, hidden)
    operands += [r(*first) for _ in range(states)] if initial else []
    operands += [r(count, 3 * hidden)] if peep else []
    late = flags.get("linear_before_reset", False)

    def function(x, w, recurrent, *rest):
        rest = list(rest)
        b = rest.pop(0) if bias else None
        sizes = rest.pop(0) if lengths else None
        starts = [rest.pop(0) for _ in range(states)] if initial else None
        p = rest.pop(0) if peep else None
        if batch_first:
            x = x.transpose(0, 1)
            starts = [s.transpose(0, 1) for s in starts] if initial else None
        ys, lasts = [], []
        for d in range(count):
            zero = torch.zeros(batch, hidden).double()
            now = [s[d] for s in starts] if initial else [zero] * states
            added, waiting = 0, None
            if bias:
                wb, rb = b[d].chunk(2)
                if late:
                    waiting = rb[2 * hidden :]
                    rb = torch.cat([rb[: 2 * hidden], torch.zeros(hidden).double()])
                added = wb + rb
            y = [None] * steps
            order = range(steps)
            for t in reversed(order) if d or direction == "reverse" else order:
                per = len(f) // count
                new = cell(
                    kind,
                    x[t] @ w[d].T + added,
                    now,
                    recurrent[d],
                    f[d * per : (d + 1) * per],
                    bias=waiting,
                    p=p[d] if peep else None,
                    coupled=flags.get("input_forget", False),
                    late=late,
                )
                alive = torch.ones(batch, 1).bool() if sizes is None else (t < sizes)[:, None]
                now = [torch.where(alive, a, b) for a, b in zip(new, now)]
                y[t] = torch.where(alive, now[0], now[0] * 0)
            ys.append(torch.stack(y))
            lasts.append(now)
        y = torch.stack(ys, 1)
        last = [torch.stack(s) for s in zip(*lasts)]
        if batch_first:
            y, last = y.permute(2, 0, 1, 3), [s.transpose(0, 1) for s in last]
        return [y, *last]

    given = {"bias": bias, "lengths": lengths is not None, "initial": initial}
    given.update(peepholes=peep, batch_first=batch_first)
    given = {k: True for k, v in given.items() if v}
    if activations:
        given["activations"] = ", ".join(activations)
    gradients(kind, function, operands, direction=direction, **given, **flags)


for kind in ["lstm", "gru", "rnn"]:
    layer_case(kind, bias=True)
    layer_case(kind, bias=True, lengths=[3, 1], initial=True, direction="bidirectional")
    layer_case(kind, initial=True, direction="reverse", batch_first=True)
    layer_case(kind, bias=True, steps=21)
layer_case("lstm", peep=True, input_forget=True)
layer_case("gru", bias=True, linear_before_reset=True)
layer_case("rnn", bias=True, activations=["relu", "sigmoid"], direction="bidirectional")
