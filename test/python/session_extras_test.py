"""Methods of samba.session beside compiling and running: reports, settings, graphs, refusals.

Refused by name: S011, S012, S040, S041, S042's pinned memory, S094, S100, S101, S102, S110 to S121
(S111, S112, S113, S114, S115, S116, S117, S118, S119, S120), S140, S141, S142, U019, U030,
U031, U032, U033, T067, T106, T107, E18."""
import os
import tempfile
import types
import unittest
from unittest import mock

import torch

import samba
from samba import report, settings


def trained(folder, **options):
    """A small model, ready to run."""
    torch.manual_seed(1)
    model = torch.nn.Linear(4, 2)
    samba.from_torch_model_(model)
    inputs = (samba.randn(3, 4, name="x"),)
    optimizer = samba.optim.SGD(model.parameters(), lr=0.1)
    path = samba.session.compile(model, inputs, optimizer, name="m", output_folder=folder)
    return model, inputs, optimizer, path


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(settings.reset)
        self.addCleanup(samba.session.reset)
        self.folder = folder.name


class ReportTest(Case):
    def test_report_of_a_run(self):
        model, inputs, optimizer, path = trained(self.folder)
        outputs = samba.utils.trace_graph(model, inputs, optimizer, pef=path)
        for _ in range(3):
            samba.session.run(inputs, outputs)
        shown = samba.session.report()
        calls = len(samba.session.get_calls())
        self.assertEqual(shown["calls"], 3 * calls)
        self.assertEqual(shown["machine"], "sn40l")
        self.assertEqual({s["type"] for s in shown["sections"]}, {"FWD", "BCKWD", "OPT"})
        self.assertEqual(shown["device_to_host_bytes"], 3 * 3 * 2 * 4)
        text = str(shown)
        for word in ("sn40l", "BCKWD", "weight", "lr", "0.1"):
            self.assertIn(word, text)
        html = shown._repr_html_()
        self.assertEqual(html.count("<table>"), 4)
        self.assertEqual(html.count("<tr>"), html.count("</tr>"))
        with self.assertRaisesRegex(KeyError, "unknown figure 'cycls'; did you mean 'cycles'"):
            shown["cycls"]

    def test_cycles_when_they_are_asked_for(self):
        model, inputs, optimizer, path = trained(self.folder)
        samba.session.timing = True
        self.addCleanup(setattr, samba.session, "timing", False)
        self.addCleanup(samba.session.reset)
        outputs = samba.utils.trace_graph(model, inputs, optimizer, pef=path)
        samba.session.run(inputs, outputs)
        shown = samba.session.report()
        self.assertGreater(shown["cycles"], 0)
        self.assertEqual(shown["cycles"], sum(s["cycles"] for s in shown["sections"]))
        self.assertGreater(shown["seconds"], 0)
        self.assertIn("PCU utilization", str(shown))
        with self.assertRaisesRegex(RuntimeError, "timing is set before the PEF is loaded"):
            samba.session.timing = False
        figures = samba.utils.measure_performance(model, inputs, 3, n_iterations=4)
        self.assertEqual(figures["iterations"], 4)
        self.assertGreater(figures["device_seconds"], 0)
        throughput, latency = figures
        self.assertEqual(latency, figures["device_seconds"])
        self.assertAlmostEqual(throughput * latency, 3)
        rows = samba.utils.measure_sections(model, inputs, n_iterations=2)
        self.assertEqual({kind for _, kind, _ in rows}, {"FWD", "BCKWD", "OPT"})
        self.assertAlmostEqual(sum(cycles for _, _, cycles in rows), figures["cycles"])
        self.assertEqual(samba.utils.measure_sections(model, inputs, 1, 2)[0][:2], rows[0][:2])

    def test_numbers_are_short(self):
        self.assertEqual([report.short(n) for n in (0, 999, 1234567)], ["0", "999", "1.23M"])

    def test_no_pef(self):
        for ask in (samba.session.report, samba.session.statistics, samba.session.get_calls):
            with self.assertRaisesRegex(RuntimeError, "no PEF loaded"):
                ask()
        self.assertIn("no PEF", repr(samba.session))

    def test_measure_performance_refusals(self):
        with self.assertRaisesRegex(TypeError, "unknown keyword 'n_iteration'"):
            samba.utils.measure_performance(None, (), n_iteration=3)
        with self.assertRaisesRegex(ValueError, "n_iterations is 0"):
            samba.utils.measure_performance(None, (), n_iterations=0)
        with self.assertRaisesRegex(NotImplementedError, "several chips"):
            samba.utils.measure_performance(None, (), n_chips=2)


