// Regions: one place for everything of one name, over arguments and graphs (T094, T095); memories as asked (T108).
// RUN: samba-opt %s --split-input-file --samba-assign-memory | FileCheck %s

samba.section @s0(%x: tensor<256xf32>) -> tensor<256xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<256xf32>
  samba.yield %0 : tensor<256xf32>
}

// t2 lies in t0's region, which is as large as the larger of them; the result is that memory too.
// CHECK: func.func @share(%{{.*}}: tensor<2xf32> {rdu.address = 0 : i64, samba.name = "t0"}
// CHECK-SAME: tensor<256xf32> {rdu.address = 0 : i64, samba.name = "t2", samba.region = "t0"}
// CHECK-SAME: tensor<3xf32> {rdu.address = 1024 : i64, samba.name = "t3"}
// CHECK: rdu.addresses = [0]
func.func @share(%t0: tensor<2xf32> {samba.name = "t0"}, %t2: tensor<256xf32> {samba.name = "t2", samba.region = "t0"}, %t3: tensor<3xf32> {samba.name = "t3"}) -> tensor<256xf32> {
  %0 = samba.call @s0(%t2) {id = 0, type = "FWD", rdu.regions = ["t0"]} : (tensor<256xf32>) -> tensor<256xf32>
  return %0 : tensor<256xf32>
}
// Another graph: what has no region in common comes behind, activations of both share their memory.
// CHECK: func.func @again(%{{.*}}: tensor<4xf32> {rdu.address = 0 : i64, samba.name = "t0"}
// CHECK-SAME: tensor<256xf32> {rdu.address = 1088 : i64, samba.name = "x"}
// CHECK: rdu.addresses = [2112]
func.func @again(%t0: tensor<4xf32> {samba.name = "t0"}, %x: tensor<256xf32> {samba.name = "x"}) -> tensor<256xf32> {
  %0 = samba.call @s0(%x) {id = 1, type = "FWD"} : (tensor<256xf32>) -> tensor<256xf32>
  return %0 : tensor<256xf32>
}

// -----

samba.section @s0(%x: tensor<256xf32>) -> tensor<256xf32> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.relu %x : tensor<256xf32>
  samba.yield %0 : tensor<256xf32>
}

// sn40l: 64 GiB of HBM, then 1.5 TB of DDR, then the host.
// CHECK: func.func @memories
// CHECK-SAME: rdu.address = 68719476736 : i64, samba.mem = "ddr"
// CHECK-SAME: rdu.address = 1568719476736 : i64, samba.mem = "host"
// CHECK-SAME: rdu.address = 0 : i64, samba.mem = "hbm"
func.func @memories(%a: tensor<4xf32> {samba.mem = "ddr"}, %b: tensor<4xf32> {samba.mem = "host"}, %c: tensor<4xf32> {samba.mem = "hbm"}) {
  return
}

// -----

samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"burst256", base = "tiny", dram_burst_bytes = 256>} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}

// Tensors start at whole bursts, and at multiples of 64 bytes at least.
// CHECK: func.func @burst256(%{{.*}}: tensor<4xf32> {rdu.address = 0 : i64, samba.name = "a"}, %{{.*}}: tensor<4xf32> {rdu.address = 256 : i64, samba.name = "b"})
func.func @burst256(%a: tensor<4xf32> {samba.name = "a"}, %b: tensor<4xf32> {samba.name = "b"}) {
  return
}

// -----

samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"burst16", base = "tiny", dram_burst_bytes = 16>} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}

// Tensors start at whole bursts, and at multiples of 64 bytes at least.
// CHECK: func.func @burst16(%{{.*}}: tensor<4xf32> {rdu.address = 0 : i64, samba.name = "a"}, %{{.*}}: tensor<4xf32> {rdu.address = 64 : i64, samba.name = "b"})
func.func @burst16(%a: tensor<4xf32> {samba.name = "a"}, %b: tensor<4xf32> {samba.name = "b"}) {
  return
}
