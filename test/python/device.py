"""What tests of the Python package share: a function or model on the device, beside PyTorch."""
import copy
import os
import tempfile

import torch

import samba


class Function(torch.nn.Module):
    """A function of tensors as a module."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *inputs):
        return self.function(*inputs)


def relative(a, b, least=1e-12):
    """The L2 distance of two tensors, as a share of the second one's length or of `least`."""
    a, b = samba.to_torch(a).detach().double(), samba.to_torch(b).detach().double()
    if a.shape != b.shape:
        raise AssertionError(f"shapes {tuple(a.shape)} and {tuple(b.shape)}")
    same = torch.isfinite(a) & torch.isfinite(b)
    odd = ~same & ~((a == b) | (a.isnan() & b.isnan()))
    if bool(odd.any()):
        raise AssertionError("infinities or NaNs differ")
    return float((a - b)[same].norm() / max(float(b[same].norm()), least))


def compile_and_trace(model, inputs, optimizers=None, **options):
    """A session that is ready to run the model; the path of the PEF goes with it."""
    with tempfile.TemporaryDirectory() as folder:
        options.setdefault("output_folder", folder)
        options.setdefault("optimization", "o0")
        path = samba.session.compile(model, inputs, optimizers, name="test", **options)
        loss_indices = options.get("loss_indices")
        outputs = samba.utils.trace_graph(
            model, inputs, optimizers, pef=path, loss_indices=loss_indices
        )
        size = os.path.getsize(path)
    return outputs, size


def check_function(function, inputs, gradients=True, tolerance=1e-5):
    """Runs a function and its gradients on the device; the largest distance from PyTorch's."""
    inputs = [torch.as_tensor(x) for x in inputs]
    model = function if isinstance(function, torch.nn.Module) else Function(function)
    floats = [x.dtype == torch.float32 for x in inputs]
    host = [x.clone().requires_grad_(gradients and f) for x, f in zip(inputs, floats)]
    expected = samba.session.flatten_outputs(model(*host))
    losses = [i for i, y in enumerate(expected) if y.dtype == torch.float32 and y.requires_grad]
    if losses:
        torch.autograd.backward([expected[i].sum() for i in losses])
    named = [samba.from_torch_tensor(x.clone(), name=f"x{i}") for i, x in enumerate(inputs)]
    for x, reference in zip(named, host):
        x.requires_grad_(reference.grad is not None)
    outputs, _ = compile_and_trace(model, named, loss_indices=losses if losses else None)
    got = samba.session.run(named, outputs)
    worst = 0.0
    for index, (device, reference) in enumerate(zip(got, expected)):
        if device.dtype != reference.dtype:
            raise AssertionError(f"output {index} is {device.dtype}, not {reference.dtype}")
        worst = max(worst, relative(device, reference))
    for x, reference in zip(named, host):
        if reference.grad is not None:
            worst = max(worst, relative(x.sn_grad, reference.grad))
    if not worst <= tolerance:
        raise AssertionError(f"distance {worst:.2g} is more than {tolerance:.2g}")
    return worst


def check_inference(model, inputs, tolerance=1e-4):
    """Compiles a model in evaluation mode for inference; its outputs must be PyTorch's."""
    model = copy.deepcopy(model).eval()
    with torch.no_grad():
        expected = samba.session.flatten_outputs(model(*[x.clone() for x in inputs]))
    samba.from_torch_model_(model)
    named = [samba.from_torch_tensor(x.clone(), name=f"x{i}") for i, x in enumerate(inputs)]
    outputs, _ = compile_and_trace(model, named)
    if set(samba.session.get_section_types()) != {"FWD"}:
        raise AssertionError("an inference PEF has more than forward sections")
    got = samba.session.run(named, outputs)
    distances = {f"out{i}": relative(d, e) for i, (d, e) in enumerate(zip(got, expected))}
    bad = {name: d for name, d in distances.items() if not d <= tolerance}
    if bad:
        raise AssertionError(f"inference, more than {tolerance:.2g}: {bad}")


def check_model(model, inputs, tolerance=1e-4, step=True):
    """Trains a model for one step on the device and in PyTorch: outputs, gradients of inputs and
    parameters, new parameters, buffers. The outputs' gradients are random numbers."""
    twin = copy.deepcopy(model)
    floats = [x.dtype == torch.float32 for x in inputs]
    host = [x.clone().requires_grad_(f) for x, f in zip(inputs, floats)]
    reference = torch.optim.SGD(twin.parameters(), lr=0.1) if list(twin.parameters()) else None
    expected = samba.session.flatten_outputs(twin(*host))
    losses = [i for i, y in enumerate(expected) if y.requires_grad]
    generator = torch.Generator().manual_seed(5)
    grads = [torch.randn(tuple(expected[i].shape), generator=generator) for i in losses]
    torch.autograd.backward([expected[i] for i in losses], grads)
    samba.from_torch_model_(model)
    named = [samba.from_torch_tensor(x.clone(), name=f"x{i}") for i, x in enumerate(inputs)]
    for x, h in zip(named, host):
        x.requires_grad_(h.grad is not None)
    optimizer = samba.optim.SGD(model.parameters(), lr=0.1) if reference and step else None
    outputs, _ = compile_and_trace(model, named, optimizer, loss_indices=losses)
    for index, gradient in zip(losses, grads):
        outputs[index].sn_grad = gradient
    got = samba.session.run(named, outputs)
    distances = {f"out{i}": relative(d, e) for i, (d, e) in enumerate(zip(got, expected))}
    for x, h in zip(named, host):
        if h.grad is not None:
            distances[f"{x.sn_name}__grad"] = relative(x.sn_grad, h.grad)
    # A bias before a batch norm has a gradient of nothing but rounding errors.
    lengths = [float(q.grad.norm()) for q in twin.parameters() if q.grad is not None]
    for (name, p), q in zip(model.named_parameters(), twin.parameters()):
        if q.grad is not None:
            least = max(1e-2 * max(lengths), 1e-12)
            distances[f"gradient of {name}"] = relative(p.sn_grad, q.grad, least)
    if optimizer:
        reference.step()
        samba.session.to_cpu(model)
        for (name, p), q in zip(model.named_parameters(), twin.parameters()):
            distances[name] = relative(p, q)
    samba.session.sync_buffers_to_cpu(model)
    for (name, p), q in zip(model.named_buffers(), twin.buffers()):
        distances[name] = relative(p, q)
    bad = {name: d for name, d in distances.items() if not d <= tolerance}
    if bad:
        raise AssertionError(f"more than {tolerance:.2g}: {bad}")
    return max(distances.values())
