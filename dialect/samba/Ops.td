// The operations of the samba dialect. Shape and dtype rules, with the numbered constraints that errors cite, are rows of
// dialect/samba/table: names of attributes and numbers of operands here and there are held equal by a test.
#ifndef SAMBA_DIALECT_SAMBA_OPS
#define SAMBA_DIALECT_SAMBA_OPS

def Samba_Tensor : StaticShapeTensorOf<[F32, BF16, F16, I1, I8, UI8, I16, I32, I64]>;
defvar Samba_Ints = DenseI64ArrayAttr;
defvar Samba_Floats = DenseF64ArrayAttr;
defvar Samba_Int = I64Attr;
defvar Samba_Float = F64Attr;
defvar Samba_Bool = BoolAttr;
defvar Samba_String = StrAttr;
def Samba_DType : TypeAttrBase<"::mlir::Type", "element type">;

// Every op documents what it computes, its constraints - the numbers are those that errors cite -, an example, which is a
// test, and where the definition comes from.
class Samba_Text<string computes, string constraints, string example, string source> {
  string text = !strconcat(computes, "\n\nConstraints: ", constraints, "\n\n```mlir\n", example, "\n```\n\nSource: ", source, ".");
}
class Samba_Op<string mnemonic, list<Trait> traits = []> : Samba_InferringOp<Samba_Dialect, mnemonic, traits> {
  let results = (outs Samba_Tensor:$result);
}
// An op with other results than one tensor. MLIR's fold of such ops has another signature; none of them folds.
class Samba_ResultsOp<string mnemonic, dag resultTypes> : Samba_InferringOp<Samba_Dialect, mnemonic> {
  let results = resultTypes;
  let hasFolder = 0;
  let extraClassDefinition = !strconcat(sambaVerify, sambaPatterns, sambaInfer, sambaInferringAssembly);
}

//===-- Element-wise, one operand ----------------------------------------------------------------------------------===//

class Samba_Unary<string mnemonic, string formula, dag attributes = (ins), string example = "", string source = "", string element = "f32">
    : Samba_Op<mnemonic> {
  let arguments = !con((ins Samba_Tensor:$input), attributes);
  let summary = formula;
  let description = Samba_Text<
      !strconcat("Element-wise: result[i] = ", formula, "."),
      "(C1) the operand's dtype is one that the operation is defined for; (C2) attributes are in their range. The result has the operand's shape and dtype (cast: the dtype asked for).",
      !strconcat("%y = samba.", mnemonic, " %x", example, " : tensor<2x3x", element, ">"),
      !if(!empty(source), !strconcat("torch.", mnemonic), source)>.text;
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
def Samba_SiluOp : Samba_Unary<"silu", "x / (1 + e^-x)", (ins), "", "torch.nn.functional.silu">;
def Samba_SinOp : Samba_Unary<"sin", "sin x">;
def Samba_CosOp : Samba_Unary<"cos", "cos x">;
def Samba_TanOp : Samba_Unary<"tan", "tan x">;
def Samba_AsinOp : Samba_Unary<"asin", "arc sine of x, in [-pi/2, pi/2]">;
def Samba_AcosOp : Samba_Unary<"acos", "arc cosine of x, in [0, pi]">;
def Samba_AtanOp : Samba_Unary<"atan", "arc tangent of x, in [-pi/2, pi/2]">;
def Samba_SinhOp : Samba_Unary<"sinh", "sinh x">;
def Samba_CoshOp : Samba_Unary<"cosh", "cosh x">;
def Samba_AsinhOp : Samba_Unary<"asinh", "inverse of sinh">;
def Samba_AcoshOp : Samba_Unary<"acosh", "inverse of cosh, 0 or more">;
def Samba_AtanhOp : Samba_Unary<"atanh", "inverse of tanh">;
def Samba_Expm1Op : Samba_Unary<"expm1", "e^x - 1">;
def Samba_Log1pOp : Samba_Unary<"log1p", "ln(1 + x)">;
def Samba_TruncOp : Samba_Unary<"trunc", "nearest integer toward zero">;
def Samba_FloorOp : Samba_Unary<"floor", "largest integer <= x">;
def Samba_CeilOp : Samba_Unary<"ceil", "smallest integer >= x">;
def Samba_RoundOp : Samba_Unary<"round", "nearest integer, ties to even">;
def Samba_SignOp : Samba_Unary<"sign", "-1, 0 or 1 with x's sign">;
def Samba_LogicalNotOp : Samba_Unary<"logical_not", "not x", (ins), "", "", "i1">;
def Samba_BitwiseNotOp : Samba_Unary<"bitwise_not", "x with all bits inverted", (ins), "", "", "i32">;
def Samba_LogsigmoidOp : Samba_Unary<"logsigmoid", "ln(1 / (1 + e^-x))", (ins), "", "torch.nn.functional.logsigmoid">;
def Samba_SoftsignOp : Samba_Unary<"softsign", "x / (1 + |x|)", (ins), "", "torch.nn.functional.softsign">;
def Samba_MishOp : Samba_Unary<"mish", "x * tanh(ln(1 + e^x))", (ins), "", "torch.nn.functional.mish">;
def Samba_SoftplusOp : Samba_Unary<"softplus", "ln(1 + e^x)", (ins), "", "torch.nn.functional.softplus">;
def Samba_HardswishOp : Samba_Unary<"hardswish", "x * min(max(x + 3, 0), 6) / 6", (ins), "", "torch.nn.functional.hardswish">;
def Samba_LeakyReluOp : Samba_Unary<"leaky_relu", "x >= 0 ? x : negative_slope * x (default 0.01)", (ins OptionalAttr<Samba_Float>:$negative_slope),
                                    " {negative_slope = 0.1}", "torch.nn.functional.leaky_relu">;
def Samba_EluOp : Samba_Unary<"elu", "x > 0 ? x : alpha * (e^x - 1) (default 1)", (ins OptionalAttr<Samba_Float>:$alpha), " {alpha = 0.5}",
                              "torch.nn.functional.elu">;
def Samba_CeluOp : Samba_Unary<"celu", "x > 0 ? x : alpha * (e^(x / alpha) - 1) (default 1)", (ins OptionalAttr<Samba_Float>:$alpha), " {alpha = 0.5}",
                               "torch.nn.functional.celu">;
def Samba_SeluOp : Samba_Unary<"selu", "scale * (x > 0 ? x : alpha * (e^x - 1)) (defaults: the paper's constants)",
                               (ins OptionalAttr<Samba_Float>:$alpha, OptionalAttr<Samba_Float>:$scale), " {alpha = 2.0}", "torch.nn.functional.selu">;
def Samba_ThresholdOp : Samba_Unary<"threshold", "x <= threshold ? value : x (defaults 0, 0)",
                                    (ins OptionalAttr<Samba_Float>:$threshold, OptionalAttr<Samba_Float>:$value), " {threshold = 1.0}",
                                    "torch.nn.functional.threshold">;
def Samba_ShrinkOp : Samba_Unary<"shrink", "x < -lambd ? x + bias : x > lambd ? x - bias : 0 (defaults 1/2, 0)",
                                 (ins OptionalAttr<Samba_Float>:$lambd, OptionalAttr<Samba_Float>:$bias), " {lambd = 1.0, bias = 1.0}",
                                 "torch.nn.functional.hardshrink (bias 0), softshrink (bias lambd), ONNX Shrink">;
def Samba_GeluOp : Samba_Unary<"gelu", "x * Phi(x); with approximate = \"tanh\": x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3)))",
                               (ins OptionalAttr<Samba_String>:$approximate), " {approximate = \"tanh\"}", "torch.nn.functional.gelu">;
def Samba_HardsigmoidOp : Samba_Unary<"hardsigmoid", "min(max(alpha * x + beta, 0), 1) (defaults 1/6, 1/2)",
                                      (ins OptionalAttr<Samba_Float>:$alpha, OptionalAttr<Samba_Float>:$beta), " {alpha = 0.2, beta = 0.5}",
                                      "torch.nn.functional.hardsigmoid">;
def Samba_ClampOp : Samba_Unary<"clamp", "min(max(x, min), max); an absent bound does not bound",
                                (ins OptionalAttr<Samba_Float>:$min, OptionalAttr<Samba_Float>:$max), " {min = 0.0, max = 6.0}">;
def Samba_CastOp : Samba_Unary<"cast", "x converted to dtype: to a float rounded to nearest even, float to integer toward zero, to i1 x != 0",
                               (ins Samba_DType:$dtype), " {dtype = bf16}", "torch.Tensor.to">;
def Samba_DetachOp : Samba_Unary<"detach", "x, cut off from differentiation">;
def Samba_ContiguousOp : Samba_Unary<"contiguous", "x, laid out row-major", (ins), "", "torch.Tensor.contiguous">;

//===-- Element-wise, several operands -----------------------------------------------------------------------------===//

class Samba_Binary<string mnemonic, string formula, string element = "f32"> : Samba_Op<mnemonic> {
  let arguments = (ins Samba_Tensor:$lhs, Samba_Tensor:$rhs);
  let summary = formula;
  let description = Samba_Text<
      !strconcat("Element-wise with numpy's broadcasting: result[i] = ", formula, "."),
      "(C1) operand 0 has a dtype that the operation is defined for; (C2) both have one dtype; (C3) their shapes broadcast. The result has the broadcast shape, and that dtype, or i1 (comparisons).",
      !strconcat("%y = samba.", mnemonic, " %a, %b : tensor<2x3x", element, ">, tensor<3x", element, ">"), !strconcat("torch.", mnemonic)>.text;
}

def Samba_AddOp : Samba_Binary<"add", "a + b">;
def Samba_SubOp : Samba_Binary<"sub", "a - b">;
def Samba_MulOp : Samba_Binary<"mul", "a * b">;
def Samba_DivOp : Samba_Binary<"div", "a / b; integers: toward zero">;
def Samba_PowOp : Samba_Binary<"pow", "a ^ b; integers wrap, with a negative exponent toward zero">;
def Samba_PreluOp : Samba_Binary<"prelu", "a < 0 ? b * a : a">;
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
def Samba_LogicalAndOp : Samba_Binary<"logical_and", "a and b", "i1">;
def Samba_LogicalOrOp : Samba_Binary<"logical_or", "a or b", "i1">;
def Samba_LogicalXorOp : Samba_Binary<"logical_xor", "a xor b", "i1">;
def Samba_BitwiseAndOp : Samba_Binary<"bitwise_and", "a and b, bit by bit", "i32">;
def Samba_BitwiseOrOp : Samba_Binary<"bitwise_or", "a or b, bit by bit", "i32">;
def Samba_BitwiseXorOp : Samba_Binary<"bitwise_xor", "a xor b, bit by bit", "i32">;
def Samba_BitwiseLeftShiftOp : Samba_Binary<"bitwise_left_shift", "a * 2^b; an amount outside [0, bits) gives 0", "i32">;
def Samba_BitwiseRightShiftOp : Samba_Binary<"bitwise_right_shift", "floor(a / 2^b); an amount outside [0, bits) shifts everything out", "i32">;

def Samba_WhereOp : Samba_Op<"where"> {
  let summary = "c ? a : b";
  let description = Samba_Text<"Element-wise with numpy's broadcasting of all three.",
      "(C1) the condition is i1; (C2) a and b have one dtype; (C3) the shapes broadcast.",
      "%y = samba.where %c, %a, %b : tensor<2x1xi1>, tensor<2x3xf32>, tensor<3xf32>", "torch.where">.text;
  let arguments = (ins Samba_Tensor:$condition, Samba_Tensor:$lhs, Samba_Tensor:$rhs);
}

//===-- Random numbers ---------------------------------------------------------------------------------------------===//

defvar sambaGenerator = "Numbers depend on the seed and the element's row-major index alone (docs/numerics.md).";
class Samba_Shaped<string mnemonic, string formula, dag attributes, string example, string source> : Samba_Op<mnemonic> {
  let summary = formula;
  let description = Samba_Text<!strconcat("Each element is ", formula, ". ", sambaGenerator),
      "(C1) the seed is a rank-0 i64; (C2) shape is the result's, at most 8 numbers of 1 or more; (C3) dtype is a float.",
      !strconcat("%y = samba.", mnemonic, " %seed {", example, "} : tensor<i64>"), source>.text;
  let arguments = !con((ins Samba_Tensor:$seed, Samba_Ints:$shape, Samba_DType:$dtype), attributes);
}
def Samba_UniformOp : Samba_Shaped<"uniform", "uniform in [low, high) (defaults 0, 1)", (ins OptionalAttr<Samba_Float>:$low, OptionalAttr<Samba_Float>:$high),
                                   "shape = [2, 3], dtype = f32, low = -1.0", "torch.rand, ONNX RandomUniform">;
def Samba_NormalOp : Samba_Shaped<"normal", "normally distributed (defaults: mean 0, std 1)", (ins OptionalAttr<Samba_Float>:$mean, OptionalAttr<Samba_Float>:$std),
                                  "shape = [2, 3], dtype = bf16, std = 2.0", "torch.normal, ONNX RandomNormal">;
def Samba_BernoulliOp : Samba_Op<"bernoulli"> {
  let summary = "1 with probability p, else 0";
  let description = Samba_Text<!strconcat("Each element is 1 with the probability that the operand has there, else 0. ", sambaGenerator),
      "(C1) the probabilities are floats; (C2) the seed is a rank-0 i64. dtype is the result's (default: the probabilities').",
      "%y = samba.bernoulli %x, %seed {dtype = i1} : tensor<2x3xf32>, tensor<i64>", "torch.bernoulli">.text;
  let arguments = (ins Samba_Tensor:$probabilities, Samba_Tensor:$seed, OptionalAttr<Samba_DType>:$dtype);
}
def Samba_DropoutOp : Samba_ResultsOp<"dropout", (outs Samba_Tensor:$result, Samba_Tensor:$mask)> {
  let summary = "0 with probability p, else x / (1 - p); and which were kept";
  let description = Samba_Text<!strconcat("mask = true with probability 1 - p; result = mask ? x * (1 / (1 - p)) : 0. ", sambaGenerator),
      "(C1) x is a float; (C2) p is a rank-0 float; (C3) the seed is a rank-0 i64.",
      "%y, %mask = samba.dropout %x, %p, %seed : tensor<2x3xf32>, tensor<f32>, tensor<i64>", "torch.native_dropout">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$p, Samba_Tensor:$seed);
}
def Samba_MultinomialOp : Samba_Op<"multinomial"> {
  let summary = "indices drawn with replacement, with probabilities proportional to a row's weights";
  let description = Samba_Text<!strconcat("result[b, s] = the number of classes c with w[b, 0] + .. + w[b, c] <= u[b, s] * (sum of w[b]). ", sambaGenerator),
      "(C1) the weights are floats; (C2) of rank 2; (C3) the seed is a rank-0 i64; (C4) num_samples (default 1) is 1 or more; (C5) dtype is i32 or i64 (default).",
      "%y = samba.multinomial %x, %seed {num_samples = 4} : tensor<2x3xf32>, tensor<i64>", "torch.multinomial">.text;
  let arguments = (ins Samba_Tensor:$weights, Samba_Tensor:$seed, OptionalAttr<Samba_Int>:$num_samples, OptionalAttr<Samba_DType>:$dtype);
}

