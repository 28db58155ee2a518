// RUN: samba-opt --samba-mixed-precision %s | FileCheck %s --check-prefix=MP0
// RUN: samba-opt --samba-mixed-precision=preset=mp1 %s | FileCheck %s --check-prefix=MP1
// RUN: samba-opt --samba-mixed-precision=preset=mp4 %s | FileCheck %s --check-prefix=MP4
// RUN: samba-opt --samba-mixed-precision=preset=bf16 %s > %t.1.mlir && samba-opt --samba-mixed-precision=preset=mp4 %t.1.mlir | diff %t.1.mlir -

// mp4 twice is mp4 once; bf16 is its other name.
// MP0-NOT: bf16
// MP1-LABEL: @forward
// MP1-SAME: %arg0: tensor<2x8xf32>
// MP4-LABEL: @forward
// MP4-SAME: %arg0: tensor<2x8xbf16> {samba.host_dtype = f32, samba.name = "x"}
// MP4-SAME: %arg1: tensor<4x8xbf16> {samba.host_dtype = f32, samba.value = #samba.external<"m.onnx", bytes = 128, offset = 0>}
// MP4-SAME: %arg3: tensor<2x1xi64>, %arg4
// MP4-SAME: -> (tensor<2x4xbf16> {samba.host_dtype = f32, samba.kind = "output"}, tensor<1x2x4x8xbf16> {samba.host_dtype = f32})
func.func @forward(%x: tensor<2x8xf32> {samba.name = "x"}, %w: tensor<4x8xf32> {samba.value = #samba.external<"m.onnx", offset = 0, bytes = 128>},
                   %b: tensor<4xf32>, %i: tensor<2x1xi64>, %q: tensor<1x2x4x8xf32>)
    -> (tensor<2x4xf32> {samba.kind = "output"}, tensor<1x2x4x8xf32>) {
  // Inputs of contractions are cast, the bias is added in f32, the result stays f32.
  // MP1-NEXT: %[[X:.*]] = samba.cast %arg0 {dtype = bf16}
  // MP1-NEXT: %[[W:.*]] = samba.cast %arg1 {dtype = bf16}
  // MP1-NEXT: samba.linear %[[X]], %[[W]], %arg2 {out_dtype = f32} : tensor<2x8xbf16>, tensor<4x8xbf16>, tensor<4xf32>
  // MP4-NEXT: samba.linear %arg0, %arg1, %arg2 : tensor<2x8xbf16>, tensor<4x8xbf16>, tensor<4xbf16>
  %0 = samba.linear %x, %w, %b : tensor<2x8xf32>, tensor<4x8xf32>, tensor<4xf32>
  // MP1: value = dense<[1.100000e+00
  // MP4: value = dense<[1.101560e+00, -3.000000e+00, 0.000000e+00, 2.500000e-01]> : tensor<4xbf16>
  %c = samba.constant {value = dense<[1.1, -3.0, 0.0, 0.25]> : tensor<4xf32>}
  %s = samba.constant {value = dense<0.5> : tensor<f32>}
  %1 = samba.mul %0, %c : tensor<2x4xf32>, tensor<4xf32>
  %2 = samba.mul %1, %s : tensor<2x4xf32>, tensor<f32>
  // MP4: samba.cast %{{.*}} {dtype = bf16} : tensor<2x1xi64>
  %3 = samba.cast %i {dtype = f32} : tensor<2x1xi64>
  %4 = samba.add %2, %3 : tensor<2x4xf32>, tensor<2x1xf32>
  // samba.graphamp = false keeps an operation.
  // MP1: samba.matmul %{{.*}} {samba.graphamp = false} : tensor<2x4xf32>, tensor<4x8xf32>
  %5 = samba.matmul %4, %w {samba.graphamp = false} : tensor<2x4xf32>, tensor<4x8xf32>
  // A composite has no precision of its result: it is widened again.
  // MP1: %[[A:.*]] = samba.scaled_dot_product_attention %{{.*}} : tensor<1x2x4x8xbf16>, tensor<1x2x4x8xbf16>, tensor<1x2x4x8xbf16>
  // MP1-NEXT: %[[R:.*]] = samba.cast %[[A]] {dtype = f32}
  // MP1-NEXT: return %{{.*}}, %[[R]]
  %6 = samba.scaled_dot_product_attention %q, %q, %q : tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>, tensor<1x2x4x8xf32>
  return %4, %6 : tensor<2x4xf32>, tensor<1x2x4x8xf32>
}

// What keeps its precision stays f32 as a whole under mp4, with casts around it; an argument or a constant that only it uses as well.
// MP4-LABEL: func.func @kept(%arg0: tensor<4xbf16>{{.*}}, %arg1: tensor<4xf32>)
// MP4-DAG: %[[C:.*]] = samba.constant {value = dense<1.100000e+00> : tensor<f32>}
// MP4-DAG: %[[X:.*]] = samba.cast %arg0 {dtype = f32, samba.graphamp = false}
// MP4: %[[M:.*]] = samba.mul %[[X]], %arg1 {samba.graphamp = false}
// MP4: %[[A:.*]] = samba.add %[[M]], %[[C]] {samba.graphamp = false}
// MP4: %[[N:.*]] = samba.cast %[[A]] {dtype = bf16}
// MP4: samba.mul %[[N]], %arg0 : tensor<4xbf16>, tensor<4xbf16>
func.func @kept(%x: tensor<4xf32>, %s: tensor<4xf32>) -> tensor<4xf32> {
  %c = samba.constant {value = dense<1.1> : tensor<f32>}
  %0 = samba.mul %x, %s {samba.graphamp = false} : tensor<4xf32>, tensor<4xf32>
  %1 = samba.add %0, %c {samba.graphamp = false} : tensor<4xf32>, tensor<f32>
  %2 = samba.mul %1, %x : tensor<4xf32>, tensor<4xf32>
  return %2 : tensor<4xf32>
}

// A finite constant stays finite: 0 times it must not become NaN.
// MP4-LABEL: func.func @mask
// MP4: value = dense<-3.389530e+38> : tensor<bf16>
// MP4: value = dense<[0xFF80, 3.389530e+38]> : tensor<2xbf16>
func.func @mask(%x: tensor<2xf32>) -> tensor<2xf32> {
  %low = samba.constant {value = dense<-3.40282347E+38> : tensor<f32>}
  %both = samba.constant {value = dense<[0xFF800000, 3.40282347E+38]> : tensor<2xf32>}
  %0 = samba.mul %x, %low : tensor<2xf32>, tensor<f32>
  %1 = samba.add %0, %both : tensor<2xf32>, tensor<2xf32>
  return %1 : tensor<2xf32>
}
