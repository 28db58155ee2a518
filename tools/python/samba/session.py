"""The session: compiling a model into a PEF, and running it on the simulated device."""
import os
import re
import sys

import numpy
import torch

from samba import _samba, onnx, settings
from samba.lazy import LazyParameters
from samba.model import parameter_name, paths_of
from samba.names import check_keywords, refuse, unknown
from samba.progress import Progress
from samba.session_extras import SessionExtras
from samba.tensor import (
    DTYPE_NAMES,
    DTYPES,
    SambaParameter,
    SambaTensor,
    from_torch_tensor,
    off,
    plain,
)
from samba.tracing import Tracer, Tracing, flatten

# Keywords of compile that say nothing to this compiler; they are accepted, and remembered in the
# PEF where they are numbers or texts.
KNOWN = (
    "app_dir",
    "config_dict",
    "pef_metadata",
    "squeeze_bs_dim",
    "init_output_grads",
    "inference",
    "accumulate_gradients",
    "enable_hypersection",
    "graph_names",
    "graph_transform_hook",
    "output_folder",
    "pef_name",
    "target",
    "optimization",
    "precision",
    "mapping",
    "dev_mode",
    "get_output_grads",
    "is_split_batch",
    "metadata",
    "verbose",
)
# Of these, what the compiler itself is told.
OPTIONS = ("output_folder", "pef_name", "target", "optimization", "precision", "mapping", "opt")
# Hyperparameters by what they set, and the kind of argument that has one.
SHORT_NAMES = {
    "lr": "lr",
    "weight_decay": "weight_decay",
    "momentum": "momentum",
    "p": "dropout_rate",
}
TYPES = ("ZEROGRAD", "FWD", "BCKWD", "REDUCE", "GRADNORM", "OPT")
MODES = ("normal", "inorder", "optimal")


class Traced:
    """What tracing a model gave."""

    def __init__(self, tracer, outputs):
        self.trace, self.outputs = tracer.trace, outputs
        self.tensors, self.kinds = tracer.tensors, tracer.kinds
        self.kept = tracer.kept


def flatten_outputs(result):
    """The tensors of what forward returns, in the order of the traced outputs."""
    return flatten(result)


def named_inputs(model, inputs):
    """What forward is called with, (args, kwargs), and the names of the tensors by their ids."""
    import inspect

    try:
        names = [
            p.name
            for p in inspect.signature(model.forward).parameters.values()
            if p.kind is not p.VAR_POSITIONAL and p.kind is not p.VAR_KEYWORD
        ]
        takes_all = any(
            p.kind is p.VAR_KEYWORD for p in inspect.signature(model.forward).parameters.values()
        )
    except (TypeError, ValueError):
        names, takes_all = [], True
    if isinstance(inputs, torch.Tensor):
        inputs = (inputs,)
    if isinstance(inputs, dict):
        for name in inputs:
            if name not in names and not takes_all:
                raise ValueError("inputs: " + unknown("argument of forward", name, names))
        return [], dict(inputs)
    return list(inputs), {}


def to_inputs(model, inputs):
    """(args, kwargs) with tensors that have names."""
    args, kwargs = named_inputs(model, inputs)
    import inspect

    try:
        names = list(inspect.signature(model.forward).parameters)
    except (TypeError, ValueError):
        names = []

    def named(value, name):
        if isinstance(value, torch.Tensor):
            return from_torch_tensor(value, name)
        if isinstance(value, (tuple, list)):
            return type(value)(named(v, f"{name}_{i}") for i, v in enumerate(value))
        if isinstance(value, dict):
            return {k: named(v, k) for k, v in value.items()}
        return value

    args = [named(v, names[i] if i < len(names) else f"input{i}") for i, v in enumerate(args)]
    return args, {k: named(v, k) for k, v in kwargs.items()}


def trace_model(context, model, inputs, optimizers=(), loss_indices=None, name="", trains=False):
    """Traces forward; the losses and optimizers go into the graph too."""
    args, kwargs = to_inputs(model, inputs)
    updated = set()
    while True:
        tracer = Tracer(context, graph_name(name, model), model, updated)
        tracer.trains = trains
        again = walk(tracer, model, args, kwargs)
        if not again:
            break
        updated |= again
    add_losses(tracer, loss_indices)
    freeze_unreached(tracer, loss_indices)
    add_optimizers(tracer, optimizers)
    return Traced(tracer, tracer.outputs)


