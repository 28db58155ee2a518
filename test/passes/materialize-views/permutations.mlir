// RUN: samba-opt %s --samba-materialize-views | FileCheck %s
// Views that are the same in a form which needs no copy.
module attributes {samba.graphs = [@one_token, @split_heads, @joined_heads]} {
// The heads of one token lie as they should, whatever their axis is.
// CHECK-LABEL: func.func @one_token
// CHECK-NOT: samba.permute
// CHECK-NOT: samba.contiguous
// CHECK: %[[R:.*]] = samba.reshape {{.*}} {shape = [1, 32]}
// CHECK-NEXT: samba.exp %[[R]]
func.func @one_token(%x: tensor<1x4x1x8xf32> {samba.name = "x", samba.kind = "input"}) -> tensor<1x32xf32> {
  %p = samba.permute %x {dims = [0, 2, 1, 3]} : tensor<1x4x1x8xf32>
  %r = samba.reshape %p {shape = [1, 32]} : tensor<1x1x4x8xf32>
  %y = samba.exp %r : tensor<1x32xf32>
  return %y : tensor<1x32xf32>
}
// A reshape that cuts an axis of a permutation, or puts axes of one element in, cuts it before.
// CHECK-LABEL: func.func @split_heads
// CHECK: %[[R:.*]] = samba.reshape %{{.*}} {shape = [2, 1, 5, 3, 2, 4, 1]}
// CHECK-NEXT: %[[P:.*]] = samba.permute %[[R]] {dims = [0, 3, 4, 1, 2, 5, 6]}
// CHECK-NEXT: samba.exp %[[P]] : tensor<2x3x2x1x5x4x1xf32>
func.func @split_heads(%x: tensor<2x5x6x4xf32> {samba.name = "x", samba.kind = "input"}) -> tensor<2x3x2x1x5x4x1xf32> {
  %p = samba.permute %x {dims = [0, 2, 1, 3]} : tensor<2x5x6x4xf32>
  %r = samba.reshape %p {shape = [2, 3, 2, 1, 5, 4, 1]} : tensor<2x6x5x4xf32>
  %y = samba.exp %r : tensor<2x3x2x1x5x4x1xf32>
  return %y : tensor<2x3x2x1x5x4x1xf32>
}
// One that joins axes which lie apart needs a copy.
// CHECK-LABEL: func.func @joined_heads
// CHECK: %[[P:.*]] = samba.permute
// CHECK-NEXT: %[[C:.*]] = samba.contiguous %[[P]]
// CHECK-NEXT: samba.reshape %[[C]] {shape = [2, 24, 5]}
func.func @joined_heads(%x: tensor<2x5x6x4xf32> {samba.name = "x", samba.kind = "input"}) -> tensor<2x24x5xf32> {
  %p = samba.permute %x {dims = [0, 2, 3, 1]} : tensor<2x5x6x4xf32>
  %r = samba.reshape %p {shape = [2, 24, 5]} : tensor<2x6x4x5xf32>
  %y = samba.exp %r : tensor<2x24x5xf32>
  return %y : tensor<2x24x5xf32>
}
}
