"""Modules as other compilers emit them, with values by NumPy, through samba-compile and samba-run.

    cases.py TOOLS FOLDER [all]

Without `all` every third case is run. Each case is a module of TOSA or linalg with inputs, and what
NumPy says of the results in float64; the last line is the number of cases that pass.
"""

import os
import subprocess
import sys

import numpy as np

tools, folder = sys.argv[1], sys.argv[2]
random = np.random.default_rng(3)
NAMES = {"float32": "f32", "float16": "f16", "int8": "i8", "int16": "i16", "int32": "i32"}
NAMES.update({"int64": "i64", "bool": "i1"})
cases = []


def element(array):
    return NAMES[array.dtype.name]


def tensor(array):
    return "tensor<" + "".join(f"{size}x" for size in array.shape) + element(array) + ">"


def floats(*shape):
    return random.standard_normal(shape).astype(np.float32)


def integers(low, high, *shape, dtype=np.int32):
    return random.integers(low, high, shape).astype(dtype)


def add(name, body, inputs, result, rtol=1e-3, atol=1e-4):
    """A function main of `inputs` (%a0, ...), whose body computes %r."""
    arguments = ", ".join(f"%a{i}: {tensor(x)}" for i, x in enumerate(inputs))
    text = f"func.func @main({arguments}) -> {tensor(result)} {{\n{body}\n"
    cases.append((name, text + f"return %r : {tensor(result)}\n}}\n", inputs, result, rtol, atol))


def call(operation, operands, result, attributes="", constants=""):
    """A TOSA operation: of arguments, and of constants by their names and types."""
    names = [f"%a{i}" for i in range(len(operands))] + [c.split(":")[0] for c in constants.split()]
    types = [tensor(x) for x in operands] + [c.split(":")[1] for c in constants.split()]
    return (
        f"%r = tosa.{operation} {', '.join(names)} {{{attributes}}}"
        f" : ({', '.join(types)}) -> {tensor(result)}"
    )


ZERO = '%z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>\n'
SHIFT = '%%z = "tosa.const"() <{values = dense<%d> : tensor<1xi8>}> : () -> tensor<1xi8>\n'


def shape(name, numbers):
    count = len(numbers)
    values = ", ".join(map(str, numbers))
    return (
        f"%{name} = tosa.const_shape {{values = dense<[{values}]> : tensor<{count}xindex>}}"
        f" : () -> !tosa.shape<{count}>\n"
    )


# ---- TOSA, element by element ----
UNARY = {"exp": np.exp, "tanh": np.tanh, "floor": np.floor, "ceil": np.ceil, "abs": np.abs}
UNARY.update(sin=np.sin, cos=np.cos, sigmoid=lambda x: 1 / (1 + np.exp(-x)))
for operation, function in UNARY.items():
    x = floats(2, 3, 5, 4)
    y = function(x.astype(np.float64)).astype(np.float32)
    add(f"tosa_{operation}", call(operation, [x], y), [x], y)
BINARY = {"add": np.add, "sub": np.subtract, "maximum": np.maximum, "minimum": np.minimum}
for operation, function in BINARY.items():
    a, b = floats(2, 1, 4), floats(1, 3, 4)
    add(f"tosa_{operation}", call(operation, [a, b], function(a, b)), [a, b], function(a, b))
    a, b = integers(-99, 99, 4, 5), integers(-99, 99, 4, 5)
    add(f"tosa_{operation}_i32", call(operation, [a, b], function(a, b)), [a, b], function(a, b))
for dtype in (np.int8, np.int16, np.int32):
    a, b = integers(-100, 100, 16, dtype=dtype), integers(0, 7, 16, dtype=dtype)
    unsigned = a.view(f"uint{a.itemsize * 8}")
    y = (unsigned >> b.view(unsigned.dtype)).view(dtype)
    add(f"tosa_logical_{dtype.__name__}", call("logical_right_shift", [a, b], y), [a, b], y)
    wide = a.astype(np.int64)
    last = np.where(b > 0, (wide >> np.maximum(b - 1, 0)) & 1, 0)
    y = ((wide >> b) + last).astype(dtype)
    text = call("arithmetic_right_shift", [a, b], y, "round = true")
    add(f"tosa_arithmetic_{dtype.__name__}", text, [a, b], y)
