func.func @forward(%x: tensor<600x600xf32> {samba.name = "x"}, %w: tensor<600x600xf32> {samba.name = "w"})
    -> (tensor<600x600xf32> {samba.name = "y"}) {
  %0 = samba.linear %x, %w : tensor<600x600xf32>, tensor<600x600xf32> loc("project")
  %1 = samba.softmax %0 {dim = 1} : tensor<600x600xf32> loc("rows")
  %2 = samba.softmax %1 {dim = 0} : tensor<600x600xf32> loc("columns")
  return %2 : tensor<600x600xf32>
}
