"""check_long.py FIRST SHORT LONG: statistics of runs of 1, 200 and 10,000 steps. Memory and
compiled programs do not grow with the steps; cycles do, and each step takes what the first took."""
import json
import sys

import numpy as np

first, short, long = (json.load(open(path)) for path in sys.argv[1:])
programs = [run["host"]["jit_programs"] for run in (first, short, long)]
assert programs[0] > 0 and programs == [programs[0]] * 3, programs
grown = long["host"]["anon_bytes"] - short["host"]["anon_bytes"]
assert abs(grown) <= 1 << 20, grown
assert long["cycles"] == 10000 * first["cycles"] and short["cycles"] == 200 * first["cycles"]

y = np.load("y.npy")
assert y.shape == (10000, 1, 4, 16)
assert (y == np.load("w.npy")[np.load("i.npy")]).all()
