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
// expected-error @+1 {{'func.func' op the graph needs 8796093022208 bytes of device memory, but tiny has}}
func.func @f(%x: tensor<1099511627776xf32>, %y: tensor<1099511627776xf32>) {
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
