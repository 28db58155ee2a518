// Sums over all rows of what the graph makes are sums of blocks of 16 rows first, and then of these.
// RUN: samba-opt %s --samba-split-sums=target=tiny | FileCheck %s
// RUN: samba-opt %s --samba-split-sums=target=tiny -o %t.once && samba-opt %t.once --samba-split-sums=target=tiny -o %t.twice && diff %t.once %t.twice
// A PMU of sn40l holds all of them, and without a target the graph stays.
// RUN: samba-opt %s -o %t.plain && samba-opt %s --samba-split-sums=target=sn40l -o %t.large && diff %t.plain %t.large
// RUN: samba-opt %s --samba-split-sums -o %t.none && diff %t.plain %t.none

// CHECK-LABEL: func.func @rows
// CHECK: %[[ROWS:.*]] = samba.neg %arg0
// CHECK: %[[BLOCKS:.*]] = samba.reshape %[[ROWS]] {shape = [2, 4, 16, 512]} : tensor<2x64x512xf32>
// CHECK: %[[PARTS:.*]] = samba.sum %[[BLOCKS]] {dim = [2], keepdim = false} : tensor<2x4x16x512xf32>
// CHECK: %[[TANH:.*]] = samba.tanh
// The parts are added as late as they may be, here where their sum is used.
// CHECK-NEXT: %[[SUM:.*]] = samba.sum %[[PARTS]] {dim = [0, 1], keepdim = false} : tensor<2x4x512xf32>
// CHECK-NEXT: samba.mul %[[TANH]], %[[SUM]]
func.func @rows(%x: tensor<2x64x512xf32>) -> tensor<2x64x512xf32> {
  %0 = samba.neg %x : tensor<2x64x512xf32>
  %1 = samba.sum %0 {dim = [0, 1]} : tensor<2x64x512xf32>
  %2 = samba.tanh %0 : tensor<2x64x512xf32>
  %3 = samba.mul %2, %1 : tensor<2x64x512xf32>, tensor<512xf32>
  return %3 : tensor<2x64x512xf32>
}

// The rows of a matrix may be those of a tensor with more dimensions.
// CHECK-LABEL: func.func @matrix
// CHECK: samba.reshape %{{.*}} {shape = [2, 4, 16, 512]} : tensor<2x64x512xf32>
// CHECK: samba.sum %{{.*}} {dim = [0, 1], keepdim = false} : tensor<2x4x512xf32>
func.func @matrix(%x: tensor<2x64x512xf32>) -> tensor<512xf32> {
  %0 = samba.neg %x : tensor<2x64x512xf32>
  %1 = samba.reshape %0 {shape = [128, 512]} : tensor<2x64x512xf32>
  %2 = samba.sum %1 {dim = [-2]} : tensor<128x512xf32>
  return %2 : tensor<512xf32>
}

// CHECK-LABEL: func.func @kept
// CHECK: samba.sum %{{.*}} {dim = [0, 1], keepdim = true} : tensor<2x4x512xf32>
// CHECK: return %{{.*}} : tensor<1x1x512xf32>
func.func @kept(%x: tensor<2x64x512xf32>) -> tensor<1x1x512xf32> {
  %0 = samba.neg %x : tensor<2x64x512xf32>
  %1 = samba.sum %0 {dim = [1, 0], keepdim = true} : tensor<2x64x512xf32>
  return %1 : tensor<1x1x512xf32>
}

// In the other phases of a step nobody waits: the parts are added at the end of their own.
// CHECK-LABEL: func.func @phases
// CHECK: samba.tanh %{{.*}} {samba.phase = "BCKWD"}
// CHECK-NEXT: samba.sum %{{.*}} {dim = [0, 1], keepdim = false, samba.phase = "BCKWD"} : tensor<2x4x512xf32>
// CHECK-NEXT: samba.neg %{{.*}} {samba.phase = "OPT"}
func.func @phases(%x: tensor<2x64x512xf32>) -> (tensor<512xf32>, tensor<2x64x512xf32>) {
  %0 = samba.neg %x {samba.phase = "BCKWD"} : tensor<2x64x512xf32>
  %1 = samba.sum %0 {dim = [0, 1], samba.phase = "BCKWD"} : tensor<2x64x512xf32>
  %2 = samba.tanh %0 {samba.phase = "BCKWD"} : tensor<2x64x512xf32>
  %3 = samba.neg %2 {samba.phase = "OPT"} : tensor<2x64x512xf32>
  return %1, %3 : tensor<512xf32>, tensor<2x64x512xf32>
}

// What comes into the graph or from another phase, what a PMU holds, rows that make no blocks, and other sums stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: samba.reshape
func.func @others(%x: tensor<2x64x512xf32>, %y: tensor<2x40x512xf32>, %z: tensor<2x32x64xf32>)
    -> (tensor<512xf32>, tensor<512xf32>, tensor<64xf32>, tensor<2x64xf32>, tensor<64x512xf32>, tensor<512xf32>) {
  %0 = samba.sum %x {dim = [0, 1]} : tensor<2x64x512xf32>
  %1 = samba.neg %y : tensor<2x40x512xf32>
  %2 = samba.sum %1 {dim = [0, 1]} : tensor<2x40x512xf32>
  %3 = samba.neg %z : tensor<2x32x64xf32>
  %4 = samba.sum %3 {dim = [0, 1]} : tensor<2x32x64xf32>
  %5 = samba.neg %x : tensor<2x64x512xf32>
  %6 = samba.sum %5 {dim = [2]} : tensor<2x64x512xf32>
  %7 = samba.sum %5 {dim = [0]} : tensor<2x64x512xf32>
  %8 = samba.sum %5 {dim = [0, 1], samba.phase = "BCKWD"} : tensor<2x64x512xf32>
  return %0, %2, %4, %6, %7, %8 : tensor<512xf32>, tensor<512xf32>, tensor<64xf32>, tensor<2x64xf32>, tensor<64x512xf32>, tensor<512xf32>
}
