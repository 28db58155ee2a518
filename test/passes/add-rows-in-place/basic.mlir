// The gradient of a lookup is added to another gradient of the table where its rows are: nothing
// moves the rows that nobody looked up.
// RUN: samba-opt %s --split-input-file --samba-add-rows-in-place | FileCheck %s

// CHECK-LABEL: func.func @tied(
// CHECK: %[[SUMS:.*]] = samba.neg %arg1
// CHECK: %[[BASE:.*]] = samba.neg %arg2
// CHECK: %[[PLACES:.*]] = samba.ravel_index
// CHECK-NOT: match_reduce
// CHECK-NOT: samba.where
// CHECK: %[[AT:.*]] = samba.reshape %[[PLACES]] {samba.phase = "BCKWD", shape = [3]}
// CHECK-NEXT: %[[TAKEN:.*]] = samba.embedding %[[BASE]], %[[AT]] {samba.phase = "BCKWD"}
// CHECK-NEXT: %[[ROWS:.*]] = samba.add %[[TAKEN]], %[[SUMS]] {samba.phase = "BCKWD"}
// CHECK-NEXT: %[[PUT:.*]] = samba.put_rows %[[BASE]], %[[ROWS]], %[[AT]] {samba.phase = "BCKWD"}
// CHECK-NEXT: return %{{.*}}, %[[PUT]]
func.func @tied(%i: tensor<3xi64>, %s: tensor<3x2xbf16>, %h: tensor<5x2xbf16>, %w: tensor<5x2xbf16>)
    -> (tensor<3x2xbf16>, tensor<5x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %none = samba.constant {value = dense<-1> : tensor<1x5x1xi64>}
  %rows = samba.constant {value = dense<[0, 1, 2, 3, 4]> : tensor<5xi64>}
  %numbers = samba.constant {value = dense<[[[0], [1], [2]]]> : tensor<1x3x1xi64>}
  %zero = samba.constant {value = dense<0> : tensor<i64>}
  %empty = samba.constant {value = dense<0.0> : tensor<bf16>}
  %x = samba.embedding %w, %i : tensor<5x2xbf16>, tensor<3xi64>
  %sums = samba.neg %s {samba.phase = "BCKWD"} : tensor<3x2xbf16>
  %head = samba.neg %h {samba.phase = "BCKWD"} : tensor<5x2xbf16>
  %0 = samba.reshape %i {samba.phase = "BCKWD", shape = [1, 3, 1]} : tensor<3xi64>
  %1 = samba.ravel_index %0 {samba.phase = "BCKWD", shape = [5]} : tensor<1x3x1xi64>
  %2 = samba.expand %rows {samba.phase = "BCKWD", shape = [1, 5]} : tensor<5xi64>
  %3 = samba.match_reduce %none, %2, %1, %numbers {reduce = "max", samba.phase = "BCKWD"} : tensor<1x5x1xi64>, tensor<1x5xi64>, tensor<1x3xi64>, tensor<1x3x1xi64>
  %4 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5]} : tensor<1x5x1xi64>
  %5 = samba.maximum %4, %zero {samba.phase = "BCKWD"} : tensor<5xi64>, tensor<i64>
  %6 = samba.embedding %sums, %5 {samba.phase = "BCKWD"} : tensor<3x2xbf16>, tensor<5xi64>
  %7 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5, 1]} : tensor<1x5x1xi64>
  %8 = samba.ge %7, %zero {samba.phase = "BCKWD"} : tensor<5x1xi64>, tensor<i64>
  %9 = samba.where %8, %6, %empty {samba.phase = "BCKWD"} : tensor<5x1xi1>, tensor<5x2xbf16>, tensor<bf16>
  %10 = samba.add %head, %9 {samba.phase = "BCKWD"} : tensor<5x2xbf16>, tensor<5x2xbf16>
  return %x, %10 : tensor<3x2xbf16>, tensor<5x2xbf16>
}

// -----

