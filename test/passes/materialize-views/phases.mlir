// A copy belongs to the phase of those that read it, and each phase has its own: a phase that runs
// alone finds what it reads.
// RUN: samba-opt %s --samba-materialize-views | FileCheck %s

// CHECK-LABEL: @copies
// The repeated constant and the reshaped view are read in two phases.
// CHECK: samba.neg %{{.*}} {samba.phase = "ZEROGRAD"}
// CHECK: %[[F:.*]] = samba.contiguous %{{.*}} : tensor<4x6xf32>
// CHECK: samba.gather %[[F]]
// CHECK-NOT: samba.phase
// The end of FWD: a view that leaves the graph is copied where it was made.
// CHECK: samba.contiguous %{{.*}} : tensor<6x4xf32>
// CHECK: %[[B:.*]] = samba.contiguous %{{.*}} {samba.phase = "BCKWD"} : tensor<4x6xf32>
// CHECK: samba.gather %[[B]], %{{.*}} {dim = 0, samba.phase = "BCKWD"}
// CHECK: samba.permute
// CHECK: samba.contiguous %{{.*}} {samba.phase = "BCKWD"} : tensor<6x4xf32>
// CHECK: samba.abs %{{.*}} {samba.phase = "OPT"}
// CHECK-NEXT: return
func.func @copies(%x: tensor<4x6xf32>, %at: tensor<2x6xi64>)
    -> (tensor<4x6xf32>, tensor<2x6xf32>, tensor<6x4xf32>, tensor<2x6xf32>, tensor<6x4xf32>,
        tensor<4x6xf32>) attributes {samba.graph = {mode = "training"}} {
  %c = samba.constant {value = dense<2.0> : tensor<4x6xf32>}
  %zero = samba.neg %x {samba.phase = "ZEROGRAD"} : tensor<4x6xf32>
  %0 = samba.gather %c, %at {dim = 0} : tensor<4x6xf32>, tensor<2x6xi64>
  %1 = samba.exp %x : tensor<4x6xf32>
  %2 = samba.permute %1 {dims = array<i64: 1, 0>} : tensor<4x6xf32>
  %3 = samba.gather %c, %at {dim = 0, samba.phase = "BCKWD"} : tensor<4x6xf32>, tensor<2x6xi64>
  %4 = samba.tanh %x {samba.phase = "BCKWD"} : tensor<4x6xf32>
  %5 = samba.permute %4 {dims = array<i64: 1, 0>} : tensor<4x6xf32>
  %6 = samba.abs %4 {samba.phase = "OPT"} : tensor<4x6xf32>
  return %zero, %0, %2, %3, %5, %6 : tensor<4x6xf32>, tensor<2x6xf32>, tensor<6x4xf32>,
      tensor<2x6xf32>, tensor<6x4xf32>, tensor<4x6xf32>
}

// Later phases read what a phase returns, not what it is a view of; the phase itself reads the view.
// CHECK-LABEL: @returned
// CHECK: %[[V:.*]] = samba.permute
// CHECK: samba.neg %[[V]] {samba.phase = "BCKWD"}
// CHECK: %[[C:.*]] = samba.contiguous %[[V]] {samba.phase = "BCKWD"}
// CHECK: samba.sub %{{.*}}, %[[C]] {samba.phase = "OPT"}
// CHECK: return %[[C]]
func.func @returned(%x: tensor<4x6xf32>, %w: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x {samba.phase = "BCKWD"} : tensor<4x6xf32>
  %1 = samba.permute %0 {dims = array<i64: 1, 0>, samba.phase = "BCKWD"} : tensor<4x6xf32>
  %2 = samba.neg %1 {samba.phase = "BCKWD"} : tensor<6x4xf32>
  %3 = samba.sub %w, %1 {samba.phase = "OPT"} : tensor<6x4xf32>, tensor<6x4xf32>
  return %1, %2, %3 : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
}

