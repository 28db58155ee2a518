"""Lazy parameters: models whose parameters have no data until the device, or the host, needs them.

While lazy mode is on, torch functions that a module's constructor calls to make floating-point
tensors record what they would do and give a tensor on the meta device, which needs no memory. What
torch.nn.init does to such a tensor is recorded too. The record is the parameter's materializer.

Values do not depend on what else a program draws, nor on the number of threads: a random number is
a function of the seed, of the tensor's name and of its place in the tensor, the same as in C."""
import contextlib
import hashlib
import secrets
import sys
import threading

import torch
from torch.overrides import TorchFunctionMode

from samba import _samba
from samba.lazy_random import (  # noqa: F401: programs import them from here
    MultithreadedRNG,
    RNGProvider,
    RNGProviderFactory,
)

ROUNDINGS = ("nearest_even", "truncation")
DTYPES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16"}

# Functions that make a tensor out of nothing. Others are left alone: values that come from the
# program itself (torch.tensor, from_numpy) are data already.
FACTORIES = {"empty", "zeros", "ones", "full", "rand", "randn", "normal"}
# Methods whose numbers are those of C.
RANDOM = {"uniform_", "normal_"}
# Functions whose result is the same memory.
VIEWS = {"data", "detach", "view", "reshape", "t", "T", "transpose", "permute", "__getitem__"}
VIEWS |= {"unsqueeze", "squeeze", "narrow", "select", "flatten", "expand", "view_as", "detach_"}
# Questions that a tensor without data answers.
QUESTIONS = {"size", "dim", "numel", "stride", "shape", "dtype", "device", "requires_grad"}
QUESTIONS |= {"is_floating_point", "ndim", "ndimension", "element_size", "nelement", "grad_fn"}
QUESTIONS |= {
    "is_complex",
    "layout",
    "is_leaf",
    "grad",
    "names",
    "has_names",
    "__len__",
    "__hash__",
}
QUESTIONS |= {"requires_grad_", "is_sparse", "is_quantized", "storage_offset", "is_contiguous"}
# Questions that need values.
VALUES = {"item", "tolist", "numpy", "__bool__", "__float__", "__int__", "__array__", "equal"}
VALUES |= {"allclose", "__repr__", "__format__", "__contains__", "cpu"}


class Options:
    """What enable_lazy_param was given."""

    def __init__(self, seed, init_threads, inverse_transform_sampling, fp32_to_bf16_rounding):
        if seed is not None and not isinstance(seed, int):
            raise TypeError(f"enable_lazy_param: seed is {seed!r}, but must be an integer or None")
        if not isinstance(init_threads, int) or init_threads < 1:
            text = f"enable_lazy_param: init_threads is {init_threads}, but must be at least 1"
            raise ValueError(text)
        if fp32_to_bf16_rounding not in ROUNDINGS:
            text = f"enable_lazy_param: fp32_to_bf16_rounding is '{fp32_to_bf16_rounding}', "
            raise ValueError(text + f"but must be one of: {', '.join(ROUNDINGS)}")
        self.seed = secrets.randbits(63) if seed is None else seed
        self.threads = init_threads
        self.inverse = bool(inverse_transform_sampling)
        self.rounding = fp32_to_bf16_rounding
        self.count = 0


class Record:
    """How the values of one tensor come about: a list of steps, each done when values are needed.

    steps: ("random", method, arguments), ("call", function, args, kwargs, path): path is the list
    of views that lead from the tensor to the part that the function changes."""

    def __init__(self, options, shape, dtype):
        options.count += 1
        self.options = options
        self.shape, self.dtype = tuple(shape), dtype
        self.name = f"#{options.count}"
        self.steps = []
        self.shared = False  # another record reads this one: its steps stay
        self.source = None  # function of no arguments that makes the tensor; None: empty

    def materialize(self, count=None):
        """The values after the first count steps (None: all): the same bits each time."""
        with switched_off(), torch.no_grad():
            if self.source is None:
                tensor = torch.empty(self.shape, dtype=self.dtype)
            else:
                tensor = self.source()
            for index, step in enumerate(self.steps[:count]):
                self.apply(tensor, index, step)
        return tensor

    def apply(self, tensor, index, step):
        kind, function, args, kwargs, path = step
        part = follow(tensor, path)
        if kind == "random":
            name = f"{self.name}/{index}" if index else self.name
            fill_random(part, function, args, kwargs, self.options, name)
            return
        with torch.random.fork_rng(devices=()):
            torch.manual_seed(seed_of(self.options.seed, f"{self.name}/{index}") >> 1)
            function(part, *concrete(args), **concrete(kwargs))