//===-- Reductions -------------------------------------------------------------------------------------------------===//

class Samba_Reduction<string mnemonic, string formula> : Samba_Op<mnemonic> {
  let arguments = (ins Samba_Tensor:$input, OptionalAttr<Samba_Ints>:$dim, OptionalAttr<Samba_Bool>:$keepdim);
  let summary = formula;
  let description = Samba_Text<!strconcat("The ", formula, " over the dimensions `dim` (all when left out), which disappear, or with keepdim become 1."),
      "(C1) the operand's dtype is one that the operation is defined for; (C2) dim names dimensions of the operand, each once, negative from the end.",
      !strconcat("%y = samba.", mnemonic, " %x {dim = [1], keepdim = true} : tensor<2x3x4xf32>"), !strconcat("torch.", mnemonic)>.text;
}

def Samba_SumOp : Samba_Reduction<"sum", "sum of the elements">;
def Samba_MeanOp : Samba_Reduction<"mean", "arithmetic mean of the elements">;
def Samba_AmaxOp : Samba_Reduction<"amax", "largest element (a NaN wins)">;
def Samba_AminOp : Samba_Reduction<"amin", "smallest element (a NaN wins)">;
def Samba_ProdOp : Samba_Reduction<"prod", "product of the elements">;
def Samba_LogsumexpOp : Samba_Reduction<"logsumexp", "ln of the sum of e^x">;

class Samba_ArgReduction<string mnemonic, string formula> : Samba_Op<mnemonic> {
  let arguments = (ins Samba_Tensor:$input, OptionalAttr<Samba_Int>:$dim, OptionalAttr<Samba_Bool>:$keepdim, OptionalAttr<Samba_Bool>:$select_last);
  let summary = "index of the " # formula;
  let description = Samba_Text<!strconcat("The i64 index along dim, or in row-major order when it is left out, of the ", formula, ", a NaN before all; of equal ones the first, with select_last the last."),
      "(C1) the operand has a number dtype; (C2) dim names a dimension, negative from the end.",
      !strconcat("%y = samba.", mnemonic, " %x {dim = 1} : tensor<2x3x4xf32>"), !strconcat("torch.", mnemonic)>.text;
}
def Samba_ArgmaxOp : Samba_ArgReduction<"argmax", "largest element">;
def Samba_ArgminOp : Samba_ArgReduction<"argmin", "smallest element">;

def Samba_CumsumOp : Samba_Op<"cumsum"> {
  let summary = "sums of the elements up to each along dim";
  let description = Samba_Text<"result[.., i, ..] = sum of x[.., k, ..] over k <= i; exclusive: k < i; reverse: from the other end. The dtype stays.",
      "(C1) x has a number dtype; (C2) dim names a dimension, negative from the end.",
      "%y = samba.cumsum %x {dim = 1, reverse = true} : tensor<2x5xf32>", "torch.cumsum, ONNX CumSum">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Int:$dim, OptionalAttr<Samba_Bool>:$exclusive, OptionalAttr<Samba_Bool>:$reverse);
}

//===-- Sorting ----------------------------------------------------------------------------------------------------===//

defvar sambaOrder = " NaN is larger than everything, -0 equals 0, and of equal elements the one of the lower index comes first.";
def Samba_TopkOp : Samba_ResultsOp<"topk", (outs Samba_Tensor:$values, Samba_Tensor:$indices)> {
  let summary = "the k largest or smallest elements along dim, and their indices";
  let description = Samba_Text<"The k first elements along dim (default the last) in descending order, with largest = false in ascending order, and their i64 indices." # sambaOrder,
      "(C1) x has a number dtype; (C2) dim names a dimension, negative from the end; (C3) k is 1 to the dimension's size.",
      "%v, %i = samba.topk %x {k = 2} : tensor<2x5xf32>", "torch.topk">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Int:$k, OptionalAttr<Samba_Int>:$dim, OptionalAttr<Samba_Bool>:$largest);
}
def Samba_SortOp : Samba_ResultsOp<"sort", (outs Samba_Tensor:$values, Samba_Tensor:$indices)> {
  let summary = "the elements along dim in order, and their indices";
  let description = Samba_Text<"The elements along dim (default the last) in ascending order, or with descending in descending order, and their i64 indices." # sambaOrder,
      "(C1) x has a number dtype; (C2) dim names a dimension, negative from the end.",
      "%v, %i = samba.sort %x {descending = true} : tensor<2x5xf32>", "torch.sort">.text;
  let arguments = (ins Samba_Tensor:$input, OptionalAttr<Samba_Int>:$dim, OptionalAttr<Samba_Bool>:$descending);
}
def Samba_ArgsortOp : Samba_Op<"argsort"> {
  let summary = "the indices that sort x along dim";
  let description = Samba_Text<"The second result of samba.sort.", "(C1) (C2) as for samba.sort.", "%i = samba.argsort %x {dim = 0} : tensor<5x2xf32>", "torch.argsort">.text;
  let arguments = (ins Samba_Tensor:$input, OptionalAttr<Samba_Int>:$dim, OptionalAttr<Samba_Bool>:$descending);
}

//===-- Contractions -----------------------------------------------------------------------------------------------===//

