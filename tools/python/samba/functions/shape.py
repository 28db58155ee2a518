"""Views and rearrangements."""
import torch

from samba.functions.table import axes, axis, getter, numbers, promote, row
from samba.tracing import Unsupported, ViewResult


def sizes_of(size):
    """view(2, 3), view((2, 3)) and view(torch.Size)."""
    if len(size) == 1 and not isinstance(size[0], int):
        size = size[0]
    return [int(s) for s in size]


def resolved(shape, count):
    """A shape without -1; ValueError when it does not fit."""
    shape = list(shape)
    if shape.count(-1) > 1:
        raise RuntimeError("only one dimension can be inferred")
    known = 1
    for size in shape:
        known *= size if size != -1 else 1
    if -1 in shape:
        if known == 0 or count % known:
            raise RuntimeError(f"shape '{shape}' is invalid for input of size {count}")
        shape[shape.index(-1)] = count // known
    elif known != count:
        raise RuntimeError(f"shape '{shape}' is invalid for input of size {count}")
    return tuple(shape)


def elements(shape):
    count = 1
    for size in shape:
        count *= size
    return count


def reshaped(t, input, shape):
    """A view of all elements in their order."""
    value = t.value(input)
    old, shape = value.shape, tuple(shape)
    if old == shape:
        return ViewResult(value, lambda base: base, lambda base, new: new)
    return ViewResult(
        t.reshape(value, shape),
        lambda base: t.reshape(base, shape),
        lambda base, new: t.reshape(new, old),
    )


def permuted(t, input, dims):
    value = t.value(input)
    back = [dims.index(i) for i in range(len(dims))]
    return ViewResult(
        t.permute(value, dims),
        lambda base: t.permute(base, dims),
        lambda base, new: t.permute(new, back),
    )


@row("Tensor.view", "reshape")
def reshape(t, input, *shape, **named):
    shape = shape or (named["shape" if "shape" in named else "size"],)
    if len(shape) == 1 and isinstance(shape[0], torch.dtype):
        raise Unsupported("a view as another dtype")
    return reshaped(t, input, resolved(sizes_of(shape), elements(t.value(input).shape)))


@row("view_as", "reshape_as")
def view_as(t, input, other):
    return reshaped(t, input, resolved(list(other.shape), elements(t.value(input).shape)))


@row("flatten")
def flatten(t, input, start_dim=0, end_dim=-1):
    shape = t.value(input).shape
    first, last = axis(start_dim, len(shape)), axis(end_dim, len(shape))
    if first > last:
        raise RuntimeError("flatten() has invalid args: start_dim cannot come after end_dim")
    middle = elements(shape[first : last + 1])
    return reshaped(t, input, shape[:first] + (middle,) + shape[last + 1 :])


@row("unflatten", "Tensor.unflatten")
def unflatten(t, input, dim, sizes, names=None):
    shape = t.value(input).shape
    at = axis(dim, len(shape))
    return reshaped(t, input, shape[:at] + resolved(sizes, shape[at]) + shape[at + 1 :])


@row("ravel")
def ravel(t, input):
    return reshaped(t, input, (elements(t.value(input).shape),))


@row("squeeze")
def squeeze(t, input, dim=None):
    shape = t.value(input).shape
    if dim is None:
        return reshaped(t, input, tuple(s for s in shape if s != 1))
    at = axis(dim, len(shape))
    return reshaped(t, input, tuple(s for i, s in enumerate(shape) if i != at or s != 1))


@row("unsqueeze")
def unsqueeze(t, input, dim):
    shape = t.value(input).shape
    at = axis(dim, len(shape) + 1)
    return reshaped(t, input, shape[:at] + (1,) + shape[at:])


@row("permute")
def permute(t, input, *dims, **named):
    dims = dims or (named["dims"],)
    return permuted(t, input, axes(sizes_of(dims), len(t.value(input).shape)))


def exchanged(t, input, dim0, dim1):
    rank = len(t.value(input).shape)
    dims = list(range(rank))
    a, b = axis(dim0, rank), axis(dim1, rank)
    if rank:
        dims[a], dims[b] = dims[b], dims[a]
    return permuted(t, input, dims)


@row("transpose", "swapaxes", "swapdims")
def transpose(t, input, dim0, dim1):
    return exchanged(t, input, dim0, dim1)


@row("t")
def t_(t, input):
    rank = len(t.value(input).shape)
    if rank > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {rank}D")
    return exchanged(t, input, 0, 1) if rank == 2 else permuted(t, input, list(range(rank)))


