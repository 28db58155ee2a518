// S010: graphs come in the order of samba.graphs, whatever order they stand in; equal sections are shared.
// RUN: samba-opt %s --split-input-file --verify-diagnostics --samba-partition-sections=target=tiny | FileCheck %s

// CHECK: samba.section @s0
// CHECK-NOT: samba.section
// CHECK: func.func @second
// CHECK: samba.call @s0{{.*}}id = 0
// CHECK: func.func @first
// CHECK: samba.call @s0{{.*}}id = 1
module attributes {samba.graphs = [@second, @first]} {
  func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = samba.relu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = samba.relu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{samba.graphs lists @third, but the module has no such graph}}
module attributes {samba.graphs = [@first, @third]} {
  func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = samba.relu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{samba.graphs lists @first twice}}
module attributes {samba.graphs = [@first, @first]} {
  func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = samba.relu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

// -----

// expected-error @+1 {{samba.graphs lists 1 graphs, but the module has 2; list all of them in order, or leave it out}}
module attributes {samba.graphs = [@first]} {
  func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = samba.relu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = samba.relu %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
