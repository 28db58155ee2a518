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

// Small updates stand in front of large ones, whatever lies between them, and share a section.
// CHECK: samba.section @[[SMALL:s[0-9]+]]({{.*}}) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
// CHECK-LABEL: func.func @layers
// CHECK-NEXT: samba.call @[[SMALL]](
// CHECK-NOT: samba.call {{.*}}64xf32
// CHECK: return
func.func @layers(%w0: tensor<4096x4096xf32>, %gw0: tensor<4096x4096xf32>, %mw0: tensor<4096x4096xf32>,
    %b0: tensor<64xf32>, %gb0: tensor<64xf32>, %mb0: tensor<64xf32>,
    %w1: tensor<4096x4096xf32>, %gw1: tensor<4096x4096xf32>, %mw1: tensor<4096x4096xf32>,
    %b1: tensor<64xf32>, %gb1: tensor<64xf32>, %mb1: tensor<64xf32>,
    %w2: tensor<4096x4096xf32>, %gw2: tensor<4096x4096xf32>, %mw2: tensor<4096x4096xf32>,
    %b2: tensor<64xf32>, %gb2: tensor<64xf32>, %mb2: tensor<64xf32>)
    -> (tensor<4096x4096xf32>, tensor<64xf32>, tensor<4096x4096xf32>, tensor<64xf32>, tensor<4096x4096xf32>, tensor<64xf32>)
    attributes {samba.graph = {mode = "training"}} {
  %rw0 = samba.mul %mw0, %gw0 {samba.phase = "OPT"} : tensor<4096x4096xf32>, tensor<4096x4096xf32>
  %sw0 = samba.sub %w0, %rw0 {samba.phase = "OPT"} : tensor<4096x4096xf32>, tensor<4096x4096xf32>
  %rb0 = samba.mul %mb0, %gb0 {samba.phase = "OPT"} : tensor<64xf32>, tensor<64xf32>
  %sb0 = samba.sub %b0, %rb0 {samba.phase = "OPT"} : tensor<64xf32>, tensor<64xf32>
  %rw1 = samba.mul %mw1, %gw1 {samba.phase = "OPT"} : tensor<4096x4096xf32>, tensor<4096x4096xf32>
  %sw1 = samba.sub %w1, %rw1 {samba.phase = "OPT"} : tensor<4096x4096xf32>, tensor<4096x4096xf32>
  %rb1 = samba.mul %mb1, %gb1 {samba.phase = "OPT"} : tensor<64xf32>, tensor<64xf32>
  %sb1 = samba.sub %b1, %rb1 {samba.phase = "OPT"} : tensor<64xf32>, tensor<64xf32>
  %rw2 = samba.mul %mw2, %gw2 {samba.phase = "OPT"} : tensor<4096x4096xf32>, tensor<4096x4096xf32>
  %sw2 = samba.sub %w2, %rw2 {samba.phase = "OPT"} : tensor<4096x4096xf32>, tensor<4096x4096xf32>
  %rb2 = samba.mul %mb2, %gb2 {samba.phase = "OPT"} : tensor<64xf32>, tensor<64xf32>
  %sb2 = samba.sub %b2, %rb2 {samba.phase = "OPT"} : tensor<64xf32>, tensor<64xf32>
  return %sw0, %sb0, %sw1, %sb1, %sw2, %sb2
      : tensor<4096x4096xf32>, tensor<64xf32>, tensor<4096x4096xf32>, tensor<64xf32>, tensor<4096x4096xf32>, tensor<64xf32>
}
