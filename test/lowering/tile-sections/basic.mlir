// Mappings where there are none; one that is written stays; scalars of a generic are immediates.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping))' | FileCheck %s
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections))' -o %t.once && samba-opt %t.once --pass-pipeline='builtin.module(samba.section(samba-tile-sections))' | diff %t.once -
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections),convert-linalg-to-rdu,rdu.section(rdu-split-programs,rdu-place,rdu-route,rdu-verify-section))' | FileCheck --check-prefix=RDU %s

// CHECK-LABEL: samba.section @matmul
// CHECK: rdu.mapping = #rdu.mapping<{{.*}}tile = [
// RDU-LABEL: rdu.section @matmul
// RDU-SAME: %arg0: !rdu.symbol<4096xf32>
// RDU-SAME: rdu.written
// RDU: systolic
samba.section @matmul(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.matmul %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
  samba.yield %0 : tensor<64x64xf32>
}

// CHECK-LABEL: samba.section @given
// CHECK: rdu.mapping = #rdu.mapping<{{.*}}tile = [2, 16]
// RDU-LABEL: rdu.section @given
// RDU: tile = [2, 16]
samba.section @given(%x: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x {rdu.mapping = #rdu.mapping<tile = [2, 16], unroll = [1, 1], order = [0, 1]>} : tensor<8x64xf32>
  samba.yield %0 : tensor<8x64xf32>
}

// CHECK-LABEL: samba.section @scalar
// RDU-LABEL: rdu.section @scalar
// RDU: arith.constant 2.5
// RDU: arith.mulf
#id = affine_map<(d0) -> (d0)>
samba.section @scalar(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %c = arith.constant 2.5 : f32
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, affine_map<(d0) -> ()>, #id], iterator_types = ["parallel"]} ins(%x, %c : tensor<4xf32>, f32) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %2 = arith.mulf %in, %s : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
