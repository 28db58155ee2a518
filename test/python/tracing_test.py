"""Tracing: what reaches the graph, and what is refused. G001 G002 G003 T018 T027 T047 T052 T053
T080 T083 T084 T085 T086 T087 T088 T089 S004 S073, names of D2 and D3, in-place functions,
buffers."""
import copy
import dataclasses
import itertools
import tempfile
import unittest

import torch
import torch.nn.functional as F
import torch.utils.checkpoint
from torch import nn

import samba


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def trace(model, *inputs, evaluate=False):
    """The record of a trace as text."""
    if not isinstance(model, nn.Module):
        model = Function(model)
    samba.from_torch_model_(model)
    traced = samba.session._trace(model, inputs, [], None, "test", False, evaluate)
    return traced.trace.record()


def x(*shape, name="x", dtype=torch.float32):
    return samba.SambaTensor(shape=shape or (2, 3), dtype=dtype, name=name)


class TracingTest(unittest.TestCase):
    def refuses(self, error, texts, function, *inputs):
        with self.assertRaises(error) as caught:
            trace(function, *(inputs or (x(),)))
        for text in texts:
            self.assertIn(text, str(caught.exception))
        self.assertIsNone(samba.tracing.current())

    # ---- Refusals ----

    def test_S004_a_function_without_a_row(self):
        class Deep(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Function(torch.linalg.svd)

            def forward(self, x):
                return self.inner(x)

        texts = ["torch.linalg.svd", "layer inner", "tracing_test.py:", "Compute it on the host"]
        self.refuses(NotImplementedError, texts, Deep())
        for function, name in (
            (lambda x: x.cholesky(), "Tensor.cholesky"),
            (lambda x: torch.fft.fft(x), "torch.fft.fft"),
            (lambda x: torch.bernoulli(x), "torch.bernoulli"),
            (lambda x: F.ctc_loss(x, x, [1], [1]), "torch.nn.functional.ctc_loss"),
        ):
            self.refuses(NotImplementedError, [name, "Compute it on the host"], function)

    def test_arguments_that_cannot_be_traced(self):
        for function, text in (
            (lambda x: torch.add(x, x, out=torch.empty(2, 3)), "out="),
            (lambda x: torch.where(x > 0), "depends on values"),
            (lambda x: x[x > 0], "depends on values"),
            (lambda x: F.one_hot(x.long()), "depends on values"),
            (lambda x: x.double(), "stay with .float()"),
            (lambda x: x.cuda(), "leave .cuda() out"),
            (lambda x: x.view(torch.int32), "view as another dtype"),
            (lambda x: F.embedding(x.long(), torch.ones(3, 2), max_norm=1.0), "max_norm"),
            (lambda x: torch.round(x, decimals=2), "decimals"),
            (lambda x: F.avg_pool2d(x[None], 1, divisor_override=2), "divisor_override"),
            (lambda x: x[torch.tensor([0]), torch.tensor([1])], "two tensors"),
            (lambda x: torch.diagonal(x, 1), "diagonal"),
        ):
            with self.subTest(text):
                self.refuses(NotImplementedError, [text, "tracing_test.py:"], function)

    def test_T047_G003_no_value_while_tracing(self):
        for function, name in (
            (lambda x: x if x.sum() > 0 else -x, "bool"),
            (lambda x: x * x.max().item(), "item"),
            (lambda x: x.numpy(), "numpy"),
            (lambda x: x.tolist(), "tolist"),
            (lambda x: x * int(x.sum()), "int"),
            (lambda x: x * float(x.sum()), "float"),
            (lambda x: x.nonzero(), "nonzero"),
        ):
            text = f"no value while tracing: {name}, layer function; only the branch taken is kept"
            with self.subTest(name):
                self.refuses(RuntimeError, [text, "tracing_test.py:"], function)

    def test_shapes_that_do_not_fit(self):
        for function, error, text in (
            (lambda x: x @ x, RuntimeError, "cannot be multiplied"),
            (lambda x: x + torch.ones(4), RuntimeError, "must match"),
            (lambda x: x.view(5, -1), RuntimeError, "invalid for input of size 6"),
            (lambda x: x.reshape(-1, -1), RuntimeError, "only one dimension"),
            (lambda x: torch.cat([x, x.t()]), RuntimeError, "Sizes of tensors must match"),
            (lambda x: x.sum(2), IndexError, "Dimension out of range"),
            (lambda x: x[5], IndexError, "out of bounds"),
            (lambda x: x[:, torch.tensor([7])], IndexError, "out of range"),
            (lambda x: x[torch.tensor([0.5])], IndexError, "whole numbers"),
            (lambda x: x.split([1, 3], 1), RuntimeError, "sum exactly"),
            (lambda x: F.linear(x, torch.ones(2, 4)), ValueError, "linear"),
            (lambda x: F.dropout(x, 1.5), ValueError, "between 0 and 1"),
            (lambda x: F.pad(x, (1, 1), mode="mirror"), ValueError, "is none of"),
        ):
            with self.subTest(text):
                self.refuses(error, [text, "layer function", "tracing_test.py:"], function)

    def test_inputs_and_outputs_that_do_not_fit(self):
        double = x(dtype=torch.float64)
        self.refuses(TypeError, ["input 'x'", "float64"], lambda a: a + 1, double)
        self.refuses(ValueError, ["no tensor"], lambda a: "text")
        kept = []
        trace(lambda a: kept.append(a) or a + 1, x())
        self.refuses(RuntimeError, ["another trace"], lambda a: a + kept[0])
        first, second = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3))
        model = Function(lambda a: a + model.one + model.two)
        model.one, model.two = first, second
        samba.from_torch_model_(model)
        second.sn_name = first.sn_name
        self.refuses(ValueError, ["function__one", "sn_name"], model)

    def test_modules_that_hide_what_they_compute(self):
        with self.assertRaisesRegex(NotImplementedError, "scripted module"):
            samba.from_torch_model_(torch.jit.script(nn.Linear(3, 3)))

        class Square(torch.autograd.Function):
            @staticmethod
            def forward(context, x):
                return x * x

            @staticmethod
            def backward(context, gradient):
                return gradient

        self.assertIn("mul", trace(Square.apply, x()))  # for inference its own gradient is idle
        with self.assertRaisesRegex(NotImplementedError, "part of Square, whose own backward"):
            samba.session._trace(Function(Square.apply), (x(),), [], [0], "test", True, False)

    def test_T027_two_inputs_of_one_name(self):
        self.refuses(ValueError, ["two inputs are named 'x'"], lambda a, b: a + b, x(), x())

    # ---- Names ----

    def test_names(self):
        class Inner(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(3, 3)
                self.own = nn.Parameter(torch.ones(3))

            def forward(self, x):
                return self.fc(x) * self.own, "text", None, {"y": (x.sum(),)}

        record = trace(Inner(), x())
        for line in ('weight "fc__weight"', 'weight "fc__bias"', 'weight "inner__own"'):
            self.assertIn(line, record)
        self.assertIn('output "out0"', record)
        self.assertIn('output "out1"', record)
        self.assertNotIn("out2", record)
        model = Inner()
        samba.from_torch_model_(model, parent_module_prefix="left")
        self.assertEqual(model.own.sn_name, "left__own")
        self.assertEqual((model.name, model.fc.name), ("inner", "fc"))
        self.assertEqual(model.fc.weight.sn_region_name, "left__fc__weight")
        image = samba.randn(2, 3, name="image").bfloat16().float()
        self.assertEqual((image.sn_name, image[0].sn_name), ("image", ""))
        self.assertEqual(image.view(3, 2).reshape(6).sn_name, "image")

    def test_conversion_is_in_place(self):
        model = nn.Linear(3, 3)
        weight = model.weight
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        pointer = weight.data_ptr()
        self.assertIs(samba.from_torch_model_(model), model)
        self.assertIs(model.weight, weight)
        self.assertIs(optimizer.param_groups[0]["params"][0], weight)
        self.assertIsInstance(weight, samba.SambaParameter)
        self.assertEqual(weight.data_ptr(), pointer)
        model(torch.ones(1, 3)).sum().backward()
        self.assertEqual(tuple(weight.grad.shape), (3, 3))
        model.load_state_dict({"weight": torch.ones(3, 3), "bias": torch.ones(3)})
        self.assertEqual(float(weight.sum()), 9)
        with self.assertRaisesRegex(TypeError, "torch.nn.Module"):
            samba.from_torch_model_([model])

    def test_copies_and_casts_of_models(self):
        model = samba.from_torch_model_(nn.Linear(3, 3))
        twin = copy.deepcopy(model)
        self.assertEqual(twin.weight.sn_name, "linear__weight")
        self.assertIsInstance(twin.weight, samba.SambaParameter)
        self.assertNotEqual(twin.weight.data_ptr(), model.weight.data_ptr())
        lazy = samba.SambaTensor(shape=(2,), name="lazy")
        self.assertFalse(copy.deepcopy(lazy).has_data)
        model.bfloat16()
        self.assertEqual(
            (model.weight.dtype, model.weight.sn_name), (torch.bfloat16, "linear__weight")
        )

    def test_parameters(self):
        def ones(shape, dtype, requires_grad):
            return torch.ones(shape, dtype=dtype)

        parameter = samba.SambaParameter(shape=(4, 4), dtype=torch.float32, materializer=ones)
        self.assertIsInstance(parameter, nn.Parameter)
        self.assertTrue(parameter.requires_grad and not parameter.has_data)
        module = nn.Module()
        module.weight = parameter
        self.assertIs(dict(module.named_parameters())["weight"], parameter)
        data = torch.ones(2)
        shared = samba.SambaParameter(data, requires_grad=False, name="p")
        self.assertEqual((shared.data_ptr(), shared.requires_grad), (data.data_ptr(), False))
        with self.assertRaisesRegex(TypeError, "no argument 'nam'"):
            samba.SambaParameter(data, nam="p")

    def test_T068_T069_promotion(self):
        dtypes = [torch.float32, torch.bfloat16, torch.float16, torch.bool, torch.int8, torch.uint8]
        dtypes += [torch.int16, torch.int32, torch.int64]
        tracer = samba.tracing.Tracer(samba._samba.Context(), "promotion")
        tracer.trains = False
        kinds = [lambda d: torch.ones(2, dtype=d), lambda d: torch.ones((), dtype=d)]
        with samba.tracing.Tracing(tracer):
            for one, two in itertools.product(dtypes, repeat=2):
                for first, second in itertools.product(kinds, repeat=2):
                    a, b = first(one), second(two)
                    traced = tracer.wrap(tracer.value(a))
                    wanted = torch.result_type(a, b)
                    self.assertEqual((traced * b).dtype, wanted, (one, two))
                for scalar in (True, 2, 0.5):
                    a = torch.ones(2, dtype=one)
                    traced = tracer.wrap(tracer.value(a))
                    self.assertEqual((traced * scalar).dtype, (a * scalar).dtype, (one, scalar))

    # ---- What becomes of tensors that are met on the way ----

    def test_constants_and_buffers(self):
        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("small", torch.ones(3))
                self.register_buffer("large", torch.ones(64, 64))
                self.loose = torch.ones(64, 64)

            def forward(self, x):
                return x * self.small + self.large[:2, :3] + self.loose[:2, :3] + self.loose.sum()

        model = Masked()
        record = trace(model, x())
        self.assertIn('buffer "masked__large" : 64x64xf32', record)
        self.assertNotIn("masked__small", record)
        self.assertNotIn('buffer "masked__constant', record)
        self.assertIs(type(model.large), torch.Tensor)
        record = trace(lambda a: a @ torch.ones(3, 2000), x())
        self.assertIn('buffer "function__constant_1" : 3x2000xf32', record)

    def test_buffers_that_are_written(self):
        class Counter(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("count", torch.zeros(()))
                self.register_buffer("sums", torch.zeros(3))

            def forward(self, x):
                self.count += 1
                self.sums = self.sums + x.sum(0)
                return x * self.count

        model = Counter()
        with tempfile.TemporaryDirectory() as folder:
            data = samba.from_torch_tensor(torch.ones(2, 3), name="x")
            path = samba.session.compile(model, (data,), output_folder=folder)
            self.assertEqual(float(model.count), 0)  # tracing changes nothing
            outputs = samba.utils.trace_graph(model, (data,), pef=path)
            for step in range(1, 4):
                (y,) = samba.session.run([data], outputs)
                self.assertEqual(float(y.mean()), step)
            samba.session.sync_buffers_to_cpu(model)
            self.assertEqual((float(model.count), model.sums.tolist()), (3, [6, 6, 6]))
            self.assertEqual(set(samba.session.buffer_dict), {"counter__count", "counter__sums"})
            samba.session.reset()

    def test_S073_rates_and_modes(self):
        model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.0), nn.BatchNorm1d(3))
        record = trace(model, x())
        self.assertIn('argin "1__p"', record)
        self.assertIn("batch_norm_training", record)
        self.assertIn('update "2__running_var"', record)
        record = trace(model, x(), evaluate=True)
        self.assertNotIn("argin", record)
        self.assertNotIn("update", record)
        self.assertTrue(model.training)

    def test_T018_G002_values_are_not_read(self):
        model = nn.Linear(1 << 16, 1 << 16, bias=False, device="meta")
        record = trace(model, x(2, 1 << 16))
        self.assertIn("65536x65536xf32", record)

    # ---- In place ----

    def run_both(self, function, *inputs):
        with tempfile.TemporaryDirectory() as folder:
            named = [samba.from_torch_tensor(t.clone(), name=f"x{i}") for i, t in enumerate(inputs)]
            model = Function(function)
            path = samba.session.compile(model, named, output_folder=folder)
            outputs = samba.utils.trace_graph(model, named, pef=path)
            got = samba.session.run(named, outputs)
            samba.session.reset()
        expected = function(*[t.clone() for t in inputs])
        expected = expected if isinstance(expected, tuple) else (expected,)
        for device, host in zip(got, expected):
            self.assertTrue(torch.equal(samba.to_torch(device), host), (device, host))

    def test_T086_T087_T089_setitem(self):
        def example(z):
            z = z * 1
            z[:, 2] = torch.ones(2)
            first = z.clone()
            z[None, :, torch.tensor([0, 2])] = 2 * torch.ones(1, 2, 2)
            return first, z

        self.run_both(example, torch.zeros(2, 3))

        def duplicates(z):
            z = z * 1
            z[torch.tensor([1, 1])] = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
            return z

        self.run_both(duplicates, torch.zeros(2, 3))
        with self.assertRaisesRegex(NotImplementedError, "list cannot be assigned"):
            trace(lambda z: z.__setitem__([0], 1.0), x())

    def test_T088_an_argument_is_written(self):
        class Memory(nn.Module):
            def __init__(self):
                super().__init__()
                self.state = nn.Parameter(torch.zeros(2, 3))

            def forward(self, x):
                self.state[0] = x[1]
                return self.state * 2

        model = samba.from_torch_model_(Memory())
        data = samba.from_torch_tensor(torch.arange(6.0).view(2, 3), name="x")
        with tempfile.TemporaryDirectory() as folder:
            path = samba.session.compile(model, (data,), output_folder=folder)
            outputs = samba.utils.trace_graph(model, (data,), pef=path)
            (y,) = samba.session.run([data], outputs)
            self.assertEqual(y.tolist(), [[6, 8, 10], [0, 0, 0]])
            self.assertEqual(model.state.sn_data.tolist(), [[3, 4, 5], [0, 0, 0]])
            self.assertEqual(model.state.tolist(), [[0, 0, 0], [0, 0, 0]])
            samba.session.reset()

    def test_views_see_what_is_written(self):
        def views(a):
            a = a * 1
            top, turned = a[0], a.t()
            flat = a.view(-1)
            a.add_(1)
            turned[1] *= 10
            flat[5] = -1
            top.neg_()
            return a, top, turned, flat

        self.run_both(views, torch.arange(6.0).view(2, 3))

    def test_in_place_keeps_the_dtype(self):
        self.run_both(lambda a, b: (a * 1).add_(b), torch.tensor([1, 2]), torch.tensor([3, 4]))
        with self.assertRaisesRegex(RuntimeError, "can't be cast"):
            trace(lambda a: (a * 1).add_(0.5), x(dtype=torch.int64))

    def test_checkpoints_and_data_classes(self):
        @dataclasses.dataclass
        class Result:
            loss: torch.Tensor
            logits: torch.Tensor

        def function(a):
            y = torch.utils.checkpoint.checkpoint(lambda b: b.relu() * 2, a)
            return Result(y.sum(), y)

        record = trace(function, x())
        self.assertNotIn("detach", record)
        self.assertIn('output "out1"', record)

    def test_branches_and_repeated_outputs(self):
        flag = True
        self.run_both(lambda a: (a, a, a * 2 if flag else a * 3), torch.ones(2))


if __name__ == "__main__":
    unittest.main()
