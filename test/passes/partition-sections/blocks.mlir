// A residual block is one section where that is no slower than what its operators become one by one,
// and no section before it takes its first convolution: two equal blocks are two calls of one.
// RUN: samba-opt %s --samba-partition-sections | FileCheck %s
// CHECK: samba.section @s0
// CHECK-COUNT-3: samba.conv2d_channels_last
// CHECK-NOT: samba.section
// CHECK: func.func @blocks
// CHECK: %[[FIRST:.*]] = samba.call @s0(%arg0,
// CHECK-SAME: rdu.end = {{{.*}}reason = "cycles"
// CHECK: samba.call @s0(%[[FIRST]],

func.func @blocks(%x: tensor<64x14x14x1024xbf16>, %w1: tensor<256x1024x1x1xbf16>,
                  %b1: tensor<256xbf16>, %w2: tensor<256x256x3x3xbf16>, %b2: tensor<256xbf16>,
                  %w3: tensor<1024x256x1x1xbf16>, %b3: tensor<1024xbf16>)
    -> tensor<64x14x14x1024xbf16> {
  %0 = samba.conv2d_channels_last %x, %w1, %b1 : tensor<64x14x14x1024xbf16>, tensor<256x1024x1x1xbf16>, tensor<256xbf16>
  %1 = samba.relu %0 : tensor<64x14x14x256xbf16>
  %2 = samba.conv2d_channels_last %1, %w2, %b2 {padding = [1, 1, 1, 1]} : tensor<64x14x14x256xbf16>, tensor<256x256x3x3xbf16>, tensor<256xbf16>
  %3 = samba.relu %2 : tensor<64x14x14x256xbf16>
  %4 = samba.conv2d_channels_last %3, %w3, %b3 : tensor<64x14x14x256xbf16>, tensor<1024x256x1x1xbf16>, tensor<1024xbf16>
  %5 = samba.add %4, %x : tensor<64x14x14x1024xbf16>, tensor<64x14x14x1024xbf16>
  %6 = samba.relu %5 : tensor<64x14x14x1024xbf16>
  %7 = samba.conv2d_channels_last %6, %w1, %b1 : tensor<64x14x14x1024xbf16>, tensor<256x1024x1x1xbf16>, tensor<256xbf16>
  %8 = samba.relu %7 : tensor<64x14x14x256xbf16>
  %9 = samba.conv2d_channels_last %8, %w2, %b2 {padding = [1, 1, 1, 1]} : tensor<64x14x14x256xbf16>, tensor<256x256x3x3xbf16>, tensor<256xbf16>
  %10 = samba.relu %9 : tensor<64x14x14x256xbf16>
  %11 = samba.conv2d_channels_last %10, %w3, %b3 : tensor<64x14x14x256xbf16>, tensor<1024x256x1x1xbf16>, tensor<1024xbf16>
  %12 = samba.add %11, %6 : tensor<64x14x14x1024xbf16>, tensor<64x14x14x1024xbf16>
  %13 = samba.relu %12 : tensor<64x14x14x1024xbf16>
  return %13 : tensor<64x14x14x1024xbf16>
}
