// Argins are scalars that come with each launch (S073): no default is folded, they need no memory,
// and what must be a tensor in memory is a copy.
// RUN: samba-opt %s --canonicalize --cse | FileCheck %s --check-prefix=FOLD
// RUN: samba-opt %s --samba-materialize-views | FileCheck %s --check-prefix=COPY
// RUN: samba-opt %s --samba-mixed-precision=preset=mp4 | FileCheck %s --check-prefix=MP4
// RUN: samba-opt %s --samba-materialize-views --samba-partition-sections="target=sn40l opt=o0" --samba-assign-memory | FileCheck %s --check-prefix=SECTION

// FOLD-LABEL: @defaults
// FOLD: samba.mul
// FOLD: samba.add
// FOLD: samba.div
// FOLD: samba.sub
// FOLD: return
func.func @defaults(%x: tensor<4xf32>,
    %one: tensor<f32> {samba.name = "one", samba.kind = "argin", samba.argin = #samba.argin<kind = "other", default = 1.0>},
    %zero: tensor<f32> {samba.name = "zero", samba.kind = "argin", samba.argin = #samba.argin<kind = "other", default = 0>})
    -> tensor<4xf32> {
  %0 = samba.mul %x, %one : tensor<4xf32>, tensor<f32>
  %1 = samba.add %0, %zero : tensor<4xf32>, tensor<f32>
  %2 = samba.div %1, %one : tensor<4xf32>, tensor<f32>
  %3 = samba.sub %2, %zero : tensor<4xf32>, tensor<f32>
  return %3 : tensor<4xf32>
}

// Views of an argin cost nothing, nor does an index; what is indexed, a padded view and a result are
// copies.
// COPY-LABEL: @memory
// COPY: %[[P:.*]] = samba.contiguous %{{.*}} : tensor<1x2xf32>
// COPY: samba.mul %{{.*}}, %arg1
// COPY-NEXT: samba.embedding %arg0, %{{.*}}
// COPY: %[[T:.*]] = samba.contiguous %{{.*}} : tensor<5x4xf32>
// COPY: samba.embedding %[[T]]
// COPY: samba.pad %[[P]]
// COPY: %[[R:.*]] = samba.contiguous %arg1 : tensor<f32>
// COPY: return {{.*}}%[[R]]
func.func @memory(%x: tensor<4x4xf32>,
    %s: tensor<f32> {samba.name = "s", samba.kind = "argin", samba.argin = #samba.argin<kind = "other", default = 1.0>},
    %at: tensor<i64> {samba.name = "at", samba.kind = "argin", samba.argin = #samba.argin<kind = "other", default = 0>})
    -> (tensor<4x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<f32>) {
  %0 = samba.reshape %s {shape = [1, 1]} : tensor<f32>
  %1 = samba.expand %0 {shape = [1, 2]} : tensor<1x1xf32>
  %3 = samba.reshape %at {shape = [1]} : tensor<i64>
  %2 = samba.mul %x, %s : tensor<4x4xf32>, tensor<f32>
  %5 = samba.embedding %x, %3 : tensor<4x4xf32>, tensor<1xi64>
  %t = samba.expand %0 {shape = [5, 4]} : tensor<1x1xf32>
  %8 = samba.embedding %t, %3 : tensor<5x4xf32>, tensor<1xi64>
  %6 = samba.pad %1 {low = [0, 1], high = [0, 1], value = 5.0} : tensor<1x2xf32>
  %7 = samba.neg %6 : tensor<1x4xf32>
  return %2, %5, %7, %8, %s : tensor<4x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<f32>
}

// Two groups with learning rates of their own share a section. Only tensors have addresses.
// SECTION: samba.section @[[S:.*]](%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<f32> {samba.kind = "argin"}) -> tensor<4xf32>
// SECTION-NEXT: samba.mul
// SECTION-NEXT: yield
// SECTION: func.func @groups(%arg0: tensor<4xf32> {rdu.address
// SECTION-SAME: %arg1: tensor<4xf32> {rdu.address
// SECTION-SAME: %arg2: tensor<f32> {samba.argin
// SECTION-SAME: %arg3: tensor<f32> {samba.argin
// SECTION: samba.call @[[S]](%arg0, %arg2)
// SECTION: samba.call @[[S]](%arg1, %arg3)
// In bf16 an argin stays f32; who computes with it casts it, an optimizer does not.
// MP4-LABEL: @groups
// MP4-SAME: %arg2: tensor<f32>
// MP4-SAME: %arg3: tensor<f32>
// MP4: %[[A:.*]] = samba.cast %arg2 {dtype = bf16, samba.phase = "OPT"}
// MP4: samba.mul %arg0, %[[A]] {samba.phase = "OPT"}
// MP4: %[[B:.*]] = samba.cast %arg3 {dtype = bf16, samba.phase = "OPT"}
// MP4: samba.mul %arg1, %[[B]]
func.func @groups(%x: tensor<4xf32>, %y: tensor<4xf32>,
    %a: tensor<f32> {samba.name = "a__lr", samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", group = "a", default = 0.1>},
    %b: tensor<f32> {samba.name = "b__lr", samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", group = "b", default = 0.2>})
    -> (tensor<4xf32>, tensor<4xf32>) attributes {samba.graph = {mode = "training"}} {
  %0 = samba.mul %x, %a {samba.phase = "OPT"} : tensor<4xf32>, tensor<f32>
  %1 = samba.mul %y, %b {samba.phase = "OPT"} : tensor<4xf32>, tensor<f32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// MP4-LABEL: @update
// MP4-NOT: samba.cast
// MP4: samba.sgd_update {{.*}} : tensor<4xbf16>, tensor<4xbf16>, tensor<f32>, tensor<f32>
// MP4: samba.exp %arg2 {samba.graphamp = false} : tensor<f32>
// MP4: return
func.func @update(%w: tensor<4xf32>, %g: tensor<4xf32>,
    %lr: tensor<f32> {samba.name = "lr", samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", default = 0.1>},
    %d: tensor<f32> {samba.name = "d", samba.kind = "argin", samba.argin = #samba.argin<kind = "weight_decay", default = 0.0>})
    -> tensor<4xf32> {
  %0 = samba.sgd_update %w, %g, %lr, %d : tensor<4xf32>, tensor<4xf32>, tensor<f32>, tensor<f32>
  %1 = samba.exp %lr {samba.graphamp = false} : tensor<f32>
  return %0 : tensor<4xf32>
}
