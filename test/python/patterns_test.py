"""Parallel patterns, types by name, weight norm and other names that programs use; masks as
indices; adaptive pools with indices. T017, T080."""
import itertools
import os
import sys
import unittest

import torch
from torch import nn

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import samba  # noqa: E402
from device import check_function, compile_and_trace, relative  # noqa: E402
from samba import graph, session, sn_private, utils  # noqa: E402
from samba import test as samba_test  # noqa: E402
from samba.functional import (  # noqa: E402
    sn_fma,
    sn_gather,
    sn_imm,
    sn_iteridx,
    sn_scatter,
    sn_select,
    sn_zipmapreduce,
    stir,
)
from samba.mac.metadata import ConvTilingMetadata  # noqa: E402
from samba.utils import SNType, parse_dtype, weight_norm_  # noqa: E402


def blocks(shape, start, dims, lengths):
    """The index of each element of a block, as slices."""
    ranges = [slice(None)] * len(shape)
    for at, dim, length in zip(start.tolist(), dims, lengths):
        ranges[dim] = slice(at, at + length)
    return tuple(ranges)


def causal(x):
    def fill(attrs, x):
        rows = sn_iteridx(dim=2, attrs=attrs, dtype=SNType.INT32)
        columns = sn_iteridx(dim=3, attrs=attrs, dtype=SNType.INT32)
        return sn_select(torch.ge(rows, columns), x, sn_imm(-1e4, torch.float32))

    return sn_zipmapreduce(fill, [x])


class PatternsTest(unittest.TestCase):
    def setUp(self):
        session.reset()
        torch.manual_seed(2)

    def test_map_of_several(self):
        x, y, z = torch.randn(4, 1), torch.randn(1, 5), torch.randn(4, 5)

        def fused(attrs, a, b, c):
            return sn_fma(a, b, c)

        self.assertTrue(torch.equal(sn_zipmapreduce(fused, [x, y, z]), x * y + z))
        check_function(lambda *xs: sn_zipmapreduce(fused, list(xs)), [x, y, z])

    def test_places_of_elements(self):
        x = torch.randn(2, 2, 6, 6)
        expected = x.masked_fill(torch.ones(6, 6, dtype=torch.bool).triu(1), -1e4)
        self.assertTrue(torch.equal(causal(x), expected))
        check_function(causal, [x])

    def test_reductions(self):
        a, b = torch.randint(0, 4, (3, 6)), torch.randint(0, 4, (3, 6))

        def first(attrs, a, b):
            place = sn_iteridx(attrs=attrs, dim=1, dtype=SNType.INT32)
            return sn_select(a == b, place, sn_imm(6, SNType.INT32))

        got = sn_zipmapreduce(first, [a, b], reduce_func="MIN", reduce_dim=[1])
        for row in range(3):
            same = [i for i in range(6) if a[row, i] == b[row, i]]
            self.assertEqual(got[row].tolist(), [min(same + [6])])
        check_function(
            lambda a, b: sn_zipmapreduce(first, [a, b], reduce_func="min", reduce_dim=1),
            [a.int(), b.int()],
        )
        x, y = torch.randn(3, 1), torch.randn(1, 5)
        for name, expected in (
            ("SUM", (x * y).sum(1, keepdim=True)),
            ("MAX", (x * y).amax(1, keepdim=True)),
        ):
            got = sn_zipmapreduce(lambda _, a, b: a * b, [x, y], name, 1)
            self.assertTrue(torch.allclose(got, expected))
        whole = sn_zipmapreduce(lambda _, a, b: a * b, [x, y], "sum", [0, 1])
        self.assertEqual(tuple(whole.shape), (1, 1))
        same = sn_zipmapreduce(lambda _, a: sn_imm(2.0, torch.float32), [x])
        self.assertEqual(same.tolist(), [[2.0]] * 3)

    def test_wrong_maps(self):
        x = torch.randn(3)
        for text, arguments in (
            ("inputs is empty", (lambda _: 0, [])),
            ("unknown reduce_func 'MEAN'", (lambda _, x: x, [x], "MEAN", 0)),
            ("reduce_func wants reduce_dim", (lambda _, x: x, [x], "SUM")),
            ("reduce_dim is given without reduce_func", (lambda _, x: x, [x], None, 0)),
        ):
            with self.assertRaisesRegex(ValueError, text):
                sn_zipmapreduce(*arguments)
        with self.assertRaisesRegex(IndexError, "dim is 1, but the inputs have 1 dimensions"):
            sn_zipmapreduce(lambda attrs, x: sn_iteridx(attrs, 1), [x])
        with self.assertRaisesRegex(AttributeError, "did you mean 'sn_gather'"):
            stir.sn_gathr

    def test_gather(self):
        for shape, dims, lengths, sets in (
            ((5, 5), [0, 1], [2, 3], (3,)),
            ((3, 3), [0], [1], (2,)),
            ((4, 6, 5), [2], [2], (2, 3)),
            ((4, 6, 5), [2, 0], [2, 3], (2,)),
        ):
            x = torch.randn(shape)
            starts = torch.stack(
                [torch.randint(0, shape[d] - n + 1, sets) for d, n in zip(dims, lengths)], -1
            )
            expected = torch.stack(
                [x[blocks(shape, s, dims, lengths)] for s in starts.reshape(-1, len(dims))]
            )
            expected = expected.reshape(sets + tuple(expected.shape[1:]))
            self.assertTrue(torch.equal(sn_gather(x, starts, dims, lengths), expected))
            check_function(lambda x, s: sn_gather(x, s, dims, lengths), [x, starts.int()])

    def test_gather_in_batches(self):
        ids, starts = torch.randint(0, 50, (2, 7)).int(), torch.randint(0, 7, (2, 4, 1)).int()
        got = sn_gather(ids, starts, [0], [1], batched_dims=1).squeeze(-1)
        expected = torch.gather(ids, 1, starts.squeeze(-1).long())
        self.assertTrue(torch.equal(got, expected))
        check_function(lambda i, s: sn_gather(i, s, [0], [1], batched_dims=1), [ids, starts])
        border = sn_gather(torch.arange(5), torch.tensor([[9], [-3]]), [0], [2])
        self.assertEqual(border.tolist(), [[3, 4], [0, 1]])

    def test_scatter(self):
        x, starts = torch.zeros(4, 6), torch.tensor([[0, 1], [2, 4], [3, 5]]).int()
        update = torch.randn(3, 2, 2)
        expected = x.clone()
        for s, block in zip(starts[:2], update):
            expected[s[0] : s[0] + 2, s[1] : s[1] + 2] = block
        self.assertTrue(torch.equal(sn_scatter(x, update, starts, [0, 1]), expected))
        check_function(lambda x, u, s: sn_scatter(x, u, s, [0, 1]), [x, update, starts])

        rows, places = torch.randn(5, 3), torch.tensor([[1], [1], [7]]).int()
        added = rows.clone()
        more = torch.randn(3, 1, 3)
        added[1] += more[0, 0]
        added[1] += more[1, 0]
        got = sn_scatter(rows, more, places, [0], rmw_op="kAdd")
        self.assertTrue(torch.allclose(got, added))
        check_function(
            lambda r, m, p: sn_scatter(r, m, p, [0], rmw_op="kAdd"), [rows, more, places]
        )

    def test_scatter_in_batches(self):
        x, starts = torch.zeros(2, 5), torch.tensor([[[1], [4]], [[0], [2]]]).int()
        update = torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]]])
        got = sn_scatter(x, update, starts, [0], batched_dims=1)
        self.assertEqual(got.tolist(), [[0, 1, 0, 0, 2], [3, 0, 4, 0, 0]])

    def test_wrong_blocks(self):
        x, starts = torch.randn(4, 5), torch.zeros(3, 1, dtype=torch.int32)
        for text, call in (
            ("lengths \\[6\\] do not fit", lambda: sn_gather(x, starts, [1], [6])),
            ("are not different ones of 2", lambda: sn_gather(x, starts, [2], [1])),
            ("must have one index for each", lambda: sn_gather(x, starts, [0, 1], [1, 1])),
            ("batched_dims is 1, but", lambda: sn_gather(x, starts, [0], [1], 1)),
            ("unknown rmw_op 'kMul'", lambda: sn_scatter(x, x, starts, [0], rmw_op="kMul")),
            ("a block of 2 dimensions", lambda: sn_scatter(x, x, starts, [0])),
        ):
            with self.assertRaisesRegex(ValueError, text):
                call()


