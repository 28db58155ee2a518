"""Gradients of elementwise operators."""
import torch
import torch.nn.functional as F

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
    gradients("pow", torch.pow, [positive(*a), r(*b)])
    gradients("maximum", torch.maximum, [r(*a), r(*b)])
    gradients("minimum", torch.minimum, [r(*a), r(*b)])
    x, y = ((r(*a) * 24).round() * 2 + 1) / 16, away((r(*b) * 8).round() / 4, 0.75)
    gradients("fmod", torch.fmod, [x, y])  # a quotient is never whole
    gradients("remainder", torch.remainder, [x, y])
    gradients("where", torch.where, [r(*a) > 0, r(*b), r(*a)])
gradients("add", torch.add, [r(2, 3).bfloat16(), r(3).bfloat16()])
gradients("mul", torch.mul, [r(2, 3).bfloat16(), r(3).bfloat16()])
gradients("div", torch.div, [r(2, 3).bfloat16(), away(r(3)).bfloat16()])
gradients("where", torch.where, [r(2, 1, 3) > 0, r(4, 1), r(3)])

t = torch.tensor([-2.0, -1, 0, 1, 1, 2])
u = torch.tensor([-2.0, 0, 0, 1, -1, 3])
for name in ["maximum", "minimum"]:
    gradients(name, getattr(torch, name), [t, u], kink=True)
# Zeros, whole exponents, negative bases.
gradients(
    "pow",
    torch.pow,
    [torch.tensor([0.0, 0, 2, 3, 0.5]), torch.tensor([2.0, 0, 0, -1, 3])],
    kink=True,
)
gradients(
    "pow",
    torch.pow,
    [torch.tensor([-2.0, -1, 1.5]), torch.tensor([2.0, 3, -2])],
    kink=True,
)
gradients("prelu", lambda x, w: torch.where(x > 0, x, w * x), [r(3, 5), r(1)])
gradients("prelu", lambda x, w: torch.where(x > 0, x, w * x), [r(2, 4, 3), r(4, 1)])
gradients("prelu", lambda x, w: F.prelu(x, w), [t, r(1)], kink=True)

unary = {
    "neg": torch.neg,
    "exp": torch.exp,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "sin": torch.sin,
    "cos": torch.cos,
    "expm1": torch.expm1,
    "atan": torch.atan,
    "sinh": torch.sinh,
    "cosh": torch.cosh,
    "asinh": torch.asinh,
    "sigmoid": torch.sigmoid,
    "silu": F.silu,
    "softplus": F.softplus,
    "logsigmoid": F.logsigmoid,
    "softsign": F.softsign,
    "mish": F.mish,
    "gelu": F.gelu,
    "contiguous": lambda x: x.contiguous(),
    "contiguous_backward": lambda x: x * 1,
}
for name, function in unary.items():
    gradients(name, function, [r(3, 7)])
    gradients(name, function, [torch.tensor(0.75)])
    gradients(name, function, [torch.tensor([-15.0, -4, -0.001, 0.002, 3, 9, 17])])
    gradients(name, function, [r(5).bfloat16()])
gradients("tan", torch.tan, [r(3, 5) * 0.4])
gradients("tan", torch.tan, [torch.tensor([-4.0, -1.25, 0.01, 2.5])])
gradients("tan", torch.tan, [torch.tensor(1.0)])
for name in ["log", "sqrt", "rsqrt", "log1p", "reciprocal"]:
    gradients(name, getattr(torch, name), [positive(3, 5)])
    gradients(name, getattr(torch, name), [torch.tensor(0.5)])
    gradients(name, getattr(torch, name), [torch.tensor([0.125, 1, 3, 40, 1000])])
gradients("reciprocal", torch.reciprocal, [-positive(3)])
gradients("log1p", torch.log1p, [torch.tensor([-0.75, -0.01, 0.001])])
for name in ["asin", "acos", "atanh"]:
    gradients(name, getattr(torch, name), [torch.rand(3, 5) * 1.8 - 0.9])
    gradients(name, getattr(torch, name), [torch.tensor(-0.5)])
    gradients(name, getattr(torch, name), [torch.tensor([-0.95, 0.01, 0.9])])
gradients("acosh", torch.acosh, [positive(3, 5) + 1])
gradients("acosh", torch.acosh, [torch.tensor(2.0)])
gradients("acosh", torch.acosh, [torch.tensor([1.05, 1.5, 20, 300])])
for name in ["log", "sqrt"]:  # infinite slopes
    gradients(name, getattr(torch, name), [torch.tensor([0.0, 4])], kink=True)

gradients("abs", torch.abs, [r(3, 5)])
gradients("abs", torch.abs, [torch.tensor(-1.0)])
gradients("abs", torch.abs, [t], kink=True)
gradients("relu", torch.relu, [r(3, 5)])
gradients("relu", torch.relu, [torch.tensor(2.0)])
gradients("relu", torch.relu, [t], kink=True)
gradients("relu", torch.relu, [r(5).bfloat16()])
wide = torch.tensor([-7.0, -3, -2.5, -0.5, 0, 0.5, 2.75, 3, 8])
inner = wide + 0.125
for x, kink in [(r(3, 5), False), (inner, False), (wide, True), (torch.tensor(-0.25), False)]:
    for low, high in [(-0.5, 0.5), (None, 0.5), (-0.5, None), (-3.0, 3.0)]:
        bounds = {k: v for k, v in [("min", low), ("max", high)] if v is not None}
        gradients("clamp", lambda x: torch.clamp(x, low, high), [x], kink, **bounds)
    if not kink:  # torch itself has two answers there
        gradients("hardswish", F.hardswish, [x])
    gradients("hardsigmoid", F.hardsigmoid, [x], kink)
    gradients("leaky_relu", F.leaky_relu, [x], kink)
    gradients("leaky_relu", lambda x: F.leaky_relu(x, 0.25), [x], kink, negative_slope=0.25)
    gradients("elu", F.elu, [x], kink)
    gradients("elu", lambda x: F.elu(x, 0.5), [x], kink, alpha=0.5)
    gradients("celu", F.celu, [x], kink)
    gradients("celu", lambda x: F.celu(x, 0.5), [x], kink, alpha=0.5)
    gradients("selu", F.selu, [x], kink)
    gradients("threshold", lambda x: F.threshold(x, 0.0, 0.0), [x], kink)
    gradients(
        "threshold", lambda x: F.threshold(x, 0.5, -2.0), [x], kink, threshold=0.5, value=-2.0
    )
    gradients("shrink", F.hardshrink, [x], kink)
    gradients("shrink", lambda x: F.softshrink(x, 0.75), [x], kink, lambd=0.75, bias=0.75)
gradients(
    "selu",
    lambda x: 2 * torch.where(x > 0, x, 0.5 * torch.expm1(x)),
    [r(4)],
    alpha=0.5,
    scale=2.0,
)
gradients(
    "hardsigmoid",
    lambda x: torch.clamp(0.2 * x + 0.4, 0, 1),
    [r(3, 4) * 3],
    alpha=0.2,
    beta=0.4,
)
for shape in [(3, 5), (4,), ()]:
    gradients("gelu", lambda x: F.gelu(x, approximate="tanh"), [r(*shape)], approximate="tanh")
    gradients("cast", lambda x: x * 1, [r(*shape)], dtype="f32")


# Between dtypes: what is lost in bf16 is not part of the gradient.
gradients("cast", lambda x: x.float(), [r(3).bfloat16()], flow_dtype=torch.float32, dtype="f32")
gradients("cast", lambda x: x * 1, [r(3)], flow_dtype=torch.bfloat16, dtype="bf16")
