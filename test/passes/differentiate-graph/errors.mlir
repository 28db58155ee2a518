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
