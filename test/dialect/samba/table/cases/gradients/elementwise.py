"""Gradients of elementwise operators."""
import torch

from gradient_writer import gradients

torch.manual_seed(31)


def r(*shape):
    return torch.randn(shape)


def away(x, least=0.3):
    """No element is nearer to zero."""
    return torch.where(x.abs() < least, torch.where(x < 0, x - least, x + least), x)


def positive(*shape):
    return torch.rand(shape) * 2 + 0.25


# Both operands, each repeated in its turn, and one of rank 0.
shapes = [((2, 3), (2, 3)), ((3, 1, 5), (4, 1)), ((7,), (2, 1, 7)), ((), (5,))]
for a, b in shapes:
    gradients("add", torch.add, [r(*a), r(*b)])
    gradients("sub", torch.sub, [r(*a), r(*b)])
    gradients("mul", torch.mul, [r(*a), r(*b)])
    gradients("div", torch.div, [r(*a), away(r(*b))])