def follow(tensor, path):
    """The part of a tensor that a list of views leads to."""
    for function, args, kwargs in path:
        tensor = function(tensor, *concrete(args), **concrete(kwargs))
    return tensor


def seed_of(seed, name):
    """64 bits from the seed and a name, the same in each process."""
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def fill_random(tensor, method, args, kwargs, options, name):
    """uniform_(low, high) or normal_(mean, deviation): the numbers that C gives a parameter of that
    name and seed (sambaTensorSetInitializer)."""
    kind, names = (
        ("uniform", ("from", "to")) if method == "uniform_" else ("normal", ("mean", "std"))
    )
    first = kwargs.get(names[0], args[0] if args else 0.0)
    second = kwargs.get(names[1], args[1] if len(args) > 1 else 1.0)
    direct = tensor.is_contiguous() and tensor.dtype in DTYPES
    values = tensor if direct else torch.empty(tensor.shape, dtype=torch.float32)
    _samba.fill_random(
        values.data_ptr(),
        DTYPES[values.dtype],
        tuple(values.shape),
        name,
        kind,
        float(first),
        float(second),
        options.seed % 2**64,
        options.threads,
        options.inverse,
        options.rounding,
    )
    if values is not tensor:
        tensor.copy_(values)


_state = threading.local()


class Key:
    """What a tensor without data holds on to: its record, and the views that lead to it."""

    __slots__ = ("record", "path")

    def __init__(self, record, path):
        self.record, self.path = record, path


def record_of(tensor):
    """The Key of a tensor without data, or None."""
    return getattr(tensor, "_samba_lazy", None) if isinstance(tensor, torch.Tensor) else None


