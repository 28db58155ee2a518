// The operations of the samba dialect. Shape and dtype rules, with the numbered constraints that errors cite, are rows of
// dialect/samba/table: names of attributes and numbers of operands here and there are held equal by a test.
#ifndef SAMBA_DIALECT_SAMBA_OPS
#define SAMBA_DIALECT_SAMBA_OPS

def Samba_Tensor : StaticShapeTensorOf<[F32, BF16, F16, I1, I8, UI8, I16, I32, I64]>;
defvar Samba_Ints = DenseI64ArrayAttr;
defvar Samba_Int = I64Attr;
defvar Samba_Float = F64Attr;
defvar Samba_Bool = BoolAttr;
defvar Samba_String = StrAttr;
def Samba_DType : TypeAttrBase<"::mlir::Type", "element type">;

class Samba_Op<string mnemonic, list<Trait> traits = []> : Samba_InferringOp<Samba_Dialect, mnemonic, traits> {
  let results = (outs Samba_Tensor:$result);
}

//===-- Element-wise, one operand ----------------------------------------------------------------------------------===//

class Samba_Unary<string mnemonic, string formula, dag attributes = (ins)> : Samba_Op<mnemonic> {
  let arguments = !con((ins Samba_Tensor:$input), attributes);
  let summary = formula;
  let description = "Element-wise: result[i] = " # formula # ". The result has the operand's shape.";
}

def Samba_NegOp : Samba_Unary<"neg", "-x">;
def Samba_AbsOp : Samba_Unary<"abs", "|x|">;
def Samba_ExpOp : Samba_Unary<"exp", "e^x">;
def Samba_LogOp : Samba_Unary<"log", "ln x">;
def Samba_SqrtOp : Samba_Unary<"sqrt", "square root of x">;
def Samba_RsqrtOp : Samba_Unary<"rsqrt", "1 / sqrt(x)">;
def Samba_ReciprocalOp : Samba_Unary<"reciprocal", "1 / x">;
def Samba_TanhOp : Samba_Unary<"tanh", "tanh x">;
def Samba_ErfOp : Samba_Unary<"erf", "2/sqrt(pi) * integral from 0 to x of e^(-t^2) dt">;
def Samba_SigmoidOp : Samba_Unary<"sigmoid", "1 / (1 + e^-x)">;
def Samba_ReluOp : Samba_Unary<"relu", "max(x, 0)">;
def Samba_SiluOp : Samba_Unary<"silu", "x / (1 + e^-x)">;
def Samba_SinOp : Samba_Unary<"sin", "sin x">;
def Samba_CosOp : Samba_Unary<"cos", "cos x">;
def Samba_FloorOp : Samba_Unary<"floor", "largest integer <= x">;
def Samba_CeilOp : Samba_Unary<"ceil", "smallest integer >= x">;
def Samba_RoundOp : Samba_Unary<"round", "nearest integer, ties to even">;
def Samba_SignOp : Samba_Unary<"sign", "-1, 0 or 1 with x's sign">;
def Samba_LogicalNotOp : Samba_Unary<"logical_not", "not x">;
def Samba_SoftplusOp : Samba_Unary<"softplus", "ln(1 + e^x)">;
def Samba_HardswishOp : Samba_Unary<"hardswish", "x * min(max(x + 3, 0), 6) / 6">;
def Samba_LeakyReluOp : Samba_Unary<"leaky_relu", "x >= 0 ? x : negative_slope * x", (ins OptionalAttr<Samba_Float>:$negative_slope)>;
def Samba_EluOp : Samba_Unary<"elu", "x > 0 ? x : alpha * (e^x - 1)", (ins OptionalAttr<Samba_Float>:$alpha)>;
def Samba_GeluOp : Samba_Unary<"gelu", "x * Phi(x); with approximate = \"tanh\": x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))",
                               (ins OptionalAttr<Samba_String>:$approximate)>;
def Samba_HardsigmoidOp : Samba_Unary<"hardsigmoid", "min(max(alpha * x + beta, 0), 1)",
                                      (ins OptionalAttr<Samba_Float>:$alpha, OptionalAttr<Samba_Float>:$beta)>;
def Samba_ClampOp : Samba_Unary<"clamp", "min(max(x, min), max)", (ins OptionalAttr<Samba_Float>:$min, OptionalAttr<Samba_Float>:$max)>;
def Samba_CastOp : Samba_Unary<"cast", "x converted to dtype", (ins Samba_DType:$dtype)>;
def Samba_DetachOp : Samba_Unary<"detach", "x, cut off from differentiation">;
def Samba_ContiguousOp : Samba_Unary<"contiguous", "x, laid out row-major">;