// Somebody else reads the other gradient.
// CHECK-LABEL: func.func @read(
// CHECK-NOT: put_rows
// CHECK: return
func.func @read(%i: tensor<3xi64>, %s: tensor<3x2xbf16>, %h: tensor<5x2xbf16>, %w: tensor<5x2xbf16>)
    -> (tensor<3x2xbf16>, tensor<5x2xbf16>, tensor<5x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %none = samba.constant {value = dense<-1> : tensor<1x5x1xi64>}
  %rows = samba.constant {value = dense<[0, 1, 2, 3, 4]> : tensor<5xi64>}
  %numbers = samba.constant {value = dense<[[[0], [1], [2]]]> : tensor<1x3x1xi64>}
  %zero = samba.constant {value = dense<0> : tensor<i64>}
  %empty = samba.constant {value = dense<0.0> : tensor<bf16>}
  %x = samba.embedding %w, %i : tensor<5x2xbf16>, tensor<3xi64>
  %sums = samba.neg %s {samba.phase = "BCKWD"} : tensor<3x2xbf16>
  %head = samba.neg %h {samba.phase = "BCKWD"} : tensor<5x2xbf16>
  %0 = samba.reshape %i {samba.phase = "BCKWD", shape = [1, 3, 1]} : tensor<3xi64>
  %1 = samba.ravel_index %0 {samba.phase = "BCKWD", shape = [5]} : tensor<1x3x1xi64>
  %2 = samba.expand %rows {samba.phase = "BCKWD", shape = [1, 5]} : tensor<5xi64>
  %3 = samba.match_reduce %none, %2, %1, %numbers {reduce = "max", samba.phase = "BCKWD"} : tensor<1x5x1xi64>, tensor<1x5xi64>, tensor<1x3xi64>, tensor<1x3x1xi64>
  %4 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5]} : tensor<1x5x1xi64>
  %5 = samba.maximum %4, %zero {samba.phase = "BCKWD"} : tensor<5xi64>, tensor<i64>
  %6 = samba.embedding %sums, %5 {samba.phase = "BCKWD"} : tensor<3x2xbf16>, tensor<5xi64>
  %7 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5, 1]} : tensor<1x5x1xi64>
  %8 = samba.ge %7, %zero {samba.phase = "BCKWD"} : tensor<5x1xi64>, tensor<i64>
  %9 = samba.where %8, %6, %empty {samba.phase = "BCKWD"} : tensor<5x1xi1>, tensor<5x2xbf16>, tensor<bf16>
  %10 = samba.add %head, %9 {samba.phase = "BCKWD"} : tensor<5x2xbf16>, tensor<5x2xbf16>
  return %x, %10, %head : tensor<3x2xbf16>, tensor<5x2xbf16>, tensor<5x2xbf16>
}

// -----

// The other gradient is an argument.
// CHECK-LABEL: func.func @argument(
// CHECK-NOT: put_rows
// CHECK: return
func.func @argument(%i: tensor<3xi64>, %s: tensor<3x2xbf16>, %h: tensor<5x2xbf16>, %w: tensor<5x2xbf16>)
    -> (tensor<3x2xbf16>, tensor<5x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %none = samba.constant {value = dense<-1> : tensor<1x5x1xi64>}
  %rows = samba.constant {value = dense<[0, 1, 2, 3, 4]> : tensor<5xi64>}
  %numbers = samba.constant {value = dense<[[[0], [1], [2]]]> : tensor<1x3x1xi64>}
  %zero = samba.constant {value = dense<0> : tensor<i64>}
  %empty = samba.constant {value = dense<0.0> : tensor<bf16>}
  %x = samba.embedding %w, %i : tensor<5x2xbf16>, tensor<3xi64>
  %sums = samba.neg %s {samba.phase = "BCKWD"} : tensor<3x2xbf16>
  %head = samba.neg %h {samba.phase = "BCKWD"} : tensor<5x2xbf16>
  %0 = samba.reshape %i {samba.phase = "BCKWD", shape = [1, 3, 1]} : tensor<3xi64>
  %1 = samba.ravel_index %0 {samba.phase = "BCKWD", shape = [5]} : tensor<1x3x1xi64>
  %2 = samba.expand %rows {samba.phase = "BCKWD", shape = [1, 5]} : tensor<5xi64>
  %3 = samba.match_reduce %none, %2, %1, %numbers {reduce = "max", samba.phase = "BCKWD"} : tensor<1x5x1xi64>, tensor<1x5xi64>, tensor<1x3xi64>, tensor<1x3x1xi64>
  %4 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5]} : tensor<1x5x1xi64>
  %5 = samba.maximum %4, %zero {samba.phase = "BCKWD"} : tensor<5xi64>, tensor<i64>
  %6 = samba.embedding %sums, %5 {samba.phase = "BCKWD"} : tensor<3x2xbf16>, tensor<5xi64>
  %7 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5, 1]} : tensor<1x5x1xi64>
  %8 = samba.ge %7, %zero {samba.phase = "BCKWD"} : tensor<5x1xi64>, tensor<i64>
  %9 = samba.where %8, %6, %empty {samba.phase = "BCKWD"} : tensor<5x1xi1>, tensor<5x2xbf16>, tensor<bf16>
  %10 = samba.add %h, %9 {samba.phase = "BCKWD"} : tensor<5x2xbf16>, tensor<5x2xbf16>
  return %x, %10 : tensor<3x2xbf16>, tensor<5x2xbf16>
}

