"""samba.Tensor as far as no device is needed: N001 to N006, N036, N037, E14, E15, and the checks
of N030, N031, N060."""
import unittest

import torch

from samba.lazy_tensor import Tensor, shard_views, split_sizes


class ShardTest(unittest.TestCase):
    def test_n036_e15_parts(self):
        views = shard_views((2, 3), 2, axis=1, splits=(2, 1))
        self.assertEqual(views, [((2, 2), (2, 1), 0), ((2, 1), (1, 0), 0)])

    def test_n036_default_splits(self):
        self.assertEqual(split_sizes(5, 4), (2, 2, 1, 0))
        self.assertEqual(split_sizes(4, 3), (2, 2, 0))
        self.assertEqual([v[0] for v in shard_views((4, 6), 3, axis=-1)], [(4, 2)] * 3)
        self.assertEqual([v[0] for v in shard_views((4, 6), 2)], [(4, 6)] * 2)

    def test_n036_refusals(self):
        with self.assertRaisesRegex(ValueError, "do not add up: dimension 1 has 3.*they have 4"):
            shard_views((2, 3), 2, axis=1, splits=(2, 2))
        with self.assertRaisesRegex(ValueError, "splits are 1, but there are 2 devices"):
            shard_views((2, 3), 2, axis=1, splits=(3,))
        with self.assertRaisesRegex(ValueError, "along dimension 2 of a tensor of rank 2"):
            shard_views((2, 3), 2, axis=2)
        with self.assertRaisesRegex(ValueError, "sharding over no devices"):
            Tensor([1.0]).shard(())

    def test_n036_tensors(self):
        t = Tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
        s = t.shard(("A", "B"), axis=1, splits=(2, 1))
        self.assertEqual(s.device, ("A", "B"))
        self.assertEqual([p.shape for p in s.shards], [(2, 2), (2, 1)])
        self.assertEqual([p.device for p in s.shards], ["A", "B"])
        self.assertTrue(s.requires_grad)
        with self.assertRaisesRegex(ValueError, "is sharded already, over 2 devices"):
            s.shard(("A", "B"))
        self.assertEqual([p.shape for p in t.shard(("A", "B")).shards], [(2, 3), (2, 3)])

    def test_n037_n035_in_place(self):
        t = Tensor([1.0, 2.0])
        self.assertIs(t.shard_(("A", "B"), axis=0), t)
        self.assertEqual(t.device, ("A", "B"))
        u = Tensor([1.0])
        self.assertIs(u.to_("B"), u)
        self.assertEqual(u.device, "B")

    def test_n034_to(self):
        t = Tensor([1.0, 2.0])
        self.assertIs(t.to(t.device), t)
        self.assertEqual(t.to("B").device, "B")
        self.assertEqual(t.to(("A", "B")).device, ("A", "B"))
        t.grad = Tensor([3.0, 4.0])
        self.assertEqual(t.to("B").grad.device, "B")


