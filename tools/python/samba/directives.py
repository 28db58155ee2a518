"""Hints for a compiler about how to place operators. They are recorded, and change nothing here:
the planner measures what fits."""
import contextlib
import sys

recorded = []
_said = set()


def remark(name):
    """Says once for each kind of directive that it has no effect."""
    if name not in _said:
        _said.add(name)
        text = f"remark: directive {name} is recorded and changes nothing: the planner decides"
        print(text, file=sys.stderr)


class op_fusion(contextlib.ContextDecorator):
    """What it is given, or what is inside, belongs together: a call, a context or a decorator.
    Recorded in `directives.recorded`; no effect."""

    def __init__(self, *args, **kwargs):
        name = type(self).__name__
        recorded.append((name, args, dict(kwargs)))
        remark(name)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


class sdpa_directives(op_fusion):
    """The same for attention: sdpa_directives({...})."""


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("op_fusion", "recorded", "sdpa_directives"))
