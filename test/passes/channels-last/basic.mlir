// RUN: samba-opt %s --samba-channels-last | FileCheck %s
// RUN: samba-opt %s --samba-channels-last -o %t.once && samba-opt %t.once --samba-channels-last -o %t.twice && diff %t.once %t.twice

// Convolutions, what works point by point between them, pools and joined channels change together;
// the image from outside is permuted, and the mean reads the new order.
// CHECK-LABEL: func.func @network
// CHECK: %[[IN:.*]] = samba.permute %arg0 {dims = [0, 2, 3, 1]} : tensor<2x3x20x20xbf16>
// CHECK-NEXT: %[[A:.*]] = samba.conv2d_channels_last %[[IN]], %arg1 {padding = [1, 1, 1, 1]} : tensor<2x20x20x3xbf16>, tensor<32x3x3x3xbf16>
// CHECK-NEXT: %[[B:.*]] = samba.relu %[[A]] : tensor<2x20x20x32xbf16>
// CHECK-NEXT: %[[C:.*]] = samba.max_pool2d_channels_last %[[B]] {kernel_size = [2, 2]} : tensor<2x20x20x32xbf16>
// CHECK-NEXT: %[[D:.*]] = samba.conv2d_channels_last %[[C]], %arg2
// CHECK-NEXT: %[[E:.*]] = samba.add %[[D]], %[[C]] : tensor<2x10x10x32xbf16>, tensor<2x10x10x32xbf16>
// CHECK-NEXT: %[[F:.*]] = samba.cat %[[E]], %[[C]] {dim = 3}
// CHECK-NEXT: %[[G:.*]] = samba.mean %[[F]] {dim = [1, 2], keepdim = true} : tensor<2x10x10x64xbf16>
// CHECK-NEXT: %[[H:.*]] = samba.reshape %[[G]] {shape = [2, 64, 1, 1]}
// CHECK-NEXT: return %[[H]]
func.func @network(%image: tensor<2x3x20x20xbf16>, %first: tensor<32x3x3x3xbf16>,
                   %second: tensor<32x32x1x1xbf16>) -> tensor<2x64x1x1xbf16> {
  %0 = samba.conv2d %image, %first {padding = [1, 1, 1, 1]} : tensor<2x3x20x20xbf16>, tensor<32x3x3x3xbf16>
  %1 = samba.relu %0 : tensor<2x32x20x20xbf16>
  %2 = samba.max_pool2d %1 {kernel_size = [2, 2]} : tensor<2x32x20x20xbf16>
  %3 = samba.conv2d %2, %second : tensor<2x32x10x10xbf16>, tensor<32x32x1x1xbf16>
  %4 = samba.add %3, %2 : tensor<2x32x10x10xbf16>, tensor<2x32x10x10xbf16>
  %5 = samba.cat %4, %2 {dim = 1} : tensor<2x32x10x10xbf16>, tensor<2x32x10x10xbf16>
  %6 = samba.mean %5 {dim = [2, 3], keepdim = true} : tensor<2x64x10x10xbf16>
  return %6 : tensor<2x64x1x1xbf16>
}

// A small result is permuted back.
// CHECK-LABEL: func.func @result
// CHECK: samba.conv2d_channels_last
// CHECK: samba.relu
// CHECK: samba.relu
// CHECK: samba.avg_pool2d_channels_last
// CHECK-NEXT: %[[BACK:.*]] = samba.permute %{{.*}} {dims = [0, 3, 1, 2]}
// CHECK-NEXT: return %[[BACK]]
func.func @result(%image: tensor<2x3x20x20xbf16>, %weight: tensor<32x3x1x1xbf16>) -> tensor<2x32x10x10xbf16> {
  %0 = samba.conv2d %image, %weight : tensor<2x3x20x20xbf16>, tensor<32x3x1x1xbf16>
  %1 = samba.relu %0 : tensor<2x32x20x20xbf16>
  %2 = samba.relu %1 : tensor<2x32x20x20xbf16>
  %3 = samba.avg_pool2d %2 {kernel_size = [2, 2]} : tensor<2x32x20x20xbf16>
  return %3 : tensor<2x32x10x10xbf16>
}

// What would mostly lie worse stays: a result, few channels, f32.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: channels_last
// CHECK-LABEL: func.func @narrow
// CHECK-NOT: channels_last
// CHECK-LABEL: func.func @wide
// CHECK-NOT: channels_last
func.func @alone(%image: tensor<2x32x20x20xbf16>, %weight: tensor<32x32x1x1xbf16>) -> tensor<2x32x20x20xbf16> {
  %0 = samba.conv2d %image, %weight : tensor<2x32x20x20xbf16>, tensor<32x32x1x1xbf16>
  return %0 : tensor<2x32x20x20xbf16>
}

func.func @narrow(%image: tensor<2x32x20x20xbf16>, %weight: tensor<16x32x1x1xbf16>) -> tensor<2x16xbf16> {
  %0 = samba.conv2d %image, %weight : tensor<2x32x20x20xbf16>, tensor<16x32x1x1xbf16>
  %1 = samba.mean %0 {dim = [2, 3]} : tensor<2x16x20x20xbf16>
  return %1 : tensor<2x16xbf16>
}

func.func @wide(%image: tensor<2x32x20x20xf32>, %weight: tensor<32x32x1x1xf32>) -> tensor<2x32xf32> {
  %0 = samba.conv2d %image, %weight : tensor<2x32x20x20xf32>, tensor<32x32x1x1xf32>
  %1 = samba.mean %0 {dim = [2, 3]} : tensor<2x32x20x20xf32>
  return %1 : tensor<2x32xf32>
}
