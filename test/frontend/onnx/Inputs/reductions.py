"""Reductions, searches, sorts, scans, losses and einsum: models compiled and run, numpy says what
comes out."""
import itertools
import sys

import numpy as np
from model_check import check, failures

rng = np.random.default_rng(3)
F = np.float32
nan, inf = np.nan, np.inf


def several(name, inputs, rows, **options):
    """One model of many nodes: rows of (operator, inputs, attributes, expected...)."""
    nodes, expected = [], {}
    for i, (op, names, attributes, *results) in enumerate(rows):
        nodes.append((op, names, [f"o{i}_{k}" for k in range(len(results))], attributes))
        expected.update({f"o{i}_{k}": np.asarray(r) for k, r in enumerate(results)})
    check(name, nodes, inputs, expected, **options)


def positive(*shape):
    return (rng.random(shape) + 0.1).astype(F)


def ordered(x, k, axis, largest):
    """Stable: of equal elements the lower index first; NaN is larger than everything."""
    key = np.where(np.isnan(x), inf, x) if x.dtype.kind == "f" else x
    lists = np.moveaxis(key, axis, -1).reshape(-1, x.shape[axis])
    isnan = np.moveaxis(x != x, axis, -1).reshape(lists.shape)
    order = [
        sorted(
            range(len(row)),
            key=lambda i: (
                ((row[i].item(), bool(n[i])), i) if not largest else (-row[i].item(), not n[i], i)
            ),
        )
        for row, n in zip(lists, isnan)
    ]
    shape = np.moveaxis(key, axis, -1).shape
    indices = np.moveaxis(np.array(order).reshape(shape), -1, axis).take(range(k), axis)
    return np.take_along_axis(x, indices, axis), indices


def prefix_sums(x, axis, exclusive, reverse):
    y = np.flip(x, axis) if reverse else x
    y = np.cumsum(y, axis, dtype=x.dtype) - (y if exclusive else 0)
    return (np.flip(y, axis) if reverse else y).astype(x.dtype)


FORMS = {
    "Sum": np.sum,
    "Mean": np.mean,
    "Max": np.max,
    "Min": np.min,
    "Prod": np.prod,
    "L1": np.sum,
    "L2": lambda x, axis, keepdims: np.sqrt(
        np.sum(x.astype(float) ** 2, axis=axis, keepdims=keepdims)
    ),
    "SumSquare": lambda x, axis, keepdims: np.sum(x * x, axis=axis, keepdims=keepdims),
    "LogSum": lambda x, axis, keepdims: np.log(np.sum(x, axis=axis, keepdims=keepdims)),
    "LogSumExp": lambda x, axis, keepdims: np.log(
        np.sum(np.exp(x.astype(float)), axis=axis, keepdims=keepdims)
    ),
}
for shape, axes in [
    ((7,), (0,)),
    ((2, 3, 4), (0, 2)),
    ((2, 2, 1, 2, 3, 2), (1, 3, 4)),
    ((3, 4), (0, 1)),
]:
    for dtype in (F, np.int32, np.int64):
        x = positive(*shape) if dtype is F else rng.integers(1, 5, shape).astype(dtype)
        several(
            f"reductions of {dtype.__name__} {shape}",
            {"x": x},
            [
                (
                    f"Reduce{form}",
                    ["x"],
                    {"axes": [a - len(shape) for a in axes], "keepdims": keep},
                    np.asarray(function(x, axis=axes, keepdims=bool(keep))).astype(dtype),
                )
                for form, function in FORMS.items()
                for keep in (0, 1)
            ],
            opset=12,
            rtol=2e-5,
        )
x = rng.integers(0, 120, (4, 5))
for dtype in (np.int8, np.uint8, np.bool_):
    several(
        f"extremes of {dtype.__name__}",
        {"x": (x * (x > 40)).astype(dtype)},
        [
            (
                f"Reduce{form}",
                ["x", "one"],
                {"keepdims": 0},
                getattr((x * (x > 40)).astype(dtype), form.lower())(1),
            )
            for form in ("Max", "Min")
        ],
        known={"one": np.array([1])},
        opset=20,
    )
wide = rng.integers(-(2**31), 2**31, 50).astype(np.int32)
odd = np.array([[-inf, -inf], [inf, 1], [500, 500], [nan, inf]], F)
several(
    "corners of reductions",
    {"w": wide, "s": np.array([[3000000, 4000000], [1, 1], [0, 0], [2**31, 0]]), "o": odd},
    [
        ("ReduceSum", ["w"], {"keepdims": 0}, wide.sum(dtype=np.int32)),
        ("ReduceL2", ["s", "one"], {"keepdims": 0}, np.array([5000000, 1, 0, 2**31])),
        ("ReduceMean", ["w"], {"keepdims": 0}, np.int32(int(wide.sum(dtype=np.int64) / 50))),
        ("ReduceSum", ["o"], {"noop_with_empty_axes": 1}, odd),
        (
            "ReduceLogSumExp",
            ["o", "one"],
            {"keepdims": 0},
            np.array([-inf, inf, 500 + np.log(2), nan], F),
        ),
    ],
    known={"one": np.array([1])},
    rtol=1e-6,
)

