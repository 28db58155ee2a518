/* The operators as C functions, named as in functional PyTorch: thin calls of sambaTraceCall.
 *
 * Every function returns NULL when an operand that is not optional is NULL or the call is refused;
 * the trace then holds the reason. Operators with two values promote their dtypes as PyTorch does
 * for tensors (bool < integer < float; within a kind the wider; bf16 with f16 gives f32) by
 * inserting casts; all others are strict. */
#ifndef SAMBA_FRONTEND_TRACE_OPERATORS_H
#define SAMBA_FRONTEND_TRACE_OPERATORS_H

#include "frontend/trace/trace.h"

/* X(function, operator) */
#define SAMBA_UNARY_BUILDERS(X)                                                                    \
  X(sambaNeg, "neg")                                                                               \
  X(sambaAbs, "abs")                                                                               \
  X(sambaExp, "exp")                                                                               \
  X(sambaLog, "log")                                                                               \
  X(sambaSqrt, "sqrt")                                                                             \
  X(sambaRsqrt, "rsqrt")                                                                           \
  X(sambaReciprocal, "reciprocal")                                                                 \
  X(sambaTanh, "tanh")                                                                             \
  X(sambaErf, "erf")                                                                               \
  X(sambaSigmoid, "sigmoid")                                                                       \
  X(sambaRelu, "relu")                                                                             \
  X(sambaSilu, "silu")                                                                             \
  X(sambaGelu, "gelu")                                                                             \
  X(sambaSin, "sin")                                                                               \
  X(sambaCos, "cos")                                                                               \
  X(sambaFloor, "floor")                                                                           \
  X(sambaCeil, "ceil")                                                                             \
  X(sambaRound, "round")                                                                           \
  X(sambaSign, "sign")                                                                             \
  X(sambaLogicalNot, "logical_not")                                                                \
  X(sambaTan, "tan")                                                                               \
  X(sambaAsin, "asin")                                                                             \
  X(sambaAcos, "acos")                                                                             \
  X(sambaAtan, "atan")                                                                             \
  X(sambaSinh, "sinh")                                                                             \
  X(sambaCosh, "cosh")                                                                             \
  X(sambaAsinh, "asinh")                                                                           \
  X(sambaAcosh, "acosh")                                                                           \
  X(sambaAtanh, "atanh")                                                                           \
  X(sambaExpm1, "expm1")                                                                           \
  X(sambaLog1p, "log1p")                                                                           \
  X(sambaTrunc, "trunc")                                                                           \
  X(sambaBitwiseNot, "bitwise_not")                                                                \
  X(sambaLogsigmoid, "logsigmoid")                                                                 \
  X(sambaSoftsign, "softsign")                                                                     \
  X(sambaMish, "mish")                                                                             \
  X(sambaSoftplus, "softplus")                                                                     \
  X(sambaHardswish, "hardswish")                                                                   \
  X(sambaDetach, "detach")                                                                         \
  X(sambaContiguous, "contiguous")
#define SAMBA_BINARY_BUILDERS(X)                                                                   \
  X(sambaAdd, "add")                                                                               \
  X(sambaSub, "sub")                                                                               \
  X(sambaMul, "mul")                                                                               \
  X(sambaDiv, "div")                                                                               \
  X(sambaPow, "pow")                                                                               \
  X(sambaMaximum, "maximum")                                                                       \
  X(sambaMinimum, "minimum")                                                                       \
  X(sambaRemainder, "remainder")                                                                   \
  X(sambaFmod, "fmod")                                                                             \
  X(sambaBitwiseAnd, "bitwise_and")                                                                \
  X(sambaBitwiseOr, "bitwise_or")                                                                  \
  X(sambaBitwiseXor, "bitwise_xor")                                                                \
  X(sambaBitwiseLeftShift, "bitwise_left_shift")                                                   \
  X(sambaBitwiseRightShift, "bitwise_right_shift")                                                 \
  X(sambaPrelu, "prelu")                                                                           \
  X(sambaEq, "eq")                                                                                 \
  X(sambaNe, "ne")                                                                                 \
  X(sambaLt, "lt")                                                                                 \
  X(sambaLe, "le")                                                                                 \
  X(sambaGt, "gt")                                                                                 \
  X(sambaGe, "ge")                                                                                 \
  X(sambaLogicalAnd, "logical_and")                                                                \
  X(sambaLogicalOr, "logical_or")                                                                  \
  X(sambaLogicalXor, "logical_xor")
