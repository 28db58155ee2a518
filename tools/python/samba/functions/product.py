"""Matrix products and attention."""
import math

import torch
import torch.nn.functional as F

from samba.functions.table import add, promote, row
from samba.functions.elementwise import scaled
from samba.tracing import Unsupported


@row("linear", meta=False)
def linear(t, input, weight, bias=None):
    x, w = t.value(input), t.value(weight)
    if len(x.shape) == 1:
        return t.reshape(t.op("linear", t.reshape(x, (1,) + x.shape), w, bias), (w.shape[0],))
    return t.op("linear", x, w, bias)


@row("matmul", "Tensor.__matmul__")
def matmul(t, input, other):
    a, b = t.value(input), t.value(other)
    left, right = len(a.shape) == 1, len(b.shape) == 1
    if left:
        a = t.reshape(a, (1,) + a.shape)
    if right:
        b = t.reshape(b, b.shape + (1,))
    result = t.op("matmul", a, b)
    shape = list(result.shape)
    if right:
        del shape[-1]
    if left:
        del shape[-1 if right else -2]
    return t.reshape(result, shape)


@row("Tensor.__rmatmul__")
def rmatmul(t, input, other):
    return matmul(t, other, input)


for _name in ("mm", "bmm"):
    add(_name, lambda t, input, mat2: matmul(t, input, mat2))
add("mv", lambda t, input, vec: matmul(t, input, vec))
for _name in ("dot", "inner", "vdot"):
    add(_name, lambda t, input, other: inner(t, input, other))


def inner(t, input, other):
    a, b = t.value(input), t.value(other)
    if len(b.shape) == 1:
        return matmul(t, a, b)
    return t.op("linear", a, b)


@row("outer", "ger")
def outer(t, input, vec2):
    a, b = t.value(input), t.value(vec2)
    return t.op("mul", t.reshape(a, a.shape + (1,)), t.reshape(b, (1,) + b.shape))


@row("addmm", "baddbmm", "addmv")
def addmm(t, input, mat1, mat2, *, beta=1, alpha=1):
    product = scaled(t, matmul(t, mat1, mat2), alpha)
    return product if beta == 0 else t.op("add", scaled(t, t.value(input), beta), product)


@row("addbmm", meta=False)
def addbmm(t, input, batch1, batch2, *, beta=1, alpha=1):
    product = t.op("sum", matmul(t, batch1, batch2), dim=[0])
    return t.op("add", scaled(t, t.value(input), beta), scaled(t, product, alpha))


@row("chain_matmul", "multi_dot", meta=False)
def multi_dot(t, *matrices):
    matrices = matrices[0] if len(matrices) == 1 else matrices
    result = matrices[0]
    for matrix in matrices[1:]:
        result = torch.matmul(result, matrix)
    return result


@row("einsum", meta=False)
def einsum(t, equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (tuple, list)):
        operands = operands[0]
    values = promote(t, *operands)
    return t.op("einsum", *values, equation=equation.replace(" ", ""))


@row("bilinear", meta=False)
def bilinear(t, input1, input2, weight, bias=None):
    a, b, w = t.value(input1), t.value(input2), t.value(weight)
    lead = a.shape[:-1]
    rows = math.prod(lead)
    flat = [t.reshape(v, (rows, v.shape[-1])) for v in (a, b)]
    result = t.op("einsum", flat[0], w, flat[1], equation="ni,oij,nj->no")
    result = t.reshape(result, lead + (w.shape[0],))
    return result if bias is None else t.op("add", result, bias)


@row("cosine_similarity", meta=False)
def cosine_similarity(t, x1, x2, dim=1, eps=1e-8):
    a, b = promote(t, x1, x2)
    shape = torch.broadcast_shapes(a.shape, b.shape)
    dim = dim % len(shape)
    a, b = t.expand(a, shape), t.expand(b, shape)

    def length(x):
        return t.op("sum", t.op("mul", x, x), dim=[dim])

    product = t.op("sum", t.op("mul", a, b), dim=[dim])
    least = t.scalar(eps * eps, a.dtype)
    size = t.op(
        "sqrt", t.op("mul", t.op("maximum", length(a), least), t.op("maximum", length(b), least))
    )
    return t.op("div", product, size)


