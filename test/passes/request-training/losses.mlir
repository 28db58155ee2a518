// RUN: samba-opt --samba-request-training %s 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file %t.remarks

// Without names the losses are the float results on which no other depends, seen through
// identities (U015): b reads a; c and d are independent.
// REMARK: remark: result 'a' is no loss, because another result depends on it
// CHECK-LABEL: func.func @several
// CHECK-SAME: samba.kind = "output", samba.name = "a"
// CHECK-SAME: samba.kind = "loss", samba.name = "b"
// CHECK-SAME: samba.kind = "loss", samba.name = "c"
// CHECK-SAME: samba.kind = "output", samba.name = "d"
func.func @several(%x: tensor<3xf32> {samba.name = "x", samba.kind = "input"},
    %table: tensor<3xf32> {samba.name = "table", samba.kind = "weight"})
    -> (tensor<3xf32> {samba.name = "a", samba.kind = "output"},
        tensor<f32> {samba.name = "b", samba.kind = "output"},
        tensor<3xf32> {samba.name = "c", samba.kind = "output"},
        tensor<3xi32> {samba.name = "d", samba.kind = "output"}) {
  %a = samba.exp %x : tensor<3xf32>
  %b = samba.sum %a : tensor<3xf32>
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %a1 = samba.mul %a, %one : tensor<3xf32>, tensor<f32>
  %c = samba.neg %x : tensor<3xf32>
  %d = samba.cast %x {dtype = i32} : tensor<3xf32>
  return %a1, %b, %c, %d : tensor<3xf32>, tensor<f32>, tensor<3xf32>, tensor<3xi32>
}
