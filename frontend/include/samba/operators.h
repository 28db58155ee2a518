/* The operators as C functions, named as in functional PyTorch: thin calls of sambaTraceCall.
 *
 * Every function returns NULL when an operand that is not optional is NULL or the call is refused;
 * the trace then holds the reason. Operators with two values promote their dtypes as PyTorch does
 * for tensors (bool < integer < float; within a kind the wider; bf16 with f16 gives f32) by
 * inserting casts; all others are strict. */
#ifndef SAMBA_OPERATORS_H
#define SAMBA_OPERATORS_H

#include "samba/trace.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The functions that pass operands and attributes on as they are: made from the rows of the
 * operator table when Samba is built. An operand called .._or_null may be NULL, a list without
 * numbers stands for all dimensions. */
#include "samba/builders.inc"

/* The dtype in which an operator with two values of these dtypes computes. */
SAMBA_EXPORT SambaDType sambaPromoteDTypes(SambaDType a, SambaDType b);

SAMBA_EXPORT SambaTraceValue *sambaCast(SambaTraceValue *x,
                                        SambaDType dtype); /* x itself when it has the dtype */
SAMBA_EXPORT SambaTraceValue *sambaWhere(SambaTraceValue *condition, SambaTraceValue *a,
                                         SambaTraceValue *b);
SAMBA_EXPORT SambaTraceValue *sambaGeluTanh(SambaTraceValue *x);
/* low, high: NULL for no bound */
SAMBA_EXPORT SambaTraceValue *sambaClamp(SambaTraceValue *x, const double *low, const double *high);

/* Random numbers; the seed is a rank-0 i64. */
SAMBA_EXPORT SambaTraceValue *sambaUniform(SambaTraceValue *seed, uint32_t rank,
                                           const int64_t *dims, double low, double high,
                                           SambaDType dtype);
SAMBA_EXPORT SambaTraceValue *sambaNormal(SambaTraceValue *seed, uint32_t rank, const int64_t *dims,
                                          double mean, double std, SambaDType dtype);
/* False when the call is refused. p is a rank-0 float; out_mask is true where x is kept. */
SAMBA_EXPORT bool sambaDropout(SambaTraceValue *x, SambaTraceValue *p, SambaTraceValue *seed,
                               SambaTraceValue **out_result, SambaTraceValue **out_mask);

/* Windows. Arrays have one number per spatial dimension; padding has all begins and then all ends.
 * NULL means the operator's default. */
typedef struct SambaWindowOptions {
  const int64_t *kernel, *stride, *padding, *dilation; /* kernel: pools only */
  const int64_t *output_padding;                       /* transposed convolutions */
  int64_t groups;                                      /* convolutions; 0: 1 */
  bool ceil_mode, exclude_padding;                     /* pools */
} SambaWindowOptions;
/* One, two or three spatial dimensions, by x's rank. */
SAMBA_EXPORT SambaTraceValue *sambaConv(SambaTraceValue *x, SambaTraceValue *weight,
                                        SambaTraceValue *bias_or_null,
                                        const SambaWindowOptions *options);
/* A result that the strides do not divide is the slice of one that they divide. */
SAMBA_EXPORT SambaTraceValue *sambaConvTranspose(SambaTraceValue *x, SambaTraceValue *weight,
                                                 SambaTraceValue *bias_or_null,
                                                 const SambaWindowOptions *options);
SAMBA_EXPORT SambaTraceValue *sambaMaxPool(SambaTraceValue *x, const SambaWindowOptions *options);
SAMBA_EXPORT SambaTraceValue *sambaMaxPoolWithIndices(SambaTraceValue *x,
                                                      const SambaWindowOptions *options,
                                                      SambaTraceValue **out_indices);
SAMBA_EXPORT SambaTraceValue *sambaAvgPool(SambaTraceValue *x, const SambaWindowOptions *options);
SAMBA_EXPORT SambaTraceValue *sambaLpPool(SambaTraceValue *x, double norm_type,
                                          const SambaWindowOptions *options);

/* out_results: y, running mean, running variance, mean, variance; all NULL on failure */
SAMBA_EXPORT void sambaBatchNormTraining(SambaTraceValue *x, SambaTraceValue *weight,
                                         SambaTraceValue *bias, SambaTraceValue *mean,
                                         SambaTraceValue *variance, double eps, double momentum,
                                         SambaTraceValue **out_results);
/* Over the last `dims` dimensions. weight and bias may be NULL, bias only without weight. */
SAMBA_EXPORT SambaTraceValue *sambaLayerNorm(SambaTraceValue *x, uint32_t dims,
                                             SambaTraceValue *weight, SambaTraceValue *bias,
                                             double eps);
/* out_results: y, mean, 1 / sqrt(variance + eps), the latter in `statistics`; all NULL on
 * failure */
