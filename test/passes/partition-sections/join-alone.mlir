// What operators take alone is not asked for where they join for nothing: here a plan for each of
// four steps, and one of the first operator behind the product, which takes PCUs that must be loaded.
// RUN: samba-opt %s --samba-partition-sections --mlir-pass-statistics -o %t.mlir 2>&1 | FileCheck %s
// RUN: grep -c 'samba.section @' %t.mlir | FileCheck %s --check-prefix=ONE
// CHECK: samba-partition-sections
// CHECK: (S) 5 plans-made
// ONE: {{^}}1{{$}}

func.func @chain(%x: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = samba.matmul %x, %w : tensor<1024x1024xf32>, tensor<1024x1024xf32>
  %1 = samba.tanh %0 : tensor<1024x1024xf32>
  %2 = samba.neg %1 : tensor<1024x1024xf32>
  %3 = samba.abs %2 : tensor<1024x1024xf32>
  return %3 : tensor<1024x1024xf32>
}
