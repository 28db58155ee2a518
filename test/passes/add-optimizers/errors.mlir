// RUN: samba-opt %s --samba-add-optimizers -split-input-file -verify-diagnostics

// expected-error @+1 {{optimizer 0 (sgd) trains nothing: no argument with a gradient says samba.optimizer = 0}}
func.func @f(%w: tensor<2xf32> {samba.name = "w"})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"})
    attributes {samba.optimizers = [#samba.optimizer<"sgd", lr = 0.1>]} {
  return %w : tensor<2xf32>
}

// -----

// expected-error @+1 {{samba.optimizers: number 1 joins 0; it may join an earlier one that joins none, of its kind, with the same max_grad_norm}}
func.func @f(%w: tensor<2xf32> {samba.name = "w", samba.optimizer = 0})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"})
    attributes {samba.optimizers = [#samba.optimizer<"sgd", lr = 0.1>, #samba.optimizer<"adamw", joins = 0>]} {
  return %w : tensor<2xf32>
}

// -----

// expected-error @+1 {{samba.optimizers: number 1 joins 1; it may join an earlier one that joins none, of its kind, with the same max_grad_norm}}
func.func @f(%w: tensor<2xf32> {samba.name = "w", samba.optimizer = 0})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"})
    attributes {samba.optimizers = [#samba.optimizer<"sgd", lr = 0.1>, #samba.optimizer<"sgd", lr = 0.1, joins = 1>]} {
  return %w : tensor<2xf32>
}

// -----

// expected-error @+1 {{samba.optimizers: number 1 joins 0; it may join an earlier one that joins none, of its kind, with the same max_grad_norm}}
func.func @f(%w: tensor<2xf32> {samba.name = "w", samba.optimizer = 0})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"})
    attributes {samba.optimizers = [#samba.optimizer<"adamw", max_grad_norm = 1>, #samba.optimizer<"adamw", max_grad_norm = 2, joins = 0>]} {
  return %w : tensor<2xf32>
}
