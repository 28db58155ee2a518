// RUN: samba-opt --samba-mixed-precision=preset=mp4 --verify-diagnostics --split-input-file %s
// RUN: %expect-error samba-opt --samba-mixed-precision=preset=mp7 %S/presets.mlir 2>&1 | FileCheck %s

// CHECK: samba-mixed-precision: preset wants mp0, mp1 or mp4, not 'mp7'

samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> {
  samba.yield %x : tensor<4xf32>
}
func.func @sections(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'samba.call' op samba-mixed-precision runs before sections are made}}
  %0 = samba.call @s(%x) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @resource() -> tensor<2xf32> {
  // expected-error@below {{'samba.constant' op its values are not in the IR, so samba-mixed-precision cannot convert them; make it an argument with samba.value}}
  %0 = samba.constant {value = dense_resource<w> : tensor<2xf32>}
  return %0 : tensor<2xf32>
}
