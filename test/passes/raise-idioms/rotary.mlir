// RUN: samba-opt %s --samba-raise-idioms --canonicalize | FileCheck %s
// RUN: samba-opt %s --samba-raise-idioms --canonicalize -o %t.once && samba-opt %t.once --samba-raise-idioms --canonicalize -o %t.twice && diff %t.once %t.twice

// Halves (Llama), then pairs (GPT-J); operands the other way round.
// CHECK-LABEL: @halves
// CHECK-NEXT: samba.rotary_embedding %arg0, %arg1, %arg2 :
// CHECK-NEXT: return
func.func @halves(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 4], ends = [2, 4, 6, 8], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %n, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @pairs
// CHECK-NEXT: samba.rotary_embedding %arg0, %arg1, %arg2 {interleaved = true}
// CHECK-NEXT: return
func.func @pairs(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 8], steps = [1, 1, 1, 2]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 1], ends = [2, 4, 6, 8], steps = [1, 1, 1, 2]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %nu = samba.reshape %n {shape = [2, 4, 6, 4, 1]} : tensor<2x4x6x4xf32>
  %au = samba.reshape %a {shape = [2, 4, 6, 4, 1]} : tensor<2x4x6x4xf32>
  %st = samba.cat %nu, %au {dim = 4} : tensor<2x4x6x4x1xf32>, tensor<2x4x6x4x1xf32>
  %t = samba.reshape %st {shape = [2, 4, 6, 8]} : tensor<2x4x6x4x2xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @other_way_round
// CHECK-NEXT: samba.rotary_embedding %arg0, %arg1, %arg2 :
// CHECK-NEXT: return
func.func @other_way_round(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 4], ends = [2, 4, 6, 8], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %n, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %cos, %x : tensor<6x8xf32>, tensor<2x4x6x8xf32>
  %q = samba.mul %sin, %t : tensor<6x8xf32>, tensor<2x4x6x8xf32>
  %y = samba.add %q, %p : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}

