"""graphs.py FLAGS...: compiles small graphs with samba-compile FLAGS, runs them, compares with
numpy.

Each case is a body in samba IR over arguments %x0, %x1, ... whose last value is the result, and the
same in numpy.
"""
import os
import subprocess
import sys

import numpy as np

random = np.random.RandomState(5)


def ints(*values):
    return "array<i64: %s>" % ", ".join(map(str, values)) if values else "array<i64>"


def type_of(a):
    names = {
        "float32": "f32",
        "float16": "f16",
        "bool": "i1",
        "int8": "i8",
        "uint8": "ui8",
        "int16": "i16",
        "int32": "i32",
        "int64": "i64",
    }
    return "tensor<%s%s>" % ("".join("%dx" % d for d in a.shape), names[str(a.dtype)])


def normal(*shape):
    return random.randn(*shape).astype("f")


def softmax(x, axis=-1):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def conv2d(x, w, stride=1, padding=0, groups=1):
    x = np.pad(x.astype("d"), ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[
        :, :, ::stride, ::stride
    ]
    n, c = x.shape[0], x.shape[1] // groups
    parts = [
        np.einsum(
            "nchwij,ocij->nohw",
            windows[:, g * c : (g + 1) * c],
            w[g * (w.shape[0] // groups) : (g + 1) * (w.shape[0] // groups)],
        )
        for g in range(groups)
    ]
    return np.concatenate(parts, 1)


def pool(x, size, stride, padding, fill, function):
    x = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2), constant_values=fill)
    return function(
        np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))[:, :, ::stride, ::stride],
        (4, 5),
    )


CASES = []


def case(name, arrays, body, function, target="tiny"):
    """body: lines `%v = samba.op ...` with {0}, {1} for the arguments' types; the last one is
    returned."""
    CASES.append((name, arrays, body, function, target))


