// Who reads an earlier value of a region comes before the write, or has a copy; T088 below the surface.
// RUN: samba-opt %s --split-input-file --samba-update-in-place | FileCheck %s
// RUN: samba-opt %s --split-input-file --samba-update-in-place -o %t.once && samba-opt %t.once --split-input-file --samba-update-in-place -o %t.twice && diff %t.once %t.twice

samba.section @sub(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.sub %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
  samba.yield %0 : tensor<4x4xf32>
}

// At equal indices, nobody else reads: nothing to do but to say where the result goes.
// CHECK-LABEL: func.func @plain(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xf32> {samba.name = "w"}, %[[G:[a-z0-9]+]]:
// CHECK-NEXT: samba.call @sub(%[[W]], %[[G]]) {id = 0, rdu.regions = ["w"], type = "OPT"}
// CHECK-NEXT: return
func.func @plain(%w: tensor<4x4xf32> {samba.name = "w"}, %g: tensor<4x4xf32>) -> (tensor<4x4xf32> {samba.region = "w"}) {
  %0 = samba.call @sub(%w, %g) {id = 0, type = "OPT"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

samba.section @sub(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.sub %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
  samba.yield %0 : tensor<4x4xf32>
}

// A reader behind the write moves in front of it, with what it needs; ids follow the new order.
// CHECK-LABEL: func.func @moves(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xf32> {samba.name = "w"}, %[[G:[a-z0-9]+]]:
// CHECK-NEXT: %[[N:.*]] = samba.call @sub(%[[G]], %[[G]]) {id = 0
// CHECK-NEXT: %[[R:.*]] = samba.call @sub(%[[W]], %[[N]]) {id = 1
// CHECK-NEXT: %[[U:.*]] = samba.call @sub(%[[W]], %[[G]]) {id = 2, rdu.regions = ["w"]
// CHECK-NEXT: return %[[U]], %[[R]]
func.func @moves(%w: tensor<4x4xf32> {samba.name = "w"}, %g: tensor<4x4xf32>) -> (tensor<4x4xf32> {samba.region = "w"}, tensor<4x4xf32>) {
  %0 = samba.call @sub(%w, %g) {id = 0, type = "FWD"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = samba.call @sub(%g, %g) {id = 1, type = "FWD"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = samba.call @sub(%w, %1) {id = 2, type = "FWD"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

samba.section @sub(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.sub %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
  samba.yield %0 : tensor<4x4xf32>
}

// A reader that needs the new value, and one of a later phase, read a copy that is taken before the write.
// CHECK: samba.section @save0(%[[X:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-NEXT: %[[C:.*]] = samba.contiguous %[[X]]
// CHECK-NEXT: samba.yield %[[C]]
// CHECK-LABEL: func.func @copies(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xf32> {samba.name = "w"}, %[[G:[a-z0-9]+]]:
// CHECK-NEXT: %[[S:.*]] = samba.call @save0(%[[W]]) {id = 0, {{.*}}type = "FWD"}
// CHECK-NEXT: %[[U:.*]] = samba.call @sub(%[[W]], %[[G]]) {id = 1, rdu.regions = ["w"]
// CHECK-NEXT: %[[A:.*]] = samba.call @sub(%[[S]], %[[U]]) {id = 2
// CHECK-NEXT: %[[B:.*]] = samba.call @sub(%[[S]], %[[G]]) {id = 3, type = "BCKWD"}
// CHECK-NEXT: return %[[U]], %[[A]], %[[B]]
func.func @copies(%w: tensor<4x4xf32> {samba.name = "w"}, %g: tensor<4x4xf32>) -> (tensor<4x4xf32> {samba.region = "w"}, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = samba.call @sub(%w, %g) {id = 0, type = "FWD"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = samba.call @sub(%w, %0) {id = 1, type = "FWD"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = samba.call @sub(%w, %g) {id = 2, type = "BCKWD"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

samba.section @mix(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.matmul %x, %x : tensor<4x4xf32>, tensor<4x4xf32>
  samba.yield %0 : tensor<4x4xf32>
}

// A section that reads at other indices than it writes reads a copy itself.
// CHECK-LABEL: func.func @other(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<4x4xf32> {samba.name = "w"}
// CHECK-NEXT: %[[S:.*]] = samba.call @save0(%[[W]])
// CHECK-NEXT: samba.call @mix(%[[S]]) {id = 1, rdu.regions = ["w"]
func.func @other(%w: tensor<4x4xf32> {samba.name = "w"}) -> (tensor<4x4xf32> {samba.region = "w"}) {
  %0 = samba.call @mix(%w) {id = 0, type = "FWD"} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

samba.section @zero() -> tensor<4x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %c = samba.constant {value = dense<0.0> : tensor<4x4xf32>}
  %0 = samba.contiguous %c : tensor<4x4xf32>
  samba.yield %0 : tensor<4x4xf32>
}
samba.section @add(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.add %x, %y : tensor<4x4xf32>, tensor<4x4xf32>
  samba.yield %0 : tensor<4x4xf32>
}

// Values in between: each is written over the one before it.
// CHECK-LABEL: func.func @chain(
// CHECK-NEXT: %[[Z:.*]] = samba.call @zero() {id = 0, rdu.regions = ["g"]
// CHECK-NEXT: %[[A:.*]] = samba.call @add(%[[Z]], %{{.*}}) {id = 1, rdu.regions = ["g"]
// CHECK-NEXT: return %[[A]]
func.func @chain(%g: tensor<4x4xf32> {samba.name = "g"}, %new: tensor<4x4xf32>) -> (tensor<4x4xf32> {samba.region = "g"}) {
  %0 = samba.call @zero() {id = 0, type = "ZEROGRAD", rdu.regions = ["g"]} : () -> tensor<4x4xf32>
  %1 = samba.call @add(%0, %new) {id = 1, type = "BCKWD"} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

samba.section @both(%x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.neg %x : tensor<4x4xf32>
  %1 = samba.exp %0 : tensor<4x4xf32>
  samba.yield %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// Of two values that one section makes for a region the last one stays.
// CHECK-LABEL: func.func @twice(
// CHECK: samba.call @both(%{{.*}}) {id = 0, rdu.regions = ["", "w"]
func.func @twice(%w: tensor<4x4xf32> {samba.name = "w"}) -> (tensor<4x4xf32>, tensor<4x4xf32> {samba.region = "w"}) {
  %0:2 = samba.call @both(%w) {id = 0, type = "FWD", rdu.regions = ["w", "w"]} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<4x4xf32>
}
