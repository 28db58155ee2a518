/* The importer's table: which operator, in which versions of its operator set, is read by which
 * handler. A version is that of the whole operator set, as the model imports it; ranges cover all
 * revisions of an operator whose forms the handler knows. */
#include "frontend/onnx/driver/driver.h"
#include "frontend/onnx/driver/inline.h"
#include "frontend/onnx/fold/fold_node.h"
#include "frontend/onnx/handlers/handlers.h"

enum {
  LATEST = 24,
  EXPERIMENTAL = 9, /* the last version that has the experimental operators */
  KEEPS_SHAPE = SAMBA_ONNX_KEEPS_SHAPE,
  MOVES_DOUBLE = SAMBA_ONNX_MOVES_DOUBLE,
  READS_DOUBLE = SAMBA_ONNX_READS_DOUBLE,
  MAKES_EMPTY = SAMBA_ONNX_MAKES_EMPTY,
  BY_ELEMENT = SAMBA_ONNX_ELEMENTWISE,
  CHOOSES = SAMBA_ONNX_CHOOSES
};
#define H(name) sambaOnnxImport##name
#define F(name) sambaOnnxFold##name
#define ELEMENTWISE_ROW(onnx, first, last, function, samba, fewest, most)                          \
  {"",                                                                                             \
   onnx,                                                                                           \
   first,                                                                                          \
   last,                                                                                           \
   H(function),                                                                                    \
   F(Elementwise),                                                                                 \
   samba,                                                                                          \
   {fewest, most},                                                                                 \
   SAMBA_ONNX_ELEMENTWISE,                                                                         \
   SAMBA_ONNX_ONLY_VARIANT}
#define ELEMENTWISE(onnx, since, function, samba, fewest, most)                                    \
  ELEMENTWISE_ROW(onnx, since, LATEST, function, samba, fewest, most)
/* The operators that are one of ours; what is different about their attributes stands in that one's
 * row. */
#define ROW(onnx, since, until, samba, inputs)                                                     \
  ELEMENTWISE_ROW(onnx, since, until ? until : LATEST, Operator, samba, inputs, inputs),
/* All others. */
#define OPERATOR(onnx, since, function, fold, fewest, most, traits)                                \
  VARIANT(onnx, since, function, fold, fewest, most, traits, ONLY_VARIANT)
/* Those that version 10 has no more. */
#define EXPERIMENT(onnx, function, fold, fewest, most, traits)                                     \
  {"", onnx, 1, EXPERIMENTAL, H(function), fold, NULL, {fewest, most}, traits, 0}
