"""Losses."""
import torch
import torch.nn.functional as F

from writer import case

torch.manual_seed(11)
x, y = torch.randn(3, 4), torch.randn(3, 4)
for reduction in ["mean", "sum", "none"]:
    case("mse_loss", [x, y], F.mse_loss(x, y, reduction=reduction), reduction=reduction)

p, q = torch.rand(3, 4).clamp(0.01, 0.99), torch.rand(3, 4)
near = x + torch.tensor([0.0, 0.3, -0.5, 4.0])
for reduction in ["mean", "sum", "none"]:
    case("l1_loss", [x, y], F.l1_loss(x, y, reduction=reduction), reduction=reduction)
    case(
        "smooth_l1_loss",
        [x, near],
        F.smooth_l1_loss(x, near, reduction=reduction, beta=0.5),
        reduction=reduction,
        beta=0.5,
    )
    case(
        "huber_loss",
        [x, near],
        F.huber_loss(x, near, reduction=reduction, delta=0.5),
        reduction=reduction,
        delta=0.5,
    )
    case("kl_div", [p.log(), q], F.kl_div(p.log(), q, reduction=reduction), reduction=reduction)
    case(
        "binary_cross_entropy",
        [p, q],
        F.binary_cross_entropy(p, q, reduction=reduction),
        reduction=reduction,
    )
    case(
        "binary_cross_entropy_with_logits",
        [x * 20, q],
        F.binary_cross_entropy_with_logits(x * 20, q, reduction=reduction),
        reduction=reduction,
    )
case("smooth_l1_loss", [x, y], F.smooth_l1_loss(x, y, beta=0.0), beta=0.0)
case("smooth_l1_loss", [x, near], F.smooth_l1_loss(x, near))
case("huber_loss", [x, near], F.huber_loss(x, near))
case(
    "kl_div",
    [p.log(), q.log()],
    F.kl_div(p.log(), q.log(), reduction="batchmean", log_target=True),
    reduction="batchmean",
    log_target=True,
)
edge = torch.tensor([0.0, 1.0, 0.5])
case(
    "kl_div",
    [torch.tensor([-1.0, -2.0, -3.0]), edge],
    F.kl_div(torch.tensor([-1.0, -2.0, -3.0]), edge, reduction="none"),
    reduction="none",
)
case(
    "binary_cross_entropy",
    [torch.tensor([0.0, 1.0, 1.0, 1e-8]), torch.tensor([1.0, 0.0, 1.0, 0.0])],
    F.binary_cross_entropy(
        torch.tensor([0.0, 1.0, 1.0, 1e-8]), torch.tensor([1.0, 0.0, 1.0, 0.0]), reduction="none"
    ),
    reduction="none",
)

# Classes: weights, ignored and all ignored, any rank.
for shape, target_shape in [
    ((5,), ()),
    ((4, 5), (4,)),
    ((2, 5, 3), (2, 3)),
    ((2, 5, 2, 3), (2, 2, 3)),
    ((2, 5, 2, 1, 3, 2), (2, 2, 1, 3, 2)),
]:
    scores, target, weight = torch.randn(shape), torch.randint(0, 5, target_shape), torch.rand(5)
    for reduction in ["mean", "sum", "none"]:
        for w in [None, weight]:
            ignore = {} if w is None else {"ignore_index": 2}
            operands = [scores.log_softmax(int(len(shape) > 1)), target] + (
                [] if w is None else [w]
            )
            case(
                "nll_loss",
                operands,
                F.nll_loss(operands[0], target, w, reduction=reduction, **ignore),
                reduction=reduction,
                **ignore
            )
            operands[0] = scores
            case(
                "cross_entropy",
                operands,
                F.cross_entropy(scores, target, w, reduction=reduction, **ignore),
                reduction=reduction,
                **ignore
            )
scores, target = torch.randn(4, 3), torch.tensor([-100, 1, 2, -100])
case("nll_loss", [scores, target], F.nll_loss(scores, target), ignore_index=-100)
case(
    "nll_loss", [scores, target], F.nll_loss(scores, target)
)  # a target that names no class counts nothing
case("nll_loss", [scores, torch.full((4,), 1)], torch.tensor(float("nan")), ignore_index=1)
odd = torch.tensor([[float("inf"), 1.0, float("nan")], [0.0, 2.0, -float("inf")]])
case("nll_loss", [odd, torch.tensor([1, 1])], torch.tensor([-1.0, -2.0]), reduction="none")
case(
    "cross_entropy",
    [scores.bfloat16(), torch.tensor([0, 1, 2, 0])],
    F.cross_entropy(scores.bfloat16().float(), torch.tensor([0, 1, 2, 0])).bfloat16(),
)


def slopes(scores, target):
    dim = int(scores.dim() > 1)
    hits = F.one_hot(target % scores.shape[dim], scores.shape[dim])
    return scores.double().softmax(dim) - (hits.movedim(-1, dim) if dim else hits)


# The slopes know of no weight, no target that is ignored and no reduction; negative targets count
# from the end, as those of one_hot do.
name = "cross_entropy_with_slopes"
for shape, target_shape in [((5,), ()), ((4, 5), (4,)), ((2, 5, 3), (2, 3))]:
    scores, target, weight = torch.randn(shape), torch.randint(0, 5, target_shape), torch.rand(5)
    for reduction in ["mean", "sum", "none"]:
        loss = F.cross_entropy(scores, target, reduction=reduction)
        case(name, [scores, target], [loss, slopes(scores, target).float()], reduction=reduction)
    loss = F.cross_entropy(scores, target, weight, ignore_index=2)
    result = [loss, slopes(scores, target).float()]
    case(name, [scores, target, weight], result, ignore_index=2)
scores, target = torch.randn(3, 200) * 30 + 500, torch.tensor([-100, 1, 199])
result = [F.cross_entropy(scores, target), slopes(scores, target).float()]
case(name, [scores, target], result, ignore_index=-100)
scores, target = torch.randn(2, 4).bfloat16(), torch.tensor([3, 0])
loss = F.cross_entropy(scores.float(), target).bfloat16()
case(name, [scores, target], [loss, slopes(scores, target).bfloat16()])
