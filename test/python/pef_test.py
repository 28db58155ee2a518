"""What a PEF and its sections are to a program: T016, regions T094 T095 E12, memory T105 T108 S026,
G004 G006 G007 G012 G014 G015 G016 G017 G018, ONNX models U011, S002 S005 S006 S027 S030 S060 S075
S086 S090 S091 S095 S143 S144 N062, examples E19 E20."""
import os
import subprocess
import sys
import tempfile
import unittest

import torch
import torch.nn.functional as F
from torch import nn

import samba

X = torch.randn(5, 10, generator=torch.Generator().manual_seed(1))


def named(values=X, name="x", **how):
    return samba.from_torch_tensor(values.clone(), name=name, **how)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


class PefTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(samba.session.reset)
        self.folder = folder.name
        torch.manual_seed(1)

    def compile(self, model, inputs, optimizer=None, **options):
        samba.from_torch_model_(model)
        options.setdefault("output_folder", self.folder)
        return samba.session.compile(model, inputs, optimizer, name="test", **options)

    def start(self, model, inputs, optimizer=None, **options):
        path = self.compile(model, inputs, optimizer, **options)
        indices = options.get("loss_indices")
        return samba.utils.trace_graph(model, inputs, optimizer, pef=path, loss_indices=indices)

    # ---- Regions and memory ----

    def test_T094_E12_one_region_is_one_memory(self):
        a, b = named(torch.zeros(2), "t0"), named(torch.zeros(2), "t2", region_name="t0")
        self.start(Function(lambda a, b: a * 1 + b * 1), (a, b))
        a.sn_data = torch.tensor([1.0, 2.0])
        b.sn_data = torch.tensor([5.0, 6.0])
        self.assertEqual(a.sn_data.tolist(), [5, 6])
        self.assertEqual(a.tolist(), [0, 0])

    def test_T095_a_region_has_one_dtype(self):
        a, b = named(torch.zeros(2), "a"), named(torch.zeros(3), "b", region_name="a")
        self.start(Function(lambda a, b: a.sum() + b.sum()), (a, b))
        b.sn_data = torch.tensor([1.0, 2.0, 3.0])
        self.assertEqual(a.sn_data.tolist(), [1, 2])
        b = named(torch.zeros(2, dtype=torch.int32), "b", region_name="a")
        with self.assertRaisesRegex(ValueError, "(?s)region.*i32|i32.*region"):
            self.compile(Function(lambda a, b: a * b), (a, b))

    def test_T108_S026_memory_types(self):
        for kind in ("DDR", "HBM", "Host", None):
            x = named()
            x.mem_type = kind
            outputs = self.start(Function(lambda x: x * 2), (x,))
            (y,) = samba.session.run([x], outputs)
            self.assertTrue(torch.equal(y, X * 2))
        x.mem_type = "HBM"
        with self.assertRaisesRegex(ValueError, "sn10 has no HBM"):
            self.compile(Function(lambda x: x * 2), (x,), target="sn10")

    def test_T105_G007_bytes_are_counted(self):
        model = nn.Linear(10, 10)
        outputs = self.start(model, (named(),))
        before = samba.session.report()
        samba.session.run([named()], outputs)
        after = samba.session.report()
        sent = after["host_to_device_bytes"] - before["host_to_device_bytes"]
        fetched = after["device_to_host_bytes"] - before["device_to_host_bytes"]
        self.assertEqual((sent, fetched), (200, 200))
        samba.session.to_cpu(model)
        whole = samba.session.report()["device_to_host_bytes"] - after["device_to_host_bytes"]
        self.assertEqual(whole, 440)

    # ---- One PEF, many runs ----

    def test_G004_S027_S095_sections_and_their_log(self):
        model = nn.Sequential(nn.Linear(10, 8), nn.Linear(8, 1))
        path = self.compile(model, (named(),), samba.optim.SGD(model.parameters(), lr=0.1))
        samba.session.reset(path)
        sections = samba.session._device.sections()
        self.assertEqual({kind for _, kind in sections}, {"FWD", "BCKWD", "OPT"})
        with open(path + ".log", encoding="utf-8") as file:
            log = file.read()
        for index, (name, kind) in enumerate(sections):
            self.assertRegex(log, rf"(?m)^.*\b{index}\b.*\b{kind}\b")

    def test_G012_G014_training_and_inference(self):
        model = nn.Sequential(nn.Linear(10, 10), nn.Dropout(0.5), nn.BatchNorm1d(10))
        optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
        training = self.compile(model, (named(),), optimizer, pef_name="training")
        inference = self.compile(model, (named(),), optimizer, pef_name="inference", inference=True)
        self.assertLess(os.path.getsize(inference), os.path.getsize(training))
        outputs = samba.utils.trace_graph(model, (named(),), pef=inference)
        self.assertEqual(samba.session.get_section_types(), {"FWD"})
        self.assertEqual(len(samba.session.get_argin_names()), 0)
        (y,) = samba.session.run([named()], outputs)
        self.assertTrue(torch.allclose(y.torch(), model.eval()(X).torch(), atol=1e-5))

    def test_G017_G018_weights_come_from_a_checkpoint(self):
        program = (
            "import sys, torch, samba\n"
            "model = samba.from_torch_model_(torch.nn.Linear(10, 10))\n"
            "model.load_state_dict(torch.load(sys.argv[2]))\n"
            "x = samba.ones(5, 10, name='x')\n"
            "outputs = samba.utils.trace_graph(model, (x,), pef=sys.argv[1])\n"
            "y = samba.session.run([x], outputs)[0]\n"
            "print(y.numpy().tobytes().hex())\n"
        )
        model = nn.Linear(10, 10)
        path = self.compile(model, (named(),))
        printed = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            saved = os.path.join(self.folder, "saved.pt")
            torch.save(nn.Linear(10, 10).state_dict(), saved)
            command = [sys.executable, "-c", program, path, saved]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            printed.append(done.stdout)
        self.assertEqual(printed[0], printed[1])
        self.assertNotEqual(printed[0], printed[2])

    def test_G006_between_two_models_the_host_computes(self):
        first, second = nn.Linear(10, 10), nn.Linear(5, 2)
        (y,) = samba.session.run([named()], self.start(first, (named(),)))
        halfway = torch.linalg.qr(samba.to_torch(y))[0]
        outputs = self.start(second, (named(halfway, "q"),))
        (z,) = samba.session.run([named(halfway, "q")], outputs)
        expected = second(torch.linalg.qr(first(X).torch())[0]).torch()
        self.assertTrue(torch.allclose(z.torch(), expected, atol=1e-4))

    def test_S002_S005_S006_G015_G016_from_model_to_run(self):
        self.assertIsInstance(samba.session, samba.SambaSession)
        model = nn.Linear(10, 1)
        optimizer = samba.optim.SGD(model.parameters(), lr=0.1, momentum=0.5, weight_decay=0.1)
        path = self.compile(model, (named(),), optimizer)
        compiled = [t.sn_name for t in model.output_tensors]
        outputs = samba.utils.trace_graph(model, (named(),), optimizer, pef=path)
        self.assertIs(model.output_tensors, outputs)
        self.assertEqual([t.sn_name for t in outputs], compiled)
        self.assertEqual(set(samba.session.get_argin_names()), {"lr", "momentum", "weight_decay"})
        other = samba.SambaSession(path)  # a device of its own
        self.assertEqual(other.get_weight_names(), samba.session.get_weight_names())
        reference = nn.Linear(10, 1)
        reference.load_state_dict(model.state_dict())
        host = torch.optim.SGD(reference.parameters(), lr=0.2, momentum=0.9, weight_decay=0.01)
        how = {"lr": 0.2, "momentum": 0.9, "weight_decay": 0.01}
        for _ in range(3):
            host.zero_grad()
            reference(X).sum().backward()
            host.step()
            samba.session.run([named()], hyperparam_dict=how)
        weight = samba.to_torch(model.weight.sn_data)
        self.assertTrue(torch.allclose(weight, reference.weight, atol=1e-5))

    def test_T016_only_what_was_traced_reaches_the_device(self):
        self.start(Function(lambda x: x * 2), (named(),))
        stranger = named(torch.ones(2), "stranger")
        with self.assertRaisesRegex(ValueError, "unknown input 'stranger'.*there is: x"):
            samba.session.run([stranger])
        with self.assertRaisesRegex(KeyError, "unknown tensor 'stranger'"):
            stranger.rdu()

    def test_S143_S144_tracing_is_known(self):
        seen = []

        def function(x):
            seen.append((samba.session.tracing, samba.session.use_static_functional()))
            return x * 2

        self.start(Function(function), (named(),))
        self.assertEqual(seen, [(True, True)] * 2)
        self.assertEqual(
            (samba.session.tracing, samba.session.use_static_functional()), (False,) * 2
        )

    # ---- Training ----

    def test_S086_E19_gradients_are_summed(self):
        model = nn.Linear(10, 10)
        optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
        self.start(model, (named(),), optimizer, accumulate_gradients=True)
        self.assertIn("ZEROGRAD", samba.session.get_section_types())
        samba.session.run(section_types=["ZEROGRAD"])
        for _ in range(2):
            samba.session.run([named()], section_types=["FWD", "BCKWD"])
        self.assertEqual(model.bias.sn_grad.tolist(), [10.0] * 10)
        samba.session.run(section_types=["ZEROGRAD"])
        self.assertEqual(model.bias.sn_grad.tolist(), [0.0] * 10)
        optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
        self.start(model, (named(),), optimizer)
        for _ in range(2):
            samba.session.run([named()], section_types=["FWD", "BCKWD"])
        self.assertEqual(model.bias.sn_grad.tolist(), [5.0] * 10)

    def test_parameters_without_optimizer_and_frozen_ones(self):
        model = nn.Sequential(nn.Linear(10, 10), nn.Linear(10, 10), nn.Linear(10, 1))
        model[0].requires_grad_(False)
        optimizer = samba.optim.SGD(model[2].parameters(), lr=0.1)
        self.start(model, (named(),), optimizer)
        samba.session.run([named()])
        same = [torch.equal(p.sn_data, p.detach()) for p in model.parameters()]
        self.assertEqual(same, [True] * 4 + [False] * 2)
        self.assertGreater(float(model[1].weight.sn_grad.abs().sum()), 0)
        with self.assertRaisesRegex(RuntimeError, "requires_grad=True"):
            model[0].weight.sn_grad

    def test_parameters_on_which_no_loss_depends(self):
        class Heads(nn.Module):
            def __init__(self):
                super().__init__()
                self.one, self.two, self.three = (nn.Linear(10, 4) for _ in range(3))

            def forward(self, x):
                return self.one(x).sum(), self.two(x), self.three(x).argmax(-1)

        for indices, trained in (([0], (True, False, False)), (None, (True, True, False))):
            model = Heads()
            optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
            self.start(model, (named(),), optimizer, loss_indices=indices)
            samba.session.run([named()])
            for layer, is_trained in zip((model.one, model.two, model.three), trained):
                self.assertEqual(samba.session.has_gradient(layer.weight.sn_name), is_trained)
                moved = not torch.equal(layer.weight.sn_data, layer.weight.detach())
                self.assertEqual(moved, is_trained)

    def test_S091_S090_the_norm_of_gradients(self):
        model = nn.Linear(10, 10)
        optimizer = samba.optim.AdamW(model.parameters(), max_grad_norm=1.0)
        self.start(model, (named(),), optimizer)
        self.assertEqual(samba.session.get_section_types(), {"FWD", "BCKWD", "GRADNORM", "OPT"})
        samba.session.run([named()], section_types=["FWD", "BCKWD", "GRADNORM"])
        squares = sum(float((p.sn_grad**2).sum()) for p in model.parameters())
        self.assertAlmostEqual(squares**0.5, 1, delta=1e-5)
        with self.assertRaisesRegex(ValueError, "REDUCE"):  # there is one device
            samba.session.run(section_types=["REDUCE"])

    def test_S075_S060_one_mask_in_both_directions(self):
        x = named(torch.ones(50, 50))
        x.requires_grad_()
        model = nn.Dropout(0.5)
        outputs = self.start(model, (x,), loss_indices=[0])
        (y,) = samba.session.run([x], outputs, section_types=["FWD"])
        samba.session.run(section_types=["BCKWD"])
        self.assertTrue(torch.equal(x.sn_grad, y))
        (other,) = samba.session.run(None, outputs, section_types=["FWD"])
        self.assertFalse(torch.equal(other, y))
        samba.session.reset_random_generator()
        (again,) = samba.session.run(None, outputs, section_types=["FWD"])
        self.assertTrue(torch.equal(again, y))

    def test_S030_disable_graphamp(self):
        def function(x, y):
            with samba.session.disable_graphamp():
                exact = x @ y
            return exact, x @ y

        y = torch.randn(10, 10)
        inputs = (named(), named(y, "y"))
        outputs = self.start(Function(function), inputs, precision="mp1")
        exact, narrow = samba.session.run(inputs, outputs)
        self.assertLess(float((exact - X @ y).norm() / (X @ y).norm()), 1e-6)
        self.assertGreater(float((narrow - X @ y).norm() / (X @ y).norm()), 1e-4)

    def test_N062_sections_name_the_layers_they_are_of(self):
        model = nn.Sequential(nn.Linear(10, 8), nn.Tanh(), nn.Linear(8, 1))
        self.start(model, (named(),), samba.optim.SGD(model.parameters(), lr=0.1))
        optimizer_free = [n for n in samba.session._symbols if n.endswith("__grad")]
        self.assertIn("0__weight__grad", optimizer_free)

    def test_E20_logistic_regression(self):
        def network():
            torch.manual_seed(2)
            return nn.Linear(784, 10)

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = network()

            def forward(self, x, y):
                return F.cross_entropy(self.linear(x), y)

        x, y = torch.randn(100, 1, 784), torch.randint(10, (100, 1))
        reference = network()
        host = torch.optim.SGD(reference.parameters(), lr=0.0015, weight_decay=3e-4)
        model = Model()
        optimizer = samba.optim.SGD(model.parameters(), lr=0.0015, weight_decay=3e-4)
        outputs = self.start(model, (named(x[0]), named(y[0], "y")), optimizer)
        for images, labels in zip(x, y):
            host.zero_grad()
            loss = F.cross_entropy(reference(images), labels)
            loss.backward()
            host.step()
            (got,) = samba.session.run([named(images), named(labels, "y")], outputs)
            self.assertAlmostEqual(float(got), float(loss), delta=1e-5 * float(loss) + 1e-6)

    # ---- ONNX models ----

    @unittest.skipUnless(__import__("importlib").util.find_spec("onnx"), "needs python3-onnx")
    def test_U011_onnx_models(self):
        import onnx
        from onnx import TensorProto, helper, numpy_helper

        weight = torch.randn(10, 4)
        node = helper.make_node("MatMul", ["x", "w"], ["y"])
        graph = helper.make_graph(
            [node],
            "product",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5, 10])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5, 4])],
            [numpy_helper.from_array(weight.numpy(), "w")],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        file = os.path.join(self.folder, "product.onnx")
        onnx.save(model, file)
        for given in (model, file):
            path = samba.session.compile(given, (), output_folder=self.folder)
            self.assertEqual(os.path.basename(path), "product.pef")
            outputs = samba.utils.trace_graph(given, (named(),), pef=path)
            (y,) = samba.session.run([named()], outputs)
            self.assertTrue(torch.allclose(y.torch(), X @ weight, atol=1e-5))
        model.graph.node[0].op_type = "Sub"
        with self.assertRaisesRegex(ValueError, "Sub"):
            samba.session.compile(model, (), output_folder=self.folder)
        with self.assertRaisesRegex(FileNotFoundError, "no model at 'nowhere.onnx'"):
            samba.session.compile("nowhere.onnx", ())
        parameter = nn.Parameter(torch.ones(1))
        with self.assertRaisesRegex(NotImplementedError, "training an ONNX model"):
            samba.session.compile(file, (), samba.optim.SGD([parameter], lr=0.1))


if __name__ == "__main__":
    unittest.main()