SAMBA_EXPORT void sambaNativeLayerNorm(SambaTraceValue *x, uint32_t dims, SambaTraceValue *weight,
                                       SambaTraceValue *bias, double eps, SambaDType statistics,
                                       SambaTraceValue **out_results);
SAMBA_EXPORT SambaTraceValue *sambaRmsNorm(SambaTraceValue *x, uint32_t dims,
                                           SambaTraceValue *weight_or_null, double eps);
SAMBA_EXPORT SambaTraceValue *sambaGroupNorm(SambaTraceValue *x, int64_t groups,
                                             SambaTraceValue *weight, SambaTraceValue *bias,
                                             double eps);
/* scale 0: 1 / sqrt(last dimension of query) */
SAMBA_EXPORT SambaTraceValue *
sambaScaledDotProductAttention(SambaTraceValue *query, SambaTraceValue *key, SambaTraceValue *value,
                               SambaTraceValue *mask_or_null, double scale, bool causal);

/* Views. reshape: one dimension may be -1. slice: one dimension, as in Python (negative from the
 * end, clamped). */
SAMBA_EXPORT SambaTraceValue *sambaReshape(SambaTraceValue *x, uint32_t rank, const int64_t *dims);
SAMBA_EXPORT SambaTraceValue *sambaPermute(SambaTraceValue *x, const int64_t *dims);
SAMBA_EXPORT SambaTraceValue *sambaTranspose(SambaTraceValue *x, int64_t dim0, int64_t dim1);
SAMBA_EXPORT SambaTraceValue *sambaExpand(SambaTraceValue *x, uint32_t rank, const int64_t *dims);
SAMBA_EXPORT SambaTraceValue *sambaSlice(SambaTraceValue *x, int64_t dim, int64_t start,
                                         int64_t end, int64_t step);
SAMBA_EXPORT SambaTraceValue *sambaPad(SambaTraceValue *x, const int64_t *low, const int64_t *high,
                                       double value);
SAMBA_EXPORT SambaTraceValue *sambaFlatten(SambaTraceValue *x, int64_t first, int64_t last);

/* ---- reductions.c ---- */

/* dim NULL: all dimensions as one */
SAMBA_EXPORT SambaTraceValue *sambaArgmax(SambaTraceValue *x, const int64_t *dim, bool keepdim,
                                          bool select_last);
SAMBA_EXPORT SambaTraceValue *sambaArgmin(SambaTraceValue *x, const int64_t *dim, bool keepdim,
                                          bool select_last);
SAMBA_EXPORT SambaTraceValue *sambaCumsum(SambaTraceValue *x, int64_t dim, bool exclusive,
                                          bool reverse);
/* The values; *out_indices (may be NULL): where they were, i64. */
SAMBA_EXPORT SambaTraceValue *sambaTopk(SambaTraceValue *x, int64_t k, int64_t dim, bool largest,
                                        SambaTraceValue **out_indices);
SAMBA_EXPORT SambaTraceValue *sambaSort(SambaTraceValue *x, int64_t dim, bool descending,
                                        SambaTraceValue **out_indices);
/* the diagonal: a number, plus a tensor of one element */
SAMBA_EXPORT SambaTraceValue *sambaTriu(SambaTraceValue *x, int64_t diagonal,
                                        SambaTraceValue *more_or_null);
SAMBA_EXPORT SambaTraceValue *sambaTril(SambaTraceValue *x, int64_t diagonal,
                                        SambaTraceValue *more_or_null);
SAMBA_EXPORT SambaTraceValue *sambaEinsum(const char *equation, uint32_t count,
                                          SambaTraceValue *const *tensors);

/* reduction: "mean", "sum" or "none". ignore_index NULL: none. */
SAMBA_EXPORT SambaTraceValue *sambaNllLoss(SambaTraceValue *x, SambaTraceValue *target,
                                           SambaTraceValue *weight_or_null,
                                           const int64_t *ignore_index, const char *reduction);
SAMBA_EXPORT SambaTraceValue *sambaCrossEntropy(SambaTraceValue *x, SambaTraceValue *target,
                                                SambaTraceValue *weight_or_null,
                                                const int64_t *ignore_index, const char *reduction);

SAMBA_EXPORT SambaTraceValue *sambaCat(uint32_t count, SambaTraceValue *const *tensors,
                                       int64_t dim);
SAMBA_EXPORT SambaTraceValue *sambaTake(SambaTraceValue *x, SambaTraceValue *indices, int64_t dim,
                                        int64_t batch_dims);
SAMBA_EXPORT SambaTraceValue *sambaGather(SambaTraceValue *x, int64_t dim, SambaTraceValue *index);
SAMBA_EXPORT SambaTraceValue *sambaGatherNd(SambaTraceValue *x, SambaTraceValue *indices,
                                            int64_t batch_dims);