def graph_name(name, model):
    return re.sub(r"\W", "_", name) or type(model).__name__.lower()


def walk(tracer, model, args, kwargs):
    """Calls forward. The names of small buffers that turned out to be written: trace again."""
    tracer.layer_names = {id(m): path for path, m in model.named_modules()}
    tracer.layer_names[id(model)] = type(model).__name__.lower()
    check_parameters(model)
    places = []
    try:
        wrappers = wrap_buffers(tracer, model, places)
        with Tracing(tracer):
            tracer.layers.append(type(model).__name__.lower())
            traced_args = [stand_in(tracer, v) for v in args]
            traced_kwargs = {k: stand_in(tracer, v) for k, v in kwargs.items()}
            result = model(*traced_args, **traced_kwargs)
            tracer.layers[:] = []
            tracer.trace.set_layer("")
            again = add_results(tracer, flatten(result), wrappers, places)
    finally:
        for table, key, original, _ in places:
            table[key] = original
    return again


def check_parameters(model):
    for path, parameter in model.named_parameters():
        if not isinstance(parameter, SambaParameter):
            raise RuntimeError(
                f"parameter '{path}' is no SambaParameter; call "
                "samba.from_torch_model_(model) first"
            )


def stand_in(tracer, value):
    """Traced tensors in place of the inputs."""
    if isinstance(value, torch.Tensor):
        return tracer.input(value, value._name)
    if isinstance(value, (tuple, list)):
        return type(value)(stand_in(tracer, v) for v in value)
    if isinstance(value, dict):
        return {k: stand_in(tracer, v) for k, v in value.items()}
    return value


def wrap_buffers(tracer, model, places):
    """Registered buffers as SambaTensors, so that what happens to them is seen."""
    wrappers = {}
    for path, table, key in paths_of(model, "_buffers"):
        original = table[key]
        if original is None:
            continue
        wrapper = wrappers.get(id(original))
        if wrapper is None:
            with off():
                wrapper = original.detach().as_subclass(SambaTensor)
            wrappers[id(original)] = wrapper
            tracer.buffer_names[id(wrapper)] = parameter_name(path, model)
            tracer.kept += [wrapper, original]
        places.append((table, key, original, wrapper))
        table[key] = wrapper
    return wrappers


def add_results(tracer, tensors, wrappers, places):
    """Declares outputs and updates; returns names of buffers that must be arguments."""
    again = set()
    for table, key, _, wrapper in places:
        new = table[key]
        if new is not wrapper and isinstance(new, torch.Tensor):
            tracer.found_updates[id(wrapper)] = (wrapper, tracer.value(new))
    for tensor, value in tracer.found_updates.values():
        name = tracer.buffer_names.get(id(tensor)) or getattr(tensor, "_name", "")
        argument = tracer.originals.get(id(tensor))
        if id(tensor) in tracer.folded or (argument is None and name not in tracer.updated):
            again.add(name)
        elif argument is None:
            tracer.value_of_new(tensor)
    if again:
        return again
    tracer.outputs, seen = [], set()
    for index, tensor in enumerate(tensors):
        value = tracer.value(tensor)
        if value.kind or value in seen or getattr(tensor, "_traced", None) is None:
            value = tracer.op("contiguous", value)
        seen.add(value)
        tracer.trace.result(f"out{index}", "output", value)
        output = SambaTensor(shape=value.shape, dtype=DTYPES[value.dtype], name=f"out{index}")
        tracer.outputs.append(output)
        tracer.tensors[f"out{index}"], tracer.kinds[f"out{index}"] = output, "output"
    if not tensors:
        raise ValueError("forward returned no tensor")
    for tensor, value in tracer.found_updates.values():
        argument = tracer.originals[id(tensor)]
        value = tracer.expand(tracer.cast(value, argument.dtype), argument.shape)
        if value.kind:
            value = tracer.op("contiguous", value)
        tracer.trace.update(argument, value)
    return None


def add_losses(tracer, loss_indices):
    if loss_indices is None or not tracer.trains:
        return
    indices = []
    for index in loss_indices:
        indices += [index] if isinstance(index, int) else list(index)
    tracer.trace.select_losses(indices)


