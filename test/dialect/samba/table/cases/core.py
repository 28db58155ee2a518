"""The operators that most networks use."""
import math
import numpy as np
import torch
import torch.nn.functional as F

from writer import case

torch.manual_seed(7)


def r(*shape):
    return torch.randn(*shape)


x = torch.tensor([-30.0, -3.5, -2.5, -1.0, -0.25, 0.0, 0.3, 0.5, 1.5, 2.5, 3.7, 40.0])
positive = torch.rand(7) * 5 + 0.01
for name in [
    "neg",
    "abs",
    "tanh",
    "sin",
    "cos",
    "floor",
    "ceil",
    "round",
    "sign",
    "relu",
    "sigmoid",
    "erf",
]:
    case(name, [x], getattr(torch, name)(x))
for name in ["exp", "reciprocal"]:
    case(name, [x[1:5]], getattr(torch, name)(x[1:5]))
for name in ["log", "sqrt", "rsqrt"]:
    case(name, [positive], getattr(torch, name)(positive))
case("silu", [x], F.silu(x))
case("softplus", [x], F.softplus(x.double()).float())
case("hardswish", [x], F.hardswish(x))
large = torch.tensor([3e38, -3e38, float("inf")])
case(
    "hardswish", [large], torch.where(large > 0, large, torch.zeros(3))
)  # no product with 6 that overflows
case("leaky_relu", [x], F.leaky_relu(x, 0.2), negative_slope=0.2)
case("elu", [x], F.elu(x, 1.5), alpha=1.5)
case("gelu", [x], F.gelu(x))
case(
    "gelu",
    [x],
    0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))),
    approximate="tanh",
)
case("hardsigmoid", [x], torch.clamp(0.2 * x + 0.5, 0, 1), alpha=0.2, beta=0.5)
case("clamp", [x], torch.clamp(x, -1, 2), min=-1.0, max=2.0)
case("clamp", [x], torch.clamp(x, max=2), max=2.0)
bools = torch.tensor([True, False, True])
case("logical_not", [bools], ~bools)
case("neg", [torch.tensor([-128, 5], dtype=torch.int8)], torch.tensor([-128, -5], dtype=torch.int8))
case("exp", [x[1:7].bfloat16()], torch.exp(x[1:7].bfloat16()))
case("cast", [x], x.int(), dtype="i32")
case("cast", [x], x.bool(), dtype="i1")
case("cast", [x], x.bfloat16(), dtype="bf16")
case("cast", [torch.tensor([300, -1, 7])], torch.tensor([300, -1, 7]).to(torch.uint8), dtype="ui8")
case(
    "cast",
    [torch.tensor([2**31 + 5, -1, 7])],
    torch.tensor([2**31 + 5, -1, 7]).int(),
    dtype="i32",
)
case("cast", [bools], bools.float(), dtype="f32")
case("cast", [bools], bools.long(), dtype="i64")
case("cast", [torch.tensor([200, 3], dtype=torch.uint8)], torch.tensor([200.0, 3.0]), dtype="f32")

a, b = r(2, 1, 3), r(4, 1)
for name in [
    "add",
    "sub",
    "mul",
    "div",
    "maximum",
    "minimum",
    "fmod",
    "remainder",
    "eq",
    "ne",
    "lt",
    "le",
    "gt",
    "ge",
]:
    case(name, [a, b], getattr(torch, name)(a, b))
e = torch.tensor([0.5, 2.0, -1.5, 0.0, 3.0, 1.0, -2.0])
case("pow", [positive, e], torch.pow(positive, e))
i, j = torch.tensor([7, -7, 7, -7, 0]), torch.tensor([3, 3, -3, -3, 5])
case("div", [i, j], torch.div(i, j, rounding_mode="trunc"))
case("remainder", [i, j], torch.remainder(i, j))
case("fmod", [i, j], torch.fmod(i, j))
case(
    "add",
    [torch.tensor([100, -100], dtype=torch.int8)] * 2,
    torch.tensor([-56, 56], dtype=torch.int8),
)
case(
    "mul", [torch.tensor([100, 3], dtype=torch.uint8)] * 2, torch.tensor([16, 9], dtype=torch.uint8)
)
case("add", [a.bfloat16(), b.bfloat16()], a.bfloat16() + b.bfloat16())
p, q = torch.tensor([[True], [False]]), torch.tensor([True, False])
for name in ["logical_and", "logical_or", "logical_xor", "eq"]:
    case(name, [p, q], getattr(torch, name)(p, q))
c, d = r(3), r(1, 1)
case("where", [p, c, d], torch.where(p, c, d))

y, w = r(2, 3, 4), r(6, 4)
for name in ["sum", "mean", "amax", "amin"]:
    case(name, [y], getattr(torch, name)(y, dim=(0, 2)), dim=[0, -1])
    case(name, [y], getattr(torch, name)(y, dim=(1,), keepdim=True), dim=[1], keepdim=True)
