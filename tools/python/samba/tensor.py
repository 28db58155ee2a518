"""SambaTensor: a torch tensor that the device knows by its name.

Not tracing, torch computes with it. While a model is traced (samba/tracing.py), it stands for a
value of the graph. A tensor without data lies on torch's meta device and needs no memory."""
import inspect
import warnings

import torch

from samba import tracing
from samba.names import refuse

DTYPE_NAMES = {
    torch.float32: "f32",
    torch.bfloat16: "bf16",
    torch.float16: "f16",
    torch.bool: "i1",
    torch.int8: "i8",
    torch.uint8: "ui8",
    torch.int16: "i16",
    torch.int32: "i32",
    torch.int64: "i64",
}
DTYPES = {name: dtype for dtype, name in DTYPE_NAMES.items()}

off = torch._C.DisableTorchFunction


def session():
    """The session of the package."""
    import samba

    return samba.session


def check_old_arguments(batch_dim, named_dims, sized_dims=None, is_complex=None):
    """Arguments that do nothing any more, and those that never did."""
    if named_dims is not None:
        warnings.warn("named_dims has no effect any more", DeprecationWarning, stacklevel=3)
    if sized_dims is not None:
        refuse("sized_dims", "sizes are fixed when a model is compiled", "leave it at None")
    if is_complex is not None:
        refuse("is_complex", "the device has no complex numbers", "leave it at None")


def plain(tensor):
    """The torch tensor with the data of a SambaTensor, sharing its memory and its gradient."""
    if isinstance(tensor, SambaTensor):
        if tensor._host is not None:
            return tensor._host
        with off():
            return tensor.as_subclass(torch.Tensor)
    return tensor


