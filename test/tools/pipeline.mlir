// The pipeline as one, each pass alone, and both in the stock mlir-opt with the plugin: the same sections.
// REQUIRES: plugin
// UNSUPPORTED: asan
// RUN: samba-opt --samba-to-rdu=target=tiny %s > %t.whole.mlir && FileCheck %s < %t.whole.mlir
// RUN: %python %S/Inputs/one_by_one.py %s tiny samba-opt > %t.single.mlir && diff %t.whole.mlir %t.single.mlir
// RUN: %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --pass-pipeline='builtin.module(samba-to-rdu{target=tiny})' %s > %t.stock.mlir
// RUN: diff %t.whole.mlir %t.stock.mlir
// RUN: %python %S/Inputs/one_by_one.py %s tiny %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin > %t.stock.single.mlir
// RUN: diff %t.whole.mlir %t.stock.single.mlir
// RUN: samba-opt --mlir-disable-threading --samba-to-rdu=target=tiny %s | diff %t.whole.mlir -

// CHECK: rdu.section @{{.*}} attributes {machine = #rdu.machine<"tiny">}
// CHECK-DAG: rdu.compute
// CHECK-DAG: systolic
// CHECK-DAG: site = [
// CHECK-DAG: rdu.route
// CHECK: func.func @forward
// CHECK: samba.call @{{.*}} {id = 0, {{.*}}type = "FWD"}
func.func @forward(%x: tensor<8x64xf32> {samba.name = "x", samba.kind = "input"},
                   %w: tensor<32x64xf32> {samba.name = "w", samba.kind = "weight", samba.value = #samba.external<"w.bin", offset = 0, bytes = 8192>},
                   %b: tensor<32xf32> {samba.name = "b", samba.kind = "weight", samba.value = #samba.external<"w.bin", offset = 8192, bytes = 128>})
    -> (tensor<8x32xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = samba.linear %x, %w, %b : tensor<8x64xf32>, tensor<32x64xf32>, tensor<32xf32>
  %1 = samba.relu %0 : tensor<8x32xf32>
  %2 = samba.softmax %1 {dim = 1} : tensor<8x32xf32>
  return %2 : tensor<8x32xf32>
}
