// Projections and the attention that reads them as one pipeline along batch and heads. The weights
// of a head are loaded when it comes; all heads' at once would keep the first ones waiting. The
// biases of 16 copies are added by one PCU: so 8 replicas fit the chip, and 7 with four copies each.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping))' | FileCheck %s -DREPLICAS=8
// 6 and 8 replicas are tried first: 7 do 28 images in as many rounds as 8, and take fewer units.
// RUN: sed 's/32x128/28x128/g; s/32x12x/28x12x/g; s/\[32, 128/[28, 128/g' %s | samba-opt --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping))' | FileCheck %s -DREPLICAS=7

// CHECK-COUNT-3: samba.linear {{.*}}level = [1, {{[2-5]}}], {{.*}}pipeline = [0, 2], {{.*}}unroll = {{\[}}[[REPLICAS]], {{[0-9]+}}, 1,
// CHECK: samba.scaled_dot_product_attention {{.*}}pipeline = [0, 1]
samba.section @block(%x: tensor<32x128x768xbf16>, %wq: tensor<768x768xbf16>, %bq: tensor<768xbf16>, %wk: tensor<768x768xbf16>, %bk: tensor<768xbf16>, %wv: tensor<768x768xbf16>, %bv: tensor<768xbf16>) -> tensor<32x128x12x64xbf16> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.linear %x, %wq, %bq : tensor<32x128x768xbf16>, tensor<768x768xbf16>, tensor<768xbf16>
  %1 = samba.linear %x, %wk, %bk : tensor<32x128x768xbf16>, tensor<768x768xbf16>, tensor<768xbf16>
  %2 = samba.linear %x, %wv, %bv : tensor<32x128x768xbf16>, tensor<768x768xbf16>, tensor<768xbf16>
  %3 = samba.reshape %0 {shape = [32, 128, 12, 64]} : tensor<32x128x768xbf16>
  %4 = samba.permute %3 {dims = [0, 2, 1, 3]} : tensor<32x128x12x64xbf16>
  %5 = samba.reshape %1 {shape = [32, 128, 12, 64]} : tensor<32x128x768xbf16>
  %6 = samba.permute %5 {dims = [0, 2, 1, 3]} : tensor<32x128x12x64xbf16>
  %7 = samba.reshape %2 {shape = [32, 128, 12, 64]} : tensor<32x128x768xbf16>
  %8 = samba.permute %7 {dims = [0, 2, 1, 3]} : tensor<32x128x12x64xbf16>
  %9 = samba.scaled_dot_product_attention %4, %6, %8 {scale = 1.250000e-01} : tensor<32x12x128x64xbf16>, tensor<32x12x128x64xbf16>, tensor<32x12x128x64xbf16>
  %10 = samba.permute %9 {dims = [0, 2, 1, 3]} : tensor<32x12x128x64xbf16>
  %11 = samba.contiguous %10 : tensor<32x128x12x64xbf16>
  samba.yield %11 : tensor<32x128x12x64xbf16>
}
