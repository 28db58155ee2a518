// linalg.generic that is no stage: its maps, its operands, its body.
// RUN: samba-opt %s --pass-pipeline='builtin.module(samba.section(samba-tile-sections))' -split-input-file -verify-diagnostics

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
#none = affine_map<(d0) -> ()>
// expected-error @+1 {{a 'linalg.generic' that reads more than 8 tensors}}
samba.section @s(%x: tensor<4xf32>, %init: tensor<f32>) -> tensor<f32> attributes {machine = #rdu.machine<"tiny">} {
  %1 = linalg.generic {indexing_maps = [#id, #id, #id, #id, #id, #id, #id, #id, #id, #none], iterator_types = ["reduction"]}
      ins(%x, %x, %x, %x, %x, %x, %x, %x, %x : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a0: f32, %a1: f32, %a2: f32, %a3: f32, %a4: f32, %a5: f32, %a6: f32, %a7: f32, %a8: f32, %out: f32):
    %s0 = arith.addf %out, %a0 : f32
    %s1 = arith.addf %s0, %a1 : f32
    %s2 = arith.addf %s1, %a2 : f32
    %s3 = arith.addf %s2, %a3 : f32
    %s4 = arith.addf %s3, %a4 : f32
    %s5 = arith.addf %s4, %a5 : f32
    %s6 = arith.addf %s5, %a6 : f32
    %s7 = arith.addf %s6, %a7 : f32
    %s8 = arith.addf %s7, %a8 : f32
    linalg.yield %s8 : f32
  } -> tensor<f32>
  samba.yield %1 : tensor<f32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{'math.sincos' in the body of a 'linalg.generic' is not a lane operation}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s, %c = math.sincos %in : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{'arith.bitcast' in the body of a 'linalg.generic' is not a lane operation}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xi32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xi32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xi32>) {
  ^bb0(%in: f32, %out: i32):
    %s = arith.bitcast %in : f32 to i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  samba.yield %1 : tensor<4xi32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' reduces by 'math.exp' in a way that lanes cannot; they sum, multiply, take the smallest or largest, and combine bits by and and or}}
samba.section @s(%x: tensor<4x5xf32>, %init: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x5xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = math.exp %out : f32
    %b = arith.addf %a, %in : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' reduces by 'arith.mulf' in a way that lanes cannot}}
samba.section @s(%x: tensor<4x5xf32>, %init: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x5xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in : f32
    %b = arith.mulf %a, %in : f32
    linalg.yield %b : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' reduces by nothing: it yields the last of several values}}
samba.section @s(%x: tensor<4x5xf32>, %init: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x5xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' reads a 'tensor.empty'}}
samba.section @s(%x: tensor<4x5xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id2, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x5xf32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in : f32
    linalg.yield %a : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' that reduces two results together; make an operation of each}}
samba.section @s(%x: tensor<4x5xf32>, %init: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %i = tensor.empty() : tensor<4xf32>
  %1:2 = linalg.generic {indexing_maps = [#id2, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x5xf32>) outs(%init, %init : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%in: f32, %a: f32, %b: f32):
    %c = arith.addf %a, %in : f32
    %d = arith.mulf %in, %a : f32
    %e = arith.addf %b, %d : f32
    linalg.yield %c, %e : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  samba.yield %1#1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'tensor.extract' in the body of a 'linalg.generic' takes two of its axes from tensors}}
samba.section @s(%x: tensor<4xf32>, %i: tensor<4xi32>, %y: tensor<4x4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : tensor<4xi32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %p = arith.index_cast %in : i32 to index
    %e = tensor.extract %y[%p, %p] : tensor<4x4xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'tensor.extract' in the body of a 'linalg.generic' multiplies or adds the integers of tensors}}
samba.section @s(%x: tensor<4xf32>, %i: tensor<4xi32>, %y: tensor<4x4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : tensor<4xi32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %p = arith.index_cast %in : i32 to index
    %q = arith.addi %p, %p : index
    %e = tensor.extract %x[%q] : tensor<4xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'tensor.extract' in the body of a 'linalg.generic' computes its place; a place is a sum of loops, constants and one integer of a tensor}}
samba.section @s(%x: tensor<4xf32>, %i: tensor<4xi32>, %y: tensor<4x4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%i : tensor<4xi32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%in: i32, %out: f32):
    %p = arith.index_cast %in : i32 to index
    %q = arith.maxsi %p, %p : index
    %e = tensor.extract %x[%q] : tensor<4xf32>
    linalg.yield %e : f32
  } -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' writes axis 0 of its result by a map that is no loop of its own; each loop that is not reduced walks one axis}}
samba.section @s(%x: tensor<4x5xf32>, %init: tensor<8xf32>) -> tensor<8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %1 = linalg.generic {indexing_maps = [#id2, affine_map<(d0, d1) -> (d0 + d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x5xf32>) outs(%init : tensor<8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8xf32>
  samba.yield %1 : tensor<8xf32>
}
// -----

#first = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12) -> (d0, d1, d2, d3, d4, d5, d6)>
#second = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12) -> (d7, d8, d9, d10, d11, d12)>
#out = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7, d8, d9, d10, d11, d12) -> (d0)>
// expected-error @+1 {{a 'linalg.generic' with 13 loops; 12 are possible}}
samba.section @s(%e: tensor<1x1x1x1x1x1x1xf32>, %f: tensor<1x1x1x1x1x1xf32>) -> tensor<1xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<1xf32>
  %1 = linalg.generic {indexing_maps = [#first, #second, #out], iterator_types = ["parallel", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction", "reduction"]} ins(%e, %f : tensor<1x1x1x1x1x1x1xf32>, tensor<1x1x1x1x1x1xf32>) outs(%0 : tensor<1xf32>) {
  ^bb0(%in: f32, %in2: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1xf32>
  samba.yield %1 : tensor<1xf32>
}
// -----

#id = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
// expected-error @+1 {{'linalg.softmax' has no hardware form}}
samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.softmax dimension(0) ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
  samba.yield %1 : tensor<4xf32>
}
