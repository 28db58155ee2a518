"""Lazy parameters on the device: T013, T014, T018, T019, T020, T021, T022, S032, S033, S034."""
import os
import resource
import sys
import tempfile
import unittest

import torch
from torch import nn

import samba

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "Inputs"))
from llama import Llama  # noqa: E402

WIDTH = 16


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(WIDTH, 700), nn.Linear(700, 4)
        self.register_buffer("scale", torch.full((4,), 0.5))

    def forward(self, x):
        return self.second(torch.relu(self.first(x))) * self.scale


class LazyDeviceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(samba.session.disable_lazy_param)
        self.addCleanup(samba.session.reset)
        self.folder = folder.name

    def inputs(self):
        return (samba.SambaTensor(shape=(3, WIDTH), dtype=torch.float32, name="x"),)

    def lazy(self, **options):
        samba.session.enable_lazy_param(**options)
        model = Small()
        samba.session.disable_lazy_param()
        return samba.from_torch_model_(model)

    def compile(self, model):
        return samba.session.compile(model, self.inputs(), name="m", output_folder=self.folder)

    def test_t018_a_llama_of_seven_billion_parameters_compiles_without_them(self):
        samba.session.enable_lazy_param(seed=1)
        model = Llama(32000, 4096, 32, 11008, 32, 128)
        self.assertGreater(sum(p.numel() for p in model.parameters()), 6.7e9)
        samba.from_torch_model_(model)
        ids = samba.SambaTensor(shape=(1, 128), dtype=torch.int32, name="ids")
        path = samba.session.compile(
            model, (ids,), name="llama", output_folder=self.folder, inference=True
        )
        self.assertLess(os.path.getsize(path), 1 << 25)
        self.assertFalse(model.head.weight.has_data)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 1 << 20)  # KiB

    def test_t020_s034_the_device_gets_the_materializers_values(self):
        path = self.compile(self.lazy(seed=5))
        devices = []
        for threads in (1, 8):
            model = self.lazy(seed=5, init_threads=threads)
            torch.randn(7)
            samba.utils.trace_graph(model, self.inputs(), pef=path)
            weight = model.first.weight
            self.assertFalse(weight.has_data)  # sent, not kept
            expected = weight.materializer(weight.shape, weight.dtype)
            self.assertTrue(torch.equal(samba.to_torch(weight.sn_data), expected))
            devices.append(samba.to_torch(weight.sn_data))
        self.assertTrue(torch.equal(*devices))
        self.assertAlmostEqual(devices[0].std().item(), WIDTH**-0.5 / 3**0.5, delta=0.005)

    def test_t022_t021_the_host_computes_what_the_device_computes(self):
        model = self.lazy(seed=6)
        outputs = samba.utils.trace_graph(model, self.inputs(), pef=self.compile(model))
        x = torch.randn(3, WIDTH)
        (y,) = samba.session.run([samba.from_torch_tensor(x, name="x")], outputs)
        for parameter in model.parameters():
            parameter.materialize_()
        self.assertTrue(model.first.weight.has_data)
        samba.utils.assert_close(y, model(x), "y", 1e-5)
        model.first.weight.clear_data()
        self.assertFalse(model.first.weight.has_data)
        samba.session.to_cpu(model)
        samba.utils.assert_close(y, model(x), "y", 1e-5)

    def test_s032_a_checkpoint_takes_the_place_of_the_materializers(self):
        torch.manual_seed(1)
        state = Small().state_dict()
        model = self.lazy(seed=6)
        model.load_state_dict(state)
        samba.utils.trace_graph(model, self.inputs(), pef=self.compile(model))
        self.assertTrue(
            torch.equal(samba.to_torch(model.first.weight.sn_data), state["first.weight"])
        )

    def test_t013_t014_both_signatures(self):
        calls = []

        def three(shape, dtype, requires_grad):
            calls.append((tuple(shape), dtype, requires_grad))
            return torch.ones(shape, dtype=dtype)

        def two(tensor, generator):
            calls.append(tuple(tensor.shape))
            return torch.zeros(tensor.shape)

        a = samba.SambaTensor(shape=(2,), dtype=torch.bfloat16, name="a", materializer=three)
        b = samba.SambaTensor(shape=(3,), name="b", materializer=two)
        self.assertEqual(
            (a.materialize_().tolist(), b.materialize_().tolist()), ([1.0] * 2, [0.0] * 3)
        )
        self.assertEqual(calls, [((2,), torch.bfloat16, False), (3,)])

    def test_t020_no_materializer(self):
        model = samba.from_torch_model_(Small())
        path = self.compile(model)
        model.first.weight.clear_data()
        with self.assertRaisesRegex(
            RuntimeError, "'first__weight' has no data and no materializer"
        ):
            samba.utils.trace_graph(model, self.inputs(), pef=path)


if __name__ == "__main__":
    unittest.main()
