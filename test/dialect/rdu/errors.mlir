// Each refusal of units, programs and routes. What needs several units is sambaSectionCheck's and tested there.
// RUN: samba-opt --verify-diagnostics --split-input-file %s

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: there is no 'loop' here}}
  %t = rdu.load %a {outputs = [{loop = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: 'tile' must be a list of integers}}
  %t = rdu.load %a {outputs = [{loops = [2], tile = 4, strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: 'loops' has 0, but entries must be from 1 to 4294967295}}
  %t = rdu.load %a {outputs = [{loops = [0], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: needs one of 'strides' per counter of slots, loops and tile: 2}}
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: 'slots' are for buffers}}
  %t = rdu.load %a {outputs = [{slots = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: 'block' is 0, but must be from 1 to 4294967295}}
  %t = rdu.load %a {outputs = [{block = 0, loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: 'base' must be an integer}}
  %t = rdu.load %a {outputs = [{base = 1.0, loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: 'guards' must be a list of dictionaries}}
  %t = rdu.load %a {outputs = [{guards = {}, loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: guard 0 must be {constant = 0, limit = 28, strides = [...]}}}
  %t = rdu.load %a {outputs = [{guards = ["x"], loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: guard 0: needs 'strides' for the 2 counters}}
  %t = rdu.load %a {outputs = [{guards = [{limit = 3}], loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: 'index' must be a dictionary}}
  %t = rdu.load %a {outputs = [{index = 3, loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: index: there is no 'step' here}}
  %t = rdu.load %a {outputs = [{index = {step = 1}, loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: must be a dictionary}}
  %t = rdu.load %a {outputs = ["x"]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: takes 2 streams, but the unit has only 1 left}}
  %t = rdu.load %a {outputs = [{streams = 2, loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op its outputs take 1 streams, but it has 2}}
  %t:2 = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> (!rdu.stream<4xf32>, !rdu.stream<4xf32>)
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: has streams of different types}}
  %t:2 = rdu.load %a {outputs = [{streams = 2, loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> (!rdu.stream<4xf32>, !rdu.stream<2xf32>)
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: has elements that the machine does not have}}
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xi7>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op output 0: has tokens of more than 2^63 elements}}
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4294967296x4294967296xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op 'site' must be [column, row]}}
  %t = rdu.load %a {site = [1], outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.buffer' op 'banking' is "column", "row" or "diagonal"}}
  %b = rdu.buffer %t {depth = 2, slot_elements = 4, banking = "rows", inputs = [{slots = [2], tile = [4], strides = [0, 1]}],
                      outputs = [{slots = [2], tile = [4], strides = [0, 1]}]} : (!rdu.stream<4xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  // expected-error@below {{'rdu.load' op 'ag' must be an integer from 0 to 2147483647}}
  %t = rdu.load %a {ag = -2, outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op input 0: needs one of 'strides' per counter of the unit: 2}}
  rdu.compute %t {loops = [2], tile = [4], inputs = [{strides = [1]}]} do {
  ^bb0(%x: f32):
    rdu.yield
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op counter 1 runs 0 times, but must run 1 to 4294967295 times}}
  rdu.compute %t {loops = [2], tile = [0]} do {
  ^bb0(%x: f32):
    rdu.yield
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op 'reduce' names counter 2, but the unit has 2}}
  rdu.compute %t {loops = [2], tile = [4], reduce = [2]} do {
  ^bb0(%x: f32):
    rdu.yield
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xbf16>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xbf16>) -> !rdu.stream<4xbf16>
  // expected-error@below {{'rdu.compute' op argument 0 of its program must be f32, as elements of bf16 are in a unit}}
  rdu.compute %t {loops = [2], tile = [4]} do {
  ^bb0(%x: bf16):
    rdu.yield
  } : (!rdu.stream<4xbf16>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op its program has 2 arguments, but the unit has 1 inputs}}
  rdu.compute %t {loops = [2], tile = [4]} do {
  ^bb0(%x: f32, %y: f32):
    rdu.yield
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op its program must end with rdu.yield}}
  rdu.compute %t {loops = [2], tile = [4]} do {
  ^bb0(%x: f32):
    ub.unreachable
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op its program yields 1 values, but the unit has 0 outputs}}
  rdu.compute %t {loops = [2], tile = [4]} do {
  ^bb0(%x: f32):
    rdu.yield %x : f32
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op output 0 makes i8, so its value must be i32}}
  %u = rdu.compute %t {loops = [2], tile = [4]} do {
  ^bb0(%x: f32):
    rdu.yield %x : f32
  } : (!rdu.stream<4xf32>) -> !rdu.stream<4xi8>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op there is no lane operation "frob"}}
  rdu.compute %t {loops = [2], tile = [4]} do {
  ^bb0(%x: f32):
    %y = rdu.lane "frob"(%x) : (f32) -> f32
    rdu.yield
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op there is no reduce operation "median"}}
  rdu.compute %t {loops = [2], tile = [4], reduce = [1]} do {
  ^bb0(%x: f32):
    %y = rdu.reduce "median"(%x) : (f32) -> f32
    rdu.yield
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op "mac" takes 2 operands, but has 1}}
  rdu.compute %t {loops = [2], tile = [4], reduce = [1]} do {
  ^bb0(%x: f32):
    %y = rdu.reduce "mac"(%x) : (f32) -> f32
    rdu.yield
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.compute' op 'math.cbrt' is not an operation of a compute unit}}
  rdu.compute %t {loops = [2], tile = [4]} do {
  ^bb0(%x: f32):
    %y = math.cbrt %x : f32
    rdu.yield
  } : (!rdu.stream<4xf32>) -> ()
}

