"""Networks in plain PyTorch, traced and compiled for inference and for training, and run for one
step, against PyTorch: outputs, gradients of inputs and parameters, new parameters, buffers.
G001."""
import os
import sys
import unittest

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from device import check_inference, check_model  # noqa: E402
from networks import networks  # noqa: E402


class NetworksTest(unittest.TestCase):
    pass


def method(name, make, inputs):
    def test(self):
        torch.manual_seed(1)
        model = make()
        check_inference(model, inputs)
        check_model(model, inputs)

    test.__doc__ = name
    return test


for _name, (_make, _inputs) in networks().items():
    setattr(NetworksTest, f"test_{_name}", method(_name, _make, _inputs))

if __name__ == "__main__":
    unittest.main()
