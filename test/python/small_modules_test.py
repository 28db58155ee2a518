"""Modules that need no device: names, collections, logging, data sets, comparisons."""
import contextlib
import gzip  # noqa: F401
import io
import json
import os
import struct
import tempfile
import unittest

import torch

import samba
from samba import directives, env, logging, names, sambacollections, version
from samba.sambacollections import OrderedSet
from samba.utils import benchmark_acc, pef_utils
from samba.utils.benchmark_acc import AccuracyReport


class NamesTest(unittest.TestCase):
    def test_misspelt_names_list_what_exists(self):
        for module, name, hint in (
            (directives, "op_fusoin", "op_fusion"),
            (env, "use_mock_samba_runtim", "use_mock_samba_runtime"),
            (logging, "sambalogger", "samba_logger"),
            (sambacollections, "OrderdSet", "OrderedSet"),
        ):
            with self.assertRaisesRegex(AttributeError, f"did you mean '{hint}'"):
                getattr(module, name)

    def test_import_from_lists_what_exists(self):
        with self.assertRaisesRegex(ImportError, "did you mean 'OrderedSet'"):
            from samba.sambacollections import OrderdSet  # noqa: F401

    def test_unknown(self):
        text = names.unknown("flag", "--pf", ["--pef", "--json"])
        self.assertEqual(text, "unknown flag '--pf'; did you mean '--pef'? there is: --json, --pef")
        self.assertEqual(names.unknown("flag", "x", []), "unknown flag 'x'; there is: none")

    def test_check_keywords(self):
        names.check_keywords("f", {"a": 1}, ("a", "b"))
        with self.assertRaisesRegex(TypeError, "f: unknown keyword 'c'; there is: a, b"):
            names.check_keywords("f", {"c": 1}, ("a", "b"))

    def test_version_is_that_of_the_tree(self):
        path = os.path.join(os.path.dirname(__file__), "..", "..", "CMakeLists.txt")
        with open(path, encoding="utf-8") as file:
            self.assertIn(f"VERSION {version.__version__} ", file.read())


class CollectionsTest(unittest.TestCase):
    def test_ordered_set(self):
        s = OrderedSet([3, 1, 3, 2])
        self.assertEqual(list(s), [3, 1, 2])
        self.assertEqual(s, {1, 2, 3})
        self.assertNotEqual(s, OrderedSet([1, 2, 3]))
        s.add(9)
        s.discard(1)
        self.assertEqual([s[0], s[-1], len(s)], [3, 9, 3])
        self.assertEqual(list(s.union([7, 3])), [3, 2, 9, 7])
        self.assertEqual(list(s.difference([2])), [3, 9])
        self.assertEqual(list(s | {5}), [3, 2, 9, 5])
        self.assertEqual(list(s.intersection({9, 3})), [3, 9])
        self.assertEqual(repr(s), "OrderedSet([3, 2, 9])")

    def test_ordered_set_of_tensors(self):
        a, b = torch.ones(2), torch.ones(2)
        self.assertIn(a, OrderedSet([a]))
        self.assertNotIn(b, OrderedSet([a]))


