// A gradient that is a value of the forward pass times a factor of each row is not made: the
// products take the factors.
// RUN: samba-opt %s --split-input-file --samba-move-row-factors --canonicalize | FileCheck %s
// Twice is once.
// RUN: samba-opt %s --split-input-file --samba-move-row-factors --canonicalize > %t.once
// RUN: samba-opt %t.once --split-input-file --samba-move-row-factors --canonicalize | diff %t.once -

// Along the sum the other operand, else the result.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[X:.*]] = samba.exp
// CHECK-NOT: tensor<8x64xbf16>, tensor<8x1xbf16>
// CHECK: %[[FIRST:.*]] = samba.mul %arg1, %arg3 {samba.phase = "BCKWD"} : tensor<8x2xbf16>, tensor<8x1xbf16>
// CHECK: %[[TURNED:.*]] = samba.permute %[[X]] {dims = [1, 0], samba.phase = "BCKWD"}
// CHECK: %[[DW:.*]] = samba.matmul %[[TURNED]], %[[FIRST]] {samba.phase = "BCKWD"}
// CHECK: %[[PRODUCT:.*]] = samba.matmul %[[X]], %arg2 {samba.phase = "BCKWD"}
// CHECK: %[[DH:.*]] = samba.mul %[[PRODUCT]], %arg3 {samba.phase = "BCKWD"} : tensor<8x2xbf16>, tensor<8x1xbf16>
// CHECK: return %[[X]], %[[DW]], %[[DH]]
func.func @rows(%x: tensor<8x64xbf16>, %h: tensor<8x2xbf16>, %w: tensor<64x2xbf16>, %s: tensor<8x1xbf16>)
    -> (tensor<8x64xbf16>, tensor<64x2xbf16>, tensor<8x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<8x64xbf16>
  %1 = samba.mul %0, %s {samba.phase = "BCKWD"} : tensor<8x64xbf16>, tensor<8x1xbf16>
  %2 = samba.permute %1 {dims = [1, 0], samba.phase = "BCKWD"} : tensor<8x64xbf16>
  %3 = samba.matmul %2, %h {samba.phase = "BCKWD"} : tensor<64x8xbf16>, tensor<8x2xbf16>
  %4 = samba.matmul %1, %w {samba.phase = "BCKWD"} : tensor<8x64xbf16>, tensor<64x2xbf16>
  return %0, %3, %4 : tensor<8x64xbf16>, tensor<64x2xbf16>, tensor<8x2xbf16>
}

// -----

// A factor of each column, and the gradient as the second operand; the other order of mul.
// CHECK-LABEL: func.func @columns(
// CHECK: %[[X:.*]] = samba.exp
// CHECK: %[[COLUMNS:.*]] = samba.reshape %arg3 {samba.phase = "BCKWD", shape = [1, 64]}
// CHECK: %[[A:.*]] = samba.mul %arg1, %[[COLUMNS]] {samba.phase = "BCKWD"} : tensor<2x64xf32>, tensor<1x64xf32>
// CHECK: %[[TURNED:.*]] = samba.permute %[[X]]
// CHECK: samba.matmul %[[A]], %[[TURNED]]
// CHECK: %[[B:.*]] = samba.matmul %arg2, %[[X]]
// CHECK: samba.mul %[[B]], %{{.*}} {samba.phase = "BCKWD"} : tensor<2x64xf32>, tensor<1x64xf32>
func.func @columns(%x: tensor<32x64xf32>, %a: tensor<2x64xf32>, %b: tensor<2x32xf32>, %s: tensor<64xf32>)
    -> (tensor<2x32xf32>, tensor<2x64xf32>) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<32x64xf32>
  %1 = samba.mul %s, %0 {samba.phase = "BCKWD"} : tensor<64xf32>, tensor<32x64xf32>
  %2 = samba.permute %1 {dims = [1, 0], samba.phase = "BCKWD"} : tensor<32x64xf32>
  %3 = samba.matmul %a, %2 {samba.phase = "BCKWD"} : tensor<2x64xf32>, tensor<64x32xf32>
  %4 = samba.matmul %b, %1 {samba.phase = "BCKWD"} : tensor<2x32xf32>, tensor<32x64xf32>
  return %3, %4 : tensor<2x32xf32>, tensor<2x64xf32>
}

