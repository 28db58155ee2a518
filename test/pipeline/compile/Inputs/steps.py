"""steps.py MODEL FOLDER: the passes of samba-to-rdu one process each, all in one process, and all
in one process with a pass that changes every section between them; the PEFs must have the same
bytes."""
import os
import subprocess
import sys

model, folder = sys.argv[1:]
FRONT = [
    "canonicalize",
    "cse",
    "samba-raise-idioms",
    "samba-mixed-precision{preset=mp0}",
    "canonicalize",
    "cse",
    "samba-decompose-composites{target=tiny}",
    "canonicalize",
    "cse",
    "samba-materialize-views",
    "samba-partition-sections{target=tiny opt=o1}",
    "samba-assign-memory",
]
BACK = [
    "samba.section(convert-samba-to-linalg)",
    "samba.section(samba-tile-sections)",
    "samba.section(rdu-verify-mapping)",
    "convert-linalg-to-rdu",
    "rdu.section(rdu-split-programs)",
    "rdu.section(rdu-place)",
    "rdu.section(rdu-route)",
    "rdu.section(rdu-verify-section)",
]


def opt(source, passes, target):
    subprocess.run(
        [
            "samba-opt",
            source,
            "--mlir-print-debuginfo",
            f"--pass-pipeline=builtin.module({','.join(passes)})",
            "-o",
            target,
        ],
        check=True,
    )


def pef(source):
    out = source + ".pef"
    subprocess.run(["samba-translate", "--rdu-to-pef", source, "-o", out], check=True)
    with open(out, "rb") as file:
        return file.read()


def path(name):
    return os.path.join(folder, name)


opt(model, FRONT + BACK, path("whole.mlir"))
opt(model, FRONT, path("step.mlir"))
for step in BACK:
    opt(path("step.mlir"), [step], path("next.mlir"))
    os.replace(path("next.mlir"), path("step.mlir"))
changed = [part for step in BACK for part in (step, "strip-debuginfo")]
opt(model, FRONT + changed, path("changed.mlir"))

whole = pef(path("whole.mlir"))
assert whole == pef(path("step.mlir")), "step by step gives other bytes"
with open(path("whole.mlir"), encoding="utf-8") as first, open(
    path("changed.mlir"), encoding="utf-8"
) as second:
    places = [
        [line for line in file if "site = " in line or " ag = " in line] for file in (first, second)
    ]
assert places[0] and len(places[0]) == len(places[1]), "a pass in between changes the sections"
