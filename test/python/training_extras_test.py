"""AdamW's copies of parameters in f32, dropout modules that are called twice, batch norm on few
values: G010, E17."""
import copy
import os
import sys
import unittest

import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import samba  # noqa: E402
from device import compile_and_trace, relative  # noqa: E402
from samba import session  # noqa: E402

STEP = ["FWD", "BCKWD", "OPT"]


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(8, 16), nn.Linear(16, 1)

    def forward(self, x, y):
        return nn.functional.mse_loss(self.head(torch.tanh(self.body(x))), y)


class MasterTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(0)
        self.x = torch.randn(32, 8)

    def trained(self, dtype, options, **settings):
        """A model on the device with its inputs, traced outputs and optimizer."""
        model = Regression().to(dtype)
        x = self.x.to(dtype)
        session.reset()
        samba.from_torch_model_(model)
        inputs = (
            samba.from_torch_tensor(x, name="x"),
            samba.from_torch_tensor(x[:, :1] * 0.5, name="y"),
        )
        optimizer = samba.optim.AdamW(model.parameters(), lr=1e-4, **settings)
        outputs, _ = compile_and_trace(model, inputs, [optimizer], **options)
        return model, inputs, outputs, optimizer

    def check_master(self, dtype, options, writes=False):
        """The device's steps against PyTorch's, with the device's gradients. With writes the host
        changes an element of each weight in between; all others keep what is below their last bit.
        """
        model, inputs, outputs, optimizer = self.trained(
            dtype, options, fp32_params=True, weight_decay=0.1
        )
        names = session.get_weight_names()
        start = session.get_tensors_by_name(names)
        masters = [nn.Parameter(samba.to_torch(w).float().clone()) for w in start]
        expected = torch.optim.AdamW(masters, lr=1e-4, betas=(0.9, 0.997), weight_decay=0.1)
        for step in range(5):
            if writes and step == 3:
                self.change_first(names, masters)
            session.run(inputs, outputs, section_types=["FWD", "BCKWD"])
            gradients = session.get_tensors_by_name([name + "__grad" for name in names])
            for master, gradient in zip(masters, gradients):
                master.grad = samba.to_torch(gradient).float()
            expected.step()
            session.run(section_types=["OPT"])
        for name, master in zip(names, masters):
            weight, copied = session.get_tensors_by_name([name, name + "__fp32"])
            self.assertLess(relative(copied, master), 1e-6)
            rounded = samba.to_torch(copied).bfloat16()
            self.assertTrue(torch.equal(samba.to_torch(weight).bfloat16(), rounded))
        session.to_cpu(model, optimizer)
        state = optimizer.state[model.body.weight]
        self.assertEqual(state["fp32"].dtype, torch.float32)
        self.assertLess(relative(state["fp32"], masters[0]), 1e-6)

    def change_first(self, names, masters):
        for name, weight, master in zip(names, session.get_tensors_by_name(names), masters):
            changed = samba.to_torch(weight).detach().clone()
            changed.flatten()[0] = 0.75
            master.data.flatten()[0] = 0.75
            samba.from_torch_tensor(changed, name=name).rdu()

    def test_what_rounds_to_a_written_weight_is_kept(self):
        self.check_master(torch.bfloat16, {}, writes=True)
        self.check_master(torch.float32, {"precision": "mp4", "optimization": "o1"}, writes=True)

    def test_g010_fp32_params_of_bfloat16(self):
        self.check_master(torch.bfloat16, {})

    def test_g010_fp32_params_under_mp4(self):
        self.check_master(torch.float32, {"precision": "mp4"})

    def test_fp32_params_of_what_has_32_bits_costs_nothing(self):
        self.trained(torch.float32, {}, fp32_params=True)
        with self.assertRaises(KeyError):
            session.get_tensors_by_name(["body__weight__fp32"])

    def test_small_steps_add_up(self):
        """Steps of 1e-4 are less than half a unit of most weights in bf16."""
        moved = {}
        for copies in (False, True):
            model, inputs, outputs, _ = self.trained(torch.bfloat16, {}, fp32_params=copies)
            before = model.body.weight.detach().clone()
            for _ in range(20):
                session.run(inputs, outputs)
            session.to_cpu(model)
            moved[copies] = float((model.body.weight.detach() != before).float().mean())
        self.assertLess(moved[False], 0.5)
        self.assertGreater(moved[True], 0.8)

    def test_a_weight_that_is_written_counts(self):
        model, inputs, outputs, _ = self.trained(torch.bfloat16, {}, fp32_params=True)
        session.run(inputs, outputs)
        model.body.bias.sn_data = torch.full((16,), 4.0, dtype=torch.bfloat16)
        session.run(inputs, outputs)
        (copied,) = session.get_tensors_by_name(["body__bias__fp32"])
        self.assertTrue(bool((samba.to_torch(copied) - 4.0).abs().le(2e-4).all()))

    def test_a_checkpoint_has_the_copies(self):
        """Three steps and three more, through the host, are six."""
        ends = []
        for stop in (False, True):
            torch.manual_seed(3)
            model, inputs, outputs, optimizer = self.trained(torch.bfloat16, {}, fp32_params=True)
            for step in range(6):
                if stop and step == 3:
                    session.to_cpu(model)
                    saved = copy.deepcopy(optimizer.cpu().state_dict())
                    optimizer.load_state_dict(saved)
                    session.to_rdu(model)
                    optimizer.rdu()
                session.run(inputs, outputs)
            ends.append(session.get_tensors_by_name(["body__weight__fp32", "body__weight"]))
        for one, other in zip(*ends):
            self.assertTrue(torch.equal(samba.to_torch(one), samba.to_torch(other)))


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(x), self.drop(x * 2)


