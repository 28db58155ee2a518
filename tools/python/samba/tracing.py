"""Tracing: a module's forward pass, walked once with tensors that have no values, becomes a graph.

A traced tensor is a SambaTensor on the meta device that holds a value of the trace. Functions of
torch arrive at Tracer.dispatch; the table (samba/functions) says how each is built of operators.
Torch's own meta kernels give dtype and shape too, and both must agree."""
import contextlib
import dataclasses
import os
import sys

import torch

from samba import _samba

off = torch._C.DisableTorchFunction
LARGEST_CONSTANT = 4096  # bytes; what is larger becomes a buffer in device memory
FOLDERS = (os.path.dirname(torch.__file__) + os.sep, os.path.dirname(__file__) + os.sep)

_tracer = None


def current():
    """The tracer at work, or None."""
    return _tracer


@contextlib.contextmanager
def using(tracer):
    """Context manager: functions of SambaTensors go to this tracer; None: torch computes them."""
    global _tracer
    outer, _tracer = _tracer, tracer
    try:
        yield tracer
    finally:
        _tracer = outer


def patched_torch():
    """Context manager: torch computes with the tensors inside, also while a model is traced."""
    return using(None)


class Unsupported(NotImplementedError):
    """A function of torch that cannot be traced."""


class Misplaced(Unsupported):
    """A function that has no place in a model for the device: nothing is to be computed on the
    host instead. The text says what to do."""


class View:
    """What a traced tensor is of another one: how to read it, and how to write it back."""

    __slots__ = ("base", "version", "read", "write")

    def __init__(self, base, read, write):
        self.base, self.read, self.write = base, read, write
        self.version = base._traced.version


class Traced:
    """The place of a tensor in a trace."""

    __slots__ = ("tracer", "value", "version", "view")

    def __init__(self, tracer, value, view=None):
        self.tracer, self.value, self.view = tracer, value, view
        self.version = 0


def user_place():
    """File and line of the user's code that is at work."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(FOLDERS) and not name.startswith("<"):
            return name, frame.f_lineno
        frame = frame.f_back
    return None, 0


def check_own_backward():
    """Refuses what runs inside the forward of a torch.autograd.Function: its gradient is a function
    of Python, of which the graph knows nothing."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        if isinstance(first, torch._C._FunctionBase):
            name = type(first).__name__.replace("Backward", "")
            raise Unsupported(f"it is part of {name}, whose own backward cannot be traced")
        frame = frame.f_back


