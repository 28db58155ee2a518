"""Names under which some programs import the parallel patterns of samba.functional."""
from samba.functional.stir import sn_gather, sn_scatter  # noqa: F401
from samba.names import missing_attribute, refuse


def sn_multinomial(probs, pre_generated_randoms):
    """Refused: NotImplementedError."""
    refuse(
        "sn_multinomial",
        "how it takes its numbers is not documented",
        "draw on the host with torch.multinomial, and give the result as an input",
    )


def __getattr__(name):
    raise missing_attribute(__name__, name, ("sn_gather", "sn_multinomial", "sn_scatter"))
