// A slice is put where the base lies: the base is made in a region of the result, or copied into one.
// RUN: samba-opt %s --samba-update-in-place | FileCheck %s
// RUN: samba-opt %s --samba-update-in-place -o %t.once && samba-opt %t.once --samba-update-in-place -o %t.twice && diff %t.once %t.twice

samba.section @neg(%x: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.neg %x : tensor<4x2xf32>
  samba.yield %0 : tensor<4x2xf32>
}
samba.section @first(%r: tensor<1x2xf32>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.put_slice %r {dim = 0, start = 0, size = 4} : tensor<1x2xf32>
  samba.yield %0 : tensor<4x2xf32>
}
samba.section @put(%r: tensor<1x2xf32>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.put_slice %r, %b {dim = 0, start = 1, size = 4} : tensor<1x2xf32>, tensor<4x2xf32>
  samba.yield %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @f(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x2xf32>
// CHECK-NEXT: %[[N:.*]] = samba.call @neg(%[[X]]) {id = 0, rdu.regions = ["rows0"]
// CHECK-NEXT: samba.call @put(%{{.*}}, %[[N]]) {id = 1, rdu.regions = ["rows0"]
// CHECK-NEXT: %[[C:.*]] = samba.call @save0(%[[X]]) {{.*}}rdu.regions = ["rows1"]
// CHECK-NEXT: samba.call @put(%{{.*}}, %[[C]]) {{.*}}rdu.regions = ["rows1"]
// CHECK-NEXT: samba.call @first(%{{.*}}) {id = 4, type
func.func @f(%x: tensor<4x2xf32>, %r: tensor<1x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %0 = samba.call @neg(%x) {id = 0, type = "FWD"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = samba.call @put(%r, %0) {id = 1, type = "FWD"} : (tensor<1x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %2 = samba.call @put(%r, %x) {id = 2, type = "FWD"} : (tensor<1x2xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %3 = samba.call @first(%r) {id = 3, type = "FWD"} : (tensor<1x2xf32>) -> tensor<4x2xf32>
  return %1, %2, %3 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
