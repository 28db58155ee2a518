"""Models without data on the host, as programs for large models make them: parameters that
materialize themselves, meta parameters, optimizer state by name, checkpoints in several files.
T026, S032."""
import importlib.util
import json
import os
import sys
import tempfile
import unittest

import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import samba  # noqa: E402
from device import compile_and_trace, relative  # noqa: E402
from samba import session  # noqa: E402
from samba.lazy import MultithreadedRNG, RNGProviderFactory  # noqa: E402
from samba.nn.parameter import SambaParameter  # noqa: E402
from samba.utils.checkpoint import load_sharded_checkpoint  # noqa: E402


class NormalInit:
    def __init__(self, std, provider):
        self.std, self.provider = std, provider

    def __call__(self, p):
        return self.provider().normal(0.0, self.std, p.shape, dtype=p.dtype)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding, self.head = nn.Embedding(20, 8), nn.Linear(8, 20)
        self.head.weight = self.embedding.weight

    def forward(self, ids, labels):
        logits = self.head(self.embedding(ids))
        return nn.functional.cross_entropy(logits.view(-1, 20), labels.view(-1)), logits


def inputs():
    ids = samba.randint(20, (2, 5), name="ids").int()
    return ids, samba.from_torch_tensor(torch.randint(0, 20, (2, 5)).int(), name="labels")


def without_data(model):
    """As a program does that makes models on the meta device."""
    kept = {}
    for module in model.modules():
        for key, p in list(module._parameters.items()):
            if p is not None:
                meta = nn.Parameter(p.detach().to("meta"), requires_grad=p.requires_grad)
                module._parameters[key] = kept.setdefault(id(p), meta)
    return model


