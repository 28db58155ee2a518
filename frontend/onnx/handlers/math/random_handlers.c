/* Handlers of random operators and of Dropout. A seed that the model leaves out is the node's
 * position, so that a model gives the same numbers whenever it runs and different nodes give
 * different ones. */
#include "frontend/onnx/handlers/handlers.h"

#include "support/file/tensor_file.h"

/* The bits of a float, or the number of an integer; rank 0. */
static SambaTraceValue *seedOf(const SambaOnnxNode *node) {
  const Onnx__AttributeProto *attribute = sambaOnnxAttribute(node, "seed");
  double seed = (double)node->index + 1;
  if (attribute && attribute->has_f) {
    uint32_t bits;
    memcpy(&bits, &attribute->f, sizeof bits);
    seed = (double)bits;
  } else if (attribute && attribute->has_i) {
    uint64_t bits = (uint64_t)attribute->i;
    seed = (double)(uint32_t)(bits ^ bits >> 32);
  }
  return sambaTraceScalar(node->trace, SAMBA_DTYPE_I64, seed);
}

/* Attribute dtype, or what stands for it. */
static SambaStatus dtypeOf(const SambaOnnxNode *node, SambaDType otherwise, SambaDType *out_dtype) {
  int64_t type = sambaOnnxInt(node, "dtype", 0);
  *out_dtype = type ? sambaOnnxDType(node->importer, type) : otherwise;
  if (*out_dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "dtype %s is not supported", sambaOnnxTypeName(type));
  return NULL;
}

/* RandomUniform, RandomNormal and their Like forms. */
SambaStatus sambaOnnxImportRandom(const SambaOnnxNode *node) {
  const char *name = node->proto->op_type;
  int64_t dims[SAMBA_MAX_RANK];
  uint32_t rank;
  SambaDType dtype = SAMBA_DTYPE_F32;

  if (node->input_count) {
    SambaTraceValue *like;
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
    if (!sambaOnnxAttribute(node, "dtype")) {
      SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &like));
      dtype = like->type.dtype;
    }
  } else {
    const int64_t *shape;
    size_t size;
    if (!sambaOnnxInts(node, "shape", &shape, &size) || size > SAMBA_MAX_RANK)
      return sambaStatusMake(SAMBA_INVALID,
                             "attribute 'shape' is missing or has more than %d numbers",
                             SAMBA_MAX_RANK);
    rank = (uint32_t)size;
    if (size)
      memcpy(dims, shape, size * sizeof *dims);
  }

  SAMBA_RETURN_IF_ERROR(dtypeOf(node, dtype, &dtype));
  if (strncmp(name, "RandomNormal", 12) == 0)
    return sambaOnnxSetTensor(node, 0,
                              sambaNormal(seedOf(node), rank, dims, sambaOnnxFloat(node, "mean", 0),
                                          sambaOnnxFloat(node, "scale", 1), dtype));
  return sambaOnnxSetTensor(node, 0,
                            sambaUniform(seedOf(node), rank, dims, sambaOnnxFloat(node, "low", 0),
                                         sambaOnnxFloat(node, "high", 1), dtype));
}

SambaStatus sambaOnnxImportBernoulli(const SambaOnnxNode *node) {
  SambaTraceValue *p;
  SambaDType dtype;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &p));
  SAMBA_RETURN_IF_ERROR(dtypeOf(node, p->type.dtype, &dtype));
  return sambaOnnxSetTensor(node, 0, sambaBernoulli(p, seedOf(node), dtype));
}

/* The input holds logarithms of weights. */
SambaStatus sambaOnnxImportMultinomial(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SambaDType dtype;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(dtypeOf(node, SAMBA_DTYPE_I32, &dtype));
  SambaTraceValue *weights = sambaSoftmax(sambaCast(x, SAMBA_DTYPE_F32), -1);
  return sambaOnnxSetTensor(
      node, 0,
      sambaMultinomial(weights, seedOf(node), sambaOnnxInt(node, "sample_size", 1), dtype));
}

/* ---- Dropout ---- */

/* One number of any shape as rank 0. */
static SambaTraceValue *asScalar(SambaTraceValue *x) {
  return x && x->type.rank ? sambaReshape(x, 0, NULL) : x;
}

static SambaStatus inactive(const SambaOnnxNode *node, const SambaTensorType *type,
                            SambaDType mask_dtype) {
  if (sambaOnnxOutputUsed(node, 1)) {
    SambaTensorType mask = *type;
    mask.dtype = SAMBA_DTYPE_I1;
    SambaTraceValue *ones = sambaTraceConstant(node->trace, &mask, &(uint8_t){1}, true);
    SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, 1, sambaCast(ones, mask_dtype)));
  }
  return sambaOnnxSetSame(node, 0, 0);
}

/* Training is asked for by is_test = 0 (before opset 7) or input 2 (from opset 12), else it is
 * inference: the output is the input, the mask all true. Before opset 10 the mask has the input's
 * dtype. */
SambaStatus sambaOnnxImportDropout(const SambaOnnxNode *node) {
  SambaTraceValue *x, *ratio, *training = NULL, *y, *mask;
  const SambaConstant *mode = node->version < 12 ? NULL : sambaOnnxConstant(node, 2);
  bool active = node->version < 7 ? sambaOnnxInt(node, "is_test", 0) == 0
                                  : mode && mode->count == 1 && mode->data[0].i;
  SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 0, &x));
  SambaDType mask_dtype = node->version < 10 ? x->type.dtype : SAMBA_DTYPE_I1;

  if (node->version >= 12 && sambaOnnxHasInput(node, 2) && !mode) {
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &training));
    active = true;
  }

  if (!active)
    return inactive(node, &x->type, mask_dtype);
  if (node->version >= 12 && sambaOnnxHasInput(node, 1))
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 1, &ratio));
  else
    ratio = sambaTraceScalar(node->trace, SAMBA_DTYPE_F32, sambaOnnxFloat(node, "ratio", 0.5));
  if (!sambaDropout(x, asScalar(ratio), seedOf(node), &y, &mask))
    return sambaOnnxSetTensor(node, 0, NULL);
  if (training) {
    training = asScalar(training);
    y = sambaWhere(training, y, x);
    mask = sambaLogicalOr(mask, sambaLogicalNot(training));
  }

  SAMBA_RETURN_IF_ERROR(sambaOnnxSetTensor(node, 1, sambaCast(mask, mask_dtype)));
  return sambaOnnxSetTensor(node, 0, y);
}
