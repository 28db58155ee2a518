"""The session: compiling a model into a PEF, and running it on the simulated device."""
import os
import re
import sys

import torch

from samba import _samba, onnx, settings
from samba.device_tensors import NO_PEF, DeviceTensors, data_of, values_of
from samba.lazy import LazyParameters
from samba.model_trace import flatten_outputs, trace_model
from samba.names import check_keywords, refuse, unknown
from samba.progress import Progress
from samba.session_extras import SessionExtras
from samba.session_options import (
    KNOWN,
    check_hyperparameters,
    compiler_options,
    notes,
    pef_path,
    section_list,
    type_list,
)
from samba.tensor import DTYPES, SambaTensor

# Hyperparameters by what they set, and the kind of argument that has one.
SHORT_NAMES = {
    "lr": "lr",
    "weight_decay": "weight_decay",
    "momentum": "momentum",
    "p": "dropout_rate",
}
MODES = ("normal", "inorder", "optimal")


def read_pef_info(path):
    """What the PEF at that path says about itself."""
    session = _samba.Session()
    session.load(path)
    described = session.describe()
    info = {k: v for k, v in described.items() if k != "options"}
    info.update(described["options"])
    info["sections"] = len(session.sections())
    info["inputs"] = [t["name"] for t in session.tensors() if t["kind"] == "input"]
    info["outputs"] = [t["name"] for t in session.tensors() if t["kind"] in ("output", "loss")]
    return info


