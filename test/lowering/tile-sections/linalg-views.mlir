// What a section yields that is no tensor of its own is copied, as upstream passes may leave it; views
// of tensor are read in place; a generic has several results.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping),convert-linalg-to-rdu)' -split-input-file | FileCheck %s

// CHECK-LABEL: rdu.section @view
samba.section @view(%x: tensor<2x3xf32>) -> tensor<3x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<2x3xf32>
  %1 = samba.permute %0 {dims = array<i64: 1, 0>} : tensor<2x3xf32>
  samba.yield %1 : tensor<3x2xf32>
}

// -----

// CHECK-LABEL: rdu.section @argument
samba.section @argument(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  samba.yield %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: rdu.section @twice
samba.section @twice(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// CHECK-LABEL: rdu.section @insert
samba.section @insert(%x: tensor<4xf32>) -> tensor<2x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<2x4xf32>
  %1 = tensor.insert_slice %x into %0[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  samba.yield %1 : tensor<2x4xf32>
}