def Samba_LinearOp : Samba_Op<"linear"> {
  let summary = "x * transpose(w) + b";
  let description = Samba_Text<
      "result[.., o] = sum over k of x[.., k] * w[o, k], accumulated in f32 with k ascending; then + b[o], a rounded addition of its own; then one conversion.",
      "(C1) x has a number dtype; (C2) w has x's dtype; (C3) x has rank 1 or more, w rank 2, both with the same K; (C4) b is [O], in the operands' or the result's dtype; (C5) out_dtype is the operands' dtype or the accumulator's (f32; i32 or i64 for integers).",
      "%y = samba.linear %x, %w, %b {out_dtype = f32} : tensor<5x8xbf16>, tensor<4x8xbf16>, tensor<4xf32>", "torch.nn.functional.linear">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$weight, Optional<Samba_Tensor>:$bias, OptionalAttr<Samba_DType>:$out_dtype);
}
def Samba_MatmulOp : Samba_Op<"matmul"> {
  let summary = "matrix product, batched over the leading dimensions";
  let description = Samba_Text<"result[.., m, n] = sum over k of a[.., m, k] * b[.., k, n], accumulated as in samba.linear; leading dimensions broadcast.",
      "(C1) a has a number dtype; (C2) b has it too; (C3) the ranks are 1 or more and K agrees; (C4) the dimensions before broadcast; (C5) out_dtype as for samba.linear.",
      "%y = samba.matmul %a, %b : tensor<2x5x8xf32>, tensor<8x4xf32>", "torch.matmul">.text;
  let arguments = (ins Samba_Tensor:$lhs, Samba_Tensor:$rhs, OptionalAttr<Samba_DType>:$out_dtype);
}
class Samba_Convolution<string mnemonic, string dims, string example> : Samba_Op<mnemonic> {
  let summary = "convolution over " # dims;
  let description = Samba_Text<
      "x is N x C x spatial, w is O x C/groups x window. `padding` has two numbers per spatial dimension: all begins, then all ends. Sums run over channels, then the window, its last dimension innermost, in f32; the bias is a rounded addition of its own.",
      "(C1) x has a number dtype; (C2) w has it too; (C3) both have rank 2 + spatial dimensions; (C4) groups divides C and O, and w's dimension 1 is C/groups; (C5) stride and dilation are 1 or more, one per spatial dimension, padding 0 or more; (C6) the window fits into the padded input; (C7) b is [O], in the operands' or the result's dtype; (C8) out_dtype as for samba.linear.",
      example, !strconcat("torch.nn.functional.", mnemonic)>.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$weight, Optional<Samba_Tensor>:$bias, OptionalAttr<Samba_Ints>:$stride,
                   OptionalAttr<Samba_Ints>:$padding, OptionalAttr<Samba_Ints>:$dilation, OptionalAttr<Samba_Int>:$groups,
                   OptionalAttr<Samba_DType>:$out_dtype);
}
def Samba_Conv1dOp : Samba_Convolution<"conv1d", "one dimension", "%y = samba.conv1d %x, %w {padding = [1, 1]} : tensor<1x2x9xf32>, tensor<3x2x3xf32>">;
def Samba_Conv2dOp : Samba_Convolution<"conv2d", "two dimensions",
    "%y = samba.conv2d %x, %w, %b {stride = [2, 2], padding = [1, 1, 1, 1]} : tensor<1x2x9x9xf32>, tensor<3x2x3x3xf32>, tensor<3xf32>">;
def Samba_Conv3dOp : Samba_Convolution<"conv3d", "three dimensions", "%y = samba.conv3d %x, %w : tensor<1x2x4x4x4xf32>, tensor<3x2x2x2x2xf32>">;
class Samba_TransposedConvolution<string mnemonic, string dims, string example> : Samba_Op<mnemonic> {
  let summary = "transposed convolution over " # dims;
  let description = Samba_Text<
      "x is N x C x spatial, w is C x O/groups x window: x[n, c, q] * w[c, o, t] is added to result[n, o, q * stride + t * dilation - begin]. `padding` has two numbers per spatial dimension, all begins, then all ends; the result has (size - 1) * stride - begin - end + dilation * (window - 1) + 1 + output_padding elements. Sums run over channels, then the taps that meet an element, ascending, the last dimension innermost, in f32; the bias is a rounded addition of its own.",
      "(C1) x has a number dtype; (C2) w has it too; (C3) both have rank 2 + spatial dimensions; (C4) groups divides C, and w's dimension 0 is C; (C5) stride and dilation are 1 or more, one per spatial dimension, padding and output_padding 0 or more; (C6) at least one element is left; (C7) b is [O], in the operands' or the result's dtype; (C8) out_dtype as for samba.linear.",
      example, !strconcat("torch.nn.functional.", mnemonic)>.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$weight, Optional<Samba_Tensor>:$bias, OptionalAttr<Samba_Ints>:$stride,
                   OptionalAttr<Samba_Ints>:$padding, OptionalAttr<Samba_Ints>:$output_padding, OptionalAttr<Samba_Ints>:$dilation,
                   OptionalAttr<Samba_Int>:$groups, OptionalAttr<Samba_DType>:$out_dtype);
}
def Samba_ConvTranspose1dOp : Samba_TransposedConvolution<"conv_transpose1d", "one dimension",
    "%y = samba.conv_transpose1d %x, %w {stride = [2]} : tensor<1x2x9xf32>, tensor<2x3x3xf32>">;
def Samba_ConvTranspose2dOp : Samba_TransposedConvolution<"conv_transpose2d", "two dimensions",
    "%y = samba.conv_transpose2d %x, %w, %b {stride = [2, 2], padding = [1, 1, 1, 1], output_padding = [1, 1]} : tensor<1x2x9x9xf32>, tensor<2x3x3x3xf32>, tensor<3xf32>">;
def Samba_ConvTranspose3dOp : Samba_TransposedConvolution<"conv_transpose3d", "three dimensions",
    "%y = samba.conv_transpose3d %x, %w : tensor<1x2x4x4x4xf32>, tensor<2x3x2x2x2xf32>">;

def Samba_EinsumOp : Samba_Op<"einsum"> {
  let summary = "sum of products over the labels of an equation";
  let description = Samba_Text<"`equation` names the dimensions of each operand by letters, `...` for any number of them, and after -> those of the result; without -> these are the letters that occur once, in alphabetical order, after what ... stands for. A letter that is repeated within an operand is its diagonal; letters that the result leaves out are summed over. Operands are multiplied from left to right, intermediates in f32. Composite.",
      "(C1) the operands have one number dtype; (C2) equation has letters, `...`, `,` and at most one ->, and as many terms as there are operands; (C3) a term has one letter per dimension that ... does not stand for; (C4) a label has one size wherever it occurs, or 1; (C5) the result's labels are different and occur in an operand; (C6) no intermediate has more than 8 dimensions.",
      "%y = samba.einsum %a, %b {equation = \"bij,jk->bik\"} : tensor<2x3x4xf32>, tensor<4x5xf32>", "torch.einsum, ONNX Einsum">.text;
  let arguments = (ins Variadic<Samba_Tensor>:$inputs, Samba_String:$equation);
}
def Samba_DetOp : Samba_Op<"det"> {
  let summary = "determinants of the last two dimensions";
  let description = Samba_Text<"The determinant of each matrix, by Gaussian elimination in f32 with the largest element of each column as its pivot. Composite.",
      "(C1) x has a float dtype; (C2) its last two dimensions are equal, 1 to 32.", "%y = samba.det %x : tensor<2x3x3xf32>", "torch.linalg.det">.text;
  let arguments = (ins Samba_Tensor:$input);
}

def Samba_AttentionOp : Samba_Op<"scaled_dot_product_attention"> {
  let summary = "softmax(q * transpose(k) * scale + mask) * v";
  let description = Samba_Text<"q[.., L, E], k[.., S, E], v[.., S, V]; the mask broadcasts to [.., L, S]: a float mask is added, an i1 mask keeps where true. scale is 1 / sqrt(E) when left out.",
      "(C1) q has a float dtype; (C2) k and v have it too; (C3) ranks of 2 or more, one E, one S; (C4) the dimensions before broadcast; (C5) the mask is i1 or q's dtype and broadcasts.",
      "%y = samba.scaled_dot_product_attention %q, %k, %v {scale = 0.5} : tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>",
      "torch.nn.functional.scaled_dot_product_attention">.text;
  let arguments = (ins Samba_Tensor:$query, Samba_Tensor:$key, Samba_Tensor:$value, Optional<Samba_Tensor>:$mask,
                   OptionalAttr<Samba_Float>:$scale, OptionalAttr<Samba_Bool>:$is_causal);
}

//===-- Pools, norms -----------------------------------------------------------------------------------------------===//

