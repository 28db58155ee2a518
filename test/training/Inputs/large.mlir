// A weight of 4 GiB, used once.
func.func @forward(
    %x: tensor<1x32768xf32> {samba.name = "x", samba.kind = "input"},
    %w: tensor<32768x32768xf32> {samba.name = "w", samba.kind = "weight"})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "output"}) {
  %0 = samba.matmul %x, %w : tensor<1x32768xf32>, tensor<32768x32768xf32>
  %1 = samba.sum %0 : tensor<1x32768xf32>
  return %1 : tensor<f32>
}
