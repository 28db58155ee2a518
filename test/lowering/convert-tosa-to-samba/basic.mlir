// RUN: samba-opt %s --convert-tosa-to-samba --canonicalize | FileCheck %s

// Images have their channels last in TOSA; between neighbours the permutations cancel.
// CHECK-LABEL: func.func @convolution_and_pool
// CHECK-DAG: %[[X:.*]] = samba.permute %arg0 {dims = [0, 3, 1, 2]}
// CHECK-DAG: %[[W:.*]] = samba.permute %arg1 {dims = [0, 3, 1, 2]}
// CHECK: %[[Y:.*]] = samba.conv2d %[[X]], %[[W]], %arg2
// CHECK-SAME: padding = [1, 0, 1, 2]
// CHECK: %[[P:.*]] = samba.max_pool2d %[[Y]]
// CHECK: %[[R:.*]] = samba.permute %[[P]] {dims = [0, 2, 3, 1]}
// CHECK: return %[[R]]
func.func @convolution_and_pool(%x: tensor<1x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>)
    -> tensor<1x4x4x4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>,
      pad = array<i64: 1, 1, 0, 2>, stride = array<i64: 1, 1>}
    : (tensor<1x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<1x8x8x4xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>,
      stride = array<i64: 2, 2>} : (tensor<1x8x8x4xf32>) -> tensor<1x4x4x4xf32>
  return %1 : tensor<1x4x4x4xf32>
}

// A float becomes the nearest integer; samba.cast goes toward zero. Narrow integers saturate.
// CHECK-LABEL: func.func @cast
// CHECK: %[[ROUNDED:.*]] = samba.round %arg0
// CHECK: %[[CLAMPED:.*]] = samba.clamp %[[ROUNDED]] {max = 1.270000e+02, min = -1.280000e+02}
// CHECK: samba.cast %[[CLAMPED]] {dtype = i8}
func.func @cast(%x: tensor<4xf32>) -> tensor<4xi8> {
  %0 = tosa.cast %x : (tensor<4xf32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// A cropped transposed convolution, a NaN that is left out, constants, shapes that are read.
// CHECK-LABEL: func.func @others
// CHECK: samba.conv_transpose2d {{.*}}padding = [1, 0, 0, 1]
// CHECK: samba.where
// CHECK: samba.amax {{.*}} {dim = [1], keepdim = true}
// CHECK-NOT: tosa.
func.func @others(%x: tensor<1x4x4x3xf32>, %w: tensor<2x3x3x3xf32>, %b: tensor<2xf32>)
    -> tensor<1x1x16xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %b, %z, %z {acc_type = f32,
      out_pad = array<i64: -1, 0, 0, -1>, stride = array<i64: 2, 2>}
    : (tensor<1x4x4x3xf32>, tensor<2x3x3x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)
    -> tensor<1x8x8x2xf32>
  %s = tosa.const_shape {values = dense<[1, 8, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %1 = tosa.reshape %0, %s : (tensor<1x8x8x2xf32>, !tosa.shape<3>) -> tensor<1x8x16xf32>
  %2 = tosa.reduce_max %1 {axis = 1 : i32, nan_mode = IGNORE} : (tensor<1x8x16xf32>) -> tensor<1x1x16xf32>
  return %2 : tensor<1x1x16xf32>
}