defvar sambaPoolConstraints = "(C1) x has a number dtype (avg_pool, lp_pool: a float dtype); (C2) x has rank 2 + spatial dimensions; (C3) kernel_size, stride (default: the window) and dilation are 1 or more, one per spatial dimension, padding two numbers of 0 or more each: all begins, then all ends; (C4) the window fits into the padded input; (C5) padding is less than the window's span.";
class Samba_MaxPool<string mnemonic, string attributes, string type> : Samba_Op<mnemonic> {
  let summary = "largest element of each window";
  let description = Samba_Text<"The largest element of each window of x, N x C x spatial; a NaN wins; padding never does. ceil_mode keeps windows that stick out at the end.",
      sambaPoolConstraints, !strconcat("%y = samba.", mnemonic, " %x {", attributes, "} : ", type), !strconcat("torch.nn.functional.", mnemonic)>.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$kernel_size, OptionalAttr<Samba_Ints>:$stride, OptionalAttr<Samba_Ints>:$padding,
                   OptionalAttr<Samba_Ints>:$dilation, OptionalAttr<Samba_Bool>:$ceil_mode);
}
def Samba_MaxPool1dOp : Samba_MaxPool<"max_pool1d", "kernel_size = [3]", "tensor<1x2x9xf32>">;
def Samba_MaxPool2dOp : Samba_MaxPool<"max_pool2d", "kernel_size = [2, 2], stride = [2, 2]", "tensor<1x2x8x8xf32>">;
def Samba_MaxPool3dOp : Samba_MaxPool<"max_pool3d", "kernel_size = [2, 2, 2]", "tensor<1x2x4x4x4xf32>">;
class Samba_AvgPool<string mnemonic, string attributes, string type> : Samba_Op<mnemonic> {
  let summary = "mean of each window";
  let description = Samba_Text<"The mean of each window of x, N x C x spatial. Padding counts as zeros, or with count_include_pad = false not at all.",
      sambaPoolConstraints, !strconcat("%y = samba.", mnemonic, " %x {", attributes, "} : ", type), !strconcat("torch.nn.functional.", mnemonic)>.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$kernel_size, OptionalAttr<Samba_Ints>:$stride, OptionalAttr<Samba_Ints>:$padding,
                   OptionalAttr<Samba_Ints>:$dilation, OptionalAttr<Samba_Bool>:$ceil_mode, OptionalAttr<Samba_Bool>:$count_include_pad);
}
def Samba_AvgPool1dOp : Samba_AvgPool<"avg_pool1d", "kernel_size = [3]", "tensor<1x2x9xf32>">;
def Samba_AvgPool2dOp : Samba_AvgPool<"avg_pool2d", "kernel_size = [2, 2], padding = [1, 1, 0, 0], count_include_pad = false", "tensor<1x2x8x8xf32>">;
def Samba_AvgPool3dOp : Samba_AvgPool<"avg_pool3d", "kernel_size = [2, 2, 2]", "tensor<1x2x4x4x4xf32>">;
class Samba_MaxPoolWithIndices<string mnemonic, string attributes, string type>
    : Samba_ResultsOp<mnemonic, (outs Samba_Tensor:$result, Samba_Tensor:$indices)> {
  let summary = "largest element of each window, and where it is";
  let description = Samba_Text<"As the pool without indices; the second result has the element's row-major position within the spatial dimensions as i64: of equals the first, of NaNs the last.",
      sambaPoolConstraints, !strconcat("%y, %i = samba.", mnemonic, " %x {", attributes, "} : ", type), !strconcat("torch.nn.functional.", mnemonic)>.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$kernel_size, OptionalAttr<Samba_Ints>:$stride, OptionalAttr<Samba_Ints>:$padding,
                   OptionalAttr<Samba_Ints>:$dilation, OptionalAttr<Samba_Bool>:$ceil_mode);
}
def Samba_MaxPool1dWithIndicesOp : Samba_MaxPoolWithIndices<"max_pool1d_with_indices", "kernel_size = [3]", "tensor<1x2x9xf32>">;
def Samba_MaxPool2dWithIndicesOp : Samba_MaxPoolWithIndices<"max_pool2d_with_indices", "kernel_size = [2, 2]", "tensor<1x2x8x8xf32>">;
def Samba_MaxPool3dWithIndicesOp : Samba_MaxPoolWithIndices<"max_pool3d_with_indices", "kernel_size = [2, 2, 2]", "tensor<1x2x4x4x4xf32>">;
class Samba_LpPool<string mnemonic, string attributes, string type> : Samba_Op<mnemonic> {
  let summary = "the p-norm of each window";
  let description = Samba_Text<"(sum of |x|^p over the window)^(1/p), p = norm_type; padding adds nothing.",
      sambaPoolConstraints # " (C6) norm_type is positive and finite.", !strconcat("%y = samba.", mnemonic, " %x {norm_type = 2.0, ", attributes, "} : ", type),
      !strconcat("torch.nn.functional.", mnemonic, " (of |x|)")>.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Float:$norm_type, Samba_Ints:$kernel_size, OptionalAttr<Samba_Ints>:$stride,
                   OptionalAttr<Samba_Ints>:$padding, OptionalAttr<Samba_Ints>:$dilation, OptionalAttr<Samba_Bool>:$ceil_mode);
}
def Samba_LpPool1dOp : Samba_LpPool<"lp_pool1d", "kernel_size = [3]", "tensor<1x2x9xf32>">;
def Samba_LpPool2dOp : Samba_LpPool<"lp_pool2d", "kernel_size = [2, 2]", "tensor<1x2x8x8xf32>">;
def Samba_LpPool3dOp : Samba_LpPool<"lp_pool3d", "kernel_size = [2, 2, 2]", "tensor<1x2x4x4x4xf32>">;

def Samba_BatchNormOp : Samba_Op<"batch_norm"> {
  let summary = "(x - mean) / sqrt(variance + eps) * weight + bias, per channel";
  let description = Samba_Text<"The inference form: statistics are operands. eps is 1e-5 when left out.",
      "(C1) x has a float dtype, the parameters x's or f32; (C2) x has rank 2 or more, N x C x ..; (C3) the parameters are [C].",
      "%y = samba.batch_norm %x, %w, %b, %m, %v {eps = 1.0e-5} : tensor<2x4x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>",
      "torch.nn.functional.batch_norm">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$weight, Samba_Tensor:$bias, Samba_Tensor:$mean, Samba_Tensor:$variance,
                   OptionalAttr<Samba_Float>:$eps);
}
def Samba_BatchNormTrainingOp
    : Samba_ResultsOp<"batch_norm_training", (outs Samba_Tensor:$result, Samba_Tensor:$running_mean, Samba_Tensor:$running_variance,
                                             Samba_Tensor:$batch_mean, Samba_Tensor:$batch_variance)> {
  let summary = "batch_norm with the batch's own statistics, and the running ones moved towards them";
  let description = Samba_Text<"Mean and (population) variance per channel are those of x. Results: the normalized x; running_mean * momentum + mean * (1 - momentum); the same of the variance; the mean; the variance. momentum is 0.9 when left out, eps 1e-5.",
      "(C1) x has a float dtype, the parameters x's or f32; (C2) x has rank 2 or more, N x C x ..; (C3) the parameters are [C].",
      "%y, %r, %s, %m1, %v1 = samba.batch_norm_training %x, %w, %b, %m, %v {momentum = 0.5} : tensor<2x4x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>",
      "ONNX BatchNormalization with training_mode = 1">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$weight, Samba_Tensor:$bias, Samba_Tensor:$mean, Samba_Tensor:$variance,
                   OptionalAttr<Samba_Float>:$eps, OptionalAttr<Samba_Float>:$momentum);
}
def Samba_LayerNormOp : Samba_Op<"layer_norm"> {
  let summary = "normalization over the last dimensions, then * weight + bias";
  let description = Samba_Text<"(x - mean) / sqrt(variance + eps) over the dimensions normalized_shape, then * weight + bias. `parameters`: nothing, weight, or weight and bias.",
      "(C1) x has a float dtype, the parameters x's or f32; (C2) normalized_shape is the last dimensions of x, at least one; (C3) the parameters have that shape.",
      "%y = samba.layer_norm %x, %w, %b {normalized_shape = [6]} : tensor<2x4x6xf32>, tensor<6xf32>, tensor<6xf32>", "torch.nn.functional.layer_norm">.text;
  let arguments = (ins Samba_Tensor:$input, Variadic<Samba_Tensor>:$parameters, Samba_Ints:$normalized_shape, OptionalAttr<Samba_Float>:$eps);
}
def Samba_NativeLayerNormOp
    : Samba_ResultsOp<"native_layer_norm", (outs Samba_Tensor:$result, Samba_Tensor:$mean, Samba_Tensor:$inverse_deviation)> {
  let summary = "layer_norm with its statistics";
  let description = Samba_Text<"As samba.layer_norm; the other results are the mean and 1 / sqrt(variance + eps), with the normalized dimensions as 1, in `dtype` (x's when left out).",
      "(C1) (C2) (C3) as for samba.layer_norm; (C4) dtype is a float.",
      "%y, %m, %d = samba.native_layer_norm %x, %w, %b {normalized_shape = [6]} : tensor<2x4x6xf32>, tensor<6xf32>, tensor<6xf32>", "torch.native_layer_norm">.text;
  let arguments = (ins Samba_Tensor:$input, Variadic<Samba_Tensor>:$parameters, Samba_Ints:$normalized_shape, OptionalAttr<Samba_Float>:$eps,
                   OptionalAttr<Samba_DType>:$dtype);
}
def Samba_RmsNormOp : Samba_Op<"rms_norm"> {
  let summary = "x / sqrt(mean(x^2) + eps) over the last dimensions, then * weight";
  let description = Samba_Text<"x / sqrt(mean(x^2) + eps), the mean over the dimensions normalized_shape, then * weight.",
      "(C1) (C2) (C3) as for samba.layer_norm.",
      "%y = samba.rms_norm %x, %w {normalized_shape = [6], eps = 1.0e-6} : tensor<2x4x6xf32>, tensor<6xf32>", "torch.nn.functional.rms_norm">.text;
  let arguments = (ins Samba_Tensor:$input, Optional<Samba_Tensor>:$weight, Samba_Ints:$normalized_shape, OptionalAttr<Samba_Float>:$eps);
}
def Samba_GroupNormOp : Samba_Op<"group_norm"> {
  let summary = "normalization over groups of channels, then * weight + bias per channel";
  let description = Samba_Text<"Each of num_groups groups of channels is normalized together with the spatial dimensions. `parameters` as for samba.layer_norm.",
      "(C1) x has a float dtype, the parameters x's or f32; (C2) x has rank 2 to 7; (C3) num_groups divides C; (C4) the parameters are [C].",
      "%y = samba.group_norm %x, %w, %b {num_groups = 2} : tensor<2x4x6xf32>, tensor<4xf32>, tensor<4xf32>", "torch.nn.functional.group_norm">.text;
  let arguments = (ins Samba_Tensor:$input, Variadic<Samba_Tensor>:$parameters, Samba_Int:$num_groups, OptionalAttr<Samba_Float>:$eps);
}
def Samba_MeanVarianceNormOp : Samba_Op<"mean_variance_norm"> {
  let summary = "(x - mean) / (standard deviation + eps) over the dimensions dim";
  let description = Samba_Text<"(x - mean) / (sqrt(variance) + eps) over the dimensions `dim` (all when left out); eps is 1e-9 when left out.",
      "(C1) x has a float dtype; (C2) dim names dimensions of x, each once, negative from the end.",
      "%y = samba.mean_variance_norm %x {dim = [0, 2]} : tensor<2x3x4xf32>", "ONNX MeanVarianceNormalization">.text;
  let arguments = (ins Samba_Tensor:$input, OptionalAttr<Samba_Ints>:$dim, OptionalAttr<Samba_Float>:$eps);
}
def Samba_NormalizeOp : Samba_Op<"normalize"> {
  let summary = "x / max(p-norm along dim, eps)";
  let description = Samba_Text<"x / max((sum of |x|^p along dim)^(1/p), eps); p is 2 when left out, eps 1e-12.",
      "(C1) x has a float dtype; (C2) dim names a dimension, negative from the end; (C3) p is positive and finite.",
      "%y = samba.normalize %x {p = 1.0, dim = 1} : tensor<2x3xf32>", "torch.nn.functional.normalize">.text;
  let arguments = (ins Samba_Tensor:$input, OptionalAttr<Samba_Float>:$p, Samba_Int:$dim, OptionalAttr<Samba_Float>:$eps);
}
def Samba_LocalResponseNormOp : Samba_Op<"local_response_norm"> {
  let summary = "x / (k + alpha / size * sum of x^2 over neighbouring channels)^beta";
  let description = Samba_Text<"The sum runs over `size` channels, from `before` channels before the element's own (size / 2 when left out); channels that do not exist add nothing. alpha is 1e-4, beta 0.75, k 1 when left out.",
      "(C1) x has a float dtype; (C2) x has rank 2 or more, N x C x ..; (C3) size is 1 or more; (C4) before is 0 to size - 1.",
      "%y = samba.local_response_norm %x {size = 3, alpha = 2.0e-4} : tensor<2x5x4xf32>", "torch.nn.functional.local_response_norm">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Int:$size, OptionalAttr<Samba_Float>:$alpha, OptionalAttr<Samba_Float>:$beta,
                   OptionalAttr<Samba_Float>:$k, OptionalAttr<Samba_Int>:$before);
}
class Samba_SoftmaxLike<string mnemonic, string formula> : Samba_Op<mnemonic> {
  let summary = formula;
  let description = Samba_Text<!strconcat(formula, "."), "(C1) x has a float dtype; (C2) dim names a dimension, negative from the end.",
      !strconcat("%y = samba.", mnemonic, " %x {dim = -1} : tensor<2x3xf32>"), !strconcat("torch.nn.functional.", mnemonic)>.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Int:$dim);
}
def Samba_SoftmaxOp : Samba_SoftmaxLike<"softmax", "e^(x - m) / sum of e^(x - m), m the largest element along dim">;
def Samba_LogSoftmaxOp : Samba_SoftmaxLike<"log_softmax", "x - m - ln(sum of e^(x - m)), m the largest element along dim">;
def Samba_HardmaxOp : Samba_Op<"hardmax"> {
  let summary = "1 at the first of the largest elements along dim, else 0";
  let description = Samba_Text<"1 where samba.argmax along dim points to, 0 elsewhere.", "(C1) x has a float dtype; (C2) dim names a dimension, negative from the end.",
      "%y = samba.hardmax %x {dim = -1} : tensor<2x3xf32>", "ONNX Hardmax">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Int:$dim);
}

