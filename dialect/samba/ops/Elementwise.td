// Element by element: arithmetic, comparison, logic, activations, casts, random numbers. Included by dialect/samba/Ops.td.
#ifndef SAMBA_DIALECT_SAMBA_OPS_ELEMENTWISE
#define SAMBA_DIALECT_SAMBA_OPS_ELEMENTWISE

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
def Samba_HardswishOp : Samba_Unary<"hardswish", "x * (min(max(x + 3, 0), 6) / 6)", (ins), "", "torch.nn.functional.hardswish">;
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

#endif
