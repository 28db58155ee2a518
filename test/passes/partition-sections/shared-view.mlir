// RUN: samba-opt %s --samba-partition-sections=target=tiny | FileCheck %s
// RUN: samba-compile %s --target=tiny -o %t.pef

// A section also stores what others read through a view that one of its operators reads too: here
// the product, for which no address generator of tiny is left when the sum is in the section.

// CHECK: samba.section @s0
// CHECK-NEXT: samba.mul
// CHECK-NEXT: samba.yield
// CHECK: samba.section @s1
// CHECK-NEXT: samba.pad
// CHECK-NEXT: samba.add
func.func @main(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %c: tensor<4x11xf32>, %w: tensor<6x11xf32>) -> (tensor<4x11xf32>, tensor<4x6xf32>) {
  %0 = samba.mul %a, %b : tensor<4x8xf32>, tensor<4x8xf32>
  %1 = samba.pad %0 {low = [0, 1], high = [0, 2]} : tensor<4x8xf32>
  %2 = samba.add %1, %c : tensor<4x11xf32>, tensor<4x11xf32>
  %3 = samba.linear %1, %w : tensor<4x11xf32>, tensor<6x11xf32>
  return %2, %3 : tensor<4x11xf32>, tensor<4x6xf32>
}
