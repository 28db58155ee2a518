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

// The type says only which counters step through a token, and one end has others.
// expected-error@below {{unit 'buffer1' (buffer): input 0: its type has tokens of 16x8, but the unit steps through tokens of 8x16: state the order of the stream, or the counters that both ends have}}
rdu.section @other_counters(%a: !rdu.symbol<256xf32>, %b: !rdu.symbol<128xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [16, 8], strides = [16, 1]}]} : (!rdu.symbol<256xf32>) -> !rdu.stream<16x8xf32>
  %u = rdu.buffer %t {depth = 2 : i64, slot_elements = 256 : i64, inputs = [{tile = [8, 16], strides = [32, 1]}], outputs = [{tile = [8, 16], strides = [32, 1]}]} : (!rdu.stream<16x8xf32>) -> !rdu.stream<128xf32>
  rdu.store %b, %u {inputs = [{tile = [128], strides = [1]}]} : (!rdu.symbol<128xf32>, !rdu.stream<128xf32>) -> ()
}

// -----

// With the counters that step through both, it is a way to say that the halves of 16 are rows of 8.
// CHECK-LABEL: rdu.section @common_counters
// CHECK: -> !rdu.stream<8x2x8xf32>
rdu.section @common_counters(%a: !rdu.symbol<256xf32>, %b: !rdu.symbol<128xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [16, 8], strides = [16, 1]}]} : (!rdu.symbol<256xf32>) -> !rdu.stream<8x2x8xf32>
  %u = rdu.buffer %t {depth = 2 : i64, slot_elements = 256 : i64, inputs = [{tile = [8, 16], strides = [32, 1]}], outputs = [{tile = [8, 16], strides = [32, 1]}]} : (!rdu.stream<8x2x8xf32>) -> !rdu.stream<128xf32>
  rdu.store %b, %u {inputs = [{tile = [128], strides = [1]}]} : (!rdu.symbol<128xf32>, !rdu.stream<128xf32>) -> ()
}

// -----

// A gather: rows of 8, in the order of the indices, which arrive column by column. A buffer sends
// them by columns of the rows.
// CHECK-LABEL: rdu.section @gather
// CHECK: -> !rdu.stream<4x2xi32 by [1, 4]>
// CHECK: -> !rdu.stream<4x2x8xf32 by [1 : index, 4 : index, 1]>
// CHECK: -> !rdu.stream<8x4x2xf32 by [1, 1 : index, 4 : index]>
rdu.section @gather(%a: !rdu.symbol<512xf32>, %i: !rdu.symbol<8xi32>, %b: !rdu.symbol<64xf32> {rdu.written}) {
  %j = rdu.load %i {outputs = [{tile = [4, 2], strides = [1, 4]}]} : (!rdu.symbol<8xi32>) -> !rdu.stream<4x2xi32 by [1, 4]>
  %t = rdu.load %a, %j {outputs = [{tile = [4, 2, 8], strides = [0, 0, 1], index = {counters = 2, stride = 8, limit = 64}}]} : (!rdu.symbol<512xf32>, !rdu.stream<4x2xi32 by [1, 4]>) -> !rdu.stream<4x2x8xf32 by [1 : index, 4 : index, 1]>
  %u = rdu.buffer %t {depth = 2 : i64, slot_elements = 64 : i64, inputs = [{tile = [64], strides = [1]}], outputs = [{tile = [8, 8], strides = [1, 8]}]} : (!rdu.stream<4x2x8xf32 by [1 : index, 4 : index, 1]>) -> !rdu.stream<8x4x2xf32 by [1, 1 : index, 4 : index]>
  %v = rdu.compute %u {tile = [64], inputs = [{strides = [1]}], outputs = [{strides = [1]}]} do {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    rdu.yield %y : f32
  } : (!rdu.stream<8x4x2xf32 by [1, 1 : index, 4 : index]>) -> !rdu.stream<64xf32>
  rdu.store %b, %v {inputs = [{tile = [64], strides = [1]}]} : (!rdu.symbol<64xf32>, !rdu.stream<64xf32>) -> ()
}

// -----

// The indices come row by row.
// expected-error@below {{unit 'load1' (load): output 0: its order is 4x2x8 by [1 : index, 4 : index, 1], but its indices arrive in the order 8 by [1]}}
rdu.section @other_indices(%a: !rdu.symbol<512xf32>, %i: !rdu.symbol<8xi32>, %b: !rdu.symbol<64xf32> {rdu.written}) {
  %j = rdu.load %i {outputs = [{tile = [8], strides = [1]}]} : (!rdu.symbol<8xi32>) -> !rdu.stream<8xi32 by [1]>
  %t = rdu.load %a, %j {outputs = [{tile = [4, 2, 8], strides = [0, 0, 1], index = {counters = 2, stride = 8, limit = 64}}]} : (!rdu.symbol<512xf32>, !rdu.stream<8xi32 by [1]>) -> !rdu.stream<4x2x8xf32 by [1 : index, 4 : index, 1]>
  %v = rdu.compute %t {tile = [64], inputs = [{strides = [1]}], outputs = [{strides = [1]}]} do {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    rdu.yield %y : f32
  } : (!rdu.stream<4x2x8xf32 by [1 : index, 4 : index, 1]>) -> !rdu.stream<64xf32>
  rdu.store %b, %v {inputs = [{tile = [64], strides = [1]}]} : (!rdu.symbol<64xf32>, !rdu.stream<64xf32>) -> ()
}

