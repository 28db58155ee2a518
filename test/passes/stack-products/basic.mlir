// Equal products at the end of a phase, which nobody in it reads, are one product of stacked operands.
// RUN: samba-opt %s --split-input-file --pass-pipeline='builtin.module(samba-stack-products{target=tiny})' | FileCheck %s
// Twice is once.
// RUN: samba-opt %s --split-input-file --pass-pipeline='builtin.module(samba-stack-products{target=tiny})' > %t.once
// RUN: samba-opt %t.once --split-input-file --pass-pipeline='builtin.module(samba-stack-products{target=tiny})' | diff %t.once -
// Values are what they were, behind this pass and on the chip.
// RUN: samba-opt %s --split-input-file --samba-check-values="passes=samba-stack-products{target=tiny}" -o /dev/null
// RUN: samba-opt %s --split-input-file --samba-check-values="passes=samba-to-rdu{target=tiny}" -o /dev/null
// RUN: samba-opt %s --split-input-file --samba-to-rdu="target=tiny" | FileCheck %s --check-prefix=LAYERS
// LAYERS: rdu.compute {{.*}}layer = "layers.*.fc"

// Views are taken of the stacks. Both products of a layer read one value: it has one stack.
// CHECK-LABEL: func.func @layers(
// CHECK: %[[A:.*]] = samba.relu %arg0
// CHECK: %[[B:.*]] = samba.neg %arg0
// CHECK: %[[C:.*]] = samba.exp %arg1
// CHECK: %[[D:.*]] = samba.tanh %arg1
// CHECK-NOT: samba.matmul
// CHECK: %[[X:.*]] = samba.stack %[[A]], %[[B]] : (tensor<2x16x16xf32>, tensor<2x16x16xf32>) -> tensor<2x2x16x16xf32>
// CHECK-NEXT: %[[FLAT:.*]] = samba.reshape %[[X]] {samba.phase = "BCKWD", shape = [2, 32, 16]}
// CHECK-NEXT: %[[TURNED:.*]] = samba.permute %[[FLAT]] {dims = [0, 2, 1], samba.phase = "BCKWD"}
// CHECK-NEXT: %[[Y:.*]] = samba.stack %[[C]], %[[D]] : (tensor<32x8xf32>, tensor<32x8xf32>) -> tensor<2x32x8xf32>
// CHECK-NEXT: %[[P:.*]] = samba.matmul %[[TURNED]], %[[Y]] {samba.phase = "BCKWD"} : tensor<2x16x32xf32>, tensor<2x32x8xf32>
// CHECK-NEXT: samba.reshape %[[X]] {samba.phase = "BCKWD", shape = [2, 32, 16]}
// CHECK: samba.stack
// CHECK-NEXT: %[[Q:.*]] = samba.matmul %{{.*}}, %{{.*}} {samba.phase = "BCKWD"} : tensor<2x16x32xf32>, tensor<2x32x16xf32>
// CHECK-NEXT: %[[V:.*]]:2 = samba.unstack %[[Q]]
// CHECK-NEXT: %[[W:.*]]:2 = samba.unstack %[[P]] : (tensor<2x16x8xf32>) -> (tensor<16x8xf32>, tensor<16x8xf32>)
// CHECK-NEXT: samba.add %[[W]]#0, %[[W]]#1 {samba.phase = "OPT"}
// CHECK-NEXT: return {{.*}}, %[[V]]#0, %[[V]]#1
func.func @layers(%x: tensor<2x16x16xf32>, %y: tensor<32x8xf32>)
    -> (tensor<16x8xf32>, tensor<16x16xf32>, tensor<16x16xf32>) attributes {samba.graph = {mode = "training"}} {
  %a = samba.relu %x : tensor<2x16x16xf32>
  %b = samba.neg %x : tensor<2x16x16xf32>
  %c = samba.exp %y {samba.phase = "BCKWD"} : tensor<32x8xf32>
  %e = samba.cat %c, %c {dim = 1, samba.phase = "BCKWD"} : tensor<32x8xf32>, tensor<32x8xf32>
  %f = samba.reshape %a {shape = [32, 16], samba.phase = "BCKWD"} : tensor<2x16x16xf32>
  %t = samba.permute %f {dims = [1, 0], samba.phase = "BCKWD"} : tensor<32x16xf32>
  %0 = samba.matmul %t, %c {samba.phase = "BCKWD"} : tensor<16x32xf32>, tensor<32x8xf32> loc("layers.0.fc")
  %1 = samba.matmul %t, %e {samba.phase = "BCKWD"} : tensor<16x32xf32>, tensor<32x16xf32>
  %d = samba.tanh %y {samba.phase = "BCKWD"} : tensor<32x8xf32>
  %g = samba.cat %d, %d {dim = 1, samba.phase = "BCKWD"} : tensor<32x8xf32>, tensor<32x8xf32>
  %h = samba.reshape %b {shape = [32, 16], samba.phase = "BCKWD"} : tensor<2x16x16xf32>
  %u = samba.permute %h {dims = [1, 0], samba.phase = "BCKWD"} : tensor<32x16xf32>
  %2 = samba.matmul %u, %d {samba.phase = "BCKWD"} : tensor<16x32xf32>, tensor<32x8xf32> loc("layers.1.fc")
  %3 = samba.matmul %u, %g {samba.phase = "BCKWD"} : tensor<16x32xf32>, tensor<32x16xf32>
  %4 = samba.add %0, %2 {samba.phase = "OPT"} : tensor<16x8xf32>, tensor<16x8xf32>
  return %4, %1, %3 : tensor<16x8xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// Not where the phase itself reads a result, where arguments, constants or results of the graph are read, where an operand
// is in two groups or twice in one, where parts do not begin at lines, or where there is but one.
// CHECK-LABEL: func.func @apart(
// CHECK-NOT: samba.stack
func.func @apart(%x: tensor<16x16xf32>, %y: tensor<16x32xf32>, %z: tensor<16x7xf32>, %k: tensor<48x16xf32>)
    -> (tensor<16x16xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x7xf32>, tensor<16x7xf32>, tensor<48x16xf32>,
        tensor<16x16xf32>, tensor<16x16xf32>) attributes {samba.graph = {mode = "training"}} {
  %a = samba.relu %x : tensor<16x16xf32>
  %b = samba.neg %x : tensor<16x16xf32>
  %c = samba.exp %x : tensor<16x16xf32>
  %d = samba.tanh %x : tensor<16x16xf32>
  %e = samba.relu %y : tensor<16x32xf32>
  %f = samba.relu %z : tensor<16x7xf32>
  %g = samba.exp %z : tensor<16x7xf32>
  %h = samba.relu %k : tensor<48x16xf32>
  %0 = samba.matmul %a, %b {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x16xf32>
  %1 = samba.matmul %c, %d {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x16xf32>
  %2 = samba.add %0, %1 {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x16xf32>
  %3 = samba.matmul %x, %e {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x32xf32>
  %4 = samba.matmul %a, %y {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x32xf32>
  %5 = samba.matmul %a, %f {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x7xf32>
  %6 = samba.matmul %b, %g {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x7xf32>
  %7 = samba.matmul %h, %a {samba.phase = "BCKWD"} : tensor<48x16xf32>, tensor<16x16xf32>
  %8 = samba.matmul %a, %d {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x16xf32>
  %9 = samba.matmul %b, %d {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x16xf32>
  return %2, %3, %4, %5, %6, %7, %8, %9 : tensor<16x16xf32>, tensor<16x32xf32>, tensor<16x32xf32>, tensor<16x7xf32>,
      tensor<16x7xf32>, tensor<48x16xf32>, tensor<16x16xf32>, tensor<16x16xf32>
}

// -----

// Not in a graph for inference, and not where a result's region is somebody else's, too.
// CHECK-LABEL: func.func @inference(
// CHECK-NOT: samba.stack
func.func @inference(%x: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %a = samba.relu %x : tensor<16x16xf32>
  %b = samba.neg %x : tensor<16x16xf32>
  %c = samba.exp %x : tensor<16x16xf32>
  %d = samba.tanh %x : tensor<16x16xf32>
  %0 = samba.matmul %a, %b : tensor<16x16xf32>, tensor<16x16xf32>
  %1 = samba.matmul %c, %d : tensor<16x16xf32>, tensor<16x16xf32>
  return %0, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}
// CHECK-LABEL: func.func @regions(
// CHECK-NOT: samba.stack
func.func @regions(%x: tensor<16x16xf32> {samba.name = "x"})
    -> (tensor<16x16xf32> {samba.region = "x"}, tensor<16x16xf32> {samba.region = "g"}) attributes {samba.graph = {mode = "training"}} {
  %a = samba.relu %x : tensor<16x16xf32>
  %b = samba.neg %x : tensor<16x16xf32>
  %c = samba.exp %x : tensor<16x16xf32>
  %d = samba.tanh %x : tensor<16x16xf32>
  %0 = samba.matmul %a, %b {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x16xf32>
  %1 = samba.matmul %c, %d {samba.phase = "BCKWD"} : tensor<16x16xf32>, tensor<16x16xf32>
  return %0, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}
