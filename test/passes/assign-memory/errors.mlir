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
