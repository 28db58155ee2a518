// RUN: split-file %s %t
// RUN: %expect-error samba-opt --samba-request-training=loss=l %t/results.mlir 2>&1 | FileCheck %s --check-prefix=LOSS
// LOSS: there is no result 'l' to be the loss; results are y, n
// RUN: %expect-error samba-opt --samba-request-training=loss=n %t/results.mlir 2>&1 | FileCheck %s --check-prefix=INTEGER
// INTEGER: loss 'n' has no float dtype; a loss that is trained on is f32, bf16 or f16
// RUN: %expect-error samba-opt '--samba-request-training=loss=y freeze=v' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=FREEZE
// FREEZE: there is no weight 'v' to freeze; weights are w
// RUN: %expect-error samba-opt '--samba-request-training=accumulate=yes' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=SUMS
// SUMS: samba-request-training: accumulate wants true or false, not 'yes'
// RUN: %expect-error samba-opt --samba-request-training %t/integers.mlir 2>&1 | FileCheck %s --check-prefix=FLOATS
// FLOATS: is trained, but has no result of a float dtype to be the loss
// RUN: %expect-error samba-opt '--samba-request-training=optimizer=adam,lr=1' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: optimizer: there is no optimizer 'adam'; there are sgd and adamw
// RUN: %expect-error samba-opt '--samba-request-training=optimizer=sgd,rho=1' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=KEY
// KEY: optimizer: sgd has no setting 'rho'; it has lr, momentum, weight_decay, nesterov
// RUN: %expect-error samba-opt '--samba-request-training=optimizer=sgd,lr' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: optimizer: sgd: 'lr' is no setting; settings are NAME=NUMBER
// RUN: %expect-error samba-opt '--samba-request-training=optimizer=sgd,lr=1,lr=2' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: optimizer: sgd: lr is given twice; once is enough
// RUN: %expect-error samba-opt '--samba-request-training=optimizer=sgd' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=WANTS
// WANTS: optimizer: sgd wants lr, for example sgd,lr=0.1
// RUN: %expect-error samba-opt '--samba-request-training=optimizer=sgd,lr=-1' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=RANGE
// RANGE: optimizer: sgd: lr is -1, but must be a number from 0 to inf
// RUN: %expect-error samba-opt '--samba-request-training=optimizer=adamw,beta1=1' %t/results.mlir 2>&1 | FileCheck %s --check-prefix=BETA
// BETA: optimizer: adamw: beta1 is 1, but must be a number from 0 to below 1
// RUN: %expect-error samba-opt %t/attribute.mlir 2>&1 | FileCheck %s --check-prefix=ATTRIBUTE
// ATTRIBUTE: #samba.optimizer: 'lr' must be a number
// RUN: %expect-error samba-opt --samba-add-optimizers %t/number.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: argument 'w' names optimizer 1, but samba.optimizers has 1

//--- results.mlir
func.func @f(%w: tensor<2xf32> {samba.name = "w", samba.kind = "weight"})
    -> (tensor<2xf32> {samba.name = "y", samba.kind = "output"},
        tensor<2xi32> {samba.name = "n", samba.kind = "output"}) {
  %0 = samba.exp %w : tensor<2xf32>
  %1 = samba.cast %w {dtype = i32} : tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xi32>
}
//--- integers.mlir
func.func @f(%w: tensor<2xf32> {samba.name = "w", samba.kind = "weight"})
    -> (tensor<2xi32> {samba.name = "n", samba.kind = "output"}) {
  %1 = samba.cast %w {dtype = i32} : tensor<2xf32>
  return %1 : tensor<2xi32>
}
//--- attribute.mlir
func.func @f(%w: tensor<2xf32>) -> tensor<2xf32>
    attributes {samba.optimizers = [#samba.optimizer<"sgd", lr = "fast">]} {
  return %w : tensor<2xf32>
}
//--- number.mlir
func.func @f(%w: tensor<2xf32> {samba.name = "w", samba.optimizer = 1})
    -> (tensor<2xf32> {samba.name = "w__grad", samba.kind = "gradient", samba.grad_of = "w"})
    attributes {samba.optimizers = [#samba.optimizer<"sgd", lr = 0.1>]} {
  return %w : tensor<2xf32>
}
