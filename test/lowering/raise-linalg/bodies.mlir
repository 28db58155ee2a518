// RUN: samba-opt %s --samba-raise-linalg --canonicalize --cse | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// A fused body is several operators, each rounding as it did; a column is seen as one.
// CHECK-LABEL: func.func @fused
// CHECK: %[[COLUMN:.*]] = samba.reshape %arg1 {shape = [4, 1]}
// CHECK: %[[SHIFTED:.*]] = samba.sub %arg0, %[[COLUMN]]
// CHECK: samba.exp %[[SHIFTED]]
func.func @fused(%x: tensor<4x5xbf16>, %m: tensor<4xbf16>) -> tensor<4x5xbf16> {
  %empty = tensor.empty() : tensor<4x5xbf16>
  %0 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<4x5xbf16>, tensor<4xbf16>) outs(%empty : tensor<4x5xbf16>) {
  ^bb0(%p: bf16, %q: bf16, %unused: bf16):
    %1 = arith.subf %p, %q : bf16
    %2 = math.exp %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<4x5xbf16>
  return %0 : tensor<4x5xbf16>
}

// CHECK-LABEL: func.func @relu_and_sigmoid
// CHECK: %[[RELU:.*]] = samba.relu %arg0
// CHECK: samba.sigmoid %[[RELU]]
// CHECK-NEXT: return
func.func @relu_and_sigmoid(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %empty = tensor.empty() : tensor<4x5xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x5xf32>) outs(%empty : tensor<4x5xf32>) {
  ^bb0(%p: f32, %unused: f32):
    %1 = arith.cmpf ugt, %p, %zero : f32
    %2 = arith.select %1, %p, %zero : f32
    %3 = arith.negf %2 : f32
    %4 = math.exp %3 : f32
    %5 = arith.addf %4, %one : f32
    %6 = arith.divf %one, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// The mean over the last axis; the greatest that starts from 0, which a relu is.
// CHECK-LABEL: func.func @reductions
// CHECK: %[[MEAN:.*]] = samba.mean %arg0 {dim = [1], keepdim = true}
// CHECK: %[[MOST:.*]] = samba.amax %arg0 {dim = [1], keepdim = true}
// CHECK: samba.relu %{{.*}} : tensor<4xf32>
func.func @reductions(%x: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %zero = arith.constant 0.0 : f32
  %five = arith.constant 5.0 : f32
  %empty = tensor.empty() : tensor<4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %sum = linalg.reduce ins(%x : tensor<4x5xf32>) outs(%start : tensor<4xf32>) dimensions = [1]
    (%p: f32, %q: f32) {
      %1 = arith.addf %p, %q : f32
      linalg.yield %1 : f32
    }
  %mean = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<4xf32>) outs(%empty : tensor<4xf32>) {
  ^bb0(%p: f32, %unused: f32):
    %1 = arith.divf %p, %five : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %most = linalg.reduce { arith.maximumf } ins(%x : tensor<4x5xf32>) outs(%start : tensor<4xf32>) dimensions = [1]
  return %mean, %most : tensor<4xf32>, tensor<4xf32>
}

// Two results that are chosen together; a NaN is never greater, so it takes part as the start.
// CHECK-LABEL: func.func @search
// CHECK: %[[WINS:.*]] = samba.gt %arg0, %[[LEAST:.*]] : tensor<4x5xf32>
// CHECK: %[[SEEN:.*]] = samba.where %[[WINS]], %arg0, %[[LEAST]]
// CHECK: samba.argmax %[[SEEN]] {dim = 1
// CHECK: samba.amax %[[SEEN]]
func.func @search(%x: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %least = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i64
  %values = tensor.empty() : tensor<4xf32>
  %places = tensor.empty() : tensor<4xi64>
  %0 = linalg.fill ins(%least : f32) outs(%values : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.fill ins(%first : i64) outs(%places : tensor<4xi64>) -> tensor<4xi64>
  %2:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%0, %1 : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%p: f32, %value: f32, %place: i64):
    %3 = linalg.index 1 : index
    %4 = arith.index_cast %3 : index to i64
    %5 = arith.cmpf ogt, %p, %value : f32
    %6 = arith.select %5, %p, %value : f32
    %7 = arith.select %5, %4, %place : i64
    linalg.yield %6, %7 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %2#0, %2#1 : tensor<4xf32>, tensor<4xi64>
}

// Rows that indices choose; slices, transposes and insertions are views and a cat.
// CHECK-LABEL: func.func @rows
// CHECK: samba.embedding %arg0, %arg1 : tensor<9x4xf32>, tensor<3xi64>
func.func @rows(%table: tensor<9x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %empty = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%i : tensor<3xi64>) outs(%empty : tensor<3x4xf32>) {
  ^bb0(%p: i64, %unused: f32):
    %1 = arith.index_cast %p : i64 to index
    %2 = linalg.index 1 : index
    %3 = tensor.extract %table[%1, %2] : tensor<9x4xf32>
    linalg.yield %3 : f32
  } -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @views
// CHECK: %[[TURNED:.*]] = samba.permute %arg0 {dims = [1, 0]}
// CHECK: %[[PART:.*]] = samba.slice %[[TURNED]]
// CHECK: samba.cat %[[PART]], %[[TURNED]] {dim = 0
func.func @views(%x: tensor<4x6xf32>) -> tensor<8x4xf32> {
  %empty = tensor.empty() : tensor<6x4xf32>
  %turned = linalg.transpose ins(%x : tensor<4x6xf32>) outs(%empty : tensor<6x4xf32>) permutation = [1, 0]
  %part = tensor.extract_slice %turned[1, 0] [2, 4] [2, 1] : tensor<6x4xf32> to tensor<2x4xf32>
  %whole = tensor.empty() : tensor<8x4xf32>
  %0 = tensor.insert_slice %turned into %whole[2, 0] [6, 4] [1, 1] : tensor<6x4xf32> into tensor<8x4xf32>
  %1 = tensor.insert_slice %part into %0[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @pools
// CHECK: samba.max_pool2d %arg0 {{.*}}kernel_size = [3, 3], padding = [1, 1, 1, 1]
// CHECK: samba.avg_pool2d %{{.*}} {{.*}}kernel_size = [2, 2]
// CHECK-NOT: samba.mul
// CHECK-NOT: samba.div
// CHECK: return
func.func @pools(%x: tensor<1x2x8x8xf32>, %y: tensor<1x8x8x2xf32>) -> (tensor<1x2x8x8xf32>, tensor<1x4x4x2xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %four = arith.constant 4.0 : f32
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %least : f32
  } : tensor<1x2x8x8xf32> to tensor<1x2x10x10xf32>
  %empty = tensor.empty() : tensor<1x2x8x8xf32>
  %small = tensor.empty() : tensor<1x4x4x2xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%small : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %window2 = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.pooling_nchw_max ins(%padded, %window : tensor<1x2x10x10xf32>, tensor<3x3xf32>) outs(%start : tensor<1x2x8x8xf32>) -> tensor<1x2x8x8xf32>
  %1 = linalg.pooling_nhwc_sum {strides = dense<2> : tensor<2xi64>} ins(%y, %window2 : tensor<1x8x8x2xf32>, tensor<2x2xf32>) outs(%zeros : tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%1 : tensor<1x4x4x2xf32>) outs(%small : tensor<1x4x4x2xf32>) {
  ^bb0(%p: f32, %unused: f32):
    %3 = arith.divf %p, %four : f32
    linalg.yield %3 : f32
  } -> tensor<1x4x4x2xf32>
  return %0, %2 : tensor<1x2x8x8xf32>, tensor<1x4x4x2xf32>
}

// A NaN wins here, the first of them: what TOSA's argmax becomes.
// CHECK-LABEL: func.func @search_with_nan
// CHECK: %[[LOSES:.*]] = samba.le %arg0, %[[LEAST:.*]] : tensor<4x5xf32>
// CHECK: %[[WINS:.*]] = samba.logical_not %[[LOSES]]
// CHECK: samba.argmax
func.func @search_with_nan(%x: tensor<4x5xf32>) -> tensor<4xi32> {
  %least = arith.constant -3.40282347E+38 : f32
  %first = arith.constant 0 : i32
  %values = tensor.empty() : tensor<4xf32>
  %places = tensor.empty() : tensor<4xi32>
  %0 = linalg.fill ins(%least : f32) outs(%values : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.fill ins(%first : i32) outs(%places : tensor<4xi32>) -> tensor<4xi32>
  %2:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x5xf32>) outs(%1, %0 : tensor<4xi32>, tensor<4xf32>) {
  ^bb0(%p: f32, %place: i32, %value: f32):
    %3 = linalg.index 1 : index
    %4 = arith.index_cast %3 : index to i32
    %5 = arith.cmpf ugt, %p, %value : f32
    %6 = arith.cmpf ord, %value, %value : f32
    %7 = arith.andi %5, %6 : i1
    %8 = arith.select %7, %p, %value : f32
    %9 = arith.select %7, %4, %place : i32
    linalg.yield %9, %8 : i32, f32
  } -> (tensor<4xi32>, tensor<4xf32>)
  return %2#0 : tensor<4xi32>
}

// Places along dimensions are tables.
// CHECK-LABEL: func.func @mask
// CHECK-DAG: %[[I:.*]] = samba.constant {value = dense<{{.*}}0], [1], [2]{{.*}}> : tensor<3x1xi64>}
// CHECK-DAG: %[[J:.*]] = samba.constant {value = dense<[0, 1, 2, 3]> : tensor<4xi64>}
// CHECK: %[[SEEN:.*]] = samba.ge %[[I]], %[[J]]
// CHECK: samba.where %[[SEEN]], %arg0
func.func @mask(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x4xf32>) outs(%empty : tensor<3x4xf32>) {
  ^bb0(%p: f32, %unused: f32):
    %1 = linalg.index 0 : index
    %2 = linalg.index 1 : index
    %3 = arith.cmpi uge, %1, %2 : index
    %4 = arith.select %3, %p, %zero : f32
    linalg.yield %4 : f32
  } -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// What was fused into a window is computed once per element; a pad with operands that are constants.
// CHECK-LABEL: func.func @fused_into_window
// CHECK: %[[PADDED:.*]] = samba.pad %arg0 {high = [0, 0, 1], low = [0, 0, 1]
// CHECK: %[[RELU:.*]] = samba.relu %[[PADDED]]
// CHECK: samba.max_pool1d %[[RELU]]
func.func @fused_into_window(%x: tensor<1x2x8xf32>) -> tensor<1x2x5xf32> {
  %zero = arith.constant 0.0 : f32
  %least = arith.constant 0xFF800000 : f32
  %one = arith.constant 1 : index
  %padded = tensor.pad %x low[0, 0, %one] high[0, 0, %one] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<1x2x8xf32> to tensor<1x2x10xf32>
  %empty = tensor.empty() : tensor<1x2x5xf32>
  %start = linalg.fill ins(%least : f32) outs(%empty : tensor<1x2x5xf32>) -> tensor<1x2x5xf32>
  %window = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, c, o, w) -> (n, c, o * 2 + w)>, affine_map<(n, c, o, w) -> (w)>,
      affine_map<(n, c, o, w) -> (n, c, o)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%padded, %window : tensor<1x2x10xf32>, tensor<2xf32>) outs(%start : tensor<1x2x5xf32>) {
  ^bb0(%p: f32, %unused: f32, %most: f32):
    %1 = arith.maximumf %p, %zero : f32
    %2 = arith.maximumf %most, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<1x2x5xf32>
  return %0 : tensor<1x2x5xf32>
}

// Two axes whose places are computed, each from a loop of its own: one is taken after the other. A division that rounds
// down is one of what is left without the rest.
// CHECK-LABEL: func.func @resize
// CHECK: %[[REST:.*]] = samba.remainder %[[PLACES:.*]], %
// CHECK: %[[WHOLE:.*]] = samba.sub %[[PLACES]], %[[REST]]
// CHECK: %[[ROWS:.*]] = samba.div %[[WHOLE]], %
// CHECK: %[[TAKEN:.*]] = samba.take %arg0, %[[ROWS]] {batch_dims = 0, dim = 0}
// CHECK: samba.take %[[TAKEN]], %{{.*}} {batch_dims = 0, dim = 1}
#pixels = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func @resize(%x: tensor<3x4x2xf32>) -> tensor<6x8x2xf32> {
  %c2 = arith.constant 2 : i32
  %0 = tensor.empty() : tensor<6x8x2xf32>
  %1 = linalg.generic {indexing_maps = [#pixels], iterator_types = ["parallel", "parallel", "parallel"]} outs(%0 : tensor<6x8x2xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %2 = arith.index_cast %i : index to i32
    %3 = arith.index_cast %j : index to i32
    %4 = arith.floordivsi %2, %c2 : i32
    %5 = arith.floordivsi %3, %c2 : i32
    %6 = arith.index_cast %4 : i32 to index
    %7 = arith.index_cast %5 : i32 to index
    %8 = tensor.extract %x[%6, %7, %k] : tensor<3x4x2xf32>
    linalg.yield %8 : f32
  } -> tensor<6x8x2xf32>
  return %1 : tensor<6x8x2xf32>
}

// The same place for both axes: none can be taken alone.
// CHECK-LABEL: func.func @diagonal_of_places
// CHECK: linalg.generic
func.func @diagonal_of_places(%x: tensor<3x3xf32>, %p: tensor<4xi32>) -> tensor<4xf32> {
  %0 = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4xi32>) outs(%0 : tensor<4xf32>) {
  ^bb0(%q: i32, %out: f32):
    %2 = arith.index_cast %q : i32 to index
    %3 = tensor.extract %x[%2, %2] : tensor<3x3xf32>
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A reduction over one element runs its body once, whatever that is.
// CHECK-LABEL: func.func @single
// CHECK: %[[WINS:.*]] = samba.gt %{{.*}}, %{{.*}}
// CHECK: samba.where %[[WINS]]
// CHECK-NOT: linalg
func.func @single(%x: tensor<4x1xf32>) -> tensor<4xf32> {
  %least = arith.constant 0xFF800000 : f32
  %first = arith.constant 0 : i32
  %values = tensor.empty() : tensor<4xf32>
  %places = tensor.empty() : tensor<4xi32>
  %0 = linalg.fill ins(%least : f32) outs(%values : tensor<4xf32>) -> tensor<4xf32>
  %1 = linalg.fill ins(%first : i32) outs(%places : tensor<4xi32>) -> tensor<4xi32>
  %2:2 = linalg.generic {indexing_maps = [#id, #row, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x1xf32>) outs(%0, %1 : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%p: f32, %value: f32, %place: i32):
    %3 = arith.cmpf ogt, %p, %value : f32
    %4 = arith.select %3, %p, %value : f32
    %5 = arith.select %3, %first, %place : i32
    linalg.yield %4, %5 : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %2#0 : tensor<4xf32>
}
