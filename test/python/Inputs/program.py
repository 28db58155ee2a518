"""A program as people write them for the reference API: two clouds of points are told apart."""
import argparse
import sys

import sambaflow.samba.utils as utils
import torch
from sambaflow import samba
from sambaflow.samba.utils.argparser import parse_app_args
from sambaflow.samba.utils.benchmark_acc import AccuracyReport
from sambaflow.samba.utils.common import common_app_driver
from sambaflow.samba.utils.pef_utils import get_pefmeta


class Model(torch.nn.Module):
    def __init__(self, features):
        super().__init__()
        self.layer, self.norm = torch.nn.Linear(features, 8), torch.nn.BatchNorm1d(8)
        self.head, self.criterion = torch.nn.Linear(8, 2), torch.nn.CrossEntropyLoss()

    def forward(self, x, labels):
        out = self.head(torch.relu(self.norm(self.layer(x))))
        return self.criterion(out, labels), out


def add_args(parser: argparse.ArgumentParser):
    parser.add_argument("--lr", type=float, default=0.1)
    parser.add_argument("--num-features", type=int, default=6)


def add_run_args(parser: argparse.ArgumentParser):
    parser.add_argument("--steps", type=int, default=40)


def batch(args, step):
    generator = torch.Generator().manual_seed(step)
    labels = torch.randint(2, (args.batch_size,), generator=generator)
    x = torch.randn(args.batch_size, args.num_features, generator=generator)
    return x + 3.0 * (labels[:, None] - 0.5), labels


def train(args, model, outputs):
    good = 0
    for step in range(args.steps):
        x, labels = batch(args, step)
        feed = [
            samba.from_torch_tensor(x, name="x"),
            samba.from_torch_tensor(labels, name="labels"),
        ]
        loss, out = samba.session.run(
            input_tensors=feed,
            output_tensors=outputs,
            hyperparam_dict={"lr": args.lr},
            data_parallel=args.data_parallel,
            reduce_on_rdu=args.reduce_on_rdu,
        )
        if step >= args.steps - 10:
            good += int((samba.to_torch(out).argmax(1) == labels).sum())
    samba.session.to_cpu(model)
    accuracy = 100.0 * good / (10 * args.batch_size)
    print(f"Loss: {samba.to_torch(loss).item():.4f}, Accuracy: {accuracy:.1f}")
    if args.json is not None:
        AccuracyReport(val_accuracy=accuracy, batch_size=args.batch_size).save(args.json)


def main(argv):
    utils.set_seed(1)
    args = parse_app_args(argv=argv, common_parser_fn=add_args, run_parser_fn=add_run_args)
    inputs = (
        samba.randn(args.batch_size, args.num_features, name="x", batch_dim=0).bfloat16().float(),
        samba.randint(2, (args.batch_size,), name="labels", batch_dim=0),
    )
    inputs[0].host_memory = False
    model = Model(args.num_features)
    samba.from_torch_model_(model)
    optimizer = None if args.inference else samba.optim.SGD(model.parameters(), lr=0.0)
    if args.command == "compile":
        samba.session.compile(
            model,
            inputs,
            optimizer,
            name="program",
            app_dir=utils.get_file_dir(__file__),
            config_dict=vars(args),
            pef_metadata=get_pefmeta(args, model),
        )
    elif args.command == "run":
        outputs = utils.trace_graph(
            model, inputs, optimizer, pef=args.pef, distlearn_config=args.distlearn_config
        )
        train(args, model, outputs)
    else:
        common_app_driver(args, model, inputs, optimizer, name="program", squeeze_bs_dim=True)


if __name__ == "__main__":
    main(sys.argv[1:])
