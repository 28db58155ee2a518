// A mask that is made of constants and hides what comes later is is_causal, however it is written.
// RUN: samba-opt %s --samba-raise-idioms --canonicalize | FileCheck %s
// RUN: samba-opt %s --samba-raise-idioms --canonicalize -o %t.once && samba-opt %t.once --samba-raise-idioms --canonicalize -o %t.twice && diff %t.once %t.twice

// Minus infinity above the diagonal, added.
// CHECK-LABEL: @triangle_added
// CHECK-NEXT: %[[Y:.*]] = samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {is_causal = true, scale = 1.000000e+00} : tensor<2x6x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @triangle_added(%q: tensor<2x6x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x6x8xf32> {
  %low = samba.constant {value = dense<0xFF800000> : tensor<f32>}
  %wide = samba.expand %low {shape = [6, 6]} : tensor<f32>
  %m = samba.triu %wide {diagonal = 1} : tensor<6x6xf32>
  %kt = samba.permute %k {dims = [0, 2, 1]} : tensor<2x6x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x6x8xf32>, tensor<2x8x6xf32>
  %a = samba.add %s, %m : tensor<2x6x6xf32>, tensor<6x6xf32>
  %p = samba.softmax %a {dim = -1} : tensor<2x6x6xf32>
  %y = samba.matmul %p, %v : tensor<2x6x6xf32>, tensor<2x6x8xf32>
  return %y : tensor<2x6x8xf32>
}

// The lowest f32 chosen where a part of a triangle of ones is 0 (GPT-2): two tokens are cached.
// CHECK-LABEL: @chosen_behind_a_cache
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {causal_offset = 2, is_causal = true, scale = 1.000000e+00} : tensor<2x4x8xf32>, tensor<2x6x8xf32>, tensor<2x6x8xf32>
func.func @chosen_behind_a_cache(%q: tensor<2x4x8xf32>, %k: tensor<2x6x8xf32>, %v: tensor<2x6x8xf32>) -> tensor<2x4x8xf32> {
  %one = samba.constant {value = dense<1> : tensor<1x8x8xui8>}
  %low = samba.constant {value = dense<-3.40282347E+38> : tensor<f32>}
  %t = samba.tril %one : tensor<1x8x8xui8>
  %part = samba.slice %t {starts = [0, 2, 0], ends = [1, 6, 6], steps = [1, 1, 1]} : tensor<1x8x8xui8>
  %kept = samba.cast %part {dtype = i1} : tensor<1x4x6xui8>
  %kt = samba.permute %k {dims = [0, 2, 1]} : tensor<2x6x8xf32>
  %s = samba.matmul %q, %kt : tensor<2x4x8xf32>, tensor<2x8x6xf32>
  %a = samba.where %kept, %s, %low : tensor<1x4x6xi1>, tensor<2x4x6xf32>, tensor<f32>
  %p = samba.softmax %a {dim = -1} : tensor<2x4x6xf32>
  %y = samba.matmul %p, %v : tensor<2x4x6xf32>, tensor<2x6x8xf32>
  return %y : tensor<2x4x8xf32>
}

// (1 - ones below the diagonal) * lowest, with an axis for the heads.
// CHECK-LABEL: @arithmetic
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {is_causal = true}
func.func @arithmetic(%q: tensor<2x3x4x8xf32>, %k: tensor<2x3x4x8xf32>, %v: tensor<2x3x4x8xf32>) -> tensor<2x3x4x8xf32> {
  %one = samba.constant {value = dense<1.0> : tensor<f32>}
  %ones = samba.expand %one {shape = [4, 4]} : tensor<f32>
  %low = samba.constant {value = dense<-3.40282347E+38> : tensor<f32>}
  %t = samba.tril %ones : tensor<4x4xf32>
  %r = samba.reshape %t {shape = [1, 1, 4, 4]} : tensor<4x4xf32>
  %hidden = samba.sub %one, %r : tensor<f32>, tensor<1x1x4x4xf32>
  %m = samba.mul %hidden, %low : tensor<1x1x4x4xf32>, tensor<f32>
  %e = samba.expand %m {shape = [2, 1, 4, 4]} : tensor<1x1x4x4xf32>
  %y = samba.scaled_dot_product_attention %q, %k, %v, %e : tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x3x4x8xf32>, tensor<2x1x4x4xf32>
  return %y : tensor<2x3x4x8xf32>
}

