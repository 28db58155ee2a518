"""GPT-2 in plain PyTorch, trained on the simulated RDU beside PyTorch itself.

    gpt2.py [--layers 2] [--steps 20] [--bound 1e-5] [--width 768] [--vocab 8192] ...

The loss is one per token, and what each token counts is given as the gradient of the loss. Three
AdamW clip their gradients to norm 1. The learning rate and the dropout change from run to run. Each
step's loss must be PyTorch's within `bound`, relatively, and so must each parameter be after the
first step. Then the model is evaluated (FWD alone), and its checkpoint must load into PyTorch and
give the same loss there.
"""
import argparse
import copy
import math
import sys
import tempfile
import time

import torch
import torch.nn.functional as F
from torch import nn

import samba
from samba import utils


class Attention(nn.Module):
    def __init__(self, width, heads, length, dropout):
        super().__init__()
        self.heads = heads
        self.c_attn, self.c_proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.attn_dropout, self.resid_dropout = nn.Dropout(dropout), nn.Dropout(dropout)
        mask = torch.tril(torch.ones(length, length, dtype=torch.bool))
        self.register_buffer("bias", mask.view(1, 1, length, length))

    def forward(self, x):
        batch, length, width = x.size()
        q, k, v = self.c_attn(x).split(width, dim=2)
        q = q.view(batch, length, self.heads, -1).transpose(1, 2)
        k = k.view(batch, length, self.heads, -1).transpose(1, 2)
        v = v.view(batch, length, self.heads, -1).transpose(1, 2)
        scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
        mask = self.bias[:, :, :length, :length]
        scores = torch.where(mask, scores, torch.tensor(-10000.0))
        y = self.attn_dropout(F.softmax(scores, dim=-1)) @ v
        y = y.transpose(1, 2).contiguous().view(batch, length, width)
        return self.resid_dropout(self.c_proj(y))


class Block(nn.Module):
    def __init__(self, width, heads, length, dropout):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = Attention(width, heads, length, dropout)
        self.c_fc, self.c_proj = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        y = F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh")
        return x + self.dropout(self.c_proj(y))


class Gpt2(nn.Module):
    def __init__(self, args):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(args.vocab, args.width), nn.Embedding(
            args.length, args.width
        )
        self.drop = nn.Dropout(args.dropout)
        self.h = nn.ModuleList(
            Block(args.width, args.heads, args.length, args.dropout) for _ in range(args.layers)
        )
        self.ln_f = nn.LayerNorm(args.width)
        self.lm_head = nn.Linear(args.width, args.vocab, bias=False)
        self.criterion = nn.CrossEntropyLoss(reduction="none")
        for name, parameter in self.named_parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, 0.0, 0.02)
        self.lm_head.weight = self.wte.weight

    def forward(self, input_ids, position_ids, labels):
        x = self.drop(self.wte(input_ids) + self.wpe(position_ids))
        for block in self.h:
            x = block(x)
        logits = self.lm_head(self.ln_f(x))
        loss = self.criterion(logits.view(-1, logits.shape[-1]), labels.view(-1).long())
        return loss, logits * 1


EPSILON = 1e-8  # of AdamW


def groups_of(model):
    """Embeddings, matrices, the rest: as the public programs train them."""
    embeddings = [model.wte.weight, model.wpe.weight]
    others = [p for p in model.parameters() if not any(p is e for e in embeddings)]
    return [
        (embeddings, 0.1),
        ([p for p in others if p.dim() > 1], 0.1),
        ([p for p in others if p.dim() < 2], 0.0),
    ]