@row("pairwise_distance", meta=False)
def pairwise_distance(t, x1, x2, p=2.0, eps=1e-6, keepdim=False):
    difference = t.op("sub", x1, x2)
    difference = t.op("add", difference, t.scalar(eps, difference.dtype))
    return torch.norm(t.wrap(difference), p, -1, keepdim)


@row("cdist", meta=False)
def cdist(t, x1, x2, p=2.0, compute_mode=None):
    return torch.norm(x1.unsqueeze(-2) - x2.unsqueeze(-3), p, -1)


@row("det", meta=False)
def det(t, input):
    return t.op("det", input)


@row("_scaled_dot_product_attention", "scaled_dot_product_attention", meta=False)
def attention(
    t, query, key, value, attn_mask=None, dropout_p=0.0, need_attn_weights=False, is_causal=False
):
    """torch 1.13 gives the pair (result, weights)."""
    return weighted(t, query, key, value, attn_mask, dropout_p, need_attn_weights, is_causal)


def weighted(t, query, key, value, mask, dropout_p, need_weights, is_causal=False):
    """softmax(q k' / sqrt(E) + mask) v, and the probabilities or None."""
    scores = torch.matmul(query / math.sqrt(query.shape[-1]), key.transpose(-2, -1))
    if is_causal:
        rows, columns = scores.shape[-2:]
        mask = torch.ones(rows, columns, dtype=torch.bool).tril()
    if mask is not None:
        if mask.dtype == torch.bool:
            scores = torch.where(mask, scores, float("-inf"))
        else:
            scores = scores + mask
    weights = torch.softmax(scores, -1)
    kept = F.dropout(weights, dropout_p) if dropout_p > 0 else weights
    return torch.matmul(kept, value), (weights if need_weights else None)


@row("multi_head_attention_forward", meta=False)
def multi_head_attention_forward(
    t,
    query,
    key,
    value,
    embed_dim_to_check,
    num_heads,
    in_proj_weight,
    in_proj_bias,
    bias_k,
    bias_v,
    add_zero_attn,
    dropout_p,
    out_proj_weight,
    out_proj_bias,
    training=True,
    key_padding_mask=None,
    need_weights=True,
    attn_mask=None,
    use_separate_proj_weight=False,
    q_proj_weight=None,
    k_proj_weight=None,
    v_proj_weight=None,
    static_k=None,
    static_v=None,
    average_attn_weights=True,
):
    """What nn.MultiheadAttention computes, of functions that are rows themselves."""
    if static_k is not None or static_v is not None:
        raise Unsupported("static_k and static_v")
    batched = query.dim() == 3
    if not batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    length, batch, width = query.shape
    if width != embed_dim_to_check:
        raise ValueError(
            f"was expecting embedding dimension of {embed_dim_to_check}, but got {width}"
        )
    q, k, v = projections(
        query,
        key,
        value,
        in_proj_weight,
        in_proj_bias,
        use_separate_proj_weight,
        (q_proj_weight, k_proj_weight, v_proj_weight),
    )
    if bias_k is not None:
        k = torch.cat([k, bias_k.expand(1, batch, width)])
        v = torch.cat([v, bias_v.expand(1, batch, width)])
    size = width // num_heads

    def heads(x):
        return x.reshape(x.shape[0], batch, num_heads, size).permute(1, 2, 0, 3)

    q, k, v = heads(q), heads(k), heads(v)
    added = int(bias_k is not None) + int(bool(add_zero_attn))
    if add_zero_attn:
        zeros = torch.zeros(batch, num_heads, 1, size)
        k, v = torch.cat([k, zeros], 2), torch.cat([v, zeros], 2)
    mask = joined_mask(attn_mask, key_padding_mask, batch, num_heads, added)
    result, weights = weighted(t, q, k, v, mask, dropout_p if training else 0.0, need_weights)
    result = result.permute(2, 0, 1, 3).reshape(length, batch, width)
    result = F.linear(result, out_proj_weight, out_proj_bias)
    if need_weights and average_attn_weights:
        weights = weights.mean(1)
    if not batched:
        result = result.squeeze(1)
        weights = weights.squeeze(0) if need_weights else None
    return (result, weights if need_weights else None)


