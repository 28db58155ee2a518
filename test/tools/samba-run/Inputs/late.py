"""late.py ROWS SLOTS: a section that adds each row to the same row as it comes out of a buffer,
which passes nothing on before a slot is full. The other path has to hold the rows meanwhile. Prints
the listing; x.npy and y.npy are its input and output."""
import sys

import numpy as np

rows, slots = int(sys.argv[1]), int(sys.argv[2])
part = rows // slots
x = np.arange(rows * 16, dtype="f").reshape(rows, 16)
np.save("x.npy", x)
np.save("y.npy", 2 * x)
print(
    f"""machine "tiny"
symbol "x" {{ kind = input   dims = [{rows}, 16] }}
symbol "y" {{ kind = output  dims = [{rows}, 16] }}
image section late {{
  symbol x dtype=f32 elements={rows * 16}
  symbol y dtype=f32 elements={rows * 16} written=yes
  load lx symbol=x
    output dtype=f32 trips=[{rows} | 16] strides=[16 | 1]
  buffer keep slot_count={slots} slot_elements={part * 16}
    input dtype=f32 trips=[{slots} | {part} | 16] strides=[0 | 16 | 1]
    output dtype=f32 trips=[{slots} | {part} | 16] strides=[0 | 16 | 1]
  compute sum trips=[{rows} | 16]
    input dtype=f32 strides=[0 | 1]
    input dtype=f32 strides=[0 | 1]
    %2 = add f32 %0, %1
    output dtype=f32 strides=[0 | 1]
  store sy symbol=y
    input dtype=f32 trips=[{rows} | 16] strides=[16 | 1]
  stream s0 vector lx.out0 -> keep.in0, sum.in1
  stream s1 vector keep.out0 -> sum.in0
  stream s2 vector sum.out0 -> sy.in0
}}"""
)
