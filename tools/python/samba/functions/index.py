"""Indexing, gathering, scattering, embeddings."""
import torch

from samba.functions.shape import placed, reshaped
from samba.functions.table import axis, indices, row
from samba.tracing import Unsupported, ViewResult


@row("embedding", meta=False)
def embedding(
    t,
    input,
    weight,
    padding_idx=None,
    max_norm=None,
    norm_type=2.0,
    scale_grad_by_freq=False,
    sparse=False,
):
    if max_norm is not None or scale_grad_by_freq:
        raise Unsupported("max_norm and scale_grad_by_freq of an embedding")
    if isinstance(input, torch.Tensor) and input.dtype.is_floating_point:
        input, weight = weight, input  # torch.embedding(weight, indices)
    w = t.value(weight)
    if padding_idx is not None and padding_idx >= 0 and t.trains:
        # The row of the padding gets no gradient.
        ids = indices(t, input)
        is_padding = t.op("eq", ids, t.scalar(padding_idx, ids.dtype))
        is_padding = t.reshape(is_padding, is_padding.shape + (1,))
        rows = t.op("embedding", w, ids)
        is_padding = t.expand(is_padding, rows.shape)
        return t.op("where", is_padding, t.op("detach", rows), rows)
    return t.op("embedding", w, indices(t, input))


@row("gather", meta=False)
def gather(t, input, dim, index, *, sparse_grad=False):
    x = t.value(input)
    return t.op("gather", x, indices(t, index), dim=axis(dim, len(x.shape)))


@row("take_along_dim", meta=False)
def take_along_dim(t, input, indices, dim):
    return gather(t, input, dim, indices)


@row("index_select", meta=False)
def index_select(t, input, dim, index):
    x = t.value(input)
    return t.op("index_select", x, indices(t, index), dim=axis(dim, len(x.shape)))


@row("scatter", meta=False)
def scatter(t, input, dim, index, src=None, *, value=None, reduce=None):
    x, at = t.value(input), indices(t, index)
    source = src if src is not None else value
    if isinstance(source, (int, float)):
        new = t.scalar(source, x.dtype, at.shape)
    else:
        new = t.value(source, x.dtype)
        for dim_, size in enumerate(at.shape):
            new = t.slice(new, dim_, 0, size)
    names = {None: None, "add": "add", "multiply": "mul"}
    return t.op("scatter", x, at, new, dim=axis(dim, len(x.shape)), reduce=names[reduce])


@row("scatter_add", meta=False)
def scatter_add(t, input, dim, index, src):
    return scatter(t, input, dim, index, src, reduce="add")


@row("index_add", meta=False)
def index_add(t, input, dim, index, source, *, alpha=1):
    x, new = t.value(input), t.value(source)
    at = axis(dim, len(x.shape))
    shape = [1] * len(x.shape)
    shape[at] = new.shape[at]
    wide = t.expand(t.reshape(indices(t, index), shape), new.shape)
    if alpha != 1:
        new = t.op("mul", new, t.scalar(alpha, new.dtype))
    return t.op("scatter", x, wide, new, dim=at, reduce="add")


@row("index_fill", meta=False)
def index_fill(t, input, dim, index, value):
    x = t.value(input)
    at = axis(dim, len(x.shape))
    ids = indices(t, index)
    shape = [1] * len(x.shape)
    shape[at] = ids.shape[0]
    full = list(x.shape)
    full[at] = ids.shape[0]
    wide = t.expand(t.reshape(ids, shape), full)
    return t.op("scatter", x, wide, t.expand(t.value(value, x.dtype), full), dim=at)


@row("one_hot", meta=False)
def one_hot(t, tensor, num_classes=-1):
    if num_classes < 0:
        raise Unsupported("one_hot without num_classes has a size that depends on values; it")
    ids = t.value(tensor)
    result = t.op("one_hot", ids, num_classes=num_classes, dim=len(ids.shape))
    return t.cast(result, "i64")


@row("embedding_bag", meta=False)
def embedding_bag(
    t,
    input,
    weight,
    offsets=None,
    max_norm=None,
    norm_type=2,
    scale_grad_by_freq=False,
    mode="mean",
    sparse=False,
    per_sample_weights=None,
    include_last_offset=False,
    padding_idx=None,
):
    if input.dim() != 2 or max_norm is not None or padding_idx is not None:
        raise Unsupported("bags of different sizes, max_norm and padding_idx")
    rows = t.op("embedding", weight, indices(t, input))
    if per_sample_weights is not None:
        shares = t.value(per_sample_weights)
        rows = t.op("mul", rows, t.reshape(shares, shares.shape + (1,)))
    return t.op({"mean": "mean", "sum": "sum", "max": "amax"}[mode], rows, dim=[1])


@row("index_copy", meta=False)
def index_copy(t, input, dim, index, source):
    x, new = t.value(input), t.value(source)
    at = axis(dim, len(x.shape))
    shape = [1] * len(x.shape)
    shape[at] = new.shape[at]
    wide = t.expand(t.reshape(indices(t, index), shape), new.shape)
    return t.op("scatter", x, wide, new, dim=at)