def projections(query, key, value, weight, bias, separate, weights):
    """q, k and v; one product where they are of one tensor."""
    if not separate and query is key and key is value:
        return torch.chunk(F.linear(query, weight, bias), 3, -1)
    if not separate:
        weights = torch.chunk(weight, 3)
    biases = (None,) * 3 if bias is None else torch.chunk(bias, 3)
    return [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]


def joined_mask(attn_mask, padding, batch, heads, added):
    """Both masks as one that is added to the scores (N, heads, L, S); None without any."""

    def additive(mask):
        """True keeps out."""
        if mask.dtype in (torch.bool, torch.uint8):
            zeros = torch.zeros(tuple(mask.shape))
            return (
                zeros.masked_fill(mask.bool(), float("-inf"))
                if type(mask) is torch.Tensor
                else (torch.where(mask, float("-inf"), 0.0))
            )
        return mask

    result = None
    if attn_mask is not None:
        result = additive(attn_mask)
        shape = tuple(result.shape)
        if len(shape) == 3:
            result = result.reshape(
                batch if shape[0] > 1 else 1, heads if shape[0] > 1 else 1, *shape[1:]
            )
    if padding is not None:
        padding = additive(padding).reshape(batch, 1, 1, padding.shape[-1])
        result = padding if result is None else result + padding
    if result is not None and added:
        result = F.pad(result, (0, added))
    return result


@row("tensordot", meta=False)
def tensordot(t, a, b, dims=2, out=None):
    """The last dimensions of a with the first of b, or pairs that are given."""
    ranks = len(a.shape), len(b.shape)
    if isinstance(dims, int):
        dims = list(range(ranks[0] - dims, ranks[0])), list(range(dims))
    left = [d % ranks[0] for d in dims[0]]
    right = [d % ranks[1] for d in dims[1]]
    letters = "abcdefghijklmnopqrstuvwxyz"
    first = list(letters[: ranks[0]])
    second = list(letters[ranks[0] : ranks[0] + ranks[1]])
    for i, j in zip(left, right):
        second[j] = first[i]
    kept = [c for i, c in enumerate(first) if i not in left]
    kept += [c for j, c in enumerate(second) if j not in right]
    equation = f"{''.join(first)},{''.join(second)}->{''.join(kept)}"
    return t.op("einsum", *promote(t, a, b), equation=equation)


@row("addr", meta=False)
def addr(t, input, vec1, vec2, *, beta=1, alpha=1):
    product = scaled(t, outer(t, vec1, vec2), alpha)
    return t.op("add", scaled(t, t.value(input), beta), product)


@row("kron", meta=False)
def kron(t, input, other):
    a, b = promote(t, input, other)
    rank = max(len(a.shape), len(b.shape))
    a = t.reshape(a, (1,) * (rank - len(a.shape)) + a.shape)
    b = t.reshape(b, (1,) * (rank - len(b.shape)) + b.shape)
    wide_a = t.reshape(a, [s for size in a.shape for s in (size, 1)])
    wide_b = t.reshape(b, [s for size in b.shape for s in (1, size)])
    product = t.op("mul", wide_a, wide_b)
    return t.reshape(product, [m * n for m, n in zip(a.shape, b.shape)])


@row("cross", meta=False)
def cross(t, input, other, dim=None):
    if dim is None:
        dim = next(d for d, size in enumerate(input.shape) if size == 3)
    (a, b, c), (x, y, z) = torch.unbind(input, dim), torch.unbind(other, dim)
    return torch.stack([b * z - c * y, c * x - a * z, a * y - b * x], dim)
