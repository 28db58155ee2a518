// The plan of a section as text: stages, mappings, groups. The folder must be there.
// RUN: rm -rf %t && mkdir -p %t
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(convert-samba-to-linalg,samba-tile-sections{dump=%t}))' -o %t/mapped.mlir
// RUN: FileCheck %s --input-file=%t/s0.plan.txt
// RUN: %expect-error samba-opt %s --pass-pipeline='builtin.module(samba.section(convert-samba-to-linalg,samba-tile-sections{dump=%t/none}))' 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: stages of section s0
// CHECK: tensor {{[0-9]+}}: argument [32, 64] f32
// CHECK: stage 0: matmul [d0 < 32, d1 < 32, d2 < 64 reduced]
// CHECK: mapping: group
// CHECK: stage 1: relu
// CHECK: groups of section s0
// CHECK-NEXT: group 0: stages 0 matmul, 1 relu [d0 < 32, d1 < 32, d2 < 64 reduced]: systolic, rows from operand 0, columns from operand 1
// NONE: error: {{.*}}dump of the plan: {{.*}}none/s0.plan.txt
samba.section @s0(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>) -> tensor<32x32xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.matmul %x, %w : tensor<32x64xf32>, tensor<64x32xf32>
  %1 = samba.relu %0 : tensor<32x32xf32>
  samba.yield %1 : tensor<32x32xf32>
}
