"""samba.Tensor: tensors whose values the device computes when somebody asks for them.

An operation of torch becomes operators of libsamba's lazy tensors, by the function table that
traces models too; shape and type are there at once, so a wrong shape is refused where it is
written. realize() compiles what a tensor is computed from and runs it on a session of its own.
Gradients are the compiler's (docs/c-api.md, "Lazy tensors")."""
import torch

from samba import _samba, lazy_calls
from samba.names import unknown

DEVICE = "RDU"  # the name of the device when none is given; libsamba's is "cpu", as it is memory
NUMBERS = (int, float, bool)


def statistics():
    """What realize() and backward() did: compilations, launches of sections, cycles."""
    return _samba.statistics(lazy_calls.context())


def compute(function, args, kwargs):
    """What a function of torch gives for these arguments: a Tensor, or several."""
    return lazy_calls.call(Tensor, function, args, kwargs)


class Schedule:
    """What schedule() gives: some tensors, compiled as one graph and ready to run.

    len(): how many launches of sections a run takes. operators: how many the graph has.
    memory: bytes on the device between the operators, as planned and if nothing shared a place."""

    def __init__(self, tensors):
        self._schedule = _samba.schedule(tuple(tensor._value for tensor in tensors))
        self.operators, self.memory = self._schedule.operators, self._schedule.memory

    def __len__(self):
        return self._schedule.calls

    def __iter__(self):
        return iter(range(len(self)))

    def run(self):
        """Computes the tensors that were scheduled; to be called once."""
        self._schedule.run()

    def __repr__(self):
        return f"Schedule({len(self)} calls, {self.operators} operators)"


def split_sizes(total, count):
    """How many of total elements each of count devices gets when nobody says."""
    return tuple(shape[0] for shape, _, _ in _samba.shard_shape((total,), count, 0))


def shard_views(shape, count, axis=None, splits=None):
    """[(shape, strides, offset)] of the parts of a tensor on count devices.

    axis None: each device has everything. splits: sizes along the axis; they must add up to it.
    Strides are those of the part alone, in elements; 0 for a dimension of size 1."""
    parts = _samba.shard_shape(tuple(shape), count, axis, splits)
    return [(part, strides, 0) for part, strides, _ in parts]


def devices_of(names):
    """A name or several, as libsamba has them."""
    names = (names,) if isinstance(names, str) else names
    return tuple("cpu" if name == DEVICE else name for name in names)


