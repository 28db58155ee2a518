"""Models: parameters of a torch module become parameters that the device knows by name."""
import torch

from samba.names import refuse
from samba.tensor import SambaParameter, off


def parameter_name(path, model, prefix=None):
    """a.b.weight -> a__b__weight; weight of the root -> classname__weight."""
    parts = path.split(".")
    if len(parts) == 1 and not prefix:
        parts = [type(model).__name__.lower()] + parts
    return "__".join(([prefix] if prefix else []) + parts)


def paths_of(model, tables):
    """(path, table, key) of each entry of the modules' tables ('_parameters', '_buffers')."""
    for prefix, module in model.named_modules():
        for key in list(getattr(module, tables)):
            yield f"{prefix}.{key}" if prefix else key, getattr(module, tables), key


def from_torch_model_(model, parent_module_prefix=None):
    """Gives the parameters of a model their names on the device, in place, and each module a
    `name`.

    A parameter is called after its path, joined with '__'; those of the model itself after its
    class (linear__weight). Data, gradients and optimizers that hold the parameters stay as they
    are; a parameter that occurs twice stays one. Returns the model."""
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"from_torch_model_ takes a torch.nn.Module, not a {type(model).__name__}")
    if isinstance(model, torch.jit.ScriptModule):
        refuse("a scripted module", "it hides what it computes", "use the module it was made from")
    for path, module in model.named_modules():
        if not hasattr(module, "name"):
            module.name = path or type(model).__name__.lower()
    seen = set()
    for path, table, key in paths_of(model, "_parameters"):
        parameter = table[key]
        if parameter is None or id(parameter) in seen:
            continue
        seen.add(id(parameter))
        convert(parameter, parameter_name(path, model, parent_module_prefix))
    make_buffers(model, parent_module_prefix)
    import samba

    samba.session._adopt(model.parameters())
    return model


def make_buffers(model, prefix=None):
    """Buffers that lazy mode left without data get their values: they are no parameters."""
    for path, table, key in paths_of(model, "_buffers"):
        materializer = None if table[key] is None else materializer_of(table[key])
        if materializer is not None:
            materializer.set_name(parameter_name(path, model, prefix))
            table[key] = materializer.values()


def convert(parameter, name):
    """Makes the object itself a SambaParameter."""
    if not isinstance(parameter, SambaParameter):
        materializer = materializer_of(parameter)
        parameter.__class__ = SambaParameter
        if materializer is not None:
            parameter._materializer = materializer
    if not parameter._name:
        parameter._name = name
    rename = getattr(parameter._materializer, "set_name", None)
    if rename is not None:
        rename(parameter._name)


def materializer_of(parameter):
    """The function that makes the values of a parameter of lazy mode; None for others."""
    with off():
        if not parameter.is_meta:
            return None
    from samba import lazy

    return lazy.materializer_of(parameter)


from_torch_model = from_torch_model_
from_torch_ = from_torch_model_