# ---- what the operators mean ----
a, b = normal(6, 20), normal(20, 10)
case("matmul", [a, b], "%y = samba.matmul %x0, %x1 : {0}, {1}", lambda a, b: a.astype("d") @ b)
case(
    "batched",
    [normal(2, 3, 6, 8), normal(3, 8, 5)],
    "%y = samba.matmul %x0, %x1 : {0}, {1}",
    lambda a, b: a.astype("d") @ b,
)
case(
    "conv",
    [normal(2, 3, 9, 7), normal(4, 3, 3, 3), normal(4)],
    "%y = samba.conv2d %x0, %x1, %x2 {{padding = array<i64: 1, 1, 1, 1>}} : {0}, {1}, {2}",
    lambda x, w, b: conv2d(x, w, 1, 1) + b[:, None, None],
)
case(
    "strided conv in groups",
    [normal(1, 4, 9, 9), normal(6, 2, 3, 3)],
    (
        "%y = samba.conv2d %x0, %x1 {{padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>,"
        " groups = 2}} : {0}, {1}"
    ),
    lambda x, w: conv2d(x, w, 2, 1, 2),
)
case(
    "conv of a padded tensor",
    [normal(1, 2, 6, 6), normal(3, 2, 3, 3)],
    (
        "%p = samba.pad %x0 {{low = array<i64: 0, 0, 1, 1>, high = array<i64: 0, 0, 1, 1>, value ="
        " 2.0}} : {0}\n%y = samba.conv2d %p, %x1 {{padding = array<i64: 1, 1, 1, 1>}} :"
        " tensor<1x2x8x8xf32>, {1}"
    ),
    lambda x, w: conv2d(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=2), w, 1, 1),
)
case(
    "conv of a part",
    [normal(1, 4, 8, 8), normal(3, 2, 3, 3)],
    (
        "%p = samba.slice %x0 {{starts = array<i64: 0, 1, 2, 1>, ends = array<i64: 1, 3, 8, 7>,"
        " steps = array<i64: 1, 1, 1, 1>}} : {0}\n%y = samba.conv2d %p, %x1 {{padding = array<i64:"
        " 1, 1, 1, 1>}} : tensor<1x2x6x6xf32>, {1}"
    ),
    lambda x, w: conv2d(x[:, 1:3, 2:8, 1:7], w, 1, 1),
)
case(
    "conv in groups with a bias",
    [normal(1, 4, 5, 5), normal(6, 2, 3, 3), normal(6)],
    (
        "%c = samba.conv2d %x0, %x1, %x2 {{padding = array<i64: 1, 1, 1, 1>, groups = 2}} : {0},"
        " {1}, {2}\n%y = samba.relu %c : tensor<1x6x5x5xf32>"
    ),
    lambda x, w, b: np.maximum(conv2d(x, w, 1, 1, 2) + b[:, None, None], 0),
)
case(
    "depthwise conv",
    [normal(1, 4, 5, 5), normal(4, 1, 3, 3)],
    "%y = samba.conv2d %x0, %x1 {{padding = array<i64: 1, 1, 1, 1>, groups = 4}} : {0}, {1}",
    lambda x, w: conv2d(x, w, 1, 1, 4),
)
case(
    "group norm",
    [normal(2, 6, 5), normal(6), normal(6)],
    "%y = samba.group_norm %x0, %x1, %x2 {{num_groups = 3}} : {0}, {1}, {2}",
    lambda x, w, b: (
        lambda g: (
            (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + 1e-5)
        ).reshape(2, 6, 5)
    )(x.astype("d").reshape(2, 3, 10))
    * w[:, None]
    + b[:, None],
)
case(
    "rms norm",
    [normal(3, 16), normal(16)],
    "%y = samba.rms_norm %x0, %x1 {{normalized_shape = array<i64: 16>, eps = 1.0e-6}} : {0}, {1}",
    lambda x, w: x / np.sqrt((x.astype("d") ** 2).mean(-1, keepdims=True) + 1e-6) * w,
)
case(
    "batch norm",
    [normal(2, 3, 4), normal(3), normal(3), normal(3), np.abs(normal(3))],
    "%y = samba.batch_norm %x0, %x1, %x2, %x3, %x4 : {0}, {1}, {2}, {3}, {4}",
    lambda x, w, b, m, v: (x - m[:, None]) / np.sqrt(v[:, None] + 1e-5) * w[:, None] + b[:, None],
    "plasticine",
)
case(
    "attention",
    [normal(2, 5, 8), normal(2, 5, 8), normal(2, 5, 8)],
    "%y = samba.scaled_dot_product_attention %x0, %x1, %x2 {{is_causal = true}} : {0}, {1}, {2}",
    lambda q, k, v: softmax(
        np.where(np.tri(5, dtype=bool), q.astype("d") @ k.swapaxes(1, 2) / np.sqrt(8), -np.inf)
    )
    @ v,
)
case(
    "index select",
    [normal(4, 7), np.array([6, 0, 3], "i8")],
    "%y = samba.index_select %x0, %x1 {{dim = 1}} : {0}, {1}",
    lambda x, i: x[:, i],
)
case(
    "max pool",
    [normal(1, 2, 8, 8) - 9],
    (
        "%y = samba.max_pool2d %x0 {{kernel_size = array<i64: 3, 3>, stride = array<i64: 2, 2>,"
        " padding = array<i64: 1, 1, 1, 1>}} : {0}"
    ),
    lambda x: pool(x, 3, 2, 1, -np.inf, np.max),
)
case(
    "average pool",
    [normal(1, 2, 8, 8)],
    "%y = samba.avg_pool2d %x0 {{kernel_size = array<i64: 2, 2>, stride = array<i64: 2, 2>}} : {0}",
    lambda x: pool(x, 2, 2, 0, 0, np.mean),
)
case("softmax", [normal(5, 33)], "%y = samba.softmax %x0 {{dim = 1}} : {0}", softmax)
case(
    "softmax over the first axis",
    [normal(9, 4)],
    "%y = samba.softmax %x0 {{dim = 0}} : {0}",
    lambda x: softmax(x, 0),
)
case(
    "layer norm",
    [normal(6, 24), normal(24), normal(24)],
    "%y = samba.layer_norm %x0, %x1, %x2 {{normalized_shape = array<i64: 24>}} : {0}, {1}, {2}",
    lambda x, w, b: (x - x.mean(-1, keepdims=True))
    / np.sqrt(x.astype("d").var(-1, keepdims=True) + 1e-5)
    * w
    + b,
)
case(
    "cat",
    [normal(2, 3), normal(2, 5), normal(2, 1)],
    "%y = samba.cat %x0, %x1, %x2 {{dim = 1}} : {0}, {1}, {2}",
    lambda *x: np.concatenate(x, 1),
    "plasticine",
)
case(
    "where",
    [random.rand(4, 6) < 0.5, normal(4, 6), normal(6)],
    "%y = samba.where %x0, %x1, %x2 : {0}, {1}, {2}",
    np.where,
)
case(
    "index select of a padded tensor",
    [normal(4, 7), np.array([8, 0, 3], "i8")],
    (
        "%p = samba.pad %x0 {{low = array<i64: 0, 1>, high = array<i64: 0, 1>, value = 2.0}} :"
        " {0}\n%y = samba.index_select %p, %x1 {{dim = 1}} : tensor<4x9xf32>, {1}"
    ),
    lambda x, i: np.pad(x, ((0, 0), (1, 1)), constant_values=2)[:, i],
)
case(
    "index select of a part",
    [normal(4, 7), np.array([-1, 0, 3], "i8")],
    (
        "%p = samba.slice %x0 {{starts = array<i64: 0, 2>, ends = array<i64: 4, 6>, steps ="
        " array<i64: 1, 1>}} : {0}\n%y = samba.index_select %p, %x1 {{dim = 1}} :"
        " tensor<4x4xf32>, {1}"
    ),
    lambda x, i: x[:, 2:6][:, i],
)
case(
    "embedding",
    [normal(11, 6), random.randint(0, 11, (3, 4)).astype("i8")],
    "%y = samba.embedding %x0, %x1 : {0}, {1}",
    lambda w, i: w[i],
)
case(
    "sum",
    [normal(3, 4, 5)],
    "%y = samba.sum %x0 {{dim = array<i64: 1>, keepdim = true}} : {0}",
    lambda x: x.astype("d").sum(1, keepdims=True),
)
case("mean of all", [normal(3, 40)], "%y = samba.mean %x0 : {0}", lambda x: x.astype("d").mean())
case(
    "integers",
    [random.randint(-99, 99, (4, 5)).astype("i4"), random.randint(1, 9, (5,)).astype("i4")],
    "%m = samba.mul %x0, %x1 : {0}, {1}\n%y = samba.div %m, %x1 : {0}, {1}",
    lambda a, b: a,
)
case(
    "long integers",
    [np.array([2**40, -(2**50), 7], "i8")],
    "%y = samba.add %x0, %x0 : {0}, {0}",
    lambda a: a + a,
)
case(
    "bytes", [np.array([250, 3, 255], "u1")], "%y = samba.add %x0, %x0 : {0}, {0}", lambda a: a + a
)
case(
    "halves",
    [random.randn(6, 7).astype("e")],
    "%y = samba.mul %x0, %x0 : {0}, {0}",
    lambda a: a * a,
)
case(
    "a cast",
    [normal(5, 3) * 9],
    "%y = samba.cast %x0 {{dtype = i32}} : {0}",
    lambda x: x.astype("i4"),
)