x = np.concatenate([integers(-(2**31), 2**31 - 1, 9), np.array([0, 1, -1, 255], np.int32)])
y = np.array([32 - int(v & 0xFFFFFFFF).bit_length() for v in x.astype(np.int64)], np.int32)
add("tosa_clz", call("clz", [x], y), [x], y)
a, b = integers(-(2**20), 2**20, 8), integers(-(2**20), 2**20, 8)
y = ((a.astype(np.int64) * b + (1 << 11)) >> 12).astype(np.int32)
add("tosa_mul", SHIFT % 12 + call("mul", [a, b], y, constants="%z:tensor<1xi8>"), [a, b], y)
x = np.array([-128, -5, 0, 127], np.int8)
y = np.array([127, 5, 0, -127], np.int8)
add("tosa_negate", SHIFT % 0 + call("negate", [x], y, "", "%z:tensor<1xi8> " * 2), [x], y)
x = np.array([-300, -128.5, -127.5, -2.5, -0.5, 0.5, 1.5, 126.5, 127.5, 300, 1e10], np.float32)
for dtype in (np.int8, np.int16, np.int32):
    limits = np.iinfo(dtype)
    y = np.clip(np.rint(x.astype(np.float64)), limits.min, limits.max).astype(dtype)
    add(f"tosa_cast_{dtype.__name__}", call("cast", [x], y), [x], y)
x, other = floats(4, 6), floats(4, 6)
x[0, 2] = x[3, 1] = other[0, 2] = other[1, 1] = np.nan
ignore = "nan_mode = IGNORE"
y = np.fmin(x, other)
add("tosa_minimum_nan", call("minimum", [x, other], y, ignore), [x, other], y)
for operation, function in (("reduce_max", np.nanmax), ("reduce_min", np.nanmin)):
    y = function(x, axis=0, keepdims=True)
    add(f"tosa_{operation}_nan", call(operation, [x], y, "axis = 0 : i32, " + ignore), [x], y)
y = np.nanargmax(x, 1).astype(np.int32)
add("tosa_argmax_nan", call("argmax", [x], y, "axis = 1 : i32, " + ignore), [x], y)
y = np.clip(np.where(np.isnan(x), -0.5, x), -0.5, 0.5).astype(np.float32)
bounds = "min_val = -0.5 : f32, max_val = 0.5 : f32, "
add("tosa_clamp_nan", call("clamp", [x], y, bounds + ignore), [x], y)


# ---- TOSA, windows ----
def pairs(name, numbers):
    return f"{name} = array<i64: {', '.join(map(str, numbers))}>"


def convolve(x, weight, bias, pad, stride, dilation, groups=1):
    """x is N x H x W x C, weight O x H x W x C / groups."""
    x = np.pad(x.astype(np.float64), ((0, 0), pad[:2], pad[2:], (0, 0)))
    count, rows, columns, depth = weight.shape
    height = (x.shape[1] - dilation[0] * (rows - 1) - 1) // stride[0] + 1
    width = (x.shape[2] - dilation[1] * (columns - 1) - 1) // stride[1] + 1
    y = np.zeros((x.shape[0], height, width, count)) + bias
    for o in range(count):
        first = o // (count // groups) * depth
        for i in range(height):
            for j in range(width):
                top, left = i * stride[0], j * stride[1]
                window = x[:, top :: dilation[0], left :: dilation[1], first : first + depth]
                part = window[:, :rows, :columns]
                y[:, i, j, o] += (part * weight[o]).sum((1, 2, 3))
    return y