//===-- Element-wise, several operands -----------------------------------------------------------------------------===//

class Samba_Binary<string mnemonic, string formula> : Samba_Op<mnemonic> {
  let arguments = (ins Samba_Tensor:$lhs, Samba_Tensor:$rhs);
  let summary = formula;
  let description = "Element-wise with numpy's broadcasting: result[i] = " # formula # ".";
}

def Samba_AddOp : Samba_Binary<"add", "a + b">;
def Samba_SubOp : Samba_Binary<"sub", "a - b">;
def Samba_MulOp : Samba_Binary<"mul", "a * b">;
def Samba_DivOp : Samba_Binary<"div", "a / b; integers: toward zero">;
def Samba_PowOp : Samba_Binary<"pow", "a ^ b">;
def Samba_MaximumOp : Samba_Binary<"maximum", "max(a, b); a NaN wins">;
def Samba_MinimumOp : Samba_Binary<"minimum", "min(a, b); a NaN wins">;
def Samba_RemainderOp : Samba_Binary<"remainder", "a - b * floor(a / b)">;
def Samba_FmodOp : Samba_Binary<"fmod", "a - b * trunc(a / b)">;
def Samba_EqOp : Samba_Binary<"eq", "a == b">;
def Samba_NeOp : Samba_Binary<"ne", "a != b">;
def Samba_LtOp : Samba_Binary<"lt", "a < b">;
def Samba_LeOp : Samba_Binary<"le", "a <= b">;
def Samba_GtOp : Samba_Binary<"gt", "a > b">;
def Samba_GeOp : Samba_Binary<"ge", "a >= b">;
def Samba_LogicalAndOp : Samba_Binary<"logical_and", "a and b">;
def Samba_LogicalOrOp : Samba_Binary<"logical_or", "a or b">;
def Samba_LogicalXorOp : Samba_Binary<"logical_xor", "a xor b">;

def Samba_WhereOp : Samba_Op<"where"> {
  let summary = "c ? a : b";
  let description = "Element-wise with numpy's broadcasting of all three.";
  let arguments = (ins Samba_Tensor:$condition, Samba_Tensor:$lhs, Samba_Tensor:$rhs);
}

//===-- Reductions -------------------------------------------------------------------------------------------------===//

class Samba_Reduction<string mnemonic, string formula> : Samba_Op<mnemonic> {
  let arguments = (ins Samba_Tensor:$input, OptionalAttr<Samba_Ints>:$dim, OptionalAttr<Samba_Bool>:$keepdim);
  let summary = formula;
  let description = "Over the dimensions `dim` (all of them when left out), which disappear, or with keepdim become 1.";
}

def Samba_SumOp : Samba_Reduction<"sum", "sum of the elements">;
def Samba_MeanOp : Samba_Reduction<"mean", "arithmetic mean of the elements">;
def Samba_AmaxOp : Samba_Reduction<"amax", "largest element; a NaN wins">;
def Samba_AminOp : Samba_Reduction<"amin", "smallest element; a NaN wins">;
def Samba_ProdOp : Samba_Reduction<"prod", "product of the elements">;

//===-- Contractions -----------------------------------------------------------------------------------------------===//

def Samba_LinearOp : Samba_Op<"linear"> {
  let summary = "x * transpose(w) + b";
  let description = [{
    result[.., o] = sum over k of x[.., k] * w[o, k], then + b[o], a rounded addition of its own. bf16 operands accumulate in f32;
    `out_dtype = f32` keeps that result. Source: torch.nn.functional.linear.
  }];
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$weight, Optional<Samba_Tensor>:$bias, OptionalAttr<Samba_DType>:$out_dtype);
}
def Samba_MatmulOp : Samba_Op<"matmul"> {
  let summary = "matrix product, batched over the leading dimensions";
  let description = "result[.., m, n] = sum over k of a[.., m, k] * b[.., k, n]; leading dimensions broadcast. Source: torch.matmul.";
  let arguments = (ins Samba_Tensor:$lhs, Samba_Tensor:$rhs, OptionalAttr<Samba_DType>:$out_dtype);
}
class Samba_Convolution<string mnemonic, string dims> : Samba_Op<mnemonic> {
  let summary = "convolution over " # dims;
  let description = [{
    x is N x C x spatial, w is O x C/groups x window. `padding` has two numbers per spatial dimension: the begins, then the ends.
    The products are summed with the channel outermost, window innermost. Source: torch.nn.functional.conv.
  }];
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$weight, Optional<Samba_Tensor>:$bias, OptionalAttr<Samba_Ints>:$stride,
                   OptionalAttr<Samba_Ints>:$padding, OptionalAttr<Samba_Ints>:$dilation, OptionalAttr<Samba_Int>:$groups,
                   OptionalAttr<Samba_DType>:$out_dtype);
}
def Samba_Conv1dOp : Samba_Convolution<"conv1d", "one dimension">;
def Samba_Conv2dOp : Samba_Convolution<"conv2d", "two dimensions">;
def Samba_Conv3dOp : Samba_Convolution<"conv3d", "three dimensions">;

