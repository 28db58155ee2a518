"""Questions about the surroundings of a program."""


def use_mock_samba_runtime():
    """False: there is a runtime, and the device behind it computes (it is simulated)."""
    return False


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("use_mock_samba_runtime",))