//===-- Losses -----------------------------------------------------------------------------------------------------===//

def Samba_MseLossOp : Samba_Op<"mse_loss"> {
  let summary = "the mean of (x - target)^2";
  let description = Samba_Text<"(x - target)^2: its mean, its sum or, with reduction = \"none\", all of it. Composite.",
      "(C1) both have one float dtype; (C2) one shape; (C3) reduction is \"mean\" (the default), \"sum\" or \"none\".",
      "%l = samba.mse_loss %x, %t {reduction = \"sum\"} : tensor<2x3xf32>, tensor<2x3xf32>", "torch.nn.functional.mse_loss">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$target, OptionalAttr<Samba_String>:$reduction);
}

//===-- Recurrent layers -------------------------------------------------------------------------------------------===//

defvar sambaRecurrentConstraints = "(C1) x, w, r have one float dtype, the others too (lengths: i32 or i64); (C2) shapes as said; (C3) direction and activations are known, as many activations as the layer has; (C4) clip is 0 (none) or more; (C5) as many operands as flags ask for.";
defvar sambaCellConstraints = "(C1) projected and the states are f32, the weight has a float dtype; (C2) shapes as said; (C3) activations are known, as many as the cell has; (C4) clip is 0 (none) or more; (C5) as many operands as flags ask for.";
class Samba_Recurrent<string mnemonic, dag results_, string gates, string more, string example, dag attributes> : Samba_ResultsOp<mnemonic, results_> {
  let description = Samba_Text<!strconcat(
      "x is T x B x I (batch_first: B x T x I), w is D x gates H x I, r is D x gates H x H, gates in the order ", gates,
      ". Then, where the flag is true: bias D x 2 gates H (of w's product, then of r's), lengths B, the initial states D x B x H", more,
      ". D is 1, or 2 when direction is \"bidirectional\". The first result is T x D x B x H, 0 beyond a row's length, the others are the last states. Composite; `activations` lists functions of each direction, `relu, leaky_relu(0.1)`; clip bounds their arguments."),
      sambaRecurrentConstraints, example, "ONNX's operator of that name; torch.nn.LSTM, GRU, RNN">.text;
  let arguments = !con((ins Samba_Tensor:$input, Samba_Tensor:$weight, Samba_Tensor:$recurrent, Variadic<Samba_Tensor>:$parameters,
                            OptionalAttr<Samba_String>:$direction, OptionalAttr<Samba_Bool>:$bias, OptionalAttr<Samba_Bool>:$lengths,
                            OptionalAttr<Samba_Bool>:$initial, OptionalAttr<Samba_Bool>:$batch_first, OptionalAttr<Samba_String>:$activations,
                            OptionalAttr<Samba_Float>:$clip), attributes);
}
class Samba_RecurrentCell<string mnemonic, dag results_, string operands, string example, dag operands_, dag attributes> : Samba_ResultsOp<mnemonic, results_> {
  let description = Samba_Text<!strconcat("The next states from projected, 1 x B x gates H (the input's part of all gates), the states 1 x B x H and the weight 1 x gates H x H", operands,
      ". With active, 1 x B x 1, last: rows where it is false keep their states."), sambaCellConstraints, example, "torch.nn.LSTMCell, GRUCell, RNNCell">.text;
  let arguments = !con(operands_, (ins Variadic<Samba_Tensor>:$parameters, OptionalAttr<Samba_Bool>:$active, OptionalAttr<Samba_String>:$activations, OptionalAttr<Samba_Float>:$clip), attributes);
}
def Samba_LstmOp : Samba_Recurrent<"lstm", (outs Samba_Tensor:$result, Samba_Tensor:$hidden, Samba_Tensor:$cell), "i, o, f, c", " (h, then c), peepholes D x 3 H (i, o, f)",
    "%y, %h, %c = samba.lstm %x, %w, %r {direction = \"reverse\"} : tensor<5x2x3xf32>, tensor<1x16x3xf32>, tensor<1x16x4xf32>",
    (ins OptionalAttr<Samba_Bool>:$peepholes, OptionalAttr<Samba_Bool>:$input_forget)> {
  let summary = "long short-term memory: c = f c + i g, h = o h(c)";
}
def Samba_GruOp : Samba_Recurrent<"gru", (outs Samba_Tensor:$result, Samba_Tensor:$hidden), "z, r, h", "",
    "%y, %h = samba.gru %x, %w, %r : tensor<5x2x3xf32>, tensor<1x12x3xf32>, tensor<1x12x4xf32>", (ins OptionalAttr<Samba_Bool>:$linear_before_reset)> {
  let summary = "gated recurrent unit: h = (1 - z) n + z h";
}
def Samba_RnnOp : Samba_Recurrent<"rnn", (outs Samba_Tensor:$result, Samba_Tensor:$hidden), "h", "",
    "%y, %h = samba.rnn %x, %w, %r {activations = \"relu\"} : tensor<5x2x3xf32>, tensor<1x4x3xf32>, tensor<1x4x4xf32>", (ins)> {
  let summary = "h = f(w x + r h + bias)";
}
def Samba_LstmCellOp : Samba_RecurrentCell<"lstm_cell", (outs Samba_Tensor:$hidden, Samba_Tensor:$cell), "; the states are h and c, then with the flag peepholes 1 x 3 H",
    "%h1, %c1 = samba.lstm_cell %x, %h, %c, %r : tensor<1x2x16xf32>, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x16x4xf32>",
    (ins Samba_Tensor:$projected, Samba_Tensor:$hidden_state, Samba_Tensor:$cell_state, Samba_Tensor:$weight),
    (ins OptionalAttr<Samba_Bool>:$peepholes, OptionalAttr<Samba_Bool>:$input_forget)> {
  let summary = "one step of samba.lstm";
}
def Samba_GruCellOp : Samba_RecurrentCell<"gru_cell", (outs Samba_Tensor:$result), ", then with the flag bias 1 x H, which linear_before_reset adds to h's product",
    "%h1 = samba.gru_cell %x, %h, %r {linear_before_reset = true} : tensor<1x2x12xf32>, tensor<1x2x4xf32>, tensor<1x12x4xf32>",
    (ins Samba_Tensor:$projected, Samba_Tensor:$state, Samba_Tensor:$weight),
    (ins OptionalAttr<Samba_Bool>:$bias, OptionalAttr<Samba_Bool>:$linear_before_reset)> {
  let summary = "one step of samba.gru";
}
def Samba_RnnCellOp : Samba_RecurrentCell<"rnn_cell", (outs Samba_Tensor:$result), "",
    "%h1 = samba.rnn_cell %x, %h, %r : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x4x4xf32>",
    (ins Samba_Tensor:$projected, Samba_Tensor:$state, Samba_Tensor:$weight), (ins)> {
  let summary = "one step of samba.rnn";
}

//===-- Optimizers -------------------------------------------------------------------------------------------------===//

class Samba_Update<string mnemonic, dag results_, string formula, string more, string example, string source, dag arguments_> : Samba_ResultsOp<mnemonic, results_> {
  let summary = formula;
  let description = Samba_Text<!strconcat(formula, ". ", more, " Hyperparameters are operands of one element. Composite, in f32; they stay f32 whatever the precision."),
      "(C1) parameter, gradient and state have one float dtype, hyperparameters a float dtype, the step i64 or i32; (C2) the former have one shape, the latter one element each.", example, source>.text;
  let arguments = arguments_;
}
def Samba_SgdUpdateOp : Samba_Update<"sgd_update", (outs Samba_Tensor:$result), "w - lr * (g + decay * w)", "",
    "%w1 = samba.sgd_update %w, %g, %lr, %decay : tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>", "torch.optim.SGD",
    (ins Samba_Tensor:$parameter, Samba_Tensor:$gradient, Samba_Tensor:$lr, Samba_Tensor:$decay)>;
def Samba_MomentumUpdateOp : Samba_Update<"momentum_update", (outs Samba_Tensor:$result, Samba_Tensor:$new_velocity), "w - lr * v1 with v1 = alpha * v + beta * (g + decay * w)",
    "beta is 1 in step 0; with nesterov it is w - lr * (g + decay * w + alpha * v1). Results: w, v.",
    "%w1, %v1 = samba.momentum_update %w, %g, %v, %lr, %t, %alpha, %beta, %decay : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>",
    "ONNX ai.onnx.preview.training.Momentum",
    (ins Samba_Tensor:$parameter, Samba_Tensor:$gradient, Samba_Tensor:$velocity, Samba_Tensor:$lr, Samba_Tensor:$step, Samba_Tensor:$alpha, Samba_Tensor:$beta,
         Samba_Tensor:$decay, OptionalAttr<Samba_Bool>:$nesterov)>;
