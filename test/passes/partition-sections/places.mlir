// What is taken by way of memory is made by another section: parts of a stack, and what is taken apart.
// RUN: samba-opt %s --split-input-file --samba-partition-sections=target=tiny | FileCheck %s
// RUN: samba-opt %s --split-input-file --samba-partition-sections="target=tiny opt=o3" | FileCheck %s
// Nor do pins change that.
// RUN: sed 's/samba.neg %x :/samba.neg %x {rdu.section = 0 : i64} :/; s/samba.exp %0 :/samba.exp %0 {rdu.section = 0 : i64} :/' %s > %t.mlir
// RUN: samba-opt %t.mlir --split-input-file --samba-partition-sections=target=tiny 2> %t.log | FileCheck %s
// RUN: FileCheck %s --check-prefix=PINNED < %t.log
// PINNED: warning: the section that is pinned from 'neg' on is none: an operator of it reads what another one leaves in memory (samba.stack, samba.unstack)
// RUN: sed 's/samba.relu %x :/samba.relu %x {rdu.section = 0 : i64} :/; s/samba.tanh %e :/samba.tanh %e {rdu.section = 0 : i64} :/' %s > %t.around.mlir
// RUN: samba-opt %t.around.mlir --split-input-file --samba-partition-sections="target=tiny opt=o3" 2>&1 | FileCheck %s --check-prefix=AROUND
// AROUND: warning: the section that is pinned from 'relu' on is none: an operator outside of it reads what it makes and makes what it reads
// Values are those of the operators.
// RUN: samba-opt %s --split-input-file --samba-check-values="passes=samba-to-rdu{target=tiny}" -o /dev/null
// RUN: samba-opt %s --split-input-file --samba-check-values="passes=samba-to-rdu{target=tiny opt=o3}" -o /dev/null

// Makers and readers stand side by side; the second reader takes from the first one and from a maker.
// CHECK-LABEL: func.func @stacks(
// CHECK-NEXT: %[[M:.*]]:2 = samba.call
// CHECK-NEXT: %[[S:.*]] = samba.stack %[[M]]#0, %[[M]]#1
// CHECK-NEXT: %[[E:.*]] = samba.call @{{.*}}(%[[S]])
// CHECK-NEXT: %[[T:.*]] = samba.stack %[[E]]
// CHECK-NEXT: %[[R:.*]] = samba.call @{{.*}}(%[[S]], %[[T]])
// CHECK-NEXT: return %[[R]]
func.func @stacks(%x: tensor<128xf32>) -> tensor<1x2x128xf32> {
  %a = samba.relu %x : tensor<128xf32>
  %b = samba.neg %x : tensor<128xf32>
  %0 = samba.stack %a, %b : (tensor<128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
  %e = samba.exp %0 : tensor<2x128xf32>
  %1 = samba.stack %e : (tensor<2x128xf32>) -> tensor<1x2x128xf32>
  %2 = samba.add %0, %1 : tensor<2x128xf32>, tensor<1x2x128xf32>
  return %2 : tensor<1x2x128xf32>
}

// -----

// CHECK-LABEL: func.func @unstacked(
// CHECK-NEXT: %[[W:.*]] = samba.call
// CHECK-NEXT: %[[P:.*]]:2 = samba.unstack %[[W]]
// CHECK-NEXT: %[[R:.*]] = samba.call @{{.*}}(%[[P]]#0, %[[P]]#1)
// CHECK-NEXT: return %[[R]]
func.func @unstacked(%x: tensor<2x128xf32>) -> tensor<128xf32> {
  %0 = samba.relu %x : tensor<2x128xf32>
  %1:2 = samba.unstack %0 : (tensor<2x128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
  %2 = samba.add %1#0, %1#1 : tensor<128xf32>, tensor<128xf32>
  return %2 : tensor<128xf32>
}

// -----

// CHECK-LABEL: func.func @around(
// CHECK-NEXT: samba.call
// CHECK-NEXT: samba.stack
// CHECK-NEXT: samba.call
// CHECK-NEXT: return
func.func @around(%x: tensor<128xf32>) -> tensor<2x128xf32> {
  %a = samba.relu %x : tensor<128xf32>
  %b = samba.abs %x : tensor<128xf32>
  %0 = samba.stack %a, %b : (tensor<128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
  %e = samba.sigmoid %0 : tensor<2x128xf32>
  %1 = samba.tanh %e : tensor<2x128xf32>
  return %1 : tensor<2x128xf32>
}
