// S056, lower half: a section has one phase, its calls have the phase's type, and equal sections are
// one whatever their phase.
// RUN: samba-opt %s --samba-partition-sections=target=sn40l --split-input-file --verify-diagnostics | FileCheck %s
// RUN: samba-opt %s --samba-partition-sections="target=sn40l opt=o0" --split-input-file --verify-diagnostics | FileCheck %s --check-prefix=O0

// Without phases all of this would be one section.
// CHECK: samba.section @s0
// CHECK-NOT: samba.phase
// CHECK: samba.section @s1
// CHECK-NOT: samba.section
// CHECK: func.func @step
// CHECK: %[[Y:.*]] = samba.call @s0(%{{.*}}, %{{.*}}) {id = 0{{.*}} type = "FWD"}
// CHECK: %[[G:.*]] = samba.call @s0(%[[Y]], %{{.*}}) {id = 1{{.*}} type = "BCKWD"}
// CHECK: samba.call @s1(%{{.*}}, %[[G]]) {id = 2{{.*}} type = "OPT"}
// O0-COUNT-3: samba.section
// O0-NOT: samba.section
// O0: samba.call @s0({{.*}}type = "FWD"
// O0: samba.call @s1({{.*}}type = "FWD"
// O0: samba.call @s0({{.*}}type = "BCKWD"
// O0: samba.call @s1({{.*}}type = "BCKWD"
// O0: samba.call @s2({{.*}}type = "OPT"
func.func @step(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.matmul %x, %w : tensor<8x8xf32>, tensor<8x8xf32>
  %1 = samba.relu %0 {samba.phase = "FWD"} : tensor<8x8xf32>
  %2 = samba.matmul %1, %w {samba.phase = "BCKWD"} : tensor<8x8xf32>, tensor<8x8xf32>
  %3 = samba.relu %2 {samba.phase = "BCKWD"} : tensor<8x8xf32>
  %4 = samba.sub %w, %3 {samba.phase = "OPT"} : tensor<8x8xf32>, tensor<8x8xf32>
  return %1, %4 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// All six, in the order of a step.
// CHECK-LABEL: @six
// CHECK: "ZEROGRAD"
// CHECK: "FWD"
// CHECK: "BCKWD"
// CHECK: "REDUCE"
// CHECK: "GRADNORM"
// CHECK: "OPT"
func.func @six(%x: tensor<8xf32>) -> tensor<8xf32> attributes {samba.graph = {mode = "training"}} {
  %0 = samba.neg %x {samba.phase = "ZEROGRAD"} : tensor<8xf32>
  %1 = samba.exp %0 : tensor<8xf32>
  %2 = samba.tanh %1 {samba.phase = "BCKWD"} : tensor<8xf32>
  %3 = samba.sin %2 {samba.phase = "REDUCE"} : tensor<8xf32>
  %4 = samba.cos %3 {samba.phase = "GRADNORM"} : tensor<8xf32>
  %5 = samba.abs %4 {samba.phase = "OPT"} : tensor<8xf32>
  return %5 : tensor<8xf32>
}

// -----

func.func @order(%x: tensor<8xf32>) -> tensor<8xf32> attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x {samba.phase = "OPT"} : tensor<8xf32> loc("update")
  // expected-error@below {{'samba.neg' op has phase GRADNORM, but stands behind 'samba.exp' (layer "update") of phase OPT; the phases of a step are ZEROGRAD, FWD, BCKWD, REDUCE, GRADNORM and OPT, in this order}}
  %1 = samba.neg %0 {samba.phase = "GRADNORM"} : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func @inference(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@below {{'samba.neg' op has phase BCKWD, but its graph is for inference; give the function samba.graph = {mode = "training"}}}
  %0 = samba.neg %x {samba.phase = "BCKWD"} : tensor<8xf32>
  return %0 : tensor<8xf32>
}
