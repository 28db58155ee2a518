"""Gradients of losses."""
import torch
import torch.nn.functional as F

from gradient_writer import gradients

torch.manual_seed(34)


def r(*shape):
    return torch.randn(shape)


reductions = ["mean", "sum", "none"]
for shape, target in [((4, 5), (4,)), ((2, 5, 3), (2, 3)), ((2, 3, 2, 2), (2, 2, 2)), ((5,), ())]:
    classes = shape[1] if len(shape) > 1 else shape[0]
    t = torch.randint(0, classes, target)
    x, w = r(*shape), torch.rand(classes) + 0.25
    for reduction in reductions:
        for name, function in [("nll_loss", F.nll_loss), ("cross_entropy", F.cross_entropy)]:
            gradients(
                name,
                lambda x, t: function(x, t, reduction=reduction),
                [x, t],
                reduction=reduction,
            )
            ignored = int(t.flatten()[0])
            if target:
                gradients(
                    name,
                    lambda x, t, w: function(x, t, w, reduction=reduction, ignore_index=ignored),
                    [x, t, w],
                    constant=[2],
                    reduction=reduction,
                    ignore_index=ignored,
                )
missing = torch.tensor([1, -100, 3, -100])  # torch's usual mark
for name, function in [("nll_loss", F.nll_loss), ("cross_entropy", F.cross_entropy)]:
    gradients(name, lambda x, t: function(x, t), [r(4, 200) * 4, missing], ignore_index=-100)
    gradients(name, lambda x, t: function(x, t.long()), [r(3, 4), missing[[0, 2, 0]].int()])
    gradients(name, lambda x, t: function(x, t), [r(3, 4).bfloat16(), missing[[0, 2, 0]]])

for reduction in reductions:
    for shape in [(3, 5), (2, 3, 2), ()]:
        x, t = r(*shape), r(*shape)
        p, q = torch.rand(shape) * 0.9 + 0.05, torch.rand(shape)
        mode = {"reduction": reduction}
        gradients("mse_loss", lambda x, t: F.mse_loss(x, t, **mode), [x, t], **mode)
        gradients("l1_loss", lambda x, t: F.l1_loss(x, t, **mode), [x, t], **mode)
        gradients("smooth_l1_loss", lambda x, t: F.smooth_l1_loss(x, t, **mode), [x, t], **mode)
        gradients("huber_loss", lambda x, t: F.huber_loss(x, t, **mode), [x, t], **mode)
        gradients("kl_div", lambda x, t: F.kl_div(x, t, **mode), [x, q + 0.1], **mode)
        gradients(
            "kl_div",
            lambda x, t: F.kl_div(x, t, **mode, log_target=True),
            [x, t],
            **mode,
            log_target=True,
        )
        gradients(
            "binary_cross_entropy",
            lambda x, t: F.binary_cross_entropy(x, t, **mode),
            [p, q],
            **mode,
        )
        gradients(
            "binary_cross_entropy_with_logits",
            lambda x, t: F.binary_cross_entropy_with_logits(x, t, **mode),
            [x, q],
            **mode,
        )
x, t = r(4, 3) * 2, r(4, 3)
for beta in [0.5, 0.0]:
    gradients("smooth_l1_loss", lambda x, t: F.smooth_l1_loss(x, t, beta=beta), [x, t], beta=beta)
gradients("huber_loss", lambda x, t: F.huber_loss(x, t, delta=0.5), [x, t], delta=0.5)
same = torch.tensor([1.0, 2, -3])
gradients("l1_loss", F.l1_loss, [same, torch.tensor([1.0, 1, -2])], kink=True)
q = torch.tensor([[0.0, 0.25, 1], [0.5, 0, 0]])
gradients(
    "kl_div",
    lambda x, t: F.kl_div(x, t, reduction="batchmean"),
    [r(2, 3), q],
    kink=True,
    any_for=[1],
    reduction="batchmean",
)
# Where a sigmoid has ended: the slope is bounded.
gradients(
    "binary_cross_entropy",
    F.binary_cross_entropy,
    [torch.tensor([0.0, 1, 0.5, 1]), torch.tensor([0.0, 1, 1, 0.5])],
    kink=True,
    any_for=[1],
)

# With the slopes, through which no gradient passes.
name = "cross_entropy_with_slopes"
for shape, target in [((4, 5), (4,)), ((2, 5, 3), (2, 3)), ((5,), ())]:
    classes = shape[1] if len(shape) > 1 else shape[0]
    t = torch.randint(0, classes, target)
    x, w = r(*shape) * 3, torch.rand(classes) + 0.25
    for reduction in reductions:
        mode = {"reduction": reduction}
        gradients(name, lambda x, t: (F.cross_entropy(x, t, **mode), None), [x, t], **mode)
    if target:
        mode = {"ignore_index": int(t.flatten()[0])}
        weighted = lambda x, t, w: (F.cross_entropy(x, t, w, **mode), None)
        gradients(name, weighted, [x, t, w], constant=[2], **mode)
keeping = lambda x, t: (F.cross_entropy(x, t), None)
gradients(name, keeping, [r(4, 200) * 4, missing], ignore_index=-100)
