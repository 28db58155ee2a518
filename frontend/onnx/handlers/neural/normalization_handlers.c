/* Handlers of ONNX normalizations. */
#include "frontend/onnx/handlers/handlers.h"

#include "support/file/tensor_file.h"

#include <float.h>

/* Whether the batch's own statistics are used: the attribute says it, between versions 7 and 13 the
 * outputs do. */
static bool isTraining(const SambaOnnxNode *node) {
  if (node->version >= 14)
    return sambaOnnxInt(node, "training_mode", 0) != 0;
  if (node->version < 7)
    return sambaOnnxInt(node, "is_test", 0) == 0;
  bool any = false;
  for (uint32_t i = 1; i < 5; ++i)
    any |= sambaOnnxOutputUsed(node, i);
  return any;
}

/* Without channels (rank 1) and with spatial = 0 every element of a sample has its own statistics.
 * Parameters of a third dtype enter as f32. */
SambaStatus sambaOnnxImportBatchNormalization(const SambaOnnxNode *node) {
  SambaTraceValue *x[5], *results[5];
  for (uint32_t i = 0; i < 5; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i, &x[i]));
  SambaTensorType type = x[0]->type;
  SambaTensorType parameter = x[1]->type;
  SambaDType statistics = x[3]->type.dtype;
  bool flat = type.rank == 1 || (node->version < 9 && !sambaOnnxInt(node, "spatial", 1));

  if (type.rank == 0)
    return sambaStatusMake(SAMBA_INVALID, "input 0 has rank 0, but must have a batch dimension");
  if (flat) {
    x[0] = sambaReshape(x[0], 2, (int64_t[]){type.dims[0], -1});
    for (uint32_t i = 1; i < 5; ++i)
      x[i] = sambaFlatten(x[i], 0, -1);
  }

  for (uint32_t i = 1; i < 5; ++i)
    if (x[i] && sambaDTypeIsFloat(x[i]->type.dtype) && x[i]->type.dtype != type.dtype)
      x[i] = sambaCast(x[i], SAMBA_DTYPE_F32);
  double epsilon = sambaOnnxFloat(node, "epsilon", 1e-5);
  if (!isTraining(node)) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxRefuseOutputs(node, 1));
    SambaTraceValue *y = sambaBatchNorm(x[0], x[1], x[2], x[3], x[4], epsilon);
    return sambaOnnxSetTensor(node, 0, flat ? sambaReshape(y, type.rank, type.dims) : y);
  }

  sambaBatchNormTraining(x[0], x[1], x[2], x[3], x[4], epsilon,
                         sambaOnnxFloat(node, "momentum", 0.9), results);
  for (uint32_t i = 0; i < 5; ++i) {
    const SambaTensorType *shape = i == 0 ? &type : &parameter;
    SambaTraceValue *result =
        flat ? sambaReshape(results[i], shape->rank, shape->dims) : results[i];
    SAMBA_RETURN_IF_ERROR(
        sambaOnnxSetTensor(node, i, i == 0 ? result : sambaCast(result, statistics)));
  }

  return NULL;
}

/* A parameter in exactly this shape. */
static SambaTraceValue *fitted(SambaTraceValue *parameter, uint32_t rank, const int64_t *dims) {
  bool same =
      parameter->type.rank == rank && memcmp(parameter->type.dims, dims, rank * sizeof *dims) == 0;
  return same ? parameter : sambaExpand(parameter, rank, dims);
}

SambaStatus sambaOnnxImportLayerNormalization(const SambaOnnxNode *node) {
  SambaTraceValue *x, *scale, *bias = NULL, *results[3];
  uint32_t axis;
  int64_t stash = sambaOnnxInt(node, "stash_type", 1);
  SambaDType statistics = sambaOnnxDType(node->importer, stash);

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &scale));
  if (sambaOnnxHasInput(node, 2))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &bias));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", -1), x->type.rank, &axis));
  if (statistics == SAMBA_DTYPE_COUNT || !sambaDTypeIsFloat(statistics))
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "stash_type %lld is not supported; FLOAT, FLOAT16 and BFLOAT16 are",
                           (long long)stash);
  uint32_t count = x->type.rank - axis;
  double epsilon = sambaOnnxFloat(node, "epsilon", 1e-5);
  scale = fitted(scale, count, &x->type.dims[axis]);
  if (bias)
    bias = fitted(bias, count, &x->type.dims[axis]);
  if (!sambaOnnxOutputUsed(node, 1) && !sambaOnnxOutputUsed(node, 2))
    return sambaOnnxSetTensor(node, 0, sambaLayerNorm(x, count, scale, bias, epsilon));
  sambaNativeLayerNorm(x, count, scale, bias, epsilon, statistics, results);
  for (uint32_t i = 0; i < 3; ++i)
    SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, i, results[i]));
  return NULL;
}