// Positions that are compared: of the keys [0, 5), of the queries [2, 5).
// CHECK-LABEL: @positions
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {causal_offset = 2, is_causal = true}
func.func @positions(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x3x8xf32> {
  %keys = samba.constant {value = dense<[0, 1, 2, 3, 4]> : tensor<5xi64>}
  %two = samba.constant {value = dense<2> : tensor<i64>}
  %rows = samba.slice %keys {starts = [0], ends = [3], steps = [1]} : tensor<5xi64>
  %column = samba.reshape %rows {shape = [3, 1]} : tensor<3xi64>
  %queries = samba.add %column, %two : tensor<3x1xi64>, tensor<i64>
  %later = samba.gt %keys, %queries : tensor<5xi64>, tensor<3x1xi64>
  %kept = samba.logical_not %later : tensor<3x5xi1>
  %y = samba.scaled_dot_product_attention %q, %k, %v, %kept : tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<3x5xi1>
  return %y : tensor<2x3x8xf32>
}

// The same compared the other way round, and turned.
// CHECK-LABEL: @turned
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {causal_offset = 1, is_causal = true}
func.func @turned(%q: tensor<2x3x8xf32>, %k: tensor<2x5x8xf32>, %v: tensor<2x5x8xf32>) -> tensor<2x3x8xf32> {
  %queries = samba.constant {value = dense<[1, 2, 3]> : tensor<3xi32>}
  %keys = samba.constant {value = dense<[[0], [1], [2], [3], [4]]> : tensor<5x1xi32>}
  %kept = samba.ge %queries, %keys : tensor<3xi32>, tensor<5x1xi32>
  %m = samba.permute %kept {dims = [1, 0]} : tensor<5x3xi1>
  %y = samba.scaled_dot_product_attention %q, %k, %v, %m : tensor<2x3x8xf32>, tensor<2x5x8xf32>, tensor<2x5x8xf32>, tensor<3x5xi1>
  return %y : tensor<2x3x8xf32>
}

// A constant with every element; minus infinity by a choice.
// CHECK-LABEL: @elements
// CHECK-NEXT: samba.scaled_dot_product_attention %arg0, %arg1, %arg2 {is_causal = true}
func.func @elements(%q: tensor<2x3x8xf32>, %k: tensor<2x3x8xf32>, %v: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %kept = samba.constant {value = dense<[[[true, false, false], [true, true, false], [true, true, true]]]> : tensor<1x3x3xi1>}
  %zero = samba.constant {value = dense<0.0> : tensor<f32>}
  %low = samba.constant {value = dense<0xFF800000> : tensor<f32>}
  %m = samba.where %kept, %zero, %low : tensor<1x3x3xi1>, tensor<f32>, tensor<f32>
  %y = samba.scaled_dot_product_attention %q, %k, %v, %m : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<1x3x3xf32>
  return %y : tensor<2x3x8xf32>
}

// Positions between the others: the first query sees nothing.
// CHECK-LABEL: @halves
// CHECK-NOT: is_causal
// CHECK: return
func.func @halves(%q: tensor<2x3x8xf32>, %k: tensor<2x3x8xf32>, %v: tensor<2x3x8xf32>) -> tensor<2x3x8xf32> {
  %keys = samba.constant {value = dense<[0.5, 1.5, 2.5]> : tensor<3xf32>}
  %queries = samba.constant {value = dense<[[0.0], [1.0], [2.0]]> : tensor<3x1xf32>}
  %kept = samba.le %keys, %queries : tensor<3xf32>, tensor<3x1xf32>
  %y = samba.scaled_dot_product_attention %q, %k, %v, %kept : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<3x3xi1>
  return %y : tensor<2x3x8xf32>
}

// Masks that stay: -10000 may leave something of a score; the first query sees nothing; one element is another one; a
// window; rows that are counted backwards; a mask that an argument makes; one of f32 whose scores would be rounded.
// CHECK-LABEL: @others
// CHECK-NOT: is_causal
// CHECK: return
func.func @others(%q: tensor<2x3x8xf32>, %k: tensor<2x3x8xf32>, %v: tensor<2x3x8xf32>, %one: tensor<3x3xf32>, %h: tensor<2x3x8xbf16>)
    -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xbf16>) {
  %low = samba.constant {value = dense<0xFF800000> : tensor<3x3xf32>}
  %weak = samba.constant {value = dense<-1.0e4> : tensor<3x3xf32>}
  %m0 = samba.triu %weak {diagonal = 1} : tensor<3x3xf32>
  %0 = samba.scaled_dot_product_attention %q, %k, %v, %m0 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<3x3xf32>
  %m1 = samba.triu %low {diagonal = 0} : tensor<3x3xf32>
  %1 = samba.scaled_dot_product_attention %q, %k, %v, %m1 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<3x3xf32>
  %m2 = samba.constant {value = dense<[[true, false, false], [true, true, false], [true, false, true]]> : tensor<3x3xi1>}
  %2 = samba.scaled_dot_product_attention %q, %k, %v, %m2 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<3x3xi1>
  %far = samba.tril %low {diagonal = -2} : tensor<3x3xf32>
  %near = samba.triu %low {diagonal = 1} : tensor<3x3xf32>
  %m3 = samba.add %far, %near : tensor<3x3xf32>, tensor<3x3xf32>
  %3 = samba.scaled_dot_product_attention %q, %k, %v, %m3 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<3x3xf32>
  %turned = samba.slice %near {starts = [2, 0], ends = [-1, 3], steps = [-1, 1]} : tensor<3x3xf32>
  %4 = samba.scaled_dot_product_attention %q, %k, %v, %turned : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<3x3xf32>
  %m5 = samba.mul %near, %one : tensor<3x3xf32>, tensor<3x3xf32>
  %5 = samba.scaled_dot_product_attention %q, %k, %v, %m5 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<3x3xf32>
  %6 = samba.scaled_dot_product_attention %h, %h, %h, %near : tensor<2x3x8xbf16>, tensor<2x3x8xbf16>, tensor<2x3x8xbf16>, tensor<3x3xf32>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x8xbf16>
}
