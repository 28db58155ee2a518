// Sizes found by fuzzing that ask much of buffers and generators.
// REQUIRES: samba-compile
// RUN: split-file %s %t && cd %t

// Both operands come from buffers that deal them to copies, and FIFOs hold a token of x but not all of its replays:
// dealt over different dimensions they waited for each other.
// RUN: samba-compile replays.mlir --precision=bf16 -o replays.pef
// RUN: samba-run replays.pef --timing-only | FileCheck %s
// CHECK: sn40l: {{[1-9][0-9]*}} cycles

// No cut of 82 copies makes rows of whole bursts: the copies share generators all the same.
// RUN: samba-compile broken-rows.mlir -o rows.pef
// RUN: samba-run rows.pef --timing-only | FileCheck %s

//--- replays.mlir
func.func @forward(%x: tensor<1x16x609xf32> {samba.name = "x", samba.kind = "input"}, %w: tensor<16x130x5xf32> {samba.name = "w", samba.kind = "input"}, %b: tensor<130xf32> {samba.name = "b", samba.kind = "input"}) -> (tensor<1x130x2436xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = samba.conv_transpose1d %x, %w, %b {stride = [4], padding = [1, 1], output_padding = [1]} : tensor<1x16x609xf32>, tensor<16x130x5xf32>, tensor<130xf32>
  return %0 : tensor<1x130x2436xf32>
}

//--- broken-rows.mlir
func.func @forward(%x: tensor<201x2x82xf32> {samba.name = "x", samba.kind = "input"}) -> (tensor<82x201x2xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = samba.permute %x {dims = [2, 0, 1]} : tensor<201x2x82xf32>
  %1 = samba.contiguous %0 : tensor<82x201x2xf32>
  return %1 : tensor<82x201x2xf32>
}
