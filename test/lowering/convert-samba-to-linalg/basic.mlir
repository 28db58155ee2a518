// One linalg operation per stage; views stay, and so does what indexes memory by values.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(convert-samba-to-linalg))' | FileCheck %s
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(convert-samba-to-linalg))' -o %t.once && samba-opt %t.once --pass-pipeline='builtin.module(samba.section(convert-samba-to-linalg))' | diff %t.once -
// RUN: %mlir-opt %t.once --load-dialect-plugin=%plugin -o - | FileCheck --check-prefix=STOCK %s
// STOCK: linalg.generic
// REQUIRES: plugin

// CHECK-LABEL: samba.section @matmul
// CHECK: %[[ZERO:.*]] = linalg.fill
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : {{.*}} outs(%[[ZERO]] : tensor<4x3xf32>) attrs = {rdu.stage = "matmul"}
// CHECK: math.fma %{{.*}}, %{{.*}}, %out : f32
samba.section @matmul(%a: tensor<4x5xf32>, %b: tensor<5x3xf32>) -> tensor<4x3xf32> {
  %0 = samba.matmul %a, %b : tensor<4x5xf32>, tensor<5x3xf32>
  samba.yield %0 : tensor<4x3xf32>
}

// bf16 accumulates in f32 and is rounded once, in a stage of its own.
// CHECK-LABEL: samba.section @narrow
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x3xf32>)
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: math.fma
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4x3xf32>) outs(%{{.*}} : tensor<4x3xbf16>)
// CHECK: arith.truncf %{{.*}} : f32 to bf16
samba.section @narrow(%a: tensor<4x5xbf16>, %b: tensor<5x3xbf16>) -> tensor<4x3xbf16> {
  %0 = samba.matmul %a, %b : tensor<4x5xbf16>, tensor<5x3xbf16>
  samba.yield %0 : tensor<4x3xbf16>
}

// A padded convolution: what is outside comes from tensor.pad.
// CHECK-LABEL: samba.section @conv
// CHECK: %[[PAD:.*]] = tensor.pad %arg0 low[0, 0, 1, 1] high[0, 0, 1, 1]
// CHECK: linalg.generic {{.*}} ins(%[[PAD]], %arg1 : tensor<1x2x8x8xf32>, tensor<3x2x3x3xf32>)
samba.section @conv(%x: tensor<1x2x6x6xf32>, %w: tensor<3x2x3x3xf32>) -> tensor<1x3x6x6xf32> {
  %0 = samba.conv2d %x, %w {padding = array<i64: 1, 1, 1, 1>} : tensor<1x2x6x6xf32>, tensor<3x2x3x3xf32>
  samba.yield %0 : tensor<1x3x6x6xf32>
}

// Groups: the stages write [n, group, o, ..], the result is another shape of it.
// CHECK-LABEL: samba.section @groups
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x2x3x4x4xf32>)
// CHECK: samba.reshape %{{.*}} {shape = [1, 6, 4, 4]}
samba.section @groups(%x: tensor<1x4x4x4xf32>, %w: tensor<6x2x1x1xf32>) -> tensor<1x6x4x4xf32> {
  %0 = samba.conv2d %x, %w {groups = 2} : tensor<1x4x4x4xf32>, tensor<6x2x1x1xf32>
  samba.yield %0 : tensor<1x6x4x4xf32>
}

// A pool's window has no operand: its extents come from a tensor that is never read.
// CHECK-LABEL: samba.section @pool
// CHECK: arith.constant 0xFF800000 : f32
// CHECK: %[[WINDOW:.*]] = tensor.empty() : tensor<2x2xf32>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[WINDOW]] :
// CHECK: arith.maximumf
samba.section @pool(%x: tensor<1x2x8x8xf32>) -> tensor<1x2x4x4xf32> {
  %0 = samba.max_pool2d %x {kernel_size = array<i64: 2, 2>} : tensor<1x2x8x8xf32>
  samba.yield %0 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: samba.section @softmax
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
samba.section @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = samba.softmax %x {dim = 1} : tensor<4x8xf32>
  samba.yield %0 : tensor<4x8xf32>
}

// CHECK-LABEL: samba.section @cat
// CHECK: tensor.insert_slice %arg0 into %{{.*}}[0, 0] [2, 3] [1, 1]
// CHECK: tensor.insert_slice %arg1 into %{{.*}}[0, 3] [2, 5] [1, 1]
samba.section @cat(%a: tensor<2x3xf32>, %b: tensor<2x5xf32>) -> tensor<2x8xf32> {
  %0 = samba.cat %a, %b {dim = 1} : tensor<2x3xf32>, tensor<2x5xf32>
  samba.yield %0 : tensor<2x8xf32>
}

// Repeated constants are immediates; a condition selects.
// CHECK-LABEL: samba.section @where
// CHECK-NOT: samba.constant
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 :
// CHECK: %[[SEVEN:.*]] = arith.constant 7.0
// CHECK: arith.select %{{.*}}, %{{.*}}, %[[SEVEN]] : f32
samba.section @where(%c: tensor<4xi1>, %x: tensor<4xf32>) -> tensor<4xf32> {
  %seven = samba.constant {value = dense<7.0> : tensor<f32>}
  %0 = samba.where %c, %x, %seven : tensor<4xi1>, tensor<4xf32>, tensor<f32>
  samba.yield %0 : tensor<4xf32>
}

// CHECK-LABEL: samba.section @stays
// CHECK: %[[VIEW:.*]] = samba.permute
// CHECK: samba.embedding %[[VIEW]], %arg1
// CHECK-NOT: linalg.generic
// CHECK: samba.yield
samba.section @stays(%w: tensor<6x9xf32>, %i: tensor<3xi64>) -> tensor<3x6xf32> {
  %0 = samba.permute %w {dims = array<i64: 1, 0>} : tensor<6x9xf32>
  %1 = samba.embedding %0, %i : tensor<9x6xf32>, tensor<3xi64>
  samba.yield %1 : tensor<3x6xf32>
}
