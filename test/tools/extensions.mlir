// samba-opt has upstream's extensions: functions are inlined, whatever dialect their operations are of; convert-to-llvm and
// the transform dialect work. Options of the pipeline are in --help.
// RUN: samba-opt --inline %s | FileCheck %s --check-prefix=INLINE
// RUN: %mlir-opt --load-dialect-plugin=%plugin --inline %s | FileCheck %s --check-prefix=INLINE
// RUN: split-file %s %t
// RUN: samba-opt --convert-to-llvm %t/plain.mlir | FileCheck %s --check-prefix=LLVM
// RUN: samba-opt --transform-interpreter %t/transform.mlir | FileCheck %s --check-prefix=TRANSFORM
// RUN: samba-opt --help | FileCheck %s --check-prefix=HELP
// REQUIRES: plugin
// UNSUPPORTED: asan

// INLINE-NOT: call
// INLINE: func.func @forward
// INLINE-NEXT: samba.relu
// INLINE-NEXT: return
func.func private @callee(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = samba.relu %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @callee(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// HELP: --samba-to-rdu - From a traced graph to placed and routed rdu sections
// HELP: --entry=<string> - the function to compile; none: every public one
// HELP: --opt=<string> - o0 (every operator its own section), o1 (fused) or o3 (searched)
// HELP: --search_seconds=<string> - seconds that the search of o3 may take, by its work
// HELP: --target=<string> - a shipped machine or a machine file

//--- plain.mlir
// LLVM: llvm.func @f
func.func @f(%x: i32) -> i32 {
  return %x : i32
}
//--- transform.mlir
// TRANSFORM: @__transform_main
// TRANSFORM: scf.for
module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%m: !transform.any_op {transform.readonly}) {
    %0 = transform.structured.match ops{["linalg.add"]} in %m : (!transform.any_op) -> !transform.any_op
    %1, %2 = transform.structured.tile_using_for %0 tile_sizes [4] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.yield
  }
  func.func @add(%x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
    %0 = linalg.add ins(%x, %x : tensor<16xf32>, tensor<16xf32>) outs(%y : tensor<16xf32>) -> tensor<16xf32>
    return %0 : tensor<16xf32>
  }
}
