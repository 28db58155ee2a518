"""Operators of sets 23 and 24 - Attention with its caches and masks, RotaryEmbedding,
RMSNormalization, Swish, TensorScatter - and those that version 10 has no more, against numpy."""
import sys

import numpy as np
from model_check import check, failures

generator = np.random.default_rng(11)
FLOAT, HALF = 1, 10


def random(*shape):
    return generator.uniform(0.1, 1.0, shape).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def heads(x, count):
    return x.reshape(x.shape[0], x.shape[1], count, -1).transpose(0, 2, 1, 3)


def attend(q, k, v, bias=0.0, cap=0.0, scale=None):
    """The result, and the scores after each step; bias is -inf where the mask is false."""
    k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
    raw = q @ k.transpose(0, 1, 3, 2) * (scale or 1 / np.sqrt(q.shape[-1]))
    capped = cap * np.tanh(raw / cap) if cap else raw
    masked = capped + bias
    return softmax(masked) @ v, [raw, capped, masked, softmax(masked)]


def causal(rows, columns, past):
    places = np.arange(columns) <= np.arange(rows)[:, None] + past
    return np.where(places, 0, -np.inf).astype(np.float32)


NAMES = ["q", "k", "v", "mask", "past_k", "past_v", "lengths"]


def check_attention(name, inputs, expected, opset=23, known=None, **attributes):
    there = [n if n in inputs or n in (known or {}) else "" for n in NAMES]
    results = ["y", "present_k", "present_v", "scores"]
    outputs = [n if n in expected else "" for n in results]
    node = ("Attention", there, outputs, attributes)
    expected = {n: a.astype(np.float32) for n, a in expected.items()}
    check(name, [node], inputs, expected, known, opset=opset, rtol=1e-4)


q, k, v = random(2, 4, 3, 8), random(2, 4, 6, 8), random(2, 4, 6, 5)
plain = {"q": q, "k": k, "v": v}
check_attention("plain", plain, {"y": attend(q, k, v)[0]})
check_attention("scale", plain, {"y": attend(q, k, v, scale=0.3)[0]}, scale=0.3)
check_attention("causal", plain, {"y": attend(q, k, v, causal(3, 6, 0))[0]}, is_causal=1)

# Masks: added, or true where a place counts; alone and with causality.
for shape in [(3, 6), (1, 3, 6), (2, 1, 3, 6), (1, 1, 1, 6)]:
    bias, places = random(*shape), generator.random(shape) < 0.7
    places[..., 0] = True
    excluded = np.where(places, 0, -np.inf)
    masks = [("float", bias, bias), ("bool", places, excluded)]
    for kind, mask, added in masks:
        for is_causal in range(2):
            more = causal(3, 6, 0) if is_causal else 0
            check_attention(
                f"{kind} mask {shape}, causal {is_causal}",
                {**plain, "mask": mask},
                {"y": attend(q, k, v, added + more)[0]},
                is_causal=is_causal,
            )
short = random(3, 4)
ending = np.concatenate([short, np.full((3, 2), -np.inf)], axis=1)
check_attention("short mask", {**plain, "mask": short}, {"y": attend(q, k, v, ending)[0]}, 24)
whole = np.where(np.arange(6) < 4, 0, -np.inf)
places = np.ones((3, 4), np.bool_)
check_attention("short i1 mask", {**plain, "mask": places}, {"y": attend(q, k, v, whole)[0]}, 24)

# Keys and values of the past are in front, and what comes out has both.
past_k, past_v = random(2, 4, 5, 8), random(2, 4, 5, 5)
all_k, all_v = np.concatenate([past_k, k], axis=2), np.concatenate([past_v, v], axis=2)
cached = {**plain, "past_k": past_k, "past_v": past_v}
for is_causal in range(2):
    bias = causal(3, 11, 5) if is_causal else 0
    expected = {"y": attend(q, all_k, all_v, bias)[0], "present_k": all_k, "present_v": all_v}
    check_attention(f"past, causal {is_causal}", cached, expected, is_causal=is_causal)
mask = random(3, 11)
expected["y"] = attend(q, all_k, all_v, mask + causal(3, 11, 5))[0]
check_attention("past and mask", {**cached, "mask": mask}, expected, is_causal=1)