// -----

// Of equal indices the first update stays.
// CHECK-LABEL: func.func @first(
// CHECK-NOT: put_rows
// CHECK: return
func.func @first(%i: tensor<3xi64>, %s: tensor<3x2xbf16>, %h: tensor<5x2xbf16>, %w: tensor<5x2xbf16>)
    -> (tensor<3x2xbf16>, tensor<5x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %none = samba.constant {value = dense<-1> : tensor<1x5x1xi64>}
  %rows = samba.constant {value = dense<[0, 1, 2, 3, 4]> : tensor<5xi64>}
  %numbers = samba.constant {value = dense<[[[0], [1], [2]]]> : tensor<1x3x1xi64>}
  %zero = samba.constant {value = dense<0> : tensor<i64>}
  %empty = samba.constant {value = dense<0.0> : tensor<bf16>}
  %x = samba.embedding %w, %i : tensor<5x2xbf16>, tensor<3xi64>
  %sums = samba.neg %s {samba.phase = "BCKWD"} : tensor<3x2xbf16>
  %head = samba.neg %h {samba.phase = "BCKWD"} : tensor<5x2xbf16>
  %0 = samba.reshape %i {samba.phase = "BCKWD", shape = [1, 3, 1]} : tensor<3xi64>
  %1 = samba.ravel_index %0 {samba.phase = "BCKWD", shape = [5]} : tensor<1x3x1xi64>
  %2 = samba.expand %rows {samba.phase = "BCKWD", shape = [1, 5]} : tensor<5xi64>
  %3 = samba.match_reduce %none, %2, %1, %numbers {reduce = "min", samba.phase = "BCKWD"} : tensor<1x5x1xi64>, tensor<1x5xi64>, tensor<1x3xi64>, tensor<1x3x1xi64>
  %4 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5]} : tensor<1x5x1xi64>
  %5 = samba.maximum %4, %zero {samba.phase = "BCKWD"} : tensor<5xi64>, tensor<i64>
  %6 = samba.embedding %sums, %5 {samba.phase = "BCKWD"} : tensor<3x2xbf16>, tensor<5xi64>
  %7 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5, 1]} : tensor<1x5x1xi64>
  %8 = samba.ge %7, %zero {samba.phase = "BCKWD"} : tensor<5x1xi64>, tensor<i64>
  %9 = samba.where %8, %6, %empty {samba.phase = "BCKWD"} : tensor<5x1xi1>, tensor<5x2xbf16>, tensor<bf16>
  %10 = samba.add %head, %9 {samba.phase = "BCKWD"} : tensor<5x2xbf16>, tensor<5x2xbf16>
  return %x, %10 : tensor<3x2xbf16>, tensor<5x2xbf16>
}

// -----