# "%7, %8 = topk(%1) {k = 2}" and "loss "out0" = %7"
OPERATOR = re.compile(r"((?:%\d+, )*%\d+) = \w+\(((?:%\d+(?:, %\d+)*)?)\)")
RESULT = re.compile(r'(\w+) "(out\d+)" = %(\d+)')


def reached(tracer, loss_indices):
    """The numbers of the values on which the losses depend."""
    operands, begins = {}, []
    floats = {output.sn_name for output in tracer.outputs if output.is_floating_point()}
    for line in tracer.trace.record().splitlines():
        operator = OPERATOR.match(line)
        result = RESULT.match(line)
        if operator:
            values = operator.group(2).split(", ") if operator.group(2) else []
            for name in operator.group(1).split(", "):
                operands[int(name[1:])] = [int(value[1:]) for value in values]
        elif result and (
            result.group(1) == "loss" or loss_indices is None and result.group(2) in floats
        ):
            begins.append(int(result.group(3)))
    seen = set()
    while begins:
        value = begins.pop()
        if value not in seen:
            seen.add(value)
            begins += operands.get(value, ())
    return seen


def freeze_unreached(tracer, loss_indices):
    """Parameters on which no loss depends get no gradient and stay as they are, as in PyTorch."""
    if not tracer.trains:
        return
    seen = reached(tracer, loss_indices)
    for argument in tracer.originals.values():
        if argument.kind == "weight" and argument.requires_grad and argument.id not in seen:
            tracer.trace.freeze(argument)


def add_optimizers(tracer, optimizers):
    for optimizer in optimizers:
        joins = False  # the groups of an optimizer are clipped together
        for group in optimizer.groups():
            weights = [
                tracer.originals[id(p)]
                for p in group["params"]
                if id(p) in tracer.originals and p.requires_grad
            ]
            if weights:
                tracer.trace.optimizer(settings_text(group), group["prefix"], weights, joins)
                joins = True


def settings_text(group):
    """sgd,lr=0.1,momentum=0,..."""
    keys = {"sgd": ("lr", "momentum", "weight_decay"), "adamw": ("lr", "weight_decay", "eps")}
    parts = [group["kind"]] + [f"{key}={group[key]!r}" for key in keys[group["kind"]]]
    if group["kind"] == "adamw":
        parts += [f"beta{i + 1}={beta!r}" for i, beta in enumerate(group["betas"])]
        if group.get("max_grad_norm"):
            parts.append(f"max_grad_norm={group['max_grad_norm']!r}")
    return ",".join(parts)


def read_pef_info(path):
    """What the PEF at that path says about itself."""
    session = _samba.Session()
    session.load(path)
    described = session.describe()
    info = {k: v for k, v in described.items() if k != "options"}
    info.update(described["options"])
    info["sections"] = len(session.sections())
    info["inputs"] = [t["name"] for t in session.tensors() if t["kind"] == "input"]
    info["outputs"] = [t["name"] for t in session.tensors() if t["kind"] in ("output", "loss")]
    return info


