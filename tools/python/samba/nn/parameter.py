"""SambaParameter: a parameter of a module that the device knows by its name."""
from torch.nn.parameter import Parameter, UninitializedParameter  # noqa: F401

from samba.tensor import SambaParameter  # noqa: F401


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("SambaParameter", "Parameter"))
