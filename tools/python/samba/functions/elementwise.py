"""Elementwise functions: arithmetic, comparisons, activations."""
import math

import torch

from samba.functions.table import (
    add,
    answer,
    device_dtype,
    dtype_of,
    floating,
    promote,
    row,
)
from samba.tracing import Misplaced, Unsupported

# ---- Of one operand ----


def unary(operator, takes_integers):
    def build(t, input):
        return t.op(operator, t.value(input) if takes_integers else floating(t, input))

    return build


for _name in (
    "acos acosh asin asinh atan atanh cos cosh erf exp expm1 log log1p reciprocal rsqrt sigmoid "
    "sin sinh sqrt tan tanh"
).split():
    add(_name, unary(_name, False))
for _name, _operator in {
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "expit": "sigmoid",
}.items():
    add(_name, unary(_operator, False))
for _name in "abs neg sign bitwise_not".split():
    add(_name, unary(_name, True))
add("absolute", unary("abs", True))
add("negative", unary("neg", True))
add("Tensor.__invert__", unary("bitwise_not", True))


def rounding_of(operator):
    def build(t, input, *, decimals=0):
        if decimals:
            raise Unsupported("decimals other than 0 cannot be traced")
        value = t.value(input)
        return t.op(operator, value) if value.dtype in ("f32", "bf16", "f16") else value

    return build


for _name in "ceil floor round trunc".split():
    add(_name, rounding_of(_name))
add("fix", rounding_of("trunc"))


@row("frac")
def frac(t, input):
    return t.op("sub", input, t.op("trunc", input))


@row("square")
def square(t, input):
    return t.op("mul", input, input)


@row("log2")
def log2(t, input):
    return scaled(t, t.op("log", floating(t, input)), 1 / math.log(2))


@row("log10")
def log10(t, input):
    return scaled(t, t.op("log", floating(t, input)), 1 / math.log(10))


@row("exp2")
def exp2(t, input):
    return t.op("exp", scaled(t, floating(t, input), math.log(2)))


@row("erfc")
def erfc(t, input):
    value = floating(t, input)
    return t.op("sub", t.scalar(1.0, value.dtype), t.op("erf", value))


@row("logit")
def logit(t, input, eps=None):
    value = floating(t, input)
    if eps is not None:
        value = t.op("clamp", value, min=eps, max=1 - eps)
    return t.op("log", t.op("div", value, t.op("sub", t.scalar(1.0, value.dtype), value)))


@row("logical_not")
def logical_not(t, input):
    return t.op("logical_not", as_bool(t, input))


@row("isnan")
def isnan(t, input):
    return t.op("ne", input, input)


@row("isinf")
def isinf(t, input):
    value = floating(t, input)
    return t.op("eq", t.op("abs", value), t.scalar(math.inf, value.dtype))


@row("isfinite")
def isfinite(t, input):
    value = floating(t, input)
    return t.op("lt", t.op("abs", value), t.scalar(math.inf, value.dtype))


@row("nan_to_num", meta=False)
def nan_to_num(t, input, nan=None, posinf=None, neginf=None):
    value = t.value(input)
    most = torch.finfo(input.dtype).max
    value = t.op("where", t.op("ne", value, value), t.scalar(nan or 0.0, value.dtype), value)
    high, low = posinf if posinf is not None else most, neginf if neginf is not None else -most
    over = t.op("eq", value, t.scalar(math.inf, value.dtype))
    value = t.op("where", over, t.scalar(high, value.dtype), value)
    under = t.op("eq", value, t.scalar(-math.inf, value.dtype))
    return t.op("where", under, t.scalar(low, value.dtype), value)


@row("isneginf")
def isneginf(t, input):
    value = floating(t, input)
    return t.op("eq", value, t.scalar(-math.inf, value.dtype))


@row("isposinf")
def isposinf(t, input):
    value = floating(t, input)
    return t.op("eq", value, t.scalar(math.inf, value.dtype))


@row("positive", "resolve_conj", "resolve_neg")
def positive(t, input):
    return input


@row("deg2rad")
def deg2rad(t, input):
    return scaled(t, floating(t, input), math.pi / 180)


@row("rad2deg")
def rad2deg(t, input):
    return scaled(t, floating(t, input), 180 / math.pi)


@row("sinc")
def sinc(t, input):
    value = scaled(t, floating(t, input), math.pi)
    is_zero = t.op("eq", value, t.scalar(0.0, value.dtype))
    one = t.scalar(1.0, value.dtype)
    safe = t.op("where", is_zero, one, value)
    return t.op("where", is_zero, one, t.op("div", t.op("sin", safe), safe))


