// An update of a parameter is one section, so that it moves what its tensors need: its averages meet
// at the end only. What makes single elements comes first, once for all parameters.
// RUN: samba-opt %s --samba-decompose-composites=target=sn40l --cse --samba-partition-sections=target=sn40l | FileCheck %s

// CHECK: samba.section @s0({{.*}}) -> (tensor<f32>
// CHECK-NOT: 512x512
// CHECK: samba.section @s1
// CHECK-COUNT-14: %{{[0-9]+}} = samba.{{.*}}512x512
// CHECK: samba.yield
// CHECK-NOT: samba.section
// CHECK: func.func @step
// CHECK: samba.call @s0
// CHECK: samba.call @s1
// CHECK: samba.call @s1
// CHECK-NOT: samba.call
// CHECK: return
func.func @step(%w: tensor<512x512xf32>, %gw: tensor<512x512xf32>, %mw: tensor<512x512xf32>, %vw: tensor<512x512xf32>,
    %u: tensor<512x512xf32>, %gu: tensor<512x512xf32>, %mu: tensor<512x512xf32>, %vu: tensor<512x512xf32>,
    %t: tensor<i64>,
    %lr: tensor<f32> {samba.name = "lr", samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", default = 0.1>},
    %decay: tensor<f32> {samba.name = "decay", samba.kind = "argin", samba.argin = #samba.argin<kind = "weight_decay", default = 0.1>})
    -> (tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %0:3 = samba.adamw_update %w, %gw, %mw, %vw, %lr, %t, %decay {samba.phase = "OPT"}
      : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<f32>, tensor<i64>, tensor<f32>
  %1:3 = samba.adamw_update %u, %gu, %mu, %vu, %lr, %t, %decay {samba.phase = "OPT"}
      : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<f32>, tensor<i64>, tensor<f32>
  return %0#0, %0#1, %0#2, %1#0, %1#1, %1#2 : tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>, tensor<512x512xf32>
}

// A single element that is made of a tensor stays behind it; other phases keep their order.
// CHECK-LABEL: func.func @norm
// CHECK: samba.call {{.*}}type = "FWD"
// CHECK: samba.call {{.*}}(%{{.*}}, %{{.*}}) {id = {{[0-9]+}}, {{.*}}type = "OPT"} : (tensor<f32>, tensor<f32>) -> tensor<f32>
// CHECK: samba.call {{.*}}type = "OPT"
func.func @norm(%x: tensor<4096x4096xf32>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
    attributes {samba.graph = {mode = "training"}} {
  %0 = samba.exp %x : tensor<4096x4096xf32>
  %first = samba.neg %a : tensor<f32>
  %1 = samba.mul %0, %x {samba.phase = "OPT"} : tensor<4096x4096xf32>, tensor<4096x4096xf32>
  %2 = samba.sum %1 {dim = [0, 1], samba.phase = "OPT"} : tensor<4096x4096xf32>
  %3 = samba.mul %a, %b {samba.phase = "OPT"} : tensor<f32>, tensor<f32>
  %4 = samba.mul %2, %3 {samba.phase = "OPT"} : tensor<f32>, tensor<f32>
  return %first, %3, %4 : tensor<f32>, tensor<f32>, tensor<f32>
}
