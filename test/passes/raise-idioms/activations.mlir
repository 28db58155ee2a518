// RUN: samba-opt %s --samba-raise-idioms --canonicalize | FileCheck %s
// RUN: samba-opt %s --samba-raise-idioms --canonicalize -o %t.once && samba-opt %t.once --samba-raise-idioms --canonicalize -o %t.twice && diff %t.once %t.twice

// PyTorch: x * (1 + erf(x / sqrt 2)) * 0.5.
// CHECK-LABEL: @gelu_erf
// CHECK-NEXT: samba.gelu %arg0 {approximate = "none"}
// CHECK-NEXT: return
func.func @gelu_erf(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %h = samba.constant {value = dense<0.5> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %q = samba.constant {value = dense<1.41421354> : tensor<f32>}
  %t = samba.div %x, %q : tensor<2x4x8xf32>, tensor<f32>
  %f = samba.erf %t : tensor<2x4x8xf32>
  %g = samba.add %f, %one : tensor<2x4x8xf32>, tensor<f32>
  %p = samba.mul %x, %g : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %y = samba.mul %p, %h : tensor<2x4x8xf32>, tensor<f32>
  return %y : tensor<2x4x8xf32>
}

// GPT-2: the cube as products, then as a power.
// CHECK-LABEL: @gelu_tanh
// CHECK-NEXT: samba.gelu %arg0 {approximate = "tanh"}
// CHECK-NEXT: return
func.func @gelu_tanh(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %h = samba.constant {value = dense<0.5> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %k = samba.constant {value = dense<0.0447149985> : tensor<f32>}
  %q = samba.constant {value = dense<0.797884583> : tensor<f32>}
  %s = samba.mul %x, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %c = samba.mul %s, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %d = samba.mul %c, %k : tensor<2x4x8xf32>, tensor<f32>
  %e = samba.add %x, %d : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %t = samba.mul %e, %q : tensor<2x4x8xf32>, tensor<f32>
  %f = samba.tanh %t : tensor<2x4x8xf32>
  %g = samba.add %f, %one : tensor<2x4x8xf32>, tensor<f32>
  %p = samba.mul %x, %h : tensor<2x4x8xf32>, tensor<f32>
  %y = samba.mul %p, %g : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @gelu_power
// CHECK-NEXT: samba.gelu %arg0 {approximate = "tanh"}
// CHECK-NEXT: return
func.func @gelu_power(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %h = samba.constant {value = dense<0.5> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %k = samba.constant {value = dense<0.0447149985> : tensor<f32>}
  %q = samba.constant {value = dense<0.797884583> : tensor<f32>}
  %three = samba.constant {value = dense<3.0> : tensor<f32>}
  %c = samba.pow %x, %three : tensor<2x4x8xf32>, tensor<f32>
  %d = samba.mul %c, %k : tensor<2x4x8xf32>, tensor<f32>
  %e = samba.add %x, %d : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %t = samba.mul %e, %q : tensor<2x4x8xf32>, tensor<f32>
  %f = samba.tanh %t : tensor<2x4x8xf32>
  %g = samba.add %f, %one : tensor<2x4x8xf32>, tensor<f32>
  %p = samba.mul %x, %g : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %y = samba.mul %p, %h : tensor<2x4x8xf32>, tensor<f32>
  return %y : tensor<2x4x8xf32>
}

// x in front of the parentheses, a division by two.
// CHECK-LABEL: @gelu_factored
// CHECK-NEXT: samba.gelu %arg0 {approximate = "tanh"}
// CHECK-NEXT: return
func.func @gelu_factored(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %h = samba.constant {value = dense<0.5> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %k = samba.constant {value = dense<0.0447149985> : tensor<f32>}
  %q = samba.constant {value = dense<0.797884583> : tensor<f32>}
  %i = samba.mul %x, %q : tensor<2x4x8xf32>, tensor<f32>
  %s = samba.mul %x, %k : tensor<2x4x8xf32>, tensor<f32>
  %c = samba.mul %s, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %e = samba.add %c, %one : tensor<2x4x8xf32>, tensor<f32>
  %t = samba.mul %i, %e : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %f = samba.tanh %t : tensor<2x4x8xf32>
  %g = samba.add %f, %one : tensor<2x4x8xf32>, tensor<f32>
  %two = samba.constant {value = dense<2.0> : tensor<f32>}
  %p = samba.div %x, %two : tensor<2x4x8xf32>, tensor<f32>
  %y = samba.mul %g, %p : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// Near misses: other numbers, a square for the cube, another x.
// CHECK-LABEL: @other_number
// CHECK-NOT: samba.gelu
// CHECK: return
func.func @other_number(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %h = samba.constant {value = dense<0.5> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %k = samba.constant {value = dense<0.0457> : tensor<f32>}
  %q = samba.constant {value = dense<0.797884583> : tensor<f32>}
  %s = samba.mul %x, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %c = samba.mul %s, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %d = samba.mul %c, %k : tensor<2x4x8xf32>, tensor<f32>
  %e = samba.add %x, %d : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %t = samba.mul %e, %q : tensor<2x4x8xf32>, tensor<f32>
  %f = samba.tanh %t : tensor<2x4x8xf32>
  %g = samba.add %f, %one : tensor<2x4x8xf32>, tensor<f32>
  %p = samba.mul %x, %h : tensor<2x4x8xf32>, tensor<f32>
  %y = samba.mul %p, %g : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @square
// CHECK-NOT: samba.gelu
// CHECK: return
func.func @square(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %h = samba.constant {value = dense<0.5> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %k = samba.constant {value = dense<0.0447149985> : tensor<f32>}
  %q = samba.constant {value = dense<0.797884583> : tensor<f32>}
  %three = samba.constant {value = dense<2.0> : tensor<f32>}
  %c = samba.pow %x, %three : tensor<2x4x8xf32>, tensor<f32>
  %d = samba.mul %c, %k : tensor<2x4x8xf32>, tensor<f32>
  %e = samba.add %x, %d : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %t = samba.mul %e, %q : tensor<2x4x8xf32>, tensor<f32>
  %f = samba.tanh %t : tensor<2x4x8xf32>
  %g = samba.add %f, %one : tensor<2x4x8xf32>, tensor<f32>
  %p = samba.mul %x, %h : tensor<2x4x8xf32>, tensor<f32>
  %y = samba.mul %p, %g : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @another_x
// CHECK-NOT: samba.gelu
// CHECK: return
func.func @another_x(%x: tensor<2x4x8xf32>, %z: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %h = samba.constant {value = dense<0.5> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %k = samba.constant {value = dense<0.0447149985> : tensor<f32>}
  %q = samba.constant {value = dense<0.797884583> : tensor<f32>}
  %s = samba.mul %x, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %c = samba.mul %s, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %d = samba.mul %c, %k : tensor<2x4x8xf32>, tensor<f32>
  %e = samba.add %x, %d : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %t = samba.mul %e, %q : tensor<2x4x8xf32>, tensor<f32>
  %f = samba.tanh %t : tensor<2x4x8xf32>
  %g = samba.add %f, %one : tensor<2x4x8xf32>, tensor<f32>
  %p = samba.mul %z, %h : tensor<2x4x8xf32>, tensor<f32>
  %y = samba.mul %p, %g : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @not_halved
// CHECK-NOT: samba.gelu
// CHECK: return
func.func @not_halved(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %h = samba.constant {value = dense<0.25> : tensor<f32>}
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %q = samba.constant {value = dense<1.41421354> : tensor<f32>}
  %t = samba.div %x, %q : tensor<2x4x8xf32>, tensor<f32>
  %f = samba.erf %t : tensor<2x4x8xf32>
  %g = samba.add %f, %one : tensor<2x4x8xf32>, tensor<f32>
  %p = samba.mul %x, %g : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  %y = samba.mul %p, %h : tensor<2x4x8xf32>, tensor<f32>
  return %y : tensor<2x4x8xf32>
}

// CHECK-LABEL: @silu
// CHECK-NEXT: samba.silu %arg0
// CHECK-NEXT: return
func.func @silu(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %s = samba.sigmoid %x : tensor<2x4x8xf32>
  %y = samba.mul %s, %x : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @silu_of_another
// CHECK-NOT: samba.silu
// CHECK: return
func.func @silu_of_another(%x: tensor<2x4x8xf32>, %z: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %s = samba.sigmoid %x : tensor<2x4x8xf32>
  %y = samba.mul %s, %z : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @divided
// CHECK-NOT: samba.silu
// CHECK: return
func.func @divided(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %s = samba.sigmoid %x : tensor<2x4x8xf32>
  %y = samba.div %x, %s : tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}

// CHECK-LABEL: @softmax
// CHECK-NEXT: samba.softmax %arg0 {dim = 2}
// CHECK-NEXT: return
func.func @softmax(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %m = samba.amax %x {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %d = samba.sub %x, %m : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %e = samba.exp %d : tensor<2x4x8xf32>
  %s = samba.sum %e {dim = [-1], keepdim = true} : tensor<2x4x8xf32>
  %y = samba.div %e, %s : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @softmax_of_another
// CHECK-NOT: samba.softmax
// CHECK: return
func.func @softmax_of_another(%x: tensor<2x4x8xf32>, %z: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %m = samba.amax %x {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %d = samba.sub %z, %m : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %e = samba.exp %d : tensor<2x4x8xf32>
  %s = samba.sum %e {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %y = samba.div %e, %s : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  return %y : tensor<2x4x8xf32>
}
// CHECK-LABEL: @softmax_over_another
// CHECK-NOT: samba.softmax
// CHECK: return
func.func @softmax_over_another(%x: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %m = samba.amax %x {dim = [2], keepdim = true} : tensor<2x4x8xf32>
  %d = samba.sub %x, %m : tensor<2x4x8xf32>, tensor<2x4x1xf32>
  %e = samba.exp %d : tensor<2x4x8xf32>
  %s = samba.sum %e {dim = [1], keepdim = true} : tensor<2x4x8xf32>
  %y = samba.div %e, %s : tensor<2x4x8xf32>, tensor<2x1x8xf32>
  return %y : tensor<2x4x8xf32>
}
