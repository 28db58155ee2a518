// Upstream's passes know what our operations are: equal ones are one, unused ones go, locations stay.
// RUN: samba-opt --cse --mlir-print-debuginfo %s | FileCheck %s
// RUN: samba-opt --canonicalize %s | FileCheck %s --check-prefix=DCE

// CHECK-LABEL: @equal
// DCE-LABEL: @equal
func.func @equal(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[E:.*]] = samba.exp %{{.*}} loc(#[[L:loc.*]])
  // CHECK-NEXT: samba.add %[[E]], %[[E]]
  // DCE-NOT: samba.sin
  %0 = samba.exp %x : tensor<4xf32> loc("encoder.layer0")
  %1 = samba.exp %x : tensor<4xf32> loc("encoder.layer1")
  %2 = samba.sin %x : tensor<4xf32>
  %3 = samba.add %0, %1 : tensor<4xf32>, tensor<4xf32>
  return %3 : tensor<4xf32>
}
// CHECK: #[[L]] = loc("encoder.layer0")
