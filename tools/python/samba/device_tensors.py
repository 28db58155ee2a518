"""Tensors of the device: what a session reads and writes, by name, by tensor and by model."""
import numpy
import torch

from samba.model import parameter_name, paths_of
from samba.names import unknown
from samba.session_options import as_list
from samba.tensor import DTYPE_NAMES, DTYPES, SambaTensor, off, plain

NO_PEF = (
    "no PEF loaded; compile the model, then call samba.utils.trace_graph(model, inputs, pef=PATH)"
)


class DeviceTensors:
    """The part of SambaSession that moves tensors between the host and the device."""

    def _symbol(self, name):
        """What the PEF says of a tensor; KeyError with the nearest name."""
        found = self._symbols.get(name)
        if found is None:
            if not self._device.loaded:
                raise RuntimeError(NO_PEF)
            raise KeyError(unknown("tensor", name, self._symbols))
        return found

    def _checked(self, name, values):
        """A contiguous host tensor as the device wants it; ValueError when it does not fit."""
        symbol = self._symbol(name)
        if not isinstance(values, torch.Tensor):
            raise TypeError(f"'{name}' must be a tensor, but is of type {type(values).__name__}")
        if isinstance(values, SambaTensor) and values._host is not None:
            values = values._host
        with off():
            shape = tuple(values.shape)
            if shape != symbol["shape"]:
                raise ValueError(
                    f"'{name}' is {shape}, but the PEF was compiled for {symbol['shape']}"
                    + batch_hint(symbol, shape)
                )
            wanted = DTYPES[symbol["dtype"]]
            if values.dtype != wanted:
                values = converted(name, values, wanted)
            return values if values.is_contiguous() else values.detach().contiguous()

    def _write(self, name, values):
        self._send(name, self._checked(name, values))

    def _send(self, name, values):
        with off():
            dtype, shape, data = DTYPE_NAMES[values.dtype], tuple(values.shape), values.data_ptr()
        self._device.write(name, dtype, shape, data)

    def _read(self, name):
        """A new host tensor with the device's values. No kernel of torch makes it."""
        symbol = self._symbol(name)
        with off():
            result = new_tensor(symbol["shape"], symbol["dtype"])
            size = result.numel() * result.element_size()
            self._device.read(name, result.data_ptr(), size)
        return result

    def _read_written(self, name):
        """The device's values; None when nothing has written them yet."""
        return self._read(name) if self._device.is_written(name) else None

    def read_tensor(self, name):
        result = self._read(name)
        result.__class__ = SambaTensor
        return result

    def write_tensor(self, name, values):
        self._write(name, values)

    def has_gradient(self, name):
        """Has the tensor a gradient on the device?"""
        return self._gradient(name) is not None

    def _gradient(self, name):
        symbol = self._symbol(name)
        if symbol["grad"]:
            return symbol["grad"]
        grad = f"{name}__grad"
        return grad if grad in self._symbols else None

    def _gradient_or_error(self, name):
        grad = self._gradient(name)
        if grad is None:
            raise RuntimeError(
                f"'{name}' has no gradient on the device: a tensor has one if it required a "
                "gradient (requires_grad=True) when the PEF was compiled for training"
            )
        return grad

    def read_gradient(self, name):
        return SambaTensor(self._read(self._gradient_or_error(name)))

    def write_gradient(self, name, values):
        self._write(self._gradient_or_error(name), values)

    def to_device_tensor(self, tensor):
        """tensor.rdu()"""
        self._write(tensor._name, values_of(tensor))
        grad = tensor.grad
        if grad is not None and self._gradient(tensor._name):
            self._write(self._gradient(tensor._name), grad)

    def to_host_tensor(self, tensor, inplace=False):
        """tensor.cpu()"""
        if tensor._name not in self._symbols:
            return
        self._take(tensor, self._read(tensor._name), inplace)
        grad = self._gradient(tensor._name)
        values = self._read_written(grad) if grad and tensor.requires_grad else None
        if values is not None:
            with torch.no_grad():
                if inplace and tensor.grad is not None:
                    tensor.grad.copy_(values)
                else:
                    tensor.grad = SambaTensor(values)

    @staticmethod
    def _take(tensor, values, inplace):
        """Gives a host tensor new values: in its memory, or memory of its own."""
        with torch.no_grad(), off():
            if isinstance(tensor, SambaTensor) and (tensor.is_meta or tensor._cleared):
                tensor.keep(values)
            elif inplace:
                tensor.copy_(values)
            else:
                tensor.data = values

    def _names_of(self, model):
        """(name, tensor, table, key) of the parameters and buffers that the PEF has."""
        seen = set()
        for tables, kind in (("_parameters", "weight"), ("_buffers", "buffer")):
            for path, table, key in paths_of(model, tables):
                tensor = table[key]
                if tensor is None or id(tensor) in seen:
                    continue
                seen.add(id(tensor))
                name = getattr(tensor, "_name", "") or parameter_name(path, model)
                if name in self._symbols:
                    yield kind, name, tensor

    def to_cpu(self, model, optims=None, inplace=False):
        """Copies parameters and buffers from the device to the host, and the state of optimizers
        that are given."""
        for _, name, tensor in list(self._names_of(model)):
            self._take(tensor, self._read(name), inplace)
        for optimizer in as_list(optims):
            self._read_state(optimizer)

    def to_cpu_(self, model, optims=None):
        self.to_cpu(model, optims, inplace=True)

    def to_rdu(self, model, optims=None):
        """Copies parameters, buffers and the state of optimizers from the host to the device."""
        for _, name, tensor in list(self._names_of(model)):
            self._write(name, values_of(tensor))
        for optimizer in as_list(optims):
            self._write_state(optimizer)

    def sync_buffers_to_cpu(self, model, inplace=False):
        """Copies the buffers of a model, such as running statistics, to the host."""
        for kind, name, tensor in list(self._names_of(model)):
            if kind == "buffer":
                self._take(tensor, self._read(name), inplace)

    def sync_buffers_to_rdu(self, model):
        """Copies the buffers of a model to the device."""
        for kind, name, tensor in list(self._names_of(model)):
            if kind == "buffer":
                self._write(name, values_of(tensor))

    def _state_of(self, optimizer):
        """(parameter, symbol, key of state_dict) of the state that the device keeps."""
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                name = getattr(parameter, "_name", "")
                for symbol, key in optimizer.device_state(name):
                    if symbol in self._symbols:
                        yield parameter, symbol, key

    def _traced_tensors(self):
        """Inputs, weights, buffers and outputs of the traced model."""
        return list(self._tensors.values())

    @property
    def optim_dict(self):
        """The optimizers' state by the names on the device. A tensor has the values that the host
        has of it, else zeros; rdu() sends them."""
        found = {}
        for name, symbol in self._symbols.items():
            if symbol["kind"] == "optimizer_state":
                found[name] = SambaTensor(
                    shape=symbol["shape"],
                    dtype=DTYPES[symbol["dtype"]],
                    name=name,
                    materializer=zeros_of,
                )
        for optimizer in self._optimizers:
            for parameter, name, key in self._state_of(optimizer):
                values = optimizer.state.get(parameter, {}).get(key)
                if values is not None:
                    found[name] = SambaTensor(plain(values), name=name)
        return found

    def _adopt(self, parameters):
        """Parameters of a model that was converted after the trace take the places of those that
        were traced without data."""
        for parameter in parameters:
            old = self._tensors.get(parameter._name)
            if old is None or old is parameter or getattr(old, "has_data", True):
                continue
            with off():
                same = old.shape == parameter.shape and old.dtype == parameter.dtype
            if same and old._materializer is None:
                self._tensors[parameter._name] = parameter

    def _steps(self):
        """Symbols that count steps of optimizers."""
        return [
            n
            for n, s in self._symbols.items()
            if s["kind"] == "optimizer_state" and s["dtype"] == "i64" and not s["shape"]
        ]

    def _read_state(self, optimizer):
        for parameter, symbol, key in self._state_of(optimizer):
            state = optimizer.state[parameter]
            state[key] = self._read(symbol)
            steps = self._steps()
            if key == "exp_avg" and steps:
                state["step"] = self._read(steps[0]).float()

    def _write_state(self, optimizer):
        step = None
        for parameter, symbol, key in self._state_of(optimizer):
            state = optimizer.state.get(parameter, {})
            values = state.get(key)
            described = self._symbols[symbol]
            dtype = DTYPES[described["dtype"]]
            with off():
                zeros = torch.zeros(described["shape"], dtype=dtype)
                values = zeros if values is None else plain(values).to(dtype)
            self._write(symbol, values)
            if key == "exp_avg":
                step = state.get("step", 0)
        if step is not None:
            with off():
                count = torch.tensor(int(step), dtype=torch.int64)
            for name in self._steps():
                self._write(name, count)