add("sgn", unary("sign", True))


# ---- Of two operands ----


def scaled(t, value, factor):
    return value if factor == 1 else t.op("mul", value, t.scalar(factor, value.dtype))


def as_bool(t, x):
    value = t.value(x)
    if value.dtype == "i1":
        return value
    return t.op("ne", value, t.scalar(0, value.dtype))


@row("add", "__iadd__")
def add_(t, input, other, *, alpha=1):
    dtype = dtype_of(t, input, other)
    if dtype == torch.bool:
        return t.op("logical_or", input, t.value(other, "i1"))
    a, b = promote(t, input, other)
    return t.op("add", a, scaled(t, b, alpha))


@row("sub", "subtract", "__isub__")
def sub(t, input, other, *, alpha=1):
    a, b = promote(t, input, other)
    return t.op("sub", a, scaled(t, b, alpha))


@row("rsub", "Tensor.__rsub__")
def rsub(t, input, other, *, alpha=1):
    a, b = promote(t, other, input)
    return t.op("sub", a, scaled(t, b, alpha))


@row("mul", "multiply", "__imul__")
def mul(t, input, other):
    if dtype_of(t, input, other) == torch.bool:
        return t.op("logical_and", input, t.value(other, "i1"))
    return t.op("mul", *promote(t, input, other))


@row("div", "divide", "true_divide", "__idiv__", "__itruediv__")
def div(t, input, other, *, rounding_mode=None):
    if rounding_mode is None:
        return t.op("div", *promote(t, input, other, floating=True))
    a, b = promote(t, input, other)
    is_float = a.dtype in ("f32", "bf16", "f16")
    if rounding_mode == "trunc":
        return t.op("trunc", t.op("div", a, b)) if is_float else t.op("div", a, b)
    return divided_down(t, a, b)


def divided_down(t, a, b):
    """floor(a / b): exact, through the remainder that has b's sign."""
    return t.op("div", t.op("sub", a, t.op("remainder", a, b)), b)


@row("floor_divide", "Tensor.__floordiv__", "__ifloordiv__")
def floor_divide(t, input, other):
    return divided_down(t, *promote(t, input, other))


@row("Tensor.__rfloordiv__")
def rfloordiv(t, input, other):
    return divided_down(t, *promote(t, other, input))


@row("Tensor.__rdiv__", "Tensor.__rtruediv__")
def rdiv(t, input, other):
    return t.op("div", *promote(t, other, input, floating=True))


@row("remainder", "Tensor.__mod__", "__imod__")
def remainder(t, input, other):
    return t.op("remainder", *promote(t, input, other))


@row("Tensor.__rmod__")
def rmod(t, input, other):
    return t.op("remainder", *promote(t, other, input))


@row("fmod")
def fmod(t, input, other):
    return t.op("fmod", *promote(t, input, other))


@row("pow", "Tensor.__pow__", "__ipow__")
def pow_(t, input, exponent):
    a, b = promote(t, input, exponent)
    if isinstance(exponent, (int, float)):
        if exponent == 2:
            return t.op("mul", a, a)
        if exponent == 1:
            return t.op("contiguous", a)
        if exponent == 3:
            return t.op("mul", t.op("mul", a, a), a)
        if exponent in (0.5, -0.5, -1) and a.dtype in ("f32", "bf16", "f16"):
            return t.op({0.5: "sqrt", -0.5: "rsqrt", -1: "reciprocal"}[exponent], a)
    return t.op("pow", a, b)


@row("Tensor.__rpow__")
def rpow(t, input, other):
    return t.op("pow", *promote(t, other, input))


@row("maximum")
def maximum(t, input, other):
    return t.op("maximum", *promote(t, input, other))


@row("minimum")
def minimum(t, input, other):
    return t.op("minimum", *promote(t, input, other))


def that_is_a_number(operator):
    """maximum or minimum in which a NaN does not win."""

    def build(t, input, other):
        a, b = promote(t, input, other)
        a, b = (
            t.op("where", t.op("ne", a, a), b, a),
            t.op("where", t.op("ne", b, b), a, b),
        )
        return t.op(operator, a, b)

    return build


add("fmax", that_is_a_number("maximum"))
add("fmin", that_is_a_number("minimum"))


@row("hypot")
def hypot(t, input, other):
    a, b = promote(t, input, other)
    return t.op("sqrt", t.op("add", t.op("mul", a, a), t.op("mul", b, b)))


@row("logaddexp")
def logaddexp(t, input, other):
    a, b = promote(t, input, other)
    most = t.op("detach", t.op("maximum", a, b))
    total = t.op("add", t.op("exp", t.op("sub", a, most)), t.op("exp", t.op("sub", b, most)))
    return t.op("add", most, t.op("log", total))


