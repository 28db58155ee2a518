// One case per constraint that the dialect itself checks. The operator table's own constraints are tested beside the table.
// RUN: samba-opt --verify-diagnostics --split-input-file %s

func.func @wrong_shape(%x: tensor<5x8xf32>, %w: tensor<4x700xf32>) {
  // expected-error@below {{'samba.linear' op (C3)}}
  %0 = samba.linear %x, %w : tensor<5x8xf32>, tensor<4x700xf32>
  return
}

// -----

func.func @unknown_attribute(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.relu' op there is no attribute 'slope'}}
  %0 = samba.relu %x {slope = 1.0} : tensor<4xf32>
  return
}

// -----

func.func @missing_attribute(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.softmax' op attribute 'dim' (an integer) is missing}}
  %0 = samba.softmax %x : tensor<4xf32>
  return
}

// -----

func.func @wrong_kind(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.softmax' op attribute 'dim' must be an integer, not a number}}
  %0 = samba.softmax %x {dim = 1.0} : tensor<4xf32>
  return
}

// -----

func.func @foreign_attribute(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.softmax' op attribute 'dim' is dense<1> : tensor<2xi32>; attributes are integers (i64), numbers (f64), booleans, lists of integers or numbers, strings or element types}}
  %0 = samba.softmax %x {dim = dense<1> : tensor<2xi32>} : tensor<4xf32>
  return
}

// -----

func.func @foreign_dtype(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.cast' op attribute 'dtype' is f64; element types are f32, bf16, f16, i1, i8, ui8, i16, i32, i64}}
  %0 = samba.cast %x {dtype = f64} : tensor<4xf32>
  return
}

// -----

func.func @operand_count(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.add' op takes 2 operands, not 1}}
  %0 = samba.add %x : tensor<4xf32>
  return
}

// -----

func.func @f64(%x: tensor<4xf64>) {
  // expected-error@below {{'samba.relu' op operand 0: tensor<4xf64> is not a tensor with static dimensions, rank 8 at most, elements f32, bf16, f16, i1, i8, ui8, i16, i32 or i64}}
  %0 = samba.relu %x : tensor<4xf64>
  return
}

// -----

func.func @dynamic(%x: tensor<?xf32>) {
  // expected-error@below {{'samba.relu' op operand 0: tensor<?xf32> is not a tensor with static dimensions}}
  %0 = samba.relu %x : tensor<?xf32>
  return
}

// -----

func.func @empty(%x: tensor<0xf32>) {
  // expected-error@below {{'samba.relu' op operand 0 has 0 as dimension 0: operators take no tensors without elements}}
  %0 = samba.relu %x : tensor<0xf32>
  return
}

// -----

func.func @rank9(%x: tensor<1x1x1x1x1x1x1x1x1xf32>) {
  // expected-error@below {{rank 8 at most}}
  %0 = samba.relu %x : tensor<1x1x1x1x1x1x1x1x1xf32>
  return
}

// -----

func.func @wrong_result(%x: tensor<4xf32>) {
  // expected-error@below {{'samba.relu' op result is tensor<5xf32>, but operands and attributes make tensor<4xf32>}}
  %0 = "samba.relu"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @no_value() {
  // expected-error@below {{'samba.constant' op attribute 'value' (a dense or dense_resource tensor) is missing}}
  %0 = samba.constant {}
  return
}

// -----

func.func @value_type() {
  // expected-error@below {{'samba.constant' op the result must have the type of attribute 'value'}}
  %0 = "samba.constant"() {value = dense<1.0> : tensor<4xf32>} : () -> tensor<5xf32>
  return
}
