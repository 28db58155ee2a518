// A convolution with its pad, a bias that is a constant, relu, a matrix product, softmax and the
// class, as importers write them: named operations and generics, views, fills.
#id4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#last = affine_map<(d0, d1, d2, d3) -> (d3)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id1 = affine_map<(d0) -> (d0)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: tensor<1x6x6x3xf32>, %w: tensor<5x3x3x3xf32>, %v: tensor<45x4xf32>)
    -> (tensor<1x4xf32>, tensor<1x2x2x5xf32>, tensor<1xi32>) {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %bias = arith.constant dense<[0.0, 0.5, 1.0, 1.5, 2.0]> : tensor<5xf32>
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<1x6x6x3xf32> to tensor<1x8x8x3xf32>
  %e0 = tensor.empty() : tensor<1x3x3x5xf32>
  %start = linalg.generic {indexing_maps = [#last, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%bias : tensor<5xf32>) outs(%e0 : tensor<1x3x3x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<1x3x3x5xf32>
  %conv = linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>}
      ins(%padded, %w : tensor<1x8x8x3xf32>, tensor<5x3x3x3xf32>) outs(%start : tensor<1x3x3x5xf32>) -> tensor<1x3x3x5xf32>
  %hidden = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%conv : tensor<1x3x3x5xf32>) outs(%e0 : tensor<1x3x3x5xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<1x3x3x5xf32>
  %part = tensor.extract_slice %hidden[0, 1, 0, 0] [1, 2, 2, 5] [1, 1, 2, 1] : tensor<1x3x3x5xf32> to tensor<1x2x2x5xf32>
  %flat = tensor.collapse_shape %hidden [[0], [1, 2, 3]] : tensor<1x3x3x5xf32> into tensor<1x45xf32>
  %e1 = tensor.empty() : tensor<1x4xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x4xf32>) -> tensor<1x4xf32>
  %logits = linalg.matmul ins(%flat, %v : tensor<1x45xf32>, tensor<45x4xf32>) outs(%f1 : tensor<1x4xf32>) -> tensor<1x4xf32>
  %e2 = tensor.empty() : tensor<1xf32>
  %f2 = linalg.fill ins(%lowest : f32) outs(%e2 : tensor<1xf32>) -> tensor<1xf32>
  %most = linalg.reduce ins(%logits : tensor<1x4xf32>) outs(%f2 : tensor<1xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %0 = arith.maximumf %in, %acc : f32
      linalg.yield %0 : f32
    }
  %shifted = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%logits, %most : tensor<1x4xf32>, tensor<1xf32>) outs(%e1 : tensor<1x4xf32>) {
  ^bb0(%in: f32, %m: f32, %out: f32):
    %0 = arith.subf %in, %m : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<1x4xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<1xf32>) -> tensor<1xf32>
  %sum = linalg.reduce { arith.addf } ins(%shifted : tensor<1x4xf32>) outs(%f3 : tensor<1xf32>) dimensions = [1]
  %y = linalg.generic {indexing_maps = [#id2, #row, #id2], iterator_types = ["parallel", "parallel"]}
      ins(%shifted, %sum : tensor<1x4xf32>, tensor<1xf32>) outs(%e1 : tensor<1x4xf32>) {
  ^bb0(%in: f32, %s: f32, %out: f32):
    %0 = arith.divf %in, %s : f32
    linalg.yield %0 : f32
  } -> tensor<1x4xf32>
  %far = arith.constant 4 : i64
  %e3 = tensor.empty() : tensor<1xi64>
  %f4 = linalg.fill ins(%far : i64) outs(%e3 : tensor<1xi64>) -> tensor<1xi64>
  %first = linalg.generic {indexing_maps = [#id2, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%logits, %most : tensor<1x4xf32>, tensor<1xf32>) outs(%f4 : tensor<1xi64>) {
  ^bb0(%in: f32, %m: f32, %out: i64):
    %0 = arith.cmpf oeq, %in, %m : f32
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.select %0, %2, %far : i64
    %4 = arith.minsi %out, %3 : i64
    linalg.yield %4 : i64
  } -> tensor<1xi64>
  %e4 = tensor.empty() : tensor<1xi32>
  %class = linalg.generic {indexing_maps = [#id1, #id1], iterator_types = ["parallel"]}
      ins(%first : tensor<1xi64>) outs(%e4 : tensor<1xi32>) {
  ^bb0(%in: i64, %out: i32):
    %0 = arith.trunci %in : i64 to i32
    linalg.yield %0 : i32
  } -> tensor<1xi32>
  return %y, %part, %class : tensor<1x4xf32>, tensor<1x2x2x5xf32>, tensor<1xi32>
}