ties = np.array([[1, 3, 3, -2, -2], [0, -0.0, 0, -0.0, 0], [nan, 1, inf, nan, -inf], [-inf] * 5], F)
several(
    "ties and NaN",
    {"t": ties},
    [
        ("ArgMax", ["t"], {"axis": 1, "keepdims": 0}, np.argmax(ties, 1)),
        ("ArgMin", ["t"], {"axis": -1}, np.argmin(ties, 1)[:, None]),
        ("Hardmax", ["t"], {}, np.eye(5, dtype=F)[np.argmax(ties, 1)]),
        ("TopK", ["t", "k"], {}, *ordered(ties, 5, 1, True)),
        ("TopK", ["t", "k"], {"largest": 0}, *ordered(ties, 5, 1, False)),
    ],
    known={"k": np.array([5])},
)
for dtype in (F, np.float16, np.int8, np.uint8, np.int32, np.int64):
    x = rng.integers(0, 4, (2, 5, 3)).astype(dtype)
    rows = [
        (op, ["x"], {"axis": axis}, function(x, axis, keepdims=True))
        for op, function in (("ArgMax", np.argmax), ("ArgMin", np.argmin))
        for axis in (0, 1, -1)
    ]
    rows += [
        (
            "ArgMax",
            ["x"],
            {"axis": 1, "keepdims": 0, "select_last_index": 1},
            4 - np.argmax(x[:, ::-1], 1),
        )
    ]
    rows += [
        ("TopK", ["x", "k"], {"axis": 1, "largest": largest}, *ordered(x, 2, 1, largest))
        for largest in (0, 1)
    ]
    several(f"searches of {dtype.__name__}", {"x": x}, rows, known={"k": np.array([2])})
ends = np.full((2, 200), -(2**63))
big = rng.integers(-(2**63), 2**63 - 1, (3, 300))
several(
    "extreme integers",
    {"low": ends, "high": -1 - ends, "x": big},
    [
        ("TopK", ["low", "k"], {}, *ordered(ends, 3, 1, True)),
        ("TopK", ["high", "k"], {"largest": 0}, *ordered(-1 - ends, 3, 1, False)),
        ("TopK", ["x", "k"], {}, *ordered(big, 3, 1, True)),
    ],
    known={"k": np.array([3])},
)

x = rng.integers(-9, 9, (3, 4, 5))
long = rng.integers(-9, 9, (2, 700, 3)).astype(np.int32)
several(
    "prefix sums",
    {"x": x, "y": long},
    [
        ("CumSum", [name, "axis"], {"exclusive": e, "reverse": r}, prefix_sums(v, 1, e, r))
        for e, r in itertools.product((0, 1), (0, 1))
        for name, v in (("x", x), ("y", long))
    ],
    known={"axis": np.array(-2, np.int32)},
)

wild = rng.integers(-9, 9, (2, 3))
hot = wild[..., None] % 7 == np.arange(7)
hot &= ((wild >= -7) & (wild < 7))[..., None]
x = rng.integers(1, 9, (2, 3, 4))
several(
    "positions",
    {"i": wild, "f": wild.astype(F), "v": np.array([1, 3], F), "x": x, "k": np.array(-1)},
    [
        (
            "OneHot",
            ["f" if axis == 1 else "i", "depth", "v"],
            {"axis": axis},
            np.moveaxis(np.where(hot, F(3), F(1)), -1, axis),
        )
        for axis in (-1, 0, 1)
    ]
    + [
        ("Trilu", ["x", "k"], {"upper": 0}, np.tril(x, -1)),
        ("Trilu", ["x", "two"], {}, np.triu(x, 2)),
        ("Compress", ["x", "c"], {"axis": 2}, x[:, :, [0, 2, 3]]),
        ("Compress", ["x", "c"], {}, x.ravel()[[0, 2, 3]]),
    ],
    known={"depth": np.array([7], F), "two": np.array(2), "c": np.array([1, 0, 1, 1], bool)},
)

