"""Gradients of a head of many classes under cross_entropy, compared with PyTorch's in f64.

classes.py ROWS CLASSES REDUCTION PRECISION LEVEL MOST: the relative error of each gradient, L2, is
MOST at most. The compiled graph multiplies slopes that the forward pass has left.
"""
import subprocess
import sys

import numpy as np
import torch
import torch.nn.functional as F

rows, classes, reduction, precision, level, most = sys.argv[1:]
rows, classes, width, ignored = int(rows), int(classes), 8, 3
torch.manual_seed(5)
x = torch.randn(rows, width)
w1, w2 = torch.randn(width, width) / 2, torch.randn(classes, width)
target = torch.randint(0, classes, (rows,))
target[::7] = ignored
weight = torch.rand(classes) + 0.5
flow = torch.rand(rows) if reduction == "none" else torch.ones(())
if precision != "mp0":  # what differs then is the arithmetic alone
    x, w1, w2, weight = (a.bfloat16().float() for a in (x, w1, w2, weight))

loss = "xf32" if reduction != "none" else f"x{rows}xf32"
loss = f"tensor<{loss[1:]}>"
table = f"tensor<{rows}x{width}xf32>"
model = f"""
func.func @forward(%x: {table} {{samba.name = "x", samba.kind = "input"}},
    %t: tensor<{rows}xi64> {{samba.name = "t", samba.kind = "input"}},
    %c: tensor<{classes}xf32> {{samba.name = "c", samba.kind = "input"}},
    %w1: tensor<{width}x{width}xf32> {{samba.name = "w1", samba.kind = "weight"}},
    %w2: tensor<{classes}x{width}xf32> {{samba.name = "w2", samba.kind = "weight"}})
    -> ({loss} {{samba.name = "loss", samba.kind = "output"}}) {{
  %0 = samba.linear %x, %w1 : {table}, tensor<{width}x{width}xf32>
  %1 = samba.linear %0, %w2 : {table}, tensor<{classes}x{width}xf32>
  %2 = samba.cross_entropy %1, %t, %c {{reduction = "{reduction}", ignore_index = {ignored}}}
      : tensor<{rows}x{classes}xf32>, tensor<{rows}xi64>, tensor<{classes}xf32>
  return %2 : {loss}
}}
"""
open("model.mlir", "w").write(model)
command = ["samba-compile", "model.mlir", "-o", "model.pef", "--training", "--loss", "loss"]
command += ["--precision", precision, f"-O{level[1]}"]
command += ["--mlir-print-ir-after=samba-append-in-place"]
text = subprocess.run(command, check=True, capture_output=True, text=True).stderr
assert "BCKWD" in text and "samba.mul" in text
made = [line for line in text.splitlines() if "samba.mul" in line and f"tensor<{rows}x1x" in line]
assert not any(f"{rows}x{classes}x" in line for line in made), made

inputs = {"x": x, "t": target, "c": weight, "w1": w1, "w2": w2, "loss__grad": flow}
command = ["samba-run", "model.pef", "--values-only"]
for name, value in inputs.items():
    np.save(f"{name}.npy", value.numpy())
    command += ["--input", f"{name}={name}.npy"]
for name in ("loss", "w1__grad", "w2__grad"):
    command += ["--output", f"{name}={name}.out.npy"]
subprocess.run(command, check=True)

w1, w2 = (w.double().requires_grad_() for w in (w1, w2))
expected = F.cross_entropy(
    x.double() @ w1.T @ w2.T, target, weight.double(), ignore_index=ignored, reduction=reduction
)
found = torch.autograd.grad(expected, (w1, w2), flow.double())
for name, value in zip(("loss", "w1__grad", "w2__grad"), (expected.detach(), *found)):
    got = np.load(f"{name}.out.npy").astype("f8")
    error = np.linalg.norm(got - value.numpy()) / np.linalg.norm(value.numpy())
    print(classes, reduction, precision, name, "%.2g" % error)
    assert error <= float(most), (name, error)
