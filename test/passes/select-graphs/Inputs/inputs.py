"""inputs.py DIR: x.npy, and what the graphs of basic.mlir make of it."""
import sys

import numpy as np

x = np.linspace(-1, 1, 8, dtype="f4").reshape(2, 4)
once = np.maximum(x, 0) + x
np.save(sys.argv[1] + "/x.npy", x)
np.save(sys.argv[1] + "/nested.npy", (np.maximum(once, 0) + once) * once)
np.save(sys.argv[1] + "/second.npy", np.exp(-x))