/* The result has the scale's dtype; where that is not the input's, both are f32 until the end. */
SambaStatus sambaOnnxImportRmsNormalization(const SambaOnnxNode *node) {
  SambaTraceValue *x, *scale;
  uint32_t axis;

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &scale));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", -1), x->type.rank, &axis));
  SambaDType dtype = scale->type.dtype;
  uint32_t count = x->type.rank - axis;
  scale = fitted(scale, count, &x->type.dims[axis]);
  if (x->type.dtype != dtype) {
    x = sambaCast(x, SAMBA_DTYPE_F32);
    scale = sambaCast(scale, SAMBA_DTYPE_F32);
  }

  SambaTraceValue *y = sambaRmsNorm(x, count, scale, sambaOnnxFloat(node, "epsilon", 1e-5));
  return sambaOnnxSetTensor(node, 0, sambaCast(y, dtype));
}

SambaStatus sambaOnnxImportInstanceNormalization(const SambaOnnxNode *node) {
  SambaTraceValue *x, *scale, *bias;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &scale));
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &bias));
  if (x->type.rank < 2)
    return sambaStatusMake(SAMBA_INVALID,
                           "input 0 has rank %u, but must have a batch and a channel dimension",
                           x->type.rank);
  return sambaOnnxSetTensor(
      node, 0,
      sambaGroupNorm(x, x->type.dims[1], scale, bias, sambaOnnxFloat(node, "epsilon", 1e-5)));
}

/* Before opset 21 scale and bias are per group. */
SambaStatus sambaOnnxImportGroupNormalization(const SambaOnnxNode *node) {
  SambaTraceValue *x, *parameters[2];
  int64_t groups = sambaOnnxInt(node, "num_groups", 0);

  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  for (uint32_t i = 0; i < 2; ++i) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, i + 1, &parameters[i]));
    int64_t channels = x->type.rank > 1 ? x->type.dims[1] : 0;
    int64_t size = parameters[i]->type.rank == 1 ? parameters[i]->type.dims[0] : 0;
    if (groups < 1 || !channels || channels % groups)
      return sambaStatusMake(SAMBA_INVALID, "%lld groups do not divide %lld channels",
                             (long long)groups, (long long)channels);
    if (node->version < 21 && size == groups) {
      SambaTraceValue *column = sambaReshape(parameters[i], 2, (int64_t[]){groups, 1});
      parameters[i] = sambaReshape(sambaExpand(column, 2, (int64_t[]){groups, channels / groups}),
                                   1, &channels);
    }
  }

  return sambaOnnxSetTensor(node, 0,
                            sambaGroupNorm(x, groups, parameters[0], parameters[1],
                                           sambaOnnxFloat(node, "epsilon", 1e-5)));
}

SambaStatus sambaOnnxImportMeanVarianceNormalization(const SambaOnnxNode *node) {
  static const int64_t usual[] = {0, 2, 3};
  static const int64_t all[] = {0, 1, 2, 3};
  SambaTraceValue *x;
  const int64_t *axes;
  size_t count;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  if (!sambaOnnxInts(node, "axes", &axes, &count))
    axes = usual, count = 3;
  if (node->version < 9 && sambaOnnxInt(node, "across_channels", 0))
    axes = all, count = 4;
  if (node->version < 9 && !sambaOnnxInt(node, "normalize_variance", 1))
    return sambaOnnxSetTensor(node, 0, sambaSub(x, sambaMean(x, count, axes, true)));
  return sambaOnnxSetTensor(node, 0, sambaMeanVarianceNorm(x, count, axes, 1e-9));
}

/* A vector of zeros stays one: the norm is never less than the smallest normal number. */
SambaStatus sambaOnnxImportLpNormalization(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  return sambaOnnxSetTensor(node, 0,
                            sambaNormalize(x, (double)sambaOnnxInt(node, "p", 2),
                                           sambaOnnxInt(node, "axis", -1), (double)FLT_MIN));
}

/* An even window reaches one channel further behind the element than before it. */
SambaStatus sambaOnnxImportLrn(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  int64_t size = sambaOnnxInt(node, "size", 0);
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  return sambaOnnxSetTensor(node, 0,
                            sambaLocalResponseNorm(x, size, sambaOnnxFloat(node, "alpha", 1e-4),
                                                   sambaOnnxFloat(node, "beta", 0.75),
                                                   sambaOnnxFloat(node, "bias", 1),
                                                   (size - 1) / 2));
}
