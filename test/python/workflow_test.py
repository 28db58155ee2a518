"""What a program does from a module to a run, row by row of the reference API.

G004, G006, G007, G008, G012, G014, G016, G017, G018, S002, S005, S006, S026, S027, S060, S066,
S075, S086, S095, S143, S144, T016, T027, T094, T095, T105, T108, N032, N062, E12, E19, E20."""
import io
import os
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

import numpy
import torch
from torch import nn

import samba
from samba import progress, settings, utils


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(settings.reset)
        self.addCleanup(samba.session.reset)
        self.folder = folder.name
        torch.manual_seed(4)

    def compile(self, model, inputs, optimizer=None, **options):
        options.setdefault("output_folder", self.folder)
        return samba.session.compile(model, inputs, optimizer, name="w", **options)

    def ready(self, model, inputs, optimizer=None, **options):
        samba.from_torch_model_(model)
        path = self.compile(model, inputs, optimizer, **options)
        return utils.trace_graph(model, inputs, optimizer, pef=path)

    def linear(self, **options):
        model = nn.Linear(10, 10)
        samba.from_torch_model_(model)
        optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
        inputs = (samba.randn(5, 10, name="x"),)
        return model, inputs, optimizer, self.ready(model, inputs, optimizer, **options)


class WorkflowTest(Case):
    def test_s002_g004_g018_one_pef_for_many_processes(self):
        torch.manual_seed(7)
        model, x = nn.Linear(4, 3), torch.randn(2, 4)
        inputs = (samba.from_torch_tensor(x, name="x"),)
        outputs = self.ready(model, inputs)
        path = samba.session.pef_path
        with open(path, "rb") as file:
            self.assertEqual(file.read(4), b"\x7fELF")
        (here,) = samba.session.run(inputs, outputs)
        code = (
            "import torch, samba; torch.manual_seed(7); m = torch.nn.Linear(4, 3); "
            "x = samba.from_torch_tensor(torch.randn(2, 4), name='x'); samba.from_torch_model_(m); "
            f"o = samba.utils.trace_graph(m, (x,), pef={path!r}); "
            "print(samba.to_torch(samba.session.run((x,), o)[0]).tolist())"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(out.stdout.strip(), str(samba.to_torch(here).tolist()), out.stderr)

    def test_s005_s006_the_session(self):
        self.assertIsInstance(samba.session, samba.SambaSession)
        other = samba.SambaSession()
        model, inputs, _, outputs = self.linear()
        self.assertFalse(other._device.loaded)
        with self.assertRaisesRegex(RuntimeError, "no PEF loaded"):
            other.run(inputs, outputs)

    def test_s027_s095_sections_have_ids_and_types(self):
        self.linear()
        with open(samba.session.pef_path + ".log", encoding="utf-8") as file:
            log = file.read()
        for kind in ("FWD", "BCKWD", "OPT"):
            self.assertIn(kind, log)
        calls = samba.session.get_calls()
        self.assertEqual(calls, sorted(set(calls)))

    def test_g012_g014_g017_inference_with_weights_from_elsewhere(self):
        model, inputs, optimizer, outputs = self.linear()
        state = {name: value + 1 for name, value in model.state_dict().items()}
        again = nn.Linear(10, 10)
        again.load_state_dict(state)
        path = self.compile(samba.from_torch_model_(again), inputs, inference=True)
        outputs = utils.trace_graph(again, inputs, pef=path)
        self.assertEqual(samba.session.get_section_types(), {"FWD"})
        (y,) = samba.session.run(inputs, outputs, section_types=["fwd"])
        x = samba.to_torch(inputs[0])
        expected = x @ state["weight"].t() + state["bias"]
        utils.assert_close(y, expected, "y", 1e-5)

    def test_g016_keys_of_hyperparameters(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer, self.drop = nn.Linear(4, 4), nn.Dropout(0.0)

            def forward(self, x):
                return self.drop(self.layer(x))

        model = samba.from_torch_model_(Model())
        inputs = (samba.ones(2, 4, name="x"),)
        optimizer = samba.optim.SGD(model.parameters(), lr=0.0)
        outputs = self.ready(model, inputs, optimizer)
        numbers = {"lr": 0.1, "weight_decay": 0.0, "momentum": 0.5, "p": 0.25}
        samba.session.run(inputs, outputs, hyperparam_dict=numbers)
        values = {a["group"]: a["value"] for a in samba.session._device.argins() if a["group"]}
        for key, number in numbers.items():
            self.assertAlmostEqual(values[key], number, places=6)

    def test_g006_g007_t105_a_part_on_the_host(self):
        model, inputs, _, outputs = self.linear()
        before = samba.session.statistics()
        (y,) = samba.session.run(inputs, outputs, section_types=["FWD"])
        after = samba.session.statistics()
        self.assertEqual(after["host_to_device_bytes"] - before["host_to_device_bytes"], 5 * 10 * 4)
        self.assertEqual(after["device_to_host_bytes"] - before["device_to_host_bytes"], 5 * 10 * 4)
        order = samba.to_torch(y).sort(dim=1).indices  # what the host computes
        self.assertEqual(tuple(order.shape), (5, 10))
        model.bias.sn_data = torch.zeros(10)  # and gives back
        (again,) = samba.session.run(None, outputs, section_types=["FWD"])
        utils.assert_close(samba.to_torch(y) - model.bias.data, again, "y", 1e-5)

    def test_g008_s066_what_the_documents_have_and_nobody_has(self):
        with self.assertRaisesRegex(AttributeError, "did you mean 'Bilinear'"):
            samba.nn.BiLinear
        with self.assertRaises(ModuleNotFoundError):
            __import__("samba.data_preparation")

    def test_s143_s144_tracing(self):
        seen = []

        class Model(nn.Module):
            def forward(self, x):
                seen.append((samba.session.tracing, samba.session.use_static_functional()))
                return x * 2

        x = samba.ones(2, name="x")
        self.ready(Model(), (x,))
        self.assertTrue(seen and all(s == (True, True) for s in seen))
        self.assertEqual(
            (samba.session.tracing, samba.session.use_static_functional()), (False,) * 2
        )
        samba.session.tracing = False
        self.assertEqual((Model()(x)).tolist(), [2.0, 2.0])
        self.assertEqual(seen[-1], (False, False))

    def test_s060_s075_masks(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight, self.drop = nn.Parameter(torch.ones(4000)), nn.Dropout(0.5)

            def forward(self, x):
                return self.drop(x * self.weight)

        model = samba.from_torch_model_(Model())
        inputs = (samba.ones(4000, name="x"),)
        optimizer = samba.optim.SGD(model.parameters(), lr=0.0)
        outputs = self.ready(model, inputs, optimizer)
        samba.session.reset_random_generator()
        draws = []
        for _ in range(2):
            (y,) = samba.session.run(inputs, outputs, section_types=["FWD"])
            samba.session.run(None, [], section_types=["BCKWD"])
            y, grad = samba.to_torch(y), samba.to_torch(model.weight.sn_grad)
            self.assertTrue(torch.equal(grad == 0, y == 0))  # one mask for both
            draws.append(y)
        self.assertFalse(torch.equal(*draws))
        samba.session.reset_random_generator()
        (again,) = samba.session.run(inputs, outputs, section_types=["FWD"])
        self.assertTrue(torch.equal(samba.to_torch(again), draws[0]))

    def test_s086_e19_gradients_are_written_over(self):
        model, inputs, _, outputs = self.linear()
        for _ in range(2):
            samba.session.run(inputs, outputs, section_types=["FWD", "BCKWD"])
        self.assertTrue(torch.allclose(samba.to_torch(model.bias.sn_grad), torch.full((10,), 5.0)))
        with self.assertRaisesRegex(ValueError, "ZEROGRAD"):
            samba.session.run(inputs, outputs, section_types=["ZEROGRAD"])

    def test_s091_s090_gradients_have_the_norm_that_was_asked_for(self):
        model = samba.from_torch_model_(nn.Linear(10, 10))
        optimizer = samba.optim.AdamW(model.parameters(), max_grad_norm=0.5)
        inputs = (samba.randn(5, 10, name="x"),)
        outputs = self.ready(model, inputs, optimizer)
        samba.session.run(inputs, outputs, section_types=["FWD", "BCKWD", "GRADNORM"])
        grads = [samba.to_torch(p.sn_grad).flatten() for p in model.parameters()]
        self.assertAlmostEqual(torch.cat(grads).norm().item(), 0.5, places=5)
        with self.assertRaisesRegex(ValueError, "REDUCE"):
            samba.session.run(None, outputs, section_types=["REDUCE"])

    def test_e20_one_step_as_pytorch(self):
        for device, host in (
            (
                lambda p: samba.optim.SGD(p, lr=0.0015, momentum=0.0, weight_decay=3e-4),
                lambda p: torch.optim.SGD(p, lr=0.0015, momentum=0.0, weight_decay=3e-4),
            ),
            (
                lambda p: samba.optim.AdamW(p, lr=1e-3, betas=(0.9, 0.997), eps=1e-8),
                lambda p: torch.optim.AdamW(p, 1e-3, (0.9, 0.997), 1e-8, weight_decay=0),
            ),
        ):
            model, reference = nn.Linear(784, 10), nn.Linear(784, 10)
            reference.load_state_dict(model.state_dict())
            samba.from_torch_model_(model)
            x = torch.randn(4, 784)
            inputs = (samba.from_torch_tensor(x, name="x"),)
            optimizer = device(model.parameters())
            outputs = self.ready(model, inputs, optimizer)
            samba.session.run(inputs, outputs)
            other = host(reference.parameters())
            reference(x).sum().backward()
            other.step()
            samba.session.to_cpu(model)
            for a, b in zip(model.parameters(), reference.parameters()):
                utils.assert_close(a, b, "weight", 1e-6)


class ProgressTest(Case):
    def test_parts_are_said_when_asked_for(self):
        code = (
            "import torch, samba; m = torch.nn.Linear(4, 3); samba.from_torch_model_(m); "
            "x = samba.ones(2, 4, name='x'); "
            f"p = samba.session.compile(m, (x,), name='p', output_folder={self.folder!r}); "
            "samba.session.run((x,), samba.utils.trace_graph(m, (x,), pef=p))"
        )
        parts = ["tracing", "finding sections (1 of 3)", "writing the PEF (3 of 3)", "run: "]
        for choice, lines in (("1", parts), ("0", []), (None, [])):
            env = {k: v for k, v in os.environ.items() if k != "SAMBA_PROGRESS"}
            if choice is not None:
                env["SAMBA_PROGRESS"] = choice
            command = [sys.executable, "-c", code]
            done = subprocess.run(command, capture_output=True, text=True, env=env)
            self.assertEqual(done.returncode, 0, done.stderr)
            for line in lines:
                self.assertIn(line, done.stderr)
            if not lines:
                self.assertEqual(done.stderr, "")

    def test_a_line_is_written_over(self):
        terminal = io.StringIO()
        terminal.isatty = lambda: True
        with mock.patch.object(sys, "stderr", terminal), mock.patch.dict(os.environ):
            os.environ.pop("SAMBA_PROGRESS", None)
            with mock.patch.object(progress, "AFTER", 0.01):
                with progress.Progress("compile net") as line:
                    line.part("tracing")
                    time.sleep(0.1)
        self.assertIn("\rcompile net, tracing: 0 s", terminal.getvalue())
        self.assertTrue(terminal.getvalue().endswith("\r"))


class PlaceTest(Case):
    class Sum(nn.Module):
        def forward(self, a, b):
            return a + b

    def test_t094_e12_one_place_for_two(self):
        a, b = samba.zeros(2, name="t0"), samba.zeros(2, name="t2", region_name="t0")
        self.ready(self.Sum(), (a, b))
        a.sn_data = torch.tensor([1.0, 2.0])
        b.sn_data = torch.tensor([5.0, 6.0])
        self.assertEqual(a.sn_data.tolist(), [5.0, 6.0])
        self.assertEqual(a.tolist(), [0, 0])

    def test_t095_one_place_has_one_type(self):
        a = samba.zeros(2, name="t0")
        b = samba.zeros(2, name="t2", region_name="t0", dtype=torch.int32)
        with self.assertRaisesRegex((ValueError, RuntimeError), "t0"):
            self.ready(self.Sum(), (a, b))

    def test_t108_s026_kinds_of_memory(self):
        a, b = samba.ones(2, name="a"), samba.ones(2, name="b")
        a.mem_type, b.mem_type = "Host", "DDR"
        outputs = self.ready(self.Sum(), (a, b))
        self.assertEqual(samba.session.run((a, b), outputs)[0].tolist(), [2.0, 2.0])
        with self.assertRaisesRegex(ValueError, "mem_type is 'Disk'"):
            a.mem_type = "Disk"
        a.mem_type = "HBM"
        with self.assertRaisesRegex((ValueError, RuntimeError, NotImplementedError), "HBM"):
            self.compile(self.Sum(), (a, b), target="sn10")

    def test_t016_what_was_not_traced(self):
        a, b = samba.ones(2, name="a"), samba.ones(2, name="b")
        outputs = self.ready(self.Sum(), (a, b))
        with self.assertRaisesRegex(ValueError, "unknown input 'other'.*a, b"):
            samba.session.run([samba.ones(2, name="other")], outputs)
        with self.assertRaisesRegex(ValueError, "an input has no name.*samba.from_torch_tensor"):
            samba.session.run([torch.ones(2)], outputs)

    def test_inputs_of_another_kind(self):
        a, b = samba.ones(2, name="a"), samba.ones(2, name="b")
        outputs = self.ready(self.Sum(), (a, b))
        with self.assertRaisesRegex(
            ValueError, r"\(1,\), but .* \(2,\); every run takes the batch"
        ):
            samba.session.run([samba.ones(1, name="a"), b], outputs)
        with self.assertRaisesRegex(TypeError, "'a' must be a tensor, but is of type ndarray"):
            samba.session.run({"a": a.numpy(), "b": b}, outputs)
        with self.assertRaisesRegex(TypeError, "inputs: 'a' is a numpy array; give torch.from"):
            self.compile(self.Sum(), (a.numpy(), b))

    def test_t027_names_are_unique(self):
        a, b = samba.ones(2, name="same"), samba.ones(2, name="same")
        with self.assertRaisesRegex(ValueError, "two inputs are named 'same'"):
            self.ready(self.Sum(), (a, b))
        outputs = self.ready(self.Sum(), (a, a))  # one tensor twice is one input
        self.assertEqual(samba.session.run((a,), outputs)[0].tolist(), [2.0, 2.0])

    def test_n032_a_tensor_of_a_file(self):
        path = os.path.join(self.folder, "numbers")
        values = numpy.memmap(path, dtype=numpy.float32, mode="w+", shape=(3,))
        tensor = samba.Tensor(torch.from_numpy(values))
        tensor.assign(samba.Tensor([1.0, 2.0, 3.0]) * 2).realize()
        values.flush()
        self.assertEqual(numpy.fromfile(path, dtype=numpy.float32).tolist(), [2.0, 4.0, 6.0])

    def test_n062_layers_of_gradients(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)

            def forward(self, x):
                return self.second(torch.tanh(self.first(x)))

        model = samba.from_torch_model_(Model())
        inputs = (samba.randn(2, 4, name="x"),)
        self.ready(model, inputs, samba.optim.SGD(model.parameters(), lr=0.1))
        with open(samba.session.pef_path + ".log", encoding="utf-8") as file:
            lines = [line for line in file if "BCKWD" in line]
        self.assertTrue(any("first" in line or "second" in line for line in lines), lines)


if __name__ == "__main__":
    unittest.main()
