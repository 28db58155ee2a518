// Every operation of the dialect parses, prints the same again, in the generic form as well, and through bytecode.
// RUN: samba-opt %s > %t.1.mlir
// RUN: samba-opt %t.1.mlir > %t.2.mlir && diff %t.1.mlir %t.2.mlir
// RUN: samba-opt --mlir-print-op-generic %s | samba-opt > %t.3.mlir && diff %t.1.mlir %t.3.mlir
// RUN: samba-opt --emit-bytecode %s | samba-opt > %t.4.mlir && diff %t.1.mlir %t.4.mlir
// RUN: FileCheck %s < %t.1.mlir

// CHECK-LABEL: @unary
func.func @unary(%x: tensor<2x3xf32>, %i: tensor<2x3xi32>, %b: tensor<2x3xi1>) {
  // CHECK-NEXT: samba.neg %{{.*}} : tensor<2x3xf32>
  %0 = samba.neg %x : tensor<2x3xf32>
  %1 = samba.abs %i : tensor<2x3xi32>
  %2 = samba.exp %x : tensor<2x3xf32>
  %3 = samba.log %x : tensor<2x3xf32>
  %4 = samba.sqrt %x : tensor<2x3xf32>
  %5 = samba.rsqrt %x : tensor<2x3xf32>
  %6 = samba.reciprocal %x : tensor<2x3xf32>
  %7 = samba.tanh %x : tensor<2x3xf32>
  %8 = samba.erf %x : tensor<2x3xf32>
  %9 = samba.sigmoid %x : tensor<2x3xf32>
  %10 = samba.relu %x : tensor<2x3xf32>
  %11 = samba.silu %x : tensor<2x3xf32>
  %12 = samba.sin %x : tensor<2x3xf32>
  %13 = samba.cos %x : tensor<2x3xf32>
  %14 = samba.floor %x : tensor<2x3xf32>
  %15 = samba.ceil %x : tensor<2x3xf32>
  %16 = samba.round %x : tensor<2x3xf32>
  %17 = samba.sign %x : tensor<2x3xf32>
  %18 = samba.logical_not %b : tensor<2x3xi1>
  %19 = samba.softplus %x : tensor<2x3xf32>
  %20 = samba.hardswish %x : tensor<2x3xf32>
  // CHECK: samba.leaky_relu %{{.*}} {negative_slope = 2.500000e-01} : tensor<2x3xf32>
  %21 = samba.leaky_relu %x {negative_slope = 0.25} : tensor<2x3xf32>
  %22 = samba.elu %x {alpha = 1.5} : tensor<2x3xf32>
  // CHECK: samba.gelu %{{.*}} {approximate = "tanh"} : tensor<2x3xf32>
  %23 = samba.gelu %x {approximate = "tanh"} : tensor<2x3xf32>
  %24 = samba.hardsigmoid %x {alpha = 0.2, beta = 0.5} : tensor<2x3xf32>
  %25 = samba.clamp %x {min = 0.0, max = 6.0} : tensor<2x3xf32>
  // CHECK: samba.cast %{{.*}} {dtype = bf16} : tensor<2x3xf32>
  %26 = samba.cast %x {dtype = bf16} : tensor<2x3xf32>
  // CHECK-NEXT: samba.silu %{{.*}} : tensor<2x3xbf16>
  %27 = samba.silu %26 : tensor<2x3xbf16>
  %28 = samba.detach %x : tensor<2x3xf32>
  %29 = samba.contiguous %x : tensor<2x3xf32>
  %30 = samba.contiguous_backward %x : tensor<2x3xf32>
  return
}

// CHECK-LABEL: @binary
func.func @binary(%x: tensor<2x3xf32>, %y: tensor<3xf32>, %b: tensor<2x3xi1>) {
  %0 = samba.add %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %1 = samba.sub %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %2 = samba.mul %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %3 = samba.div %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %4 = samba.pow %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %5 = samba.maximum %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %6 = samba.minimum %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %7 = samba.remainder %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %8 = samba.fmod %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %9 = samba.eq %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %10 = samba.ne %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %11 = samba.lt %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %12 = samba.le %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %13 = samba.gt %x, %y : tensor<2x3xf32>, tensor<3xf32>
  %14 = samba.ge %x, %y : tensor<2x3xf32>, tensor<3xf32>
  // CHECK: samba.logical_and %{{.*}}, %{{.*}} : tensor<2x3xi1>, tensor<2x3xi1>
  %15 = samba.logical_and %9, %14 : tensor<2x3xi1>, tensor<2x3xi1>
  %16 = samba.logical_or %9, %b : tensor<2x3xi1>, tensor<2x3xi1>
  %17 = samba.logical_xor %9, %b : tensor<2x3xi1>, tensor<2x3xi1>
  %18 = samba.where %b, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>, tensor<3xf32>
  return
}

