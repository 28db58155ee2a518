func.func @forward(%x: tensor<2x4xf32> {samba.name = "x"})
    -> (tensor<2x4xf32> {samba.name = "y"}) {
  %0 = samba.relu %x : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