class Tracer:
    """One trace of a model. Its methods are what the rows of the function table are written in."""

    Value = _samba.Value  # what rows compute with

    def __init__(self, context, name, model=None, updated=()):
        self.trace = self.make_trace(context, name)
        self.model = model
        self.updated = set(updated)  # buffers known to be written: arguments, however small
        self.found_updates = {}  # id of a buffer -> traced tensor with its new value
        self.arguments = {}  # id -> value
        self.inputs = {}  # id -> traced tensor
        self.originals = {}  # id -> argument, before anything was written to it
        self.outputs = []
        self.tensors = {}  # name -> host tensor, of everything that the device needs
        self.kinds = {}  # name -> kind
        self.kept = []  # so that an id stays that of its tensor
        self.buffer_names = {}  # id -> name
        self.folded = {}  # id of a registered buffer -> name: became a constant
        self.metas = {}
        self.layers = []
        self.layer_names = {}
        self.dropout_rates = {}  # (layer, p) -> hyperparameter
        self.constants = 0
        self.keep_precision = False
        self.place = (None, 0)
        self.scalars = {}

    @staticmethod
    def make_trace(context, name):
        """Where operators go."""
        return _samba.Trace(context, name)

    # ---- What a tensor is in the graph ----

    def input(self, tensor, name):
        """The traced tensor that stands for an input of the graph."""
        if id(tensor) in self.inputs:  # given twice: one input
            return self.inputs[id(tensor)]
        with off():
            shape, dtype, requires_grad = tuple(tensor.shape), tensor.dtype, tensor.requires_grad
        value = self.trace.argument(
            name,
            "input",
            self.dtype_name(dtype, f"input '{name}'"),
            shape,
            self.region(tensor, name),
            self.memory(tensor),
            bool(requires_grad and self.trains),
        )
        if value.name != name:
            raise ValueError(
                f"two inputs are named '{name}'; give each a name of its own (sn_name)"
            )
        self.tensors[name], self.kinds[name] = tensor, "input"
        result = self.inputs[id(tensor)] = self.wrap(value)
        result._name = name
        return result

    trains = False

    @staticmethod
    def region(tensor, name):
        region = getattr(tensor, "sn_region_name", name) or name
        return None if region == name else region

    @staticmethod
    def memory(tensor):
        kind = getattr(tensor, "_mem_type", None)
        return kind.lower() if kind else None

    def dtype_name(self, dtype, what):
        from samba.tensor import DTYPE_NAMES

        name = DTYPE_NAMES.get(dtype)
        if name is None:
            raise TypeError(
                f"{what} is {dtype}, which the device does not have; cast it before, for example "
                f"with .float()"
            )
        return name

    def value(self, x, dtype=None):
        """The value of a tensor or number; with a dtype's name, cast to it."""
        if isinstance(x, self.Value):
            value = x
        elif isinstance(x, torch.Tensor):
            value = self.value_of_tensor(x)
        else:
            return self.scalar(x, dtype or ("f32" if isinstance(x, float) else "i64"))
        return value if dtype is None else self.cast(value, dtype)

    def value_of_tensor(self, tensor):
        traced = getattr(tensor, "_traced", None)
        if traced is not None:
            if traced.tracer is not self:
                raise RuntimeError("a tensor of another trace is used; keep no traced tensors")
            self.refresh(traced)
            return traced.value
        value = self.arguments.get(id(tensor))
        return self.value_of_new(tensor) if value is None else value

    def value_of_new(self, tensor):
        """The value of a tensor that the graph has not met yet."""
        value = self.new_argument(tensor)
        self.arguments.setdefault(id(tensor), value)
        self.originals[id(tensor)] = value
        self.kept.append(tensor)
        return value

    def refresh(self, traced):
        """Reads a view again when the tensor that it is of has changed."""
        view = traced.view
        if view is None:
            return
        base = view.base._traced
        self.refresh(base)
        if view.version != base.version:
            traced.value = view.read(base.value)
            view.version = base.version

    def new_argument(self, tensor):
        """A weight, a buffer or a constant, met for the first time."""
        from samba.tensor import SambaParameter

        if isinstance(tensor, SambaParameter):
            return self.weight(tensor)
        name = self.buffer_names.get(id(tensor))
        with off():
            data = getattr(tensor, "_host", None)
            data = tensor.detach() if data is None else data
            data = data.as_subclass(torch.Tensor)
            size = data.numel() * data.element_size()
        if data.is_meta:
            label = name or getattr(tensor, "_name", "") or "a tensor"
            raise RuntimeError(f"'{label}' has no data and is no input; materialize it first")
        if size > LARGEST_CONSTANT or name in self.updated:
            return self.buffer(tensor, data, name)
        if name is not None:
            self.folded[id(tensor)] = name
        return self.constant(data)

    def weight(self, parameter):
        name = parameter._name
        if not name:
            raise RuntimeError(
                "a parameter without a name is used; call samba.from_torch_model_(model) first"
            )
        with off():
            shape, dtype, requires_grad = (
                tuple(parameter.shape),
                parameter.dtype,
                parameter.requires_grad,
            )
        value = self.trace.argument(
            name,
            "weight",
            self.dtype_name(dtype, f"parameter '{name}'"),
            shape,
            self.region(parameter, name),
            self.memory(parameter),
            bool(requires_grad and self.trains),
        )
        if value.name != name:
            raise ValueError(
                f"two tensors are named '{name}'; give one of them another name (sn_name)"
            )
        self.tensors[name], self.kinds[name] = parameter, "weight"
        return value

    def buffer(self, tensor, data, name):
        """A tensor in device memory; one that the model does not own has its data in the PEF."""
        with off():
            data = data.contiguous()
        owned = name is not None
        if not owned:
            self.constants += 1
            prefix = f"{self.layer}.".replace(".", "__") if self.layer else ""
            name = getattr(tensor, "_name", "") or f"{prefix}constant_{self.constants}"
        value = self.trace.argument(
            name,
            "buffer",
            self.dtype_name(data.dtype, f"buffer '{name}'"),
            tuple(data.shape),
            None,
            None,
            False,
            0 if owned else data.data_ptr(),
        )
        self.kept.append(data)
        self.tensors[value.name], self.kinds[value.name] = (tensor if owned else data), "buffer"
        return value

    def constant(self, data):
        """A small tensor in the graph itself."""
        with off():
            if data.dtype == torch.float64:  # numbers of Python and numpy
                data = data.to(torch.float32)
            data = data.detach().contiguous()
        name = self.dtype_name(data.dtype, "a constant")
        if data.dim() == 0:
            return self.trace.scalar(name, data.item())
        return self.trace.constant(name, tuple(data.shape), data.data_ptr())

    # ---- Building ----

    @property
    def layer(self):
        return self.layers[-1] if self.layers else ""

    def op(self, operator, *operands, **attributes):
        """Results of an operator of the table: a value, or a tuple. Operands that are None at the
        end are left out."""
        operands = list(operands)
        while operands and operands[-1] is None:
            operands.pop()
        values = [x if isinstance(x, self.Value) else self.value(x) for x in operands]
        return self.trace.call(operator, values, attributes)

    def cast(self, value, dtype):
        value = self.value(value)
        return value if value.dtype == dtype else self.trace.call("cast", [value], {"dtype": dtype})

    def scalar(self, number, dtype="f32", shape=None):
        """One number, of rank 0 or in every element of a shape."""
        if shape:
            return self.trace.scalar(dtype, number, shape)
        return self.trace.scalar(dtype, number)

    def reshape(self, value, shape):
        value = self.value(value)
        shape = tuple(shape)
        return value if value.shape == shape else self.op("reshape", value, shape=shape)

    def permute(self, value, dims):
        dims = list(dims)
        return value if dims == sorted(dims) else self.op("permute", value, dims=dims)

    def expand(self, value, shape):
        value = self.value(value)
        shape = tuple(shape)
        return value if value.shape == shape else self.op("expand", value, shape=shape)

    def slice(self, value, dim, start, end, step=1):
        """Part of one dimension; start and end as they are."""
        value = self.value(value)
        shape = value.shape
        if start == 0 and end == shape[dim] and step == 1:
            return value
        starts, ends, steps = [0] * len(shape), list(shape), [1] * len(shape)
        starts[dim], ends[dim], steps[dim] = start, end, step
        return self.op("slice", value, starts=starts, ends=ends, steps=steps)

    # ---- Tensors ----

    def wrap(self, value, meta=None, view=None):
        """The traced tensor of a value. meta: what torch says that it is."""
        from samba.tensor import DTYPES, SambaTensor

        dtype = DTYPES[value.dtype]
        with off():
            if meta is None:
                meta = torch.empty(value.shape, dtype=dtype, device="meta")
            elif tuple(meta.shape) != value.shape or meta.dtype != dtype:
                raise RuntimeError(
                    f"the result is {value.shape} of {value.dtype}, but PyTorch says "
                    f"{tuple(meta.shape)} of {meta.dtype}"
                )
            result = meta.detach().as_subclass(SambaTensor)
        result._traced = Traced(self, value, view)
        return result

    def meta(self, x):
        """What stands for an argument of a torch function on the meta device."""
        if isinstance(x, torch.Tensor):
            if x.is_meta:
                return x
            found = self.metas.get(id(x))
            if found is None:
                with off():
                    found = torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device="meta")
                self.metas[id(x)] = found
                self.kept.append(x)
            return found
        if type(x) in (tuple, list):
            return type(x)(map(self.meta, x))
        return x

    def assign(self, tensor, value):
        """From here on, the tensor has this value (in-place functions)."""
        traced = getattr(tensor, "_traced", None)
        if traced is None:
            self.assign_argument(tensor, value)
            return
        self.refresh(traced)
        view = traced.view
        if view is not None:
            if view.write is None:
                raise Unsupported(
                    "writing in place into this view of a tensor; write to the tensor itself, or "
                    "to a .clone()"
                )
            base = view.base._traced
            self.assign(view.base, view.write(base.value, value))
            view.version = base.version
        traced.value = value
        traced.version += 1

    def assign_argument(self, tensor, value):
        """In-place changes of buffers and parameters: new values in their place on the device."""
        self.found_updates[id(tensor)] = (tensor, value)
        self.kept.append(tensor)
        self.arguments[id(tensor)] = value

    # ---- Dispatch ----

    def dispatch(self, func, args, kwargs):
        """A function of torch with a SambaTensor among its arguments."""
        from samba import functions

        row = functions.ROWS.get(func)
        if row is None:
            if functions.is_question(func):
                with off():
                    return func(*args, **kwargs)
            answer = functions.ANSWERS.get(func)
            if answer is not None:
                return answer(self, *args, **kwargs)
        outer = self.place
        self.place = user_place()
        try:
            if row is None:
                raise Unsupported("this function cannot be traced")
            self.trace.set_layer(self.layer, *self.place)
            return self.build(row, func, args, kwargs)
        except Exception as error:
            self.annotate(error, functions.name_of(func))
            raise
        finally:
            self.place = outer

    def build(self, row, func, args, kwargs):
        if kwargs.get("out") is not None:
            raise Unsupported("out= cannot be traced; use what the function returns")
        kwargs.pop("out", None) if "out" in kwargs else None
        meta, refusal = None, None
        if row.meta:
            meta, refusal = self.run_meta(row, func, args, kwargs)
        try:
            result = row.build(self, *args, **kwargs)
        except Exception as error:
            if refusal is not None and not isinstance(error, Unsupported):
                raise refusal from None
            raise
        if refusal is not None:
            raise refusal
        if row.inplace or kwargs.get("inplace") is True:
            return self.finish_in_place(args[0], result)
        return self.finish(result, meta, args)

    def run_meta(self, row, func, args, kwargs):
        """What torch says of the result: (meta tensors or None, its error or None)."""
        try:
            with off(), torch.no_grad():
                return (
                    func(*map(self.meta, args), **{k: self.meta(v) for k, v in kwargs.items()}),
                    None,
                )
        except NotImplementedError:  # torch has no meta kernel
            row.meta = False
        except Exception as error:
            return None, error
        return None, None

    def finish_in_place(self, tensor, result):
        if isinstance(result, torch.Tensor):
            if result is tensor:
                return tensor
            result = self.value(result)
        with off():
            wanted = self.dtype_name(tensor.dtype, "a tensor")
        self.assign(tensor, self.expand(self.cast(result, wanted), tuple(tensor.shape)))
        return tensor

    def finish(self, result, meta, args):
        """Values as traced tensors."""
        if isinstance(result, ViewResult):
            base = args[0]
            if getattr(base, "_traced", None) is not None:
                view = View(base, result.read, result.write)
                return self.cut(self.wrap(result.value, meta, view))
            result = result.value
        if isinstance(result, self.Value):
            if isinstance(meta, (tuple, list)):
                meta = None
            return self.cut(self.wrap(result, meta))
        if type(result) in (tuple, list):
            metas = list(meta) if isinstance(meta, (tuple, list)) else [None] * len(result)
            if len(metas) != len(result):
                metas = [None] * len(result)
            done = [self.finish(r, m, args) for r, m in zip(result, metas)]
            if isinstance(meta, tuple) and type(meta) is not tuple:
                return type(meta)(done)  # a named result of torch: .values, .indices
            return type(result)(done)
        return result

    def cut(self, tensor):
        """Under no_grad no gradient flows."""
        if not torch.is_grad_enabled() and self.trains and tensor._traced.view is None:
            check_own_backward()
            if tensor._traced.value.dtype in ("f32", "bf16", "f16"):
                tensor._traced.value = self.op("detach", tensor._traced.value)
        return tensor

    def where(self):
        """'layer blocks.0.fc, model.py:12'"""
        parts = [f"layer {self.layer}"] if self.layer else []
        if self.place[0]:
            parts.append("%s:%d" % self.place)
        return ", ".join(parts)

    def annotate(self, error, name):
        """Says in the error which function, layer and line it is about; once."""
        if getattr(error, "_samba_annotated", False) or not error.args:
            return
        text = str(error.args[0])
        where = self.where()
        if isinstance(error, Unsupported) and not isinstance(error, Misplaced):
            text = (
                f"{name}: {text} ({where}). Compute it on the host: end the model before it, and "
                "give its result to a second model as an input"
            )
        elif where:
            text = f"{name}: {text} ({where})"
        error.args = (text,) + error.args[1:]
        error._samba_annotated = True


