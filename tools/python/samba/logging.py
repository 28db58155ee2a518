"""The logger of the package: warnings and errors go to stderr, more when a program asks for it."""
import logging

samba_logger = logging.getLogger("samba")
if not samba_logger.handlers:
    _handler = logging.StreamHandler()
    _handler.setFormatter(logging.Formatter("%(levelname)s: %(message)s"))
    samba_logger.addHandler(_handler)
    samba_logger.setLevel(logging.WARNING)
    samba_logger.propagate = False


def set_level(level):
    """Sets what is printed: 'debug', 'info', 'warning' or 'error'."""
    levels = ("debug", "info", "warning", "error")
    if str(level).lower() not in levels:
        raise ValueError(f"unknown log level '{level}'; there is: {', '.join(levels)}")
    samba_logger.setLevel(str(level).upper())


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("samba_logger", "set_level"))