class LazyTensor(torch.Tensor):
    """A tensor without data that is no parameter. Indexing asks no mode, so it asks here."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if _mode is not None and name in ("__getitem__", "__setitem__") and record_of(args[0]):
            return _mode.of_lazy(function, name, "", args, kwargs or {})
        with torch._C.DisableTorchFunction():
            return function(*args, **(kwargs or {}))


def mark(tensor, record, path=()):
    """The tensor with its record."""
    with torch._C.DisableTorchFunction():
        if type(tensor) is torch.Tensor:
            tensor = tensor.as_subclass(LazyTensor)
    tensor._samba_lazy = Key(record, tuple(path))
    return tensor


def materializer_of(tensor):
    """A function (shape, dtype, requires_grad) -> values for a tensor that was made in lazy mode;
    None for every other tensor. The name in `materializer.record.name` decides the values."""
    key = record_of(tensor)
    if key is None:
        return None
    return Materializer(key.record, key.path)


class Materializer:
    """The materializer of a lazy parameter; count: after how many steps, None: all."""

    def __init__(self, record, path=(), count=None):
        self.record, self.path, self.count = record, path, count

    def set_name(self, name):
        """The values are those of this name: the same in each program that uses it."""
        if not self.path:
            self.record.name = name

    def values(self):
        """A new host tensor."""
        return follow(self.record.materialize(self.count), self.path)

    def __call__(self, shape, dtype, requires_grad=False):
        return self.values().to(dtype).reshape(tuple(shape))

    def __repr__(self):
        return f"<materializer of {self.record.name}, {len(self.record.steps)} steps>"


def concrete(value):
    """Arguments of a recorded call: lazy tensors become values."""
    if isinstance(value, Materializer):
        return value.values()
    if isinstance(value, (list, tuple)):
        return type(value)(concrete(v) for v in value)
    if isinstance(value, dict):
        return {name: concrete(v) for name, v in value.items()}
    return value


def recorded(value):
    """Arguments as a record keeps them: lazy tensors as their materializers."""
    key = record_of(value)
    if key is not None:
        key.record.shared = True
        return Materializer(key.record, key.path, len(key.record.steps))
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(recorded(v) for v in value)
    if isinstance(value, dict):
        return {name: recorded(v) for name, v in value.items()}
    return value


def name_of_function(function):
    """What a torch function is called; for a property, the name of the property."""
    name = getattr(function, "__name__", "")
    if name in ("__get__", "__set__"):
        owner = getattr(function, "__self__", None)
        return getattr(owner, "__name__", name), name
    return name, ""


def is_float(kwargs):
    dtype = kwargs.get("dtype") or torch.get_default_dtype()
    return dtype.is_floating_point


def is_samba_tensor(value):
    """Whether a value is a SambaTensor, which looks after itself."""
    return hasattr(type(value), "sn_name")


class LazyMode(TorchFunctionMode):
    """Records what torch would compute; see the top of this file."""

    def __init__(self, options):
        super().__init__()
        self.options = options

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if getattr(_state, "off", False):
            return function(*args, **kwargs)
        name, access = name_of_function(function)
        if name in FACTORIES and is_lazy_factory(name, args, kwargs) and in_constructor():
            return self.made(function, name, args, kwargs)
        leaves = list(flat((args, kwargs)))
        if any(map(record_of, leaves)) and not any(map(is_samba_tensor, leaves)):
            return self.of_lazy(function, name, access, args, kwargs)
        return function(*args, **kwargs)

    def made(self, function, name, args, kwargs):
        """A tensor that a factory would make."""
        result = function(*args, **{**kwargs, "device": "meta"})
        record = Record(self.options, result.shape, result.dtype)
        plain = {k: v for k, v in kwargs.items() if k not in ("requires_grad", "device")}
        if name in ("rand", "randn", "normal"):
            method = "uniform_" if name == "rand" else "normal_"
            numbers = args[:2] if name == "normal" else ()
            record.steps.append(("random", method, numbers, {}, ()))
        elif name != "empty":
            record.source = lambda: function(*args, **plain)
        return mark(result, record)

    def of_lazy(self, function, name, access, args, kwargs):
        """A function with an argument that has no data."""
        first = args[0] if args else None
        key = record_of(first)
        if getattr(function, "__module__", "") == "torch.nn.init":
            with self, python_functions_run():
                return function(*args, **kwargs)
        if access == "__set__":
            return self.set_property(function, name, args)
        if name in QUESTIONS:
            return function(*args, **kwargs)
        in_place = name == "__setitem__" or (name.endswith("_") and not name.endswith("__"))
        if name in VALUES or (in_place and key is None):
            return function(*concrete(recorded(args)), **concrete(recorded(kwargs)))
        if name in VIEWS and key is not None:
            return self.viewed(function, name, key, args, kwargs)
        if in_place:
            return self.changed(function, name, key, args, kwargs)
        if name == "__deepcopy__":
            return copied(first, key)
        return self.computed(function, args, kwargs)

    def viewed(self, function, name, key, args, kwargs):
        """The same memory under another shape: the same record."""
        with torch._C.DisableTorchFunction():
            result = function(*args, **kwargs)
        if not isinstance(result, torch.Tensor) or result is args[0]:
            return result
        step = (function, recorded(args[1:]), recorded(kwargs))
        same = name in ("data", "detach")
        return mark(result, key.record, key.path if same else key.path + (step,))

    def set_property(self, function, name, args):
        """tensor.data = other: the tensor takes the record, or the values, of the other."""
        key, other = record_of(args[0]), record_of(args[1])
        if name == "data" and other is not None:
            args[0]._samba_lazy = other
            return function(*args) if key is not None else None
        if name == "data":
            values = args[1].detach().clone()
            key.record.source, key.record.steps = values.clone, []
            return None
        return function(*args)

    def changed(self, function, name, key, args, kwargs):
        """A method that changes the tensor, or a part of it, in place."""
        if name in RANDOM and kwargs.get("generator") is None:
            step = ("random", name, args[1:], dict(kwargs), key.path)
        else:
            step = ("call", function, recorded(args[1:]), recorded(kwargs), key.path)
        if not key.path and not key.record.shared and name in ("zero_", "fill_", "copy_", *RANDOM):
            key.record.steps.clear()  # everything is written over
        key.record.steps.append(step)
        if name in ("t_", "transpose_", "squeeze_", "unsqueeze_", "resize_"):
            function(*args, **kwargs)
        return args[0]

    def computed(self, function, args, kwargs):
        """A new tensor computed from one without data: its shape now, its values later."""
        result = function(*on_meta(args), **on_meta(kwargs))
        if not isinstance(result, torch.Tensor) or result.device.type != "meta":
            if isinstance(result, (tuple, list)):
                return self.several(function, args, kwargs, result)
            return result
        record = Record(self.options, result.shape, result.dtype)
        kept_args, kept_kwargs = recorded(args), recorded(kwargs)
        seed = f"{record.name}/made"

        def source():
            with torch.random.fork_rng(devices=()), switched_off():
                torch.manual_seed(seed_of(self.options.seed, seed) >> 1)
                return function(*concrete(kept_args), **concrete(kept_kwargs))

        record.source = source
        return mark(result, record)

    def several(self, function, args, kwargs, results):
        kept_args, kept_kwargs = recorded(args), recorded(kwargs)
        marked = []
        for index, result in enumerate(results):
            if isinstance(result, torch.Tensor) and result.device.type == "meta":
                record = Record(self.options, result.shape, result.dtype)

                def source(index=index):
                    with switched_off():
                        return function(*concrete(kept_args), **concrete(kept_kwargs))[index]

                record.source = source
                result = mark(result, record)
            marked.append(result)
        return type(results)(marked) if type(results) in (tuple, list) else tuple(marked)


def copied(tensor, key):
    """A copy of a tensor without data: the same values so far, later steps are its own."""
    result = torch.empty_like(tensor)
    record = Record(key.record.options, key.record.shape, key.record.dtype)
    record.source = recorded(tensor).values
    return mark(result, record)


def in_constructor():
    """Whether the constructor of a module is at work."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "__init__":
            names = frame.f_code.co_varnames
            if names and isinstance(frame.f_locals.get(names[0]), torch.nn.Module):
                return True
        frame = frame.f_back
    return False


