// What a slice is put into lies in memory: it is made by another section, and a view of it is copied. What comes of it
// is read by another section too.
// RUN: samba-opt %s --samba-materialize-views --samba-partition-sections=target=sn40l | FileCheck %s
// RUN: sed -n '/^\/\/ ONE/,$s/^\/\/ ONE: //p' %s > %t.mlir
// RUN: %expect-error samba-opt %t.mlir --pass-pipeline='builtin.module(samba.section(samba-tile-sections))' 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: sed -n '/^\/\/ TWO/,$s/^\/\/ TWO: //p' %s > %t.mlir
// RUN: %expect-error samba-opt %t.mlir --pass-pipeline='builtin.module(samba.section(samba-tile-sections))' 2>&1 | FileCheck %s --check-prefix=PART
// PART: error: {{.*}}'neg' reads a tensor of which the section has only what it puts there
// REFUSED: error: {{.*}}'put_slice' puts into a tensor that is not in memory

// CHECK-LABEL: func.func @f(
// CHECK-NEXT: %[[N:.*]] = samba.call @s0(%arg0)
// CHECK-NEXT: %[[P:.*]]:2 = samba.call @s1(%arg1, %[[N]], %arg2)
// CHECK-NEXT: %[[Q:.*]] = samba.call @s2(%arg1, %[[P]]#1)
// CHECK-NEXT: %[[R:.*]] = samba.call @s0(%[[Q]])
// CHECK-NEXT: return %[[P]]#0, %[[R]]
func.func @f(%x: tensor<4x2xf32>, %r: tensor<1x2xf32>, %y: tensor<2x4xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = samba.neg %x : tensor<4x2xf32>
  %1 = samba.put_slice %r, %0 {dim = 0, start = 1, size = 4} : tensor<1x2xf32>, tensor<4x2xf32>
  %2 = samba.permute %y {dims = [1, 0]} : tensor<2x4xf32>
  %3 = samba.put_slice %r, %2 {dim = 0, start = 1, size = 4} : tensor<1x2xf32>, tensor<4x2xf32>
  %4 = samba.neg %3 : tensor<4x2xf32>
  return %1, %4 : tensor<4x2xf32>, tensor<4x2xf32>
}

// ONE: samba.section @s(%x: tensor<4x2xf32>, %r: tensor<1x2xf32>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
// ONE:   %0 = samba.neg %x : tensor<4x2xf32>
// ONE:   %1 = samba.put_slice %r, %0 {dim = 0, start = 1, size = 4} : tensor<1x2xf32>, tensor<4x2xf32>
// ONE:   samba.yield %1 : tensor<4x2xf32>
// ONE: }

// TWO: samba.section @s(%x: tensor<4x2xf32>, %r: tensor<1x2xf32>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
// TWO:   %0 = samba.put_slice %r, %x {dim = 0, start = 1, size = 4} : tensor<1x2xf32>, tensor<4x2xf32>
// TWO:   %1 = samba.neg %0 : tensor<4x2xf32>
// TWO:   samba.yield %1 : tensor<4x2xf32>
// TWO: }
