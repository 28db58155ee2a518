// RUN: samba-opt %s --samba-assign-memory -split-input-file -verify-diagnostics

// expected-error @+1 {{the module has no section with a machine; run samba-partition-sections first}}
module {
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// expected-error @+4 {{'func.func' op the graph needs 8796093022336 bytes of device memory, but tiny has 2147483648}}
// expected-note @+3 {{region 'x' has 4398046511104 bytes}}
// expected-note @+2 {{activations have 0 bytes, outputs and constants 4398046511232}}
// expected-note @+1 {{try a smaller batch, --precision=mp4, another --target, or samba.mem = "host" on what is read seldom}}
func.func @f(%x: tensor<1099511627776xf32> {samba.name = "x"}, %y: tensor<1099511627776xf32>, %z: tensor<3xf32>, %v: tensor<3xf32>) {
  return
}

// -----

// T095: one region, two element types.
samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// expected-error @+1 {{argument 1: region 't0' holds f32 and bf16; what shares a region has one element type}}
func.func @f(%x: tensor<4xf32> {samba.name = "t0"}, %y: tensor<8xbf16> {samba.name = "t2", samba.region = "t0"}) {
  return
}

// -----

// T108: memories that the target lacks.
samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"sn10">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// expected-error @+1 {{argument 0: target sn10 has no HBM, which samba.mem asks for; leave samba.mem out and the compiler decides}}
func.func @f(%x: tensor<4xf32> {samba.mem = "hbm"}) {
  return
}

// -----

samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// expected-error @+1 {{argument 0: target tiny has no DDR, which samba.mem asks for}}
func.func @f(%x: tensor<4xf32> {samba.mem = "ddr"}) {
  return
}

// -----

samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
func.func @f(%x: tensor<4xf32> {samba.name = "x", samba.mem = "hbm"}) {
  return
}
// expected-error @+1 {{argument 0: region 'x' is asked to be in HBM and in host memory}}
func.func @g(%x: tensor<4xf32> {samba.name = "x", samba.mem = "host"}) {
  return
}

// -----

// What must be in the fast memory does not fit there.
samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"sn40l">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// expected-error @+4 {{the graph needs 137438953472 bytes of device memory, but the HBM of sn40l has 68719476736}}
// expected-note @+3 {{region 'x' has 137438953472 bytes}}
// expected-note @+2 {{activations have 0 bytes, outputs and constants 0}}
// expected-note @+1 {{try a smaller batch}}
func.func @f(%x: tensor<34359738368xf32> {samba.name = "x", samba.mem = "hbm"}) {
  return
}

// -----

samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// expected-error @+1 {{index is not a tensor}}
func.func @f(%x: index) {
  return
}

// -----

samba.section @s0(%x: tensor<128xf32>) -> tensor<128xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<128xf32>
  samba.yield %0 : tensor<128xf32>
}
// Stacks of what has its place.
// expected-error @+1 {{samba.stack: part 1 has a place of its own, as an argument, a constant, a result of the graph, or as a part of another stack; stack what calls leave for other calls only, and once}}
func.func @f(%x: tensor<128xf32>) -> (tensor<2x128xf32>) {
  %0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<128xf32>) -> tensor<128xf32>
  %1 = samba.stack %0, %x : (tensor<128xf32>, tensor<128xf32>) -> tensor<2x128xf32>
  return %1 : tensor<2x128xf32>
}

// -----

samba.section @s0(%x: tensor<128xf32>) -> tensor<128xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<128xf32>
  samba.yield %0 : tensor<128xf32>
}
// Twice in stacks.
// expected-error @+1 {{samba.stack: part 0 has a place of its own, as an argument, a constant, a result of the graph, or as a part of another stack; stack what calls leave for other calls only, and once}}
func.func @f(%x: tensor<128xf32>) -> (tensor<1x128xf32>, tensor<1x128xf32>) {
  %0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<128xf32>) -> tensor<128xf32>
  %1 = samba.stack %0 : (tensor<128xf32>) -> tensor<1x128xf32>
  %2 = samba.stack %0 : (tensor<128xf32>) -> tensor<1x128xf32>
  return %1, %2 : tensor<1x128xf32>, tensor<1x128xf32>
}

// -----

samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// Parts that begin within the bytes of a line.
// expected-error @+1 {{samba.stack: its parts have 16 bytes, but a part begins at a multiple of 512 bytes; stack tensors of such sizes only}}
func.func @f(%x: tensor<4xf32>) -> (tensor<1x4xf32>) {
  %0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = samba.stack %0 : (tensor<4xf32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}

// -----

samba.section @s0(%x: tensor<2x128xf32>) -> tensor<2x128xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<2x128xf32>
  samba.yield %0 : tensor<2x128xf32>
}
// A part in a region that others have.
// expected-error @+1 {{samba.unstack: region 'g' is a part of a samba.unstack, so it lies where the whole does, but another value has that region, too; give it another one}}
func.func @f(%x: tensor<2x128xf32>) -> (tensor<128xf32> {samba.region = "g"}, tensor<128xf32> {samba.region = "g"}) {
  %0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<2x128xf32>) -> tensor<2x128xf32>
  %1:2 = samba.unstack %0 : (tensor<2x128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
  return %1#0, %1#1 : tensor<128xf32>, tensor<128xf32>
}

// -----

// Something that is in no section.
samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// expected-error @+1 {{samba.unstack: what it takes apart is not in memory}}
func.func @f(%x: tensor<1x128xf32>) -> tensor<128xf32> {
  %0 = samba.relu %x : tensor<1x128xf32>
  %1 = samba.unstack %0 : (tensor<1x128xf32>) -> tensor<128xf32>
  return %1 : tensor<128xf32>
}
