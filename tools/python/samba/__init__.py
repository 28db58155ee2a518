"""Samba for Python: PyTorch models on a simulated reconfigurable dataflow unit.

    import samba
    samba.from_torch_model_(model)
    path = samba.session.compile(model, (x, labels), samba.optim.SGD(model.parameters(), lr=0.1))
    outputs = samba.utils.trace_graph(model, (x, labels), optimizer, pef=path)
    loss, y = samba.session.run([x, labels], outputs)

A program that was written for the reference API runs with `python3 -m samba SCRIPT ARGS`."""
import importlib

from samba.tensor import (  # noqa: F401
    SambaParameter,
    SambaTensor,
    arange,
    empty,
    from_named_dict,
    from_torch,
    from_torch_tensor,
    full,
    normal,
    ones,
    rand,
    randint,
    randn,
    set_seed,
    to_torch,
    zeros,
)
from samba.env import is_internal  # noqa: F401
from samba.lazy import lazy_param  # noqa: F401
from samba.lazy_tensor import Tensor  # noqa: F401
from samba.model import from_torch_, from_torch_model, from_torch_model_  # noqa: F401
from samba.session import SambaSession  # noqa: F401
from samba.tracing import patched_torch  # noqa: F401
from samba.version import __version__  # noqa: F401

# The session that is always there. It hides the module of that name on purpose.
session = SambaSession()

MODULES = (
    "directives env functional graph logging materialize nn optim sambacollections sambaloader "
    "sambatensor sn_private utils"
).split()
NAMES = (
    "SambaParameter SambaSession SambaTensor Tensor arange empty from_named_dict from_torch "
    "from_torch_ from_torch_model from_torch_model_ from_torch_tensor full is_internal lazy_param "
    "normal ones patched_torch rand randint randn session set_seed to_torch zeros"
).split()
__all__ = NAMES + ["functional", "nn", "optim", "utils", "__version__"]


def __getattr__(name):
    if name in MODULES:
        return importlib.import_module(f"samba.{name}")
    from samba import functional
    from samba.names import missing_attribute

    found = None if name.startswith("_") else functional.find(name)
    if found is not None:  # samba.add is torch.add
        return found
    raise missing_attribute(__name__, name, [*NAMES, *MODULES])
