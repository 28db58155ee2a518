"""Models whose inputs, values between nodes or results have no elements; numpy says what comes
out."""
import sys

import numpy as np
from model_check import check, failures


def f(*shape):
    return np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape) - 2


def i(*values):
    return np.array(values, np.int64)


x = f(4, 6)
none = f(0, 3)
check("pass through", [("Identity", ["x"], ["y"], {})], {"x": none}, {"y": none})
check(
    "element by element",
    [("Add", ["x", "z"], ["a"], {}), ("Less", ["a", "z"], ["y"], {}), ("Exp", ["a"], ["w"], {})],
    {"x": none, "z": f(1)},
    {"y": np.zeros([0, 3], bool), "w": none},
)
check(
    "slice to nothing and join",
    [
        ("Slice", ["x", "s", "e"], ["a"], {}),
        ("Concat", ["a", "x"], ["y"], {"axis": 0}),
        ("Relu", ["a"], ["z"], {}),
    ],
    {"x": x},
    {"y": x, "z": f(0, 6)},
    {"s": i(3), "e": i(2)},
)
check(
    "split with a part of nothing",
    [("Split", ["x", "s"], ["a", "b", "c"], {"axis": 1}), ("Neg", ["b"], ["d"], {})],
    {"x": x},
    {"a": x[:, :2], "d": f(4, 0), "c": x[:, 2:]},
    {"s": i(2, 0, 4)},
)
check(
    "shape of nothing",
    [
        ("Shape", ["x"], ["s"], {}),
        ("ReduceProd", ["s"], ["p"], {"keepdims": 0}),
        ("Cast", ["p"], ["q"], {"to": 1}),
        ("Add", ["q", "z"], ["y"], {}),
    ],
    {"x": none, "z": f(2)},
    {"y": f(2)},
)
check(
    "product over nothing",
    [("MatMul", ["a", "b"], ["y"], {})],
    {"a": f(2, 3, 0), "b": f(0, 4)},
    {"y": np.zeros([2, 3, 4], np.float32)},
)
check(
    "product with no rows",
    [("MatMul", ["a", "b"], ["y"], {})],
    {"a": f(0, 3), "b": f(3, 4)},
    {"y": f(0, 4)},
)
check(
    "gemm over nothing",
    [("Gemm", ["a", "b", "c"], ["y"], {"transB": 1, "beta": 2.0})],
    {"a": f(2, 0), "b": f(3, 0), "c": f(3)},
    {"y": np.tile(2 * f(3), (2, 1))},
)
for form, value in (
    ("Sum", 0),
    ("Prod", 1),
    ("Max", -np.inf),
    ("Min", np.inf),
    ("Mean", np.nan),
    ("L1", 0),
    ("L2", 0),
    ("SumSquare", 0),
    ("LogSum", -np.inf),
    ("LogSumExp", -np.inf),
):
    check(
        f"{form} of nothing",
        [(f"Reduce{form}", ["x", "a"], ["y"], {"keepdims": 0})],
        {"x": f(2, 0, 3)},
        {"y": np.full([2, 3], value, np.float32)},
        {"a": i(1)},
    )
