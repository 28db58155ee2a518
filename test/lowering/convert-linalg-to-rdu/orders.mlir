// Every stream of compiled code says in which order its elements pass: also where indices give the
// places, where a copy takes them to another tensor, and between the PCUs of one program.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections),convert-linalg-to-rdu,rdu.section(rdu-split-programs))' -o %t
// RUN: FileCheck %s --input-file=%t
// RUN: FileCheck %s --input-file=%t --check-prefix=ALL --implicit-check-not='{{stream<([0-9]+x)*([2-9]|[1-9][0-9]+)x([0-9]+x)*[a-z]+[0-9]+>}}'
// RUN: samba-opt %t | diff %t -
// ALL: rdu.section

// CHECK-LABEL: rdu.section @gather
// CHECK: rdu.load {{.*}} -> !rdu.stream<2xi64 by [1]>
// CHECK: rdu.load {{.*}} -> !rdu.stream<2x4xf32 by {from = [1 : index, 1], to = [4, 1]}>
samba.section @gather(%w: tensor<8x4xf32>, %i: tensor<6xi64>) -> tensor<6x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.embedding %w, %i : tensor<8x4xf32>, tensor<6xi64>
  samba.yield %0 : tensor<6x4xf32>
}

// CHECK-LABEL: rdu.section @scatter
// CHECK: rdu.buffer {{.*}} -> !rdu.stream<6x4xf32 by {from = [4, 1], to = [1 : index, 1]}>
samba.section @scatter(%x: tensor<6x4xf32>, %i: tensor<6xi64>) -> tensor<8x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scatter_rows %x, %i {size = 8} : tensor<6x4xf32>, tensor<6xi64>
  samba.yield %0 : tensor<8x4xf32>
}

// CHECK-LABEL: rdu.section @transpose
// CHECK: rdu.buffer {{.*}} -> !rdu.stream<4x6xf32 by {from = [1, 4], to = [6, 1]}>
samba.section @transpose(%x: tensor<6x4xf32>) -> tensor<4x6xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.permute %x {dims = array<i64: 1, 0>} : tensor<6x4xf32>
  samba.yield %0 : tensor<4x6xf32>
}

// CHECK-LABEL: rdu.section @chain
// CHECK: } : (!rdu.stream<24xf32 by [1]>) -> (!rdu.stream<24xf32 by [1]>
samba.section @chain(%x: tensor<6x4xf32>) -> tensor<6x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.gelu %x : tensor<6x4xf32>
  %1 = samba.gelu %0 : tensor<6x4xf32>
  samba.yield %1 : tensor<6x4xf32>
}
