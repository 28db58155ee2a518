"""Gradients of reductions, of sums of prefixes and of softmax."""
import torch

from gradient_writer import gradients

torch.manual_seed(32)


def r(*shape):
    return torch.randn(shape)


ties = torch.tensor([[1.0, 3, 3, 0], [2, 2, 2, 2], [-1, -5, 0, 7]])
zeros = torch.tensor([[1.0, 0, 3, -2], [0, 2, 0, 2], [-1, -5, 0.5, 7]])
functions = {
    "sum": torch.sum,
    "mean": torch.mean,
    "amax": torch.amax,
    "amin": torch.amin,
    "logsumexp": torch.logsumexp,
}
for name, function in functions.items():
    x = r(3, 5, 2)
    for dims, keep in [([1], True), ([0, -1], False), ([2], False)]:
        gradients(name, lambda x: function(x, dims, keep), [x], dim=dims, keepdim=keep)
    gradients(name, lambda x: function(x, [0, 1, 2]), [x])
    gradients(name, lambda x: function(x, [0, 1]), [ties], kink=name[0] == "a", dim=[0, 1])
    gradients(name, lambda x: function(x, [1]), [ties], kink=name[0] == "a", dim=[1])
    gradients(name, lambda x: function(x, [0]), [r(4, 3).bfloat16()], dim=[0])


def product(x, dims, keep):
    for d in sorted((d % x.dim() for d in dims), reverse=True):
        x = torch.prod(x, d, keepdim=keep)
    return x


x = r(3, 5, 2)
for dims, keep in [([1], True), ([0, -1], False), ([2], False), ([0, 1, 2], False)]:
    gradients("prod", lambda x: product(x, dims, keep), [x], dim=dims, keepdim=keep)
gradients("prod", lambda x: product(x, [1], False), [zeros], dim=[1])
gradients("prod", lambda x: torch.prod(x), [zeros], kink=True)  # flat to the second order

x = r(3, 5, 2)
for dim in [1, -1, 0]:
    gradients("softmax", lambda x: torch.softmax(x, dim), [x], dim=dim)
    gradients("log_softmax", lambda x: torch.log_softmax(x, dim), [x], dim=dim)
    gradients("cumsum", lambda x: torch.cumsum(x, dim), [x], dim=dim)
    gradients(
        "cumsum",
        lambda x: torch.flip(torch.cumsum(torch.flip(x, [dim]), dim), [dim]),
        [x],
        dim=dim,
        reverse=True,
    )
    gradients("cumsum", lambda x: torch.cumsum(x, dim) - x, [x], dim=dim, exclusive=True)
gradients("softmax", lambda x: torch.softmax(x, 1), [r(2, 7) * 30], dim=1)
gradients("log_softmax", lambda x: torch.log_softmax(x, 1), [r(2, 7) * 30], dim=1)
gradients("softmax", lambda x: torch.softmax(x, 1), [r(2, 7).bfloat16()], dim=1)
gradients("log_softmax", lambda x: torch.log_softmax(x, 1), [r(2, 7).bfloat16()], dim=1)
