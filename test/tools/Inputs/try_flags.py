"""try_flags.py MODEL: samba-compile takes every flag on standard input, one a line."""
import subprocess
import sys

VALUES = {
    "--mlir-print-ir-after": "=cse",
    "--mlir-print-ir-tree-dir": "=tree",
    "--mlir-pass-pipeline-crash-reproducer": "=crash.mlir",
}
for flag in sys.stdin.read().split():
    command = [
        "samba-compile",
        sys.argv[1],
        "-o",
        "a.pef",
        "--target=tiny",
        flag + VALUES.get(flag, ""),
    ]
    if flag == "--mlir-print-ir-module-scope":
        command.append("--mlir-disable-threading")
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (command, done.stderr[-400:])