@row("atan2", "arctan2")
def atan2(t, input, other):
    y, x = promote(t, input, other, floating=True)
    zero, half = t.scalar(0.0, y.dtype), t.scalar(math.pi / 2, y.dtype)
    is_flat = t.op("eq", x, zero)
    angle = t.op("atan", t.op("div", y, t.op("where", is_flat, t.scalar(1.0, y.dtype), x)))
    below = t.op("lt", y, zero)
    turn = t.op("where", below, t.scalar(-math.pi, y.dtype), t.scalar(math.pi, y.dtype))
    angle = t.op("where", t.op("lt", x, zero), t.op("add", angle, turn), angle)
    up = t.op("where", below, t.op("neg", half), half)
    up = t.op("where", t.op("eq", y, zero), zero, up)
    return t.op("where", is_flat, up, angle)


@row("heaviside")
def heaviside(t, input, values):
    x, at_zero = promote(t, input, values)
    zero = t.scalar(0, x.dtype)
    step = t.cast(t.op("gt", x, zero), x.dtype)
    return t.op("where", t.op("eq", x, zero), at_zero, step)


@row("copysign")
def copysign(t, input, other):
    a, b = promote(t, input, other, floating=True)
    size = t.op("abs", a)
    return t.op("where", t.op("lt", b, t.scalar(0.0, b.dtype)), t.op("neg", size), size)


@row("isclose", meta=False)
def isclose(t, input, other, rtol=1e-5, atol=1e-8, equal_nan=False):
    a, b = promote(t, input, other)
    if a.dtype not in ("f32", "bf16", "f16"):
        a, b = t.cast(a, "f32"), t.cast(b, "f32")
    bound = t.op("add", scaled(t, t.op("abs", b), rtol), t.scalar(atol, b.dtype))
    near = t.op("le", t.op("abs", t.op("sub", a, b)), bound)
    return t.op("logical_or", near, t.op("eq", a, b))


for _name, _operator in {"__lshift__": "left", "__rshift__": "right"}.items():
    add(
        f"Tensor.{_name}",
        lambda t, a, b, o=_operator: t.op(f"bitwise_{o}_shift", *promote(t, a, b)),
    )
for _operator in ("left", "right"):
    add(
        f"bitwise_{_operator}_shift",
        lambda t, a, b, o=_operator: t.op(f"bitwise_{o}_shift", *promote(t, a, b)),
    )


def comparison(operator):
    def build(t, input, other):
        return t.op(operator, *promote(t, input, other))

    return build


for _name in "eq ne lt le gt ge".split():
    add(_name, comparison(_name))
for _name, _operator in {
    "not_equal": "ne",
    "less": "lt",
    "less_equal": "le",
    "greater": "gt",
    "greater_equal": "ge",
}.items():
    add(_name, comparison(_operator))


def logical(operator):
    def build(t, input, other):
        return t.op(operator, as_bool(t, input), as_bool(t, other))

    return build


for _name in "logical_and logical_or logical_xor".split():
    add(_name, logical(_name))


def bitwise(operator):
    def build(t, input, other):
        return t.op(operator, *promote(t, input, other))

    return build


for _name in "and or xor".split():
    add(f"bitwise_{_name}", bitwise(f"bitwise_{_name}"))
    for _form in (f"__{_name}__", f"__r{_name}__"):
        add(f"Tensor.{_form}", bitwise(f"bitwise_{_name}"))
    row(f"__i{_name}__")(bitwise(f"bitwise_{_name}"))


@row("where")
def where(t, condition, input=None, other=None):
    if other is None:
        raise Unsupported("with one argument the size of the result depends on values")
    a, b = promote(t, input, other)
    return t.op("where", as_bool(t, condition), a, b)


@row("Tensor.where")
def tensor_where(t, input, condition, other):
    return where(t, condition, input, other)


@row("masked_fill")
def masked_fill(t, input, mask, value):
    x = t.value(input)
    return t.op("where", as_bool(t, mask), t.value(value, x.dtype), x)


@row("clamp", "clip")
def clamp(t, input, min=None, max=None):
    if not isinstance(min, torch.Tensor) and not isinstance(max, torch.Tensor):
        bounds = [b for b in (min, max) if b is not None]
        if not bounds:
            raise ValueError("at least one of min and max must be given")
        (x, *_) = promote(t, input, *bounds)
        return t.op("clamp", x, min=min, max=max)
    result = t.value(input)
    for bound, operator in ((min, "maximum"), (max, "minimum")):
        if bound is not None:
            result = t.op(operator, result, t.value(bound, result.dtype))
    return result


