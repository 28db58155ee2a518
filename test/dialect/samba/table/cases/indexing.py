"""Gathers, scatters, resampling: against PyTorch, and against ONNX's formulas in NumPy where
PyTorch has none."""
import numpy as np
import torch
import torch.nn.functional as F
from torchvision.ops import roi_align

from writer import case

torch.manual_seed(5)
t = torch.tensor


def numpy_case(name, operands, result, **attributes):
    case(name, operands, torch.from_numpy(np.ascontiguousarray(result)), **attributes)


x = torch.randn(3, 4, 2)
index = t([[0, -1], [2, 1], [3, 3]])
numpy_case("take", [x, index], np.take(x.numpy(), index.numpy(), axis=1), dim=1)
numpy_case("take", [x, t(-1)], np.take(x.numpy(), -1, axis=0), dim=0)
case(
    "take",
    [x, t([[3, 0], [1, 1], [-4, 2]], dtype=torch.int32)],
    torch.stack([x[b][i] for b, i in enumerate([[3, 0], [1, 1], [0, 2]])]),
    dim=1,
    batch_dims=1,
)
case(
    "take",
    [x.transpose(0, 1).contiguous() > 0, t([2])],
    (x.transpose(0, 1) > 0)[:, :, [0, 1]][:, [2]],
    dim=-2,
)
case(
    "gather", [x, t([[[3, 0]], [[1, -1]]])], torch.gather(x[:2], 1, t([[[3, 0]], [[1, 3]]])), dim=1
)
ints = torch.arange(2**40, 2**40 + 6).reshape(2, 3)
case(
    "gather",
    [ints, t([[2, 0, 1], [1, -2, -3]])],
    torch.gather(ints, 1, t([[2, 0, 1], [1, 1, 0]])),
    dim=-1,
)

case("gather_nd", [x, t([[0, 1], [-1, -2]])], x[[0, 2], [1, 2]])
case("gather_nd", [x, t([[0, 1, 1], [2, -4, 0]])], x[[0, 2], [1, 0], [1, 0]])
case(
    "gather_nd",
    [x, t([[[1]], [[0]], [[-1]]])],
    torch.stack([x[0, 1], x[1, 0], x[2, 3]])[:, None],
    batch_dims=1,
)
case(
    "gather_nd",
    [x, t([[[1, 0]], [[0, 1]], [[-1, 1]]], dtype=torch.int32)],
    torch.stack([x[0, 1, 0], x[1, 0, 1], x[2, 3, 1]])[:, None],
    batch_dims=1,
)

case(
    "ravel_index",
    [t([[1, 2], [0, -1], [2, 0], [0, 3]])],
    t([5, 2, -(2**48), -(2**48)]),
    shape=[2, 3],
)
case(
    "ravel_index",
    [t([[1, -1], [0, 5]], dtype=torch.int32)],
    t([[2, 5], [0, -(2**48)]]),
    shape=[3, 2],
    dim=0,
)
case(
    "ravel_index",
    [t([[1, -1], [0, 5], [2, 1]], dtype=torch.int32)],
    t([0, 1, 2, 3, -(2**48), 5]),
    shape=[3, 2],
    lead=3,
)

case("scatter_rows", [t([[1.0, 2], [3, 4], [5, 6]]), t([1, 0, 1])], t([[3.0, 4], [5, 6]]), size=2)
rows, places = t([[1.0, 2], [3, 4], [5, 6]]), t([1, 0, 1])  # of a base no row stays: it is memory
case("put_rows", [torch.zeros(2, 2), rows, places], t([[3.0, 4], [5, 6]]))
base, updates = torch.randn(1, 3, 2), torch.randn(1, 4, 2)
target, places = t([[0, 1, 7]]), t([[1, 1, 7, 5]])
for reduce, op in [
    ("add", torch.add),
    ("mul", torch.mul),
    ("min", torch.minimum),
    ("max", torch.maximum),
]:
    for dtype in [torch.float32, torch.bfloat16, torch.int32, torch.int8] + [torch.int64] * (
        reduce in ("add", "mul")
    ):
        b, u = ((v * 5).to(dtype) for v in (base, updates))
        r = b.float() if dtype == torch.bfloat16 else b.clone()
        for k in range(4):
            for i in range(3):
                if places[0, k] == target[0, i]:
                    r[0, i] = op(r[0, i], u[0, k].to(r.dtype))
        case("match_reduce", [b, target, places, u], r.to(dtype), reduce=reduce)
