// RUN: samba-opt --samba-differentiate-graph %s | FileCheck %s
// RUN: samba-opt --samba-differentiate-graph --mlir-print-debuginfo --mlir-print-local-scope %s | FileCheck %s --check-prefix=LOCATION
// Twice is once.
// RUN: samba-opt --samba-differentiate-graph %s > %t.once && samba-opt --samba-differentiate-graph %t.once | diff %t.once -

// x w^T + b, its mean: the gradient of b is 1 / 4 for each of 3 outputs over 4 rows and 12 elements.
// CHECK-LABEL: func.func @linear
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x8xf32>
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<f32> {samba.kind = "gradient", samba.name = "loss__grad", samba.value = dense<1.000000e+00> : tensor<f32>}
// CHECK-SAME: -> (tensor<f32> {samba.kind = "loss", samba.name = "loss"}, tensor<3x8xf32> {samba.grad_of = "fc.weight", samba.kind = "gradient", samba.name = "fc.weight__grad", samba.region = "fc.weight__grad"}, tensor<3xf32> {samba.grad_of = "fc.bias", samba.kind = "gradient", samba.name = "fc.bias__grad", samba.region = "fc.bias__grad"})
// CHECK: samba.linear
// CHECK-NOT: samba.phase
// CHECK: %[[MEAN:.*]] = samba.mean
// CHECK: %[[SHARE:.*]] = samba.div %[[G]], %{{.*}} {samba.phase = "BCKWD"}
// CHECK: %[[WIDE:.*]] = samba.expand
// CHECK: %[[DB:.*]] = samba.sum %[[WIDE]] {dim = [0], keepdim = false, samba.phase = "BCKWD"}
// CHECK: %[[TURNED:.*]] = samba.permute %[[WIDE]] {dims = [1, 0], samba.phase = "BCKWD"}
// CHECK: %[[DW:.*]] = samba.matmul %[[TURNED]], %[[X]] {samba.phase = "BCKWD"}
// CHECK-NOT: samba.matmul
// CHECK: return %[[MEAN]], %[[DW]], %[[DB]]
// The layer stays, marked (N062).
// LOCATION: samba.matmul {{.*}} loc(fused<"samba.backward">["fc"])
func.func @linear(%x: tensor<4x8xf32> {samba.name = "x", samba.kind = "input"},
    %w: tensor<3x8xf32> {samba.name = "fc.weight", samba.kind = "weight", samba.requires_grad = true},
    %b: tensor<3xf32> {samba.name = "fc.bias", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<f32> {samba.name = "loss", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.linear %x, %w, %b : tensor<4x8xf32>, tensor<3x8xf32>, tensor<3xf32> loc("fc")
  %1 = samba.mean %0 : tensor<4x3xf32>
  return %1 : tensor<f32>
}

// A value that is used twice gets one addition; a parameter that is frozen no gradient (N061).
// CHECK-LABEL: func.func @twice
// CHECK: %[[LEFT:.*]] = samba.mul %{{.*}}, %[[W:.*]] {samba.phase = "BCKWD"}
// CHECK: %[[RIGHT:.*]] = samba.mul %{{.*}}, %[[W]] {samba.phase = "BCKWD"}
// CHECK: samba.add %{{.*}}, %{{.*}} {samba.phase = "BCKWD"}
// CHECK: return %{{.*}}, %{{[^,]*}} : tensor<2xf32>, tensor<2xf32>
func.func @twice(%w: tensor<2xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true},
    %f: tensor<2xf32> {samba.name = "f", samba.kind = "weight"})
    -> (tensor<2xf32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.mul %w, %w : tensor<2xf32>, tensor<2xf32>
  %1 = samba.add %0, %f : tensor<2xf32>, tensor<2xf32>
  return %1 : tensor<2xf32>
}

// Two losses: both flow (U015).
// CHECK-LABEL: func.func @losses
// CHECK-SAME: samba.name = "a__grad"
// CHECK-SAME: samba.name = "b__grad"
// CHECK: samba.add
func.func @losses(%w: tensor<2xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<2xf32> {samba.name = "a", samba.kind = "loss"}, tensor<2xf32> {samba.name = "b", samba.kind = "loss"})
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %w : tensor<2xf32>
  %1 = samba.neg %w : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

// Forward the identity, its gradient is made contiguous (N041).
// CHECK-LABEL: func.func @contiguous
// CHECK: %[[TURNED:.*]] = samba.permute %{{.*}} {dims = [1, 0], samba.phase = "BCKWD"}
// CHECK: %[[COPY:.*]] = samba.contiguous %[[TURNED]] {samba.phase = "BCKWD"}
// CHECK: return %{{.*}}, %[[COPY]]
func.func @contiguous(%w: tensor<2x3xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<3x2xf32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.contiguous_backward %w : tensor<2x3xf32>
  %1 = samba.permute %0 {dims = [1, 0]} : tensor<2x3xf32>
  return %1 : tensor<3x2xf32>
}

// A graph for inference is left alone.
// CHECK-LABEL: func.func @inference
// CHECK-NOT: __grad
func.func @inference(%w: tensor<2xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<2xf32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "inference"}} {
  %0 = samba.exp %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Gradients of slices that follow each other are a cat, whatever their order; others are added.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: %[[A:[a-z0-9]+]]: tensor<2xf32> {samba.kind = "gradient", samba.name = "a__grad"
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<3xf32> {samba.kind = "gradient", samba.name = "b__grad"
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<1xf32> {samba.kind = "gradient", samba.name = "c__grad"
// CHECK: %[[DW:.*]] = samba.cat %[[A]], %[[B]], %[[C]] {dim = 0, samba.phase = "BCKWD"}
// CHECK-NOT: samba.add
// CHECK: return
func.func @slices(%w: tensor<6xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<2xf32> {samba.name = "a", samba.kind = "loss"}, tensor<3xf32> {samba.name = "b", samba.kind = "loss"}, tensor<1xf32> {samba.name = "c", samba.kind = "loss"})
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.slice %w {starts = [0], ends = [2], steps = [1]} : tensor<6xf32>
  %1 = samba.slice %w {starts = [2], ends = [5], steps = [1]} : tensor<6xf32>
  %2 = samba.slice %w {starts = [5], ends = [6], steps = [1]} : tensor<6xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<3xf32>, tensor<1xf32>
}

// CHECK-LABEL: func.func @overlaps
// CHECK-NOT: samba.cat
// CHECK: samba.add {{.*}} {samba.phase = "BCKWD"}
func.func @overlaps(%w: tensor<6xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<3xf32> {samba.name = "a", samba.kind = "loss"}, tensor<4xf32> {samba.name = "b", samba.kind = "loss"})
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.slice %w {starts = [0], ends = [3], steps = [1]} : tensor<6xf32>
  %1 = samba.slice %w {starts = [2], ends = [6], steps = [1]} : tensor<6xf32>
  return %0, %1 : tensor<3xf32>, tensor<4xf32>
}

// Attention through which a gradient passes leaves what its gradients take of each row; other
// attention stays what it is.
// CHECK-LABEL: func.func @attention
// CHECK: samba.scaled_dot_product_attention
// CHECK: %[[Y:.*]], %[[LSE:.*]] = samba.attention_with_logsumexp {{.*}} {is_causal = true}
// CHECK: samba.sum %[[Y]]
// CHECK: %{{.*}}, %[[INNER:.*]] = samba.attention_query_gradient %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[G:[^,]*]], %[[LSE]], %[[Y]] {is_causal = true, samba.phase = "BCKWD"}
// CHECK: samba.attention_key_gradient %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %[[G]], %[[LSE]], %[[INNER]] {is_causal = true, samba.phase = "BCKWD"}
// LOCATION: samba.attention_with_logsumexp {{.*}} loc("attn")
func.func @attention(%x: tensor<2x6x4xf32> {samba.name = "x", samba.kind = "input"},
    %w: tensor<2x6x4xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<f32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.scaled_dot_product_attention %x, %x, %x : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32>
  %1 = samba.scaled_dot_product_attention %0, %w, %w {is_causal = true} : tensor<2x6x4xf32>, tensor<2x6x4xf32>, tensor<2x6x4xf32> loc("attn")
  %2 = samba.sum %1 : tensor<2x6x4xf32>
  return %2 : tensor<f32>
}

// It keeps all attributes, those of others too, however many there are.
// CHECK-LABEL: func.func @attributes
// CHECK: samba.attention_with_logsumexp {{.*}} {my.a0, my.a1, my.a2, my.a3, my.a4, my.a5, my.a6, my.a7, my.b0, my.b1, my.b2, my.b3, my.b4, my.b5, my.b6, my.b7, my.c0, my.c1, my.c2, my.c3, my.c4, my.c5, my.c6, my.c7}
func.func @attributes(%w: tensor<6x4xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<f32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.scaled_dot_product_attention %w, %w, %w {my.a0, my.a1, my.a2, my.a3, my.a4, my.a5, my.a6, my.a7, my.b0, my.b1, my.b2, my.b3,
      my.b4, my.b5, my.b6, my.b7, my.c0, my.c1, my.c2, my.c3, my.c4, my.c5, my.c6, my.c7} : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  %1 = samba.sum %0 : tensor<6x4xf32>
  return %1 : tensor<f32>
}

// So does the cross entropy of a table; that of other shapes stays what it is.
// CHECK-LABEL: func.func @classes
// CHECK: %[[LOSS:.*]], %[[SLOPES:.*]] = samba.cross_entropy_with_slopes %{{.*}} {reduction = "sum"}
// CHECK: samba.cross_entropy %
// CHECK: samba.softmax
// CHECK-NOT: samba.softmax
// CHECK: %{{.*}} = samba.mul %[[SLOPES]], %{{.*}} {samba.phase = "BCKWD"} : tensor<6x4xf32>, tensor<6x1xf32>
// CHECK-NOT: samba.softmax
// CHECK: return %[[LOSS]],
func.func @classes(%w: tensor<6x4xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true},
    %t: tensor<6xi64> {samba.name = "t", samba.kind = "input"}, %s: tensor<3x2xi64> {samba.name = "s", samba.kind = "input"})
    -> (tensor<f32> {samba.name = "l", samba.kind = "loss"}, tensor<f32> {samba.name = "m", samba.kind = "loss"})
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.cross_entropy %w, %t {reduction = "sum"} : tensor<6x4xf32>, tensor<6xi64>
  %1 = samba.reshape %w {shape = [3, 4, 2]} : tensor<6x4xf32>
  %2 = samba.cross_entropy %1, %s {reduction = "mean"} : tensor<3x4x2xf32>, tensor<3x2xi64>
  return %0, %2 : tensor<f32>, tensor<f32>
}
