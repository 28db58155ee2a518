// RUN: samba-opt %s --samba-decompose-composites --canonicalize | FileCheck %s
// RUN: samba-opt %s --samba-decompose-composites --canonicalize --cse --samba-materialize-views --samba-partition-sections | FileCheck %s --check-prefix=SECTIONS

// A cat of more operands than a section takes becomes groups, which canonicalization leaves alone.
// CHECK-LABEL: func.func @long_cat
// CHECK: %[[A:.*]] = samba.cat %arg0, %arg1,
// CHECK: %[[B:.*]] = samba.cat %arg16, %arg17,
// CHECK: %[[C:.*]] = samba.cat %arg32, %arg33, %arg34 {dim = 0}
// CHECK: %[[D:.*]] = samba.cat %[[A]], %[[B]], %[[C]] {dim = 0} : tensor<16x2xf32>, tensor<16x2xf32>, tensor<3x2xf32>
// CHECK: return %[[D]]
func.func @long_cat(%a0: tensor<1x2xf32>, %a1: tensor<1x2xf32>, %a2: tensor<1x2xf32>, %a3: tensor<1x2xf32>, %a4: tensor<1x2xf32>, %a5: tensor<1x2xf32>, %a6: tensor<1x2xf32>, %a7: tensor<1x2xf32>, %a8: tensor<1x2xf32>, %a9: tensor<1x2xf32>, %a10: tensor<1x2xf32>, %a11: tensor<1x2xf32>, %a12: tensor<1x2xf32>, %a13: tensor<1x2xf32>, %a14: tensor<1x2xf32>, %a15: tensor<1x2xf32>, %a16: tensor<1x2xf32>, %a17: tensor<1x2xf32>, %a18: tensor<1x2xf32>, %a19: tensor<1x2xf32>, %a20: tensor<1x2xf32>, %a21: tensor<1x2xf32>, %a22: tensor<1x2xf32>, %a23: tensor<1x2xf32>, %a24: tensor<1x2xf32>, %a25: tensor<1x2xf32>, %a26: tensor<1x2xf32>, %a27: tensor<1x2xf32>, %a28: tensor<1x2xf32>, %a29: tensor<1x2xf32>, %a30: tensor<1x2xf32>, %a31: tensor<1x2xf32>, %a32: tensor<1x2xf32>, %a33: tensor<1x2xf32>, %a34: tensor<1x2xf32>) -> tensor<35x2xf32> {
  %y = samba.cat %a0, %a1, %a2, %a3, %a4, %a5, %a6, %a7, %a8, %a9, %a10, %a11, %a12, %a13, %a14, %a15, %a16, %a17, %a18, %a19, %a20, %a21, %a22, %a23, %a24, %a25, %a26, %a27, %a28, %a29, %a30, %a31, %a32, %a33, %a34 {dim = 0} : tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>
  return %y : tensor<35x2xf32>
}

// A long layer: the blocks after the first are one section, called again and again; steps inside a block are slices.
// CHECK-LABEL: func.func @layer
// CHECK: samba.linear
// CHECK: %[[I:.*]] = samba.index_select {{.*}}samba.starts_section = true
// CHECK: samba.slice %[[I]]
// CHECK: samba.rnn_cell
// SECTIONS-LABEL: func.func @layer
// SECTIONS: samba.call @[[REPEATED:s[0-9]+]]({{.*}}) {id = 4,
// SECTIONS-NEXT: samba.call @[[REPEATED]]({{.*}}) {id = 5,
// SECTIONS-NEXT: samba.call @[[REPEATED]]({{.*}}) {id = 6,
func.func @layer(%x: tensor<80x2x3xf32>, %w: tensor<1x4x3xf32>, %r: tensor<1x4x4xf32>) -> tensor<1x2x4xf32> {
  %y, %h = samba.rnn %x, %w, %r : tensor<80x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>
  return %h : tensor<1x2x4xf32>
}
