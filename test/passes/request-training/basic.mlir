// RUN: samba-opt '--samba-request-training=loss=loss optimizer=sgd,lr=0.1,momentum=0.9 freeze=table accumulate=true' %s | FileCheck %s

// Weights that are floats and not frozen are trained; a rate and a seed become argins, whatever
// their value (S073); what batch_norm_training updates is a buffer.
// CHECK-LABEL: func.func @layers
// CHECK-SAME: samba.name = "x"}
// CHECK-SAME: samba.name = "w", samba.optimizer = 0 : i64, samba.requires_grad = true
// CHECK-SAME: samba.name = "table", samba.requires_grad = false
// CHECK-SAME: samba.kind = "buffer", samba.name = "bn.mean"}
// CHECK-SAME: samba.kind = "buffer", samba.name = "bn.variance"}
// CHECK-SAME: tensor<f32> {samba.argin = #samba.argin<default = 0.000000e+00, group = "p", kind = "dropout_rate", max = {{.*}}, min = 0.000000e+00>, samba.kind = "argin", samba.name = "drop__p"}
// CHECK-SAME: tensor<i64> {samba.argin = #samba.argin<default = 7, group = "seed", kind = "dropout_seed">, samba.kind = "argin", samba.name = "drop__seed"}
// CHECK-SAME: -> (tensor<f32> {samba.kind = "loss", samba.name = "loss"}
// CHECK-SAME: tensor<4xf32> {samba.kind = "update", samba.name = "bn.mean__new", samba.region = "bn.mean"}
// CHECK-SAME: tensor<4xf32> {samba.kind = "update", samba.name = "bn.variance", samba.region = "bn.variance"}
// CHECK-SAME: samba.accumulate_gradients = true
// CHECK-SAME: samba.optimizers = [#samba.optimizer<"sgd", lr = 1.000000e-01, momentum = {{.*}}, nesterov = 0.000000e+00, weight_decay = 0.000000e+00>]
// CHECK: samba.dropout %{{.*}}, %arg5, %arg6
func.func @layers(%x: tensor<2x4x3xf32> {samba.name = "x", samba.kind = "input"},
    %w: tensor<4xf32> {samba.name = "w", samba.kind = "weight"},
    %t: tensor<4xf32> {samba.name = "table", samba.kind = "weight"},
    %m: tensor<4xf32> {samba.name = "bn.mean", samba.kind = "weight"},
    %v: tensor<4xf32> {samba.name = "bn.variance", samba.kind = "weight"})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "output"},
        tensor<4xf32> {samba.name = "bn.mean__new", samba.kind = "output"}) {
  %y, %m1, %v1, %bm, %bv = samba.batch_norm_training %x, %w, %t, %m, %v
    : tensor<2x4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %p = samba.constant {value = dense<0.0> : tensor<f32>}
  %seed = samba.constant {value = dense<7> : tensor<i64>}
  %d, %mask = samba.dropout %y, %p, %seed : tensor<2x4x3xf32>, tensor<f32>, tensor<i64> loc("drop")
  %l = samba.sum %d : tensor<2x4x3xf32>
  return %l, %m1 : tensor<f32>, tensor<4xf32>
}