class Tensor:
    """A tensor whose values are computed when they are asked for.

    data: a number, a (nested) list, a NumPy array, a torch tensor, bytes or another Tensor; given
        numbers become int32 or float32 unless dtype says otherwise. Memory of arrays and torch
        tensors is shared where type and layout fit, and assign() writes into it.
    dtype: a torch.dtype. device: a name, default 'RDU'. requires_grad: None: no."""

    __slots__ = ("_value", "__weakref__")
    __array_priority__ = 1000

    def __init__(self, data, dtype=None, device=None, requires_grad=None):
        if isinstance(data, Tensor):
            data = data._values()
        values = torch.as_tensor(data)
        if not isinstance(data, torch.Tensor) and not hasattr(data, "__array__"):
            default = {torch.int64: torch.int32, torch.float64: torch.float32}
            values = values.to(default.get(values.dtype, values.dtype))
        self._value = lazy_calls.lazy_value(values if dtype is None else values.to(dtype))
        if requires_grad:
            self._value.requires_grad = True
        if device is not None and device != DEVICE:
            self.to_(device)

    @classmethod
    def _of(cls, value):
        self = cls.__new__(cls)
        self._value = value
        return self

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        """torch.cat, torch.nn.functional.softmax and others take Tensors too."""
        return compute(function, args, kwargs or {})

    # What it is.

    @property
    def shape(self):
        """Sizes as a tuple."""
        return self._value.shape

    @property
    def dtype(self):
        """A torch.dtype."""
        return lazy_calls.TYPES[self._value.dtype]

    @property
    def device(self):
        """A name, or a tuple of names when the tensor is sharded."""
        names = tuple(DEVICE if name == "cpu" else name for name in self._value.devices)
        return names if len(names) > 1 else names[0]

    @property
    def ndim(self):
        """The number of dimensions."""
        return len(self.shape)

    @property
    def _meta(self):
        """A torch tensor of that shape and type without values."""
        return torch.empty(self.shape, dtype=self.dtype, device="meta")

    def dim(self):
        """The number of dimensions."""
        return self.ndim

    def numel(self):
        """The number of elements."""
        return self._meta.numel()

    def element_size(self):
        """Bytes of one element."""
        return self._meta.element_size()

    def nbytes(self):
        """Bytes of all elements."""
        return self.numel() * self.element_size()

    def is_floating_point(self):
        """True for float16, bfloat16, float32 and float64."""
        return self._meta.is_floating_point()

    def size(self, dim=None):
        """All sizes, or that of one dimension; IndexError when there is no such dimension."""
        return self.shape if dim is None else self._meta.size(dim)

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of a tensor without dimensions")
        return self.shape[0]

    # Its values.

    def _values(self):
        self.realize()
        values = torch.empty(self.shape, dtype=self.dtype)
        self._value.read(values.data_ptr(), values.numel() * values.element_size())
        return values

    def numpy(self):
        """The values as a NumPy array of the same type; bfloat16 becomes float32."""
        values = self._values()
        return (values.float() if values.dtype == torch.bfloat16 else values).numpy()

    def __array__(self, dtype=None):
        values = self.numpy()
        return values if dtype is None else values.astype(dtype)

    def torch(self):
        """The values as a torch tensor."""
        return self._values()

    def tolist(self):
        """The values as nested lists, or as a number."""
        return self._values().tolist()

    def item(self):
        """The value of a tensor of one element; ValueError when it has another number."""
        if self.numel() != 1:
            raise ValueError(f"item() needs one element, but shape {self.shape} has {self.numel()}")
        return self._values().item()

    def data(self):
        """The values as a memoryview; TypeError for bfloat16, which Python has no format for."""
        if self.dtype == torch.bfloat16:
            raise TypeError("data(): bfloat16 has no format in Python; use numpy()")
        return memoryview(self._values().numpy())

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        raise TypeError("a Tensor is neither true nor false; use item() for its value")

    # When it is computed.

    def schedule_with_vars(self, *others):
        """(Schedule of this tensor and the others, values of variables: always {}).

        ValueError when one of them is scheduled already."""
        lazy_calls.context()
        return Schedule((self, *others)), {}

    def schedule(self, *others):
        """The Schedule of this tensor and the others: compiled, not yet run."""
        return self.schedule_with_vars(*others)[0]

    def realize(self, *others, do_update_stats=True):
        """Computes this tensor and the others on the device; returns this one.

        A tensor that has its values is left alone. do_update_stats=False: statistics() does not
        count the run."""
        lazy_calls.context()
        values = tuple(tensor._value for tensor in (self, *others))
        _samba.realize(values, not do_update_stats)
        return self

    @property
    def is_realized(self):
        """Whether the values are there."""
        return self._value.is_realized

    def _call(self, operator):
        """The result of an operator of the table, on the same device."""
        result = Tensor._of(lazy_calls.LazyTrace.call(operator, (self._value,)))
        if self._value.devices != ("cpu",):
            result._value.to_devices_in_place(*self._value.devices)
        return result

    def contiguous(self):
        """The same values in row-major order."""
        return self._call("contiguous")

    def contiguous_backward(self):
        """The same values; the gradient is made contiguous."""
        return self._call("contiguous_backward")

    # New values for the same tensor.

    def replace(self, x):
        """Becomes x, which must have the same shape; type and device may differ. Expressions that
        were made before keep the old values.

        ValueError: another shape, x requires a gradient, or this tensor was computed from one that
        does."""
        self._check_shape("replace", x)
        self._value.replace(x._value)
        return self

    def _check_shape(self, what, x):
        """ValueError that says shapes as Python does."""
        if self.shape != x.shape:
            text = f"{what}: the tensor has shape {self.shape}, but its new value {x.shape}"
            raise ValueError(text)

    def assign(self, x):
        """Writes x over this tensor: into the same memory when it has its values already, so that
        what is computed later sees the new ones.

        Something that is no Tensor becomes one of this type. ValueError: shape, type, device or
        axis of sharding differ, or x requires a gradient."""
        if isinstance(x, NUMBERS):
            x = torch.full(self.shape, x)
        if not isinstance(x, Tensor):
            x = Tensor(torch.as_tensor(x).to(self.dtype), device=self.device)
        self._check_shape("assign", x)
        if x is not self:
            self._value.assign(x._value)
        return self

    def detach(self):
        """The same values; no gradient flows through."""
        return self._call("detach")

    # Devices.

    def to(self, device):
        """This tensor when it is there already, else a copy with its gradient: on another device,
        or whole on each of a tuple of them. A torch.dtype converts."""
        if isinstance(device, torch.dtype):
            return self.cast(device)
        if device is None or device == self.device:
            return self
        return Tensor._of(self._value.to_devices(*devices_of(device)))

    def to_(self, device):
        """to() in place."""
        self._value.to_devices_in_place(*devices_of(device))
        return self

    def shard(self, devices, axis=None, splits=None):
        """The tensor spread over devices: whole on each (axis None), or cut along an axis.

        splits: sizes along the axis; default: equal parts, the last ones smaller.
        ValueError: it is sharded already, no devices, splits that do not add up."""
        return Tensor._of(self._value.shard(devices_of(devices), axis, splits, False))

    def shard_(self, devices, axis=None, splits=None):
        """shard() in place."""
        self._value.shard(devices_of(devices), axis, splits, True)
        return self

    @property
    def shards(self):
        """The parts as tensors, one for each device."""
        if not isinstance(self.device, tuple):
            return [self]
        return [Tensor._of(part) for part in self._value.shards()]

    # Gradients.

    @property
    def requires_grad(self):
        """Whether backward() gives it a gradient, or passes through it."""
        return self._value.requires_grad

    @requires_grad.setter
    def requires_grad(self, requires_grad):
        self._value.requires_grad = bool(requires_grad)

    def requires_grad_(self, requires_grad=True):
        """Marks the tensor for gradients and returns it. ValueError: its type is no float."""
        self.requires_grad = requires_grad
        return self

    @property
    def grad(self):
        """The sum of the gradients that backward() gave it, or None."""
        grad = self._value.grad
        return None if grad is None else Tensor._of(grad)

    @grad.setter
    def grad(self, grad):
        self._value.grad = None if grad is None else grad._value

    def backward(self, gradient=None, retain_graph=False):
        """Adds the gradients of this tensor to `grad` of the tensors that require one.

        gradient: where it starts; may be left out for a tensor of one element. ValueError: it is
        missing, or has another shape; nothing requires a gradient; or an earlier backward pass
        forgot the expressions (retain_graph=True keeps them)."""
        if gradient is not None:
            gradient = gradient if isinstance(gradient, Tensor) else Tensor(gradient)
            gradient = gradient.detach().cast(self.dtype)._value
        lazy_calls.context()
        self._value.backward(gradient, bool(retain_graph))
        return self

    # Everything else is torch's.

    def cast(self, dtype):
        """The values as another torch.dtype; this tensor when it has it."""
        if dtype == self.dtype:
            return self
        if torch.float64 in (dtype, self.dtype):  # which no device has
            return Tensor(self._values(), dtype=dtype, device=self.device)
        return compute(torch.Tensor.to, (self, dtype), {})

    def __getitem__(self, index):
        return compute(torch.Tensor.__getitem__, (self, index), {})

    @property
    def T(self):
        """The transposed matrix."""
        return compute(torch.Tensor.t, (self,), {})

    def __getattr__(self, name):
        function = None if name.startswith("_") else getattr(torch.Tensor, name, None)
        if not callable(function) or name.endswith("_"):
            names = [n for n in (*dir(Tensor), *dir(torch.Tensor)) if not n.startswith("_")]
            raise AttributeError("samba.Tensor: " + unknown("member", name, set(names)))

        def method(*args, **kwargs):
            return compute(function, (self, *args), kwargs)

        method.__name__ = name
        method.__doc__ = function.__doc__
        return method

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __hash__(self):
        return id(self)

    def __repr__(self):
        state = "computed" if self.is_realized else "waiting"
        gradient = ", requires_grad" if self.requires_grad else ""
        return f"<samba.Tensor {self.shape} {self.dtype} on {self.device}, {state}{gradient}>"


def binary(name, reflected=False):
    function = getattr(torch, name)

    def operator(self, other):
        if not isinstance(other, (Tensor, *NUMBERS)):
            return NotImplemented
        first, second = (other, self) if reflected else (self, other)
        if reflected and not isinstance(other, Tensor):
            dtype = scalar_type(self, other)
            first = Tensor(other, dtype=dtype, device=self.device)
        return compute(function, (first, second), {})

    return operator


def scalar_type(tensor, number):
    """The type that a number takes beside a tensor."""
    return torch.result_type(tensor._meta, number)


OPERATORS = {
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "pow",
    "matmul": "matmul",
}
COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge")
for _name, _function in OPERATORS.items():
    setattr(Tensor, f"__{_name}__", binary(_function))
    setattr(Tensor, f"__r{_name}__", binary(_function, reflected=True))
for _name in COMPARISONS:
    setattr(Tensor, f"__{_name}__", binary(_name))
Tensor.__neg__ = lambda self: compute(torch.neg, (self,), {})
Tensor.__abs__ = lambda self: compute(torch.abs, (self,), {})
