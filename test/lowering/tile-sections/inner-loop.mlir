// Attention and the projection that sums over its heads are one pipeline along blocks of queries.
// Its heads come one after the other within each block: the projection is without that loop, and
// reads the columns of all heads as two dimensions.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping))' -o %t.mlir && FileCheck %s < %t.mlir
// RUN: samba-opt %t.mlir --pass-pipeline='builtin.module(convert-linalg-to-rdu,rdu.section(rdu-split-programs,rdu-place,rdu-route,rdu-verify-section))' | FileCheck --check-prefix=RDU %s

// CHECK: samba.scaled_dot_product_attention
// CHECK-SAME: pipeline = [2, 1], tile = [1, 1, {{[0-9]+}},
// CHECK: samba.linear
// CHECK-SAME: pipeline = [1], tile = [1, {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}]
// RDU: rdu.section @attention(
samba.section @attention(%q: tensor<1x8x512x64xbf16>, %k: tensor<1x8x512x64xbf16>, %v: tensor<1x8x512x64xbf16>, %w: tensor<512x512xbf16>) -> tensor<1x512x512xbf16> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.scaled_dot_product_attention %q, %k, %v {scale = 1.250000e-01} : tensor<1x8x512x64xbf16>, tensor<1x8x512x64xbf16>, tensor<1x8x512x64xbf16>
  %1 = samba.permute %0 {dims = [0, 2, 1, 3]} : tensor<1x8x512x64xbf16>
  %2 = samba.contiguous %1 : tensor<1x512x8x64xbf16>
  %3 = samba.reshape %2 {shape = [1, 512, 512]} : tensor<1x512x8x64xbf16>
  %4 = samba.linear %3, %w : tensor<1x512x512xbf16>, tensor<512x512xbf16>
  samba.yield %4 : tensor<1x512x512xbf16>
}
