// Two products of one argument, with a sum over the rows of each. No tensor connects the two: they
// run as one pipeline along the rows of the argument, whose slices fit PMUs; whole, each product
// would need 32 MB between its groups.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping))' | FileCheck %s
// Arguments that nobody shares connect nothing: then each product has slices of its own, if any.
// RUN: sed 's/samba.linear %x, %b/samba.linear %y, %b/' %s | %expect-error samba-opt --pass-pipeline='builtin.module(samba.section(samba-tile-sections))' 2>&1 | FileCheck %s --check-prefix=APART

// CHECK: samba.linear {{.*}}pipeline = [0]
// CHECK: samba.softmax {{.*}}pipeline = [0]
// CHECK: samba.linear {{.*}}pipeline = [0]
// CHECK: samba.softmax {{.*}}pipeline = [0]
// APART: between the stages needs 33554432 bytes on chip, but a PMU of sn40l has 524288
samba.section @both(%x: tensor<4096x4096xbf16>, %y: tensor<4096x4096xbf16>, %a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> (tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.linear %x, %a : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
  %1 = samba.softmax %0 {dim = -1 : i64} : tensor<4096x4096xbf16>
  %2 = samba.linear %x, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
  %3 = samba.softmax %2 {dim = -1 : i64} : tensor<4096x4096xbf16>
  samba.yield %1, %3 : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>
}
