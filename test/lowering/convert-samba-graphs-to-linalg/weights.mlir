// Data of arguments as constants and as globals; as arguments they stay in their order.
// RUN: split-file %s %t && printf '\000\000\200\077\000\000\000\100' > %t/two.bin
// RUN: cd %t && samba-opt graph.mlir --convert-samba-graphs-to-linalg="weights=constants" | FileCheck %s --check-prefix=CONSTANTS
// RUN: cd %t && samba-opt graph.mlir --convert-samba-graphs-to-linalg="weights=globals" > globals.mlir
// RUN: cd %t && FileCheck %s --check-prefix=GLOBALS < globals.mlir
// RUN: cd %t && %mlir-opt globals.mlir --one-shot-bufferize=bufferize-function-boundaries -o bufferized.mlir
// RUN: cd %t && samba-opt graph.mlir --convert-samba-graphs-to-linalg | FileCheck %s --check-prefix=ARGUMENTS
// RUN: cd %t && samba-opt graph.mlir --convert-samba-graphs-to-linalg="attributes=true" | FileCheck %s --check-prefix=KEPT

// CONSTANTS-LABEL: func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32>
// CONSTANTS-DAG: arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CONSTANTS-DAG: arith.constant dense<3.000000e+00> : tensor<2xf32>
// CONSTANTS-NOT: samba
// CONSTANTS-NOT: rdu

// A name that is taken gets a number.
// GLOBALS: ml_program.global private @a.w(dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>) : tensor<2xf32>
// GLOBALS: ml_program.global private @a.w_1(dense<3.000000e+00> : tensor<2xf32>) : tensor<2xf32>
// GLOBALS-LABEL: func.func @f(%arg0: tensor<2xf32>) -> tensor<2xf32>
// GLOBALS: ml_program.global_load @a.w : tensor<2xf32>
// GLOBALS: ml_program.global_load @a.w_1 : tensor<2xf32>

// ARGUMENTS: func.func @f(%arg0: tensor<2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<2xf32>) -> tensor<2xf32> {
// KEPT: func.func @f(%arg0: tensor<2xf32> {samba.kind = "input", samba.name = "x"}, %arg1: tensor<2xf32> {samba.kind = "weight", samba.name = "a.w", samba.value = #samba.external<"two.bin", bytes = 8, offset = 0>}
// KEPT: linalg.generic {{.*}}rdu.stage = "add"

// What cannot be data of the module.
// RUN: cd %t && %expect-error samba-opt graph.mlir --convert-samba-graphs-to-linalg="weights=files" 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: error: {{.*}}weights wants arguments, constants or globals, not 'files'
// RUN: cd %t && %expect-error samba-opt graph.mlir --convert-samba-graphs-to-linalg="attributes=some" 2>&1 | FileCheck %s --check-prefix=ATTRIBUTES
// ATTRIBUTES: error: {{.*}}attributes wants true or false, not 'some'
// RUN: cd %t && mkdir -p empty && %expect-error samba-opt graph.mlir --convert-samba-graphs-to-linalg="weights=constants data-folder=empty" 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: error: {{.*}}argument 'a.w': two.bin: lies outside the folder 'empty'
// RUN: cd %t && %expect-error samba-opt short.mlir --convert-samba-graphs-to-linalg="weights=constants" 2>&1 | FileCheck %s --check-prefix=SHORT
// SHORT: error: {{.*}}two.bin: ends before byte 12, where its data end
// RUN: cd %t && %expect-error samba-opt unsigned.mlir --convert-samba-graphs-to-linalg="weights=constants" 2>&1 | FileCheck %s --check-prefix=UNSIGNED
// UNSIGNED: error: {{.*}}its data are ui8, of which arith has no constants; leave weights as arguments
// RUN: cd %t && %expect-error samba-opt derived.mlir --convert-samba-graphs-to-linalg="weights=globals" 2>&1 | FileCheck %s --check-prefix=DERIVED
// DERIVED: error: {{.*}}its data are computed from others (#samba.derived); leave weights as arguments

//--- graph.mlir
func.func @f(%x: tensor<2xf32> {samba.name = "x", samba.kind = "input"},
    %w: tensor<2xf32> {samba.name = "a.w", samba.kind = "weight", samba.value = #samba.external<"two.bin", offset = 0, bytes = 8>},
    %v: tensor<2xf32> {samba.name = "a.w_1", samba.kind = "weight", samba.value = dense<3.0> : tensor<2xf32>})
    -> (tensor<2xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = samba.add %x, %w : tensor<2xf32>, tensor<2xf32>
  %1 = samba.mul %0, %v : tensor<2xf32>, tensor<2xf32>
  return %1 : tensor<2xf32>
}

//--- short.mlir
func.func @f(%w: tensor<2xf32> {samba.name = "w", samba.kind = "weight", samba.value = #samba.external<"two.bin", offset = 4, bytes = 8>}) -> tensor<2xf32> {
  %0 = samba.relu %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

//--- unsigned.mlir
func.func @f(%w: tensor<8xui8> {samba.name = "w", samba.kind = "weight", samba.value = #samba.external<"two.bin", offset = 0, bytes = 8>}) -> tensor<8xf32> {
  %0 = samba.cast %w {dtype = f32} : tensor<8xui8>
  return %0 : tensor<8xf32>
}

//--- derived.mlir
func.func @f(%w: tensor<2xbf16> {samba.name = "w", samba.kind = "weight",
    samba.value = #samba.derived<"cast", operands = [dense<3.0> : tensor<2xf32>], types = [tensor<2xf32>], attributes = {dtype = bf16}>}) -> tensor<2xbf16> {
  %0 = samba.relu %w : tensor<2xbf16>
  return %0 : tensor<2xbf16>
}
