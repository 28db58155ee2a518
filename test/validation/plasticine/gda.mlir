// GDA, f32, C = 128, R = 256 in tiles of 128 rows, ip 16: sigma = sum over the rows of sub x sub, where sub = x - mu of the
// row's class.
rdu.section @gda(%x: !rdu.symbol<256x128xf32> {rdu.name = "x"}, %y: !rdu.symbol<256xf32> {rdu.name = "y"},
                 %mu0: !rdu.symbol<128xf32> {rdu.name = "mu0"}, %mu1: !rdu.symbol<128xf32> {rdu.name = "mu1"},
                 %sigma: !rdu.symbol<128x128xf32> {rdu.name = "sigma", rdu.written}) {
  // The means, again for each row.
  %m0 = rdu.load %mu0 {name = "mu0", outputs = [{tile = [128], strides = [1]}]} : (!rdu.symbol<128xf32>) -> !rdu.stream<128xf32>
  %m1 = rdu.load %mu1 {name = "mu1", outputs = [{tile = [128], strides = [1]}]} : (!rdu.symbol<128xf32>) -> !rdu.stream<128xf32>
  %n0 = rdu.buffer %m0 {name = "mu0.tile", depth = 1, slot_elements = 128, inputs = [{slots = [1], tile = [128], strides = [0, 1]}],
                        outputs = [{slots = [1], loops = [256], tile = [128], strides = [0, 0, 1]}]}
      : (!rdu.stream<128xf32>) -> !rdu.stream<128xf32>
  %n1 = rdu.buffer %m1 {name = "mu1.tile", depth = 1, slot_elements = 128, inputs = [{slots = [1], tile = [128], strides = [0, 1]}],
                        outputs = [{slots = [1], loops = [256], tile = [128], strides = [0, 0, 1]}]}
      : (!rdu.stream<128xf32>) -> !rdu.stream<128xf32>
  %y0 = rdu.load %y {name = "y", outputs = [{loops = [2], tile = [128], strides = [128, 1]}]}
      : (!rdu.symbol<256xf32>) -> !rdu.stream<128xf32>
  %y1 = rdu.buffer %y0 {name = "y.tile", depth = 2, slot_elements = 128, inputs = [{slots = [2], tile = [128], strides = [0, 1]}],
                        outputs = [{slots = [2], loops = [128], tile = [1], strides = [0, 1, 1]}]}
      : (!rdu.stream<128xf32>) -> !rdu.stream<scalar 1xf32>
  %x0 = rdu.load %x {name = "x", outputs = [{loops = [2], tile = [128, 128], strides = [16384, 128, 1]}]}
      : (!rdu.symbol<256x128xf32>) -> !rdu.stream<16384xf32>
  %x1 = rdu.buffer %x0 {name = "x.tile", depth = 2, slot_elements = 16384, inputs = [{slots = [2], tile = [16384], strides = [0, 1]}],
                        outputs = [{slots = [2], loops = [128], tile = [128], strides = [0, 128, 1]}]}
      : (!rdu.stream<16384xf32>) -> !rdu.stream<128xf32>
  %sub = rdu.compute %x1, %y1, %n0, %n1 {name = "sub", loops = [256], tile = [128],
                                         inputs = [{strides = [0, 1]}, {strides = [0, 0]}, {strides = [0, 1]}, {strides = [0, 1]}],
                                         outputs = [{strides = [0, 1]}]} do {
  ^bb0(%e: f32, %class: f32, %mean0: f32, %mean1: f32):
    %one = arith.constant 1.0 : f32
    %is = arith.cmpf oeq, %class, %one : f32
    %mean = arith.select %is, %mean1, %mean0 : f32
    %d = arith.subf %e, %mean : f32
    rdu.yield %d : f32
  } : (!rdu.stream<128xf32>, !rdu.stream<scalar 1xf32>, !rdu.stream<128xf32>, !rdu.stream<128xf32>) -> !rdu.stream<128xf32>
  // sub[i] stays for a row of 128, which comes again for each i.
  %s0, %s1 = rdu.buffer %sub {name = "sub.tile", depth = 2, slot_elements = 128, inputs = [{slots = [256], tile = [128], strides = [0, 1]}],
                              outputs = [{slots = [256], tile = [128], strides = [0, 1]}, {slots = [256], tile = [128], strides = [0, 1]}]}
      : (!rdu.stream<128xf32>) -> (!rdu.stream<128xf32>, !rdu.stream<128xf32>)
  %product = rdu.compute %s0, %s1 {name = "product", loops = [256], tile = [128, 128],
                                   inputs = [{strides = [0, 1, 0]}, {strides = [0, 0, 1]}], outputs = [{strides = [0, 128, 1]}]} do {
  ^bb0(%u: f32, %v: f32):
    %p = arith.mulf %u, %v : f32
    rdu.yield %p : f32
  } : (!rdu.stream<128xf32>, !rdu.stream<128xf32>) -> !rdu.stream<16384xf32>
  %products = rdu.buffer %product {name = "product.tile", depth = 2, slot_elements = 16384,
                                   inputs = [{slots = [256], tile = [16384], strides = [0, 1]}],
                                   outputs = [{slots = [256], tile = [16384], strides = [0, 1]}]}
      : (!rdu.stream<16384xf32>) -> !rdu.stream<16384xf32>
  // A pass per row; the first of each tile of rows overwrites.
  %old = rdu.buffer %new {name = "block.sums", in_place, depth = 1, slot_elements = 16384, initial = 0,
                          inputs = [{slots = [256], tile = [16384], strides = [0, 1]}],
                          outputs = [{slots = [256], tile = [16384], strides = [0, 1]}]}
      : (!rdu.stream<16384xf32>) -> !rdu.stream<16384xf32>
  %new = rdu.compute %products, %old {name = "block.accumulate", loops = [2, 128], tile = [16384],
                                      inputs = [{strides = [0, 0, 1]}, {strides = [0, 0, 1]}], outputs = [{strides = [0, 0, 1]}]} do {
  ^bb0(%p: f32, %o: f32):
    %pass = rdu.lane "counter" immediate 1 : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %pass, %zero : i32
    %sum = arith.addf %p, %o : f32
    %s = arith.select %first, %p, %sum : f32
    rdu.yield %s : f32
  } : (!rdu.stream<16384xf32>, !rdu.stream<16384xf32>) -> !rdu.stream<16384xf32>
  %block = rdu.buffer %new {name = "block", depth = 2, slot_elements = 16384,
                            inputs = [{slots = [2], loops = [128], tile = [16384], strides = [0, 0, 1]}],
                            outputs = [{slots = [2], tile = [16384], strides = [0, 1]}]}
      : (!rdu.stream<16384xf32>) -> !rdu.stream<16384xf32>
  // A pass per tile of rows.
  %total = rdu.buffer %sums {name = "sigma.sums", in_place, depth = 1, slot_elements = 16384, initial = 0,
                             inputs = [{slots = [2], tile = [16384], strides = [0, 1]}],
                             outputs = [{slots = [2], tile = [16384], strides = [0, 1]}]}
      : (!rdu.stream<16384xf32>) -> !rdu.stream<16384xf32>
  %sums = rdu.compute %block, %total {name = "sigma.accumulate", loops = [2], tile = [16384],
                                      inputs = [{strides = [0, 1]}, {strides = [0, 1]}], outputs = [{strides = [0, 1]}]} do {
  ^bb0(%p: f32, %o: f32):
    %pass = rdu.lane "counter" immediate 0 : () -> i32
    %zero = arith.constant 0 : i32
    %first = arith.cmpi eq, %pass, %zero : i32
    %sum = arith.addf %p, %o : f32
    %s = arith.select %first, %p, %sum : f32
    rdu.yield %s : f32
  } : (!rdu.stream<16384xf32>, !rdu.stream<16384xf32>) -> !rdu.stream<16384xf32>
  %done = rdu.buffer %sums {name = "sigma.tile", depth = 1, slot_elements = 16384,
                            inputs = [{slots = [1], loops = [2], tile = [16384], strides = [0, 0, 1]}],
                            outputs = [{slots = [1], tile = [16384], strides = [0, 1]}]}
      : (!rdu.stream<16384xf32>) -> !rdu.stream<16384xf32>
  rdu.store %sigma, %done {name = "sigma", inputs = [{tile = [16384], strides = [1]}]}
      : (!rdu.symbol<128x128xf32>, !rdu.stream<16384xf32>) -> ()
}
func.func @main(%x: tensor<256x128xf32> {samba.name = "x"}, %y: tensor<256xf32> {samba.name = "y"},
                %mu0: tensor<128xf32> {samba.name = "mu0"}, %mu1: tensor<128xf32> {samba.name = "mu1"})
    -> (tensor<128x128xf32> {samba.name = "sigma"}) {
  %c = samba.call @gda(%x, %y, %mu0, %mu1) {id = 0, type = "FWD"}
      : (tensor<256x128xf32>, tensor<256xf32>, tensor<128xf32>, tensor<128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}
