"""Transposed convolutions and pools."""
import numpy as np
import torch
import torch.nn.functional as F

from writer import case

torch.manual_seed(21)


def r(*shape):
    return torch.randn(*shape)


def both(p):
    return list(p) + list(p)


# Transposed convolutions: overlapping, gaps between windows, phases without taps, strides that do
# not divide the result.
x1, x2, x3 = r(2, 4, 5), r(1, 4, 3, 4), r(1, 2, 2, 3, 2)
for stride, k, p, extra, d in [
    (1, 3, 0, 0, 1),
    (2, 3, 1, 1, 1),
    (2, 4, 1, 0, 1),
    (3, 2, 0, 1, 1),
    (2, 3, 0, 0, 2),
    (3, 3, 2, 0, 2),
    (4, 6, 1, 2, 1),
    (4, 3, 0, 2, 6),
]:
    case(
        "conv_transpose1d",
        [x1, w := r(4, 3, k), b := r(3)],
        F.conv_transpose1d(x1, w, b, stride, p, extra, 1, d),
        stride=[stride],
        padding=[p, p],
        output_padding=[extra],
        dilation=[d],
    )
case("conv_transpose1d", [x1, w := r(4, 3, 2)], F.conv_transpose1d(x1, w, stride=3), stride=[3])
case(
    "conv_transpose1d",
    [x1, w := r(4, 3, 3)],
    F.conv_transpose1d(x1, w, stride=2)[:, :, 2:-1],
    stride=[2],
    padding=[2, 1],
)
case(
    "conv_transpose2d", [x2, w := r(4, 3, 2, 2)], F.conv_transpose2d(x2, w, stride=2), stride=[2, 2]
)
case(
    "conv_transpose2d",
    [x2, w := r(4, 3, 3, 2), b],
    F.conv_transpose2d(x2, w, b, (2, 1), (1, 0), (1, 0)),
    stride=[2, 1],
    padding=[1, 0, 1, 0],
    output_padding=[1, 0],
)
case(
    "conv_transpose2d",
    [x2, w := r(4, 3, 3, 3), b6 := r(6)],
    F.conv_transpose2d(x2, w, b6, 2, 1, 1, 2),
    stride=[2, 2],
    padding=both([1, 1]),
    output_padding=[1, 1],
    groups=2,
)
case(
    "conv_transpose2d",
    [x2, w := r(4, 1, 3, 3), b := r(4)],
    F.conv_transpose2d(x2, w, b, 2, 1, 0, 4),
    stride=[2, 2],
    padding=both([1, 1]),
    groups=4,
)
xb, wb = x2.bfloat16(), r(4, 3, 3, 3).bfloat16()
case(
    "conv_transpose2d",
    [xb, wb],
    F.conv_transpose2d(xb.double(), wb.double(), stride=2).bfloat16(),
    stride=[2, 2],
)
case(
    "conv_transpose2d",
    [xb, wb, b := r(3)],
    F.conv_transpose2d(xb.double(), wb.double(), b.double(), stride=2, padding=1).float(),
    stride=[2, 2],
    padding=both([1, 1]),
    out_dtype="f32",
)
case(
    "conv_transpose3d",
    [x3, w := r(2, 3, 2, 3, 2), b := r(3)],
    F.conv_transpose3d(x3, w, b, (2, 1, 2), (0, 1, 0)),
    stride=[2, 1, 2],
    padding=both([0, 1, 0]),
)
case(
    "conv_transpose3d",
    [x3, w := r(2, 3, 2, 2, 3)],
    F.conv_transpose3d(x3, w, stride=2, groups=2, output_padding=(0, 0, 1)),
    stride=[2, 2, 2],
    groups=2,
    output_padding=[0, 0, 1],
)
one = torch.tensor([[[1, float("inf"), 2]]])
case(
    "conv_transpose1d",
    [one, w := torch.tensor([[[1.0, 2, 3]]])],
    torch.tensor([[[1.0, 2, float("inf"), float("inf"), float("inf"), 4, 6]]]),
    stride=[2],
)

# Indices: ties, NaN, infinities, integers.
s = r(2, 3, 9)
im = r(1, 2, 6, 7)
vol = r(1, 2, 4, 5, 4)
nan, inf = float("nan"), float("inf")


def indexed(n, x, k, stride=None, p=0, d=1, ceil=False):
    f = [F.max_pool1d, F.max_pool2d, F.max_pool3d][n - 1]
    values, indices = f(x, k, stride, p, d, ceil, True)
    case(
        f"max_pool{n}d_with_indices",
        [x],
        [values, indices],
        kernel_size=[k] * n,
        stride=[stride or k] * n,
        padding=both([p] * n),
        dilation=[d] * n,
        ceil_mode=ceil,
    )


