// RUN: samba-opt %s -split-input-file --samba-enter-linalg | FileCheck %s

// Names; a float constant of several values is a weight, a splat is none.
// CHECK-LABEL: func.func @names
// CHECK-SAME: %arg0: tensor<2xf32> {samba.name = "arg0"}
// CHECK-SAME: %arg1: tensor<2xf32> {samba.kind = "weight", samba.name = "weight0", samba.value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}
// CHECK-SAME: samba.name = "out0"
// CHECK: samba.constant {value = dense<5.000000e-01> : tensor<2xf32>}
func.func @names(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %h = arith.constant dense<0.5> : tensor<2xf32>
  %0 = arith.mulf %x, %w : tensor<2xf32>
  %1 = arith.addf %0, %h : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// A global that is never written is a constant.
// CHECK-LABEL: func.func @global
// CHECK-SAME: samba.kind = "weight"
ml_program.global private @w(dense<[1.0, 2.0]> : tensor<2xf32>) : tensor<2xf32>
func.func @global(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = ml_program.global_load_const @w : tensor<2xf32>
  %0 = arith.mulf %x, %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Scalars are tensors of rank 0, and operands of the bodies that read them.
// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %arg1: tensor<f32> {samba.name = "arg1"}
// CHECK-SAME: -> (tensor<3xf32> {samba.name = "out0"}, tensor<f32> {samba.name = "out1"})
// CHECK: %[[ELEMENT:.*]] = samba.reshape {{.*}} {shape = []}
// CHECK: %[[SUM:.*]] = arith.addf %[[ELEMENT]], %arg1 : tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[SUM]] : tensor<3xf32>, tensor<f32>)
func.func @scalars(%x: tensor<3xf32>, %s: f32) -> (tensor<3xf32>, f32) {
  %one = arith.constant 1 : index
  %e = tensor.extract %x[%one] : tensor<3xf32>
  %a = arith.addf %e, %s : f32
  %empty = tensor.empty() : tensor<3xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%empty : tensor<3xf32>) {
  ^bb0(%p: f32, %unused: f32):
    %1 = arith.mulf %p, %a : f32
    linalg.yield %1 : f32
  } -> tensor<3xf32>
  return %0, %a : tensor<3xf32>, f32
}

// -----

// CHECK-LABEL: func.func @generated
// CHECK: linalg.generic
// CHECK: linalg.index 0
func.func @generated() -> tensor<3xi32> {
  %0 = tensor.generate {
  ^bb0(%i: index):
    %1 = arith.index_cast %i : index to i32
    tensor.yield %1 : i32
  } : tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----

// CHECK-LABEL: func.func @packed
// CHECK: samba.pad {{.*}}high = [1, 1]{{.*}}value = 9.0
// CHECK: samba.reshape {{.*}} {shape = [2, 3, 2, 4]}
// CHECK: samba.permute {{.*}} {dims = [2, 0, 1, 3]}
func.func @packed(%x: tensor<5x7xf32>) -> tensor<2x2x3x4xf32> {
  %nine = arith.constant 9.0 : f32
  %empty = tensor.empty() : tensor<2x2x3x4xf32>
  %0 = linalg.pack %x padding_value(%nine : f32) outer_dims_perm = [1, 0] inner_dims_pos = [0, 1]
      inner_tiles = [3, 4] into %empty : tensor<5x7xf32> -> tensor<2x2x3x4xf32>
  return %0 : tensor<2x2x3x4xf32>
}
