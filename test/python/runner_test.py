"""python3 -m samba SCRIPT: imports of other names, arguments, tracebacks (D9 of the contract)."""
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(text))
        return path

    def run_it(self, *words, **environment):
        command = [sys.executable, "-m", "samba", *words]
        env = {**os.environ, **environment}
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, env=env)

    def check(self, text, *words, **environment):
        result = self.run_it(self.write("script.py", text), *words, **environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_d9_other_names_are_the_same_modules(self):
        out = self.check(
            """
            import sambaflow
            import sambaflow.samba as samba
            import sambaflow.samba.utils as utils
            import sambaflow.samba.optim
            from sambaflow import samba as again, __version__ as version
            from sambaflow.samba.utils.argparser import parse_app_args
            from sambaflow.samba.utils.dataset import mnist
            from sambaflow.samba.sambaloader import SambaLoader
            from sambaflow.sambacollections import OrderedSet
            from sambaflow.logging import samba_logger
            from sambaflow.samba.lazy_param import lazy_param
            from sambaflow.samba.materialize import materialize
            import samba.utils
            assert lazy_param is samba.lazy_param
            assert samba is again and utils is samba.utils and version == samba.__version__
            assert sambaflow.samba.optim.SGD is samba.optim.SGD
            import sambaflow.samba.session
            assert type(samba.session).__name__ == "SambaSession", samba.session
            print("fine")
            """
        )
        self.assertEqual(out, "fine\n")

    def test_d9_modules_of_which_nothing_is_there(self):
        out = self.check(
            """
            from sambaflow.samba.schema.snconfig import SNConfig
            from sambaflow.samba.test import TestWithGold
            from sambaflow.samba.utils.tensorboard_debug import dump_accuracy_debug_info
            from sambaflow.samba.utils.trainer.samba import train
            from sambaflow.samba.utils.trainer.torch import train as other
            from sambaflow.samba.profiler import Profiler
            from sambaflow.frameworks.quantized.quantized_linear import QuantizedLinear
            from sambaflow.samba.test import consistency_test
            from sambaflow.mac.metadata import ConvTilingMetadata, TilingMetadata
            from sambaflow.samba.functional.stir import sn_imm, sn_select, sn_zipmapreduce
            from sambaflow.samba.graph import FwdGraph
            from sambaflow.samba.utils.numeric import MAX_BF16_TRUNCATE_NORMAL_REL
            import sambaflow.samba.sn_private as sp
            sp.sn_gather, sp.sn_scatter
            for refused in (
                TestWithGold, dump_accuracy_debug_info, train, other, Profiler, QuantizedLinear
            ):
                try:
                    refused(1, 2)
                except NotImplementedError as error:
                    print(error)
            try:
                from sambaflow.samba.test import TestWithGolf
            except ImportError as error:
                print(error)
            print(SNConfig.__name__)
            """
        )
        for text in (
            "TestWithGold is not supported: files of another machine's results are not read",
            "dump_accuracy_debug_info is not supported: nothing is written for TensorBoard",
            "train is not supported: there is no trainer; call samba.session.run for each batch",
            "train is not supported: there is no trainer; write the loop with torch.optim",
            "did you mean 'TestWithGold'",
            "Profiler is not supported: there is no profiler; use samba.session.report()",
            "QuantizedLinear is not supported: the device has no products of 8-bit integers; "
            "compile the unquantized model; precision 'mp4' computes in bf16",
            "SNConfig",
        ):
            self.assertIn(text, out)

    def test_d9_only_inside_the_runner(self):
        code = (
            "import samba\ntry:\n    import sambaflow\nexcept ModuleNotFoundError:\n    print('no')"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        self.assertEqual(out.stdout, "no\n", out.stderr)

    def test_d9_a_script_sees_itself(self):
        self.write("beside.py", "here = 1\n")
        out = self.check(
            """
            import beside, os, sys
            print(__name__, os.path.basename(__file__), sys.argv[1:], beside.here)
            """,
            "-b",
            "3",
        )
        self.assertEqual(out, "__main__ script.py ['-b', '3'] 1\n")

    def test_exit_status_is_the_scripts(self):
        path = self.write("script.py", "import sys; sys.exit(5)")
        self.assertEqual(self.run_it(path).returncode, 5)

    def test_modules_and_code(self):
        self.write("package.py", "import sys; print(__name__, sys.argv[1:])")
        self.assertEqual(self.run_it("-m", "package", "x").stdout, "__main__ ['x']\n")
        code = "import sambaflow.samba, sys; print(sys.argv)"
        self.assertEqual(self.run_it("-c", code, "x").stdout, "['-c', 'x']\n")

    def test_traceback_ends_at_the_users_line(self):
        text = """
            from sambaflow.samba import optim
            def build():
                return optim.SGD([], lr=0.1)  # no parameters
            def wrong():
                return optim.AdmW
            wrong()
            """
        path = self.write("script.py", text)
        result = self.run_it(path)
        self.assertEqual(result.returncode, 1)
        lines = result.stderr.strip().splitlines()
        self.assertIn("script.py", lines[1])  # the first frame is the user's
        self.assertIn("did you mean 'AdamW'", lines[-2])
        self.assertIn("return optim.AdmW", "".join(lines[-4:-2]))
        self.assertNotIn("__main__.py", result.stderr)
        self.assertIn("SAMBA_TRACEBACK=full", lines[-1])
        full = self.run_it(path, SAMBA_TRACEBACK="full").stderr
        self.assertIn("optim.py", full)

    def test_errors(self):
        for words, text in (
            (["nothing.py"], "error: nothing.py: No such file or directory"),
            ([], "error: no script was given"),
            (["--vers"], "error: unknown option '--vers'"),
            (["-m"], "error: -m needs an argument"),
        ):
            result = self.run_it(*words)
            self.assertEqual(result.returncode, 1)
            self.assertIn(text, result.stderr)
        self.assertIn("samba 0.", self.run_it("--version").stdout)
        self.assertIn("SCRIPT ARGS", self.run_it("--help").stdout)

    def test_misspelt_modules_list_what_exists(self):
        path = self.write("script.py", "import sambaflow.samba.utils.argparse")
        result = self.run_it(path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("did you mean 'argparser'", result.stderr)
        path = self.write("script.py", "from sambaflow.samba.utils import asert_close")
        self.assertIn("did you mean 'assert_close'", self.run_it(path).stderr)

    def test_syntax_errors_point_at_the_script(self):
        path = self.write("script.py", "def f(:\n")
        self.assertIn("script.py", self.run_it(path).stderr)


if __name__ == "__main__":
    unittest.main()
