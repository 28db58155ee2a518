// Logistic regression of 28 x 28 images: the mean cross entropy of 16 of them.
func.func @forward(
    %x: tensor<16x784xf32> {samba.name = "x", samba.kind = "input"},
    %y: tensor<16xi64> {samba.name = "y", samba.kind = "input"},
    %w: tensor<10x784xf32> {samba.name = "fc.weight", samba.kind = "weight"},
    %b: tensor<10xf32> {samba.name = "fc.bias", samba.kind = "weight"})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "output"}) {
  %0 = samba.linear %x, %w, %b : tensor<16x784xf32>, tensor<10x784xf32>, tensor<10xf32>
  %1 = samba.cross_entropy %0, %y {reduction = "mean"} : tensor<16x10xf32>, tensor<16xi64>
  return %1 : tensor<f32>
}
