"""Modules of the reference API of which this machine has nothing: programs that import names of
them run as long as they call none. The runner answers the imports; a call raises
NotImplementedError."""
import types

from samba.names import missing_attribute, refuse

NO_INT8 = (
    "the device has no products of 8-bit integers",
    "compile the unquantized model; precision 'mp4' computes in bf16",
)

# module -> name -> why not, and what to do instead. None: a name that is only handed on.
MODULES = {
    "samba.schema": {},
    "samba.schema.snconfig": {"SNConfig": None},
    "samba.profiler": {"Profiler": ("there is no profiler", "use samba.session.report()")},
    "samba.frameworks": {},
    "samba.frameworks.quantized": {},
    "samba.frameworks.quantized.quantized_linear": {
        "QuantizedLinear": NO_INT8,
        "SNQConfig": NO_INT8,
        "quantize_model": NO_INT8,
    },
    "samba.utils.tensorboard_debug": {
        "dump_accuracy_debug_info": (
            "nothing is written for TensorBoard",
            "compare tensors with samba.utils.assert_close",
        )
    },
    "samba.utils.trainer": {},
    "samba.utils.trainer.samba": {
        "train": ("there is no trainer", "call samba.session.run for each batch")
    },
    "samba.utils.trainer.torch": {
        "train": ("there is no trainer", "write the loop with torch.optim"),
    },
}


def refusal(name, why, instead):
    """What stands for a name: calling it says why not."""

    def refused(*args, **kwargs):
        refuse(name, why, instead)

    refused.__name__ = refused.__qualname__ = name
    refused.__doc__ = "Refused: NotImplementedError."
    return refused


def make_module(name, foreign):
    """The module that a foreign name is answered with, and what stands for its names."""
    module = types.ModuleType(foreign, "Nothing of this module is there; see samba.refused.")
    if not MODULES[name]:
        module.__path__ = []  # a package
    for member, text in MODULES[name].items():
        made = type(member, (), {}) if text is None else refusal(member, *text)
        setattr(module, member, made)

    def lookup(wanted):
        raise missing_attribute(name, wanted, tuple(MODULES[name]))

    module.__getattr__ = lookup
    return module
