"""Cases of functions_test: (name, function, inputs, keyword arguments of check_function)."""
import math

import torch
import torch.nn.functional as F

CASES = []


def case(name, function, *inputs, **how):
    CASES.append((name, function, inputs, how))


def numbers(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed + sum(shape)))


def positive(*shape):
    return numbers(*shape).abs() + 0.1


def inside(*shape):
    """In (-1, 1)."""
    return numbers(*shape).tanh() * 0.9


x23, y23, x4 = numbers(2, 3), numbers(2, 3, seed=9), numbers(2, 3, 4)
image = numbers(2, 3, 7, 6)
ints = torch.tensor([[1, -2, 3], [4, 5, -6]])
bools = torch.tensor([[True, False, True], [False, False, True]])

for _name in "abs neg tanh sigmoid exp expm1 erf sin cos atan asinh sinh cosh square frac".split():
    case(_name, getattr(torch, _name), x23)
for _name in "log log1p log2 log10 sqrt rsqrt reciprocal".split():
    case(_name, getattr(torch, _name), positive(2, 3))
for _name in "acos asin atanh tan erfc exp2".split():
    case(_name, getattr(torch, _name), inside(2, 3))
case("acosh", torch.acosh, positive(2, 3) + 1)
case("logit", torch.logit, inside(2, 3).abs() * 0.9 + 0.05)
case("logit_eps", lambda x: torch.logit(x, eps=0.2), inside(2, 3).abs() * 0.9 + 0.05)
for _name in "ceil floor round trunc sign".split():
    case(_name, getattr(torch, _name), x23 * 3, gradients=False)
case("int_of_floats", lambda x: (torch.exp(x), torch.floor(x)), ints, gradients=False)