check(
    "max of no integers",
    [("ReduceMax", ["x"], ["y"], {}), ("ReduceSum", ["x", "a"], ["z"], {})],
    {"x": np.zeros([2, 0], np.int64)},
    {"y": np.array([[np.iinfo(np.int64).min]]), "z": np.zeros([1, 0], np.int64)},
    {"a": i(0)},
)
check(
    "gather nothing",
    [("Gather", ["x", "i"], ["y"], {"axis": 1})],
    {"x": x, "i": np.zeros([0, 2], np.int64)},
    {"y": f(4, 0, 2)},
)
check(
    "scatter nothing",
    [("ScatterND", ["x", "i", "u"], ["y"], {})],
    {"x": x, "i": np.zeros([0, 1], np.int64), "u": f(0, 6)},
    {"y": x},
)
check(
    "reshape",
    [
        ("Reshape", ["x", "s"], ["y"], {"allowzero": 1}),
        ("Transpose", ["y"], ["z"], {"perm": [1, 0, 2]}),
        ("Softmax", ["z"], ["w"], {}),
    ],
    {"x": f(0, 4)},
    {"w": f(0, 3, 2)},
    {"s": i(3, 0, 2)},
)
check(
    "repeat nothing, nothing times",
    [("Tile", ["x", "r"], ["y"], {}), ("Tile", ["z", "r"], ["w"], {})],
    {"x": none, "z": x},
    {"y": f(0, 3), "w": f(0, 6)},
    {"r": i(0, 1)},
)
check(
    "expand to nothing",
    [("Expand", ["x", "s"], ["y"], {})],
    {"x": f(1, 2)},
    {"y": f(3, 0, 2)},
    {"s": i(3, 0, 2)},
)
check(
    "window of nothing, declared",
    [("MaxPool", ["x"], ["y"], {"kernel_shape": [2, 2]})],
    {"x": f(0, 2, 4, 4)},
    {"y": f(0, 2, 3, 3)},
    declare=True,
)
check(
    "sum of no products",
    [("Einsum", ["a", "b"], ["y"], {"equation": "ij,jk->k"})],
    {"a": f(0, 3), "b": f(3, 4)},
    {"y": np.zeros(4, np.float32)},
    declare=True,
)
check(
    "an axis at run time",
    [("CumSum", ["x", "a"], ["z"], {}), ("ReduceSum", ["z", "b"], ["y"], {})],
    {"x": none, "a": np.array(-1)},
    {"y": np.zeros([1, 3], np.float32)},
    {"b": i(0)},
)
check(
    "large, but nothing", [("Neg", ["x"], ["y"], {})], {"x": f(300, 300, 0)}, {"y": f(300, 300, 0)}
)
check(
    "blocks of nothing",
    [
        ("DepthToSpace", ["x"], ["y"], {"blocksize": 2}),
        ("SpaceToDepth", ["y"], ["z"], {"blocksize": 2}),
    ],
    {"x": f(1, 8, 0, 3)},
    {"y": f(1, 2, 0, 6), "z": f(1, 8, 0, 3)},
)
check(
    "eye and largest of nothing",
    [("EyeLike", ["x"], ["y"], {"dtype": 7}), ("TopK", ["z", "k"], ["v", "w"], {"axis": 0})],
    {"x": none, "z": x},
    {"y": np.zeros([0, 3], np.int64), "v": f(0, 6), "w": np.zeros([0, 6], np.int64)},
    {"k": i(0)},
)
check(
    "axes without elements",
    [
        ("ReduceSum", ["x", "a"], ["y"], {"keepdims": 0}),
        ("ReduceMax", ["x", "a"], ["z"], {"noop_with_empty_axes": 1}),
    ],
    {"x": x, "a": i()},
    {"y": np.array(x.sum(), np.float32), "z": x},
)
check(
    "compress to nothing",
    [("Compress", ["x", "c"], ["y"], {"axis": 1})],
    {"x": x},
    {"y": f(4, 0)},
    {"c": np.array([False, False])},
)
check(
    "padded: nothing left, nothing at first",
    [
        ("Pad", ["x", "p", "v"], ["y"], {}),
        ("Pad", ["y", "q", "v"], ["z"], {}),
        ("CenterCropPad", ["y", "s"], ["w"], {}),
    ],
    {"x": x},
    {"y": f(0, 7), "z": np.full([2, 6], 3, np.float32), "w": np.zeros([1, 2], np.float32)},
    {"p": i(-3, 1, -1, 0), "q": i(2, -1, 0, 0), "v": np.float32(3), "s": i(1, 2)},
)
check(
    "padded with a number at run time",
    [("Pad", ["x", "p", "v"], ["y"], {}), ("Pad", ["x", "q", "v"], ["z"], {})],
    {"x": x, "v": np.array(3, np.float32)},
    {"y": np.full([2, 5], 3, np.float32), "z": f(0, 6)},
    {"p": i(-4, -1, 2, 0), "q": i(-4, 0, 0, 0)},
)
print("\n".join(failures))
sys.exit(1 if failures else 0)
