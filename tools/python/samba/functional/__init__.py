"""torch.nn.functional, and the functions that this interface adds to it.

Functions of torch that the device knows are here under the same names (samba.functional.softmax,
samba.functional.matmul)."""
import torch
import torch.nn.functional
from torch.nn.functional import *  # noqa: F401,F403

from samba.functional import stir
from samba.functional.stir import *  # noqa: F401,F403
from samba.names import missing_attribute, refuse

ADDED = ("addmm", "contiguous_backward", "groupby", "triu_fill") + stir.NAMES
RENAMED = ("sigmoid", "tanh")  # torch.nn.functional warns that torch has them now


def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None, is_transposed=False):
    """beta * input + alpha * (mat1 @ mat2); with is_transposed, mat2 is given transposed.

    mat1: (..., n, k); mat2: (k, m), or (m, k) when is_transposed; input: broadcast to
    (..., n, m). out: NotImplementedError unless None."""
    if out is not None:
        refuse("addmm(out=...)", "the device makes its results", "use what the function returns")
    if mat1.dim() == 2:
        return torch.addmm(input, mat1, mat2.t() if is_transposed else mat2, beta=beta, alpha=alpha)
    weight = mat2 if is_transposed else mat2.t()
    if input.dim() == 1 and beta == 1 and alpha == 1:
        return torch.nn.functional.linear(mat1, weight, input)
    return beta * input + alpha * torch.nn.functional.linear(mat1, weight)


def triu_fill(input, value, diagonal=1):
    """input with everything on and above a diagonal of its last two dimensions set to value.

    The first diagonal that is filled is the one above the main one: triu_fill(scores, -1e4) is a
    causal mask."""
    rows, columns = input.shape[-2:]
    mask = torch.ones(rows, columns, dtype=torch.bool).triu(diagonal)
    return torch.masked_fill(input, mask, value)


def contiguous_backward(input):
    """input itself; its gradient is made contiguous."""
    return input


def groupby(tensor, num_bins=32, capacity=1, **options):
    """Refused: NotImplementedError."""
    refuse(
        "groupby",
        "how it fills its bins is not documented",
        "use one_hot, cumsum and masked products, whose sizes are known",
    )


def find(name):
    """The function of that name, here or in torch; None without one."""
    here = (globals(), vars(torch.nn.functional), vars(torch))
    for names in here[::-1] if name in RENAMED else here:
        found = names.get(name)
        if callable(found) and not isinstance(found, type):
            return found
    return None


def __getattr__(name):
    found = find(name)
    if found is not None:
        return found
    names = [n for n in vars(torch.nn.functional) if not n.startswith("_")]
    raise missing_attribute(__name__, name, names + list(ADDED))
