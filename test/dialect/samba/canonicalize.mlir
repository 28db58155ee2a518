// What folds and what must not: every fold keeps values bit for bit.
// RUN: samba-opt --canonicalize --split-input-file %s > %t.1.mlir && FileCheck %s < %t.1.mlir
// RUN: samba-opt --canonicalize --split-input-file %t.1.mlir | diff %t.1.mlir -

// CHECK-LABEL: @identities
// CHECK-SAME: (%[[X:.*]]: tensor<2x3xf32>)
func.func @identities(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // CHECK-NEXT: return %[[X]]
  %0 = samba.contiguous %x : tensor<2x3xf32>
  %1 = samba.detach %0 : tensor<2x3xf32>
  %2 = samba.reshape %1 {shape = [2, 3]} : tensor<2x3xf32>
  %3 = samba.permute %2 {dims = [0, 1]} : tensor<2x3xf32>
  %4 = samba.expand %3 {shape = [2, 3]} : tensor<2x3xf32>
  %5 = samba.slice %4 {starts = [0, 0], ends = [2, 3], steps = [1, 1]} : tensor<2x3xf32>
  %6 = samba.pad %5 {low = [0, 0], high = [0, 0]} : tensor<2x3xf32>
  %7 = samba.cat %6 {dim = 0} : tensor<2x3xf32>
  %8 = samba.cast %7 {dtype = f32} : tensor<2x3xf32>
  %9 = samba.neg %8 : tensor<2x3xf32>
  %10 = samba.neg %9 : tensor<2x3xf32>
  %11 = samba.maximum %10, %10 : tensor<2x3xf32>, tensor<2x3xf32>
  return %11 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @idempotent
func.func @idempotent(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[R:.*]] = samba.relu %arg0
  // CHECK-NEXT: %[[A:.*]] = samba.abs %arg0
  // CHECK-NEXT: return %[[R]], %[[A]]
  %0 = samba.relu %x : tensor<4xf32>
  %1 = samba.relu %0 : tensor<4xf32>
  %2 = samba.neg %x : tensor<4xf32>
  %3 = samba.abs %2 : tensor<4xf32>
  %4 = samba.abs %3 : tensor<4xf32>
  return %1, %4 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: @chains
func.func @chains(%x: tensor<2x3x4xf32>, %s: tensor<1xf32>) -> (tensor<24xf32>, tensor<4x3x2xf32>, tensor<1x1x1xf32>, tensor<2x3xf32>) {
  // CHECK-NEXT: samba.reshape %arg0 {shape = [24]} : tensor<2x3x4xf32>
  %0 = samba.reshape %x {shape = [6, 4]} : tensor<2x3x4xf32>
  %1 = samba.reshape %0 {shape = [24]} : tensor<6x4xf32>
  // CHECK-NEXT: samba.permute %arg0 {dims = [2, 1, 0]} : tensor<2x3x4xf32>
  %2 = samba.permute %x {dims = [2, 0, 1]} : tensor<2x3x4xf32>
  %3 = samba.permute %2 {dims = [0, 2, 1]} : tensor<4x2x3xf32>
  // CHECK-NEXT: samba.slice %arg0 {ends = [2, 3, 4], starts = [1, 2, 3], steps = [1, 1, 3]} : tensor<2x3x4xf32>
  %4 = samba.slice %x {starts = [0, 1, 0], ends = [2, 3, 4], steps = [1, 1, 3]} : tensor<2x3x4xf32>
  %5 = samba.slice %4 {starts = [1, 1, 1], ends = [2, 2, 2], steps = [1, 1, 1]} : tensor<2x2x2xf32>
  // CHECK-NEXT: samba.expand %arg1 {shape = [2, 3]} : tensor<1xf32>
  %6 = samba.expand %s {shape = [1, 3]} : tensor<1xf32>
  %7 = samba.expand %6 {shape = [2, 3]} : tensor<1x3xf32>
  return %1, %3, %5, %7 : tensor<24xf32>, tensor<4x3x2xf32>, tensor<1x1x1xf32>, tensor<2x3xf32>
}

// -----

// A cast back is nothing only when the way there lost nothing.
// CHECK-LABEL: @casts
func.func @casts(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>, tensor<4xi64>) {
  // CHECK-NEXT: %[[N:.*]] = samba.cast %arg1 {dtype = bf16}
  // CHECK-NEXT: %[[W:.*]] = samba.cast %[[N]] {dtype = f32}
  // CHECK-NEXT: %[[I:.*]] = samba.cast %arg0 {dtype = i64}
  // CHECK-NEXT: return %arg0, %[[W]], %[[I]]
  %0 = samba.cast %x {dtype = f32} : tensor<4xbf16>
  %1 = samba.cast %0 {dtype = bf16} : tensor<4xf32>
  %2 = samba.cast %y {dtype = bf16} : tensor<4xf32>
  %3 = samba.cast %2 {dtype = f32} : tensor<4xbf16>
  %4 = samba.cast %0 {dtype = i64} : tensor<4xf32>
  return %1, %3, %4 : tensor<4xbf16>, tensor<4xf32>, tensor<4xi64>
}

// -----

// x + 0.0 is not x when x is -0.0; x + -0.0 and x - 0.0 are.
// CHECK-LABEL: @neutral
func.func @neutral(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  // CHECK: %[[SUM:.*]] = samba.add %arg0
  // CHECK-NEXT: return %[[SUM]], %arg0, %arg0, %arg0, %arg1
  %zero = samba.constant {value = dense<0.0> : tensor<4xf32>}
  %minus = samba.constant {value = dense<-0.0> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %none = samba.constant {value = dense<0> : tensor<4xi32>}
  %0 = samba.add %x, %zero : tensor<4xf32>, tensor<4xf32>
  %1 = samba.add %minus, %x : tensor<f32>, tensor<4xf32>
  %2 = samba.sub %x, %zero : tensor<4xf32>, tensor<4xf32>
  %3 = samba.mul %one, %x : tensor<f32>, tensor<4xf32>
  %4 = samba.div %3, %one : tensor<4xf32>, tensor<f32>
  %5 = samba.add %i, %none : tensor<4xi32>, tensor<4xi32>
  return %0, %1, %2, %4, %5 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// -----

// Views of constants are constants.
// CHECK-LABEL: @constants
func.func @constants() -> (tensor<2x2xf32>, tensor<3x1xi64>, tensor<2x3xf32>) {
  // CHECK-DAG: value = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>
  // CHECK-DAG: value = dense<7> : tensor<3x1xi64>
  // CHECK-DAG: value = dense<5.000000e-01> : tensor<2x3xf32>
  // CHECK: return
  %0 = samba.constant {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>}
  %1 = samba.reshape %0 {shape = [2, 2]} : tensor<4xf32>
  %2 = samba.constant {value = dense<7> : tensor<1x3xi64>}
  %3 = samba.permute %2 {dims = [1, 0]} : tensor<1x3xi64>
  %4 = samba.constant {value = dense<0.5> : tensor<1xf32>}
  %5 = samba.expand %4 {shape = [2, 3]} : tensor<1xf32>
  return %1, %3, %5 : tensor<2x2xf32>, tensor<3x1xi64>, tensor<2x3xf32>
}

// -----

// CHECK-LABEL: @flatten_cat
func.func @flatten_cat(%a: tensor<1x2xf32>, %b: tensor<1x2xf32>) -> tensor<3x2xf32> {
  // CHECK-NEXT: samba.cat %arg0, %arg1, %arg0 {dim = 0} : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
  %0 = samba.cat %a, %b {dim = 0} : tensor<1x2xf32>, tensor<1x2xf32>
  %1 = samba.cat %0, %a {dim = 0} : tensor<2x2xf32>, tensor<1x2xf32>
  return %1 : tensor<3x2xf32>
}

// -----

// Gradients stop at a detach, and are copied at a contiguous_backward (N041), so they stay where there
// are some.
// CHECK-LABEL: @training
func.func @training(%x: tensor<4xf32>) -> tensor<4xf32> attributes {samba.graph = {mode = "training"}} {
  // CHECK: samba.detach
  %0 = samba.detach %x : tensor<4xf32>
  // CHECK: samba.contiguous_backward
  %1 = samba.contiguous_backward %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A copy into a region is what the region holds from there on: it stays, and those of two regions stay two.
// CHECK-LABEL: @regions
func.func @regions() -> (tensor<4xf32> {samba.region = "a"}, tensor<4xf32> {samba.region = "b"}) {
  // CHECK: samba.contiguous {{.*}}samba.region = "a"
  // CHECK: samba.contiguous {{.*}}samba.region = "b"
  %0 = samba.constant {value = dense<0.0> : tensor<4xf32>}
  %1 = samba.contiguous %0 {samba.region = "a"} : tensor<4xf32>
  %2 = samba.contiguous %0 {samba.region = "b"} : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// -----

// A slice that walks backwards has its input's shape and is something else.
// CHECK-LABEL: @backwards
func.func @backwards(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: samba.slice
  %0 = samba.slice %x {starts = [3], ends = [-1], steps = [-1]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
