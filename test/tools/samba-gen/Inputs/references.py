"""The models of samba-gen in PyTorch, written as their authors write them: functions of weights
and inputs by name, and the sizes that samba-gen was given."""
import math

import torch
from torch.nn import functional


def linear(w, x, layer):
    return functional.linear(x, w[f"{layer}.weight"], w.get(f"{layer}.bias"))


def layer_norm(w, x, layer, eps):
    return functional.layer_norm(x, x.shape[-1:], w[f"{layer}.weight"], w[f"{layer}.bias"], eps)


def split(x, heads):
    batch, tokens, width = x.shape
    return x.view(batch, tokens, heads, width // heads).transpose(1, 2)


def attend(query, key, value, causal):
    scores = query @ key.transpose(2, 3) / math.sqrt(query.shape[-1])
    if causal:
        later = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
        scores = scores.masked_fill(later, -math.inf)
    mixed = torch.softmax(scores, -1) @ value
    batch, heads, tokens, head = mixed.shape
    return mixed.transpose(1, 2).reshape(batch, tokens, heads * head)


def with_cache(w, results, layer, what, new):
    past = w.get(f"past_key_values.{layer}.{what}")
    if past is None:
        return new
    results[f"present.{layer}.{what}"] = torch.cat([past, new], 2)
    return results[f"present.{layer}.{what}"]


# ---- Llama ----


def rms_norm(w, x, layer):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * w[f"{layer}.weight"]


def rotate(x, cosines, sines):
    half = x.shape[-1] // 2
    return x * cosines + torch.cat([-x[..., half:], x[..., :half]], -1) * sines


def llama(w, sizes):
    results = {}
    x = w["inputs_embeds"] if "inputs_embeds" in w else None
    if x is None:
        x = functional.embedding(w["input_ids"], w["model.embed_tokens.weight"])
    angles = w["rotary.cos"], w["rotary.sin"]
    keys = sizes.get("kv-heads", sizes["heads"])
    for i in range(sizes["layers"]):
        name = f"model.layers.{i}"
        y = rms_norm(w, x, f"{name}.input_layernorm")
        q = rotate(split(linear(w, y, f"{name}.self_attn.q_proj"), sizes["heads"]), *angles)
        k = rotate(split(linear(w, y, f"{name}.self_attn.k_proj"), keys), *angles)
        v = split(linear(w, y, f"{name}.self_attn.v_proj"), keys)
        k, v = (with_cache(w, results, i, what, t) for what, t in (("key", k), ("value", v)))
        k, v = (t.repeat_interleave(sizes["heads"] // keys, 1) for t in (k, v))
        x = x + linear(w, attend(q, k, v, "causal" in sizes), f"{name}.self_attn.o_proj")
        y = rms_norm(w, x, f"{name}.post_attention_layernorm")
        gate = functional.silu(linear(w, y, f"{name}.mlp.gate_proj"))
        x = x + linear(w, gate * linear(w, y, f"{name}.mlp.up_proj"), f"{name}.mlp.down_proj")
    x = rms_norm(w, x, "model.norm")
    if "lm_head.weight" in w:
        results["logits"] = linear(w, x, "lm_head")
    else:
        results["last_hidden_state"] = x
    return results


# ---- GPT-2 ----


def gpt2(w, sizes):
    def mapped(x, layer):  # Conv1D of Hugging Face
        return x @ w[f"{layer}.weight"] + w[f"{layer}.bias"]

    results = {}
    table = w["transformer.wte.weight"]
    first = sizes.get("cache", 0)
    tokens = w["input_ids"].shape[1]
    x = functional.embedding(w["input_ids"], table)
    x = x + w["transformer.wpe.weight"][first : first + tokens]
    for i in range(sizes["layers"]):
        name = f"transformer.h.{i}"
        y = layer_norm(w, x, f"{name}.ln_1", 1e-5)
        q, k, v = mapped(y, f"{name}.attn.c_attn").chunk(3, -1)
        q, k, v = (split(t, sizes["heads"]) for t in (q, k, v))
        k, v = (with_cache(w, results, i, what, t) for what, t in (("key", k), ("value", v)))
        x = x + mapped(attend(q, k, v, tokens > 1), f"{name}.attn.c_proj")
        y = mapped(layer_norm(w, x, f"{name}.ln_2", 1e-5), f"{name}.mlp.c_fc")
        inner = math.sqrt(2 / math.pi) * (y + 0.044715 * y**3)
        x = x + mapped(0.5 * y * (1 + torch.tanh(inner)), f"{name}.mlp.c_proj")
    logits = layer_norm(w, x, "transformer.ln_f", 1e-5) @ table.T
    if "labels" in w:
        rows = logits.view(-1, logits.shape[-1])
        return {"loss": functional.cross_entropy(rows, w["labels"].view(-1))}
    results["logits"] = logits
    return results


# ---- BERT ----


def bert(w, sizes):
    tokens = w["input_ids"].shape[1]
    x = functional.embedding(w["input_ids"], w["embeddings.word_embeddings.weight"])
    segments = w["embeddings.token_type_embeddings.weight"]
    x = x + functional.embedding(w["token_type_ids"], segments)
    x = x + w["embeddings.position_embeddings.weight"][:tokens]
    x = layer_norm(w, x, "embeddings.LayerNorm", 1e-12)
    for i in range(sizes["layers"]):
        name = f"encoder.layer.{i}"
        parts = ("query", "key", "value")
        parts = [linear(w, x, f"{name}.attention.self.{part}") for part in parts]
        y = attend(*(split(part, sizes["heads"]) for part in parts), False)
        y = linear(w, y, f"{name}.attention.output.dense")
        x = layer_norm(w, x + y, f"{name}.attention.output.LayerNorm", 1e-12)
        y = functional.gelu(linear(w, x, f"{name}.intermediate.dense"))
        y = linear(w, y, f"{name}.output.dense")
        x = layer_norm(w, x + y, f"{name}.output.LayerNorm", 1e-12)
    return {"last_hidden_state": x}


# ---- ResNet, one product ----


def resnet(w, sizes):
    def conv(x, layer, norm, stride=1):
        weight = w[f"{layer}.weight"]
        x = functional.conv2d(x, weight, w.get(f"{layer}.bias"), stride, weight.shape[-1] // 2)
        if f"{norm}.weight" not in w:
            return x
        names = ("running_mean", "running_var", "weight", "bias")
        return functional.batch_norm(x, *(w[f"{norm}.{name}"] for name in names))

    x = functional.relu(conv(w["images"], "conv1", "bn1", 2))
    x = functional.max_pool2d(x, 3, 2, 1)
    for stage, count in enumerate(int(n) for n in sizes["blocks"].split(",")):
        for i in range(count):
            name, stride = f"layer{stage + 1}.{i}", 2 if stage and not i else 1
            y = functional.relu(conv(x, f"{name}.conv1", f"{name}.bn1"))
            y = functional.relu(conv(y, f"{name}.conv2", f"{name}.bn2", stride))
            y = conv(y, f"{name}.conv3", f"{name}.bn3")
            if not i:
                x = conv(x, f"{name}.downsample.0", f"{name}.downsample.1", stride)
            x = functional.relu(x + y)
    return {"logits": linear(w, x.mean((2, 3)), "fc")}


def matmul(w, sizes):
    return {"c": w["a"] @ w["b"]}