#define SAMBA_REDUCTION_BUILDERS(X)                                                                \
  X(sambaSum, "sum")                                                                               \
  X(sambaMean, "mean")                                                                             \
  X(sambaAmax, "amax")                                                                             \
  X(sambaAmin, "amin")                                                                             \
  X(sambaProd, "prod")                                                                             \
  X(sambaLogsumexp, "logsumexp")

#define X(function, name) SambaTensor *function(SambaTensor *x);
SAMBA_UNARY_BUILDERS(X)
#undef X
#define X(function, name) SambaTensor *function(SambaTensor *a, SambaTensor *b);
SAMBA_BINARY_BUILDERS(X)
#undef X
/* count 0: over all dimensions. */
#define X(function, name)                                                                          \
  SambaTensor *function(SambaTensor *x, size_t count, const int64_t *dims, bool keepdim);
SAMBA_REDUCTION_BUILDERS(X)
#undef X

/* What a two-value operator computes in; both: a dtype of the trace. */
SambaDType sambaPromoteDTypes(SambaDType a, SambaDType b);

SambaTensor *sambaCast(SambaTensor *x, SambaDType dtype); /* x itself when it has the dtype */
SambaTensor *sambaWhere(SambaTensor *condition, SambaTensor *a, SambaTensor *b);
SambaTensor *sambaLeakyRelu(SambaTensor *x, double negative_slope);
SambaTensor *sambaElu(SambaTensor *x, double alpha);
SambaTensor *sambaCelu(SambaTensor *x, double alpha);
SambaTensor *sambaSelu(SambaTensor *x, double alpha, double scale);
SambaTensor *sambaThreshold(SambaTensor *x, double threshold, double value);
SambaTensor *sambaShrink(SambaTensor *x, double lambd, double bias);
SambaTensor *sambaGeluTanh(SambaTensor *x);
SambaTensor *sambaHardsigmoid(SambaTensor *x, double alpha, double beta);
/* low, high: NULL for no bound */
SambaTensor *sambaClamp(SambaTensor *x, const double *low, const double *high);

/* Random numbers; the seed is a rank-0 i64. */
SambaTensor *sambaUniform(SambaTensor *seed, uint32_t rank, const int64_t *dims, double low,
                          double high, SambaDType dtype);
SambaTensor *sambaNormal(SambaTensor *seed, uint32_t rank, const int64_t *dims, double mean,
                         double std, SambaDType dtype);
SambaTensor *sambaBernoulli(SambaTensor *p, SambaTensor *seed, SambaDType dtype);
SambaTensor *sambaMultinomial(SambaTensor *weights, SambaTensor *seed, int64_t num_samples,
                              SambaDType dtype);
/* false: refused. p: a rank-0 float; out_mask: true where x is kept */
bool sambaDropout(SambaTensor *x, SambaTensor *p, SambaTensor *seed, SambaTensor **out_result,
                  SambaTensor **out_mask);

SambaTensor *sambaLinear(SambaTensor *x, SambaTensor *weight, SambaTensor *bias_or_null);
SambaTensor *sambaMatmul(SambaTensor *a, SambaTensor *b);

/* Windows; arrays have one number per spatial dimension (padding: begins, then ends), NULL: the
 * default. */
typedef struct SambaWindowOptions {
  const int64_t *kernel, *stride, *padding, *dilation; /* kernel: pools only */
  const int64_t *output_padding;                       /* transposed convolutions */
  int64_t groups;                                      /* convolutions; 0: 1 */
  bool ceil_mode, exclude_padding;                     /* pools */
} SambaWindowOptions;
/* One, two or three spatial dimensions, by x's rank. */
SambaTensor *sambaConv(SambaTensor *x, SambaTensor *weight, SambaTensor *bias_or_null,
                       const SambaWindowOptions *options);
