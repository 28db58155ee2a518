"""A program as people write them for the reference API: a small U-Net finds discs in noise."""
import argparse
import sys
from typing import List, Tuple

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

import sambaflow.samba as samba
import sambaflow.samba.utils as utils
from sambaflow.mac.metadata import ConvTilingMetadata
from sambaflow.samba import SambaTensor
from sambaflow.samba.env import (
    disable_sgd_stoc,
    enable_addbias_grad_accum_stoc,
    enable_conv_grad_accum_stoc,
)
from sambaflow.samba.test import consistency_test
from sambaflow.samba.utils.argparser import parse_app_args
from sambaflow.samba.utils.benchmark_acc import AccuracyReport
from sambaflow.samba.utils.common import common_app_driver
from sambaflow.samba.utils.pef_utils import get_pefmeta


class DoubleConv(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(cin, cout, 3, padding=1, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(inplace=True),
            nn.Conv2d(cout, cout, 3, padding=1, bias=False),
            nn.BatchNorm2d(cout),
            nn.ReLU(inplace=True),
        )

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self, classes, width, bilinear=True):
        super().__init__()
        w = width
        self.inc = DoubleConv(1, w)
        self.down1 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(w, 2 * w))
        self.down2 = nn.Sequential(nn.MaxPool2d(2), DoubleConv(2 * w, 2 * w))
        self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
        self.up1 = DoubleConv(4 * w, w)
        self.upt = nn.ConvTranspose2d(w, w, 2, stride=2)
        self.up2 = DoubleConv(2 * w, w)
        self.outc = nn.Conv2d(w, classes, 1)
        self.criterion = nn.CrossEntropyLoss(reduction="none")

    def forward(self, image: torch.Tensor, mask: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        x1 = self.inc(image)
        x2 = self.down1(x1)
        x3 = self.down2(x2)
        x = self.up(x3)
        dy, dx = x2.size(2) - x.size(2), x2.size(3) - x.size(3)
        x = F.pad(x, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
        x = self.up1(torch.cat([x2, x], dim=1))
        x = self.up2(torch.cat([x1, self.upt(x)], dim=1))
        logits = self.outc(x)
        loss = self.criterion(logits, mask.long())
        return loss.mean(), logits


def add_user_args(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--in-height", type=int, default=16)
    parser.add_argument("--in-width", type=int, default=16)
    parser.add_argument("--lr", type=float, default=3e-3)
    parser.add_argument("--num-steps", type=int, default=60)
    parser.add_argument("--enable-conv-tiling", action="store_true")
    parser.add_argument("--enable-stoc-rounding", action="store_true")
    parser.add_argument("--acc-test", action="store_true")


def get_inputs(args) -> Tuple[samba.SambaTensor, ...]:
    image = samba.randn(
        args.batch_size, 1, args.in_height, args.in_width, name="image", batch_dim=0
    )
    mask = samba.randint(2, (args.batch_size, args.in_height, args.in_width), name="mask")
    return image, mask.int()


def batch(args, generator):
    """Bright discs in noise."""
    y, x = np.mgrid[: args.in_height, : args.in_width]
    images, masks = [], []
    for _ in range(args.batch_size):
        cy = generator.uniform(4, args.in_height - 4)
        cx, r = generator.uniform(4, args.in_width - 4), generator.uniform(2, 5)
        mask = (y - cy) ** 2 + (x - cx) ** 2 < r * r
        images.append(mask * 1.0 + generator.normal(0, 0.7, mask.shape))
        masks.append(mask)
    return torch.tensor(np.stack(images))[:, None].float(), torch.tensor(np.stack(masks)).int()


@consistency_test()
def test(
    args, model: nn.Module, inputs: Tuple[SambaTensor], outputs: List[SambaTensor]
) -> List[Tuple[str, SambaTensor]]:
    model.zero_grad()
    with samba.patched_torch():
        gold_loss, gold = model(*inputs)
    loss, out = samba.session.run(
        input_tensors=inputs, output_tensors=outputs, section_types=["fwd"]
    )
    utils.assert_close(gold, out, "output", threshold=1e-3, visualize=args.visualize)
    return [("samba_outputs", out), ("gold_outputs", gold)]


def train(args, model, outputs):
    generator = np.random.default_rng(3)
    for step in range(args.num_steps):
        image, mask = batch(args, generator)
        sn_image = samba.from_torch_tensor(image, name="image", batch_dim=0)
        sn_mask = samba.from_torch_tensor(mask, name="mask", batch_dim=0)
        loss, logits = samba.session.run(
            input_tensors=[sn_image, sn_mask],
            output_tensors=outputs,
            hyperparam_dict={"lr": args.lr},
            data_parallel=args.data_parallel,
            reduce_on_rdu=args.reduce_on_rdu,
        )
        loss = samba.to_torch(loss).mean().item()
        if step % 20 == 0:
            print(f"step {step}: loss {loss:.4f}")
    samba.session.to_cpu(model)
    model.eval()
    hit = both = 0
    with torch.no_grad():
        for _ in range(10):
            image, mask = batch(args, generator)
            found = samba.to_torch(model(image, mask)[1]).argmax(1)
            hit += (found & mask).sum().item()
            both += (found | mask).sum().item()
    print(f"IoU {hit / both:.3f}")
    if args.acc_report_json is not None:
        report = AccuracyReport(
            val_metrics={"iou": hit / both},
            batch_size=args.batch_size,
            num_iterations=args.num_steps,
        )
        report.save(args.acc_report_json)
    assert hit / both > 0.6


def main(argv):
    args = parse_app_args(argv=argv, common_parser_fn=add_user_args, dev_mode=True)
    utils.set_seed(256)
    if args.enable_stoc_rounding:
        enable_conv_grad_accum_stoc()
        enable_addbias_grad_accum_stoc()
    else:
        disable_sgd_stoc()
    model = UNet(2, 8)
    samba.from_torch_model_(model)
    inputs = get_inputs(args)
    if args.inference:
        model.eval()
    metadata = dict()
    if args.enable_conv_tiling:
        metadata[ConvTilingMetadata.key] = ConvTilingMetadata(original_size=inputs[0].shape)
    optim = (
        samba.optim.AdamW(model.parameters(), lr=args.lr, betas=(0.9, 0.997), weight_decay=0)
        if not args.inference
        else None
    )
    if args.command == "compile":
        samba.session.compile(
            model,
            inputs,
            optim,
            name="unet",
            squeeze_bs_dim=True,
            metadata=metadata,
            app_dir=utils.get_file_dir(__file__),
            config_dict=vars(args),
            pef_metadata=get_pefmeta(args, model),
        )
    elif args.command == "test":
        outputs = utils.trace_graph(
            model, inputs, optim, config_dict=vars(args), pef=args.pef, mapping=args.mapping
        )
        test(args, model, inputs, outputs)
    elif args.command == "run":
        outputs = utils.trace_graph(
            model,
            inputs,
            optim,
            init_output_grads=not args.inference,
            pef=args.pef,
            mapping=args.mapping,
        )
        train(args, model, outputs)
    else:
        common_app_driver(args, model, inputs, optim, name="unet", squeeze_bs_dim=True)


if __name__ == "__main__":
    main(sys.argv[1:])
