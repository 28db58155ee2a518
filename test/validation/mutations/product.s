# Written by hand, to be changed: c = d + a b, with a 32 x 64 and b 64 x 48, in tiles of 16 x 16 on
# one systolic array. The PMUs send both operands k step by k step, and send them again for every
# tile that needs them. The sums of a tile start at d and go on over two tokens of 32 k steps.
machine "tiny"
symbol "a" { kind = input   dtype = f32  dims = [32, 64] }
symbol "b" { kind = input   dtype = f32  dims = [64, 48] }
symbol "d" { kind = input   dtype = f32  dims = [32, 48] }
symbol "c" { kind = output  dtype = f32  dims = [32, 48] }

image section product {
  symbol a dtype=f32 elements=2048
  symbol b dtype=f32 elements=3072
  symbol d dtype=f32 elements=1536
  symbol c dtype=f32 elements=1536 written=yes

  load a_rows symbol=a
    output dtype=f32 trips=[2 | 16, 64] strides=[1024 | 64, 1]
  load b_all symbol=b
    output dtype=f32 trips=[| 64, 48] strides=[| 48, 1]
  load starts symbol=d
    output dtype=f32 trips=[2, 3 | 16, 16] strides=[768, 16 | 48, 1]

  buffer a_tile slot_count=2 slot_elements=1024
    input  dtype=f32 trips=[2 | | 16, 64] strides=[0 | | 64, 1]
    output dtype=f32 trips=[2 | 3, 2 | 32, 16] strides=[0 | 0, 32 | 1, 64]
  buffer b_tile slot_count=1 slot_elements=3072
    input  dtype=f32 trips=[| | 64, 48] strides=[| | 48, 1]
    output dtype=f32 trips=[| 2, 3, 2 | 32, 16] strides=[| 0, 16, 1536 | 48, 1]

  compute array systolic=yes trips=[2, 3, 2 | 32, 16, 16] reduce=[2, 3]
    input dtype=f32 strides=[0, 0, 0 | 16, 1, 0]
    input dtype=f32 strides=[0, 0, 0 | 16, 0, 1]
    input dtype=f32 level=2 strides=[0, 0, 0 | 0, 16, 1]
    %3 = mac_on f32 %0, %1, %2
    output dtype=f32 level=2 strides=[0, 0, 0 | 0, 16, 1]

  store result symbol=c
    input dtype=f32 trips=[2, 3 | 16, 16] strides=[768, 16 | 48, 1]

  stream s0 vector a_rows.out0 -> a_tile.in0
  stream s1 vector b_all.out0 -> b_tile.in0
  stream s2 vector a_tile.out0 -> array.in0
  stream s3 vector b_tile.out0 -> array.in1
  stream s4 vector starts.out0 -> array.in2
  stream s5 vector array.out0 -> result.in0
}
