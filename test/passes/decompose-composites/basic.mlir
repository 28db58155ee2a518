// RUN: samba-opt %s --samba-decompose-composites | FileCheck %s
// RUN: samba-opt %s --samba-decompose-composites -o %t.once && samba-opt %t.once --samba-decompose-composites -o %t.twice && diff %t.once %t.twice
// RUN: samba-opt %s --samba-decompose-composites -mlir-print-debuginfo | FileCheck %s --check-prefix=LAYER

// The parts stand where the composite stood, in its layer.
// CHECK-LABEL: func.func @loss
// CHECK: %[[X:.*]] = samba.relu
// CHECK: %[[D:.*]] = samba.sub %[[X]], %{{.*}} :
// CHECK: %[[S:.*]] = samba.mul %[[D]], %[[D]]
// CHECK: %[[L:.*]] = samba.mean %[[S]]
// CHECK-NOT: samba.mse_loss
// CHECK: return %[[L]]
// LAYER: samba.sub {{.*}} loc(#[[HERE:.*]])
// LAYER: samba.mean {{.*}} loc(#[[HERE]])
// LAYER: #[[HERE]] = loc("head"
func.func @loss(%x: tensor<2x3xf32>, %t: tensor<2x3xf32>) -> tensor<f32> {
  %0 = samba.relu %x : tensor<2x3xf32>
  %1 = samba.mse_loss %0, %t : tensor<2x3xf32>, tensor<2x3xf32> loc("head")
  return %1 : tensor<f32>
}

// A first operation, and numbers of another dtype: computed in f32, rounded once.
// CHECK-LABEL: func.func @half
// CHECK-COUNT-2: samba.cast {{.*}}dtype = f32
// CHECK: samba.sum
// CHECK: samba.cast {{.*}}dtype = bf16
func.func @half(%x: tensor<2x3xbf16>, %t: tensor<2x3xbf16>) -> tensor<bf16> {
  %1 = samba.mse_loss %x, %t {reduction = "sum"} : tensor<2x3xbf16>, tensor<2x3xbf16>
  return %1 : tensor<bf16>
}