# Arithmetic and promotion.
case("add", torch.add, x23, numbers(3))
case("add_alpha", lambda x, y: torch.add(x, y, alpha=2.5), x23, y23)
case("add_scalar", lambda x: x + 1, x23)
case("radd", lambda x: 1.5 + x, x23)
case("add_ints", lambda x: x + 1, ints, gradients=False)
case("add_int_float", lambda x: x + 1.5, ints, gradients=False)
case("add_bools", lambda a: a + a, bools, gradients=False)
case("sub", lambda x, y: x - y - 2, x23, y23)
case("rsub", lambda x: 2 - x, x23)
case("torch_rsub", lambda x, y: torch.rsub(x, y, alpha=3), x23, y23)
case("mul", lambda x, y: x * y * 0.1, x23, y23)
case("mul_bool", lambda x, b: x * b, x23, bools)
case("div", lambda x, y: x / y / 3, x23, positive(2, 3))
case("div_ints", lambda x: x / 4, ints, gradients=False)
case("rdiv", lambda x: 2 / x, positive(2, 3))
case("div_floor", lambda x: torch.div(x, 0.7, rounding_mode="floor"), x23, gradients=False)
case("div_trunc", lambda x: torch.div(x, 0.7, rounding_mode="trunc"), x23, gradients=False)
case("floordiv", lambda x: x // 2, ints, gradients=False)
case("floordiv_float", lambda x: x // 0.7, x23, gradients=False)
case("rfloordiv", lambda x: 7 // x, ints, gradients=False)
case("mod", lambda x: x % 4, ints, gradients=False)
case("mod_float", lambda x: x % 0.7, x23)
case("rmod", lambda x: 7 % x, ints, gradients=False)
case("fmod", lambda x: torch.fmod(x, 0.7), x23)
for _power in (2, 3, 1, 0.5, -0.5, -1, 1.7):
    case(f"pow_{_power}", lambda x, p=_power: x**p, positive(2, 3))
case("pow_negative_base", lambda x: x**2 + x**3, x23)
case("pow_tensor", torch.pow, positive(2, 3), y23)
case("rpow", lambda x: 2**x, x23)
case("maximum", torch.maximum, x23, y23)
case("minimum", torch.minimum, x23, y23)
for _name in "eq ne lt le gt ge".split():
    case(
        _name, lambda x, y, f=getattr(torch, _name): (f(x, y), f(x, 0.1)), x23, y23, gradients=False
    )
case("compare_ints", lambda x: (x > 2, x == 3, 2 < x), ints, gradients=False)
for _name in "logical_and logical_or logical_xor".split():
    case(_name, getattr(torch, _name), bools, ~bools, gradients=False)
case("logical_not", torch.logical_not, x23, gradients=False)
case("bit_operators", lambda a, b: (a & b, a | b, a ^ b, ~a), ints, ints + 1, gradients=False)
case("bool_operators", lambda a: (a & ~a, a | a, a ^ True), bools, gradients=False)
case("where", lambda c, x, y: torch.where(c, x, y), bools, x23, y23)
case("where_scalar", lambda x: torch.where(x > 0, x, 0.5), x23)
case("tensor_where", lambda x, y: x.where(x > 0, y), x23, y23)
case("masked_fill", lambda x, m: x.masked_fill(m, -1e4), x23, bools)
case("masked_select", lambda x: x.masked_select(torch.tensor([True, False, True])), x23)
case("clamp", lambda x: (x.clamp(-0.5, 0.5), x.clamp(min=0), x.clamp_max(0.3)), x23)
case("clamp_tensors", lambda x, y: torch.clamp(x, min=y), x23, y23)
case("lerp", lambda x, y: torch.lerp(x, y, 0.3), x23, y23)
case("addcmul", lambda x, y: torch.addcmul(x, y, y, value=0.5), x23, y23)
case("addcdiv", lambda x, y: torch.addcdiv(x, x, y, value=0.5), x23, positive(2, 3))
case("xlogy", torch.xlogy, x23, positive(2, 3))
case(
    "isnan",
    lambda x: (torch.isnan(x / x), torch.isinf(1 / x), torch.isfinite(x)),
    torch.tensor([0.0, 1.0]),
    gradients=False,
)
case(
    "nan_to_num",
    torch.nan_to_num,
    torch.tensor([math.nan, math.inf, -math.inf, 2.0]),
    gradients=False,
)

# Activations.
for _name in (
    "relu relu6 hardtanh hardswish hardsigmoid silu mish gelu elu celu selu leaky_relu softplus "
    "logsigmoid softsign tanhshrink softshrink hardshrink"
).split():
    case(_name, getattr(F, _name), x23 * 3)
case("gelu_tanh", lambda x: F.gelu(x, approximate="tanh"), x23)
case("elu_alpha", lambda x: F.elu(x, 0.7) + F.celu(x, 0.7) + F.leaky_relu(x, 0.2), x23)
case("hardtanh_bounds", lambda x: F.hardtanh(x, -0.3, 0.4), x23)
case("softplus_beta", lambda x: F.softplus(x, beta=2, threshold=1), x23)
case("threshold", lambda x: F.threshold(x, 0.1, 2.0), x23)
case("rrelu", lambda x: F.rrelu(x, training=False), x23)
case("prelu", F.prelu, x4, torch.tensor([0.1, 0.2, 0.3]))
case("prelu_one", F.prelu, x4, torch.tensor([0.25]))
case("glu", lambda x: F.glu(x, -1), x4)
case("softmax", lambda x: F.softmax(x, dim=1) * x, x4)
case("log_softmax", lambda x: x.log_softmax(-1) * x, x4)
case("softmin", lambda x: F.softmin(x, dim=-1) * x, x4)

# Casts and constants.
case(
    "casts",
    lambda x: (x.int(), x.long(), x.bool(), x.short(), x.to(torch.int8)),
    x23 * 5,
    gradients=False,
)
case("bfloat16", lambda x: x.bfloat16().float() * 2, x23)
case("type_as", lambda x, i: i.type_as(x) + x, x23, ints)
case("likes", lambda x: x + torch.ones_like(x) + torch.full_like(x, 2.5) + torch.zeros_like(x), x23)
case("news", lambda x: x + x.new_ones(3) + x.new_full((2, 3), 1.5) + x.new_zeros((2, 1)), x23)
case("new_tensor", lambda x: x + x.new_tensor([1.0, 2.0, 3.0]), x23)

# Views.
case("views", lambda x: (x.view(6, 4), x.reshape(-1, 3), x.flatten(1), x.flatten(), x.view(-1)), x4)
case("unflatten", lambda x: x.unflatten(-1, (2, 2)) * 2, x4)
case("squeezes", lambda x: (x[None].squeeze(), x.unsqueeze(1), x.unsqueeze(-1).squeeze(-1)), x4)
case("permutes", lambda x: (x.permute(2, 0, 1), x.transpose(0, 2), x.mT, x.movedim(0, -1)), x4)
case("t", lambda x: (x.t(), x.T, x.swapaxes(0, 1), torch.adjoint(x)), x23)
case("expands", lambda x: (x[:, :1].expand(2, 5), x.expand_as(x), x.broadcast_to((4, 2, 3))), x23)
case("broadcast_tensors", lambda x, y: torch.broadcast_tensors(x, y), x23, numbers(3))
case("splits", lambda x: x.split(2, dim=-1) + x.split([1, 2], 1), x4)
case("chunks", lambda x: x.chunk(3, -1) + torch.tensor_split(x, 3, -1), x4)
case("unbind", lambda x: x.unbind(1), x4)
case("iterate", lambda x: sum(row * (i + 1) for i, row in enumerate(x)), x23)
case("narrow_select", lambda x: (x.narrow(2, 1, 2), x.select(1, -1)), x4)
case("cat", lambda x, y: torch.cat([x, y, x], 1), x23, y23)
case("cat_promotes", lambda x, i: torch.cat([x, i]), x23, ints, gradients=False)
case("stack", lambda x, y: torch.stack([x, y], -1), x23, y23)
case("hstack", lambda x, y: (torch.hstack([x, y]), torch.vstack([x, y])), x23, y23)
case("repeat", lambda x: (x.repeat(2, 2), x.tile((3, 1)), x.repeat(2, 1, 1)), x23)
case("repeat_interleave", lambda x: (x.repeat_interleave(2, 1), x.repeat_interleave(3)), x23)
case("flip", lambda x: (x.flip(0), torch.flip(x, (0, 2)), x.fliplr(), x.flipud()), x4)
case("roll", lambda x: (x.roll(1, 0), torch.roll(x, (1, -2), (1, 2)), x.roll(2)), x4)
case("rot90", lambda x: torch.rot90(x, 1), x23)
case("diagonal", lambda x: torch.diagonal(x), x23)
case("pad", lambda x: (F.pad(x, (1, 2)), F.pad(x, (0, 1, 2, 0), value=3.0), F.pad(x, (-1, 0))), x4)
for _mode in ("reflect", "replicate", "circular"):
    case(f"pad_{_mode}", lambda x, m=_mode: F.pad(x, (2, 1, 1, 2), mode=m), image)
case("pixel_shuffle", lambda x: F.pixel_shuffle(x, 2), numbers(2, 8, 3, 2))
case("pixel_unshuffle", lambda x: F.pixel_unshuffle(x, 2), numbers(2, 3, 4, 6))
case("channel_shuffle", lambda x: F.channel_shuffle(x, 2), numbers(2, 4, 3, 2), gradients=False)
case("tri", lambda x: (x.tril(), x.triu(1), torch.tril(x, -1)), numbers(4, 5))

# Indexing.
case("index", lambda x: (x[0], x[-1, 1], x[:, 1:], x[..., 0], x[:, ::2], x[None, :, 1]), x4)
case(
    "index_tensor", lambda x: (x[:, torch.tensor([2, 0])], x[[1, 0]], x[torch.tensor([[0, 1]])]), x4
)
case("index_traced", lambda x, i: x[i], x23, torch.tensor([1, 0, 1]))
case("setitem", lambda x, y: filled(x * 1, y), x23, numbers(2))
case("setitem_index", lambda x, y: filled_at(x * 1, y), x23, numbers(2, 2))
case("setitem_mask", lambda x: masked(x * 1), x23)
case("in_place", lambda x: (x * 1).add_(1).mul_(2).relu_(), x23)
case("in_place_view", lambda x: through_view(x * 1), x23)
case("iadd", lambda x: through_iadd(x * 1), x23)
case("gather", lambda x, i: x.gather(1, i), x23, torch.tensor([[0, 2], [1, 1]]))
case(
    "take_along_dim",
    lambda x, i: torch.take_along_dim(x, i, 1),
    x23,
    torch.tensor([[0, 2], [1, 1]]),
)
case("index_select", lambda x, i: x.index_select(1, i), x23, torch.tensor([2, 0]))
case(
    "scatter",
    lambda x, i, y: x.scatter(1, i, y),
    x23,
    torch.tensor([[0, 2], [1, 0]]),
    numbers(2, 2),
)
case("scatter_value", lambda x, i: x.scatter(1, i, 1.5), x23, torch.tensor([[0, 2], [1, 0]]))
case(
    "scatter_add",
    lambda x, i, y: x.scatter_add(1, i, y),
    x23,
    torch.tensor([[0, 0], [1, 0]]),
    numbers(2, 2),
)
case("index_add", lambda x, i, y: x.index_add(1, i, y), x23, torch.tensor([2, 2]), numbers(2, 2))
case("index_fill", lambda x, i: x.index_fill(1, i, 4.0), x23, torch.tensor([0, 2]))
case("embedding", lambda w, i: F.embedding(i, w), numbers(5, 3), torch.tensor([[0, 4], [4, 1]]))
case(
    "embedding_padding",
    lambda w, i: F.embedding(i, w, padding_idx=4),
    numbers(5, 3),
    torch.tensor([[0, 4], [4, 1]]),
)
case("one_hot", lambda i: F.one_hot(i, 6), torch.tensor([[0, 4], [5, 1]]), gradients=False)


def filled(x, y):
    x[:, 2] = y
    x[0, 1] = 7
    return x


def filled_at(x, y):
    x[:, torch.tensor([0, 2])] = y
    return x


def masked(x):
    x[x > 0] = 0.5
    return x


def through_view(x):
    x.t()[0].mul_(3)
    x.view(-1)[1:3] += 1
    return x


def through_iadd(x):
    x += 1
    x *= 3
    x -= 0.5
    x /= 2
    return x


# Reductions.
case("sum", lambda x: (x.sum(), x.sum(1), x.sum((0, 2), keepdim=True), torch.sum(x, -1)), x4)
case("sum_ints", lambda x: (x.sum(), x.sum(0)), ints, gradients=False)
case("mean", lambda x: (x.mean(), x.mean(-1), x.mean((0, 1), True)), x4)
case("prod", lambda x: (x.prod(), x.prod(1)), x4)
case("amax", lambda x: (x.amax(1), x.amin((0, 2)), x.amax()), x4)
case("max", lambda x: (x.max(), x.min()), x4)
case("max_dim", lambda x: (x.max(1).values, x.min(-1, keepdim=True)[0], x.max(0)[1]), x4)
case("max_two", lambda x, y: torch.max(x, y) - torch.min(x, y), x23, y23)
case("argmax", lambda x: (x.argmax(), x.argmax(1), x.argmin(-1, keepdim=True)), x4, gradients=False)
case("any_all", lambda b: (b.any(), b.all(1), b.any(0, keepdim=True)), bools, gradients=False)
case("count_nonzero", lambda b: torch.count_nonzero(b, 1), bools, gradients=False)
case("logsumexp", lambda x: x.logsumexp((0, 1)) + x.logsumexp(0).sum(), x4)
case("var", lambda x: (x.var(), x.var(-1), x.std(1, unbiased=False), torch.std(x)), x4)
case("var_mean", lambda x: torch.var_mean(x, -1, unbiased=False), x4)
case("norms", lambda x: (x.norm(), x.norm(1, -1), torch.norm(x, 3), x.norm(dim=1)), x4)
case("linalg_norm", lambda x: (torch.linalg.vector_norm(x, dim=-1), x.norm(float("inf"))), x4)
case("dist", torch.dist, x23, y23)
case("cumsum", lambda x: x.cumsum(1), x4)
case("topk", lambda x: x.topk(2, -1), x4)
case("topk_smallest", lambda x: torch.topk(x, 2, 1, largest=False), x4)
case("sort", lambda x: x.sort(1, descending=True), x4)
case("argsort", lambda x: x.argsort(-1), x4, gradients=False)

# Products.
case("linear", F.linear, x4, numbers(5, 4), numbers(5))
case("linear_vector", F.linear, numbers(4), numbers(5, 4), numbers(5))
case("matmul", lambda x, y: (x @ y, x @ y[0], x[0] @ y), x4, numbers(2, 4, 5))
case(
    "matmul_vectors",
    lambda a, b, m: (a @ b, m @ a, a @ m.T),
    numbers(4),
    numbers(4, seed=3),
    numbers(3, 4),
)
case(
    "mm",
    lambda a, b: (torch.mm(a, b), a.mv(b[:, 0]), torch.outer(b[0], a[:, 0])),
    x23,
    numbers(3, 4),
)
case("bmm", torch.bmm, x4, numbers(2, 4, 5))
case("dot", lambda a, b: torch.dot(a, b) + torch.inner(a, b), numbers(4), numbers(4, seed=3))
case(
    "addmm", lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), numbers(4), x23, numbers(3, 4)
)
case("baddbmm", torch.baddbmm, numbers(2, 3, 5), x4, numbers(2, 4, 5))
case("addbmm", torch.addbmm, numbers(3, 5), x4, numbers(2, 4, 5))
case("einsum", lambda a, b: torch.einsum("bij, bjk -> bik", a, b), x4, numbers(2, 4, 5))
case("einsum_dots", lambda a: torch.einsum("...i->i...", a), x4)
case("multi_dot", lambda a, b: torch.linalg.multi_dot([a, b, b.T]), x23, numbers(3, 4))
case("bilinear", F.bilinear, x23, numbers(2, 4), numbers(5, 3, 4), numbers(5))
case("cosine_similarity", lambda a, b: F.cosine_similarity(a, b, dim=-1), x23, y23)
case("pairwise_distance", F.pairwise_distance, x23, y23)
case("cdist", torch.cdist, x23, numbers(4, 3))

# Normalizations.
case("layer_norm", lambda x, w, b: F.layer_norm(x, (4,), w, b), x4, numbers(4), numbers(4, seed=2))
case("layer_norm_two", lambda x: F.layer_norm(x, (3, 4)) * x, x4)
case(
    "group_norm",
    lambda x, w, b: F.group_norm(x, 2, w, b) * x,
    numbers(2, 4, 3),
    numbers(4),
    numbers(4, seed=2),
)
case("instance_norm", lambda x: F.instance_norm(x) * x, image)
case(
    "batch_norm", lambda x: F.batch_norm(x, torch.tensor([0.1, 0.2, 0.3]), torch.ones(3)) * x, image
)
case("local_response_norm", lambda x: F.local_response_norm(x, 2), image)
case("normalize", lambda x: F.normalize(x, dim=-1) * x, x4)

# Windows.
case(
    "conv1d",
    lambda x, w, b: F.conv1d(x, w, b, padding=1, dilation=2),
    numbers(2, 3, 9),
    numbers(4, 3, 3),
    numbers(4),
)
case(
    "conv2d",
    lambda x, w, b: F.conv2d(x, w, b, stride=2, padding=(1, 0)),
    image,
    numbers(4, 3, 3, 2),
    numbers(4),
)
case("conv2d_same", lambda x, w: F.conv2d(x, w, padding="same"), image, numbers(4, 3, 3, 2))
case("conv2d_groups", lambda x, w: F.conv2d(x, w, groups=3), image, numbers(6, 1, 2, 2))
case("conv2d_unbatched", lambda x, w: F.conv2d(x, w), image[0], numbers(4, 3, 2, 2))
case("conv3d", F.conv3d, numbers(1, 2, 4, 4, 3), numbers(3, 2, 2, 2, 2))
case(
    "conv_transpose1d",
    lambda x, w: F.conv_transpose1d(x, w, stride=2),
    numbers(2, 3, 5),
    numbers(3, 4, 3),
)
case(
    "conv_transpose2d",
    lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1),
    numbers(2, 3, 4, 3),
    numbers(3, 4, 3, 3),
    numbers(4),
)
case("max_pool1d", lambda x: F.max_pool1d(x, 2), numbers(2, 3, 8))
case("max_pool2d", lambda x: F.max_pool2d(x, (3, 2), stride=(2, 1), padding=(1, 1)), image)
case("max_pool2d_ceil", lambda x: F.max_pool2d(x, 2, ceil_mode=True), image)
case("max_pool2d_indices", lambda x: F.max_pool2d(x, 2, return_indices=True), image)
case("max_pool3d", lambda x: F.max_pool3d(x, 2), numbers(1, 2, 4, 4, 4))
case("avg_pool1d", lambda x: F.avg_pool1d(x, 2), numbers(2, 3, 8))
case("avg_pool2d", lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False), image)
case("avg_pool3d", lambda x: F.avg_pool3d(x, 2), numbers(1, 2, 4, 4, 4))
case("lp_pool2d", lambda x: F.lp_pool2d(x, 2, 2), positive(2, 3, 6, 6))
case("adaptive_avg_pool2d", lambda x: F.adaptive_avg_pool2d(x, 1), image)
case("adaptive_avg_pool2d_odd", lambda x: F.adaptive_avg_pool2d(x, (3, 4)), image)
case("adaptive_avg_pool1d", lambda x: F.adaptive_avg_pool1d(x, 2), numbers(2, 3, 8))
case("adaptive_max_pool2d", lambda x: F.adaptive_max_pool2d(x, (7, 3)), image)
case("interpolate_nearest", lambda x: F.interpolate(x, scale_factor=2), image)
case("interpolate_size", lambda x: F.interpolate(x, size=(5, 9)), image)
case(
    "interpolate_bilinear",
    lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    image,
    gradients=False,
)
case(
    "interpolate_corners",
    lambda x: F.interpolate(x, size=(9, 11), mode="bilinear", align_corners=True),
    image,
    gradients=False,
)
case(
    "interpolate_bicubic",
    lambda x: F.interpolate(x, size=(9, 11), mode="bicubic"),
    image,
    gradients=False,
)
case(
    "grid_sample",
    lambda x, g: F.grid_sample(x, g, align_corners=False),
    image,
    inside(2, 4, 5, 2),
    gradients=False,
)
case(
    "affine_grid",
    lambda m: F.affine_grid(m, (2, 3, 4, 5), align_corners=False),
    numbers(2, 2, 3),
    gradients=False,
)
case("unfold", lambda x: F.unfold(x, (3, 2), padding=1, stride=2), image)
case("tensor_unfold", lambda x: x.unfold(2, 3, 2), image)

