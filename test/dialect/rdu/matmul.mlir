// A matrix product of 128 x 128 x 128 on `tiny`, tiles of 64 in passes of 16: the section as it is configured. Every line is one unit.
// RUN: samba-opt %s > %t.mlir && samba-opt %t.mlir | diff %t.mlir - && FileCheck %s < %t.mlir
// RUN: samba-opt --mlir-print-op-generic %s | samba-opt | diff %t.mlir -
// RUN: samba-opt --emit-bytecode %s | samba-opt | diff %t.mlir -
// RUN: samba-opt --canonicalize --cse %s | diff %t.mlir -

// CHECK-LABEL: rdu.section @matmul
// CHECK-SAME: %arg2: !rdu.symbol<128x128xbf16> {rdu.name = "c", rdu.written}) attributes {machine = #rdu.machine<"tiny">} {
rdu.section @matmul(%a: !rdu.symbol<128x128xbf16> {rdu.name = "a"}, %b: !rdu.symbol<128x128xbf16> {rdu.name = "b"},
                    %c: !rdu.symbol<128x128xbf16> {rdu.name = "c", rdu.written}) attributes {machine = #rdu.machine<"tiny">} {
  // CHECK-NEXT: rdu.load %arg0 {name = "a.load", outputs = [{loops = [2, 2], strides = [8192, 0, 128, 1], tile = [64, 128]}]} : (!rdu.symbol<128x128xbf16>) -> !rdu.stream<64x128xbf16>
  %at = rdu.load %a {name = "a.load", outputs = [{loops = [2, 2], tile = [64, 128], strides = [8192, 0, 128, 1]}]}
      : (!rdu.symbol<128x128xbf16>) -> !rdu.stream<64x128xbf16>
  %bt = rdu.load %b {name = "b.load", outputs = [{loops = [2, 2], tile = [128, 64], strides = [0, 64, 128, 1]}]}
      : (!rdu.symbol<128x128xbf16>) -> !rdu.stream<128x64xbf16>
  // A pass reads 128 steps of k, 16 elements each; the rows of a pass come again for each of its columns.
  // CHECK: rdu.buffer %{{.*}} {banking = "diagonal", depth = 2,
  %ab = rdu.buffer %at {name = "a.tiles", depth = 2, slot_elements = 8192, banking = "diagonal", row_words = 64, skew = 1, inputs = [{slots = [4], tile = [64, 128], strides = [0, 128, 1]}],
                        outputs = [{slots = [4], loops = [4, 4], tile = [128, 16], strides = [0, 2048, 0, 1, 128]}]} : (!rdu.stream<64x128xbf16>) -> !rdu.stream<128x16xbf16>
  %bb = rdu.buffer %bt {name = "b.tiles", depth = 2, slot_elements = 8192, inputs = [{slots = [4], tile = [128, 64], strides = [0, 64, 1]}],
                        outputs = [{slots = [4], loops = [4, 4], tile = [128, 16], strides = [0, 0, 16, 64, 1]}]} : (!rdu.stream<128x64xbf16>) -> !rdu.stream<128x16xbf16>
  // CHECK: rdu.compute {{.*}} reduce = [4], systolic, tile = [128, 16, 16]} do {
  // CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[Y:.*]]: f32):
  // CHECK-NEXT: rdu.reduce "mac"(%[[X]], %[[Y]]) : (f32, f32) -> f32
  // CHECK-NEXT: rdu.lane "to_bf16"
  // CHECK-NEXT: rdu.yield
  %ct = rdu.compute %ab, %bb {name = "product", systolic, loops = [2, 2, 4, 4], tile = [128, 16, 16], reduce = [4],
                              inputs = [{strides = [0, 0, 0, 0, 16, 1, 0]}, {strides = [0, 0, 0, 0, 16, 0, 1]}],
                              outputs = [{strides = [0, 0, 0, 0, 0, 16, 1]}]} do {
  ^bb0(%x: f32, %y: f32):
    %sum = rdu.reduce "mac"(%x, %y) : (f32, f32) -> f32
    %rounded = rdu.lane "to_bf16"(%sum) : (f32) -> f32
    rdu.yield %rounded : f32
  } : (!rdu.stream<128x16xbf16>, !rdu.stream<128x16xbf16>) -> !rdu.stream<16x16xbf16>
  rdu.store %c, %ct {name = "c.store", inputs = [{loops = [2, 2, 4, 4], tile = [16, 16], strides = [8192, 64, 2048, 16, 128, 1]}]}
      : (!rdu.symbol<128x128xbf16>, !rdu.stream<16x16xbf16>) -> ()
}
