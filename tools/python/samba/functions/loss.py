"""Losses."""
import torch

from samba.functions.elementwise import scaled
from samba.functions.table import promote, row
from samba.tracing import Unsupported


def reduction_of(reduction, size_average=None, reduce=None):
    if size_average is not None or reduce is not None:
        return torch.nn._reduction.legacy_get_string(size_average, reduce)
    return reduction


def reduced(t, value, reduction):
    dims = list(range(len(value.shape)))
    if reduction == "none" or not dims:
        return value
    if reduction not in ("mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return t.op(reduction, value, dim=dims)


def class_targets(t, target):
    value = t.value(target)
    return value if value.dtype in ("i32", "i64") else t.cast(value, "i32")


@row("cross_entropy", meta=False)
def cross_entropy(
    t,
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
    label_smoothing=0.0,
):
    reduction = reduction_of(reduction, size_average, reduce)
    x = t.value(input)
    if t.value(target).dtype in ("f32", "bf16", "f16"):
        return of_probabilities(t, x, t.value(target), weight, reduction, label_smoothing)
    ids = class_targets(t, target)
    attributes = {"ignore_index": ignore_index, "reduction": reduction}
    loss = t.op("cross_entropy", x, ids, weight, **attributes)
    if not label_smoothing:
        return loss
    if weight is not None:
        raise Unsupported("label_smoothing together with weight")
    return smoothed(t, x, ids, loss, ignore_index, reduction, label_smoothing)


def smoothed(t, x, ids, loss, ignore_index, reduction, share):
    """(1 - share) * loss + share * the mean loss over all classes."""
    dim = 1 if len(x.shape) > 1 else 0
    all_classes = t.op("neg", t.op("mean", t.op("log_softmax", x, dim=dim), dim=[dim]))
    counts = t.op("ne", ids, t.scalar(ignore_index, ids.dtype))
    zero = t.scalar(0.0, x.dtype)
    all_classes = t.op("where", counts, all_classes, zero)
    if reduction == "mean":
        dims = list(range(len(ids.shape)))
        number = t.cast(counts, x.dtype)
        if dims:
            all_classes, number = t.op("sum", all_classes, dim=dims), t.op("sum", number, dim=dims)
        all_classes = t.op("div", all_classes, number)
    else:
        all_classes = reduced(t, all_classes, reduction)
    return t.op("add", scaled(t, loss, 1 - share), scaled(t, all_classes, share))


def of_probabilities(t, x, target, weight, reduction, share):
    """-sum of target * log_softmax(x) over the classes."""
    dim = 1 if len(x.shape) > 1 else 0
    classes = x.shape[dim]
    if share:
        target = scaled(t, target, 1 - share)
        target = t.op("add", target, t.scalar(share / classes, target.dtype))
    product = t.op("mul", t.op("log_softmax", x, dim=dim), t.value(target, x.dtype))
    if weight is not None:
        shape = [1] * len(x.shape)
        shape[dim] = classes
        product = t.op("mul", product, t.reshape(weight, shape))
    loss = t.op("neg", t.op("sum", product, dim=[dim]))
    if reduction != "mean":
        return reduced(t, loss, reduction)
    rows = max(1, _count(x.shape) // classes)
    return scaled(t, reduced(t, loss, "sum"), 1 / rows)


def _count(shape):
    count = 1
    for size in shape:
        count *= size
    return count


@row("nll_loss", meta=False)
def nll_loss(
    t,
    input,
    target,
    weight=None,
    size_average=None,
    ignore_index=-100,
    reduce=None,
    reduction="mean",
):
    reduction = reduction_of(reduction, size_average, reduce)
    ids = class_targets(t, target)
    return t.op("nll_loss", input, ids, weight, ignore_index=ignore_index, reduction=reduction)


def pair(operator, **names):
    """A loss of a tensor and a target of its shape; names: attribute -> argument's default."""

    def build(t, input, target, size_average=None, reduce=None, reduction="mean", **more):
        reduction = reduction_of(reduction, size_average, reduce)
        x, y = promote(t, input, target)
        shape = torch.broadcast_shapes(x.shape, y.shape)
        attributes = {name: more.get(name, default) for name, default in names.items()}
        return t.op(
            operator, t.expand(x, shape), t.expand(y, shape), reduction=reduction, **attributes
        )

    return build


row("mse_loss", meta=False)(pair("mse_loss"))
row("l1_loss", meta=False)(pair("l1_loss"))


@row("smooth_l1_loss", meta=False)
def smooth_l1_loss(t, input, target, size_average=None, reduce=None, reduction="mean", beta=1.0):
    return pair("smooth_l1_loss", beta=1.0)(
        t, input, target, size_average, reduce, reduction, beta=beta
    )


@row("huber_loss", meta=False)
def huber_loss(t, input, target, reduction="mean", delta=1.0):
    return pair("huber_loss", delta=1.0)(t, input, target, None, None, reduction, delta=delta)


@row("kl_div", meta=False)
def kl_div(t, input, target, size_average=None, reduce=None, reduction="mean", log_target=False):
    reduction = reduction_of(reduction, size_average, reduce)
    if reduction == "batchmean":
        total = t.op("kl_div", input, target, reduction="sum", log_target=bool(log_target))
        return scaled(t, total, 1 / input.shape[0])
    return t.op("kl_div", input, target, reduction=reduction, log_target=bool(log_target))


def weighted(t, operator, input, target, weight, reduction):
    if weight is None:
        return t.op(operator, input, target, reduction=reduction)
    loss = t.op(operator, input, target, reduction="none")
    return reduced(t, t.op("mul", loss, weight), reduction)


@row("binary_cross_entropy", meta=False)
def binary_cross_entropy(
    t, input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    reduction = reduction_of(reduction, size_average, reduce)
    return weighted(t, "binary_cross_entropy", input, target, weight, reduction)


@row("binary_cross_entropy_with_logits", meta=False)
def binary_cross_entropy_with_logits(
    t,
    input,
    target,
    weight=None,
    size_average=None,
    reduce=None,
    reduction="mean",
    pos_weight=None,
):
    reduction = reduction_of(reduction, size_average, reduce)
    if pos_weight is None:
        name = "binary_cross_entropy_with_logits"
        return weighted(t, name, input, target, weight, reduction)
    x, y = t.value(input), t.value(target)
    one = t.scalar(1.0, x.dtype)
    # pos_weight * y * -log s(x) + (1 - y) * -log s(-x)
    positive = t.op("mul", t.op("mul", t.value(pos_weight), y), t.op("softplus", t.op("neg", x)))
    negative = t.op("mul", t.op("sub", one, y), t.op("softplus", x))
    loss = t.op("add", positive, negative)
    loss = loss if weight is None else t.op("mul", loss, weight)
    return reduced(t, loss, reduction)


@row("poisson_nll_loss", meta=False)
def poisson_nll_loss(
    t,
    input,
    target,
    log_input=True,
    full=False,
    size_average=None,
    eps=1e-8,
    reduce=None,
    reduction="mean",
):
    if full:
        raise Unsupported("full=True")
    x, y = t.value(input), t.value(target)
    if log_input:
        loss = t.op("sub", t.op("exp", x), t.op("mul", y, x))
    else:
        logarithm = t.op("log", t.op("add", x, t.scalar(eps, x.dtype)))
        loss = t.op("sub", x, t.op("mul", y, logarithm))
    return reduced(t, loss, reduction_of(reduction, size_average, reduce))


@row("gaussian_nll_loss", meta=False)
def gaussian_nll_loss(t, input, target, var, full=False, eps=1e-6, reduction="mean"):
    if full:
        raise Unsupported("full=True")
    difference = torch.sub(input, target)
    variance = t.wrap(t.op("clamp", var, min=eps))
    loss = (torch.log(variance) + difference * difference / variance) * 0.5
    return reduced(t, t.value(loss), reduction)


@row("soft_margin_loss", meta=False)
def soft_margin_loss(t, input, target, size_average=None, reduce=None, reduction="mean"):
    product = t.op("mul", t.op("neg", input), target)
    return reduced(t, t.op("softplus", product), reduction_of(reduction, size_average, reduce))


@row("hinge_embedding_loss", meta=False)
def hinge_embedding_loss(
    t, input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    x, y = t.value(input), t.value(target, t.value(input).dtype)
    one = t.scalar(1.0, x.dtype)
    far = t.op("relu", t.op("sub", t.scalar(margin, x.dtype), x))
    loss = t.op("where", t.op("eq", y, one), x, far)
    return reduced(t, loss, reduction_of(reduction, size_average, reduce))


@row("margin_ranking_loss", meta=False)
def margin_ranking_loss(
    t, input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"
):
    loss = torch.relu(-target * (input1 - input2) + margin)
    return reduced(t, t.value(loss), reduction_of(reduction, size_average, reduce))


@row("cosine_embedding_loss", meta=False)
def cosine_embedding_loss(
    t, input1, input2, target, margin=0.0, size_average=None, reduce=None, reduction="mean"
):
    similar = torch.nn.functional.cosine_similarity(input1, input2, -1)
    loss = torch.where(target == 1, 1 - similar, torch.relu(similar - margin))
    return reduced(t, t.value(loss), reduction_of(reduction, size_average, reduce))


@row("triplet_margin_loss", meta=False)
def triplet_margin_loss(
    t,
    anchor,
    positive,
    negative,
    margin=1.0,
    p=2,
    eps=1e-6,
    swap=False,
    size_average=None,
    reduce=None,
    reduction="mean",
):
    distance = torch.nn.functional.pairwise_distance
    near, far = distance(anchor, positive, p, eps), distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, distance(positive, negative, p, eps))
    loss = torch.relu(near - far + margin)
    return reduced(t, t.value(loss), reduction_of(reduction, size_average, reduce))


@row("multilabel_soft_margin_loss", meta=False)
def multilabel_soft_margin_loss(
    t, input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    F = torch.nn.functional
    loss = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    loss = (loss if weight is None else loss * weight).mean(-1)
    return reduced(t, t.value(loss), reduction_of(reduction, size_average, reduce))


@row("triplet_margin_with_distance_loss", meta=False)
def triplet_margin_with_distance_loss(
    t,
    anchor,
    positive,
    negative,
    *,
    distance_function=None,
    margin=1.0,
    swap=False,
    reduction="mean",
):
    distance = distance_function or torch.nn.functional.pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = torch.minimum(far, distance(positive, negative))
    return reduced(t, t.value(torch.relu(near - far + margin)), reduction)