@row("clamp_min")
def clamp_min(t, input, min):
    return clamp(t, input, min=min)


@row("clamp_max")
def clamp_max(t, input, max):
    return clamp(t, input, max=max)


@row("lerp")
def lerp(t, input, end, weight):
    a, b = t.value(input), t.value(end)
    return t.op("add", a, t.op("mul", t.op("sub", b, a), t.value(weight, a.dtype)))


@row("addcmul")
def addcmul(t, input, tensor1, tensor2, *, value=1):
    return t.op("add", input, scaled(t, t.op("mul", tensor1, tensor2), value))


@row("addcdiv")
def addcdiv(t, input, tensor1, tensor2, *, value=1):
    return t.op("add", input, scaled(t, t.op("div", tensor1, tensor2), value))


@row("xlogy")
def xlogy(t, input, other):
    x, y = promote(t, input, other, floating=True)
    zero = t.scalar(0.0, x.dtype)
    return t.op("where", t.op("eq", x, zero), zero, t.op("mul", x, t.op("log", y)))


# ---- Activations ----


@row("relu")
def relu(t, input, inplace=False):
    return t.op("relu", input)


@row("relu6")
def relu6(t, input, inplace=False):
    return t.op("clamp", input, min=0.0, max=6.0)


@row("hardtanh")
def hardtanh(t, input, min_val=-1.0, max_val=1.0, inplace=False):
    return t.op("clamp", input, min=min_val, max=max_val)


@row("hardswish")
def hardswish(t, input, inplace=False):
    return t.op("hardswish", input)


@row("hardsigmoid")
def hardsigmoid(t, input, inplace=False):
    return t.op("hardsigmoid", input, alpha=1 / 6, beta=0.5)


@row("silu")
def silu(t, input, inplace=False):
    return t.op("silu", input)


@row("mish")
def mish(t, input, inplace=False):
    return t.op("mish", input)


@row("gelu")
def gelu(t, input, approximate="none"):
    return t.op("gelu", input, approximate=approximate)


@row("elu")
def elu(t, input, alpha=1.0, inplace=False):
    return t.op("elu", input, alpha=alpha)


@row("celu")
def celu(t, input, alpha=1.0, inplace=False):
    return t.op("celu", input, alpha=alpha)


@row("selu")
def selu(t, input, inplace=False):
    return t.op("selu", input)


@row("leaky_relu")
def leaky_relu(t, input, negative_slope=0.01, inplace=False):
    return t.op("leaky_relu", input, negative_slope=negative_slope)


@row("rrelu", meta=False)
def rrelu(t, input, lower=1 / 8, upper=1 / 3, training=False, inplace=False):
    if training:
        raise Unsupported("random slopes cannot be traced; use it in eval mode")
    return t.op("leaky_relu", input, negative_slope=(lower + upper) / 2)


@row("prelu", meta=False)
def prelu(t, input, weight):
    x, w = t.value(input), t.value(weight)
    if len(x.shape) > 1 and w.shape and w.shape[0] > 1:
        w = t.reshape(w, (1, w.shape[0]) + (1,) * (len(x.shape) - 2))
    return t.op("prelu", x, w)


@row("softplus")
def softplus(t, input, beta=1, threshold=20):
    x = t.value(input)
    scaled_x = scaled(t, x, beta)
    y = scaled(t, t.op("softplus", scaled_x), 1 / beta)
    if threshold >= 20:  # beyond it, x itself is what f32 gives
        return y
    return t.op("where", t.op("gt", scaled_x, t.scalar(float(threshold), x.dtype)), x, y)


@row("logsigmoid")
def logsigmoid(t, input):
    return t.op("logsigmoid", input)


@row("softsign")
def softsign(t, input):
    return t.op("softsign", input)


@row("tanhshrink")
def tanhshrink(t, input):
    return t.op("sub", input, t.op("tanh", input))


@row("softshrink")
def softshrink(t, input, lambd=0.5):
    return t.op("shrink", input, lambd=lambd, bias=lambd)


@row("hardshrink")
def hardshrink(t, input, lambd=0.5):
    return t.op("shrink", input, lambd=lambd, bias=0.0)


@row("threshold")
def threshold_(t, input, threshold, value, inplace=False):
    return t.op("threshold", input, threshold=threshold, value=value)


@row("glu")
def glu(t, input, dim=-1):
    first, second = torch.chunk(input, 2, dim)
    return t.op("mul", first, t.op("sigmoid", second))


# ---- Casts and constants ----


