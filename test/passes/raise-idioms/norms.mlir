// RUN: samba-opt %s --samba-raise-idioms --canonicalize | FileCheck %s
// RUN: samba-opt %s --samba-raise-idioms --canonicalize -o %t.once && samba-opt %t.once --samba-raise-idioms --canonicalize -o %t.twice && diff %t.once %t.twice

// PyTorch before opset 17, with weight and bias.
// CHECK-LABEL: @layer_norm
// CHECK-NEXT: %[[Y:.*]] = samba.layer_norm %arg0, %arg1, %arg2 {eps = 9.99{{.*}}E-6, normalized_shape = [8]}
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %eps = samba.constant {value = dense<1.0e-5> : tensor<f32>}
  %two = samba.constant {value = dense<2.0> : tensor<f32>}
  %m = samba.mean %x {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %d = samba.sub %x, %m : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %p = samba.pow %d, %two : tensor<2x4x8xf32>, tensor<f32>
  %v = samba.mean %p {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %e = samba.add %v, %eps : tensor<2x4x1xf32>, tensor<f32>
  %r = samba.sqrt %e : tensor<2x4x1xf32>
  %n = samba.div %d, %r : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %s = samba.mul %n, %w : tensor<2x4x8xf32>, tensor<8xf32>
  %y = samba.add %s, %b : tensor<2x4x8xf32>, tensor<8xf32>
  return %y : tensor<2x4x8xf32>
}

// As Llama writes it.
// CHECK-LABEL: @rms_norm
// CHECK-NEXT: samba.rms_norm %arg0, %arg1
// CHECK-NEXT: return
func.func @rms_norm(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %eps = samba.constant {value = dense<1.0e-6> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %p = samba.mul %x, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %v = samba.mean %p {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %e = samba.add %v, %eps : tensor<2x4x1xf32>, tensor<f32>
  %r = samba.sqrt %e : tensor<2x4x1xf32>
  %i = samba.div %one, %r : tensor<f32>, tensor<2x4x1xf32>
  %n = samba.mul %x, %i : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %y = samba.mul %n, %w : tensor<2x4x8xf32>, tensor<8xf32>
  return %y : tensor<2x4x8xf32>
}

// Near misses: the deviation of another tensor, a mean over other axes, a negative epsilon.
// CHECK-LABEL: @other_tensor
// CHECK-NOT: samba.rms_norm
// CHECK: return
func.func @other_tensor(%x: tensor<2x4x8xf32>, %z: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %eps = samba.constant {value = dense<1.0e-6> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %p = samba.mul %x, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %v = samba.mean %p {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %e = samba.add %v, %eps : tensor<2x4x1xf32>, tensor<f32>
  %r = samba.sqrt %e : tensor<2x4x1xf32>
  %i = samba.div %one, %r : tensor<f32>, tensor<2x4x1xf32>
  %n = samba.mul %z, %i : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  return %n : tensor<2x4x8xf32>
}
// CHECK-LABEL: @other_axes
// CHECK-NOT: samba.rms_norm
// CHECK: return
func.func @other_axes(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %eps = samba.constant {value = dense<1.0e-6> : tensor<f32>}
  %p = samba.mul %x, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %v = samba.mean %p {dim = [1], keepdim = true} : tensor<2x4x8xf32>
  %e = samba.add %v, %eps : tensor<2x1x8xf32>, tensor<f32>
  %r = samba.sqrt %e : tensor<2x1x8xf32>
  %n = samba.div %x, %r : tensor<2x4x8xf32>, tensor<2x1x8xf32>
  return %n : tensor<2x4x8xf32>
}
// CHECK-LABEL: @negative_epsilon
// CHECK-NOT: samba.rms_norm
// CHECK: return
func.func @negative_epsilon(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %eps = samba.constant {value = dense<-1.0e-6> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %p = samba.mul %x, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %v = samba.mean %p {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %e = samba.add %v, %eps : tensor<2x4x1xf32>, tensor<f32>
  %r = samba.sqrt %e : tensor<2x4x1xf32>
  %i = samba.div %one, %r : tensor<f32>, tensor<2x4x1xf32>
  %n = samba.mul %x, %i : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  return %n : tensor<2x4x8xf32>
}

// The mean that is taken off is not that of x: the rest is an RMS norm.
// CHECK-LABEL: @another_mean
// CHECK-NOT: samba.layer_norm
// CHECK: samba.rms_norm
// CHECK: return
func.func @another_mean(%x: tensor<2x4x8xf32>, %z: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %eps = samba.constant {value = dense<1.0e-5> : tensor<f32>}
  %two = samba.constant {value = dense<2.0> : tensor<f32>}
  %m = samba.mean %z {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %d = samba.sub %x, %m : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %p = samba.pow %d, %two : tensor<2x4x8xf32>, tensor<f32>
  %v = samba.mean %p {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %e = samba.add %v, %eps : tensor<2x4x1xf32>, tensor<f32>
  %r = samba.sqrt %e : tensor<2x4x1xf32>
  %n = samba.div %d, %r : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  return %n : tensor<2x4x8xf32>
}

// The weight before the division, and the root as a power; a weight of another shape is a near miss.
// CHECK-LABEL: @weight_first
// CHECK-NEXT: samba.layer_norm %arg0, %arg1, %arg2 {eps = {{.*}}, normalized_shape = [8]}
// CHECK-NEXT: return
func.func @weight_first(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %eps = samba.constant {value = dense<1.0e-5> : tensor<f32>}
  %two = samba.constant {value = dense<2.0> : tensor<f32>}
  %m = samba.mean %x {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %d = samba.sub %x, %m : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %p = samba.pow %d, %two : tensor<2x4x8xf32>, tensor<f32>
  %v = samba.mean %p {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %e = samba.add %v, %eps : tensor<2x4x1xf32>, tensor<f32>
  %r = samba.sqrt %e : tensor<2x4x1xf32>
  %s = samba.mul %w, %d : tensor<8xf32>, tensor<2x4x8xf32>
  %n = samba.div %s, %r : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %y = samba.add %n, %b : tensor<2x4x8xf32>, tensor<8xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @power
// CHECK-NEXT: samba.rms_norm %arg0, %arg1 {eps = {{.*}}, normalized_shape = [8]}
// CHECK-NEXT: return
func.func @power(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>) -> tensor<2x4x8xf32> {
  %eps = samba.constant {value = dense<1.0e-5> : tensor<f32>}
  %half = samba.constant {value = dense<-0.5> : tensor<f32>}
  %p = samba.mul %x, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %v = samba.mean %p {dim = [-1], keepdim = true} : tensor<2x4x8xf32>
  %e = samba.add %v, %eps : tensor<2x4x1xf32>, tensor<f32>
  %r = samba.pow %e, %half : tensor<2x4x1xf32>, tensor<f32>
  %s = samba.mul %x, %w : tensor<2x4x8xf32>, tensor<8xf32>
  %n = samba.mul %s, %r : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  return %n : tensor<2x4x8xf32>
}
// CHECK-LABEL: @weight_of_rows
// CHECK-NOT: samba.rms_norm
// CHECK: return
func.func @weight_of_rows(%x: tensor<2x8x8xf32>, %w: tensor<8x1xf32>) -> tensor<2x8x8xf32> {
  %eps = samba.constant {value = dense<1.0e-5> : tensor<f32>}
  %p = samba.mul %x, %x : tensor<2x8x8xf32>, tensor<2x8x8xf32>
  %v = samba.mean %p {dim = [-1], keepdim = true} : tensor<2x8x8xf32>
  %e = samba.add %v, %eps : tensor<2x8x1xf32>, tensor<f32>
  %r = samba.sqrt %e : tensor<2x8x1xf32>
  %s = samba.mul %x, %w : tensor<2x8x8xf32>, tensor<8x1xf32>
  %n = samba.div %s, %r : tensor<2x8x8xf32>, tensor<2x8x1xf32>
  return %n : tensor<2x8x8xf32>
}
