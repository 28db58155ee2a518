"""Normalizations and dropout."""
import torch

from samba.functions.table import axis, floating, row
from samba.tracing import Unsupported


@row("layer_norm", meta=False)
def layer_norm(t, input, normalized_shape, weight=None, bias=None, eps=1e-5, cudnn_enable=True):
    x, shape = t.value(input), [int(s) for s in normalized_shape]
    if weight is None and bias is not None:
        weight = t.scalar(1.0, x.dtype, tuple(shape))
    return t.op("layer_norm", x, weight, bias, normalized_shape=shape, eps=eps)


@row("rms_norm", meta=False)
def rms_norm(t, input, normalized_shape, weight=None, eps=None):
    return t.op("rms_norm", input, weight, normalized_shape=list(normalized_shape), eps=eps or 1e-6)


@row("group_norm", meta=False)
def group_norm(t, input, num_groups, weight=None, bias=None, eps=1e-5, cudnn_enabled=True):
    x = t.value(input)
    weight, bias = affine(t, x, weight, bias)
    return t.op("group_norm", x, weight, bias, num_groups=num_groups, eps=eps)


def affine(t, x, weight, bias):
    """Weight and bias per channel; ones and zeros where there are none."""
    channels = (x.shape[1],)
    weight = t.scalar(1.0, x.dtype, channels) if weight is None else weight
    return weight, t.scalar(0.0, x.dtype, channels) if bias is None else bias


@row("batch_norm", meta=False)
def batch_norm(
    t,
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    training=False,
    momentum=0.1,
    eps=1e-5,
    *others,
):
    if type(weight) is bool or len(others):
        raise Unsupported("this form of batch_norm")
    x = t.value(input)
    weight, bias = affine(t, x, weight, bias)
    if not training:
        return t.op("batch_norm", x, weight, bias, running_mean, running_var, eps=eps)
    channels = (x.shape[1],)
    mean = t.scalar(0.0, "f32", channels) if running_mean is None else t.value(running_mean)
    variance = t.scalar(1.0, "f32", channels) if running_var is None else t.value(running_var)
    result, new_mean, new_variance, _, _ = t.op(
        "batch_norm_training",
        x,
        weight,
        bias,
        mean,
        variance,
        eps=eps,
        momentum=1 - (momentum or 0.0),
        unbiased=True,
    )
    if running_mean is not None:
        t.assign(running_mean, new_mean)
        t.assign(running_var, new_variance)
    return result


@row("instance_norm", meta=False)
def instance_norm(
    t,
    input,
    running_mean=None,
    running_var=None,
    weight=None,
    bias=None,
    use_input_stats=True,
    momentum=0.1,
    eps=1e-5,
    *others,
):
    if not use_input_stats:
        return batch_norm(t, input, running_mean, running_var, weight, bias, False, momentum, eps)
    if running_mean is not None:
        raise Unsupported("running statistics of instance_norm")
    x = t.value(input)
    weight, bias = affine(t, x, weight, bias)
    return t.op("group_norm", x, weight, bias, num_groups=x.shape[1], eps=eps)


@row("local_response_norm", meta=False)
def local_response_norm(t, input, size, alpha=1e-4, beta=0.75, k=1.0):
    return t.op(
        "local_response_norm", input, size=size, alpha=alpha, beta=beta, k=k, before=size // 2
    )


@row("normalize", meta=False)
def normalize(t, input, p=2.0, dim=1, eps=1e-12, out=None):
    x = floating(t, input)
    return t.op("normalize", x, p=p, dim=axis(dim, len(x.shape)), eps=eps)


MOST = 0.99999994  # the largest f32 below 1


def dropout_of(t, x, p):
    """Elements are 0 with probability p; rate and seed are hyperparameters of the layer. Calls with
    one p in one layer have one rate, so that its name sets them all; each has its own seed."""
    if not 0 <= p <= 1:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    layer = t.layer.replace(".", "__") or "dropout"
    if (layer, p) not in t.dropout_rates:
        t.dropout_rates[layer, p] = t.trace.argin(
            f"{layer}__p", "dropout_rate", "p", "f32", min(p, MOST), 0.0, MOST
        )
    rate = t.dropout_rates[layer, p]
    seed = t.trace.argin(f"{layer}__seed", "dropout_seed", "seed", "i64", 0.0)
    return t.trace.call("dropout", [x, rate, seed])[0]


@row("dropout", meta=False)
def dropout(t, input, p=0.5, training=True, inplace=False, train=None):
    """Rate and seed are bound at each run, so a rate of 0 is traced too."""
    if not (training if train is None else train):
        return input
    return dropout_of(t, t.value(input), p)


def channel_dropout(spatial):
    def build(t, input, p=0.5, training=True, inplace=False):
        if not training:
            return input
        x = t.value(input)
        lead = x.shape[: len(x.shape) - spatial]
        ones = t.scalar(1.0, x.dtype, lead + (1,) * spatial)
        return t.op("mul", x, dropout_of(t, ones, p))

    return build


row("dropout1d", "feature_dropout", meta=False)(channel_dropout(1))
row("dropout2d", meta=False)(channel_dropout(2))
row("dropout3d", meta=False)(channel_dropout(3))


@row("alpha_dropout", "feature_alpha_dropout", meta=False)
def alpha_dropout(t, input, p=0.5, training=False, inplace=False):
    if not training:
        return input
    raise Unsupported("alpha_dropout of a model in training mode")


@row("_weight_norm", meta=False)
def weight_norm(t, v, g, dim=0):
    """v * g / |v|, the norm over all other dimensions."""
    value = t.value(v)
    dims = [d for d in range(len(value.shape)) if d != dim]
    total = t.op("sum", t.op("mul", value, value), dim=dims, keepdim=True)
    return t.op("mul", value, t.op("div", g, t.op("sqrt", total)))