# ---- views: composed where they can be, copied where they must be ----
case(
    "transposed operand",
    [normal(6, 20), normal(10, 20)],
    (
        "%t = samba.permute %x1 {{dims = array<i64: 1, 0>}} : {1}\n%y = samba.matmul %x0, %t : {0},"
        " tensor<20x10xf32>"
    ),
    lambda a, b: a.astype("d") @ b.T,
)
case(
    "reshape of a transposed tensor",
    [normal(4, 6)],
    (
        "%t = samba.permute %x0 {{dims = array<i64: 1, 0>}} : {0}\n%r = samba.reshape %t {{shape ="
        " array<i64: 24>}} : tensor<6x4xf32>\n%y = samba.relu %r : tensor<24xf32>"
    ),
    lambda a: np.maximum(a.T.reshape(24), 0),
)
case(
    "backwards",
    [normal(4, 6)],
    (
        "%r = samba.slice %x0 {{starts = array<i64: 3, 4>, ends = array<i64: -1, 0>, steps ="
        " array<i64: -1, -2>}} : {0}\n%y = samba.neg %r : tensor<4x2xf32>"
    ),
    lambda a: -a[::-1, 4:0:-2],
)
case(
    "expanded",
    [normal(1, 6), normal(4, 6)],
    (
        "%e = samba.expand %x0 {{shape = array<i64: 4, 6>}} : {0}\n%y = samba.sub %x1, %e : {1},"
        " tensor<4x6xf32>"
    ),
    lambda a, b: b - a,
)
case(
    "padded twice",
    [normal(3, 4)],
    (
        "%p = samba.pad %x0 {{low = array<i64: 1, 0>, high = array<i64: 0, 2>, value = 1.0}} :"
        " {0}\n%q = samba.permute %p {{dims = array<i64: 1, 0>}} : tensor<4x6xf32>\n%r = samba.pad"
        " %q {{low = array<i64: 1, 1>, high = array<i64: 0, 0>, value = -3.0}} :"
        " tensor<6x4xf32>\n%y = samba.exp %r : tensor<7x5xf32>"
    ),
    lambda a: np.exp(
        np.pad(
            np.pad(a, ((1, 0), (0, 2)), constant_values=1).T, ((1, 0), (1, 0)), constant_values=-3
        )
    ),
)
case(
    "padded result of an operator",
    [normal(3, 4)],
    (
        "%n = samba.neg %x0 : {0}\n%p = samba.pad %n {{low = array<i64: 1, 1>, high = array<i64: 1,"
        " 0>}} : {0}\n%y = samba.exp %p : tensor<5x5xf32>"
    ),
    lambda a: np.exp(np.pad(-a, ((1, 1), (1, 0)))),
)
case(
    "reshaped between operators",
    [normal(4, 6), normal(3, 8)],
    (
        "%n = samba.neg %x0 : {0}\n%r = samba.reshape %n {{shape = array<i64: 3, 8>}} : {0}\n%y ="
        " samba.mul %r, %x1 : {1}, {1}"
    ),
    lambda a, b: -a.reshape(3, 8) * b,
)
case(
    "heads",
    [normal(2, 5, 12), normal(12, 12)],
    (
        "%l = samba.linear %x0, %x1 : {0}, {1}\n%r = samba.reshape %l {{shape = array<i64: 2, 5, 3,"
        " 4>}} : {0}\n%t = samba.permute %r {{dims = array<i64: 0, 2, 1, 3>}} :"
        " tensor<2x5x3x4xf32>\n%k = samba.permute %r {{dims = array<i64: 0, 2, 3, 1>}} :"
        " tensor<2x5x3x4xf32>\n%y = samba.matmul %t, %k : tensor<2x3x5x4xf32>, tensor<2x3x4x5xf32>"
    ),
    lambda x, w: (lambda t: t @ t.swapaxes(2, 3))(
        (x.astype("d") @ w.T).reshape(2, 5, 3, 4).swapaxes(1, 2)
    ),
)
case(
    "a view is the result",
    [normal(4, 6)],
    "%y = samba.permute %x0 {{dims = array<i64: 1, 0>}} : {0}",
    lambda a: a.T,
)
case(
    "a view of a result is the result",
    [normal(4, 6)],
    "%n = samba.neg %x0 : {0}\n%y = samba.reshape %n {{shape = array<i64: 24>}} : {0}",
    lambda a: -a.reshape(24),
)

