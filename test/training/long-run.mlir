// REQUIRES: samba-compile, samba-run
// 10,000 steps of a training with a gather and a scatter, whose addresses depend on data: memory is that after 200 steps, nothing is
// compiled after the first one, and the weights are those of the formula.
// RUN: rm -rf %t && mkdir %t && cd %t && samba-compile %s -o a.pef --training --loss loss --optimizer sgd,lr=0.01
// RUN: %python %S/Inputs/long_run.py data
// RUN: samba-run a.pef --input i=i.npy --threads 1 --steps 1 --stats first.json
// RUN: samba-run a.pef --input i=i.npy --threads 1 --steps 200 --each-step loss=losses.npy --stats short.json
// RUN: samba-run a.pef --input i=i.npy --threads 1 --steps 10000 --each-step loss=losses.npy --output w=w.npy --stats long.json
// RUN: %python %S/Inputs/long_run.py check
func.func @forward(%w: tensor<8x4xf32> {samba.name = "w", samba.kind = "weight", samba.value = dense<2.0> : tensor<8x4xf32>}, %i: tensor<6xi64> {samba.name = "i", samba.kind = "input"}) -> (tensor<f32> {samba.name = "loss", samba.kind = "output"}) {
  %0 = samba.embedding %w, %i : tensor<8x4xf32>, tensor<6xi64>
  %1 = samba.mul %0, %0 : tensor<6x4xf32>, tensor<6x4xf32>
  %2 = samba.mean %1 {dim = [0, 1]} : tensor<6x4xf32>
  return %2 : tensor<f32>
}