flags, more = torch.rand(1, 3, 2) > 0.5, torch.rand(1, 4, 2) > 0.5
for reduce, op in [("min", torch.logical_and), ("max", torch.logical_or)]:
    r = flags.clone()
    for k in range(4):
        for i in range(3):
            if places[0, k] == target[0, i]:
                r[0, i] = op(r[0, i], more[0, k])
    case("match_reduce", [flags, target, places, more], r, reduce=reduce)

x = torch.randn(3, 5)
index, src = t([[0, 3, -1, 3], [2, 0, 2, -5]]), torch.randn(2, 4)
positive = torch.where(index < 0, index + 5, index)
last = x.clone()
for i in range(2):
    for k in range(4):
        last[i, positive[i, k]] = src[i, k]
case("scatter", [x, index, src], last, dim=1)
names = {"add": "sum", "mul": "prod", "min": "amin", "max": "amax"}
for reduce in names:
    case(
        "scatter",
        [x, index, src],
        x.scatter_reduce(1, positive, src, names[reduce]),
        dim=1,
        reduce=reduce,
    )
case(
    "scatter",
    [x, t([[2, 0, -1, 2, 0]]), src.repeat(1, 2)[:1, :5]],
    x.scatter_reduce(0, t([[2, 0, 2, 2, 0]]), src.repeat(1, 2)[:1, :5], "sum"),
    dim=0,
    reduce="add",
)
nan = src.clone()
nan[0, 1] = float("nan")
case("scatter", [x, index, nan], x.scatter_reduce(1, positive, nan, "amax"), dim=1, reduce="max")
case("scatter", [x > 0, index, src > 0], torch.where(last == x, x > 0, last > 0), dim=1)

x = torch.randn(4, 3, 2)
for indices, u in [
    (t([[1], [-1], [1]]), torch.randn(3, 3, 2)),
    (t([[[0, 1]], [[-4, -2]]]), torch.randn(2, 1, 2)),
    (t([[0, 1, 1], [3, 2, 0], [0, 1, 1]]), torch.randn(3)),
]:
    flat, values = indices.reshape(-1, indices.shape[-1]).numpy(), u.numpy().reshape(
        -1, *x.shape[indices.shape[-1] :]
    )
    for reduce, op in [
        ("none", lambda a, b: b),
        ("add", np.add),
        ("mul", np.multiply),
        ("min", np.minimum),
        ("max", np.maximum),
    ]:
        r = x.numpy().copy()
        for place, value in zip(flat, values):
            r[tuple(place)] = op(r[tuple(place)], value)
        numpy_case("scatter_nd", [x, indices, u], r, reduce=reduce)

pooled, where = F.max_pool2d(torch.randn(2, 2, 4, 6), 2, return_indices=True)
case("max_unpool", [pooled, where], F.max_unpool2d(pooled, where, 2), output_size=[4, 6])
x = torch.arange(24.0).reshape(4, 2, 3)
r = x.clone()
r[:3, 0], r[:2, 1] = x[:3, 0].flip(0), x[:2, 1].flip(0)
case("reverse_sequence", [x, t([3, 2])], r, time_axis=0, batch_axis=1)
case(
    "reverse_sequence",
    [x.transpose(0, 1).contiguous(), t([3, 2], dtype=torch.int32)],
    r.transpose(0, 1),
    time_axis=1,
    batch_axis=0,
)

x = torch.randn(1, 2, 5, 4)
for mode, name in [("bilinear", "linear"), ("bicubic", "cubic")]:
    for size in [(9, 4), (10, 8), (3, 2), (1, 1)]:
        for align in [False, True]:
            case(
                "interpolate",
                [x],
                F.interpolate(x, size, mode=mode, align_corners=align),
                output_size=[1, 2, *size],
                mode=name,
                coordinate_mode=(
                    "align_corners"
                    if align
                    else "half_pixel"
                    if size == (1, 1)
                    else "pytorch_half_pixel"
                ),
            )
    case(
        "interpolate",
        [x],
        F.interpolate(x, (2, 3), mode=mode, antialias=True),
        output_size=[1, 2, 2, 3],
        mode=name,
        antialias=True,
        exclude_outside=True,
        cubic_coeff_a=-0.5,
    )
for size in [(10, 8), (7, 3), (15, 4)]:
    case(
        "interpolate",
        [x],
        F.interpolate(x, size, mode="nearest"),
        output_size=[1, 2, *size],
        mode="nearest",
        coordinate_mode="asymmetric",
        nearest_mode="floor",
    )
    case(
        "interpolate",
        [x],
        F.interpolate(x, size, mode="nearest-exact"),
        output_size=[1, 2, *size],
        mode="nearest",
        nearest_mode="round_prefer_ceil",
    )