# Losses.
labels = torch.tensor([2, 0, 3, 1])
scores = numbers(4, 5)
case("cross_entropy", F.cross_entropy, scores, labels)
case("cross_entropy_none", lambda x, y: F.cross_entropy(x, y, reduction="none"), scores, labels)
case("cross_entropy_ignore", F.cross_entropy, scores, torch.tensor([2, -100, 3, -100]))
case(
    "cross_entropy_weight",
    lambda x, y, w: F.cross_entropy(x, y, w.detach()),
    scores,
    labels,
    positive(5),
)
case(
    "cross_entropy_smooth",
    lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1),
    scores,
    torch.tensor([2, -100, 3, 1]),
)
case(
    "cross_entropy_soft",
    lambda x, y: F.cross_entropy(x, y.softmax(-1).detach()),
    scores,
    numbers(4, 5, seed=3),
)
case("cross_entropy_images", F.cross_entropy, numbers(2, 3, 4), torch.tensor([[0, 1, 2, 1]] * 2))
case("nll_loss", lambda x, y: F.nll_loss(x.log_softmax(-1), y), scores, labels)
case("mse_loss", F.mse_loss, x23, y23)
case("mse_loss_sum", lambda x, y: F.mse_loss(x, y, reduction="sum"), x23, y23)
case("l1_loss", F.l1_loss, x23, y23)
case("smooth_l1_loss", lambda x, y: F.smooth_l1_loss(x, y, beta=0.5), x23, y23)
case("huber_loss", lambda x, y: F.huber_loss(x, y, delta=0.5), x23, y23)
case(
    "kl_div",
    lambda x, y: F.kl_div(x.log_softmax(-1), y.softmax(-1), reduction="batchmean"),
    x23,
    y23,
)
case("bce", lambda x, y: F.binary_cross_entropy(x.sigmoid(), y.sigmoid().detach()), x23, y23)
case(
    "bce_logits", lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid().detach()), x23, y23
)
case(
    "bce_logits_weight",
    lambda x, y, w: F.binary_cross_entropy_with_logits(
        x, y.sigmoid().detach(), pos_weight=w.detach()
    ),
    x23,
    y23,
    positive(3),
)
case("poisson_nll", lambda x, y: F.poisson_nll_loss(x, y.abs().detach()), x23, y23)
case("gaussian_nll", lambda x, y, v: F.gaussian_nll_loss(x, y, v), x23, y23, positive(2, 3))
case("soft_margin", lambda x, y: F.soft_margin_loss(x, y.sign().detach()), x23, y23)
case("hinge_embedding", lambda x, y: F.hinge_embedding_loss(x, y.sign().detach()), x23, y23)
case("margin_ranking", lambda x, y: F.margin_ranking_loss(x, y, x.sign().detach(), 0.1), x23, y23)
case(
    "cosine_embedding", lambda x, y: F.cosine_embedding_loss(x, y, torch.tensor([1, -1])), x23, y23
)
case("triplet", lambda x, y, z: F.triplet_margin_loss(x, y, z), x23, y23, numbers(2, 3, seed=4))

