"""Reductions, softmax, sorting."""
import torch

from samba.functions.table import axes, axis, device_dtype, floating, row
from samba.tracing import Unsupported


def reduced(t, operator, value, dim, keepdim):
    rank = len(value.shape)
    if not rank:
        return value
    return t.op(operator, value, dim=axes(dim, rank), keepdim=bool(keepdim))


@row("sum")
def sum_(t, input, dim=None, keepdim=False, *, dtype=None):
    value = t.value(input)
    if dtype is None and value.dtype not in ("f32", "bf16", "f16"):
        dtype = torch.int64
    return reduced(t, "sum", t.value(value, device_dtype(t, dtype)), dim, keepdim)


@row("mean")
def mean(t, input, dim=None, keepdim=False, *, dtype=None):
    return reduced(t, "mean", t.value(input, device_dtype(t, dtype)), dim, keepdim)


@row("prod")
def prod(t, input, dim=None, keepdim=False, *, dtype=None):
    value = t.value(input)
    if dtype is None and value.dtype not in ("f32", "bf16", "f16"):
        dtype = torch.int64
    return reduced(t, "prod", t.value(value, device_dtype(t, dtype)), dim, keepdim)


@row("amax")
def amax(t, input, dim=(), keepdim=False):
    return reduced(t, "amax", t.value(input), dim, keepdim)


@row("amin")
def amin(t, input, dim=(), keepdim=False):
    return reduced(t, "amin", t.value(input), dim, keepdim)


@row("logsumexp")
def logsumexp(t, input, dim, keepdim=False):
    return reduced(t, "logsumexp", floating(t, input), dim, keepdim)


def extreme(operator, position, binary):
    """max and min: of everything, along a dimension with indices, or of two tensors."""

    def build(t, input, dim=None, keepdim=False, *, other=None):
        if isinstance(dim, torch.Tensor) or other is not None:
            return t.op(binary, *_promoted(t, input, other if other is not None else dim))
        value = t.value(input)
        if dim is None:
            return reduced(t, operator, value, None, False)
        at = axis(dim, len(value.shape))
        found = t.op(position, value, dim=at, keepdim=True)
        values = t.op("gather", value, found, dim=at)
        if not keepdim:
            shape = value.shape[:at] + value.shape[at + 1 :]
            values, found = t.reshape(values, shape), t.reshape(found, shape)
        return (values, found)

    return build


def _promoted(t, a, b):
    from samba.functions.table import promote

    return promote(t, a, b)


row("max")(extreme("amax", "argmax", "maximum"))
row("min")(extreme("amin", "argmin", "minimum"))


def position(operator):
    def build(t, input, dim=None, keepdim=False):
        value = t.value(input)
        if dim is None:
            return t.reshape(t.op(operator, t.reshape(value, (_count(value),)), dim=0), ())
        return t.op(operator, value, dim=axis(dim, len(value.shape)), keepdim=bool(keepdim))

    return build


def _count(value):
    count = 1
    for size in value.shape:
        count *= size
    return count


row("argmax")(position("argmax"))
row("argmin")(position("argmin"))


@row("any", meta=False)
def any_(t, input, dim=None, keepdim=False):
    return logical(t, input, dim, keepdim, "amax")


@row("all", meta=False)
def all_(t, input, dim=None, keepdim=False):
    return logical(t, input, dim, keepdim, "amin")


def logical(t, input, dim, keepdim, operator):
    from samba.functions.elementwise import as_bool

    value = t.cast(as_bool(t, input), "i32")
    return t.cast(reduced(t, operator, value, dim, keepdim), "i1")


@row("count_nonzero", meta=False)
def count_nonzero(t, input, dim=None):
    from samba.functions.elementwise import as_bool

    return reduced(t, "sum", t.cast(as_bool(t, input), "i64"), dim, False)


def variance(t, input, dim, correction, keepdim):
    """Mean of the squared distances from the mean, and the mean, with dimensions kept."""
    value = floating(t, input)
    dims = axes(dim, len(value.shape))
    count = 1
    for d in dims:
        count *= value.shape[d]
    mean = t.op("mean", value, dim=dims, keepdim=True)
    distance = t.op("sub", value, mean)
    total = t.op("sum", t.op("mul", distance, distance), dim=dims, keepdim=bool(keepdim))
    if not keepdim:
        mean = t.reshape(mean, total.shape)
    if count <= correction:
        raise ValueError(
            f"the variance of {count} values with correction {correction} is not defined"
        )
    return t.op("mul", total, t.scalar(1 / (count - correction), value.dtype)), mean


def spread(root, with_mean):
    def build(t, input, dim=None, unbiased=True, keepdim=False, *, correction=None):
        if isinstance(dim, bool):  # var(x, unbiased)
            dim, unbiased = None, dim
        correction = int(unbiased) if correction is None else correction
        result, mean = variance(t, input, dim, correction, keepdim)
        result = t.op("sqrt", result) if root else result
        return (result, mean) if with_mean else result

    return build


row("var")(spread(False, False))
row("std")(spread(True, False))
row("var_mean", meta=False)(spread(False, True))
row("std_mean", meta=False)(spread(True, True))