/* Those of them whose handler asks which one it is. */
#define VARIANT(onnx, since, function, fold, fewest, most, traits, variant)                        \
  {"", onnx, since, LATEST, H(function), fold, NULL, {fewest, most}, traits, SAMBA_ONNX_##variant}

const SambaOnnxRow sambaOnnxRows[] = {
#include "frontend/onnx/operator_rows.inc"
    ELEMENTWISE("Erf", 9, Erf, "erf", 1, 1),
    ELEMENTWISE("BitShift", 11, BitShift, NULL, 2, 2),
    ELEMENTWISE("Gelu", 20, Gelu, NULL, 1, 1),
    {"com.microsoft", "Gelu", 1, 1, H(Gelu), NULL, NULL, {1, 1}, 0, 0},
    ELEMENTWISE("Swish", 24, Swish, NULL, 1, 1),
    ELEMENTWISE("PRelu", 1, PRelu, NULL, 2, 2),
    ELEMENTWISE("Pow", 1, Pow, NULL, 2, 2),
    ELEMENTWISE("Mod", 10, Mod, NULL, 2, 2),
    ELEMENTWISE("Min", 1, Variadic, "minimum", 1, UINT32_MAX),
    ELEMENTWISE("Max", 1, Variadic, "maximum", 1, UINT32_MAX),
    ELEMENTWISE("Sum", 1, Variadic, "add", 1, UINT32_MAX),
    ELEMENTWISE("Mean", 1, Variadic, "add", 1, UINT32_MAX),
    OPERATOR("Where", 9, Where, F(Elementwise), 3, 3, BY_ELEMENT | CHOOSES),
    OPERATOR("Clip", 1, Clip, F(Clip), 1, 3, KEEPS_SHAPE),
    OPERATOR("Cast", 1, Cast, F(Cast), 1, 1, KEEPS_SHAPE | READS_DOUBLE),
    OPERATOR("CastLike", 15, Cast, NULL, 2, 2, KEEPS_SHAPE),
    OPERATOR("Identity", 1, Identity, F(Identity), 1, 1, KEEPS_SHAPE | MOVES_DOUBLE),
    OPERATOR("Dropout", 1, Dropout, NULL, 1, 3, KEEPS_SHAPE),
    OPERATOR("RandomUniform", 1, Random, NULL, 0, 0, 0),
    OPERATOR("RandomUniformLike", 1, Random, NULL, 1, 1, 0),
    OPERATOR("RandomNormal", 1, Random, NULL, 0, 0, 0),
    OPERATOR("RandomNormalLike", 1, Random, NULL, 1, 1, 0),
    OPERATOR("Bernoulli", 15, Bernoulli, NULL, 1, 1, 0),
    OPERATOR("Multinomial", 7, Multinomial, NULL, 1, 1, 0),
    OPERATOR("Gemm", 1, Gemm, NULL, 2, 3, 0),
    OPERATOR("MatMul", 1, MatMul, NULL, 2, 2, 0),
    OPERATOR("Conv", 1, Conv, NULL, 2, 3, 0),
    OPERATOR("ConvTranspose", 1, ConvTranspose, NULL, 2, 3, 0),
    OPERATOR("LpPool", 1, LpPool, NULL, 1, 1, 0),
    OPERATOR("GlobalLpPool", 1, GlobalLpPool, NULL, 1, 1, 0),
    OPERATOR("MaxPool", 1, MaxPool, NULL, 1, 1, 0),
    OPERATOR("AveragePool", 1, AveragePool, NULL, 1, 1, 0),
    VARIANT("GlobalAveragePool", 1, GlobalPool, NULL, 1, 1, 0, GLOBAL_AVERAGE_POOL),
    VARIANT("GlobalMaxPool", 1, GlobalPool, NULL, 1, 1, 0, GLOBAL_MAX_POOL),
    OPERATOR("BatchNormalization", 1, BatchNormalization, NULL, 5, 5, 0),
    OPERATOR("LayerNormalization", 17, LayerNormalization, NULL, 2, 3, 0),
    OPERATOR("MeanVarianceNormalization", 1, MeanVarianceNormalization, NULL, 1, 1, 0),
    OPERATOR("RMSNormalization", 23, RmsNormalization, NULL, 2, 2, 0),
    OPERATOR("Attention", 23, Attention, NULL, 3, 7, 0),
    OPERATOR("RotaryEmbedding", 23, RotaryEmbedding, NULL, 3, 4, 0),
    OPERATOR("LpNormalization", 1, LpNormalization, NULL, 1, 1, 0),
    OPERATOR("InstanceNormalization", 1, InstanceNormalization, NULL, 3, 3, 0),
    OPERATOR("GroupNormalization", 18, GroupNormalization, NULL, 3, 3, 0),
    VARIANT("Softmax", 1, Softmax, NULL, 1, 1, 0, SOFTMAX),
    VARIANT("LogSoftmax", 1, Softmax, NULL, 1, 1, 0, LOG_SOFTMAX),
    VARIANT("Hardmax", 1, Softmax, NULL, 1, 1, 0, HARDMAX),
    VARIANT("ArgMax", 1, ArgMax, F(ArgMax), 1, 1, 0, ARG_MAX),
    VARIANT("ArgMin", 1, ArgMax, F(ArgMax), 1, 1, 0, ARG_MIN),
    OPERATOR("TopK", 1, TopK, NULL, 1, 2, MAKES_EMPTY),
    OPERATOR("CumSum", 11, CumSum, F(CumSum), 2, 2, 0),
    OPERATOR("OneHot", 9, OneHot, F(OneHot), 3, 3, MAKES_EMPTY),
    OPERATOR("Compress", 9, Compress, F(Compress), 2, 2, MAKES_EMPTY),
    OPERATOR("Unique", 11, DataDependent, NULL, 1, 1, 0),
    OPERATOR("Einsum", 12, Einsum, NULL, 1, UINT32_MAX, 0),
    OPERATOR("Det", 11, Det, NULL, 1, 1, 0),
    OPERATOR("NegativeLogLikelihoodLoss", 12, NegativeLogLikelihoodLoss, NULL, 2, 3, 0),
    OPERATOR("SoftmaxCrossEntropyLoss", 12, SoftmaxCrossEntropyLoss, NULL, 2, 3, 0),
    VARIANT("ReduceMean", 1, Reduce, F(Reduce), 1, 2, 0, REDUCE_MEAN),
    VARIANT("ReduceSum", 1, Reduce, F(Reduce), 1, 2, 0, REDUCE_SUM),
    VARIANT("ReduceMax", 1, Reduce, F(Reduce), 1, 2, 0, REDUCE_MAX),
    VARIANT("ReduceMin", 1, Reduce, F(Reduce), 1, 2, 0, REDUCE_MIN),
    VARIANT("ReduceProd", 1, Reduce, F(Reduce), 1, 2, 0, REDUCE_PROD),
    VARIANT("ReduceL1", 1, Reduce, NULL, 1, 2, 0, REDUCE_L1),
    VARIANT("ReduceL2", 1, Reduce, NULL, 1, 2, 0, REDUCE_L2),
    VARIANT("ReduceSumSquare", 1, Reduce, NULL, 1, 2, 0, REDUCE_SUM_SQUARE),
    VARIANT("ReduceLogSum", 1, Reduce, NULL, 1, 2, 0, REDUCE_LOG_SUM),
    VARIANT("ReduceLogSumExp", 1, Reduce, NULL, 1, 2, 0, REDUCE_LOG_SUM_EXP),
    OPERATOR("Reshape", 1, Reshape, F(Reshape), 1, 2, MOVES_DOUBLE),
    OPERATOR("Flatten", 1, Flatten, F(Reshape), 1, 1, MOVES_DOUBLE),
    OPERATOR("Squeeze", 1, Squeeze, F(Reshape), 1, 2, MOVES_DOUBLE),
    OPERATOR("Unsqueeze", 1, Unsqueeze, F(Reshape), 1, 2, MOVES_DOUBLE),
    OPERATOR("Transpose", 1, Transpose, F(Transpose), 1, 1, MOVES_DOUBLE),
    OPERATOR("Slice", 1, Slice, F(Slice), 1, 5, MOVES_DOUBLE | MAKES_EMPTY),
    OPERATOR("Split", 1, Split, F(Split), 1, 2, MAKES_EMPTY),
    OPERATOR("Concat", 1, Concat, F(Concat), 1, UINT32_MAX, 0),
    OPERATOR("Gather", 1, Gather, F(Gather), 2, 2, 0),
    OPERATOR("GatherElements", 11, GatherElements, F(GatherElements), 2, 2, 0),
    OPERATOR("GatherND", 11, GatherNd, F(GatherNd), 2, 2, 0),
    {"", "Scatter", 9, 10, H(Scatter), F(ScatterElements), NULL, {3, 3}, 0, 0},
    OPERATOR("ScatterElements", 11, Scatter, F(ScatterElements), 3, 3, 0),
    OPERATOR("ScatterND", 11, ScatterNd, F(ScatterNd), 3, 3, 0),
    OPERATOR("TensorScatter", 24, TensorScatter, NULL, 2, 3, 0),
    OPERATOR("MaxUnpool", 9, MaxUnpool, NULL, 2, 3, 0),
    OPERATOR("ReverseSequence", 10, ReverseSequence, NULL, 2, 2, 0),
    OPERATOR("EyeLike", 9, EyeLike, NULL, 1, 1, 0),
    OPERATOR("CenterCropPad", 18, CenterCropPad, NULL, 2, 2, MAKES_EMPTY),
    OPERATOR("Resize", 10, Resize, NULL, 1, 4, MAKES_EMPTY),
    OPERATOR("Upsample", 1, Resize, NULL, 1, 2, MAKES_EMPTY),
    OPERATOR("GridSample", 16, GridSample, NULL, 2, 2, 0),
    OPERATOR("AffineGrid", 20, AffineGrid, NULL, 2, 2, 0),
    OPERATOR("RoiAlign", 10, RoiAlign, NULL, 3, 3, 0),
    OPERATOR("Col2Im", 18, Col2Im, NULL, 3, 3, 0),
    OPERATOR("Expand", 8, Expand, F(Expand), 2, 2, MOVES_DOUBLE | MAKES_EMPTY),
    OPERATOR("Tile", 1, Tile, F(Tile), 2, 3, MAKES_EMPTY),
    OPERATOR("Pad", 1, Pad, NULL, 1, 4, MAKES_EMPTY),
    OPERATOR("Shape", 1, Shape, NULL, 1, 1, 0),
    OPERATOR("Size", 1, Size, NULL, 1, 1, 0),
    OPERATOR("ConstantOfShape", 9, ConstantOfShape, NULL, 1, 1, MAKES_EMPTY),
    OPERATOR("Range", 11, Range, NULL, 3, 3, MAKES_EMPTY),
    OPERATOR("Constant", 1, Constant, NULL, 0, 0, 0),
    OPERATOR("DepthToSpace", 1, DepthToSpace, NULL, 1, 1, 0),
    OPERATOR("SpaceToDepth", 1, SpaceToDepth, NULL, 1, 1, 0),
    OPERATOR("SequenceEmpty", 11, SequenceConstruct, NULL, 0, 0, 0),
    OPERATOR("SequenceConstruct", 11, SequenceConstruct, NULL, 1, UINT32_MAX, 0),
    OPERATOR("SequenceInsert", 11, SequenceInsert, NULL, 2, 3, 0),
    OPERATOR("SequenceErase", 11, SequenceErase, NULL, 1, 2, 0),
    OPERATOR("SequenceAt", 11, SequenceAt, NULL, 2, 2, MAKES_EMPTY),
    OPERATOR("SequenceLength", 11, SequenceLength, NULL, 1, 1, 0),
    OPERATOR("SplitToSequence", 11, SplitToSequence, NULL, 1, 2, 0),
    OPERATOR("ConcatFromSequence", 11, ConcatFromSequence, NULL, 1, 1, MAKES_EMPTY),
    OPERATOR("Optional", 15, Optional, NULL, 0, 1, 0),
    OPERATOR("OptionalGetElement", 15, Identity, NULL, 1, 1, MAKES_EMPTY),
    OPERATOR("OptionalHasElement", 15, OptionalHasElement, NULL, 0, 1, 0),
    OPERATOR("TfIdfVectorizer", 9, TfIdfVectorizer, NULL, 1, 1, 0),
    OPERATOR("NonZero", 9, DataDependent, F(NonZero), 1, 1, MAKES_EMPTY),
    OPERATOR("Trilu", 14, Trilu, NULL, 1, 2, 0),
    OPERATOR("LRN", 1, Lrn, NULL, 1, 1, 0),
    OPERATOR("IsNaN", 9, IsNan, NULL, 1, 1, READS_DOUBLE),
    OPERATOR("IsInf", 10, IsInf, NULL, 1, 1, READS_DOUBLE),
    {"", "LSTM", 1, LATEST, H(Recurrent), NULL, "lstm", {3, 8}, 0, SAMBA_ONNX_LSTM},
    {"", "GRU", 1, LATEST, H(Recurrent), NULL, "gru", {3, 6}, 0, SAMBA_ONNX_GRU},
    {"", "RNN", 1, LATEST, H(Recurrent), NULL, "rnn", {3, 6}, 0, SAMBA_ONNX_RNN},
    {"ai.onnx.preview.training", "Momentum", 1, 1, H(Momentum), NULL, NULL, {5, UINT32_MAX}, 0, 0},
    {"ai.onnx.preview.training", "Adagrad", 1, 1, H(Adagrad), NULL, NULL, {5, UINT32_MAX}, 0, 0},
    {"ai.onnx.preview.training", "Adam", 1, 1, H(Adam), NULL, NULL, {6, UINT32_MAX}, 0, 0},
    OPERATOR("HannWindow", 17, Window, NULL, 1, 1, MAKES_EMPTY),
    OPERATOR("HammingWindow", 17, Window, NULL, 1, 1, MAKES_EMPTY),
    OPERATOR("BlackmanWindow", 17, Window, NULL, 1, 1, MAKES_EMPTY),
    OPERATOR("MelWeightMatrix", 17, MelWeightMatrix, NULL, 5, 5, MAKES_EMPTY),
    OPERATOR("DFT", 17, Dft, NULL, 1, 3, 0),
    OPERATOR("STFT", 17, Stft, NULL, 2, 4, 0),
    OPERATOR("If", 1, If, NULL, 1, 1, MAKES_EMPTY),
    OPERATOR("Loop", 1, Loop, NULL, 1, UINT32_MAX, MAKES_EMPTY),
    EXPERIMENT("Affine", Affine, NULL, 1, 1, KEEPS_SHAPE),
    EXPERIMENT("Scale", Scale, NULL, 1, 1, KEEPS_SHAPE),
    EXPERIMENT("ScaledTanh", ScaledTanh, NULL, 1, 1, KEEPS_SHAPE),
    EXPERIMENT("ParametricSoftplus", ParametricSoftplus, NULL, 1, 1, KEEPS_SHAPE),
    EXPERIMENT("ImageScaler", ImageScaler, NULL, 1, 1, KEEPS_SHAPE),
    EXPERIMENT("Crop", Crop, NULL, 1, 1, 0),
    EXPERIMENT("DynamicSlice", Slice, F(Slice), 3, 4, MAKES_EMPTY),
    {0}};