case(
    "interpolate",
    [(x * 9).long()],
    F.interpolate(x * 9, (10, 4), mode="nearest").long(),
    output_size=[1, 2, 10, 4],
    mode="nearest",
    coordinate_mode="asymmetric",
    nearest_mode="floor",
)
half = x.bfloat16()
case(
    "interpolate",
    [half],
    F.interpolate(half.float(), (10, 8), mode="bilinear").bfloat16(),
    output_size=[1, 2, 10, 8],
    mode="linear",
)
wide = torch.arange(14.0)  # a scale of sizes is a fraction: 1 * 14 / 2, 5 * 14 / 10 are whole
for size in [2, 10]:
    case(
        "interpolate",
        [wide],
        F.interpolate(wide[None, None], size, mode="nearest")[0, 0],
        output_size=[size],
        mode="nearest",
        coordinate_mode="asymmetric",
        nearest_mode="floor",
    )
line = torch.randn(2, 6)
case(
    "interpolate",
    [line],
    F.interpolate(line[None], scale_factor=1.7, mode="linear", recompute_scale_factor=False)[0],
    output_size=[2, 10],
    scales=[1.0, 1.7],
    mode="linear",
)
volume = torch.randn(1, 1, 2, 3, 4)
case(
    "interpolate",
    [volume],
    F.interpolate(volume, (4, 5, 3), mode="trilinear"),
    output_size=[1, 1, 4, 5, 3],
    mode="linear",
)


def cropped(line, start, end, count, value):
    places = [
        start * (len(line) - 1) + o * (end - start) * (len(line) - 1) / (count - 1)
        for o in range(count)
    ]
    return [
        value if p < 0 or p > len(line) - 1 else float(np.interp(p, range(len(line)), line))
        for p in places
    ]


one = torch.randn(6)
numpy_case(
    "interpolate",
    [one],
    np.array(cropped(one.numpy(), 0.4, 1.2, 5, 10.0), np.float32),
    output_size=[5],
    mode="linear",
    coordinate_mode="tf_crop_and_resize",
    roi=[0.4, 1.2],
    extrapolation_value=10.0,
)
for rounding, f in [
    ("round_prefer_floor", lambda p: np.ceil(p - 0.5)),
    ("round_prefer_ceil", lambda p: np.floor(p + 0.5)),
    ("floor", np.floor),
    ("ceil", np.ceil),
]:
    numpy_case(
        "interpolate",
        [one],
        one.numpy()[np.clip(f((np.arange(4) + 0.5) * 1.5), 0, 5).astype(int)],
        output_size=[4],
        mode="nearest",
        coordinate_mode="tf_half_pixel_for_nn",
        nearest_mode=rounding,
    )
offset = 3 * (1 - 4 / (0.7 * 6))
numpy_case(
    "interpolate",
    [one],
    np.interp(
        np.clip(offset + (np.arange(4) + 0.5) / 0.7 - 0.5, 0, 5), range(6), one.numpy()
    ).astype(np.float32),
    output_size=[4],
    scales=[0.7],
    mode="linear",
    coordinate_mode="half_pixel_symmetric",
)

for mode, name in [("reflect", "reflect"), ("edge", "replicate"), ("wrap", "circular")]:
    for low, high in [((0, 2), (1, 3)), ((7, 0), (0, 9))]:
        y = torch.randn(3, 4)
        numpy_case(
            "pad_border",
            [y],
            np.pad(y.numpy(), list(zip(low, high)), mode),
            low=low,
            high=high,
            mode=name,
        )
        numpy_case(
            "pad_border",
            [(y * 9).int()],
            np.pad((y * 9).int().numpy(), list(zip(low, high)), mode),
            low=low,
            high=high,
            mode=name,
        )
numpy_case(
    "pad_border", [t([[True]])], np.ones((4, 2), bool), low=[2, 0], high=[1, 1], mode="reflect"
)

x, grid = torch.randn(2, 2, 4, 5), torch.rand(2, 3, 2, 2) * 2.6 - 1.3
for mode in ["bilinear", "nearest", "bicubic"]:
    for padding in ["zeros", "border", "reflection"]:
        for align in [False, True]:
            case(
                "grid_sample",
                [x, grid],
                F.grid_sample(x, grid, mode, padding, align),
                mode=mode,
                padding_mode=padding,
                align_corners=align,
            )
x, grid = torch.randn(1, 2, 3, 4, 2), torch.rand(1, 2, 2, 1, 3) * 2.4 - 1.2
for mode in ["bilinear", "nearest"]:
    case(
        "grid_sample",
        [x, grid],
        F.grid_sample(x, grid, mode, "reflection", False),
        mode=mode,
        padding_mode="reflection",
    )
