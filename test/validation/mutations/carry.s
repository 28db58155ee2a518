# Written by hand, to be changed: c = a b in two passes over k. Between the passes the sums of the
# three tiles wait in a PMU, whose slots start full of zeros; each pass writes its sums to memory,
# the second over those of the first.
machine "tiny"
symbol "a" { kind = input   dtype = f32  dims = [16, 64] }
symbol "b" { kind = input   dtype = f32  dims = [64, 48] }
symbol "c" { kind = output  dtype = f32  dims = [3, 16, 16] }

image section carry {
  symbol a dtype=f32 elements=1024
  symbol b dtype=f32 elements=3072
  symbol c dtype=f32 elements=768 written=yes

  load a_steps symbol=a
    output dtype=f32 trips=[2, 3 | 32, 16] strides=[32, 0 | 1, 64]
  load b_steps symbol=b
    output dtype=f32 trips=[2, 3 | 32, 16] strides=[1536, 16 | 48, 1]

  buffer sums slot_count=3 slot_elements=256 loop_carried=yes
    input  dtype=f32 trips=[2, 3 | | 256] strides=[0, 0 | | 1]
    output dtype=f32 trips=[2, 3 | | 256] strides=[0, 0 | | 1]

  compute array systolic=yes trips=[2, 3 | 32, 16, 16] reduce=[2]
    input dtype=f32 strides=[0, 0 | 16, 1, 0]
    input dtype=f32 strides=[0, 0 | 16, 0, 1]
    input dtype=f32 strides=[0, 0 | 0, 16, 1]
    %3 = mac_on f32 %0, %1, %2
    output dtype=f32 strides=[0, 0 | 0, 16, 1]

  store result symbol=c
    input dtype=f32 trips=[2, 3 | 256] strides=[0, 256 | 1]

  stream s0 vector a_steps.out0 -> array.in0
  stream s1 vector b_steps.out0 -> array.in1
  stream s2 vector sums.out0 -> array.in2
  stream s3 vector array.out0 -> sums.in0, result.in0
}
