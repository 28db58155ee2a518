// OuterProduct 256 x 256 in tiles of 64 x 32, ip 16.
rdu.section @outer(%v1: !rdu.symbol<256xi32> {rdu.name = "v1"}, %v2: !rdu.symbol<256xi32> {rdu.name = "v2"},
                   %c: !rdu.symbol<256x256xi32> {rdu.name = "c", rdu.written}) {
  %load1 = rdu.load %v1 {name = "v1", outputs = [{loops = [4], tile = [64], strides = [64, 1]}]}
      : (!rdu.symbol<256xi32>) -> !rdu.stream<64xi32>
  %load2 = rdu.load %v2 {name = "v2", outputs = [{loops = [4, 8], tile = [32], strides = [0, 32, 1]}]}
      : (!rdu.symbol<256xi32>) -> !rdu.stream<32xi32>
  %b1 = rdu.buffer %load1 {name = "b1", depth = 2, slot_elements = 64, inputs = [{slots = [4], tile = [64], strides = [0, 1]}],
                           outputs = [{slots = [4], loops = [8], tile = [64], strides = [0, 0, 1]}]}
      : (!rdu.stream<64xi32>) -> !rdu.stream<64xi32>
  // The 32 elements come again for each of the 64.
  %b2 = rdu.buffer %load2 {name = "b2", depth = 2, slot_elements = 32, inputs = [{slots = [32], tile = [32], strides = [0, 1]}],
                           outputs = [{slots = [32], tile = [64, 32], strides = [0, 0, 1]}]}
      : (!rdu.stream<32xi32>) -> !rdu.stream<64x32xi32>
  %products = rdu.compute %b1, %b2 {name = "multiply", loops = [32], tile = [64, 32],
                                    inputs = [{strides = [0, 1, 0]}, {strides = [0, 32, 1]}], outputs = [{strides = [0, 32, 1]}]} do {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    rdu.yield %p : i32
  } : (!rdu.stream<64xi32>, !rdu.stream<64x32xi32>) -> !rdu.stream<2048xi32>
  %tile = rdu.buffer %products {name = "tile", depth = 2, slot_elements = 2048,
                                inputs = [{slots = [32], tile = [2048], strides = [0, 1]}],
                                outputs = [{slots = [32], tile = [2048], strides = [0, 1]}]}
      : (!rdu.stream<2048xi32>) -> !rdu.stream<2048xi32>
  rdu.store %c, %tile {name = "c", inputs = [{loops = [4, 8], tile = [64, 32], strides = [16384, 32, 256, 1]}]}
      : (!rdu.symbol<256x256xi32>, !rdu.stream<2048xi32>) -> ()
}
func.func @main(%v1: tensor<256xi32> {samba.name = "v1"}, %v2: tensor<256xi32> {samba.name = "v2"})
    -> (tensor<256x256xi32> {samba.name = "c"}) {
  %c = samba.call @outer(%v1, %v2) {id = 0, type = "FWD"} : (tensor<256xi32>, tensor<256xi32>) -> tensor<256x256xi32>
  return %c : tensor<256x256xi32>
}
