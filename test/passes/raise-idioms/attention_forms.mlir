// RUN: samba-opt %s --samba-raise-idioms --canonicalize | FileCheck %s
// RUN: samba-opt %s --samba-raise-idioms --canonicalize -o %t.once && samba-opt %t.once --samba-raise-idioms --canonicalize -o %t.twice && diff %t.once %t.twice

// Heads joined to the batch, split off for the mask (BART, OPT).
// CHECK-LABEL: @heads_split
// CHECK-DAG: %[[Q:.*]] = samba.reshape %arg0 {shape = [2, 4, 6, 8]}
// CHECK-DAG: %[[K:.*]] = samba.reshape %arg1 {shape = [2, 4, 5, 8]}
// CHECK-DAG: %[[V:.*]] = samba.reshape %arg2 {shape = [2, 4, 5, 8]}
// CHECK: %[[Y:.*]] = samba.scaled_dot_product_attention %[[Q]], %[[K]], %[[V]], %arg3 {scale = 1.000000e+00}
// CHECK-NEXT: %[[R:.*]] = samba.reshape %[[Y]] {shape = [8, 6, 8]}
// CHECK-NEXT: return %[[R]]
func.func @heads_split(%q: tensor<8x6x8xf32>, %k: tensor<8x5x8xf32>, %v: tensor<8x5x8xf32>, %m: tensor<2x1x6x5xf32>) -> tensor<8x6x8xf32> {
  %kt = samba.permute %k {dims = [0, 2, 1]} : tensor<8x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<8x6x8xf32>, tensor<8x8x5xf32>
  %h = samba.reshape %s {shape = [2, 4, 6, 5]} : tensor<8x6x5xf32>
  %a = samba.add %h, %m : tensor<2x4x6x5xf32>, tensor<2x1x6x5xf32>
  %b = samba.reshape %a {shape = [8, 6, 5]} : tensor<2x4x6x5xf32>
  %p = samba.softmax %b {dim = 2} : tensor<8x6x5xf32>
  %y = samba.matmul %p, %v : tensor<8x6x5xf32>, tensor<8x5x8xf32>
  return %y : tensor<8x6x8xf32>
}