@row("norm", "vector_norm", meta=False)
def norm(t, input, p="fro", dim=None, keepdim=False, dtype=None, ord=None):
    p = ord if ord is not None else p
    p = 2 if p in ("fro", None) else p
    x = t.value(input, device_dtype(t, dtype))
    magnitude = t.op("abs", x)
    if p in (float("inf"), float("-inf")):
        return reduced(t, "amax" if p > 0 else "amin", magnitude, dim, keepdim)
    if p == 1:
        return reduced(t, "sum", magnitude, dim, keepdim)
    if p == 2:
        return t.op("sqrt", reduced(t, "sum", t.op("mul", x, x), dim, keepdim))
    if p == "nuc":
        raise Unsupported("the nuclear norm")
    total = reduced(t, "sum", t.op("pow", magnitude, t.scalar(float(p), x.dtype)), dim, keepdim)
    return t.op("pow", total, t.scalar(1 / p, x.dtype))


@row("dist", meta=False)
def dist(t, input, other, p=2):
    return norm(t, t.wrap(t.op("sub", input, other)), p)


@row("softmax")
def softmax(t, input, dim=None, dtype=None, _stacklevel=3):
    return soft(t, "softmax", input, dim, dtype)


@row("log_softmax")
def log_softmax(t, input, dim=None, dtype=None, _stacklevel=3):
    return soft(t, "log_softmax", input, dim, dtype)


def soft(t, operator, input, dim, dtype):
    value = t.value(input, device_dtype(t, dtype))
    rank = len(value.shape)
    if dim is None:
        dim = 0 if rank in (0, 1, 3) else 1
    if not rank:
        return t.reshape(t.op(operator, t.reshape(value, (1,)), dim=0), ())
    return t.op(operator, value, dim=axis(dim, rank))


@row("softmin")
def softmin(t, input, dim=None, dtype=None, _stacklevel=3):
    return soft(t, "softmax", t.wrap(t.op("neg", input)), dim, dtype)


@row("cumsum")
def cumsum(t, input, dim, *, dtype=None):
    value = t.value(input)
    if dtype is None and value.dtype not in ("f32", "bf16", "f16"):
        dtype = torch.int64
    return t.op("cumsum", t.value(value, device_dtype(t, dtype)), dim=axis(dim, len(value.shape)))


@row("topk")
def topk(t, input, k, dim=-1, largest=True, sorted=True):
    return t.op("topk", input, k=k, dim=axis(dim, len(input.shape)), largest=bool(largest))


@row("sort")
def sort(t, input, dim=-1, descending=False, stable=False):
    return t.op("sort", input, dim=axis(dim, len(input.shape)), descending=bool(descending))


@row("argsort")
def argsort(t, input, dim=-1, descending=False, stable=False):
    return t.op("argsort", input, dim=axis(dim, len(input.shape)), descending=bool(descending))


@row("aminmax", meta=False)
def aminmax(t, input, *, dim=None, keepdim=False):
    value = t.value(input)
    return tuple(reduced(t, name, value, dim, keepdim) for name in ("amin", "amax"))


def numbers_only(t, input):
    """The value with 0 for NaN, and where it is a number."""
    value = t.value(input)
    is_number = t.op("eq", value, value)
    return t.op("where", is_number, value, t.scalar(0, value.dtype)), is_number


@row("nansum", meta=False)
def nansum(t, input, dim=None, keepdim=False, *, dtype=None):
    return reduced(t, "sum", numbers_only(t, input)[0], dim, keepdim)


@row("nanmean", meta=False)
def nanmean(t, input, dim=None, keepdim=False, *, dtype=None):
    value, is_number = numbers_only(t, input)
    count = reduced(t, "sum", t.cast(is_number, value.dtype), dim, keepdim)
    return t.op("div", reduced(t, "sum", value, dim, keepdim), count)


def ordered(t, input, position, dim, keepdim):
    """The element at a position of the sorted dimension, and where it was."""
    value = t.value(input)
    at = axis(dim, len(value.shape))
    shape = value.shape[:at] + ((1,) if keepdim else ()) + value.shape[at + 1 :]
    results = t.op("sort", value, dim=at)
    return tuple(t.reshape(t.slice(r, at, position, position + 1), shape) for r in results)


@row("kthvalue", meta=False)
def kthvalue(t, input, k, dim=-1, keepdim=False):
    return ordered(t, input, k - 1, dim, keepdim)


@row("median", meta=False)
def median(t, input, dim=None, keepdim=False):
    if dim is None:
        value = t.value(input)
        flat = t.reshape(value, (_count(value),))
        return t.reshape(ordered(t, flat, (_count(value) - 1) // 2, 0, False)[0], ())
    size = t.value(input).shape[axis(dim, len(t.value(input).shape))]
    return ordered(t, input, (size - 1) // 2, dim, keepdim)


@row("trace", meta=False)
def trace(t, input):
    value = t.wrap(t.value(input))
    return t.value(torch.diagonal(value).sum())


@row("msort", meta=False)
def msort(t, input):
    return sort(t, input, 0)[0]
