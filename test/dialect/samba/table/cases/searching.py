"""Searches, sorts and scans."""
import numpy as np
import torch

from writer import case

torch.manual_seed(12)
nan, inf = float("nan"), float("inf")
x = torch.randn(3, 5, 4)
ties = torch.tensor(
    [
        [1.0, 3.0, 3.0, -2.0, -2.0],
        [0.0, -0.0, 0.0, -0.0, 0.0],
        [nan, 1.0, inf, nan, -inf],
        [-inf, -inf, -inf, -inf, -inf],
    ]
)
whole = torch.tensor([[3, -7, 3, 9, 9], [-(2**62), 2**62, 5, 2**62, -(2**62)]])


def last(array, axis, least=False):
    """The last of equal extreme elements."""
    flipped = np.flip(array, axis)
    found = np.argmin(flipped, axis) if least else np.argmax(flipped, axis)
    return torch.from_numpy(np.asarray(array.shape[axis] - 1 - found))


for dim in [0, 1, -1]:
    case("argmax", [x], x.argmax(dim), dim=dim)
    case("argmin", [x], x.argmin(dim, keepdim=True), dim=dim, keepdim=True)
case("argmax", [x], x.argmax())
case("argmin", [x], x.argmin(None, True), keepdim=True)
case("argmax", [torch.tensor(3.0)], torch.tensor(0))
# The first of equal elements (NumPy; PyTorch leaves it open), a NaN before all.
case("argmax", [ties], torch.from_numpy(np.argmax(ties.numpy(), 1)), dim=1)
case("argmin", [ties], torch.from_numpy(np.argmin(ties.numpy(), 1)), dim=1)
case("argmax", [ties[:2]], last(ties[:2].numpy(), 1), dim=1, select_last=True)
case("argmin", [ties[:2]], last(ties[:2].numpy(), 1, True), dim=1, select_last=True)
for dtype in [torch.int64, torch.int32, torch.int8, torch.uint8]:
    small = whole[:1].to(dtype)
    case("argmax", [small], torch.from_numpy(np.argmax(small.numpy(), 1)), dim=1)
case("argmax", [whole], torch.from_numpy(np.argmax(whole.numpy(), 1)), dim=1)
case("argmin", [x.bfloat16()], x.bfloat16().argmin(2), dim=2)
case(
    "hardmax",
    [ties],
    torch.nn.functional.one_hot(torch.from_numpy(np.argmax(ties.numpy(), 1)), 5).float(),
    dim=1,
)
case(
    "hardmax",
    [x],
    torch.nn.functional.one_hot(x.argmax(1), 5).permute(0, 2, 1).contiguous().float(),
    dim=-2,
)

case("logsumexp", [x], torch.logsumexp(x, (0, 2)), dim=[0, 2])
case("logsumexp", [x * 100], torch.logsumexp(x * 100, (1,), keepdim=True), dim=[1], keepdim=True)
case("logsumexp", [x], torch.logsumexp(x, (0, 1, 2)))
case(
    "logsumexp",
    [torch.tensor([[inf, 1.0], [-inf, -inf], [inf, -inf], [nan, inf]])],
    torch.tensor([inf, -inf, inf, nan]),
    dim=[1],
)
case("logsumexp", [torch.tensor(2.5)], torch.tensor(2.5))
case("amax", [x > 1], (x > 1).amax(2), dim=[2])
case("amin", [x < 1], (x < 1).amin((0, 1)), dim=[0, 1])


def sums(t, dim, exclusive=False, reverse=False):
    t = t.flip(dim) if reverse else t
    result = t.cumsum(dim, dtype=t.dtype)
    if exclusive:
        result = torch.cat(
            [torch.zeros_like(result.narrow(dim, 0, 1)), result.narrow(dim, 0, t.shape[dim] - 1)],
            dim,
        )
    return result.flip(dim) if reverse else result


for exclusive in [False, True]:
    for reverse in [False, True]:
        case(
            "cumsum",
            [x],
            sums(x, 1, exclusive, reverse),
            dim=1,
            exclusive=exclusive,
            reverse=reverse,
        )
        long = torch.randint(-9, 9, (1, 520))
        case(
            "cumsum",
            [long],
            sums(long, 1, exclusive, reverse),
            dim=-1,
            exclusive=exclusive,
            reverse=reverse,
        )
        case(
            "cumsum",
            [long.int().t().contiguous()],
            sums(long.int().t().contiguous(), 0, exclusive, reverse),
            dim=0,
            exclusive=exclusive,
            reverse=reverse,
        )
case("cumsum", [whole.to(torch.int8) * 9], sums(whole.to(torch.int8) * 9, 1), dim=1)
long = torch.rand(1, 530) - 0.5
case("cumsum", [long], long.double().cumsum(1).float(), dim=1)
case(
    "cumsum",
    [
        torch.tensor([1.0, nan, 2.0]),
    ],
    torch.tensor([1.0, nan, nan]),
    dim=0,
)

for k in [1, 3, 5]:
    for largest in [True, False]:
        case("topk", [x], tuple(x.topk(k, 1, largest)), k=k, dim=1, largest=largest)


def ordered(t, dim, descending):
    """Stable, NaN as the largest."""
    values, indices = torch.sort(t, dim=dim, descending=descending, stable=True)
    return values, indices


for descending in [False, True]:
    for t, dim in [
        (x, 0),
        (x, 2),
        (ties, 1),
        (whole, 1),
        (whole.to(torch.uint8), 1),
        (x.bfloat16(), 1),
    ]:
        values, indices = ordered(t, dim, descending)
        case("sort", [t], (values, indices), dim=dim, descending=descending)
        case("argsort", [t], indices, dim=dim, descending=descending)
        case(
            "topk",
            [t],
            (values.narrow(dim, 0, 2), indices.narrow(dim, 0, 2)),
            k=2,
            dim=dim,
            largest=descending,
        )
many = torch.randint(-40, 40, (1, 150)).float()  # many ties, in blocks
many[0, 140] = nan
for descending in [False, True]:
    for t in [many, many.nan_to_num(3).int()]:
        values, indices = ordered(t, 1, descending)
        case(
            "topk",
            [t],
            (values[:, :6].contiguous(), indices[:, :6].contiguous()),
            k=6,
            largest=descending,
        )
negative = -many.abs().nan_to_num(1)  # the last block is short: what is outside is chosen by no one
values, indices = ordered(negative.t().contiguous(), 0, True)
case(
    "topk",
    [negative.t().contiguous()],
    (values[:9].contiguous(), indices[:9].contiguous()),
    k=9,
    dim=0,
)