@contextlib.contextmanager
def python_functions_run():
    """Functions of torch that are written in Python run inside, rather than ask a mode; the methods
    of tensors that they end in do ask."""
    before = torch.overrides.has_torch_function_variadic
    torch.overrides.has_torch_function_variadic = lambda *tensors: False
    try:
        yield
    finally:
        torch.overrides.has_torch_function_variadic = before


def is_lazy_factory(name, args, kwargs):
    """Whether a factory makes floating-point data for the host."""
    if not is_float(kwargs) or kwargs.get("out") is not None or kwargs.get("generator") is not None:
        return False
    device = kwargs.get("device")
    if device is not None and torch.device(device).type != "cpu":
        return False
    if name == "normal":
        return len(args) >= 3 or "size" in kwargs
    if name == "full":
        fill = kwargs.get("fill_value", args[1] if len(args) > 1 else 0.0)
        return isinstance(fill, float) or kwargs.get("dtype") is not None
    return True


def flat(value):
    """All leaves of nested lists, tuples and dictionaries."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for inner in value:
            yield from flat(inner)
    else:
        yield value


def on_meta(value):
    """Tensors with data as their shapes only."""
    if isinstance(value, torch.Tensor):
        return value if value.device.type == "meta" else value.to("meta")
    if isinstance(value, dict):
        return {name: on_meta(v) for name, v in value.items()}
    if isinstance(value, (list, tuple)) and not isinstance(value, torch.Size):
        return type(value)(on_meta(v) for v in value)
    return value


@contextlib.contextmanager
def switched_off():
    """Torch computes inside."""
    before = getattr(_state, "off", False)
    _state.off = True
    try:
        yield
    finally:
        _state.off = before


_mode = None  # while lazy mode is on
_make_parameter = torch.nn.Parameter.__new__
BASE = torch._C._TensorBase


def new_parameter(cls, data=None, requires_grad=True):
    """nn.Parameter(data): a parameter of a tensor without data has none either."""
    key = record_of(data)
    if type(data) is LazyTensor:
        data = data.as_subclass(torch.Tensor)
    result = _make_parameter(cls, data, requires_grad)
    if key is not None:
        result._samba_lazy = key
    return result


def of_parameter(name):
    """A method of nn.Parameter for indexing, which asks no mode."""
    function = getattr(BASE, name)

    def method(tensor, *args):
        if _mode is None or record_of(tensor) is None:
            return function(tensor, *args)
        return _mode.of_lazy(function, name, "", (tensor, *args), {})

    return method


def hook(on):
    """Puts the functions above in the place of torch's, or takes them away."""
    torch.nn.Parameter.__new__ = staticmethod(new_parameter if on else _make_parameter)
    for name in ("__getitem__", "__setitem__"):
        if on:
            setattr(torch.nn.Parameter, name, of_parameter(name))
        elif name in vars(torch.nn.Parameter):
            delattr(torch.nn.Parameter, name)


