"""Gradients of gathers, scatters, orders and views."""
import torch
import torch.nn.functional as F

from gradient_writer import gradients

torch.manual_seed(37)


def r(*shape):
    return torch.randn(shape)


def t(*values):
    return torch.tensor(values)


i = torch.randint
for rows, shape in [(5, (2, 3)), (3, (4, 2)), (20, (7,)), (6, ())]:
    gradients("embedding", lambda w, i: w[i], [r(rows, 4), i(0, rows, shape)])
gradients("embedding", lambda w, i: w[i.long()], [r(4), t(1, 1, 1).int()])
gradients("embedding", lambda w, i: w[i], [r(3, 2, 2), t(0, -1, 2, 0)])
gradients("embedding", lambda w, i: w[i], [r(9, 2), t(0, -1, 8, 0)])
gradients("embedding", lambda w, i: w[i], [r(5, 3).bfloat16(), i(0, 5, (4,))])
for dim in [0, 1, -1]:
    index = i(0, 3, (5,))
    gradients(
        "index_select", lambda x, i: torch.index_select(x, dim, i), [r(3, 4, 3), index], dim=dim
    )
    index = i(-3, 3, (2, 2))
    take = lambda x, i: x.movedim(dim, 0)[i].movedim((0, 1), (dim % 3, dim % 3 + 1))
    gradients("take", take, [r(3, 4, 3), index], dim=dim)
gradients("take", lambda x, i: x[:, i], [r(2, 30), t(0, 29, 0, 3)], dim=1)
batched = lambda x, i: torch.stack([a[:, k] for a, k in zip(x, i)])
gradients("take", batched, [r(2, 3, 5, 2), i(0, 5, (2, 4))], dim=2, batch_dims=1)
batched = lambda x, i: torch.stack([a[k] for a, k in zip(x, i)])
gradients("take", batched, [r(2, 5), i(-5, 5, (2, 7))], dim=1, batch_dims=1)
for dim in [0, 1, 2]:
    index = i(0, 3, (2, 3, 2))
    gradients("gather", lambda x, i: torch.gather(x, dim, i), [r(3, 4, 3), index], dim=dim)
gradients("gather", lambda x, i: x[i], [r(4), t(-1, 3, 0, -4)], dim=0)
gradients("gather_nd", lambda x, i: x[i[..., 0], i[..., 1]], [r(3, 4, 2), i(0, 3, (5, 2))])
gradients("gather_nd", lambda x, i: x[i[..., 0]], [r(3, 4, 2), i(-3, 3, (2, 2, 1))])
gradients(
    "gather_nd",
    lambda x, i: torch.stack([a[k[:, 0]] for a, k in zip(x, i)]),
    [r(2, 4, 3), i(0, 4, (2, 5, 1))],
    batch_dims=1,
)


def reverse(x, lengths):
    rows = [torch.cat([row[:n].flip(0), row[n:]]) for row, n in zip(x.unbind(1), lengths.tolist())]
    return torch.stack(rows, 1)


for lengths in [t(4, 1, 3), t(2, 2, 4), t(1, 1, 1)]:
    gradients("reverse_sequence", reverse, [r(4, 3, 2), lengths], time_axis=0, batch_axis=1)


# Scatters: unique places, then several updates for one.
def scatter(x, index, src, dim, reduce):
    """Updates in order; of several the last wins."""
    y = list(x.flatten().unbind())
    places = torch.arange(x.numel()).reshape(x.shape)
    for at in torch.cartesian_prod(*[torch.arange(n) for n in index.shape]).reshape(-1, x.dim()):
        target = at.clone()
        target[dim] = index[tuple(at)]
        place = int(places[tuple(target)])
        update = src[tuple(at)]
        y[place] = {
            "none": lambda a, b: b,
            "add": torch.add,
            "mul": torch.mul,
            "max": torch.maximum,
            "min": torch.minimum,
        }[reduce](y[place], update)
    return torch.stack(y).reshape(x.shape)


unique = torch.stack([torch.randperm(4)[:3] for _ in range(2)])
several = t([0, 2, 0], [3, 3, 3])
for reduce in ["none", "add", "mul", "min", "max"]:
    for index in [unique, several, several - 4]:
        gradients(
            "scatter",
            lambda x, i, s: scatter(x, i, s, 1, reduce),
            [r(2, 4), index, r(2, 3)],
            dim=1,
            reduce=reduce,
        )
        gradients(
            "scatter_nd",
            lambda x, i, s: scatter(x, i[:, 0], s, 0, reduce),
            [r(4), index[1:].reshape(3, 1), r(3)],
            reduce=reduce,
        )
    gradients(
        "scatter",
        lambda x, i, s: scatter(x, i, s, 0, reduce),
        [r(3, 2, 2), i(0, 3, (2, 2, 1)), r(2, 2, 1)],
        dim=0,
        reduce=reduce,
    )
index = t([1, 0], [2, 2], [1, 0])
for reduce in ["none", "add"]:

    def scatter_rows_nd(x, i, s):
        y = x.clone()
        for k in range(3):
            old = y[i[k, 0], i[k, 1]]
            y = y.index_put((i[k, :1], i[k, 1:]), (s[k] + (old if reduce == "add" else 0))[None])
        return y

    gradients("scatter_nd", scatter_rows_nd, [r(3, 3, 2), index, r(3, 2)], reduce=reduce)


def rows(x, index, size):
    y = [None] * size
    for k, place in enumerate(index.tolist()):
        y[place] = x[k]
    return torch.stack(y)


gradients("scatter_rows", lambda x, i: rows(x, i, 3), [r(5, 2), t(0, 2, 1, 2, 0)], size=3)
gradients("scatter_rows", lambda x, i: rows(x, i, 2), [r(3), t(1, 1, 0)], size=2)
gradients("scatter_rows", lambda x, i: rows(x, i, 3), [r(3, 2, 2), t(2, 0, 1)], size=3)


