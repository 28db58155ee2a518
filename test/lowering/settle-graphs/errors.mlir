// RUN: samba-opt %s --samba-settle-graphs -split-input-file -verify-diagnostics

func.func @place(%x: tensor<8xf32>, %i: index) -> tensor<2xf32> {
  // expected-error @+1 {{has a number in static_offsets that is known only at run time; a graph's shapes and places are known when it is compiled}}
  %0 = tensor.extract_slice %x[%i] [2] [1] : tensor<8xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @beyond(%x: tensor<8xf32>, %u: tensor<2xf32>) -> tensor<8xf32> {
  %seven = arith.constant 7 : index
  // expected-error @+1 {{goes beyond dimension 0 of its destination}}
  %0 = tensor.insert_slice %u into %x[%seven] [2] [1] : tensor<2xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @insert(%x: tensor<8xf32>, %s: tensor<f32>, %i: index) -> tensor<8xf32> {
  %e = tensor.extract %s[] : tensor<f32>
  // expected-error @+1 {{writes at an index that is known only at run time; compute the result with a comparison of coordinates}}
  %0 = tensor.insert %e into %x[%i] : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @pad(%x: tensor<8xf32>) -> tensor<10xf32> {
  // expected-error @+1 {{pads with a value that its body computes; pad with a constant, or with a scalar from outside}}
  %0 = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %1 = arith.index_cast %i : index to i32
    %2 = arith.sitofp %1 : i32 to f32
    tensor.yield %2 : f32
  } : tensor<8xf32> to tensor<10xf32>
  return %0 : tensor<10xf32>
}