class SetupTest(Case):
    def test_s130_setup(self):
        model, inputs, optimizer, path = trained(self.folder)

        class Settings:  # as pydantic's models
            def model_dump(self):
                return {"pef": path, "inference": False, "world_size": 1}

        samba.session.setup(Settings())
        self.assertEqual(samba.session.pef_path, path)
        samba.session.setup({"mapping": "section", "arch": "tiny"})
        self.assertEqual(settings.get("target"), "tiny")
        samba.session.setup(types.SimpleNamespace(output_folder="elsewhere"))
        self.assertEqual(settings.get("output_folder"), "elsewhere")
        with self.assertRaisesRegex(ValueError, "unknown field 'peff'; did you mean 'pef'"):
            samba.session.setup({"peff": "x"})
        with self.assertRaisesRegex(ValueError, "world_size is 2, but there is one device"):
            samba.session.setup({"world_size": 2})

    def test_s010_graphs_keep_their_order(self):
        session = samba.SambaSession()
        a, b = types.SimpleNamespace(name="a"), types.SimpleNamespace(name="b")
        session.add_graph(a)
        session.add_graph(b)
        with self.assertRaisesRegex(ValueError, "there is a graph 'a' already"):
            session.add_graph(a)
        session.add_graph(a, overwrite=True)
        self.assertEqual(session.graphs, ["b", "a"])

    def test_s030_graphamp_is_left_out_inside(self):
        class Model(torch.nn.Module):
            def __init__(self, keep):
                super().__init__()
                self.first, self.second = torch.nn.Linear(32, 32), torch.nn.Linear(32, 32)
                self.keep = keep

            def forward(self, x):
                x = self.first(x)
                if self.keep:
                    with samba.session.disable_graphamp():
                        return self.second(x)
                return self.second(x)

        x = torch.randn(8, 32)
        errors = []
        for keep in (False, True):
            torch.manual_seed(3)
            model = Model(keep)
            samba.from_torch_model_(model)
            inputs = (samba.from_torch_tensor(x, name="x"),)
            options = {"output_folder": self.folder, "precision": "mp1"}
            path = samba.session.compile(model, inputs, name="p", **options)
            outputs = samba.utils.trace_graph(model, inputs, pef=path)
            (y,) = samba.session.run(inputs, outputs)
            errors.append(samba.utils.assert_close(y, model(x), "y", 1e-1))
        self.assertLess(errors[1], 0.9 * errors[0])  # one product of two is in bf16
        self.assertGreater(errors[1], 1e-5)