class LargeModelTest(unittest.TestCase):
    def setUp(self):
        session.reset()
        torch.manual_seed(5)

    def traced(self, model):
        samba.from_torch_model_(model)
        optimizer = samba.optim.AdamW(model.parameters(), lr=1e-2)
        outputs, _ = compile_and_trace(model, inputs(), [optimizer])
        return optimizer, outputs

    def test_generators(self):
        one = MultithreadedRNG(3).normal(1.0, 2.0, (1000, 50))
        again = MultithreadedRNG(3, threads=1).normal(1.0, 2.0, (1000, 50))
        self.assertTrue(torch.equal(one, again))
        self.assertAlmostEqual(float(one.mean()), 1.0, delta=0.05)
        self.assertAlmostEqual(float(one.std()), 2.0, delta=0.05)
        uniform = MultithreadedRNG(3).uniform(-1, 1, (1000,), dtype=torch.bfloat16)
        self.assertEqual(uniform.dtype, torch.bfloat16)
        self.assertLess(float(uniform.abs().max()), 1.01)
        factory = RNGProviderFactory()
        first, second = factory.build_provider(), factory.build_provider()
        self.assertTrue(torch.equal(first().normal(0, 1, (5,)), first().normal(0, 1, (5,))))
        self.assertFalse(torch.equal(first().normal(0, 1, (5,)), second().normal(0, 1, (5,))))
        torch.manual_seed(5)
        same = RNGProviderFactory().build_provider()
        torch.manual_seed(5)
        self.assertEqual(RNGProviderFactory().build_provider().seed, same.seed)
        with self.assertRaisesRegex(ValueError, "normal: dtype is torch.int32"):
            first().normal(0, 1, (5,), dtype=torch.int32)

    def test_t026_a_materializer_of_the_tensor_alone(self):
        model, provider = Net(), RNGProviderFactory().build_provider()
        shape = model.head.bias.shape
        model.head.bias = SambaParameter(
            shape=shape, dtype=torch.float32, materializer=NormalInit(0.5, provider)
        )
        self.traced(model)
        (bias,) = session.get_tensors_by_name([model.head.bias.sn_name])
        self.assertTrue(torch.equal(samba.to_torch(bias), provider().normal(0.0, 0.5, shape)))

    def test_a_model_on_the_meta_device(self):
        """Compiled and traced without data, then the device gets a checkpoint file by file."""
        values = Net()
        values.head.bias.data.normal_()
        model = without_data(Net())
        samba.from_torch_model_(model)
        optimizer = samba.optim.AdamW(model.parameters(), lr=1e-2)
        with tempfile.TemporaryDirectory() as folder:
            path = session.compile(
                model, inputs(), optimizer, output_folder=folder, optimization="o0"
            )
            given = inputs()
            outputs = samba.utils.trace_graph(
                model, given, optimizer, pef=path, transfer_device=False, loss_indices=None
            )
            states = session.optim_dict
            self.assertIn("head__bias__exp_avg", states)
            for state in states.values():
                state.rdu()
            names = {t.sn_name for t in session._traced_tensors()}
            self.assertLess({"ids", "labels", "head__bias", "out0"}, names)
            table = {"embedding.weight": "a.bin", "head.bias": "b.bin"}
            for key, file in table.items():
                torch.save({key: values.state_dict()[key]}, os.path.join(folder, file))
            index = os.path.join(folder, "pytorch_model.bin.index.json")
            with open(index, "w", encoding="utf-8") as file:
                json.dump({"weight_map": table}, file)
            written = load_sharded_checkpoint(model, folder)
            self.assertEqual(written, ["embedding__weight", "head__bias"])
        loss, logits = session.run(given, outputs)
        ids, labels = (samba.to_torch(t) for t in given)
        expected = values(ids, labels.long())
        self.assertLess(relative(logits, expected[1]), 1e-5)
        self.assertLess(relative(loss, expected[0]), 1e-5)
        self.assertFalse(model.head.bias.has_data)

    def test_a_model_that_is_made_later(self):
        optimizer, outputs = None, None
        model = without_data(Net())
        samba.from_torch_model_(model)
        with tempfile.TemporaryDirectory() as folder:
            path = session.compile(model, inputs(), output_folder=folder, optimization="o0")
            given = inputs()
            outputs = samba.utils.trace_graph(model, given, pef=path, transfer_device=False)
        with self.assertRaisesRegex(RuntimeError, "has no data and no materializer"):
            session.to_device()
        later = Net()
        samba.from_torch_model_(later)
        session.to_device()
        loss, logits = session.run(given, outputs)
        expected = later(*(samba.to_torch(t).long() for t in given))
        self.assertLess(relative(logits, expected[1]), 1e-5)

    @unittest.skipIf(importlib.util.find_spec("safetensors"), "the package is there")
    def test_files_that_another_package_reads(self):
        model = Net()
        self.traced(model)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.safetensors")
            with open(path, "wb"):
                pass
            with self.assertRaisesRegex(NotImplementedError, "install it, or save.* torch.save"):
                load_sharded_checkpoint(model, folder)

    def test_wrong_checkpoints(self):
        model = Net()
        self.traced(model)
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(FileNotFoundError, "there is no checkpoint at.*bin.index"):
                load_sharded_checkpoint(model, folder)
            path = os.path.join(folder, "pytorch_model.bin")
            torch.save({"head.bias": torch.zeros(20).bfloat16()}, path)
            with self.assertRaisesRegex(ValueError, "'head.bias' is torch.bfloat16 in the check"):
                load_sharded_checkpoint(model, folder)
            with self.assertRaisesRegex(KeyError, "has no embedding__weight"):
                load_sharded_checkpoint(model, folder, ignore_dtype_mismatch=True)
            written = load_sharded_checkpoint(model, path, True, strict=False)
            self.assertEqual(written, ["head__bias"])
            torch.save({"head.bias": torch.zeros(21)}, path)
            with self.assertRaisesRegex(ValueError, r"\(21,\), but the PEF was compiled for \(20,"):
                load_sharded_checkpoint(model, folder)


if __name__ == "__main__":
    unittest.main()
