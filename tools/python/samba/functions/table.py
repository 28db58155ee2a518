"""The function table: which functions of torch can be traced, and how each is built of operators.

A row is a Python function `build(t, ...)` with the arguments of the torch function; t is the
tracer, whose `op` makes operators. It returns values (or traced tensors, when it is written in
functions of torch itself). One row serves torch.NAME, Tensor.NAME, torch.nn.functional.NAME and
what else has the name, and NAME_ in place."""
import torch
import torch.nn.functional

SPACES = (
    torch,
    torch.Tensor,
    torch.nn.functional,
    torch._C._nn,
    torch.special,
    torch.linalg,
    torch.fft,
)

ROWS = {}
NAMES = {}  # name -> row, for documents and tests
ANSWERS = {}  # functions with an answer that is no tensor


class Row:
    """How one function is built. meta: torch can say what the result will be."""

    __slots__ = ("name", "build", "inplace", "meta")

    def __init__(self, name, build, inplace, meta):
        self.name, self.build, self.inplace, self.meta = name, build, inplace, meta


def functions_named(name):
    """Everything of torch that has the name; 'Tensor.size' names one thing."""
    if name.startswith("Tensor."):
        found = [getattr(torch.Tensor, name[len("Tensor.") :], None)]
    else:
        found = [getattr(space, name, None) for space in SPACES]
    return [f for f in found if callable(f) and not isinstance(f, type)]


def add(name, build, meta=True):
    """Enters a row under a name, and under its in-place form."""
    row = Row(name, build, False, meta)
    NAMES[name] = row
    for function in functions_named(name):
        if name.startswith("Tensor."):
            ROWS[function] = row  # it differs from the function of torch
        ROWS.setdefault(function, row)
    if not name.endswith("_"):
        for function in functions_named(name + "_"):
            ROWS.setdefault(function, Row(name + "_", build, True, meta))


def row(*names, meta=True):
    """Decorator: the function builds what has these names. __iadd__ and its like are in place."""

    def enter(build):
        for name in names:
            if name.startswith("__i") and name != "__invert__":
                for function in functions_named(name):
                    ROWS.setdefault(function, Row(name, build, True, meta))
            else:
                add(name, build, meta)
        return build

    return enter


def getter(name):
    """Decorator: the function builds an attribute of tensors, such as T."""

    def enter(build):
        NAMES[name] = ROWS[getattr(torch.Tensor, name).__get__] = Row(name, build, False, True)
        return build

    return enter


def answer(*names):
    """Decorator: the function answers without making a tensor."""

    def enter(build):
        for name in names:
            for function in functions_named(name):
                ANSWERS[function] = build
        return build

    return enter


# ---- Functions about shape and dtype: torch answers on the meta device ----

QUESTIONS = set()
for _name in (
    "dim ndimension size numel nelement stride is_contiguous is_floating_point is_complex "
    "is_signed element_size __len__ __hash__ is_inference is_conj is_neg storage_offset "
    "get_device has_names is_same_size retain_grad _is_view is_shared result_type can_cast "
    "is_set_to __format__"
).split():
    QUESTIONS.update(functions_named(_name))
GETTER = type(torch.Tensor.shape.__get__)
NO_QUESTIONS = {
    getattr(torch.Tensor, name).__get__
    for name in ("T", "mT", "H", "mH", "real", "imag", "data", "device")
}


def is_question(function):
    return function in QUESTIONS or (isinstance(function, GETTER) and function not in NO_QUESTIONS)


def name_of(function):
    """How a user calls the function: torch.sum, Tensor.view, torch.nn.functional.relu."""
    name = getattr(function, "__name__", str(function))
    if isinstance(function, GETTER):
        return f"Tensor.{getattr(function.__self__, '__name__', name)}"
    for prefix, space in (
        ("linalg_", torch.linalg),
        ("fft_", torch.fft),
        ("special_", torch.special),
    ):
        if name.startswith(prefix) and hasattr(space, name[len(prefix) :]):
            return f"torch.{prefix[:-1]}.{name[len(prefix):]}"
    for label, space in (
        ("torch", torch),
        ("Tensor", torch.Tensor),
        ("torch.nn.functional", torch.nn.functional),
        ("torch.special", torch.special),
        ("torch.linalg", torch.linalg),
        ("torch.fft", torch.fft),
    ):
        if getattr(space, name, None) == function:
            return f"{label}.{name}"
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else name


ANSWERS[torch.Tensor.device.__get__] = lambda t, input: torch.device("cpu")


# ---- What rows share ----


def dtype_of(t, *operands):
    """The dtype in which torch computes with tensors and numbers, as torch.result_type."""
    with torch._C.DisableTorchFunction():
        result = t.meta(operands[0])
        for other in operands[1:]:
            other = t.meta(other)
            dtype = torch.result_type(result, other)
            rank = max(getattr(result, "ndim", 0), getattr(other, "ndim", 0))
            is_number = not isinstance(result, torch.Tensor) and not isinstance(other, torch.Tensor)
            if len(operands) > 2 and not is_number:
                result = torch.empty((1,) * rank, dtype=dtype, device="meta")
            else:
                return dtype
        return (
            result.dtype if isinstance(result, torch.Tensor) else torch.result_type(result, result)
        )


def promote(t, *operands, floating=False):
    """The operands as values of one dtype."""
    dtype = dtype_of(t, *operands)
    if floating and not dtype.is_floating_point:
        dtype = torch.get_default_dtype()
    name = t.dtype_name(dtype, "a tensor")
    return [t.value(x, name) for x in operands]


def floating(t, x):
    """The value; integers as floats, as torch's functions of floats take them."""
    value = t.value(x)
    return value if value.dtype in ("f32", "bf16", "f16") else t.cast(value, "f32")


def device_dtype(t, dtype):
    """The name of a torch dtype; None stays None."""
    return None if dtype is None else t.dtype_name(dtype, "the dtype")


def axis(dim, rank):
    """A dimension counted from the front; IndexError as torch says it."""
    most = max(rank, 1)
    if not -most <= dim < most:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got "
            f"{dim})"
        )
    return dim + most if dim < 0 else dim


def axes(dim, rank):
    """Dimensions as a list; None and () mean all."""
    if dim is None:
        return list(range(rank))
    dims = [dim] if isinstance(dim, int) else list(dim)
    return [axis(d, rank) for d in dims] or list(range(rank))


def numbers(value, count):
    """An integer or several as a list of `count`."""
    if isinstance(value, int):
        return [value] * count
    value = [int(v) for v in value]
    return value * count if len(value) == 1 else value


def indices(t, x):
    """Indices as the operators take them: i32 or i64."""
    value = t.value(x)
    return value if value.dtype in ("i32", "i64") else t.cast(value, "i32")
