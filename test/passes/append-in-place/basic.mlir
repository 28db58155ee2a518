// A cache that a graph appends to lies where the result has it; nothing but the new tokens is stored.
// RUN: samba-opt %s --split-input-file --samba-append-in-place | FileCheck %s
// RUN: samba-opt %s --split-input-file --samba-append-in-place -o %t.once && samba-opt %t.once --split-input-file --samba-append-in-place -o %t.twice && diff %t.once %t.twice

// CHECK-LABEL: func.func @cache(
// CHECK-SAME: tensor<2x4x3xf32> {samba.block = array<i64: 12, 15>, samba.name = "past", samba.region = "past"}
// CHECK-SAME: -> (tensor<2x5x3xf32> {samba.name = "present", samba.region = "past"})
// CHECK: samba.cat %{{.*}}, %{{.*}} {dim = -2, in_place = true}
func.func @cache(%past: tensor<2x4x3xf32> {samba.name = "past"}, %new: tensor<2x1x3xf32> {samba.name = "new"})
    -> (tensor<2x5x3xf32> {samba.name = "present"}) {
  %0 = samba.cat %past, %new {dim = -2} : tensor<2x4x3xf32>, tensor<2x1x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// -----

// Somebody else reads it; it comes second; its memory is decided; it is a weight; nobody returns it.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: samba.block
// CHECK-NOT: in_place
func.func @others(%read: tensor<2x4xf32> {samba.name = "read"}, %second: tensor<2x4xf32> {samba.name = "second"},
                  %host: tensor<2x4xf32> {samba.name = "host", samba.mem = "host"},
                  %weight: tensor<2x4xf32> {samba.name = "weight", samba.kind = "weight"},
                  %kept: tensor<2x4xf32> {samba.name = "kept"}, %new: tensor<2x1xf32> {samba.name = "new"})
    -> (tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x4xf32>) {
  %0 = samba.cat %read, %new {dim = 1} : tensor<2x4xf32>, tensor<2x1xf32>
  %1 = samba.relu %read : tensor<2x4xf32>
  %2 = samba.cat %new, %second {dim = 1} : tensor<2x1xf32>, tensor<2x4xf32>
  %3 = samba.cat %host, %new {dim = 1} : tensor<2x4xf32>, tensor<2x1xf32>
  %4 = samba.cat %weight, %new {dim = 1} : tensor<2x4xf32>, tensor<2x1xf32>
  %5 = samba.cat %kept, %new {dim = 1} : tensor<2x4xf32>, tensor<2x1xf32>
  %6 = samba.relu %5 : tensor<2x5xf32>
  return %0, %2, %3, %4, %6, %1 : tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x5xf32>, tensor<2x4xf32>
}
