"""Inputs and references for the tests of samba-run: y = 2 * x + bias of
../../samba-objdump/Inputs/scale.s."""
import numpy as np

x = np.random.RandomState(1).rand(4, 16).astype("f")
bias = np.tile(np.arange(1, 17, dtype="f"), (4, 1))
bias[3, :2] = -1.5, 2000
y = (2 * x.astype("d") + bias).astype("f")
np.save("x.npy", x)
np.save("y.npy", y)

# The same tensor as ONNX's TensorProto: dims 4 and 16, FLOAT, raw_data of 256 bytes.
open("x.pb", "wb").write(b"\x08\x04\x08\x10\x10\x01\x4a\x80\x02" + x.tobytes())

np.save("wide.npy", x.astype("d"))
np.save("half.npy", x.astype("e"))
np.save("flat.npy", x.reshape(64))
np.save("whole.npy", x.astype("i4"))

one = y.copy()
one[2, 5] += 0.5  # element 37
np.save("one.npy", one)
np.save("ninth.npy", (y * 1.1).astype("f"))

swapped = y.copy()  # row 0's largest element is its last
swapped[0, [0, 15]] = swapped[0, [15, 0]]
np.save("swapped.npy", swapped)

bad = x.copy()
bad[1, 3] = np.nan
np.save("nan.npy", bad)
