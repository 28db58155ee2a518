// GEMM 128^3 in tiles of 64, ip 16: C = A x B. Each firing of `dot` makes a row of a partial tile.
rdu.section @gemm(%a: !rdu.symbol<128x128xi32> {rdu.name = "a"}, %b: !rdu.symbol<128x128xi32> {rdu.name = "b"},
                  %c: !rdu.symbol<128x128xi32> {rdu.name = "c", rdu.written}) {
  // A row segment of A, sent again for each column of the tile of B.
  %row = rdu.load %a {name = "a", outputs = [{loops = [2, 2, 2, 64], tile = [64], strides = [8192, 0, 64, 128, 1]}]}
      : (!rdu.symbol<128x128xi32>) -> !rdu.stream<64xi32>
  %rows = rdu.buffer %row {name = "a.row", depth = 2, slot_elements = 64, inputs = [{slots = [512], tile = [64], strides = [0, 1]}],
                           outputs = [{slots = [512], tile = [64, 64], strides = [0, 0, 1]}]}
      : (!rdu.stream<64xi32>) -> !rdu.stream<64x64xi32>
  // A tile of B, read down its columns, once for each row of A's tile.
  %tile = rdu.load %b {name = "b", outputs = [{loops = [2, 2, 2], tile = [64, 64], strides = [0, 64, 8192, 128, 1]}]}
      : (!rdu.symbol<128x128xi32>) -> !rdu.stream<64x64xi32>
  %columns = rdu.buffer %tile {name = "b.tile", banking = "diagonal", row_words = 64, skew = 1, depth = 2, slot_elements = 4096,
                               inputs = [{slots = [8], tile = [64, 64], strides = [0, 64, 1]}],
                               outputs = [{slots = [8], loops = [64], tile = [64, 64], strides = [0, 0, 1, 64]}]}
      : (!rdu.stream<64x64xi32>) -> !rdu.stream<64x64xi32>
  %sums = rdu.compute %rows, %columns {name = "dot", lane_reduce, loops = [8, 64], tile = [64, 64], reduce = [3],
                                       inputs = [{strides = [0, 0, 64, 1]}, {strides = [0, 0, 64, 1]}],
                                       outputs = [{strides = [0, 0, 1, 0]}]} do {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    %s = rdu.reduce "add"(%p) : (i32) -> i32
    rdu.yield %s : i32
  } : (!rdu.stream<64x64xi32>, !rdu.stream<64x64xi32>) -> !rdu.stream<64xi32>
  %partial = rdu.buffer %sums {name = "partial", depth = 2, slot_elements = 4096,
                               inputs = [{slots = [8], loops = [64], tile = [64], strides = [0, 64, 1]}],
                               outputs = [{slots = [8], tile = [4096], strides = [0, 1]}]}
      : (!rdu.stream<64xi32>) -> !rdu.stream<4096xi32>
  // Accumulation in place: two passes per tile of C, of which the first overwrites.
  %old = rdu.buffer %new {name = "c.sums", in_place, depth = 1, slot_elements = 4096, initial = 0,
                          inputs = [{slots = [8], tile = [4096], strides = [0, 1]}],
                          outputs = [{slots = [8], tile = [4096], strides = [0, 1]}]}
      : (!rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  %new = rdu.compute %partial, %old {name = "accumulate", loops = [4, 2], tile = [4096],
                                     inputs = [{strides = [0, 0, 1]}, {strides = [0, 0, 1]}],
                                     outputs = [{strides = [0, 0, 1]}]} do {
  ^bb0(%x: i32, %y: i32):
    %pass = rdu.lane "counter" immediate 1 : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %pass, %zero : i32
    %sum = arith.addi %x, %y : i32
    %s = arith.select %first, %x, %sum : i32
    rdu.yield %s : i32
  } : (!rdu.stream<4096xi32>, !rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  // What the last pass wrote.
  %done = rdu.buffer %new {name = "c.tile", depth = 2, slot_elements = 4096,
                           inputs = [{slots = [4], loops = [2], tile = [4096], strides = [0, 0, 1]}],
                           outputs = [{slots = [4], tile = [4096], strides = [0, 1]}]}
      : (!rdu.stream<4096xi32>) -> !rdu.stream<4096xi32>
  rdu.store %c, %done {name = "c", inputs = [{loops = [2, 2], tile = [64, 64], strides = [8192, 64, 128, 1]}]}
      : (!rdu.symbol<128x128xi32>, !rdu.stream<4096xi32>) -> ()
}
func.func @main(%a: tensor<128x128xi32> {samba.name = "a"}, %b: tensor<128x128xi32> {samba.name = "b"})
    -> (tensor<128x128xi32> {samba.name = "c"}) {
  %c = samba.call @gemm(%a, %b) {id = 0, type = "FWD"} : (tensor<128x128xi32>, tensor<128x128xi32>) -> tensor<128x128xi32>
  return %c : tensor<128x128xi32>
}
