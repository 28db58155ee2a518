"""Compiles models whose operands (starts, axes, pads ...) are graph inputs, once each, and runs
them with many values of these operands; numpy computes what must come out."""
import itertools
import subprocess
import sys
import tempfile

import numpy as np
from model_check import compile_model, failures
from onnx import TensorProto, helper

FLOAT, INT64, INT32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32
NUMPY = {FLOAT: np.float32, INT64: np.int64, INT32: np.int32}
LARGEST = np.iinfo(np.int64).max


def check(name, operator, inputs, output, values, expected, opset=18, **attributes):
    """inputs: (name, type, shape); values: lists of arrays; expected: a function of these
    arrays."""
    with tempfile.TemporaryDirectory() as folder:
        node = helper.make_node(operator, [item[0] for item in inputs], ["y"], **attributes)
        graph = helper.make_graph(
            [node],
            "g",
            [helper.make_tensor_value_info(*item) for item in inputs if item[0]],
            [helper.make_tensor_value_info("y", *output)],
        )
        done = compile_model(
            helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)]), folder
        )
        if done.returncode:
            failures.append(f"{name}: {done.stderr.splitlines()[0]}")
            return
        for arrays in values:
            command = ["samba-run", f"{folder}/m.pef", "--output", f"y={folder}/y.npy"]
            for (input_name, kind, _), array in zip([item for item in inputs if item[0]], arrays):
                np.save(f"{folder}/{input_name}.npy", np.asarray(array, NUMPY[kind]))
                command += ["--input", f"{input_name}={folder}/{input_name}.npy"]
            done = subprocess.run(command, capture_output=True, text=True)
            reference = np.asarray(expected(*(np.asarray(array) for array in arrays)))
            got = np.load(f"{folder}/y.npy") if done.returncode == 0 else done.stderr
            if (
                done.returncode
                or got.shape != reference.shape
                or not np.allclose(got, reference, rtol=1e-5, atol=1e-6)
            ):
                failures.append(
                    f"{name} with {[np.asarray(a).tolist() for a in arrays[1:]]}: got {got},"
                    f" expected {reference}"
                )


def sliced(x, starts, ends, axes, steps):
    index = [slice(None)] * x.ndim
    for start, end, axis, step in zip(
        starts.tolist(), ends.tolist(), axes.tolist(), steps.tolist()
    ):
        size = x.shape[axis]
        end = None if step < 0 and end < -size else end
        index[axis] = slice(start, end, step)
    return x[tuple(index)]


X = np.arange(60, dtype=np.float32).reshape(3, 4, 5) * 0.5 - 7
check(
    "slice",
    "Slice",
    [("x", FLOAT, [3, 4, 5])] + [(n, INT64, [2]) for n in ("starts", "ends", "axes", "steps")],
    (FLOAT, [3, 2, 2]),
    [
        [X, [0, 1], [2, 3], [1, 2], [1, 1]],
        [X, [-2, -1], [LARGEST, 0], [1, -1], [1, -2]],
        [X, [9, 9], [-LARGEST, 1], [-1, 1], [-3, -1]],
        [X, [1, 0], [3, LARGEST], [2, 1], [1, 2]],
        [X, [-LARGEST, 3], [3, 9], [1, 2], [2, 1]],
    ],
    sliced,
)
check(
    "slice of the first axes",
    "Slice",
    [("x", FLOAT, [3, 4, 5]), ("starts", INT64, [1]), ("ends", INT64, [1])],
    (FLOAT, [1, 4, 5]),
    [[X, [0], [1]], [X, [-1], [LARGEST]], [X, [1], [-1]]],
    lambda x, s, e: sliced(x, s, e, np.array([0]), np.array([1])),
)
check(
    "wrap around what is left",
    "Pad",
    [("x", FLOAT, [5]), ("pads", INT64, [2])],
    (FLOAT, [6]),
    [[X[0, 0], p] for p in ([-2, 3], [2, -1], [1, 0])],
    lambda x, p: np.pad(x[max(-p[0], 0) : 5 - max(-p[1], 0)], np.maximum(p, 0), "wrap"),
    opset=19,
    mode="wrap",
)
PADS = [[0, 1, 2, 0, 1, 3], [1, 0, 0, -1, 2, 5], [0, -1, 5, 0, 3, 0]]
for mode in ("constant", "edge", "reflect", "wrap"):
    small = X[:1]
    check(
        f"pad {mode}",
        "Pad",
        [("x", FLOAT, [1, 4, 5]), ("pads", INT64, [6]), ("value", FLOAT, [])],
        (FLOAT, [1, 6, 10]),
        [
            [small, [0, 1, 2, 0, 1, 3], -3],
            [small, [0, 2, 1, 0, 0, 4], 2],
            [small, [0, 0, 4, 0, 2, 1], 0],
        ],
        lambda x, p, v, mode=mode: np.pad(
            x,
            list(zip(p[:3], p[3:])),
            **(
                {"mode": "constant", "constant_values": v} if mode == "constant" else {"mode": mode}
            ),
        ),
        mode=mode,
    )
