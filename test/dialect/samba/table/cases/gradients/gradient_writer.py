"""Writes calls of operators with the gradients of PyTorch's autograd: what gradients_test reads.

Each family has FAMILY.py here, which prints FAMILY.txt; run by hand after adding operators:
/usr/bin/python3 FAMILY.py > FAMILY.txt (python3-torch). Autograd runs in f64 on the f32 operands.
Format, one item per line, tensors as in ../writer.py: case NAME / attr NAME KIND VALUES.. / in
TENSOR (one per operand) / flow TENSOR or none (the gradient of each result) / grad TENSOR or none
or any (of each operand) / kink, where the function has no derivative / end
"""
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from writer import tensor, write_attributes  # noqa: E402 (the path comes first)


def is_variable(x):
    return isinstance(x, torch.Tensor) and x.is_floating_point()


def line(word, t):
    print(word, "none" if t is None else tensor(t))


def gradients(
    name,
    function,
    operands,
    kink=False,
    flowing=None,
    constant=(),
    flow_dtype=None,
    any_for=(),
    **attributes
):
    """flowing: numbers of the results into which gradients flow, all that have one when None.
    flow_dtype: of the results, when it is not the first operand's. constant: operands that get no
    gradient from the operator, though function would give one. any_for: operands whose gradient is
    not compared with torch's, which has none."""
    variables = [
        x.detach().double().requires_grad_() if is_variable(x) and i not in constant else x
        for i, x in enumerate(operands)
    ]
    wide = [x.double() if is_variable(x) else x for x in variables]
    results = function(*wide)
    results = results if isinstance(results, (tuple, list)) else [results]
    flows = []
    for i, result in enumerate(results):
        flows_here = is_variable(result) and result.requires_grad
        if flows_here and (flowing is None or i in flowing):
            dtype = flow_dtype or next(x.dtype for x in operands if is_variable(x))
            flows.append(torch.randn(result.shape).to(dtype))
        else:
            flows.append(None)
    roots = [result for result, flow in zip(results, flows) if flow is not None]
    leaves = [x for x in variables if is_variable(x) and x.requires_grad]
    found = iter(
        torch.autograd.grad(
            roots, leaves, [f.double() for f in flows if f is not None], allow_unused=True
        )
    )

    print("case", name)
    write_attributes(attributes)
    for operand in operands:
        line("in", operand)
    for flow in flows:
        line("flow", flow)
    for i, (operand, x) in enumerate(zip(operands, variables)):
        g = next(found) if is_variable(x) and x.requires_grad else None
        if i in any_for:
            print("grad any")
        else:
            line("grad", None if g is None else g.to(operand.dtype))
    if kink:
        print("kink")
    print("end")
