// A section that is easily planned twice, because linalg says the same in other words: parameters
// that are repeated constants, an argument that is read plainly beside one that is read through a
// view, and stages that write a part of their result.
func.func @carried(%x: tensor<1x4x8x16xf32>, %angles: tensor<8x16xf32>, %more: tensor<16x8xf32>) -> tensor<1x4x8x16xf32> {
  %half = samba.constant {value = dense<0.5> : tensor<4xf32>}
  %two = samba.constant {value = dense<2.0> : tensor<4xf32>}
  %0 = samba.batch_norm %x, %two, %half, %half, %two {eps = 1.0e-5} : tensor<1x4x8x16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %1 = samba.permute %more {dims = array<i64: 1, 0>} : tensor<16x8xf32>
  %2 = samba.add %angles, %1 : tensor<8x16xf32>, tensor<8x16xf32>
  %3 = samba.mul %angles, %1 : tensor<8x16xf32>, tensor<8x16xf32>
  %4 = samba.rotary_embedding %0, %2, %3 : tensor<1x4x8x16xf32>, tensor<8x16xf32>, tensor<8x16xf32>
  return %4 : tensor<1x4x8x16xf32>
}
