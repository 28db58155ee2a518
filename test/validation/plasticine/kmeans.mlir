// Kmeans, K = 64, D = 64, N = 256 in tiles of 128 points, 2 epochs, ip 16. Coordinate 63 of every point is 1: it counts, and is
// left out of distances.
rdu.section @kmeans(%points: !rdu.symbol<256x64xi32> {rdu.name = "points"},
                    %out: !rdu.symbol<64x64xi32> {rdu.name = "centroids", rdu.written}) {
  // The centroids of an epoch: the first 64 points, then what the update makes. They come again for each point.
  %c0 = rdu.load %points {name = "centroids", outputs = [{tile = [4096], strides = [1]}]}
      : (!rdu.symbol<256x64xi32>) -> !rdu.stream<4096xi32>
  %c1, %c2 = rdu.buffer %c0, %next#0 {name = "centroids.now", depth = 2, slot_elements = 4096,
                                      inputs = [{streams = 2, slots = [2], tile = [4096], strides = [0, 1]}],
                                      outputs = [{slots = [2], loops = [256], tile = [4096], strides = [0, 0, 1]},
                                                 {slots = [2], tile = [4096], strides = [0, 1]}]}
      : (!rdu.stream<4096xi32>, !rdu.stream<4096xi32>) -> (!rdu.stream<4096xi32>, !rdu.stream<4096xi32>)
  %p0 = rdu.load %points {name = "points", outputs = [{loops = [2, 2], tile = [8192], strides = [0, 8192, 1]}]}
      : (!rdu.symbol<256x64xi32>) -> !rdu.stream<8192xi32>
  %p1, %p2 = rdu.buffer %p0 {name = "points.tile", depth = 2, slot_elements = 8192,
                             inputs = [{slots = [4], tile = [8192], strides = [0, 1]}],
                             outputs = [{slots = [4], loops = [128], tile = [64], strides = [0, 64, 1]},
                                        {slots = [4], loops = [128], tile = [64], strides = [0, 64, 1]}]}
      : (!rdu.stream<8192xi32>) -> (!rdu.stream<64xi32>, !rdu.stream<64xi32>)
  // Squared distances to the 64 centroids; the point's four vectors stay in registers.
  %d0 = rdu.compute %p1, %c1 {name = "distance", lane_reduce, loops = [512], tile = [64, 64], reduce = [2],
                              inputs = [{strides = [0, 0, 1]}, {strides = [0, 64, 1]}], outputs = [{strides = [0, 1, 0]}]} do {
  ^bb0(%p: i32, %c: i32):
    %d = rdu.lane "counter" immediate 2 : () -> i32
    %last = arith.constant 63 : i32
    %zero = arith.constant 0 : i32
    %is = arith.cmpi eq, %d, %last : i32
    %e = arith.subi %p, %c : i32
    %q = arith.muli %e, %e : i32
    %k = arith.select %is, %zero, %q : i32
    %s = rdu.reduce "add"(%k) : (i32) -> i32
    rdu.yield %s : i32
  } : (!rdu.stream<64xi32>, !rdu.stream<4096xi32>) -> !rdu.stream<64xi32>
  %d1, %d2 = rdu.buffer %d0 {name = "distances", depth = 2, slot_elements = 64, inputs = [{slots = [512], tile = [64], strides = [0, 1]}],
                             outputs = [{slots = [512], tile = [64], strides = [0, 1]}, {slots = [512], tile = [64], strides = [0, 1]}]}
      : (!rdu.stream<64xi32>) -> (!rdu.stream<64xi32>, !rdu.stream<64xi32>)
  %least = rdu.compute %d1 {name = "least", lane_reduce, loops = [512], tile = [64], reduce = [1], inputs = [{strides = [0, 1]}],
                            outputs = [{strides = [0, 0]}]} do {
  ^bb0(%d: i32):
    %m = rdu.reduce "min"(%d) : (i32) -> i32
    rdu.yield %m : i32
  } : (!rdu.stream<64xi32>) -> !rdu.stream<scalar 1xi32>
  // The last of those that are as near.
  %chosen = rdu.compute %d2, %least {name = "chosen", lane_reduce, loops = [512], tile = [64], reduce = [1],
                                     inputs = [{strides = [0, 1]}, {strides = [0, 0]}], outputs = [{strides = [0, 0]}]} do {
  ^bb0(%d: i32, %m: i32):
    %c = rdu.lane "counter" immediate 1 : () -> i32
    %none = arith.constant -1 : i32
    %is = arith.cmpi eq, %d, %m : i32
    %k = arith.select %is, %c, %none : i32
    %most = rdu.reduce "max"(%k) : (i32) -> i32
    rdu.yield %most : i32
  } : (!rdu.stream<64xi32>, !rdu.stream<scalar 1xi32>) -> !rdu.stream<scalar 1xi32>
  %b0 = rdu.compute %p2, %chosen {name = "block", loops = [512], tile = [64, 64],
                                  inputs = [{strides = [0, 0, 1]}, {strides = [0, 0, 0]}], outputs = [{strides = [0, 64, 1]}]} do {
  ^bb0(%p: i32, %k: i32):
    %c = rdu.lane "counter" immediate 1 : () -> i32
    %zero = arith.constant 0 : i32
    %is = arith.cmpi eq, %c, %k : i32
    %e = arith.select %is, %p, %zero : i32
    rdu.yield %e : i32
  } : (!rdu.stream<64xi32>, !rdu.stream<scalar 1xi32>) -> !rdu.stream<4096xi32>
  %b1 = rdu.buffer %b0 {name = "block.tile", depth = 2, slot_elements = 4096, inputs = [{slots = [512], tile = [4096], strides = [0, 1]}],
                        outputs = [{slots = [512], tile = [4096], strides = [0, 1]}]} : (!rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  // A pass per point; the first of each tile of points overwrites.
  %old = rdu.buffer %new {name = "tile.sums", in_place, depth = 1, slot_elements = 4096, initial = 0,
                          inputs = [{slots = [512], tile = [4096], strides = [0, 1]}],
                          outputs = [{slots = [512], tile = [4096], strides = [0, 1]}]} : (!rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  %new = rdu.compute %b1, %old {name = "tile.accumulate", loops = [4, 128], tile = [4096],
                                inputs = [{strides = [0, 0, 1]}, {strides = [0, 0, 1]}], outputs = [{strides = [0, 0, 1]}]} do {
  ^bb0(%p: i32, %o: i32):
    %pass = rdu.lane "counter" immediate 1 : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %pass, %zero : i32
    %sum = arith.addi %p, %o : i32
    %s = arith.select %first, %p, %sum : i32
    rdu.yield %s : i32
  } : (!rdu.stream<4096xi32>, !rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  %tile = rdu.buffer %new {name = "tile", depth = 2, slot_elements = 4096,
                           inputs = [{slots = [4], loops = [128], tile = [4096], strides = [0, 0, 1]}],
                           outputs = [{slots = [4], tile = [4096], strides = [0, 1]}]} : (!rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  // A pass per tile of points; the first of each epoch overwrites.
  %total = rdu.buffer %sums {name = "sums.sums", in_place, depth = 1, slot_elements = 4096, initial = 0,
                             inputs = [{slots = [4], tile = [4096], strides = [0, 1]}],
                             outputs = [{slots = [4], tile = [4096], strides = [0, 1]}]} : (!rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  %sums = rdu.compute %tile, %total {name = "sums.accumulate", loops = [2, 2], tile = [4096],
                                     inputs = [{strides = [0, 0, 1]}, {strides = [0, 0, 1]}], outputs = [{strides = [0, 0, 1]}]} do {
  ^bb0(%p: i32, %o: i32):
    %pass = rdu.lane "counter" immediate 1 : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %pass, %zero : i32
    %sum = arith.addi %p, %o : i32
    %s = arith.select %first, %p, %sum : i32
    rdu.yield %s : i32
  } : (!rdu.stream<4096xi32>, !rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  // Sums and, apart, the 64 counts.
  %s0, %s1 = rdu.buffer %sums {name = "sums", depth = 1, slot_elements = 4096,
                               inputs = [{slots = [2], loops = [2], tile = [4096], strides = [0, 0, 1]}],
                               outputs = [{slots = [2], tile = [4096], strides = [0, 1]}, {slots = [2], tile = [64], base = 63, strides = [0, 64]}]}
      : (!rdu.stream<4096xi32>) -> (!rdu.stream<4096xi32>, !rdu.stream<64xi32>)
  // sum / count, 0 for a centroid without points (as `div` by 0 gives); coordinate 63 stays. The first update goes to the second
  // epoch, the second to memory.
  %next:2 = rdu.compute %s0, %s1, %c2 {name = "update", loops = [2], tile = [64, 64],
                                       inputs = [{strides = [0, 64, 1]}, {strides = [0, 1, 0]}, {strides = [0, 64, 1]}],
                                       outputs = [{streams = 2, strides = [0, 64, 1]}]} do {
  ^bb0(%sum: i32, %count: i32, %now: i32):
    %d = rdu.lane "counter" immediate 2 : () -> i32
    %last = arith.constant 63 : i32
    %one = arith.constant 1 : i32
    %is = arith.cmpi eq, %d, %last : i32
    %above = arith.select %is, %now, %sum : i32
    %below = arith.select %is, %one, %count : i32
    %q = arith.divsi %above, %below : i32
    rdu.yield %q : i32
  } : (!rdu.stream<4096xi32>, !rdu.stream<64xi32>, !rdu.stream<4096xi32>) -> (!rdu.stream<4096xi32>, !rdu.stream<4096xi32>)
  rdu.store %out, %next#1 {name = "centroids.out", inputs = [{tile = [4096], strides = [1]}]}
      : (!rdu.symbol<64x64xi32>, !rdu.stream<4096xi32>) -> ()
}
func.func @main(%points: tensor<256x64xi32> {samba.name = "points"}) -> (tensor<64x64xi32> {samba.name = "centroids"}) {
  %c = samba.call @kmeans(%points) {id = 0, type = "FWD"} : (tensor<256x64xi32>) -> tensor<64x64xi32>
  return %c : tensor<64x64xi32>
}
