// What a mask holds, -3.4e38, stays finite where --precision=bf16 narrows it: as a constant, as initial data, as an input.
// REQUIRES: samba-compile
// RUN: rm -rf %t && mkdir %t && cd %t && cp %s m.mlir
// RUN: %python -c "import numpy as np; low = np.finfo('f4').min; np.save('x.npy', np.array([low, 1], 'f4')); np.array([1, low], 'f4').tofile('w.bin'); np.save('y.npy', np.array([low / 2, low / 4], 'f4'))"
// RUN: samba-compile m.mlir --precision=bf16 -o m.pef && samba-run m.pef --input x=x.npy --expect y=y.npy --rtol 0.01
func.func @forward(%x: tensor<2xf32> {samba.name = "x", samba.kind = "input"},
                   %w: tensor<2xf32> {samba.name = "w", samba.kind = "weight", samba.value = #samba.external<"w.bin", offset = 0, bytes = 8>})
    -> (tensor<2xf32> {samba.name = "y", samba.kind = "output"}) {
  %low = samba.constant {value = dense<-3.40282347E+38> : tensor<f32>}
  %scale = samba.constant {value = dense<[0.5, 0.25]> : tensor<2xf32>}
  %nothing = samba.constant {value = dense<0.0> : tensor<2xf32>}
  %0 = samba.minimum %x, %w : tensor<2xf32>, tensor<2xf32>
  %1 = samba.mul %0, %scale : tensor<2xf32>, tensor<2xf32>
  %2 = samba.mul %nothing, %low : tensor<2xf32>, tensor<f32>
  %3 = samba.add %1, %2 : tensor<2xf32>, tensor<2xf32>
  return %3 : tensor<2xf32>
}