// What an operator makes is copied once: the copy of its own phase serves later ones. An argument may
// be written between phases, so that each phase has a copy of it.
// CHECK-LABEL: @once
// CHECK: %[[A:.*]] = samba.permute %{{.*}} : tensor<4x6xf32>
// CHECK-NEXT: %[[ONCE:.*]] = samba.contiguous %[[A]] : tensor<6x4xf32>
// CHECK: samba.reshape %[[ONCE]] {shape = [24]}
// CHECK: samba.contiguous %{{.*}} : tensor<6x4xf32>
// CHECK: samba.contiguous %{{.*}} {samba.phase = "BCKWD"} : tensor<6x4xf32>
// CHECK: samba.reshape %[[ONCE]] {samba.phase = "BCKWD", shape = [8, 3]}
// CHECK-NOT: samba.contiguous
// CHECK: return
func.func @once(%x: tensor<4x6xf32>, %w: tensor<4x6xf32>) -> (tensor<24xf32>, tensor<8x3xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<4x6xf32>
  %1 = samba.permute %0 {dims = array<i64: 1, 0>} : tensor<4x6xf32>
  %2 = samba.reshape %1 {shape = array<i64: 24>} : tensor<6x4xf32>
  %3 = samba.permute %w {dims = array<i64: 1, 0>} : tensor<4x6xf32>
  %4 = samba.reshape %3 {shape = array<i64: 24>} : tensor<6x4xf32>
  %5 = samba.sub %2, %4 : tensor<24xf32>, tensor<24xf32>
  %6 = samba.reshape %1 {samba.phase = "BCKWD", shape = array<i64: 8, 3>} : tensor<6x4xf32>
  %7 = samba.reshape %3 {samba.phase = "BCKWD", shape = array<i64: 8, 3>} : tensor<6x4xf32>
  %8 = samba.sub %6, %7 {samba.phase = "BCKWD"} : tensor<8x3xf32>, tensor<8x3xf32>
  return %5, %8 : tensor<24xf32>, tensor<8x3xf32>
}

// What its own phase reads of a result is a copy in another order: later phases read that, turned
// back, and the result itself need not be in memory. Two permutations are turned back by one.
// CHECK-LABEL: @turned_back
// CHECK: %[[R:.*]] = samba.exp
// CHECK: %[[V:.*]] = samba.permute %[[R]] {dims = [1, 2, 0]}
// CHECK: %[[P:.*]] = samba.permute %[[V]] {dims = [0, 2, 1]}
// CHECK: %[[C:.*]] = samba.contiguous %[[P]]
// CHECK: %[[T:.*]] = samba.permute %[[C]] {dims = [1, 0, 2]} : tensor<4x2x6xf32>
// CHECK: samba.neg %[[T]] {samba.phase = "BCKWD"} : tensor<2x4x6xf32>
func.func @turned_back(%x: tensor<2x4x6xf32>) -> (tensor<48xf32>, tensor<2x4x6xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<2x4x6xf32>
  %1 = samba.permute %0 {dims = array<i64: 1, 2, 0>} : tensor<2x4x6xf32>
  %2 = samba.permute %1 {dims = array<i64: 0, 2, 1>} : tensor<4x6x2xf32>
  %3 = samba.reshape %2 {shape = array<i64: 48>} : tensor<4x2x6xf32>
  %4 = samba.neg %3 : tensor<48xf32>
  %5 = samba.neg %0 {samba.phase = "BCKWD"} : tensor<2x4x6xf32>
  return %4, %5 : tensor<48xf32>, tensor<2x4x6xf32>
}

// The phase itself reads the result too: it is in memory anyway.
// CHECK-LABEL: @read_as_it_is
// CHECK: %[[R:.*]] = samba.exp
// CHECK: samba.neg %[[R]] {samba.phase = "BCKWD"}
func.func @read_as_it_is(%x: tensor<4x6xf32>) -> (tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<4x6xf32>
  %1 = samba.permute %0 {dims = array<i64: 1, 0>} : tensor<4x6xf32>
  %2 = samba.reshape %1 {shape = array<i64: 24>} : tensor<6x4xf32>
  %3 = samba.neg %2 : tensor<24xf32>
  %4 = samba.abs %0 : tensor<4x6xf32>
  %5 = samba.neg %0 {samba.phase = "BCKWD"} : tensor<4x6xf32>
  return %3, %4, %5 : tensor<24xf32>, tensor<4x6xf32>, tensor<4x6xf32>
}
