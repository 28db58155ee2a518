"""Element-wise operators in every element type, casts between all of them, forms of old operator
sets, random numbers: models compiled and run, numpy says what comes out."""
import sys

import numpy as np
from model_check import TYPES, check, failures

rng = np.random.default_rng(7)
F = np.float32


def several(name, inputs, rows, **options):
    """One model of many nodes: rows of (operator, inputs, attributes, expected)."""
    nodes = [
        (op, names, [f"o{i}"], attributes) for i, (op, names, attributes, _) in enumerate(rows)
    ]
    check(
        name, nodes, inputs, {f"o{i}": np.asarray(row[3]) for i, row in enumerate(rows)}, **options
    )


def integers(dtype, shape, low=None, high=None):
    limits = np.iinfo(dtype)
    return rng.integers(
        limits.min if low is None else low, limits.max if high is None else high, shape, dtype, True
    )


np.seterr(all="ignore")
for dtype in (np.int8, np.uint8, np.int16, np.int32, np.int64):
    a, b = integers(dtype, (3, 17)), integers(dtype, 17)
    b[b == 0] = 3
    a[0, :3] = np.iinfo(dtype).min, np.iinfo(dtype).max, 5
    b[0] = 7
    quotient = a // b + ((a % b != 0) & ((a < 0) != (b < 0)))
    several(
        f"arithmetic of {dtype.__name__}",
        {"a": a, "b": b},
        [
            ("Add", ["a", "b"], {}, a + b),
            ("Sub", ["a", "b"], {}, a - b),
            ("Mul", ["a", "b"], {}, a * b),
            ("Div", ["a", "b"], {}, quotient.astype(dtype)),
            ("Mod", ["a", "b"], {}, np.mod(a, b)),
            ("Mod", ["a", "b"], {"fmod": 1}, np.fmod(a, b)),
            ("Max", ["a", "b"], {}, np.maximum(a, b)),
            ("Min", ["a", "b", "a"], {}, np.minimum(a, b)),
            ("Abs", ["a"], {}, np.abs(a)),
            ("Sign", ["a"], {}, np.sign(a)),
            ("Where", ["c", "a", "b"], {}, np.where(a > 5, a, b)),
        ]
        + (
            []
            if dtype == np.uint8
            else [("Neg", ["a"], {}, -a), ("Relu", ["a"], {}, np.maximum(a, 0))]
        ),
        known={"c": a > 5},
    )
    bounds = np.array(np.iinfo(dtype).min, dtype), np.array(np.iinfo(dtype).max - 1, dtype)
    several(
        f"comparisons and bits of {dtype.__name__}",
        {"a": a, "b": b, "low": bounds[0]},
        [
            ("Less", ["a", "b"], {}, a < b),
            ("GreaterOrEqual", ["a", "b"], {}, a >= b),
            ("Equal", ["a", "a"], {}, a == a),
            ("BitwiseAnd", ["a", "b"], {}, a & b),
            ("BitwiseOr", ["a", "b"], {}, a | b),
            ("BitwiseXor", ["a", "b"], {}, a ^ b),
            ("BitwiseNot", ["a"], {}, ~a),
            ("Clip", ["a", "low", "high"], {}, np.clip(a, *bounds)),
        ],
        known={"high": bounds[1]},
    )

