"""Runs a program that was written for this interface, without touching it.

    python3 -m samba SCRIPT ARGS...     the script sees itself as __main__, with its own sys.argv
    python3 -m samba -m MODULE ARGS...  the same for a module
    python3 -m samba -c CODE ARGS...    the same for a line of code
    python3 -m samba --version

Imports of `sambaflow`, `sambaflow.samba` and below are answered by this package."""
import os
import sys
import traceback

PACKAGE = os.path.dirname(os.path.abspath(__file__))
USAGE = "usage: python3 -m samba [--version] SCRIPT ARGS... | -m MODULE ARGS... | -c CODE ARGS..."


def user_traceback(kind, error, trace):
    """Prints a traceback that begins at the user's script and ends at the user's line.

    Frames of this runner go. Frames inside the package go too when the error came from there:
    SAMBA_TRACEBACK=full shows them."""
    report = traceback.TracebackException(kind, error, trace)
    frames = list(report.stack)
    while frames and is_runner(frames[0].filename):
        del frames[0]
    own = [is_inner(frame.filename) for frame in frames]
    user = [not inner and "/torch/" not in frame.filename for inner, frame in zip(own, frames)]
    last = max((i for i, is_user in enumerate(user) if is_user), default=None)
    cut = last is not None and any(own[last + 1 :]) and os.environ.get("SAMBA_TRACEBACK") != "full"
    if cut:
        frames = frames[: last + 1]
    report.stack = traceback.StackSummary.from_list(frames)
    for line in report.format():
        print(line, end="", file=sys.stderr)
    if cut:
        print("(SAMBA_TRACEBACK=full shows the frames inside samba)", file=sys.stderr)


def is_runner(filename):
    return filename == __file__ or filename.startswith("<frozen")


def is_inner(filename):
    """Whether a frame is this package's, or the import system's."""
    return filename.startswith((PACKAGE + os.sep, "<frozen importlib"))


def script_namespace(name, path):
    """A fresh __main__ module, as Python makes one for a script."""
    import types

    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    return module.__dict__


def run_script(path):
    """Runs a file as __main__; its folder is the first place where it finds modules."""
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        print(f"error: {path}: {error.strerror}", file=sys.stderr)
        return 1
    sys.path[0] = os.path.dirname(os.path.abspath(path))
    exec(compile(source, path, "exec"), script_namespace("__main__", path))
    return 0


def run_module(name):
    import runpy

    sys.path[0] = os.getcwd()
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def run_code(code):
    sys.path[0] = ""
    exec(compile(code, "<string>", "exec"), script_namespace("__main__", None))
    return 0


def run(arguments):
    """Does what the command line asks for; the exit status."""
    if arguments[0] in ("-m", "-c"):
        if len(arguments) < 2:
            print(f"error: {arguments[0]} needs an argument\n{USAGE}", file=sys.stderr)
            return 1
        sys.argv = ["-c"] + arguments[2:] if arguments[0] == "-c" else arguments[1:]
        return (run_code if arguments[0] == "-c" else run_module)(arguments[1])
    sys.argv = arguments
    return run_script(arguments[0])


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--version"]:
        from samba.version import __version__

        print(f"samba {__version__}")
        return 0
    if not arguments or arguments[0] in ("-h", "--help"):
        print(
            __doc__ if arguments else f"error: no script was given\n{USAGE}",
            file=sys.stdout if arguments else sys.stderr,
        )
        return 0 if arguments else 1
    if arguments[0].startswith("-") and arguments[0] not in ("-m", "-c"):
        print(f"error: unknown option '{arguments[0]}'\n{USAGE}", file=sys.stderr)
        return 1
    from samba import aliases

    aliases.install()
    # Also what ends the interpreter later, such as an error in a thread, points at the user.
    sys.excepthook = user_traceback
    return run(arguments)


if __name__ == "__main__":
    sys.exit(main())
