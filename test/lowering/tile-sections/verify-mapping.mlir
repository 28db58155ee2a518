// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(rdu-verify-mapping))' -split-input-file -verify-diagnostics

samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  // expected-error @+1 {{'samba.relu' op has no rdu.mapping; run samba-tile-sections}}
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}

// -----

samba.section @s(%x: tensor<4xf32>) -> tensor<8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<8xf32>
  // expected-error @+1 {{'tensor.insert_slice' op has no rdu.mapping; run samba-tile-sections}}
  %1 = tensor.insert_slice %x into %0[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  samba.yield %1 : tensor<8xf32>
}
