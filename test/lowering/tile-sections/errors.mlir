// What a section may not hold, each refused by name where the section is read.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections))' -split-input-file -verify-diagnostics

// expected-error @+1 {{'samba.section' op has no machine; samba-partition-sections{target=...} gives one}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{section @s: 'arith.addf' has no hardware form}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = arith.addf %x, %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{section @s: argument 1 is not a static tensor of a type that Samba knows}}
samba.section @s(%x: tensor<4xf32>, %y: tensor<?xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{section @s: 'samba.reshape' reads a view that has no affine form here; samba-materialize-views makes a copy of such views}}
samba.section @s(%x: tensor<4x6xf32>) -> tensor<24xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.permute %x {dims = array<i64: 1, 0>} : tensor<4x6xf32>
  %1 = samba.reshape %0 {shape = array<i64: 24>} : tensor<6x4xf32>
  %2 = samba.relu %1 : tensor<24xf32>
  samba.yield %2 : tensor<24xf32>
}

// -----

// expected-error @+1 {{'samba.embedding' reads a repeated constant that must be a tensor in memory here}}
samba.section @s(%i: tensor<3xi64>) -> tensor<3x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.constant {value = dense<1.0> : tensor<5x2xf32>}
  %1 = samba.embedding %0, %i : tensor<5x2xf32>, tensor<3xi64>
  samba.yield %1 : tensor<3x2xf32>
}

// -----

// expected-error @+1 {{a constant of many values inside a section; pass it as an argument of the section}}
samba.section @s(%x: tensor<2xf32>) -> tensor<2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>}
  %1 = samba.add %x, %0 : tensor<2xf32>, tensor<2xf32>
  samba.yield %1 : tensor<2xf32>
}

// -----

// expected-error @+1 {{'tensor.empty' is not a static tensor of a type that Samba knows}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf64>
  %1 = samba.relu %x : tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}

// -----

// expected-error @+1 {{section @s: a constant of a type that Samba does not know}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %c = arith.constant 1.0 : f64
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{'tensor.pad' with dynamic amounts or a value that is not a constant}}
samba.section @s(%x: tensor<4xf32>) -> tensor<6xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    %c = arith.constant 1 : i32
    %f = arith.sitofp %c : i32 to f32
    tensor.yield %f : f32
  } : tensor<4xf32> to tensor<6xf32>
  %1 = samba.relu %0 : tensor<6xf32>
  samba.yield %1 : tensor<6xf32>
}

// -----

// expected-error @+1 {{'builtin.unrealized_conversion_cast' of another value than a constant}}
samba.section @s(%x: tensor<4xi8>) -> tensor<4xui8> attributes {machine = #rdu.machine<"tiny">} {
  %0 = builtin.unrealized_conversion_cast %x : tensor<4xi8> to tensor<4xui8>
  samba.yield %0 : tensor<4xui8>
}

// -----

// expected-error @+1 {{'samba.embedding' reads a hyperparameter that must be a tensor in memory here}}
samba.section @s(%i: tensor<3xi64>, %a: tensor<f32> {samba.kind = "argin"}) -> tensor<3x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.reshape %a {shape = [1, 1]} : tensor<f32>
  %1 = samba.expand %0 {shape = [5, 2]} : tensor<1x1xf32>
  %2 = samba.embedding %1, %i : tensor<5x2xf32>, tensor<3xi64>
  samba.yield %2 : tensor<3x2xf32>
}
// -----

// expected-error @+1 {{'tensor.insert_slice' with dynamic slices}}
samba.section @s(%x: tensor<4xf32>, %y: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %i = arith.constant 1 : index
  %1 = tensor.insert_slice %x into %y[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<2x4xf32>
  samba.yield %1 : tensor<2x4xf32>
}
// -----

// expected-error @+1 {{'tensor.extract_slice' with dynamic slices}}
samba.section @s(%x: tensor<2x4xf32>) -> tensor<1x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %i = arith.constant 1 : index
  %1 = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : tensor<2x4xf32> to tensor<1x4xf32>
  samba.yield %1 : tensor<1x4xf32>
}
// -----

// expected-error @+1 {{a section yields a 'tensor.empty'}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// -----

// expected-error @+1 {{'tensor.extract' at place 7 of 4}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %i = arith.constant 7 : index
  %0 = tensor.extract %x[%i] : tensor<4xf32>
  samba.yield %x : tensor<4xf32>
}
// -----

// expected-error @+1 {{the result of 'tensor.cast' is not a static tensor of a type that Samba knows}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.cast %x : tensor<4xf32> to tensor<?xf32>
  samba.yield %x : tensor<4xf32>
}
