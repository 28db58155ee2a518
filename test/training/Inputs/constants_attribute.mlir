func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> attributes {samba.constants = "k"} {
  return %x : tensor<2xf32>
}
