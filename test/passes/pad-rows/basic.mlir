// What the forward pass leaves for products of the backward pass has rows of whole bursts: of 64
// bytes on sn40l, so 523 elements of bf16 become 544.
// RUN: samba-opt %s --split-input-file --pass-pipeline='builtin.module(samba-pad-rows{target=sn40l})' | FileCheck %s
// Twice is once.
// RUN: samba-opt %s --split-input-file --pass-pipeline='builtin.module(samba-pad-rows{target=sn40l},canonicalize)' > %t.once
// RUN: samba-opt %t.once --split-input-file --pass-pipeline='builtin.module(samba-pad-rows{target=sn40l},canonicalize)' | diff %t.once -

// CHECK-LABEL: func.func @table(
// CHECK: %[[X:.*]] = samba.exp %arg0
// CHECK-NEXT: %[[PAD:.*]] = samba.pad %[[X]] {high = [0, 21], low = [0, 0]}
// CHECK-NEXT: %[[PADDED:.*]] = samba.contiguous %[[PAD]] : tensor<1024x544xbf16>
// CHECK: %[[COLUMNS:.*]] = samba.slice %[[PADDED]] {ends = [1024, 523], samba.phase = "BCKWD", starts = [0, 0], steps = [1, 1]}
// CHECK: %[[TURNED:.*]] = samba.permute %[[COLUMNS]]
// CHECK: samba.matmul %[[TURNED]], %arg1 {samba.phase = "BCKWD"}
// CHECK: %[[ZEROS:.*]] = samba.pad %arg2 {high = [21, 0], low = [0, 0], samba.phase = "BCKWD"}
// CHECK: samba.matmul %[[PADDED]], %[[ZEROS]] {samba.phase = "BCKWD"} : tensor<1024x544xbf16>, tensor<544x2xbf16>
func.func @table(%x: tensor<1024x523xbf16>, %h: tensor<1024x2xbf16>, %w: tensor<523x2xbf16>)
    -> (tensor<523x2xbf16>, tensor<1024x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<1024x523xbf16>
  %2 = samba.permute %0 {dims = [1, 0], samba.phase = "BCKWD"} : tensor<1024x523xbf16>
  %3 = samba.matmul %2, %h {samba.phase = "BCKWD"} : tensor<523x1024xbf16>, tensor<1024x2xbf16>
  %4 = samba.matmul %0, %w {samba.phase = "BCKWD"} : tensor<1024x523xbf16>, tensor<523x2xbf16>
  return %3, %4 : tensor<523x2xbf16>, tensor<1024x2xbf16>
}

// -----

// Not where rows are whole bursts or few, where a PMU holds the table, where the same phase or others read the table, or where
// no elementwise operator makes it.
// CHECK-LABEL: func.func @stays(
// CHECK-NOT: samba.pad
func.func @stays(%x: tensor<1024x544xbf16>, %y: tensor<1024x500xbf16>, %z: tensor<1024x523xbf16>, %w: tensor<544x2xbf16>, %v: tensor<500x2xbf16>,
                 %u: tensor<523x2xbf16>, %k: tensor<523x2xbf16>, %little: tensor<256x523xbf16>)
    -> (tensor<1024x2xbf16>, tensor<1024x2xbf16>, tensor<1024x2xbf16>, tensor<1024x2xbf16>, tensor<1024x523xbf16>, tensor<1024x2xbf16>, tensor<256x2xbf16>)
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<1024x544xbf16>
  %1 = samba.exp %y : tensor<1024x500xbf16>
  %2 = samba.exp %z : tensor<1024x523xbf16>
  %3 = samba.matmul %2, %u : tensor<1024x523xbf16>, tensor<523x2xbf16>
  %10 = samba.neg %z : tensor<1024x523xbf16>
  %11 = samba.linear %3, %k : tensor<1024x2xbf16>, tensor<523x2xbf16>
  %12 = samba.neg %little : tensor<256x523xbf16>
  %13 = samba.matmul %12, %u {samba.phase = "BCKWD"} : tensor<256x523xbf16>, tensor<523x2xbf16>
  %4 = samba.matmul %0, %w {samba.phase = "BCKWD"} : tensor<1024x544xbf16>, tensor<544x2xbf16>
  %5 = samba.matmul %1, %v {samba.phase = "BCKWD"} : tensor<1024x500xbf16>, tensor<500x2xbf16>
  %6 = samba.matmul %10, %u {samba.phase = "BCKWD"} : tensor<1024x523xbf16>, tensor<523x2xbf16>
  %7 = samba.matmul %11, %u {samba.phase = "BCKWD"} : tensor<1024x523xbf16>, tensor<523x2xbf16>
  return %3, %4, %5, %6, %10, %7, %13 : tensor<1024x2xbf16>, tensor<1024x2xbf16>, tensor<1024x2xbf16>, tensor<1024x2xbf16>, tensor<1024x523xbf16>, tensor<1024x2xbf16>, tensor<256x2xbf16>
}