case("sum", [y], y.sum())
case("prod", [y], y.prod(dim=1), dim=[1])
case("mean", [y.bfloat16()], y.bfloat16().double().mean(dim=2).bfloat16(), dim=[2])
case("amax", [i], i.amax(dim=0), dim=[0])
case("sum", [i.to(torch.int8) * 20], (i.to(torch.int8) * 20).sum(dtype=torch.int8))

case("linear", [y, w], F.linear(y, w))
case("linear", [y, w, bias := r(6)], F.linear(y, w, bias))
xb, wb = y.bfloat16(), w.bfloat16()
case(
    "linear",
    [xb, wb, bias],
    F.linear(xb.double(), wb.double(), bias.double()).float(),
    out_dtype="f32",
)
case(
    "linear",
    [xb, wb, bias.bfloat16()],
    F.linear(xb.double(), wb.double(), bias.bfloat16().double()).bfloat16(),
)
case("matmul", [m := r(2, 1, 3, 4), n := r(5, 4, 2)], m @ n)
case("matmul", [m[0, 0], n], m[0, 0] @ n)
case("matmul", [m[0, 0, 0], n], m[0, 0, 0] @ n)
case("matmul", [m, v := r(4)], m @ v)
case("matmul", [v, v], v @ v)
case(
    "matmul",
    [torch.arange(6).int().reshape(2, 3), torch.arange(6).int().reshape(3, 2)],
    torch.tensor([[10, 13], [28, 40]]).int(),
)

case(
    "conv1d",
    [s := r(2, 4, 9), k := r(6, 4, 3), bias],
    F.conv1d(s, k, bias, stride=2, padding=1),
    stride=[2],
    padding=[1, 1],
)
im = r(1, 4, 6, 7)
case(
    "conv2d",
    [im, k := r(6, 4, 3, 2), bias],
    F.conv2d(F.pad(im, (0, 1, 1, 2)), k, bias, stride=(2, 1), dilation=(1, 2)),
    stride=[2, 1],
    padding=[1, 0, 2, 1],
    dilation=[1, 2],
)
case("conv2d", [im, k := r(6, 2, 3, 3), bias], F.conv2d(im, k, bias, groups=2), groups=2)
case(
    "conv2d",
    [im, k := r(4, 1, 3, 3)],
    F.conv2d(im, k, padding=1, groups=4),
    groups=4,
    padding=[1, 1, 1, 1],
)
case(
    "conv2d",
    [im.bfloat16(), k.bfloat16()],
    F.conv2d(im.bfloat16().double(), k.bfloat16().double(), groups=4).bfloat16(),
    groups=4,
)
case("conv3d", [vol := r(1, 2, 3, 4, 4), k := r(3, 2, 2, 2, 3)], F.conv3d(vol, k))

case("max_pool1d", [s], F.max_pool1d(s, 3, 2, 1), kernel_size=[3], stride=[2], padding=[1, 1])
case("max_pool2d", [im], F.max_pool2d(im, 2), kernel_size=[2, 2])
case(
    "max_pool2d",
    [im],
    F.max_pool2d(im, 3, 2, 1, 1, True),
    kernel_size=[3, 3],
    stride=[2, 2],
    padding=[1, 1, 1, 1],
    ceil_mode=True,
)
case(
    "max_pool2d",
    [im],
    F.max_pool2d(im, 2, 1, 0, 2),
    kernel_size=[2, 2],
    stride=[1, 1],
    dilation=[2, 2],
)
case("max_pool3d", [vol], F.max_pool3d(vol, 2), kernel_size=[2, 2, 2])
case("avg_pool1d", [s], F.avg_pool1d(s, 3, 2, 1), kernel_size=[3], stride=[2], padding=[1, 1])
for include in [True, False]:
    for ceil in [True, False]:
        case(
            "avg_pool2d",
            [im],
            F.avg_pool2d(im, 3, 2, 1, ceil, include),
            kernel_size=[3, 3],
            stride=[2, 2],
            padding=[1, 1, 1, 1],
            ceil_mode=ceil,
            count_include_pad=include,
        )
case("avg_pool2d", [im], F.avg_pool2d(im, 2, 2, 0, True), kernel_size=[2, 2], ceil_mode=True)
case("avg_pool3d", [vol], F.avg_pool3d(vol, 2), kernel_size=[2, 2, 2])

g, h, mu, var = r(4), r(4), r(4), torch.rand(4) + 0.1
case("batch_norm", [im, g, h, mu, var], F.batch_norm(im, mu, var, g, h, eps=1e-3), eps=1e-3)
case("layer_norm", [y], F.layer_norm(y, (3, 4)), normalized_shape=[3, 4])
case("layer_norm", [y, g], F.layer_norm(y, (4,), g), normalized_shape=[4])
case("layer_norm", [y, g, h], F.layer_norm(y, (4,), g, h, 1e-3), normalized_shape=[4], eps=1e-3)
case(
    "rms_norm",
    [y, g],
    (y.double() / (y.double() ** 2).mean(-1, keepdim=True).add(1e-5).sqrt() * g).float(),
    normalized_shape=[4],
)
case("group_norm", [im, g, h], F.group_norm(im, 2, g, h), num_groups=2)
case("group_norm", [im], F.group_norm(im, 1), num_groups=1)
case("group_norm", [im], F.group_norm(im, 4), num_groups=4)
case("softmax", [y], F.softmax(y, 1), dim=1)
case("softmax", [y * 30], F.softmax(y * 30, -1), dim=-1)
case("log_softmax", [y], F.log_softmax(y, -1), dim=-1)


