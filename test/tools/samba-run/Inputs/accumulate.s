# sums += x, twice three times: the first of three passes overwrites. A pass is 1024 vectors.
machine "tiny"
symbol "x" { kind = input   dims = [6, 16384] }
symbol "y" { kind = output  dims = [6, 16384] }
image section accumulate {
  symbol x dtype=f32 elements=98304
  symbol y dtype=f32 elements=98304 written=yes
  load lx symbol=x
    output dtype=f32 trips=[6 | 16384] strides=[16384 | 1]
  buffer sums slot_count=1 slot_elements=16384 in_place=yes loop_carried=yes
    input dtype=f32 trips=[6 || 16384] strides=[0 || 1]
    output dtype=f32 trips=[6 || 16384] strides=[0 || 1]
  compute adder trips=[2, 3 | 16384]
    input dtype=f32 strides=[0, 0 | 1]
    input dtype=f32 strides=[0, 0 | 1]
    %2 = add f32 %0, %1
    %3 = counter i32 1
    %4 = const i32 0
    %5 = eq i32 %3, %4
    %6 = select f32 %5, %0, %2
    output dtype=f32 strides=[0, 0 | 1]
  store sy symbol=y
    input dtype=f32 trips=[6 | 16384] strides=[16384 | 1]
  stream s0 vector lx.out0 -> adder.in0
  stream s1 vector sums.out0 -> adder.in1
  stream s2 vector adder.out0 -> sums.in0, sy.in0
}
