// Causal attention that is a section becomes several: rows of the query, and the keys that they see.
// RUN: samba-opt %s --split-input-file --samba-split-attention=parts=3 | FileCheck %s
// RUN: samba-opt %s --split-input-file --samba-split-attention=parts=3 -o %t.once && samba-opt %t.once --split-input-file --samba-split-attention=parts=3 -o %t.twice && diff %t.once %t.twice
// One part is what there is.
// RUN: samba-opt %s --split-input-file -o %t.plain && samba-opt %s --split-input-file --samba-split-attention=parts=1 -o %t.one && diff %t.plain %t.one

// Whole vectors of rows (16 on tiny), the rest last; as many keys as the last row sees. The mask goes with both, where
// it has more than one row or key.
// CHECK-LABEL: samba.section @attend_0(
// CHECK-SAME: %[[Q:[a-z0-9]+]]: tensor<2x40x8xf32>, %[[K:[a-z0-9]+]]: tensor<2x45x8xf32>, %[[V:[a-z0-9]+]]: tensor<2x45x4xf32>, %[[M:[a-z0-9]+]]: tensor<40x45xf32>) -> tensor<40x2x4xf32>
// CHECK-DAG: %[[Q0:.*]] = samba.slice %[[Q]] {ends = [2, 16, 8], starts = [0, 0, 0], steps = [1, 1, 1]}
// CHECK-DAG: %[[K0:.*]] = samba.slice %[[K]] {ends = [2, 21, 8], starts = [0, 0, 0], steps = [1, 1, 1]}
// CHECK-DAG: %[[V0:.*]] = samba.slice %[[V]] {ends = [2, 21, 4], starts = [0, 0, 0], steps = [1, 1, 1]}
// CHECK-DAG: %[[MK:.*]] = samba.slice %[[M]] {ends = [40, 21], starts = [0, 0], steps = [1, 1]}
// CHECK-DAG: %[[M0:.*]] = samba.slice %[[MK]] {ends = [16, 21], starts = [0, 0], steps = [1, 1]}
// CHECK: %[[A:.*]] = samba.scaled_dot_product_attention %[[Q0]], %[[K0]], %[[V0]], %[[M0]] {causal_offset = 5, is_causal = true, scale = 5.000000e-01}
// CHECK-NEXT: %[[P:.*]] = samba.permute %[[A]] {dims = [1, 0, 2]} : tensor<2x16x4xf32>
// CHECK-NEXT: %[[R:.*]] = samba.put_slice %[[P]] {dim = 0, size = 40, start = 0} : tensor<16x2x4xf32>
// CHECK-NEXT: samba.yield %[[R]]
// CHECK-LABEL: samba.section @attend_1(
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<40x2x4xf32>) -> tensor<40x2x4xf32>
// CHECK-DAG: samba.slice %{{.*}} {ends = [2, 32, 8], starts = [0, 16, 0], steps = [1, 1, 1]}
// CHECK-DAG: samba.slice %{{.*}} {ends = [2, 37, 8], starts = [0, 0, 0], steps = [1, 1, 1]}
// CHECK: {causal_offset = 21, is_causal = true, scale = 5.000000e-01}
// CHECK: samba.put_slice %{{.*}}, %[[B]] {dim = 0, size = 40, start = 16} : tensor<16x2x4xf32>, tensor<40x2x4xf32>
// CHECK-LABEL: samba.section @attend_2(
// CHECK-NOT: ends = [2, 45
// CHECK: {causal_offset = 37, is_causal = true, scale = 5.000000e-01} : tensor<2x8x8xf32>, tensor<2x45x8xf32>, tensor<2x45x4xf32>, tensor<8x45xf32>
// CHECK: samba.put_slice %{{.*}}, %{{.*}} {dim = 0, size = 40, start = 32} : tensor<8x2x4xf32>, tensor<40x2x4xf32>
samba.section @attend(%q: tensor<2x40x8xf32>, %k: tensor<2x45x8xf32>, %v: tensor<2x45x4xf32>, %m: tensor<40x45xf32>) -> tensor<40x2x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %k, %v, %m {is_causal = true, causal_offset = 5, scale = 0.5} : tensor<2x40x8xf32>, tensor<2x45x8xf32>, tensor<2x45x4xf32>, tensor<40x45xf32>
  %1 = samba.permute %0 {dims = [1, 0, 2]} : tensor<2x40x4xf32>
  %2 = samba.contiguous %1 : tensor<40x2x4xf32>
  samba.yield %2 : tensor<40x2x4xf32>
}
samba.section @neg(%x: tensor<40x2x4xf32>) -> tensor<40x2x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.neg %x : tensor<40x2x4xf32>
  samba.yield %0 : tensor<40x2x4xf32>
}
// The parts of a result share a region. The second attention may have it too: nobody reads the first result any more.
// The third may not. A result that lies in a region already stays whole, and so does its section.
// CHECK: samba.section @attend(
// CHECK-LABEL: func.func @f(
// CHECK-NEXT: %[[C0:.*]] = samba.call @attend_0(%{{.*}}) {id = 0, rdu.layers = ["a"], rdu.regions = ["parts0"], type = "FWD"}
// CHECK-NEXT: %[[C1:.*]] = samba.call @attend_1(%{{.*}}, %[[C0]]) {id = 1, rdu.layers = ["a"], rdu.regions = ["parts0"]
// CHECK-NEXT: %[[C2:.*]] = samba.call @attend_2(%{{.*}}, %[[C1]]) {id = 2, rdu.layers = ["a"], rdu.regions = ["parts0"]
// CHECK-NEXT: samba.call @neg(%[[C2]]) {id = 3
// CHECK-NEXT: samba.call @attend_0(%{{.*}}) {id = 4, rdu.regions = ["parts0"]
// CHECK: %[[D2:.*]] = samba.call @attend_2(%{{.*}}) {id = 6, rdu.regions = ["parts0"]
// CHECK-NEXT: samba.call @attend_0(%{{.*}}) {id = 7, rdu.regions = ["parts1"]
// CHECK: %[[E2:.*]] = samba.call @attend_2(%{{.*}}) {id = 9, rdu.regions = ["parts1"]
// CHECK-NEXT: samba.call @attend(%{{.*}}) {id = 10
// CHECK-NEXT: return %{{.*}}, %[[D2]], %[[E2]], %{{.*}}
func.func @f(%q: tensor<2x40x8xf32>, %k: tensor<2x45x8xf32>, %v: tensor<2x45x4xf32>, %m: tensor<40x45xf32>, %w: tensor<40x2x4xf32> {samba.name = "w"})
    -> (tensor<40x2x4xf32>, tensor<40x2x4xf32>, tensor<40x2x4xf32>, tensor<40x2x4xf32> {samba.region = "w"}) {
  %0 = samba.call @attend(%q, %k, %v, %m) {id = 0, type = "FWD", rdu.layers = ["a"]} : (tensor<2x40x8xf32>, tensor<2x45x8xf32>, tensor<2x45x4xf32>, tensor<40x45xf32>) -> tensor<40x2x4xf32>
  %1 = samba.call @neg(%0) {id = 1, type = "FWD"} : (tensor<40x2x4xf32>) -> tensor<40x2x4xf32>
  %2 = samba.call @attend(%q, %k, %v, %m) {id = 2, type = "FWD"} : (tensor<2x40x8xf32>, tensor<2x45x8xf32>, tensor<2x45x4xf32>, tensor<40x45xf32>) -> tensor<40x2x4xf32>
  %3 = samba.call @attend(%q, %k, %v, %m) {id = 3, type = "FWD"} : (tensor<2x40x8xf32>, tensor<2x45x8xf32>, tensor<2x45x4xf32>, tensor<40x45xf32>) -> tensor<40x2x4xf32>
  %4 = samba.call @attend(%q, %k, %v, %m) {id = 4, type = "FWD"} : (tensor<2x40x8xf32>, tensor<2x45x8xf32>, tensor<2x45x4xf32>, tensor<40x45xf32>) -> tensor<40x2x4xf32>
  return %1, %2, %3, %4 : tensor<40x2x4xf32>, tensor<40x2x4xf32>, tensor<40x2x4xf32>, tensor<40x2x4xf32>
}