def Samba_AdagradUpdateOp : Samba_Update<"adagrad_update", (outs Samba_Tensor:$result, Samba_Tensor:$new_squares), "w - lr / (1 + t * lr_decay) * g1 / (sqrt(s1) + eps) with g1 = g + decay * w, s1 = s + g1^2", "Results: w, s.",
    "%w1, %s1 = samba.adagrad_update %w, %g, %s, %lr, %t, %lrdecay, %eps, %decay : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>",
    "ONNX ai.onnx.preview.training.Adagrad; torch.optim.Adagrad",
    (ins Samba_Tensor:$parameter, Samba_Tensor:$gradient, Samba_Tensor:$squares, Samba_Tensor:$lr, Samba_Tensor:$step, Samba_Tensor:$lr_decay, Samba_Tensor:$eps, Samba_Tensor:$decay)>;
def Samba_AdamUpdateOp : Samba_Update<"adam_update", (outs Samba_Tensor:$result, Samba_Tensor:$new_mean, Samba_Tensor:$new_variance), "w - lr * m1 / (sqrt(v1) + eps), then * (1 - post_decay), with m1 = alpha * m + (1 - alpha) g1, v1 = beta * v + (1 - beta) g1^2, g1 = g + decay * w",
    "From step 1 on lr is multiplied by sqrt(1 - beta^t) / (1 - alpha^t). Results: w, m, v.",
    "%w1, %m1, %v1 = samba.adam_update %w, %g, %m, %v, %lr, %t, %alpha, %beta, %eps, %decay, %post : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>",
    "ONNX ai.onnx.preview.training.Adam",
    (ins Samba_Tensor:$parameter, Samba_Tensor:$gradient, Samba_Tensor:$mean, Samba_Tensor:$variance, Samba_Tensor:$lr, Samba_Tensor:$step, Samba_Tensor:$alpha, Samba_Tensor:$beta,
         Samba_Tensor:$eps, Samba_Tensor:$decay, Samba_Tensor:$post_decay)>;
def Samba_AdamwUpdateOp : Samba_Update<"adamw_update", (outs Samba_Tensor:$result, Samba_Tensor:$new_mean, Samba_Tensor:$new_variance), "w * (1 - lr * decay) - lr / (1 - beta1^t) * m1 / (sqrt(v1) / sqrt(1 - beta2^t) + eps) with m1 = beta1 * m + (1 - beta1) g, v1 = beta2 * v + (1 - beta2) g^2",
    "t counts from 1. Results: w, m, v.",
    "%w1, %m1, %v1 = samba.adamw_update %w, %g, %m, %v, %lr, %t, %beta1, %beta2, %eps, %decay : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<i64>, tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>",
    "torch.optim.AdamW",
    (ins Samba_Tensor:$parameter, Samba_Tensor:$gradient, Samba_Tensor:$mean, Samba_Tensor:$variance, Samba_Tensor:$lr, Samba_Tensor:$step, Samba_Tensor:$beta1, Samba_Tensor:$beta2,
         Samba_Tensor:$eps, Samba_Tensor:$decay)>;

//===-- Signals, positions -----------------------------------------------------------------------------------------===//

def Samba_DftOp : Samba_Op<"dft"> {
  let summary = "discrete Fourier transform along dim";
  let description = Samba_Text<"The last dimension holds real and imaginary part (1: real). y[k] = sum over n of x[n] e^(-2 pi i k n / length), x cut or continued by zeros to `length`; inverse: e^(+2 pi i k n / length) and a division by length; onesided: only k <= length / 2. Composite: one contraction with a table.",
      "(C1) x has a float dtype; (C2) rank 2 or more, and 1 or 2 as last dimension; (C3) dim names another dimension; (C4) length is 1 to 4096; (C5) an inverse is not onesided.",
      "%y = samba.dft %x {dim = 1, onesided = true} : tensor<2x8x1xf32>", "torch.fft.fft; ONNX DFT">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Int:$dim, OptionalAttr<Samba_Int>:$length, OptionalAttr<Samba_Bool>:$inverse, OptionalAttr<Samba_Bool>:$onesided);
}
def Samba_StftOp : Samba_Op<"stft"> {
  let summary = "Fourier transforms of windows of a signal";
  let description = Samba_Text<"x is B x L x 1 (real) or 2. Frame f is x[hop f, ..., hop f + length - 1] times the window, transformed; result: B x frames x frequencies x 2. onesided: only frequencies up to length / 2. Composite: one convolution with window times table.",
      "(C1) x has a float dtype, the window too; (C2) x has rank 3 and 1 or 2 as last dimension, the window rank 1; (C3) length (the window's, or attribute length) is 1 to 4096 and at most L; (C4) hop is 1 or more.",
      "%y = samba.stft %x, %w {hop = 4} : tensor<2x32x1xf32>, tensor<8xf32>", "torch.stft; ONNX STFT">.text;
  let arguments = (ins Samba_Tensor:$input, Optional<Samba_Tensor>:$window, Samba_Int:$hop, OptionalAttr<Samba_Int>:$length, OptionalAttr<Samba_Bool>:$onesided);
}
def Samba_RotaryEmbeddingOp : Samba_Op<"rotary_embedding"> {
  let summary = "pairs of elements of the last dimension turned by angles";
  let description = Samba_Text<"y = x * cos + turned(x) * sin; turned(x) has -x[n + half] in its first half and x[n - half] in its second, or with interleaved -x[n + 1] at even and x[n - 1] at odd positions.",
      "(C1) all have one float dtype; (C2) cos and sin have one shape, which broadcasts to x's; (C3) x's last dimension is even.",
      "%y = samba.rotary_embedding %x, %cos, %sin : tensor<2x4x8x6xf32>, tensor<8x6xf32>, tensor<8x6xf32>", "RoFormer, arXiv 2104.09864; ONNX RotaryEmbedding">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$cos, Samba_Tensor:$sin, OptionalAttr<Samba_Bool>:$interleaved);
}
class Samba_PairLoss<string mnemonic, string formula, dag attributes = (ins), string example = ""> : Samba_Op<mnemonic> {
  let summary = formula;
  let description = Samba_Text<!strconcat(formula, ": its mean, its sum or, with reduction = \"none\", all of it. Composite."),
      "(C1) all operands have one float dtype; (C2) one shape; (C3) reduction is \"mean\" (the default), \"sum\" or \"none\", and for kl_div \"batchmean\": the sum divided by dimension 0; (C4) beta is 0 or more, delta more than 0.",
      !strconcat("%l = samba.", mnemonic, " %x, %t {", example, "reduction = \"sum\"} : tensor<2x3xf32>, tensor<2x3xf32>"), !strconcat("torch.nn.functional.", mnemonic)>.text;
  let arguments = !con((ins Samba_Tensor:$input, Samba_Tensor:$target), attributes, (ins OptionalAttr<Samba_String>:$reduction));
}
def Samba_L1LossOp : Samba_PairLoss<"l1_loss", "|x - target|">;
def Samba_SmoothL1LossOp : Samba_PairLoss<"smooth_l1_loss", "d^2 / 2 / beta where d = |x - target| < beta (default 1), else d - beta / 2", (ins OptionalAttr<Samba_Float>:$beta), "beta = 0.5, ">;
def Samba_HuberLossOp : Samba_PairLoss<"huber_loss", "d^2 / 2 where d = |x - target| <= delta (default 1), else delta * (d - delta / 2)", (ins OptionalAttr<Samba_Float>:$delta), "delta = 0.5, ">;
def Samba_KlDivOp : Samba_PairLoss<"kl_div", "target * (ln target - x), or with log_target e^target * (target - x)", (ins OptionalAttr<Samba_Bool>:$log_target), "log_target = true, ">;
def Samba_BceLossOp : Samba_PairLoss<"binary_cross_entropy", "-(target * ln x + (1 - target) * ln(1 - x)), logarithms not below -100">;
def Samba_BceLogitsLossOp : Samba_PairLoss<"binary_cross_entropy_with_logits", "(1 - target) * x + ln(1 + e^-x)">;

class Samba_ClassLoss<string mnemonic, string formula> : Samba_Op<mnemonic> {
  let summary = formula;
  let description = Samba_Text<!strconcat("With t = target[n, d..]: ", formula, "; w is 1 without weight. Its mean - the sum divided by the sum of w[t] -, its sum or, with reduction = \"none\", all of it. A target that is ignore_index or names no class counts nothing."),
      "(C1) x has a float dtype, the weight x's or f32; (C2) targets are integers; (C3) x has rank 1 to 8, [C] or [N, C, d..]; (C4) the target is x without the dimension of classes; (C5) the weight is [C]; (C6) reduction is \"mean\" (the default), \"sum\" or \"none\".",
      !strconcat("%l = samba.", mnemonic, " %x, %t, %w {ignore_index = 1, reduction = \"mean\"} : tensor<2x3x4xf32>, tensor<2x4xi64>, tensor<3xf32>"),
      !strconcat("torch.nn.functional.", mnemonic)>.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$target, Optional<Samba_Tensor>:$weight, OptionalAttr<Samba_Int>:$ignore_index,
                   OptionalAttr<Samba_String>:$reduction);
}
def Samba_NllLossOp : Samba_ClassLoss<"nll_loss", "-x[n, t, d..] * w[t]">;
def Samba_CrossEntropyOp : Samba_ClassLoss<"cross_entropy", "-log_softmax(x)[n, t, d..] * w[t]">;

//===-- Views, gathers ---------------------------------------------------------------------------------------------===//

