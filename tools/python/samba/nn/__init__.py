"""torch.nn, with SambaParameter: modules of PyTorch are traced as they are."""
import sys

import torch.nn
from torch.nn import *  # noqa: F401,F403
from torch.nn import functional, init, utils  # noqa: F401

from . import parameter
from .parameter import SambaParameter  # noqa: F401

for _name in ("functional", "init", "utils", "modules"):
    sys.modules[f"{__name__}.{_name}"] = getattr(torch.nn, _name)


def __getattr__(name):
    if hasattr(torch.nn, name):
        return getattr(torch.nn, name)
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, list(vars(torch.nn)) + ["SambaParameter"])