# Compositions.
case(
    "limits",
    lambda x: (torch.isposinf(1 / x), torch.isneginf(-1 / x), torch.sgn(x)),
    torch.tensor([0.0, 1.0, -2.0]),
    gradients=False,
)
case("degrees", lambda x: torch.deg2rad(x) + torch.rad2deg(x) + torch.positive(x), x23)
case("sinc", torch.sinc, torch.tensor([0.0, 0.5, -1.3]))
case(
    "fmax",
    lambda x, y: (torch.fmax(x, y), torch.fmin(x, y)),
    torch.tensor([math.nan, 1.0, 2.0]),
    torch.tensor([0.5, math.nan, 1.0]),
    gradients=False,
)
case("hypot", torch.hypot, x23, y23)
case("logaddexp", torch.logaddexp, x23, y23)
case(
    "atan2",
    torch.atan2,
    torch.tensor([1.0, -1.0, 1.0, -1.0, 0.5]),
    torch.tensor([1.0, 1.0, -1.0, -1.0, 0.2]),
)
case(
    "atan2_axes",
    torch.atan2,
    torch.tensor([1.0, -1.0, 0.0]),
    torch.tensor([0.0, 0.0, 0.0]),
    gradients=False,
)
case(
    "heaviside", torch.heaviside, torch.tensor([0.0, -1.0, 2.0]), torch.tensor(0.5), gradients=False
)
case("copysign", lambda x, y: torch.copysign(x, y), x23, y23, gradients=False)
case("isclose", lambda x, y: torch.isclose(x, y), x23, x23 * (1 + 1e-7), gradients=False)
case(
    "shifts",
    lambda x: (x << 2, x >> 1, torch.bitwise_left_shift(x, x * 0 + 1)),
    ints,
    gradients=False,
)
case("aminmax", lambda x: torch.aminmax(x), x23, gradients=False)
case(
    "nansum",
    lambda x: (torch.nansum(x), torch.nanmean(x)),
    torch.tensor([1.0, math.nan, 3.0]),
    gradients=False,
)
case("kthvalue", lambda x: torch.kthvalue(x, 2, 1), x4)
case("median", lambda x: (x.median(), *x.median(-1), *x.median(1, keepdim=True)), x4)
case("trace", lambda x: torch.trace(x), x23)
case(
    "tensordot",
    lambda a, b: (torch.tensordot(a, b, 1), torch.tensordot(a, b, ([0], [1]))),
    x4,
    numbers(4, 2),
)
case("addr", torch.addr, x23, numbers(2), numbers(3))
case("kron", torch.kron, x23, numbers(3, 2))
case("cross", lambda a, b: torch.cross(a, b, dim=1), x4, numbers(2, 3, 4, seed=6))
case(
    "meshgrid",
    lambda a, b: torch.meshgrid(a, b, indexing="xy") + torch.meshgrid(a, b, indexing="ij"),
    numbers(2),
    numbers(3),
)
case("atleast", lambda x: (torch.atleast_2d(x), torch.atleast_3d(x)), numbers(3))
case(
    "stacks",
    lambda x, y: (torch.column_stack([x, y]), torch.dstack([x, y]), torch.row_stack([x, y])),
    numbers(3),
    numbers(3, seed=2),
)
case("hsplit", lambda x: torch.hsplit(x, 3) + torch.vsplit(x, 2) + torch.dsplit(x, [1, 3]), x4)
case("diag_embed", torch.diag_embed, x23)
case("diff", lambda x: (torch.diff(x), torch.diff(x, n=2, dim=1)), x4)
case("select_scatter", lambda x, y: torch.select_scatter(x, y, 1, 2), x23, numbers(2))
case("slice_scatter", lambda x, y: torch.slice_scatter(x, y, 1, 0, 3, 2), x23, numbers(2, 2))
case("sum_to_size", lambda x: x.sum_to_size(3, 1), x4)
case(
    "embedding_bag",
    lambda w, i: (F.embedding_bag(i, w), F.embedding_bag(i, w, mode="sum")),
    numbers(5, 3),
    torch.tensor([[0, 4], [4, 1]]),
)
case("index_copy", lambda x, i, y: x.index_copy(1, i, y), x23, torch.tensor([2, 0]), numbers(2, 2))
case(
    "scatter_reduce",
    lambda x, i, y: x.scatter_reduce(1, i, y, "sum"),
    x23,
    torch.tensor([[0, 0], [1, 0]]),
    numbers(2, 2),
)
case(
    "scatter_reduce_amax",
    lambda x, i, y: x.scatter_reduce(1, i, y, "amax"),
    x23,
    torch.tensor([[0, 0], [1, 0]]),
    numbers(2, 2),
    gradients=False,
)
case("take", lambda x, i: torch.take(x, i), x23, torch.tensor([[0, 5], [2, 2]]))
case(
    "multilabel_soft_margin",
    lambda x, y: F.multilabel_soft_margin_loss(x, y.sigmoid().detach()),
    x23,
    y23,
)
case(
    "triplet_distance",
    lambda x, y, z: F.triplet_margin_with_distance_loss(x, y, z),
    x23,
    y23,
    numbers(2, 3, seed=4),
)
case("weight_norm", lambda v, g: torch._weight_norm(v, g, 0), x23, numbers(2, 1))
case(
    "max_unpool2d",
    lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2),
    numbers(2, 3, 4, 6),
    gradients=False,
)
case("fold", lambda x: F.fold(x, (5, 4), 2), numbers(2, 12, 12))

