// Calls become the bodies of what they call, whether that stands before or behind the caller; private functions go.
// RUN: split-file %s %t
// RUN: samba-opt --samba-select-graphs %t/nested.mlir | FileCheck %s --check-prefix=NESTED
// RUN: samba-opt --samba-select-graphs %t/several.mlir | FileCheck %s --check-prefix=SEVERAL
// RUN: samba-opt --samba-select-graphs=entry=second %t/several.mlir | FileCheck %s --check-prefix=SECOND
// RUN: samba-opt --samba-select-graphs=entry=hidden %t/several.mlir | FileCheck %s --check-prefix=HIDDEN
// RUN: samba-opt --samba-select-graphs %t/only.mlir | FileCheck %s --check-prefix=ONLY
//
// The whole way: each call is computed, and --entry chooses.
// RUN: samba-compile %t/nested.mlir -o %t/nested.pef --target=tiny
// RUN: %python %S/Inputs/inputs.py %t
// RUN: samba-run %t/nested.pef --input x=%t/x.npy --expect y=%t/nested.npy
// RUN: samba-compile %t/several.mlir -o %t/second.pef --target=tiny --entry second
// RUN: samba-run %t/second.pef --input x=%t/x.npy --expect y=%t/second.npy
// RUN: samba-opt "--samba-to-rdu=target=tiny entry=second" %t/several.mlir | FileCheck %s --check-prefix=RDU
// RUN: %expect-error samba-compile %t/several.mlir -o %t/none.pef --entry third 2>&1 | FileCheck %s --check-prefix=THIRD
// RUN: %expect-error samba-compile %source/examples/digits/digits.onnx -o %t/none.pef --entry third 2>&1 | FileCheck %s --check-prefix=ONNX
// ONNX: digits.onnx: --entry is for MLIR; an ONNX model is one graph
// THIRD: 'builtin.module' op has no function @third with a body; entry can be @first, @second, @hidden
// RDU-NOT: func.func @first
// RDU: func.func @second
// RDU-NOT: func.func

//--- nested.mlir
// NESTED-LABEL: module
// NESTED-NEXT: func.func @forward(%[[X:.*]]: tensor<2x4xf32>
// NESTED-NEXT: %[[A:.*]] = samba.relu %[[X]]
// NESTED-NEXT: %[[B:.*]] = samba.add %[[A]], %[[X]]
// NESTED-NEXT: %[[C:.*]] = samba.relu %[[B]]
// NESTED-NEXT: %[[D:.*]] = samba.add %[[C]], %[[B]]
// NESTED-NEXT: %[[E:.*]] = samba.mul %[[D]], %[[B]]
// NESTED-NEXT: return %[[E]]
// NESTED-NOT: func
func.func private @step(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = call @positive(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = samba.add %0, %x : tensor<2x4xf32>, tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
func.func @forward(%x: tensor<2x4xf32> {samba.name = "x", samba.kind = "input"})
    -> (tensor<2x4xf32> {samba.name = "y", samba.kind = "output"}) {
  %0:2 = call @twice(%x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %1 = samba.mul %0#0, %0#1 : tensor<2x4xf32>, tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
func.func private @twice(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = call @step(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = call @step(%0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %0 : tensor<2x4xf32>, tensor<2x4xf32>
}
func.func private @positive(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = samba.relu %x : tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}
func.func private @unused(%x: tensor<2x4xf32>) -> tensor<2x4xf32>

//--- several.mlir
// SEVERAL-LABEL: func.func @first
// SEVERAL-NEXT: samba.neg
// SEVERAL-LABEL: func.func @second
// SEVERAL-NEXT: samba.neg
// SEVERAL-NEXT: samba.exp
// SEVERAL-NOT: func.func
// SECOND: module {
// SECOND-NEXT: func.func @second
// SECOND-NOT: func.func
// HIDDEN: module {
// HIDDEN-NEXT: func.func @hidden
// HIDDEN-NOT: func.func
module attributes {samba.graphs = [@first, @second]} {
  func.func @first(%x: tensor<2x4xf32> {samba.name = "x", samba.kind = "input"})
      -> (tensor<2x4xf32> {samba.name = "a", samba.kind = "output"}) {
    %0 = call @hidden(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func @second(%x: tensor<2x4xf32> {samba.name = "x", samba.kind = "input"})
      -> (tensor<2x4xf32> {samba.name = "y", samba.kind = "output"}) {
    %0 = call @first(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = samba.exp %0 : tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func private @hidden(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
    %0 = samba.neg %x : tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
}

//--- only.mlir
// A private function is a graph when it is the only one.
// ONLY: func.func @forward
func.func private @forward(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}
func.func private @declared(%x: tensor<2x4xf32>) -> tensor<2x4xf32>
