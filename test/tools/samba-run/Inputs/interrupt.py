"""interrupt.py PEF INPUT: kills runs that save a checkpoint, at times spread over the whole run,
and loads what is there after each. Step by step the weights go down by the same amount, so a mix of
two checkpoints would be seen."""
import json
import os
import subprocess
import sys
import time

import numpy as np

pef, x = sys.argv[1:]
run = ["samba-run", pef, "--input", "x=" + x, "--values-only", "--threads", "1", "--set", "p=0"]
kills = 24


def finish(arguments):
    subprocess.run(run + arguments, check=True, timeout=60)


def state():
    """The step of the checkpoint, which its weights must agree with."""
    finish(["--section-types", "FWD", "--load", "saved", "--output", "w=w.npy"])
    step = json.load(open("saved/checkpoint.json"))["step"]
    w = np.load("w0.npy").astype("d") - step * 0.1 * np.load(x) / 2
    assert abs(np.load("w.npy") - w).max() < 1e-4, (step, np.load("w.npy"), w)
    return step


finish(["--steps", "1", "--save", "saved"])
start = time.monotonic()
finish(["--load", "saved", "--steps", "1", "--save", "saved"])
whole = time.monotonic() - start
steps = [state()]
for n in range(kills):
    process = subprocess.Popen(run + ["--load", "saved", "--steps", "1", "--save", "saved"])
    time.sleep(whole * (0.4 + 0.8 * n / kills))
    process.kill()
    process.wait()
    steps.append(state())
assert all(b - a in (0, 1) for a, b in zip(steps, steps[1:])), steps
print("steps after each kill:", steps)
left = [name for name in os.listdir(".") if name.startswith("saved") and name != "saved"]
print("left beside it:", left)
