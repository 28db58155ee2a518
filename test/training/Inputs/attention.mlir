// A causal attention layer with a residual and a norm, and cross entropy over its tokens.
func.func @forward(
    %x: tensor<2x9x16xf32> {samba.name = "x", samba.kind = "input"},
    %y: tensor<18xi64> {samba.name = "y", samba.kind = "input"},
    %wq: tensor<16x16xf32> {samba.name = "q.weight", samba.kind = "weight"},
    %wk: tensor<16x16xf32> {samba.name = "k.weight", samba.kind = "weight"},
    %wv: tensor<16x16xf32> {samba.name = "v.weight", samba.kind = "weight"},
    %g: tensor<16xf32> {samba.name = "norm.weight", samba.kind = "weight"},
    %w: tensor<5x16xf32> {samba.name = "head.weight", samba.kind = "weight"})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "output"}) {
  %q = samba.linear %x, %wq : tensor<2x9x16xf32>, tensor<16x16xf32>
  %k = samba.linear %x, %wk : tensor<2x9x16xf32>, tensor<16x16xf32>
  %v = samba.linear %x, %wv : tensor<2x9x16xf32>, tensor<16x16xf32>
  %a = samba.scaled_dot_product_attention %q, %k, %v {is_causal = true, scale = 0.25}
    : tensor<2x9x16xf32>, tensor<2x9x16xf32>, tensor<2x9x16xf32>
  %r = samba.add %a, %x : tensor<2x9x16xf32>, tensor<2x9x16xf32>
  %n = samba.rms_norm %r, %g {normalized_shape = [16], eps = 1.0e-5} : tensor<2x9x16xf32>, tensor<16xf32>
  %l = samba.linear %n, %w : tensor<2x9x16xf32>, tensor<5x16xf32>
  %t = samba.reshape %l {shape = [18, 5]} : tensor<2x9x5xf32>
  %0 = samba.cross_entropy %t, %y {reduction = "mean"} : tensor<18x5xf32>, tensor<18xi64>
  return %0 : tensor<f32>
}
