"""Recurrent layers and cells: a plain float64 reference of ONNX's equations, PyTorch's own layers
where they have the form."""
import numpy as np
import torch

from writer import case

torch.manual_seed(23)
T, B, I, H = 3, 2, 3, 4
functions = {
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "softplus": lambda x: np.log1p(np.exp(x)),
    "softsign": lambda x: x / (1 + abs(x)),
    "leaky_relu(0.1)": lambda x: np.where(x >= 0, x, 0.1 * x),
    "leaky_relu": lambda x: np.where(x >= 0, x, 0.01 * x),
    "elu(0.7)": lambda x: np.where(x >= 0, x, 0.7 * np.expm1(x)),
    "hardsigmoid": lambda x: np.clip(0.2 * x + 0.5, 0, 1),
    "hardsigmoid(0.3, 0.4)": lambda x: np.clip(0.3 * x + 0.4, 0, 1),
    "thresholded_relu(0.2)": lambda x: np.where(x >= 0.2, x, 0),
    "affine(0.5, 0.1)": lambda x: 0.5 * x + 0.1,
    "scaled_tanh(1.5, 0.5)": lambda x: 1.5 * np.tanh(0.5 * x),
}


def names(text):
    """The functions in an attribute: commas inside parentheses do not part them."""
    parts, depth = [""], 0
    for c in text:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [functions[p.strip()] for p in parts]


def cell(
    kind, x, states, r, f, clip=0, bias=None, p=None, input_forget=False, linear_before_reset=False
):
    """x: the input's part of the gates, with biases except the late one. All arrays without the
    leading 1."""
    c = (lambda v: np.clip(v, -clip, clip)) if clip else (lambda v: v)
    h = states[0]
    if kind == "rnn":
        return [f[0](c(x + h @ r.T))]
    if kind == "gru":
        xz, xr, xn = np.split(x, 3, 1)
        rz, rr, rn = np.split(r, 3, 0)
        z, reset = f[0](c(xz + h @ rz.T)), f[0](c(xr + h @ rr.T))
        late = 0 if bias is None else bias
        n = f[1](c(xn + (reset * (h @ rn.T + late) if linear_before_reset else (reset * h) @ rn.T)))
        return [(1 - z) * n + z * h]
    i, o, g_f, g = np.split(x + h @ r.T, 4, 1)
    pi, po, pf = (0, 0, 0) if p is None else np.split(p, 3)
    i = f[0](c(i + pi * states[1]))
    forget = 1 - i if input_forget else f[0](c(g_f + pf * states[1]))
    new = forget * states[1] + i * f[1](c(g))
    return [f[0](c(o + po * new)) * f[2](c(new)), new]


gates = {"rnn": 1, "gru": 3, "lstm": 4}
usual = {"rnn": "tanh", "gru": "sigmoid, tanh", "lstm": "sigmoid, tanh, tanh"}


def layer(
    kind,
    x,
    w,
    r,
    bias=None,
    lengths=None,
    initial=None,
    peepholes=None,
    direction="forward",
    activations=None,
    batch_first=False,
    clip=0,
    **options
):
    if batch_first:
        x, initial = np.swapaxes(x, 0, 1), initial and [np.swapaxes(s, 0, 1) for s in initial]
    steps, batch, _ = x.shape
    count, g = w.shape[0], gates[kind] * r.shape[2]
    f = names(activations) if activations else names(usual[kind]) * count
    ys, lasts = [], []
    for d in range(count):
        states = (
            [s[d] for s in initial]
            if initial
            else [np.zeros((batch, r.shape[2]))] * (2 if kind == "lstm" else 1)
        )
        per, wb, rb = len(f) // count, 0, 0
        late = None
        if bias is not None:
            wb, rb = bias[d, :g].copy(), bias[d, g:].copy()
            if options.get("linear_before_reset"):
                late = rb[2 * r.shape[2] :].copy()
                rb[2 * r.shape[2] :] = 0
        y = np.zeros((steps, batch, r.shape[2]))
        for t in reversed(range(steps)) if d or direction == "reverse" else range(steps):
            new = cell(
                kind,
                x[t] @ w[d].T + wb + rb,
                states,
                r[d],
                f[d * per : (d + 1) * per],
                clip,
                late,
                None if peepholes is None else peepholes[d],
                **options
            )
            alive = np.ones((batch, 1), bool) if lengths is None else (t < lengths)[:, None]
            states = [np.where(alive, a, b) for a, b in zip(new, states)]
            y[t] = np.where(alive, states[0], 0)
        ys.append(y)
        lasts.append(states)
    y, lasts = np.stack(ys, 1), [np.stack(s) for s in zip(*lasts)]
    return (
        [np.transpose(y, (2, 0, 1, 3))] + [np.swapaxes(s, 0, 1) for s in lasts]
        if batch_first
        else [y] + lasts
    )