def attention(q, k, v, mask=None, scale=None, causal=False, fill=-math.inf, offset=0):
    scores = q.double() @ k.double().transpose(-1, -2) * (scale or 1 / math.sqrt(q.shape[-1]))
    if causal:
        seen = torch.ones(q.shape[-2], k.shape[-2]).tril(offset).bool()
        scores = scores.masked_fill(~seen, -math.inf)
    if mask is not None:
        scores = scores.masked_fill(~mask, fill) if mask.dtype == torch.bool else scores + mask
    return (scores.softmax(-1) @ v.double()).float()


q, k, v = r(2, 3, 4), r(2, 5, 4), r(1, 5, 6)
case("scaled_dot_product_attention", [q, k, v], attention(q, k, v))
mask = torch.ones(3, 5).tril().bool()
case("scaled_dot_product_attention", [q, k, v, mask], attention(q, k, v, mask))
case("scaled_dot_product_attention", [q, k, v, f := r(1, 5)], attention(q, k, v, f, 0.3), scale=0.3)
case("scaled_dot_product_attention", [q, k, v], attention(q, k, v, causal=True), is_causal=True)
mask = torch.tensor([[True, False, True, False, True], [False] * 5, [True] * 5])
case(
    "scaled_dot_product_attention", [q, k, v, mask], attention(q, k, v, mask, fill=-0.5), fill=-0.5
)
case(
    "scaled_dot_product_attention", [q, k, v, mask], attention(q, k, v, mask, fill=-1e9), fill=-1e9
)

case("cat", [y, z := r(2, 1, 4), y], torch.cat([y, z, y], 1), dim=1)
case("cat", [i, j], torch.cat([i, j]), dim=-1)
table, rows = r(5, 3), torch.tensor([[0, 4], [-1, 2]])
case("embedding", [table, rows], table[rows])
case("index_select", [y, torch.tensor([3, -4, 1]).int()], y[:, :, [3, 0, 1]], dim=2)


def attention_gradients(q, k, v, g, mask=None, scale=None, causal=False, fill=-math.inf):
    q, k, v = (x.double().requires_grad_() for x in (q, k, v))
    scale = scale or 1 / math.sqrt(q.shape[-1])
    scores = q @ k.transpose(-1, -2) * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, fill) if mask.dtype == torch.bool else scores + mask
    if causal:
        scores = scores.masked_fill(~torch.ones(q.shape[-2], k.shape[-2]).tril().bool(), -math.inf)
    p = scores.softmax(-1)
    result = p @ v
    found = torch.autograd.grad(result, (q, k, v), g.double())
    inner = (p * (g.double() @ v.transpose(-1, -2))).sum(-1, keepdim=True)
    statistics = [scores.logsumexp(-1, keepdim=True), result, inner]
    return [x.detach().float() for x in [*found, *statistics]]


q, k, v, g = r(2, 3, 4), r(2, 5, 4), r(2, 5, 6), r(2, 3, 6)
kept = torch.tensor([[True, False, True, False, True], [True] + [False] * 4, [True] * 5])
for mask, options, attributes in [
    (None, {}, {}),
    (None, {"causal": True, "scale": 0.3}, {"is_causal": True, "scale": 0.3}),
    (r(1, 5), {}, {}),
    (r(2, 3, 1), {}, {}),
    (kept, {}, {}),
    (kept, {"fill": -0.5}, {"fill": -0.5}),
]:
    dq, dk, dv, logsumexp, result, inner = attention_gradients(q, k, v, g, mask, **options)
    last = [] if mask is None else [mask]
    case("attention_with_logsumexp", [q, k, v, *last], [result, logsumexp], **attributes)
    operands = [q, k, v, g, logsumexp, result, *last]
    case("attention_query_gradient", operands, [dq, inner], **attributes)
    operands = [q, k, v, g, logsumexp, inner, *last]
    case("attention_key_gradient", operands, [dk, dv], **attributes)

for offset in [1, 2, 9]:
    q, k, v = r(2, 3, 4), r(2, 5, 4), r(1, 5, 6)
    expected = attention(q, k, v, causal=True, offset=offset)
    case("scaled_dot_product_attention", [q, k, v], expected, is_causal=True, causal_offset=offset)
part = r(2, 3)  # all of the result: the rest is what lies in memory, test/validation puts into it
case("put_slice", [part, torch.zeros(2, 3)], part, dim=0, start=0, size=2)
case("put_slice", [part], part, dim=-1, start=0, size=3)
