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
        before = len(lazy_tensor._compiled)
        values = b.torch()
        b.realize()
        self.assertEqual(len(lazy_tensor._compiled), before)
        self.assertTrue(torch.equal(b.torch(), values))

    def test_n023_several_together_share_what_they_share(self):
        a = matrix()
        shared = a @ a
        one, two = shared + 1, shared * 2
        self.assertEqual(len(lazy_tensor.Program([one._node, two._node]).order), 3)
        one.realize(two)
        self.assertEqual((one.tolist(), two.tolist()), ([[8, 11], [16, 23]], [[14, 20], [30, 44]]))

    def test_equal_programs_are_compiled_once(self):
        (matrix() - 3).realize()
        before = dict(lazy_tensor._compiled)
        self.assertEqual((Tensor([[5.0, 6.0], [7.0, 8.0]]) - 3).tolist(), [[2, 3], [4, 5]])
        self.assertEqual(list(lazy_tensor._compiled), list(before))

    def test_n020_n021_n022_schedule(self):
        a = matrix()
        b = torch.nn.functional.relu(a.torch() - 2).tolist()
        c = (a - 2).relu()
        schedule, variables = c.schedule_with_vars()
        self.assertEqual((variables, c.is_realized), ({}, False))
        self.assertEqual(len(schedule), len(schedule.compiled.session.get_calls()))
        self.assertGreaterEqual(len(schedule), 1)
        with self.assertRaisesRegex(RuntimeError, "already scheduled"):
            c.schedule()
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
        place = b._node.values.data_ptr()
        b.assign(b + 1)
        self.assertEqual(b.numpy().tolist(), [[2.0, 3.0], [4.0, 5.0]])
        self.assertEqual(b._node.values.data_ptr(), place)
        b.assign([[0.0, 0.0], [1.0, 1.0]])
        self.assertEqual(b.tolist(), [[0.0, 0.0], [1.0, 1.0]])

    def test_n031_readers_keep_the_old_values(self):
        b = matrix()
        later = b * 10
        b.assign(b + 1).realize()
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
        with self.assertRaisesRegex(NotImplementedError, "gives no single tensor"):
            a.split(1)
        with self.assertRaisesRegex(ValueError, "tensors on different devices"):
            a + Tensor([1.0], device="B")

    def test_what_a_session_has_is_untouched(self):
        self.assertFalse(samba.session._device.loaded)
        (matrix() + 5).realize()
        self.assertFalse(samba.session._device.loaded)
        self.assertFalse(samba.session.tracing)


if __name__ == "__main__":
    unittest.main()
