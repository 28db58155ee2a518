// RUN: samba-opt %s --samba-enter-linalg -split-input-file -verify-diagnostics

// expected-error @+2 {{'func.func' op argument 0: tensor<?xf32> is not a tensor with static dimensions}}
// expected-note @+1 {{give the model static shapes before it is compiled}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}

// -----

// expected-error @+2 {{'func.func' op argument 0: memref<4xf32> is not a tensor}}
// expected-note @+1 {{hand over linalg on tensors, before bufferization}}
func.func @memory(%x: memref<4xf32>) {
  return
}

// -----

// expected-error @+2 {{'func.func' op argument 0: vector<4xf32> is not a tensor}}
// expected-note @+1 {{hand over linalg on tensors, before vectorization}}
func.func @vector(%x: vector<4xf32>) {
  return
}

// -----

// expected-error @+2 {{tensor<4xcomplex<f32>> is not a tensor}}
// expected-note @+1 {{compute real and imaginary parts as tensors of their own}}
func.func @complex(%x: tensor<4xcomplex<f32>>) {
  return
}

// -----

func.func @inside(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+2 {{'arith.extf' op result 0: tensor<4xf64> is not a tensor}}
  // expected-note @+1 {{convert the model to f32}}
  %0 = arith.extf %x : tensor<4xf32> to tensor<4xf64>
  %1 = arith.truncf %0 : tensor<4xf64> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func private @elsewhere(tensor<4xf32>) -> tensor<4xf32>
func.func @call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'func.call' op calls a function that cannot be inlined: it has no body in this module, or it calls itself; give it a body without recursion}}
  %0 = call @elsewhere(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{'func.func' op has several blocks, but a graph is one block without control flow}}
func.func @blocks(%x: tensor<4xf32>) -> tensor<4xf32> {
  cf.br ^next
^next:
  return %x : tensor<4xf32>
}

// -----

ml_program.global private mutable @state(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @state_of_a_call(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no value that is known here; a weight wants dense<..>, dense_resource with its data at the end of the file, or a global that is not mutable}}
  %0 = ml_program.global_load @state : tensor<4xf32>
  %1 = arith.addf %0, %x : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @index(%x: tensor<4xf32>, %i: tensor<2xi32>) -> tensor<f32> {
  %zero = arith.constant 0 : index
  %a = tensor.extract %i[%zero] : tensor<2xi32>
  %b = arith.index_cast %a : i32 to index
  %c = arith.addi %b, %b : index
  // expected-error @+1 {{reads at an index that is computed between operations; compute it in tensors of i64}}
  %d = tensor.extract %x[%c] : tensor<4xf32>
  %0 = tensor.from_elements %d : tensor<f32>
  return %0 : tensor<f32>
}