p, q = integers(np.int64, (3, 17), -9, 9), integers(np.int32, 17, 0, 40)
real = rng.choice([0.5, 2, 1.5, 3], 17).astype(F)
several(
    "powers",
    {"p": p, "q": q, "r": real, "u": np.abs(p)},
    [
        ("Pow", ["p", "q"], {}, p ** q.astype(np.int64)),
        ("Pow", ["p", "five"], {}, p**5),
        ("Pow", ["u", "r"], {}, np.power(np.abs(p).astype(float), real).astype(np.int64)),
    ],
    known={"five": np.array(5, F)},
)
roots = np.array([[399, 50], [10000, 9]], np.int32)
several(
    "whole numbers by way of f32, with everything else in bf16",
    {"a": roots, "b": np.array([2, 3], np.int32), "h": np.array(0.5, F)},
    [
        ("Pow", ["a", "h"], {}, np.sqrt(roots).astype(np.int32)),
        ("Erf", ["b"], {}, np.array([0, 0], np.int32)),
        ("ReduceLogSum", ["a", "one"], {"keepdims": 0}, np.array([6, 9], np.int32)),
        ("ReduceLogSumExp", ["b", "zero"], {"keepdims": 0}, np.array(3, np.int32)),
    ],
    known={"one": np.array([1]), "zero": np.array([0])},
    precision="bf16",
)
bytes_, amounts = np.arange(256).astype(np.uint8), np.array(
    [0, 1, 7, 8, 9, 40, 255, 3] * 32, np.uint8
)
several(
    "shifts",
    {"a": bytes_, "s": amounts},
    [
        (
            "BitShift",
            ["a", "s"],
            {"direction": "LEFT"},
            np.where(amounts < 8, bytes_ << (amounts & 7), 0).astype(np.uint8),
        ),
        (
            "BitShift",
            ["a", "s"],
            {"direction": "RIGHT"},
            np.where(amounts < 8, bytes_ >> (amounts & 7), 0).astype(np.uint8),
        ),
    ],
)
several(
    "bytes and a known byte",
    {"a": bytes_},
    [
        ("Div", ["a", "k"], {}, bytes_ // 200),
        ("Mod", ["a", "k"], {}, bytes_ % 200),
        ("Less", ["a", "k"], {}, bytes_ < 200),
        ("Max", ["a", "k"], {}, np.maximum(bytes_, 200)),
        ("Sub", ["a", "k"], {}, bytes_ - np.uint8(200)),
    ],
    known={"k": np.array(200, np.uint8)},
)

special = np.array([np.nan, np.inf, -np.inf, 0, -0.0, 1, -1, 2.5, -2.5, 3e38, 1e-40], F)
a, b = np.repeat(special, 11), np.tile(special, 11)
several(
    "special numbers",
    {"a": a, "b": b, "x": special},
    [
        ("Max", ["a", "b"], {}, np.maximum(a, b)),
        ("Min", ["a", "b"], {}, np.minimum(a, b)),
        ("Div", ["a", "b"], {}, a / b),
        ("Less", ["a", "b"], {}, a < b),
        ("Equal", ["a", "b"], {}, a == b),
        ("Mod", ["a", "b"], {"fmod": 1}, np.fmod(a, b)),
        ("IsNaN", ["x"], {}, np.isnan(special)),
        ("IsInf", ["x"], {"detect_negative": 0}, special == np.inf),
        ("IsInf", ["x"], {"detect_negative": 0, "detect_positive": 0}, np.zeros(11, bool)),
        ("Round", ["x"], {}, np.rint(special)),
        ("Clip", ["x", "one"], {}, np.maximum(special, F(1))),
        ("Relu", ["x"], {}, np.maximum(special, 0)),
    ],
    known={"one": np.array(1, F)},
)
several(
    "powers of special numbers",
    {"a": a, "b": b},
    [("Pow", ["a", "b"], {}, np.power(a, b))],
    rtol=2e-7,
)

# Every pair of types; floats within the integers' range, whose edges are tested on their own.
for source in TYPES:
    if source.kind == "f":
        values = np.array([0, -0.0, 0.5, -0.5, 1.5, 2.5, -1.5, 99.9, 1e-8, 33.1, 2049], source)
    elif source.kind == "b":
        values = np.array([False, True])
    else:
        values = np.concatenate(
            [
                integers(source, 20),
                np.array([np.iinfo(source).min, np.iinfo(source).max, 0, 1], source),
            ]
        )
    if source == np.int64:
        values = np.concatenate([values, [2**53 + 1, -(2**24) - 1, 2**31, 16777219]])
    in_range = values[np.abs(values) < 128] if source.kind == "f" else values
    inputs = {"x": values, "y": np.abs(in_range) if source.kind == "f" else in_range}
    several(
        f"casts of {source}",
        inputs,
        [
            (
                "Cast",
                ["y" if target.kind in "iu" else "x"],
                {"to": number},
                (inputs["y"] if target.kind in "iu" else values).astype(target),
            )
            for target, number in TYPES.items()
        ],
    )
edges = np.array([3e9, -3e9, 1e20, np.nan, np.inf, -np.inf], F)
several(
    "casts out of range",
    {"x": edges},
    [
        (
            "Cast",
            ["x"],
            {"to": 6},
            np.array([2**31 - 1, -(2**31), 2**31 - 1, 0, 2**31 - 1, -(2**31)], np.int32),
        ),
        (
            "Cast",
            ["x"],
            {"to": 7},
            np.array([3 * 10**9, -3 * 10**9, 2**63 - 1, 0, 2**63 - 1, -(2**63)]),
        ),
        ("Cast", ["x"], {"to": 9}, edges != 0),
    ],
)

x, row, channel = (
    rng.normal(size=(2, 3, 4)).astype(F),
    rng.normal(size=4).astype(F),
    (rng.random(3) + 1).astype(F),
)
for opset in (1, 6):
    middle = channel[:, None]
    aligned = {"broadcast": 1, "axis": 1}
    several(
        f"arithmetic of operator set {opset}",
        {"x": x, "r": row, "c": channel},
        [
            ("Add", ["x", "r"], {"broadcast": 1}, x + row),
            ("Sub", ["x", "c"], aligned, x - middle),
            ("Mul", ["x", "c"], aligned, x * middle),
            ("Div", ["x", "c"], aligned, x / middle),
            ("Less", ["x", "c"], aligned, x < middle),
            ("Max", ["x", "x"], {}, x),
            ("PRelu", ["x", "c"], {}, np.where(x < 0, x * middle, x)),
            ("Clip", ["x"], {"max": 0.5}, np.minimum(x, F(0.5))),
            ("Dropout", ["x"], {"is_test": 1}, x),
            ("Cast", ["x"], {"to": 6 if opset == 6 else "INT32"}, x.astype(np.int32)),
        ],
        opset=opset,
    )


def uniform(shape, seed):
    """Philox2x32-10: the counter is the element's index, the key the seed's low word."""
    low, high = np.arange(np.prod(shape), dtype=np.uint64), np.uint64(seed >> 32)
    word = np.uint64(0xFFFFFFFF)
    for number in range(10):
        product = low * np.uint64(0xD256D193)
        low, high = (
            product >> np.uint64(32) ^ np.uint64((seed + number * 0x9E3779B9) & 0xFFFFFFFF) ^ high,
            product & word,
        )
    return ((low >> np.uint64(8)).astype(F) * F(2**-24)).reshape(shape)


seed = int(np.array(2.5, F).view(np.uint32))
u, kept = uniform((5, 40, 33), seed), uniform(x.shape, 9) >= 0.25
several(
    "random numbers",
    {"p": u[0], "x": x},
    [
        ("RandomUniform", [], {"shape": u.shape, "seed": 2.5}, u),
        (
            "RandomUniformLike",
            ["p"],
            {"seed": 2.5, "dtype": 10},
            uniform((40, 33), seed).astype(np.float16),
        ),
        ("Bernoulli", ["p"], {"seed": 2.5, "dtype": 7}, np.zeros((40, 33), np.int64)),
        ("Dropout", ["x", "ratio", "yes"], {"seed": 9}, np.where(kept, x * F(1 / F(0.75)), F(0))),
        ("Dropout", ["x", "none", "yes"], {}, x),
    ],
    known={"ratio": np.array(0.25, F), "none": np.array(0, F), "yes": np.array(True)},
)

print("\n".join(failures))
sys.exit(bool(failures))
