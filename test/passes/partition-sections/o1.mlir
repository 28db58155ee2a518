// o1: operators share a section while it fits the machine's units; what several sections read crosses memory.
// RUN: samba-opt %s --samba-partition-sections=target=tiny | FileCheck %s --check-prefixes=CHECK,TINY
// RUN: samba-opt %s --samba-partition-sections=target=sn40l | FileCheck %s --check-prefixes=CHECK,SN40L

// A small network is one section on both.
// CHECK: samba.section @s0
// CHECK: samba.linear
// CHECK: samba.relu
// CHECK: samba.linear
// CHECK: samba.yield
func.func @mlp(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = samba.linear %x, %w0 : tensor<4x8xf32>, tensor<8x8xf32>
  %1 = samba.relu %0 : tensor<4x8xf32>
  %2 = samba.linear %1, %w1 : tensor<4x8xf32>, tensor<8x8xf32>
  return %2 : tensor<4x8xf32>
}
// CHECK: func.func @mlp
// CHECK-COUNT-1: samba.call
// CHECK: return

// Seven matrix products with weights need more address generators than tiny's four.
// CHECK: func.func @deep
// TINY-COUNT-2: samba.call
// SN40L-COUNT-1: samba.call
// SN40L-NOT: samba.call
// CHECK: return
func.func @deep(%x: tensor<8x8xf32>, %a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>, %d: tensor<8x8xf32>, %e: tensor<8x8xf32>, %f: tensor<8x8xf32>, %g: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = samba.matmul %x, %a : tensor<8x8xf32>, tensor<8x8xf32>
  %1 = samba.matmul %0, %b : tensor<8x8xf32>, tensor<8x8xf32>
  %2 = samba.matmul %1, %c : tensor<8x8xf32>, tensor<8x8xf32>
  %3 = samba.matmul %2, %d : tensor<8x8xf32>, tensor<8x8xf32>
  %4 = samba.matmul %3, %e : tensor<8x8xf32>, tensor<8x8xf32>
  %5 = samba.matmul %4, %f : tensor<8x8xf32>, tensor<8x8xf32>
  %6 = samba.matmul %5, %g : tensor<8x8xf32>, tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}
