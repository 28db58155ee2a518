"""Parallel patterns: a function of elements over broadcast inputs with a reduction behind it, and
reading and writing blocks at computed places.

They are written in functions of PyTorch. So they compute on the host, and are traced as what they
consist of: the compiler fuses element-wise operators by itself."""
import math
import sys

import torch

from samba.names import missing_attribute, unknown
from samba.utils.types import torch_dtype

NAMES = (
    "sn_fma",
    "sn_gather",
    "sn_imm",
    "sn_iteridx",
    "sn_scatter",
    "sn_select",
    "sn_zipmapreduce",
)
__all__ = list(NAMES)
REDUCTIONS = {
    "SUM": lambda x, dims: torch.sum(x, dims, keepdim=True, dtype=x.dtype),
    "ADD": lambda x, dims: torch.sum(x, dims, keepdim=True, dtype=x.dtype),
    "MAX": lambda x, dims: torch.amax(x, dims, keepdim=True),
    "MIN": lambda x, dims: torch.amin(x, dims, keepdim=True),
}
UPDATES = ("kUpdate", "kAdd")


def sn_zipmapreduce(func, inputs, reduce_func=None, reduce_dim=None, stoc_accum=False):
    """func(attrs, *inputs) of inputs that broadcast, reduced over reduce_dim with reduce_func.

    func: computes elements with functions of torch and sn_imm, sn_iteridx, sn_select, sn_fma; attrs
    is handed on to sn_iteridx. reduce_func: None, 'SUM', 'MAX' or 'MIN'. reduce_dim: a dimension or
    several, which stay as dimensions of 1. stoc_accum: changes nothing, and says so: results are
    rounded to nearest even.

    ValueError: an unknown reduction, a reduction without dimensions, or dimensions without one.
    IndexError: a dimension that is none."""
    if not inputs:
        raise ValueError("sn_zipmapreduce: inputs is empty; give at least one tensor")
    if stoc_accum:
        text = "remark: stoc_accum changes nothing: results are rounded to nearest even"
        print(text, file=sys.stderr)
    shape = tuple(torch.broadcast_shapes(*(tuple(x.shape) for x in inputs)))
    reduce = reduction(reduce_func, reduce_dim)
    result = func({"shape": shape}, *inputs)
    if tuple(result.shape) != shape:
        result = result.expand(shape)
    if reduce is None:
        return result
    dims = [reduce_dim] if isinstance(reduce_dim, int) else list(reduce_dim)
    return reduce(result, dims)


def reduction(reduce_func, reduce_dim):
    """The function that reduces; None without a reduction."""
    if reduce_func is None:
        if reduce_dim is not None:
            raise ValueError("sn_zipmapreduce: reduce_dim is given without reduce_func")
        return None
    found = REDUCTIONS.get(str(reduce_func).upper())
    if found is None:
        known = ["SUM", "MAX", "MIN"]
        raise ValueError("sn_zipmapreduce: " + unknown("reduce_func", str(reduce_func), known))
    if reduce_dim is None or reduce_dim == []:
        raise ValueError("sn_zipmapreduce: reduce_func wants reduce_dim, a dimension or several")
    return found


def sn_imm(input, dtype):
    """A number as a tensor without dimensions. dtype: one of torch, or of utils.SNType."""
    return torch.tensor(input, dtype=torch_dtype(dtype))


def sn_iteridx(attrs, dim, dtype=None):
    """Where each element lies along a dimension of the broadcast inputs: 0, 1, ...

    attrs: what func got. dtype: i32 without one. IndexError: a dimension that is none."""
    shape = attrs["shape"]
    rank = len(shape)
    if not -rank <= dim < rank:
        raise IndexError(f"sn_iteridx: dim is {dim}, but the inputs have {rank} dimensions")
    dim %= rank
    places = torch.arange(shape[dim], dtype=torch.int32 if dtype is None else torch_dtype(dtype))
    return places.reshape([-1 if axis == dim else 1 for axis in range(rank)])


def sn_select(cond, true_val, false_val):
    """true_val where cond is True, false_val elsewhere."""
    dtype = torch.result_type(true_val, false_val)
    return torch.where(cond, true_val.to(dtype), false_val.to(dtype))


def sn_fma(a, b, c):
    """a * b + c"""
    return a * b + c


