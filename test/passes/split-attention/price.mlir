// Without a number of parts the predicted cycles decide, launches included: long attention is split, short one is not.
// RUN: samba-opt %s --samba-split-attention | FileCheck %s

// CHECK-LABEL: func.func @f(
// CHECK-NEXT: samba.call @long_0(
// CHECK-NEXT: samba.call @long_1(
// CHECK-NEXT: samba.call @short(
// CHECK-NEXT: return
samba.section @long(%q: tensor<2x2x300x8xf32>, %k: tensor<2x2x300x8xf32>, %v: tensor<2x2x300x8xf32>) -> tensor<2x2x300x8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %k, %v {is_causal = true} : tensor<2x2x300x8xf32>, tensor<2x2x300x8xf32>, tensor<2x2x300x8xf32>
  samba.yield %0 : tensor<2x2x300x8xf32>
}
samba.section @short(%q: tensor<40x8xf32>) -> tensor<40x8xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.scaled_dot_product_attention %q, %q, %q {is_causal = true} : tensor<40x8xf32>, tensor<40x8xf32>, tensor<40x8xf32>
  samba.yield %0 : tensor<40x8xf32>
}
func.func @f(%q: tensor<2x2x300x8xf32>, %k: tensor<2x2x300x8xf32>, %v: tensor<2x2x300x8xf32>, %r: tensor<40x8xf32>) -> (tensor<2x2x300x8xf32>, tensor<40x8xf32>) {
  %0 = samba.call @long(%q, %k, %v) {id = 0, type = "FWD"} : (tensor<2x2x300x8xf32>, tensor<2x2x300x8xf32>, tensor<2x2x300x8xf32>) -> tensor<2x2x300x8xf32>
  %1 = samba.call @short(%r) {id = 1, type = "FWD"} : (tensor<40x8xf32>) -> tensor<40x8xf32>
  return %0, %1 : tensor<2x2x300x8xf32>, tensor<40x8xf32>
}
