// Tensors without elements travel from the IR through the PEF to samba-run and back; an input that nothing reads may be
// given as anything. The second graph has no section at all.
// REQUIRES: samba-compile
// RUN: split-file %s %t && cd %t && %python make.py
// RUN: samba-compile some.mlir -o some.pef
// RUN: samba-run some.pef --input x=x.npy --input e=e.npy --input unread=unread.npy --output y=y.npy --output z=z.npy --expect y=x.npy --expect z=z0.npy
// RUN: samba-run some.pef --input x=x.npy --input e=e.npy --input unread=x.npy --output y=y.npy 2>&1 | FileCheck some.mlir --check-prefix=UNREAD
// RUN: %expect-error samba-run some.pef --input x=x.npy --input unread=x.npy 2>&1 | FileCheck some.mlir --check-prefix=MISSING
// RUN: samba-compile none.mlir --precision=bf16 -o none.pef
// RUN: samba-run none.pef --input e=z0.npy --output y=y.npy --output z=z.npy --expect y=z0.npy --expect z=z0.npy
// RUN: samba-objdump none.pef > none.s
// RUN: samba-objdump --assemble none.s -o again.pef && cmp none.pef again.pef

//--- some.mlir
// UNREAD: remark: input 'unread' does not have the type or shape of the data in x.npy; no section reads it
// MISSING: error: input 'e' (0xi64) has no value; give --input e=FILE
func.func @forward(%x: tensor<2xf32> {samba.name = "x", samba.kind = "input"}, %e: tensor<0xi64> {samba.name = "e", samba.kind = "input"}, %u: tensor<3xi32> {samba.name = "unread", samba.kind = "input"}) -> (tensor<2xf32> {samba.name = "y", samba.kind = "output"}, tensor<0x3xf32> {samba.name = "z", samba.kind = "output"}) {
  %0 = samba.relu %x : tensor<2xf32>
  %1 = samba.constant {value = dense<> : tensor<0x3xf32>}
  return %0, %1 : tensor<2xf32>, tensor<0x3xf32>
}
//--- none.mlir
func.func @forward(%e: tensor<0x3xf32> {samba.name = "e", samba.kind = "input"}) -> (tensor<0x3xf32> {samba.name = "y", samba.kind = "output"}, tensor<0x3xf32> {samba.name = "z", samba.kind = "output"}) {
  return %e, %e : tensor<0x3xf32>, tensor<0x3xf32>
}
//--- make.py
import numpy as np
np.save("x.npy", np.array([0, 2], np.float32))
np.save("e.npy", np.zeros([0], np.int64))
np.save("unread.npy", np.zeros([3], np.int32))
np.save("z0.npy", np.zeros([0, 3], np.float32))
