"""The command line of programs: G011, G013."""
import argparse
import contextlib
import io
import os
import tempfile
import unittest
from unittest import mock

from samba import settings
from samba.utils import argparser
from samba.utils.argparser import parse_app_args, parse_yaml_to_args


def quiet(function, *args, **kwargs):
    """(result or exit status, what was printed on stderr and stdout)."""
    err, out = io.StringIO(), io.StringIO()
    with contextlib.redirect_stderr(err), contextlib.redirect_stdout(out):
        try:
            result = function(*args, **kwargs)
        except SystemExit as end:
            result = end.code
    return result, err.getvalue() + out.getvalue()


class ArgparserTest(unittest.TestCase):
    def tearDown(self):
        settings.reset()

    def test_g011_defaults_and_flags(self):
        args = parse_app_args(
            "compile -b 8 --pef-name=net --output-folder=o -o0 --arch tiny".split()
        )
        self.assertEqual((args.command, args.batch_size, args.pef_name), ("compile", 8, "net"))
        self.assertEqual((args.mapping, args.inference, args.opt_level), ("section", False, "o0"))
        self.assertEqual((args.world_size, args.local_rank, args.json), (1, -1, None))
        self.assertIsNone(args.acc_report_json)
        self.assertEqual(settings.get("pef_name"), "net")
        self.assertEqual(settings.get("output_folder"), "o")
        self.assertEqual(settings.get("target"), "tiny")
        self.assertEqual(settings.get("optimization"), "o0")

    def test_g011_machines(self):
        for arch, machine in (("sn40", "sn40l"), ("sn10", "sn10"), ("my.json", "my.json")):
            parse_app_args(["compile", "--arch", arch])
            self.assertEqual(settings.get("target"), machine)
        _, printed = quiet(parse_app_args, ["compile", "--arch", "sn30"])
        self.assertEqual(settings.get("target"), "sn40l")
        self.assertIn("--arch sn30: there is no description of that machine", printed)

    def test_g011_flags_that_programs_read(self):
        args = parse_app_args(["run", "--acc-report-json", "acc.json"])
        self.assertEqual(args.acc_report_json, "acc.json")
        args = parse_app_args(["measure-sections"])
        nothing = (args.acc_report_json, args.num_sections, args.json_counters)
        self.assertEqual((*nothing, args.gold_file_path), (None, None, None, None))
        self.assertEqual(args.data_parallel_mode, "normal")
        self.assertEqual(argparser.SambaConfig(args, object).get_all_params(), vars(args))

    def test_g011_program_flags_win(self):
        def common(parser):
            parser.add_argument("-b", "--batch-size", type=int, default=32)
            parser.add_argument("-n", "--num-iterations", type=int, default=7)
            parser.add_argument("-bs", type=int, default=3)

        args = parse_app_args(["run", "-bs", "4"], common_parser_fn=common)
        self.assertEqual((args.batch_size, args.num_iterations, args.bs), (32, 7, 4))

    def test_g011_functions_of_commands(self):
        def run_flags(parser):
            parser.add_argument("--epochs", type=int, default=1)

        def compile_flags(parser):
            parser.add_argument("--tile", type=int, default=5)

        both = {"run_parser_fn": run_flags, "compile_parser_fn": compile_flags}
        self.assertEqual(parse_app_args(["run"], **both).epochs, 1)
        self.assertEqual(parse_app_args(["test"], **both).epochs, 1)
        self.assertEqual(parse_app_args(["measure-performance"], **both).epochs, 1)
        self.assertEqual(parse_app_args(["compile"], **both).tile, 5)
        self.assertFalse(hasattr(parse_app_args(["compile"], **both), "epochs"))

    def test_g011_flag_without_meaning_is_accepted_with_one_remark(self):
        args, text = quiet(parse_app_args, ["compile", "--num-tiles", "4", "--enable-conv-tiling"])
        self.assertEqual((args.num_tiles, args.enable_conv_tiling), (4, True))
        self.assertEqual(text.count("remark: --num-tiles is accepted and changes nothing"), 1)
        self.assertEqual(text.count("remark: "), 2)
        args, text = quiet(parse_app_args, ["run", "--resources-scaling-factors", "1", "0.8"])
        self.assertEqual(args.resources_scaling_factors, [1.0, 0.8])

    def test_g011_every_flag_is_accepted_by_every_command(self):
        for command in argparser.COMMANDS:
            args, text = quiet(parse_app_args, [command])
            self.assertEqual(args.command, command)
            self.assertNotIn("remark", text)

    def test_g011_errors(self):
        for line, words in (
            ([], ["a command is missing", "compile", "run"]),
            (["complie"], ["unknown command 'complie'", "did you mean 'compile'"]),
            (["run", "--pef-nmae=x"], ["unknown flag", "--pef-name"]),
            (["run", "-b", "0"], ["--batch-size is 0", "at least 1"]),
            (["run", "-b", "many"], ["invalid int value"]),
            (["run", "--mapping", "round"], ["round", "section"]),
        ):
            status, text = quiet(parse_app_args, line)
            self.assertEqual(status, 1, line)
            for word in ["error: ", *words]:
                self.assertIn(word, text)

    def test_g011_help(self):
        status, text = quiet(parse_app_args, ["--help"])
        self.assertEqual(status, 0)
        self.assertIn("measure-performance", text)
        status, text = quiet(parse_app_args, ["compile", "--help"])
        self.assertEqual(status, 0)
        self.assertIn("--output-folder", text)

    def test_g011_seed_of_the_environment(self):
        with mock.patch.dict(os.environ, {"SAMBA_SEED": "x"}):
            status, text = quiet(parse_app_args, ["run"])
        self.assertEqual(status, 1)
        self.assertIn("SAMBA_SEED is 'x', but must be a whole number", text)

    def test_g011_yaml(self):
        def common(parser):
            parser.add_argument("--num-epochs", type=int, default=1)

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "flags.yaml")
            with open(path, "w", encoding="utf-8") as file:
                file.write("num-epochs: 4\nbatch_size: 16\n")
            args = parse_app_args(["run"], common_parser_fn=common)
            args = parse_yaml_to_args(path, args)
            self.assertEqual((args.num_epochs, args.batch_size), (4, 16))
            with open(path, "w", encoding="utf-8") as file:
                file.write("run:\n  pef: a.pef\ncompile:\n  pef: b.pef\n")
            self.assertEqual(parse_yaml_to_args(path, args).pef, "a.pef")
            self.assertEqual(settings.get("pef"), "a.pef")
            with open(path, "w", encoding="utf-8") as file:
                file.write("num-epoch: 4\n")
            with self.assertRaisesRegex(ValueError, "unknown flag 'num-epoch'.*num_epochs"):
                parse_yaml_to_args(path, args)
            with open(path, "w", encoding="utf-8") as file:
                file.write("- 4\n")
            with self.assertRaisesRegex(ValueError, "expected a mapping of flags, got list"):
                parse_yaml_to_args(path, args)

    def test_settings_know_their_names(self):
        with self.assertRaisesRegex(KeyError, "no setting 'targt'"):
            settings.get("targt")
        with self.assertRaisesRegex(KeyError, "no setting 'targt'"):
            settings.update(targt="tiny")

    def test_namespace_is_argparse(self):
        self.assertIsInstance(parse_app_args(["run"]), argparse.Namespace)


if __name__ == "__main__":
    unittest.main()
