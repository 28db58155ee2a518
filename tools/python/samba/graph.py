"""FwdGraph: a graph of several, as session.add_graph takes it."""


class FwdGraph:
    """The inputs, outputs and name of a graph. It is recorded: several graphs in one PEF are
    refused (session.compile_multigraph)."""

    def __init__(self, inputs, outputs, name=""):
        self.inputs, self.outputs, self.name = inputs, outputs, name

    def __repr__(self):
        return f"<FwdGraph {self.name}>"


def __getattr__(name):
    from samba.names import missing_attribute

    raise missing_attribute(__name__, name, ("FwdGraph",))
