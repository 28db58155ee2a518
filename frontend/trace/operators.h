/* The operators as C functions, named as in functional PyTorch: thin calls of sambaTraceCall.
 *
 * Every function returns NULL when an operand that is not optional is NULL or the call is refused;
 * the trace then holds the reason. Operators with two values promote their dtypes as PyTorch does
 * for tensors (bool < integer < float; within a kind the wider; bf16 with f16 gives f32) by
 * inserting casts; all others are strict. */
#ifndef SAMBA_FRONTEND_TRACE_OPERATORS_H
#define SAMBA_FRONTEND_TRACE_OPERATORS_H

#include "frontend/trace/trace.h"

/* The functions that pass operands and attributes on as they are: made from the rows of the
 * operator table (dialect/samba/table) when Samba is built, in build/frontend/trace/builders.h.inc.
 * An operand called .._or_null may be NULL, a list without numbers stands for all dimensions. */
#include "frontend/trace/builders.h.inc"

/* The dtype in which an operator with two values of these dtypes computes. */
SambaDType sambaPromoteDTypes(SambaDType a, SambaDType b);

SambaTensor *sambaCast(SambaTensor *x, SambaDType dtype); /* x itself when it has the dtype */
SambaTensor *sambaWhere(SambaTensor *condition, SambaTensor *a, SambaTensor *b);
SambaTensor *sambaGeluTanh(SambaTensor *x);
/* low, high: NULL for no bound */
SambaTensor *sambaClamp(SambaTensor *x, const double *low, const double *high);

/* Random numbers; the seed is a rank-0 i64. */
SambaTensor *sambaUniform(SambaTensor *seed, uint32_t rank, const int64_t *dims, double low,
                          double high, SambaDType dtype);
SambaTensor *sambaNormal(SambaTensor *seed, uint32_t rank, const int64_t *dims, double mean,
                         double std, SambaDType dtype);
/* False when the call is refused. p is a rank-0 float; out_mask is true where x is kept. */
bool sambaDropout(SambaTensor *x, SambaTensor *p, SambaTensor *seed, SambaTensor **out_result,
                  SambaTensor **out_mask);

/* Windows. Arrays have one number per spatial dimension; padding has all begins and then all ends.
 * NULL means the operator's default. */
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
SambaTensor *sambaCumsum(SambaTensor *x, int64_t dim, bool exclusive, bool reverse);
/* The values; *out_indices (may be NULL): where they were, i64. */
SambaTensor *sambaTopk(SambaTensor *x, int64_t k, int64_t dim, bool largest,
                       SambaTensor **out_indices);
SambaTensor *sambaSort(SambaTensor *x, int64_t dim, bool descending, SambaTensor **out_indices);
/* the diagonal: a number, plus a tensor of one element */
SambaTensor *sambaTriu(SambaTensor *x, int64_t diagonal, SambaTensor *more_or_null);
SambaTensor *sambaTril(SambaTensor *x, int64_t diagonal, SambaTensor *more_or_null);
SambaTensor *sambaEinsum(const char *equation, uint32_t count, SambaTensor *const *tensors);

/* reduction: "mean", "sum" or "none". ignore_index NULL: none. */
SambaTensor *sambaNllLoss(SambaTensor *x, SambaTensor *target, SambaTensor *weight_or_null,
                          const int64_t *ignore_index, const char *reduction);
SambaTensor *sambaCrossEntropy(SambaTensor *x, SambaTensor *target, SambaTensor *weight_or_null,
                               const int64_t *ignore_index, const char *reduction);

SambaTensor *sambaCat(uint32_t count, SambaTensor *const *tensors, int64_t dim);
SambaTensor *sambaTake(SambaTensor *x, SambaTensor *indices, int64_t dim, int64_t batch_dims);
SambaTensor *sambaGather(SambaTensor *x, int64_t dim, SambaTensor *index);
SambaTensor *sambaGatherNd(SambaTensor *x, SambaTensor *indices, int64_t batch_dims);
/* reduce: NULL, "add", "mul", "min" or "max" */
SambaTensor *sambaScatter(SambaTensor *x, int64_t dim, SambaTensor *index, SambaTensor *src,
                          const char *reduce);
SambaTensor *sambaScatterNd(SambaTensor *x, SambaTensor *indices, SambaTensor *updates,
                            const char *reduce);

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

/* Recurrent layers. Tensors that are NULL are left out; initial_c and peepholes are lstm's alone.
 * The formats are those of samba.lstm. False when an operand is missing or the call is refused; the
 * trace then holds the reason. */
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

/* Optimizers: the parameter and the states after one step. Hyperparameters are tensors of one
 * element; those that the operator's formula needs must be there. alpha and beta are also AdamW's
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

/* length 0: the dimension's size, or the window's */
SambaTensor *sambaDft(SambaTensor *x, int64_t dim, int64_t length, bool inverse, bool onesided);
SambaTensor *sambaStft(SambaTensor *x, SambaTensor *window_or_null, int64_t hop, int64_t length,
                       bool onesided);

#endif
