// TPC-H Q6, N = 1024 in tiles of 64, ip 16: price * discount summed over the rows that pass. The conditions take two units of
// six stages.
rdu.section @q6(%d: !rdu.symbol<1024xi32> {rdu.name = "date"}, %q: !rdu.symbol<1024xi32> {rdu.name = "quantity"},
                %s: !rdu.symbol<1024xi32> {rdu.name = "discount"}, %p: !rdu.symbol<1024xi32> {rdu.name = "price"},
                %c: !rdu.symbol<1xi32> {rdu.name = "revenue", rdu.written}) {
  %d0 = rdu.load %d {name = "date", outputs = [{loops = [16], tile = [64], strides = [64, 1]}]}
      : (!rdu.symbol<1024xi32>) -> !rdu.stream<64xi32>
  %q0 = rdu.load %q {name = "quantity", outputs = [{loops = [16], tile = [64], strides = [64, 1]}]}
      : (!rdu.symbol<1024xi32>) -> !rdu.stream<64xi32>
  %s0 = rdu.load %s {name = "discount", outputs = [{loops = [16], tile = [64], strides = [64, 1]}]}
      : (!rdu.symbol<1024xi32>) -> !rdu.stream<64xi32>
  %p0 = rdu.load %p {name = "price", outputs = [{loops = [16], tile = [64], strides = [64, 1]}]}
      : (!rdu.symbol<1024xi32>) -> !rdu.stream<64xi32>
  %d1 = rdu.buffer %d0 {name = "date.tile", depth = 2, slot_elements = 64, inputs = [{slots = [16], tile = [64], strides = [0, 1]}],
                        outputs = [{slots = [16], tile = [64], strides = [0, 1]}]} : (!rdu.stream<64xi32>) -> !rdu.stream<64xi32>
  %q1 = rdu.buffer %q0 {name = "quantity.tile", depth = 2, slot_elements = 64, inputs = [{slots = [16], tile = [64], strides = [0, 1]}],
                        outputs = [{slots = [16], tile = [64], strides = [0, 1]}]} : (!rdu.stream<64xi32>) -> !rdu.stream<64xi32>
  %s1 = rdu.buffer %s0 {name = "discount.tile", depth = 2, slot_elements = 64, inputs = [{slots = [16], tile = [64], strides = [0, 1]}],
                        outputs = [{slots = [16], tile = [64], strides = [0, 1]}]} : (!rdu.stream<64xi32>) -> !rdu.stream<64xi32>
  %p1 = rdu.buffer %p0 {name = "price.tile", depth = 2, slot_elements = 64, inputs = [{slots = [16], tile = [64], strides = [0, 1]}],
                        outputs = [{slots = [16], tile = [64], strides = [0, 1]}]} : (!rdu.stream<64xi32>) -> !rdu.stream<64xi32>
  %low, %rest = rdu.compute %d1, %q1, %s1 {name = "filter", loops = [16], tile = [64],
                                           inputs = [{strides = [0, 1]}, {strides = [0, 1]}, {strides = [0, 1]}],
                                           outputs = [{strides = [0, 1]}, {strides = [0, 1]}]} do {
  ^bb0(%date: i32, %quantity: i32, %discount: i32):
    %zero = arith.constant 0 : i32
    %most = arith.constant 9999 : i32
    %few = arith.constant 24 : i32
    %after = arith.cmpi sgt, %date, %zero : i32
    %before = arith.cmpi slt, %date, %most : i32
    %year = arith.andi %after, %before : i1
    %small = arith.cmpi slt, %quantity, %few : i32
    %both = arith.andi %year, %small : i1
    %least = arith.cmpi sge, %discount, %zero : i32
    rdu.yield %least, %both : i1, i1
  } : (!rdu.stream<64xi32>, !rdu.stream<64xi32>, !rdu.stream<64xi32>) -> (!rdu.stream<64xi1>, !rdu.stream<64xi1>)
  %sum = rdu.compute %low, %rest, %s1, %p1 {name = "revenue", lane_reduce, loops = [16], tile = [64], reduce = [0, 1],
                                            inputs = [{strides = [0, 1]}, {strides = [0, 1]}, {strides = [0, 1]}, {strides = [0, 1]}],
                                            outputs = [{level = 0, strides = [0, 0]}]} do {
  ^bb0(%least: i1, %both: i1, %discount: i32, %price: i32):
    %zero = arith.constant 0 : i32
    %most = arith.constant 9999 : i32
    %below = arith.cmpi sle, %discount, %most : i32
    %range = arith.andi %least, %below : i1
    %keep = arith.andi %range, %both : i1
    %product = arith.muli %price, %discount : i32
    %kept = arith.select %keep, %product, %zero : i32
    %s2 = rdu.reduce "add"(%kept) : (i32) -> i32
    rdu.yield %s2 : i32
  } : (!rdu.stream<64xi1>, !rdu.stream<64xi1>, !rdu.stream<64xi32>, !rdu.stream<64xi32>) -> !rdu.stream<scalar 1xi32>
  rdu.store %c, %sum {name = "revenue.out", inputs = [{tile = [1], strides = [1]}]}
      : (!rdu.symbol<1xi32>, !rdu.stream<scalar 1xi32>) -> ()
}
func.func @main(%d: tensor<1024xi32> {samba.name = "date"}, %q: tensor<1024xi32> {samba.name = "quantity"},
                %s: tensor<1024xi32> {samba.name = "discount"}, %p: tensor<1024xi32> {samba.name = "price"})
    -> (tensor<1xi32> {samba.name = "revenue", samba.mem = "host"}) {
  %c = samba.call @q6(%d, %q, %s, %p) {id = 0, type = "FWD"}
      : (tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>, tensor<1024xi32>) -> tensor<1xi32>
  return %c : tensor<1xi32>
}
