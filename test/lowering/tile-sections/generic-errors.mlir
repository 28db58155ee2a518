// linalg.generic that is no stage: its maps, its operands, its body.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections))' -split-input-file -verify-diagnostics

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{'math.sinh' in the body of a 'linalg.generic' is not a lane operation}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = math.sinh %in : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' uses its output or a value from outside in a way that is not a reduction}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %2 = arith.mulf %in, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' uses its output in a way that is not a reduction}}
samba.section @s(%x: tensor<4xbf16>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xbf16>
  %3 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xbf16>) outs(%0 : tensor<4xbf16>) {
  ^bb0(%in: bf16, %out: bf16):
    %2 = arith.extf %out : bf16 to f32
    %4 = arith.truncf %2 : f32 to bf16
    linalg.yield %4 : bf16
  } -> tensor<4xbf16>
  samba.yield %3 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' yields a value from outside its body}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %c = arith.constant 1.0 : f32
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %c : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' with several results or more than}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0, %0 : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32):
    linalg.yield %in, %in : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  samba.yield %1#0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#half = affine_map<(d0) -> (d0 floordiv 2)>
// expected-error @+1 {{a 'linalg.generic' with an indexing map that is not linear}}
samba.section @s(%x: tensor<2xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#half, #id], iterator_types = ["parallel"]} ins(%x : tensor<2xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' reads a 'tensor.empty'}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %0 : tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    %2 = arith.addf %in, %in2 : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' with more than 8 inputs}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %x, %x, %x, %x, %x, %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32, %g: f32, %h: f32, %i: f32, %out: f32):
    %2 = arith.addf %a, %b : f32
    %3 = arith.addf %2, %c : f32
    %4 = arith.addf %3, %d : f32
    %5 = arith.addf %4, %e : f32
    %6 = arith.addf %5, %f : f32
    %7 = arith.addf %6, %g : f32
    %8 = arith.addf %7, %h : f32
    %9 = arith.addf %8, %i : f32
    linalg.yield %9 : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