@row("scatter_reduce", meta=False)
def scatter_reduce(t, input, dim, index, src, reduce, *, include_self=True):
    names = {"sum": "add", "prod": "mul", "amax": "max", "amin": "min"}
    if reduce not in names or not include_self:
        raise Unsupported("reduce='mean' and include_self=False")
    x, at, new = t.value(input), indices(t, index), t.value(src)
    for d, size in enumerate(at.shape):
        new = t.slice(new, d, 0, size)
    return t.op("scatter", x, at, new, dim=axis(dim, len(x.shape)), reduce=names[reduce])


@row("take", meta=False)
def take(t, input, index):
    x, at = t.value(input), indices(t, index)
    flat = t.reshape(x, (_count(x.shape),))
    found = t.op("index_select", flat, t.reshape(at, (_count(at.shape),)), dim=0)
    return t.reshape(found, at.shape)


def _count(shape):
    count = 1
    for size in shape:
        count *= size
    return count


# Behind the name of a function, in an error.
SIZE_UNKNOWN = (
    "the size of the result depends on values; torch.where, masked_fill and a product with the "
    "mask keep the size"
)


def is_mask(part):
    return isinstance(part, torch.Tensor) and part.dtype == torch.bool


def is_known(tensor):
    """A tensor of the host has values while tracing."""
    return getattr(tensor, "_traced", None) is None


def places_of(mask):
    """Where a mask of the host is True, in a list of all its elements."""
    with torch._C.DisableTorchFunction():
        return torch.Tensor.flatten(mask).nonzero().flatten()


def without_masks(index):
    """The index with numbers in place of masks of one dimension that have values."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(is_mask(part) for part in parts):
        return index
    return tuple(
        places_of(part) if is_mask(part) and is_known(part) and part.dim() == 1 else part
        for part in parts
    )


def rows_under(t, value, mask):
    """The value with the dimensions of a mask as one, and the places in it where it is True."""
    if tuple(mask.shape) != tuple(value.shape[: mask.dim()]):
        raise IndexError(
            f"a mask of shape {tuple(mask.shape)} does not fit a tensor of shape "
            f"{tuple(value.shape)}"
        )
    rest = tuple(value.shape[mask.dim() :])
    return t.reshape(value, (mask.numel(),) + rest), places_of(mask)


@row("masked_select", meta=False)
def masked_select(t, input, mask):
    if not is_known(mask):
        raise Unsupported(SIZE_UNKNOWN)
    x = t.value(input)
    shape = torch.broadcast_shapes(tuple(x.shape), tuple(mask.shape))
    with torch._C.DisableTorchFunction():
        mask = torch.Tensor.expand(mask, shape)
    value, places = rows_under(t, t.expand(x, shape), mask)
    if not len(places):
        raise Unsupported("a part without elements")
    return t.op("index_select", value, indices(t, places), dim=0)


class Plan:
    """An index of Python as steps: ranges, then new dimensions, then one tensor of indices."""

    def __init__(self, t, shape, index):
        index = list(index) if isinstance(index, tuple) else [index]
        taken = sum(self.width(part) for part in index)
        if Ellipsis in [p for p in index if p is Ellipsis]:
            at = next(i for i, p in enumerate(index) if p is Ellipsis)
            index[at : at + 1] = [slice(None)] * (len(shape) - taken)
        elif taken < len(shape):
            index += [slice(None)] * (len(shape) - taken)
        if taken > len(shape):
            raise IndexError(f"too many indices for tensor of dimension {len(shape)}")
        self.ranges = []  # (start, end, step) per dimension of the tensor
        self.shape = []  # after the ranges, with new dimensions and without those of integers
        self.tensor = None  # (dimension of that shape, index)
        dim = 0
        for part in index:
            dim = self.take(t, shape, dim, part)

    @staticmethod
    def width(part):
        if part is None or part is Ellipsis:
            return 0
        if isinstance(part, torch.Tensor) and part.dtype == torch.bool:
            raise Unsupported(SIZE_UNKNOWN)
        return 1

    def take(self, t, shape, dim, part):
        if part is None:
            self.shape.append(1)
            return dim
        if isinstance(part, bool):
            raise Unsupported("a bool as an index")
        size = shape[dim]
        if isinstance(part, slice):
            start, end, step = part.indices(size)
            if step <= 0:
                raise ValueError("step must be greater than zero")
            end = max(end, start)
            self.ranges.append((start, end, step))
            self.shape.append(len(range(start, end, step)))
        elif isinstance(part, (list, torch.Tensor)):
            self.take_tensor(t, size, part)
        else:
            number = part.__index__()
            if not -size <= number < size:
                raise IndexError(
                    f"index {number} is out of bounds for dimension {dim} with size {size}"
                )
            number += size if number < 0 else 0
            self.ranges.append((number, number + 1, 1))
        return dim + 1

    def take_tensor(self, t, size, part):
        if self.tensor is not None:
            raise Unsupported(
                "an index with two tensors; x.flatten(0, 1)[i * x.shape[1] + j] is x[i, j] with one"
            )
        part = torch.tensor(part) if isinstance(part, list) else part
        if part.dtype.is_floating_point:
            if getattr(part, "_traced", None) is None and not bool((part == part.floor()).all()):
                raise IndexError("an index of floats must have whole numbers")
        if getattr(part, "_traced", None) is None:
            with torch._C.DisableTorchFunction():
                part = part.long()
                if part.numel() and (int(part.max()) >= size or int(part.min()) < -size):
                    raise IndexError(f"an index is out of range for size {size}")
                part = torch.where(part < 0, part + size, part)
        self.tensor = (len(self.shape), part, part.dim())
        self.ranges.append((0, size, 1))
        self.shape.append(size)

    def cut(self, t, value):
        for dim, (start, end, step) in enumerate(self.ranges):
            value = t.slice(value, dim, start, end, step)
        return t.reshape(value, self.shape)


@row("Tensor.__getitem__", meta=False)
def getitem(t, input, index):
    value = t.value(input)
    index = without_masks(index)
    alone = index[0] if isinstance(index, tuple) and len(index) == 1 else index
    if is_mask(alone) and is_known(alone) and alone.dim():
        value, places = rows_under(t, value, alone)
        if not len(places):
            raise Unsupported("a part without elements")
        return t.op("index_select", value, indices(t, places), dim=0)
    plan = Plan(t, value.shape, index)
    if 0 in plan.shape:
        raise Unsupported("a part without elements")
    if plan.tensor is None:
        return ViewResult(
            plan.cut(t, value),
            lambda base: plan.cut(t, base),
            lambda base, new: written(t, base, plan, new),
        )
    dim, part, rank = plan.tensor
    cut = plan.cut(t, value)
    ids = indices(t, part)
    if rank == 1:
        return t.op("index_select", cut, ids, dim=dim)
    count = 1
    for size in ids.shape:
        count *= size
    found = t.op("index_select", cut, t.reshape(ids, (count,)), dim=dim)
    return t.reshape(found, cut.shape[:dim] + ids.shape + cut.shape[dim + 1 :])


def written_under(t, base, mask, new):
    """The base with `new` where a mask of its first dimensions is True."""
    rows, places = rows_under(t, base, mask) if is_known(mask) else (base, None)
    rest = tuple(base.shape[mask.dim() :])
    if len(new.shape) <= len(rest) or set(new.shape[: len(new.shape) - len(rest)]) == {1}:
        new = t.reshape(new, new.shape[-len(rest) :] if rest else ())  # one for all places
        shape = tuple(mask.shape) + (1,) * len(rest)
        return t.op("where", t.reshape(t.value(mask), shape), t.expand(new, base.shape), base)
    if places is None:
        raise Unsupported("values one by one for a mask that is computed")
    if not len(places):
        return base
    new = t.expand(new, (len(places),) + rest)
    wide = t.reshape(indices(t, places), (len(places),) + (1,) * len(rest))
    below = t.op("scatter", rows, t.expand(wide, new.shape), new, dim=0)
    return t.reshape(below, base.shape)


def written(t, base, plan, new):
    """The base with `new` at the plan's place."""
    ranges = [r for r in plan.ranges]
    new = t.reshape(new, [len(range(*r)) for r in ranges])
    return inner(t, base, ranges, 0, new)


