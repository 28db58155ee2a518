// RUN: samba-opt --samba-differentiate-graph --verify-diagnostics --split-input-file %s

// expected-error@below {{is trained, but none of its results is a loss (samba.kind = "loss"); name one}}
func.func @no_loss(%w: tensor<2xf32> {samba.name = "w", samba.requires_grad = true})
    -> (tensor<2xf32> {samba.name = "y", samba.kind = "output"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error@below {{loss 'l' has no float dtype; a loss that is trained on is f32, bf16 or f16}}
func.func @integer_loss(%w: tensor<2xf32> {samba.name = "w", samba.requires_grad = true})
    -> (tensor<2xi32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.cast %w {dtype = i32} : tensor<2xf32>
  return %0 : tensor<2xi32>
}

// -----

// expected-error@below {{argument 'n' requires a gradient, but has no float dtype}}
func.func @integer_parameter(%n: tensor<2xi32> {samba.name = "n", samba.requires_grad = true})
    -> (tensor<2xf32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.cast %n {dtype = f32} : tensor<2xi32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error@below {{parameter 'unused' gets no gradient: no loss depends on it; freeze it}}
func.func @unused(%w: tensor<2xf32> {samba.name = "w", samba.requires_grad = true},
    %u: tensor<2xf32> {samba.name = "unused", samba.requires_grad = true})
    -> (tensor<2xf32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %w : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A structured operation that no operator was recognized in has no rule.
func.func @structured(%x: tensor<4xf32> {samba.name = "x", samba.kind = "input"},
                      %w: tensor<4xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<f32> {samba.name = "l", samba.kind = "loss"})
    attributes {samba.graph = {mode = "training"}} {
  %empty = tensor.empty() : tensor<4xf32>
  // expected-error @+1 {{'linalg.generic' op has no gradient, because no operator of samba was recognized in it; write it with operators, or freeze the parameters that it reads}}
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%p: f32, %q: f32, %unused: f32):
    %1 = math.copysign %p, %q : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %2 = samba.sum %0 {dim = [0]} : tensor<4xf32>
  return %2 : tensor<f32>
}

// -----

// What attention leaves for its gradients is a number in no loss.
func.func @logsumexp(%w: tensor<6x4xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true})
    -> (tensor<f32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  // expected-error @+1 {{'samba.attention_with_logsumexp' op no gradient passes through the logsumexp; compute it from the scores where one must}}
  %0, %1 = samba.attention_with_logsumexp %w, %w, %w : tensor<6x4xf32>, tensor<6x4xf32>, tensor<6x4xf32>
  %2 = samba.sum %1 : tensor<6x1xf32>
  return %2 : tensor<f32>
}

// -----

func.func @slopes(%w: tensor<6x4xf32> {samba.name = "w", samba.kind = "weight", samba.requires_grad = true},
    %t: tensor<6xi64> {samba.name = "t", samba.kind = "input"})
    -> (tensor<f32> {samba.name = "l", samba.kind = "loss"}) attributes {samba.graph = {mode = "training"}} {
  // expected-error @+1 {{'samba.cross_entropy_with_slopes' op no gradient passes through the slopes; compute them with softmax where one must}}
  %0, %1 = samba.cross_entropy_with_slopes %w, %t : tensor<6x4xf32>, tensor<6xi64>
  %2 = samba.sum %1 : tensor<6x4xf32>
  return %2 : tensor<f32>
}
