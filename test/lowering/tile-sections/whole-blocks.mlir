// Two products that run as one pipeline along 768 rows. Slices are whole blocks of 16 rows, which an
// array takes in the time of 12: a 64th of the rows.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping))' | FileCheck %s

// CHECK: samba.linear {{.*}}pipeline = [0], tile = [16, {{[0-9]+}}, {{[0-9]+}}]
// CHECK: samba.linear {{.*}}pipeline = [0], tile = [16, {{[0-9]+}}, {{[0-9]+}}]
samba.section @mlp(%x: tensor<768x768xbf16>, %u: tensor<3072x768xbf16>, %d: tensor<768x3072xbf16>) -> tensor<768x768xbf16> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.linear %x, %u : tensor<768x768xbf16>, tensor<3072x768xbf16>
  %1 = samba.gelu %0 : tensor<768x3072xbf16>
  %2 = samba.linear %1, %d : tensor<768x3072xbf16>, tensor<768x3072xbf16>
  samba.yield %2 : tensor<768x768xbf16>
}
