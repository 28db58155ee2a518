// RUN: samba-opt %s --samba-raise-linalg --canonicalize --cse | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>

// A named operation is read as a generic one.
// CHECK-LABEL: func.func @named
// CHECK: samba.matmul %arg0, %arg1 : tensor<4x8xf32>, tensor<8x5xf32>
// CHECK-NOT: linalg
func.func @named(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x5xf32>) -> tensor<4x5xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x5xf32>) outs(%start : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// The summed dimension last in both, and a row that is added: a layer.
// CHECK-LABEL: func.func @layer
// CHECK: samba.linear %arg0, %arg1, %arg2
// CHECK-NEXT: return
func.func @layer(%x: tensor<4x8xf32>, %w: tensor<5x8xf32>, %bias: tensor<5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x5xf32>) -> tensor<4x5xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x8xf32>, tensor<5x8xf32>) outs(%start : tensor<4x5xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %1 = arith.mulf %q, %p : f32
    %2 = arith.addf %1, %sum : f32
    linalg.yield %2 : f32
  } -> tensor<4x5xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%0, %bias : tensor<4x5xf32>, tensor<5xf32>) outs(%empty : tensor<4x5xf32>) {
  ^bb0(%p: f32, %q: f32, %unused: f32):
    %4 = arith.addf %p, %q : f32
    linalg.yield %4 : f32
  } -> tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}

// What the sum starts from is added; narrow factors are widened by the operator.
// CHECK-LABEL: func.func @accumulate
// CHECK: %[[PRODUCT:.*]] = samba.matmul %arg0, %arg1 {out_dtype = f32}
// CHECK: samba.add %[[PRODUCT]], %arg2
func.func @accumulate(%a: tensor<4x8xbf16>, %b: tensor<8x5xbf16>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x5xbf16>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// A transposed result swaps the factors; no view of the result is needed.
// CHECK-LABEL: func.func @transposed_result
// CHECK: %[[B:.*]] = samba.permute %arg1 {dims = [1, 0]}
// CHECK: samba.linear %[[B]], %arg0
func.func @transposed_result(%a: tensor<4x8xf32>, %b: tensor<8x5xf32>) -> tensor<5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x4xf32>) -> tensor<5x4xf32>
  %0 = linalg.generic {indexing_maps = [#mk, #kn, #nm], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x8xf32>, tensor<8x5xf32>) outs(%start : tensor<5x4xf32>) {
  ^bb0(%p: f32, %q: f32, %sum: f32):
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}

// Scores of attention: two dimensions of a batch.
// CHECK-LABEL: func.func @scores
// CHECK: %[[K:.*]] = samba.permute %arg1 {dims = [0, 1, 3, 2]}
// CHECK: samba.matmul %arg0, %[[K]] : tensor<2x3x4x8xf32>, tensor<2x3x8x5xf32>
func.func @scores(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x5x8xf32>) -> tensor<2x3x4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x4x5xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  %0 = linalg.contract indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>,
      affine_map<(b, h, m, n, k) -> (b, h, n, k)>, affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
      ins(%q, %k : tensor<2x3x4x8xf32>, tensor<2x3x5x8xf32>) outs(%start : tensor<2x3x4x5xf32>) -> tensor<2x3x4x5xf32>
  return %0 : tensor<2x3x4x5xf32>
}

// The pad goes into the operator, layouts become views.
// CHECK-LABEL: func.func @convolution
// CHECK-DAG: %[[X:.*]] = samba.permute %arg0 {dims = [0, 3, 1, 2]} : tensor<1x9x9x2xf32>
// CHECK-DAG: %[[W:.*]] = samba.permute %arg1 {dims = [3, 2, 0, 1]} : tensor<3x3x2x4xf32>
// CHECK: %[[Y:.*]] = samba.conv2d %[[X]], %[[W]] {{{.*}}padding = [1, 1, 1, 1], stride = [2, 2]}
// CHECK: samba.permute %[[Y]] {dims = [0, 2, 3, 1]}
// CHECK-NOT: pad
func.func @convolution(%x: tensor<1x9x9x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x5x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x9x9x2xf32> to tensor<1x11x11x2xf32>
  %empty = tensor.empty() : tensor<1x5x5x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32>
  %0 = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %w : tensor<1x11x11x2xf32>, tensor<3x3x2x4xf32>) outs(%start : tensor<1x5x5x4xf32>) -> tensor<1x5x5x4xf32>
  return %0 : tensor<1x5x5x4xf32>
}

// A pad with another number stays in front.
// CHECK-LABEL: func.func @padded_with_ones
// CHECK: samba.pad %arg0 {{{.*}}value = 1.0
// CHECK: samba.conv2d {{.*}}padding = [0, 0, 0, 0]
func.func @padded_with_ones(%x: tensor<1x2x9x9xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<1x4x9x9xf32> {
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %one : f32
  } : tensor<1x2x9x9xf32> to tensor<1x2x11x11xf32>
  %empty = tensor.empty() : tensor<1x4x9x9xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x9x9xf32>) -> tensor<1x4x9x9xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%padded, %w : tensor<1x2x11x11xf32>, tensor<4x2x3x3xf32>) outs(%start : tensor<1x4x9x9xf32>) -> tensor<1x4x9x9xf32>
  return %0 : tensor<1x4x9x9xf32>
}
