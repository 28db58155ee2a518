// mapping=spatial: the whole graph is one section, or the error says what is missing.
// RUN: rm -rf %t && split-file %s %t && cd %t
// RUN: samba-opt fits.mlir --samba-partition-sections="target=tiny mapping=spatial" | FileCheck fits.mlir
// RUN: %expect-error samba-opt units.mlir --samba-partition-sections="target=tiny mapping=spatial" 2>&1 | FileCheck units.mlir
// RUN: %expect-error samba-opt large.mlir --samba-partition-sections="target=tiny mapping=spatial" 2>&1 | FileCheck large.mlir
// RUN: %expect-error samba-opt parts.mlir --samba-partition-sections="target=tiny mapping=spatial" 2>&1 | FileCheck parts.mlir

//--- fits.mlir
// The second product would be faster in a section of its own, but that is not asked.
// CHECK: samba.section @s0
// CHECK: samba.linear
// CHECK: samba.softmax
// CHECK: samba.linear
// CHECK: func.func @fits{{.*}} attributes {rdu.spatial}
// CHECK: samba.call @s0({{.*}}rdu.end = {reason = "graph"}
// CHECK-NOT: samba.call
func.func @fits(%x: tensor<128x128xf32>, %w0: tensor<128x128xf32>, %w1: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %0 = samba.linear %x, %w0 : tensor<128x128xf32>, tensor<128x128xf32>
  %1 = samba.softmax %0 {dim = 1} : tensor<128x128xf32>
  %2 = samba.linear %1, %w1 : tensor<128x128xf32>, tensor<128x128xf32>
  return %2 : tensor<128x128xf32>
}

//--- units.mlir
// CHECK: error: {{.*}}mapping=spatial: 5 operators are to be on tiny at once, but only the first 3, up to 'third', fit; with 'fourth': {{.*}}needs 5 address generators {{.*}}but tiny has 4{{.*}}
// CHECK: use mapping=section or a larger machine
func.func @units(%x: tensor<32x32xf32>, %a: tensor<32x32xf32>, %b: tensor<32x32xf32>, %c: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = samba.linear %x, %a : tensor<32x32xf32>, tensor<32x32xf32> loc("first")
  %1 = samba.relu %0 : tensor<32x32xf32> loc("second")
  %2 = samba.linear %1, %b : tensor<32x32xf32>, tensor<32x32xf32> loc("third")
  %3 = samba.linear %2, %c : tensor<32x32xf32>, tensor<32x32xf32> loc("fourth")
  %4 = samba.relu %3 : tensor<32x32xf32> loc("fifth")
  return %4 : tensor<32x32xf32>
}

//--- large.mlir
// CHECK: error: {{.*}}mapping=spatial: 2 operators are to be on tiny at once, but only the first 1, up to 'rows', fit; with 'columns': {{.*}}needs 1440000 bytes on chip, but a PMU of tiny has 65536
func.func @large(%x: tensor<600x600xf32>) -> tensor<600x600xf32> {
  %0 = samba.softmax %x {dim = 1} : tensor<600x600xf32> loc("rows")
  %1 = samba.softmax %0 {dim = 0} : tensor<600x600xf32> loc("columns")
  return %1 : tensor<600x600xf32>
}

//--- parts.mlir
// CHECK: error: {{.*}}mapping=spatial: a section must begin here, by a phase of training or samba.starts_section, but the graph is to be one section; use mapping=section
func.func @parts(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = samba.relu %x : tensor<4x16xf32>
  %1 = samba.neg %0 {samba.starts_section = true} : tensor<4x16xf32>
  return %1 : tensor<4x16xf32>
}
