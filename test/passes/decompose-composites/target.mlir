// RUN: samba-opt %s --samba-decompose-composites | FileCheck %s --check-prefix=WHOLE
// RUN: samba-opt %s --samba-decompose-composites=target=sn40l | FileCheck %s --check-prefix=WHOLE
// RUN: samba-opt %s --samba-decompose-composites=target=tiny | FileCheck %s
// RUN: samba-opt %s --samba-decompose-composites=target=tiny --canonicalize | FileCheck %s
// RUN: not samba-opt %s --samba-decompose-composites=target=huge 2>&1 | FileCheck %s --check-prefix=TARGET

// Operators that have stages are decomposed where the target cannot hold them as one section.
// TARGET: error: {{.*}}'huge'

// WHOLE-LABEL: func.func @attention
// WHOLE: samba.scaled_dot_product_attention
// CHECK-LABEL: func.func @attention
// CHECK-DAG: %[[K:.*]] = samba.permute %arg1
// CHECK: %[[S:.*]] = samba.matmul %arg0, %[[K]] {out_dtype = f32}
// CHECK: %[[C:.*]] = samba.mul %[[S]]
// CHECK: %[[M:.*]] = samba.where %arg3, %[[C]]
// CHECK: samba.le
// CHECK: samba.where
// CHECK: %[[R:.*]] = samba.cast {{.*}} {dtype = bf16} : tensor<2x4x4xf32>
// CHECK: samba.amax
// CHECK: %[[E:.*]] = samba.exp
// CHECK: %[[Q:.*]] = samba.cast %[[E]] {dtype = bf16}
// CHECK: %[[T:.*]] = samba.sum
// CHECK: %[[Y:.*]] = samba.matmul %[[Q]], %arg2 {out_dtype = f32}
// CHECK: samba.div %[[Y]], %[[T]]
func.func @attention(%q: tensor<2x4x8xbf16>, %k: tensor<2x4x8xbf16>, %v: tensor<2x4x8xbf16>, %mask: tensor<4x4xi1>) -> tensor<2x4x8xbf16> {
  %0 = samba.scaled_dot_product_attention %q, %k, %v, %mask {is_causal = true} : tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<2x4x8xbf16>, tensor<4x4xi1>
  return %0 : tensor<2x4x8xbf16>
}

// Three operands and a result fit the address generators of both.
// WHOLE-LABEL: func.func @plain
// WHOLE: samba.scaled_dot_product_attention
// CHECK-LABEL: func.func @plain
// CHECK: samba.scaled_dot_product_attention
func.func @plain(%q: tensor<2x4x8xf32>, %k: tensor<2x4x8xf32>, %v: tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = samba.scaled_dot_product_attention %q, %k, %v : tensor<2x4x8xf32>, tensor<2x4x8xf32>, tensor<2x4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// WHOLE-LABEL: func.func @batch_norm
// WHOLE: samba.batch_norm
// CHECK-LABEL: func.func @batch_norm
// CHECK: samba.rsqrt
// CHECK-NOT: samba.batch_norm
func.func @batch_norm(%x: tensor<2x3x4xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = samba.batch_norm %x, %w, %b, %m, %v : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
  return %0 : tensor<2x3x4xf32>
}

// WHOLE-LABEL: func.func @rotary
// WHOLE: samba.rotary_embedding
// CHECK-LABEL: func.func @rotary
// CHECK: samba.neg
// CHECK: samba.cat
// CHECK-NOT: samba.rotary_embedding
func.func @rotary(%x: tensor<2x4x8xf32>, %cos: tensor<4x8xf32>, %sin: tensor<4x8xf32>) -> tensor<2x4x8xf32> {
  %0 = samba.rotary_embedding %x, %cos, %sin {interleaved = true} : tensor<2x4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
  return %0 : tensor<2x4x8xf32>
}

// Three loads and three stores are too many for tiny; canonicalization does not join the groups again.
// WHOLE-LABEL: func.func @cat
// WHOLE: samba.cat %arg0, %arg1, %arg2
// CHECK-LABEL: func.func @cat
// CHECK: %[[G:.*]] = samba.cat %arg0, %arg1 {{.*}} : tensor<2x2x4xf32>, tensor<2x1x4xf32>
// CHECK: samba.cat %[[G]], %arg2
func.func @cat(%a: tensor<2x2x4xf32>, %b: tensor<2x1x4xf32>, %c: tensor<2x3x4xf32>) -> tensor<2x6x4xf32> {
  %0 = samba.cat %a, %b, %c {dim = 1} : tensor<2x2x4xf32>, tensor<2x1x4xf32>, tensor<2x3x4xf32>
  return %0 : tensor<2x6x4xf32>
}

// The result and the statistics, each by themselves.
// WHOLE-LABEL: func.func @native_layer_norm
// WHOLE: samba.native_layer_norm
// CHECK-LABEL: func.func @native_layer_norm
// CHECK: samba.rsqrt
// CHECK: samba.layer_norm %arg0, %arg1, %arg2
func.func @native_layer_norm(%x: tensor<2x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>) {
  %0, %1, %2 = samba.native_layer_norm %x, %w, %b {normalized_shape = [4]} : tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>
  return %0, %1, %2 : tensor<2x4xf32>, tensor<2x1xf32>, tensor<2x1xf32>
}
