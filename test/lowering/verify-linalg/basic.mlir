// rdu-verify-linalg names the first operation outside of the accepted subset at its place, and
// changes nothing.
// RUN: samba-opt %s --rdu-verify-linalg -split-input-file -verify-diagnostics | FileCheck %s

// CHECK: linalg.softmax
func.func @accepted(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = tensor.empty() : tensor<4x5xf32>
  %1 = linalg.softmax dimension(1) ins(%x : tensor<4x5xf32>) outs(%0 : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
func.func @body(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{'arith.bitcast' in the body of a 'linalg.generic' is not a lane operation}}
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.bitcast %in : f32 to i32
    %3 = arith.sitofp %2 : i32 to f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
