"""memory.py: compiling does not copy weights. The largest anonymous memory of samba-compile for a
model with 200 MB of weights stays less than 100 MB above that for the same graph with weights a
hundredth as large."""
import subprocess
import sys
import tempfile
import time

import onnx
from models import mlp


def anonymous(pid):
    """Anonymous memory of a process in MB, 0 when it has ended."""
    try:
        with open(f"/proc/{pid}/status", encoding="utf-8") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("RssAnon:")) / 1024
    except OSError:
        return 0


def largest(width, *flags):
    with tempfile.TemporaryDirectory() as folder:
        model, pef = f"{folder}/model.onnx", f"{folder}/model.pef"
        onnx.save(mlp(16, *[width] * 4), model)
        process, most = subprocess.Popen(["samba-compile", model, "-o", pef, *flags]), 0
        while process.poll() is None:
            most = max(most, anonymous(process.pid))
            time.sleep(0.002)
        if process.returncode:
            sys.exit(f"samba-compile ended with exit code {process.returncode}")
        return most


failed = False
for flags in (
    ["--target=sn40l"],
    ["--target=sn40l", "--precision=mp4"],
    ["--target=sn40l", "--external-weights"],
):
    small, large = largest(408, *flags), largest(4080, *flags)  # 3 weights each: 2 MB and 200 MB
    print(f"{' '.join(flags)}: {large:.0f} MB, {small:.0f} MB for the small model", flush=True)
    failed |= large > small + 100
sys.exit(failed)
