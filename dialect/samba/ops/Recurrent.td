// Recurrent layers, updates of parameters, signals. Included by dialect/samba/Ops.td.
#ifndef SAMBA_DIALECT_SAMBA_OPS_RECURRENT
#define SAMBA_DIALECT_SAMBA_OPS_RECURRENT

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

#endif
