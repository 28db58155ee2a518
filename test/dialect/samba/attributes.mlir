// What arguments, results, operations and modules may carry.
// RUN: samba-opt %s > %t.mlir && samba-opt %t.mlir | diff %t.mlir - && FileCheck %s < %t.mlir
// RUN: samba-opt --emit-bytecode %s | samba-opt | diff %t.mlir -

module attributes {samba.graphs = [@forward]} {
  // CHECK: #samba.derived<"permute", attributes = {dims = [1, 0]}, operands = [#samba.external<"m.onnx", bytes = 24, offset = 0>], types = [tensor<2x3xf32>]>
  // CHECK: #samba.argin<default = 1.000000e-01, group = "p", kind = "lr", max = 1, min = 0.000000e+00>
  func.func @forward(
      %x: tensor<1x3xbf16> {samba.name = "x", samba.kind = "input", samba.host_dtype = f32, samba.dim_name = ["batch", "feature"]},
      %w: tensor<3x2xf32> {samba.name = "w", samba.kind = "weight", samba.mem = "hbm", samba.requires_grad = true,
                           samba.value = #samba.derived<"permute", operands = [#samba.external<"m.onnx", offset = 0, bytes = 24>],
                                                        types = [tensor<2x3xf32>], attributes = {dims = [1, 0]}>},
      %c: tensor<2xbf16> {samba.name = "c", samba.kind = "constant", samba.host_dtype = f32, samba.value = dense<[1.0, 2.0]> : tensor<2xf32>},
      %h: tensor<2xbf16> {samba.kind = "buffer", samba.host_dtype = f32, samba.value = #samba.external<"m.onnx", offset = 24, bytes = 8, checksum = "00">},
      %lr: tensor<f32> {samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", group = "p", default = 0.1, min = 0.0, max = 1>})
      -> (tensor<3x2xf32> {samba.name = "w.new", samba.kind = "update", samba.region = "w"},
          tensor<1x3xbf16> {samba.kind = "loss", samba.shard = {axis = 0, splits = 2}},
          tensor<2xbf16> {samba.kind = "gradient", samba.grad_of = "c"})
      attributes {samba.graph = {mode = "training"}} {
    // CHECK: samba.relu %{{.*}} {samba.graphamp = false, samba.op_name = "relu1"}
    %0 = samba.relu %x {samba.op_name = "relu1", samba.graphamp = false} : tensor<1x3xbf16>
    return %w, %0, %c : tensor<3x2xf32>, tensor<1x3xbf16>, tensor<2xbf16>
  }
}