class SambaTensor(torch.Tensor):
    """SambaTensor(torch_tensor) shares the memory of a torch tensor; SambaTensor(shape=, dtype=)
    has no data.

    name: what the device calls it. region_name: its place in device memory, by default its own.
    materializer: a function that makes the values of a tensor without data when the device or the
    host needs them: of (shape, dtype, requires_grad), of the tensor, or of the tensor and a
    generator, which is None. batch_dim, named_dims: no effect.
    TypeError: torch_tensor together with shape or dtype, or neither. NotImplementedError:
    sized_dims, is_complex."""

    _name = ""
    _region = None
    _materializer = None
    _host = None  # the data of a tensor that was made without
    _cleared = False
    _mem_type = None
    _traced = None  # what it is in the graph that is being traced (tracing.Traced)

    def __new__(
        cls,
        torch_tensor=None,
        shape=None,
        dtype=None,
        name=None,
        batch_dim=None,
        named_dims=None,
        sized_dims=None,
        materializer=None,
        is_complex=None,
        region_name=None,
    ):
        check_old_arguments(batch_dim, named_dims, sized_dims, is_complex)
        data = data_of(torch_tensor, shape, dtype)
        self = torch.Tensor._make_subclass(cls, data, data.requires_grad)
        return set_names(self, name, region_name, materializer)

    def __init__(self, *args, **kwargs):
        pass

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        tracer = tracing.current()
        if tracer is not None:
            return tracer.dispatch(func, args, kwargs or {})
        return compute(func, args, kwargs or {})

    # ---- Names ----

    @property
    def sn_name(self):
        """The name on the device; '' without one."""
        return self._name

    @sn_name.setter
    def sn_name(self, name):
        self._name = str(name)

    @property
    def sn_region_name(self):
        """The place in device memory; tensors of one region share it. The name by default."""
        return self._name if self._region is None else self._region

    @sn_region_name.setter
    def sn_region_name(self, name):
        self._region = str(name)

    @property
    def sn_grad_name(self):
        """The name of the gradient on the device."""
        return f"{self._name}__grad" if self._name else ""

    @property
    def mem_type(self):
        """'DDR', 'HBM' or 'Host': the memory of the device; None: the compiler decides."""
        return self._mem_type

    @mem_type.setter
    def mem_type(self, kind):
        known = {None: None, "ddr": "DDR", "hbm": "HBM", "host": "Host"}
        key = kind if kind is None else str(kind).split(".")[-1].lower()
        if key not in known:
            raise ValueError(f"mem_type is {kind!r}, but must be 'DDR', 'HBM', 'Host' or None")
        self._mem_type = known[key]

    @property
    def fast_access(self):
        """False: no memory is pinned. Setting True is refused: NotImplementedError."""
        return False

    @fast_access.setter
    def fast_access(self, value):
        if value:
            refuse("fast_access", "transfers to the simulated device copy", "leave it at False")

    @staticmethod
    def is_fast_access(name):
        """Whether the tensor of that name has fast access: False."""
        return False

    @property
    def nbytes(self):
        """How many bytes the elements take."""
        return self.numel() * self.element_size()

    # ---- Data on the host ----

    @property
    def materializer(self):
        """The function that makes the values; None without one."""
        return self._materializer

    @materializer.setter
    def materializer(self, function):
        self._materializer = function

    @property
    def materializer_provided(self):
        return self._materializer is not None

    @property
    def has_data(self):
        """Are there values on the host?"""
        if self._cleared:
            return False
        with off():
            return self._host is not None or not self.is_meta

    def materialize_(self):
        """Makes the values, unless there are some, and keeps them. Returns the tensor."""
        if not self.has_data:
            self.keep(self.make_values())
        return self

    def make_values(self):
        """New values by the materializer; RuntimeError without one."""
        function = self._materializer
        with off():
            shape, dtype, requires_grad = self.shape, self.dtype, self.requires_grad
        if function is None:
            raise RuntimeError(
                f"tensor '{self._name}' has no data and no materializer; give it one: "
                "tensor.materializer = function"
            )
        count = arguments_of(function)
        if count in (1, 2):
            values = function(*(self, None)[:count])
        else:
            values = function(shape, dtype, requires_grad)
        values = plain(values).detach()
        if values.shape != shape or values.dtype != dtype:
            raise ValueError(
                f"the materializer of '{self._name}' made {tuple(values.shape)} of {values.dtype}, "
                f"but the tensor is {tuple(shape)} of {dtype}"
            )
        return values

    def keep(self, values):
        """Takes values of its own shape as its data."""
        with off(), torch.no_grad():
            if self.is_meta:
                self._host = values
            else:
                self.set_(values)
        self._cleared = False

    def clear_data(self):
        """Forgets the values on the host; shape, dtype and name stay, and so does the device."""
        with off(), torch.no_grad():
            if self.is_meta:
                self._host = None
            else:
                # The memory may be somebody else's: this tensor only lets go of it.
                self.set_(torch.empty(1, dtype=self.dtype).expand(self.shape))
        self._cleared = True

    def torch(self):
        """The torch tensor as it is; a tensor without data is not materialized."""
        return plain(self)

    def torch_tensor(self):
        """The data; without any, values of the materializer, which are not kept."""
        return plain(self) if self.has_data else self.make_values()

    def reusable(self):
        """Can the device read the memory directly? It must be there and contiguous."""
        return self.has_data and plain(self).is_contiguous()

    # ---- Data on the device ----

    @property
    def sn_data(self):
        """A copy of the device's values; a new one at each access."""
        return session().read_tensor(self._name)

    @sn_data.setter
    def sn_data(self, values):
        session().write_tensor(self._name, values)

    @property
    def sn_grad(self):
        """A copy of the gradient on the device. RuntimeError without requires_grad at compile."""
        return session().read_gradient(self._name)

    @sn_grad.setter
    def sn_grad(self, values):
        session().write_gradient(self._name, values)

    def rdu(self):
        """Copies data and gradient from the host to the device."""
        session().to_device_tensor(self)

    def cpu(self, inplace=False):
        """Copies data and gradient from the device to the host; inplace: into the same memory. For
        a tensor that the device does not know, the tensor itself."""
        if tracing.current() is None:
            session().to_host_tensor(self, inplace)
        return self

    def cpu_(self):
        return self.cpu(inplace=True)

    # ---- What torch's own do not say ----

    def type(self, dtype=None, **others):
        """The name of the type, or the tensor cast to a dtype or a type of that name."""
        for name in others:
            raise NotImplementedError(f"type({name}=...) is not supported; leave it out")
        with off():
            if dtype is None:
                return torch.Tensor.type(self)
        if isinstance(dtype, str) and not hasattr(torch, dtype.split(".")[-1]):
            raise ValueError(f"there is no type '{dtype}'")
        if isinstance(dtype, str):
            kind = getattr(torch, dtype.split(".")[-1])
            dtype = kind if isinstance(kind, torch.dtype) else kind.dtype
        return self if dtype == self.dtype else self.to(dtype)

    def to(self, *args, **kwargs):
        """Casts to a dtype, or to that of another tensor. Other devices are refused."""
        for given in [*args, kwargs.get("device")]:
            if isinstance(given, (str, torch.device)) and torch.device(given).type != "cpu":
                refuse(f"to('{given}')", "a SambaTensor is on the host", "use tensor.rdu()")
        args = tuple(a for a in args if isinstance(a, (torch.dtype, torch.Tensor)))
        kwargs = {k: v for k, v in kwargs.items() if k not in ("device", "non_blocking")}
        if not args and not kwargs:
            return self
        return torch.Tensor.to(self, *args, **kwargs)

    def __repr__(self, *, tensor_contents=None):
        with off():
            text = f"shape={tuple(self.shape)}, dtype={self.dtype}"
        if self._traced is not None:
            return f"SambaTensor(traced, name={self._name!r}, {text})"
        where = "host" if self.has_data else "no data"
        if self.has_data and self.numel() <= 1000:
            with off():
                where = repr(plain(self).detach().tolist())
        names = f"name={self._name!r}, region={self.sn_region_name!r}"
        return f"{type(self).__name__}({names}, {text}, {where})"

    def __format__(self, form):
        # One number takes the form of a number, as torch's tensors do: f"{loss:.4f}".
        if self._traced is None and self.has_data and self.dim() == 0:
            return format(plain(self).detach().item(), form)
        return object.__format__(self, form)

    def __reduce_ex__(self, protocol):
        # A checkpoint holds plain tensors, which PyTorch reads without this package.
        return plain(self).__reduce_ex__(protocol)

    def __deepcopy__(self, memo):
        if id(self) in memo:
            return memo[id(self)]
        with off(), torch.no_grad():
            if self._host is None and not self.is_meta:
                data = self.as_subclass(torch.Tensor).detach().clone()
            else:
                data = torch.empty_like(self).as_subclass(torch.Tensor)
            requires_grad = self.requires_grad
        copy = torch.Tensor._make_subclass(type(self), data, requires_grad)
        copy.__dict__.update(self.__dict__)
        if self._host is not None:
            copy._host = self._host.clone()
        memo[id(self)] = copy
        return copy


