"""Every operation that a body of linalg.generic may have, against NumPy: one generic for each
operation and type, all results of one run. Usage: bodies.py WORK_FOLDER"""
import math
import os
import subprocess
import sys

import numpy as np

os.chdir(sys.argv[1])
COUNT = 64
PIPELINE = (
    "builtin.module(samba-materialize-views,samba-partition-sections{target=tiny opt=o0},"
    "samba-update-in-place,samba-assign-memory,samba.section(convert-samba-to-linalg,"
    "samba-tile-sections,rdu-verify-mapping),convert-linalg-to-rdu,"
    "rdu.section(rdu-split-programs,rdu-place,rdu-route,rdu-verify-section))"
)
random = np.random.default_rng(5)
FLOATS = ["f32", "bf16", "f16"]
INTEGERS = ["i8", "i16", "i32", "i64"]
NUMPY = {"f32": "f4", "f16": "f2", "i1": "?", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8"}


def to_bf16(values):
    bits = np.asarray(values, "f4").view("u4").astype("u8")
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("u2")
    return np.where(np.isnan(values), 0x7FC0, rounded).astype("u2")


def from_bf16(bits):
    return (bits.astype("u4") << 16).view("f4")


def special(values, more):
    values[: len(more)] = more
    return values


inputs = {}  # name -> (type, array as it is computed with)
wide = random.standard_normal((3, COUNT)) * 3
edges = [0, -0.0, 1, -1, 0.5, -0.5, 1.5, -2.5, np.inf, -np.inf, np.nan, 3]
for type in FLOATS:
    for name, row in zip("xyz", wide):
        row = special(row.copy(), np.roll(edges, "xyz".index(name) * 5))
        array = from_bf16(to_bf16(row)) if type == "bf16" else row.astype(NUMPY[type])
        inputs[f"{name}_{type}"] = (type, array)
    unit = special(random.uniform(-0.98, 0.98, COUNT), [0.0, 0.25, -0.5])
    small = unit.astype("f4") if type != "f16" else unit.astype("f2")
    inputs[f"u_{type}"] = (type, from_bf16(to_bf16(small)) if type == "bf16" else small)
    above = (1 + abs(wide[0]) + 0.1).astype("f4" if type != "f16" else "f2")
    inputs[f"a_{type}"] = (type, from_bf16(to_bf16(above)) if type == "bf16" else above)
for type in INTEGERS:
    info = np.iinfo(NUMPY[type])
    whole = random.integers(info.min, info.max, (2, COUNT), endpoint=True, dtype=NUMPY[type])
    inputs[f"x_{type}"] = (type, special(whole[0], [info.min, info.max, 0, -1, 1, 7, -7, 100]))
    inputs[f"y_{type}"] = (type, special(whole[1], [3, -3, 5, info.min, info.max, -2, 2, 9]))
    divisor = random.integers(1, 11, COUNT).astype(NUMPY[type]) * random.choice([-1, 1], COUNT)
    inputs[f"d_{type}"] = (type, divisor.astype(NUMPY[type]))
    inputs[f"s_{type}"] = (type, random.integers(0, info.bits, COUNT).astype(NUMPY[type]))
    inputs[f"e_{type}"] = (type, random.integers(0, 5, COUNT).astype(NUMPY[type]))
for name in ("x", "y"):
    inputs[f"{name}_i1"] = ("i1", random.integers(0, 2, COUNT).astype(bool))


def unsigned(array):
    return array.view(f"u{array.itemsize}")


def c_div(x, y):
    quotient = abs(x.astype(object)) // abs(y.astype(object))
    signs = np.where((x < 0) != (y < 0), -1, 1).astype(object)
    return (quotient * signs).astype("O")


def wrapped(values, like):
    bits = like.itemsize * 8
    return np.array(
        [(int(v) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for v in values], like.dtype
    )


def per_element(function):
    return lambda *arrays: np.array([function(*[float(v) for v in row]) for row in zip(*arrays)])


cases = []  # operation, operands, result type, expected, predicate or text


def case(operation, operands, result, expected, text=None):
    cases.append((operation, operands, result, expected, text))


def float_case(operation, names, function, type):
    operands = [f"{name}_{type}" for name in names]
    with np.errstate(all="ignore"):
        arrays = [inputs[o][1].astype("f8") for o in operands]
        case(operation, operands, type, function(*arrays))


def half_away(x):
    return np.where(np.isfinite(x), np.copysign(np.floor(abs(x) + 0.5), x), x)


UNARY = {
    "arith.negf": np.negative,
    "math.absf": abs,
    "math.ceil": np.ceil,
    "math.floor": np.floor,
    "math.trunc": np.trunc,
    "math.roundeven": np.rint,
    "math.round": half_away,
    "math.cos": np.cos,
    "math.sin": np.sin,
    "math.exp": np.exp,
    "math.exp2": np.exp2,
    "math.expm1": np.expm1,
    "math.tanh": np.tanh,
    "math.atan": np.arctan,
    "math.sinh": np.sinh,
    "math.cosh": np.cosh,
    "math.asinh": np.arcsinh,
    "math.tan": np.tan,
    "math.cbrt": np.cbrt,
    "math.erf": per_element(math.erf),
    "math.erfc": per_element(math.erfc),
}
UNIT = {"math.asin": np.arcsin, "math.acos": np.arccos, "math.atanh": np.arctanh}
ABOVE = {
    "math.log": np.log,
    "math.log2": np.log2,
    "math.log10": np.log10,
    "math.log1p": np.log1p,
    "math.sqrt": np.sqrt,
    "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.acosh": np.arccosh,
}
BINARY = {
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "math.atan2": np.arctan2,
}
for type in FLOATS:
    for operation, function in UNARY.items():
        float_case(operation, "x", function, type)
    for operation, function in UNIT.items():
        float_case(operation, "u", function, type)
    for operation, function in ABOVE.items():
        float_case(operation, "a", function, type)
    for operation, function in BINARY.items():
        float_case(operation, "xy", function, type)
    float_case("math.copysign", "uy", np.copysign, type) if type == "f32" else None
    float_case("math.powf", "ay", np.power, type)
    float_case("math.fma", "uau", lambda x, y, z: x * y + z, type)
    float_case(
        "math.clampf", "xuy", lambda x, low, high: np.minimum(np.maximum(x, low), high), type
    )
    for operation, function in {
        "math.isnan": np.isnan,
        "math.isinf": np.isinf,
        "math.isfinite": np.isfinite,
    }.items():
        case(operation, [f"x_{type}"], "i1", function(inputs[f"x_{type}"][1]))

ORDERED = {
    "eq": np.equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "lt": np.less,
    "le": np.less_equal,
}
x, y = inputs["x_f32"][1], inputs["y_f32"][1]
nan = np.isnan(x) | np.isnan(y)
for name, function in {**ORDERED, "ne": np.not_equal}.items():
    case("arith.cmpf", ["x_f32", "y_f32"], "i1", function(x, y) & ~nan, f"o{name},")
    case("arith.cmpf", ["x_f32", "y_f32"], "i1", function(x, y) | nan, f"u{name},")
case("arith.cmpf", ["x_f32", "y_f32"], "i1", ~nan, "ord,")
case("arith.cmpf", ["x_f32", "y_f32"], "i1", nan, "uno,")
case("arith.cmpf", ["x_f32", "y_f32"], "i1", nan | True, "true,")
case("arith.cmpf", ["x_f32", "y_f32"], "i1", nan & False, "false,")
case("arith.select", ["x_i1", "x_f32", "y_f32"], "f32", np.where(inputs["x_i1"][1], x, y))
case(
    "math.fpowi",
    ["x_f32", "e_i32"],
    "f32",
    np.power(x.astype("f8"), inputs["e_i32"][1].astype("f8")),
)


for type in INTEGERS:
    x, y, d, s, e = (inputs[f"{n}_{type}"][1] for n in "xydse")
    bits = x.itemsize * 8
    with np.errstate(all="ignore"):
        simple = {
            "addi": x + y,
            "subi": x - y,
            "muli": x * y,
            "andi": x & y,
            "ori": x | y,
            "xori": x ^ y,
            "maxsi": np.maximum(x, y),
            "minsi": np.minimum(x, y),
            "maxui": np.maximum(unsigned(x), unsigned(y)).view(x.dtype),
            "minui": np.minimum(unsigned(x), unsigned(y)).view(x.dtype),
        }
        for name, expected in simple.items():
            case(f"arith.{name}", [f"x_{type}", f"y_{type}"], type, expected)
        quotient = c_div(x, d)
        rest = x.astype(object) - quotient * d.astype(object)
        signs_differ = (x < 0) != (d < 0)
        divided = {
            "divsi": wrapped(quotient, x),
            "remsi": wrapped(rest, x),
            "divui": (unsigned(x) // unsigned(d)).view(x.dtype),
            "remui": (unsigned(x) % unsigned(d)).view(x.dtype),
            "ceildivui": wrapped(-(-unsigned(x).astype(object) // unsigned(d).astype(object)), x),
            "floordivsi": wrapped(x.astype(object) // d.astype(object), x),
            "ceildivsi": wrapped(-(-x.astype(object) // d.astype(object)), x),
        }
        for name, expected in divided.items():
            case(f"arith.{name}", [f"x_{type}", f"d_{type}"], type, expected)
        shifted = {
            "shli": x << s,
            "shrsi": x >> s,
            "shrui": (unsigned(x) >> unsigned(s)).view(x.dtype),
        }
        for name, expected in shifted.items():
            case(f"arith.{name}", [f"x_{type}", f"s_{type}"], type, expected)
        case("math.absi", [f"x_{type}"], type, abs(x))
        case(
            "math.ipowi",
            [f"x_{type}", f"e_{type}"],
            type,
            wrapped(x.astype(object) ** e.astype(object), x),
        )
        strings = [bin(int(v))[2:].zfill(bits) for v in unsigned(x)]
        case("math.ctpop", [f"x_{type}"], type, np.array([t.count("1") for t in strings]))
        case(
            "math.ctlz", [f"x_{type}"], type, np.array([bits - len(t.lstrip("0")) for t in strings])
        )
        case(
            "math.cttz", [f"x_{type}"], type, np.array([bits - len(t.rstrip("0")) for t in strings])
        )
    for name, function in {
        "eq": np.equal,
        "ne": np.not_equal,
        "slt": np.less,
        "sle": np.less_equal,
        "sgt": np.greater,
        "sge": np.greater_equal,
    }.items():
        case("arith.cmpi", [f"x_{type}", f"y_{type}"], "i1", function(x, y), f"{name},")
        if name[0] == "s":
            case(
                "arith.cmpi",
                [f"x_{type}", f"y_{type}"],
                "i1",
                function(unsigned(x), unsigned(y)),
                f"u{name[1:]},",
            )
    for other in INTEGERS:
        if np.dtype(NUMPY[other]).itemsize > x.itemsize:
            case("arith.extsi", [f"x_{type}"], other, x)
            case("arith.extui", [f"x_{type}"], other, unsigned(x))
        elif other != type:
            case("arith.trunci", [f"x_{type}"], other, x.astype(NUMPY[other]))
    case("arith.trunci", [f"x_{type}"], "i1", x & 1)
    for other in FLOATS:
        case("arith.sitofp", [f"x_{type}"], other, x.astype("f4" if other == "f32" else "f8"))
        case(
            "arith.uitofp",
            [f"x_{type}"],
            other,
            unsigned(x).astype("f4" if other == "f32" else "f8"),
        )
    case("arith.fptosi", ["u_f32"], type, inputs["u_f32"][1].astype(NUMPY[type]))
    case("arith.fptosi", ["a_f32"], type, inputs["a_f32"][1].astype(NUMPY[type]))
    case("arith.fptoui", ["a_f32"], type, inputs["a_f32"][1].astype(NUMPY[type]))
x, y = inputs["x_i1"][1], inputs["y_i1"][1]
for name, expected in {
    "andi": x & y,
    "ori": x | y,
    "xori": x ^ y,
    "addi": x ^ y,
    "subi": x ^ y,
    "muli": x & y,
    "maxui": x | y,
    "minui": x & y,
    "maxsi": x & y,
    "minsi": x | y,
}.items():
    case(f"arith.{name}", ["x_i1", "y_i1"], "i1", expected)
case("arith.cmpi", ["x_i1", "y_i1"], "i1", x & ~y, "slt,")  # true is -1
case("arith.cmpi", ["x_i1", "y_i1"], "i1", ~x & y, "ult,")
for type in INTEGERS:
    case("arith.extsi", ["x_i1"], type, -x.astype("i8"))
    case("arith.extui", ["x_i1"], type, x.astype("i8"))
case("arith.sitofp", ["x_i1"], "f32", -x.astype("f4"))
case("arith.uitofp", ["x_i1"], "f32", x.astype("f4"))
case("arith.extf", ["x_bf16"], "f32", inputs["x_bf16"][1])
case("arith.extf", ["x_f16"], "f32", inputs["x_f16"][1])
case("arith.truncf", ["x_f32"], "bf16", inputs["x_f32"][1])
case("arith.truncf", ["x_f32"], "f16", inputs["x_f32"][1])
case(
    "arith.index_cast",
    ["x_i32"],
    "i64",
    inputs["x_i32"][1],
    "index: %i = arith.index_cast %p0 : i32 to index\n"
    "    %r = arith.index_cast %i : index to i64",
)
case(
    "arith.index_castui",
    ["x_i32"],
    "i64",
    unsigned(inputs["x_i32"][1]),
    "index: %i = arith.index_castui %p0 : i32 to index\n"
    "    %r = arith.index_cast %i : index to i64",
)


def body(operation, operands, result, text):
    types = [inputs[o][0] for o in operands]
    names = ", ".join(f"%p{k}" for k in range(len(operands)))
    if text and text.startswith("index: "):
        return text[len("index: ") :]
    if types[0] != result and operation.split(".")[1] in (
        "extsi",
        "extui",
        "trunci",
        "sitofp",
        "uitofp",
        "fptosi",
        "fptoui",
        "extf",
        "truncf",
    ):
        return f"%r = {operation} {names} : {types[0]} to {result}"
    if operation == "arith.select":
        return f"%r = {operation} {names} : {result}"
    if operation == "math.fpowi":
        return f"%r = {operation} {names} : {types[0]}, {types[1]}"
    if operation == "math.clampf":
        return f"%r = {operation} %p0 to [%p1, %p2] : {types[0]}"
    return f"%r = {operation} {text + ' ' if text else ''}{names} : {types[0]}"


def generic(k, operation, operands, result, text):
    shapes = ", ".join(f"tensor<{COUNT}x{inputs[o][0]}>" for o in operands)
    arguments = ", ".join(f"%p{i}: {inputs[o][0]}" for i, o in enumerate(operands))
    maps = ", ".join(["#id"] * (len(operands) + 1))
    return f"""
  %e{k} = tensor.empty() : tensor<{COUNT}x{result}>
  %r{k} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins({", ".join("%" + o for o in operands)} : {shapes})
      outs(%e{k} : tensor<{COUNT}x{result}>) {{
  ^bb0({arguments}, %o: {result}):
    {body(operation, operands, result, text)}
    linalg.yield %r : {result}
  }} -> tensor<{COUNT}x{result}>"""


def write_module(chosen):
    used = list(dict.fromkeys(o for c in chosen for o in c[1]))
    arguments = ", ".join(
        f'%{n}: tensor<{COUNT}x{inputs[n][0]}> {{samba.name = "{n}", samba.kind = "input"}}'
        for n in used
    )
    results = ", ".join(
        f'tensor<{COUNT}x{c[2]}> {{samba.name = "r{k}", samba.kind = "output"}}'
        for k, c in enumerate(chosen)
    )
    text = "#id = affine_map<(d0) -> (d0)>\n"
    text += f"func.func @f({arguments}) -> ({results}) {{"
    for k, (operation, operands, result, _, predicate) in enumerate(chosen):
        text += generic(k, operation, operands, result, predicate)
    text += "\n  return " + ", ".join(f"%r{k}" for k in range(len(chosen)))
    text += " : " + ", ".join(f"tensor<{COUNT}x{c[2]}>" for c in chosen) + "\n}\n"
    with open("bodies.mlir", "w") as file:
        file.write(text)
    return used


def stored(name):
    type, array = inputs[name]
    return to_bf16(array) if type == "bf16" else array


def wrong(got, expected, type):
    if type in FLOATS:
        got = (from_bf16(got) if type == "bf16" else got).astype("f8")
        with np.errstate(all="ignore"):
            expected = np.asarray(expected, "f8")
            if type == "f16":
                expected = expected.astype("f2").astype("f8")
            if type == "bf16":
                expected = from_bf16(to_bf16(expected.astype("f4"))).astype("f8")
            relative = {"f32": 4e-6, "bf16": 8e-3, "f16": 1e-3}[type]
            fine = (abs(got - expected) <= 1e-6 + relative * abs(expected)) | (got == expected)
        return ~(fine | (np.isnan(got) & np.isnan(expected)))
    return got != np.asarray(expected).astype(got.dtype)


def main():
    used = write_module(cases)
    subprocess.run(
        ["samba-opt", "bodies.mlir", "--pass-pipeline=" + PIPELINE, "-o", "units.mlir"], check=True
    )
    subprocess.run(
        ["samba-translate", "--rdu-to-pef", "units.mlir", "-o", "bodies.pef"], check=True
    )
    for name in used:
        np.save(name + ".npy", stored(name))
    subprocess.run(
        ["samba-run", "bodies.pef", "--values-only"]
        + [f"--input={n}={n}.npy" for n in used]
        + [f"--output=r{k}=r{k}.npy" for k in range(len(cases))],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    failures = 0
    for k, (operation, operands, result, expected, predicate) in enumerate(cases):
        bad = np.nonzero(wrong(np.load(f"r{k}.npy"), expected, result))[0]
        if len(bad):
            failures += 1
            at = bad[0]
            values = [inputs[o][1][at] for o in operands]
            got = np.load(f"r{k}.npy")
            got = from_bf16(got) if result == "bf16" else got
            print(
                f"{operation} {predicate or ''} {operands} -> {result}: {len(bad)} wrong, first "
                f"of {values}: {got[at]}, expected {np.asarray(expected)[at]}"
            )
    print(f"{len(cases)} cases of {len({c[0] for c in cases})} operations, {failures} wrong")
    return failures > 0


sys.exit(main())
