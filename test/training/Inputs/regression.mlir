func.func @forward(
    %x: tensor<32x8xf32> {samba.name = "x", samba.kind = "input"},
    %y: tensor<32x1xf32> {samba.name = "y", samba.kind = "input"},
    %w: tensor<1x8xf32> {samba.name = "w", samba.kind = "weight", samba.value = dense<0.5> : tensor<1x8xf32>},
    %b: tensor<1xf32> {samba.name = "b", samba.kind = "weight", samba.value = dense<-1.0> : tensor<1xf32>})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "output"}) {
  %0 = samba.linear %x, %w, %b : tensor<32x8xf32>, tensor<1x8xf32>, tensor<1xf32>
  %1 = samba.sub %0, %y : tensor<32x1xf32>, tensor<32x1xf32>
  %2 = samba.mul %1, %1 : tensor<32x1xf32>, tensor<32x1xf32>
  %3 = samba.mean %2 {dim = [0, 1]} : tensor<32x1xf32>
  return %3 : tensor<f32>
}