# Types of which numpy makes memory that becomes a tensor without a kernel of torch.
NUMPY = {
    "f32": numpy.float32,
    "f16": numpy.float16,
    "i8": numpy.int8,
    "ui8": numpy.uint8,
    "i16": numpy.int16,
    "i32": numpy.int32,
    "i64": numpy.int64,
}


def new_tensor(shape, dtype):
    """A host tensor whose values are not set yet."""
    kind = NUMPY.get(dtype)
    if kind is None:
        return torch.empty(shape, dtype=DTYPES[dtype])
    return torch.from_dlpack(numpy.empty(shape, kind))


def data_of(tensor):
    """A tensor that has data; a tensor without makes values, which it does not keep."""
    if isinstance(tensor, SambaTensor) and not tensor.has_data:
        return tensor.make_values()
    return tensor


def values_of(tensor):
    """Values of a host tensor; a tensor without data makes them, and does not keep them."""
    return tensor.torch_tensor() if isinstance(tensor, SambaTensor) else tensor


def zeros_of(tensor):
    """A materializer."""
    with off():
        return torch.zeros(tuple(tensor.shape), dtype=tensor.dtype)


def batch_hint(symbol, shape):
    """What to do with an input of another batch size, as the last batch of a data set often is."""
    wanted = symbol["shape"]
    if symbol["kind"] != "input" or not shape or shape[1:] != wanted[1:] or not wanted:
        return ""
    return "; every run takes the batch that was compiled (DataLoader: drop_last=True)"


def converted(name, values, wanted):
    """Integers as others, if the values fit; nothing else."""
    integers = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
    if values.dtype in integers and wanted in integers:
        result = values.to(wanted)
        if torch.equal(result.to(torch.int64), values.to(torch.int64)):
            return result
        raise ValueError(f"'{name}' has values that do not fit into {wanted}")
    raise ValueError(
        f"'{name}' is {values.dtype}, but the PEF was compiled for {wanted}; cast it before"
    )