class SambaParameter(torch.nn.Parameter, SambaTensor):
    """A parameter of a module that the device knows by its name. As SambaTensor, it may have no
    data (shape=, dtype=) and a materializer."""

    def __new__(
        cls,
        data=None,
        requires_grad=True,
        *,
        shape=None,
        dtype=None,
        name=None,
        materializer=None,
        region_name=None,
        **others,
    ):
        check_old_arguments(
            **{
                k: others.pop(k, None)
                for k in ("batch_dim", "named_dims", "sized_dims", "is_complex")
            }
        )
        if others:
            raise TypeError(f"SambaParameter has no argument '{next(iter(others))}'")
        source = data
        data = data_of(data, shape, dtype)
        self = torch.Tensor._make_subclass(cls, data, requires_grad)
        if isinstance(source, SambaTensor):
            name = name or source._name
            materializer = materializer or source._materializer
            self._host = source._host
        return set_names(self, name, region_name, materializer)

    __torch_function__ = SambaTensor.__torch_function__
    __repr__ = SambaTensor.__repr__
    __deepcopy__ = SambaTensor.__deepcopy__

    def __reduce_ex__(self, protocol):
        with off():
            data, requires_grad = plain(self).detach(), self.requires_grad
        return torch._utils._rebuild_parameter, (data, requires_grad, {})


def data_of(torch_tensor, shape, dtype):
    """The tensor to share memory with, or one on the meta device."""
    if torch_tensor is not None and (shape is not None or dtype is not None):
        raise TypeError("torch_tensor and shape or dtype were given; give torch_tensor or shape")
    if torch_tensor is None and shape is None:
        raise TypeError("neither torch_tensor nor shape was given; give one of them")
    if torch_tensor is None:
        with off():
            return torch.empty(shape, dtype=dtype or torch.float32, device="meta")
    if not isinstance(torch_tensor, torch.Tensor):
        raise TypeError(f"torch_tensor is a {type(torch_tensor).__name__}, but must be a tensor")
    with off():
        return (
            torch_tensor.as_subclass(torch.Tensor)
            if isinstance(torch_tensor, SambaTensor)
            else torch_tensor
        )