class Blocks:
    """Blocks of a tensor that begin at computed places: what a gather reads, a scatter writes.

    The tensor has `batched` dimensions that starts has too; of the others those of `dims` are cut,
    the rest is taken whole."""

    def __init__(self, name, tensor, starts, dims, lengths, batched):
        rank = tensor.dim() - batched
        if (
            batched < 0
            or rank < 0
            or tuple(starts.shape[:batched]) != tuple(tensor.shape[:batched])
        ):
            raise ValueError(
                f"{name}: batched_dims is {batched}, but the first dimensions of "
                f"{tuple(tensor.shape)} and {tuple(starts.shape)} differ"
            )
        self.dims = [d + rank if d < 0 else d for d in dims]
        if len(set(self.dims)) != len(dims) or not all(0 <= d < rank for d in self.dims):
            raise ValueError(f"{name}: dimensions {list(dims)} are not different ones of {rank}")
        if not dims or starts.dim() <= batched or starts.shape[-1] != len(dims):
            raise ValueError(
                f"{name}: start_indices is {tuple(starts.shape)}; its last dimension must have one "
                f"index for each of the dimensions {list(dims)}"
            )
        shape = tuple(tensor.shape[batched:])
        self.sizes = [shape[d] for d in self.dims]
        self.lengths = [int(n) for n in lengths]
        if len(self.lengths) != len(dims) or not all(
            1 <= n <= s for n, s in zip(self.lengths, self.sizes)
        ):
            raise ValueError(
                f"{name}: lengths {list(lengths)} do not fit dimensions {list(dims)} of sizes "
                f"{self.sizes}"
            )
        self.rest = [d for d in range(rank) if d not in self.dims]
        self.batch = tuple(tensor.shape[:batched])
        self.sets = tuple(starts.shape[batched:-1])
        self.whole = tuple(shape[d] for d in self.rest)
        self.order = list(range(batched)) + [batched + d for d in self.dims + self.rest]

    def rows(self, tensor):
        """[batch and cut dimensions as one, the others]"""
        return tensor.permute(self.order).reshape((-1,) + self.whole)

    def back(self, rows):
        """The tensor of its rows."""
        moved = rows.reshape(self.batch + tuple(self.sizes) + self.whole)
        return moved.permute([self.order.index(d) for d in range(len(self.order))])

    def places(self, starts):
        """The row of each element of each block: [batch, sets, lengths]."""
        batch, sets, cut = len(self.batch), len(self.sets), len(self.dims)
        result, scale = None, 1
        for i in reversed(range(cut)):
            begin = starts[..., i].reshape(self.batch + self.sets + (1,) * cut)
            steps = torch.arange(self.lengths[i], dtype=torch.int32)
            steps = steps.reshape((1,) * (batch + sets + i) + (-1,) + (1,) * (cut - i - 1))
            place = (begin + steps) * scale
            result = place if result is None else result + place
            scale *= self.sizes[i]
        if batch:
            number = torch.arange(math.prod(self.batch), dtype=torch.int32) * scale
            result = result + number.reshape(self.batch + (1,) * (sets + cut))
        return result

    def block_order(self):
        """Dimensions of [batch, sets, lengths, rest] as [batch, sets, those of the tensor]."""
        first = len(self.batch) + len(self.sets)
        now = self.dims + self.rest
        return list(range(first)) + [first + now.index(d) for d in range(len(now))]


def sn_gather(input_tensor, start_indices, gather_dims, gather_lengths, batched_dims=0):
    """Blocks of input_tensor, one for each set of start_indices.

    start_indices: [.., D], where D is how many dimensions gather_dims names; each set says where a
    block begins. gather_lengths: how long it is in each of these. Other dimensions are taken whole.
    batched_dims: so many first dimensions belong to both tensors, and gather_dims counts behind
    them. Result: [.., block]. A block that would leave the tensor is moved to its border.

    ValueError: shapes, dimensions or lengths that do not fit."""
    blocks = Blocks(
        "sn_gather", input_tensor, start_indices, gather_dims, gather_lengths, batched_dims
    )
    most = torch.tensor([s - n for s, n in zip(blocks.sizes, blocks.lengths)], dtype=torch.int32)
    starts = torch.minimum(torch.clamp(start_indices.to(torch.int32), min=0), most)
    places = blocks.places(starts)
    rows = torch.index_select(blocks.rows(input_tensor), 0, places.reshape(-1))
    found = rows.reshape(blocks.batch + blocks.sets + tuple(blocks.lengths) + blocks.whole)
    return found.permute(blocks.block_order())


def sn_scatter(
    operand,
    update,
    start_indices,
    scatter_dims,
    rmw_op="kUpdate",
    unique_indices=False,
    batched_dims=0,
):
    """The operand with blocks of update in it: what sn_gather reads, written.

    update: [sets of start_indices, block]. rmw_op: 'kUpdate' writes, 'kAdd' adds. A block that
    would leave the tensor changes nothing. unique_indices: a hint, without effect.

    ValueError: shapes or dimensions that do not fit, another rmw_op."""
    if rmw_op not in UPDATES:
        raise ValueError("sn_scatter: " + unknown("rmw_op", str(rmw_op), list(UPDATES)))
    first = start_indices.dim() - 1
    rank = operand.dim() - batched_dims
    if update.dim() != first + rank or update.shape[:first] != start_indices.shape[:first]:
        raise ValueError(
            f"sn_scatter: update is {tuple(update.shape)}, but must be "
            f"{tuple(start_indices.shape[:first])} and a block of {rank} dimensions"
        )
    lengths = [update.shape[first + (d + rank if d < 0 else d)] for d in scatter_dims]
    blocks = Blocks("sn_scatter", operand, start_indices, scatter_dims, lengths, batched_dims)
    order = blocks.block_order()
    back = [order.index(d) for d in range(len(order))]
    new = update.permute(back).reshape((-1,) + blocks.whole).to(operand.dtype)

    # What leaves the tensor goes to a row of its own, which is dropped.
    starts = start_indices.to(torch.int32)
    most = torch.tensor([s - n for s, n in zip(blocks.sizes, lengths)], dtype=torch.int32)
    inside = ((starts >= 0) & (starts <= most)).to(torch.int32).amin(-1) > 0
    inside = inside.reshape(blocks.batch + blocks.sets + (1,) * len(lengths))
    rows = blocks.rows(operand)
    count = rows.shape[0]
    places = blocks.places(starts)
    places = torch.where(inside.expand(places.shape), places, torch.tensor(count).int())
    longer = torch.cat([rows, torch.zeros((1,) + blocks.whole, dtype=operand.dtype)])
    write = torch.index_copy if rmw_op == "kUpdate" else torch.index_add
    return blocks.back(write(longer, 0, places.reshape(-1).long(), new)[:count])


def __getattr__(name):
    raise missing_attribute(__name__, name, NAMES)
