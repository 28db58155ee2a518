"""The command line of a program: compile, run, test, measure-performance, with their flags.

A program adds flags of its own with functions that take the parser. Where it defines a flag that is
here as well, its definition wins. Flags that have no meaning on this machine are accepted, with one
remark each."""
import argparse
import os
import sys

from samba import settings
from samba.names import unknown

COMMANDS = {
    "compile": "trace the model and write a PEF",
    "run": "run a PEF",
    "test": "compare the device with PyTorch",
    "measure-performance": "run a PEF many times and print how long a run takes",
    "measure-sections": "the same, with the time of each section",
}

# Flags of other machines and compilers: (flags, what takes an argument, why it does nothing).
WITHOUT_MEANING = (
    (("--num-tiles",), int, "the compiler uses what the machine has"),
    (("--resources-scaling-factors",), "floats", "the planner measures what fits"),
    (("--graphamp-preset",), str, "the precision is set with --precision"),
    (("--enable-conv-tiling",), None, "convolutions are tiled where they need it"),
    (("--mac-v1",), None, "there is one mapper"),
    (("--mac-v2",), None, "there is one mapper"),
    (("--mac-human-decision",), str, "the planner decides"),
    (("--compiler-configs-file",), str, "the compiler has no such file"),
    (("--use-air-api",), None, "there is one compiler"),
    (("--enable-stoc-rounding",), None, "results are rounded to nearest even"),
    (("--disable-strict-conversion",), None, "conversions are always checked"),
    (("--visualize",), None, "samba-objdump --draw draws sections"),
    (("--log-dir",), str, "the log lies beside the PEF"),
    (("--dump-ir",), None, "samba-opt prints the IR after each pass"),
    (("--enable-hypersection",), None, "calls are launched one after the other"),
    (("--bench-report-json", "--compiled-stats-json"), str, "--json writes the figures"),
    (("--json-counters",), str, "--json writes the figures"),
    (("--resource-report-path",), str, "samba-compile --explain says what a section takes"),
    (("--gold-file-path",), str, "command test compares with PyTorch"),
    (("--num-sections",), int, "all sections are measured"),
    (("--run-graph-only",), None, "a run is always the graph alone"),
    (("--min-duration",), float, "--num-iterations says how often"),
    (("--distlearn-config",), str, "there is one device"),
)


class RemarkAction(argparse.Action):
    """Stores the value, and says that it does nothing."""

    def __init__(self, *args, remark="", **kwargs):
        super().__init__(*args, **kwargs)
        self.remark = remark

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, True if self.nargs == 0 else values)
        remarks = getattr(parser, "remarks", None)
        if remarks is not None:
            remarks.append(f"{option_string} is accepted and changes nothing: {self.remark}")


