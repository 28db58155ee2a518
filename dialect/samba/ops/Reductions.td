// Reductions, searches, scans and sorts; losses. Included by dialect/samba/Ops.td.
#ifndef SAMBA_DIALECT_SAMBA_OPS_REDUCTIONS
#define SAMBA_DIALECT_SAMBA_OPS_REDUCTIONS

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

//===-- Losses -----------------------------------------------------------------------------------------------------===//

def Samba_MseLossOp : Samba_Op<"mse_loss"> {
  let summary = "the mean of (x - target)^2";
  let description = Samba_Text<"(x - target)^2: its mean, its sum or, with reduction = \"none\", all of it. Composite.",
      "(C1) both have one float dtype; (C2) one shape; (C3) reduction is \"mean\" (the default), \"sum\" or \"none\".",
      "%l = samba.mse_loss %x, %t {reduction = \"sum\"} : tensor<2x3xf32>, tensor<2x3xf32>", "torch.nn.functional.mse_loss">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$target, OptionalAttr<Samba_String>:$reduction);
}

#endif
