"""Operators that compare positions."""
import torch
import torch.nn.functional as F

from writer import case

indices = torch.tensor([[0, 2, 4], [1, 3, 0]])
case("one_hot", [indices], F.one_hot(indices, 5), num_classes=5)
values = torch.tensor([2.5, -1.0])
wild = torch.tensor([[0, -1, 7], [-5, 3, -6]])
hot = (
    F.one_hot(torch.where(wild < 0, wild + 5, wild).clamp(0, 4), 5).bool()
    & ((wild < 5) & (wild >= -5))[..., None]
)
for dim in [0, 1, -1]:
    case(
        "one_hot",
        [wild, values],
        torch.where(hot, values[1], values[0]).movedim(-1, dim).contiguous(),
        num_classes=5,
        dim=dim,
    )
case(
    "one_hot",
    [indices.to(torch.uint8), torch.tensor([3, 9], dtype=torch.int32)],
    torch.where(F.one_hot(indices, 6).bool(), 9, 3).int(),
    num_classes=6,
)
case("one_hot", [torch.tensor(2)], F.one_hot(torch.tensor(2), 3), num_classes=3)
x = torch.arange(1, 61, dtype=torch.float32).reshape(3, 4, 5)
for k in [-9, -2, 0, 1, 9]:
    case("triu", [x], x.triu(k), diagonal=k)
    case("tril", [x.long()], x.long().tril(k), diagonal=k)
    case("tril", [x, torch.tensor(k)], x.tril(k))
    case("triu", [x > 7, torch.tensor([k - 1], dtype=torch.int32)], (x > 7).triu(k), diagonal=1)