def batch(args, generator):
    ids = torch.randint(0, args.vocab, (args.batch, args.length + 1), generator=generator)
    labels = ids[:, 1:].clone()
    labels[:, : args.length // 4] = -100
    positions = torch.arange(args.length).short()[None].expand(args.batch, -1).contiguous()
    return ids[:, :-1].int(), positions, labels.short()


def named(ids, positions, labels):
    return (
        samba.from_torch_tensor(ids, name="input_ids"),
        samba.from_torch_tensor(positions, name="position_ids"),
        samba.from_torch_tensor(labels, name="labels"),
    )


def scale_of(labels):
    counts = labels.ne(-100).float()
    return (counts / counts.sum()).flatten()


def compare_parameters(model, reference, bound):
    """Each parameter of the device against PyTorch's, relative in L2.

    The bias of the keys is left out: softmax takes away what it adds to a row of scores, so its
    gradient is rounding alone, of which AdamW's first step keeps the sign. So are single elements
    with gradients of less than 10 times AdamW's epsilon: its first step, g / (|g| + epsilon),
    makes much of the rounding of those."""
    samba.session.to_cpu(model)
    worst, where, left_out, count = 0.0, "", 0, 0
    for (name, mine), its in zip(model.named_parameters(), reference.parameters()):
        clear = (its.grad.abs() >= 10 * EPSILON) | (its.grad == 0)
        mine, its = samba.to_torch(mine).detach().double(), its.detach().double()
        if name.endswith("c_attn.bias"):
            mine, its, clear = (
                torch.cat((b.chunk(3)[0], b.chunk(3)[2])) for b in (mine, its, clear)
            )
        left_out, count = left_out + (~clear).sum().item(), count + clear.numel()
        far = ((mine - its)[clear].norm() / its[clear].norm()).item()
        worst, where = max((worst, where), (far, name))
    print("largest relative difference of a parameter: %.2e (%s)" % (worst, where), flush=True)
    print("%d of %d elements left out" % (left_out, count), flush=True)
    assert worst <= bound and left_out <= 0.02 * count


def main(argv):
    parser = argparse.ArgumentParser()
    for name, value in (
        ("layers", 2), ("steps", 20), ("width", 768), ("heads", 12), ("vocab", 8192),
        ("length", 64), ("batch", 2),
    ):  # fmt: skip
        parser.add_argument("--" + name, type=int, default=value)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--bound", type=float, default=1e-5)
    args = parser.parse_args(argv)

    torch.manual_seed(11)
    model = Gpt2(args)
    reference = copy.deepcopy(model)
    for module in reference.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    torch_optimizers = [
        torch.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.997), eps=EPSILON, weight_decay=decay)
        for p, decay in groups_of(reference)
    ]

    samba.from_torch_model_(model)
    optimizers = [
        samba.optim.AdamW(
            p, lr=1e-3, betas=(0.9, 0.997), eps=EPSILON, weight_decay=decay, max_grad_norm=1.0
        )
        for p, decay in groups_of(model)
    ]
    generator = torch.Generator().manual_seed(5)
    inputs = named(*batch(args, torch.Generator().manual_seed(1)))
    start = time.time()
    path = samba.session.compile(model, inputs, optimizers, name="gpt2")
    traced = utils.trace_graph(model, inputs, optimizers, pef=path)
    print("compiled and traced in %.1f s" % (time.time() - start))
    missing = {"FWD", "BCKWD", "GRADNORM", "OPT"} - set(samba.session.get_section_types())
    assert not missing, "no sections of type %s" % missing

    worst, start = 0.0, time.time()
    for step in range(args.steps):
        ids, positions, labels = batch(args, generator)
        scale, rate = scale_of(labels), 1e-3 * min(1.0, (step + 1) / 10)
        traced[0].sn_grad = scale
        got = samba.session.run(
            named(ids, positions, labels),
            traced,
            hyperparam_dict={"lr": rate, "p": 0.0},
            section_types=["FWD", "BCKWD", "GRADNORM", "OPT"],
        )
        mine = (samba.to_torch(got[0]).double() * scale).sum().item()

        losses, _ = reference(ids, positions.int(), labels)
        for optimizer in torch_optimizers:
            optimizer.zero_grad()
        losses.backward(scale)
        for (parameters, _), optimizer in zip(groups_of(reference), torch_optimizers):
            nn.utils.clip_grad_norm_(parameters, 1.0)
            optimizer.param_groups[0]["lr"] = rate
            optimizer.step()
        its = (losses.double() * scale).sum().item()
        worst = max(worst, abs(mine - its) / abs(its))
        print("step %d: %.9f, PyTorch %.9f" % (step + 1, mine, its), flush=True)
        if step == 0:
            compare_parameters(model, reference, args.bound)
    print("%.2f s per step with PyTorch's" % ((time.time() - start) / args.steps))
    print("largest relative difference of a loss: %.2e (bound %.0e)" % (worst, args.bound))
    assert worst <= args.bound

    before = samba.to_torch(model.ln_f.bias.sn_data).clone()
    ids, positions, labels = batch(args, generator)
    noisy, _ = samba.session.run(
        named(ids, positions, labels), traced, hyperparam_dict={"p": 0.3}, section_types=["FWD"]
    )
    noisy = samba.to_torch(noisy).clone()
    clean, _ = samba.session.run(
        named(ids, positions, labels), traced, hyperparam_dict={"p": 0.0}, section_types=["FWD"]
    )
    assert not torch.equal(noisy, samba.to_torch(clean)), "dropout 0.3 changed nothing"
    assert torch.equal(samba.to_torch(model.ln_f.bias.sn_data), before), "FWD changed a weight"

    samba.session.to_cpu(model, optimizers)
    with tempfile.NamedTemporaryFile(suffix=".pt") as file:
        torch.save(model.state_dict(), file.name)
        again = Gpt2(args).eval()
        again.load_state_dict(torch.load(file.name))
    with torch.no_grad():
        losses, _ = again(ids, positions.int(), labels)
    kept = labels.view(-1).ne(-100)
    far = (samba.to_torch(clean) - losses)[kept].norm() / losses[kept].norm()
    print("the checkpoint in PyTorch: %.2e" % far)
    assert far <= 1e-5
    print("GPT-2 passed")


if __name__ == "__main__":
    main(sys.argv[1:])
