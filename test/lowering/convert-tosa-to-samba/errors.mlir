// RUN: samba-opt %s --convert-tosa-to-samba -split-input-file -verify-diagnostics

func.func @rescale(%x: tensor<4xi32>) -> tensor<4xi8> {
  %m = "tosa.const"() <{values = dense<1073741824> : tensor<1xi32>}> : () -> tensor<1xi32>
  %s = "tosa.const"() <{values = dense<38> : tensor<1xi8>}> : () -> tensor<1xi8>
  %i = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %o = "tosa.const"() <{values = dense<-3> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.rescale' op rescales quantized numbers in fixed point; compile the network before quantization}}
  %0 = tosa.rescale %x, %m, %s, %i, %o {input_unsigned = false, output_unsigned = false,
      per_channel = false, rounding_mode = SINGLE_ROUND, scale32 = true}
    : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @table(%x: tensor<4xi8>, %t: tensor<256xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{'tosa.table' op is a lookup table of quantized networks}}
  %0 = tosa.table %x, %t : (tensor<4xi8>, tensor<256xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @custom(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'tosa.custom' op is known only to its vendor}}
  %0 = tosa.custom %x {domain_name = "vendor", implementation_attrs = "",
      operator_name = "mystery"} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @branch(%x: tensor<4xf32>, %c: tensor<i1>) -> tensor<4xf32> {
  // expected-error @+1 {{'tosa.cond_if' op is control flow that depends on data; compute both sides and choose with tosa.select}}
  %0 = tosa.cond_if %c : tensor<i1> -> tensor<4xf32> {
    tosa.yield %x : tensor<4xf32>
  } else {
    tosa.yield %x : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

// expected-error @+1 {{'tosa.variable' op is state that outlives a call; make it an argument and a result}}
tosa.variable @state = dense<0.0> : tensor<4xf32>
func.func @variable(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tosa.variable_read @state : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @pool_of_integers(%x: tensor<1x4x4x1xi8>) -> tensor<1x2x2x1xi8> {
  %z = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  // expected-error @+1 {{averages integers with a rounding of quantized networks, which samba has not; compute in f32}}
  %0 = tosa.avg_pool2d %x, %z, %z {acc_type = i32, kernel = array<i64: 2, 2>,
      pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}
    : (tensor<1x4x4x1xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x2x1xi8>
  return %0 : tensor<1x2x2x1xi8>
}

// -----

func.func @wide(%x: tensor<4xi48>) -> tensor<4xi48> {
  // expected-error @+1 {{'tosa.abs' op operand 0: tensor<4xi48> is not a tensor with static dimensions}}
  %0 = tosa.abs %x : (tensor<4xi48>) -> tensor<4xi48>
  return %0 : tensor<4xi48>
}

// -----

func.func @unknown_zero_point(%x: tensor<4xi8>, %z: tensor<1xi8>) -> tensor<4xi8> {
  // expected-error @+1 {{wants a constant as operand 1, because shapes are known when a model is compiled; canonicalize the module first}}
  %0 = tosa.negate %x, %z, %z : (tensor<4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @too_many_dimensions(%x: tensor<1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1xf32> {
  %s = tosa.const_shape {values = dense<1> : tensor<9xindex>} : () -> !tosa.shape<9>
  // expected-error @+1 {{'tosa.reshape' op result 0: tensor<1x1x1x1x1x1x1x1x1xf32> is not a tensor}}
  %0 = tosa.reshape %x, %s : (tensor<1x1x1x1x1x1x1x1xf32>, !tosa.shape<9>) -> tensor<1x1x1x1x1x1x1x1x1xf32>
  return %0 : tensor<1x1x1x1x1x1x1x1x1xf32>
}

// -----

func.func @block(%x: tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN> {
  // expected-error @+1 {{'tosa.cast_to_block_scaled' op is an operation of TOSA that has no form in samba; docs/linalg.md lists them}}
  %0, %1 = tosa.cast_to_block_scaled %x {block_size = BLOCK_SIZE_32}
    : (tensor<4x32xf32>) -> (tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>)
  return %0 : tensor<4x32xf8E4M3FN>
}