class Parser(argparse.ArgumentParser):
    """The parser of one command; an unknown flag is answered with those that exist."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, conflict_handler="resolve", **kwargs)
        self.remarks = []

    def flags(self):
        return [flag for action in self._actions for flag in action.option_strings]

    def error(self, message):
        sys.stderr.write(f"error: {message}\nusage: {self.prog} [options]; --help lists them\n")
        sys.exit(1)


def add_system_flags(parser):
    """The flags that every command has."""
    add = parser.add_argument
    group = parser.add_argument_group("samba")
    add = group.add_argument
    add("-b", "--batch-size", type=int, default=1, help="samples in a batch (default 1)")
    add("-p", "--pef", default="", help="the PEF to run")
    add("--pef-name", default=None, help="name of the PEF (default: the name given to compile)")
    add("--output-folder", default="out", help="where PEFs go (default out)")
    add("--inference", action="store_true", help="forward pass only")
    add("--mapping", default="section", choices=("section", "spatial"))
    add("-o0", dest="opt_level", action="store_const", const="o0", help="a section per operator")
    add("-o1", dest="opt_level", action="store_const", const="o1", help="fuse operators (default)")
    add("-o3", dest="opt_level", action="store_const", const="o3", help="search sections")
    add("--arch", default=None, help="the machine, or a file that describes one (default sn40l)")
    add("--precision", default=None, choices=("bf16", "mp1", "mp4"), help="16-bit arithmetic")
    add("--n-chips", type=int, default=1)
    add("--data-parallel", action="store_true", default=False)
    add("-ws", "--world-size", type=int, default=1)
    add("--reduce-on-rdu", action="store_true", default=False)
    add("--data-parallel-mode", default="normal", help="normal: there is one device")
    add("--num-spatial-batches", type=int, default=1)
    add("--num-iterations", type=int, default=100, help="runs that measure-performance takes")
    add("--json", default=None, help="file for the figures of a run")
    add("--acc-report-json", default=None, help="file for the accuracy that a program reaches")
    add("--log-level", default=None, help="debug, info, warning or error")
    add("-v", "--verbose", action="store_true", default=False)
    add("--debug", action="store_true", default=False)
    for flags, takes, remark in WITHOUT_MEANING:
        for flag in flags:
            nargs = {"nargs": 0} if takes is None else {"nargs": "+"} if takes == "floats" else {}
            kind = {"type": float if takes == "floats" else takes} if takes is not None else {}
            group.add_argument(
                flag,
                action=RemarkAction,
                remark=remark,
                default=False if takes is None else None,
                help=argparse.SUPPRESS,
                **nargs,
                **kind,
            )


def parser_of(command, functions, dev_mode):
    """The parser of one command with the flags of the program."""
    program = os.path.basename(sys.argv[0] or "python3 -m samba")
    parser = Parser(prog=f"{program} {command}", description=COMMANDS[command])
    add_system_flags(parser)
    if dev_mode:
        parser.add_argument("--dump-folder", default=None, help=argparse.SUPPRESS)
    for function in functions:
        if function is not None:
            function(parser)
    return parser


def split_command(argv):
    """The command and what else is on the line; the command may stand after flags."""
    for i, word in enumerate(argv):
        if word in COMMANDS:
            return word, argv[:i] + argv[i + 1 :]
    program = os.path.basename(sys.argv[0] or "python3 -m samba")
    words = [word for word in argv if not word.startswith("-")]
    if "-h" in argv or "--help" in argv:
        print(f"usage: {program} COMMAND [options]\n\ncommands (COMMAND --help lists options):")
        print("\n".join(f"  {name:20} {text}" for name, text in COMMANDS.items()))
        sys.exit(0)
    what = unknown("command", words[0], COMMANDS) if words else "a command is missing"
    text = what if words else f"{what}: {', '.join(COMMANDS)}"
    sys.stderr.write(f"error: {text}\nusage: {program} COMMAND [options]\n")
    sys.exit(1)


def parse_app_args(
    argv=None,
    dev_mode=False,
    common_parser_fn=None,
    compile_parser_fn=None,
    test_parser_fn=None,
    run_parser_fn=None,
):
    """Parses the command line of a program.

    argv: the words after the script's name (default: sys.argv[1:]).
    dev_mode: also takes the flags of people who work on the compiler.
    common_parser_fn, compile_parser_fn, test_parser_fn, run_parser_fn: add a program's own flags to
        the argparse.ArgumentParser that they get: for every command, or for one. Without
        test_parser_fn, `test` has the flags of `run`.
    Returns an argparse.Namespace with `command` and all flags. A wrong line ends the program with
    one error and exit status 1. SAMBA_SEED=N sets the seed of all random generators."""
    command, words = split_command(list(sys.argv[1:] if argv is None else argv))
    special = {
        "compile": compile_parser_fn,
        "test": test_parser_fn or run_parser_fn,
    }.get(command, run_parser_fn)
    parser = parser_of(command, (common_parser_fn, special), dev_mode)
    args, rest = parser.parse_known_args(words)
    if rest:
        flags = [word for word in rest if word.startswith("-")]
        parser.error(unknown("flag", (flags or rest)[0], parser.flags()))
    args.command = command
    complete(args)
    for remark in parser.remarks:
        print(f"remark: {remark}", file=sys.stderr)
    remember(args)
    return args


def complete(args):
    """Values that programs read though nobody gives them, and checks of those given."""
    args.opt_level = args.opt_level or "o1"
    for name in ("batch_size", "num_iterations"):
        value = getattr(args, name, None)
        if isinstance(value, int) and value < 1:
            flag = "--" + name.replace("_", "-")
            sys.stderr.write(f"error: {flag} is {value}, but must be at least 1\n")
            sys.exit(1)
    for name, value in (("local_rank", -1), ("rank", 0)):
        if not hasattr(args, name):
            setattr(args, name, value)


def machine_of(arch):
    """The machine that --arch means. Of two generations nothing is published that a machine could
    be described by; programs that name them get sn40l, with a remark."""
    if arch in ("sn20", "sn30"):
        sys.stderr.write(
            f"remark: --arch {arch}: there is no description of that machine; sn40l is used "
            "(--arch FILE takes a description)\n"
        )
        return "sn40l"
    return "sn40l" if arch == "sn40" else arch


def remember(args):
    """Hands to the session what compile and trace_graph do not get as arguments."""
    settings.reset()
    settings.update(
        pef_name=getattr(args, "pef_name", None),
        output_folder=getattr(args, "output_folder", None),
        pef=getattr(args, "pef", None),
        target=machine_of(getattr(args, "arch", None)),
        optimization=args.opt_level,
        precision=getattr(args, "precision", None),
        inference=getattr(args, "inference", None),
        mapping=getattr(args, "mapping", None),
        verbose=getattr(args, "verbose", None) or getattr(args, "debug", None),
        timing=getattr(args, "command", "").startswith("measure"),
    )
    seed = os.environ.get("SAMBA_SEED")
    if seed is not None:
        from samba.utils import set_seed

        try:
            set_seed(int(seed))
        except ValueError:
            sys.stderr.write(f"error: SAMBA_SEED is '{seed}', but must be a whole number\n")
            sys.exit(1)


class SambaConfig:
    """The settings of a program: SambaConfig(args, schema).get_all_params() is a dictionary of all
    that parse_app_args gave. schema: handed on by programs, not read."""

    def __init__(self, args, schema=None):
        self.args, self.schema = args, schema

    def get_all_params(self):
        """Every setting by its name."""
        return dict(vars(self.args))


def parse_yaml_to_args(yaml_path, args):
    """Puts the values of a YAML file into the namespace and returns it.

    Keys are flags without their dashes (`num-epochs` or `num_epochs`); a file with a section named
    after the command uses that section. A key that is no flag: ValueError with the nearest one.
    What the command line gave differently from the default is not overwritten by None."""
    try:
        import yaml
    except ImportError:
        raise ImportError("parse_yaml_to_args needs PyYAML (Debian: python3-yaml)") from None
    with open(yaml_path, encoding="utf-8") as file:
        values = yaml.safe_load(file) or {}
    if not isinstance(values, dict):
        raise ValueError(f"{yaml_path}: expected a mapping of flags, got {type(values).__name__}")
    section = values.get(args.command) if hasattr(args, "command") else None
    if isinstance(section, dict):
        values = section
    for key, value in values.items():
        name = str(key).lstrip("-").replace("-", "_")
        if not hasattr(args, name):
            raise ValueError(f"{yaml_path}: " + unknown("flag", key, vars(args)))
        if value is not None:
            setattr(args, name, value)
    remember(args)
    return args
