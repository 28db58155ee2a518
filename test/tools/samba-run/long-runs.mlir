// REQUIRES: samba-compile
// A run may take as many steps as it likes: no memory is held for a launch that is over, also where addresses depend on data (a gather,
// which is timed anew each time), and the second step compiles nothing.
// RUN: rm -rf %t && mkdir %t && cd %t && samba-compile %s -o a.pef --target=tiny
// RUN: %python -c "import numpy as np; r = np.random.RandomState(0); np.save('w.npy', r.rand(64, 16).astype('f')); np.save('i.npy', r.randint(0, 64, (1, 4)))"
// RUN: samba-run a.pef --input w=w.npy --input i=i.npy --threads 1 --steps 1 --stats first.json
// RUN: samba-run a.pef --input w=w.npy --input i=i.npy --threads 1 --steps 200 --each-step y=y.npy --stats short.json
// RUN: samba-run a.pef --input w=w.npy --input i=i.npy --threads 1 --steps 10000 --each-step y=y.npy --stats long.json
// RUN: %python %S/Inputs/check_long.py first.json short.json long.json
func.func @forward(%w: tensor<64x16xf32> {samba.name = "w", samba.kind = "input"}, %i: tensor<1x4xi64> {samba.name = "i", samba.kind = "input"}) -> (tensor<1x4x16xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = samba.embedding %w, %i : tensor<64x16xf32>, tensor<1x4xi64>
  return %0 : tensor<1x4x16xf32>
}