# Heads in the last dimension; heads of the query that share a key.
q3, k3, v3 = random(2, 3, 32), random(2, 6, 16), random(2, 6, 10)
y = attend(heads(q3, 4), heads(k3, 2), heads(v3, 2))[0]
flat = y.transpose(0, 2, 1, 3).reshape(2, 3, 20)
counts = {"q_num_heads": 4, "kv_num_heads": 2}
check_attention("rank 3", {"q": q3, "k": k3, "v": v3}, {"y": flat}, **counts)
shared = {"q": q, "k": k[:, :1], "v": v[:, :1]}
check_attention("one key", shared, {"y": attend(q, k[:, :1], v[:, :1])[0]})

# The scores as a result, at each of the four places.
mask = random(3, 6)
y, scores = attend(q, k, v, mask + causal(3, 6, 0), cap=1.5)
for mode, expected in enumerate(scores):
    check_attention(
        f"scores {mode}",
        {**plain, "mask": mask},
        {"y": y, "scores": expected},
        qk_matmul_output_mode=mode,
        is_causal=1,
        softcap=1.5,
    )
excluded = np.where(mask > 0.3, 0, -np.inf)
y, scores = attend(q, k, v, excluded)
check_attention(
    "scores with an i1 mask",
    {**plain, "mask": mask > 0.3},
    {"y": y, "scores": scores[2]},
    qk_matmul_output_mode=2,
)

# The precision of the softmax.
raw = attend(q, k, v)[1][0]
rounded = softmax(raw.astype(np.float16).astype(np.float64))
check_attention("f32 softmax", plain, {"y": attend(q, k, v)[0]}, softmax_precision=FLOAT)
node = ("Attention", ["q", "k", "v"], ["y"], {"softmax_precision": HALF})
check("f16 softmax", [node], plain, {"y": (rounded @ v).astype(np.float32)}, opset=23, rtol=2e-3)

# How many keys of each sample are valid; causal then means that the last query sees the last one.
lengths = np.array([4, 6], np.int64)
ends = np.where(np.arange(6) < lengths[:, None], 0, -np.inf)[:, None, None]
places = np.arange(6) <= np.arange(3)[:, None] + (lengths - 3)[:, None, None]
for bias, is_causal in [(ends, 0), (ends + np.where(places, 0, -np.inf)[:, None], 1)]:
    given = {**plain, "lengths": lengths}
    y = attend(q, k, v, bias)[0]
    check_attention(f"lengths, causal {is_causal}", given, {"y": y}, 24, is_causal=is_causal)


# RotaryEmbedding.
def turn(x, cos, sin, interleaved):
    """x: [B, heads, S, size]; cos and sin: [B, S, half]."""
    cos, sin, half = cos[:, None], sin[:, None], cos.shape[-1]
    turned, rest = x[..., : 2 * half], x[..., 2 * half :]
    parts = [turned[..., 0::2], turned[..., 1::2]] if interleaved else np.split(turned, 2, axis=-1)
    real, imaginary = parts[0] * cos - parts[1] * sin, parts[1] * cos + parts[0] * sin
    if interleaved:
        y = np.stack([real, imaginary], axis=-1).reshape(turned.shape)
    else:
        y = np.concatenate([real, imaginary], axis=-1)
    return np.concatenate([y, rest], axis=-1)


ids = np.array([[0, 7, 3], [1, 2, 19]], np.int64)
for interleaved in range(2):
    for half in [4, 2]:
        x, cos, sin = random(2, 4, 3, 8) + 2, random(20, half), random(20, half) / 4
        attributes = {"interleaved": interleaved, "rotary_embedding_dim": 2 * half}
        expected = turn(x, cos[ids], sin[ids], interleaved)
        check(
            f"rotary {attributes}",
            [("RotaryEmbedding", ["x", "cos", "sin", "ids"], ["y"], attributes)],
            {"x": x, "ids": ids},
            {"y": expected},
            {"cos": cos, "sin": sin},
            opset=23,
            rtol=1e-5,
        )
        flat = {"x": x.transpose(0, 2, 1, 3).reshape(2, 3, 32), "cos": cos[ids], "sin": sin[ids]}
        check(
            f"rotary of rank 3 {attributes}",
            [("RotaryEmbedding", ["x", "cos", "sin"], ["y"], {**attributes, "num_heads": 4})],
            flat,
            {"y": expected.transpose(0, 2, 1, 3).reshape(2, 3, 32)},
            opset=23,
            rtol=1e-5,
        )

