// RUN: samba-opt --samba-select-graphs %s -split-input-file -verify-diagnostics

func.func private @odd(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'func.call' op calls @even, which is in the middle of this call: recursion; a chip has no stack, so unroll it}}
  %0 = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @even(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @odd(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @even(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'func.call' op calls @forward, which is in the middle of this call}}
  %0 = call @forward(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'func.call' op calls @elsewhere, which has no body; a graph is compiled as a whole, so everything that it calls must be in the module}}
  %0 = call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func private @jumps(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^bb1
^bb1:
  return %x : tensor<4xf32>
}
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'func.call' op calls @jumps, which has several blocks, but a graph is one block without control flow}}
  %0 = call @jumps(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@below {{'builtin.module' op has no public function; name the one to compile as entry: @first, @second}}
module {
  func.func private @first(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func private @second(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}
