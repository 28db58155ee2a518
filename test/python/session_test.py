"""Sessions: S001 S020 S021 S022 S023 S024 S025 S050 S051 S052 S053 S054 S055 S056 S057 S058 S059
S061 S062 S063 S064 S065 S070 S071 S072 S073 S074 S080 S081 S082 S083 S084 S085 S087 S088 S089 S092
S093 S131 S132 S133 S134, tensors of the device: T091 T092 T097 T098 T099 T100 T101 T102 T103 T104,
outputs and their gradients: U001 U004 U010 U013 U014 U015 U020, examples: E01 E02 E03 E04 E05 E06
E07 E17."""
import contextlib
import io
import os
import tempfile
import unittest

import torch
from torch import nn

import samba

X = torch.randn(5, 10, generator=torch.Generator().manual_seed(1))


def named(values=X, name="x"):
    return samba.from_torch_tensor(values.clone(), name=name)


class SessionTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        torch.manual_seed(1)

    def tearDown(self):
        samba.session.reset()

    def compile(self, model, inputs, optimizer=None, **options):
        options.setdefault("output_folder", self.folder)
        return samba.session.compile(model, inputs, optimizer, name="test", **options)

    def start(self, model, inputs, optimizer=None, **options):
        """The traced outputs of a model that is compiled and ready."""
        samba.from_torch_model_(model)
        path = self.compile(model, inputs, optimizer, **options)
        indices = options.get("loss_indices")
        return samba.utils.trace_graph(model, inputs, optimizer, pef=path, loss_indices=indices)

    def linear(self, lr=0.1):
        """Linear(10, 10), trained on the sum of its outputs."""
        model = nn.Linear(10, 10)
        optimizer = samba.optim.SGD(model.parameters(), lr=lr)
        return model, self.start(model, (named(),), optimizer)

    # ---- Examples with numbers that PyTorch or a pencil gives ----

    def test_E01_one_step(self):
        model, outputs = self.linear()
        weight, bias = model.weight.detach().clone(), model.bias.detach().clone()
        (y,) = samba.session.run([named()], outputs)
        self.assertTrue(torch.allclose(samba.to_torch(y), X @ weight.T + bias, atol=1e-5))
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_grad), torch.full((10,), 5.0)))
        rows = X.sum(0).expand(10, 10)
        self.assertTrue(torch.allclose(samba.to_torch(model.weight.sn_grad), rows, atol=1e-5))
        self.assertTrue(torch.allclose(samba.to_torch(model.bias.sn_data), bias - 0.5))
        new = weight - 0.1 * rows
        self.assertTrue(torch.allclose(samba.to_torch(model.weight.sn_data), new, atol=1e-5))

    def test_E02_later_runs_use_what_is_on_the_device(self):
        model, outputs = self.linear()
        samba.session.run([named()], outputs)
        weight, bias = model.weight.sn_data, model.bias.sn_data
        before = samba.session._device.report()["host_to_device_bytes"]
        (y,) = samba.session.run(None, outputs)
        self.assertEqual(samba.session._device.report()["host_to_device_bytes"], before)
        self.assertTrue(torch.allclose(samba.to_torch(y), X @ weight.T + bias, atol=1e-4))

    def test_E03_hyperparameters_stay(self):
        model, outputs = self.linear()
        bias = model.bias.detach().clone()
        samba.session.run([named()], [], hyperparam_dict={"lr": 0.2})
        self.assertTrue(torch.allclose(samba.to_torch(model.bias.sn_data), bias - 1, atol=1e-5))
        samba.session.run()
        self.assertTrue(torch.allclose(samba.to_torch(model.bias.sn_data), bias - 2, atol=1e-5))

    def test_S071_a_hyperparameter_that_this_PEF_has_not(self):
        model = nn.Sequential(nn.Linear(10, 4), nn.Dropout(0.5))
        samba.from_torch_model_(model)
        path = samba.session.compile(
            model, (named(),), name="forward", output_folder=self.folder, inference=True
        )
        outputs = samba.utils.trace_graph(model, (named(),), pef=path)
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            for _ in range(2):
                (y,) = samba.session.run([named()], outputs, hyperparam_dict={"p": 0.0})
        text = "remark: hyperparameter 'p' has no effect: this PEF has none\n"
        self.assertEqual(printed.getvalue(), text)
        self.assertTrue(torch.allclose(samba.to_torch(y), model[0](X), atol=1e-4))
        with self.assertRaisesRegex(ValueError, "no hyperparameter named 'pp'"):
            samba.session.run([named()], outputs, hyperparam_dict={"pp": 0.0})

    def test_G003_torch_computes_while_a_model_is_traced(self):
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(10, 4)
                self.scale = samba.full((1,), 3.0)

            def forward(self, x):
                with samba.patched_torch():
                    factor = (self.scale * 2).item()
                return self.linear(x) * factor

        model = Scaled()
        outputs = self.start(model, (named(),))
        (y,) = samba.session.run([named()], outputs)
        self.assertTrue(torch.allclose(samba.to_torch(y), 6 * model.linear(X), atol=1e-4))

    def test_T019_a_lazy_model_gets_its_values_on_the_host(self):
        from samba.materialize import materialize

        with samba.lazy_param():
            model = nn.Linear(10, 4)
        samba.from_torch_model_(model)
        self.assertFalse(model.weight.has_data)
        with materialize(model) as same:
            self.assertIs(same, model)
            self.assertTrue(model.weight.has_data and model.bias.has_data)
            self.assertLess(model.weight.abs().max().item(), 10**-0.5)
            self.assertGreater(model.weight.abs().min().item(), 0)

    def test_E04_E05_parts_of_a_step(self):
        model, outputs = self.linear()
        bias = model.bias.detach().clone()
        (y,) = samba.session.run([named()], outputs, section_types=["fwd"])
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_data), bias))
        samba.session.run(section_types=["BCKWD"])
        samba.session.run(section_types="OPT")
        whole = samba.to_torch(model.bias.sn_data)
        samba.session.to_rdu(model)
        samba.session.run([named()], outputs)
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_data), whole))
        calls = len(samba.session._device.calls())
        samba.session.to_rdu(model)
        samba.session.run([named()], [], run_until_call_id=calls - 1)
        samba.session.run([], [], run_from_call_id=calls - 1)
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_data), whole))

    def test_E06_another_gradient_of_the_output(self):
        model, outputs = self.linear()
        bias = model.bias.detach().clone()
        samba.utils.init_output_grads(
            outputs, customized_tensors_dict={"out0": torch.full((5, 10), 2.0)}
        )
        samba.session.run([named()], [])
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_grad), torch.full((10,), 10.0)))
        self.assertTrue(torch.allclose(samba.to_torch(model.bias.sn_data), bias - 1, atol=1e-5))
        with self.assertRaisesRegex(ValueError, r"\(2,\).*\(5, 10\)"):
            outputs[0].sn_grad = torch.ones(2)
        samba.session.run([named()], outputs, grad_of_outputs=[torch.full((5, 10), 3.0)])
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_grad), torch.full((10,), 15.0)))
        samba.session.run([named()], outputs[0], grad_of_outputs=[None])
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_grad), torch.full((10,), 15.0)))
        with self.assertRaisesRegex(ValueError, "grad_of_outputs has 2 gradients for 1 outputs"):
            samba.session.run([named()], outputs, grad_of_outputs=[None, None])

    def test_E07_which_outputs_are_losses(self):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(10, 10, bias=False)

            def forward(self, x):
                y = self.fc(x)
                return y * 1, y.sum()

        for indices in (None, [1], [(1,)]):
            model = Two()
            optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
            outputs = self.start(model, (named(),), optimizer, loss_indices=indices)
            self.assertFalse(samba.session.has_gradient("out0"))
            samba.session.run([named()], [], section_types=["FWD", "BCKWD"])
            grad = samba.to_torch(model.fc.weight.sn_grad)
            self.assertTrue(torch.allclose(grad, X.sum(0).expand(10, 10), atol=1e-4))
        self.assertEqual([t.sn_name for t in outputs], ["out0", "out1"])
        with self.assertRaisesRegex(ValueError, "loss 2: graph test has results 0 to 1"):
            self.compile(model, (named(),), optimizer, loss_indices=[2])

    def test_E07_several_losses_are_said(self):
        class Both(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(10, 10, bias=False)

            def forward(self, x):
                y = self.fc(x)
                return y.sum(), torch.sigmoid(y)

        for indices, said in ((None, 1), ([0], 0), ([0, 1], 0)):
            model, err = Both(), io.StringIO()
            optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
            with contextlib.redirect_stderr(err):
                self.start(model, (named(),), optimizer, loss_indices=indices)
            text = "remark: out0, out1 are losses, since no output depends on them; give compile"
            self.assertEqual(err.getvalue().count(text), said)

    def test_E17_dropout_is_a_hyperparameter(self):
        model = nn.Sequential(nn.Identity(), nn.Dropout(0.5))
        ones = torch.ones(1000, 1000)
        outputs = self.start(model, (named(ones),))
        names = list(samba.session.get_dropout_rate_argin_names())
        self.assertEqual(names, ["1__p"])
        self.assertEqual(list(samba.session.get_dropout_seed_argin_names()), ["1__seed"])
        first = samba.to_torch(samba.session.run([named(ones)], outputs)[0])
        self.assertAlmostEqual(float(first.mean()), 1, delta=0.004)
        self.assertAlmostEqual(float((first == 0).float().mean()), 0.5, delta=0.002)
        (plain,) = samba.session.run(None, outputs, train=False)
        self.assertTrue(torch.equal(samba.to_torch(plain), ones))
        second = samba.to_torch(samba.session.run(None, outputs)[0])
        self.assertFalse(torch.equal(first, second))
        samba.session.reset_random_generator()
        again = samba.to_torch(samba.session.run(None, outputs)[0])
        self.assertTrue(torch.equal(again, first))
        (all_kept,) = samba.session.run(None, outputs, hyperparam_dict={"p": 0})
        self.assertTrue(torch.equal(samba.to_torch(all_kept), ones))

    # ---- Compiling ----

    def test_S001_S059_a_session_before_its_pef(self):
        samba.session.reset()
        for call in (samba.session.run, samba.session.get_section_types):
            with self.assertRaisesRegex(RuntimeError, "no PEF loaded"):
                call()
        model, _ = self.linear()
        path = samba.session.pef_path
        samba.session.reset(path)
        self.assertEqual(samba.session.get_section_types(), {"FWD", "BCKWD", "OPT"})
        with self.assertRaises(KeyError):
            samba.session.get_samba_tensor_by_name("x")
        self.assertEqual(samba.SambaSession(path).pef_path, path)
        with self.assertRaisesRegex(FileNotFoundError, "nowhere"):
            samba.SambaSession("nowhere.pef")
        self.assertEqual(model.weight.shape, (10, 10))

    def test_S020_path_and_outputs(self):
        model = samba.from_torch_model_(nn.Linear(10, 3))
        path = self.compile(model, (named(),), pef_name="there")
        self.assertEqual(path, os.path.join(self.folder, "there", "there.pef"))
        self.assertTrue(os.path.exists(path) and os.path.exists(path + ".log"))
        (output,) = model.output_tensors
        self.assertEqual((output.sn_name, tuple(output.shape)), ("out0", (5, 3)))
        self.assertFalse(output.has_data)
        with self.assertRaisesRegex(TypeError, "unknown keyword 'pef_nam'.*pef_name"):
            self.compile(model, (named(),), pef_nam="x")
        with self.assertRaisesRegex(RuntimeError, "from_torch_model_"):
            self.compile(nn.Linear(10, 3), (named(),))
        with self.assertRaisesRegex(
            TypeError, "torch.optim.*samba.optim.SGD and samba.optim.AdamW"
        ):
            self.compile(model, (named(),), torch.optim.SGD(model.parameters(), lr=0.1))

    def test_S023_S024_S025_keywords_of_compile(self):
        model = samba.from_torch_model_(nn.Linear(10, 3))
        path = self.compile(
            model,
            (named(),),
            app_dir="/somewhere",
            config_dict={"width": 7, "folder": "/somewhere/else"},
            pef_metadata={"model": "one"},
            squeeze_bs_dim=True,
            io_host_memory=True,
            precision="mp1",
        )
        info = samba.utils.pef_utils.get_pef_info(path)
        self.assertEqual((info["width"], info["model"], info["graph"]), ("7", "one", "test"))
        self.assertEqual((info["squeeze_bs_dim"], info["precision"]), ("True", "mp1"))
        self.assertNotIn("/somewhere", str(info))
        outputs = samba.utils.trace_graph(model, (named(),), pef=path)
        (y,) = samba.session.run([named()], outputs)
        expected = model(X).detach().torch()
        self.assertTrue(torch.allclose(samba.to_torch(y), expected, atol=0.05))
        self.assertFalse(torch.equal(samba.to_torch(y), expected))

    def test_S021_inputs_by_name(self):
        class Difference(nn.Module):
            def forward(self, a, b=None, scale=None):
                return a - b if b is not None else a

        model = Difference()
        a, b = named(X, "a"), named(X + 1, "b")
        outputs = self.start(model, {"b": b, "a": a})
        (y,) = samba.session.run({"b": b, "a": a}, outputs)
        self.assertTrue(torch.equal(samba.to_torch(y), X - (X + 1)))
        (y,) = samba.session.run([None, b, a], outputs)
        self.assertTrue(torch.equal(samba.to_torch(y), X - (X + 1)))
        with self.assertRaisesRegex(ValueError, "unknown argument of forward 'c'.*a, b, scale"):
            self.compile(model, {"a": a, "c": b})
        outputs = self.start(model, (a, None))
        (y,) = samba.session.run(a, outputs[0])
        self.assertTrue(torch.equal(samba.to_torch(y), X))

    def test_S022_several_optimizers(self):
        model = nn.Sequential(nn.Linear(10, 10), nn.Linear(10, 4))
        optimizers = [
            samba.optim.SGD(model[0].parameters(), lr=0.1, argin_region_name="a."),
            samba.optim.SGD(model[1].parameters(), lr=0.2, argin_region_name="b."),
        ]
        self.start(model, (named(),), optimizers)
        names = samba.session.get_argin_names()
        self.assertEqual({n for n in names if n.endswith("lr")}, {"a.lr", "b.lr"})
        bias = model[1].bias.detach().clone()
        samba.session.run([named()], [])
        self.assertTrue(torch.allclose(samba.to_torch(model[1].bias.sn_data), bias - 1, atol=1e-5))
        both = [samba.optim.SGD(model.parameters(), lr=0.1)] * 2
        with self.assertRaisesRegex(ValueError, "0__weight is in two optimizers"):
            self.compile(model, (named(),), both)

    def test_S003_U010_the_model_must_be_the_one_that_was_compiled(self):
        model = samba.from_torch_model_(nn.Linear(10, 10))
        path = self.compile(model, (named(),))
        for other, inputs in (
            (nn.Linear(10, 10, bias=False), (named(),)),
            (nn.Linear(10, 10), (named(X[:4]),)),
            (nn.Sequential(nn.Linear(10, 10)), (named(),)),
        ):
            samba.from_torch_model_(other)
            with self.assertRaisesRegex(ValueError, "the model is not the one of the PEF"):
                samba.utils.trace_graph(other, inputs, pef=path)
        with self.assertRaisesRegex(FileNotFoundError, "compile the model first"):
            samba.utils.trace_graph(model, (named(),), pef=path + "x")
        samba.session.reset()
        with self.assertRaisesRegex(RuntimeError, "no PEF loaded"):
            samba.utils.trace_graph(model, (named(),))

    def test_forward_of_a_training_pef(self):
        """A trace without optimizer fits a PEF that was compiled with one: FWD runs."""
        model, _ = self.linear()
        bias = model.bias.detach().clone()
        outputs = samba.utils.trace_graph(model, (named(),), pef=samba.session.pef_path)
        samba.session.run([named()], outputs, section_types=["FWD"])
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_data), bias))

    # ---- Running ----

    def test_S061_S065_what_run_refuses(self):
        model, outputs = self.linear()
        bias = samba.to_torch(model.bias.sn_data)
        for error, text, arguments in (
            (ValueError, "unknown input 'y'.*there is: x", {"input_tensors": [named(X, "y")]}),
            (ValueError, r"\(4, 10\).*\(5, 10\)", {"input_tensors": [named(X[:4])]}),
            (ValueError, "float64", {"input_tensors": [named(X.double())]}),
            (ValueError, "has no name", {"input_tensors": [X]}),
            (ValueError, "unknown output 'out1'.*out0", {"output_tensors": ["out1"]}),
            (ValueError, "unknown section type 'FWDS'.*FWD", {"section_types": ["FWDS"]}),
            (ValueError, "ZEROGRAD", {"section_types": ["ZEROGRAD"]}),
            (ValueError, "99", {"section_ids": [99]}),
            (ValueError, "-1|4294967295", {"section_ids": [-1]}),
            (ValueError, "section", {"section_ids": [0], "section_types": ["FWD"]}),
            (ValueError, "'l'", {"hyperparam_dict": {"l": 0.1}}),
            (ValueError, "must be a number", {"hyperparam_dict": {"lr": "fast"}}),
            (ValueError, "lr", {"hyperparam_dict": {"lr": -1.0}}),
            (ValueError, "unknown data_parallel_mode 'fast'", {"data_parallel_mode": "fast"}),
            (NotImplementedError, "data_parallel=True", {"data_parallel": True}),
            (ValueError, "call", {"run_from_call_id": 99}),
        ):
            with self.subTest(text), self.assertRaisesRegex(error, text):
                samba.session.run(**arguments)
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_data), bias))
        (y,) = samba.session.run(model, (named(),), outputs)  # some pass the model first
        self.assertEqual(tuple(y.shape), (5, 10))
        self.assertEqual(samba.session.run([named()]), ())

    def test_S081_S082_section_ids(self):
        model, outputs = self.linear()
        ids = list(range(len(samba.session._device.sections())))
        samba.session.run([named()], section_ids=[ids[0], ids[1:]])
        whole = samba.to_torch(model.bias.sn_data)
        samba.session.to_rdu(model)
        samba.session.run([named()])
        self.assertTrue(torch.equal(samba.to_torch(model.bias.sn_data), whole))

    def test_S063_U020_what_was_never_written(self):
        model = samba.from_torch_model_(nn.Linear(10, 10))
        x = samba.SambaTensor(shape=(5, 10), dtype=torch.float32, name="x")
        path = self.compile(model, (x,))
        outputs = samba.utils.trace_graph(model, (x,), pef=path, transfer_device=False)
        with self.assertRaisesRegex(RuntimeError, "'x' has never been given values"):
            samba.session.run(None, outputs)
        with self.assertRaisesRegex(RuntimeError, "linear__weight"):
            samba.session.run([named()], outputs)
        samba.session.to_device()
        (y,) = samba.session.run([named()], outputs)
        self.assertTrue(torch.allclose(samba.to_torch(y), model(X).detach().torch(), atol=1e-5))

    def test_integers_that_fit(self):
        model = nn.Embedding(4, 3)
        ids = torch.tensor([1, 3], dtype=torch.int32)
        outputs = self.start(model, (named(ids, "ids"),))
        (y,) = samba.session.run([named(ids.long(), "ids")], outputs)
        self.assertTrue(torch.equal(samba.to_torch(y), model.weight.detach().torch()[ids.long()]))
        with self.assertRaisesRegex(ValueError, "do not fit"):
            samba.session.run([named(torch.tensor([1, 2**40]), "ids")], outputs)

    # ---- Names ----

    def test_S050_to_S058_names(self):
        model, outputs = self.linear()
        session = samba.session
        self.assertEqual(session.get_weight_names(), ["linear__weight", "linear__bias"])
        self.assertIn("lr", session.get_argin_names())
        self.assertEqual(len(session.get_dropout_rate_argin_names()), 0)
        before = session._device.report()["device_to_host_bytes"]
        self.assertIs(session.get_samba_tensor_by_name("linear__weight"), model.weight)
        self.assertEqual(session._device.report()["device_to_host_bytes"], before)
        weight, bias = session.get_tensors([model.weight, model.bias])
        self.assertTrue(torch.equal(samba.to_torch(bias), model.bias.detach().torch()))
        (again,) = session.get_tensors_by_name(["linear__weight"])
        self.assertTrue(torch.equal(again, weight))
        for call in (session.get_samba_tensor_by_name, lambda n: session.get_tensors_by_name([n])):
            with self.assertRaisesRegex(KeyError, "did you mean 'linear__weight'"):
                call("linear__weigh")
        session.update_tensor("linear__bias", torch.zeros(10))
        session.to_device()
        self.assertEqual(float(model.bias.sn_data.abs().sum()), 0)
        session.update_tensor("linear__bias", None)
        with self.assertRaises(KeyError):
            session.get_samba_tensor_by_name("linear__bias")
        self.assertEqual(model.bias.sn_grad_name, "linear__bias__grad")

    # ---- Tensors of the device ----

    def test_T097_to_T104_host_and_device_are_two(self):
        model, outputs = self.linear()
        weight = model.weight
        start = weight.detach().clone().torch()
        one, two = weight.sn_data, weight.sn_data
        self.assertNotEqual(one.data_ptr(), two.data_ptr())
        one.mul_(2)
        self.assertTrue(torch.equal(weight.sn_data, start))
        weight.data.mul_(2)
        self.assertTrue(torch.equal(weight.sn_data, start))
        self.assertIsNone(weight.rdu())
        self.assertTrue(torch.equal(weight.sn_data, 2 * start))
        weight.sn_data = start / start.norm()
        self.assertAlmostEqual(float(weight.sn_data.norm()), 1, delta=1e-6)
        self.assertTrue(torch.equal(weight.data, 2 * start))
        for values in (torch.ones(3), torch.ones(10, 10, dtype=torch.float16)):
            with self.assertRaises(ValueError):
                weight.sn_data = values
        pointer = weight.data_ptr()
        old = weight.detach()
        weight.cpu()
        self.assertNotEqual(weight.data_ptr(), pointer)
        self.assertTrue(torch.equal(old, 2 * start))
        pointer = weight.data_ptr()
        weight.cpu_()
        self.assertEqual(weight.data_ptr(), pointer)
        samba.session.run([named()], outputs, section_types=["FWD", "BCKWD"])
        weight.sn_grad = torch.zeros(10, 10)
        self.assertEqual(float(weight.sn_grad.abs().sum()), 0)
        weight.cpu()
        self.assertEqual(float(weight.grad.abs().sum()), 0)
        weight.grad.fill_(3)
        self.assertEqual(float(weight.sn_grad.abs().sum()), 0)
        weight.rdu()
        self.assertEqual(float(weight.sn_grad.mean()), 3)
        with self.assertRaisesRegex(RuntimeError, "requires_grad=True"):
            samba.session.get_samba_tensor_by_name("x").sn_grad

    def test_S131_to_S133_a_checkpoint_goes_on(self):
        def make():
            torch.manual_seed(4)
            model = nn.Sequential(nn.Linear(10, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
            samba.from_torch_model_(model)
            return model, samba.optim.AdamW(model.parameters(), lr=0.01)

        model, optimizer = make()
        path = self.compile(model, (named(),), optimizer)
        samba.utils.trace_graph(model, (named(),), optimizer, pef=path)
        for _ in range(10):
            samba.session.run([named()])
        samba.session.to_cpu(model, optimizer)
        saved = os.path.join(self.folder, "saved.pt")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, saved)
        samba.session.run([named()])
        expected = samba.session.get_tensors(list(model.parameters()))
        mean = samba.session.get_tensors_by_name(["1__running_mean"])
        self.assertFalse(torch.equal(mean[0], model[1].running_mean))

        model, optimizer = make()
        state = torch.load(saved)
        self.assertIs(type(state["model"]["0.weight"]), torch.Tensor)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        samba.utils.trace_graph(model, (named(),), optimizer, pef=path)
        samba.session.run([named()])
        for got, wanted in zip(samba.session.get_tensors(list(model.parameters())), expected):
            self.assertTrue(torch.equal(got, wanted))
        samba.session.sync_buffers_to_cpu(model, inplace=True)
        self.assertTrue(torch.equal(model[1].running_mean, mean[0].torch()))
        model[1].running_mean.zero_()
        samba.session.sync_buffers_to_rdu(model)
        (zero,) = samba.session.get_tensors_by_name(["1__running_mean"])
        self.assertEqual(float(zero.abs().sum()), 0)


if __name__ == "__main__":
    unittest.main()
