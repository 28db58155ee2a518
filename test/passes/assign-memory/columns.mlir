// What a call streams side by side lies in columns of banks: in tiny's memory (2 channels x 1 KiB x 16
// banks) these are 2 MiB long for tensors of 1 MiB, and two of them lie half of the banks apart. Other
// tensors and activations stay in front.
// RUN: samba-opt %s --split-input-file --samba-assign-memory | FileCheck %s
// RUN: samba-opt %s --split-input-file --samba-assign-memory -o %t.once && samba-opt %t.once --split-input-file --samba-assign-memory -o %t.twice && diff %t.once %t.twice

samba.section @s0(%x: tensor<262144xf32>, %y: tensor<262144xf32>, %z: tensor<16xf32>) -> tensor<16xf32> attributes {machine = #rdu.machine<"tiny">} {
  samba.yield %z : tensor<16xf32>
}
samba.section @s1(%x: tensor<262144xf32>) -> tensor<16xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.constant {value = dense<0.0> : tensor<16xf32>}
  samba.yield %0 : tensor<16xf32>
}

// CHECK: func.func @team(
// CHECK-SAME: %{{.*}}: tensor<262144xf32> {rdu.address = 2097152 : i64},
// CHECK-SAME: %{{.*}}: tensor<16xf32> {rdu.address = 64 : i64},
// CHECK-SAME: %{{.*}}: tensor<262144xf32> {rdu.address = 6291456 : i64},
// CHECK-SAME: %{{.*}}: tensor<262144xf32> {rdu.address = 128 : i64})
// CHECK-SAME: rdu.activations = array<i64: 0, 64>
func.func @team(%x: tensor<262144xf32>, %z: tensor<16xf32>, %y: tensor<262144xf32>, %alone: tensor<262144xf32>) -> tensor<16xf32> {
  %0 = samba.call @s0(%x, %y, %z) {id = 0, type = "FWD"} : (tensor<262144xf32>, tensor<262144xf32>, tensor<16xf32>) -> tensor<16xf32>
  %1 = samba.call @s1(%alone) {id = 1, type = "FWD"} : (tensor<262144xf32>) -> tensor<16xf32>
  return %z : tensor<16xf32>
}

// -----

samba.section @s0(%x: tensor<160000000xf32>, %y: tensor<160000000xf32>) -> tensor<16xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.constant {value = dense<0.0> : tensor<16xf32>}
  samba.yield %0 : tensor<16xf32>
}

// Blocks of such columns would be larger than the memory: one tensor behind the other.
// CHECK: func.func @one_behind_the_other(
// CHECK-SAME: %{{.*}}: tensor<160000000xf32> {rdu.address = 64 : i64},
// CHECK-SAME: %{{.*}}: tensor<160000000xf32> {rdu.address = 640000064 : i64})
func.func @one_behind_the_other(%x: tensor<160000000xf32>, %y: tensor<160000000xf32>) {
  %0 = samba.call @s0(%x, %y) {id = 0, type = "FWD"} : (tensor<160000000xf32>, tensor<160000000xf32>) -> tensor<16xf32>
  return
}
