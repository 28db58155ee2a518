// A section reads a reshape of a value that it makes: the heads of a projection are turned where
// they are made, and the projection is not stored.
// RUN: samba-compile %s -o %t.pef && FileCheck %s < %t.pef.log
// CHECK: sections: 1, configurations: 1, calls: 1

func.func @heads(%x: tensor<64x128xbf16>, %w: tensor<128x128xbf16>,
                 %c: tensor<64x32xbf16>, %s: tensor<64x32xbf16>) -> tensor<4x64x32xbf16> {
  %0 = samba.linear %x, %w : tensor<64x128xbf16>, tensor<128x128xbf16>
  %1 = samba.reshape %0 {shape = [64, 4, 32]} : tensor<64x128xbf16>
  %2 = samba.permute %1 {dims = [1, 0, 2]} : tensor<64x4x32xbf16>
  %3 = samba.rotary_embedding %2, %c, %s
      : tensor<4x64x32xbf16>, tensor<64x32xbf16>, tensor<64x32xbf16>
  return %3 : tensor<4x64x32xbf16>
}
