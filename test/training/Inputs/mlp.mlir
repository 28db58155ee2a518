// Two layers with a normalization between them, and cross entropy.
func.func @forward(
    %x: tensor<12x20xf32> {samba.name = "x", samba.kind = "input"},
    %y: tensor<12xi64> {samba.name = "y", samba.kind = "input"},
    %w1: tensor<24x20xf32> {samba.name = "fc1.weight", samba.kind = "weight"},
    %b1: tensor<24xf32> {samba.name = "fc1.bias", samba.kind = "weight"},
    %g: tensor<24xf32> {samba.name = "norm.weight", samba.kind = "weight"},
    %h: tensor<24xf32> {samba.name = "norm.bias", samba.kind = "weight"},
    %w2: tensor<7x24xf32> {samba.name = "fc2.weight", samba.kind = "weight"},
    %b2: tensor<7xf32> {samba.name = "fc2.bias", samba.kind = "weight"})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "output"}) {
  %0 = samba.linear %x, %w1, %b1 : tensor<12x20xf32>, tensor<24x20xf32>, tensor<24xf32>
  %1 = samba.gelu %0 : tensor<12x24xf32>
  %2 = samba.layer_norm %1, %g, %h {normalized_shape = [24], eps = 1.0e-5}
    : tensor<12x24xf32>, tensor<24xf32>, tensor<24xf32>
  %3 = samba.linear %2, %w2, %b2 : tensor<12x24xf32>, tensor<7x24xf32>, tensor<7xf32>
  %4 = samba.cross_entropy %3, %y {reduction = "mean"} : tensor<12x7xf32>, tensor<12xi64>
  return %4 : tensor<f32>
}
