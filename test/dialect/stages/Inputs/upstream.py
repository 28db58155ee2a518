"""A network of linalg against NumPy, with upstream's passes between all steps of the way down, on
the graph and inside of sections. Usage: upstream.py WORK_FOLDER MODULE"""
import os
import subprocess
import sys

import numpy as np

PASSES = [
    "canonicalize",
    "cse",
    "linalg-fuse-elementwise-ops",
    "linalg-fold-unit-extent-dims",
    "linalg-generalize-named-ops",
]
EVERYWHERE = ",".join(PASSES + ["canonicalize", "cse"])
STEPS = [
    "samba-enter-linalg",
    "samba-settle-graphs",
    "samba-materialize-views",
    "samba-partition-sections{target=sn40l}",
    "samba-update-in-place",
    "samba-assign-memory",
    "samba.section(convert-samba-to-linalg)",
    "samba.section(samba-tile-sections,rdu-verify-mapping)",
    "convert-linalg-to-rdu",
    "rdu.section(rdu-split-programs,rdu-place,rdu-route,rdu-verify-section)",
]


def pipeline(between, where):
    steps = list(STEPS)
    for at in sorted(where, reverse=True):
        # Sections are isolated: passes on the module stop at them.
        steps.insert(at, between if at < 4 else f"samba.section({between})")
    return "builtin.module(" + ",".join(steps) + ")"


def main():
    work, module = sys.argv[1:]
    module = os.path.abspath(module)
    os.chdir(work)
    random = np.random.default_rng(3)
    x = random.standard_normal((1, 6, 6, 3)).astype("f4")
    w = random.standard_normal((5, 3, 3, 3)).astype("f4")
    v = random.standard_normal((45, 4)).astype("f4")
    padded = np.pad(x.astype("f8"), ((0, 0), (1, 1), (1, 1), (0, 0)))
    conv = np.zeros((1, 3, 3, 5))
    for i in range(3):
        for j in range(3):
            window = padded[:, 2 * i : 2 * i + 3, 2 * j : 2 * j + 3, :]
            conv[:, i, j, :] = np.einsum("nhwc,fhwc->nf", window, w.astype("f8"))
    hidden = np.maximum(conv + np.arange(5) * 0.5, 0)
    logits = hidden.reshape(1, 45) @ v.astype("f8")
    shifted = np.exp(logits - logits.max(1, keepdims=True))
    np.save("x.npy", x)
    np.save("w.npy", w)
    np.save("v.npy", v)
    np.save("y.npy", (shifted / shifted.sum(1, keepdims=True)).astype("f4"))
    np.save("c.npy", logits.argmax(1).astype("i4"))
    np.save("h.npy", hidden[:, 1:, ::2, :].astype("f4"))

    places = [[], [1], [2], [3], [6], [7], [1, 2, 3, 6, 7]]
    ways = [(EVERYWHERE, where) for where in places] + [(one, [1, 3, 7]) for one in PASSES]
    for between, where in ways:
        subprocess.run(
            [
                "samba-opt",
                module,
                "--pass-pipeline=" + pipeline(between, where),
                "-o",
                "units.mlir",
            ],
            check=True,
        )
        subprocess.run(["samba-translate", "--rdu-to-pef", "units.mlir", "-o", "m.pef"], check=True)
        subprocess.run(
            [
                "samba-run",
                "m.pef",
                "--values-only",
                "--input=arg0=x.npy",
                "--input=arg1=w.npy",
                "--input=arg2=v.npy",
                "--expect=out0=y.npy",
                "--expect=out1=h.npy",
                "--expect=out2=c.npy",
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    print(f"{len(ways)} ways give the same values")


main()