class DropoutTest(unittest.TestCase):
    def test_e17_a_module_has_one_rate(self):
        model = Twice()
        session.reset()
        samba.from_torch_model_(model)
        x = samba.ones(4000, name="x")
        x.requires_grad = True
        outputs, _ = compile_and_trace(model, (x,))
        self.assertEqual(list(session.get_dropout_rate_argin_names()), ["drop__p"])
        seeds = list(session.get_dropout_seed_argin_names())
        self.assertEqual(seeds, ["drop__seed", "drop__seed_0"])
        for rate in (0.5, 0.25, 0.0):
            run = session.run((x,), outputs, {"drop__p": rate}, section_types=["FWD"])
            kept = [samba.to_torch(y) != 0 for y in run]
            for mask in kept:
                self.assertAlmostEqual(float(mask.float().mean()), 1 - rate, delta=0.04)
            if rate:
                self.assertFalse(torch.equal(*kept))  # a mask for each call


class Narrow(nn.Module):
    """Six convolutions with batch norm, the last ones on four values per channel."""

    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for stride in (1, 2, 2, 2, 1, 1):
            layers += [nn.Conv2d(channels, 24, 3, stride, 1, bias=False), nn.BatchNorm2d(24)]
            layers += [nn.SiLU()]
            channels = 24
        self.body, self.head = nn.Sequential(*layers), nn.Linear(24, 5)

    def forward(self, x, y):
        return nn.functional.cross_entropy(self.head(self.body(x).flatten(1)), y)


class FewValuesTest(unittest.TestCase):
    def test_batch_norm_of_few_values_keeps_its_digits(self):
        """Gradients against float64: PyTorch's own f32 is the measure of what f32 can do."""
        torch.manual_seed(1)
        model, x, y = Narrow(), torch.randn(4, 3, 8, 8), torch.randint(0, 5, (4,))
        gradients = {}
        for dtype in (torch.float32, torch.float64):
            host = copy.deepcopy(model).to(dtype)
            host(x.to(dtype), y).backward()
            gradients[dtype] = [p.grad for p in host.parameters()]
        session.reset()
        samba.from_torch_model_(model)
        inputs = (samba.from_torch_tensor(x, name="x"), samba.from_torch_tensor(y, name="y"))
        optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
        outputs, _ = compile_and_trace(model, inputs, [optimizer])
        session.run(inputs, outputs, section_types=["FWD", "BCKWD"])
        mine, its = [], []
        for p, near, exact in zip(model.parameters(), *gradients.values()):
            mine.append(relative(p.sn_grad, exact))
            its.append(relative(near, exact))
        self.assertLess(sum(mine) / len(mine), 3 * sum(its) / len(its))


if __name__ == "__main__":
    unittest.main()