/* A result that the strides do not divide is the slice of one that they divide. */
SambaTensor *sambaConvTranspose(SambaTensor *x, SambaTensor *weight, SambaTensor *bias_or_null,
                                const SambaWindowOptions *options);
SambaTensor *sambaMaxPool(SambaTensor *x, const SambaWindowOptions *options);
SambaTensor *sambaMaxPoolWithIndices(SambaTensor *x, const SambaWindowOptions *options,
                                     SambaTensor **out_indices);
SambaTensor *sambaAvgPool(SambaTensor *x, const SambaWindowOptions *options);
SambaTensor *sambaLpPool(SambaTensor *x, double norm_type, const SambaWindowOptions *options);

SambaTensor *sambaBatchNorm(SambaTensor *x, SambaTensor *weight, SambaTensor *bias,
                            SambaTensor *mean, SambaTensor *variance, double eps);
/* out_results: y, running mean, running variance, mean, variance; all NULL on failure */
void sambaBatchNormTraining(SambaTensor *x, SambaTensor *weight, SambaTensor *bias,
                            SambaTensor *mean, SambaTensor *variance, double eps, double momentum,
                            SambaTensor **out_results);
/* Over the last `dims` dimensions. weight and bias may be NULL, bias only without weight. */
SambaTensor *sambaLayerNorm(SambaTensor *x, uint32_t dims, SambaTensor *weight, SambaTensor *bias,
                            double eps);
/* out_results: y, mean, 1 / sqrt(variance + eps), the latter in `statistics`; all NULL on
 * failure */
void sambaNativeLayerNorm(SambaTensor *x, uint32_t dims, SambaTensor *weight, SambaTensor *bias,
                          double eps, SambaDType statistics, SambaTensor **out_results);
SambaTensor *sambaRmsNorm(SambaTensor *x, uint32_t dims, SambaTensor *weight_or_null, double eps);
SambaTensor *sambaGroupNorm(SambaTensor *x, int64_t groups, SambaTensor *weight, SambaTensor *bias,
                            double eps);
SambaTensor *sambaMeanVarianceNorm(SambaTensor *x, size_t count, const int64_t *dims, double eps);
SambaTensor *sambaNormalize(SambaTensor *x, double p, int64_t dim, double eps);
/* before: channels of the window in front of the element's own */
SambaTensor *sambaLocalResponseNorm(SambaTensor *x, int64_t size, double alpha, double beta,
                                    double k, int64_t before);
SambaTensor *sambaSoftmax(SambaTensor *x, int64_t dim);
SambaTensor *sambaLogSoftmax(SambaTensor *x, int64_t dim);
/* scale 0: 1 / sqrt(last dimension of query) */
SambaTensor *sambaScaledDotProductAttention(SambaTensor *query, SambaTensor *key,
                                            SambaTensor *value, SambaTensor *mask_or_null,
                                            double scale, bool causal);

/* Views. reshape: one dimension may be -1. slice: one dimension, as in Python (negative from the
 * end, clamped). */
SambaTensor *sambaReshape(SambaTensor *x, uint32_t rank, const int64_t *dims);
SambaTensor *sambaPermute(SambaTensor *x, const int64_t *dims);
SambaTensor *sambaTranspose(SambaTensor *x, int64_t dim0, int64_t dim1);
SambaTensor *sambaExpand(SambaTensor *x, uint32_t rank, const int64_t *dims);
SambaTensor *sambaSlice(SambaTensor *x, int64_t dim, int64_t start, int64_t end, int64_t step);
SambaTensor *sambaPad(SambaTensor *x, const int64_t *low, const int64_t *high, double value);
SambaTensor *sambaFlatten(SambaTensor *x, int64_t first, int64_t last);

/* ---- reductions.c ---- */

