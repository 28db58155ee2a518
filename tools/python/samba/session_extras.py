"""Methods of samba.session beside compiling and running: the report, settings, and by name what the
interface has and this machine has not."""
import contextlib
import os

from samba.names import nearest, refuse, unknown

# Fields of setup() and the settings that they are.
FIELDS = {
    "pef": "pef",
    "pef_name": "pef_name",
    "output_folder": "output_folder",
    "mapping": "mapping",
    "inference": "inference",
    "arch": "target",
    "target": "target",
    "precision": "precision",
    "optimization": "optimization",
    "verbose": "verbose",
    "debug": "verbose",
}
# Fields that may have these values only.
FIXED = {
    "data_parallel": (False, None),
    "reduce_on_rdu": (False, None),
    "world_size": (1, None),
    "n_chips": (1, None),
    "distlearn_config": (None,),
}
ONE_GRAPH = "a PEF holds one graph"
ONE_DEVICE = "there is one device and one process"


class Profiler:
    """What samba.session.profiler is while nothing is profiled: events are accepted and dropped."""

    def start_event(self, name):
        """A handle for end_event."""
        return name

    def end_event(self, event):
        """Ends an event."""

    @contextlib.contextmanager
    def event(self, name):
        """The same as a context manager, or as a decorator of a function."""
        yield name

    def __getattr__(self, name):
        known = ("start_event", "end_event", "event")
        raise AttributeError(unknown("member of profiler", name, known))


