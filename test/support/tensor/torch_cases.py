#!/usr/bin/env python3
"""Writes torch_cases.txt: what PyTorch 1.13 gives for random numbers, casts and promotion.

    /usr/bin/python3 torch_cases.py > torch_cases.txt

Random numbers are those of a CPU with AVX2, as nearly every x86-64 has; PyTorch's results for f32
differ in the last bits on one without."""
import itertools
import warnings

import torch

TYPES = {
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "f64": torch.float64,
    "i1": torch.bool,
    "i8": torch.int8,
    "ui8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}
NAMES = {dtype: name for name, dtype in TYPES.items()}
FLOATS = ("f32", "bf16", "f16", "f64")


def bytes_of(tensor):
    return bytes(tensor.reshape(-1).view(torch.uint8).tolist())


def hash_of(data):
    """FNV-1a with 64 bits."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def draw(kind, name, count, first, second):
    dtype = TYPES[name]
    if kind == "normal":
        return torch.normal(first, second, (count,), dtype=dtype)
    if kind == "uniform":
        return torch.rand(count, dtype=dtype)
    if kind == "integer":
        return torch.randint(first, second, (count,), dtype=dtype)
    return torch.empty(count, dtype=dtype).bernoulli_(first)


# Kind, type, number of elements, mean and deviation, or low and high, or the probability.
PLAN = [
    *[("normal", name, count, 0, 1) for name in FLOATS for count in (1, 4, 15, 16, 21, 1000)],
    *[("normal", name, 3, 0.5, 0.02) for name in FLOATS],
    *[("normal", name, 40, -3, 7.25) for name in FLOATS],
    *[("uniform", name, count, 0, 1) for name in FLOATS for count in (3, 100)],
    *[("integer", name, 50, 0, 2) for name in TYPES],
    ("integer", "i64", 50, -5, 17),
    ("integer", "i64", 50, 0, 2**31),
    ("integer", "i64", 50, 0, 2**32),
    ("integer", "i64", 50, -(2**40), 2**50),
    ("integer", "i64", 50, -(2**63), 2**63 - 1),
    ("integer", "f32", 50, 0, 2**31),
    ("integer", "bf16", 50, -1000, 5000),
    ("coin", "f32", 50, 0.3, 0),
    ("coin", "i1", 50, 0.5, 0),
]


def random_cases():
    print("# draw SEED KIND TYPE COUNT FIRST SECOND HASH: one after the other from one generator")
    for seed in (1, 20261122, 2**40 + 5):
        torch.manual_seed(seed)
        for kind, name, count, first, second in PLAN:
            value = hash_of(bytes_of(draw(kind, name, count, first, second)))
            print(f"draw {seed} {kind} {name} {count} {first} {second} {value:016x}")


SPECIAL = [float("nan"), float("inf"), 3e9, -3e9, 300.0, -1.5, 255.9, 1e20, 40000.0, -129.0]
SPECIAL += [65543.0, -0.0, 1e-40, 2147483648.0, 1.00390625, 1.01171875, 65519.99, 0.1]
WHOLE = [0, 1, -1, 127, 128, 255, 257, 300, -129, 2049, 40000, 65535, 2**24 + 1]
WHOLE += [2**24 + 2**16 + 1, -(2**31), 2**53 + 1, 2**62 + 1, -(2**63)]


def text_of(value):
    return value.hex() if isinstance(value, float) else str(int(value))


def cast_cases():
    print(
        "# numbers TYPE ...; cast FROM TO: the numbers, cast to the first type, then to the second"
    )
    print("numbers f64", *map(text_of, SPECIAL))
    print("numbers i64", *map(text_of, WHOLE))
    for source, target in itertools.product(TYPES, TYPES):
        numbers = SPECIAL if source in FLOATS else WHOLE
        start = torch.tensor(numbers, dtype=TYPES["f64" if source in FLOATS else "i64"])
        results = start.to(TYPES[source]).to(TYPES[target]).tolist()
        print("cast", source, target, *map(text_of, results))


SCALARS = {"i1": True, "i64": 3, "f64": 2.5}
CATEGORIES = ("dimensioned", "rank-zero", "scalar")


def operand_of(category, name):
    if category == "scalar":
        return SCALARS.get(name)
    return torch.zeros((2,) if category == "dimensioned" else (), dtype=TYPES[name])


def result_of(one, other):
    return "-" if one is None or other is None else NAMES[torch.result_type(one, other)]


def promotion_cases():
    print("# promote CATEGORY TYPE CATEGORY: with each of", *TYPES)
    for a, b in itertools.product(CATEGORIES, CATEGORIES):
        for first in TYPES if (a, b) != ("scalar", "scalar") else ():
            results = [result_of(operand_of(a, first), operand_of(b, other)) for other in TYPES]
            print("promote", a, first, b, *results)


def main():
    warnings.simplefilter("ignore")
    print("# Made by torch_cases.py with PyTorch", torch.__version__)
    random_cases()
    cast_cases()
    promotion_cases()


main()
