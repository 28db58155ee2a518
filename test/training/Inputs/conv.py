"""Gradients of convolutions on compiled PEFs.

conv.py values: compiles a training graph per shape, target and level, and compares all gradients
with NumPy's in f64. conv.py traffic: compiles the weight's gradient alone and measures its DRAM
bytes."""
import itertools
import json
import subprocess
import sys

import numpy as np

RANDOM = np.random.default_rng(5)


class Shape:
    def __init__(self, x, outputs, kernel, stride=1, padding=0, dilation=1, groups=1):
        self.x, self.groups, self.n = x, groups, len(x) - 2
        self.kernel, self.stride, self.padding, self.dilation = (
            list(v) if isinstance(v, (list, tuple)) else [v] * self.n
            for v in (kernel, stride, padding, dilation)
        )
        self.w = [outputs, x[1] // groups, *self.kernel]
        self.y = [x[0], outputs] + [
            (x[2 + i] + 2 * self.padding[i] - self.dilation[i] * (self.kernel[i] - 1) - 1)
            // self.stride[i]
            + 1
            for i in range(self.n)
        ]

    def window(self):
        return (
            f"stride = {self.stride}, padding = {self.padding * 2}, dilation = {self.dilation}, "
            f"groups = {self.groups}"
        )

    def gradients(self, x, w, g):
        """Of x and w, where g flows into the convolution's result."""
        wide = np.zeros([*x.shape[:2]] + [s + 2 * p for s, p in zip(x.shape[2:], self.padding)])
        inner = (slice(None),) * 2 + tuple(
            slice(p, p + s) for s, p in zip(x.shape[2:], self.padding)
        )
        wide[inner] = x
        dwide, dw = np.zeros_like(wide), np.zeros(w.shape)
        c, o = x.shape[1] // self.groups, w.shape[0] // self.groups
        for tap in itertools.product(*map(range, self.kernel)):
            at = tuple(
                slice(t * d, t * d + (q - 1) * s + 1, s)
                for t, d, q, s in zip(tap, self.dilation, self.y[2:], self.stride)
            )
            for group in range(self.groups):
                channels = (slice(None), slice(group * c, group * c + c), *at)
                outputs = slice(group * o, group * o + o)
                flow = g[:, outputs].reshape(len(x), o, -1).astype("f8")
                seen = wide[channels]
                dw[(outputs, slice(None), *tap)] = np.einsum(
                    "noq,ncq->oc", flow, seen.reshape(len(x), c, -1)
                )
                weight = w[(outputs, slice(None), *tap)].astype("f8")
                dwide[channels] += np.einsum("noq,oc->ncq", flow, weight).reshape(seen.shape)
        return dwide[inner], dw


def tensor(dims):
    return "tensor<" + "x".join(map(str, dims)) + "xf32>"


def run(text, target, level, inputs, expected, options=()):
    with open("graph.mlir", "w") as file:
        file.write(text)
    for name, value in {**inputs, **expected}.items():
        np.save(name + ".npy", value.astype("f4"))
    subprocess.run(
        ["samba-compile", "graph.mlir", "-o", "graph.pef", "--target=" + target, level], check=True
    )
    command = ["samba-run", "graph.pef", "--stats=stats.json", "--rel-l2=1e-4"]
    command += ["--rtol=1", "--atol=1e-2"]
    command += [f"--input={name}={name}.npy" for name in inputs]
    command += [f"--expect={name}={name}.npy" for name in expected]
    subprocess.run([*command, *options], check=True, stdout=subprocess.DEVNULL)
    with open("stats.json") as file:
        return json.load(file)


def normal(dims):
    return RANDOM.standard_normal(dims).astype("f4")


def check_values(shape, target, level):
    x, y, w = tensor(shape.x), tensor(shape.y), tensor(shape.w)
    o = shape.w[0]
    # A transposed convolution with strides stores each of its phases apart, and tiny has four
    # address generators.
    whole = target != "tiny" or max(shape.stride) == 1
    text = f"""
func.func @step(
    %x: {x} {{samba.name = "x", samba.kind = "weight", samba.requires_grad = {str(whole).lower()}}},
    %g: {y} {{samba.name = "g", samba.kind = "input"}},
    %w: {w} {{samba.name = "w", samba.kind = "weight", samba.requires_grad = true}},
    %b: {tensor([o])} {{samba.name = "b", samba.kind = "weight", samba.requires_grad = true}})
    -> (tensor<f32> {{samba.name = "loss", samba.kind = "loss"}})
    attributes {{samba.graph = {{mode = "training"}}}} {{
  %y = samba.conv{shape.n}d %x, %w, %b {{{shape.window()}}} : {x}, {w}, {tensor([o])}
  %p = samba.mul %y, %g : {y}, {y}
  %loss = samba.sum %p : {y}
  return %loss : tensor<f32>
}}
"""
    values = {"x": normal(shape.x), "g": normal(shape.y), "w": normal(shape.w), "b": normal([o])}
    dx, dw = shape.gradients(values["x"], values["w"], values["g"])
    db = values["g"].astype("f8").sum(tuple(axis for axis in range(shape.n + 2) if axis != 1))
    expected = {"w__grad": dw, "b__grad": db}
    run(text, target, level, values, {**expected, "x__grad": dx} if whole else expected)


def check_traffic(shape, target):
    x, y, w = tensor(shape.x), tensor(shape.y), tensor(shape.w)
    text = f"""
func.func @gradient(%x: {x} {{samba.name = "x"}}, %g: {y} {{samba.name = "g"}})
    -> ({w} {{samba.name = "dw"}}) {{
  %dw = samba.conv{shape.n}d_weight_gradient %x, %g
      {{kernel_size = {shape.kernel}, {shape.window()}}} : {x}, {y}
  return %dw : {w}
}}
"""
    random = np.random.default_rng(7)  # the same on each machine
    values = {name: random.standard_normal(dims) for name, dims in (("x", shape.x), ("g", shape.y))}
    _, dw = shape.gradients(values["x"], np.zeros(shape.w), values["g"])
    stats = run(text, target, "-O1", values, {"dw": dw}, [f"--output=dw={target}.npy"])
    least = 4 * sum(int(np.prod(dims)) for dims in (shape.x, shape.y, shape.w))
    moved = stats["dram_read_bytes"] + stats["dram_write_bytes"]
    ratio = moved / least
    print(f"{target} {shape.x} {shape.w} {shape.window()}: {moved} bytes, {ratio:.2f} of the least")
    return ratio


SMALL = [
    Shape([2, 3, 9, 8], 5, 3, padding=1),
    Shape([3, 4, 11, 7], 6, [3, 2], stride=[2, 3], padding=[1, 0], groups=2),
    Shape([2, 8, 9, 9], 8, 3, stride=2, padding=2, dilation=2, groups=8),
    Shape([2, 4, 30], 6, 5, stride=3, padding=2),
    Shape([1, 2, 5, 6, 4], 4, 2, stride=[1, 2, 1], padding=1),
]
LARGE = [
    Shape([32, 1, 28, 28], 6, 5, padding=2),
    Shape([32, 6, 14, 14], 16, 5),
    Shape([1, 64, 56, 56], 64, 3, padding=1),
    Shape([4, 64, 14, 14], 64, 3, padding=1),
    Shape([1, 64, 56, 56], 128, 3, stride=2, padding=1),
    Shape([4, 32, 14, 14], 32, 3, padding=1, groups=32),
    Shape([4, 16, 14, 14], 32, 3, padding=1, groups=4),
    Shape([4, 16, 20, 20], 16, 3, padding=2, dilation=2),
    Shape([3, 5, 13, 17], 7, [3, 2], stride=[1, 2], padding=[1, 0]),
    Shape([4, 16, 200], 16, 5, padding=2),
    Shape([2, 4, 8, 10, 12], 8, 3, padding=1),
    Shape([1, 64, 56, 56], 64, 1),
]

if sys.argv[1] == "values":
    for shape in SMALL:
        for target, level in itertools.product(["tiny", "sn40l"], ["-O0", "-O1"]):
            check_values(shape, target, level)
else:
    ratios = []
    for shape in LARGE:
        on = {target: check_traffic(shape, target) for target in ("sn40l", "tiny")}
        ratios += on.values()
        if open("sn40l.npy", "rb").read() != open("tiny.npy", "rb").read():
            sys.exit(f"{shape.x} {shape.w}: tiny's gradient has other bits than sn40l's")
    if max(ratios) > 1.2:
        sys.exit(f"{max(ratios):.2f} times the bytes of operands and result, but 1.2 is the most")