class MetadataTest(unittest.TestCase):
    def test_n001_n002_n003_n004_n005_n006_e14(self):
        self.assertEqual(Tensor([[1, 2], [3, 4]]).ndim, 2)
        self.assertEqual(Tensor([[1, 2], [3, 4]]).shape, (2, 2))
        self.assertEqual(Tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]).numel(), 8)
        self.assertEqual(Tensor([5], dtype=torch.int16).element_size(), 2)
        self.assertEqual(Tensor([8, 9], dtype=torch.float32).nbytes(), 8)
        t = Tensor([[4, 5, 6], [7, 8, 9]])
        self.assertEqual((t.size(), t.size(dim=1), t.size(-2)), ((2, 3), 3, 2))
        with self.assertRaises(IndexError):
            t.size(2)
        for dtype in (torch.float64, torch.float32, torch.float16, torch.bfloat16):
            self.assertTrue(Tensor([1], dtype=dtype).is_floating_point())
        self.assertFalse(Tensor([1]).is_floating_point())
        self.assertEqual((Tensor([1]).dtype, Tensor([1.0]).dtype), (torch.int32, torch.float32))
        self.assertEqual(Tensor(3.0).device, "RDU")

    def test_n010_n011_n012_n013_values(self):
        t = Tensor([1, 2, 3, 4])
        self.assertEqual(t.data().tolist(), [1, 2, 3, 4])
        self.assertEqual(t.data().format, "i")
        self.assertEqual(t.tolist(), [1, 2, 3, 4])
        self.assertEqual(str(t.numpy().dtype), "int32")
        self.assertEqual(Tensor([42]).item(), 42)
        self.assertEqual(Tensor([1.5], dtype=torch.bfloat16).numpy().tolist(), [1.5])
        with self.assertRaisesRegex(TypeError, "bfloat16 has no format"):
            Tensor([1.5], dtype=torch.bfloat16).data()
        with self.assertRaisesRegex(ValueError, "item.. needs one element, but shape .2,. has 2"):
            Tensor([1, 2]).item()
        with self.assertRaisesRegex(TypeError, "neither true nor false"):
            bool(Tensor([1]))

    def test_shapes_and_types_come_before_values(self):
        a = Tensor([[1.0, 2.0], [3.0, 4.0]])
        b = (a * 2 + 1).permute(1, 0).contiguous()
        self.assertEqual((b.shape, b.dtype, b.is_realized), ((2, 2), torch.float32, False))
        self.assertEqual((2**a).shape, (2, 2))
        self.assertEqual((1 - a).dtype, torch.float32)
        self.assertEqual((Tensor([1, 2]) / 2).dtype, torch.float32)
        self.assertEqual((Tensor([1]) + 1.5).dtype, torch.float32)
        self.assertEqual((a == a).dtype, torch.bool)
        with self.assertRaises(RuntimeError):
            a @ Tensor([1.0, 2.0, 3.0])
        with self.assertRaisesRegex(AttributeError, "unknown member 'permutte'.*'permute'"):
            a.permutte

    def test_n030_replace_checks(self):
        t = Tensor([1.0, 2.0])
        with self.assertRaisesRegex(ValueError, r"has shape \(2,\), but its new value \(3,\)"):
            t.replace(Tensor([1.0, 2.0, 3.0]))
        with self.assertRaisesRegex(ValueError, "the new value requires a gradient"):
            t.replace(Tensor([1.0, 2.0], requires_grad=True))
        with self.assertRaisesRegex(ValueError, "computed from what requires a gradient"):
            (Tensor([1.0, 2.0], requires_grad=True) * 2).replace(t)
        t.replace(Tensor([1.5, 2.5], dtype=torch.bfloat16))
        self.assertEqual((t.dtype, t.tolist()), (torch.bfloat16, [1.5, 2.5]))

    def test_n031_assign_checks(self):
        t = Tensor([[1.0, 2.0], [3.0, 4.0]])
        self.assertIs(t.assign(t), t)
        for other, what in (
            (Tensor([1.0, 2.0]), r"assign: .* has shape \(2, 2\), but its new value \(2,\)"),
            (Tensor([[1, 2], [3, 4]]), "assign: the tensor is f32, but its new value i32"),
            (Tensor([[1.0, 2], [3, 4]], device="B"), "on device cpu, but its new value on B"),
        ):
            with self.assertRaisesRegex(ValueError, what):
                t.assign(other)
        with self.assertRaisesRegex(ValueError, "the new value requires a gradient"):
            t.assign(Tensor([[1.0, 2], [3, 4]], requires_grad=True))

    def test_n060_n061_n063_backward(self):
        x = Tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
        y = Tensor([1.0, 1.0, 1.0, 1.0])
        (x + y).sum().backward()
        self.assertEqual((x.grad.tolist(), y.grad), ([1.0] * 4, None))
        z = Tensor([2.0], requires_grad=True)
        (z + z).backward()  # one element of rank 1
        self.assertEqual(z.grad.tolist(), [2.0])

    def test_n060_refusals(self):
        x = Tensor([1.0, 2.0], requires_grad=True)
        with self.assertRaisesRegex(ValueError, "more than one element; give a gradient"):
            (x * 2).backward()
        with self.assertRaisesRegex(ValueError, "the gradient is .* of shape 3xf32, .* 2xf32"):
            (x * 2).backward(Tensor([1.0, 2.0, 3.0]))
        with self.assertRaisesRegex(ValueError, "does not require a gradient, and neither does"):
            Tensor([1.0]).sum().backward()
        s = (x * x).sum()
        s.backward(retain_graph=True)
        s.backward()
        with self.assertRaisesRegex(ValueError, "the expressions are forgotten; retain the graph"):
            s.backward()
        with self.assertRaisesRegex(ValueError, "only tensors of floats have one"):
            Tensor([1], requires_grad=True)

    def test_n033_detach_stops_the_gradient(self):
        x = Tensor([1.0, 2.0, 3.0], requires_grad=True)
        (x * x.detach()).sum().backward()
        self.assertEqual(x.grad.tolist(), [1.0, 2.0, 3.0])
        self.assertFalse(x.detach().requires_grad)


if __name__ == "__main__":
    unittest.main()
