func.func @place(%x: tensor<512x512xf32> {samba.name = "x", samba.mem = "MEMORY"}) -> (tensor<512x512xf32> {samba.name = "y"}) {
  %0 = samba.add %x, %x : tensor<512x512xf32>, tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