/* reduce: NULL, "add", "mul", "min" or "max" */
SAMBA_EXPORT SambaTraceValue *sambaScatter(SambaTraceValue *x, int64_t dim, SambaTraceValue *index,
                                           SambaTraceValue *src, const char *reduce);
SAMBA_EXPORT SambaTraceValue *sambaScatterNd(SambaTraceValue *x, SambaTraceValue *indices,
                                             SambaTraceValue *updates, const char *reduce);

/* Resampling. NULL strings and lists: the operator's defaults. */
typedef struct SambaInterpolateOptions {
  const int64_t *size; /* one number per dimension */
  const double *scales, *roi;
  const char *mode, *coordinate_mode, *nearest_mode;
  double cubic_coeff_a, extrapolation_value;
  bool exclude_outside, antialias;
} SambaInterpolateOptions;
SAMBA_EXPORT SambaTraceValue *sambaInterpolate(SambaTraceValue *x,
                                               const SambaInterpolateOptions *options);
SAMBA_EXPORT SambaTraceValue *sambaPadBorder(SambaTraceValue *x, const int64_t *low,
                                             const int64_t *high, const char *mode);
typedef struct SambaRoiAlignOptions {
  int64_t size[2], sampling_ratio;
  double spatial_scale;
  const char *mode;
  bool aligned, adaptive;
} SambaRoiAlignOptions;
SAMBA_EXPORT SambaTraceValue *sambaRoiAlign(SambaTraceValue *x, SambaTraceValue *rois,
                                            SambaTraceValue *batch_indices,
                                            const SambaRoiAlignOptions *options);
/* Blocks summed into an image (col2im); window: kernel, stride, padding, dilation. */
SAMBA_EXPORT SambaTraceValue *sambaFold(SambaTraceValue *x, size_t spatial,
                                        const int64_t *output_size,
                                        const SambaWindowOptions *window);

/* Recurrent layers. Tensors that are NULL are left out; initial_c and peepholes are lstm's alone.
 * The formats are those of samba.lstm. False when an operand is missing or the call is refused; the
 * trace then holds the reason. */
typedef struct SambaRecurrentOptions {
  SambaTraceValue *weight, *recurrent, *bias, *lengths, *initial_h, *initial_c, *peepholes;
  const char *direction, *activations; /* NULL: the defaults */
  double clip;                         /* 0: none */
  bool batch_first, input_forget, linear_before_reset;
} SambaRecurrentOptions;
SAMBA_EXPORT bool sambaLstm(SambaTraceValue *x, const SambaRecurrentOptions *options,
                            SambaTraceValue *out_results[3]); /* y, h, c */
SAMBA_EXPORT bool sambaGru(SambaTraceValue *x, const SambaRecurrentOptions *options,
                           SambaTraceValue *out_results[2]);
SAMBA_EXPORT bool sambaRnn(SambaTraceValue *x, const SambaRecurrentOptions *options,
                           SambaTraceValue *out_results[2]);

/* Optimizers: the parameter and the states after one step. Hyperparameters are tensors of one
 * element; those that the operator's formula needs must be there. alpha and beta are also AdamW's
 * beta1 and beta2. */
typedef struct SambaUpdateOptions {
  SambaTraceValue *lr, *step, *alpha, *beta, *eps, *weight_decay, *post_decay, *lr_decay;
} SambaUpdateOptions;
SAMBA_EXPORT SambaTraceValue *sambaSgdUpdate(SambaTraceValue *parameter, SambaTraceValue *gradient,
                                             const SambaUpdateOptions *options);
SAMBA_EXPORT bool sambaMomentumUpdate(SambaTraceValue *parameter, SambaTraceValue *gradient,
                                      SambaTraceValue *velocity, const SambaUpdateOptions *options,
                                      bool nesterov, SambaTraceValue *out_results[2]);
SAMBA_EXPORT bool sambaAdagradUpdate(SambaTraceValue *parameter, SambaTraceValue *gradient,
                                     SambaTraceValue *squares, const SambaUpdateOptions *options,
                                     SambaTraceValue *out_results[2]);
SAMBA_EXPORT bool sambaAdamUpdate(SambaTraceValue *parameter, SambaTraceValue *gradient,
                                  SambaTraceValue *mean, SambaTraceValue *variance,
                                  const SambaUpdateOptions *options,
                                  SambaTraceValue *out_results[3]);

/* length 0: the dimension's size, or the window's */
SAMBA_EXPORT SambaTraceValue *sambaDft(SambaTraceValue *x, int64_t dim, int64_t length,
                                       bool inverse, bool onesided);
SAMBA_EXPORT SambaTraceValue *sambaStft(SambaTraceValue *x, SambaTraceValue *window_or_null,
                                        int64_t hop, int64_t length, bool onesided);

#ifdef __cplusplus
}
#endif

#endif
