"""Where some programs import SambaTensor from."""
from samba.tensor import SambaParameter, SambaTensor  # noqa: F401


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("SambaTensor", "SambaParameter"))