def Samba_ReshapeOp : Samba_Op<"reshape"> {
  let summary = "the same elements in another shape";
  let description = Samba_Text<"The elements in row-major order, in the dimensions `shape`.", "(C1) the product of shape is the number of elements.",
      "%y = samba.reshape %x {shape = [6, 4]} : tensor<2x3x4xf32>", "torch.reshape">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$shape);
}
def Samba_PermuteOp : Samba_Op<"permute"> {
  let summary = "dimensions reordered";
  let description = Samba_Text<"Result dimension i is the operand's dimension dims[i].", "(C1) dims is a permutation of the dimensions.",
      "%y = samba.permute %x {dims = [2, 0, 1]} : tensor<2x3x4xf32>", "torch.permute">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$dims);
}
def Samba_ExpandOp : Samba_Op<"expand"> {
  let summary = "dimensions of size 1 repeated, dimensions added in front";
  let description = Samba_Text<"The operand broadcast to `shape`.", "(C1) shape has at least the operand's rank; (C2) a dimension that changes has size 1.",
      "%y = samba.expand %x {shape = [2, 3, 4]} : tensor<1x4xf32>", "torch.Tensor.expand">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$shape);
}
def Samba_SliceOp : Samba_Op<"slice"> {
  let summary = "elements starts, starts + steps, ... before ends, along every dimension";
  let description = Samba_Text<"Along each dimension the elements start, start + step, ... before end, which is -1 for a negative step that runs to element 0.",
      "(C1) one start, end and step per dimension; (C2) 0 <= start < size, steps are not 0 and at least one element is left.",
      "%y = samba.slice %x {starts = [0, 1], ends = [2, 4], steps = [1, 2]} : tensor<2x4xf32>", "numpy's basic slicing">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$starts, Samba_Ints:$ends, Samba_Ints:$steps);
}
def Samba_PadOp : Samba_Op<"pad"> {
  let summary = "`low` and `high` elements of `value` around every dimension";
  let description = Samba_Text<"`low` elements before and `high` after, per dimension, each `value` (default 0).",
      "(C1) one low and one high per dimension; (C2) what is left has at least one element per dimension; value fits the dtype.",
      "%y = samba.pad %x {low = [0, 1], high = [0, 1], value = 0.0} : tensor<2x4xf32>", "torch.nn.functional.pad">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$low, Samba_Ints:$high, OptionalAttr<Samba_Float>:$value);
}
def Samba_CatOp : Samba_Op<"cat"> {
  let summary = "tensors one after the other along dim";
  let description = Samba_Text<"The operands one after the other along `dim`.",
      "(C1) all operands have one dtype; (C2) one rank of 1 or more; (C3) dim names a dimension; (C4) all other dimensions agree.",
      "%y = samba.cat %a, %b {dim = 1} : tensor<2x3xf32>, tensor<2x4xf32>", "torch.cat">.text;
  let arguments = (ins Variadic<Samba_Tensor>:$inputs, Samba_Int:$dim);
}
def Samba_EmbeddingOp : Samba_Op<"embedding"> {
  let summary = "rows of weight, one per index";
  let description = Samba_Text<"result[i.., ..] = weight[indices[i..], ..]; an index outside is a fault of the machine.",
      "(C1) indices are i32 or i64; (C2) weight has rank 1 or more; (C3) the result's rank is at most 8.",
      "%y = samba.embedding %w, %i : tensor<10x4xf32>, tensor<2x3xi64>", "torch.nn.functional.embedding">.text;
  let arguments = (ins Samba_Tensor:$weight, Samba_Tensor:$indices);
}
def Samba_IndexSelectOp : Samba_Op<"index_select"> {
  let summary = "slices of x along dim, one per index";
  let description = Samba_Text<"The slices indices[0], indices[1], ... of x along `dim`.",
      "(C1) indices are i32 or i64; (C2) of rank 1; (C3) dim names a dimension, negative from the end.",
      "%y = samba.index_select %x, %i {dim = 1} : tensor<2x5xf32>, tensor<3xi64>", "torch.index_select">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$indices, Samba_Int:$dim);
}

def Samba_OneHotOp : Samba_Op<"one_hot"> {
  let summary = "1 where a new dimension's index is the element, else 0";
  let description = Samba_Text<"A dimension of size num_classes is put in at dim (default the end): there values[1] where its index is the element or, for a negative element, the element + num_classes; values[0] elsewhere. Without `values` i64 1 and 0.",
      "(C1) the indices are integers; (C2) dim is a dimension of the result, negative from the end, whose rank is at most 8; (C3) num_classes is 1 or more; (C4) values is [2].",
      "%y = samba.one_hot %i, %v {num_classes = 5, dim = 0} : tensor<2x3xi64>, tensor<2xf32>", "torch.nn.functional.one_hot, ONNX OneHot">.text;
  let arguments = (ins Samba_Tensor:$indices, Optional<Samba_Tensor>:$values, Samba_Int:$num_classes, OptionalAttr<Samba_Int>:$dim);
}
class Samba_Triangle<string mnemonic, string part, string condition> : Samba_Op<mnemonic> {
  let summary = part # " triangle of the last two dimensions, else 0";
  let description = Samba_Text<!strconcat("x[.., i, j] where ", condition, ", else 0; k is the attribute diagonal (default 0) plus, if there is one, the operand."),
      "(C1) x has rank 2 or more; (C2) the operand diagonal has one element, i32 or i64.",
      !strconcat("%y = samba.", mnemonic, " %x {diagonal = 1} : tensor<2x3x4xf32>"), !strconcat("torch.", mnemonic)>.text;
  let arguments = (ins Samba_Tensor:$input, Optional<Samba_Tensor>:$diagonal_operand, OptionalAttr<Samba_Int>:$diagonal);
}
def Samba_TriuOp : Samba_Triangle<"triu", "upper", "j - i >= k">;
def Samba_TrilOp : Samba_Triangle<"tril", "lower", "j - i <= k">;
//===-- Gathers, scatters ------------------------------------------------------------------------------------------===//
//
// Negative indices count from the end; an index outside is a fault of the machine when the section runs.

def Samba_TakeOp : Samba_Op<"take"> {
  let summary = "slices of x along dim, in the shape of the indices";
  let description = Samba_Text<"result[o.., i.., r..] = x[o.., indices[b.., i..], r..]: the indices' dimensions stand in place of `dim`; the first `batch_dims` dimensions of x and of the indices are one.",
      "(C1) indices are i32 or i64; (C2) dim names a dimension, batch_dims is 0 or more, at most dim and the indices' rank; (C3) the first batch_dims dimensions agree; (C4) the result's rank is at most 8.",
      "%y = samba.take %x, %i {dim = 1} : tensor<2x5x4xf32>, tensor<3x2xi64>", "numpy.take, with batch dimensions as in tf.gather">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$indices, Samba_Int:$dim, OptionalAttr<Samba_Int>:$batch_dims);
}
def Samba_GatherOp : Samba_Op<"gather"> {
  let summary = "one element per index, along dim";
  let description = Samba_Text<"result[i, j, k] = x[i, index[i, j, k], k], here for dim = 1 of 3.",
      "(C1) the index is i32 or i64; (C2) of x's rank, 1 or more; (C3) dim names a dimension; (C4) the other dimensions of the index are at most x's.",
      "%y = samba.gather %x, %i {dim = 1} : tensor<2x5xf32>, tensor<2x3xi64>", "torch.gather">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$index, Samba_Int:$dim);
}
def Samba_GatherNdOp : Samba_Op<"gather_nd"> {
  let summary = "slices of x, one per tuple of indices";
  let description = Samba_Text<"result[b.., i.., r..] = x[b.., indices[b.., i.., 0], .., indices[b.., i.., q - 1], r..]. Composite.",
      "(C1) indices are i32 or i64; (C2) of rank batch_dims + 1 or more, and the first batch_dims dimensions are x's; (C3) q is 1 to x's rank - batch_dims; (C4) the result's rank is at most 8.",
      "%y = samba.gather_nd %x, %i : tensor<2x5x4xf32>, tensor<3x2xi64>", "ONNX GatherND; torch.Tensor.__getitem__">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$indices, OptionalAttr<Samba_Int>:$batch_dims);
}
def Samba_RavelIndexOp : Samba_Op<"ravel_index"> {
  let summary = "places in the row-major order of a shape";
  let description = Samba_Text<"Without dim the last dimension of the operand is a tuple of indices, one per number of `shape`; the result is the flat place of each. With dim each element is an index along that dimension of `shape`, its own position the others. An index outside gives -2^48, which is outside of whatever is read or written by it. With a list of tuples `lead` places 0, 1, .. come first.",
      "(C1) indices are i32 or i64; (C2) the last dimension is the number of dimensions of shape, or with dim the rank is, and dim names one; lead is for rank 2 without dim; (C3) shape has 1 to 8 numbers of 1 or more.",
      "%y = samba.ravel_index %i {shape = [5, 4]} : tensor<3x2xi64>", "numpy.ravel_multi_index; what gathers and scatters are made of">.text;
  let arguments = (ins Samba_Tensor:$indices, Samba_Ints:$shape, OptionalAttr<Samba_Int>:$dim, OptionalAttr<Samba_Int>:$lead);
}
def Samba_ScatterRowsOp : Samba_Op<"scatter_rows"> {
  let summary = "rows stored at the places that an index gives, in order";
  let description = Samba_Text<"result[index[r], ..] = x[r, ..] for r = 0, 1, .. in this order, so that of several rows with one index the last stays. The result has `size` rows; every row must be among the indices: what nobody writes is never-written memory.",
      "(C1) the index is i32 or i64; (C2) of rank 1, as long as x's dimension 0; (C3) x has rank 1 or more; (C4) size is 1 or more.",
      "%y = samba.scatter_rows %x, %i {size = 4} : tensor<6x3xf32>, tensor<6xi64>", "the hardware's indexed store; what scatters are made of">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$index, Samba_Int:$size);
}
def Samba_MatchReduceOp : Samba_Op<"match_reduce"> {
  let summary = "base reduced with the updates whose index matches";
  let description = Samba_Text<"result[l, i, d] = base[l, i, d] op updates[l, k, d] op .., over the k with index[l, k] == target[l, i], ascending. op is add, mul, min or max.",
      "(C1) base and updates have one number dtype, min and max i1 too; (C2) both have rank 3; (C3) target and index have one dtype, i32 or i64, and rank 2; (C4) the dimensions agree; (C5) reduce is \"add\", \"mul\", \"min\" or \"max\".",
      "%y = samba.match_reduce %b, %t, %i, %u {reduce = \"add\"} : tensor<1x4x2xf32>, tensor<1x4xi64>, tensor<1x6xi64>, tensor<1x6x2xf32>", "what scatters with a reduction are made of">.text;
  let arguments = (ins Samba_Tensor:$base, Samba_Tensor:$target, Samba_Tensor:$index, Samba_Tensor:$updates, Samba_String:$reduce);
}
def Samba_ScatterOp : Samba_Op<"scatter"> {
  let summary = "x with elements of src written or reduced at the places that an index gives along dim";
  let description = Samba_Text<"result = x; result[i, index[i, j, k], k] = src[i, j, k], here for dim = 1 of 3, in row-major order: of several the last wins. With reduce the element becomes itself op src. Composite.",
      "(C1) the index is i32 or i64; (C2) x, index and src have one rank of 1 or more, index and src one shape; (C3) dim names a dimension; (C4) the other dimensions of the index are at most x's; (C5) src has x's dtype; (C6) reduce is \"none\" (the default), \"add\", \"mul\", \"min\" or \"max\", and x's dtype has it.",
      "%y = samba.scatter %x, %i, %s {dim = 1, reduce = \"add\"} : tensor<2x5xf32>, tensor<2x3xi64>, tensor<2x3xf32>", "torch.scatter, torch.scatter_reduce; ONNX ScatterElements">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$index, Samba_Tensor:$src, Samba_Int:$dim, OptionalAttr<Samba_String>:$reduce);
}
def Samba_ScatterNdOp : Samba_Op<"scatter_nd"> {
  let summary = "x with slices written or reduced at tuples of indices";
  let description = Samba_Text<"result = x; result[indices[i.., 0], .., indices[i.., q - 1], r..] = updates[i.., r..], in row-major order: of several the last wins. With reduce the element becomes itself op the update. Composite.",
      "(C1) indices are i32 or i64; (C2) of rank 1 or more, q is 1 to x's rank; (C3) updates have the shape [i.., r..]; (C4) updates have x's dtype; (C5) reduce as for samba.scatter.",
      "%y = samba.scatter_nd %x, %i, %u : tensor<5x4xf32>, tensor<3x1xi64>, tensor<3x4xf32>", "ONNX ScatterND; torch.index_put">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$indices, Samba_Tensor:$updates, OptionalAttr<Samba_String>:$reduce);
}
def Samba_MaxUnpoolOp : Samba_Op<"max_unpool"> {
  let summary = "elements at the places that a max pool took them from, zeros elsewhere";
  let description = Samba_Text<"x and indices are N x C x spatial. result, N x C x output_size, is 0 but at the flat places indices[n, c, ..] of its spatial dimensions, which hold x[n, c, ..]; of several the last. Composite.",
      "(C1) indices are i32 or i64, of x's shape; (C2) x has rank 3 or more; (C3) output_size has one number of 1 or more per spatial dimension.",
      "%y = samba.max_unpool %x, %i {output_size = [4, 4]} : tensor<1x2x2x2xf32>, tensor<1x2x2x2xi64>", "torch.nn.functional.max_unpool2d">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$indices, Samba_Ints:$output_size);
}
def Samba_ReverseSequenceOp : Samba_Op<"reverse_sequence"> {
  let summary = "the first lengths[b] elements along time_axis reversed, for each b of batch_axis";
  let description = Samba_Text<"Along time_axis element t of batch entry b is x's element lengths[b] - 1 - t while t < lengths[b], else t. Composite.",
      "(C1) lengths are i32 or i64; (C2) time_axis and batch_axis name two dimensions; (C3) lengths is [size of batch_axis].",
      "%y = samba.reverse_sequence %x, %n {time_axis = 0, batch_axis = 1} : tensor<4x2x3xf32>, tensor<2xi64>", "ONNX ReverseSequence; tf.reverse_sequence">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$lengths, Samba_Int:$time_axis, Samba_Int:$batch_axis);
}