indexed(1, s, 3, 2, 1)
indexed(1, torch.zeros(1, 1, 6), 3, 1, 1)
indexed(1, torch.tensor([[[1, nan, 2, nan, -inf, -inf, -inf, 3, 3.0]]]), 3, 1, 1)
indexed(1, torch.full((1, 1, 5), -inf), 3, 2, 1)
indexed(1, torch.full((1, 1, 5), inf), 3, 2, 1)
indexed(2, im, 2)
indexed(2, im, 3, 2, 1, 1, True)
indexed(2, im, 2, 1, 0, 2)
indexed(2, im.bfloat16().float(), 3, 2, 1)
indexed(3, vol, 2, 2)
indexed(3, vol, 3, 2, 1, 1, True)
for dtype in [torch.int8, torch.uint8, torch.int32, torch.int64]:
    low, high = torch.iinfo(dtype).min, torch.iinfo(dtype).max
    if dtype == torch.int64:
        low, high = -1000, 1000
    values = torch.tensor([[[low, low, high, high, low, 0, 1, low, low]]], dtype=dtype)
    v, i = F.max_pool1d(values.double(), 3, 2, 1, 1, False, True)
    case(
        "max_pool1d_with_indices",
        [values],
        [v.to(dtype), i],
        kernel_size=[3],
        stride=[2],
        padding=[1, 1],
    )
    case("max_pool1d", [values], v.to(dtype), kernel_size=[3], stride=[2], padding=[1, 1])


# Averages: every form against the definition.
def average(x, k, stride, begin, end, d, ceil, include):
    x = x.double().numpy()
    n = x.ndim - 2
    outs = []
    for i in range(n):
        steps = x.shape[2 + i] + begin[i] + end[i] - d[i] * (k[i] - 1) - 1
        out = steps // stride[i] + 1
        if ceil and steps % stride[i] and out * stride[i] < x.shape[2 + i] + begin[i]:
            out += 1
        outs.append(out)
    y = np.zeros(x.shape[:2] + tuple(outs))
    for o in np.ndindex(*outs):
        total, count = 0, 0
        for t in np.ndindex(*k):
            at = [o[i] * stride[i] - begin[i] + t[i] * d[i] for i in range(n)]
            if all(0 <= a < x.shape[2 + i] for i, a in enumerate(at)):
                total, count = total + x[(slice(None), slice(None), *at)], count + 1
            elif include and all(
                -begin[i] <= a < x.shape[2 + i] + end[i] for i, a in enumerate(at)
            ):
                count += 1
        y[(slice(None), slice(None), *o)] = total / count
    return torch.from_numpy(y)


for include in [True, False]:
    for k, stride, begin, end, d, ceil in [
        ([3, 2], [2, 2], [1, 0], [0, 1], [1, 1], True),
        ([2, 3], [1, 2], [1, 2], [1, 1], [3, 2], False),
        ([2, 2], [3, 2], [2, 1], [0, 1], [2, 3], True),
    ]:
        case(
            "avg_pool2d",
            [im],
            average(im, k, stride, begin, end, d, ceil, include).float(),
            kernel_size=k,
            stride=stride,
            padding=begin + end,
            dilation=d,
            ceil_mode=ceil,
            count_include_pad=include,
        )
    k, stride, begin, end, d = [2, 3, 2], [2, 1, 1], [1, 1, 0], [0, 1, 1], [2, 1, 1]
    case(
        "avg_pool3d",
        [vol],
        average(vol, k, stride, begin, end, d, True, include).float(),
        kernel_size=k,
        stride=stride,
        padding=begin + end,
        dilation=d,
        ceil_mode=True,
        count_include_pad=include,
    )
half = s.bfloat16()
case(
    "avg_pool1d",
    [half],
    average(half.float(), [4], [2], [1], [2], [1], True, False).bfloat16(),
    kernel_size=[4],
    stride=[2],
    padding=[1, 2],
    ceil_mode=True,
    count_include_pad=False,
)

# Norms of windows.
for p in [1.0, 2.0, 3.0, 0.5]:
    case(
        "lp_pool1d",
        [s],
        (F.avg_pool1d(s.double().abs() ** p, 3, 2, 1) * 3).pow(1 / p).float(),
        norm_type=p,
        kernel_size=[3],
        stride=[2],
        padding=[1, 1],
    )
