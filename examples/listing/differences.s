# A chip configuration written by hand. No tensor operator does this. It computes two things for
# each of 16 rows of 32 integers, in one pass over the data: the largest step between neighbours (the
# left neighbour of the first element is 0), and the bits in which any two neighbours differ.
# Assemble and run it like this:
#   samba-objdump --assemble examples/listing/differences.s -o differences.pef
#   samba-run differences.pef --input image=image.npy \
#     --output steps=steps.npy --output bits=bits.npy
machine "tiny"
symbol "image" { kind = input   dtype = i32  dims = [16, 32] }
symbol "steps" { kind = output  dtype = i32  dims = [16] }
symbol "bits"  { kind = output  dtype = i32  dims = [16] }

image section differences {
  symbol image dtype=i32 elements=512
  symbol steps dtype=i32 elements=16 written=yes
  symbol bits  dtype=i32 elements=16 written=yes

  # 4 tokens of 4 rows each, row-major.
  load rows symbol=image
    output dtype=i32 trips=[4 | 4, 32] strides=[128 | 32, 1]

  # Two slots: one is written while the other is read. Each slot is read twice, as it is and one
  # column to the left. There, column = counter - 1 must lie in [0, 31); else the read gives 0.
  buffer tile slot_count=2 slot_elements=128
    input  dtype=i32 trips=[4 | | 4, 32] strides=[0 | | 32, 1]
    output dtype=i32 trips=[4 | | 4, 32] strides=[0 | | 32, 1]
    output dtype=i32 trips=[4 | | 4, 32] strides=[0 | | 32, 1] base=-1 fill=0
      guard constant=-1 limit=31 strides=[0 | | 0, 1]

  # A firing takes one token of each input. The counters are token | row, column. Both reductions
  # run over the columns.
  compute step trips=[4 | 4, 32] reduce=[2]
    input dtype=i32 strides=[0 | 32, 1]
    input dtype=i32 strides=[0 | 32, 1]
    %2 = sub i32 %0, %1
    %3 = abs i32 %2
    %4 = reduce_max i32 %3
    %5 = xor i32 %0, %1
    %6 = reduce_or i32 %5
    output dtype=i32 strides=[0 | 1, 0] value=%4
    output dtype=i32 strides=[0 | 1, 0] value=%6

  store steps symbol=steps
    input dtype=i32 trips=[4 | 4] strides=[4 | 1]
  store bits symbol=bits
    input dtype=i32 trips=[4 | 4] strides=[4 | 1]

  stream s0 vector rows.out0 -> tile.in0
  stream s1 vector tile.out0 -> step.in0
  stream s2 vector tile.out1 -> step.in1
  stream s3 vector step.out0 -> steps.in0
  stream s4 vector step.out1 -> bits.in0
}
