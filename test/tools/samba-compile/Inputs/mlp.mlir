func.func @forward(%x: tensor<4x16xf32> {samba.name = "x"}, %w0: tensor<32x16xf32> {samba.name = "w0"}, %w1: tensor<8x32xf32> {samba.name = "w1"})
    -> (tensor<4x8xf32> {samba.name = "y"}) {
  %0 = samba.linear %x, %w0 : tensor<4x16xf32>, tensor<32x16xf32>
  %1 = samba.relu %0 : tensor<4x32xf32>
  %2 = samba.linear %1, %w1 : tensor<4x32xf32>, tensor<8x32xf32>
  return %2 : tensor<4x8xf32>
}
