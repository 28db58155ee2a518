"""The logger of the package: warnings and errors go to stderr, more when a program asks for it."""
import collections
import logging


class Logger(logging.Logger):
    """A logger whose methods take log_limit=N: the same text is printed N times at most."""

    def __init__(self, name, level=logging.NOTSET):
        super().__init__(name, level)
        self.said = collections.Counter()

    def _log(self, level, msg, args, log_limit=None, stacklevel=1, **options):
        if log_limit is not None:
            self.said[level, msg] += 1
            if self.said[level, msg] > log_limit:
                return
        super()._log(level, msg, args, stacklevel=stacklevel + 1, **options)


def make_logger(name):
    """The logger of that name in the tree of loggers, of our class."""
    usual = logging.getLoggerClass()
    logging.setLoggerClass(Logger)
    try:
        return logging.getLogger(name)
    finally:
        logging.setLoggerClass(usual)


samba_logger = make_logger("samba")
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