// -----

// What is not causal, has a mapping already, sees all keys, or does something else too, stays.
// CHECK-NOT: put_slice
samba.section @every(%q: tensor<40x8xf32>) -> tensor<40x8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %q, %q : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>
  samba.yield %0 : tensor<40x8xf32>
}
samba.section @pinned(%q: tensor<40x8xf32>) -> tensor<40x8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %q, %q {is_causal = true, rdu.mapping = [#rdu.mapping<>]} : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>
  samba.yield %0 : tensor<40x8xf32>
}
samba.section @late(%q: tensor<40x8xf32>) -> tensor<40x8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %q, %q {is_causal = true, causal_offset = 39} : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>
  samba.yield %0 : tensor<40x8xf32>
}
samba.section @more(%q: tensor<40x8xf32>) -> tensor<40x8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %q, %q {is_causal = true} : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>
  %1 = samba.neg %0 : tensor<40x8xf32>
  samba.yield %1 : tensor<40x8xf32>
}
func.func @g(%q: tensor<40x8xf32>) -> tensor<40x8xf32> {
  %0 = samba.call @every(%q) {id = 0, type = "FWD"} : (tensor<40x8xf32>) -> tensor<40x8xf32>
  %1 = samba.call @pinned(%0) {id = 1, type = "FWD"} : (tensor<40x8xf32>) -> tensor<40x8xf32>
  %2 = samba.call @late(%1) {id = 2, type = "FWD"} : (tensor<40x8xf32>) -> tensor<40x8xf32>
  %3 = samba.call @more(%2) {id = 3, type = "FWD"} : (tensor<40x8xf32>) -> tensor<40x8xf32>
  return %3 : tensor<40x8xf32>
}

