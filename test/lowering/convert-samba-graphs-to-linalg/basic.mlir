// Nothing of samba is left, and stock mlir-opt takes it down to LLVM.
// RUN: samba-opt %s --convert-samba-graphs-to-linalg -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=NOTHING < %t.mlir
// RUN: %mlir-opt %t.mlir --one-shot-bufferize=bufferize-function-boundaries --convert-linalg-to-loops -o %t.loops
// NOTHING-NOT: samba.

// Views are operations of tensor and linalg; names and data of arguments are dropped.
// CHECK-LABEL: func.func @views(%arg0: tensor<4x6xf32>) -> tensor<2x5xf32>
// CHECK: tensor.extract_slice %arg0[1, 0] [2, 3] [1, 2] : tensor<4x6xf32> to tensor<2x3xf32>
// CHECK: tensor.pad %{{.*}} low[0, 1] high[0, 1]
// CHECK: linalg.generic
func.func @views(%x: tensor<4x6xf32> {samba.name = "x", samba.kind = "input"}) -> (tensor<2x5xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = samba.slice %x {starts = [1, 0], ends = [3, 6], steps = [1, 2]} : tensor<4x6xf32>
  %1 = samba.pad %0 {low = [0, 1], high = [0, 1], value = 1.0} : tensor<2x3xf32>
  %2 = samba.relu %1 : tensor<2x5xf32>
  return %2 : tensor<2x5xf32>
}

// CHECK-LABEL: func.func @shapes
// CHECK: %[[FLAT:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1]] : tensor<4x6xf32> into tensor<24xf32>
// CHECK: tensor.expand_shape %[[FLAT]] {{\[\[}}0, 1, 2]] output_shape [2, 3, 4]
// CHECK: tensor.collapse_shape %arg1 [] : tensor<1x1xf32> into tensor<f32>
// CHECK: tensor.expand_shape %arg2 [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
func.func @shapes(%x: tensor<4x6xf32>, %y: tensor<1x1xf32>, %z: tensor<f32>) -> (tensor<2x3x4xf32>, tensor<f32>, tensor<1x1xf32>) {
  %0 = samba.reshape %x {shape = [2, 3, 4]} : tensor<4x6xf32>
  %1 = samba.reshape %y {shape = []} : tensor<1x1xf32>
  %2 = samba.reshape %z {shape = [1, 1]} : tensor<f32>
  return %0, %1, %2 : tensor<2x3x4xf32>, tensor<f32>, tensor<1x1xf32>
}

// CHECK-LABEL: func.func @gather
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<2xi32>
// CHECK: %[[ROW:.*]] = arith.addi
// CHECK: tensor.extract %arg0
// CHECK: arith.constant dense<[1.000000e+00, 2.000000e+00]>
func.func @gather(%w: tensor<9x2xf32>, %i: tensor<2xi32>) -> tensor<2x2xf32> {
  %0 = samba.embedding %w, %i : tensor<9x2xf32>, tensor<2xi32>
  %1 = samba.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>}
  %2 = samba.add %0, %1 : tensor<2x2xf32>, tensor<2xf32>
  return %2 : tensor<2x2xf32>
}

// A shape that groups the axes of the other is one step; a permutation is linalg's.
// CHECK-LABEL: func.func @groups
// CHECK: tensor.expand_shape %arg0 {{\[\[}}0], [1, 2]] output_shape [2, 3, 4]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0, 1], [2]]
// CHECK: linalg.transpose ins(%{{.*}} : tensor<6x4xf32>) outs(%{{.*}}) permutation = [1, 0]
// CHECK: linalg.generic
func.func @groups(%x: tensor<2x12xf32>) -> (tensor<4x6xf32>, tensor<12x2xf32>) {
  %0 = samba.reshape %x {shape = [2, 3, 4]} : tensor<2x12xf32>
  %1 = samba.reshape %0 {shape = [6, 4]} : tensor<2x3x4xf32>
  %2 = samba.permute %1 {dims = [1, 0]} : tensor<6x4xf32>
  %3 = samba.slice %x {starts = [1, 0], ends = [-1, 12], steps = [-1, 1]} : tensor<2x12xf32>
  %4 = samba.permute %3 {dims = [1, 0]} : tensor<2x12xf32>
  return %2, %4 : tensor<4x6xf32>, tensor<12x2xf32>
}
