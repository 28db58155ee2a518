// samba-check-values runs passes one by one and names the first that changes values: at the level of graphs, of linalg, of
// tiled linalg, of units, of placed and routed units. The passes of the compiler change none.
// REQUIRES: plugin
// UNSUPPORTED: asan
// RUN: split-file %s %t
// RUN: samba-opt --samba-check-values="passes=samba-to-rdu{target=tiny}" %t/model.mlir > %t.checked.mlir
// RUN: samba-opt --samba-to-rdu=target=tiny %t/model.mlir | diff %t.checked.mlir -
// RUN: samba-opt --samba-check-values="passes=samba-to-rdu{target=tiny opt=o0} seed=7 integers=3" %t/model.mlir > %t.o0.mlir
// RUN: samba-opt --samba-check-values="passes=samba-decompose-composites,convert-samba-graphs-to-linalg,canonicalize" %t/model.mlir > %t.linalg.mlir
//
// A pass that breaks one operation, put between the others.
// DEFINE: %{opt} = samba-opt --load-pass-plugin=%break-pass %t/model.mlir -o %t.none
// RUN: %expect-error %{opt} --samba-check-values="passes=canonicalize,test-break-values{from=samba.relu to=samba.neg},cse" 2>&1 | FileCheck %s --check-prefix=GRAPH
// GRAPH: error: 'builtin.module' op pass 'test-break-values{from=samba.relu to=samba.neg}' changes values: result 'y' of graph @forward, element [{{[0-9]+}}, 0]: it was {{[-0-9.e]+}} and is {{[-0-9.e]+}}; {{[0-9]+}} of 32 elements differ
//
// RUN: samba-opt --samba-partition-sections=target=tiny %t/model.mlir --mlir-print-op-generic=false > %t.sections.mlir
// RUN: samba-opt --pass-pipeline='builtin.module(samba.section(convert-samba-to-linalg))' %t.sections.mlir > %t.stages.mlir
// RUN: %expect-error samba-opt --load-pass-plugin=%break-pass %t.stages.mlir --samba-check-values="passes=samba.section(canonicalize,samba-tile-sections,test-break-values{from=arith.divf to=arith.mulf},rdu-verify-mapping)" 2>&1 | FileCheck %s --check-prefix=STAGES
// STAGES: pass 'samba.section(test-break-values{from=arith.divf to=arith.mulf})' changes values: result
//
// RUN: samba-opt --pass-pipeline='builtin.module(samba.section(samba-tile-sections),convert-linalg-to-rdu,rdu.section(rdu-split-programs))' %t.stages.mlir > %t.units.mlir
// RUN: %expect-error samba-opt --load-pass-plugin=%break-pass %t.units.mlir --samba-check-values="passes=rdu.section(rdu-place,test-break-values{from=arith.divf to=arith.mulf},rdu-route)" 2>&1 | FileCheck %s --check-prefix=UNITS
// UNITS: pass 'rdu.section(test-break-values{from=arith.divf to=arith.mulf})' changes values: result
// RUN: %expect-error samba-opt --load-pass-plugin=%break-pass %t.units.mlir --samba-check-values="passes=rdu.section(rdu-place,rdu-route,rdu-verify-section,test-break-values{from=arith.maximumf to=arith.minimumf})" 2>&1 | FileCheck %s --check-prefix=ROUTED
// ROUTED: pass 'rdu.section(test-break-values{from=arith.maximumf to=arith.minimumf})' changes values: result
//
// In the stock mlir-opt, with the plugin.
// RUN: %mlir-opt --load-dialect-plugin=%plugin --load-pass-plugin=%plugin --pass-pipeline='builtin.module(samba-check-values{passes=samba-to-rdu{target=tiny}})' %t/model.mlir | diff %t.checked.mlir -
//
// Precision is a change of values; tolerances say how much of it.
// RUN: %expect-error samba-opt --samba-check-values="passes=samba-mixed-precision{preset=mp4}" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=MP4
// MP4: pass 'samba-mixed-precision{preset=mp4}' changes values: result 'y' of graph @forward, element
// RUN: samba-opt --samba-check-values="passes=samba-mixed-precision{preset=mp4} rtol=0.05" %t/model.mlir > %t.mp4.mlir
//
// What cannot be done is said.
// RUN: %expect-error samba-opt --samba-check-values=passes=nonsense %t/model.mlir 2>&1 | FileCheck %s --check-prefix=NONSENSE
// NONSENSE: samba-check-values: {{.*}}'nonsense' does not refer to a registered pass or pass pipeline
// RUN: %expect-error samba-opt --samba-check-values="passes=cse rtol=much" %t/model.mlir 2>&1 | FileCheck %s --check-prefix=MUCH
// MUCH: samba-check-values: rtol wants a number of at least 0, not 'much'
// RUN: %expect-error samba-opt --samba-check-values=passes=cse %t/outside.mlir 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: samba-check-values: before the first pass: graph @forward: 'index_select' reads an element outside of a tensor
// RUN: %expect-error samba-opt --samba-check-values=passes=cse %t/recursive.mlir 2>&1 | FileCheck %s --check-prefix=RECURSIVE
// RECURSIVE: before the first pass: graph @forward: {{.*}}is recursive, or has no body
// RUN: %expect-error %{opt} --samba-check-values="passes=test-break-values{from=samba.relu to=math.absf}" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: after pass 'test-break-values{from=samba.relu to=math.absf}' the module cannot be computed: graph @forward: {{.*}}'math.absf' has no hardware form
// RUN: %expect-error samba-opt --samba-check-values=passes=cse %t/missing.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: has a constant whose elements are not there
// RUN: samba-opt --samba-check-values=passes=samba-select-graphs,samba-to-rdu{target=tiny} %t/calls.mlir > %t.calls.mlir
// RUN: %expect-error samba-opt --samba-check-values=passes=samba-select-graphs{entry=other} %t/calls.mlir 2>&1 | FileCheck %s --check-prefix=LOST
// LOST: pass 'samba-select-graphs{entry=other}' changes values: result 'y' of graph @forward is no longer there

