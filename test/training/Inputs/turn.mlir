func.func @turn(%x: tensor<128x128xf32> {samba.name = "x"}) -> (tensor<128x128xf32> {samba.name = "y"}) {
  %0 = samba.permute %x {dims = [1, 0]} : tensor<128x128xf32>
  %1 = samba.exp %0 : tensor<128x128xf32>
  return %1 : tensor<128x128xf32>
}