check(
    "pad that cuts",
    "Pad",
    [("x", FLOAT, [3, 4, 5]), ("pads", INT64, [2]), ("value", FLOAT, []), ("axes", INT64, [1])],
    (FLOAT, [3, 4, 5]),
    [[X, [1, -1], 9, [1]], [X, [-2, 2], 9, [-1]]],
    lambda x, p, v, a: np.pad(
        np.delete(
            x,
            range(-min(0, p[0])) if p[0] < 0 else range(x.shape[a[0]] + p[1], x.shape[a[0]]),
            a[0],
        ),
        [(max(0, p[0]), max(0, p[1])) if d == a[0] % 3 else (0, 0) for d in range(3)],
        constant_values=v,
    ),
)
check(
    "pad with a value",
    "Pad",
    [("x", FLOAT, [3, 4, 5]), ("pads", INT64, [6]), ("value", FLOAT, [])],
    (FLOAT, [4, 4, 8]),
    [[X, [0, 0, 1, 1, 0, 2], np.inf], [X, [1, -1, 3, 0, 1, 0], np.nan]][:1],
    lambda x, p, v: np.pad(x, list(zip(p[:3], p[3:])), constant_values=v),
)
CUBE = np.arange(27, dtype=np.float32).reshape(3, 3, 3)[:, ::-1] ** 1.5 - 40
check(
    "reduce over one of three",
    "ReduceMax",
    [("x", FLOAT, [3, 3, 3]), ("axes", INT64, [1])],
    (FLOAT, [3, 3]),
    [[CUBE, [axis]] for axis in range(-3, 3)],
    lambda x, a: x.max(axis=tuple(a)),
    keepdims=0,
)
check(
    "reduce over two of three",
    "ReduceSum",
    [("x", FLOAT, [3, 3, 3]), ("axes", INT64, [2])],
    (FLOAT, [3]),
    [[CUBE, pair] for pair in itertools.permutations([0, -2, 2], 2)],
    lambda x, a: x.sum(axis=tuple(a)),
    keepdims=0,
)
check(
    "reduce with ones",
    "ReduceMean",
    [("x", FLOAT, [1, 4, 1, 4]), ("axes", INT64, [2])],
    (FLOAT, [1, 4]),
    [[X.ravel()[:16].reshape(1, 4, 1, 4), pair] for pair in ([0, 1], [-1, 2], [2, 1])],
    lambda x, a: x.mean(axis=tuple(a)),
    keepdims=0,
)
for kind, values in (
    (INT64, [[-5, 0, 3], [10, 0, -4], [2**40, 0, 2**33]]),
    (INT32, [[1, 0, -1], [7, 0, 7]]),
    (FLOAT, [[0.5, 0, 0.25], [-1, 0, -3]]),
):
    check(
        "range",
        "Range",
        [("start", kind, []), ("limit", kind, []), ("delta", kind, [])],
        (kind, [4]),
        values,
        lambda s, _, d: s + np.arange(4) * d,
    )
for upper in (0, 1):
    check(
        "trilu",
        "Trilu",
        [("x", FLOAT, [3, 4, 5]), ("k", INT64, [])],
        (FLOAT, [3, 4, 5]),
        [[X, k] for k in (-9, -2, 0, 3, 9)],
        np.triu if upper else np.tril,
        upper=upper,
    )