def enable_lazy_param(
    seed=None,
    init_threads=8,
    inverse_transform_sampling=False,
    fp32_to_bf16_rounding="nearest_even",
):
    """From now on constructors of modules make no data; see samba.session.enable_lazy_param."""
    global _mode
    options = Options(seed, init_threads, inverse_transform_sampling, fp32_to_bf16_rounding)
    disable_lazy_param()
    _mode = LazyMode(options)
    _mode.__enter__()
    hook(True)


def disable_lazy_param():
    """From now on constructors make data again; tensors made before stay as they are."""
    global _mode
    if _mode is not None:
        _mode.__exit__(None, None, None)
        _mode = None
        hook(False)


def use_lazy_param():
    """Whether lazy mode is on."""
    return _mode is not None


@contextlib.contextmanager
def lazy_param(
    quantized=False,
    seed=None,
    init_threads=8,
    inverse_transform_sampling=False,
    fp32_to_bf16_rounding="nearest_even",
):
    """Lazy mode for the modules that are made inside. quantized=True: NotImplementedError."""
    if quantized:
        from samba.names import refuse

        refuse("lazy_param(quantized=True)", "there are no quantized types", "leave it at False")
    before = _mode
    enable_lazy_param(seed, init_threads, inverse_transform_sampling, fp32_to_bf16_rounding)
    try:
        yield
    finally:
        disable_lazy_param()
        if before is not None:
            o = before.options
            enable_lazy_param(o.seed, o.threads, o.inverse, o.rounding)


class LazyParameters:
    """The methods of samba.session that switch lazy mode."""

    @staticmethod
    def enable_lazy_param(
        seed=None,
        init_threads=8,
        inverse_transform_sampling=False,
        fp32_to_bf16_rounding="nearest_even",
    ):
        """Modules that are made from now on have parameters without data.

        seed: values are the same in each program with this seed, whatever else it draws; None:
            other values each time.
        init_threads: threads that make values; the values do not depend on it.
        inverse_transform_sampling: normal numbers by the quantile function.
        fp32_to_bf16_rounding: 'nearest_even' or 'truncation' for parameters of type bf16.
        ValueError: fewer than one thread, another rounding."""
        enable_lazy_param(seed, init_threads, inverse_transform_sampling, fp32_to_bf16_rounding)

    @staticmethod
    def disable_lazy_param():
        """Modules that are made from now on have data."""
        disable_lazy_param()

    @staticmethod
    def use_lazy_param():
        """Whether lazy mode is on."""
        return use_lazy_param()

    @staticmethod
    def lazy_param(**options):
        """Context manager: lazy mode inside; the keywords of enable_lazy_param."""
        return lazy_param(**options)
