"""Gradients of products: linear, matmul, einsum, attention, determinants, rotary embedding."""
import math

import torch
import torch.nn.functional as F

from gradient_writer import gradients

torch.manual_seed(39)


def r(*shape):
    return torch.randn(shape)


for shape in [(5, 7), (2, 3, 7), (7,)]:
    x, w, b = r(*shape), r(4, 7), r(4)
    gradients("linear", lambda x, w: F.linear(x, w), [x, w])
    gradients("linear", lambda x, w, b: F.linear(x, w, b), [x, w, b])
for a, b in [
    ((3, 4), (4, 5)),
    ((4,), (4,)),
    ((4,), (4, 5)),
    ((3, 4), (4,)),
    ((2, 3, 4), (4, 5)),
    ((3, 4), (2, 4, 5)),
    ((2, 1, 3, 4), (3, 4, 5)),
    ((2, 3, 3, 4), (4,)),
    ((4,), (2, 4, 3)),
]:
    gradients("matmul", torch.matmul, [r(*a), r(*b)])
x, w = r(3, 7).bfloat16(), r(4, 7).bfloat16()
wide = {"flow_dtype": torch.float32, "out_dtype": "f32"}
gradients("linear", lambda x, w, b: F.linear(x, w, b), [x, w, r(4)], **wide)
gradients("matmul", lambda x, w: x @ w.T.T, [x, r(7, 4).bfloat16()], **wide)

for equation, shapes in [
    ("ij,jk->ik", [(3, 4), (4, 5)]),
    ("bij,bjk->bik", [(2, 3, 4), (2, 4, 5)]),
    ("ij->ji", [(3, 4)]),
    ("ij->", [(3, 4)]),
    ("ii->i", [(4, 4)]),
    ("iji->j", [(3, 4, 3)]),
    ("i,j->ij", [(3,), (4,)]),
    ("i,i->", [(5,), (5,)]),
    ("bhqd,bhkd->bhqk", [(2, 2, 3, 4), (2, 2, 5, 4)]),
    ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)]),
    ("ab,ab,ab->a", [(2, 3), (2, 3), (2, 3)]),
    ("bn,anm,bm->ba", [(2, 3), (4, 3, 5), (2, 5)]),
    ("ij,ik->", [(2, 3), (2, 4)]),
    ("ij,jk->ki", [(3, 1), (4, 5)]),
]:
    gradients(
        "einsum",
        lambda *x: torch.einsum(equation, *x),
        [r(*s) for s in shapes],
        equation=equation,
    )


def attention(q, k, v, mask=None, scale=None, causal=False, fill=-math.inf, offset=0):
    scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if mask is not None and mask.dtype == torch.bool:
        scores = scores.masked_fill(~mask, fill)
    elif mask is not None:
        scores = scores + mask
    if causal:
        later = torch.ones(scores.shape[-2:]).triu(offset + 1).bool()
        scores = scores.masked_fill(later, -math.inf)
    return torch.softmax(scores, -1) @ v


name = "scaled_dot_product_attention"
q, k, v = r(2, 3, 5, 4), r(2, 3, 7, 4), r(2, 3, 7, 6)
mask = r(5, 7) > -0.8
gradients(name, attention, [q, k, v])
gradients(name, lambda q, k, v: attention(q, k, v, causal=True), [q, k, v], is_causal=True)
gradients(name, attention, [q, k, v, mask])
gradients(name, lambda *x: attention(*x, fill=-0.5), [q, k, v, mask], fill=-0.5)
gradients(name, lambda *x: attention(*x, scale=0.3), [q, k, v, r(1, 7)], scale=0.3)
gradients(name, attention, [r(5, 4), r(7, 4), r(7, 2)])
gradients(name, attention, [r(2, 1, 5, 4), r(3, 7, 4), r(7, 2)])

for shape in [(1, 1), (2, 2), (2, 3, 3), (2, 2, 5, 5)]:
    gradients("det", torch.linalg.det, [r(*shape)])

halves = lambda x: torch.cat([-x[..., 3:], x[..., :3]], -1)
pairs = lambda x: torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)
x, angle = r(2, 3, 4, 6), r(4, 6)
cosine, sine = torch.cos(angle), torch.sin(angle)
name = "rotary_embedding"
gradients(name, lambda x, c, s: x * c + halves(x) * s, [x, cosine, sine])
gradients(name, lambda x, c, s: x * c + halves(x) * s, [x, cosine[:1], sine[:1]])
gradients(name, lambda x, c, s: x * c + halves(x) * s, [x, cosine[:, :1], sine[:, :1]])
gradients(name, lambda x, c, s: x * c + pairs(x) * s, [x, cosine, sine], interleaved=True)

name = "scaled_dot_product_attention"
q, k, v = r(2, 3, 5, 4), r(2, 3, 7, 4), r(2, 3, 7, 6)
causal = lambda q, k, v: attention(q, k, v, causal=True, offset=2)
gradients(name, causal, [q, k, v], is_causal=True, causal_offset=2)

# With the logarithm of each row's sum, through which no gradient passes.
name = "attention_with_logsumexp"
keeping = lambda *x, **options: (attention(*x, **options), None)
gradients(name, keeping, [q, k, v])
gradients(name, lambda *x: keeping(*x, causal=True), [q, k, v], is_causal=True)
gradients(name, keeping, [q, k, v, r(5, 7) > -0.8])
gradients(name, lambda *x: keeping(*x, scale=0.3), [q, k, v, r(1, 7)], scale=0.3)