class SmallTest(unittest.TestCase):
    def test_mock_runtime(self):
        self.assertIs(env.use_mock_samba_runtime(), False)

    def test_directives_are_recorded(self):
        with directives.op_fusion("name", heuristic="x"):
            pass
        self.assertEqual(directives.recorded[-1], ("op_fusion", ("name",), {"heuristic": "x"}))
        directives.op_fusion("called", "alone")
        self.assertEqual(directives.recorded[-1], ("op_fusion", ("called", "alone"), {}))
        self.assertEqual(directives.op_fusion("decorates")(lambda: 5)(), 5)

    def test_switches_of_stochastic_rounding_say_what_is_done(self):
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            env.enable_conv_grad_accum_stoc()
            env.enable_addbias_grad_accum_stoc()
            env.disable_sgd_stoc()
        self.assertEqual(printed.getvalue().count("rounded to nearest even"), 2)
        self.assertFalse(samba.is_internal())

    def test_log_limit(self):
        with self.assertLogs("samba", "WARNING") as log:
            for _ in range(3):
                logging.samba_logger.warning("said %d time", 1, log_limit=1)
                logging.samba_logger.warning("said always")
        self.assertEqual(log.output.count("WARNING:samba:said 1 time"), 1)
        self.assertEqual(log.output.count("WARNING:samba:said always"), 3)
        self.assertEqual(log.records[0].filename, "small_modules_test.py")

    def test_logger(self):
        self.assertEqual(logging.samba_logger.name, "samba")
        logging.set_level("info")
        self.assertTrue(logging.samba_logger.isEnabledFor(20))
        logging.set_level("warning")
        with self.assertRaisesRegex(ValueError, "unknown log level 'loud'"):
            logging.set_level("loud")

    def test_accuracy_report(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report.json")
            report = AccuracyReport(val_accuracy=torch.tensor(91.5), batch_size=8)
            report.save(path)
            with open(path, encoding="utf-8") as file:
                self.assertEqual(json.load(file), {"val_accuracy": 91.5, "batch_size": 8})
        with self.assertRaisesRegex(TypeError, "AccuracyReport: unknown field 'acc'"):
            benchmark_acc.AccuracyReport(acc=1)

    def test_g011_metadata_has_no_paths(self):
        values = {"lr": 0.1, "pef": "out/a.pef", "sizes": (1, 2), "f": print, "c": {"d": True}}
        metadata = pef_utils.get_pefmeta_dict(values, torch.nn.Linear(1, 1))
        self.assertEqual(metadata, {"c.d": True, "lr": 0.1, "sizes": "1,2", "model": "Linear"})
        self.assertEqual(pef_utils.get_pefmeta(None), {})


class MnistTest(unittest.TestCase):
    def setUp(self):
        try:
            import torchvision  # noqa: F401
        except ImportError:
            self.skipTest("torchvision is not here")

    def write(self, folder, prefix, count):
        raw = os.path.join(folder, "MNIST", "raw")
        os.makedirs(raw, exist_ok=True)
        images = bytes(i % 256 for i in range(count * 784))
        with open(os.path.join(raw, f"{prefix}-images-idx3-ubyte"), "wb") as file:
            file.write(struct.pack(">IIII", 0x803, count, 28, 28) + images)
        with open(os.path.join(raw, f"{prefix}-labels-idx1-ubyte"), "wb") as file:
            file.write(struct.pack(">II", 0x801, count) + bytes(i % 10 for i in range(count)))

    def test_idx_files(self):
        from samba.utils.dataset.mnist import dataset_transform, prepare_dataloader

        with tempfile.TemporaryDirectory() as folder:
            self.write(folder, "train", 10)
            self.write(folder, "t10k", 4)
            args = {"data_folder": folder, "batch_size": 4, "num_features": 800}
            train, test = prepare_dataloader(args)
            self.assertEqual((len(train), len(test)), (2, 1))
            images, labels = next(iter(test))
            self.assertEqual((tuple(images.shape), tuple(labels.shape)), ((4, 800), (4,)))
            self.assertEqual(images[0, 784:].abs().sum().item(), 0)
            self.assertAlmostEqual(images[0, 0].item(), -0.1307 / 0.3081, places=5)
            self.assertIn("Normalize", repr(dataset_transform()))
            with self.assertRaisesRegex(FileNotFoundError, "no MNIST in .*train-images-idx3-ubyte"):
                prepare_dataloader({"data_folder": os.path.join(folder, "x"), "batch_size": 1})
        with self.assertRaisesRegex(ValueError, "num_features is 3, but an image has 784"):
            dataset_transform({"num_features": 3})


if __name__ == "__main__":
    unittest.main()