# Other names of the same functions.
for _name in "arccos arcsin arctan arctanh".split():
    case(_name, getattr(torch, _name), inside(2, 3))
case("arcsinh", lambda x: torch.arcsinh(x) + torch.arccosh(x * x + 1.5), x23)
case("other_names", lambda x: (torch.absolute(x), torch.negative(x), torch.special.expit(x)), x23)
case(
    "other_arithmetic",
    lambda x, y: (
        torch.multiply(x, y),
        torch.subtract(x, y),
        torch.clip(x, 0, 1),
        torch.divide(x, 2),
        torch.true_divide(x, 3),
        x.clamp_min(0),
    ),
    x23,
    y23,
)
case(
    "other_comparisons",
    lambda x, y: (
        x.not_equal(y),
        x.less(y),
        x.less_equal(y),
        x.greater(y),
        x.greater_equal(y),
        torch.fix(x),
    ),
    x23,
    y23,
    gradients=False,
)
case(
    "floor_divide",
    lambda x, y: torch.floor_divide(x, y),
    ints,
    torch.tensor([2, 3, 4]),
    gradients=False,
)
case(
    "other_bits",
    lambda a, b: (
        torch.bitwise_and(a, b),
        torch.bitwise_or(a, b),
        torch.bitwise_not(a),
        torch.bitwise_xor(a, b),
        3 & a,
        3 | a,
        3 ^ a,
        a.bitwise_right_shift(b),
    ),
    ints,
    torch.tensor([1, 2, 3]),
    gradients=False,
)
case(
    "other_casts",
    lambda x: (x.char(), x.abs().byte(), x.half().float(), x.type(torch.int32)),
    x23 * 5,
    gradients=False,
)
case(
    "fills",
    lambda x: ((x * 1).fill_(2.5), (x * 1).zero_(), (x * 1).copy_(x[0])),
    x23,
    gradients=False,
)
case("empty", lambda x: torch.empty_like(x).fill_(1) + x.new_empty(3).fill_(2) + x, x23)
case("arctan2", torch.arctan2, x23, y23)
case(
    "other_views",
    lambda x: (
        x.moveaxis(0, 1),
        x.swapdims(0, 1),
        x.ravel(),
        torch.detach(x) * x,
        x.reshape_as(x[0].expand(2, 3, 4)),
        x.view_as(x),
        x.contiguous(),
    ),
    x4,
)
case(
    "unflatten_negative",
    lambda x: torch.unflatten(x, 2, (2, -1))
    if hasattr(torch, "unflatten")
    else x.unflatten(2, (2, -1)),
    x4,
)
case(
    "other_splits",
    lambda x: torch.split(x, 2, 2)
    + torch.split_with_sizes(x, [1, 3], 2)
    + torch.unsafe_split(x, 1, 1)
    + torch.unsafe_chunk(x, 2, 2)
    + torch.unsafe_split_with_sizes(x, [3, 1], 2),
    x4,
)
case("other_cats", lambda x, y: (torch.concat([x, y]), torch.cat((x, y), dim=-1)), x23, y23)
case("atleast_1d", lambda x: torch.atleast_1d(x.sum(), x), x23)
case("constant_pad", lambda x: torch.constant_pad_nd(x, (1, 2), 0.5), x23)
case("diag", lambda x: (torch.diag(x), torch.diag(x[0])), x23)
case("msort", lambda x: torch.msort(x), x23)
case("std_mean", lambda x: torch.std_mean(x, 1), x4)
case("addmv", lambda c, a, b: torch.addmv(c, a, b), numbers(2), x23, numbers(3))
case("ger", lambda a, b: torch.ger(a, b) + torch.vdot(a, a), numbers(3), numbers(4))
case("chain_matmul", lambda a, b: torch.chain_matmul(a, b, b.T), x23, numbers(3, 4))
case("rmatmul", lambda x: torch.ones(4, 2) @ x, x23)
case("det", torch.det, numbers(2, 3, 3), gradients=False)
case(
    "attention",
    lambda q, k, v: F._scaled_dot_product_attention(q, k, v, None, 0.0, True, True),
    x4,
    numbers(2, 3, 4, seed=2),
    numbers(2, 3, 4, seed=1),
)
case(
    "attention_mask",
    lambda q, k, v: F._scaled_dot_product_attention(
        q, k, v, torch.ones(3, 5, dtype=torch.bool).tril(1)
    )[0],
    x4,
    numbers(2, 5, 4),
    numbers(2, 5, 4, seed=1),
)
case("adaptive_avg_pool3d", lambda x: F.adaptive_avg_pool3d(x, 2), numbers(1, 2, 4, 4, 4))
case("adaptive_max_pool1d", lambda x: F.adaptive_max_pool1d(x, 2), numbers(2, 3, 8))
for _size in (1, 2, 3):
    _pool = getattr(F, f"adaptive_max_pool{_size}d")
    case(
        f"adaptive_max_pool{_size}d_with_indices",
        lambda x, _pool=_pool: _pool(x, 3, return_indices=True),
        numbers(1, 2, *[4] * _size),
    )
