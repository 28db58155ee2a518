// RUN: samba-opt %s --samba-raise-idioms --canonicalize | FileCheck %s
// RUN: samba-opt %s --samba-raise-idioms --canonicalize -o %t.once && samba-opt %t.once --samba-raise-idioms --canonicalize -o %t.twice && diff %t.once %t.twice

// The scale on the scores, as a product or a division; negative dim.
// CHECK-LABEL: @scores_scaled
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {scale = 0.35355{{.*}}}
// CHECK-NEXT: return
func.func @scores_scaled(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<0.353553385> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %t = samba.mul %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %p = samba.softmax %t {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @scores_divided
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {scale = 2.500000e-01}
// CHECK-NEXT: return
func.func @scores_divided(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<4.0> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %t = samba.div %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %p = samba.softmax %t {dim = -1} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}

// On q and k, before and behind the permutation; without a scale.
// CHECK-LABEL: @both_scaled
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {scale = 1.250000e-01}
// CHECK-NEXT: return
func.func @both_scaled(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<0.5> : tensor<f32>}
  %qs = samba.mul %q, %c : tensor<2x4x6x8xf32>, tensor<f32>
  %ks = samba.mul %k, %c : tensor<2x4x5x8xf32>, tensor<f32>
  %kt = samba.permute %ks {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %kk = samba.mul %kt, %c : tensor<2x4x8x5xf32>, tensor<f32>
  %s = samba.matmul %qs, %kk : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %p = samba.softmax %s {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @plain
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {scale = 1.000000e+00}
// CHECK-NEXT: return
func.func @plain(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x6x8xf32> {
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %p = samba.softmax %s {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}

// Masks: added, chosen with -infinity or another fill (a mask of what takes part), chosen and added (the lowest number is added).
// CHECK-LABEL: @added_mask
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2, %arg3 {
// CHECK-NEXT: return
func.func @added_mask(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<6x5xf32>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<0.353553385> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %t = samba.mul %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %a = samba.add %m, %t : tensor<6x5xf32>, tensor<2x4x6x5xf32>
  %p = samba.softmax %a {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @kept
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2, %arg3 {
// CHECK-NEXT: return
func.func @kept(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<1x1x6x5xi1>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<0.353553385> : tensor<f32>}
  %low = samba.constant {value = dense<0xFF800000> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %t = samba.mul %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %a = samba.where %m, %t, %low : tensor<1x1x6x5xi1>, tensor<2x4x6x5xf32>, tensor<f32>
  %p = samba.softmax %a {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @masked
// CHECK: %[[M:.*]] = samba.logical_not %arg3
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2, %[[M]] {
// CHECK-NEXT: return
func.func @masked(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<1x1x6x5xi1>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<0.353553385> : tensor<f32>}
  %low = samba.constant {value = dense<0xFF800000> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %t = samba.mul %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %a = samba.where %m, %low, %t : tensor<1x1x6x5xi1>, tensor<f32>, tensor<2x4x6x5xf32>
  %p = samba.softmax %a {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @filled
// CHECK: %[[M:.*]] = samba.logical_not %arg3
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2, %[[M]] {fill = -1.000000e+04, scale = 0.353
// CHECK-NEXT: return
func.func @filled(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<1x1x6x5xi1>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<0.353553385> : tensor<f32>}
  %low = samba.constant {value = dense<-10000.0> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %t = samba.mul %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %a = samba.where %m, %low, %t : tensor<1x1x6x5xi1>, tensor<f32>, tensor<2x4x6x5xf32>
  %p = samba.softmax %a {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @lowest_and_added
// CHECK: %[[M:.*]] = samba.where %arg3, %{{.*}}, %{{.*}} : tensor<1x1x6x5xi1>, tensor<f32>, tensor<f32>
// CHECK-NEXT: %[[B:.*]] = samba.add %arg4, %[[M]]
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2, %[[B]] {
// CHECK-NEXT: return
func.func @lowest_and_added(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<1x1x6x5xi1>, %n: tensor<2x4x6x5xf32>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<0.353553385> : tensor<f32>}
  %low = samba.constant {value = dense<-3.40282347e+38> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %t = samba.mul %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %a = samba.where %m, %t, %low : tensor<1x1x6x5xi1>, tensor<2x4x6x5xf32>, tensor<f32>
  %d = samba.add %a, %n : tensor<2x4x6x5xf32>, tensor<2x4x6x5xf32>
  %p = samba.softmax %d {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}

// Near misses: scores that others read, another softmax, a mask that is scaled, two masks with a fill that counts, a mask that widens the scores.
// CHECK-LABEL: @read_by_others
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @read_by_others(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> (tensor<2x4x6x8xf32>, tensor<2x4x6x5xf32>) {
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %p = samba.softmax %s {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y, %s : tensor<2x4x6x8xf32>, tensor<2x4x6x5xf32>
}
// CHECK-LABEL: @another_softmax
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @another_softmax(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x6x8xf32> {
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %p = samba.softmax %s {dim = 2} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @mask_scaled
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @mask_scaled(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<6x5xf32>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<0.353553385> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %a = samba.add %s, %m : tensor<2x4x6x5xf32>, tensor<6x5xf32>
  %t = samba.mul %a, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %p = samba.softmax %t {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @fill_counts
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @fill_counts(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<1x1x6x5xi1>, %n: tensor<6x5xf32>) -> tensor<2x4x6x8xf32> {
  %low = samba.constant {value = dense<-10000.0> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %a = samba.where %m, %s, %low : tensor<1x1x6x5xi1>, tensor<2x4x6x5xf32>, tensor<f32>
  %b = samba.add %a, %n : tensor<2x4x6x5xf32>, tensor<6x5xf32>
  %p = samba.softmax %b {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @mask_widens
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @mask_widens(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<3x1x1x1x1xf32>) -> tensor<3x2x4x6x8xf32> {
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %a = samba.add %s, %m : tensor<2x4x6x5xf32>, tensor<3x1x1x1x1xf32>
  %p = samba.softmax %a {dim = 4} : tensor<3x2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<3x2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<3x2x4x6x8xf32>
}
// CHECK-LABEL: @negative_scale
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @negative_scale(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x6x8xf32> {
  %c = samba.constant {value = dense<-1.0> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %t = samba.mul %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %p = samba.softmax %t {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
