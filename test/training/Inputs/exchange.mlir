// Something comes in, a weight stays, something goes out; IN and OUT are replaced.
func.func @exchange(%x: tensor<64x128xf32> {samba.name = "x"IN}, %w: tensor<128x32xf32> {samba.name = "w", samba.kind = "weight", samba.value = dense<0.5> : tensor<128x32xf32>})
    -> (tensor<64x32xf32> {samba.name = "y"OUT}) {
  %0 = samba.matmul %x, %w : tensor<64x128xf32>, tensor<128x32xf32>
  return %0 : tensor<64x32xf32>
}
