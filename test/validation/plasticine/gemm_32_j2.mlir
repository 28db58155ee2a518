// GEMM 32^3 in tiles of 16, ip 8, loop_j by 2: as gemm_128_j2.mlir, on 8 of the 16 lanes everywhere.
rdu.section @gemm(%a: !rdu.symbol<32x32xi32> {rdu.name = "a"}, %b: !rdu.symbol<32x32xi32> {rdu.name = "b"},
                  %c: !rdu.symbol<32x32xi32> {rdu.name = "c", rdu.written}) {
  %row = rdu.load %a {name = "a", lanes = 8, outputs = [{loops = [2, 2, 2, 16], tile = [16], strides = [512, 0, 16, 32, 1]}]}
      : (!rdu.symbol<32x32xi32>) -> !rdu.stream<16xi32>
  %rows = rdu.buffer %row {name = "a.row", lanes = 8, depth = 2, slot_elements = 16,
                           inputs = [{slots = [128], tile = [16], strides = [0, 1]}],
                           outputs = [{slots = [128], tile = [8, 16], strides = [0, 0, 1]}]}
      : (!rdu.stream<16xi32>) -> !rdu.stream<8x16xi32>
  %tile = rdu.load %b {name = "b", lanes = 8, outputs = [{loops = [2, 2, 2], tile = [16, 16], strides = [0, 16, 512, 32, 1]}]}
      : (!rdu.symbol<32x32xi32>) -> !rdu.stream<16x16xi32>
  %even = rdu.buffer %tile {name = "b.even", lanes = 8, banking = "diagonal", row_words = 16, skew = 1, depth = 2, slot_elements = 256,
                            inputs = [{slots = [8], tile = [16, 16], strides = [0, 16, 1]}],
                            outputs = [{slots = [8], loops = [16], tile = [8, 16], strides = [0, 0, 2, 16]}]}
      : (!rdu.stream<16x16xi32>) -> !rdu.stream<8x16xi32>
  %odd = rdu.buffer %tile {name = "b.odd", lanes = 8, banking = "diagonal", row_words = 16, skew = 1, depth = 2, slot_elements = 256,
                           inputs = [{slots = [8], tile = [16, 16], strides = [0, 16, 1]}],
                           outputs = [{slots = [8], loops = [16], tile = [8, 16], base = 1, strides = [0, 0, 2, 16]}]}
      : (!rdu.stream<16x16xi32>) -> !rdu.stream<8x16xi32>
  %sums0 = rdu.compute %rows, %even {name = "dot.even", lanes = 8, lane_reduce, loops = [8, 16], tile = [8, 16], reduce = [3],
                                     inputs = [{strides = [0, 0, 16, 1]}, {strides = [0, 0, 16, 1]}],
                                     outputs = [{strides = [0, 0, 1, 0]}]} do {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    %s = rdu.reduce "add"(%p) : (i32) -> i32
    rdu.yield %s : i32
  } : (!rdu.stream<8x16xi32>, !rdu.stream<8x16xi32>) -> !rdu.stream<8xi32>
  %sums1 = rdu.compute %rows, %odd {name = "dot.odd", lanes = 8, lane_reduce, loops = [8, 16], tile = [8, 16], reduce = [3],
                                    inputs = [{strides = [0, 0, 16, 1]}, {strides = [0, 0, 16, 1]}],
                                    outputs = [{strides = [0, 0, 1, 0]}]} do {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    %s = rdu.reduce "add"(%p) : (i32) -> i32
    rdu.yield %s : i32
  } : (!rdu.stream<8x16xi32>, !rdu.stream<8x16xi32>) -> !rdu.stream<8xi32>
  %partial = rdu.buffer %sums0, %sums1 {name = "partial", lanes = 8, depth = 2, slot_elements = 256,
                                        inputs = [{slots = [8], loops = [16], tile = [8], strides = [0, 16, 2]},
                                                  {slots = [8], loops = [16], tile = [8], base = 1, strides = [0, 16, 2]}],
                                        outputs = [{slots = [8], tile = [256], strides = [0, 1]}]}
      : (!rdu.stream<8xi32>, !rdu.stream<8xi32>) -> !rdu.stream<256xi32>
  %old = rdu.buffer %new {name = "c.sums", lanes = 8, in_place, depth = 1, slot_elements = 256, initial = 0,
                          inputs = [{slots = [8], tile = [256], strides = [0, 1]}],
                          outputs = [{slots = [8], tile = [256], strides = [0, 1]}]}
      : (!rdu.stream<256xi32>) -> !rdu.stream<256xi32>
  %new = rdu.compute %partial, %old {name = "accumulate", lanes = 8, loops = [4, 2], tile = [256],
                                     inputs = [{strides = [0, 0, 1]}, {strides = [0, 0, 1]}],
                                     outputs = [{strides = [0, 0, 1]}]} do {
  ^bb0(%x: i32, %y: i32):
    %pass = rdu.lane "counter" immediate 1 : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %pass, %zero : i32
    %sum = arith.addi %x, %y : i32
    %s = arith.select %first, %x, %sum : i32
    rdu.yield %s : i32
  } : (!rdu.stream<256xi32>, !rdu.stream<256xi32>) -> !rdu.stream<256xi32>
  %done = rdu.buffer %new {name = "c.tile", lanes = 8, depth = 2, slot_elements = 256,
                           inputs = [{slots = [4], loops = [2], tile = [256], strides = [0, 0, 1]}],
                           outputs = [{slots = [4], tile = [256], strides = [0, 1]}]}
      : (!rdu.stream<256xi32>) -> !rdu.stream<256xi32>
  rdu.store %c, %done {name = "c", lanes = 8, inputs = [{loops = [2, 2], tile = [16, 16], strides = [512, 16, 32, 1]}]}
      : (!rdu.symbol<32x32xi32>, !rdu.stream<256xi32>) -> ()
}
func.func @main(%a: tensor<32x32xi32> {samba.name = "a"}, %b: tensor<32x32xi32> {samba.name = "b"})
    -> (tensor<32x32xi32> {samba.name = "c"}) {
  %c = samba.call @gemm(%a, %b) {id = 0, type = "FWD"} : (tensor<32x32xi32>, tensor<32x32xi32>) -> tensor<32x32xi32>
  return %c : tensor<32x32xi32>
}