class ViewResult:
    """What a row returns for a view: its value, and how to read and write it again."""

    __slots__ = ("value", "read", "write")

    def __init__(self, value, read, write):
        self.value, self.read, self.write = value, read, write


class Tracing:
    """with Tracing(tracer): the functions of torch go to the tracer; layers are followed."""

    def __init__(self, tracer):
        self.tracer = tracer
        self.handles = []
        self.checkpoint = None

    def __enter__(self):
        global _tracer
        if _tracer is not None:
            raise RuntimeError("a model is being traced already")
        tracer = self.tracer
        module = torch.nn.modules.module

        def enter(layer, inputs):
            tracer.layers.append(tracer.layer_names.get(id(layer), tracer.layer))

        def leave(layer, inputs, result):
            tracer.layers.pop()

        checkpoint = sys.modules.get("torch.utils.checkpoint")
        if checkpoint is not None:  # what is computed again in BCKWD is the compiler's business
            self.checkpoint = checkpoint.CheckpointFunction
            self.checkpoint.apply = lambda function, preserve, *args: function(*args)
        self.handles = [
            module.register_module_forward_pre_hook(enter),
            module.register_module_forward_hook(leave),
        ]
        _tracer = tracer
        return tracer

    def __exit__(self, *error):
        global _tracer
        _tracer = None
        if self.checkpoint is not None:
            del self.checkpoint.apply
            self.checkpoint = None
        for handle in self.handles:
            handle.remove()
        self.tracer.layers.clear()


def flatten(result):
    """The tensors of what forward returned, in order; texts and None are left out."""
    if isinstance(result, torch.Tensor):
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    elif dataclasses.is_dataclass(result):
        result = [getattr(result, field.name) for field in dataclasses.fields(result)]
    if isinstance(result, (tuple, list, set)):
        return [tensor for part in result for tensor in flatten(part)]
    return []
