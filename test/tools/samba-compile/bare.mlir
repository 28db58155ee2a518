// A function that says nothing of its arguments and results has arg0, out0 and so on, also where it has only samba
// operations, or none.
// REQUIRES: samba-compile
// RUN: split-file %s %t && cd %t
// RUN: samba-compile bare.mlir -o bare.pef --target=tiny && samba-objdump bare.pef | FileCheck bare.mlir
// RUN: samba-compile same.mlir -o same.pef --target=tiny && samba-objdump same.pef | FileCheck same.mlir

//--- bare.mlir
// CHECK: symbol "arg0"
// CHECK: symbol "arg1"
// CHECK: symbol "out0"
func.func @f(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = samba.add %a, %b : tensor<4xf32>, tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- same.mlir
// CHECK: symbol "arg0"
// CHECK: symbol "out0"
// CHECK: symbol "out1"
func.func @f(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  return %a, %a : tensor<4xf32>, tensor<4xf32>
}
