// Activations share addresses by their lifetimes; arguments, constants and results keep theirs.
// RUN: samba-opt %s --split-input-file --samba-assign-memory | FileCheck %s
// RUN: samba-opt %s --split-input-file --samba-assign-memory -o %t.once && samba-opt %t.once --split-input-file --samba-assign-memory -o %t.twice && diff %t.once %t.twice

samba.section @s0(%x: tensor<256xf32>) -> tensor<256xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<256xf32>
  samba.yield %0 : tensor<256xf32>
}
samba.section @s1(%x: tensor<256xf32>, %y: tensor<256xf32>) -> tensor<256xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.add %x, %y : tensor<256xf32>, tensor<256xf32>
  samba.yield %0 : tensor<256xf32>
}

// A chain of four kilobyte tensors: two live at a time, so two places are enough (2048 bytes in front of everything else).
// CHECK: func.func @chain(%{{.*}}: tensor<256xf32> {rdu.address = 2048 : i64})
// CHECK-SAME: rdu.activations = array<i64: 0, 2048>
// CHECK: id = 0, rdu.addresses = [0]
// CHECK: id = 1, rdu.addresses = [1024]
// CHECK: id = 2, rdu.addresses = [0]
// CHECK: id = 3, rdu.addresses = [1024]
// CHECK: id = 4, rdu.addresses = [3072]
func.func @chain(%x: tensor<256xf32>) -> tensor<256xf32> {
  %0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  %1 = samba.call @s0(%0) {id = 1, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  %2 = samba.call @s0(%1) {id = 2, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  %3 = samba.call @s0(%2) {id = 3, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  %4 = samba.call @s0(%3) {id = 4, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  return %4 : tensor<256xf32>
}

// -----

samba.section @s0(%x: tensor<256xf32>) -> tensor<256xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<256xf32>
  samba.yield %0 : tensor<256xf32>
}
samba.section @s1(%x: tensor<256xf32>, %y: tensor<256xf32>) -> tensor<256xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.add %x, %y : tensor<256xf32>, tensor<256xf32>
  samba.yield %0 : tensor<256xf32>
}

// The first activation lives to the end: a third place. A constant has its own, rounded up to a burst.
// CHECK: func.func @skip
// CHECK-SAME: rdu.activations = array<i64: 0, 3072>
// CHECK: samba.constant {{.*}}rdu.address = 4096
// CHECK: id = 3, rdu.addresses = [4160]
func.func @skip(%x: tensor<256xf32>) -> tensor<256xf32> {
  %c = samba.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>}
  %0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  %1 = samba.call @s0(%0) {id = 1, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  %2 = samba.call @s0(%1) {id = 2, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  %3 = samba.call @s1(%0, %2) {id = 3, type = "FWD"} : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  return %3 : tensor<256xf32>
}