// -----

// Computed in the dtype of the factor. What products read rounded is rounded in its own phase.
// CHECK-LABEL: func.func @dtypes(
// CHECK: %[[X:.*]] = samba.exp
// CHECK-NEXT: %[[ROUNDED:.*]] = samba.cast %[[X]] {dtype = bf16}
// CHECK: %[[PRODUCT:.*]] = samba.matmul %[[ROUNDED]], %arg1 {samba.phase = "BCKWD"}
// CHECK: %[[WIDE:.*]] = samba.cast %[[PRODUCT]] {dtype = f32, samba.phase = "BCKWD"}
// CHECK: %[[SCALED:.*]] = samba.mul %[[WIDE]], %{{.*}} : tensor<8x2xf32>, tensor<1x1xf32>
// CHECK: %[[RESULT:.*]] = samba.cast %[[SCALED]] {dtype = bf16, samba.phase = "BCKWD"}
// CHECK: return %[[RESULT]]
func.func @dtypes(%x: tensor<8x64xf32>, %w: tensor<64x2xbf16>, %s: tensor<f32>)
    -> tensor<8x2xbf16> attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<8x64xf32>
  %1 = samba.mul %0, %s {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<f32>
  %2 = samba.cast %1 {dtype = bf16, samba.phase = "BCKWD"} : tensor<8x64xf32>
  %3 = samba.matmul %2, %w {samba.phase = "BCKWD"} : tensor<8x64xbf16>, tensor<64x2xbf16>
  return %3 : tensor<8x2xbf16>
}

// -----

// It stays where the backward pass makes the value, where others read the gradient, where factors
// vary along both axes, where what takes them is larger, in f16, and in the forward pass.
// CHECK-LABEL: func.func @stays(
// CHECK-COUNT-6: samba.mul %{{.*}} : tensor<8x64x{{.*}}>, tensor<8x
func.func @stays(%x: tensor<8x64xf32>, %w: tensor<64x2xf32>, %wide: tensor<64x128xf32>, %s: tensor<8x1xf32>,
                 %all: tensor<8x64xf32>, %f: tensor<8x64xf16>, %v: tensor<64x2xf16>, %t: tensor<8x1xf16>)
    -> (tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x64xf32>, tensor<8x2xf32>, tensor<8x128xf32>, tensor<8x2xf16>, tensor<8x2xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %10 = samba.mul %x, %s : tensor<8x64xf32>, tensor<8x1xf32>
  %11 = samba.matmul %10, %w : tensor<8x64xf32>, tensor<64x2xf32>
  %0 = samba.exp %x {samba.phase = "BCKWD"} : tensor<8x64xf32>
  %1 = samba.mul %0, %s {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<8x1xf32>
  %2 = samba.matmul %1, %w {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<64x2xf32>
  %3 = samba.mul %x, %s {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<8x1xf32>
  %4 = samba.matmul %3, %w {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<64x2xf32>
  %5 = samba.mul %x, %all {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<8x64xf32>
  %6 = samba.matmul %5, %w {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<64x2xf32>
  %7 = samba.mul %10, %s {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<8x1xf32>
  %8 = samba.matmul %7, %wide {samba.phase = "BCKWD"} : tensor<8x64xf32>, tensor<64x128xf32>
  %12 = samba.mul %f, %t {samba.phase = "BCKWD"} : tensor<8x64xf16>, tensor<8x1xf16>
  %13 = samba.matmul %12, %v {samba.phase = "BCKWD"} : tensor<8x64xf16>, tensor<64x2xf16>
  return %2, %4, %3, %6, %8, %13, %11 : tensor<8x2xf32>, tensor<8x2xf32>, tensor<8x64xf32>, tensor<8x2xf32>, tensor<8x128xf32>, tensor<8x2xf16>, tensor<8x2xf32>
}
