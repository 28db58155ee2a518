// What moves data: views, gathers, scatters, resampling. Included by dialect/samba/Ops.td.
#ifndef SAMBA_DIALECT_SAMBA_OPS_POSITIONS
#define SAMBA_DIALECT_SAMBA_OPS_POSITIONS

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
      "x is N x C x H x W, rois R x 4 (x1, y1, x2, y2), batch_indices R. Each region is cut into output_size bins; each bin is the mean (mode \"avg\") or the largest (\"max\") of sampling_ratio^2 bilinear samples. aligned shifts by half a pixel. adaptive: a region has as many samples per bin and dimension as its bins have pixels, rounded up, and is NaN where that is more than sampling_ratio. Composite.",
      "(C1) x and rois have one float dtype, batch_indices i32 or i64; (C2) x has rank 4, rois R x 4, batch_indices R; (C3) output_size has two numbers, they and sampling_ratio are 1 or more; (C4) mode is \"avg\" or \"max\".",
      "%y = samba.roi_align %x, %r, %b {output_size = [2, 2], sampling_ratio = 2} : tensor<1x2x8x8xf32>, tensor<3x4xf32>, tensor<3xi64>", "torchvision.ops.roi_align; ONNX RoiAlign">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Tensor:$rois, Samba_Tensor:$batch_indices, Samba_Ints:$output_size, Samba_Int:$sampling_ratio,
                   OptionalAttr<Samba_Float>:$spatial_scale, OptionalAttr<Samba_String>:$mode, OptionalAttr<Samba_Bool>:$aligned,
                   OptionalAttr<Samba_Bool>:$adaptive);
}
def Samba_FoldOp : Samba_Op<"fold"> {
  let summary = "sliding blocks summed into an image (col2im)";
  let description = Samba_Text<"x is N x (C * window) x blocks. Each block is added to the image at its place; where blocks overlap they are summed in order of the window's elements. `padding` has two numbers per spatial dimension: all begins, then all ends; padded places are dropped. Composite.",
      "(C1) x has a number dtype; (C2) x has rank 3; (C3) output_size, kernel_size, stride and dilation are 1 or more, one per spatial dimension, padding 0 or more; (C4) the window divides dimension 1, and dimension 2 is the number of blocks.",
      "%y = samba.fold %x {output_size = [4, 4], kernel_size = [2, 2]} : tensor<1x8x9xf32>", "torch.nn.functional.fold; ONNX Col2Im">.text;
  let arguments = (ins Samba_Tensor:$input, Samba_Ints:$output_size, Samba_Ints:$kernel_size, OptionalAttr<Samba_Ints>:$stride,
                   OptionalAttr<Samba_Ints>:$padding, OptionalAttr<Samba_Ints>:$dilation);
}

#endif
