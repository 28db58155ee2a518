// REQUIRES: samba-compile
// A gather: the load waits for a whole index token that comes out of a buffer. (It was once never woken.)
// RUN: samba-compile %s -o %t.pef --target=tiny
// RUN: samba-run %t.pef --timing-only | FileCheck %s
// CHECK: tiny: {{[1-9][0-9]*}} cycles
func.func @forward(%w: tensor<64x16xf32> {samba.name = "w", samba.kind = "input"}, %i: tensor<1x32xi64> {samba.name = "i", samba.kind = "input"}) -> (tensor<1x32x16xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = samba.embedding %w, %i : tensor<64x16xf32>, tensor<1x32xi64>
  return %0 : tensor<1x32x16xf32>
}
