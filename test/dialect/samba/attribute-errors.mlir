// Each refusal of an attribute.
// RUN: samba-opt --verify-diagnostics --split-input-file %s

// expected-error@below {{'func.func' op there is no attribute 'samba.nam' in the samba dialect}}
func.func @f(%x: tensor<4xf32> {samba.nam = "x"}) { return }

// -----

// expected-error@below {{'func.func' op attribute 'samba.op_name' cannot stand on an argument}}
func.func @f(%x: tensor<4xf32> {samba.op_name = "x"}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.name' must be a string}}
func.func @f(%x: tensor<4xf32> {samba.name = 1}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.requires_grad' must be true or false}}
func.func @f(%x: tensor<4xf32> {samba.requires_grad}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.kind' must be "input", "weight", "buffer", "optimizer_state", "gradient", "constant" or "argin"}}
func.func @f(%x: tensor<4xf32> {samba.kind = "output"}) { return }

// -----

// expected-error@below {{'func.func' op result 0: attribute 'samba.kind' must be "output", "loss", "update" or "gradient"}}
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32> {samba.kind = "input"}) { return %x : tensor<4xf32> }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.block' must be array<i64: ELEMENTS, STEP>, a block and the step to the next}}
func.func @f(%x: tensor<4xf32> {samba.block = array<i64: 4, 3>}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.mem' must be "ddr", "hbm" or "host"}}
func.func @f(%x: tensor<4xf32> {samba.mem = "sram"}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.host_dtype' must be an element type: f32, bf16, f16, f64, i1, i8, ui8, i16, i32 or i64}}
func.func @f(%x: tensor<4xf32> {samba.host_dtype = i7}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.value' must be #samba.external<...>, #samba.derived<...> or a dense tensor}}
func.func @f(%x: tensor<4xf32> {samba.value = "file"}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: samba.value has 12 bytes, but the tensor has 16}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.external<"f", offset = 0, bytes = 12>}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: samba.value does not have the argument's type}}
func.func @f(%x: tensor<4xf32> {samba.value = dense<1.0> : tensor<5xf32>}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.argin' must be #samba.argin<...>}}
func.func @f(%x: tensor<f32> {samba.argin = 1.0}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.dim_name' must be a list with one string per dimension}}
func.func @f(%x: tensor<4x5xf32> {samba.dim_name = ["a"]}) { return }

// -----

// expected-error@below {{'func.func' op argument 0: attribute 'samba.shard' must be a dictionary}}
func.func @f(%x: tensor<4x5xf32> {samba.shard = 2}) { return }

// -----

// expected-error@below {{'func.func' op attribute 'samba.graph' must be {mode = "training"} or {mode = "inference"}}}
func.func @f() attributes {samba.graph = {mode = "debug"}} { return }

// -----

// expected-error@below {{'builtin.module' op attribute 'samba.graphs' must be a list of functions, [@forward]}}
module attributes {samba.graphs = "forward"} {}

// -----

// expected-error@below {{'func.func' op result 0 writes region 'w' of argument 0, but does not have its type}}
func.func @f(%w: tensor<4xf32> {samba.name = "w"}, %x: tensor<5xf32>) -> (tensor<5xf32> {samba.region = "w"}) { return %x : tensor<5xf32> }

// -----

// expected-error@below {{#samba.external needs a file: #samba.external<"model.onnx", offset = 0, bytes = 4>}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.external<offset = 0, bytes = 16>}) { return }

// -----

// expected-error@below {{#samba.external needs 'bytes'}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.external<"f", offset = 0>}) { return }

// -----

// expected-error@below {{#samba.external: 'offset' must be an integer of 0 or more}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.external<"f", offset = -1, bytes = 16>}) { return }

// -----

// expected-error@below {{#samba.external: 'checksum' must be a string}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.external<"f", offset = 1, bytes = 16, checksum = 1>}) { return }

// -----

// expected-error@below {{#samba.external has no 'size'}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.external<"f", offset = 1, size = 16>}) { return }

// -----

// expected-error@below {{#samba.external: offset + bytes is beyond the largest file}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.external<"f", offset = 9223372036854775807, bytes = 16>}) { return }

// -----

// expected-error@+1 {{duplicate key 'bytes'}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.external<"f", bytes = 16, bytes = 16>}) { return }

// -----

// expected-error@below {{#samba.derived: there is no operation 'frobnicate'}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.derived<"frobnicate", operands = [], types = []>}) { return }

// -----

// expected-error@below {{#samba.derived needs one type per operand}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.derived<"neg", operands = [dense<1.0> : tensor<4xf32>], types = [i1, i1]>}) { return }

// -----

// expected-error@below {{#samba.derived: 'operands' must be a list}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.derived<"neg", operands = 1, types = [f32]>}) { return }

// -----

// expected-error@below {{#samba.derived: 'attributes' must be a dictionary}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.derived<"neg", operands = ["x"], types = [f32], attributes = 1>}) { return }

// -----

// expected-error@below {{#samba.derived: operand 0 must be #samba.external<...>, #samba.derived<...> or a dense tensor}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.derived<"neg", operands = ["x"], types = [tensor<4xf32>]>}) { return }

// -----

// expected-error@below {{#samba.derived: type 0 is not a type}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.derived<"neg", operands = [dense<1.0> : tensor<4xf32>], types = ["x"]>}) { return }

// -----

// expected-error@below {{#samba.derived<"permute">: attribute 'dims' (a list of integers) is missing}}
func.func @f(%x: tensor<4xf32> {samba.value = #samba.derived<"permute", operands = [dense<1.0> : tensor<4xf32>], types = [tensor<4xf32>]>}) { return }

// -----

// expected-error@below {{#samba.argin takes no name, only kind, group, default, min and max}}
func.func @f(%x: tensor<f32> {samba.argin = #samba.argin<"lr", default = 0.1>}) { return }

// -----

// expected-error@below {{#samba.argin: kind must be "lr", "weight_decay", "momentum", "dropout_rate", "dropout_seed" or "other"}}
func.func @f(%x: tensor<f32> {samba.argin = #samba.argin<kind = "rate", default = 0.1>}) { return }

// -----

// expected-error@below {{#samba.argin: 'default' must be a finite number}}
func.func @f(%x: tensor<f32> {samba.argin = #samba.argin<kind = "lr", default = "0.1">}) { return }

// -----

// expected-error@below {{#samba.argin: default 2 is outside [0, 1]}}
func.func @f(%x: tensor<f32> {samba.argin = #samba.argin<kind = "lr", default = 2.0, min = 0, max = 1>}) { return }

// -----

func.func @phase(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@below {{attribute 'samba.phase' must be "ZEROGRAD", "FWD", "BCKWD", "REDUCE", "GRADNORM" or "OPT"}}
  %0 = samba.exp %x {samba.phase = "TRAIN"} : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// expected-error@below {{argument 0: kind "argin" and samba.argin = #samba.argin<...> go together, but one of them is missing}}
func.func @f(%x: tensor<f32> {samba.kind = "argin"}) { return }

// -----

// expected-error@below {{argument 0: kind "argin" and samba.argin = #samba.argin<...> go together, but one of them is missing}}
func.func @f(%x: tensor<f32> {samba.kind = "input", samba.argin = #samba.argin<kind = "lr", default = 0.1>}) { return }

// -----

// expected-error@below {{argument 0: an argin is a scalar: tensor<f32>, tensor<i32> or tensor<i64>}}
func.func @f(%x: tensor<1xf32> {samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", default = 0.1>}) { return }

// -----

// expected-error@below {{argument 0: an argin is a scalar: tensor<f32>, tensor<i32> or tensor<i64>}}
func.func @f(%x: tensor<bf16> {samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", default = 0.1>}) { return }

// -----

// expected-error@below {{argument 0: 'max' of #samba.argin is no i32}}
func.func @f(%x: tensor<i32> {samba.kind = "argin", samba.argin = #samba.argin<kind = "other", default = 1, max = 5000000000>}) { return }

// -----

// expected-error@below {{argument 0: 'default' of #samba.argin is no i64}}
func.func @f(%x: tensor<i64> {samba.kind = "argin", samba.argin = #samba.argin<kind = "dropout_seed", default = 1.0>}) { return }

// -----

// expected-error@below {{argument 0: 'default' of #samba.argin is no f32}}
func.func @f(%x: tensor<f32> {samba.kind = "argin", samba.argin = #samba.argin<kind = "lr", default = 1.0e39>}) { return }

// -----

// expected-error@below {{result 0: samba.grad_of is for results of kind "gradient"}}
func.func @f(%x: tensor<2xf32> {samba.name = "x"}) -> (tensor<2xf32> {samba.kind = "output", samba.grad_of = "x"}) { return %x : tensor<2xf32> }

// -----

// expected-error@below {{result 0: samba.grad_of names 'w', but no argument has this name}}
func.func @f(%x: tensor<2xf32> {samba.name = "x"}) -> (tensor<2xf32> {samba.kind = "gradient", samba.grad_of = "w"}) { return %x : tensor<2xf32> }

// -----

// expected-error@below {{argument 0: samba.master names 'c', but no argument has this name}}
func.func @f(%w: tensor<2xbf16> {samba.name = "w", samba.master = "c"}) { return }

// -----

// expected-error@below {{argument 0 has the master 'c', which is no f32 of its shape}}
func.func @f(%w: tensor<2xbf16> {samba.name = "w", samba.master = "c"}, %c: tensor<2xbf16> {samba.name = "c"}) { return }

// -----

// expected-error@below {{argument 1 has the master 'c', which is no f32 of its shape}}
func.func @f(%c: tensor<3xf32> {samba.name = "c"}, %w: tensor<2xbf16> {samba.name = "w", samba.master = "c"}) { return }

// -----

// expected-error@below {{attribute 'samba.master' cannot stand on a result}}
func.func @f(%x: tensor<2xf32> {samba.name = "x"}) -> (tensor<2xf32> {samba.master = "x"}) { return %x : tensor<2xf32> }

// -----

// expected-error@below {{result 0 is the gradient of argument 'w', but does not have its shape}}
func.func @f(%x: tensor<2xf32> {samba.name = "x"}, %w: tensor<3xf32> {samba.name = "w"}) -> (tensor<2xf32> {samba.kind = "gradient", samba.grad_of = "w"}) { return %x : tensor<2xf32> }

// -----

func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@below {{attribute 'samba.region' must be on a samba.contiguous, whose result the region holds from there on}}
  %0 = samba.neg %x {samba.region = "x"} : tensor<2xf32>
  return %0 : tensor<2xf32>
}