def set_names(tensor, name, region_name, materializer=None):
    if name is not None:
        tensor._name = str(name)
    if region_name is not None:
        tensor._region = str(region_name)
    if materializer is not None:
        tensor._materializer = materializer
    return tensor


def arguments_of(function):
    """How many arguments a materializer takes: 1 or 2, (tensor) or (tensor, generator); 3 (shape,
    dtype, requires_grad) in all other cases."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return 3
    positional = [p for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
    several = any(p.kind == p.VAR_POSITIONAL for p in parameters)
    return len(positional) if len(positional) in (1, 2) and not several else 3


# ---- Computing on the host ----

# Casts and views of a whole tensor keep its name.
KEEP_NAMES = {
    getattr(torch.Tensor, name)
    for name in (
        "to type type_as float bfloat16 half double int long short bool view view_as reshape "
        "reshape_as contiguous flatten unsqueeze squeeze detach requires_grad_"
    ).split()
} | {torch.reshape, torch.flatten, torch.unsqueeze, torch.squeeze}
INDICES = (torch.int16, torch.int32)
NOWRAP = torch.overrides.get_default_nowrap_functions()
DEVICE = torch.Tensor.device.__get__
GET_DATA, SET_DATA = torch.Tensor.data.__get__, torch.Tensor.data.__set__


def wrap(result):
    """Tensors of a result as SambaTensors, with their place in torch's graph."""
    if isinstance(result, torch.Tensor):
        return result if isinstance(result, SambaTensor) else result.as_subclass(SambaTensor)
    if type(result) in (tuple, list):
        return type(result)(map(wrap, result))
    if isinstance(result, tuple) and hasattr(result, "_fields"):  # named
        return type(result)(*map(wrap, result))
    if isinstance(result, tuple):  # torch.return_types
        return type(result)(map(wrap, result))
    return result


def stored(value):
    """Data in place of tensors that were made without."""
    if isinstance(value, SambaTensor):
        return value if value._host is None else value._host
    if type(value) in (tuple, list):
        return type(value)(map(stored, value))
    return value


def has_storage(values):
    return any(
        v._host is not None
        if isinstance(v, SambaTensor)
        else type(v) in (tuple, list) and has_storage(v)
        for v in values
    )


def compute(func, args, kwargs):
    """A torch function on the host."""
    special = EAGER.get(func)
    if special is not None:
        return special(func, args, kwargs)
    first = args[0] if args else None
    if has_storage(args):
        args = stored(tuple(args))
    with off():
        result = func(*args, **kwargs)
        if func in NOWRAP:
            return result
        result = wrap(result)
    if func in KEEP_NAMES and type(first) is SambaTensor and first._name and not result._name:
        result._name, result._region = first._name, first._region
    return result


def get_device(func, args, kwargs):
    return torch.device("cpu")


def get_data(func, args, kwargs):
    (tensor,) = args
    with off():
        return wrap(tensor._host.data if tensor._host is not None else func(tensor))


def set_data(func, args, kwargs):
    tensor, values = args
    with off():
        if tensor.is_meta and not values.is_meta:
            if tensor.shape != values.shape or tensor.dtype != values.dtype:
                raise ValueError(
                    f"data of '{tensor._name}' is {tuple(values.shape)} of {values.dtype}, but the "
                    f"tensor is {tuple(tensor.shape)} of {tensor.dtype}"
                )
            tensor._host = plain(values).detach()
        else:
            func(tensor, plain(values))
    tensor._cleared = False


def widened(func, args, kwargs):
    """PyTorch's own take int64 (some int32) as indices; the device takes narrower ones too."""

    def wide(value):
        if isinstance(value, torch.Tensor) and value.dtype in INDICES:
            return value.long()
        return value

    with off():
        args = tuple(wide(stored(a)) for a in args)
        return wrap(func(*args, **{k: wide(stored(v)) for k, v in kwargs.items()}))


def copy_into(func, args, kwargs):
    """copy_: a tensor without data gets some (load_state_dict of a lazy model)."""
    tensor, values = args[0], args[1]
    with off():
        if isinstance(tensor, SambaTensor) and not tensor.has_data:
            new = torch.empty(tensor.shape, dtype=tensor.dtype)
            tensor.keep(new.copy_(plain(values).detach()))
        else:
            func(stored(tensor), stored(values), *args[2:], **kwargs)
    return tensor


