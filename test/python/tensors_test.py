"""SambaTensors on the host: construction, sharing, metadata, types, new tensors, indexing.

The numbers of rows stand in the names of the tests."""
import io
import unittest
import warnings

import numpy
import torch

import samba
from samba.sambatensor import SambaParameter, SambaTensor


class ConstructionTest(unittest.TestCase):
    def test_t001_t003_e13_shares_memory(self):
        array = numpy.array([1.0, 2.0], dtype=numpy.float32)
        tensor = samba.from_torch_tensor(torch.from_numpy(array), name="a")
        array[0] = 9
        self.assertEqual(tensor[0].item(), 9)
        tensor[1] = 5
        self.assertEqual(array[1], 5)
        self.assertEqual(tensor.data_ptr(), array.ctypes.data)

    def test_t002_t004_there_and_back(self):
        host = torch.ones(2)
        tensor = samba.from_torch(host, name="x")
        self.assertIs(samba.from_torch_tensor(tensor), tensor)
        self.assertEqual(samba.to_torch(tensor).data_ptr(), host.data_ptr())
        self.assertIs(type(samba.to_torch(tensor)), torch.Tensor)
        self.assertIs(samba.to_torch(host), host)
        self.assertIsNone(samba.from_torch_tensor(None))
        self.assertIsNone(samba.to_torch(None))
        named = samba.from_named_dict({"a": host, "b": host})
        self.assertEqual([named["a"].sn_name, named["b"].sn_name], ["a", "b"])
        self.assertEqual([t.sn_name for t in samba.from_torch([host, None])[:1]], [""])
        unnamed = samba.from_torch(torch.ones(1))
        self.assertEqual(samba.from_torch_tensor(unnamed, name="late").sn_name, "late")
        self.assertEqual(samba.from_torch_tensor(unnamed, name="other").sn_name, "late")

    def test_t005_t006_t007_empty(self):
        shape = (2, 3)
        made = SambaTensor(torch.empty(shape), name="a")
        bare = SambaTensor(shape=shape, dtype=torch.bfloat16, name="b")
        again = samba.from_torch_tensor(torch.empty(shape), name="c")
        self.assertEqual([tuple(t.shape) for t in (made, bare, again)], [shape] * 3)
        self.assertEqual([t.dtype for t in (made, bare)], [torch.float32, torch.bfloat16])
        self.assertEqual([t.has_data for t in (made, bare, again)], [True, False, True])
        self.assertEqual(SambaTensor(shape=(1 << 20, 1 << 20)).numel(), 1 << 40)
        self.assertEqual(SambaTensor(shape=shape).dtype, torch.float32)

    def test_t005_t011_t012_refusals(self):
        data = torch.ones(2)
        with self.assertRaisesRegex(TypeError, "torch_tensor and shape or dtype"):
            SambaTensor(data, shape=(2,))
        with self.assertRaisesRegex(TypeError, "torch_tensor and shape or dtype"):
            SambaTensor(data, dtype=torch.float32)
        with self.assertRaisesRegex(TypeError, "neither torch_tensor nor shape"):
            SambaTensor()
        with self.assertRaisesRegex(NotImplementedError, "is_complex"):
            SambaTensor(data, is_complex=True)
        with self.assertRaisesRegex(NotImplementedError, "sized_dims"):
            SambaTensor(data, sized_dims=("N",))
        with self.assertRaisesRegex(TypeError, "SambaParameter has no argument 'nmae'"):
            SambaParameter(data, nmae="x")

    def test_t008_t015_t090_t093_names_and_regions(self):
        plain = SambaTensor(torch.ones(1))
        self.assertEqual((plain.sn_name, plain.sn_grad_name), ("", ""))
        first, second = samba.zeros(2, name="t0"), samba.zeros(2, name="t1", region_name="t1_other")
        self.assertEqual((first.sn_region_name, second.sn_region_name), ("t0", "t1_other"))
        first.sn_name = "t3"
        self.assertEqual((first.sn_region_name, first.sn_grad_name), ("t3", "t3__grad"))
        first.sn_region_name = "r"
        self.assertEqual(first.sn_region_name, "r")

    def test_t096_regions_are_not_shared_on_the_host(self):
        first, second = samba.zeros(2, name="a"), samba.zeros(2, name="b", region_name="a")
        first[0] = 1
        self.assertEqual(second.tolist(), [0, 0])

    def test_t009_t010_old_arguments(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            tensor = samba.randn(2, 3, name="x", batch_dim=0, named_dims=("B", "F"))
        self.assertEqual(tuple(tensor.shape), (2, 3))
        self.assertLessEqual(len(caught), 1)
        self.assertTrue(all(w.category is DeprecationWarning for w in caught))

    def test_t021_t022_t023_t024_t025_t026_materializers(self):
        calls = []

        def numbers(shape, dtype, requires_grad):
            calls.append(1)
            return torch.randn(shape).to(dtype)

        tensor = SambaTensor(shape=(4,), dtype=torch.float32, name="m", materializer=numbers)
        self.assertTrue(tensor.materializer_provided)
        self.assertIs(tensor.materializer, numbers)
        self.assertTrue(tensor.torch().is_meta)  # as it is
        first, second = tensor.torch_tensor(), tensor.torch_tensor()
        self.assertFalse(torch.equal(first, second))
        self.assertFalse(tensor.has_data)
        tensor.materialize_()
        kept = tensor.torch_tensor().clone()
        tensor.materialize_()
        self.assertEqual((len(calls), tensor.has_data), (3, True))
        self.assertTrue(torch.equal(tensor.torch_tensor(), kept))
        tensor.clear_data()
        self.assertEqual((tensor.has_data, tuple(tensor.shape)), (False, (4,)))
        tensor.materializer = None
        self.assertFalse(tensor.materializer_provided)
        with self.assertRaisesRegex(RuntimeError, "'m' has no data and no materializer"):
            tensor.materialize_()
        wrong = SambaTensor(shape=(4,), name="w", materializer=lambda s, d, r: torch.ones(3))
        with self.assertRaisesRegex(ValueError, "the materializer of 'w' made .3,."):
            wrong.materialize_()

    def test_t028_e16_as_torch_tensors(self):
        a, b = samba.ones(2, 10, name="a"), samba.ones(2, 10, name="b")
        self.assertEqual((a + b).sum().item(), 40)
        self.assertEqual(tuple(a.reshape(-1, 5).shape), (4, 5))
        self.assertTrue(torch.equal(a.reshape(-1, 5).view(-1), a.view(-1)))
        with self.assertRaises(RuntimeError):
            a.reshape(-1, -1)
        with self.assertRaises(RuntimeError):
            a.reshape(-1, 7)

    def test_t029_t017_functions(self):
        self.assertIsInstance(torch.add(samba.ones(2), samba.ones(2)), SambaTensor)
        self.assertNotIsInstance(torch.add(torch.ones(2), torch.ones(2)), SambaTensor)
        self.assertEqual(samba.add(samba.ones(2), 1).tolist(), [2, 2])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.assertEqual(samba.sigmoid(samba.zeros(1)).tolist(), [0.5])
            self.assertEqual(samba.tanh(samba.zeros(1)).tolist(), [0])
        scores = samba.functional.triu_fill(samba.zeros(3, 3), -1.0)
        self.assertEqual(scores.tolist(), [[0, -1, -1], [0, 0, -1], [0, 0, 0]])
        left, right = torch.randn(2, 3), torch.randn(4, 3)
        got = samba.functional.addmm(torch.ones(4), left, right, beta=2, is_transposed=True)
        self.assertTrue(torch.allclose(got, 2 + left @ right.t()))
        batch, bias = torch.randn(5, 2, 3), torch.randn(4)
        got = samba.functional.addmm(bias, batch, right, is_transposed=True)
        self.assertTrue(torch.allclose(got, bias + batch @ right.t(), atol=1e-6))
        got = samba.functional.addmm(bias, batch, right.t(), beta=2, alpha=0.5)
        self.assertTrue(torch.allclose(got, 2 * bias + 0.5 * batch @ right.t(), atol=1e-6))
        with self.assertRaisesRegex(AttributeError, "no name 'softmx'.*'softmax'"):
            samba.functional.softmx

    def test_t030_factories(self):
        for made, shape, dtype in (
            (samba.randn(5, 10, name="i"), (5, 10), torch.float32),
            (samba.rand((2, 2), name="i"), (2, 2), torch.float32),
            (samba.zeros(3, dtype=torch.int16), (3,), torch.int16),
            (samba.ones(2, 2, dtype=torch.bfloat16), (2, 2), torch.bfloat16),
            (samba.empty(4), (4,), torch.float32),
            (samba.full((2,), 7.0, name="i"), (2,), torch.float32),
            (samba.arange(4, name="i"), (4,), torch.int64),
            (samba.randint(3, (2,)), (2,), torch.int64),
            (samba.randint(1, 3, (2,)), (2,), torch.int64),
        ):
            self.assertIsInstance(made, SambaTensor)
            self.assertEqual((tuple(made.shape), made.dtype), (shape, dtype))

    def test_t031_e11_seeds(self):
        samba.set_seed(1)
        x = samba.randn(2, 2)
        expected = torch.tensor([[0.6614, 0.2669], [0.0617, 0.6213]])
        self.assertTrue(torch.allclose(x, expected, atol=5e-5))
        narrow = torch.tensor([[0.6602, 0.2676], [0.0618, 0.6211]])
        self.assertTrue(torch.allclose(x.bfloat16().float(), narrow, atol=5e-5))
        self.assertTrue(torch.equal(x.to(torch.float64).float(), x))

    def test_checkpoints_hold_plain_tensors(self):
        file = io.BytesIO()
        torch.save({"x": samba.ones(2, name="x")}, file)
        file.seek(0)
        self.assertIs(type(torch.load(file)["x"]), torch.Tensor)

    def test_one_number_is_formatted_as_a_number(self):
        loss = samba.full((), 0.123456, name="loss")
        self.assertEqual(f"{loss:.3f} {loss.sum():5.1f}", "0.123   0.1")
        self.assertEqual("{:d}".format(samba.full((), 7, dtype=torch.int64)), "7")
        self.assertIn("name='x'", f"{samba.ones(2, name='x')}")
        with self.assertRaisesRegex(TypeError, "format"):
            f"{samba.ones(2):.3f}"

    def test_repr_says_what_and_where(self):
        text = repr(SambaTensor(shape=(2, 3), dtype=torch.float16, name="x", region_name="r"))
        for word in ("'x'", "'r'", "(2, 3)", "float16", "no data"):
            self.assertIn(word, text)


class MetadataTest(unittest.TestCase):
    def test_t040_t041_t042_t043_sizes(self):
        t = SambaTensor(shape=(3, 4, 5))
        self.assertEqual((t.dim(), t.ndimension(), t.ndim), (3, 3, 3))
        self.assertEqual(samba.ones(()).dim(), 0)
        self.assertEqual((tuple(t.size()), t.size(dim=1), t.size(-1)), ((3, 4, 5), 4, 5))
        with self.assertRaises(IndexError):
            t.size(3)
        self.assertEqual((t.stride(), t.stride(0)), ((20, 5, 1), 20))
        self.assertEqual(samba.ones(2, 3).t().stride(), (1, 3))
        self.assertEqual((t.numel(), t.nelement(), samba.ones(()).numel()), (60, 60, 1))

    def test_t044_t046_t048_t049_elements(self):
        for dtype, size, is_float in (
            (torch.bfloat16, 2, True),
            (torch.float16, 2, True),
            (torch.float32, 4, True),
            (torch.float64, 8, True),
            (torch.int16, 2, False),
            (torch.int64, 8, False),
            (torch.bool, 1, False),
        ):
            t = samba.zeros(2, dtype=dtype)
            self.assertEqual((t.element_size(), t.is_floating_point()), (size, is_float))
            self.assertEqual((t.dtype, t.device), (dtype, torch.device("cpu")))
        self.assertEqual(SambaTensor(shape=(1,)).device, torch.device("cpu"))

    def test_t045_pointer_of_nothing(self):
        self.assertEqual(SambaTensor(shape=(3,)).data_ptr(), 0)

    def test_t047_item(self):
        self.assertEqual(samba.ones(1).item(), 1.0)
        with self.assertRaises(ValueError):
            samba.ones(2).item()

    def test_t050_t051_data_and_gradient(self):
        t = samba.zeros(2, name="t")
        t.data = torch.tensor([3.0, 4.0])
        self.assertEqual(t.tolist(), [3, 4])
        self.assertIsNone(t.grad)
        t.grad = torch.ones(2)
        self.assertEqual(t.grad.tolist(), [1, 1])

    def test_t052_t073_requires_grad(self):
        t = samba.zeros(2)
        self.assertIs(t.requires_grad_(), t)
        self.assertTrue(t.requires_grad)
        t.requires_grad = False
        self.assertFalse(t.requires_grad)
        with self.assertRaises(RuntimeError):
            samba.zeros(2, dtype=torch.int32).requires_grad_()

    def test_t054_t055_casts(self):
        t = samba.full((2,), 1.5, name="t")
        for name, dtype in (
            ("bfloat16", torch.bfloat16),
            ("float", torch.float32),
            ("bool", torch.bool),
            ("int", torch.int32),
            ("long", torch.int64),
            ("short", torch.int16),
        ):
            self.assertEqual(getattr(t, name)().dtype, dtype)
        self.assertEqual(t.bfloat16().float().sn_name, "t")  # D3
        self.assertIs(t.type(torch.float32), t)

    def test_t055_t056_t057_type(self):
        t = samba.ones(2)
        self.assertEqual(t.type(), "torch.FloatTensor")
        self.assertEqual(t.type("torch.BFloat16Tensor").dtype, torch.bfloat16)
        self.assertEqual(t.type(torch.int16).dtype, torch.int16)
        with self.assertRaisesRegex(NotImplementedError, "non_blocking"):
            t.type(torch.int16, non_blocking=True)
        with self.assertRaisesRegex(ValueError, "there is no type 'torch.NoTensor'"):
            t.type("torch.NoTensor")

    def test_t058_t059_to(self):
        t = samba.ones(2)
        self.assertEqual(t.to(torch.bfloat16).dtype, torch.bfloat16)
        self.assertEqual(t.to(samba.ones(1, dtype=torch.int16)).dtype, torch.int16)
        self.assertEqual(t.to(torch.ones(1, dtype=torch.float64)).dtype, torch.float64)
        self.assertIs(t.type_as(samba.ones(1)), t)
        with self.assertRaisesRegex(NotImplementedError, "use tensor.rdu"):
            t.to("cuda")

    def test_t060_t061_t062_views(self):
        t = samba.arange(6).reshape(2, 3)
        self.assertEqual(t.view_as(torch.ones(3, 2)).tolist(), [[0, 1], [2, 3], [4, 5]])
        with self.assertRaises(RuntimeError):
            t.view_as(torch.ones(4))
        self.assertEqual(t.T.tolist(), [[0, 3], [1, 4], [2, 5]])
        self.assertEqual(tuple(t[None].permute(2, 0, 1).shape), (3, 1, 2))

    def test_t063_t064_t065_t066_e10_new_tensors(self):
        base = samba.ones((), name="b")
        self.assertEqual(base.new_full((2, 3), 5.0).tolist(), [[5.0] * 3] * 2)
        full = base.new_full((2, 3), 5.0, dtype=torch.bfloat16, device="cpu")
        self.assertEqual((full.dtype, full.float().sum().item()), (torch.bfloat16, 30))
        narrow = samba.ones(2, dtype=torch.bfloat16)
        for made, value in ((narrow.new_ones((2, 3)), 6), (narrow.new_zeros([2, 3]), 0)):
            self.assertEqual((made.dtype, made.float().sum().item()), (torch.bfloat16, value))
        self.assertEqual(tuple(narrow.new_empty((4, 5)).shape), (4, 5))

    def test_t068_t069_e08_promotion(self):
        kinds = [torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
        kinds += [torch.float16, torch.bfloat16, torch.float32, torch.float64]
        for one in kinds:
            for other in kinds:
                for shape in ((2,), ()):
                    a, b = samba.ones(2, dtype=one), samba.ones(shape, dtype=other)
                    expected = torch.result_type(samba.to_torch(a), samba.to_torch(b))
                    self.assertEqual(torch.add(a, b).dtype, expected)
        a = samba.from_torch(torch.tensor([1.0, 2.0], dtype=torch.bfloat16))
        got = a + samba.from_torch(torch.tensor([0.1, 0.2]))
        self.assertTrue(torch.allclose(got, torch.tensor([1.1, 2.2]), rtol=1e-7))
        self.assertEqual((samba.ones(2, dtype=torch.int32) / 2).dtype, torch.float32)

    def test_t070_t071_t072_backward(self):
        x = samba.from_torch(torch.tensor([1.0, 2.0, 3.0, 4.0])).requires_grad_()
        x.sum().backward()
        self.assertEqual(x.grad.tolist(), [1] * 4)
        x.sum().backward()
        self.assertEqual(x.grad.tolist(), [2] * 4)
        with self.assertRaises(RuntimeError):
            (x * 2).backward()
        (x * 2).backward(gradient=torch.ones(4))
        self.assertEqual(x.grad.tolist(), [4] * 4)
        y = (x * x).sum()
        y.backward(retain_graph=True)
        y.backward()
        with self.assertRaises(RuntimeError):
            y.backward()


class IndexTest(unittest.TestCase):
    def setUp(self):
        values = [[0.7102, -0.8594, -0.5047], [0.8140, -0.4194, 1.5488]]
        self.t = samba.from_torch(torch.tensor(values), name="t")

    def check(self, got, expected):
        self.assertTrue(torch.equal(samba.to_torch(got), torch.tensor(expected)))

    def test_t080_t081_t082_t083_t085_e09_get(self):
        self.check(self.t[:, 2], [-0.5047, 1.5488])
        self.check(self.t[-1, ::2], [0.8140, 1.5488])
        self.assertEqual(tuple(self.t[5:].shape), (0, 3))
        self.assertEqual(tuple(self.t[None].shape), (1, 2, 3))
        at = samba.from_torch(torch.tensor([0.0, 2.0]), name="at")
        self.check(self.t[None, :, at], [[[0.7102, -0.5047], [0.8140, 1.5488]]])
        self.check(self.t[:, [2, 0]], [[-0.5047, 0.7102], [1.5488, 0.8140]])
        with self.assertRaises(IndexError):
            self.t[2]
        with self.assertRaisesRegex(IndexError, "whole numbers"):
            self.t[samba.full((1,), 0.5)]

    def test_t084_limits(self):
        at = samba.from_torch(torch.tensor([0, 1]))
        with self.assertRaisesRegex(NotImplementedError, "two index tensors"):
            self.t[at, at]
        with self.assertRaisesRegex(NotImplementedError, "2 dimensions, but may have one"):
            self.t[at.reshape(1, 2)]

    def test_t086_t087_t089_set(self):
        z = samba.zeros(2, 3, name="z")
        z[:, 2] = samba.ones(2)
        self.check(z, [[0.0, 0, 1], [0, 0, 1]])
        z[None, :, samba.from_torch(torch.tensor([0.0, 2.0]))] = 2 * samba.ones(1, 2, 2)
        self.check(z, [[2.0, 0, 2], [2, 0, 2]])
        z[0, 1] = 7
        self.check(z, [[2.0, 7, 2], [2, 0, 2]])
        with self.assertRaisesRegex(NotImplementedError, "a list cannot be assigned to"):
            z[[0]] = 1
        twice = samba.zeros(2)
        twice[samba.from_torch(torch.tensor([1, 1]))] = torch.tensor([5.0, 6.0])
        self.check(twice, [0.0, 6.0])

    def test_masks_are_torchs_own(self):
        mask = samba.to_torch(self.t) > 0
        self.assertEqual(self.t[mask].numel(), 3)


if __name__ == "__main__":
    unittest.main()
