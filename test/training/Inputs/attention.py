"""Gradients of attention on compiled PEFs.

attention.py values: compiles training graphs and compares the gradients of q, k and v with NumPy's
in f64. attention.py traffic: memory and DRAM bytes of a step at three lengths."""
import itertools
import json
import os
import re
import subprocess
import sys

import numpy as np

RANDOM = np.random.default_rng(11)


def normal(*dims):
    return RANDOM.standard_normal(dims).astype("f4")


def tensor(array):
    dtype = "i1" if array.dtype == bool else "f32"
    return "tensor<" + "x".join(map(str, array.shape)) + f"x{dtype}>"


def turned(x):
    return x.swapaxes(-1, -2)


def sum_to(x, shape):
    for axis, size in enumerate(shape):
        if size == 1:
            x = x.sum(axis, keepdims=True)
    return x


def gradients(q, k, v, g, mask, causal):
    q, k, v, g = (x.astype("f8") for x in (q, k, v, g))
    shared = k.shape[1]
    repeats = q.shape[1] // shared if shared > 1 else 1
    k, v = (x.repeat(repeats, 1) for x in (k, v))
    scale = 1 / np.sqrt(q.shape[-1])
    scores = q @ turned(k) * scale
    kept = np.ones(scores.shape, bool)
    if mask is not None and mask.dtype == bool:
        kept &= mask
    elif mask is not None:
        scores = scores + mask
    if causal:
        kept &= np.tril(np.ones(scores.shape[-2:], bool))
    scores = np.where(kept, scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    flow = g @ turned(v)
    d = p * (flow - (p * flow).sum(-1, keepdims=True)) * scale
    of_keys, of_values = sum_to(turned(d) @ q, k.shape), sum_to(turned(p) @ g, v.shape)
    groups = [x.reshape(x.shape[0], -1, repeats, *x.shape[2:]) for x in (of_keys, of_values)]
    return {
        "q__grad": sum_to(d @ k, q.shape),
        "k__grad": groups[0].sum(2),
        "v__grad": groups[1].sum(2),
    }


def repeated(name, array, heads):
    """What an exporter writes where `heads` heads share those of the array; its result."""
    batch, shared, *rest = array.shape
    one, all_of = [batch, shared, 1, *rest], [batch, shared, heads // shared, *rest]
    flat = [batch, heads, *rest]
    types = ["tensor<" + "x".join(map(str, dims)) + "xf32>" for dims in (array.shape, one, all_of)]
    return (
        f"  %{name}1 = samba.reshape %{name} {{shape = {one}}} : {types[0]}\n"
        f"  %{name}2 = samba.expand %{name}1 {{shape = {all_of}}} : {types[1]}\n"
        f"  %{name}3 = samba.reshape %{name}2 {{shape = {flat}}} : {types[2]}\n",
        "tensor<" + "x".join(map(str, flat)) + "xf32>",
    )


def compile_step(q, k, v, g, mask, causal, target, level):
    types = [tensor(x) for x in (q, k, v, mask) if x is not None]
    operands, repeats = "%q, %k, %v", ""
    if 1 < k.shape[1] < q.shape[1]:  # one broadcasts, several are repeated
        more, types[1] = repeated("k", k, q.shape[1])
        most, types[2] = repeated("v", v, q.shape[1])
        operands, repeats = "%q, %k3, %v3", more + most
    wanted = 'samba.kind = "weight", samba.requires_grad = true'
    masking = "" if mask is None else f', %m: {tensor(mask)} {{samba.name = "m"}}'
    text = f"""
func.func @step(
    %q: {tensor(q)} {{samba.name = "q", {wanted}}},
    %k: {tensor(k)} {{samba.name = "k", {wanted}}},
    %v: {tensor(v)} {{samba.name = "v", {wanted}}},
    %g: {tensor(g)} {{samba.name = "g", samba.kind = "input"}}{masking})
    -> (tensor<f32> {{samba.name = "loss", samba.kind = "loss"}})
    attributes {{samba.graph = {{mode = "training"}}}} {{
{repeats}  %y = samba.scaled_dot_product_attention {operands}{"" if mask is None else ", %m"}
      {{is_causal = {str(causal).lower()}}} : {", ".join(types)}
  %p = samba.mul %y, %g : {tensor(g)}, {tensor(g)}
  %loss = samba.sum %p : {tensor(g)}
  return %loss : tensor<f32>
}}
"""
    with open("step.mlir", "w") as file:
        file.write(text)
    subprocess.run(
        ["samba-compile", "step.mlir", "-o", "step.pef", "--target=" + target, level], check=True
    )


def check_values(q, k, v, target, level, mask=None, causal=False):
    g = normal(*q.shape[:-1], v.shape[-1])
    compile_step(q, k, v, g, mask, causal, target, level)
    command = ["samba-run", "step.pef", "--rel-l2=1e-4", "--rtol=1", "--atol=1e-2"]
    for name, value in {"q": q, "k": k, "v": v, "g": g, "m": mask}.items():
        if value is not None:
            np.save(name + ".npy", value)
            command.append(f"--input={name}={name}.npy")
    for name, value in gradients(q, k, v, g, mask, causal).items():
        np.save(name + ".npy", value.astype("f4"))
        command.append(f"--expect={name}={name}.npy")
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def values():
    q, k, v = normal(2, 2, 24, 16), normal(2, 2, 40, 16), normal(2, 2, 40, 8)
    kept = RANDOM.random((24, 40)) > 0.3
    kept[:, 0] = True
    for target, level in itertools.product(["sn40l", "tiny"], ["-O1", "-O0"]):
        check_values(q, k, v, target, level)
        check_values(q, k, v, target, level, causal=True)
        check_values(q, k, v, target, level, mask=normal(24, 40))
        check_values(q, k, v, target, level, mask=kept)
        check_values(q, k[:, :1], v[:, :1], target, level)
        check_values(normal(2, 6, 24, 16), k, v, target, level)
        check_values(normal(2, 6, 24, 16), k, v, target, level, causal=True)
        check_values(normal(2, 6, 24, 16), k, v, target, level, mask=kept)


def traffic():
    """Bytes of memory that the PEF asks for, and DRAM bytes of a step, per length."""
    found = {}
    for tokens in (128, 256, 512):
        q, k, v, g = (normal(1, 2, tokens, 64) for _ in range(4))
        compile_step(q, k, v, g, None, False, "sn40l", "-O1")
        command = ["samba-run", "step.pef", "--timing-only", "--stats=stats.json"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open("stats.json") as file:
            stats = json.load(file)
        listing = subprocess.run(
            ["samba-objdump", "step.pef"], check=True, capture_output=True, text=True
        ).stdout
        memory = sum(int(size) for size in re.findall(r"^  bytes = (\d+)", listing, re.M))
        found[tokens] = memory, stats["dram_read_bytes"] + stats["dram_write_bytes"]
        print(tokens, "tokens:", *found[tokens], "bytes of memory and of traffic")

    for name, a, b, c in zip(("memory", "traffic"), *found.values()):
        # From 256 to 512 tokens a square would add four times as much as from 128 to 256, and what
        # grows with the tokens twice as much, but for what one plan loads again and another not.
        if not a < b < c or (c - b) > 2.5 * (b - a):
            sys.exit(f"{name} grows faster than the tokens: {a}, {b}, {c} bytes")


os.environ.setdefault("LC_ALL", "C")
values() if sys.argv[1] == "values" else traffic()
