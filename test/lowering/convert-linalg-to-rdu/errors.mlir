// RUN: samba-opt %s --convert-linalg-to-rdu -split-input-file -verify-diagnostics

// expected-error @+1 {{'samba.section' op has no machine; samba-partition-sections{target=...} gives one}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{has no mapping; plan the section first}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