// Nobody takes rows at the indices, so that one may be out of range.
// CHECK-LABEL: func.func @unchecked(
// CHECK-NOT: put_rows
// CHECK: return
func.func @unchecked(%i: tensor<3xi64>, %s: tensor<3x2xbf16>, %h: tensor<5x2xbf16>, %w: tensor<5x2xbf16>)
    -> (tensor<3x2xbf16>, tensor<5x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %none = samba.constant {value = dense<-1> : tensor<1x5x1xi64>}
  %rows = samba.constant {value = dense<[0, 1, 2, 3, 4]> : tensor<5xi64>}
  %numbers = samba.constant {value = dense<[[[0], [1], [2]]]> : tensor<1x3x1xi64>}
  %zero = samba.constant {value = dense<0> : tensor<i64>}
  %empty = samba.constant {value = dense<0.0> : tensor<bf16>}
  %x = samba.neg %s : tensor<3x2xbf16>
  %sums = samba.neg %s {samba.phase = "BCKWD"} : tensor<3x2xbf16>
  %head = samba.neg %h {samba.phase = "BCKWD"} : tensor<5x2xbf16>
  %0 = samba.reshape %i {samba.phase = "BCKWD", shape = [1, 3, 1]} : tensor<3xi64>
  %1 = samba.ravel_index %0 {samba.phase = "BCKWD", shape = [5]} : tensor<1x3x1xi64>
  %2 = samba.expand %rows {samba.phase = "BCKWD", shape = [1, 5]} : tensor<5xi64>
  %3 = samba.match_reduce %none, %2, %1, %numbers {reduce = "max", samba.phase = "BCKWD"} : tensor<1x5x1xi64>, tensor<1x5xi64>, tensor<1x3xi64>, tensor<1x3x1xi64>
  %4 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5]} : tensor<1x5x1xi64>
  %5 = samba.maximum %4, %zero {samba.phase = "BCKWD"} : tensor<5xi64>, tensor<i64>
  %6 = samba.embedding %sums, %5 {samba.phase = "BCKWD"} : tensor<3x2xbf16>, tensor<5xi64>
  %7 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5, 1]} : tensor<1x5x1xi64>
  %8 = samba.ge %7, %zero {samba.phase = "BCKWD"} : tensor<5x1xi64>, tensor<i64>
  %9 = samba.where %8, %6, %empty {samba.phase = "BCKWD"} : tensor<5x1xi1>, tensor<5x2xbf16>, tensor<bf16>
  %10 = samba.add %head, %9 {samba.phase = "BCKWD"} : tensor<5x2xbf16>, tensor<5x2xbf16>
  return %x, %10 : tensor<3x2xbf16>, tensor<5x2xbf16>
}

// -----

// The other rows are not zero.
// CHECK-LABEL: func.func @filled(
// CHECK-NOT: put_rows
// CHECK: return
func.func @filled(%i: tensor<3xi64>, %s: tensor<3x2xbf16>, %h: tensor<5x2xbf16>, %w: tensor<5x2xbf16>)
    -> (tensor<3x2xbf16>, tensor<5x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %none = samba.constant {value = dense<-1> : tensor<1x5x1xi64>}
  %rows = samba.constant {value = dense<[0, 1, 2, 3, 4]> : tensor<5xi64>}
  %numbers = samba.constant {value = dense<[[[0], [1], [2]]]> : tensor<1x3x1xi64>}
  %zero = samba.constant {value = dense<0> : tensor<i64>}
  %empty = samba.constant {value = dense<1.0> : tensor<bf16>}
  %x = samba.embedding %w, %i : tensor<5x2xbf16>, tensor<3xi64>
  %sums = samba.neg %s {samba.phase = "BCKWD"} : tensor<3x2xbf16>
  %head = samba.neg %h {samba.phase = "BCKWD"} : tensor<5x2xbf16>
  %0 = samba.reshape %i {samba.phase = "BCKWD", shape = [1, 3, 1]} : tensor<3xi64>
  %1 = samba.ravel_index %0 {samba.phase = "BCKWD", shape = [5]} : tensor<1x3x1xi64>
  %2 = samba.expand %rows {samba.phase = "BCKWD", shape = [1, 5]} : tensor<5xi64>
  %3 = samba.match_reduce %none, %2, %1, %numbers {reduce = "max", samba.phase = "BCKWD"} : tensor<1x5x1xi64>, tensor<1x5xi64>, tensor<1x3xi64>, tensor<1x3x1xi64>
  %4 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5]} : tensor<1x5x1xi64>
  %5 = samba.maximum %4, %zero {samba.phase = "BCKWD"} : tensor<5xi64>, tensor<i64>
  %6 = samba.embedding %sums, %5 {samba.phase = "BCKWD"} : tensor<3x2xbf16>, tensor<5xi64>
  %7 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5, 1]} : tensor<1x5x1xi64>
  %8 = samba.ge %7, %zero {samba.phase = "BCKWD"} : tensor<5x1xi64>, tensor<i64>
  %9 = samba.where %8, %6, %empty {samba.phase = "BCKWD"} : tensor<5x1xi1>, tensor<5x2xbf16>, tensor<bf16>
  %10 = samba.add %head, %9 {samba.phase = "BCKWD"} : tensor<5x2xbf16>, tensor<5x2xbf16>
  return %x, %10 : tensor<3x2xbf16>, tensor<5x2xbf16>
}