x = rng.standard_normal((2, 3, 4)).astype(F)
for axis in (0, 1, 2):  # before operator set 13 the dimensions from the axis on are one
    flat = x.reshape(int(np.prod(x.shape[:axis])), -1)
    power = np.exp(flat - flat.max(1, keepdims=True))
    several(
        f"coerced axis {axis}",
        {"x": x},
        [
            (
                "Softmax",
                ["x"],
                {"axis": axis},
                (power / power.sum(1, keepdims=True)).reshape(x.shape),
            ),
            (
                "Hardmax",
                ["x"],
                {"axis": axis},
                (flat == flat.max(1, keepdims=True)).astype(F).reshape(x.shape),
            ),
        ],
        opset=11,
        rtol=1e-5,
    )


def class_losses(x, t, w, ignored, reduction):
    logs = x - x.max(1, keepdims=True)
    logs = logs - np.log(np.exp(logs).sum(1, keepdims=True))
    valid = (t >= 0) & (t < x.shape[1]) & (t != ignored)
    picked = -np.take_along_axis(logs, np.where(valid, t, 0)[:, None], 1)[:, 0] * np.where(
        valid, w[np.where(valid, t, 0)], 0
    )
    loss = (
        picked
        if reduction == "none"
        else (
            picked.sum()
            if reduction == "sum"
            else picked.sum() / np.where(valid, w[np.where(valid, t, 0)], 0).sum()
        )
    )
    return np.asarray(loss).astype(F), logs.astype(F)


for shape in ((4, 5), (2, 5, 3), (2, 5, 1, 2, 2)):
    x, t, w = (
        rng.standard_normal(shape).astype(F),
        rng.integers(-1, 6, shape[:1] + shape[2:]),
        positive(5),
    )
    rows = []
    for reduction, ignored in itertools.product(("mean", "sum", "none"), (None, 2, -1)):
        attributes = {
            "reduction": reduction,
            **({} if ignored is None else {"ignore_index": ignored}),
        }
        for names, weight in ((["x", "t"], np.ones(5)), (["x", "t", "w"], w)):
            rows += [
                (
                    "SoftmaxCrossEntropyLoss",
                    names,
                    attributes,
                    *class_losses(x.astype(float), t, weight, ignored, reduction),
                )
            ]
    several(f"losses {shape}", {"x": x, "t": t, "w": w}, rows, opset=13, rtol=2e-5)

EQUATIONS = [
    ("ij,jk->ik", (3, 4), (4, 5)),
    ("bij,bjk", (2, 3, 4), (2, 4, 5)),
    ("...ii->...i", (2, 3, 3)),
    ("i,j", (3,), (4,)),
    ("ij, jk, kl -> il", (2, 3), (3, 4), (4, 5)),
    ("...ij,...jk->...ik", (2, 3, 4), (4, 5)),
    ("iij,jk->ik", (5, 5, 6), (6, 7)),
    ("a...,b...->ab...", (2, 3, 4), (5, 4)),
    ("ijk,ik->jk", (2, 3, 4), (2, 4)),
    ("ij->", (3, 4)),
]
inputs, rows = {}, []
for n, (equation, *shapes) in enumerate(EQUATIONS):
    operands = {f"x{n}_{k}": positive(*shape) for k, shape in enumerate(shapes)}
    inputs.update(operands)
    rows.append(
        (
            "Einsum",
            list(operands),
            {"equation": equation},
            np.einsum(
                equation.replace(" ", ""), *[o.astype(float) for o in operands.values()]
            ).astype(F),
        )
    )
matrix = rng.standard_normal((2, 6, 6)).astype(F)
several(
    "einsum and det",
    {**inputs, "m": matrix},
    [*rows, ("Det", ["m"], {}, np.linalg.det(matrix.astype(float)).astype(F))],
    rtol=1e-4,
)

# Long dimensions, some without divisors.
x, counts = rng.standard_normal(65537).astype(F), rng.integers(-9, 9, 65537)
logits, labels = rng.standard_normal((4, 30011)).astype(F), rng.integers(0, 30011, 4)
several(
    "long dimensions",
    {"x": x, "c": counts, "l": logits, "t": labels},
    [
        ("ArgMax", ["x"], {}, [np.argmax(x)]),
        ("TopK", ["x", "k"], {}, np.sort(x)[::-1][:9], np.argsort(-x, kind="stable")[:9]),
        ("CumSum", ["c", "axis"], {"reverse": 1}, prefix_sums(counts, 0, 0, 1)),
        (
            "SoftmaxCrossEntropyLoss",
            ["l", "t"],
            {},
            class_losses(logits.astype(float), labels, np.ones(30011), None, "mean")[0],
        ),
    ],
    known={"k": np.array([9]), "axis": np.array(0)},
    rtol=1e-5,
)
print("\n".join(failures))
sys.exit(1 if failures else 0)