def cast_to(dtype):
    def build(t, input, memory_format=None):
        return cast(t, input, dtype)

    return build


def cast(t, input, dtype):
    name = t.dtype_name(dtype, "the dtype")
    value = t.value(input)
    if value.dtype == name:
        return input
    if name == "i1":
        return as_bool(t, input)
    return t.cast(value, name)


for _name, _dtype in {
    "float": torch.float32,
    "half": torch.float16,
    "bfloat16": torch.bfloat16,
    "int": torch.int32,
    "long": torch.int64,
    "short": torch.int16,
    "bool": torch.bool,
    "char": torch.int8,
    "byte": torch.uint8,
}.items():
    add(f"Tensor.{_name}", cast_to(_dtype))


@row("Tensor.double")
def double(t, input, memory_format=None):
    raise Misplaced("the device has no float64; stay with .float()")


@row("Tensor.cuda")
def cuda(t, input, *args, **kwargs):
    raise Misplaced("there is one device, on which the whole model runs; leave .cuda() out")


@row("Tensor.to")
def to(t, input, *args, dtype=None, copy=False, memory_format=None, **others):
    for given in args:
        if isinstance(given, torch.dtype):
            dtype = given
        elif isinstance(given, torch.Tensor):
            dtype = given.dtype
    return input if dtype is None else cast(t, input, dtype)


@row("Tensor.type_as")
def type_as(t, input, other):
    return cast(t, input, other.dtype)


@row("Tensor.type", meta=False)
def type_(t, input, dtype):
    return cast(t, input, dtype)


def filled(t, shape, number, dtype):
    """A constant of one number."""
    shape = tuple(shape)
    if number is True or number is False:
        number = int(number)
    return t.scalar(number, device_dtype(t, dtype), shape)


def like(number):
    def build(t, input, dtype=None, **others):
        return filled(t, input.shape, number, dtype or input.dtype)

    return build


for _name, _number in {"zeros_like": 0, "ones_like": 1, "empty_like": 0}.items():
    add(_name, like(_number))


@row("full_like")
def full_like(t, input, fill_value, dtype=None, **others):
    return filled(t, input.shape, fill_value, dtype or input.dtype)


def shape_of(size):
    return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else tuple(size)


def new(number):
    def build(t, input, *size, dtype=None, **others):
        size = shape_of(size) if size else tuple(others["size"])
        return filled(t, size, number, dtype or input.dtype)

    return build


for _name, _number in {"new_zeros": 0, "new_ones": 1, "new_empty": 0}.items():
    add(f"Tensor.{_name}", new(_number))


@row("Tensor.new_full")
def new_full(t, input, size, fill_value, dtype=None, **others):
    size = (size,) if isinstance(size, int) else size
    return filled(t, size, fill_value, dtype or input.dtype)


@row("Tensor.new_tensor", meta=False)
def new_tensor(t, input, data, dtype=None, **others):
    return t.value(torch.tensor(data, dtype=dtype or input.dtype))


@row("Tensor.fill_", meta=False)
def fill_(t, input, value):
    x = t.value(input)
    return t.expand(t.value(value, x.dtype), x.shape)


@row("Tensor.zero_", meta=False)
def zero_(t, input):
    return fill_(t, input, 0)


@row("Tensor.copy_")
def copy_(t, input, src, non_blocking=False):
    x = t.value(input)
    return t.expand(t.value(src, x.dtype), x.shape)


@row("bernoulli", "rand_like", "randn_like", "randint_like", "normal", "uniform", meta=False)
def random(t, *args, **kwargs):
    raise Unsupported("random numbers other than dropout's")


# ---- What has no value while tracing ----


def no_value(name, function):
    def build(t, input, *args, **kwargs):
        if getattr(input, "_traced", None) is None:  # a buffer: its values are there
            with torch._C.DisableTorchFunction():
                return function(input, *args, **kwargs)
        from samba.tracing import user_place

        layer = f", layer {t.layer}" if t.layer else ""
        file, line = user_place()
        place = f" ({file}:{line})" if file else ""
        raise RuntimeError(
            f"no value while tracing: {name}{layer}; only the branch taken is kept{place}. "
            "torch.where chooses by values; what needs the values themselves belongs on the host, "
            "before the model or after it"
        )

    return build


for _name in (
    "__bool__ item __int__ __float__ __index__ __complex__ numpy tolist __array__ __contains__ "
    "is_nonzero equal allclose nonzero unique tolist data_ptr storage __iter_values__"
).split():
    answer(_name)(
        no_value(
            _name.strip("_"), getattr(torch.Tensor, _name, None) or getattr(torch, _name, None)
        )
    )