// A bias on the scores, then a mask for windows split off the batch (Swin): the bias takes the split's dimensions.
// CHECK-LABEL: @windows_split
// CHECK-DAG: %[[B:.*]] = samba.reshape %arg3 {shape = [1, 1, 4, 5, 5]}
// CHECK-DAG: %[[M:.*]] = samba.add %arg4, %[[B]] : tensor<3x1x5x5xf32>, tensor<1x1x4x5x5xf32>
// CHECK: samba.scaled_dot_product_attention %{{.*}}, %{{.*}}, %{{.*}}, %[[M]] {scale = 5.000000e-01} : tensor<2x3x4x5x8xf32>
func.func @windows_split(%q: tensor<6x4x5x8xf32>, %k: tensor<6x4x5x8xf32>, %v: tensor<6x4x5x8xf32>, %bias: tensor<1x4x5x5xf32>, %m: tensor<3x1x5x5xf32>) -> tensor<6x4x5x8xf32> {
  %c = samba.constant {value = dense<0.5> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<6x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<6x4x5x8xf32>, tensor<6x4x8x5xf32>
  %t = samba.mul %s, %c : tensor<6x4x5x5xf32>, tensor<f32>
  %a = samba.add %t, %bias : tensor<6x4x5x5xf32>, tensor<1x4x5x5xf32>
  %w = samba.reshape %a {shape = [2, 3, 4, 5, 5]} : tensor<6x4x5x5xf32>
  %d = samba.add %w, %m : tensor<2x3x4x5x5xf32>, tensor<3x1x5x5xf32>
  %b = samba.reshape %d {shape = [6, 4, 5, 5]} : tensor<2x3x4x5x5xf32>
  %p = samba.softmax %b {dim = -1} : tensor<6x4x5x5xf32>
  %y = samba.matmul %p, %v : tensor<6x4x5x5xf32>, tensor<6x4x5x8xf32>
  return %y : tensor<6x4x5x8xf32>
}

// v on the left of the transposed softmax (latent diffusion).
// CHECK-LABEL: @on_the_right
// CHECK: %[[V:.*]] = samba.permute %arg2 {dims = [0, 2, 1]}
// CHECK-NEXT: %[[Y:.*]] = samba.scaled_dot_product_attention %arg0, %arg1, %[[V]] {
// CHECK-NEXT: %[[R:.*]] = samba.permute %[[Y]] {dims = [0, 2, 1]}
// CHECK-NEXT: return %[[R]]
func.func @on_the_right(%q: tensor<2x6x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x3x5xf32>) -> tensor<2x3x6xf32> {
  %kt = samba.permute %k {dims = [0, 2, 1]} : tensor<2x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x6x8xf32>, tensor<2x8x5xf32>
  %p = samba.softmax %s {dim = 2} : tensor<2x6x5xf32>
  %t = samba.permute %p {dims = [0, 2, 1]} : tensor<2x6x5xf32>
  %y = samba.matmul %v, %t : tensor<2x3x5xf32>, tensor<2x5x6xf32>
  return %y : tensor<2x3x6xf32>
}

// Of two lowest fills the outer one replaces the inner: their sum would be infinite where both are.
// CHECK-LABEL: @two_fills
// CHECK: %[[I:.*]] = samba.where %arg3, %[[LOW:.*]], %{{.*}} : tensor<2x1x1x5xi1>, tensor<f32>, tensor<f32>
// CHECK-NEXT: %[[O:.*]] = samba.where %arg4, %[[I]], %[[LOW]]
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2, %[[O]] {
func.func @two_fills(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>, %m: tensor<2x1x1x5xi1>, %n: tensor<6x5xi1>) -> tensor<2x4x6x8xf32> {
  %low = samba.constant {value = dense<-3.40282347e+38> : tensor<f32>}
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x4x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x6x8xf32>, tensor<2x4x8x5xf32>
  %a = samba.where %m, %low, %s : tensor<2x1x1x5xi1>, tensor<f32>, tensor<2x4x6x5xf32>
  %b = samba.where %n, %a, %low : tensor<6x5xi1>, tensor<2x4x6x5xf32>, tensor<f32>
  %p = samba.softmax %b {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}

// Products as einsum, heads behind the sequence or before it, spaces, the greatest score taken off.
// CHECK-LABEL: @einsum_heads_last
// CHECK-DAG: %[[Q:.*]] = samba.permute %arg0 {dims = [0, 2, 1, 3]}
// CHECK-DAG: %[[K:.*]] = samba.permute %arg1 {dims = [0, 2, 1, 3]}
// CHECK-DAG: %[[V:.*]] = samba.permute %arg2 {dims = [0, 2, 1, 3]}
// CHECK: %[[Y:.*]] = samba.scaled_dot_product_attention %[[Q]], %[[K]], %[[V]] {scale = 5.000000e-01}
// CHECK-NEXT: %[[R:.*]] = samba.permute %[[Y]] {dims = [0, 2, 1, 3]}
// CHECK-NEXT: return %[[R]]
func.func @einsum_heads_last(%q: tensor<2x6x4x8xf32>, %k: tensor<2x5x4x8xf32>, %v: tensor<2x5x4x8xf32>) -> tensor<2x6x4x8xf32> {
  %c = samba.constant {value = dense<2.0> : tensor<f32>}
  %s = samba.einsum %q, %k {equation = "nqhd,nkhd->nhqk"} : tensor<2x6x4x8xf32>, tensor<2x5x4x8xf32>
  %t = samba.div %s, %c : tensor<2x4x6x5xf32>, tensor<f32>
  %p = samba.softmax %t {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.einsum %p, %v {equation = "nhql, nlhd -> nqhd"} : tensor<2x4x6x5xf32>, tensor<2x5x4x8xf32>
  return %y : tensor<2x6x4x8xf32>
}
// CHECK-LABEL: @einsum_exchanged
// CHECK: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {
// CHECK-NEXT: return
func.func @einsum_exchanged(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x3xf32>) -> tensor<2x4x6x3xf32> {
  %s = samba.einsum %k, %q {equation = "bhjd,bhid->bhij"} : tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32>
  %m = samba.amax %s {dim = [3], keepdim = true} : tensor<2x4x6x5xf32>
  %d = samba.sub %s, %m : tensor<2x4x6x5xf32>, tensor<2x4x6x1xf32>
  %p = samba.softmax %d {dim = -1} : tensor<2x4x6x5xf32>
  %y = samba.einsum %v, %p {equation = "bhjd,bhij->bhid"} : tensor<2x4x5x3xf32>, tensor<2x4x6x5xf32>
  return %y : tensor<2x4x6x3xf32>
}

// A softmax that is spelled out leaves five operations behind each other without users.
// CHECK-LABEL: @softmax_spelled_out
// CHECK: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {scale = 5.000000e-01}
// CHECK-NEXT: return
func.func @softmax_spelled_out(%q: tensor<2x6x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x3xf32>) -> tensor<2x6x3xf32> {
  %kt = samba.permute %k {dims = [0, 2, 1]} : tensor<2x5x8xf32>
  %c = samba.constant {value = dense<0.5> : tensor<f32>}
  %r = samba.matmul %q, %kt : tensor<2x6x8xf32>, tensor<2x8x5xf32>
  %s = samba.mul %r, %c : tensor<2x6x5xf32>, tensor<f32>
  %m = samba.amax %s {dim = [-1], keepdim = true} : tensor<2x6x5xf32>
  %d = samba.sub %s, %m : tensor<2x6x5xf32>, tensor<2x6x1xf32>
  %e = samba.exp %d : tensor<2x6x5xf32>
  %t = samba.sum %e {dim = [-1], keepdim = true} : tensor<2x6x5xf32>
  %p = samba.div %e, %t : tensor<2x6x5xf32>, tensor<2x6x1xf32>
  %y = samba.matmul %p, %v : tensor<2x6x5xf32>, tensor<2x5x3xf32>
  return %y : tensor<2x6x3xf32>
}

// Near misses: a reshape of the matrices, a mask that cannot be split, v times the softmax itself.
// CHECK-LABEL: @matrices_reshaped
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @matrices_reshaped(%q: tensor<2x6x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x9x8xf32> {
  %kt = samba.permute %k {dims = [0, 2, 1]} : tensor<2x6x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %r = samba.reshape %s {shape = [2, 9, 4]} : tensor<2x6x6xf32>
  %p = samba.softmax %r {dim = 2} : tensor<2x9x4xf32>
  %y = samba.matmul %p, %v : tensor<2x9x4xf32>, tensor<2x4x8xf32>
  return %y : tensor<2x9x8xf32>
}
// CHECK-LABEL: @mask_across_split
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @mask_across_split(%q: tensor<2x6x5x8xf32>, %k: tensor<2x6x5x8xf32>, %v: tensor<2x6x5x8xf32>, %bias: tensor<6x1x1xf32>, %m: tensor<4x1x1x1xf32>) -> tensor<2x6x5x8xf32> {
  %kt = samba.permute %k {dims = [0, 1, 3, 2]} : tensor<2x6x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x6x5x8xf32>, tensor<2x6x8x5xf32>
  %a = samba.add %s, %bias : tensor<2x6x5x5xf32>, tensor<6x1x1xf32>
  %w = samba.reshape %a {shape = [1, 4, 3, 5, 5]} : tensor<2x6x5x5xf32>
  %d = samba.add %w, %m : tensor<1x4x3x5x5xf32>, tensor<4x1x1x1xf32>
  %b = samba.reshape %d {shape = [2, 6, 5, 5]} : tensor<1x4x3x5x5xf32>
  %p = samba.softmax %b {dim = 3} : tensor<2x6x5x5xf32>
  %y = samba.matmul %p, %v : tensor<2x6x5x5xf32>, tensor<2x6x5x8xf32>
  return %y : tensor<2x6x5x8xf32>
}
// CHECK-LABEL: @not_transposed
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @not_transposed(%q: tensor<2x6x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x3x6xf32>) -> tensor<2x3x6xf32> {
  %kt = samba.permute %k {dims = [0, 2, 1]} : tensor<2x6x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %p = samba.softmax %s {dim = 2} : tensor<2x6x6xf32>
  %y = samba.matmul %v, %p : tensor<2x3x6xf32>, tensor<2x6x6xf32>
  return %y : tensor<2x3x6xf32>
}

// Einsums that are no matmul, or of which the softmax runs along other labels, and another maximum.
// CHECK-LABEL: @einsum_two_sums
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: samba.einsum {{.*}}bhij,bhjd->bid
func.func @einsum_two_sums(%q: tensor<2x4x6x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x6x8xf32> {
  %s = samba.einsum %q, %k {equation = "bhid,bhjd->bhij"} : tensor<2x4x6x8xf32>, tensor<2x4x5x8xf32>
  %p = samba.softmax %s {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.einsum %p, %v {equation = "bhij,bhjd->bid"} : tensor<2x4x6x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x6x8xf32>
}
// CHECK-LABEL: @einsum_columns
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: return
func.func @einsum_columns(%q: tensor<2x4x5x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32> {
  %s = samba.einsum %q, %k {equation = "bhid,bhjd->bhij"} : tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32>
  %p = samba.softmax %s {dim = 3} : tensor<2x4x5x5xf32>
  %y = samba.einsum %p, %v {equation = "bhji,bhjd->bhid"} : tensor<2x4x5x5xf32>, tensor<2x4x5x8xf32>
  return %y : tensor<2x4x5x8xf32>
}
// CHECK-LABEL: @einsum_broadcast
// CHECK-NOT: samba.scaled_dot_product_attention
// CHECK: samba.einsum
// CHECK: samba.einsum
func.func @einsum_broadcast(%q: tensor<2x4x6x8xf32>, %k: tensor<2x1x5x8xf32>, %v: tensor<2x1x5x8xf32>) -> tensor<2x4x6x8xf32> {
  %s = samba.einsum %q, %k {equation = "bhid,bhjd->bhij"} : tensor<2x4x6x8xf32>, tensor<2x1x5x8xf32>
  %p = samba.softmax %s {dim = 3} : tensor<2x4x6x5xf32>
  %y = samba.einsum %p, %v {equation = "bhij,bhjd->bhid"} : tensor<2x4x6x5xf32>, tensor<2x1x5x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @other_maximum
// CHECK: samba.amax
// CHECK: samba.sub
// CHECK: samba.softmax
func.func @other_maximum(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %m = samba.amax %x {dim = [0], keepdim = true} : tensor<4x4xf32>
  %d = samba.sub %x, %m : tensor<4x4xf32>, tensor<1x4xf32>
  %p = samba.softmax %d {dim = 1} : tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}
