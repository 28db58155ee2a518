"""samba.Tensor on the device: N010 to N013, N020 to N023, N030, N031, N033, N040, N041, N060."""
import unittest

import torch

import samba
from samba import Tensor, lazy_tensor


def matrix():
    return Tensor([[1.0, 2.0], [3.0, 4.0]])


class LazyTensorTest(unittest.TestCase):
    def test_n023_realize_computes_on_the_device(self):
        b = (matrix() * 2 + 1).permute(1, 0).contiguous()
        self.assertFalse(b.is_realized)
        self.assertIs(b.realize(), b)
        self.assertTrue(b.is_realized)
        self.assertEqual(b.tolist(), [[3.0, 7.0], [5.0, 9.0]])
        self.assertIn("computed", repr(b))

    def test_n023_realized_is_a_no_op(self):
        b = (matrix() + 1).realize()
        before = lazy_tensor.statistics()
        values = b.torch()
        b.realize()
        self.assertEqual(lazy_tensor.statistics(), before)
        (matrix() + 1).realize(do_update_stats=False)
        self.assertEqual(lazy_tensor.statistics(), before)
        (matrix() + 1).realize()
        self.assertGreater(lazy_tensor.statistics()["launches"], before["launches"])
        self.assertTrue(torch.equal(b.torch(), values))

    def test_n023_several_together_share_what_they_share(self):
        a = matrix()
        shared = a @ a
        one, two = shared + 1, shared * 2
        schedule = one.schedule(two)
        self.assertEqual(schedule.operators, 3)
        schedule.run()
        self.assertEqual((one.tolist(), two.tolist()), ([[8, 11], [16, 23]], [[14, 20], [30, 44]]))

    def test_equal_programs_are_compiled_once(self):
        (matrix() - 3).realize()
        before = lazy_tensor.statistics()["compilations"]
        self.assertEqual((Tensor([[5.0, 6.0], [7.0, 8.0]]) - 3).tolist(), [[2, 3], [4, 5]])
        self.assertEqual(lazy_tensor.statistics()["compilations"], before)
        (matrix() @ matrix()).realize()
        self.assertGreater(lazy_tensor.statistics()["compilations"], before)

    def test_n020_n021_n022_schedule(self):
        a = matrix()
        b = torch.nn.functional.relu(a.torch() - 2).tolist()
        c = (a - 2).relu()
        schedule, variables = c.schedule_with_vars()
        self.assertEqual((variables, c.is_realized), ({}, False))
        self.assertEqual((len(schedule), list(schedule), schedule.operators), (1, [0], 2))
        self.assertLessEqual(schedule.memory[0], schedule.memory[1])
        with self.assertRaisesRegex(ValueError, "already scheduled"):
            c.schedule()
        before = lazy_tensor.statistics()["launches"]
        schedule.run()
        self.assertEqual(lazy_tensor.statistics()["launches"], before + len(schedule))
        with self.assertRaisesRegex(ValueError, "has run already"):
            schedule.run()
        self.assertEqual(c.tolist(), b)
        self.assertEqual(len(matrix().schedule()), 0)

    def test_n010_to_n013_values_of_what_was_computed(self):
        t = Tensor([1, 2, 3, 4]) + 1
        self.assertEqual(t.data().tolist(), [2, 3, 4, 5])
        self.assertEqual((str(t.numpy().dtype), (t.sum()).item()), ("int32", 14))
        narrow = Tensor([1.5], dtype=torch.bfloat16) * 2
        self.assertEqual((narrow.dtype, narrow.numpy().tolist()), (torch.bfloat16, [3.0]))

    def test_n030_replace_takes_the_expression(self):
        t = Tensor([1.0, 2.0])
        t.replace(Tensor([3.0, 4.0]) * 2)
        self.assertFalse(t.is_realized)
        self.assertEqual(t.tolist(), [6.0, 8.0])

    def test_n031_assign_in_the_same_memory(self):
        b = (matrix() * 1).realize()
        place = b._value.address
        b.assign(b + 1)
        self.assertEqual(b.numpy().tolist(), [[2.0, 3.0], [4.0, 5.0]])
        self.assertEqual(b._value.address, place)
        b.assign([[0.0, 0.0], [1.0, 1.0]])
        self.assertEqual(b.tolist(), [[0.0, 0.0], [1.0, 1.0]])
        self.assertEqual(b.assign(7).tolist(), [[7.0, 7.0], [7.0, 7.0]])

    def test_n030_n031_shapes_are_said(self):
        for method in (matrix().assign, matrix().replace):
            with self.assertRaisesRegex(ValueError, r"shape \(2, 2\), but its new value \(2,\)"):
                method(Tensor([1.0, 2.0]))

    def test_n031_readers_see_what_was_assigned(self):
        b = matrix()
        later, known = b * 10, (b * 10).realize()
        b.assign(b + 1)
        self.assertEqual(later.tolist(), [[20.0, 30.0], [40.0, 50.0]])
        self.assertEqual(known.tolist(), [[10.0, 20.0], [30.0, 40.0]])

    def test_n030_readers_keep_what_was_replaced(self):
        b = matrix()
        later = b * 10
        b.replace(b + 1)
        self.assertEqual(later.tolist(), [[10.0, 20.0], [30.0, 40.0]])
        self.assertEqual((b * 10).tolist(), [[20.0, 30.0], [40.0, 50.0]])

    def test_n031_unrealized_is_replaced(self):
        b = matrix() + 1
        b.assign(matrix() * 3)
        self.assertEqual(b.tolist(), [[3.0, 6.0], [9.0, 12.0]])

    def test_n033_n060_gradients(self):
        x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
        y = x * x.detach()
        self.assertEqual(y.tolist(), [1.0, 4.0, 9.0])
        y.sum().backward()
        self.assertEqual(x.grad.tolist(), [1.0, 2.0, 3.0])
        (x + x).sum().backward()
        self.assertEqual(x.grad.tolist(), [3.0, 4.0, 5.0])

    def test_n040_n041_contiguous(self):
        t = matrix().permute(1, 0)
        self.assertEqual(t.contiguous().tolist(), [[1.0, 3.0], [2.0, 4.0]])
        x = Tensor([1.0, 2.0], requires_grad=True)
        (x.contiguous_backward() * 3).sum().backward()
        self.assertEqual(x.grad.tolist(), [3.0, 3.0])
        self.assertEqual(x.contiguous_backward().tolist(), [1.0, 2.0])

    def test_n036_shards_join_to_the_original(self):
        t = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        parts = t.shard(("A", "B"), axis=1, splits=(2, 1)).shards
        joined = torch.cat([part.torch() for part in parts], 1)
        self.assertEqual(joined.tolist(), t.tolist())

    def test_many_methods_are_torchs(self):
        a = matrix()
        for made, expected in (
            (a.T @ a, [[10, 14], [14, 20]]),
            (a[0], [1, 2]),
            (a[:, 1:], [[2], [4]]),
            (a.sum(1), [3, 7]),
            (a.mean(), 2.5),
            (-a, [[-1, -2], [-3, -4]]),
            (a / 2, [[0.5, 1], [1.5, 2]]),
            (a**2, [[1, 4], [9, 16]]),
            (2 - a, [[1, 0], [-1, -2]]),
            (a.reshape(4), [1, 2, 3, 4]),
            ((a > 2), [[False, False], [True, True]]),
            (a.max(), 4),
            (a.cast(torch.int32) // 2, [[0, 1], [1, 2]]),
        ):
            self.assertEqual(made.tolist(), expected)
        self.assertEqual([part.tolist() for part in a.split(1)], [[[1, 2]], [[3, 4]]])
        values, indices = a.topk(1)
        self.assertEqual((values.tolist(), indices.tolist()), ([[2], [4]], [[1], [1]]))
        self.assertIs(a.float(), a)
        with self.assertRaisesRegex(NotImplementedError, "stride gives no tensor"):
            a.stride()
        with self.assertRaisesRegex(NotImplementedError, "is a hyperparameter, and a samba.Tensor"):
            lazy_tensor.compute(torch.nn.functional.dropout, (a, 0.5), {})
        with self.assertRaisesRegex(TypeError, "complex64 is no type of a samba.Tensor"):
            Tensor([1j])
        with self.assertRaisesRegex(TypeError, "float64, which the device does not have"):
            Tensor([1.0], dtype=torch.float64) + 1
        wide = Tensor([1.5], dtype=torch.float64).cast(torch.float32)
        self.assertEqual((wide + 1).tolist(), [2.5])
        with self.assertRaisesRegex(ValueError, "tensors on different devices"):
            a + Tensor([1.0], device="B")

    def compare(self, function, *shapes, tolerance=1e-5):
        """Values and gradients of a function of several tensors, against PyTorch's."""
        torch.manual_seed(3)
        given = [torch.randn(shape) for shape in shapes]
        theirs = [x.clone().requires_grad_() for x in given]
        ours = [Tensor(x, requires_grad=True) for x in given]
        expected, result = function(*theirs), function(*ours)
        weight = torch.randn(expected.shape)
        expected.backward(weight)
        result.backward(Tensor(weight))
        pairs = [(result.torch(), expected.detach())]
        pairs += [(a.grad.torch(), b.grad) for a, b in zip(ours, theirs)]
        for found, wanted in pairs:
            self.assertEqual(found.shape, wanted.shape)
            difference = (found - wanted).norm() / wanted.norm()
            self.assertLess(float(difference), tolerance)

    def test_n060_values_and_gradients_are_pytorchs(self):
        def perceptron(x, w, b, v):
            return (x @ w + b).relu() @ v

        def normalized(x):
            return (x - x.mean(1, keepdim=True)) / (x.var(1, keepdim=True) + 1e-5).sqrt()

        self.compare(perceptron, (3, 5), (5, 7), (7,), (7, 2))
        self.compare(normalized, (3, 6))
        self.compare(lambda x: x.softmax(-1).log(), (2, 5))
        self.compare(lambda x, y: x * y.sum(0) - y.exp().max(), (4,), (3, 4))
        self.compare(lambda x: x.sigmoid()[:, 1:].permute(1, 0).reshape(2, 3), (3, 3))
        self.compare(lambda x: (x**2).sum() / x.abs().amax(), (3, 3))

    def test_n060_functions_of_torch_take_tensors(self):
        labels = torch.tensor([2, 0, 1])
        F = torch.nn.functional
        self.compare(lambda x, w, b: F.layer_norm(x, (5,), w, b), (3, 5), (5,), (5,))
        self.compare(lambda x, w: F.conv2d(x, w, padding=1, stride=2), (1, 2, 5, 5), (3, 2, 3, 3))
        self.compare(lambda x: F.cross_entropy(x, labels), (3, 4))
        self.compare(lambda x, y: torch.cat([x, y.t()], 1), (2, 3), (4, 2))
        self.compare(lambda q, k: torch.softmax(q @ k.transpose(-1, -2), -1), (2, 3, 4), (2, 3, 4))
        self.compare(lambda t: F.embedding(labels, t), (4, 3))
        mixed = torch.ones(2, 2) + matrix()
        self.assertEqual((type(mixed), mixed.tolist()), (Tensor, [[2, 3], [4, 5]]))

    def test_a_loop_compiles_once_and_learns(self):
        torch.manual_seed(1)
        x, target = torch.randn(8, 3), torch.randn(8, 1)
        theirs = torch.zeros(3, 1, requires_grad=True)
        ours = Tensor(torch.zeros(3, 1), requires_grad=True)
        counts = []
        for _ in range(4):
            loss = ((x @ theirs - target) ** 2).mean()
            loss.backward()
            with torch.no_grad():
                theirs -= 0.1 * theirs.grad
            theirs.grad = None
            lazy = ((Tensor(x) @ ours - Tensor(target)) ** 2).mean()
            lazy.backward()
            self.assertAlmostEqual(lazy.item(), loss.item(), places=5)
            ours.requires_grad_(False).assign(ours.detach() - 0.1 * ours.grad)
            ours.requires_grad_().grad = None
            counts.append(lazy_tensor.statistics()["compilations"])
        self.assertEqual(counts[0], counts[-1])
        self.assertTrue(torch.allclose(ours.torch(), theirs.detach(), atol=1e-6))

    def test_n061_no_gradient_under_no_grad(self):
        x = Tensor([1.0, 2.0], requires_grad=True)
        with torch.no_grad():
            y = x * 2
        self.assertFalse(y.requires_grad)
        (x * y).sum().backward()
        self.assertEqual(x.grad.tolist(), [2.0, 4.0])

    def test_n034_results_lie_where_their_operands_lie(self):
        a = Tensor([1.0, 2.0], device="B")
        self.assertEqual([(a + a).device, (2 * a).device, a.detach().device], ["B"] * 3)
        a.assign(a + a)
        self.assertEqual((a.tolist(), a.device), ([2.0, 4.0], "B"))

    def test_what_a_session_has_is_untouched(self):
        self.assertFalse(samba.session._device.loaded)
        (matrix() + 5).realize()
        self.assertFalse(samba.session._device.loaded)
        self.assertFalse(samba.session.tracing)


if __name__ == "__main__":
    unittest.main()