// -----

// Mapped spatially, a graph is one section.
// CHECK-LABEL: func.func @spatial(
// CHECK-NEXT: samba.call @whole(
// CHECK-NEXT: return
samba.section @whole(%q: tensor<40x8xf32>) -> tensor<40x8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %q, %q {is_causal = true} : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>
  samba.yield %0 : tensor<40x8xf32>
}
func.func @spatial(%q: tensor<40x8xf32>) -> tensor<40x8xf32> attributes {rdu.spatial} {
  %0 = samba.call @whole(%q) {id = 0, type = "FWD"} : (tensor<40x8xf32>) -> tensor<40x8xf32>
  return %0 : tensor<40x8xf32>
}

// -----

// A result that a stack places among others has its memory.
// CHECK-LABEL: func.func @placed(
// CHECK-NEXT: samba.call @single(
// CHECK-NEXT: samba.call @single(
// CHECK-NEXT: samba.stack
samba.section @single(%q: tensor<40x8xf32>) -> tensor<40x8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %q, %q {is_causal = true} : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>
  samba.yield %0 : tensor<40x8xf32>
}
func.func @placed(%q: tensor<40x8xf32>, %r: tensor<40x8xf32>) -> tensor<2x40x8xf32> {
  %0 = samba.call @single(%q) {id = 0, type = "FWD"} : (tensor<40x8xf32>) -> tensor<40x8xf32>
  %1 = samba.call @single(%r) {id = 1, type = "FWD"} : (tensor<40x8xf32>) -> tensor<40x8xf32>
  %2 = samba.stack %0, %1 : (tensor<40x8xf32>, tensor<40x8xf32>) -> tensor<2x40x8xf32>
  return %2 : tensor<2x40x8xf32>
}
