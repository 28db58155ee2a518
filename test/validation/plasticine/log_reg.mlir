// LogReg, f32, D = 32, N = 256 in tiles of 32 points, 2 epochs: theta += sum over the points of x (y - sigmoid(x . theta)).
rdu.section @logreg(%x: !rdu.symbol<256x32xf32> {rdu.name = "x"}, %y: !rdu.symbol<256xf32> {rdu.name = "y"},
                    %theta: !rdu.symbol<32xf32> {rdu.name = "theta"},
                    %out: !rdu.symbol<32xf32> {rdu.name = "theta.out", rdu.written}) {
  // theta of an epoch: the first comes from memory, the next from the update.
  %t0 = rdu.load %theta {name = "theta", outputs = [{tile = [32], strides = [1]}]} : (!rdu.symbol<32xf32>) -> !rdu.stream<32xf32>
  %t1, %t2 = rdu.buffer %t0, %next#0 {name = "theta.now", depth = 2, slot_elements = 32,
                                      inputs = [{streams = 2, slots = [2], tile = [32], strides = [0, 1]}],
                                      outputs = [{slots = [2], loops = [256], tile = [32], strides = [0, 0, 1]},
                                                 {slots = [2], tile = [32], strides = [0, 1]}]}
      : (!rdu.stream<32xf32>, !rdu.stream<32xf32>) -> (!rdu.stream<32xf32>, !rdu.stream<32xf32>)
  %x0 = rdu.load %x {name = "x", outputs = [{loops = [2, 8], tile = [1024], strides = [0, 1024, 1]}]}
      : (!rdu.symbol<256x32xf32>) -> !rdu.stream<1024xf32>
  %x1, %x2 = rdu.buffer %x0 {name = "x.tile", depth = 2, slot_elements = 1024, inputs = [{slots = [16], tile = [1024], strides = [0, 1]}],
                             outputs = [{slots = [16], loops = [32], tile = [32], strides = [0, 32, 1]},
                                        {slots = [16], loops = [32], tile = [32], strides = [0, 32, 1]}]}
      : (!rdu.stream<1024xf32>) -> (!rdu.stream<32xf32>, !rdu.stream<32xf32>)
  %y0 = rdu.load %y {name = "y", outputs = [{loops = [2, 8], tile = [32], strides = [0, 32, 1]}]}
      : (!rdu.symbol<256xf32>) -> !rdu.stream<32xf32>
  %y1 = rdu.buffer %y0 {name = "y.tile", depth = 2, slot_elements = 32, inputs = [{slots = [16], tile = [32], strides = [0, 1]}],
                        outputs = [{slots = [16], loops = [32], tile = [1], strides = [0, 1, 1]}]}
      : (!rdu.stream<32xf32>) -> !rdu.stream<scalar 1xf32>
  %dot = rdu.compute %x1, %t1 {name = "dot", lane_reduce, loops = [512], tile = [32], reduce = [1],
                               inputs = [{strides = [0, 1]}, {strides = [0, 1]}], outputs = [{strides = [0, 0]}]} do {
  ^bb0(%e: f32, %t: f32):
    %p = arith.mulf %e, %t : f32
    %s = rdu.reduce "add"(%p) : (f32) -> f32
    rdu.yield %s : f32
  } : (!rdu.stream<32xf32>, !rdu.stream<32xf32>) -> !rdu.stream<scalar 1xf32>
  // sigmoid(d) = 1 / (1 + exp(-d)); the tail of a unit has one function.
  %exp = rdu.compute %dot {name = "exp", loops = [512], tile = [1], inputs = [{strides = [0, 1]}], outputs = [{strides = [0, 1]}]} do {
  ^bb0(%d: f32):
    %n = arith.negf %d : f32
    %e = math.exp %n : f32
    rdu.yield %e : f32
  } : (!rdu.stream<scalar 1xf32>) -> !rdu.stream<scalar 1xf32>
  %sigmoid = rdu.compute %exp {name = "sigmoid", loops = [512], tile = [1], inputs = [{strides = [0, 1]}], outputs = [{strides = [0, 1]}]} do {
  ^bb0(%e: f32):
    %one = arith.constant 1.0 : f32
    %d = arith.addf %e, %one : f32
    %s = arith.divf %one, %d : f32
    rdu.yield %s : f32
  } : (!rdu.stream<scalar 1xf32>) -> !rdu.stream<scalar 1xf32>
  %row = rdu.compute %x2, %y1, %sigmoid {name = "row", loops = [512], tile = [32],
                                         inputs = [{strides = [0, 1]}, {strides = [0, 0]}, {strides = [0, 0]}], outputs = [{strides = [0, 1]}]} do {
  ^bb0(%e: f32, %label: f32, %s: f32):
    %d = arith.subf %label, %s : f32
    %r = arith.mulf %e, %d : f32
    rdu.yield %r : f32
  } : (!rdu.stream<32xf32>, !rdu.stream<scalar 1xf32>, !rdu.stream<scalar 1xf32>) -> !rdu.stream<32xf32>
  %rows = rdu.buffer %row {name = "row.tile", depth = 2, slot_elements = 32, inputs = [{slots = [512], tile = [32], strides = [0, 1]}],
                           outputs = [{slots = [512], tile = [32], strides = [0, 1]}]} : (!rdu.stream<32xf32>) -> !rdu.stream<32xf32>
  // A pass per point; the first of each tile of points overwrites.
  %old = rdu.buffer %new {name = "tile.sums", in_place, depth = 1, slot_elements = 32, initial = 0,
                          inputs = [{slots = [512], tile = [32], strides = [0, 1]}],
                          outputs = [{slots = [512], tile = [32], strides = [0, 1]}]} : (!rdu.stream<32xf32>) -> !rdu.stream<32xf32>
  %new = rdu.compute %rows, %old {name = "tile.accumulate", loops = [16, 32], tile = [32],
                                  inputs = [{strides = [0, 0, 1]}, {strides = [0, 0, 1]}], outputs = [{strides = [0, 0, 1]}]} do {
  ^bb0(%p: f32, %o: f32):
    %pass = rdu.lane "counter" immediate 1 : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %pass, %zero : i32
    %sum = arith.addf %p, %o : f32
    %s = arith.select %first, %p, %sum : f32
    rdu.yield %s : f32
  } : (!rdu.stream<32xf32>, !rdu.stream<32xf32>) -> !rdu.stream<32xf32>
  %tile = rdu.buffer %new {name = "tile", depth = 2, slot_elements = 32, inputs = [{slots = [16], loops = [32], tile = [32], strides = [0, 0, 1]}],
                           outputs = [{slots = [16], tile = [32], strides = [0, 1]}]} : (!rdu.stream<32xf32>) -> !rdu.stream<32xf32>
  // A pass per tile of points; the first of each epoch overwrites.
  %total = rdu.buffer %sums {name = "grad.sums", in_place, depth = 1, slot_elements = 32, initial = 0,
                             inputs = [{slots = [16], tile = [32], strides = [0, 1]}],
                             outputs = [{slots = [16], tile = [32], strides = [0, 1]}]} : (!rdu.stream<32xf32>) -> !rdu.stream<32xf32>
  %sums = rdu.compute %tile, %total {name = "grad.accumulate", loops = [2, 8], tile = [32],
                                     inputs = [{strides = [0, 0, 1]}, {strides = [0, 0, 1]}], outputs = [{strides = [0, 0, 1]}]} do {
  ^bb0(%p: f32, %o: f32):
    %pass = rdu.lane "counter" immediate 1 : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %pass, %zero : i32
    %sum = arith.addf %p, %o : f32
    %s = arith.select %first, %p, %sum : f32
    rdu.yield %s : f32
  } : (!rdu.stream<32xf32>, !rdu.stream<32xf32>) -> !rdu.stream<32xf32>
  %grad = rdu.buffer %sums {name = "grad", depth = 1, slot_elements = 32, inputs = [{slots = [2], loops = [8], tile = [32], strides = [0, 0, 1]}],
                            outputs = [{slots = [2], tile = [32], strides = [0, 1]}]} : (!rdu.stream<32xf32>) -> !rdu.stream<32xf32>
  // The first update goes to the second epoch, the second to memory.
  %next:2 = rdu.compute %t2, %grad {name = "update", loops = [2], tile = [32], inputs = [{strides = [0, 1]}, {strides = [0, 1]}],
                                    outputs = [{streams = 2, strides = [0, 1]}]} do {
  ^bb0(%t: f32, %g: f32):
    %s = arith.addf %t, %g : f32
    rdu.yield %s : f32
  } : (!rdu.stream<32xf32>, !rdu.stream<32xf32>) -> (!rdu.stream<32xf32>, !rdu.stream<32xf32>)
  rdu.store %out, %next#1 {name = "theta.out", inputs = [{tile = [32], strides = [1]}]} : (!rdu.symbol<32xf32>, !rdu.stream<32xf32>) -> ()
}
func.func @main(%x: tensor<256x32xf32> {samba.name = "x"}, %y: tensor<256xf32> {samba.name = "y"}, %theta: tensor<32xf32> {samba.name = "theta"})
    -> (tensor<32xf32> {samba.name = "theta.out"}) {
  %c = samba.call @logreg(%x, %y, %theta) {id = 0, type = "FWD"} : (tensor<256x32xf32>, tensor<256xf32>, tensor<32xf32>) -> tensor<32xf32>
  return %c : tensor<32xf32>
}