class NamesTest(unittest.TestCase):
    def test_types(self):
        self.assertIs(SNType.to_torch_reference_type(SNType.INT32), torch.int32)
        self.assertIs(SNType.to_torch_reference_type(SNType.UINT16), torch.int32)
        self.assertIs(SNType.to_torch_reference_type(SNType.BF16), torch.bfloat16)
        self.assertIs(parse_dtype("torch.float32"), torch.float32)
        self.assertIs(parse_dtype(torch.int8), torch.int8)
        with self.assertRaisesRegex(ValueError, "unknown dtype 'float33'.*did you mean 'float32'"):
            parse_dtype("float33")

    def test_weight_norm(self):
        """One step against PyTorch's own weight_norm."""
        session.reset()
        models = []
        for _ in range(2):
            torch.manual_seed(0)
            models.append(nn.Sequential(nn.Linear(5, 4), nn.Tanh()))
        model, reference = models
        samba.from_torch_model_(model)
        self.assertIs(weight_norm_(model[0]), model[0])
        optimizer = samba.optim.SGD(model.parameters(), lr=0.5)
        x = torch.randn(3, 5)
        inputs = (samba.from_torch_tensor(x, name="x"),)
        outputs, _ = compile_and_trace(model, inputs, [optimizer])
        self.assertEqual(set(session.get_weight_names()), {"0__bias", "0__weight_g", "0__weight_v"})
        session.run(inputs, outputs)
        session.to_cpu(model)

        torch.nn.utils.weight_norm(reference[0])
        stepped = torch.optim.SGD(reference.parameters(), lr=0.5)
        reference(x).sum().backward()
        stepped.step()
        for name, value in reference.named_parameters():
            self.assertLess(relative(dict(model.named_parameters())[name], value), 1e-6, name)
        with self.assertRaisesRegex(ValueError, "Linear has no parameter 'weigth'; it has weight"):
            weight_norm_(nn.Linear(2, 2), "weigth")

    def test_consistency(self):
        calls = []

        @samba_test.consistency_test()
        def same(x):
            calls.append(x)
            return [("x", x)]

        @samba_test.consistency_test()
        def other():
            return [("noise", torch.rand(3))]

        same(torch.ones(2))
        self.assertEqual(len(calls), 2)
        with self.assertRaisesRegex(AssertionError, "'noise' differs from run to run"):
            other()

    def test_notes(self):
        note = {ConvTilingMetadata.key: ConvTilingMetadata(original_size=(1, 3, 8, 8))}
        self.assertEqual(note["conv_tiling"].original_size, [1, 3, 8, 8])
        self.assertEqual(graph.FwdGraph((), (), name="g").name, "g")
        with samba.directives.sdpa_directives({"a": 1}):
            self.assertEqual(samba.directives.recorded[-1][0], "sdpa_directives")
        self.assertEqual(utils.numeric.MAX_BF16_TRUNCATE_NORMAL_REL, 1 / 128)

        with session._add_directives({"name": "block"}):
            self.assertEqual(samba.directives.recorded[-1][1], ({"name": "block"},))

    def test_addmm(self):
        x, a, b = torch.randn(2, 4), torch.randn(2, 3), torch.randn(4, 3)
        got = samba.addmm(x, a, b, beta=2, alpha=1, out=None, is_transposed=True)
        self.assertTrue(torch.allclose(got, 2 * x + a @ b.t(), atol=1e-6))
        with self.assertRaisesRegex(NotImplementedError, "addmm\\(out=...\\) is not supported"):
            samba.addmm(x, a, b, out=x, is_transposed=True)

    def test_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "groupby is not supported.*one_hot"):
            samba.groupby(torch.arange(4))
        with self.assertRaisesRegex(NotImplementedError, "sn_multinomial.*torch.multinomial"):
            sn_private.sn_multinomial(torch.rand(2, 3), torch.rand(2, 1))


