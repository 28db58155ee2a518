// What is in no section gets no units: an error, not a silent nothing. Passes on sections nest by themselves.
// RUN: split-file %s %t
// RUN: samba-opt --convert-linalg-to-rdu %t/errors.mlir -split-input-file -verify-diagnostics -o %t.none
// RUN: samba-opt --samba-partition-sections=target=tiny --samba-assign-memory --convert-samba-to-linalg --samba-tile-sections --rdu-verify-mapping --convert-linalg-to-rdu --rdu-split-programs --rdu-place --rdu-route --rdu-verify-section %t/nests.mlir > %t.flags.mlir
// RUN: samba-opt --samba-to-rdu=target=tiny %t/nests.mlir | diff %t.flags.mlir -

//--- errors.mlir
func.func @forward(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'linalg.add' op is in no samba.section, so it gets no units; samba-partition-sections makes sections of a graph}}
  %0 = linalg.add ins(%x, %x : tensor<4xf32>, tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'tosa.tanh' op is in no samba.section}}
  %0 = tosa.tanh %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- nests.mlir
func.func @forward(%x: tensor<4x8xf32> {samba.name = "x", samba.kind = "input"})
    -> (tensor<4x8xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = samba.exp %x : tensor<4x8xf32>
  %1 = samba.softmax %0 {dim = 1} : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