class SessionExtras:
    """See the top of this file."""

    _timing = False
    _graphs = None

    # ---- What ran ----

    @property
    def timing(self):
        """Whether the device counts cycles beside computing values, which takes longer. Set it
        before the PEF is loaded; measure-performance sets it."""
        return self._timing

    @timing.setter
    def timing(self, value):
        if self._device.loaded and bool(value) != self._timing:
            raise RuntimeError("timing is set before the PEF is loaded; call reset(), then set it")
        if bool(value) != self._timing:
            from samba import _samba

            self._timing = bool(value)
            threads = os.cpu_count() or 1
            self._device = _samba.Session(threads=threads, values_only=not self._timing)

    def report(self):
        """What ran since the PEF was loaded: tables to print or to see in a notebook."""
        from samba.report import Report

        self._need_pef()
        return Report(self._device.report(), self._device.tensors(), self._device.argins())

    def statistics(self):
        """The numbers of report() without its tables, with `seconds` on the machine."""
        self._need_pef()
        figures = self._device.report()
        cycles = figures["cycles"] + figures["launch_cycles"]
        figures["seconds"] = cycles / figures["clock_hz"]
        return figures

    def get_calls(self):
        """The schedule: the section id of each call, in order."""
        self._need_pef()
        return list(self._device.calls())

    def _need_pef(self):
        if not self._device.loaded:
            raise RuntimeError(
                "no PEF loaded; compile the model, then call samba.utils.trace_graph(..., pef=PATH)"
            )

    def __repr__(self):
        state = f"PEF {self.pef_path}" if self._device.loaded else "no PEF"
        return f"<SambaSession, {state}, {len(self._tensors)} traced tensors>"

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        names = [n for n in dir(type(self)) if not n.startswith("_")]
        similar = nearest(name, names)
        hint = f"did you mean '{similar[0]}'? " if similar else ""
        raise AttributeError(f"samba.session has no '{name}'; {hint}there is: {', '.join(names)}")

    # ---- Settings ----

    def setup(self, args):
        """Takes settings from a pydantic model, a dictionary or a Namespace: what the command line
        would have said. ValueError for a field that does not exist or cannot have its value."""
        from samba import settings

        if hasattr(args, "model_dump"):
            values = args.model_dump()
        elif hasattr(args, "dict") and not isinstance(args, dict):
            values = args.dict()
        else:
            values = dict(args) if isinstance(args, dict) else vars(args)
        chosen = {}
        for name, value in values.items():
            if name in FIXED:
                if value not in FIXED[name]:
                    text = f"setup: {name} is {value!r}, but {ONE_DEVICE}; "
                    raise ValueError(text + f"give {FIXED[name][0]!r}")
            elif name not in FIELDS:
                raise ValueError("setup: " + unknown("field", name, [*FIELDS, *FIXED]))
            else:
                chosen[FIELDS[name]] = value
        settings.update(**chosen)
        if chosen.get("pef"):
            self.reset(chosen["pef"])

    @contextlib.contextmanager
    def disable_graphamp(self):
        """Context manager: operators traced inside keep their types under precision mp1 and mp4."""
        from samba import tracing

        tracer = tracing.current()
        if tracer is None:
            yield  # torch computes: there is no precision to keep
            return
        tracer.trace.keep_precision(True)
        try:
            yield
        finally:
            tracer.trace.keep_precision(False)

    @staticmethod
    def _add_directives(directives=None):
        """Context manager: hints for a compiler, which are recorded and change nothing."""
        from samba.directives import op_fusion

        return op_fusion(directives)

    @staticmethod
    def use_legacy_names(use):
        """False is how it is; True: NotImplementedError."""
        if use:
            refuse("use_legacy_names(True)", "names are module paths", "leave it out")

    # ---- Several graphs ----

    def add_graph(self, graph, overwrite=False):
        """Adds a graph (an object with a `name`) to those that compile_multigraph would take, in
        this order. ValueError: the name is taken; with overwrite the new one goes to the end."""
        if self._graphs is None:
            self._graphs = {}
        if graph.name in self._graphs and not overwrite:
            raise ValueError(f"there is a graph '{graph.name}' already; give overwrite=True")
        self._graphs.pop(graph.name, None)
        self._graphs[graph.name] = graph

    @property
    def graphs(self):
        """The names of the graphs that were added, in their order."""
        return list(self._graphs or ())

    def compile_multigraph(self, name="", samba_only=False, **known):
        """Refused: NotImplementedError."""
        refuse("compile_multigraph", ONE_GRAPH, "compile one PEF for each graph")

    def init_multigraph_runtime(self, pef, transfer_device=True):
        """Refused: NotImplementedError."""
        refuse("init_multigraph_runtime", ONE_GRAPH, "use utils.trace_graph")

    # ---- Pinned memory, profilers, processes ----

    def enable_pinned_memory(self):
        """Refused: NotImplementedError."""
        refuse("enable_pinned_memory", "transfers to the simulated device copy", "leave it out")

    def disable_pinned_memory(self):
        """Does nothing: there is none."""

    def use_pinned_memory(self):
        """False."""
        return False

    @property
    def profiler(self):
        """Takes events and drops them: nothing is profiled."""
        return Profiler()

    def samba_profile(self, filename=None):
        """Refused: NotImplementedError."""
        refuse("samba_profile", "there is no profiler", "use samba.session.report() or cProfile")

    def start_samba_profile(self):
        """Refused: NotImplementedError."""
        self.samba_profile()

    def end_samba_profile(self, filename=None):
        """Refused: NotImplementedError."""
        self.samba_profile()

    def start_runtime_profile(self, timer_enabled=True):
        """Does nothing unless ENABLE_RUNTIME_PERF is set; then refused: NotImplementedError."""
        if os.environ.get("ENABLE_RUNTIME_PERF"):
            refuse("start_runtime_profile", "there is no profiler", "use samba.session.report()")

    def end_runtime_profile(self, log_file="cprofile_tmp.log"):
        """Does nothing unless ENABLE_RUNTIME_PERF is set; then refused: NotImplementedError."""
        self.start_runtime_profile()

    @staticmethod
    def use_abexit(func, *args, **kwargs):
        """Refused: NotImplementedError."""
        refuse("use_abexit", ONE_DEVICE, "call the function itself")

    @staticmethod
    def atexit_register(func, *args, **kwargs):
        """Refused: NotImplementedError."""
        refuse("atexit_register", ONE_DEVICE, "use atexit.register")