case("grid_sample", [x, grid], F.grid_sample(x, grid, align_corners=False))

for size, columns in [((2, 1, 3, 4), 3), ((2, 1, 2, 3, 4), 4), ((2, 1, 1, 2), 3)]:
    theta = torch.randn(2, columns - 1, columns)
    for align in [False, True]:
        case(
            "affine_grid",
            [theta],
            F.affine_grid(theta, size, align_corners=align),
            output_size=size,
            align_corners=align,
        )

x = torch.randn(2, 3, 8, 9)
rois = t([[0.5, 1, 7, 6], [-3, -2, 4, 12], [2, 2, 2.2, 2.1]])
batch = t([1, 0, 1])
boxes = torch.cat([batch[:, None].float(), rois], 1)
for aligned in [False, True]:
    case(
        "roi_align",
        [x, rois, batch],
        roi_align(x, boxes, (3, 2), 0.75, 2, aligned),
        output_size=[3, 2],
        sampling_ratio=2,
        spatial_scale=0.75,
        aligned=aligned,
    )
    case(
        "roi_align",
        [x, rois, batch],
        roi_align(x, boxes, (3, 2), 0.75, 0, aligned),
        output_size=[3, 2],
        sampling_ratio=4,
        spatial_scale=0.75,
        aligned=aligned,
        adaptive=True,
    )


def largest(
    x, rois, batch, size, ratio
):  # of the weighted corners, as ONNX's reference and ONNX Runtime have it
    out = np.zeros((len(rois), x.shape[1], *size), np.float32)
    for r, (x1, y1, x2, y2) in enumerate(rois.tolist()):
        h, w = max(y2 - y1, 1) / size[0], max(x2 - x1, 1) / size[1]
        for c, p, q in np.ndindex(out.shape[1:]):
            best = []
            for i, k in np.ndindex(ratio, ratio):
                y, z = y1 + p * h + (i + 0.5) * h / ratio, x1 + q * w + (k + 0.5) * w / ratio
                y, z = min(max(y, 0), x.shape[2] - 1), min(max(z, 0), x.shape[3] - 1)
                a, b = int(y), int(z)
                a2, b2 = min(a + 1, x.shape[2] - 1), min(b + 1, x.shape[3] - 1)
                v = x[batch[r], c]
                best.append(
                    max(
                        (1 - y + a) * (1 - z + b) * v[a, b],
                        (1 - y + a) * (z - b) * v[a, b2],
                        (y - a) * (1 - z + b) * v[a2, b],
                        (y - a) * (z - b) * v[a2, b2],
                    )
                )
            out[r, c, p, q] = max(best)
    return out


inside = t([[0.5, 1, 7, 6], [1, 2, 4, 7]])
numpy_case(
    "roi_align",
    [x, inside, batch[:2]],
    largest(x.numpy(), inside, batch, (2, 2), 2),
    output_size=[2, 2],
    sampling_ratio=2,
    mode="max",
)
few = np.stack(
    [largest(x.numpy(), inside[r : r + 1], batch[r : r + 1], (2, 1), 3)[0] for r in range(2)]
)
few[0] = np.nan  # needs more than three samples
numpy_case(
    "roi_align",
    [x, inside, batch[:2]],
    few,
    output_size=[2, 1],
    sampling_ratio=3,
    mode="max",
    adaptive=True,
)

blocks = torch.randn(2, 3 * 6, 4)
case(
    "fold",
    [blocks],
    F.fold(blocks, (4, 5), (2, 3), stride=(2, 2)),
    output_size=[4, 5],
    kernel_size=[2, 3],
    stride=[2, 2],
)
blocks = torch.randn(1, 4, 25)
case(
    "fold",
    [blocks],
    F.fold(blocks, (5, 5), 2, dilation=2, padding=1),
    output_size=[5, 5],
    kernel_size=[2, 2],
    dilation=[2, 2],
    padding=[1, 1, 1, 1],
)
case(
    "fold",
    [(blocks[:, :2, :4] * 9).int()],
    F.fold((blocks[:, :2, :4] * 9).int().float(), (1, 5), (1, 2)).int()[:, :, 0],
    output_size=[5],
    kernel_size=[2],
)
counted = torch.arange(9.0)
case(
    "interpolate",
    [counted],
    F.interpolate(counted[None, None], scale_factor=0.6)[0, 0],
    output_size=[5],
    scales=[0.6],
    mode="nearest",
    coordinate_mode="asymmetric",
    nearest_mode="floor",
)
