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

// -----

// expected-error @+1 {{mapping of stage 0 (relu): a store takes 4 tokens, which are not the same in each of 3 phases}}
samba.section @s(%x: tensor<4x64xf32>) -> tensor<4x64xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x {rdu.mapping = #rdu.mapping<tile = [1, 64], unroll = [1, 1], order = [0, 1], phases = 3>} : tensor<4x64xf32>
  samba.yield %0 : tensor<4x64xf32>
}

// -----

// expected-error @+1 {{mapping of stage 1 (neg) has 0 phases, but that of stage 0 has 2}}
samba.section @s(%x: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x {rdu.mapping = #rdu.mapping<tile = [1, 64], unroll = [1, 1], order = [0, 1], phases = 2>} : tensor<4x64xf32>
  %1 = samba.neg %0 {rdu.mapping = #rdu.mapping<tile = [1, 64], unroll = [1, 1], order = [0, 1]>} : tensor<4x64xf32>
  samba.yield %0, %1 : tensor<4x64xf32>, tensor<4x64xf32>
}

// -----

// expected-error @+1 {{1 slices of the pipeline are not the same in each of 2 phases}}
samba.section @s(%x: tensor<4x64xf32>) -> (tensor<4x64xf32>, tensor<4x64xf32>) attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x {rdu.mapping = #rdu.mapping<tile = [1, 64], unroll = [1, 1], order = [0, 1], phases = 2>} : tensor<4x64xf32>
  %1 = samba.neg %0 {rdu.mapping = #rdu.mapping<tile = [1, 64], unroll = [1, 1], order = [0, 1], group = 1, phases = 2>} : tensor<4x64xf32>
  samba.yield %0, %1 : tensor<4x64xf32>, tensor<4x64xf32>
}
