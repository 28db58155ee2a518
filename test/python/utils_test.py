"""samba.utils: U001 to U006, U010, U012 to U018, U020, U021, G005, and the rest of utils."""
import os
import random
import tempfile
import unittest

import numpy
import torch

import samba
from samba import settings, utils


class TwoOutputs(torch.nn.Module):
    """Two losses, and a third output that only one of them reads."""

    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 3), torch.nn.Linear(4, 2)

    def forward(self, x):
        hidden = self.second(x)
        return self.first(x), hidden, hidden.sum()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(settings.reset)
        self.addCleanup(samba.session.reset)
        self.folder = folder.name
        torch.manual_seed(2)

    def ready(self, **options):
        """A traced training of TwoOutputs: the losses are out0 and out2."""
        model = samba.from_torch_model_(TwoOutputs())
        inputs = (samba.randn(5, 4, name="x"),)
        optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
        path = samba.session.compile(model, inputs, optimizer, name="t", output_folder=self.folder)
        outputs = utils.trace_graph(model, inputs, optimizer, pef=path, **options)
        return model, inputs, outputs


class TraceTest(Case):
    def test_u010_g015_outputs_are_those_of_the_model(self):
        model, inputs, outputs = self.ready()
        self.assertIs(outputs, model.output_tensors)
        self.assertEqual([t.sn_name for t in outputs], ["out0", "out1", "out2"])

    def test_u012_u013_lists(self):
        model = samba.from_torch_model_(TwoOutputs())
        inputs = [samba.randn(5, 4, name="x")]
        path = samba.session.compile(model, inputs, name="t", output_folder=self.folder)
        self.assertEqual(len(utils.trace_graph(model, inputs, [], pef=path)), 3)
        self.assertEqual(len(utils.trace_graph(model, {"x": inputs[0]}, None, pef=path)), 3)

    def test_u017_u018_spatial(self):
        model = torch.nn.Sequential(
            torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)
        )
        samba.from_torch_model_(model)
        inputs = (samba.randn(16, 64, name="x"),)
        results, launches, cycles = {}, {}, {}
        samba.session.timing = True
        self.addCleanup(setattr, samba.session, "timing", False)
        self.addCleanup(samba.session.reset)
        for mapping, level in (("section", "o0"), ("spatial", "o1")):
            samba.session.reset()
            options = {"mapping": mapping, "optimization": level, "output_folder": self.folder}
            path = samba.session.compile(model, inputs, name=mapping, inference=True, **options)
            self.assertEqual(utils.pef_utils.get_pef_info(path)["mapping"], mapping)
            outputs = utils.trace_graph(model, inputs, pef=path, mapping=mapping)
            utils.trace_graph(model, inputs, pef=path)
            (y,) = samba.session.run(inputs, outputs)
            results[mapping] = samba.to_torch(y)
            launches[mapping] = len(samba.session.get_calls())
            cycles[mapping] = samba.session.report()["cycles"]
            other = "section" if mapping == "spatial" else "spatial"
            with self.assertRaisesRegex(ValueError, f"mapping '{mapping}', but '{other}' is asked"):
                utils.trace_graph(model, inputs, pef=path, mapping=other)
        self.assertTrue(torch.allclose(results["section"], results["spatial"], atol=1e-5))
        self.assertEqual(launches["spatial"], 1)
        self.assertGreater(launches["section"], 1)
        self.assertLess(cycles["spatial"], cycles["section"])

    def test_u016_g005_no_pef(self):
        with self.assertRaisesRegex(RuntimeError, "no PEF loaded"):
            utils.trace_graph(samba.from_torch_model_(TwoOutputs()), (samba.randn(5, 4, name="x"),))
        with self.assertRaisesRegex(FileNotFoundError, "there is no PEF at 'x.pef'"):
            utils.trace_graph(None, (), pef="x.pef")

    def test_u014_gradients_of_losses_start_as_ones(self):
        for asked in (True, False):  # what a run finds that nobody has written is ones, too
            _, _, outputs = self.ready(init_output_grads=asked)
            self.assertTrue(torch.equal(samba.to_torch(outputs[0].sn_grad), torch.ones(5, 3)))

    def test_u020_nothing_is_sent_unless_asked(self):
        model, inputs, outputs = self.ready(transfer_device=False)
        with self.assertRaises(RuntimeError):
            samba.session.run(inputs, outputs, section_types=["FWD"])
        samba.session.to_device()
        values = samba.session.run(inputs, outputs, section_types=["FWD"])
        utils.assert_close(values[0], model(*inputs)[0], "out0", 1e-5)


