// o3: a search over sections and orders. It never ends with more predicted cycles than o1, keeps equal
// layers equal, and says what going on would cost.
// RUN: samba-opt %s --samba-partition-sections="target=tiny opt=o3" --mlir-pass-statistics 2>&1 | FileCheck %s
// RUN: samba-opt %s --samba-partition-sections="target=tiny opt=o1" | FileCheck %s --check-prefix=O1
// Without time for trials there is what o1 finds.
// RUN: samba-opt %s --samba-partition-sections="target=tiny opt=o3 search_seconds=0" --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=OVER
// Where hardly any of the trials can be made, none is.
// RUN: samba-opt %s --samba-partition-sections="target=tiny opt=o3 search_seconds=0.000001" --mlir-pass-statistics 2>&1 | FileCheck %s --check-prefix=SHORT

// The large product stands between the operators of a small chain. o1 follows the trace and makes five
// sections of them, the search has the chain in one and the product with its softmax in another.
// CHECK: samba.section @[[PRODUCT:.*]](%{{.*}}: tensor<512x512xf32>, %{{.*}}: tensor<512x512xf32>)
// CHECK-NEXT: samba.matmul
// CHECK-NEXT: samba.softmax
// CHECK: samba.section @[[CHAIN:.*]](%{{.*}}: tensor<64x64xf32>, %{{.*}}: tensor<64x64xf32>)
// CHECK-NEXT: samba.linear
// CHECK-NEXT: samba.relu
// CHECK-NEXT: samba.softmax
// CHECK-LABEL: func.func @chain
// CHECK: samba.call @[[PRODUCT]]({{.*}}rdu.end = {next = "linear", reason = "room", why = "{{.*}}needs 1048576 bytes on chip, but a PMU of tiny has 65536
// CHECK: samba.call @[[CHAIN]]({{.*}}rdu.end = {reason = "graph"}
// CHECK-NOT: samba.call
// O1-LABEL: func.func @chain
// O1-COUNT-5: samba.call
// O1-NOT: samba.call
// O1: samba.section
// OVER-LABEL: func.func @chain
// OVER-COUNT-4: rdu.end = {next = "{{.*}}", reason = "time"}
// OVER: rdu.end = {reason = "graph"}
func.func @chain(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<512x512xf32>, %u: tensor<512x512xf32>) -> (tensor<64x64xf32>, tensor<512x512xf32>) {
  %0 = samba.linear %x, %w : tensor<64x64xf32>, tensor<64x64xf32>
  %1 = samba.matmul %v, %u : tensor<512x512xf32>, tensor<512x512xf32>
  %2 = samba.relu %0 : tensor<64x64xf32>
  %3 = samba.softmax %1 {dim = 0} : tensor<512x512xf32>
  %4 = samba.softmax %2 {dim = 1} : tensor<64x64xf32>
  return %4, %3 : tensor<64x64xf32>, tensor<512x512xf32>
}

// Four equal layers share one configuration, which is loaded once.
// CHECK: samba.section @[[LAYER:.*]](
// CHECK-LABEL: func.func @layers
// CHECK-COUNT-3: samba.call @[[LAYER]]({{.*}}rdu.end = {more = {{[0-9]+}}, next = "linear", reason = "search"}
// CHECK: samba.call @[[LAYER]]({{.*}}reason = "graph"
// CHECK-NOT: samba.call
func.func @layers(%x: tensor<128x128xf32>, %w0: tensor<128x128xf32>, %w1: tensor<128x128xf32>, %w2: tensor<128x128xf32>, %w3: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = samba.linear %x, %w0 : tensor<128x128xf32>, tensor<128x128xf32>
  %1 = samba.softmax %0 {dim = 1} : tensor<128x128xf32>
  %2 = samba.linear %1, %w1 : tensor<128x128xf32>, tensor<128x128xf32>
  %3 = samba.softmax %2 {dim = 1} : tensor<128x128xf32>
  %4 = samba.linear %3, %w2 : tensor<128x128xf32>, tensor<128x128xf32>
  %5 = samba.softmax %4 {dim = 1} : tensor<128x128xf32>
  %6 = samba.linear %5, %w3 : tensor<128x128xf32>, tensor<128x128xf32>
  %7 = samba.softmax %6 {dim = 1} : tensor<128x128xf32>
  return %7 : tensor<128x128xf32>
}

// The cut that the user asks for stays, and nothing crosses it.
// CHECK-LABEL: func.func @asked
// CHECK: rdu.end = {next = "linear", reason = "order"}
// CHECK: rdu.end = {reason = "graph"}
// CHECK-NOT: samba.call
func.func @asked(%x: tensor<4x16xf32>, %w0: tensor<32x16xf32>, %w1: tensor<8x32xf32>) -> tensor<4x8xf32> {
  %0 = samba.linear %x, %w0 : tensor<4x16xf32>, tensor<32x16xf32>
  %1 = samba.relu %0 : tensor<4x32xf32>
  %2 = samba.linear %1, %w1 {samba.starts_section = true} : tensor<4x32xf32>, tensor<8x32xf32>
  return %2 : tensor<4x8xf32>
}

// An empty graph has no sections.
// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return
func.func @nothing() {
  return
}

// CHECK: samba-partition-sections
// CHECK: (S) {{[0-9]+}} intervals-priced - Sections that the search tried
// CHECK: (S) {{[0-9]+}} intervals-reused - Sections with the price of equal ones
// CHECK: (S) 1 graphs-reordered - Graphs that run in another order
// CHECK-NOT: searches-over
// OVER: (S) {{[1-9][0-9]*}} searches-over - Searches that --search-seconds ended
// SHORT: reason = "room"
// SHORT-NOT: intervals-priced
// SHORT: (S) {{[1-9][0-9]*}} searches-over
