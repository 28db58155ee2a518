// The plugin gives the stock mlir-opt our dialects, passes and pipeline.
// REQUIRES: plugin
// UNSUPPORTED: asan
// RUN: %mlir-opt --load-dialect-plugin=%plugin %s | FileCheck %s
// RUN: %mlir-opt --load-dialect-plugin=%plugin --mlir-print-op-generic %s | %mlir-opt --load-dialect-plugin=%plugin | FileCheck %s
// RUN: %mlir-opt --load-dialect-plugin=%plugin --emit-bytecode %s | samba-opt | FileCheck %s
// RUN: %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(canonicalize,samba-mixed-precision{preset=mp1})' %s | FileCheck %s --check-prefix=PASS
// RUN: not %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(samba-to-rdu{opt=o7})' %s 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: not %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin \
// RUN:   --pass-pipeline='builtin.module(samba-to-rdu{optimize=1})' %s 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: samba-to-rdu: {{.*}}no such option optimize

// A region with a terminator: with glue of another C++ compiler this ends with 'block with no terminator'.
// CHECK-LABEL: samba.section @s0
// CHECK: samba.linear
// CHECK: samba.yield
// PASS: samba.yield
samba.section @s0(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.linear %x, %w : tensor<2x8xf32>, tensor<4x8xf32>
  samba.yield %0 : tensor<2x4xf32>
}

// CHECK-LABEL: rdu.section @copy
// CHECK: rdu.compute
// CHECK: rdu.yield
rdu.section @copy(%a: !rdu.symbol<8xf32> {rdu.name = "a"}, %b: !rdu.symbol<8xf32> {rdu.name = "b", rdu.written}) {
  %t = rdu.load %a {name = "in", outputs = [{loops = [2], strides = [4, 1], tile = [4]}]} : (!rdu.symbol<8xf32>) -> !rdu.stream<4xf32>
  %u = rdu.compute %t {name = "exp", loops = [2], tile = [4], inputs = [{strides = [0, 1]}], outputs = [{strides = [0, 1]}]} do {
  ^bb0(%x: f32):
    %y = math.exp %x : f32
    rdu.yield %y : f32
  } : (!rdu.stream<4xf32>) -> !rdu.stream<4xf32>
  rdu.store %b, %u {name = "out", inputs = [{loops = [2], strides = [4, 1], tile = [4]}]} : (!rdu.symbol<8xf32>, !rdu.stream<4xf32>) -> ()
}

// PASS-LABEL: @forward
// PASS: samba.linear %{{.*}} {out_dtype = f32}
// PASS-NEXT: return
func.func @forward(%x: tensor<2x8xf32>, %w: tensor<4x8xf32>) -> tensor<2x4xf32> {
  %0 = samba.contiguous %x : tensor<2x8xf32>
  %1 = samba.linear %0, %w : tensor<2x8xf32>, tensor<4x8xf32>
  return %1 : tensor<2x4xf32>
}

// PIPELINE: opt wants o0, o1 or o3, not 'o7'
