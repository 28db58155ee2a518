// RUN: samba-opt %s --convert-samba-graphs-to-linalg -split-input-file -verify-diagnostics

// A composite is decomposed before.
func.func @composite(%x: tensor<2xf32>, %t: tensor<2xf32>) -> tensor<f32> {
  // expected-error @+1 {{'samba.mse_loss' op has no hardware form}}
  %0 = samba.mse_loss %x, %t : tensor<2xf32>, tensor<2xf32>
  return %0 : tensor<f32>
}

// -----

// Sections are the way to the chip, not out of it.
samba.section @s(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = samba.relu %x : tensor<2xf32>
  samba.yield %0 : tensor<2xf32>
}
func.func @partitioned(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{'samba.call' op has no linalg form}}
  %0 = samba.call @s(%x) {id = 0, type = "FWD"} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @scatter(%x: tensor<9x2xf32>, %i: tensor<9xi64>) -> tensor<4x2xf32> {
  // expected-error @+1 {{'samba.scatter_rows' op stores where an index says, which has no linalg form}}
  %0 = samba.scatter_rows %x, %i {size = 4} : tensor<9x2xf32>, tensor<9xi64>
  return %0 : tensor<4x2xf32>
}
