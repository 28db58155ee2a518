"""What the command line said: parse_app_args stores it, session.compile and trace_graph read it.

A program that never parses arguments gets the defaults. Keywords of compile win over both."""

# Values that the session asks for by name.
DEFAULTS = {
    "pef_name": None,  # None: the name given to compile
    "output_folder": "out",
    "pef": "",
    "target": None,  # None: SAMBA_TARGET, else sn40l
    "optimization": "o1",
    "precision": None,
    "inference": False,
    "mapping": "section",
    "verbose": False,
    "timing": False,  # count cycles
}

_given = {}


def get(name):
    """The value of a setting: from the command line, else its default."""
    if name not in DEFAULTS:
        raise KeyError(f"there is no setting '{name}'; there is: {', '.join(DEFAULTS)}")
    value = _given.get(name)
    return DEFAULTS[name] if value is None else value


def update(**values):
    """Stores settings; None leaves the default."""
    for name, value in values.items():
        if name not in DEFAULTS:
            raise KeyError(f"there is no setting '{name}'; there is: {', '.join(DEFAULTS)}")
        _given[name] = value


def reset():
    """Forgets what the command line said."""
    _given.clear()
