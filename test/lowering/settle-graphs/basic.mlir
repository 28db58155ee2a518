// RUN: samba-opt %s --samba-settle-graphs | FileCheck %s

// An insertion with strides is a choice by coordinates.
// CHECK-LABEL: func.func @strided
// CHECK: samba.logical_and
// CHECK: samba.index_select
// CHECK: samba.where
// CHECK-NOT: tensor.
func.func @strided(%x: tensor<6x8xf32>, %u: tensor<2x3xf32>) -> tensor<6x8xf32> {
  %0 = tensor.insert_slice %u into %x[1, 2] [2, 3] [2, 2] : tensor<2x3xf32> into tensor<6x8xf32>
  return %0 : tensor<6x8xf32>
}

// A pad by a number that is computed is a choice too.
// CHECK-LABEL: func.func @pad
// CHECK: samba.where {{.*}} %arg1
func.func @pad(%x: tensor<2xf32>, %s: tensor<f32>) -> tensor<4xf32> {
  %e = tensor.extract %s[] : tensor<f32>
  %0 = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %e : f32
  } : tensor<2xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// What nobody uses goes.
// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = arith.addf %x, %x : tensor<2xf32>
  %1 = arith.mulf %0, %x : tensor<2xf32>
  return %x : tensor<2xf32>
}
