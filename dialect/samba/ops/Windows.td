// Products, convolutions, pools, normalizations, attention. Included by dialect/samba/Ops.td.
#ifndef SAMBA_DIALECT_SAMBA_OPS_WINDOWS
#define SAMBA_DIALECT_SAMBA_OPS_WINDOWS

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
  let description = Samba_Text<"q[.., L, E], k[.., S, E], v[.., S, V]; the mask broadcasts to [.., L, S]: a float mask is added, an i1 mask keeps where true; elsewhere the score is `fill`, -inf when left out. scale is 1 / sqrt(E) when left out.",
      "(C1) q has a float dtype; (C2) k and v have it too; (C3) ranks of 2 or more, one E, one S; (C4) the dimensions before broadcast; (C5) the mask is i1 or q's dtype and broadcasts.",
      "%y = samba.scaled_dot_product_attention %q, %k, %v {scale = 0.5} : tensor<2x5x8xf32>, tensor<2x7x8xf32>, tensor<2x7x4xf32>",
      "torch.nn.functional.scaled_dot_product_attention">.text;
  let arguments = (ins Samba_Tensor:$query, Samba_Tensor:$key, Samba_Tensor:$value, Optional<Samba_Tensor>:$mask,
                   OptionalAttr<Samba_Float>:$scale, OptionalAttr<Samba_Bool>:$is_causal, OptionalAttr<Samba_Float>:$fill);
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

#endif
