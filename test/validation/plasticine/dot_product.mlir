// DotProduct, N = 1024 in tiles of 32, ip 16: one sum over all tiles.
rdu.section @dot(%a: !rdu.symbol<1024xi32> {rdu.name = "a"}, %b: !rdu.symbol<1024xi32> {rdu.name = "b"},
                 %c: !rdu.symbol<1xi32> {rdu.name = "c", rdu.written}) {
  %a0 = rdu.load %a {name = "a", outputs = [{loops = [32], tile = [32], strides = [32, 1]}]}
      : (!rdu.symbol<1024xi32>) -> !rdu.stream<32xi32>
  %b0 = rdu.load %b {name = "b", outputs = [{loops = [32], tile = [32], strides = [32, 1]}]}
      : (!rdu.symbol<1024xi32>) -> !rdu.stream<32xi32>
  %a1 = rdu.buffer %a0 {name = "a.tile", depth = 2, slot_elements = 32, inputs = [{slots = [32], tile = [32], strides = [0, 1]}],
                        outputs = [{slots = [32], tile = [32], strides = [0, 1]}]} : (!rdu.stream<32xi32>) -> !rdu.stream<32xi32>
  %b1 = rdu.buffer %b0 {name = "b.tile", depth = 2, slot_elements = 32, inputs = [{slots = [32], tile = [32], strides = [0, 1]}],
                        outputs = [{slots = [32], tile = [32], strides = [0, 1]}]} : (!rdu.stream<32xi32>) -> !rdu.stream<32xi32>
  %sum = rdu.compute %a1, %b1 {name = "dot", lane_reduce, loops = [32], tile = [32], reduce = [0, 1],
                               inputs = [{strides = [0, 1]}, {strides = [0, 1]}], outputs = [{level = 0, strides = [0, 0]}]} do {
  ^bb0(%x: i32, %y: i32):
    %p = arith.muli %x, %y : i32
    %s = rdu.reduce "add"(%p) : (i32) -> i32
    rdu.yield %s : i32
  } : (!rdu.stream<32xi32>, !rdu.stream<32xi32>) -> !rdu.stream<scalar 1xi32>
  rdu.store %c, %sum {name = "c", inputs = [{tile = [1], strides = [1]}]} : (!rdu.symbol<1xi32>, !rdu.stream<scalar 1xi32>) -> ()
}
func.func @main(%a: tensor<1024xi32> {samba.name = "a"}, %b: tensor<1024xi32> {samba.name = "b"})
    -> (tensor<1xi32> {samba.name = "c", samba.mem = "host"}) {
  %c = samba.call @dot(%a, %b) {id = 0, type = "FWD"} : (tensor<1024xi32>, tensor<1024xi32>) -> tensor<1xi32>
  return %c : tensor<1xi32>
}