//===-- Resampling -------------------------------------------------------------------------------------------------===//

def Samba_InterpolateOp : Samba_Op<"interpolate"> {
  let summary = "x resampled to another size, dimension by dimension";
  let description = Samba_Text<
      "Along each dimension output o lies at x(o) of the input, which coordinate_mode gives; mode nearest takes one element (nearest_mode says which), linear two, cubic four, weighted by their distance. scales (default: output size / input size) are those of the coordinates. roi has all starts, then all ends. antialias widens the weights of linear and cubic where a dimension shrinks; exclude_outside renormalizes the weights of cubic. Composite.",
      "(C1) x has a number dtype, for linear and cubic a float dtype; (C2) output_size and scales have one number per dimension, more than 0, roi two; (C3) mode, coordinate_mode and nearest_mode are ONNX's names; (C4) dimensions that change have at most 2^20 elements.",
      "%y = samba.interpolate %x {mode = \"linear\", output_size = [1, 1, 4, 8]} : tensor<1x1x2x4xf32>", "torch.nn.functional.interpolate; ONNX Resize">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$output_size, OptionalAttr<Samba_Floats>:$scales, Samba_String:$mode,
                   OptionalAttr<Samba_String>:$coordinate_mode, OptionalAttr<Samba_String>:$nearest_mode, OptionalAttr<Samba_Float>:$cubic_coeff_a,
                   OptionalAttr<Samba_Bool>:$exclude_outside, OptionalAttr<Samba_Bool>:$antialias, OptionalAttr<Samba_Floats>:$roi,
                   OptionalAttr<Samba_Float>:$extrapolation_value);
}
def Samba_PadBorderOp : Samba_Op<"pad_border"> {
  let summary = "elements of x itself around every dimension";
  let description = Samba_Text<"`low` elements before and `high` after, per dimension: mode reflect mirrors at the outer elements, replicate repeats them, circular goes on at the other end. Composite.",
      "(C1) one low and one high per dimension, 0 or more; (C2) mode is \"reflect\", \"replicate\" or \"circular\"; (C3) at most 2^20 elements are added at a side.",
      "%y = samba.pad_border %x {low = [0, 1], high = [0, 1], mode = \"reflect\"} : tensor<2x4xf32>", "torch.nn.functional.pad; numpy.pad">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$low, Samba_Ints:$high, Samba_String:$mode);
}
def Samba_GridSampleOp : Samba_Op<"grid_sample"> {
  let summary = "x sampled at the places that a grid gives";
  let description = Samba_Text<
      "x is N x C x spatial, grid N x out spatial x d with d = 2 or 3 coordinates in [-1, 1], those of the last dimension first. mode is \"bilinear\", \"nearest\" or \"bicubic\" (d = 2), padding_mode \"zeros\", \"border\" or \"reflection\". Coordinates are computed in f32. Composite.",
      "(C1) x and grid have a float dtype; (C2) x has rank 4 or 5, the grid too; (C3) N agrees, the grid's last dimension is x's rank - 2; (C4) mode and padding_mode are among these, bicubic for d = 2 only.",
      "%y = samba.grid_sample %x, %g {align_corners = true} : tensor<1x2x4x4xf32>, tensor<1x3x3x2xf32>", "torch.nn.functional.grid_sample">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$grid, OptionalAttr<Samba_String>:$mode, OptionalAttr<Samba_String>:$padding_mode,
                   OptionalAttr<Samba_Bool>:$align_corners);
}
def Samba_AffineGridOp : Samba_Op<"affine_grid"> {
  let summary = "the grid of an affine map, for grid_sample";
  let description = Samba_Text<"result[n, .., i] = sum over j of theta[n, i, j] * p[.., j], p the normalized coordinates of each point of the output (last dimension first) and 1. Composite.",
      "(C1) theta has a float dtype; (C2) output_size is N x C x spatial with 2 or 3 spatial dimensions d; (C3) theta is N x d x (d + 1).",
      "%g = samba.affine_grid %t {output_size = [1, 2, 4, 4]} : tensor<1x2x3xf32>", "torch.nn.functional.affine_grid">.text;
  let arguments = (ins Samba_Tensor:$theta, Samba_Ints:$output_size, OptionalAttr<Samba_Bool>:$align_corners);
}
def Samba_RoiAlignOp : Samba_Op<"roi_align"> {
  let summary = "regions of interest resampled to one size";
  let description = Samba_Text<
      "x is N x C x H x W, rois R x 4 (x1, y1, x2, y2), batch_indices R. Each region is cut into output_size bins; each bin is the mean (mode \"avg\") or the largest (\"max\") of sampling_ratio^2 bilinear samples. aligned shifts by half a pixel. Composite.",
      "(C1) x and rois have one float dtype, batch_indices i32 or i64; (C2) x has rank 4, rois R x 4, batch_indices R; (C3) output_size has two numbers, they and sampling_ratio are 1 or more; (C4) mode is \"avg\" or \"max\".",
      "%y = samba.roi_align %x, %r, %b {output_size = [2, 2], sampling_ratio = 2} : tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>", "torchvision.ops.roi_align; ONNX RoiAlign">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$rois, Samba_Tensor:$batch_indices, Samba_Ints:$output_size, Samba_Int:$sampling_ratio,
                   OptionalAttr<Samba_Float>:$spatial_scale, OptionalAttr<Samba_String>:$mode, OptionalAttr<Samba_Bool>:$aligned);
}
def Samba_FoldOp : Samba_Op<"fold"> {
  let summary = "sliding blocks summed into an image (col2im)";
  let description = Samba_Text<"x is N x (C * window) x blocks. Each block is added to the image at its place; where blocks overlap they are summed in order of the window's elements. `padding` has two numbers per spatial dimension: all begins, then all ends; padded places are dropped. Composite.",
      "(C1) x has a number dtype; (C2) x has rank 3; (C3) output_size, kernel_size, stride and dilation are 1 or more, one per spatial dimension, padding 0 or more; (C4) the window divides dimension 1, and dimension 2 is the number of blocks.",
      "%y = samba.fold %x {output_size = [4, 4], kernel_size = [2, 2]} : tensor<1x8x9xf32>", "torch.nn.functional.fold; ONNX Col2Im">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$output_size, Samba_Ints:$kernel_size, OptionalAttr<Samba_Ints>:$stride,
                   OptionalAttr<Samba_Ints>:$padding, OptionalAttr<Samba_Ints>:$dilation);
}

//===-- Values -----------------------------------------------------------------------------------------------------===//

def Samba_ConstantOp : Samba_Op<"constant", [ConstantLike]> {
  let summary = "a small constant; weights are arguments with samba.value";
  let description = "The result has the type of the value, which is dense or dense_resource.\n\n```mlir\n%y = samba.constant {value = dense<[1.0, 2.0]> : tensor<2xf32>}\n```";
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
      return ::llvm::success(sambaVerifyCall(wrap(getOperation()), wrap(symbols.lookupNearestSymbolFrom(getOperation(), getCalleeAttr()))));
    }
  }]);
}

def Samba_YieldOp : Samba_StructureOp<"yield", [Pure, Terminator, HasParent<"SectionOp">]> {
  let summary = "the results of a section";
  let arguments = (ins Variadic<Samba_Tensor>:$results_);
  let assemblyFormat = "($results_^)? attr-dict (`:` type($results_)^)?";
}

#endif
