"""A program as people write them for the reference API: embeddings, dense features and their
products in pairs say whether somebody clicks."""
import argparse
import sys
from typing import Tuple

import torch
import torch.nn as nn

from sambaflow import samba

import sambaflow.samba.utils as utils
from sambaflow.samba.utils.argparser import parse_app_args
from sambaflow.samba.utils.common import common_app_driver


def mlp(sizes, last):
    layers = []
    for i, (n, m) in enumerate(zip(sizes, sizes[1:])):
        linear = nn.Linear(n, m)
        nn.init.normal_(linear.weight, 0.0, (2 / (n + m)) ** 0.5)
        layers += [linear, last if i == len(sizes) - 2 else nn.ReLU()]
    return nn.Sequential(*layers)


class Recommender(nn.Module):
    def __init__(self, rows, dim, dense, bag):
        super().__init__()
        self.emb_l = nn.ModuleList(
            [
                nn.EmbeddingBag(n, dim, mode="sum") if i % 2 else nn.Embedding(n, dim)
                for i, n in enumerate(rows)
            ]
        )
        self.bot_l = mlp([dense, 32, dim], nn.ReLU())
        f = len(rows) + 1
        self.register_buffer("pairs", torch.tril_indices(f, f, -1))
        self.top_l = mlp([dim + f * (f - 1) // 2, 32, 1], nn.Identity())
        self.criterion = nn.BCEWithLogitsLoss(reduction="mean")

    def interact(self, x, ly):
        t = torch.cat([x] + ly, dim=1).view(x.size(0), -1, x.size(1))
        z = torch.bmm(t, t.transpose(1, 2))
        flat = z.flatten(1)[:, self.pairs[0] * z.size(1) + self.pairs[1]]
        return torch.cat([x, flat], dim=1)

    def forward(self, dense_x, lS_i, label):
        x = self.bot_l(dense_x)
        ly = []
        for k, emb in enumerate(self.emb_l):
            ids = lS_i[:, k]
            ly.append(emb(ids) if isinstance(emb, nn.EmbeddingBag) else emb(ids[:, 0]))
        p = self.top_l(self.interact(x, ly)).squeeze(1)
        return self.criterion(p, label), p


def add_args(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--momentum", type=float, default=0.9)
    parser.add_argument("--weight-decay", type=float, default=0.0)
    parser.add_argument("--num-embeddings", type=int, nargs="+", default=[50, 20, 100])
    parser.add_argument("--dense", type=int, default=6)
    parser.add_argument("--bag", type=int, default=3)


def add_run_args(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-e", "--num-epochs", type=int, default=1)
    parser.add_argument("--num-batches", type=int, default=60)


def get_inputs(args) -> Tuple[samba.SambaTensor, ...]:
    dense = samba.randn(args.batch_size, args.dense, name="dense_x", batch_dim=0)
    shape = (args.batch_size, len(args.num_embeddings), args.bag)
    ids = samba.SambaTensor(torch.zeros(shape, dtype=torch.int32), name="lS_i", batch_dim=0)
    label = samba.zeros(args.batch_size, name="label", batch_dim=0)
    return dense, ids, label


class Clicks(torch.utils.data.Dataset):
    def __init__(self, args, seed=0):
        g = torch.Generator().manual_seed(seed)
        n = args.num_batches * args.batch_size
        self.dense = torch.randn(n, args.dense, generator=g)
        self.ids = torch.stack(
            [torch.randint(0, m, (n, args.bag), generator=g) for m in args.num_embeddings], 1
        ).int()
        score = self.dense[:, 0] * 1.5 + (self.ids[:, 0, 0] % 2).float() * 2 - 1
        self.label = (score > 0).float()

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.dense[i], self.ids[i], self.label[i]


def train(args, model, output_tensors):
    loader = torch.utils.data.DataLoader(
        Clicks(args), batch_size=args.batch_size, shuffle=True, drop_last=True
    )
    hyper = {"lr": args.lr, "momentum": args.momentum, "weight_decay": args.weight_decay}
    for epoch in range(args.num_epochs):
        total, right = 0.0, 0
        for dense, ids, label in loader:
            inputs = {"dense_x": dense, "lS_i": ids, "label": label}
            loss, p = samba.session.run(
                input_tensors=[samba.from_torch(t, name=n) for n, t in inputs.items()],
                output_tensors=output_tensors,
                hyperparam_dict=hyper,
            )
            total += samba.to_torch(loss).item()
            right += ((samba.to_torch(p) > 0) == (label > 0.5)).sum().item()
        print(
            "epoch %d loss %.4f accuracy %.3f"
            % (epoch, total / len(loader), right / len(loader) / args.batch_size)
        )
    samba.session.to_cpu(model)
    held = Clicks(args, seed=9)
    with torch.no_grad():
        loss, p = model(held.dense, held.ids, held.label)
    accuracy = ((samba.to_torch(p) > 0) == (held.label > 0.5)).float().mean().item()
    print("held out: %.3f" % accuracy)
    assert accuracy > 0.8


def main(argv):
    args = parse_app_args(argv=argv, common_parser_fn=add_args, run_parser_fn=add_run_args)
    utils.set_seed(1)
    model = Recommender(args.num_embeddings, 8, args.dense, args.bag)
    samba.from_torch_(model)
    inputs = get_inputs(args)
    optimizer = (
        None
        if args.inference
        else samba.optim.SGD(
            model.parameters(), lr=args.lr, momentum=args.momentum, weight_decay=args.weight_decay
        )
    )
    if args.command == "run":
        utils.trace_graph(model, inputs, optimizer, pef=args.pef, mapping=args.mapping)
        train(args, model, model.output_tensors)
    else:
        common_app_driver(
            args=args,
            model=model,
            inputs=inputs,
            optim=optimizer,
            name=model.__class__.__name__,
            init_output_grads=not args.inference,
            app_dir=utils.get_file_dir(__file__),
        )


if __name__ == "__main__":
    main(sys.argv[1:])
