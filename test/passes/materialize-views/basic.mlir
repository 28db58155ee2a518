// RUN: samba-opt %s --samba-materialize-views | FileCheck %s
// RUN: samba-opt %s --samba-materialize-views -o %t.once && samba-opt %t.once --samba-materialize-views -o %t.twice && diff %t.once %t.twice

// What can be read in place stays a view.
// CHECK-LABEL: func.func @in_place
// CHECK-NOT: samba.contiguous
// CHECK: return
func.func @in_place(%x: tensor<4x6xf32>, %w: tensor<4x6xf32>) -> tensor<6x6xf32> {
  %0 = samba.permute %x {dims = array<i64: 1, 0>} : tensor<4x6xf32>
  %1 = samba.slice %w {starts = array<i64: 3, 0>, ends = array<i64: -1, 6>, steps = array<i64: -1, 1>} : tensor<4x6xf32>
  %2 = samba.matmul %0, %1 : tensor<6x4xf32>, tensor<4x6xf32>
  return %2 : tensor<6x6xf32>
}

// A reshape of a transposed tensor: the transposed one is copied, once for all that read it.
// CHECK-LABEL: func.func @reshape_of_strided
// CHECK: %[[VIEW:.*]] = samba.permute
// CHECK-NEXT: %[[COPY:.*]] = samba.contiguous %[[VIEW]]
// CHECK-NEXT: samba.reshape %[[COPY]] {shape = [24]}
// CHECK-NEXT: samba.reshape %[[COPY]] {shape = [3, 8]}
// CHECK-NOT: samba.contiguous
// CHECK: return
func.func @reshape_of_strided(%x: tensor<4x6xf32>) -> (tensor<24xf32>, tensor<3x8xf32>) {
  %0 = samba.permute %x {dims = array<i64: 1, 0>} : tensor<4x6xf32>
  %1 = samba.reshape %0 {shape = array<i64: 24>} : tensor<6x4xf32>
  %2 = samba.reshape %0 {shape = array<i64: 3, 8>} : tensor<6x4xf32>
  %3 = samba.relu %1 : tensor<24xf32>
  %4 = samba.relu %2 : tensor<3x8xf32>
  return %3, %4 : tensor<24xf32>, tensor<3x8xf32>
}

// A padded window over a part of a tensor would read its neighbours: the part is copied.
// CHECK-LABEL: func.func @window_over_part
// CHECK: %[[PART:.*]] = samba.slice
// CHECK-NEXT: %[[COPY:.*]] = samba.contiguous %[[PART]]
// CHECK-NEXT: samba.max_pool2d %[[COPY]]
func.func @window_over_part(%x: tensor<1x1x8x8xf32>) -> tensor<1x1x4x4xf32> {
  %0 = samba.slice %x {starts = array<i64: 0, 0, 2, 2>, ends = array<i64: 1, 1, 6, 6>, steps = array<i64: 1, 1, 1, 1>} : tensor<1x1x8x8xf32>
  %1 = samba.max_pool2d %0 {kernel_size = array<i64: 3, 3>, padding = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : tensor<1x1x4x4xf32>
  return %1 : tensor<1x1x4x4xf32>
}

// A repeated constant is an immediate, unless a pad puts another value around it.
// CHECK-LABEL: func.func @padded_constant
// CHECK: %[[ONE:.*]] = samba.constant
// CHECK-NEXT: %[[COPY:.*]] = samba.contiguous %[[ONE]]
// CHECK-NEXT: samba.pad %[[COPY]]
func.func @padded_constant(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = samba.constant {value = dense<1.0> : tensor<2xf32>}
  %1 = samba.pad %0 {low = array<i64: 1>, high = array<i64: 1>} : tensor<2xf32>
  %2 = samba.add %x, %1 : tensor<4xf32>, tensor<4xf32>
  %3 = samba.constant {value = dense<1.0> : tensor<4xf32>}
  %4 = samba.mul %2, %3 : tensor<4xf32>, tensor<4xf32>
  return %4 : tensor<4xf32>
}

// What is returned is the result of an operator of its own.
// CHECK-LABEL: func.func @returns
// CHECK: %[[SUM:.*]] = samba.add
// CHECK: %[[ARGUMENT:.*]] = samba.contiguous %arg0
// CHECK: %[[VIEW:.*]] = samba.contiguous
// CHECK: %[[AGAIN:.*]] = samba.contiguous %[[SUM]]
// CHECK: return %[[ARGUMENT]], %[[VIEW]], %[[SUM]], %[[AGAIN]]
func.func @returns(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = samba.add %x, %x : tensor<2x3xf32>, tensor<2x3xf32>
  %1 = samba.reshape %0 {shape = array<i64: 6>} : tensor<2x3xf32>
  return %x, %1, %0, %0 : tensor<2x3xf32>, tensor<6xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// A declaration is no graph.
// CHECK: func.func private @elsewhere(tensor<4xf64>)
func.func private @elsewhere(tensor<4xf64>)
