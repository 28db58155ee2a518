// Sections without a machine get the target; the others keep theirs. On an ideal network nothing is routed.
// RUN: rm -rf %t && split-file %s %t
// RUN: samba-opt %t/two.mlir --pass-pipeline='builtin.module(rdu-set-machine{target=%t/ideal.mlir},rdu.section(rdu-place,rdu-route,rdu-verify-section))' -o %t/placed.mlir
// RUN: FileCheck %s < %t/placed.mlir
// RUN: samba-opt %t/placed.mlir --rdu-set-machine=target=sn10 | diff %t/placed.mlir -
// RUN: %expect-error samba-opt %t/two.mlir --rdu-set-machine=target=%t/nowhere.mlir 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: target: target '{{.*}}nowhere.mlir' is neither a shipped machine
// CHECK-LABEL: rdu.section @free
// CHECK-SAME: machine = #rdu.machine<"wires", base = "tiny", network = "ideal">
// CHECK: rdu.load {{.*}}ag = 0, lanes = 8
// CHECK-NOT: rdu.route
// CHECK-LABEL: rdu.section @own
// CHECK-SAME: machine = #rdu.machine<"tiny">
// CHECK: rdu.route

//--- ideal.mlir
module attributes {rdu.machine = #rdu.machine<"wires", base = "tiny", network = "ideal">} {}

//--- two.mlir
rdu.section @free(%x: !rdu.symbol<16xf32>, %y: !rdu.symbol<16xf32> {rdu.written}) {
  %0 = rdu.load %x {name = "l", ag = 0, lanes = 8, outputs = [{strides = [1], tile = [16]}]} : (!rdu.symbol<16xf32>) -> !rdu.stream<16xf32>
  rdu.store %y, %0 {inputs = [{strides = [1], tile = [16]}], name = "s"} : (!rdu.symbol<16xf32>, !rdu.stream<16xf32>) -> ()
}
rdu.section @own(%x: !rdu.symbol<16xf32>, %y: !rdu.symbol<16xf32> {rdu.written}) attributes {machine = #rdu.machine<"tiny">} {
  %0 = rdu.load %x {name = "l", outputs = [{strides = [1], tile = [16]}]} : (!rdu.symbol<16xf32>) -> !rdu.stream<16xf32>
  rdu.store %y, %0 {inputs = [{strides = [1], tile = [16]}], name = "s"} : (!rdu.symbol<16xf32>, !rdu.stream<16xf32>) -> ()
}
