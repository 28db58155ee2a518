// RUN: samba-opt %s --samba-decompose-composites=target=sn40l | FileCheck %s --check-prefix=WHOLE
// RUN: samba-opt %s --samba-decompose-composites=target=tiny | FileCheck %s
// RUN: samba-compile %s --target=tiny -o %t.pef

// Every output position modulo the stride is a stage of its own, which writes for itself. Where
// the target has too few address generators for that, zeros are inserted and one stage is left.

// WHOLE-LABEL: func.func @strided
// WHOLE: samba.conv_transpose2d
// CHECK-LABEL: func.func @strided
// CHECK: samba.pad {{.*}} : tensor<2x4x5x1x4xf32>
// CHECK: samba.pad {{.*}} : tensor<2x4x15x4x1xf32>
// CHECK: samba.slice {{.*}}steps = {{.*}}-1
// CHECK: samba.conv2d {{.*}}tensor<6x2x3x3xf32>, tensor<6xf32>
// CHECK: samba.slice {{.*}}steps = {{.*}}-1
// CHECK-NOT: samba.conv_transpose2d
// CHECK: return {{.*}} : tensor<2x6x14x9xf32>
func.func @strided(%x: tensor<2x4x5x4xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<6xf32>) -> tensor<2x6x14x9xf32> {
  %0 = samba.conv_transpose2d %x, %w, %b {stride = [3, 2], padding = [1, 0, 0, 0], groups = 2} : tensor<2x4x5x4xf32>, tensor<4x3x3x3xf32>, tensor<6xf32>
  return %0 : tensor<2x6x14x9xf32>
}
