// o0: every operator its own section; views and repeated constants go into the section that reads them; equal sections are
// one symbol that is called again.
// RUN: samba-opt %s --samba-partition-sections="target=tiny opt=o0" | FileCheck %s
// RUN: samba-opt %s --samba-partition-sections="target=tiny opt=o0" -o %t.once && samba-opt %t.once --samba-partition-sections="target=tiny opt=o0" -o %t.twice && diff %t.once %t.twice

// CHECK: samba.section @s0(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32>) -> tensor<4x8xf32>
// CHECK-SAME: machine = #rdu.machine<"tiny"
// CHECK: samba.permute
// CHECK: samba.matmul
// CHECK: samba.yield
// CHECK: samba.section @s1(%{{.*}}: tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK: samba.constant {value = dense<2.000000e+00>
// CHECK: samba.mul
// CHECK: samba.section @s2
// CHECK: samba.cat
// CHECK: samba.yield
func.func @layers(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %two = samba.constant {value = dense<2.0> : tensor<f32>}
  %0 = samba.permute %w0 {dims = array<i64: 1, 0>} : tensor<8x8xf32>
  %1 = samba.matmul %x, %0 : tensor<4x8xf32>, tensor<8x8xf32>
  %2 = samba.mul %1, %two : tensor<4x8xf32>, tensor<f32>
  %3 = samba.permute %w1 {dims = array<i64: 1, 0>} : tensor<8x8xf32>
  %4 = samba.matmul %2, %3 : tensor<4x8xf32>, tensor<8x8xf32>
  %5 = samba.mul %4, %two : tensor<4x8xf32>, tensor<f32>
  %6 = samba.cat %2, %5 {dim = 0} : tensor<4x8xf32>, tensor<4x8xf32>
  return %6 : tensor<8x8xf32>
}
// CHECK: func.func @layers(%[[X:.*]]: tensor<4x8xf32>, %[[W0:.*]]: tensor<8x8xf32>, %[[W1:.*]]: tensor<8x8xf32>)
// CHECK-NEXT: %[[A:.*]] = samba.call @s0(%[[X]], %[[W0]]) {id = 0{{.*}} type = "FWD"}
// CHECK-NEXT: %[[B:.*]] = samba.call @s1(%[[A]]) {id = 1
// CHECK-NEXT: %[[C:.*]] = samba.call @s0(%[[B]], %[[W1]]) {id = 2
// CHECK-NEXT: %[[D:.*]] = samba.call @s1(%[[C]]) {id = 3
// CHECK-NEXT: %[[E:.*]] = samba.call @s2(%[[B]], %[[D]]) {id = 4
// CHECK-NEXT: return %[[E]]

// A second graph of the module counts on and shares sections; constants of many values are arguments.
// CHECK: func.func @again
// CHECK: %[[TABLE:.*]] = samba.constant {value = dense<[1.0
// CHECK: samba.call @s1(%{{.*}}) {id = 5
// CHECK: samba.call @{{.*}}(%{{.*}}, %[[TABLE]]) {id = 6
func.func @again(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %two = samba.constant {value = dense<2.0> : tensor<f32>}
  %0 = samba.mul %x, %two : tensor<4x8xf32>, tensor<f32>
  %table = samba.constant {value = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : tensor<8xf32>}
  %1 = samba.add %0, %table : tensor<4x8xf32>, tensor<8xf32>
  return %1 : tensor<4x8xf32>
}
