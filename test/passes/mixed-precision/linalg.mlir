// Structured operations keep their types: casts stand between them and what becomes bf16. What only
// they read stays f32.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba-mixed-precision{preset=mp4})' | FileCheck %s

#id = affine_map<(d0) -> (d0)>
// CHECK: func.func @f(%[[X:.*]]: tensor<4xbf16> {samba.host_dtype = f32, samba.name = "x"},
// CHECK-SAME: %[[Y:.*]]: tensor<4xf32> {samba.name = "y"})
func.func @f(%x: tensor<4xf32> {samba.name = "x"}, %y: tensor<4xf32> {samba.name = "y"}) -> tensor<4xf32> {
  // CHECK: %[[RELU:.*]] = samba.relu %[[X]] : tensor<4xbf16>
  %0 = samba.relu %x : tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  // CHECK: %[[WIDE:.*]] = samba.cast %[[RELU]] {dtype = f32
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[WIDE]], %[[Y]] : tensor<4xf32>, tensor<4xf32>)
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%0, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %2 = arith.divf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  // CHECK: %[[NARROW:.*]] = samba.cast %{{.*}} {dtype = bf16
  // CHECK: samba.neg %[[NARROW]] : tensor<4xbf16>
  %3 = samba.neg %1 : tensor<4xf32>
  return %3 : tensor<4xf32>
}