def Samba_AttentionOp : Samba_Op<"scaled_dot_product_attention"> {
  let summary = "softmax(q * transpose(k) * scale + mask) * v";
  let description = "Source: torch.nn.functional.scaled_dot_product_attention. A mask of i1 keeps where true.";
  let arguments = (ins Samba_Tensor:$query, Samba_Tensor:$key, Samba_Tensor:$value, Optional<Samba_Tensor>:$mask,
                   OptionalAttr<Samba_Float>:$scale, OptionalAttr<Samba_Bool>:$is_causal);
}

//===-- Pools, norms -----------------------------------------------------------------------------------------------===//

class Samba_MaxPool<string mnemonic> : Samba_Op<mnemonic> {
  let summary = "largest element of each window";
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$kernel_size, OptionalAttr<Samba_Ints>:$stride, OptionalAttr<Samba_Ints>:$padding,
                   OptionalAttr<Samba_Ints>:$dilation, OptionalAttr<Samba_Bool>:$ceil_mode);
}
def Samba_MaxPool1dOp : Samba_MaxPool<"max_pool1d">;
def Samba_MaxPool2dOp : Samba_MaxPool<"max_pool2d">;
def Samba_MaxPool3dOp : Samba_MaxPool<"max_pool3d">;
class Samba_AvgPool<string mnemonic> : Samba_Op<mnemonic> {
  let summary = "mean of each window";
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$kernel_size, OptionalAttr<Samba_Ints>:$stride, OptionalAttr<Samba_Ints>:$padding,
                   OptionalAttr<Samba_Bool>:$ceil_mode, OptionalAttr<Samba_Bool>:$count_include_pad);
}
def Samba_AvgPool1dOp : Samba_AvgPool<"avg_pool1d">;
def Samba_AvgPool2dOp : Samba_AvgPool<"avg_pool2d">;
def Samba_AvgPool3dOp : Samba_AvgPool<"avg_pool3d">;
def Samba_BatchNormOp : Samba_Op<"batch_norm"> {
  let summary = "(x - mean) / sqrt(variance + eps) * weight + bias, per channel";
  let description = "Inference form. Source: torch.nn.functional.batch_norm.";
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$weight, Samba_Tensor:$bias, Samba_Tensor:$mean, Samba_Tensor:$variance,
                   OptionalAttr<Samba_Float>:$eps);
}
def Samba_LayerNormOp : Samba_Op<"layer_norm"> {
  let summary = "normalization over the last dimensions, then * weight + bias";
  let description = "`parameters`: nothing, weight, or weight and bias. Source: torch.nn.functional.layer_norm.";
  let arguments = (ins Samba_Tensor:$input, Variadic<Samba_Tensor>:$parameters, Samba_Ints:$normalized_shape, OptionalAttr<Samba_Float>:$eps);
}
def Samba_RmsNormOp : Samba_Op<"rms_norm"> {
  let summary = "x / sqrt(mean(x^2) + eps) over the last dimensions, then * weight";
  let arguments = (ins Samba_Tensor:$input, Optional<Samba_Tensor>:$weight, Samba_Ints:$normalized_shape, OptionalAttr<Samba_Float>:$eps);
}
def Samba_GroupNormOp : Samba_Op<"group_norm"> {
  let summary = "normalization over groups of channels, then * weight + bias per channel";
  let arguments = (ins Samba_Tensor:$input, Variadic<Samba_Tensor>:$parameters, Samba_Int:$num_groups, OptionalAttr<Samba_Float>:$eps);
}
class Samba_SoftmaxLike<string mnemonic, string formula> : Samba_Op<mnemonic> {
  let summary = formula;
  let arguments = (ins Samba_Tensor:$input, Samba_Int:$dim);
}
def Samba_SoftmaxOp : Samba_SoftmaxLike<"softmax", "e^(x - m) / sum of e^(x - m), m the largest element along dim">;
def Samba_LogSoftmaxOp : Samba_SoftmaxLike<"log_softmax", "x - m - ln(sum of e^(x - m)), m the largest element along dim">;