def add_convolution(name, size, weight, pad, stride, dilation):
    x, weight, bias = floats(*size), floats(*weight), floats(weight[0])
    y = convolve(x, weight, bias, pad, stride, dilation).astype(np.float32)
    attributes = [pairs("pad", pad), pairs("stride", stride), pairs("dilation", dilation)]
    attributes = ", ".join(attributes) + ", acc_type = f32"
    operands = [x, weight, bias]
    text = call("conv2d", operands, y, attributes, "%z:tensor<1xf32> " * 2)
    add(name, ZERO + text, operands, y)


add_convolution("tosa_conv_same", (1, 7, 9, 3), (5, 3, 3, 3), (1, 1, 1, 1), (1, 1), (1, 1))
add_convolution("tosa_conv_uneven", (1, 9, 9, 2), (3, 3, 2, 2), (2, 2, 0, 1), (2, 1), (2, 1))
add_convolution("tosa_conv_whole", (3, 6, 6, 1), (1, 6, 6, 1), (0, 0, 0, 0), (1, 1), (1, 1))
for channels, multiplier in ((4, 1), (3, 3)):
    x, weight = floats(1, 8, 8, channels), floats(3, 3, channels, multiplier)
    bias = floats(channels * multiplier)
    flat = weight.transpose(2, 3, 0, 1).reshape(-1, 3, 3, 1)
    y = convolve(x, flat, bias, (0, 1, 0, 1), (2, 2), (1, 1), channels).astype(np.float32)
    attributes = [pairs("pad", (0, 1, 0, 1)), pairs("stride", (2, 2)), pairs("dilation", (1, 1))]
    attributes = ", ".join(attributes) + ", acc_type = f32"
    operands = [x, weight, bias]
    text = call("depthwise_conv2d", operands, y, attributes, "%z:tensor<1xf32> " * 2)
    add(f"tosa_depthwise_{multiplier}", ZERO + text, operands, y)
for out_pad in ((0, 0, 0, 0), (-1, 0, 1, -1), (1, 2, 0, 3)):
    x, weight, bias, stride = floats(1, 3, 4, 2), floats(3, 3, 3, 2), floats(3), (2, 3)
    height, width = 2 * 2 + sum(out_pad[:2]) + 3, 3 * 3 + sum(out_pad[2:]) + 3
    y = np.zeros((1, height, width, 3)) + bias
    for i, j, p, q in np.ndindex(3, 4, 3, 3):
        row, column = i * 2 + p + out_pad[0], j * 3 + q + out_pad[2]
        if 0 <= row < height and 0 <= column < width:
            y[0, row, column] += weight[:, p, q].astype(np.float64) @ x[0, i, j]
    y = y.astype(np.float32)
    attributes = pairs("out_pad", out_pad) + ", " + pairs("stride", stride) + ", acc_type = f32"
    operands = [x, weight, bias]
    text = call("transpose_conv2d", operands, y, attributes, "%z:tensor<1xf32> " * 2)
    add(f"tosa_transposed_{out_pad[0]}", ZERO + text, operands, y)
for kernel, stride, pad in (((2, 2), (2, 2), (0, 0, 0, 0)), ((2, 3), (1, 1), (1, 0, 1, 1))):
    x = floats(2, 6, 8, 3)
    padded = np.pad(
        x.astype(np.float64), ((0, 0), pad[:2], pad[2:], (0, 0)), constant_values=np.nan
    )
    height = (padded.shape[1] - kernel[0]) // stride[0] + 1
    width = (padded.shape[2] - kernel[1]) // stride[1] + 1
    largest, mean = np.zeros((2, height, width, 3)), np.zeros((2, height, width, 3))
    for i, j in np.ndindex(height, width):
        top, left = i * stride[0], j * stride[1]
        window = padded[:, top : top + kernel[0], left : left + kernel[1]]
        largest[:, i, j], mean[:, i, j] = np.nanmax(window, (1, 2)), np.nanmean(window, (1, 2))
    attributes = ", ".join([pairs("kernel", kernel), pairs("stride", stride), pairs("pad", pad)])
    y = largest.astype(np.float32)
    add(f"tosa_max_pool_{kernel[1]}", call("max_pool2d", [x], y, attributes), [x], y)
    y = mean.astype(np.float32)
    attributes += ", acc_type = f32"
    text = ZERO + call("avg_pool2d", [x], y, attributes, "%z:tensor<1xf32> " * 2)
    add(f"tosa_avg_pool_{kernel[1]}", text, [x], y)

