"""What programs use around a session: tracing, comparing, seeds, the command line, data sets."""
import os

from samba.names import missing_attribute

from .compare import assert_close
from .performance import measure_performance, measure_sections
from .trace import init_output_grads, trace_graph, trace_multigraph
from .types import SNType, parse_dtype
from .weight_norm import weight_norm_

NAMES = (
    "SNType",
    "assert_close",
    "get_file_dir",
    "get_rank",
    "get_world_size",
    "init_output_grads",
    "is_main_process",
    "measure_performance",
    "measure_sections",
    "parse_dtype",
    "set_seed",
    "trace_graph",
    "trace_multigraph",
    "weight_norm_",
)
MODULES = ("argparser", "benchmark_acc", "checkpoint", "common", "dataset", "numeric", "pef_utils")
__all__ = list(NAMES)


def set_seed(seed):
    """Sets the seed of Python's, NumPy's, PyTorch's and the session's random generators."""
    import random

    import numpy
    import torch

    import samba

    random.seed(seed)
    numpy.random.seed(seed % 2**32)
    torch.manual_seed(seed)
    samba.session.seed_random_generator(seed)


def get_file_dir(path):
    """The folder of a file, as an absolute path; programs call it with their __file__."""
    return os.path.dirname(os.path.abspath(path))


def get_rank():
    """0: there is one process."""
    return 0


def get_world_size():
    """1: there is one process."""
    return 1


def is_main_process():
    """True: there is one process."""
    return get_rank() == 0


def __getattr__(name):
    if name in MODULES:
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise missing_attribute(__name__, name, NAMES + MODULES)