//===-- Views, gathers ---------------------------------------------------------------------------------------------===//

def Samba_ReshapeOp : Samba_Op<"reshape"> {
  let summary = "the same elements in another shape";
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$shape);
}
def Samba_PermuteOp : Samba_Op<"permute"> {
  let summary = "dimensions reordered: result dimension i is input dimension dims[i]";
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$dims);
}
def Samba_ExpandOp : Samba_Op<"expand"> {
  let summary = "dimensions of size 1 repeated, dimensions added in front";
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$shape);
}
def Samba_SliceOp : Samba_Op<"slice"> {
  let summary = "elements starts, starts + steps, ... before ends, along every dimension";
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$starts, Samba_Ints:$ends, Samba_Ints:$steps);
}
def Samba_PadOp : Samba_Op<"pad"> {
  let summary = "`low` and `high` elements of `value` around every dimension";
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$low, Samba_Ints:$high, OptionalAttr<Samba_Float>:$value);
}
def Samba_CatOp : Samba_Op<"cat"> {
  let summary = "tensors one after the other along dim";
  let arguments = (ins Variadic<Samba_Tensor>:$inputs, Samba_Int:$dim);
}
def Samba_EmbeddingOp : Samba_Op<"embedding"> {
  let summary = "rows of weight, one per index";
  let arguments = (ins Samba_Tensor:$weight, Samba_Tensor:$indices);
}
def Samba_IndexSelectOp : Samba_Op<"index_select"> {
  let summary = "slices of x along dim, one per index";
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$indices, Samba_Int:$dim);
}

//===-- Values -----------------------------------------------------------------------------------------------------===//

def Samba_ConstantOp : Samba_Op<"constant", [ConstantLike]> {
  let summary = "a small constant; weights are arguments with samba.value";
  let description = "`%0 = samba.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>}`. The result has the type of the value.";
  let arguments = (ins ElementsAttr:$value);
}

//===-- Sections ---------------------------------------------------------------------------------------------------===//

class Samba_StructureOp<string mnemonic, list<Trait> traits = []> : Op<Samba_Dialect, mnemonic, traits> {
  let hasVerifier = 1;
  let extraClassDefinition = sambaVerify;
}

def Samba_SectionOp : Samba_StructureOp<"section", [FunctionOpInterface, IsolatedFromAbove, SingleBlock]> {
  let summary = "a subgraph that is configured onto the chip as one";
  let description = [{
    A symbol of the module, called by `samba.call`. Equal sections are one. `machine` says which chip it is planned for.
    ```mlir
    samba.section @s0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {machine = #rdu.machine<"tiny">} {
      %0 = samba.relu %x : tensor<4xf32>
      samba.yield %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, OptionalAttr<StrAttr>:$sym_visibility,
                   OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs, OptionalAttr<AnyAttr>:$machine);
  let regions = (region SizedRegion<1>:$body);
  let hasVerifier = 0;
  let hasRegionVerifier = 1;
  let hasCustomAssemblyFormat = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
  let extraClassDefinition = !strconcat(sambaVerifyRegions, [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser, ::mlir::OperationState &result) {
      return ::samba::parseFunction<$cppClass>(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) { ::samba::printFunction(printer, *this); }
  }]);
}

def Samba_CallOp : Samba_StructureOp<"call", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "one run of a section: its place in the schedule";
  let description = "`%0 = samba.call @s0(%x) {id = 0, type = \"FWD\"} : (tensor<4xf32>) -> tensor<4xf32>`. Types: ZEROGRAD, FWD, BCKWD, OPT, REDUCE, GRADNORM.";
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<Samba_Tensor>:$inputs, Samba_Int:$id, Samba_String:$type);
  let results = (outs Variadic<Samba_Tensor>:$outputs);
  let assemblyFormat = "$callee `(` $inputs `)` custom<PrettyAttributes>(attr-dict) `:` functional-type($inputs, $outputs)";
  let extraClassDefinition = !strconcat(sambaVerify, [{
    ::llvm::LogicalResult $cppClass::verifySymbolUses(::mlir::SymbolTableCollection &symbols) {
      return ::samba::verifySymbolInC(getOperation(), symbols.lookupNearestSymbolFrom(getOperation(), getCalleeAttr()));
    }
  }]);
}

def Samba_YieldOp : Samba_StructureOp<"yield", [Pure, Terminator, HasParent<"SectionOp">]> {
  let summary = "the results of a section";
  let arguments = (ins Variadic<Samba_Tensor>:$results_);
  let assemblyFormat = "($results_^)? attr-dict (`:` type($results_)^)?";
}

#endif
