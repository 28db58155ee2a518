// RUN: samba-opt %s --samba-check-foreign -split-input-file -verify-diagnostics

func.func @loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' op is control flow; a graph has none: unroll loops, compute both sides of a branch and choose with arith.select}}
  %0 = scf.for %i = %zero to %n step %one iter_args(%y = %x) -> tensor<4xf32> {
    scf.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'cf.br' op is control flow between blocks; a graph is one block}}
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

func.func @memory() {
  // expected-error @+1 {{'memref.alloc' op works on memory; hand over linalg on tensors, before bufferization}}
  %0 = memref.alloc() : memref<4xf32>
  return
}

// -----

func.func @vector(%x: tensor<4xf32>) -> vector<4xf32> {
  %zero = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  // expected-error @+1 {{'vector.transfer_read' op works on vectors; hand over linalg on tensors, before vectorization}}
  %0 = vector.transfer_read %x[%zero], %pad : tensor<4xf32>, vector<4xf32>
  return %0 : vector<4xf32>
}

// -----

// A loop that would be simplified away is refused all the same.
func.func @affine() {
  // expected-error @+1 {{'affine.for' op is a loop or an access of one}}
  affine.for %i = 0 to 4 {
  }
  return
}
