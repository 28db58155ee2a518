// What units can say beyond a plain pipeline: gathers, padding, split and merge, loops through buffers, placement, routes.
// RUN: samba-opt %s > %t.mlir && samba-opt %t.mlir | diff %t.mlir - && FileCheck %s < %t.mlir
// RUN: samba-opt --emit-bytecode %s | samba-opt | diff %t.mlir -

// Rows chosen by an index stream; the rest of the row is padding that nobody stores.
// CHECK-LABEL: rdu.section @gather
rdu.section @gather(%t: !rdu.symbol<10x6xf32> {rdu.name = "table"}, %i: !rdu.symbol<4xi32> {rdu.name = "rows"},
                    %o: !rdu.symbol<4x8xf32> {rdu.name = "out", rdu.written}) attributes {machine = #rdu.machine<"tiny">} {
  %n = rdu.load %i {name = "rows", outputs = [{loops = [4], tile = [], strides = [1]}]} : (!rdu.symbol<4xi32>) -> !rdu.stream<scalar i32>
  // CHECK: guards = [{constant = 0, limit = 6, strides = [0, 1]}], index = {counters = 0, limit = 10, stride = 6}
  %r = rdu.load %t, %n {name = "table", outputs = [{loops = [4], tile = [8], strides = [0, 1], fill = 0, guards = [{constant = 0, limit = 6, strides = [0, 1]}],
                                                    index = {counters = 0, stride = 6, limit = 10}}]}
      : (!rdu.symbol<10x6xf32>, !rdu.stream<scalar i32>) -> !rdu.stream<8xf32>
  rdu.store %o, %r {name = "out", inputs = [{loops = [4], tile = [8], strides = [8, 1]}]} : (!rdu.symbol<4x8xf32>, !rdu.stream<8xf32>) -> ()
}

// Tokens dealt to two units in turn and collected again; placement and routes.
// CHECK-LABEL: rdu.section @unrolled
rdu.section @unrolled(%a: !rdu.symbol<64xf32> {rdu.name = "a"}, %b: !rdu.symbol<64xf32> {rdu.name = "b", rdu.written}) attributes {split_k} {
  // CHECK: %{{.*}}:2 = rdu.load %arg0 {ag = 3, name = "in", outputs = [{loops = [4], streams = 2, strides = [16, 1], tile = [16]}]}
  %x:2 = rdu.load %a {name = "in", ag = 3, outputs = [{streams = 2, loops = [4], tile = [16], strides = [16, 1]}]}
      : (!rdu.symbol<64xf32>) -> (!rdu.stream<16xf32>, !rdu.stream<16xf32>)
  // CHECK: site = [2, 0]
  %p = rdu.compute %x#0 {name = "even", layer = "act", site = [2, 0], loops = [2], tile = [16], inputs = [{strides = [0, 1]}], outputs = [{strides = [0, 1]}]} do {
  ^bb0(%e: f32):
    %c = arith.constant 2.0 : f32
    %n = rdu.lane "counter" immediate 1 : () -> i32
    %f = rdu.lane "int_to_float"(%n) : (i32) -> f32
    %m = arith.mulf %e, %c : f32
    %s = arith.addf %m, %f : f32
    rdu.yield %s : f32
  } : (!rdu.stream<16xf32>) -> !rdu.stream<16xf32>
  %q = rdu.compute %x#1 {name = "odd", layer = "act", loops = [2], tile = [16], inputs = [{strides = [0, 1]}], outputs = [{strides = [0, 1]}]} do {
  ^bb0(%e: f32):
    %m = math.tanh %e : f32
    rdu.yield %m : f32
  } : (!rdu.stream<16xf32>) -> !rdu.stream<16xf32>
  rdu.store %b, %p, %q {name = "out", inputs = [{streams = 2, loops = [4], tile = [16], strides = [16, 1]}]}
      : (!rdu.symbol<64xf32>, !rdu.stream<16xf32>, !rdu.stream<16xf32>) -> ()
  // CHECK: rdu.route %{{.*}}#0 {hops = ["(3,0) ag 3 0:0 -> west 0:4", "(2,0) east 0:4 -> unit 1:0"]} :
  rdu.route %x#0 {hops = ["(3,0) ag 3 0:0 -> west 0:4", "(2,0) east 0:4 -> unit 1:0"]} : !rdu.stream<16xf32>
}

// A loop: the buffer starts full of zeros, feeds the unit that adds to it, and is written by it.
// CHECK-LABEL: rdu.section @loop
rdu.section @loop(%a: !rdu.symbol<32xf32> {rdu.name = "a"}, %b: !rdu.symbol<32xf32> {rdu.name = "b", rdu.written}) {
  %x = rdu.load %a {name = "in", outputs = [{loops = [4], tile = [8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>) -> !rdu.stream<8xf32>
  // CHECK: %[[STATE:.*]] = rdu.buffer %[[NEXT:.*]]#1 {depth = 1, initial = 0,
  %state = rdu.buffer %next#1 {name = "state", depth = 1, slot_elements = 8, initial = 0, inputs = [{slots = [4], tile = [8], strides = [0, 1]}],
                               outputs = [{slots = [4], tile = [8], strides = [0, 1]}]} : (!rdu.stream<8xf32>) -> !rdu.stream<8xf32>
  // CHECK: %[[NEXT]]:2 = rdu.compute %{{.*}}, %[[STATE]]
  %next:2 = rdu.compute %x, %state {name = "add", loops = [4], tile = [8], inputs = [{strides = [0, 1]}, {strides = [0, 1]}],
                                    outputs = [{strides = [0, 1]}, {strides = [0, 1]}]} do {
  ^bb0(%e: f32, %s: f32):
    %t = arith.addf %e, %s : f32
    rdu.yield %t, %t : f32, f32
  } : (!rdu.stream<8xf32>, !rdu.stream<8xf32>) -> (!rdu.stream<8xf32>, !rdu.stream<8xf32>)
  rdu.store %b, %next#0 {name = "out", inputs = [{loops = [4], tile = [8], strides = [8, 1]}]} : (!rdu.symbol<32xf32>, !rdu.stream<8xf32>) -> ()
}

// A load that waits for a store: a control stream.
// CHECK-LABEL: rdu.section @ordered
rdu.section @ordered(%a: !rdu.symbol<8xi8> {rdu.name = "a", rdu.written}, %b: !rdu.symbol<8xi8> {rdu.name = "b", rdu.written}) {
  %x = rdu.load %b {name = "first", outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xi8>) -> !rdu.stream<4xi8>
  // CHECK: -> !rdu.stream<control>
  %done = rdu.store %a, %x {name = "put", inputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xi8>, !rdu.stream<4xi8>) -> !rdu.stream<control>
  %y = rdu.load %a, %done {name = "again", outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xi8>, !rdu.stream<control>) -> !rdu.stream<4xi8>
  rdu.store %b, %y {name = "out", inputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xi8>, !rdu.stream<4xi8>) -> ()
}