case(
    "lp_pool2d",
    [im],
    (F.avg_pool2d(F.pad(im.double(), (0, 1, 1, 0)) ** 2, 2) * 4).sqrt().float(),
    norm_type=2.0,
    kernel_size=[2, 2],
    padding=[1, 0, 0, 1],
)
case(
    "lp_pool2d",
    [im],
    F.unfold(im.double().abs().transpose(0, 1), 2, 2)
    .pow(3)
    .sum(1)
    .pow(1 / 3)
    .reshape(1, 2, 4, 5)
    .float(),
    norm_type=3.0,
    kernel_size=[2, 2],
    stride=[1, 1],
    dilation=[2, 2],
)
case(
    "lp_pool3d",
    [vol],
    (F.avg_pool3d(vol.double().abs(), 2, 2, ceil_mode=False) * 8).float(),
    norm_type=1.0,
    kernel_size=[2, 2, 2],
)


# Gradients of weights, by autograd in f64: positions that the window does not reach, groups,
# padding of one side.
def weight_gradient(n, x, g, window, stride=1, padding=0, dilation=1, groups=1):
    w = torch.zeros(g.shape[1], x.shape[1] // groups, *window, dtype=torch.double)
    convolve = getattr(F, f"conv{n}d")
    y = convolve(x.double(), w.requires_grad_(), None, stride, padding, dilation, groups)
    return torch.autograd.grad(y, w, g.double())[0].float()


for n, sizes in [(1, (3, 4, 9)), (2, (2, 4, 8, 7)), (3, (1, 4, 5, 4, 6))]:
    x = r(*sizes)
    for k, s, p, d, groups in [
        (3, 1, 1, 1, 1),
        (2, 2, 0, 1, 1),
        (3, 2, 1, 1, 4),
        (2, 1, 1, 3, 2),
        (1, 3, 0, 1, 2),
    ]:
        out = [(size + 2 * p - d * (k - 1) - 1) // s + 1 for size in sizes[2:]]
        g = r(sizes[0], 8 if groups < 4 else 4, *out)
        case(
            f"conv{n}d_weight_gradient",
            [x, g],
            weight_gradient(n, x, g, [k] * n, s, p, d, groups),
            kernel_size=[k] * n,
            stride=[s] * n,
            padding=[p] * 2 * n,
            dilation=[d] * n,
            groups=groups,
        )
x, g = r(2, 3, 6, 9), r(2, 5, 1, 4)
case(
    "conv2d_weight_gradient",
    [x, g],
    weight_gradient(2, F.pad(x, (3, 0, 0, 2)), g, [3, 2], (2, 3), 0, (3, 1)),
    kernel_size=[3, 2],
    stride=[2, 3],
    padding=[0, 3, 2, 0],
    dilation=[3, 1],
)
x, g = r(2, 3, 6).bfloat16(), r(2, 5, 4).bfloat16()
case(
    "conv1d_weight_gradient",
    [x, g],
    weight_gradient(1, x, g, [3]),
    kernel_size=[3],
    out_dtype="f32",
)


# Images that hold the channels of a pixel side by side: what the operator on channels first makes
# of them, permuted.
def last(image):
    return image.permute(0, 2, 3, 1).contiguous()


x = r(2, 4, 7, 6)
for outputs, k, s, p, d, groups in [
    (5, 1, 1, 0, 1, 1),
    (6, 3, 2, 1, 1, 2),
    (4, 2, 1, 1, 2, 4),
    (8, 3, 3, 0, 1, 1),
]:
    w, b = r(outputs, 4 // groups, k, k), r(outputs)
    case(
        "conv2d_channels_last",
        [last(x), w, b],
        last(F.conv2d(x, w, b, s, p, d, groups)),
        stride=[s, s],
        padding=[p] * 4,
        dilation=[d, d],
        groups=groups,
    )
w = r(3, 4, 3, 2)
case(
    "conv2d_channels_last",
    [last(x).bfloat16(), w.bfloat16()],
    last(F.conv2d(x.bfloat16().double(), w.bfloat16().double(), None, (1, 2))).bfloat16(),
    stride=[1, 2],
)
window = {"kernel_size": [3, 2], "stride": [2, 1], "padding": [1, 0, 1, 0]}
case(
    "max_pool2d_channels_last",
    [last(x)],
    last(F.max_pool2d(x, (3, 2), (2, 1), (1, 0))),
    **window,
)
for counted in (True, False):
    case(
        "avg_pool2d_channels_last",
        [last(x)],
        last(F.avg_pool2d(x, (3, 2), (2, 1), (1, 0), count_include_pad=counted)),
        count_include_pad=counted,
        **window,
    )