@getter("T")
def upper_t(t, input):
    return permuted(t, input, list(range(len(t.value(input).shape)))[::-1])


@getter("mT")
def matrix_t(t, input):
    return exchanged(t, input, -2, -1)


@row("adjoint")
def adjoint(t, input):
    return exchanged(t, input, -2, -1)


@row("movedim", "moveaxis")
def movedim(t, input, source, destination):
    rank = len(t.value(input).shape)
    source, destination = axes(source, rank), axes(destination, rank)
    dims = [d for d in range(rank) if d not in source]
    for to, origin in sorted(zip(destination, source)):
        dims.insert(to, origin)
    return permuted(t, input, dims)


@row("Tensor.expand")
def expand(t, input, *size, implicit=False):
    value = t.value(input)
    size = sizes_of(size)
    ahead = len(size) - len(value.shape)
    shape = [value.shape[i - ahead] if s == -1 else s for i, s in enumerate(size)]
    return ViewResult(t.expand(value, shape), lambda base: t.expand(base, shape), None)


@row("Tensor.expand_as")
def expand_as(t, input, other):
    return expand(t, input, *other.shape)


@row("broadcast_to")
def broadcast_to(t, input, size):
    return expand(t, input, *size)


@row("broadcast_tensors", meta=False)
def broadcast_tensors(t, *tensors):
    tensors = (
        tensors[0] if len(tensors) == 1 and not isinstance(tensors[0], torch.Tensor) else tensors
    )
    shape = torch.broadcast_shapes(*(tuple(x.shape) for x in tensors))
    return tuple(t.expand(t.value(x), shape) for x in tensors)


@row("contiguous", "clone")
def contiguous(t, input, memory_format=None):
    return t.value(input)


@row("Tensor.detach", "detach")
def detach(t, input):
    value = t.value(input)
    return t.op("detach", value) if value.dtype in ("f32", "bf16", "f16") else value


@getter("data")
def data(t, input):
    return detach(t, input)


@row("Tensor.requires_grad_")
def same(t, input, *args):
    return input


def part(t, input, dim, start, end, step=1, drop=False):
    """A range of one dimension; `drop`: a single element, whose dimension goes."""
    value = t.value(input)
    shape = value.shape

    def read(base):
        cut = t.slice(base, dim, start, end, step)
        return t.reshape(cut, shape[:dim] + shape[dim + 1 :]) if drop else cut

    def write(base, new):
        """The base with new values in the range: as an addition of zeros around them."""
        count = (end - start + step - 1) // step
        wide = t.reshape(new, shape[:dim] + (count,) + shape[dim + 1 :])
        return placed(t, base, wide, dim, start, end, step)

    return ViewResult(read(value), read, write)


def placed(t, base, new, dim, start, end, step=1):
    """The base with `new` at a range of a dimension."""
    shape = base.shape
    if step == 1:
        parts = []
        if start > 0:
            parts.append(t.slice(base, dim, 0, start))
        parts.append(new)
        if end < shape[dim]:
            parts.append(t.slice(base, dim, end, shape[dim]))
        return t.op("cat", *parts, dim=dim) if len(parts) > 1 else new
    index = torch.arange(start, end, step).reshape(
        [-1 if i == dim else 1 for i in range(len(shape))]
    )
    index = t.expand(t.constant(index), new.shape)
    return t.op("scatter", base, index, new, dim=dim)


@row("narrow")
def narrow(t, input, dim, start, length):
    shape = t.value(input).shape
    at = axis(dim, len(shape))
    start = start + shape[at] if start < 0 else start
    if start + length > shape[at]:
        raise RuntimeError(
            f"start ({start}) + length ({length}) exceeds dimension size ({shape[at]})."
        )
    return part(t, input, at, start, start + length)


@row("select")
def select(t, input, dim, index):
    shape = t.value(input).shape
    at = axis(dim, len(shape))
    if not -shape[at] <= index < shape[at]:
        raise IndexError(f"index {index} is out of range for dimension {at} of size {shape[at]}")
    index = index + shape[at] if index < 0 else index
    return part(t, input, at, index, index + 1, drop=True)