// CHECK-LABEL: @reductions
func.func @reductions(%x: tensor<2x3x4xf32>) {
  // CHECK: samba.sum %{{.*}} {dim = [1], keepdim = true} : tensor<2x3x4xf32>
  %0 = samba.sum %x {dim = [1], keepdim = true} : tensor<2x3x4xf32>
  // CHECK: samba.mean %{{.*}} {dim = [-1, 0]} : tensor<2x1x4xf32>
  %1 = samba.mean %0 {dim = [-1, 0]} : tensor<2x1x4xf32>
  // CHECK: samba.amax %{{.*}} {dim = [0]} : tensor<1xf32>
  %2 = samba.amax %1 {dim = [0]} : tensor<1xf32>
  %3 = samba.amin %x {dim = [0, 1, 2]} : tensor<2x3x4xf32>
  %4 = samba.prod %x : tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: @contractions
func.func @contractions(%x: tensor<5x8xf32>, %w: tensor<4x8xf32>, %b: tensor<4xf32>, %h: tensor<5x8xbf16>, %v: tensor<4x8xbf16>,
                        %i: tensor<1x4x9x9xf32>, %k: tensor<6x2x3x3xf32>, %q: tensor<1x2x5x8xf32>) {
  %0 = samba.linear %x, %w, %b : tensor<5x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  // CHECK: samba.linear %{{.*}}, %{{.*}} {out_dtype = f32} : tensor<5x8xbf16>, tensor<4x8xbf16>
  %1 = samba.linear %h, %v {out_dtype = f32} : tensor<5x8xbf16>, tensor<4x8xbf16>
  // CHECK-NEXT: samba.add %{{.*}} : tensor<5x4xf32>, tensor<5x4xf32>
  %2 = samba.add %0, %1 : tensor<5x4xf32>, tensor<5x4xf32>
  %3 = samba.matmul %2, %w : tensor<5x4xf32>, tensor<4x8xf32>
  // CHECK: samba.conv2d %{{.*}}, %{{.*}} {dilation = [1, 1], groups = 2, padding = [1, 1, 1, 1], stride = [2, 2]}
  %4 = samba.conv2d %i, %k {stride = [2, 2], padding = [1, 1, 1, 1], dilation = [1, 1], groups = 2} : tensor<1x4x9x9xf32>, tensor<6x2x3x3xf32>
  // CHECK: samba.max_pool2d %{{.*}} : tensor<1x6x5x5xf32>
  %5 = samba.max_pool2d %4 {kernel_size = [2, 2], stride = [2, 2], ceil_mode = true} : tensor<1x6x5x5xf32>
  %6 = samba.avg_pool2d %5 {kernel_size = [3, 3], count_include_pad = true} : tensor<1x6x3x3xf32>
  %7 = samba.scaled_dot_product_attention %q, %q, %q {scale = 0.5} : tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>
  return
}

// CHECK-LABEL: @spatial
func.func @spatial(%x: tensor<1x2x9xf32>, %w: tensor<3x2x3xf32>, %y: tensor<1x2x4x4x4xf32>, %v: tensor<3x2x2x2x2xf32>) {
  %0 = samba.conv1d %x, %w : tensor<1x2x9xf32>, tensor<3x2x3xf32>
  %1 = samba.conv3d %y, %v : tensor<1x2x4x4x4xf32>, tensor<3x2x2x2x2xf32>
  %2 = samba.max_pool1d %x {kernel_size = [3]} : tensor<1x2x9xf32>
  %3 = samba.max_pool3d %y {kernel_size = [2, 2, 2]} : tensor<1x2x4x4x4xf32>
  %4 = samba.avg_pool1d %x {kernel_size = [3]} : tensor<1x2x9xf32>
  %5 = samba.avg_pool3d %y {kernel_size = [2, 2, 2]} : tensor<1x2x4x4x4xf32>
  return
}

// CHECK-LABEL: @norms
func.func @norms(%x: tensor<2x4x6xf32>, %c: tensor<4xf32>, %n: tensor<6xf32>) {
  %0 = samba.batch_norm %x, %c, %c, %c, %c {eps = 1.0e-5} : tensor<2x4x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  %1 = samba.layer_norm %x, %n, %n {normalized_shape = [6], eps = 1.0e-5} : tensor<2x4x6xf32>, tensor<6xf32>, tensor<6xf32>
  %2 = samba.layer_norm %x {normalized_shape = [4, 6]} : tensor<2x4x6xf32>
  %3 = samba.rms_norm %x, %n {normalized_shape = [6]} : tensor<2x4x6xf32>, tensor<6xf32>
  %4 = samba.group_norm %x, %c, %c {num_groups = 2} : tensor<2x4x6xf32>, tensor<4xf32>, tensor<4xf32>
  %5 = samba.softmax %x {dim = -1} : tensor<2x4x6xf32>
  %6 = samba.log_softmax %x {dim = 1} : tensor<2x4x6xf32>
  return
}

// CHECK-LABEL: @searches
func.func @searches(%x: tensor<2x4x6xf32>, %i: tensor<2xi64>, %k: tensor<i64>, %v: tensor<2xf32>) {
  %0 = samba.argmax %x {dim = -1, keepdim = true, select_last = true} : tensor<2x4x6xf32>
  %1 = samba.argmin %x : tensor<2x4x6xf32>
  %2 = samba.hardmax %x {dim = 1} : tensor<2x4x6xf32>
  %3 = samba.logsumexp %x {dim = [0, 2]} : tensor<2x4x6xf32>
  %4 = samba.cumsum %x {dim = 1, exclusive = true, reverse = true} : tensor<2x4x6xf32>
  // CHECK: samba.topk %{{.*}} {k = 2, largest = false} : tensor<2x4x6xf32>
  %5, %6 = samba.topk %x {k = 2, largest = false} : tensor<2x4x6xf32>
  // CHECK-NEXT: samba.relu %values : tensor<2x4x2xf32>
  %7 = samba.relu %5 : tensor<2x4x2xf32>
  %8, %9 = samba.sort %x {dim = 0, descending = true} : tensor<2x4x6xf32>
  %10 = samba.argsort %x : tensor<2x4x6xf32>
  %11 = samba.one_hot %i, %v {num_classes = 5, dim = 0} : tensor<2xi64>, tensor<2xf32>
  %12 = samba.triu %x, %k {diagonal = 1} : tensor<2x4x6xf32>, tensor<i64>
  %13 = samba.tril %x : tensor<2x4x6xf32>
  %14 = samba.einsum %x, %x {equation = "abc,abd->acd"} : tensor<2x4x6xf32>, tensor<2x4x6xf32>
  return
}

// CHECK-LABEL: @losses
func.func @losses(%x: tensor<4x6xf32>, %t: tensor<4xi64>, %w: tensor<6xf32>, %m: tensor<2x3x3xf32>) {
  %0 = samba.nll_loss %x, %t, %w {ignore_index = 1, reduction = "none"} : tensor<4x6xf32>, tensor<4xi64>, tensor<6xf32>
  %1 = samba.cross_entropy %x, %t : tensor<4x6xf32>, tensor<4xi64>
  %2 = samba.l1_loss %x, %x {reduction = "sum"} : tensor<4x6xf32>, tensor<4x6xf32>
  %3 = samba.smooth_l1_loss %x, %x {beta = 0.5} : tensor<4x6xf32>, tensor<4x6xf32>
  %4 = samba.huber_loss %x, %x {delta = 0.5} : tensor<4x6xf32>, tensor<4x6xf32>
  %5 = samba.kl_div %x, %x {log_target = true, reduction = "batchmean"} : tensor<4x6xf32>, tensor<4x6xf32>
  %6 = samba.binary_cross_entropy %x, %x : tensor<4x6xf32>, tensor<4x6xf32>
  %7 = samba.binary_cross_entropy_with_logits %x, %x : tensor<4x6xf32>, tensor<4x6xf32>
  %8 = samba.det %m : tensor<2x3x3xf32>
  return
}

// CHECK-LABEL: @views
func.func @views(%x: tensor<2x3x4xf32>, %s: tensor<1x4xf32>, %i: tensor<5xi64>) {
  %0 = samba.reshape %x {shape = [6, 4]} : tensor<2x3x4xf32>
  // CHECK: samba.permute %{{.*}} {dims = [2, 0, 1]} : tensor<2x3x4xf32>
  %1 = samba.permute %x {dims = [2, 0, 1]} : tensor<2x3x4xf32>
  // CHECK-NEXT: samba.relu %{{.*}} : tensor<4x2x3xf32>
  %2 = samba.relu %1 : tensor<4x2x3xf32>
  %3 = samba.expand %s {shape = [2, 3, 4]} : tensor<1x4xf32>
  %4 = samba.slice %x {starts = [0, 1, 0], ends = [2, 3, 4], steps = [1, 1, 2]} : tensor<2x3x4xf32>
  %5 = samba.pad %4 {low = [0, 0, 1], high = [0, 1, 0], value = 1.0} : tensor<2x2x2xf32>
  %6 = samba.cat %x, %3, %x {dim = 1} : tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<2x3x4xf32>
  // CHECK: samba.embedding %{{.*}} : tensor<6x4xf32>, tensor<5xi64>
  %7 = samba.embedding %0, %i : tensor<6x4xf32>, tensor<5xi64>
  %8 = samba.index_select %x, %i {dim = 2} : tensor<2x3x4xf32>, tensor<5xi64>
  // CHECK: samba.constant {value = dense<[1, -2]> : tensor<2xi64>}
  %9 = samba.constant {value = dense<[1, -2]> : tensor<2xi64>}
  return
}