def match(base, target, index, updates, reduce):
    hit = (target[:, :, None] == index[:, None, :])[..., None]
    pairs = updates[:, None].expand(-1, base.shape[1], -1, -1)
    if reduce == "add":
        return base + torch.where(hit, pairs, pairs * 0).sum(2)
    if reduce == "mul":
        return base * torch.where(hit, pairs, pairs * 0 + 1).prod(2)
    far = torch.inf if reduce == "min" else -torch.inf
    every = torch.cat([base[:, :, None], torch.where(hit, pairs, torch.tensor(far).double())], 2)
    return every.amin(2) if reduce == "min" else every.amax(2)


target, index = i(0, 4, (2, 4)), i(0, 4, (2, 5))
whole = i(-2, 3, (2, 4, 3)).float()
for reduce in ["add", "mul", "min", "max"]:
    function = lambda b, t, i, u: match(b, t, i, u, reduce)
    gradients("match_reduce", function, [r(2, 4, 3), target, index, r(2, 5, 3)], reduce=reduce)
    gradients(
        "match_reduce",
        function,
        [whole, target, index, i(-2, 3, (2, 5, 3)).float()],
        kink=reduce[0] == "m",
        reduce=reduce,
    )
for n, x, size in [
    (1, r(2, 3, 8), [8]),
    (2, r(1, 2, 4, 6), [4, 6]),
    (3, r(1, 2, 2, 4, 4), [2, 4, 4]),
]:
    y, at = getattr(F, f"max_pool{n}d")(x, 2, return_indices=True)
    unpool = getattr(F, f"max_unpool{n}d")
    gradients(
        "max_unpool", lambda y, i: unpool(y, i, 2, output_size=size), [y, at], output_size=size
    )

x = r(3, 4, 5)
for dim in [0, 1, -1]:
    for descending in [True, False]:
        gradients(
            "sort",
            lambda x: torch.sort(x, dim, descending),
            [x],
            dim=dim,
            descending=descending,
        )
        gradients(
            "topk",
            lambda x: torch.topk(x, 2, dim, largest=descending),
            [x],
            k=2,
            dim=dim,
            largest=descending,
        )
        gradients("triu", lambda x: torch.triu(x, dim), [x], diagonal=dim)
        gradients("tril", lambda x: torch.tril(x, dim), [x], diagonal=dim)
gradients("triu", lambda x, k: torch.triu(x, 1), [x, t(2)], diagonal=-1)
gradients("tril", lambda x, k: torch.tril(x, 1), [x, t(2)], diagonal=-1)

# Views.
gradients("reshape", lambda x: x.reshape(6, 10), [x], shape=[6, 10])
gradients("reshape", lambda x: x.reshape(()), [r(1, 1)], shape=[])
gradients("reshape", lambda x: x.reshape(1, 7), [r(7)], shape=[1, 7])
for dims in [(2, 0, 1), (0, 2, 1), (1, 2, 0)]:
    gradients("permute", lambda x: x.permute(dims), [x], dims=list(dims))
gradients("expand", lambda x: x.expand(2, 3, 4), [r(3, 1)], shape=[2, 3, 4])
gradients("expand", lambda x: x.expand(2, 3), [r(2, 3)], shape=[2, 3])
gradients("expand", lambda x: x.expand(4, 1), [r()], shape=[4, 1])
for starts, ends, steps in [
    ([0, 0, 1], [3, 4, 5], [1, 2, 3]),
    ([2, 3, 4], [-1, 0, 0], [-1, -2, -1]),
    ([1, 1, 0], [2, 4, 4], [1, 1, 2]),
]:

    def slices(x):
        for d in range(3):
            x = torch.index_select(x, d, torch.arange(starts[d], ends[d], steps[d]))
        return x

    gradients("slice", slices, [x], starts=starts, ends=ends, steps=steps)
gradients("pad", lambda x: F.pad(x, (1, 2, 0, 1)), [x], low=[0, 0, 1], high=[0, 1, 2])
gradients("pad", lambda x: F.pad(x, (3, 0), value=0.5), [r(2)], low=[3], high=[0], value=0.5)
gradients("pad", lambda x: F.pad(x, (0, 0, 2, 2)), [r(2, 2)], low=[2, 0], high=[2, 0])
for dim in [0, 1, -1]:
    operands = [x, r(3, 4, 5), x[:1] if dim == 0 else r(3, 4, 5)]
    gradients("cat", lambda *x: torch.cat(x, dim), operands, dim=dim)
for mode in ["reflect", "replicate", "circular"]:
    for low, high in [([0, 0, 1], [0, 0, 2]), ([0, 2, 0], [0, 1, 0]), ([0, 1, 2], [0, 2, 1])]:

        def border(x):
            pads = [n for d in (2, 1, 0) for n in (low[d], high[d])]
            return F.pad(x[None], pads[:4], mode=mode)[0]

        gradients("pad_border", border, [x], low=low, high=high, mode=mode)
for size, k, s, p, d in [
    ((4, 5), (2, 2), (1, 1), (0, 0), (1, 1)),
    ((6, 5), (3, 2), (2, 1), (1, 0), (1, 2)),
    ((4, 4), (2, 2), (2, 2), (0, 0), (1, 1)),
]:
    blocks = F.unfold(torch.zeros(1, 1, *size), k, d, p, s).shape[-1]
    gradients(
        "fold",
        lambda x: F.fold(x, size, k, d, p, s),
        [r(2, 3 * k[0] * k[1], blocks)],
        output_size=list(size),
        kernel_size=list(k),
        stride=list(s),
        padding=[*p, *p],
        dilation=list(d),
    )
