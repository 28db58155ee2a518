// What is stacked lies where the stack does, and the parts of a value where it does.
// RUN: samba-opt %s --split-input-file --samba-assign-memory | FileCheck %s
// RUN: samba-opt %s --split-input-file --samba-assign-memory -o %t.once && samba-opt %t.once --split-input-file --samba-assign-memory -o %t.twice && diff %t.once %t.twice

samba.section @s0(%x: tensor<128xf32>) -> tensor<128xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<128xf32>
  samba.yield %0 : tensor<128xf32>
}
samba.section @s1(%x: tensor<2x128xf32>) -> tensor<2x128xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<2x128xf32>
  samba.yield %0 : tensor<2x128xf32>
}

// Parts of the stack are side by side from the first call on; what lives until it is read lies elsewhere. The graph
// returns a part of the second stack, so that is no activation: it keeps its memory behind the argument.
// CHECK-LABEL: func.func @stacks(
// CHECK-SAME: rdu.address = 1536 : i64
// CHECK-SAME: rdu.activations = array<i64: 0, 1536>
// CHECK: id = 0, rdu.addresses = [0]
// CHECK: id = 1, rdu.addresses = [1024]
// CHECK: id = 2, rdu.addresses = [512]
// CHECK: samba.stack {{.*}} {rdu.addresses = array<i64: 0>}
// CHECK: id = 3, rdu.addresses = [2048]
// CHECK: samba.unstack {{.*}} {rdu.addresses = array<i64: 2048, 2560>}
// CHECK: id = 4, rdu.addresses = [3072]
func.func @stacks(%x: tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
  %0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<128xf32>) -> tensor<128xf32>
  %1 = samba.call @s0(%0) {id = 1, type = "FWD"} : (tensor<128xf32>) -> tensor<128xf32>
  %2 = samba.call @s0(%1) {id = 2, type = "FWD"} : (tensor<128xf32>) -> tensor<128xf32>
  %3 = samba.stack %0, %2 : (tensor<128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
  %4 = samba.call @s1(%3) {id = 3, type = "FWD"} : (tensor<2x128xf32>) -> tensor<2x128xf32>
  %5:2 = samba.unstack %4 : (tensor<2x128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
  %6 = samba.call @s0(%5#0) {id = 4, type = "FWD"} : (tensor<128xf32>) -> tensor<128xf32>
  return %6, %5#1 : tensor<128xf32>, tensor<128xf32>
}
