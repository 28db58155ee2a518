// A projection whose result is read by heads is planned and run by heads: its columns are two
// dimensions, and the pipeline runs along batch and heads. The weight stays one symbol.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping))' -o %t.mlir && FileCheck %s < %t.mlir
// RUN: samba-opt %t.mlir --pass-pipeline='builtin.module(convert-linalg-to-rdu,rdu.section(rdu-split-programs,rdu-place,rdu-route,rdu-verify-section))' | FileCheck --check-prefix=RDU %s

// CHECK: samba.linear
// CHECK-SAME: pipeline = [0, 2], tile = [1, {{[0-9]+}}, 1, {{[0-9]+}}, {{[0-9]+}}]
// RDU: rdu.section @mixed(
// RDU-SAME: %arg1: !rdu.symbol<131072xbf16>
samba.section @mixed(%x: tensor<16x64x256xbf16>, %w: tensor<512x256xbf16>, %p: tensor<16x8x64x64xbf16>) -> tensor<16x8x64x64xbf16> attributes {machine = #rdu.machine<"sn40l">} {
  %q = samba.linear %x, %w : tensor<16x64x256xbf16>, tensor<512x256xbf16>
  %s = samba.reshape %q {shape = [16, 64, 8, 64]} : tensor<16x64x512xbf16>
  %v = samba.permute %s {dims = [0, 2, 1, 3]} : tensor<16x64x8x64xbf16>
  %0 = samba.matmul %p, %v : tensor<16x8x64x64xbf16>, tensor<16x8x64x64xbf16>
  samba.yield %0 : tensor<16x8x64x64xbf16>
}