# ---- constants ----
case(
    "a repeated constant is the result",
    [normal(2)],
    "%y = samba.constant {{value = dense<1.5> : tensor<3x4xf32>}}",
    lambda a: np.full((3, 4), 1.5, "f"),
)
case(
    "a constant is the result",
    [normal(2)],
    "%y = samba.constant {{value = dense<[1.5, 2.5]> : tensor<2xf32>}}",
    lambda a: np.array([1.5, 2.5], "f"),
)
case(
    "a padded repeated constant",
    [normal(4, 4)],
    (
        "%c = samba.constant {{value = dense<1.0> : tensor<2x2xf32>}}\n%p = samba.pad %c {{low ="
        " array<i64: 1, 1>, high = array<i64: 1, 1>}} : tensor<2x2xf32>\n%y = samba.add %x0, %p :"
        " {0}, {0}"
    ),
    lambda a: a + np.pad(np.ones((2, 2), "f"), 1),
)
case(
    "constants",
    [normal(3, 4)],
    (
        "%c = samba.constant {{value = dense<[1.0, -2.0, 3.0, 0.5]> : tensor<4xf32>}}\n%s ="
        " samba.constant {{value = dense<3.0> : tensor<f32>}}\n%m = samba.mul %x0, %c : {0},"
        " tensor<4xf32>\n%y = samba.sub %s, %m : tensor<f32>, {0}"
    ),
    lambda a: 3 - a * np.array([1, -2, 3, 0.5], "f"),
)
case(
    "booleans",
    [normal(3, 4)],
    (
        "%z = samba.constant {{value = dense<[true, false, true, true]> : tensor<4xi1>}}\n%s ="
        " samba.constant {{value = dense<0.0> : tensor<f32>}}\n%g = samba.gt %x0, %s : {0},"
        " tensor<f32>\n%y = samba.logical_and %g, %z : tensor<3x4xi1>, tensor<4xi1>"
    ),
    lambda a: (a > 0) & np.array([True, False, True, True]),
)
case(
    "a repeated constant in a cat",
    [normal(2, 3)],
    (
        "%c = samba.constant {{value = dense<7.0> : tensor<2x2xf32>}}\n%y = samba.cat %c, %x0 {{dim"
        " = 1}} : tensor<2x2xf32>, {0}"
    ),
    lambda a: np.concatenate([np.full((2, 2), 7, "f"), a], 1),
)
case(
    "a repeated constant as an image",
    [normal(2, 1, 3, 3)],
    (
        "%c = samba.constant {{value = dense<1.0> : tensor<1x1x5x5xf32>}}\n%y = samba.conv2d %c,"
        " %x0 {{padding = array<i64: 1, 1, 1, 1>}} : tensor<1x1x5x5xf32>, {0}"
    ),
    lambda w: conv2d(np.ones((1, 1, 5, 5)), w, 1, 1),
)
case(
    "a repeated constant as a table",
    [random.randint(0, 4, (3,)).astype("i8")],
    (
        "%c = samba.constant {{value = dense<2.0> : tensor<4x6xf32>}}\n%y = samba.embedding %c, %x0"
        " : tensor<4x6xf32>, {0}"
    ),
    lambda i: np.full((3, 6), 2, "f"),
)
case(
    "an expanded constant window",
    [normal(1, 1, 5, 5)],
    (
        "%w = samba.constant {{value = dense<1.0> : tensor<1x1x3x3xf32>}}\n%y = samba.conv2d %x0,"
        " %w {{padding = array<i64: 1, 1, 1, 1>}} : {0}, tensor<1x1x3x3xf32>"
    ),
    lambda x: conv2d(x, np.ones((1, 1, 3, 3)), 1, 1),
)

