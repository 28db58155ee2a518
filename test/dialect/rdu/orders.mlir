// The order of a stream is part of its type: it is printed again, and both ends are held to it.
// RUN: samba-opt %s -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: rdu.section @transpose
// CHECK: -> !rdu.stream<4x8xf32 by [8, 1]>
// CHECK: rdu.buffer
// CHECK-SAME: -> !rdu.stream<8x4xf32 by [1, 8]>
rdu.section @transpose(%a: !rdu.symbol<32xf32>, %b: !rdu.symbol<32xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [4, 8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>) -> !rdu.stream<4x8xf32 by [8, 1]>
  %u = rdu.buffer %t {depth = 2 : i64, slot_elements = 32 : i64, inputs = [{tile = [32], strides = [1]}], outputs = [{tile = [8, 4], strides = [1, 8]}]} : (!rdu.stream<4x8xf32 by [8, 1]>) -> !rdu.stream<8x4xf32 by [1, 8]>
  rdu.store %b, %u {inputs = [{tile = [8, 4], strides = [1, 8]}]} : (!rdu.symbol<32xf32>, !rdu.stream<8x4xf32 by [1, 8]>) -> ()
}

// -----

// A repeat has a step of 0.
// CHECK-LABEL: rdu.section @repeat
// CHECK: -> !rdu.stream<2x16xf32 by [0, 1]>
rdu.section @repeat(%a: !rdu.symbol<16xf32>, %b: !rdu.symbol<32xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [16], strides = [1]}]} : (!rdu.symbol<16xf32>) -> !rdu.stream<16xf32 by [1]>
  %u = rdu.buffer %t {depth = 2 : i64, slot_elements = 16 : i64, inputs = [{tile = [16], strides = [1]}], outputs = [{tile = [2, 16], strides = [0, 1]}]} : (!rdu.stream<16xf32 by [1]>) -> !rdu.stream<2x16xf32 by [0, 1]>
  %v = rdu.compute %u {tile = [32], inputs = [{strides = [1]}], outputs = [{strides = [1]}]} do {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    rdu.yield %y : f32
  } : (!rdu.stream<2x16xf32 by [0, 1]>) -> !rdu.stream<32xf32>
  rdu.store %b, %v {inputs = [{tile = [32], strides = [1]}]} : (!rdu.symbol<32xf32>, !rdu.stream<32xf32>) -> ()
}

// -----

// The load steps through six rows of four, and the type says four rows of six.
// expected-error@below {{unit 'load0' (load): output 0: its order is 4x6 by [1, 4], but the unit steps through tokens of 6x4}}
rdu.section @other_shape(%a: !rdu.symbol<48xf32>, %b: !rdu.symbol<24xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [6, 4], strides = [8, 1]}]} : (!rdu.symbol<48xf32>) -> !rdu.stream<4x6xf32 by [1, 4]>
  rdu.store %b, %t {inputs = [{tile = [4, 6], strides = [1, 4]}]} : (!rdu.symbol<24xf32>, !rdu.stream<4x6xf32 by [1, 4]>) -> ()
}

// -----

// expected-error@below {{unit 'load0' (load): output 0: its order is 4x8 by [1, 4], but its pattern walks 32 by [1]}}
rdu.section @other_walk(%a: !rdu.symbol<32xf32>, %b: !rdu.symbol<32xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [4, 8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>) -> !rdu.stream<4x8xf32 by [1, 4]>
  rdu.store %b, %t {inputs = [{tile = [4, 8], strides = [1, 4]}]} : (!rdu.symbol<32xf32>, !rdu.stream<4x8xf32 by [1, 4]>) -> ()
}

// -----

// The buffer sends rows, and says that it sends columns.
// expected-error@below {{unit 'buffer1' (buffer): output 0: its order is 8x4 by [1, 8], but slots are filled in the order 32 by [1], and the words that its pattern reads hold other elements}}
rdu.section @not_transposed(%a: !rdu.symbol<32xf32>, %b: !rdu.symbol<32xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [4, 8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>) -> !rdu.stream<4x8xf32 by [8, 1]>
  %u = rdu.buffer %t {depth = 2 : i64, slot_elements = 32 : i64, inputs = [{tile = [32], strides = [1]}], outputs = [{tile = [8, 4], strides = [4, 1]}]} : (!rdu.stream<4x8xf32 by [8, 1]>) -> !rdu.stream<8x4xf32 by [1, 8]>
  rdu.store %b, %u {inputs = [{tile = [8, 4], strides = [1, 8]}]} : (!rdu.symbol<32xf32>, !rdu.stream<8x4xf32 by [1, 8]>) -> ()
}

// -----

// expected-error@below {{the order must be a list of 2 integers, one per dimension}}
func.func private @f(!rdu.stream<4x8xf32 by [1]>)

// -----

// expected-error@below {{invalid kind of attribute specified}}
func.func private @f(!rdu.stream<4x8xf32 by "rows">)

// -----

// expected-error@below {{has 65 dimensions, expected at most 64}}
func.func private @f(!rdu.stream<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>)
