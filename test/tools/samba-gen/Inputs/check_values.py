"""check_values.py FOLDER [FLAG..] < CASES: what samba-gen writes computes what PyTorch computes
with the same weights, compiled and simulated. With --loss gradients are compared, too, and with
--optimizer the weights behind two steps of AdamW. A case is a
line: words of samba-gen | flags of samba-compile | the largest relative L2 difference. FLAGs are
those of samba-compile for all cases."""
import math
import os
import re
import subprocess
import sys

import numpy as np
import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import references  # noqa: E402

TENSOR = re.compile(
    r'tensor<([0-9x]*?)x?([a-z]+\d+)> \{samba.kind = "(\w+)", samba.name = "([^"]+)"\}'
)


def sizes_of(words):
    """{"layers": 2, ...} of --layers 2; None for a flag."""
    sizes = {}
    for i, word in enumerate(words):
        if word.startswith("--"):
            value = words[i + 1] if i + 1 < len(words) else "--"
            value = None if value.startswith("--") else value
            sizes[word[2:]] = int(value) if value and value.isdigit() else value
    return sizes


def values_of(tensors, sizes):
    """Numbers for each argument of the graph."""
    random = np.random.RandomState(3)
    values = {}
    for dims, dtype, kind, name in tensors:
        if kind == "output":
            continue
        shape = [int(dim) for dim in dims.split("x") if dim]
        if dtype == "i64":
            most = 2 if name == "token_type_ids" else sizes["vocabulary"]
            value = random.randint(0, most, shape)
        elif name.startswith("rotary"):
            first = sizes.get("cache", 0)
            powers = 10000.0 ** (-np.arange(0, shape[1], 2) / shape[1])
            angles = np.outer(np.arange(first, first + shape[0]), powers)
            value = (np.cos if name == "rotary.cos" else np.sin)(np.hstack([angles, angles]))
        elif name.endswith("running_var"):
            value = random.uniform(0.5, 2, shape)
        elif kind == "weight" and len(shape) > 1:
            value = random.randn(*shape) / math.sqrt(math.prod(shape[1:]))
        else:
            value = random.randn(*shape) * (0.2 if kind == "weight" else 1)
            value += 1 if "norm" in name.lower() and name.endswith("weight") else 0
        values[name] = torch.tensor(value if dtype == "i64" else value.astype("float32"))
        if dtype == "bf16":
            values[name] = values[name].bfloat16().float()
    return values


def train(model, values, sizes, flags):
    """The weights behind two steps of AdamW, with the settings in flags."""
    text = flags[flags.index("--optimizer") + 1].split(",")
    settings = {key: float(value) for key, value in (word.split("=") for word in text[1:])}
    weights = {name: value for name, value in values.items() if value.is_floating_point()}
    for value in weights.values():
        value.requires_grad_(True)
    optimizer = torch.optim.AdamW(weights.values(), **settings)
    for _ in range(2):
        optimizer.zero_grad()
        getattr(references, model)(values, sizes)["loss"].backward()
        optimizer.step()
    return weights


def expected(model, values, sizes, flags):
    """The results of PyTorch, and the gradients when there is a loss, or what an optimizer makes of
    the weights."""
    training = "loss" in sizes
    if "--optimizer" in flags:
        copies = {name: value.clone() for name, value in values.items()}
        return train(model, copies, sizes, flags)
    for value in values.values():
        value.requires_grad_(training and value.is_floating_point())
    results = getattr(references, model)(values, sizes)
    if training:
        results["loss"].backward()
        for name, value in values.items():
            if value.grad is not None:
                results[f"{name}__grad"] = value.grad
    return results


def save(file, value, dtype):
    """NumPy has no bf16; its bits go into the file."""
    value = value.detach()
    if dtype == "bf16":
        np.save(file, value.bfloat16().view(torch.int16).numpy().view("V2"))
    else:
        np.save(file, value.numpy())


def check(folder, words, flags, rel_l2):
    """Exit code of samba-run, which compares."""
    path, pef = os.path.join(folder, "model.mlir"), os.path.join(folder, "model.pef")
    sizes = sizes_of(words)
    subprocess.run(["samba-gen", *words, "-o", path], check=True)
    subprocess.run(["samba-compile", path, "-o", pef, *flags], check=True)

    tensors = TENSOR.findall(open(path, encoding="utf-8").read())
    types = {name: dtype for _, dtype, _, name in tensors}
    values = values_of(tensors, sizes)
    results = expected(words[0], values, sizes, flags)
    assert values and results
    command = ["samba-run", pef, "--values-only", "--rel-l2", rel_l2, "--rtol", "1", "--atol", "1"]
    if "--optimizer" in flags:
        command += ["--steps", "2"]
    for option, chosen in (("--input", values), ("--expect", results)):
        for i, (name, value) in enumerate(chosen.items()):
            file = os.path.join(folder, f"{option[2:]}{i}.npy")
            save(file, value, types.get(name))
            command += [option, f"{name}={file}"]
    return subprocess.run(command, check=False).returncode


def main():
    """The exit code is that of the first case that fails."""
    os.makedirs(sys.argv[1], exist_ok=True)
    for line in sys.stdin:
        if not line.strip() or line.startswith("#"):
            continue
        words, flags, rel_l2 = (part.strip() for part in line.split("|"))
        code = check(sys.argv[1], words.split(), [*flags.split(), *sys.argv[2:]], rel_l2)
        if code:
            sys.exit(f"{line}: exit code {code}") if code != 2 else sys.exit(2)


main()
