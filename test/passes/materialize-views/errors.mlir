// What is no graph is refused by name, by every graph pass alike.
// RUN: samba-opt %s --samba-materialize-views -split-input-file -verify-diagnostics
// RUN: samba-opt %s --samba-mixed-precision=preset=mp1 -split-input-file -verify-diagnostics
// RUN: samba-opt %s --samba-decompose-composites -split-input-file -verify-diagnostics
// RUN: samba-opt %s --samba-mixed-precision=preset=mp4 -split-input-file -verify-diagnostics
// RUN: samba-opt %s --samba-partition-sections=target=tiny -split-input-file -verify-diagnostics

// expected-error @+1 {{'func.func' op argument 1: index is not a tensor with static dimensions}}
func.func @index(%x: tensor<4xf32>, %i: index) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op argument 0: tensor<?xf32> is not a tensor with static dimensions}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+1 {{'func.func' op argument 0: tensor<*xf32> is not a tensor with static dimensions}}
func.func @unranked(%x: tensor<*xf32>) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument 0: tensor<4xf64> is not a tensor}}
func.func @double(%x: tensor<4xf64>) {
  return
}

// -----

func.func @arith(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'arith.addf' op has no place in a graph; a graph has samba operations, linalg and tensor operations on static tensors, constants and func.return}}
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op has several blocks, but a graph is one block without control flow}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
^bb1:
  return %x : tensor<4xf32>
}