/* dim NULL: all dimensions as one */
SambaTensor *sambaArgmax(SambaTensor *x, const int64_t *dim, bool keepdim, bool select_last);
SambaTensor *sambaArgmin(SambaTensor *x, const int64_t *dim, bool keepdim, bool select_last);
SambaTensor *sambaHardmax(SambaTensor *x, int64_t dim);
SambaTensor *sambaCumsum(SambaTensor *x, int64_t dim, bool exclusive, bool reverse);
/* The values; *out_indices (may be NULL): where they were, i64. */
SambaTensor *sambaTopk(SambaTensor *x, int64_t k, int64_t dim, bool largest,
                       SambaTensor **out_indices);
SambaTensor *sambaSort(SambaTensor *x, int64_t dim, bool descending, SambaTensor **out_indices);
SambaTensor *sambaArgsort(SambaTensor *x, int64_t dim, bool descending);
/* values: [2], what is written elsewhere and at the index; NULL: i64 0 and 1 */
SambaTensor *sambaOneHot(SambaTensor *indices, SambaTensor *values_or_null, int64_t classes,
                         int64_t dim);
/* the diagonal: a number, plus a tensor of one element */
SambaTensor *sambaTriu(SambaTensor *x, int64_t diagonal, SambaTensor *more_or_null);
SambaTensor *sambaTril(SambaTensor *x, int64_t diagonal, SambaTensor *more_or_null);
SambaTensor *sambaEinsum(const char *equation, uint32_t count, SambaTensor *const *tensors);
SambaTensor *sambaDet(SambaTensor *x);

/* Losses; reduction: "mean", "sum" or "none" (kl_div: "batchmean" too). ignore_index NULL: none. */
SambaTensor *sambaNllLoss(SambaTensor *x, SambaTensor *target, SambaTensor *weight_or_null,
                          const int64_t *ignore_index, const char *reduction);
SambaTensor *sambaCrossEntropy(SambaTensor *x, SambaTensor *target, SambaTensor *weight_or_null,
                               const int64_t *ignore_index, const char *reduction);
SambaTensor *sambaMseLoss(SambaTensor *x, SambaTensor *target, const char *reduction);
SambaTensor *sambaL1Loss(SambaTensor *x, SambaTensor *target, const char *reduction);
SambaTensor *sambaSmoothL1Loss(SambaTensor *x, SambaTensor *target, const char *reduction,
                               double beta);
SambaTensor *sambaHuberLoss(SambaTensor *x, SambaTensor *target, const char *reduction,
                            double delta);
SambaTensor *sambaKlDiv(SambaTensor *x, SambaTensor *target, const char *reduction,
                        bool log_target);
SambaTensor *sambaBinaryCrossEntropy(SambaTensor *x, SambaTensor *target, const char *reduction);
SambaTensor *sambaBinaryCrossEntropyWithLogits(SambaTensor *x, SambaTensor *target,
                                               const char *reduction);

SambaTensor *sambaCat(uint32_t count, SambaTensor *const *tensors, int64_t dim);
SambaTensor *sambaEmbedding(SambaTensor *weight, SambaTensor *indices);
SambaTensor *sambaTake(SambaTensor *x, SambaTensor *indices, int64_t dim, int64_t batch_dims);
SambaTensor *sambaGather(SambaTensor *x, int64_t dim, SambaTensor *index);
SambaTensor *sambaGatherNd(SambaTensor *x, SambaTensor *indices, int64_t batch_dims);
/* reduce: NULL, "add", "mul", "min" or "max" */
SambaTensor *sambaScatter(SambaTensor *x, int64_t dim, SambaTensor *index, SambaTensor *src,
                          const char *reduce);
SambaTensor *sambaScatterNd(SambaTensor *x, SambaTensor *indices, SambaTensor *updates,
                            const char *reduce);
SambaTensor *sambaMaxUnpool(SambaTensor *x, SambaTensor *indices, size_t spatial,
                            const int64_t *output_size);
SambaTensor *sambaReverseSequence(SambaTensor *x, SambaTensor *lengths, int64_t time_axis,
                                  int64_t batch_axis);

/* Resampling. NULL strings and lists: the operator's defaults. */
typedef struct SambaInterpolateOptions {
  const int64_t *size; /* one number per dimension */
  const double *scales, *roi;
  const char *mode, *coordinate_mode, *nearest_mode;
  double cubic_coeff_a, extrapolation_value;
  bool exclude_outside, antialias;
} SambaInterpolateOptions;
SambaTensor *sambaInterpolate(SambaTensor *x, const SambaInterpolateOptions *options);
SambaTensor *sambaPadBorder(SambaTensor *x, const int64_t *low, const int64_t *high,
                            const char *mode);
