// RUN: samba-opt %s --pass-pipeline='builtin.module(rdu.section(rdu-place))' -split-input-file -verify-diagnostics
// RUN: samba-opt %s --pass-pipeline='builtin.module(rdu.section(rdu-split-programs))' -split-input-file -verify-diagnostics

// expected-error @+1 {{'rdu.section' op has no machine; rdu-set-machine gives one}}
rdu.section @s(%x: !rdu.symbol<16xf32>, %y: !rdu.symbol<16xf32> {rdu.written}) {
  %0 = rdu.load %x {name = "l", outputs = [{strides = [1], tile = [16]}]} : (!rdu.symbol<16xf32>) -> !rdu.stream<16xf32>
  rdu.store %y, %0 {inputs = [{strides = [1], tile = [16]}], name = "s"} : (!rdu.symbol<16xf32>, !rdu.stream<16xf32>) -> ()
}
