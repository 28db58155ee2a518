"""materialize: a model that was made under lazy parameters, with its values on the host."""
import contextlib

from samba.names import missing_attribute


@contextlib.contextmanager
def materialize(model):
    """Context manager: parameters and buffers without data get their values on the host, and keep
    them. Gives the model itself."""
    for tensor in [*model.parameters(), *model.buffers()]:
        if hasattr(tensor, "materialize_"):
            tensor.materialize_()
    yield model


def __getattr__(name):
    raise missing_attribute(__name__, name, ("materialize",))
