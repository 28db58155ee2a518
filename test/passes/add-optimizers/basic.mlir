// RUN: samba-opt --samba-add-optimizers --split-input-file %s | FileCheck %s
// RUN: samba-opt --samba-add-optimizers=precision=mp4 --split-input-file %s | FileCheck --check-prefix=NARROW %s
// Twice is once.
// RUN: samba-opt --samba-add-optimizers --split-input-file %s > %t.once && samba-opt --samba-add-optimizers --split-input-file %t.once | diff %t.once -

// SGD: the weight and its velocity are written back; the settings are argins (D4: all three).
// CHECK-LABEL: func.func @sgd
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<2xf32> {samba.name = "w", samba.optimizer = 0 : i64}
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<2xf32> {samba.kind = "optimizer_state", samba.name = "w__velocity", samba.value = dense<0.000000e+00> : tensor<2xf32>}
// CHECK-SAME: %[[LR:[a-z0-9]+]]: tensor<f32> {samba.argin = #samba.argin<default = 1.000000e-01, group = "lr", kind = "lr", min = 0.000000e+00>, samba.kind = "argin", samba.name = "fast.lr"}
// CHECK-SAME: samba.name = "fast.momentum"
// CHECK-SAME: samba.name = "fast.weight_decay"
// CHECK-SAME: {samba.kind = "update", samba.name = "w", samba.region = "w"}
// CHECK-SAME: {samba.kind = "update", samba.name = "w__velocity", samba.region = "w__velocity"}
// CHECK-NOT: samba.optimizers
// CHECK: %[[G:.*]] = samba.exp
// CHECK: %[[NEW:.*]], %[[V1:.*]] = samba.momentum_update %[[W]], %[[G]], %[[V]], %[[LR]], %{{.*}} {nesterov = true, samba.phase = "OPT"}
// CHECK: return %[[G]], %[[NEW]], %[[V1]]
func.func @sgd(%w: tensor<2xf32> {samba.name = "w", samba.optimizer = 0})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"})
    attributes {samba.optimizers = [#samba.optimizer<"sgd", group = "fast.", lr = 0.1, nesterov = 1>]} {
  %g = samba.exp %w {samba.phase = "BCKWD"} : tensor<2xf32>
  return %g : tensor<2xf32>
}

// -----

// AdamW counts its steps; betas and eps are constants.
// CHECK-LABEL: func.func @adamw
// CHECK-SAME: samba.name = "w__exp_avg"
// CHECK-SAME: samba.name = "w__exp_avg_sq"
// CHECK-SAME: tensor<i64> {samba.kind = "optimizer_state", samba.name = "OPT__step", samba.value = dense<0> : tensor<i64>}
// CHECK-SAME: tensor<i64> {samba.kind = "update", samba.name = "OPT__step", samba.region = "OPT__step"}
// CHECK: %[[T:.*]] = samba.add %{{.*}}, %{{.*}} {samba.phase = "OPT"} : tensor<i64>, tensor<i64>
// CHECK: samba.adamw_update %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[T]], %{{.*}} {beta1 = {{.*}}, beta2 = {{.*}}, eps = {{.*}}, samba.phase = "OPT"}
func.func @adamw(%w: tensor<2xf32> {samba.name = "w", samba.optimizer = 0})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"})
    attributes {samba.optimizers = [#samba.optimizer<"adamw", lr = 0.1>]} {
  %g = samba.exp %w {samba.phase = "BCKWD"} : tensor<2xf32>
  return %g : tensor<2xf32>
}

// -----

// Two optimizers, each with its weight (S022).
// CHECK-LABEL: func.func @two
// CHECK: samba.momentum_update
// CHECK: samba.adamw_update
func.func @two(%w: tensor<2xf32> {samba.name = "w", samba.optimizer = 0}, %v: tensor<2xf32> {samba.name = "v", samba.optimizer = 1})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"},
        tensor<2xf32> {samba.name = "v__grad", samba.kind = "gradient", samba.grad_of = "v"})
    attributes {samba.optimizers = [#samba.optimizer<"sgd", group = "a.", lr = 0.1>, #samba.optimizer<"adamw", group = "b.", lr = 0.2>]} {
  %g = samba.exp %w {samba.phase = "BCKWD"} : tensor<2xf32>
  %h = samba.exp %v {samba.phase = "BCKWD"} : tensor<2xf32>
  return %g, %h : tensor<2xf32>, tensor<2xf32>
}

// -----

// An input has a gradient, but no optimizer.
// CHECK-LABEL: func.func @input
// CHECK-NOT: x__velocity
// CHECK-COUNT-1: samba.momentum_update
// CHECK-NOT: samba.momentum_update
// CHECK: return
func.func @input(%x: tensor<2xf32> {samba.name = "x", samba.kind = "input", samba.requires_grad = true}, %w: tensor<2xf32> {samba.name = "w", samba.optimizer = 0, samba.requires_grad = true})
    -> (tensor<2xf32> {samba.name = "x__grad", samba.kind = "gradient", samba.grad_of = "x"},
        tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"})
    attributes {samba.optimizers = [#samba.optimizer<"sgd", lr = 0.1>]} {
  %g = samba.exp %w {samba.phase = "BCKWD"} : tensor<2xf32>
  %h = samba.exp %x {samba.phase = "BCKWD"} : tensor<2xf32>
  return %g, %h : tensor<2xf32>, tensor<2xf32>
}

// -----

// D7: groups that join an optimizer are clipped by one norm; each has hyperparameters of its own.
// CHECK-LABEL: func.func @groups
// CHECK-SAME: samba.name = "a.lr"
// CHECK-SAME: samba.name = "b.lr"
// CHECK: %[[W:.*]] = samba.contiguous {{.*}}samba.region = "w__grad"
// CHECK: %[[V:.*]] = samba.contiguous {{.*}}samba.region = "v__grad"
// CHECK: %[[SHARE:.*]] = samba.minimum {{.*}}GRADNORM
// CHECK: samba.mul %[[W]], %[[SHARE]]
// CHECK: samba.mul %[[V]], %[[SHARE]]
// CHECK-NOT: samba.minimum
// CHECK: return
func.func @groups(%w: tensor<2xf32> {samba.name = "w", samba.optimizer = 0}, %v: tensor<2xf32> {samba.name = "v", samba.optimizer = 1})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"},
        tensor<2xf32> {samba.name = "v__grad", samba.kind = "gradient", samba.grad_of = "v"})
    attributes {samba.optimizers = [#samba.optimizer<"adamw", group = "a.", max_grad_norm = 1>, #samba.optimizer<"adamw", group = "b.", joins = 0>]} {
  %g = samba.exp %w {samba.phase = "BCKWD"} : tensor<2xf32>
  %h = samba.exp %v {samba.phase = "BCKWD"} : tensor<2xf32>
  return %g, %h : tensor<2xf32>, tensor<2xf32>
}

// -----

// A weight that names no optimizer has its gradient only.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: w__velocity
// CHECK-COUNT-1: samba.momentum_update
// CHECK-NOT: samba.momentum_update
// CHECK: return
func.func @alone(%w: tensor<2xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true}, %v: tensor<2xf32> {samba.name = "v", samba.kind = "weight", samba.optimizer = 0, samba.requires_grad = true})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"},
        tensor<2xf32> {samba.name = "v__grad", samba.kind = "gradient", samba.grad_of = "v"})
    attributes {samba.optimizers = [#samba.optimizer<"sgd", lr = 0.1>]} {
  %g = samba.exp %w {samba.phase = "BCKWD"} : tensor<2xf32>
  %h = samba.exp %v {samba.phase = "BCKWD"} : tensor<2xf32>
  return %g, %h : tensor<2xf32>, tensor<2xf32>
}

// -----

// fp32_params: a weight of 16 bits has a copy in f32, one of 32 bits where the precision narrows it.
// CHECK-LABEL: func.func @master
// CHECK-SAME: tensor<2xbf16> {samba.master = "w__fp32"
// CHECK-SAME: tensor<2xf32> {samba.kind = "optimizer_state", samba.name = "w__exp_avg_sq"
// CHECK-SAME: tensor<2xf32> {samba.kind = "optimizer_state", samba.name = "w__fp32"
// CHECK-NOT: v__fp32
// CHECK: samba.adamw_master_update {{.*}} : tensor<2xbf16>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
// CHECK: samba.adamw_update
// NARROW-LABEL: func.func @adamw
// NARROW-NOT: __fp32
// NARROW-LABEL: func.func @master
// NARROW-SAME: samba.name = "w__fp32"
// NARROW-SAME: samba.name = "v__fp32"
func.func @master(%w: tensor<2xbf16> {samba.name = "w", samba.optimizer = 0}, %v: tensor<2xf32> {samba.name = "v", samba.optimizer = 0})
    -> (tensor<2xbf16> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"},
        tensor<2xf32> {samba.name = "v__grad", samba.kind = "gradient", samba.grad_of = "v"})
    attributes {samba.optimizers = [#samba.optimizer<"adamw", fp32_params = 1>]} {
  %g = samba.exp %w {samba.phase = "BCKWD"} : tensor<2xbf16>
  %h = samba.exp %v {samba.phase = "BCKWD"} : tensor<2xf32>
  return %g, %h : tensor<2xbf16>, tensor<2xf32>
}
