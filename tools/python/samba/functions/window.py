"""Convolutions, pools, resampling."""
import itertools
import math

import torch

from samba.functions.table import numbers, row
from samba.tracing import Unsupported


def batched(t, input, spatial):
    """The value with a batch dimension, and whether it had none."""
    x = t.value(input)
    if len(x.shape) == spatial + 1:
        return t.reshape(x, (1,) + x.shape), True
    return x, False


def unbatched(t, value, was):
    return t.reshape(value, value.shape[1:]) if was else value


def paddings(padding, spatial, kernel, dilation):
    """Begins, then ends."""
    if padding == "valid":
        return [0] * (2 * spatial)
    if padding == "same":
        total = [d * (k - 1) for k, d in zip(kernel, dilation)]
        return [p // 2 for p in total] + [p - p // 2 for p in total]
    return numbers(padding, spatial) * 2


def convolution(spatial):
    def build(t, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
        x, was = batched(t, input, spatial)
        w = t.value(weight)
        dilation = numbers(dilation, spatial)
        result = t.op(
            f"conv{spatial}d",
            x,
            w,
            bias,
            stride=numbers(stride, spatial),
            padding=paddings(padding, spatial, w.shape[2:], dilation),
            dilation=dilation,
            groups=groups,
        )
        return unbatched(t, result, was)

    return build


def transposed(spatial):
    def build(
        t, input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
    ):
        x, was = batched(t, input, spatial)
        w = t.value(weight)
        stride, dilation = numbers(stride, spatial), numbers(dilation, spatial)
        padding, extra = numbers(padding, spatial), numbers(output_padding, spatial)
        sizes, cut = [], []
        for i in range(spatial):  # one whose size the stride divides, of which a part is taken
            size = (x.shape[2 + i] - 1) * stride[i] + dilation[i] * (w.shape[2 + i] - 1) + 1
            size += extra[i] - 2 * padding[i]
            more = -size % stride[i] if stride[i] > 1 and size > 0 else 0
            sizes.append(size)
            cut.append(more)
        result = t.op(
            f"conv_transpose{spatial}d",
            x,
            w,
            bias,
            stride=stride,
            padding=padding * 2,
            output_padding=[a + b for a, b in zip(extra, cut)],
            dilation=dilation,
            groups=groups,
        )
        for i, size in enumerate(sizes):
            result = t.slice(result, 2 + i, 0, size)
        return unbatched(t, result, was)

    return build


for _n in (1, 2, 3):
    row(f"conv{_n}d", meta=False)(convolution(_n))
    row(f"conv_transpose{_n}d", meta=False)(transposed(_n))


def max_pool(spatial):
    def build(
        t,
        input,
        kernel_size,
        stride=None,
        padding=0,
        dilation=1,
        ceil_mode=False,
        return_indices=False,
    ):
        x, was = batched(t, input, spatial)
        kernel = numbers(kernel_size, spatial)
        attributes = {
            "kernel_size": kernel,
            "stride": kernel if stride in (None, []) else numbers(stride, spatial),
            "padding": numbers(padding, spatial) * 2,
            "dilation": numbers(dilation, spatial),
            "ceil_mode": bool(ceil_mode),
        }
        if return_indices:
            results = t.op(f"max_pool{spatial}d_with_indices", x, **attributes)
            return tuple(unbatched(t, r, was) for r in results)
        return unbatched(t, t.op(f"max_pool{spatial}d", x, **attributes), was)

    return build


def avg_pool(spatial):
    def build(
        t,
        input,
        kernel_size,
        stride=None,
        padding=0,
        ceil_mode=False,
        count_include_pad=True,
        divisor_override=None,
    ):
        if divisor_override is not None:
            raise Unsupported("divisor_override")
        x, was = batched(t, input, spatial)
        kernel = numbers(kernel_size, spatial)
        result = t.op(
            f"avg_pool{spatial}d",
            x,
            kernel_size=kernel,
            stride=kernel if stride in (None, []) else numbers(stride, spatial),
            padding=numbers(padding, spatial) * 2,
            ceil_mode=bool(ceil_mode),
            count_include_pad=bool(count_include_pad),
        )
        return unbatched(t, result, was)

    return build


def lp_pool(spatial):
    def build(t, input, norm_type, kernel_size, stride=None, ceil_mode=False):
        x, was = batched(t, input, spatial)
        kernel = numbers(kernel_size, spatial)
        result = t.op(
            f"lp_pool{spatial}d",
            x,
            norm_type=norm_type,
            kernel_size=kernel,
            stride=kernel if stride is None else numbers(stride, spatial),
            ceil_mode=bool(ceil_mode),
        )
        return unbatched(t, result, was)

    return build


def adaptive(spatial, pool):
    """Windows of one size; where the sizes do not divide, window by window."""

    def build(t, input, output_size):
        x, was = batched(t, input, spatial)
        wanted = (
            list(output_size) if isinstance(output_size, (tuple, list)) else [output_size] * spatial
        )
        wanted = [x.shape[2 + i] if w is None else int(w) for i, w in enumerate(wanted)]
        for i, count in enumerate(wanted):
            x = along(t, x, 2 + i, count, "mean" if pool == "avg" else "amax")
        return unbatched(t, x, was)

    def whole(t, x, wanted):
        sizes = x.shape[2:]
        if any(s % w for s, w in zip(sizes, wanted)):
            return None
        return [s // w for s, w in zip(sizes, wanted)]

    def first(t, input, output_size, return_indices=False):
        x, was = batched(t, input, spatial)
        wanted = (
            list(output_size) if isinstance(output_size, (tuple, list)) else [output_size] * spatial
        )
        wanted = [x.shape[2 + i] if w is None else int(w) for i, w in enumerate(wanted)]
        kernel = whole(t, x, wanted)
        if return_indices:
            values, places = picked(t, x, wanted, kernel)
            return unbatched(t, values, was), unbatched(t, places, was)
        if kernel is None:
            return build(t, input, output_size)
        if kernel == [1] * spatial:
            return unbatched(t, x, was)
        if wanted == [1] * spatial:
            dims = list(range(2, 2 + spatial))
            return unbatched(
                t, t.op("mean" if pool == "avg" else "amax", x, dim=dims, keepdim=True), was
            )
        return unbatched(
            t, t.op(f"{pool}_pool{spatial}d", x, kernel_size=kernel, stride=kernel), was
        )

    return first


def window(i, count, size):
    """Window number i of an adaptive pool: [floor(i n / count), ceil((i + 1) n / count))."""
    return i * size // count, -(-(i + 1) * size // count)


MOST_WINDOWS = 256


def picked(t, x, wanted, kernel):
    """The largest elements of the windows of an adaptive pool, and where they lie in x[n, c]."""
    sizes = list(x.shape[2:])
    if kernel is not None:
        return t.op(f"max_pool{len(wanted)}d_with_indices", x, kernel_size=kernel, stride=kernel)
    count = 1
    for number in wanted:
        count *= number
    if count > MOST_WINDOWS:
        raise Unsupported(
            f"indices of an adaptive pool with {count} windows of different sizes (at most "
            f"{MOST_WINDOWS}); an output size that divides the input's has no such limit"
        )
    planes = tuple(x.shape[:2])
    numbers_of = t.expand(
        t.reshape(t.value(torch.arange(math.prod(sizes))), (1, 1, *sizes)), x.shape
    )
    places = []
    for cell in itertools.product(*map(range, wanted)):
        part, its = x, numbers_of
        for axis_of, (i, most, size) in enumerate(zip(cell, wanted, sizes)):
            start, end = window(i, most, size)
            part = t.slice(part, 2 + axis_of, start, end)
            its = t.slice(its, 2 + axis_of, start, end)
        flat = planes + (math.prod(part.shape[2:]),)
        first = t.op("argmax", t.reshape(part, flat), dim=2, keepdim=True)
        places.append(t.op("gather", t.reshape(its, flat), first, dim=2))
    places = places[0] if count == 1 else t.op("cat", *places, dim=2)
    values = t.op("gather", t.reshape(x, planes + (math.prod(sizes),)), places, dim=2)
    return t.reshape(values, planes + tuple(wanted)), t.reshape(places, planes + tuple(wanted))


def along(t, x, dim, count, operator):
    """The windows of one dimension, each reduced."""
    size = x.shape[dim]
    if size == count:
        return x
    parts = []
    for i in range(count):
        start, end = window(i, count, size)
        parts.append(t.op(operator, t.slice(x, dim, start, end), dim=[dim], keepdim=True))
    return parts[0] if count == 1 else t.op("cat", *parts, dim=dim)


for _n in (1, 2, 3):
    row(f"max_pool{_n}d", meta=False)(max_pool(_n))
    row(f"max_pool{_n}d_with_indices", meta=False)(
        lambda t, *a, _pool=max_pool(_n), return_indices=False, **k: _pool(
            t, *a, return_indices=True, **k
        )
    )
    row(f"avg_pool{_n}d", meta=False)(avg_pool(_n))
    row(f"adaptive_avg_pool{_n}d", meta=False)(adaptive(_n, "avg"))
    row(f"adaptive_max_pool{_n}d", meta=False)(adaptive(_n, "max"))
    row(f"adaptive_max_pool{_n}d_with_indices", meta=False)(
        lambda t, x, size, return_indices=False, _pool=adaptive(_n, "max"): _pool(t, x, size, True)
    )
for _n in (1, 2):
    row(f"lp_pool{_n}d", meta=False)(lp_pool(_n))


@row("interpolate", meta=False)
def interpolate(
    t,
    input,
    size=None,
    scale_factor=None,
    mode="nearest",
    align_corners=None,
    recompute_scale_factor=None,
    antialias=False,
):
    x = t.value(input)
    spatial = len(x.shape) - 2
    scales = None
    if size is not None:
        size = numbers(size, spatial)
    else:
        factors = (
            [scale_factor] * spatial
            if isinstance(scale_factor, (int, float))
            else list(scale_factor)
        )
        size = [int(s * f) for s, f in zip(x.shape[2:], factors)]
        scales = None if recompute_scale_factor else [1.0, 1.0] + [float(f) for f in factors]
    modes = {
        "nearest": "nearest",
        "linear": "linear",
        "bilinear": "linear",
        "trilinear": "linear",
        "bicubic": "cubic",
        "nearest-exact": "nearest",
        "area": None,
    }
    if mode not in modes:
        raise ValueError(f"mode '{mode}' is none of: {', '.join(modes)}")
    if mode == "area":
        return adaptive(spatial, "avg")(t, input, size)
    coordinates = "align_corners" if align_corners else "half_pixel"
    attributes = {"mode": modes[mode], "coordinate_mode": coordinates, "antialias": bool(antialias)}
    if mode == "nearest":
        attributes.update(coordinate_mode="asymmetric", nearest_mode="floor")
    if mode == "nearest-exact":
        attributes.update(nearest_mode="round_prefer_ceil")
    if mode == "bicubic":
        attributes.update(cubic_coeff_a=-0.75)
    if scales and not align_corners:
        attributes.update(scales=scales)
    return t.op("interpolate", x, output_size=list(x.shape[:2]) + size, **attributes)


@row("grid_sample", meta=False)
def grid_sample(t, input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    return t.op(
        "grid_sample",
        input,
        grid,
        mode=mode,
        padding_mode=padding_mode,
        align_corners=bool(align_corners),
    )


@row("affine_grid", meta=False)
def affine_grid(t, theta, size, align_corners=None):
    return t.op("affine_grid", theta, output_size=list(size), align_corners=bool(align_corners))


@row("Tensor.unfold")
def tensor_unfold(t, input, dimension, size, step):
    x = t.value(input)
    dim = dimension % len(x.shape)
    count = (x.shape[dim] - size) // step + 1
    parts = []
    for start in range(size):
        part = t.slice(x, dim, start, start + (count - 1) * step + 1, step)
        parts.append(t.reshape(part, part.shape + (1,)))
    return parts[0] if size == 1 else t.op("cat", *parts, dim=len(x.shape))


@row("unfold", meta=False)
def unfold(t, input, kernel_size, dilation=1, padding=0, stride=1):
    """Windows as columns (im2col): one slice for each element of the window."""
    x, was = batched(t, input, 2)
    kernel, dilation = numbers(kernel_size, 2), numbers(dilation, 2)
    padding, stride = numbers(padding, 2), numbers(stride, 2)
    n, c = x.shape[:2]
    if any(padding):
        low = [0, 0] + padding
        x = t.op("pad", x, low=low, high=low, value=0.0)
    counts = [
        (x.shape[2 + i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in range(2)
    ]
    parts = []
    for row_ in range(kernel[0]):
        for column in range(kernel[1]):
            part = x
            for dim, start in ((0, row_ * dilation[0]), (1, column * dilation[1])):
                end = start + (counts[dim] - 1) * stride[dim] + 1
                part = t.slice(part, 2 + dim, start, end, stride[dim])
            parts.append(t.reshape(part, (n, c, 1, counts[0] * counts[1])))
    result = parts[0] if len(parts) == 1 else t.op("cat", *parts, dim=2)
    return unbatched(t, t.reshape(result, (n, c * len(parts), counts[0] * counts[1])), was)


@row("fold", meta=False)
def fold(t, input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """Columns summed into an image (col2im)."""
    x = t.value(input)
    was = len(x.shape) == 2
    x = t.reshape(x, (1,) + x.shape) if was else x
    result = t.op(
        "fold",
        x,
        output_size=numbers(output_size, 2),
        kernel_size=numbers(kernel_size, 2),
        stride=numbers(stride, 2),
        padding=numbers(padding, 2) * 2,
        dilation=numbers(dilation, 2),
    )
    return unbatched(t, result, was)


def unpool(spatial):
    def build(t, input, indices, kernel_size, stride=None, padding=0, output_size=None):
        x, was = batched(t, input, spatial)
        at, _ = batched(t, indices, spatial)
        if output_size is not None:
            size = list(output_size)[-spatial:]
        else:
            kernel, padding = numbers(kernel_size, spatial), numbers(padding, spatial)
            stride = kernel if stride in (None, []) else numbers(stride, spatial)
            size = [
                (s - 1) * stride[i] - 2 * padding[i] + kernel[i] for i, s in enumerate(x.shape[2:])
            ]
        # Indices of torch count in one image; the operator's count in the whole tensor.
        return unbatched(t, t.op("max_unpool", x, at, output_size=size), was)

    return build


for _n in (1, 2, 3):
    row(f"max_unpool{_n}d", meta=False)(unpool(_n))
