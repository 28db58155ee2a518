# y = 2 * x + bias, by hand.
machine "tiny"
symbol "x" { kind = input  dims = [4, 16] }
symbol "bias" { kind = weight  dims = [4, 16]  data = [
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
  1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
  -1.5, 2e3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16] }
symbol "y" { kind = output  dims = [4, 16] }
image section scale {
  symbol x dtype=f32 elements=64
  symbol bias dtype=f32 elements=64
  symbol y dtype=f32 elements=64 written=yes
  load lx symbol=x
    output dtype=f32 trips=[4 | 16] strides=[16 | 1]
  load lb symbol=bias
    output dtype=f32 trips=[4 | 16] strides=[16 | 1]
  compute twice trips=[4 | 16] layer="my/layer"
    input dtype=f32 strides=[0 | 1]
    input dtype=f32 strides=[0 | 1]
    %2 = const f32 2.0
    %3 = fma f32 %0, %2, %1
    output dtype=f32 strides=[0 | 1]
  store sy symbol=y
    input dtype=f32 trips=[4 | 16] strides=[16 | 1]
  stream s0 vector lx.out0 -> twice.in0
  stream s1 vector lb.out0 -> twice.in1
  stream s2 vector twice.out0 -> sy.in0
}