// -----

// The rows of the table are numbered otherwise.
// CHECK-LABEL: func.func @other(
// CHECK-NOT: put_rows
// CHECK: return
func.func @other(%i: tensor<3xi64>, %s: tensor<3x2xbf16>, %h: tensor<5x2xbf16>, %w: tensor<5x2xbf16>)
    -> (tensor<3x2xbf16>, tensor<5x2xbf16>) attributes {samba.graph = {mode = "training"}} {
  %none = samba.constant {value = dense<-1> : tensor<1x5x1xi64>}
  %rows = samba.constant {value = dense<[0, 2, 1, 3, 4]> : tensor<5xi64>}
  %numbers = samba.constant {value = dense<[[[0], [1], [2]]]> : tensor<1x3x1xi64>}
  %zero = samba.constant {value = dense<0> : tensor<i64>}
  %empty = samba.constant {value = dense<0.0> : tensor<bf16>}
  %x = samba.embedding %w, %i : tensor<5x2xbf16>, tensor<3xi64>
  %sums = samba.neg %s {samba.phase = "BCKWD"} : tensor<3x2xbf16>
  %head = samba.neg %h {samba.phase = "BCKWD"} : tensor<5x2xbf16>
  %0 = samba.reshape %i {samba.phase = "BCKWD", shape = [1, 3, 1]} : tensor<3xi64>
  %1 = samba.ravel_index %0 {samba.phase = "BCKWD", shape = [5]} : tensor<1x3x1xi64>
  %2 = samba.expand %rows {samba.phase = "BCKWD", shape = [1, 5]} : tensor<5xi64>
  %3 = samba.match_reduce %none, %2, %1, %numbers {reduce = "max", samba.phase = "BCKWD"} : tensor<1x5x1xi64>, tensor<1x5xi64>, tensor<1x3xi64>, tensor<1x3x1xi64>
  %4 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5]} : tensor<1x5x1xi64>
  %5 = samba.maximum %4, %zero {samba.phase = "BCKWD"} : tensor<5xi64>, tensor<i64>
  %6 = samba.embedding %sums, %5 {samba.phase = "BCKWD"} : tensor<3x2xbf16>, tensor<5xi64>
  %7 = samba.reshape %3 {samba.phase = "BCKWD", shape = [5, 1]} : tensor<1x5x1xi64>
  %8 = samba.ge %7, %zero {samba.phase = "BCKWD"} : tensor<5x1xi64>, tensor<i64>
  %9 = samba.where %8, %6, %empty {samba.phase = "BCKWD"} : tensor<5x1xi1>, tensor<5x2xbf16>, tensor<bf16>
  %10 = samba.add %head, %9 {samba.phase = "BCKWD"} : tensor<5x2xbf16>, tensor<5x2xbf16>
  return %x, %10 : tensor<3x2xbf16>, tensor<5x2xbf16>
}
