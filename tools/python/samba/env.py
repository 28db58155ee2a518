"""Questions about the surroundings of a program, and switches that do nothing here."""
import sys


def use_mock_samba_runtime():
    """False: there is a runtime, and the device behind it computes (it is simulated)."""
    return False


def is_internal():
    """False: no compiler of another kind is there to be asked."""
    return False


def nearest_even(name):
    """A switch of stochastic rounding: says that it changes nothing."""
    text = f"remark: {name} changes nothing: results are rounded to nearest even"
    print(text, file=sys.stderr)


def enable_conv_grad_accum_stoc():
    """Changes nothing, and says so: gradients of convolutions are rounded to nearest even."""
    nearest_even("enable_conv_grad_accum_stoc")


def enable_addbias_grad_accum_stoc():
    """Changes nothing, and says so: gradients of biases are rounded to nearest even."""
    nearest_even("enable_addbias_grad_accum_stoc")


def disable_sgd_stoc():
    """Nothing to switch off: updates are rounded to nearest even."""


NAMES = (
    "disable_sgd_stoc",
    "enable_addbias_grad_accum_stoc",
    "enable_conv_grad_accum_stoc",
    "is_internal",
    "use_mock_samba_runtime",
)


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, NAMES)
