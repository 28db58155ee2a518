// What is put among the rows of another tensor lies there already, and so does what is put over it: no stack may place it.
// RUN: samba-opt %s --split-input-file --pass-pipeline='builtin.module(samba-stack-products{target=tiny})' | FileCheck %s

// CHECK-LABEL: func.func @put(
// CHECK-NOT: samba.stack
// CHECK: return
func.func @put(%x: tensor<16x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %a = samba.relu %x : tensor<16x16xf32>
  %b = samba.neg %x : tensor<16x16xf32>
  %c = samba.put_slice %x {dim = 0, start = 0, size = 32} : tensor<16x16xf32>
  %d = samba.put_slice %a, %c {dim = 0, start = 16, size = 32} : tensor<16x16xf32>, tensor<32x16xf32>
  %e = samba.put_slice %x {dim = 0, start = 0, size = 32} : tensor<16x16xf32>
  %f = samba.put_slice %b, %e {dim = 0, start = 16, size = 32} : tensor<16x16xf32>, tensor<32x16xf32>
  %g = samba.exp %x : tensor<16x16xf32>
  %h = samba.tanh %x : tensor<16x16xf32>
  %0 = samba.matmul %d, %g {samba.phase = "BCKWD"} : tensor<32x16xf32>, tensor<16x16xf32>
  %1 = samba.matmul %f, %h {samba.phase = "BCKWD"} : tensor<32x16xf32>, tensor<16x16xf32>
  return %0, %1 : tensor<32x16xf32>, tensor<32x16xf32>
}

// -----

// CHECK-LABEL: func.func @put_over(
// CHECK-NOT: samba.stack
// CHECK: return
func.func @put_over(%x: tensor<16x16xf32>, %y: tensor<32x16xf32>)
    -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %a = samba.relu %y : tensor<32x16xf32>
  %b = samba.neg %y : tensor<32x16xf32>
  %g = samba.exp %x : tensor<16x16xf32>
  %h = samba.tanh %x : tensor<16x16xf32>
  %0 = samba.matmul %a, %g {samba.phase = "BCKWD"} : tensor<32x16xf32>, tensor<16x16xf32>
  %1 = samba.matmul %b, %h {samba.phase = "BCKWD"} : tensor<32x16xf32>, tensor<16x16xf32>
  %2 = samba.put_slice %x, %a {dim = 0, start = 16, size = 32} : tensor<16x16xf32>, tensor<32x16xf32>
  %3 = samba.put_slice %x, %b {dim = 0, start = 16, size = 32} : tensor<16x16xf32>, tensor<32x16xf32>
  return %0, %1, %2, %3 : tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>
}

// -----

// Alike, but for the put_slice: these are stacked.
// CHECK-LABEL: func.func @free(
// CHECK: samba.stack
func.func @free(%x: tensor<16x16xf32>, %y: tensor<32x16xf32>) -> (tensor<32x16xf32>, tensor<32x16xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %a = samba.relu %y : tensor<32x16xf32>
  %b = samba.neg %y : tensor<32x16xf32>
  %g = samba.exp %x : tensor<16x16xf32>
  %h = samba.tanh %x : tensor<16x16xf32>
  %0 = samba.matmul %a, %g {samba.phase = "BCKWD"} : tensor<32x16xf32>, tensor<16x16xf32>
  %1 = samba.matmul %b, %h {samba.phase = "BCKWD"} : tensor<32x16xf32>, tensor<16x16xf32>
  return %0, %1 : tensor<32x16xf32>, tensor<32x16xf32>
}
