"""Functions of torch on lazy tensors: the function table that traces models makes operators of
libsamba's lazy tensors, too."""
import os

import torch

from samba import _samba, settings, tracing
from samba.tensor import DTYPE_NAMES, DTYPES, plain

NAMES = {**DTYPE_NAMES, torch.float64: "f64"}
TYPES = {**DTYPES, "f64": torch.float64}

_context = None


def context():
    """What the tensors of this process live in, for the machine that is asked for now."""
    global _context
    if _context is None:
        _context = _samba.Context()
    _context.set_target(settings.get("target") or os.environ.get("SAMBA_TARGET") or "sn40l")
    return _context


def lazy_value(data):
    """The lazy tensor of libsamba over the memory of a torch tensor."""
    if data.dtype not in NAMES:
        raise TypeError(f"{data.dtype} is no type of a samba.Tensor")
    data = data.detach().contiguous()
    name, shape, address = NAMES[data.dtype], tuple(data.shape), data.data_ptr()
    return _samba.Tensor(context(), name, shape, address, data)


class LazyTrace:
    """What a tracer asks of a trace, with lazy tensors as values."""

    @staticmethod
    def call(operator, values, attributes=None):
        return _samba.call(context(), operator, tuple(values), attributes)

    @staticmethod
    def scalar(dtype, number, shape=()):
        return lazy_value(torch.full(shape, number, dtype=DTYPES[dtype]))

    @staticmethod
    def argin(name, *others):
        text = f"'{name}' is a hyperparameter, and a samba.Tensor has none"
        raise tracing.Unsupported(text)

    @staticmethod
    def set_layer(*place):
        pass


class LazyTracer(tracing.Tracer):
    """Turns one call of a function of torch into operators of lazy tensors."""

    Value = _samba.Tensor
    trains = True  # torch.no_grad() counts

    def __init__(self, kind):
        super().__init__(None, "")
        self.kind = kind
        self.owners = {}  # id of a value -> the tensor that has it

    @staticmethod
    def make_trace(context, name):
        return LazyTrace

    def new_argument(self, tensor):
        return self.constant(plain(tensor))

    def constant(self, data):
        with tracing.off():
            return lazy_value(data.float() if data.dtype == torch.float64 else data)

    def enter(self, leaf):
        """The traced tensor that stands for a lazy one among the arguments."""
        if not isinstance(leaf, self.kind):
            return leaf
        self.dtype_name(leaf.dtype, "a tensor")
        self.owners[id(leaf._value)] = leaf
        return self.wrap(leaf._value)

    def leave(self, result):
        """Lazy tensors for what a function gave; None for what is no tensor."""
        if isinstance(result, torch.Tensor) and getattr(result, "_traced", None) is not None:
            value = self.value(result)
            owner = self.owners.get(id(value))  # a function may return what it was given
            return self.kind._of(value) if owner is None else owner
        if isinstance(result, (tuple, list)) and result:
            parts = [self.leave(part) for part in result]
            fits = all(isinstance(part, self.kind) for part in parts)
            named = type(result) not in (tuple, list)
            return (type(result)(parts) if not named else tuple(parts)) if fits else None
        return None


def mapped(value, function):
    """The same nesting with function applied to each leaf."""
    if isinstance(value, dict):
        return {name: mapped(inner, function) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(mapped(inner, function) for inner in value)
    return function(value)


def call(kind, function, args, kwargs):
    """What a function of torch gives for these arguments, with lazy tensors of the class `kind`
    among them: one of them, or several."""
    tensors = []
    mapped((args, kwargs), lambda x: tensors.append(x) if isinstance(x, kind) else None)
    devices = {tensor.device for tensor in tensors}
    if len(devices) > 1:
        raise ValueError(f"tensors on different devices: {sorted(map(str, devices))}")
    tracer = LazyTracer(kind)
    with tracing.using(tracer):
        result = function(*mapped(args, tracer.enter), **mapped(kwargs, tracer.enter))
        result = tracer.leave(result)
    if result is None:
        name = getattr(function, "__name__", function)
        raise NotImplementedError(f"{name} gives no tensor; call it on tensor.torch()")
    device = tensors[0]._value.devices
    for made in [result] if isinstance(result, kind) else result:
        if device != ("cpu",) and made._value.devices != device:
            made._value.to_devices_in_place(*device)
    return result
