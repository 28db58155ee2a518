"""Lazy parameters: S030 to S037, T018, T019, T025, T026, without a device."""
import resource
import unittest

import torch
from torch import nn

from samba import lazy


def values_of(module):
    """Values of all parameters under their own names."""
    result = {}
    for name, parameter in module.named_parameters():
        materializer = lazy.materializer_of(parameter)
        materializer.set_name(name)
        result[name] = materializer(parameter.shape, parameter.dtype)
    return result


class Network(nn.Module):
    """What people write in constructors."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(50, 8, padding_idx=3)
        self.linear = nn.Linear(700, 700)
        self.lstm = nn.LSTM(5, 6, 2)
        self.encoder = nn.TransformerEncoderLayer(8, 2, 16)
        self.scaled = nn.Parameter(torch.randn(400, 300) * 0.5)
        self.head = nn.Linear(6, 5)
        nn.init.orthogonal_(self.head.weight)
        nn.init.trunc_normal_(self.linear.bias, std=0.02)
        self.apply(self.start)

    @staticmethod
    def start(module):
        if isinstance(module, nn.LSTM):
            module.weight_ih_l0.data.normal_(3.0, 0.5)
            module.bias_ih_l0.data.zero_()
            module.bias_ih_l0.data[2] = 4.0
            module.bias_ih_l0.data[:2].fill_(5.0)


class LazyTest(unittest.TestCase):
    def tearDown(self):
        lazy.disable_lazy_param()

    def make(self, kind=Network, *args, **options):
        with lazy.lazy_param(**options):
            return kind(*args)

    def test_t019_no_memory_for_64_gib(self):
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model = self.make(nn.Linear, 1 << 17, 1 << 17, seed=1)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        self.assertLess(after - before, 20000)  # KiB
        self.assertEqual(tuple(model.weight.shape), (1 << 17, 1 << 17))
        self.assertIsNotNone(lazy.materializer_of(model.weight))

    def test_s032_values_are_those_of_the_constructor(self):
        values = values_of(self.make(seed=3))
        self.assertTrue(torch.equal(values["embedding.weight"][3], torch.zeros(8)))
        bound = 700**-0.5
        weight = values["linear.weight"]
        self.assertLessEqual(weight.abs().max().item(), bound)
        self.assertAlmostEqual(weight.std().item(), bound / 3**0.5, delta=bound / 100)
        head = values["head.weight"]
        self.assertTrue(torch.allclose(head @ head.t(), torch.eye(5), atol=1e-5))
        self.assertAlmostEqual(values["linear.bias"].std().item(), 0.02, delta=0.002)
        self.assertAlmostEqual(values["lstm.weight_ih_l0"].mean().item(), 3.0, delta=0.2)
        self.assertTrue(torch.equal(values["lstm.bias_ih_l0"][:4], torch.tensor([5.0, 5, 4, 0])))
        self.assertTrue(torch.equal(values["encoder.norm1.weight"], torch.ones(8)))
        self.assertAlmostEqual(values["scaled"].std().item(), 0.5, delta=0.01)

    def test_s033_s034_same_bits_for_each_number_of_threads_and_other_draws(self):
        first = values_of(self.make(seed=3, init_threads=8))
        torch.manual_seed(99)
        torch.randn(17)
        second = values_of(self.make(seed=3, init_threads=1))
        other = values_of(self.make(seed=4, init_threads=1))
        for name in first:
            self.assertTrue(torch.equal(first[name], second[name]), name)
        self.assertFalse(torch.equal(first["linear.weight"], other["linear.weight"]))
        unseeded = values_of(self.make(seed=None))
        self.assertFalse(torch.equal(first["linear.weight"], unseeded["linear.weight"]))

    def test_s033_torch_keeps_its_own_stream(self):
        torch.manual_seed(5)
        expected = torch.randn(4)
        torch.manual_seed(5)
        values_of(self.make(seed=3))
        self.assertTrue(torch.equal(torch.randn(4), expected))

    def test_s034_parts_of_one_tensor(self):
        model = self.make(nn.Linear, 1200, 900, seed=8)  # more than one thread has
        weight = values_of(model)["weight"]
        self.assertEqual(len(weight.unique()) > 0.9 * weight.numel() * 0.9, True)
        self.assertFalse(
            torch.equal(weight.view(-1)[: 1 << 18], weight.view(-1)[1 << 18 : 1 << 19])
        )

    def test_s035_inverse_transform_sampling(self):
        both = []
        for inverse in (False, True):
            options = {"seed": 2, "inverse_transform_sampling": inverse}
            values = values_of(self.make(nn.Embedding, 1000, 500, **options))["weight"].view(-1)
            both.append(values)
            # Kolmogorov-Smirnov: the largest distance from the normal distribution.
            ordered = values.double().sort().values
            expected = torch.special.ndtr(ordered)
            steps = torch.arange(1, len(ordered) + 1, dtype=torch.double) / len(ordered)
            self.assertLess((expected - steps).abs().max().item(), 1.95 / len(ordered) ** 0.5)
            self.assertGreater(values.max().item(), 4.0)
            self.assertLess(values.min().item(), -4.0)
        self.assertFalse(torch.equal(*both))

    def test_s036_rounding_to_bf16(self):
        class Model(nn.Module):
            def __init__(self, dtype):
                super().__init__()
                self.weight = nn.Parameter(torch.empty(4000, dtype=dtype).normal_())

        def value(dtype, rounding):
            options = {"seed": 1, "fp32_to_bf16_rounding": rounding}
            return values_of(self.make(Model, dtype, **options))["weight"]

        wide = value(torch.float32, "nearest_even")
        near, cut = (value(torch.bfloat16, rounding) for rounding in lazy.ROUNDINGS)
        self.assertTrue(torch.equal(near, wide.bfloat16()))
        upper = (wide.view(torch.int32) & -65536).view(torch.float32)  # the upper 16 bits
        self.assertTrue(torch.equal(cut.float(), upper))
        self.assertFalse(torch.equal(cut, near))

    def test_s033_the_numbers_are_those_of_c(self):
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.empty(3).uniform_(2.0, 4.0))

        got = values_of(self.make(Model, seed=5))["weight"]
        expected = torch.empty(3)
        arguments = ("f32", (3,), "weight", "uniform", 2.0, 4.0, 5, 1, False, "nearest_even")
        lazy._samba.fill_random(expected.data_ptr(), *arguments)
        self.assertTrue(torch.equal(got, expected))
        self.assertTrue(bool(((got >= 2) & (got < 4)).all()))

    def test_s032_s034_s036_refusals(self):
        with self.assertRaisesRegex(ValueError, "rounding is 'up', but must be.*truncation"):
            lazy.enable_lazy_param(fp32_to_bf16_rounding="up")
        for threads in (0, -1):
            with self.assertRaisesRegex(ValueError, "but must be at least 1"):
                lazy.enable_lazy_param(init_threads=threads)
        with self.assertRaisesRegex(TypeError, "must be an integer or None"):
            lazy.enable_lazy_param(seed="x")
        with self.assertRaisesRegex(NotImplementedError, "no quantized types"):
            with lazy.lazy_param(quantized=True):
                pass
        self.assertFalse(lazy.use_lazy_param())

    def test_s031_s037_on_and_off(self):
        self.assertFalse(lazy.use_lazy_param())
        lazy.enable_lazy_param(seed=1)
        self.assertTrue(lazy.use_lazy_param())
        self.assertTrue(nn.Linear(2, 2).weight.is_meta)
        lazy.disable_lazy_param()
        self.assertFalse(lazy.use_lazy_param())
        self.assertFalse(nn.Linear(2, 2).weight.is_meta)

    def test_s032_only_constructors_are_lazy(self):
        lazy.enable_lazy_param(seed=1)
        self.assertFalse(torch.randn(3).is_meta)
        self.assertFalse(nn.Parameter(torch.zeros(3)).is_meta)
        self.assertFalse(nn.BatchNorm1d(3).num_batches_tracked.is_meta)

    def test_s032_nested(self):
        lazy.enable_lazy_param(seed=1)
        with lazy.lazy_param(seed=2):
            self.assertTrue(lazy.use_lazy_param())
        self.assertTrue(lazy.use_lazy_param())
        self.assertTrue(nn.Linear(2, 2).weight.is_meta)

    def test_t018_seven_billion_parameters(self):
        class Block(nn.Module):
            def __init__(self, width, inner):
                super().__init__()
                self.q, self.k = nn.Linear(width, width), nn.Linear(width, width)
                self.v, self.o = nn.Linear(width, width), nn.Linear(width, width)
                self.gate, self.up = nn.Linear(width, inner), nn.Linear(width, inner)
                self.down = nn.Linear(inner, width)
                self.norm = nn.Parameter(torch.ones(width))

        with lazy.lazy_param(seed=1):
            blocks = nn.ModuleList(Block(4096, 11008) for _ in range(32))
        self.assertGreater(sum(p.numel() for p in blocks.parameters()), 6e9)
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, 1 << 20)


if __name__ == "__main__":
    unittest.main()