class RefusalTest(Case):
    def check(self, function, *words):
        with self.assertRaises(NotImplementedError) as caught:
            function()
        for word in ("is not supported: ", *words):
            self.assertIn(word, str(caught.exception))

    def test_s011_s012_u030_to_u033_several_graphs(self):
        session = samba.session
        self.check(lambda: session.compile_multigraph(name="m"), "one PEF for each graph")
        self.check(lambda: session.init_multigraph_runtime("a.pef"), "utils.trace_graph")
        multigraph = samba.utils.trace_multigraph
        self.check(lambda: multigraph(None, (), trace_prefix="p", mapping=""), "holds one graph")

    def test_s040_s041_t106_t107_t067_pinned_memory(self):
        session = samba.session
        self.check(session.enable_pinned_memory, "simulated device")
        session.disable_pinned_memory()
        self.assertIs(session.use_pinned_memory(), False)
        tensor = samba.ones(2, name="t")
        self.assertIs(tensor.fast_access, False)
        tensor.fast_access = False
        self.check(lambda: setattr(tensor, "fast_access", True), "fast_access")
        self.assertIs(samba.SambaTensor.is_fast_access("t"), False)
        self.assertTrue(tensor.reusable())
        self.assertFalse(samba.ones(2, 3).t().reusable())

    def test_s042_a_loader_gives_names(self):
        from samba.sambaloader import SambaLoader

        dataset = torch.utils.data.TensorDataset(torch.randn(6, 2), torch.arange(6))
        loader = SambaLoader(torch.utils.data.DataLoader(dataset, batch_size=3), ["image", "label"])
        batches = list(loader)
        self.assertEqual((len(loader), len(batches)), (2, 2))
        self.assertEqual([t.sn_name for t in batches[0]], ["image", "label"])
        with self.assertRaisesRegex(ValueError, "a batch has 2 tensors, but 1 names were given"):
            next(iter(SambaLoader(loader.loader, ["image"])))
        with self.assertRaisesRegex(ValueError, "a batch has no 'b'"):
            next(iter(SambaLoader([{"a": torch.ones(1)}], ["b"])))
        (named,) = next(iter(SambaLoader([{"a": torch.ones(1)}], {"a": "x"})))
        self.assertEqual(named.sn_name, "x")
        pairs = [(torch.ones(2), torch.zeros(1))]
        first = SambaLoader(
            pairs, ["x"], function_hook=lambda b: [b[0]], return_original_batch=True
        )
        ((named,), original) = next(iter(first))
        self.assertEqual((named.sn_name, named.tolist()), ("x", [1, 1]))
        self.assertIs(original, pairs[0])
        with self.assertRaisesRegex(TypeError, "SambaLoader: unknown keyword 'nams'"):
            SambaLoader([], [], nams=1)

    def test_s110_to_s121_profilers(self):
        session = samba.session
        self.check(lambda: session.samba_profile("a.json"), "no profiler")
        self.check(session.start_samba_profile, "no profiler")
        self.check(lambda: session.end_samba_profile("a.json"), "no profiler")
        event = session.profiler.start_event("step")
        session.profiler.end_event(event)
        with session.profiler.event("epoch"):
            decorated = session.profiler.event("step")(lambda value: value + 1)
        self.assertEqual([decorated(1), decorated(2)], [2, 3])
        with self.assertRaisesRegex(AttributeError, "unknown member of profiler 'stat_event'"):
            session.profiler.stat_event
        with mock.patch.dict(os.environ, {"ENABLE_RUNTIME_PERF": ""}):
            session.start_runtime_profile(timer_enabled=True)
            session.end_runtime_profile("a.log")
        with mock.patch.dict(os.environ, {"ENABLE_RUNTIME_PERF": "SUMMARY"}):
            self.check(session.start_runtime_profile, "no profiler")
        self.assertFalse(os.path.exists("a.log"))

    def test_s140_s141_s142_processes_and_names(self):
        session = samba.session
        self.check(lambda: session.use_abexit(print), "call the function itself")
        self.check(lambda: session.atexit_register(print), "atexit.register")
        session.use_legacy_names(False)
        self.check(lambda: session.use_legacy_names(True), "module paths")

    def test_s100_s101_s102_e18_data_parallel(self):
        model, inputs, optimizer, path = trained(self.folder)
        trace = samba.utils.trace_graph
        outputs = trace(model, inputs, optimizer, pef=path, data_parallel_mode="optimal")
        self.check(lambda: samba.session.run(inputs, outputs, data_parallel=True), "one device")
        with self.assertRaisesRegex(ValueError, "unknown data_parallel_mode 'fast'.*inorder"):
            samba.session.run(inputs, outputs, data_parallel_mode="fast")
        with self.assertRaisesRegex(ValueError, "unknown data_parallel_mode 'fast'"):
            trace(model, inputs, optimizer, pef=path, data_parallel_mode="fast")

    def test_u017_unknown_mapping(self):
        with self.assertRaisesRegex(ValueError, "unknown mapping 'round'; there is: section"):
            samba.utils.trace_graph(None, (), mapping="round")

    def test_u021_distlearn(self):
        trace = samba.utils.trace_graph
        self.check(lambda: trace(None, (), distlearn_config="x"), "one device")
        with self.assertRaisesRegex(TypeError, "trace_graph: unknown keyword 'pfe'"):
            trace(None, (), pfe="x")

    def test_misspelt_methods_list_what_exists(self):
        with self.assertRaisesRegex(AttributeError, "no 'rnu'; did you mean 'run'"):
            samba.session.rnu
        with self.assertRaisesRegex(AttributeError, "unknown name 'from_torch_modl_'"):
            samba.from_torch_modl_
        with self.assertRaisesRegex(TypeError, "compile: unknown keyword 'precison'.*'precision'"):
            samba.session.compile(None, (), precison="mp1")


if __name__ == "__main__":
    unittest.main()