// Pairs as a dimension of their own; exchanged, they are a near miss.
// CHECK-LABEL: @pairs_apart
// CHECK-NEXT: samba.rotary_embedding %arg0, %arg1, %arg2 {interleaved = true}
// CHECK-NEXT: return
func.func @pairs_apart(%x: tensor<2x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x6x8xf32> {
  %h = samba.reshape %x {shape = [2, 6, 4, 2]} : tensor<2x6x8xf32>
  %a = samba.slice %h {starts = [0, 0, 0, 0], ends = [2, 6, 4, 1], steps = [1, 1, 1, 1]} : tensor<2x6x4x2xf32>
  %b = samba.slice %h {starts = [0, 0, 0, 1], ends = [2, 6, 4, 2], steps = [1, 1, 1, 1]} : tensor<2x6x4x2xf32>
  %s = samba.reshape %b {shape = [2, 6, 4]} : tensor<2x6x4x1xf32>
  %n = samba.neg %s : tensor<2x6x4xf32>
  %u = samba.reshape %n {shape = [2, 6, 4, 1]} : tensor<2x6x4xf32>
  %c = samba.cat %u, %a {dim = -1} : tensor<2x6x4x1xf32>, tensor<2x6x4x1xf32>
  %t = samba.reshape %c {shape = [2, 6, 8]} : tensor<2x6x4x2xf32>
  %p = samba.mul %x, %cos : tensor<2x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x6x8xf32>, tensor<2x6x8xf32>
  return %y : tensor<2x6x8xf32>
}
// CHECK-LABEL: @pairs_not_exchanged
// CHECK-NOT: samba.rotary_embedding
// CHECK: return
func.func @pairs_not_exchanged(%x: tensor<2x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x6x8xf32> {
  %h = samba.reshape %x {shape = [2, 6, 4, 2]} : tensor<2x6x8xf32>
  %a = samba.slice %h {starts = [0, 0, 0, 0], ends = [2, 6, 4, 1], steps = [1, 1, 1, 1]} : tensor<2x6x4x2xf32>
  %b = samba.slice %h {starts = [0, 0, 0, 1], ends = [2, 6, 4, 2], steps = [1, 1, 1, 1]} : tensor<2x6x4x2xf32>
  %n = samba.neg %a : tensor<2x6x4x1xf32>
  %c = samba.cat %n, %b {dim = -1} : tensor<2x6x4x1xf32>, tensor<2x6x4x1xf32>
  %t = samba.reshape %c {shape = [2, 6, 8]} : tensor<2x6x4x2xf32>
  %p = samba.mul %x, %cos : tensor<2x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x6x8xf32>, tensor<2x6x8xf32>
  return %y : tensor<2x6x8xf32>
}

// A part of each head (GPT-NeoX, GPT-J): the halves or pairs are slices of what x is a slice of.
// CHECK-LABEL: @part_of_head
// CHECK: %[[X:.*]] = samba.slice %arg0
// CHECK-NEXT: samba.rotary_embedding %[[X]], %arg1, %arg2 :
// CHECK-NEXT: return
func.func @part_of_head(%h: tensor<2x4x6x12xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %x = samba.slice %h {starts = [0, 0, 0, 2], ends = [2, 4, 6, 10], steps = [1, 1, 1, 1]} : tensor<2x4x6x12xf32>
  %a = samba.slice %h {starts = [0, 0, 0, 2], ends = [2, 4, 6, 6], steps = [1, 1, 1, 1]} : tensor<2x4x6x12xf32>
  %b = samba.slice %h {starts = [0, 0, 0, 6], ends = [2, 4, 6, 10], steps = [1, 1, 1, 1]} : tensor<2x4x6x12xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %n, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @another_part
// CHECK-NOT: samba.rotary_embedding
// CHECK: return
func.func @another_part(%h: tensor<2x4x6x12xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %x = samba.slice %h {starts = [0, 0, 0, 2], ends = [2, 4, 6, 10], steps = [1, 1, 1, 1]} : tensor<2x4x6x12xf32>
  %a = samba.slice %h {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x12xf32>
  %b = samba.slice %h {starts = [0, 0, 0, 4], ends = [2, 4, 6, 8], steps = [1, 1, 1, 1]} : tensor<2x4x6x12xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %n, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}

// Near misses: nothing negated, halves not exchanged, other parts, another tensor, a difference, tables of two shapes.
// CHECK-LABEL: @not_negated
// CHECK-NOT: samba.rotary_embedding
// CHECK: return
func.func @not_negated(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 4], ends = [2, 4, 6, 8], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %b, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @not_exchanged
// CHECK-NOT: samba.rotary_embedding
// CHECK: return
func.func @not_exchanged(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 4], ends = [2, 4, 6, 8], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %a, %n {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @other_parts
// CHECK-NOT: samba.rotary_embedding
// CHECK: return
func.func @other_parts(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 3], ends = [2, 4, 6, 7], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %n, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @another_tensor
// CHECK-NOT: samba.rotary_embedding
// CHECK: return
func.func @another_tensor(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>, %z: tensor<2x4x6x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 4], ends = [2, 4, 6, 8], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %n, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %z, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @difference
// CHECK-NOT: samba.rotary_embedding
// CHECK: return
func.func @difference(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<6x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 4], ends = [2, 4, 6, 8], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %n, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %y = samba.sub %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
// CHECK-LABEL: @two_tables
// CHECK-NOT: samba.rotary_embedding
// CHECK: return
func.func @two_tables(%x: tensor<2x4x6x8xf32>, %cos: tensor<6x8xf32>, %sin: tensor<1x8xf32>) -> tensor<2x4x6x8xf32> {
  %a = samba.slice %x {starts = [0, 0, 0, 0], ends = [2, 4, 6, 4], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %b = samba.slice %x {starts = [0, 0, 0, 4], ends = [2, 4, 6, 8], steps = [1, 1, 1, 1]} : tensor<2x4x6x8xf32>
  %n = samba.neg %b : tensor<2x4x6x4xf32>
  %t = samba.cat %n, %a {dim = -1} : tensor<2x4x6x4xf32>, tensor<2x4x6x4xf32>
  %p = samba.mul %x, %cos : tensor<2x4x6x8xf32>, tensor<6x8xf32>
  %q = samba.mul %t, %sin : tensor<2x4x6x8xf32>, tensor<1x8xf32>
  %y = samba.add %p, %q : tensor<2x4x6x8xf32>, tensor<2x4x6x8xf32>
  return %y : tensor<2x4x6x8xf32>
}
