// Why a section ends is said on its call.
// RUN: samba-opt %s --samba-partition-sections=target=tiny | FileCheck %s
// RUN: samba-opt %s --samba-partition-sections="target=tiny opt=o0" | FileCheck %s --check-prefix=O0

// The next operator must begin a section.
// CHECK-LABEL: func.func @order
// CHECK: rdu.end = {next = "linear", reason = "order"}
// CHECK: rdu.end = {reason = "graph"}
// O0-LABEL: func.func @order
// O0: rdu.end = {next = "relu", reason = "request"}
// O0: rdu.end = {next = "linear", reason = "request"}
// O0: rdu.end = {reason = "request"}
func.func @order(%x: tensor<4x16xf32>, %w0: tensor<32x16xf32>, %w1: tensor<8x32xf32>) -> tensor<4x8xf32> {
  %0 = samba.linear %x, %w0 : tensor<4x16xf32>, tensor<32x16xf32>
  %1 = samba.relu %0 : tensor<4x32xf32>
  %2 = samba.linear %1, %w1 {samba.starts_section = true} : tensor<4x32xf32>, tensor<8x32xf32>
  return %2 : tensor<4x8xf32>
}

// One softmax wants whole rows, the other whole columns: all of the tensor between them would lie in
// a PMU.
// CHECK-LABEL: func.func @room
// CHECK: rdu.end = {next = "columns", reason = "room", why = "{{.*}}tensor 1 between the stages needs 1440000 bytes on chip, but a PMU of tiny has 65536
// CHECK: rdu.end = {reason = "graph"}
func.func @room(%x: tensor<600x600xf32>) -> tensor<600x600xf32> {
  %0 = samba.softmax %x {dim = 1} : tensor<600x600xf32>
  %1 = samba.softmax %0 {dim = 0} : tensor<600x600xf32> loc("columns")
  return %1 : tensor<600x600xf32>
}

// The second product would read all of the first again and again while both share the chip.
// CHECK-LABEL: func.func @cycles
// CHECK: rdu.end = {apart = {{[0-9]+}}, next = "matmul", reason = "cycles", together = {{[0-9]+}}}
func.func @cycles(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = samba.matmul %a, %b : tensor<512x512xf32>, tensor<512x512xf32>
  %1 = samba.matmul %c, %0 : tensor<512x512xf32>, tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}
