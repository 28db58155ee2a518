// Of an indexed store each copy stores a part of all rows, of four bursts or more, and as many of
// them as the generators are for: a store and a load of indices take one each. What has no parts is
// one store, many points at once.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(convert-samba-to-linalg),samba.section(samba-tile-sections))' | FileCheck %s

// CHECK-LABEL: samba.section @wide
// CHECK: tile = [121, 128], unroll = [1, 6]
samba.section @wide(%x: tensor<2048x768xbf16>, %i: tensor<2048xi64>) -> tensor<9000x768xbf16> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.scatter_rows %x, %i {size = 9000} : tensor<2048x768xbf16>, tensor<2048xi64>
  samba.yield %0 : tensor<9000x768xbf16>
}

// CHECK-LABEL: samba.section @wider
// CHECK: tile = [64, 2048], unroll = [1, 16]
samba.section @wider(%x: tensor<64x32768xbf16>, %i: tensor<64xi64>) -> tensor<900x32768xbf16> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.scatter_rows %x, %i {size = 900} : tensor<64x32768xbf16>, tensor<64xi64>
  samba.yield %0 : tensor<900x32768xbf16>
}

// CHECK-LABEL: samba.section @short
// CHECK: tile = [256], unroll = [1]
samba.section @short(%x: tensor<4096xf32>, %i: tensor<4096xi64>) -> tensor<9000xf32> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.scatter_rows %x, %i {size = 9000} : tensor<4096xf32>, tensor<4096xi64>
  samba.yield %0 : tensor<9000xf32>
}