X = torch.linspace(-2, 2, 24).reshape(2, 3, 4)
ROWS = torch.tensor([[True, False, True], [False, False, True]])


class MasksTest(unittest.TestCase):
    def setUp(self):
        session.reset()

    def test_t080_masks_that_have_values(self):
        everything = torch.ones(2, 3, 4, dtype=torch.bool)
        columns = torch.tensor([True, False, False, True])
        for function in (
            lambda x: x[ROWS],
            lambda x: x[everything],
            lambda x: x[:, :, columns],
            lambda x: x[..., columns] * 2,
            lambda x: torch.masked_select(x, columns),
        ):
            check_function(function, [X])

    def test_t081_masks_that_are_written_under(self):
        def write(index, value):
            def function(x):
                result = x * 1
                result[index(x)] = value
                return result

            return function

        columns = (slice(None), torch.tensor([True, False, True]))
        for function in (
            write(lambda x: x > 0, 0.5),
            write(lambda x: x > 0, torch.zeros(1)),
            write(lambda x: x[:, :, 0] > 0, torch.arange(4.0)),
            write(lambda x: ROWS, 1.0),
            write(lambda x: ROWS, torch.arange(4.0)),
            write(lambda x: ROWS, torch.arange(12.0).reshape(3, 4)),
            write(lambda x: columns, 2.0),
        ):
            check_function(function, [X])

    def test_masks_that_are_computed_have_no_size(self):
        for function in (lambda x: x[x > 0], lambda x: torch.masked_select(x, x > 0)):
            with self.assertRaisesRegex(
                NotImplementedError, "size of the result depends on values; torch.where, masked"
            ):
                check_function(function, [X])

        def each(x):
            result = x * 1
            result[x > 0] = torch.arange(12.0)
            return result

        with self.assertRaisesRegex(NotImplementedError, "values one by one for a mask"):
            check_function(each, [X])


class PoolsTest(unittest.TestCase):
    def test_indices_of_adaptive_pools(self):
        session.reset()
        torch.manual_seed(4)
        x = torch.randn(2, 3, 6, 8)
        for size in ((3, 4), (4, 3), (1, 1), (5, 8)):
            for value in (x, torch.zeros_like(x)):
                module = nn.AdaptiveMaxPool2d(size, return_indices=True)
                check_function(lambda x: module(x), [value])
        check_function(nn.AdaptiveMaxPool1d(3, return_indices=True), [x[0]])
        check_function(nn.AdaptiveMaxPool3d((1, 2, 3), return_indices=True), [x])
        sizes = list(itertools.repeat(17, 2))
        with self.assertRaisesRegex(NotImplementedError, "289 windows of different sizes"):
            check_function(
                nn.AdaptiveMaxPool2d(sizes, return_indices=True), [torch.ones(1, 20, 20)]
            )


if __name__ == "__main__":
    unittest.main()