//--- model.mlir
func.func @forward(%x: tensor<8x64xf32> {samba.name = "x", samba.kind = "input"},
                   %w: tensor<4x64xf32> {samba.name = "w", samba.kind = "weight", samba.value = #samba.external<"w.bin", offset = 0, bytes = 1024>},
                   %i: tensor<3xi64> {samba.name = "i", samba.kind = "input"})
    -> (tensor<8x4xf32> {samba.name = "y", samba.kind = "output"},
        tensor<3x64xf32> {samba.name = "z", samba.kind = "output"}) {
  %c = samba.constant {value = dense<[0.5, 1.0, -0.25, 2.0]> : tensor<4xf32>}
  %0 = samba.linear %x, %w, %c : tensor<8x64xf32>, tensor<4x64xf32>, tensor<4xf32>
  %1 = samba.relu %0 : tensor<8x4xf32>
  %2 = samba.softmax %1 {dim = 1} : tensor<8x4xf32>
  %3 = samba.index_select %x, %i {dim = 0} : tensor<8x64xf32>, tensor<3xi64>
  return %2, %3 : tensor<8x4xf32>, tensor<3x64xf32>
}

//--- outside.mlir
func.func @forward(%x: tensor<1x4xf32>, %i: tensor<64xi64>) -> tensor<64x4xf32> {
  %0 = samba.index_select %x, %i {dim = 0} : tensor<1x4xf32>, tensor<64xi64>
  return %0 : tensor<64x4xf32>
}
//--- missing.mlir
func.func @forward() -> tensor<4xf32> {
  %0 = samba.constant {value = dense_resource<nowhere> : tensor<4xf32>}
  return %0 : tensor<4xf32>
}
//--- recursive.mlir
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @forward(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
//--- calls.mlir
func.func @forward(%x: tensor<4x6xf32> {samba.name = "x", samba.kind = "input"})
    -> (tensor<24xf32> {samba.name = "y", samba.kind = "output"}) {
  %0 = call @turned(%x) : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = samba.reshape %0 {shape = [24]} : tensor<6x4xf32>
  return %1 : tensor<24xf32>
}
func.func private @turned(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %0 = samba.permute %x {dims = [1, 0]} : tensor<4x6xf32>
  return %0 : tensor<6x4xf32>
}
func.func @other(%x: tensor<2xf32> {samba.name = "x", samba.kind = "input"})
    -> (tensor<2xf32> {samba.name = "v", samba.kind = "output"}) {
  return %x : tensor<2xf32>
}