# ---- TOSA, places ----
x = floats(2, 3, 4)
y = np.tile(x, (2, 1, 3))
text = shape("s", (2, 1, 3)) + call("tile", [x], y, "", "%s:!tosa.shape<3>")
add("tosa_tile", text, [x], y)
value = floats(1)
y = np.pad(x[0], ((1, 0), (0, 2)), constant_values=value[0])
text = f"%r = tosa.pad %a0, %s, %a1 : ({tensor(x[0])}, !tosa.shape<4>, {tensor(value)})"
add("tosa_pad", shape("s", (1, 0, 0, 2)) + text + f" -> {tensor(y)}", [x[0], value], y)
rows, update = integers(-9, 9, 3, 7, 4), integers(-9, 9, 3, 3, 4)
index = np.stack([random.permutation(7)[:3] for _ in range(3)]).astype(np.int32)
y = rows.copy()
for batch in range(3):
    y[batch][index[batch]] = update[batch]
add("tosa_scatter", call("scatter", [rows, index, update], y), [rows, index, update], y)
y = np.stack([rows[batch][index[batch]] for batch in range(3)])
add("tosa_gather", call("gather", [rows, index], y), [rows, index], y)


def add_resize(name, x, scale, offset, mode):
    sizes, borders = [], []
    for axis in range(2):
        most = (x.shape[1 + axis] - 1) * scale[2 * axis] - offset[axis]
        borders.append(-most % scale[2 * axis + 1])
        sizes.append((most + borders[axis]) // scale[2 * axis + 1] + 1)
    y = np.zeros((x.shape[0], *sizes, x.shape[3]))
    for at in np.ndindex(*sizes):
        place = [at[k] * scale[2 * k + 1] + offset[k] for k in range(2)]
        index = [place[k] // scale[2 * k] for k in range(2)]
        rest = [place[k] / scale[2 * k] - index[k] for k in range(2)]
        for corner in np.ndindex(2, 2):
            weight = np.prod([rest[k] if corner[k] else 1 - rest[k] for k in range(2)])
            if mode == "NEAREST_NEIGHBOR":
                weight = all((rest[k] >= 0.5) == bool(corner[k]) for k in range(2))
            near = [np.clip(index[k] + corner[k], 0, x.shape[1 + k] - 1) for k in range(2)]
            y[:, at[0], at[1]] += weight * x[:, near[0], near[1]].astype(np.float64)
    if mode == "BILINEAR" and x.dtype == np.int8:
        y = y * scale[0] * scale[2]
    kept = x.dtype if mode != "BILINEAR" or x.dtype == np.float32 else np.int32
    y = y.astype(kept) if kept == np.float32 else np.rint(y).astype(kept)
    text = shape("s", scale) + shape("o", offset) + shape("b", borders)
    constants = "%s:!tosa.shape<4> %o:!tosa.shape<2> %b:!tosa.shape<2>"
    add(name, text + call("resize", [x], y, f"mode = {mode}", constants), [x], y)


add_resize("tosa_resize_half", floats(1, 3, 4, 2), (4, 2, 4, 2), (-1, -1), "BILINEAR")
add_resize("tosa_resize_down", floats(1, 5, 5, 2), (4, 6, 2, 3), (1, 0), "BILINEAR")
add_resize("tosa_resize_near", floats(1, 5, 7, 2), (2, 4, 2, 6), (1, 2), "NEAREST_NEIGHBOR")
small = integers(-128, 128, 1, 3, 3, 2, dtype=np.int8)
add_resize("tosa_resize_i8", small, (4, 2, 4, 2), (-1, -1), "BILINEAR")
left, right = floats(1, 8, 4), floats(1, 8, 4)
y = np.fft.rfft2(left).real.astype(np.float32)
text = f"%r, %q = tosa.rfft2d %a0 : ({tensor(left)}) -> ({tensor(y)}, {tensor(y)})"
add("tosa_rfft", text, [left], y)


# ---- linalg ----
def nest(inputs, result, maps, kinds, body, init="tensor.empty() : "):
    """linalg.generic: maps of inputs and result, and the lines of the body on %x0, ... and %y."""
    loops = ", ".join(f"d{i}" for i in range(len(kinds)))
    maps = ", ".join(f"affine_map<({loops}) -> ({each})>" for each in maps)
    kinds = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in kinds)
    names = ", ".join(f"%a{i}" for i in range(len(inputs)))
    operands = f"ins({names} : {', '.join(tensor(x) for x in inputs)})" if inputs else ""
    arguments = [f"%x{i}: {element(x)}" for i, x in enumerate(inputs)] + [f"%y: {element(result)}"]
    start = f"%e = tensor.empty() : {tensor(result)}\n"
    if init[0] != "t":
        start += f"%c = arith.constant {init} : {element(result)}\n"
        start += f"%f = linalg.fill ins(%c : {element(result)}) outs(%e : {tensor(result)})"
        start += f" -> {tensor(result)}\n"
    return start + (
        f"%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {operands}"
        f" outs({'%f' if init[0] != 't' else '%e'} : {tensor(result)}) {{\n"
        f"^bb0({', '.join(arguments)}):\n{body}\n"
        f"linalg.yield %v : {element(result)}\n}} -> {tensor(result)}"
    )


def add_elementwise(name, body, inputs, result):
    dims = ", ".join(f"d{i}" for i in range(result.ndim))
    maps = [dims] * (len(inputs) + 1)
    add(name, nest(inputs, result, maps, "p" * result.ndim, body), inputs, result)


x, other = floats(3, 4), floats(3, 4)
other[1, 1] = x[1, 1]
MATH = {"exp2": np.exp2, "expm1": np.expm1, "sinh": np.sinh, "tan": np.tan, "atan": np.arctan}
MATH.update(cbrt=np.cbrt, trunc=np.trunc, roundeven=np.rint, asinh=np.arcsinh, cosh=np.cosh)
for operation, function in MATH.items():
    y = function(x.astype(np.float64)).astype(np.float32)
    add_elementwise(f"math_{operation}", f"%v = math.{operation} %x0 : f32", [x], y)
COMPARISONS = {"oeq": np.equal, "olt": np.less, "oge": np.greater_equal, "une": np.not_equal}
for predicate, function in COMPARISONS.items():
    body = f"%v = arith.cmpf {predicate}, %x0, %x1 : f32"
    add_elementwise(f"cmpf_{predicate}", body, [x, other], function(x, other))
number, divisor = integers(-50, 50, 4, 5), integers(1, 9, 4, 5)
UNSIGNED = {"divui": np.floor_divide, "remui": np.remainder, "shrui": np.right_shift}
UNSIGNED.update(maxui=np.maximum, minui=np.minimum)
for operation, function in UNSIGNED.items():
    y = function(number.view(np.uint32), divisor.view(np.uint32)).view(np.int32)
    body = f"%v = arith.{operation} %x0, %x1 : i32"
    add_elementwise(f"arith_{operation}", body, [number, divisor], y)
y = np.tril(x)
body = "%i = linalg.index 0 : index\n%j = linalg.index 1 : index\n"
body += "%k = arith.cmpi sle, %j, %i : index\n%z = arith.constant 0.0 : f32\n"
add_elementwise("lower_triangle", body + "%v = arith.select %k, %x0, %z : f32", [x], y)
multiply = "%p = arith.mulf %x0, %x1 : f32\n%v = arith.addf %y, %p : f32"
a, b = floats(2, 3, 4), floats(5, 4)
y = np.einsum("abk,nk->abn", a.astype(np.float64), b).astype(np.float32)
maps = ["d0, d1, d3", "d2, d3", "d0, d1, d2"]
add("product_transposed", nest([a, b], y, maps, "pppr", multiply, "0.0"), [a, b], y)
a, b = floats(4, 3, 2), floats(3, 4, 6)
y = np.einsum("abm,ban->mn", a.astype(np.float64), b).astype(np.float32)
maps = ["d2, d3, d0", "d3, d2, d1", "d0, d1"]
add("product_two_sums", nest([a, b], y, maps, "pprr", multiply, "0.0"), [a, b], y)
a, b = floats(3, 5), floats(5, 4)
y = np.maximum((a[:, :, None] + b[None]).max(1), 0.5).astype(np.float32)
body = "%p = arith.addf %x0, %x1 : f32\n%v = arith.maximumf %y, %p : f32"
maps = ["d0, d2", "d2, d1", "d0, d1"]
add("max_of_sums", nest([a, b], y, maps, "ppr", body, "0.5"), [a, b], y)
a, b = floats(2, 3, 10), floats(4, 3, 3)
windows = np.lib.stride_tricks.sliding_window_view(a.astype(np.float64), 3, 2)[:, :, ::2]
y = np.einsum("ncik,fck->nfi", windows, b).astype(np.float32)
maps = ["d0, d3, d2 * 2 + d4", "d1, d3, d4", "d0, d1, d2"]
add("convolution_generic", nest([a, b], y, maps, "ppprr", multiply, "0.0"), [a, b], y)
part = floats(2, 2)
y = np.array(x)
y[0:3:2, 1:4:2] = part
text = (
    f"%r = tensor.insert_slice %a1 into %a0[0, 1] [2, 2] [2, 2] : {tensor(part)} into {tensor(x)}"
)
add("insert_strided", text, [x, part], y)
table, index = floats(5, 6), integers(0, 5, 3, 1)
y = table[index[:, 0]][:, None]
text = f"%r = tensor.gather %a0[%a1] gather_dims([0]) : ({tensor(table)}, {tensor(index)})"
add("gather_rows", text + f" -> {tensor(y)}", [table, index], y)


# ---- Running ----
def run(name, text, inputs, result, rtol, atol):
    """None, or what is wrong."""
    place = os.path.join(folder, name)
    os.makedirs(place, exist_ok=True)
    with open(f"{place}/model.mlir", "w") as file:
        file.write(text)
    command = [f"{tools}/samba-compile", f"{place}/model.mlir", "-o", f"{place}/model.pef"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        return made.stderr.strip()
    command = [f"{tools}/samba-run", f"{place}/model.pef", "--output", f"out0={place}/out.npy"]
    for i, x in enumerate(inputs):
        np.save(f"{place}/input{i}.npy", x)
        command += ["--input", f"arg{i}={place}/input{i}.npy"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        return made.stderr.strip()
    got = np.load(f"{place}/out.npy")
    if got.shape != result.shape or got.dtype != result.dtype:
        return f"{got.dtype}{got.shape} instead of {result.dtype}{result.shape}"
    if result.dtype.kind != "f":
        return None if np.array_equal(got, result) else "integers differ"
    same = np.isclose(got, result, rtol=rtol, atol=atol, equal_nan=True)
    return None if same.all() else f"{(~same).sum()} of {same.size} differ"


chosen = cases if sys.argv[3:] == ["all"] else cases[::3]
failed = 0
for case in chosen:
    wrong = run(*case)
    failed += wrong is not None
    if wrong:
        print(f"{case[0]}: {wrong}")
print(f"{len(chosen) - failed} of {len(chosen)} pass")
sys.exit(failed != 0)