def place(o, scale, size, made, start, end, coordinate):
    last = size - 1
    return {
        "half_pixel": (o + 0.5) / scale - 0.5,
        "asymmetric": o / scale,
        "pytorch_half_pixel": (o + 0.5) / scale - 0.5 if made > 1 else -0.5,
        "align_corners": o * last / (made - 1) if made > 1 else 0,
        "half_pixel_symmetric": size / 2 * (1 - made / (scale * size)) + (o + 0.5) / scale - 0.5,
        "tf_crop_and_resize": start * last
        + (o * (end - start) * last / (made - 1) if made > 1 else 0.5 * (end - start) * last),
    }[coordinate]


def resized(
    x,
    scales,
    roi,
    sizes,
    mode,
    coordinate,
    rounding="round_prefer_floor",
    exclude=False,
    a=-0.75,
    outside=0.0,
):
    for axis, made in enumerate(sizes):
        size, weights, beyond = x.shape[axis], np.zeros([made, x.shape[axis]]), []
        for o in range(made):
            at = place(
                o, np.float32(scales[axis]), size, made, roi[axis], roi[x.ndim + axis], coordinate
            )
            base, row = int(np.floor(at)), {}
            if mode == "nearest":
                row = {
                    {
                        "round_prefer_floor": np.ceil(at - 0.5),
                        "round_prefer_ceil": np.floor(at + 0.5),
                        "floor": np.floor(at),
                        "ceil": np.ceil(at),
                    }[rounding]: 1
                }
            elif mode == "linear":
                row = {base: 1 - (at - base), base + 1: at - base}
            else:
                for k in range(base - 1, base + 3):
                    d = abs(at - k)
                    row[k] = (
                        (a + 2) * d**3 - (a + 3) * d**2 + 1
                        if d <= 1
                        else a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
                    )
            if exclude:
                row = {k: v for k, v in row.items() if 0 <= k < size}
                row = {k: v / sum(row.values()) for k, v in row.items()}
            for k, v in row.items():
                weights[o, int(np.clip(k, 0, size - 1))] += v
            beyond.append(coordinate == "tf_crop_and_resize" and not 0 <= at <= size - 1)
        x = np.moveaxis(np.tensordot(weights, x, (1, axis)), 0, axis)
        x[tuple(np.array(beyond) if d == axis else slice(None) for d in range(x.ndim))] = outside
    return x.astype(np.float32)


PICTURE = np.random.default_rng(3).normal(size=[2, 4, 4]).astype(np.float32)
SCALES = [[1, 0.8, 1.3], [1.2, 0.9, 1.4], [1, 0.75, 1.25]]
for mode, coordinate, more in (
    ("nearest", "half_pixel", {}),
    ("nearest", "asymmetric", {"rounding": "ceil"}),
    ("nearest", "half_pixel", {"rounding": "round_prefer_ceil"}),
    ("linear", "half_pixel", {}),
    ("linear", "half_pixel_symmetric", {}),
    ("linear", "pytorch_half_pixel", {"exclude": True}),
    ("cubic", "align_corners", {"a": -0.5}),
    ("cubic", "half_pixel", {"exclude": True}),
    ("cubic", "asymmetric", {}),
):
    names = {"rounding": "nearest_mode", "exclude": "exclude_outside", "a": "cubic_coeff_a"}
    check(
        f"resize {mode} {coordinate} {more}",
        "Resize",
        [("x", FLOAT, [2, 4, 4]), ("", None, None), ("scales", FLOAT, [3])],
        (FLOAT, [2, 3, 5]),
        [[PICTURE, scales] for scales in SCALES],
        lambda x, s, mode=mode, coordinate=coordinate, more=more: resized(
            x, s, [0] * 3 + [1] * 3, [2, 3, 5], mode, coordinate, **more
        ),
        mode=mode,
        coordinate_transformation_mode=coordinate,
        **{names[k]: int(v) if v is True else v for k, v in more.items()},
    )