case("adaptive_max_pool3d", lambda x: F.adaptive_max_pool3d(x, (1, 2, 4)), numbers(1, 2, 4, 4, 4))
case("conv_transpose3d", F.conv_transpose3d, numbers(1, 2, 3, 3, 3), numbers(2, 3, 2, 2, 2))
case("lp_pool1d", lambda x: F.lp_pool1d(x, 2, 2), positive(2, 3, 8))
case("pools_with_indices", lambda x: F.max_pool1d(x, 2, return_indices=True), numbers(2, 3, 8))
case(
    "max_pool3d_indices", lambda x: F.max_pool3d(x, 2, return_indices=True), numbers(1, 2, 4, 4, 4)
)
case(
    "max_unpool1d",
    lambda x: F.max_unpool1d(*F.max_pool1d(x, 2, return_indices=True), 2),
    numbers(2, 3, 8),
    gradients=False,
)
case(
    "max_unpool3d",
    lambda x: F.max_unpool3d(*F.max_pool3d(x, 2, return_indices=True), 2),
    numbers(1, 2, 4, 4, 4),
    gradients=False,
)
case(
    "upsamples",
    lambda x: (
        F.upsample(x, scale_factor=2),
        F.upsample_nearest(x, scale_factor=2),
        F.upsample_bilinear(x, size=(9, 11)),
    ),
    image,
    gradients=False,
)
case(
    "dropout_off",
    lambda x: F.dropout(x, 0.5, training=False)
    + F.alpha_dropout(x, 0.5)
    + F.dropout2d(x, 0.5, False)
    + F.feature_alpha_dropout(x, 0.5),
    image,
)

# What surrounds functions.
case("detach", lambda x: x * x.detach(), x23)
case("no_grad", lambda x: x * without_gradient(x), x23)
case("constants", lambda x: x + torch.arange(3) * torch.tensor(0.5), x23)
case("data", lambda x: x * x.data, x23)
case("contiguous_clone", lambda x: x.t().contiguous().clone() * 2, x23)


def without_gradient(x):
    with torch.no_grad():
        return x * 3
