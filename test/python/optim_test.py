"""Optimizers as torch optimizers: G010, S022, D4 of the contract, state_dict."""
import unittest

import torch

from samba import optim


def parameters(count=2):
    return [torch.nn.Parameter(torch.ones(3)) for _ in range(count)]


class OptimTest(unittest.TestCase):
    def test_g010_sgd_is_a_torch_optimizer(self):
        first, second = parameters()
        sgd = optim.SGD([first, second], lr=0.1, momentum=0.9, weight_decay=1e-4)
        self.assertIsInstance(sgd, torch.optim.Optimizer)
        (group,) = sgd.groups()
        self.assertEqual((group["kind"], group["prefix"]), ("sgd", ""))
        self.assertEqual((group["lr"], group["momentum"], group["weight_decay"]), (0.1, 0.9, 1e-4))
        self.assertIs(group["params"][1], second)
        self.assertEqual(
            sgd.device_state("fc__weight"), [("fc__weight__velocity", "momentum_buffer")]
        )

    def test_g010_adamw(self):
        adamw = optim.AdamW(parameters(), max_grad_norm=1.0, argin_region_name="a_")
        (group,) = adamw.groups()
        self.assertEqual((group["lr"], group["betas"], group["eps"]), (1e-3, (0.9, 0.997), 1e-8))
        self.assertEqual((group["max_grad_norm"], group["prefix"]), (1.0, "a_"))
        names = [symbol for symbol, _ in adamw.device_state("w")]
        self.assertEqual(names, ["w__exp_avg", "w__exp_avg_sq", "w__fp32"])

    def test_g010_parameter_groups_are_told_apart(self):
        first, second = parameters()
        groups = [{"params": [first], "lr": 0.1}, {"params": [second], "lr": 0.2}]
        described = optim.SGD(groups, lr=0.3, argin_region_name="x_").groups()
        self.assertEqual([g["lr"] for g in described], [0.1, 0.2])
        self.assertEqual(len({g["prefix"] for g in described}), 2)

    def test_s022_one_list_none(self):
        first, second = parameters()
        one = optim.SGD([first], lr=0.1)
        two = optim.AdamW([second])
        self.assertEqual(optim.optimizers_of(None), [])
        self.assertEqual(optim.optimizers_of(one), [one])
        self.assertEqual(optim.optimizers_of((one, two)), [one, two])
        with self.assertRaisesRegex(ValueError, "is in two optimizers"):
            optim.optimizers_of([one, optim.SGD([first], lr=0.1)])

    def test_g010_other_optimizers_are_refused(self):
        with self.assertRaisesRegex(
            TypeError, "torch.*Adam.*samba.optim.SGD and samba.optim.AdamW"
        ):
            optim.optimizers_of(torch.optim.Adam(parameters()))

    def test_state_dict_comes_back(self):
        first, second = parameters()
        sgd = optim.SGD([first, second], lr=0.1, momentum=0.9)
        sgd.state[first]["momentum_buffer"] = torch.full((3,), 2.0)
        again = optim.SGD(parameters(), lr=0.5)
        again.load_state_dict(sgd.state_dict())
        self.assertEqual(again.param_groups[0]["lr"], 0.1)
        (state,) = again.state.values()
        self.assertTrue(torch.equal(state["momentum_buffer"], torch.full((3,), 2.0)))
        # PyTorch reads the same dictionary.
        torch.optim.SGD(parameters(), lr=0.1).load_state_dict(sgd.state_dict())

    def test_step_is_the_devices(self):
        with self.assertRaisesRegex(RuntimeError, "the device takes the steps.*section_types"):
            optim.SGD(parameters(), lr=0.1).step()

    def test_refused_options(self):
        for make in (
            lambda: optim.SGD(parameters(), lr=0.1, dampening=0.5),
            lambda: optim.SGD(parameters(), lr=0.1, momentum=0.9, nesterov=True),
            lambda: optim.AdamW(parameters(), amsgrad=True),
        ):
            with self.assertRaisesRegex(NotImplementedError, "is not supported: the device"):
                make()
        for make, what in (
            (lambda: optim.SGD(parameters(), lr=-1), "SGD: lr is -1, but must be at least 0"),
            (lambda: optim.SGD(parameters(), lr=float("nan")), "lr is nan"),
            (lambda: optim.SGD(parameters(), lr=1, momentum=-0.1), "momentum is -0.1"),
            (lambda: optim.AdamW(parameters(), weight_decay=-1), "weight_decay is -1"),
            (lambda: optim.AdamW(parameters(), betas=(0.9, 1)), "at least 0 and below 1"),
            (lambda: optim.AdamW(parameters(), betas=(0.9,)), "must be two numbers"),
            (lambda: optim.AdamW(parameters(), max_grad_norm=-1), "max_grad_norm is -1"),
        ):
            with self.assertRaisesRegex(ValueError, what):
                make()

    def test_sparse_updates_are_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "SparseAdamW is not supported.*use AdamW"):
            optim.SparseAdamW(parameters())

    def test_misspelt_name_lists_what_exists(self):
        with self.assertRaisesRegex(AttributeError, "did you mean 'AdamW'.*SGD"):
            optim.AdmW


if __name__ == "__main__":
    unittest.main()
