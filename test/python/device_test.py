"""The device computes: run() calls no kernel of torch; what a run costs; no leak. S061."""
import gc
import os
import tempfile
import time
import unittest

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

import samba


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 3, padding=1), nn.Conv2d(6, 16, 3, padding=1)
        self.fc1, self.fc2, self.fc3 = nn.Linear(784, 120), nn.Linear(120, 84), nn.Linear(84, 10)
        self.pool = nn.MaxPool2d(2)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, images, labels):
        x = self.pool(self.conv1(images).relu())
        x = self.pool(self.conv2(x).relu()).flatten(1)
        x = self.fc3(self.fc2(self.fc1(x).relu()).relu())
        return self.loss(x, labels), x


class NoKernels(TorchDispatchMode):
    """Every kernel of torch raises."""

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        raise AssertionError(f"torch computes {function}")


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class DeviceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(samba.session.reset)
        self.folder = folder.name
        torch.manual_seed(1)

    def start(self, model, inputs, optimizer=None):
        path = samba.session.compile(model, inputs, optimizer, output_folder=self.folder)
        return samba.utils.trace_graph(model, inputs, optimizer, pef=path)

    def lenet(self):
        model = samba.from_torch_model_(LeNet())
        inputs = [
            samba.randn(8, 1, 28, 28, name="images"),
            samba.randint(10, (8,), name="labels"),
        ]
        return model, inputs, self.start(model, inputs, samba.optim.SGD(model.parameters(), lr=0.1))

    def test_the_device_computes(self):
        model, inputs, outputs = self.lenet()
        expected, _ = model(*inputs)
        with self.assertRaisesRegex(AssertionError, "torch computes"), NoKernels():
            model(*inputs)
        with NoKernels():
            loss, logits = samba.session.run(inputs, outputs, hyperparam_dict={"lr": 0.01})
            gradient = model.fc3.bias.sn_grad
        self.assertAlmostEqual(float(loss), float(expected), delta=1e-5)
        expected.backward()
        self.assertTrue(torch.allclose(gradient, model.fc3.bias.grad, atol=1e-6))

    def test_what_a_run_costs(self):
        """Python and the conversions around the simulator: 1 ms at most, with a LeNet."""
        _, inputs, outputs = self.lenet()
        costs = []
        for _ in range(60):
            before = samba.session._device.report()["simulate_seconds"]
            start = time.perf_counter()
            samba.session.run(inputs, outputs, hyperparam_dict={"lr": 0.01})
            whole = time.perf_counter() - start
            costs.append(whole - (samba.session._device.report()["simulate_seconds"] - before))
        self.assertLess(sorted(costs)[len(costs) // 2], 1e-3)

    def test_no_leak(self):
        model = samba.from_torch_model_(nn.Linear(16, 16))
        x = samba.randn(4, 16, name="x")
        outputs = self.start(model, [x])
        feed = torch.randn(4, 16)

        def runs(count):
            for _ in range(count):
                samba.session.run([samba.from_torch_tensor(feed, name="x")], outputs)

        count = 10000 if os.environ.get("SAMBA_CHECK") in ("full", "long") else 2000
        runs(count // 5)
        gc.collect()
        before, objects = resident(), len(gc.get_objects())
        runs(count)
        gc.collect()
        self.assertLess(len(gc.get_objects()) - objects, 50)
        if "asan" not in os.environ.get("LD_PRELOAD", ""):  # which keeps what is freed (leaks.test)
            self.assertLess(resident() - before, 1 << 20)

    def test_traces_are_freed(self):
        model = samba.from_torch_model_(LeNet())
        inputs = [samba.randn(8, 1, 28, 28, name="a"), samba.randint(10, (8,), name="b")]

        def traces(count):
            for _ in range(count):
                samba.session._trace(model, inputs, [], None, "", False, False)

        traces(10)
        gc.collect()
        objects = len(gc.get_objects())
        traces(20)
        gc.collect()
        self.assertLess(len(gc.get_objects()) - objects, 50)


if __name__ == "__main__":
    unittest.main()