def check(
    kind, steps=T, directions=1, bias=False, lengths=None, initial=False, peepholes=False, **options
):
    g, first = gates[kind] * H, options.get("batch_first")
    x = torch.randn(*((B, steps, I) if first else (steps, B, I)))
    w, r = torch.randn(directions, g, I) * 0.5, torch.randn(directions, g, H) * 0.5
    operands, arrays, flags = [x, w, r], {}, {}
    if bias:
        operands.append(torch.randn(directions, 2 * g) * 0.3)
        arrays["bias"], flags["bias"] = operands[-1].double().numpy(), True
    if lengths is not None:
        operands.append(torch.tensor(lengths, dtype=torch.int32))
        arrays["lengths"], flags["lengths"] = np.array(lengths), True
    if initial:
        shape = (B, directions, H) if first else (directions, B, H)
        states = [torch.randn(*shape) for _ in range(2 if kind == "lstm" else 1)]
        operands += states
        arrays["initial"], flags["initial"] = [s.double().numpy() for s in states], True
    if peepholes:
        operands.append(torch.randn(directions, 3 * H))
        arrays["peepholes"], flags["peepholes"] = operands[-1].double().numpy(), True
    result = layer(
        kind, x.double().numpy(), w.double().numpy(), r.double().numpy(), **arrays, **options
    )
    case(
        kind,
        operands,
        [torch.from_numpy(np.ascontiguousarray(a)).float() for a in result],
        **flags,
        **options
    )


check("lstm")
check("lstm", bias=True, initial=True, direction="reverse")
check("lstm", directions=2, bias=True, initial=True, direction="bidirectional", lengths=[3, 1])
check("lstm", peepholes=True, bias=True, lengths=[2, 0], initial=True)
check("lstm", peepholes=True, input_forget=True, clip=0.4)
check("lstm", batch_first=True, initial=True, bias=True, lengths=[1, 3])
check(
    "lstm",
    directions=2,
    direction="bidirectional",
    activations="hardsigmoid, softsign, relu, sigmoid, leaky_relu(0.1), scaled_tanh(1.5, 0.5)",
)
check("lstm", steps=19, bias=True, initial=True)
check("lstm", steps=34, directions=2, direction="bidirectional", lengths=[30, 34])
check("gru")
check("gru", bias=True, initial=True, direction="reverse")
check("gru", bias=True, initial=True, linear_before_reset=True, lengths=[3, 2])
check("gru", linear_before_reset=True, clip=0.5)
check(
    "gru",
    directions=2,
    bias=True,
    direction="bidirectional",
    linear_before_reset=True,
    activations="hardsigmoid(0.3, 0.4), softplus, sigmoid, affine(0.5, 0.1)",
)
check("gru", batch_first=True, initial=True, directions=2, direction="bidirectional")
check("gru", steps=33, direction="reverse", bias=True, initial=True)
check("rnn")
check("rnn", bias=True, initial=True, direction="reverse", lengths=[2, 3], activations="elu(0.7)")
check(
    "rnn",
    directions=2,
    direction="bidirectional",
    activations="relu, thresholded_relu(0.2)",
    clip=1.5,
)
check("rnn", batch_first=True, bias=True, activations="leaky_relu")

# PyTorch's layers: its gates are i, f, g, o and r, z, n.
for kind, order, make in [
    ("lstm", [0, 3, 1, 2], torch.nn.LSTM),
    ("gru", [1, 0, 2], torch.nn.GRU),
    ("rnn", [0], torch.nn.RNN),
]:
    net = make(I, H, bidirectional=True)
    x = torch.randn(5, B, I)
    with torch.no_grad():
        y, last = net(x)
    blocks = lambda p: torch.cat([getattr(net, p).detach().chunk(len(order))[k] for k in order])
    stacked = lambda p: torch.stack([blocks(p), blocks(p + "_reverse")])
    bias = torch.cat([stacked("bias_ih_l0"), stacked("bias_hh_l0")], 1)
    y = y.reshape(5, B, 2, H).permute(0, 2, 1, 3).contiguous()
    options = {"linear_before_reset": True} if kind == "gru" else {}
    case(
        kind,
        [x, stacked("weight_ih_l0"), stacked("weight_hh_l0"), bias],
        [y, *(last if kind == "lstm" else [last])],
        bias=True,
        direction="bidirectional",
        **options
    )

# Cells alone.
for kind in gates:
    x, h, c, r = (
        torch.randn(1, B, gates[kind] * H),
        torch.randn(1, B, H),
        torch.randn(1, B, H),
        torch.randn(1, gates[kind] * H, H) * 0.5,
    )
    states = [h, c] if kind == "lstm" else [h]
    new = cell(
        kind,
        x[0].double().numpy(),
        [s[0].double().numpy() for s in states],
        r[0].double().numpy(),
        names(usual[kind]),
    )
    mask = torch.tensor([[[True], [False]]])
    case(
        kind + "_cell",
        [x, *states, r, mask],
        [torch.where(mask, torch.from_numpy(n).float()[None], s) for n, s in zip(new, states)],
        active=True,
    )
