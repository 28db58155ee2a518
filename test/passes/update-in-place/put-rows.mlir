// A tensor into which rows are put is made where the result lies, when nobody else wants either.
// RUN: samba-opt %s --split-input-file --samba-update-in-place | FileCheck %s
// RUN: samba-opt %s --split-input-file --samba-update-in-place -o %t.once && samba-opt %t.once --split-input-file --samba-update-in-place -o %t.twice && diff %t.once %t.twice

samba.section @neg(%x: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.neg %x : tensor<4x2xf32>
  samba.yield %0 : tensor<4x2xf32>
}
samba.section @put(%b: tensor<4x2xf32>, %r: tensor<2x2xf32>, %i: tensor<1x2xi64>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.reshape %i {shape = [2]} : tensor<1x2xi64>
  %1 = samba.put_rows %b, %r, %0 : tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xi64>
  samba.yield %1 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @made(
// CHECK-NEXT: %[[N:.*]] = samba.call @neg(%{{.*}}) {id = 0, rdu.regions = ["g"]
// CHECK-NEXT: samba.call @put(%[[N]], %{{.*}}, %{{.*}}) {id = 1, rdu.regions = ["g"]
// CHECK-NEXT: return
func.func @made(%x: tensor<4x2xf32>, %r: tensor<2x2xf32>, %i: tensor<1x2xi64>) -> (tensor<4x2xf32> {samba.region = "g"}) {
  %0 = samba.call @neg(%x) {id = 0, type = "FWD"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = samba.call @put(%0, %r, %i) {id = 1, type = "FWD"} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<1x2xi64>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}

// No region is asked for: there is one.
// CHECK-LABEL: func.func @inside(
// CHECK-NEXT: %[[N:.*]] = samba.call @neg(%{{.*}}) {id = 2, rdu.regions = ["rows0"]
// CHECK-NEXT: %[[P:.*]] = samba.call @put(%[[N]], %{{.*}}, %{{.*}}) {id = 3, rdu.regions = ["rows0"]
// CHECK-NEXT: samba.call @neg(%[[P]])
// CHECK-NEXT: return
func.func @inside(%x: tensor<4x2xf32>, %r: tensor<2x2xf32>, %i: tensor<1x2xi64>) -> tensor<4x2xf32> {
  %0 = samba.call @neg(%x) {id = 2, type = "FWD"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = samba.call @put(%0, %r, %i) {id = 3, type = "FWD"} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<1x2xi64>) -> tensor<4x2xf32>
  %2 = samba.call @neg(%1) {id = 4, type = "FWD"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}

// -----

samba.section @neg(%x: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.neg %x : tensor<4x2xf32>
  samba.yield %0 : tensor<4x2xf32>
}
samba.section @put(%b: tensor<4x2xf32>, %r: tensor<2x2xf32>, %i: tensor<2xi64>) -> tensor<4x2xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.put_rows %b, %r, %i : tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xi64>
  samba.yield %0 : tensor<4x2xf32>
}

// An argument, a value that is a result too, and a region that an argument has: copies.
// CHECK-LABEL: func.func @copied(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x2xf32>, %
// CHECK-NEXT: %[[N:.*]] = samba.call @neg(%[[X]]) {id = 0, type
// CHECK-NEXT: %[[C0:.*]] = samba.call @save0(%[[X]]) {{.*}}rdu.regions = ["a"]
// CHECK-NEXT: samba.call @put(%[[C0]], {{.*}}rdu.regions = ["a"]
// CHECK-NEXT: %[[C1:.*]] = samba.call @save0(%[[N]]) {{.*}}rdu.regions = ["b"]
// CHECK-NEXT: samba.call @put(%[[C1]], {{.*}}rdu.regions = ["b"]
// CHECK-NEXT: %[[C2:.*]] = samba.call @save0(%[[N]]) {{.*}}rdu.regions = ["c"]
// CHECK-NEXT: samba.call @put(%[[C2]], {{.*}}rdu.regions = ["c"]
// CHECK-NEXT: return
func.func @copied(%x: tensor<4x2xf32>, %c: tensor<4x2xf32> {samba.name = "c"}, %r: tensor<2x2xf32>, %i: tensor<2xi64>)
    -> (tensor<4x2xf32> {samba.region = "a"}, tensor<4x2xf32> {samba.region = "b"}, tensor<4x2xf32> {samba.region = "c"}, tensor<4x2xf32>) {
  %0 = samba.call @neg(%x) {id = 0, type = "FWD"} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = samba.call @put(%x, %r, %i) {id = 1, type = "FWD"} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  %2 = samba.call @put(%0, %r, %i) {id = 2, type = "FWD"} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  %3 = samba.call @put(%0, %r, %i) {id = 3, type = "FWD"} : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<2xi64>) -> tensor<4x2xf32>
  return %1, %2, %3, %0 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
