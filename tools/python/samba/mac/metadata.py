"""What programs tell a compiler about tiles: compile(metadata=...) takes it, and it changes
nothing, since the planner measures what fits."""


class TilingMetadata:
    """How large a tensor was before the program cut it."""

    key = "tiling"

    def __init__(self, original_size=None, **notes):
        self.original_size = None if original_size is None else list(original_size)
        self.notes = notes

    def __repr__(self):
        return f"{type(self).__name__}(original_size={self.original_size})"


class ConvTilingMetadata(TilingMetadata):
    """The same of the input of convolutions."""

    key = "conv_tiling"


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("ConvTilingMetadata", "TilingMetadata"))
