"""Tracing a model for the session: its inputs, buffers, results, losses and optimizers."""
import re

import torch

from samba.model import parameter_name, paths_of
from samba.names import unknown
from samba.tensor import DTYPES, SambaParameter, SambaTensor, from_torch_tensor, off
from samba.tracing import Tracer, Tracing, flatten


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
        if type(value).__module__ == "numpy" and hasattr(value, "__array__"):
            raise TypeError(f"inputs: '{name}' is a numpy array; give torch.from_numpy of it")
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
        if group.get("fp32_params"):
            parts.append("fp32_params=1")
    return ",".join(parts)
