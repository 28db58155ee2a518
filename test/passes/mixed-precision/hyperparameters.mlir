// RUN: samba-opt %s --pass-pipeline='builtin.module(samba-mixed-precision{preset=mp4})' | FileCheck %s

// What only optimizers read as hyperparameters stays f32, argument or constant; what somebody else reads does not.
// CHECK-LABEL: func.func @step
// CHECK-SAME: %arg0: tensor<2x3xbf16>
// CHECK-SAME: %arg4: tensor<f32> {samba.kind = "input", samba.name = "lr"}
// CHECK-SAME: %arg6: tensor<bf16>
// CHECK: %[[BETA:.*]] = samba.constant {value = dense<9.990000e-01> : tensor<f32>}
// CHECK: samba.adam_update %{{.*}}, %[[BETA]], %{{.*}} : tensor<2x3xbf16>, {{.*}} tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<bf16>
func.func @step(%w: tensor<2x3xf32> {samba.name = "w", samba.kind = "input"}, %g: tensor<2x3xf32> {samba.name = "g", samba.kind = "input"},
    %m: tensor<2x3xf32> {samba.name = "m", samba.kind = "input"}, %v: tensor<2x3xf32> {samba.name = "v", samba.kind = "input"},
    %lr: tensor<f32> {samba.name = "lr", samba.kind = "input"}, %t: tensor<i64> {samba.name = "t", samba.kind = "input"},
    %post: tensor<f32> {samba.name = "post", samba.kind = "input"})
    -> (tensor<2x3xf32> {samba.name = "w1", samba.kind = "output"}, tensor<f32> {samba.name = "p", samba.kind = "output"}) {
  %beta = samba.constant {value = dense<0.999> : tensor<f32>}
  %w1, %m1, %v1 = samba.adam_update %w, %g, %m, %v, %lr, %t, %beta, %beta, %beta, %beta, %post : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
  %p = samba.neg %post : tensor<f32>
  return %w1, %p : tensor<2x3xf32>, tensor<f32>
}

// An optimizer's state stays f32, argument and result; who computes with it in bf16 casts it.
// CHECK-LABEL: func.func @state
// CHECK-SAME: %arg0: tensor<4xbf16>
// CHECK-SAME: %arg2: tensor<4xf32> {samba.kind = "optimizer_state", samba.name = "v"}
// CHECK-SAME: -> (tensor<4xbf16> {{{.*}}}, tensor<4xf32> {samba.kind = "update", samba.name = "v1"}, tensor<4xbf16>
// CHECK: %[[W:.*]], %[[V:.*]] = samba.momentum_update {{.*}} : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>, tensor<f32>
// CHECK: %[[N:.*]] = samba.cast %[[V]] {dtype = bf16} : tensor<4xf32>
// CHECK: %[[X:.*]] = samba.add %[[N]], %arg0 : tensor<4xbf16>, tensor<4xbf16>
// CHECK: return %[[W]], %[[V]], %[[X]]
func.func @state(%w: tensor<4xf32> {samba.name = "w", samba.kind = "weight"}, %g: tensor<4xf32> {samba.name = "g", samba.kind = "input"},
    %v: tensor<4xf32> {samba.name = "v", samba.kind = "optimizer_state"},
    %lr: tensor<f32>, %t: tensor<i64>, %alpha: tensor<f32>, %beta: tensor<f32>, %decay: tensor<f32>)
    -> (tensor<4xf32> {samba.name = "w1", samba.kind = "update"}, tensor<4xf32> {samba.name = "v1", samba.kind = "update"}, tensor<4xf32> {samba.name = "x"}) {
  %0:2 = samba.momentum_update %w, %g, %v, %lr, %t, %alpha, %beta, %decay : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>
  %1 = samba.add %0#1, %w : tensor<4xf32>, tensor<4xf32>
  return %0#0, %0#1, %1 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// A weight with a copy in f32 is bf16, whoever reads it: steps write it without reading it.
// CHECK-LABEL: func.func @master
// CHECK-SAME: %arg0: tensor<4xbf16> {samba.host_dtype = f32, samba.kind = "weight", samba.master = "c"
// CHECK-SAME: %arg2: tensor<4xf32> {samba.kind = "optimizer_state", samba.name = "c"}
// CHECK: samba.cast %arg0 {dtype = f32
// CHECK: samba.adamw_master_update {{.*}} : tensor<4xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
func.func @master(%w: tensor<4xf32> {samba.name = "w", samba.kind = "weight", samba.master = "c"}, %m: tensor<4xf32> {samba.name = "m", samba.kind = "optimizer_state"},
    %c: tensor<4xf32> {samba.name = "c", samba.kind = "optimizer_state"}, %lr: tensor<f32>, %t: tensor<i64>, %decay: tensor<f32>)
    -> (tensor<4xf32> {samba.kind = "update", samba.region = "w"}, tensor<4xf32> {samba.kind = "update", samba.region = "c"}) {
  %g = samba.exp %w {samba.graphamp = false} : tensor<4xf32>
  %0:4 = samba.adamw_master_update %g, %m, %m, %c, %lr, %t, %decay : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<i64>, tensor<f32>
  return %0#0, %0#3 : tensor<4xf32>, tensor<4xf32>
}
