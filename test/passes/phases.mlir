// What a pass makes of an operation belongs to the phase of that operation.
// RUN: samba-opt %s --samba-decompose-composites | FileCheck %s --check-prefix=DECOMPOSE
// RUN: samba-opt %s --samba-mixed-precision=preset=mp1 | FileCheck %s --check-prefix=MP1
// RUN: samba-opt %s --samba-mixed-precision=preset=mp4 | FileCheck %s --check-prefix=MP4
// RUN: samba-opt %s --samba-raise-idioms --cse | FileCheck %s --check-prefix=RAISE
// RUN: samba-opt %s --canonicalize --cse | FileCheck %s --check-prefix=CANONICAL

// DECOMPOSE-LABEL: @update
// DECOMPOSE-COUNT-4: samba.{{mul|add|sub}} {{.*}}samba.phase = "OPT"
// DECOMPOSE-NOT: samba.phase
// DECOMPOSE: return
func.func @update(%w: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>, %decay: tensor<f32>)
    -> tensor<4xf32> {
  %0 = samba.sgd_update %w, %g, %lr, %decay {samba.phase = "OPT"}
      : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
  return %0 : tensor<4xf32>
}

// A cat that is cut.
// DECOMPOSE-LABEL: @long
// DECOMPOSE-COUNT-2: samba.cat {{.*}}samba.phase = "REDUCE"
// DECOMPOSE-NEXT: return
func.func @long(%x: tensor<1xf32>) -> tensor<17xf32> {
  %0 = samba.cat %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x, %x
      {dim = 0, samba.phase = "REDUCE"}
      : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>,
        tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>,
        tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
  return %0 : tensor<17xf32>
}

// MP1-LABEL: @contraction
// MP1-COUNT-2: samba.cast {{.*}}samba.phase = "BCKWD"
// MP1: samba.matmul {{.*}}samba.phase = "BCKWD"
// MP4-LABEL: @contraction
// MP4: samba.matmul {{.*}}samba.phase = "BCKWD"
// MP4: samba.cast {{.*}}samba.phase = "OPT"
// MP4: samba.exp {{.*}}samba.phase = "OPT"
// MP4: samba.cast {{.*}}samba.phase = "OPT"
// MP4: samba.neg
func.func @contraction(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = samba.matmul %x, %x {samba.phase = "BCKWD"} : tensor<8x8xf32>, tensor<8x8xf32>
  %1 = samba.exp %0 {samba.graphamp = false, samba.phase = "OPT"} : tensor<8x8xf32>
  %2 = samba.neg %1 {samba.phase = "OPT"} : tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// What is raised belongs to the phase of what it replaces ...
// RAISE-LABEL: @silu
// RAISE: samba.silu {{.*}}samba.phase = "BCKWD"
// RAISE-NEXT: return
func.func @silu(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = samba.sigmoid %x {samba.phase = "BCKWD"} : tensor<8xf32>
  %1 = samba.mul %x, %0 {samba.phase = "BCKWD"} : tensor<8xf32>, tensor<8xf32>
  return %1 : tensor<8xf32>
}

// ... and nothing is raised out of two phases.
// RAISE-LABEL: @apart
// RAISE-NEXT: samba.sigmoid
// RAISE-NEXT: samba.mul
// RAISE-NEXT: return
func.func @apart(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = samba.sigmoid %x : tensor<8xf32>
  %1 = samba.mul %x, %0 {samba.phase = "BCKWD"} : tensor<8xf32>, tensor<8xf32>
  return %1 : tensor<8xf32>
}

// RAISE-LABEL: @scaled_apart
// RAISE: samba.rms_norm
// RAISE: samba.mul {{.*}}samba.phase = "BCKWD"
func.func @scaled_apart(%x: tensor<4x8xf32>, %w: tensor<8xf32>) -> tensor<4x8xf32> {
  %eps = samba.constant {value = dense<1.0e-5> : tensor<f32>}
  %0 = samba.mul %x, %x : tensor<4x8xf32>, tensor<4x8xf32>
  %1 = samba.mean %0 {dim = array<i64: 1>, keepdim = true} : tensor<4x8xf32>
  %2 = samba.add %1, %eps : tensor<4x1xf32>, tensor<f32>
  %3 = samba.rsqrt %2 : tensor<4x1xf32>
  %4 = samba.mul %x, %3 : tensor<4x8xf32>, tensor<4x1xf32>
  %5 = samba.mul %4, %w {samba.phase = "BCKWD"} : tensor<4x8xf32>, tensor<8xf32>
  return %5 : tensor<4x8xf32>
}

// Equal operations of two phases stay two; a pattern keeps the phase of its root.
// CANONICAL-LABEL: @twice
// CANONICAL: samba.exp %{{.*}} : tensor<8xf32>
// CANONICAL: samba.exp %{{.*}} {samba.phase = "BCKWD"}
// CANONICAL-NEXT: samba.cat %{{.*}}, %{{.*}}, %{{.*}} {dim = 0, samba.phase = "BCKWD"}
func.func @twice(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<24xf32>) {
  %0 = samba.exp %x : tensor<8xf32>
  %1 = samba.exp %x {samba.phase = "BCKWD"} : tensor<8xf32>
  %2 = samba.cat %x, %x {dim = 0, samba.phase = "BCKWD"} : tensor<8xf32>, tensor<8xf32>
  %3 = samba.cat %1, %2 {dim = 0, samba.phase = "BCKWD"} : tensor<8xf32>, tensor<16xf32>
  return %0, %3 : tensor<8xf32>, tensor<24xf32>
}
