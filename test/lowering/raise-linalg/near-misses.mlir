// What is an operator but for one thing stays as it is.
// RUN: samba-opt %s --samba-raise-linalg | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// maxnumf leaves a NaN out, samba.maximum does not.
// CHECK-LABEL: func.func @ignores_nan
// CHECK: arith.maxnumf
func.func @ignores_nan(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %empty = tensor.empty() : tensor<4x5xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x5xf32>, tensor<4x5xf32>) outs(%empty : tensor<4x5xf32>) {
  ^bb0(%p: f32, %q: f32, %unused: f32):
    %1 = arith.maxnumf %p, %q : f32
    linalg.yield %1 : f32
  } -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// An element-wise fma rounds once.
// CHECK-LABEL: func.func @rounds_once
// CHECK: math.fma
func.func @rounds_once(%x: tensor<4x5xf32>, %y: tensor<4x5xf32>, %z: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %empty = tensor.empty() : tensor<4x5xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y, %z : tensor<4x5xf32>, tensor<4x5xf32>, tensor<4x5xf32>) outs(%empty : tensor<4x5xf32>) {
  ^bb0(%p: f32, %q: f32, %r: f32, %unused: f32):
    %1 = math.fma %p, %q, %r : f32
    linalg.yield %1 : f32
  } -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// An unsigned division is none of samba's.
// CHECK-LABEL: func.func @unsigned
// CHECK: arith.divui
func.func @unsigned(%x: tensor<4x5xi32>, %y: tensor<4x5xi32>) -> tensor<4x5xi32> {
  %empty = tensor.empty() : tensor<4x5xi32>
  %0 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<4x5xi32>, tensor<4x5xi32>) outs(%empty : tensor<4x5xi32>) {
  ^bb0(%p: i32, %q: i32, %unused: i32):
    %1 = arith.divui %p, %q : i32
    linalg.yield %1 : i32
  } -> tensor<4x5xi32>
  return %0 : tensor<4x5xi32>
}

// The diagonal: one dimension on two axes.
// CHECK-LABEL: func.func @diagonal
// CHECK: linalg.generic
func.func @diagonal(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %empty = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%p: f32, %unused: f32):
    linalg.yield %p : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// The last of equal elements, and an element that depends on the accumulator.
// CHECK-LABEL: func.func @last_of_equals
// CHECK: arith.cmpf oge
// CHECK: arith.divf
func.func @last_of_equals(%x: tensor<4x5xf32>) -> (tensor<4xi64>, tensor<4xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1.0 : f32
  %values = tensor.empty() : tensor<4xf32>
  %places = tensor.empty() : tensor<4xi64>
  %0 = linalg.fill ins(%least : f32) outs(%values : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.fill ins(%zero : i64) outs(%places : tensor<4xi64>) -> tensor<4xi64>
  %2 = linalg.fill ins(%one : f32) outs(%values : tensor<4xf32>) -> tensor<4xf32>
  %3:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%0, %1 : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%p: f32, %value: f32, %place: i64):
    %4 = linalg.index 1 : index
    %5 = arith.index_cast %4 : index to i64
    %6 = arith.cmpf oge, %p, %value : f32
    %7 = arith.select %6, %p, %value : f32
    %8 = arith.select %6, %5, %place : i64
    linalg.yield %7, %8 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %9 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%2 : tensor<4xf32>) {
  ^bb0(%p: f32, %sum: f32):
    %10 = arith.divf %p, %sum : f32
    %11 = arith.addf %10, %sum : f32
    linalg.yield %11 : f32
  } -> tensor<4xf32>
  return %3#1, %9 : tensor<4xi64>, tensor<4xf32>
}