REGIONS = [[0, 0.2, 0.1, 1, 0.7, 0.85], [0, -0.3, 0.5, 1, 1.4, 1.2], [0, 0.9, 0, 1, 0.1, 1]]
for mode in ("nearest", "linear"):
    check(
        f"crop and resize {mode}",
        "Resize",
        [("x", FLOAT, [2, 4, 4]), ("roi", FLOAT, [6]), ("", None, None), ("sizes", INT64, [3])],
        (FLOAT, [2, 3, 5]),
        [[PICTURE, region, [2, 3, 5]] for region in REGIONS],
        lambda x, r, _, mode=mode: resized(
            x, [1] * 3, r, [2, 3, 5], mode, "tf_crop_and_resize", outside=-5.0
        ),
        mode=mode,
        coordinate_transformation_mode="tf_crop_and_resize",
        extrapolation_value=-5.0,
    )
check(
    "crop and resize without scales",
    "Resize",
    [("x", FLOAT, [2, 4, 4]), ("roi", FLOAT, [6]), ("scales", FLOAT, [0]), ("sizes", INT64, [3])],
    (FLOAT, [2, 3, 5]),
    [[PICTURE, region, [], [2, 3, 5]] for region in REGIONS],
    lambda x, r, *_: resized(x, [1] * 3, r, [2, 3, 5], "linear", "tf_crop_and_resize"),
    mode="linear",
    coordinate_transformation_mode="tf_crop_and_resize",
    opset=11,
)
for policy, wanted in (("not_larger", [[6, 5], [5, 9]]), ("not_smaller", [[5, 9], [9, 1]])):
    scale = {"not_larger": 5 / 4, "not_smaller": 9 / 4}[policy]
    size = [int(scale * 4 + 0.5)] * 2
    check(
        f"resize {policy}",
        "Resize",
        [("x", FLOAT, [2, 4, 4]), ("", None, None), ("", None, None), ("sizes", INT64, [2])],
        (FLOAT, [2, *size]),
        [[PICTURE, sizes] for sizes in wanted],
        lambda x, _, scale=scale, size=size: resized(
            x, [1, scale, scale], [0] * 3 + [1] * 3, [2, *size], "linear", "half_pixel"
        ),
        mode="linear",
        axes=[-2, -1],
        keep_aspect_ratio_policy=policy,
    )


def image(x, _, block):
    out = np.zeros((1, 1, 5, 5), np.float32)
    size = [5 - block[0] + 1, 5 - block[1] + 1]
    for i, k in np.ndindex(*block):
        out[:, :, i : i + size[0], k : k + size[1]] += x.reshape(1, *block, *size)[:, i, k]
    return out


# As many elements in a block and as many blocks, whichever way round.
check(
    "col2im",
    "Col2Im",
    [("x", FLOAT, [1, 6, 12]), ("image", INT64, [2]), ("block", INT64, [2])],
    (FLOAT, [1, 1, 5, 5]),
    [[np.arange(72).reshape(1, 6, 12), [5, 5], block] for block in ([2, 3], [3, 2])],
    image,
)
check(
    "affine grid",
    "AffineGrid",
    [("theta", FLOAT, [1, 2, 3]), ("size", INT64, [4])],
    (FLOAT, [1, 2, 3, 2]),
    [[[[[2, 0, 1], [0, 3, -1]]], [1, 4, 2, 3]]],
    lambda theta, _: np.stack(np.meshgrid([-1, 1, 3], [-4, 2]), -1)[None].astype(np.float32),
    opset=20,
    align_corners=1,
)
check(
    "padding nothing",
    "Pad",
    [("x", FLOAT, [0, 2]), ("pads", INT64, [4]), ("value", FLOAT, [])],
    (FLOAT, [2, 3]),
    [[np.zeros([0, 2]), [1, 0, 1, 1], 4]],
    lambda *_: np.full([2, 3], 4, np.float32),
)
check(
    "upsample",
    "Upsample",
    [("x", FLOAT, [2, 4, 4]), ("scales", FLOAT, [3])],
    (FLOAT, [2, 6, 9]),
    [[PICTURE, [1, 1.5, 2.25]], [PICTURE, [1, 1.6, 2.4]]],
    lambda x, s: resized(x, s, [0] * 3 + [1] * 3, [2, 6, 9], "linear", "asymmetric"),
    opset=9,
    mode="linear",
)
print("\n".join(failures))
sys.exit(1 if failures else 0)