@row("split", "split_with_sizes", "Tensor.split")
def split(t, input, split_size_or_sections=None, dim=0, **others):
    sections = split_size_or_sections
    if sections is None:
        sections = others.get("split_size", others.get("split_sizes"))
    size = t.value(input).shape[axis(dim, len(input.shape))]
    if isinstance(sections, int):
        sections = [min(sections, size - at) for at in range(0, max(size, 1), sections)]
    if sum(sections) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size}, but got "
            f"{list(sections)}"
        )
    return ranges(t, input, dim, sections)


def ranges(t, input, dim, sections):
    at, start, parts = axis(dim, len(input.shape)), 0, []
    for length in sections:
        parts.append(part(t, input, at, start, start + length))
        start += length
    return tuple(parts)


@row("chunk")
def chunk(t, input, chunks, dim=0):
    size = t.value(input).shape[axis(dim, len(input.shape))]
    return split(t, input, -(-size // chunks), dim)


@row("tensor_split", meta=False)
def tensor_split(t, input, indices_or_sections, dim=0):
    size = t.value(input).shape[axis(dim, len(input.shape))]
    if isinstance(indices_or_sections, int):
        n = indices_or_sections
        return ranges(t, input, dim, [size // n + (i < size % n) for i in range(n)])
    ends = [min(i, size) for i in indices_or_sections] + [size]
    return ranges(t, input, dim, [b - a for a, b in zip([0] + ends, ends)])


@row("unbind")
def unbind(t, input, dim=0):
    size = t.value(input).shape[axis(dim, len(input.shape))]
    return tuple(select(t, input, dim, i) for i in range(size))


@row("cat", "concat", "concatenate")
def cat(t, tensors, dim=0):
    tensors = [x for x in tensors if tuple(x.shape) != (0,)]
    values = promote(t, *tensors)
    dim = axis(dim, len(values[0].shape))
    return values[0] if len(values) == 1 else t.op("cat", *values, dim=dim)


@row("stack")
def stack(t, tensors, dim=0):
    values = promote(t, *tensors)
    shape = values[0].shape
    at = axis(dim, len(shape) + 1)
    wide = [t.reshape(v, shape[:at] + (1,) + shape[at:]) for v in values]
    return wide[0] if len(wide) == 1 else t.op("cat", *wide, dim=at)


@row("hstack", meta=False)
def hstack(t, tensors):
    return cat(t, tensors, 0 if len(tensors[0].shape) == 1 else 1)


@row("vstack", meta=False)
def vstack(t, tensors):
    tensors = [x if len(x.shape) > 1 else x[None] for x in tensors]
    return cat(t, tensors, 0)


@row("Tensor.repeat")
def repeat(t, input, *sizes):
    sizes = sizes_of(sizes)
    value = t.value(input)
    shape = (1,) * (len(sizes) - len(value.shape)) + value.shape
    # Each dimension gets one of size 1 in front, which is expanded.
    between = tuple(s for size in shape for s in (1, size))
    wide = tuple(s for count, size in zip(sizes, shape) for s in (count, size))
    result = tuple(count * size for count, size in zip(sizes, shape))
    if len(wide) > 8:  # the device has no more dimensions: one at a time
        value = t.reshape(value, shape)
        for dim, count in enumerate(sizes):
            value = value if count == 1 else t.op("cat", *[value] * count, dim=dim)
        return value
    return t.reshape(t.expand(t.reshape(value, between), wide), result)


@row("tile")
def tile(t, input, *dims):
    dims = sizes_of(dims) if dims else []
    dims = [1] * (len(input.shape) - len(dims)) + dims
    return repeat(t, input, *dims)


@row("repeat_interleave", meta=False)
def repeat_interleave(t, input, repeats, dim=None, output_size=None):
    if not isinstance(repeats, int):
        raise Unsupported("repeats that are a tensor")
    value = t.value(input)
    if dim is None:
        value, dim = t.reshape(value, (elements(value.shape),)), 0
    at = axis(dim, len(value.shape))
    shape = value.shape
    value = t.reshape(value, shape[: at + 1] + (1,) + shape[at + 1 :])
    value = t.expand(value, shape[: at + 1] + (repeats,) + shape[at + 1 :])
    return t.reshape(value, shape[:at] + (shape[at] * repeats,) + shape[at + 1 :])


@row("flip")
def flip(t, input, *dims, **named):
    dims = dims or (named["dims"],)
    value = t.value(input)
    rank = len(value.shape)
    chosen = axes(sizes_of(dims), rank)
    starts = [s - 1 if i in chosen else 0 for i, s in enumerate(value.shape)]
    ends = [-1 if i in chosen else s for i, s in enumerate(value.shape)]
    steps = [-1 if i in chosen else 1 for i in range(rank)]
    return t.op("slice", value, starts=starts, ends=ends, steps=steps)


@row("fliplr", meta=False)
def fliplr(t, input):
    return flip(t, input, 1)


@row("flipud", meta=False)
def flipud(t, input):
    return flip(t, input, 0)


@row("roll")
def roll(t, input, shifts, dims=None):
    value = t.value(input)
    shape = value.shape
    if dims is None:
        value, dims = t.reshape(value, (elements(shape),)), 0
    dims = axes(dims, len(value.shape))
    for shift, dim in zip(numbers(shifts, len(dims)), dims):
        size = value.shape[dim]
        cut = (size - shift) % size
        if cut:
            tail, head = t.slice(value, dim, cut, size), t.slice(value, dim, 0, cut)
            value = t.op("cat", tail, head, dim=dim)
    return t.reshape(value, shape)


@row("rot90", meta=False)
def rot90(t, input, k=1, dims=(0, 1)):
    result = input
    for _ in range(k % 4):
        result = torch.flip(torch.transpose(result, *dims), (dims[0],))
    return result


@row("diagonal", meta=False)
def diagonal(t, input, offset=0, dim1=0, dim2=1):
    shape = tuple(input.shape)
    if len(shape) != 2 or offset or {dim1, dim2} != {0, 1}:
        raise Unsupported("a diagonal other than the main one of a matrix")
    count = min(shape)
    value = t.slice(t.slice(t.value(input), 0, 0, count), 1, 0, count)
    index = t.constant(torch.arange(count).reshape(count, 1))
    return t.reshape(t.op("gather", value, index, dim=1), (count,))


@row("pad", meta=False)
def pad(t, input, pad, mode="constant", value=None):
    x = t.value(input)
    rank = len(x.shape)
    low, high = [0] * rank, [0] * rank
    for i in range(len(pad) // 2):
        low[rank - 1 - i], high[rank - 1 - i] = int(pad[2 * i]), int(pad[2 * i + 1])
    for dim in range(rank):  # negative: what is cut off
        cut_low, cut_high = max(-low[dim], 0), max(-high[dim], 0)
        x = t.slice(x, dim, cut_low, x.shape[dim] - cut_high)
        low[dim], high[dim] = max(low[dim], 0), max(high[dim], 0)
    if not any(low) and not any(high):
        return x
    if mode == "constant":
        return t.op("pad", x, low=low, high=high, value=float(value or 0))
    if mode not in ("reflect", "replicate", "circular"):
        raise ValueError(f"mode '{mode}' is none of: constant, reflect, replicate, circular")
    return t.op("pad_border", x, low=low, high=high, mode=mode)


@row("pixel_shuffle")
def pixel_shuffle(t, input, upscale_factor):
    r = upscale_factor
    x = t.value(input)
    *lead, c, h, w = x.shape
    n = elements(lead)
    x = t.reshape(x, (n, c // (r * r), r, r, h, w))
    x = t.permute(x, [0, 1, 4, 2, 5, 3])
    return t.reshape(x, (*lead, c // (r * r), h * r, w * r))


@row("pixel_unshuffle")
def pixel_unshuffle(t, input, downscale_factor):
    r = downscale_factor
    x = t.value(input)
    *lead, c, h, w = x.shape
    n = elements(lead)
    x = t.reshape(x, (n, c, h // r, r, w // r, r))
    x = t.permute(x, [0, 1, 3, 5, 2, 4])
    return t.reshape(x, (*lead, c * r * r, h // r, w // r))


@row("channel_shuffle", meta=False)
def channel_shuffle(t, input, groups):
    x = t.value(input)
    n, c, *rest = x.shape
    y = t.reshape(x, (n, groups, c // groups, *rest))
    y = t.permute(y, [0, 2, 1] + list(range(3, len(rest) + 3)))
    return t.reshape(y, x.shape)


@row("tril")
def tril(t, input, diagonal=0):
    return t.op("tril", input, diagonal=diagonal)


@row("triu")
def triu(t, input, diagonal=0):
    return t.op("triu", input, diagonal=diagonal)


@row("meshgrid", meta=False)
def meshgrid(t, *tensors, indexing="ij"):
    tensors = tensors[0] if isinstance(tensors[0], (tuple, list)) else tensors
    values = [t.value(x) for x in tensors]
    shape = [elements(v.shape) for v in values]
    exchange = indexing == "xy" and len(values) > 1
    if exchange:
        values[:2], shape[:2] = values[1::-1], shape[1::-1]
    result = []
    for at, value in enumerate(values):
        wide = [s if i == at else 1 for i, s in enumerate(shape)]
        result.append(t.expand(t.reshape(value, wide), shape))
    if exchange:
        result[:2] = result[1::-1]
    return tuple(result)


def at_least(rank, places):
    def build(t, *tensors):
        tensors = tensors[0] if isinstance(tensors[0], (tuple, list)) else tensors
        result = []
        for tensor in tensors:
            shape = t.value(tensor).shape
            wanted = places.get(len(shape))
            result.append(t.reshape(tensor, wanted(shape)) if wanted else tensor)
        return result[0] if len(result) == 1 else tuple(result)

    return build


row("atleast_1d", meta=False)(at_least(1, {0: lambda s: (1,)}))
row("atleast_2d", meta=False)(at_least(2, {0: lambda s: (1, 1), 1: lambda s: (1,) + s}))
row("atleast_3d", meta=False)(
    at_least(3, {0: lambda s: (1, 1, 1), 1: lambda s: (1,) + s + (1,), 2: lambda s: s + (1,)})
)


@row("column_stack", meta=False)
def column_stack(t, tensors):
    return torch.cat([x.unsqueeze(1) if len(x.shape) == 1 else x for x in tensors], 1)


@row("row_stack", meta=False)
def row_stack(t, tensors):
    return vstack(t, tensors)


@row("dstack", meta=False)
def dstack(t, tensors):
    return torch.cat([torch.atleast_3d(x) for x in tensors], 2)


for _name, _dim in {"hsplit": 1, "vsplit": 0, "dsplit": 2}.items():
    row(_name, meta=False)(
        lambda t, input, sections, dim=_dim: tensor_split(
            t, input, sections, dim if len(input.shape) > 1 else 0
        )
    )
row("unsafe_split", "unsafe_split_with_sizes", meta=False)(split)
row("unsafe_chunk", meta=False)(chunk)


@row("diag_embed", meta=False)
def diag_embed(t, input, offset=0, dim1=-2, dim2=-1):
    if offset or {dim1, dim2} != {-2, -1}:
        raise Unsupported("a diagonal other than the main one of the last two dimensions")
    value = t.value(input)
    size = value.shape[-1]
    is_diagonal = t.constant(torch.eye(size, dtype=torch.bool))
    wide = t.expand(t.reshape(value, value.shape + (1,)), value.shape + (size,))
    return t.op("where", is_diagonal, wide, t.scalar(0, value.dtype))


@row("diff", meta=False)
def diff(t, input, n=1, dim=-1, prepend=None, append=None):
    parts = [x for x in (prepend, input, append) if x is not None]
    result = torch.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        size = result.shape[dim]
        result = result.narrow(dim, 1, size - 1) - result.narrow(dim, 0, size - 1)
    return result


@row("select_scatter", meta=False)
def select_scatter(t, input, src, dim, index):
    base, new = t.value(input), t.value(src)
    at = axis(dim, len(base.shape))
    index = index % base.shape[at]
    wide = t.reshape(new, base.shape[:at] + (1,) + base.shape[at + 1 :])
    return placed(t, base, wide, at, index, index + 1)


@row("slice_scatter", meta=False)
def slice_scatter(t, input, src, dim=0, start=None, end=None, step=1):
    base = t.value(input)
    at = axis(dim, len(base.shape))
    start, end, step = slice(start, end, step).indices(base.shape[at])
    return placed(t, base, t.value(src), at, start, end, step)


@row("sum_to_size", meta=False)
def sum_to_size(t, input, *size):
    size = sizes_of(size)
    value = t.value(input)
    ahead = len(value.shape) - len(size)
    dims = [i for i, s in enumerate(value.shape) if i < ahead or size[i - ahead] != s]
    value = t.op("sum", value, dim=dims, keepdim=True) if dims else value
    return t.reshape(value, size)


@row("constant_pad_nd", meta=False)
def constant_pad_nd(t, input, pad_, value=0):
    return pad(t, input, pad_, "constant", value)


@row("diag", meta=False)
def diag(t, input, diagonal_=0):
    if len(input.shape) == 1:
        return diag_embed(t, input, diagonal_)
    return diagonal(t, input, diagonal_)