// -----

// A load without indices cannot send places that indices give.
// expected-error@below {{unit 'load0' (load): output 0: its order is 4x8 by [[1 : index, 8], 1], but the unit takes 0 indices for a token}}
rdu.section @no_indices(%a: !rdu.symbol<32xf32>, %b: !rdu.symbol<32xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [4, 8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>) -> !rdu.stream<4x8xf32 by [[1 : index, 8], 1]>
  rdu.store %b, %t {inputs = [{tile = [4, 8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>, !rdu.stream<4x8xf32 by [[1 : index, 8], 1]>) -> ()
}

// -----

// The buffer has the rows of the indices one after the other, and sends them otherwise.
// expected-error@below {{unit 'buffer2' (buffer): output 0: its order is 4x8 by [1 : index, 1], but slots are filled in the order 4x8 by [1 : index, 1], and the words that its pattern reads hold other elements}}
rdu.section @other_rows(%a: !rdu.symbol<512xf32>, %i: !rdu.symbol<4xi32>, %b: !rdu.symbol<32xf32> {rdu.written}) {
  %j = rdu.load %i {outputs = [{tile = [4], strides = [1]}]} : (!rdu.symbol<4xi32>) -> !rdu.stream<4xi32 by [1]>
  %t = rdu.load %a, %j {outputs = [{tile = [4, 8], strides = [0, 1], index = {counters = 1, stride = 8, limit = 64}}]} : (!rdu.symbol<512xf32>, !rdu.stream<4xi32 by [1]>) -> !rdu.stream<4x8xf32 by [1 : index, 1]>
  %u = rdu.buffer %t {depth = 2 : i64, slot_elements = 32 : i64, inputs = [{tile = [32], strides = [1]}], outputs = [{tile = [4, 8], strides = [1, 4]}]} : (!rdu.stream<4x8xf32 by [1 : index, 1]>) -> !rdu.stream<4x8xf32 by [1 : index, 1]>
  %v = rdu.compute %u {tile = [32], inputs = [{strides = [1]}], outputs = [{strides = [1]}]} do {
  ^bb0(%x: f32):
    %y = arith.negf %x : f32
    rdu.yield %y : f32
  } : (!rdu.stream<4x8xf32 by [1 : index, 1]>) -> !rdu.stream<32xf32>
  rdu.store %b, %v {inputs = [{tile = [32], strides = [1]}]} : (!rdu.symbol<32xf32>, !rdu.stream<32xf32>) -> ()
}

// -----

// A copy: the elements come from places of one tensor and go to places of another.
// CHECK-LABEL: rdu.section @copy
// CHECK: -> !rdu.stream<4x8xf32 by {from = [8, 1], to = [1, 4]}>
rdu.section @copy(%a: !rdu.symbol<32xf32>, %b: !rdu.symbol<32xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [4, 8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>) -> !rdu.stream<4x8xf32 by {from = [8, 1], to = [1, 4]}>
  rdu.store %b, %t {inputs = [{tile = [4, 8], strides = [1, 4]}]} : (!rdu.symbol<32xf32>, !rdu.stream<4x8xf32 by {from = [8, 1], to = [1, 4]}>) -> ()
}

// -----

// expected-error@below {{unit 'store1' (store): input 0: its order is 4x8 by {from = [8, 1], to = [1, 4]}, but its pattern walks 32 by [1]}}
rdu.section @other_copy(%a: !rdu.symbol<32xf32>, %b: !rdu.symbol<32xf32> {rdu.written}) {
  %t = rdu.load %a {outputs = [{tile = [4, 8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>) -> !rdu.stream<4x8xf32 by {from = [8, 1], to = [1, 4]}>
  rdu.store %b, %t {inputs = [{tile = [4, 8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>, !rdu.stream<4x8xf32 by {from = [8, 1], to = [1, 4]}>) -> ()
}

// -----

// expected-error@below {{the order must be a list of 2 integers, one per dimension, or two of a copy: {from = [...], to = [...]}}}
func.func private @f(!rdu.stream<4x8xf32 by [1]>)

// -----

// expected-error@below {{the order must be a list of 2 integers}}
func.func private @f(!rdu.stream<4x8xf32 by "rows">)

// -----

// expected-error@below {{the order must be a list of 2 integers}}
func.func private @f(!rdu.stream<4x8xf32 by [[1, 2], 1]>)

// -----

// expected-error@below {{the order must be a list of 2 integers}}
func.func private @f(!rdu.stream<4x8xf32 by {from = [8, 1]}>)

// -----

// expected-error@below {{has 65 dimensions, expected at most 64}}
func.func private @f(!rdu.stream<1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1xf32>)
