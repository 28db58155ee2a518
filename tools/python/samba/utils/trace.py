"""trace_graph and init_output_grads: from a compiled PEF to a session that is ready to run."""
import torch

from samba.names import check_keywords, refuse, unknown

MODES = ("normal", "inorder", "optimal")
MAPPINGS = ("", "section", "spatial")
IGNORED = ("dev_mode", "app_dir", "squeeze_bs_dim", "get_output_grads", "inference", "verbose")


def trace_graph(
    model,
    inputs,
    optim=None,
    init_output_grads=True,
    loss_indices=None,
    pef="",
    mapping="",
    data_parallel_mode="normal",
    transfer_device=True,
    distlearn_config=None,
    config_dict=None,
    **known,
):
    """Loads the PEF, traces the model again, checks that it is the model of the PEF, and sends
    weights, buffers, optimizer state and ones as gradients of the losses to the device.

    model: the module that was compiled (its parameters from samba.from_torch_model_), an ONNX
        ModelProto, or the path of an ONNX file.
    inputs: tuple or list of SambaTensors as for compile (None is left out), or a dictionary by the
        names of forward's parameters.
    optim: None, one optimizer or several; without one only the forward sections can run.
    init_output_grads: whether gradients of losses start as ones.
    loss_indices: as given to compile.
    pef: path; empty: the PEF of the session, or --pef of the command line.
    mapping: "section" or "spatial", as the PEF was compiled; empty: either.
    transfer_device: False sends nothing; `samba.session.to_device()` does it later.
    Returns the tuple of traced outputs, which model.output_tensors holds as well.

    ValueError: the PEF was compiled from another model (the text has the first difference), an
    unknown mapping or mode, another mapping than the PEF's. FileNotFoundError: there is no such
    PEF. NotImplementedError: distlearn_config."""
    import samba
    from samba import settings

    check_keywords("trace_graph", known, IGNORED)
    if mapping not in MAPPINGS:
        raise ValueError(unknown("mapping", mapping, MAPPINGS[1:]))
    if data_parallel_mode not in MODES:
        raise ValueError(unknown("data_parallel_mode", data_parallel_mode, MODES))
    if distlearn_config is not None:
        refuse("distlearn_config", "there is one device", "leave it at None")
    outputs = samba.session.load_and_trace(
        model,
        inputs,
        optim,
        loss_indices=loss_indices,
        pef=pef or settings.get("pef"),
        transfer_device=transfer_device,
        mapping=mapping,
    )
    if init_output_grads and transfer_device:
        fill_output_grads(outputs)
    return outputs


def trace_multigraph(*args, **kwargs):
    """Refused: a PEF holds one graph."""
    refuse("trace_multigraph", "a PEF holds one graph", "compile one PEF for each graph")


def gradient_of(output):
    """The SambaTensor of an output that is given as such or by its name; ValueError if unknown."""
    import samba

    if not isinstance(output, str):
        return output
    try:
        return samba.session.get_samba_tensor_by_name(output)
    except KeyError as error:
        raise ValueError(f"init_output_grads: {error.args[0]}") from None


def name_of(output):
    return output if isinstance(output, str) else output.sn_name


def fill_output_grads(outputs):
    """Writes ones as the gradient of each output that is a loss."""
    import samba

    for output in outputs:
        if samba.session.has_gradient(name_of(output)):
            tensor = gradient_of(output)
            tensor.sn_grad = torch.ones(tuple(tensor.shape), dtype=tensor.dtype)


def init_output_grads(
    output_tensors,
    unspecified_tensor_grad=(),
    customized_tensors_dict=None,
    is_variable_batch_size=False,
):
    """Writes the gradients with which the backward pass starts.

    output_tensors: outputs, as SambaTensors or names; each that is a loss gets ones.
    unspecified_tensor_grad: further names that get ones.
    customized_tensors_dict: name -> gradient (torch tensor or SambaTensor) in the place of ones.
    ValueError: a name that is no output, an output that is no loss, another shape.
    is_variable_batch_size=True: NotImplementedError."""
    import samba

    if is_variable_batch_size:
        refuse("is_variable_batch_size", "a PEF has one batch size", "leave it at False")
    custom = dict(customized_tensors_dict or {})
    names = [name_of(output) for output in output_tensors] + list(unspecified_tensor_grad)
    for name in custom:
        if name not in names:
            raise ValueError("init_output_grads: " + unknown("output", name, names))
    for output in [*output_tensors, *unspecified_tensor_grad]:
        tensor = gradient_of(output)
        name = name_of(output)
        if not samba.session.has_gradient(name):
            if name in custom or name in unspecified_tensor_grad:
                text = f"init_output_grads: output '{name}' is no loss, so it has no gradient"
                raise ValueError(text)
            continue
        gradient = custom.get(name)
        if gradient is None:
            gradient = torch.ones(tuple(tensor.shape), dtype=tensor.dtype)
        tensor.sn_grad = gradient