def inner(t, base, ranges, dim, new):
    """From the first dimension that is cut on."""
    while dim < len(ranges) and ranges[dim] == (0, base.shape[dim], 1):
        dim += 1
    if dim == len(ranges):
        return new
    start, end, step = ranges[dim]
    below = t.slice(base, dim, start, end, step)
    return placed(t, base, inner(t, below, ranges, dim + 1, new), dim, start, end, step)


@row("Tensor.__setitem__", meta=False)
def setitem(t, input, index, value):
    parts = index if isinstance(index, tuple) else (index,)
    if any(isinstance(p, list) for p in parts):
        raise NotImplementedError("a list cannot be assigned to; use a tensor of indices")
    base = t.value(input)
    if len(parts) == 1 and is_mask(parts[0]):
        t.assign(input, written_under(t, base, parts[0], t.value(value, base.dtype)))
        return None
    index = without_masks(index)
    plan = Plan(t, base.shape, index)
    new = t.value(value, base.dtype)
    if plan.tensor is None:
        t.assign(input, written(t, base, plan, t.expand(new, plan.shape)))
        return None
    dim, part, rank = plan.tensor
    if rank > 1:
        raise Unsupported("an index of several dimensions that is assigned to")
    ids = indices(t, part)
    wide = list(plan.shape)
    wide[dim] = ids.shape[0]
    new = t.expand(new, wide)
    shape = [1] * len(wide)
    shape[dim] = ids.shape[0]
    places = t.expand(t.reshape(ids, shape), wide)
    below = t.op("scatter", plan.cut(t, base), places, new, dim=dim)
    t.assign(input, written(t, base, plan, below))
    return None
