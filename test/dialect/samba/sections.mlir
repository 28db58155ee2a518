// Sections, their calls and what is refused of them.
// RUN: samba-opt --verify-diagnostics --split-input-file %s | FileCheck %s

// A region with a terminator, through every form: in a wrongly linked tool this ends with 'block with no terminator'.
// CHECK-LABEL: samba.section @s0
// CHECK-SAME: (%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
// CHECK-NEXT: samba.relu
// CHECK-NEXT: samba.yield
samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
  %0 = samba.relu %x : tensor<4xf32>
  samba.yield %0 : tensor<4xf32>
}
// CHECK-LABEL: @forward
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: %[[A:.*]] = samba.call @s0(%arg0) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK-NEXT: samba.call @s0(%[[A]]) {id = 1, type = "FWD"}
  %0 = samba.call @s0(%x) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = samba.call @s0(%0) {id = 1, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: samba.section private @nothing
samba.section private @nothing() {
  samba.yield
}

// -----

// expected-error@below {{'samba.section' op attribute 'machine' must be #rdu.machine<...>}}
samba.section @s(%x: tensor<4xf32>) attributes {machine = "tiny"} {
  samba.yield
}

// -----

// expected-error@below {{'samba.section' op must end with samba.yield}}
samba.section @s(%x: tensor<4xf32>) {
  ub.unreachable
}

// -----

samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@below {{'samba.yield' op yields 0 values, but its section has 1 results}}
  samba.yield
}

// -----

samba.section @s(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@below {{'samba.yield' op value 0 does not have the type of the section's result}}
  samba.yield %x : tensor<4xf32>
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.call' op there is no samba.section @missing}}
  %0 = samba.call @missing(%x) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

samba.section @s(%x: tensor<4xf32>) {
  samba.yield
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.call' op has 2 operands and 0 results, but @s has 1 and 0}}
  samba.call @s(%x, %x) {id = 0, type = "FWD"} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> {
  samba.yield %x : tensor<4xf32>
}
func.func @f(%x: tensor<5xf32>, %y: tensor<4xf32>) {
  // expected-error@below {{'samba.call' op operand 0 does not have the type of argument 0 of @s}}
  %0 = samba.call @s(%x) {id = 0, type = "FWD"} : (tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

samba.section @s(%x: tensor<4xf32>) -> tensor<4xf32> {
  samba.yield %x : tensor<4xf32>
}
func.func @f(%y: tensor<4xf32>) {
  // expected-error@below {{'samba.call' op result 0 does not have the type of result 0 of @s}}
  %1 = samba.call @s(%y) {id = 1, type = "FWD"} : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

samba.section @s() {
  samba.yield
}
func.func @f() {
  // expected-error@below {{'samba.call' op attribute 'type' is "FORWARD", but must be ZEROGRAD, FWD, BCKWD, OPT, REDUCE or GRADNORM}}
  samba.call @s() {id = 0, type = "FORWARD"} : () -> ()
  return
}

// -----

samba.section @s() {
  samba.yield
}
func.func @f() {
  // expected-error@below {{'samba.call' op attribute 'id' is -1, but must be 0 or more and fit 31 bits}}
  samba.call @s() {id = -1, type = "FWD"} : () -> ()
  return
}

// -----

// After convert-linalg-to-rdu a call names an rdu.section: its operands, then its results, are the symbols.
rdu.section @s(%a: !rdu.symbol<4xf32>) {
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.call' op has 1 operands and 1 results, but @s has 1 symbols}}
  %0 = samba.call @s(%x) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

rdu.section @s(%a: !rdu.symbol<4xf32>, %b: !rdu.symbol<5xf32>) {
}
func.func @f(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.call' op result 0 does not have the elements of symbol 1 of @s}}
  %0 = samba.call @s(%x) {id = 0, type = "FWD"} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// Argins are no symbols: a call of a converted section has them besides.
rdu.section @s(%a: !rdu.symbol<4xf32>, %b: !rdu.symbol<4xf32>) {
}
// CHECK-LABEL: @argins
func.func @argins(%x: tensor<4xf32>, %lr: tensor<f32> {samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", default = 0.1>}) {
  // CHECK: samba.call @s(%{{.*}}, %{{.*}}) {id = 0
  %0 = samba.call @s(%lr, %x) {id = 0, type = "FWD"} : (tensor<f32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

rdu.section @s(%a: !rdu.symbol<4xf32>, %b: !rdu.symbol<4xf32>) {
}
func.func @f(%x: tensor<5xf32>, %lr: tensor<f32> {samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", default = 0.1>}) {
  // expected-error@below {{'samba.call' op operand 1 does not have the elements of symbol 0 of @s}}
  %0 = samba.call @s(%lr, %x) {id = 1, type = "FWD"} : (tensor<f32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

samba.section @s(%lr: tensor<f32> {samba.kind = "argin"}) -> tensor<f32> {
  %0 = samba.neg %lr : tensor<f32>
  samba.yield %0 : tensor<f32>
}
func.func @f(%x: tensor<f32>) {
  // expected-error@below {{'samba.call' op operand 0 and argument 0 of @s must both be argins (samba.kind = "argin") or both be tensors in memory}}
  %0 = samba.call @s(%x) {id = 0, type = "FWD"} : (tensor<f32>) -> tensor<f32>
  return
}

// -----

// CHECK-LABEL: @parts
func.func @parts(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK-NEXT: %[[A:.*]] = samba.stack %arg0, %arg1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK-NEXT: %[[B:.*]] = samba.relu %[[A]]
  // CHECK-NEXT: samba.unstack %[[B]] : (tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %0 = samba.stack %x, %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %2 = samba.relu %0 : tensor<2x4xf32>
  %1:2 = samba.unstack %2 : (tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @parts_of_others(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error@below {{'samba.stack' op part 1 of 2 does not have the whole's type without its outermost axis, or that axis does not have 2 places}}
  %0 = samba.stack %x, %y : (tensor<4xf32>, tensor<5xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @too_few(%x: tensor<3x4xf32>) {
  // expected-error@below {{'samba.unstack' op part 0 of 2 does not have the whole's type without its outermost axis, or that axis does not have 2 places}}
  %0:2 = samba.unstack %x : (tensor<3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @no_parts() {
  // expected-error@below {{'samba.stack' op has no parts}}
  %0 = samba.stack : () -> tensor<0x4xf32>
  return
}

// -----

samba.section @inside(%x: tensor<4xf32>) -> tensor<1x4xf32> {
  // expected-error@below {{'samba.stack' op stands in a samba.section; a section is given what lies in memory as one argument}}
  %0 = samba.stack %x : (tensor<4xf32>) -> tensor<1x4xf32>
  samba.yield %0 : tensor<1x4xf32>
}

// -----

func.func @part_of_a_part(%x: tensor<2x1x4xf32>, %y: tensor<1x4xf32>) {
  %0:2 = samba.unstack %x : (tensor<2x1x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  // expected-error@below {{'samba.stack' op operand 1 comes from another samba.stack or samba.unstack, so it has its place; take what an operator makes}}
  %1 = samba.stack %y, %0#0 : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x1x4xf32>
  return
}
