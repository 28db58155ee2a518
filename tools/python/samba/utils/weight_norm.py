"""weight_norm_: a weight as a length and a direction, both of which are trained."""
import torch

from samba.tensor import SambaParameter


def weight_norm_(module, name="weight", dim=0):
    """Normalizes a parameter of a module in place, as torch.nn.utils.weight_norm: NAME_g holds the
    lengths, NAME_v the directions. Call it before the optimizer is made. Returns the module.

    ValueError: the module has no such parameter."""
    parameter = module._parameters.get(name)
    if parameter is None:
        known = ", ".join(n for n, p in module._parameters.items() if p is not None)
        raise ValueError(
            f"weight_norm_: {type(module).__name__} has no parameter '{name}'; it has "
            f"{known or 'none'}"
        )
    torch.nn.utils.weight_norm(module, name, dim)
    if isinstance(parameter, SambaParameter):
        from samba.model import convert

        for part in ("_g", "_v"):
            convert(module._parameters[name + part], parameter._name + part)
    return module