SambaTensor *sambaGridSample(SambaTensor *x, SambaTensor *grid, const char *mode,
                             const char *padding_mode, bool align_corners);
SambaTensor *sambaAffineGrid(SambaTensor *theta, size_t rank, const int64_t *output_size,
                             bool align_corners);
typedef struct SambaRoiAlignOptions {
  int64_t size[2], sampling_ratio;
  double spatial_scale;
  const char *mode;
  bool aligned, adaptive;
} SambaRoiAlignOptions;
SambaTensor *sambaRoiAlign(SambaTensor *x, SambaTensor *rois, SambaTensor *batch_indices,
                           const SambaRoiAlignOptions *options);
/* Blocks summed into an image (col2im); window: kernel, stride, padding, dilation. */
SambaTensor *sambaFold(SambaTensor *x, size_t spatial, const int64_t *output_size,
                       const SambaWindowOptions *window);
SambaTensor *sambaIndexSelect(SambaTensor *x, SambaTensor *indices, int64_t dim);

/* Recurrent layers. Tensors that are NULL are left out; initial_c and peepholes are lstm's alone.
 * The formats are those of samba.lstm. False: an operand is missing or the call refused; the trace
 * then holds the reason. */
typedef struct SambaRecurrentOptions {
  SambaTensor *weight, *recurrent, *bias, *lengths, *initial_h, *initial_c, *peepholes;
  const char *direction, *activations; /* NULL: the defaults */
  double clip;                         /* 0: none */
  bool batch_first, input_forget, linear_before_reset;
} SambaRecurrentOptions;
bool sambaLstm(SambaTensor *x, const SambaRecurrentOptions *options,
               SambaTensor *out_results[3]); /* y, h, c */
bool sambaGru(SambaTensor *x, const SambaRecurrentOptions *options, SambaTensor *out_results[2]);
bool sambaRnn(SambaTensor *x, const SambaRecurrentOptions *options, SambaTensor *out_results[2]);

/* Optimizers: the parameter and the states after one step. Hyperparameters are tensors of
 * one element, all that the formula of the operator needs; alpha and beta are AdamW's
 * beta1 and beta2. */
typedef struct SambaUpdateOptions {
  SambaTensor *lr, *step, *alpha, *beta, *eps, *weight_decay, *post_decay, *lr_decay;
} SambaUpdateOptions;
SambaTensor *sambaSgdUpdate(SambaTensor *parameter, SambaTensor *gradient,
                            const SambaUpdateOptions *options);
bool sambaMomentumUpdate(SambaTensor *parameter, SambaTensor *gradient, SambaTensor *velocity,
                         const SambaUpdateOptions *options, bool nesterov,
                         SambaTensor *out_results[2]);
bool sambaAdagradUpdate(SambaTensor *parameter, SambaTensor *gradient, SambaTensor *squares,
                        const SambaUpdateOptions *options, SambaTensor *out_results[2]);
bool sambaAdamUpdate(SambaTensor *parameter, SambaTensor *gradient, SambaTensor *mean,
                     SambaTensor *variance, const SambaUpdateOptions *options,
                     SambaTensor *out_results[3]);
bool sambaAdamwUpdate(SambaTensor *parameter, SambaTensor *gradient, SambaTensor *mean,
                      SambaTensor *variance, const SambaUpdateOptions *options,
                      SambaTensor *out_results[3]);

/* length 0: the dimension's size, or the window's */
SambaTensor *sambaDft(SambaTensor *x, int64_t dim, int64_t length, bool inverse, bool onesided);
SambaTensor *sambaStft(SambaTensor *x, SambaTensor *window_or_null, int64_t hop, int64_t length,
                       bool onesided);
SambaTensor *sambaRotaryEmbedding(SambaTensor *x, SambaTensor *cosine, SambaTensor *sine,
                                  bool interleaved);

#endif