class OutputGradientTest(Case):
    def test_u001_u002_ones(self):
        _, _, outputs = self.ready(init_output_grads=False)
        utils.init_output_grads(outputs)
        self.assertTrue(torch.equal(samba.to_torch(outputs[0].sn_grad), torch.ones(5, 3)))
        outputs[2].sn_grad = torch.tensor(4.0)
        utils.init_output_grads(["out2"])
        self.assertEqual(outputs[2].sn_grad.item(), 1.0)
        with self.assertRaisesRegex(ValueError, "unknown traced tensor 'out7'"):
            utils.init_output_grads(["out7"])

    def test_u003_further_names(self):
        _, _, outputs = self.ready(init_output_grads=False)
        utils.init_output_grads([], unspecified_tensor_grad=["out0"])
        self.assertEqual(samba.to_torch(outputs[0].sn_grad).sum().item(), 15)
        with self.assertRaisesRegex(ValueError, "'out1' is no loss, so it has no gradient"):
            utils.init_output_grads([], unspecified_tensor_grad=["out1"])

    def test_u004_u006_custom_gradients(self):
        _, _, outputs = self.ready()
        custom = {"out0": torch.full((5, 3), 2.0)}
        utils.init_output_grads(outputs, customized_tensors_dict=custom)
        self.assertEqual(samba.to_torch(outputs[0].sn_grad).sum().item(), 30)
        self.assertEqual(outputs[2].sn_grad.item(), 1.0)
        utils.init_output_grads(outputs)  # what was given before is not remembered
        self.assertEqual(samba.to_torch(outputs[0].sn_grad).sum().item(), 15)
        with self.assertRaisesRegex(ValueError, r"\(3, 5\).*\(5, 3\)"):
            utils.init_output_grads(outputs, customized_tensors_dict={"out0": torch.ones(3, 5)})
        with self.assertRaisesRegex(ValueError, "init_output_grads: unknown output 'out9'"):
            utils.init_output_grads(outputs, customized_tensors_dict={"out9": torch.ones(1)})

    def test_u005_variable_batches(self):
        with self.assertRaisesRegex(NotImplementedError, "a PEF has one batch size"):
            utils.init_output_grads([], is_variable_batch_size=True)


class SmallTest(Case):
    def test_seeds(self):
        draws = []
        for _ in range(2):
            utils.set_seed(11)
            draws.append((random.random(), numpy.random.rand(), torch.rand(1).item()))
        self.assertEqual(*draws)

    def test_processes_and_folders(self):
        self.assertEqual((utils.get_rank(), utils.get_world_size()), (0, 1))
        self.assertIs(utils.is_main_process(), True)
        self.assertEqual(utils.get_file_dir("/a/b/c.py"), "/a/b")

    def test_assert_close(self):
        a = torch.tensor([1.0, 2.0, 3.0, 4.0])
        self.assertEqual(utils.assert_close(samba.from_torch(a), a, "a"), 0)
        self.assertAlmostEqual(utils.assert_close(a * 1.001, a, "a", 2e-3), 1e-3, places=6)
        self.assertEqual(utils.assert_close(torch.zeros(3), torch.zeros(3), "z"), 0)
        self.assertAlmostEqual(utils.assert_close(a * 1.1, a, "a", 1e-3, 0.2), 0.1, places=6)
        nothing = torch.tensor([float("nan"), 1.0])
        self.assertEqual(utils.assert_close(nothing, nothing, "n"), 0)
        for other, words in (
            (
                a + torch.tensor([0, 0, 0.1, 0]),
                r"b: the relative difference is.*furthest off at .2,.",
            ),
            (torch.ones(3), r"b: shape \(4,\) against \(3,\)"),
            (a / torch.tensor([1, 0, 1, 1]), "1 values are finite in one of the tensors only"),
        ):
            with self.assertRaisesRegex(AssertionError, words):
                utils.assert_close(a, other, "b", 1e-3)

    def test_pef_info(self):
        self.ready()
        path = samba.session.pef_path
        info = utils.pef_utils.get_pef_info(path)
        self.assertEqual((info["mode"], info["inputs"]), ("training", ["x"]))
        self.assertEqual(utils.pef_utils.get_pef_info(path, ["mapping"]), {"mapping": "section"})
        self.assertEqual(utils.pef_utils.get_pef_info(path, {"nothing": 7}), {"nothing": 7})
        with self.assertRaisesRegex(ValueError, "unknown field 'mappin'; did you mean 'mapping'"):
            utils.pef_utils.get_pef_info(path, ["mappin"])

    def test_misspelt_names(self):
        with self.assertRaisesRegex(AttributeError, "did you mean 'trace_graph'"):
            utils.trace_grap


if __name__ == "__main__":
    unittest.main()
