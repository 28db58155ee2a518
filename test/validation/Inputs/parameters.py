"""parameters.py SOURCE: a machine in a user's file is obeyed.

Copies of tiny with one parameter changed compile the same models to the same values; a product
bound by what the parameter slows down takes more cycles, in proportion. A copy with nothing changed
gives tiny's own cycles."""
import sys
import tempfile

import numpy
import onnx
from models import conv, matmul, norms
from samba import compile, machine, statistics, tool

TINY = machine(sys.argv[1], "tiny")


def write_machine(path, **changed):
    rows = ", ".join(
        f"{name} = {{value = {changed.get(name, value)}, assumed}}" for name, value in TINY.items()
    )
    with open(path, "w", encoding="utf-8") as file:
        machine_text = f'#rdu.machine<"mine", base = "tiny", {rows}>'
        file.write(f"module attributes {{rdu.machine = {machine_text}}} {{\n}}\n")


# Bound by arithmetic, by DRAM (8 bytes cross the chip's edge for 16 MACs), by lanes and latency, by
# a bit of each.
MODELS = {
    "arithmetic": matmul(128, 512, 128),
    "memory": matmul(512, 16, 512),
    "lanes": norms(),
    "conv": conv(1, 16, 14, 14, 32, 3, pads=[1, 1, 1, 1]),
}
# (what changed, {model: (least, most) of cycles over tiny's}); by hand: what the parameter halves
# doubles its own share. What is not bound by it may move a little: another mapping is chosen.
CASES = [
    ({}, {name: (1, 1) for name in MODELS}),
    (
        {"hbm_channel_mbps": TINY["hbm_channel_mbps"] // 2},
        {"memory": (1.6, 2.2), "arithmetic": (0.97, 2.2)},
    ),
    ({"hbm_channel_mbps": TINY["hbm_channel_mbps"] * 2}, {"memory": (0.45, 0.8)}),
    ({"systolic_f32_rate": 4}, {"arithmetic": (1.4, 2.5), "conv": (1.02, 2.5)}),
    ({"systolic_rows": 8, "systolic_columns": 8}, {"arithmetic": (1.7, 5)}),
    ({"grid_columns": 8, "tile_columns": 8}, {"arithmetic": (0.4, 0.99)}),
    ({"simd_lanes": 4}, {"lanes": (1.05, 4.5)}),
    ({"clock_hz": TINY["clock_hz"] // 2}, {"memory": (0.45, 0.8)}),
    ({"pmu_bytes": TINY["pmu_bytes"] // 8}, {}),
    ({"hop_cycles": 20}, {"lanes": (1.02, 5)}),
    ({"network": 1}, {"memory": (0.5, 1.01), "arithmetic": (0.5, 1), "lanes": (0.5, 1)}),
]
failures = []
with tempfile.TemporaryDirectory() as folder:
    file, pef, out, mine = (
        f"{folder}/{name}" for name in ("model.onnx", "model.pef", "y.npy", "mine.mlir")
    )
    for name, model in MODELS.items():
        onnx.save(model, file)
        random, given = numpy.random.RandomState(3), []
        for value in model.graph.input:
            numpy.save(
                f"{folder}/{value.name}.npy",
                random.randn(*[d.dim_value for d in value.type.tensor_type.shape.dim]).astype("f"),
            )
            given += ["--input", f"{value.name}={folder}/{value.name}.npy"]

        def run(target):
            compile(file, pef, target)
            tool("samba-run", pef, *given, "--values-only", "--output", f"y={out}")
            return statistics(pef)["cycles"], numpy.load(out)

        cycles, values = run("tiny")
        for changed, wanted in CASES:
            if changed and name not in wanted and name != "conv":
                continue
            write_machine(mine, **changed)
            found, same = run(mine)
            ratio = found / cycles
            least, most = wanted.get(name, (0, 100))
            what = (
                f"{name}: {' '.join(f'{k}={v}' for k, v in changed.items()) or 'nothing changed'}:"
                f" {found:.0f} cycles, {ratio:.3f} of tiny's {cycles:.0f}"
            )
            print(what, flush=True)
            if not least <= ratio <= most:
                failures.append(f"{what}, expected {least} to {most}")
            # The lanes of a machine are the order of its sums (docs/numerics.md); everything else
            # changes no bit.
            close = (
                numpy.allclose(same, values, rtol=1e-5, atol=1e-7)
                if "simd_lanes" in changed
                else (same == values).all()
            )
            if not close:
                failures.append(f"{what}: other values")
if failures:
    sys.exit("\n".join(failures))
