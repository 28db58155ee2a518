"""Trigonometric and bit operations, activations, powers, casts, and random numbers where they are
determined."""
import math
import torch
import torch.nn.functional as F

from writer import case

inf, nan = math.inf, math.nan
wide = torch.tensor(
    [
        -inf,
        -1e30,
        -89.2,
        -30.0,
        -3.5,
        -1.0,
        -0.5,
        -1e-3,
        -1e-20,
        -0.0,
        0.0,
        1e-5,
        0.3,
        0.999,
        1.0,
        2.5,
        16.5,
        88.9,
        1e20,
        inf,
        nan,
    ]
)
small = torch.tensor(
    [-1.5, -1.0, -0.99, -0.5, -1e-3, -0.0, 0.0, 1e-20, 0.25, 0.75, 0.9999, 1.0, 1.1, inf, nan]
)
for name in ["tan", "atan", "sinh", "cosh", "asinh", "acosh", "trunc", "expm1", "log1p"]:
    case(name, [wide], getattr(torch, name)(wide.double()).float())
for name in ["asin", "acos", "atanh"]:
    case(name, [small], getattr(torch, name)(small.double()).float())
for name in ["tan", "asinh"]:
    case(
        name,
        [wide[3:16].bfloat16()],
        getattr(torch, name)(wide[3:16].bfloat16().double()).bfloat16(),
    )
    case(name, [wide[3:16].half()], getattr(torch, name)(wide[3:16].half().double()).half())

for dtype in [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool]:
    limits = (
        [0, 1, 1, 0]
        if dtype == torch.bool
        else [torch.iinfo(dtype).min, torch.iinfo(dtype).max, 85, 0]
    )
    if dtype == torch.int64:
        limits = [-(2**40) - 7, 2**40 + 3, 85, -1]
    a, b = torch.tensor(limits, dtype=dtype), torch.tensor(
        [1, 1, 0, 1] if dtype == torch.bool else [7, 100, 51, 3], dtype=dtype
    )
    case("bitwise_not", [a], ~a)
    for name in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        case(name, [a, b], getattr(torch, name)(a, b))
    if dtype == torch.bool:
        continue
    amounts = torch.tensor([1, 3, 0, 100 if dtype != torch.int64 else 63], dtype=dtype)
    case("bitwise_right_shift", [a, amounts], a >> amounts)
    if dtype != torch.int64:
        case("bitwise_left_shift", [a, amounts], a << amounts)
    if dtype != torch.uint8:
        case(
            "bitwise_right_shift",
            [a, -amounts],
            torch.where(amounts > 0, torch.where(a < 0, -1, 0).to(dtype), a),
        )

x = wide[1:-2]
for name in ["logsigmoid", "softsign", "mish"]:
    case(name, [x], getattr(F, name)(x.double()).float())
case("celu", [x], F.celu(x.double(), 1.5).float(), alpha=1.5)
case("selu", [x], F.selu(x.double()).float())
case("selu", [x], (3 * F.elu(x.double(), 2.0)).float(), alpha=2.0, scale=3.0)
case("threshold", [wide], F.threshold(wide, 0.3, -2.0), threshold=0.3, value=-2.0)
case("shrink", [wide], F.hardshrink(wide.nan_to_num(0.0, inf, -inf), 1.0), lambd=1.0)
case("shrink", [x], F.softshrink(x, 0.75), lambd=0.75, bias=0.75)
whole = torch.tensor([-3, -2, -1, 0, 1, 2, 3])
case("shrink", [whole.int()], torch.tensor([-2, -1, 0, 0, 0, 1, 2]).int(), lambd=1.5, bias=1.0)
case(
    "shrink",
    [whole.to(torch.int8)],
    torch.tensor([-3, -2, 0, 0, 0, 2, 3]).to(torch.int8),
    lambd=1.0,
)
case(
    "prelu",
    [x.reshape(2, 9), s := torch.tensor([[0.25], [-2.0]])],
    torch.where(x.reshape(2, 9) < 0, s * x.reshape(2, 9), x.reshape(2, 9)),
)
case("prelu", [whole, torch.tensor(3)], torch.where(whole < 0, 3 * whole, whole))

base, exponent = torch.tensor([3, -2, 7, 0, 1, -1, -1, 2, 5, 10]), torch.tensor(
    [5, 3, 9, 0, -4, -3, -2, -1, 0, 12]
)
results = torch.tensor([243, -8, 40353607, 1, 1, -1, 1, 0, 1, 10**12])
case("pow", [base, exponent], results)
case("pow", [base.int(), exponent.int()], results.int())
case("pow", [base[:6].to(torch.int8), exponent[:6].to(torch.int8)], results[:6].to(torch.int8))
case(
    "pow",
    [base[:4].to(torch.uint8), torch.tensor([5, 2, 3, 1]).to(torch.uint8)],
    torch.tensor([243, 4, 87, 0]).to(torch.uint8),
)

floats = torch.tensor([-129.7, -128.0, -1.5, -0.0, 0.5, 1.99, 127.9, 200.0, 255.5])
types = {
    "f32": torch.float32,
    "bf16": torch.bfloat16,
    "f16": torch.float16,
    "i1": torch.bool,
    "i8": torch.int8,
    "ui8": torch.uint8,
    "i16": torch.int16,
    "i32": torch.int32,
    "i64": torch.int64,
}
for source in types.values():
    values = floats.to(source) if source.is_floating_point else floats.long().to(source)
    for name, dtype in types.items():
        case(
            "cast",
            [values],
            (
                values.long().to(dtype)
                if source.is_floating_point and not dtype.is_floating_point and dtype != torch.bool
                else values.to(dtype)
            ),
            dtype=name,
        )

seed = torch.tensor(7)
case("uniform", [seed], torch.full((2, 3), 2.5), shape=[2, 3], dtype="f32", low=2.5, high=2.5)
case("normal", [seed], torch.full((4,), -1.0), shape=[4], dtype="f32", mean=-1.0, std=0.0)
case(
    "bernoulli",
    [torch.tensor([[0.0, 1.0, 0.0], [1.0, 1.0, 0.0]]), seed],
    torch.tensor([[0, 1, 0], [1, 1, 0]]).bool(),
    dtype="i1",
)
y = torch.tensor([[1.5, -2.0, nan], [inf, 0.1, -0.0]])
case("dropout", [y, torch.tensor(0.0), seed], [y, torch.ones(2, 3).bool()])
case("dropout", [y, torch.tensor(1.0), seed], [torch.zeros(2, 3), torch.zeros(2, 3).bool()])
case(
    "multinomial",
    [torch.tensor([[0.0, 2.0, 0.0], [0.0, 0.0, 1e-9]]), seed],
    torch.tensor([[1, 1], [2, 2]]),
    num_samples=2,
)