class SambaSession(DeviceTensors, LazyParameters, SessionExtras):
    """SambaSession(pef_path=''): compiles models and runs them. `samba.session` is one that is
    always there; the PEF may come later, with utils.trace_graph."""

    def __init__(self, pef_path=""):
        self._device = _samba.Session(threads=os.cpu_count() or 1)
        self._context = None
        self._tracing = False
        self._seed = None
        self._pef = ""
        self._forget()
        if pef_path:
            self._load(pef_path)

    def _forget(self):
        self._symbols = {}  # name -> what the PEF says of it
        self._tensors = {}  # name -> host tensor of the trace
        self._kinds = {}
        self._optimizers = []
        self._outputs = ()
        self.buffer_dict = {}

    def _load(self, path):
        if not os.path.exists(path):
            raise FileNotFoundError(f"there is no PEF at '{path}'; compile the model first")
        self._forget()
        if settings.get("timing") and not self.timing:
            self._device.close()
            self.timing = True
        self._device.load(path)
        self._pef = path
        self._symbols = {t["name"]: t for t in self._device.tensors()}
        rows = self._device.argins()
        there = {row[key] for row in rows for key in ("name", "group", "kind")}
        self._idle = {name for name, kind in SHORT_NAMES.items() if not {name, kind} & there}
        self._said = set()
        if self._seed is not None:
            self._device.seed(self._seed)

    def reset(self, pef_path=""):
        """Frees the device with all that is on it and forgets the trace; with a path, loads that
        PEF. Tensors on the host stay as they are."""
        self._device.close()
        self._pef = ""
        self._forget()
        if pef_path:
            self._load(pef_path)

    def _compiler(self):
        if self._context is None:
            self._context = _samba.Context()
        return self._context

    # ---- Compiling ----

    def compile(
        self,
        model,
        inputs,
        optimizers=None,
        name="",
        loss_indices=None,
        io_host_memory=None,
        **known,
    ):
        """Traces the forward pass of a model, adds gradients and the steps of the optimizers, and
        writes a PEF. Returns its path, OUT/NAME/NAME.pef.

        model: a module after samba.from_torch_model_. inputs: a tuple of SambaTensors of the right
        shapes, whose values are not read (None is left out), or a dictionary by the names of
        forward's arguments. optimizers: None, one or several of samba.optim, each parameter in one.
        loss_indices: which outputs are losses; None: the float outputs on which no other depends.
        io_host_memory: True: the device reads inputs and writes outputs in the host's memory.
        model.output_tensors are the traced outputs afterwards.

        NotImplementedError: a function of torch that cannot be traced; the text says which, in
        which layer and line. TypeError: an unknown keyword, another optimizer. ValueError: an
        input or output that does not fit."""
        from samba.optim import optimizers_of

        check_keywords("compile", known, KNOWN)
        optimizers = optimizers_of(optimizers)
        if onnx.is_onnx(model):
            return self._compile_onnx(model, optimizers, name, io_host_memory, known)
        inference = known.get("inference")
        inference = settings.get("inference") if inference is None else inference
        if inference:
            optimizers = []
        trains = bool(optimizers) or loss_indices is not None and not inference
        path = pef_path(name, model, known)
        options = compiler_options(known, trains, io_host_memory)
        with Progress(f"compile {os.path.basename(path)}") as progress:
            progress.part("tracing")
            traced = self._trace(model, inputs, optimizers, loss_indices, name, trains, inference)
            if known.get("accumulate_gradients"):
                traced.trace.accumulate_gradients()
            self._write_pef(traced.trace.compile, (path, options, notes(known)), progress)
        model.output_tensors = tuple(traced.outputs)
        return path

    def _write_pef(self, compile, arguments, progress):
        """Calls the compiler. arguments: of compile, with path, options and notes at the end."""
        path, options, _ = arguments[-3:]
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        self.diagnostics = []  # pairs of severity and text
        options["diagnose"] = lambda severity, text: self.diagnostics.append((severity, text))
        options["progress"] = progress.step
        compile(*arguments)

    def _compile_onnx(self, model, optimizers, name, io_host_memory, known):
        """compile of an ONNX model: its weights go into the PEF."""
        if optimizers:
            refuse(
                "training an ONNX model",
                "its weights are no parameters of torch",
                "compile it with samba-compile --training",
            )
        path = pef_path(name or onnx.name_of(model), model, known)
        options = compiler_options(known, False, io_host_memory)
        with onnx.as_file(model) as file, Progress(f"compile {os.path.basename(path)}") as progress:
            arguments = (file, path, options, notes(known))
            self._write_pef(self._compiler().compile, arguments, progress)
        return path

    def _load_onnx(self, model):
        """trace_graph of an ONNX model: nothing is left to send."""
        with onnx.as_file(model) as file:
            record = self._compiler().record(file)
        try:
            self._device.check_trace(record)
        except ValueError as error:
            raise ValueError(f"{self._pef}: the model is not the one of the PEF: {error}") from None
        # The record has the outputs in the order of the model, the PEF in that of its operators.
        declared = re.findall(r'^output "((?:[^"\\]|\\.)*)" = ', str(record), re.MULTILINE)
        place = {name: i for i, name in enumerate(declared)}
        outputs = [s for s in self._symbols.values() if s["kind"] == "output"]
        outputs.sort(key=lambda s: place.get(s["name"], len(place)))
        self._outputs = tuple(
            SambaTensor(shape=s["shape"], dtype=DTYPES[s["dtype"]], name=s["name"]) for s in outputs
        )
        self._tensors = {t.sn_name: t for t in self._outputs}
        self._kinds = {name: "output" for name in self._tensors}
        return self._outputs

    def _trace(self, model, inputs, optimizers, loss_indices, name, trains, evaluate):
        """Traces the model; evaluate: as after model.eval()."""
        modes = {m: m.training for m in model.modules()}
        self._tracing = True
        try:
            if evaluate:
                model.eval()
            return trace_model(
                self._compiler(), model, inputs, optimizers, loss_indices, name, trains
            )
        finally:
            self._tracing = False
            for module, training in modes.items():
                module.training = training

    def load_and_trace(
        self, model, inputs, optim=None, loss_indices=None, pef="", transfer_device=True, mapping=""
    ):
        """What utils.trace_graph does; see there."""
        from samba.optim import optimizers_of

        optimizers = optimizers_of(optim)
        if pef:
            self._load(pef)
        elif not self._device.loaded:
            raise RuntimeError(NO_PEF)
        self._check_mapping(mapping)
        if onnx.is_onnx(model):
            return self._load_onnx(model)
        pef_trains = self._device.describe()["mode"] == "training"
        if not pef_trains:
            optimizers = []
        trains = bool(optimizers) or loss_indices is not None and pef_trains
        modes = [False] if pef_trains else [bool(settings.get("inference"))]
        modes.append(not modes[0])
        failure = None
        for evaluate in modes:
            traced = self._trace(model, inputs, optimizers, loss_indices, "", trains, evaluate)
            try:
                self._device.check_trace(traced.trace)
                break
            except ValueError as error:
                failure = failure or error
        else:
            raise ValueError(
                f"{self._pef}: the model is not the one of the PEF: {failure}"
            ) from None
        self._tensors, self._kinds = traced.tensors, traced.kinds
        self._outputs, self._optimizers = tuple(traced.outputs), optimizers
        self.buffer_dict = {n: t for n, t in self._tensors.items() if self._kinds[n] == "buffer"}
        if loss_indices is None:
            self._remark_losses()
        model.output_tensors = self._outputs
        if transfer_device:
            self.to_device()
        return self._outputs

    def _check_mapping(self, mapping):
        found = self._device.describe()["mapping"]
        if mapping and mapping != found:
            raise ValueError(
                f"the PEF was compiled with mapping '{found}', but '{mapping}' is asked for; "
                "compile it again"
            )

    def _remark_losses(self):
        """Says when nobody chose among several losses: their gradients are added."""
        losses = [name for name, symbol in self._symbols.items() if symbol["kind"] == "loss"]
        if len(losses) > 1:
            text = f"remark: {', '.join(losses)} are losses, since no output depends on them; "
            print(text + "give compile and trace_graph loss_indices=[0] for one", file=sys.stderr)

    def to_device(self):
        """Sends everything that tracing met: inputs that have values, weights, buffers, optimizer
        state."""
        for name, tensor in self._tensors.items():
            if self._kinds[name] == "output" or name not in self._symbols:
                continue
            if self._kinds[name] == "input" and not getattr(tensor, "has_data", True):
                continue
            self._write(name, values_of(tensor))
        for optimizer in self._optimizers:
            self._write_state(optimizer)

    # ---- Running ----

    def run(
        self,
        input_tensors=None,
        output_tensors=(),
        hyperparam_dict=None,
        data_parallel=False,
        reduce_on_rdu=False,
        section_ids=(),
        section_types=(),
        run_until_call_id=None,
        run_from_call_id=None,
        graph_name=None,
        data_parallel_mode="normal",
        train=True,
        *more,
        grad_of_outputs=None,
    ):
        """Runs the sections of the PEF and returns the values of output_tensors as a tuple.

        input_tensors: tensors that are sent before, found by their sn_name; a mapping gives names
        itself. None entries are left out; what is not given keeps its values on the device.
        hyperparam_dict: name or group ('lr', 'momentum', 'weight_decay', 'p') -> number, kept for
        later runs; a group that this PEF has not is left out, with a remark.
        section_ids, section_types: what to run, in this order. run_from_call_id, run_until_call_id:
        calls from (included) to (not included). train=False: dropout is off in this run.
        grad_of_outputs: gradients to begin with, one for each of output_tensors; None leaves one.

        ValueError, before anything runs: an unknown name, a shape or dtype that does not fit, an
        unknown section. RuntimeError: no PEF, an input that never got values, a fault.
        """
        if isinstance(input_tensors, torch.nn.Module):  # some pass the model first
            given = [output_tensors, hyperparam_dict, data_parallel, reduce_on_rdu]
            input_tensors, output_tensors = given[0], given[1] if given[1] is not None else ()
            hyperparam_dict = data_parallel if isinstance(data_parallel, dict) else None
            data_parallel = False
        if data_parallel:
            refuse("data_parallel=True", "there is one device", "leave it at False")
        if data_parallel_mode not in MODES:
            raise ValueError(unknown("data_parallel_mode", data_parallel_mode, MODES))
        if not self._device.loaded:
            raise RuntimeError(NO_PEF)
        inputs = self._inputs(input_tensors)
        outputs = self._output_names(output_tensors)
        request = (
            section_list(section_ids),
            type_list(section_types),
            run_from_call_id,
            run_until_call_id,
            graph_name,
            self._hyperparameters(hyperparam_dict),
            not train,
        )
        self._send_gradients(output_tensors, grad_of_outputs)
        for name, values in inputs:
            self._send(name, values)
        missing = self._device.check(*request)
        if missing is not None:
            raise RuntimeError(
                f"input '{missing}' has never been given values; pass it to run, or transfer it"
            )
        with Progress("run"):
            self._device.run(*request)
        return tuple(self.read_tensor(name) for name in outputs)

    def _send_gradients(self, tensors, gradients):
        """Where the backward pass begins, for outputs in their order."""
        if gradients is None:
            return
        tensors = [tensors] if isinstance(tensors, torch.Tensor) else list(tensors)
        if len(gradients) != len(tensors):
            text = f"grad_of_outputs has {len(gradients)} gradients for {len(tensors)} outputs; "
            raise ValueError(text + "give one for each, or None")
        for tensor, gradient in zip(tensors, gradients):
            if gradient is not None:
                tensor.sn_grad = gradient

    def _hyperparameters(self, values):
        """The hyperparameters to set. A PEF may have none of a kind, as one for inference: programs
        give 'p' or 'lr' all the same, which has no effect and is said once."""
        result = check_hyperparameters(values)
        for name in self._idle.intersection(result):
            del result[name]
            if name not in self._said:
                self._said.add(name)
                text = f"remark: hyperparameter '{name}' has no effect: this PEF has none"
                print(text, file=sys.stderr)
        return result

    def _inputs(self, tensors):
        """(name, host tensor) pairs, checked."""
        if tensors is None:
            return []
        if isinstance(tensors, torch.Tensor):
            tensors = [tensors]
        if hasattr(tensors, "items"):
            pairs = [(self._input_name(key, t), t) for key, t in tensors.items() if t is not None]
        else:
            pairs = [(getattr(t, "_name", ""), t) for t in tensors if t is not None]
        result = []
        for name, tensor in pairs:
            if name not in self._symbols:
                known = [n for n, s in self._symbols.items() if s["kind"] == "input"]
                if not name:
                    raise ValueError(
                        f"an input has no name (sn_name); the PEF has {', '.join(known)}; name it "
                        "with samba.from_torch_tensor(tensor, name=NAME), or give {NAME: tensor}"
                    )
                raise ValueError(unknown("input", name, known))
            result.append((name, self._checked(name, data_of(tensor))))
        return result

    def _input_name(self, key, tensor):
        return key if key in self._symbols else getattr(tensor, "_name", "") or key

    def _output_names(self, tensors):
        if isinstance(tensors, (torch.Tensor, str)):
            tensors = [tensors]
        names = [t if isinstance(t, str) else t._name for t in tensors or () if t is not None]
        for name in names:
            if name not in self._symbols:
                known = [n for n, s in self._symbols.items() if s["kind"] in ("output", "loss")]
                raise ValueError(unknown("output", name, known))
        return names

    # ---- What the PEF has ----

    def get_argin_names(self):
        """Names of all hyperparameters, in the order of the PEF."""
        return self._argins()

    def get_dropout_rate_argin_names(self):
        """Names of the rates of dropout, one for each layer."""
        return self._argins("dropout_rate")

    def get_dropout_seed_argin_names(self):
        """Names of the seeds of dropout, one for each layer."""
        return self._argins("dropout_seed")

    def _argins(self, kind=None):
        from samba.sambacollections import OrderedSet

        rows = self._device.argins()
        return OrderedSet(row["name"] for row in rows if kind in (None, row["kind"]))

    def get_section_types(self):
        """The set of section types in the PEF."""
        return {kind for _, kind in self._device.sections()}

    def get_weight_names(self):
        """Names of all weights, in the order of the PEF."""
        return [n for n, s in self._symbols.items() if s["kind"] == "weight"]

    def get_samba_tensor_by_name(self, name):
        """The traced tensor of a name, on the host; nothing is read from the device. KeyError."""
        found = self._tensors.get(name)
        if found is None:
            raise KeyError(unknown("traced tensor", name, self._tensors))
        return found

    def get_tensors(self, samba_tensors):
        """The device's values of some tensors, as new tensors, in their order."""
        return tuple(self.read_tensor(t._name) for t in samba_tensors)

    def get_tensors_by_name(self, names):
        """The device's values of tensors by name. KeyError with the nearest name."""
        for name in names:
            self._symbol(name)
        return tuple(self.read_tensor(name) for name in names)

    def update_tensor(self, name, tensor):
        """Gives a traced tensor other values, which go to the device at the next to_device(); None
        takes it out of the traced tensors. KeyError for an unknown name."""
        self.get_samba_tensor_by_name(name)
        if tensor is None:
            del self._tensors[name], self._kinds[name]
        else:
            self._tensors[name] = tensor

    # ---- State of the session ----

    @property
    def tracing(self):
        """Is a model being traced? Setting it has no effect between calls: torch computes then."""
        return self._tracing

    @tracing.setter
    def tracing(self, value):
        self._tracing = bool(value)

    def use_static_functional(self):
        """True while functions make symbolic tensors."""
        return self._tracing

    @property
    def pef_path(self):
        return self._pef

    def seed_random_generator(self, seed):
        """The seed of the session's generator, which draws the seeds of dropout."""
        self._seed = int(seed)
        if self._device.loaded:
            self._device.seed(self._seed)

    def reset_random_generator(self):
        """The generator starts again: the same masks follow."""
        if self._device.loaded:
            self._device.seed(None)
            if self._seed is not None:
                self._device.seed(self._seed)

    flatten_outputs = staticmethod(flatten_outputs)
