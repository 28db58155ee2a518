func.func @forward(
    %i: tensor<8xi64> {samba.name = "i", samba.kind = "input"},
    %t: tensor<8xi64> {samba.name = "t", samba.kind = "input"},
    %w: tensor<40x16xf32> {samba.name = "w", samba.kind = "weight", samba.value = dense<0.0> : tensor<40x16xf32>})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "output"}) {
  %h = samba.embedding %w, %i : tensor<40x16xf32>, tensor<8xi64>
  %g = samba.gelu %h : tensor<8x16xf32>
  %y = samba.linear %g, %w : tensor<8x16xf32>, tensor<40x16xf32>
  %l = samba.cross_entropy %y, %t : tensor<8x40xf32>, tensor<8xi64>
  return %l : tensor<f32>
}
