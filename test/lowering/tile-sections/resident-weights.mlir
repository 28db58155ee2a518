// Three products that run as one pipeline along tokens. Each has many tiles along its columns, and
// all of its weights lie on the chip: each replica has many copies of each group, whose PMUs hold
// their share of the weights, and all replicas get them by multicast.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections,rdu-verify-mapping))' | FileCheck %s

// CHECK: samba.linear {{.*}}level = [1], {{.*}}pipeline = [0], tile = [16, {{[0-9]+}}, {{[0-9]+}}], unroll = [4, {{[4-9][0-9]|1[0-9][0-9]}}, 1]
// CHECK: samba.linear {{.*}}level = [1], {{.*}}pipeline = [0], tile = [16, {{[0-9]+}}, {{[0-9]+}}], unroll = [4, {{[4-9][0-9]|1[0-9][0-9]}}, 1]
// CHECK: samba.linear {{.*}}level = [1], {{.*}}pipeline = [0], tile = [16, {{[0-9]+}}, {{[0-9]+}}], unroll = [4, {{[4-9][0-9]|1[0-9][0-9]}}, 1]
samba.section @mlp(%x: tensor<4096x4096xbf16>, %g: tensor<11008x4096xbf16>, %u: tensor<11008x4096xbf16>, %d: tensor<4096x11008xbf16>) -> tensor<4096x4096xbf16> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.linear %x, %g : tensor<4096x4096xbf16>, tensor<11008x4096xbf16>
  %1 = samba.silu %0 : tensor<4096x11008xbf16>
  %2 = samba.linear %x, %u : tensor<4096x4096xbf16>, tensor<11008x4096xbf16>
  %3 = samba.mul %1, %2 : tensor<4096x11008xbf16>, tensor<4096x11008xbf16>
  %4 = samba.linear %3, %d : tensor<4096x11008xbf16>, tensor<4096x11008xbf16>
  samba.yield %4 : tensor<4096x4096xbf16>
}