# RMSNormalization over the last dimensions, with a scale that broadcasts, and one of f16.
x = random(2, 3, 8)
for axis, shape, epsilon in [(-1, (8,), 1e-5), (1, (3, 8), 0.1), (-2, (8,), 1e-5)]:
    scale = random(*shape)
    dims = tuple(range(axis % 3, 3))
    expected = x / np.sqrt(np.square(x).mean(dims, keepdims=True) + epsilon) * scale
    node = ("RMSNormalization", ["x", "scale"], ["y"], {"axis": axis, "epsilon": epsilon})
    inputs = {"x": x, "scale": scale}
    check(f"rms {axis}", [node], inputs, {"y": expected.astype(np.float32)}, opset=23, rtol=1e-5)
half = random(8).astype(np.float16)
expected = x / np.sqrt(np.square(x).mean(-1, keepdims=True) + 1e-5) * half
check(
    "rms of two types",
    [("RMSNormalization", ["x", "scale"], ["y"], {})],
    {"x": x, "scale": half},
    {"y": expected.astype(np.float16)},
    opset=23,
    rtol=1e-3,
)

# Swish.
for alpha in [1.0, 0.5]:
    expected = x / (1 + np.exp(-alpha * x))
    node = ("Swish", ["x"], ["y"], {"alpha": alpha})
    check(f"swish {alpha}", [node], {"x": x}, {"y": expected}, opset=24, rtol=1e-5)


# TensorScatter.
def written(cache, update, starts, axis, circular):
    cache, size = cache.copy(), cache.shape[axis]
    for sample, start in enumerate(starts):
        for step in range(update.shape[axis]):
            place = (start + step) % size if circular else start + step
            target = np.moveaxis(cache[sample], axis - 1, 0)
            target[place] = np.moveaxis(update[sample], axis - 1, 0)[step]
    return cache


for mode, starts in [("linear", [3, 4]), ("circular", [5, 1])]:
    for axis, shape in [(2, (2, 3, 6, 4)), (1, (2, 6, 4))]:
        cache = random(*shape)
        update = random(*(2 if d == axis else n for d, n in enumerate(shape)))
        node = ("TensorScatter", ["c", "u", "w"], ["y"], {"mode": mode, "axis": axis})
        inputs = {"c": cache, "u": update, "w": np.array(starts, np.int64)}
        expected = written(cache, update, starts, axis, mode == "circular")
        check(f"written {mode} {axis}", [node], inputs, {"y": expected}, opset=24)
cache, update = random(2, 3, 6, 4), random(2, 3, 2, 4)
expected = written(cache, update, [0, 0], 2, False)
node = ("TensorScatter", ["c", "u"], ["y"], {})
check("written at the front", [node], {"c": cache, "u": update}, {"y": expected}, opset=24)

# Operators that version 10 has no more.
image = np.round(64 * random(2, 3, 4, 8)).astype(np.float32) / 64  # sums are exact
bias = np.array([1, 2, 3], np.float32)
start, end, axis = (np.array([n], np.int64) for n in (1, -1, 3))
for name, attributes, expected in [
    ("Affine", {"alpha": 2.0, "beta": -0.5}, 2 * image - 0.5),
    ("Scale", {"scale": 3.0}, 3 * image),
    ("ScaledTanh", {"alpha": 2.0, "beta": 0.5}, 2 * np.tanh(0.5 * image)),
    ("ParametricSoftplus", {"alpha": 2.0, "beta": 0.5}, 2 * np.log1p(np.exp(0.5 * image))),
    ("ImageScaler", {"scale": 2.0, "bias": list(bias)}, 2 * image + bias[:, None, None]),
    ("Crop", {"border": [1, 0, 2, 1]}, image[:, :, 0:-1, 1:-2]),
    ("Crop", {"border": [1, 2, 0, 0], "scale": [2, 3]}, image[:, :, 2:4, 1:4]),
    ("ThresholdedRelu", {"alpha": 0.5}, np.where(image > 0.5, image, 0)),
    ("MeanVarianceNormalization", {"normalize_variance": 0}, None),
]:
    if expected is None:
        expected = image - image.mean((0, 2, 3), keepdims=True)
    node = (name, ["x"], ["y"], attributes)
    check(name, [node], {"x": image}, {"y": expected.astype(np.float32)}, opset=6, rtol=1e-4)
everything = (image - image.mean()) / image.std()
node = ("MeanVarianceNormalization", ["x"], ["y"], {"across_channels": 1})
check("MVN of all", [node], {"x": image}, {"y": everything}, opset=6, rtol=1e-3)
node = ("DynamicSlice", ["x", "start", "end", "axis"], ["y"], {})
known = {"start": start, "end": end, "axis": axis}
check("DynamicSlice", [node], {"x": image}, {"y": image[..., 1:-1]}, known, opset=6)

print("\n".join(failures))
sys.exit(bool(failures))
