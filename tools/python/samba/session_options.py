"""What SambaSession.compile and run take: known keywords, options of the compiler, lists."""
import os

import torch

from samba import settings
from samba.names import unknown

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
TYPES = ("ZEROGRAD", "FWD", "BCKWD", "REDUCE", "GRADNORM", "OPT")


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
        "training": trains,
        "io_host_memory": bool(io_host_memory),
    }


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