# ---- several sections, values that several read, values that nobody reads ----
case(
    "diamond",
    [normal(6, 20), normal(20, 20), normal(20, 20)],
    (
        "%a = samba.matmul %x0, %x1 : {0}, {1}\n%b = samba.relu %a : {0}\n%c = samba.matmul %b, %x2"
        " : {0}, {2}\n%d = samba.softmax %b {{dim = 1}} : {0}\n%y = samba.add %c, %d : {0}, {0}"
    ),
    lambda x, w, v: (lambda b: b @ v + softmax(b))(np.maximum(x.astype("d") @ w, 0)),
)
case(
    "an argument nobody reads",
    [normal(3, 4), normal(5)],
    "%y = samba.neg %x0 : {0}",
    lambda a, b: -a,
)
case(
    "the same operand twice",
    [normal(7, 7)],
    "%y = samba.matmul %x0, %x0 : {0}, {0}",
    lambda a: a.astype("d") @ a,
)


def run(name, arrays, body, function, target, flags):
    reference = np.asarray(function(*arrays))
    if reference.dtype == "d":
        reference = reference.astype("e" if arrays[0].dtype == "e" else "f")
    types = [type_of(a) for a in arrays]
    arguments = ", ".join('%%x%d: %s {samba.name = "x%d"}' % (i, t, i) for i, t in enumerate(types))
    out = type_of(reference)
    text = 'func.func @forward(%s) -> (%s {samba.name = "y"}) {\n%s\nreturn %%y : %s\n}\n' % (
        arguments,
        out,
        body.format(*types),
        out,
    )
    open("case.mlir", "w").write(text)
    command = ["samba-compile", "case.mlir", "-o", "case.pef", "--target=" + target] + flags
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return "%s: %s" % (name, done.stderr)
    np.save("y.npy", reference)
    for i, array in enumerate(arrays):
        np.save("x%d.npy" % i, array)
    narrow = any("bf16" in f or "mp" in f for f in flags)
    command = ["samba-run", "case.pef", "--expect", "y=y.npy", "--threads", "1"]
    command += (
        ["--rel-l2", "2e-2"]
        if narrow
        else ["--rtol", "1e-4" if reference.dtype == "f" else "1e-3", "--atol", "1e-5"]
    )
    for i in range(len(arrays)):
        command += ["--input", "x%d=x%d.npy" % (i, i)]
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    return (
        "%s: exit code %d: %s" % (name, done.returncode, done.stderr) if done.returncode else None
    )


def main():
    flags = [f for f in sys.argv[1:] if not f.startswith("--only=")]
    only = [f[7:] for f in sys.argv[1:] if f.startswith("--only=")]
    failures = [f for c in CASES if not only or c[0] in only for f in [run(*c, flags)] if f]
    print("%d graphs, %d wrong" % (len(CASES), len(failures)))
    if failures:
        sys.exit("\n".join(failures))


main()
