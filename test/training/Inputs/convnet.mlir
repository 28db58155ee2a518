// Two convolutions (one with strides, pads and groups), a pool, and cross entropy.
func.func @forward(
    %x: tensor<3x2x11x9xf32> {samba.name = "x", samba.kind = "input"},
    %y: tensor<3xi64> {samba.name = "y", samba.kind = "input"},
    %w1: tensor<4x2x3x3xf32> {samba.name = "conv1.weight", samba.kind = "weight"},
    %b1: tensor<4xf32> {samba.name = "conv1.bias", samba.kind = "weight"},
    %w2: tensor<6x2x3x3xf32> {samba.name = "conv2.weight", samba.kind = "weight"},
    %w3: tensor<5x36xf32> {samba.name = "fc.weight", samba.kind = "weight"},
    %b3: tensor<5xf32> {samba.name = "fc.bias", samba.kind = "weight"})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "output"}) {
  %0 = samba.conv2d %x, %w1, %b1 {stride = [1, 1], padding = [1, 1, 1, 1], dilation = [1, 1], groups = 1}
    : tensor<3x2x11x9xf32>, tensor<4x2x3x3xf32>, tensor<4xf32>
  %1 = samba.relu %0 : tensor<3x4x11x9xf32>
  %2 = samba.max_pool2d %1 {kernel_size = [2, 2], stride = [2, 2]} : tensor<3x4x11x9xf32>
  %3 = samba.conv2d %2, %w2 {stride = [2, 2], padding = [1, 1, 1, 1], dilation = [1, 1], groups = 2}
    : tensor<3x4x5x4xf32>, tensor<6x2x3x3xf32>
  %4 = samba.tanh %3 : tensor<3x6x3x2xf32>
  %5 = samba.reshape %4 {shape = [3, 36]} : tensor<3x6x3x2xf32>
  %6 = samba.linear %5, %w3, %b3 : tensor<3x36xf32>, tensor<5x36xf32>, tensor<5xf32>
  %7 = samba.cross_entropy %6, %y {reduction = "mean"} : tensor<3x5xf32>, tensor<3xi64>
  return %7 : tensor<f32>
}
