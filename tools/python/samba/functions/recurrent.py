"""Recurrent layers and cells."""
import torch
import torch.nn.functional as F

from samba.functions.norm import dropout_of
from samba.functions.table import row
from samba.tracing import Unsupported

# Where the operator's gates stand in PyTorch's order.
ORDER = {"lstm": (0, 3, 1, 2), "gru": (1, 0, 2), "rnn": (0,)}


def reordered(t, kind, weight):
    """PyTorch's gates (i f g o; r z n) in the operator's order."""
    order, value = ORDER[kind], t.value(weight)
    if len(order) == 1:
        return value
    size = value.shape[0] // len(order)
    return t.op("cat", *[t.slice(value, 0, g * size, (g + 1) * size) for g in order], dim=0)


def stacked(t, parts):
    """Parts, one for each direction, with a dimension in front."""
    wide = [t.reshape(p, (1,) + p.shape) for p in parts]
    return wide[0] if len(wide) == 1 else t.op("cat", *wide, dim=0)


def layer(t, kind, x, states, weights, has_bias, directions, attributes):
    """One layer: its result T x B x (D H) and its last states."""
    size = 4 if has_bias else 2
    of = [weights[d * size : (d + 1) * size] for d in range(directions)]
    w = stacked(t, [reordered(t, kind, p[0]) for p in of])
    r = stacked(t, [reordered(t, kind, p[1]) for p in of])
    operands = [x, w, r]
    if has_bias:
        both = [t.op("cat", reordered(t, kind, p[2]), reordered(t, kind, p[3]), dim=0) for p in of]
        operands.append(stacked(t, both))
    operands += states
    results = t.op(
        kind,
        *operands,
        bias=has_bias,
        initial=True,
        direction="bidirectional" if directions == 2 else "forward",
        **attributes,
    )
    y = results[0]  # T x D x B x H
    steps, _, batch, hidden = y.shape
    y = t.reshape(t.permute(y, [0, 2, 1, 3]), (steps, batch, directions * hidden))
    return y, results[1:]


def recurrent(kind, activation=None):
    attributes = {"gru": {"linear_before_reset": True}}.get(kind, {})

    def build(
        t,
        input,
        hx,
        params,
        has_biases,
        num_layers,
        dropout,
        train,
        bidirectional,
        batch_first=None,
    ):
        if batch_first is None or isinstance(hx, bool):
            raise Unsupported("a packed sequence")
        states = [t.value(s) for s in (hx if isinstance(hx, (tuple, list)) else [hx])]
        more = dict(attributes)
        directions = 2 if bidirectional else 1
        if activation:
            more["activations"] = ", ".join([activation] * directions)
        x = t.value(input)
        x = t.permute(x, [1, 0, 2]) if batch_first else x
        per_layer = (4 if has_biases else 2) * directions
        last = []
        for index in range(num_layers):
            first = index * directions
            part = [t.slice(s, 0, first, first + directions) for s in states]
            weights = params[index * per_layer : (index + 1) * per_layer]
            x, ends = layer(t, kind, x, part, weights, bool(has_biases), directions, more)
            last.append(ends)
            if dropout and train and index + 1 < num_layers:
                x = dropout_of(t, x, dropout)
        x = t.permute(x, [1, 0, 2]) if batch_first else x
        ends = [e[0] if num_layers == 1 else t.op("cat", *e, dim=0) for e in map(list, zip(*last))]
        return (x, *ends)

    return build


row("lstm", meta=False)(recurrent("lstm"))
row("gru", meta=False)(recurrent("gru"))
row("rnn_tanh", meta=False)(recurrent("rnn", "tanh"))
row("rnn_relu", meta=False)(recurrent("rnn", "relu"))


@row("lstm_cell", meta=False)
def lstm_cell(t, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    hidden, cell = hx
    i, f, g, o = torch.chunk(F.linear(input, w_ih, b_ih) + F.linear(hidden, w_hh, b_hh), 4, 1)
    cell = torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(cell), cell


@row("gru_cell", meta=False)
def gru_cell(t, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    r, z, n = torch.chunk(F.linear(input, w_ih, b_ih), 3, 1)
    hidden_r, hidden_z, hidden_n = torch.chunk(F.linear(hx, w_hh, b_hh), 3, 1)
    new = torch.tanh(n + torch.sigmoid(r + hidden_r) * hidden_n)
    keep = torch.sigmoid(z + hidden_z)
    return new + keep * (hx - new)


def plain_cell(function):
    def build(t, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        return function(F.linear(input, w_ih, b_ih) + F.linear(hx, w_hh, b_hh))

    return build


row("rnn_tanh_cell", meta=False)(plain_cell(torch.tanh))
row("rnn_relu_cell", meta=False)(plain_cell(torch.relu))
