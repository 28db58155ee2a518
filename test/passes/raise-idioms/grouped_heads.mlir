// RUN: samba-opt %s --samba-raise-idioms --canonicalize | FileCheck %s
// RUN: samba-opt %s --samba-raise-idioms --canonicalize -o %t.once && samba-opt %t.once --samba-raise-idioms --canonicalize -o %t.twice && diff %t.once %t.twice

// Two heads of keys for six of the query: the rows of three heads are those of one matrix.
// CHECK-LABEL: @joined
// CHECK-NEXT: %[[Q:.*]] = samba.reshape %arg0 {shape = [2, 2, 12, 8]}
// CHECK-NEXT: %[[Y:.*]] = samba.scaled_dot_product_attention %[[Q]], %arg1, %arg2 :
// CHECK-NEXT: samba.reshape %[[Y]] {shape = [2, 6, 4, 8]}
// CHECK-NEXT: return
func.func @joined(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>) -> tensor<2x6x4x8xf32> {
  %k1 = samba.reshape %k {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %k2 = samba.expand %k1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %k3 = samba.reshape %k2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %v1 = samba.reshape %v {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %v2 = samba.expand %v1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %v3 = samba.reshape %v2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %y = samba.scaled_dot_product_attention %q, %k3, %v3 : tensor<2x6x4x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>
  return %y : tensor<2x6x4x8xf32>
}

// The same spelled out.
// CHECK-LABEL: @spelled_out
// CHECK-NEXT: %[[Q:.*]] = samba.reshape %arg0 {shape = [2, 2, 12, 8]}
// CHECK-NEXT: %[[Y:.*]] = samba.scaled_dot_product_attention %[[Q]], %arg1, %arg2 {scale = 5.000000e-01}
// CHECK-NEXT: samba.reshape %[[Y]] {shape = [2, 6, 4, 8]}
// CHECK-NEXT: return
func.func @spelled_out(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>) -> tensor<2x6x4x8xf32> {
  %c = samba.constant {value = dense<0.5> : tensor<f32>}
  %k1 = samba.reshape %k {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %k2 = samba.expand %k1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %k3 = samba.reshape %k2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %v1 = samba.reshape %v {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %v2 = samba.expand %v1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %v3 = samba.reshape %v2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %kt = samba.permute %k3 {dims = [0, 1, 3, 2]} : tensor<2x6x5x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x6x4x8xf32>, tensor<2x6x8x5xf32>
  %t = samba.mul %s, %c : tensor<2x6x4x5xf32>, tensor<f32>
  %p = samba.softmax %t {dim = 3} : tensor<2x6x4x5xf32>
  %y = samba.matmul %p, %v3 : tensor<2x6x4x5xf32>, tensor<2x6x5x8xf32>
  return %y : tensor<2x6x4x8xf32>
}

// A mask that tells rows apart: the heads split, and keys broadcast. So does is_causal.
// CHECK-LABEL: @masked_rows
// CHECK-DAG: %[[K:.*]] = samba.reshape %arg1 {shape = [2, 2, 1, 5, 8]}
// CHECK-DAG: %[[V:.*]] = samba.reshape %arg2 {shape = [2, 2, 1, 5, 8]}
// CHECK-DAG: %[[Q:.*]] = samba.reshape %arg0 {shape = [2, 2, 3, 4, 8]}
// CHECK: %[[Y:.*]] = samba.scaled_dot_product_attention %[[Q]], %[[K]], %[[V]], %arg3 :
// CHECK-NEXT: samba.reshape %[[Y]] {shape = [2, 6, 4, 8]}
// CHECK-NEXT: return
func.func @masked_rows(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>, %m: tensor<4x5xf32>) -> tensor<2x6x4x8xf32> {
  %k1 = samba.reshape %k {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %k2 = samba.expand %k1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %k3 = samba.reshape %k2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %v1 = samba.reshape %v {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %v2 = samba.expand %v1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %v3 = samba.reshape %v2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %y = samba.scaled_dot_product_attention %q, %k3, %v3, %m : tensor<2x6x4x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>, tensor<4x5xf32>
  return %y : tensor<2x6x4x8xf32>
}
// CHECK-LABEL: @causal
// CHECK: samba.scaled_dot_product_attention {{.*}}is_causal = true{{.*}} : tensor<2x2x3x4x8xf32>, tensor<2x2x1x5x8xf32>, tensor<2x2x1x5x8xf32>
func.func @causal(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>) -> tensor<2x6x4x8xf32> {
  %k1 = samba.reshape %k {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %k2 = samba.expand %k1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %k3 = samba.reshape %k2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %v1 = samba.reshape %v {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %v2 = samba.expand %v1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %v3 = samba.reshape %v2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %y = samba.scaled_dot_product_attention %q, %k3, %v3 {is_causal = true} : tensor<2x6x4x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>
  return %y : tensor<2x6x4x8xf32>
}

// One row each, as in decoding: a mask of every head splits with the heads.
// CHECK-LABEL: @one_row
// CHECK-DAG: %[[Q:.*]] = samba.reshape %arg0 {shape = [2, 2, 3, 8]}
// CHECK-DAG: %[[M:.*]] = samba.reshape %arg3 {shape = [2, 3, 5]}
// CHECK: %[[Y:.*]] = samba.scaled_dot_product_attention %[[Q]], %arg1, %arg2, %[[M]] :
// CHECK-NEXT: samba.reshape %[[Y]] {shape = [2, 6, 1, 8]}
// CHECK-NEXT: return
func.func @one_row(%q: tensor<2x6x1x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>, %m: tensor<6x1x5xf32>) -> tensor<2x6x1x8xf32> {
  %k1 = samba.reshape %k {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %k2 = samba.expand %k1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %k3 = samba.reshape %k2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %v1 = samba.reshape %v {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %v2 = samba.expand %v1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %v3 = samba.reshape %v2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %y = samba.scaled_dot_product_attention %q, %k3, %v3, %m : tensor<2x6x1x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>, tensor<6x1x5xf32>
  return %y : tensor<2x6x1x8xf32>
}

// Only the values were repeated: the keys split as the query does. All heads may share one.
// CHECK-LABEL: @values_only
// CHECK-DAG: %[[V:.*]] = samba.reshape %arg2 {shape = [2, 1, 1, 5, 8]}
// CHECK-DAG: %[[Q:.*]] = samba.reshape %arg0 {shape = [2, 1, 6, 4, 8]}
// CHECK-DAG: %[[K:.*]] = samba.reshape %arg1 {shape = [2, 1, 6, 5, 8]}
// CHECK: samba.scaled_dot_product_attention %[[Q]], %[[K]], %[[V]] :
func.func @values_only(%q: tensor<2x6x4x8xf32>, %k: tensor<2x6x5x8xf32>, %v: tensor<2x1x5x8xf32>) -> tensor<2x6x4x8xf32> {
  %v1 = samba.reshape %v {shape = [2, 1, 1, 5, 8]} : tensor<2x1x5x8xf32>
  %v2 = samba.expand %v1 {shape = [2, 1, 6, 5, 8]} : tensor<2x1x1x5x8xf32>
  %v3 = samba.reshape %v2 {shape = [2, 6, 5, 8]} : tensor<2x1x6x5x8xf32>
  %y = samba.scaled_dot_product_attention %q, %k, %v3 : tensor<2x6x4x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>
  return %y : tensor<2x6x4x8xf32>
}

// Near misses. Heads that alternate: head h reads keys h mod 2, which no splitting of axes says.
// CHECK-LABEL: @alternating
// CHECK: samba.scaled_dot_product_attention {{.*}} : tensor<2x6x4x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>
func.func @alternating(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x6x5x8xf32>) -> tensor<2x6x4x8xf32> {
  %k1 = samba.reshape %k {shape = [2, 1, 2, 5, 8]} : tensor<2x2x5x8xf32>
  %k2 = samba.expand %k1 {shape = [2, 3, 2, 5, 8]} : tensor<2x1x2x5x8xf32>
  %k3 = samba.reshape %k2 {shape = [2, 6, 5, 8]} : tensor<2x3x2x5x8xf32>
  %y = samba.scaled_dot_product_attention %q, %k3, %v : tensor<2x6x4x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>
  return %y : tensor<2x6x4x8xf32>
}
// Keys and values of different groups.
// CHECK-LABEL: @groups_differ
// CHECK: samba.scaled_dot_product_attention {{.*}} : tensor<2x6x4x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>
func.func @groups_differ(%q: tensor<2x6x4x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x3x5x8xf32>) -> tensor<2x6x4x8xf32> {
  %k1 = samba.reshape %k {shape = [2, 2, 1, 5, 8]} : tensor<2x2x5x8xf32>
  %k2 = samba.expand %k1 {shape = [2, 2, 3, 5, 8]} : tensor<2x2x1x5x8xf32>
  %k3 = samba.reshape %k2 {shape = [2, 6, 5, 8]} : tensor<2x2x3x5x8xf32>
  %v1 = samba.reshape %v {shape = [2, 3, 1, 5, 8]} : tensor<2x3x5x8xf32>
  %v2 = samba.expand %v1 {shape = [2, 3, 2, 5, 8]} : tensor<2x3x1x5x8xf32>
  %v3 = samba.reshape %v2 {shape = [2, 6, 5, 8]} : tensor<2x3x2x5x8xf32>
  %y = samba.scaled_dot_product_attention %q, %k3, %v3 : tensor<2x6x4x8xf32>, tensor<2x6x5x8xf32>, tensor<2x6x5x8xf32>
  return %y : tensor<2x6x4x8xf32>
}