// -----

// expected-error@below {{'rdu.section' op 'arith.constant' is not a unit; a section holds rdu.load, rdu.store, rdu.buffer, rdu.compute and rdu.route}}
rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %c = arith.constant 1.0 : f32
}

// -----

// expected-error@below {{'rdu.section' op argument 0 must be a !rdu.symbol}}
rdu.section @s(%a: tensor<8xf32>) {
}

// -----

// expected-error@below {{'rdu.section' op argument 0: has elements that the machine does not have}}
rdu.section @s(%a: !rdu.symbol<8xi7>) {
}

// -----

// expected-error@below {{'rdu.section' op attribute 'machine' must be #rdu.machine<...>}}
rdu.section @s(%a: !rdu.symbol<8xf32>) attributes {machine = 1} {
}

// -----

// expected-error@below {{'rdu.section' op a section writes to its arguments and has no results}}
rdu.section @s(%a: !rdu.symbol<8xf32>) -> f32 {
}

// -----

// sambaSectionCheck's words reach the user, with the unit's name.
// expected-error@below {{unit 'out'}}
rdu.section @s(%a: !rdu.symbol<8xf32>, %b: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {name = "in", outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  rdu.store %b, %t {name = "out", inputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>, !rdu.stream<4xf32>) -> ()
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.route' op hop "(0,0) up 0:0 -> east 0:0" must look like "(3,0) west 0:3 -> unit 1:0"}}
  rdu.route %t {hops = ["(0,0) up 0:0 -> east 0:0"]} : !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.route' op hop "(0,0) west 256:0 -> east 0:0" must look like "(3,0) west 0:3 -> unit 1:0"}}
  rdu.route %t {hops = ["(0,0) west 256:0 -> east 0:0"]} : !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.route' op hop "(0,0) west 0:0 -> east 0:65536" must look like "(3,0) west 0:3 -> unit 1:0"}}
  rdu.route %t {hops = ["(0,0) west 0:0 -> east 0:65536"]} : !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.route' op hop "(0,0) west 0:0 -> east 0:0 x" must look like "(3,0) west 0:3 -> unit 1:0"}}
  rdu.route %t {hops = ["(0,0) west 0:0 -> east 0:0 x"]} : !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.route' op hop "(-,0) west 0:0 -> east 0:0" must look like "(3,0) west 0:3 -> unit 1:0"}}
  rdu.route %t {hops = ["(-,0) west 0:0 -> east 0:0"]} : !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.route' op hop "(0,0) ag 0:0 -> east 0:0" must look like "(3,0) west 0:3 -> unit 1:0"}}
  rdu.route %t {hops = ["(0,0) ag 0:0 -> east 0:0"]} : !rdu.stream<4xf32>
}

// -----

rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  // expected-error@below {{'rdu.route' op hop "(0,0) west 0:0 ->" must look like "(3,0) west 0:3 -> unit 1:0"}}
  rdu.route %t {hops = ["(0,0) west 0:0 ->"]} : !rdu.stream<4xf32>
}

// -----

// expected-error@below {{'rdu.section' op the stream from unit 'in' has two routes}}
rdu.section @s(%a: !rdu.symbol<8xf32>) {
  %t = rdu.load %a {name = "in", outputs = [{loops = [2], tile = [4], strides = [4, 1]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  rdu.route %t {hops = ["(3,0) ag 3 0:0 -> unit 0:4"]} : !rdu.stream<4xf32>
  rdu.route %t {hops = ["(3,0) ag 3 0:0 -> unit 0:4"]} : !rdu.stream<4xf32>
}

// -----

// expected-error@+1 {{element type must be f32, bf16, f16 or an integer}}
func.func private @f(!rdu.stream<4xf64>)

// -----

// expected-error@+1 {{every extent must be at least 1, but one is 0}}
func.func private @f(!rdu.stream<0xf32>)