class SambaSession(LazyParameters, SessionExtras):
    """SambaSession(pef_path=''): compiles models and runs them. `samba.session` is one that is
    always there; the PEF may come later, with utils.trace_graph."""

    def __init__(self, pef_path=""):
        self._device = _samba.Session(threads=os.cpu_count() or 1)
        self._context = None
        self._tracing = False
        self._seed = None
        self._pef = ""
        self._forget()
        if pef_path:
            self._load(pef_path)

    def _forget(self):
        self._symbols = {}  # name -> what the PEF says of it
        self._tensors = {}  # name -> host tensor of the trace
        self._kinds = {}
        self._optimizers = []
        self._outputs = ()
        self.buffer_dict = {}

    def _load(self, path):
        if not os.path.exists(path):
            raise FileNotFoundError(f"there is no PEF at '{path}'; compile the model first")
        self._forget()
        if settings.get("timing") and not self.timing:
            self._device.close()
            self.timing = True
        self._device.load(path)
        self._pef = path
        self._symbols = {t["name"]: t for t in self._device.tensors()}
        rows = self._device.argins()
        there = {row[key] for row in rows for key in ("name", "group", "kind")}
        self._idle = {name for name, kind in SHORT_NAMES.items() if not {name, kind} & there}
        self._said = set()
        if self._seed is not None:
            self._device.seed(self._seed)

    def reset(self, pef_path=""):
        """Frees the device with all that is on it and forgets the trace; with a path, loads that
        PEF. Tensors on the host stay as they are."""
        self._device.close()
        self._pef = ""
        self._forget()
        if pef_path:
            self._load(pef_path)

    def _compiler(self):
        if self._context is None:
            self._context = _samba.Context()
        return self._context

    # ---- Compiling ----

    def compile(
        self,
        model,
        inputs,
        optimizers=None,
        name="",
        loss_indices=None,
        io_host_memory=None,
        **known,
    ):
        """Traces the forward pass of a model, adds gradients and the steps of the optimizers, and
        writes a PEF. Returns its path, OUT/NAME/NAME.pef.

        model: a module after samba.from_torch_model_. inputs: a tuple of SambaTensors of the right
        shapes, whose values are not read (None is left out), or a dictionary by the names of
        forward's arguments. optimizers: None, one or several of samba.optim, each parameter in one.
        loss_indices: which outputs are losses; None: the float outputs on which no other depends.
        io_host_memory: True: the device reads inputs and writes outputs in the host's memory.
        model.output_tensors are the traced outputs afterwards.

        NotImplementedError: a function of torch that cannot be traced; the text says which, in
        which layer and line. TypeError: an unknown keyword, another optimizer. ValueError: an
        input or output that does not fit."""
        from samba.optim import optimizers_of

        check_keywords("compile", known, KNOWN)
        optimizers = optimizers_of(optimizers)
        if onnx.is_onnx(model):
            return self._compile_onnx(model, optimizers, name, io_host_memory, known)
        inference = known.get("inference")
        inference = settings.get("inference") if inference is None else inference
        if inference:
            optimizers = []
        trains = bool(optimizers) or loss_indices is not None and not inference
        path = pef_path(name, model, known)
        options = compiler_options(known, trains, io_host_memory)
        with Progress(f"compile {os.path.basename(path)}") as progress:
            progress.part("tracing")
            traced = self._trace(model, inputs, optimizers, loss_indices, name, trains, inference)
            if known.get("accumulate_gradients"):
                traced.trace.accumulate_gradients()
            progress.part("compiling")
            self._write_pef(lambda: traced.trace.compile(path, options, notes(known)), path)
        model.output_tensors = tuple(traced.outputs)
        return path

    def _write_pef(self, compile, path):
        """Calls the compiler; an error has all that it said."""
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        try:
            compile()
        except (ValueError, NotImplementedError, RuntimeError) as error:
            errors = [
                text for severity, text in self._compiler().diagnostics() if severity == "error"
            ]
            if errors:
                raise type(error)("\n".join([str(error)] + errors[1:])) from None
            raise
        self.diagnostics = self._compiler().diagnostics()

    def _compile_onnx(self, model, optimizers, name, io_host_memory, known):
        """compile of an ONNX model: its weights go into the PEF."""
        if optimizers:
            refuse(
                "training an ONNX model",
                "its weights are no parameters of torch",
                "compile it with samba-compile --training",
            )
        path = pef_path(name or onnx.name_of(model), model, known)
        options = compiler_options(known, False, io_host_memory)
        with onnx.as_file(model) as file, Progress(f"compile {os.path.basename(path)}") as progress:
            progress.part("compiling")
            self._write_pef(
                lambda: self._compiler().compile_onnx(file, path, options, notes(known)), path
            )
        return path

    def _load_onnx(self, model):
        """trace_graph of an ONNX model: nothing is left to send."""
        with onnx.as_file(model) as file:
            record = self._compiler().onnx_record(file)
        try:
            self._device.check_record(record)
        except ValueError as error:
            raise ValueError(f"{self._pef}: the model is not the one of the PEF: {error}") from None
        # The record has the outputs in the order of the model, the PEF in that of its operators.
        declared = re.findall(r'^output "((?:[^"\\]|\\.)*)" = ', record, re.MULTILINE)
        place = {name: i for i, name in enumerate(declared)}
        outputs = [s for s in self._symbols.values() if s["kind"] == "output"]
        outputs.sort(key=lambda s: place.get(s["name"], len(place)))
        self._outputs = tuple(
            SambaTensor(shape=s["shape"], dtype=DTYPES[s["dtype"]], name=s["name"]) for s in outputs
        )
        self._tensors = {t.sn_name: t for t in self._outputs}
        self._kinds = {name: "output" for name in self._tensors}
        return self._outputs

    def _trace(self, model, inputs, optimizers, loss_indices, name, trains, evaluate):
        """Traces the model; evaluate: as after model.eval()."""
        modes = {m: m.training for m in model.modules()}
        self._tracing = True
        try:
            if evaluate:
                model.eval()
            return trace_model(
                self._compiler(), model, inputs, optimizers, loss_indices, name, trains
            )
        finally:
            self._tracing = False
            for module, training in modes.items():
                module.training = training

    def load_and_trace(
        self, model, inputs, optim=None, loss_indices=None, pef="", transfer_device=True
    ):
        """What utils.trace_graph does; see there."""
        from samba.optim import optimizers_of

        optimizers = optimizers_of(optim)
        if pef:
            self._load(pef)
        elif not self._device.loaded:
            raise RuntimeError(NO_PEF)
        if onnx.is_onnx(model):
            return self._load_onnx(model)
        pef_trains = self._device.describe()["mode"] == "training"
        if not pef_trains:
            optimizers = []
        trains = bool(optimizers) or loss_indices is not None and pef_trains
        modes = [False] if pef_trains else [bool(settings.get("inference"))]
        modes.append(not modes[0])
        failure = None
        for evaluate in modes:
            traced = self._trace(model, inputs, optimizers, loss_indices, "", trains, evaluate)
            try:
                self._device.check_trace(traced.trace)
                break
            except ValueError as error:
                failure = failure or error
        else:
            raise ValueError(
                f"{self._pef}: the model is not the one of the PEF: {failure}"
            ) from None
        self._tensors, self._kinds = traced.tensors, traced.kinds
        self._outputs, self._optimizers = tuple(traced.outputs), optimizers
        self.buffer_dict = {n: t for n, t in self._tensors.items() if self._kinds[n] == "buffer"}
        model.output_tensors = self._outputs
        if transfer_device:
            self.to_device()
        return self._outputs

    def to_device(self):
        """Sends everything that tracing met: inputs that have values, weights, buffers, optimizer
        state."""
        for name, tensor in self._tensors.items():
            if self._kinds[name] == "output" or name not in self._symbols:
                continue
            if self._kinds[name] == "input" and not getattr(tensor, "has_data", True):
                continue
            self._write(name, values_of(tensor))
        for optimizer in self._optimizers:
            self._write_state(optimizer)

    # ---- Tensors of the device ----

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
        if isinstance(values, SambaTensor) and values._host is not None:
            values = values._host
        with off():
            shape = tuple(values.shape)
            if shape != symbol["shape"]:
                raise ValueError(
                    f"'{name}' is {shape}, but the PEF was compiled for {symbol['shape']}"
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
        try:
            return self._read(name)
        except RuntimeError as error:
            if "never-written" not in str(error):
                raise
            return None

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

    # ---- Running ----

    def run(
        self,
        input_tensors=None,
        output_tensors=(),
        hyperparam_dict=None,
        data_parallel=False,
        reduce_on_rdu=False,
        section_ids=(),
        section_types=(),
        run_until_call_id=None,
        run_from_call_id=None,
        graph_name=None,
        data_parallel_mode="normal",
        train=True,
        *more,
        grad_of_outputs=None,
    ):
        """Runs the sections of the PEF and returns the values of output_tensors as a tuple.

        input_tensors: tensors that are sent before, found by their sn_name; a mapping gives names
        itself. None entries are left out; what is not given keeps its values on the device.
        hyperparam_dict: name or group ('lr', 'momentum', 'weight_decay', 'p') -> number, kept for
        later runs; a group that this PEF has not is left out, with a remark.
        section_ids, section_types: what to run, in this order. run_from_call_id, run_until_call_id:
        calls from (included) to (not included). train=False: dropout is off in this run.
        grad_of_outputs: gradients to begin with, one for each of output_tensors; None leaves one.

        ValueError, before anything runs: an unknown name, a shape or dtype that does not fit, an
        unknown section. RuntimeError: no PEF, an input that never got values, a fault.
        """
        if isinstance(input_tensors, torch.nn.Module):  # some pass the model first
            given = [output_tensors, hyperparam_dict, data_parallel, reduce_on_rdu]
            input_tensors, output_tensors = given[0], given[1] if given[1] is not None else ()
            hyperparam_dict = data_parallel if isinstance(data_parallel, dict) else None
            data_parallel = False
        if data_parallel:
            refuse("data_parallel=True", "there is one device", "leave it at False")
        if data_parallel_mode not in MODES:
            raise ValueError(unknown("data_parallel_mode", data_parallel_mode, MODES))
        if not self._device.loaded:
            raise RuntimeError(NO_PEF)
        inputs = self._inputs(input_tensors)
        outputs = self._output_names(output_tensors)
        request = (
            section_list(section_ids),
            type_list(section_types),
            run_from_call_id,
            run_until_call_id,
            graph_name,
            self._hyperparameters(hyperparam_dict),
            not train,
        )
        self._send_gradients(output_tensors, grad_of_outputs)
        for name, values in inputs:
            self._send(name, values)
        missing = self._device.check(*request)
        if missing is not None:
            raise RuntimeError(
                f"input '{missing}' has never been given values; pass it to run, or transfer it"
            )
        with Progress("run"):
            self._device.run(*request)
        return tuple(self.read_tensor(name) for name in outputs)

    def _send_gradients(self, tensors, gradients):
        """Where the backward pass begins, for outputs in their order."""
        if gradients is None:
            return
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        if len(gradients) != len(tensors):
            text = f"grad_of_outputs has {len(gradients)} gradients for {len(tensors)} outputs; "
            raise ValueError(text + "give one for each, or None")
        for tensor, gradient in zip(tensors, gradients):
            if gradient is not None:
                tensor.sn_grad = gradient

    def _hyperparameters(self, values):
        """The hyperparameters to set. A PEF may have none of a kind, as one for inference: programs
        give 'p' or 'lr' all the same, which has no effect and is said once."""
        result = check_hyperparameters(values)
        for name in self._idle.intersection(result):
            del result[name]
            if name not in self._said:
                self._said.add(name)
                text = f"remark: hyperparameter '{name}' has no effect: this PEF has none"
                print(text, file=sys.stderr)
        return result

    def _inputs(self, tensors):
        """(name, host tensor) pairs, checked."""
        if tensors is None:
            return []
        if isinstance(tensors, torch.Tensor):
            tensors = [tensors]
        if hasattr(tensors, "items"):
            pairs = [(self._input_name(key, t), t) for key, t in tensors.items() if t is not None]
        else:
            pairs = [(getattr(t, "_name", ""), t) for t in tensors if t is not None]
        result = []
        for name, tensor in pairs:
            if name not in self._symbols:
                known = [n for n, s in self._symbols.items() if s["kind"] == "input"]
                if not name:
                    raise ValueError(
                        f"an input has no name (sn_name); the PEF has {', '.join(known)}"
                    )
                raise ValueError(unknown("input", name, known))
            result.append((name, self._checked(name, data_of(tensor))))
        return result

    def _input_name(self, key, tensor):
        return key if key in self._symbols else getattr(tensor, "_name", "") or key

    def _output_names(self, tensors):
        if isinstance(tensors, (torch.Tensor, str)):
            tensors = [tensors]
        names = [t if isinstance(t, str) else t._name for t in tensors or () if t is not None]
        for name in names:
            if name not in self._symbols:
                known = [n for n, s in self._symbols.items() if s["kind"] in ("output", "loss")]
                raise ValueError(unknown("output", name, known))
        return names

    # ---- What the PEF has ----

    def get_argin_names(self):
        """Names of all hyperparameters, in the order of the PEF."""
        return self._argins()

    def get_dropout_rate_argin_names(self):
        """Names of the rates of dropout, one for each layer."""
        return self._argins("dropout_rate")

    def get_dropout_seed_argin_names(self):
        """Names of the seeds of dropout, one for each layer."""
        return self._argins("dropout_seed")

    def _argins(self, kind=None):
        from samba.sambacollections import OrderedSet

        rows = self._device.argins()
        return OrderedSet(row["name"] for row in rows if kind in (None, row["kind"]))

    def get_section_types(self):
        """The set of section types in the PEF."""
        return {kind for _, kind in self._device.sections()}

    def get_weight_names(self):
        """Names of all weights, in the order of the PEF."""
        return [n for n, s in self._symbols.items() if s["kind"] == "weight"]

    def get_samba_tensor_by_name(self, name):
        """The traced tensor of a name, on the host; nothing is read from the device. KeyError."""
        found = self._tensors.get(name)
        if found is None:
            raise KeyError(unknown("traced tensor", name, self._tensors))
        return found

    def get_tensors(self, samba_tensors):
        """The device's values of some tensors, as new tensors, in their order."""
        return tuple(self.read_tensor(t._name) for t in samba_tensors)

    def get_tensors_by_name(self, names):
        """The device's values of tensors by name. KeyError with the nearest name."""
        for name in names:
            self._symbol(name)
        return tuple(self.read_tensor(name) for name in names)

    def update_tensor(self, name, tensor):
        """Gives a traced tensor other values, which go to the device at the next to_device(); None
        takes it out of the traced tensors. KeyError for an unknown name."""
        self.get_samba_tensor_by_name(name)
        if tensor is None:
            del self._tensors[name], self._kinds[name]
        else:
            self._tensors[name] = tensor

    # ---- State of the session ----

    @property
    def tracing(self):
        """Is a model being traced? Setting it has no effect between calls: torch computes then."""
        return self._tracing

    @tracing.setter
    def tracing(self, value):
        self._tracing = bool(value)

    def use_static_functional(self):
        """True while functions make symbolic tensors."""
        return self._tracing

    @property
    def pef_path(self):
        return self._pef

    def seed_random_generator(self, seed):
        """The seed of the session's generator, which draws the seeds of dropout."""
        self._seed = int(seed)
        if self._device.loaded:
            self._device.seed(self._seed)

    def reset_random_generator(self):
        """The generator starts again: the same masks follow."""
        if self._device.loaded:
            self._device.seed(None)
            if self._seed is not None:
                self._device.seed(self._seed)

    flatten_outputs = staticmethod(flatten_outputs)


NO_PEF = (
    "no PEF loaded; compile the model, then call samba.utils.trace_graph(model, inputs, pef=PATH)"
)


def pef_path(name, model, known):
    folder = known.get("output_folder") or settings.get("output_folder")
    file = known.get("pef_name") or settings.get("pef_name") or name or type(model).__name__.lower()
    return os.path.join(folder, file, file + ".pef")


def notes(known):
    """What the PEF keeps of the keywords of compile: numbers and texts, no paths."""
    from samba.utils.pef_utils import scalars

    result = {}
    for key, value in known.items():
        if key not in OPTIONS:
            values = value if isinstance(value, dict) else {key: value}
            result.update({name: str(v) for name, v in scalars(values).items()})
    return {key: value for key, value in result.items() if key not in OPTIONS}


def compiler_options(known, trains, io_host_memory):
    """Options of the compiler by name."""

    def get(name):
        return known.get(name) or settings.get(name)

    return {
        "target": get("target") or os.environ.get("SAMBA_TARGET"),
        "opt": get("optimization"),
        "precision": get("precision"),
        "mapping": get("mapping"),
        "inference": "false" if trains else None,
        "io_host_memory": "true" if io_host_memory else None,
    }


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


def as_list(given):
    if given is None:
        return []
    return [given] if isinstance(given, torch.optim.Optimizer) else list(given)


def section_list(ids):
    """Nested lists flattened."""
    result = []
    for entry in ids or ():
        result += section_list(entry) if isinstance(entry, (list, tuple)) else [int(entry)]
    return result


def type_list(types):
    types = [types] if isinstance(types, str) else types
    for kind in types or ():
        if str(kind).upper() not in TYPES:
            raise ValueError(unknown("section type", kind, TYPES))
    return [str(kind).upper() for kind in types or ()]


def check_hyperparameters(values):
    result = {}
    for name, value in (values or {}).items():
        value = value.item() if hasattr(value, "item") else value
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"hyperparameter '{name}' is {value!r}, but must be a number")
        result[str(name)] = value
    return result