def check_index(index):
    """The index as torch takes it: float indices as integers. IndexError, NotImplementedError."""
    parts = list(index) if isinstance(index, tuple) else [index]
    tensors = 0
    for at, part in enumerate(parts):
        if not isinstance(part, torch.Tensor):
            continue
        part = plain(part)
        if part.dtype == torch.bool:
            tensors = -len(parts)  # a mask is torch's own business
        if part.is_floating_point():
            if not bool((part == part.floor()).all()):
                raise IndexError("an index of floats must have whole numbers")
            part = part.long()
        if part.dtype in (torch.int8, torch.int16, torch.int32):
            part = part.long()
        tensors += isinstance(parts[at], SambaTensor)
        if part.dim() > 1 and part.dtype == torch.long and isinstance(parts[at], SambaTensor):
            raise NotImplementedError(
                f"an index tensor has {part.dim()} dimensions, but may have one; use torch.gather"
            )
        parts[at] = part
    if tensors > 1:
        raise NotImplementedError("two index tensors; index with one after the other")
    return tuple(parts) if isinstance(index, tuple) else parts[0]


def get_item(func, args, kwargs):
    with off():
        tensor, index = stored(args[0]), check_index(args[1])
        return wrap(func(tensor, index))


def set_item(func, args, kwargs):
    tensor, index, values = args
    if any(isinstance(part, list) for part in (index if isinstance(index, tuple) else (index,))):
        raise NotImplementedError("a list cannot be assigned to; use a tensor of indices")
    with off():
        func(stored(tensor), check_index(index), stored(values))


EAGER = {
    DEVICE: get_device,
    GET_DATA: get_data,
    SET_DATA: set_data,
    torch.Tensor.__getitem__: get_item,
    torch.Tensor.__setitem__: set_item,
    torch.Tensor.copy_: copy_into,
    **{
        function: widened
        for function in (
            torch.nn.functional.embedding,
            torch.embedding,
            torch.nn.functional.cross_entropy,
            torch.nn.functional.nll_loss,
            torch.nn.functional.one_hot,
            torch.gather,
            torch.Tensor.gather,
            torch.index_select,
            torch.Tensor.index_select,
        )
    },
}


# ---- Making tensors ----


def from_torch_tensor(tensor, name=None, batch_dim=None, named_dims=None, region_name=None):
    """A SambaTensor that shares the memory of a torch tensor. None stays None, a SambaTensor itself
    (a name is taken if it has none); of a list or dictionary, each."""
    check_old_arguments(batch_dim, named_dims)
    if tensor is None:
        return None
    if isinstance(tensor, dict):
        return {key: from_torch_tensor(value, key) for key, value in tensor.items()}
    if isinstance(tensor, (list, tuple)):
        return type(tensor)(from_torch_tensor(value) for value in tensor)
    if isinstance(tensor, SambaTensor):
        if not tensor._name and name:
            set_names(tensor, name, region_name)
        return tensor
    return SambaTensor(tensor, name=name, region_name=region_name)


from_torch = from_torch_tensor


def from_named_dict(tensors):
    """A dictionary of SambaTensors, named by its keys."""
    return {name: from_torch_tensor(tensor, name) for name, tensor in tensors.items()}


def to_torch(tensor):
    """The torch tensor of a SambaTensor, sharing its memory; torch tensors and None as they are."""
    if isinstance(tensor, (list, tuple)):
        return type(tensor)(map(to_torch, tensor))
    return plain(tensor)


def factory(function, takes_size=True):
    """A torch function that makes tensors, as one that makes SambaTensors."""

    def make(*args, name=None, region_name=None, batch_dim=None, named_dims=None, **kwargs):
        check_old_arguments(batch_dim, named_dims)
        kwargs.pop("device", None)
        return SambaTensor(function(*args, **kwargs), name=name, region_name=region_name)

    make.__name__ = make.__qualname__ = function.__name__
    make.__doc__ = f"torch.{function.__name__} as a SambaTensor; name, region_name: as SambaTensor."
    return make


randn = factory(torch.randn)
rand = factory(torch.rand)
zeros = factory(torch.zeros)
ones = factory(torch.ones)
empty = factory(torch.empty)
full = factory(torch.full)
arange = factory(torch.arange)
normal = factory(torch.normal)
randint = factory(torch.randint)


def set_seed(seed):
    """Sets the seed of torch's generator on the host: samba.randn gives torch.randn's numbers."""
    torch.manual_seed(seed)
