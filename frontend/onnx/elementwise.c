/* Handlers of elementwise ONNX operators. */
#include "frontend/onnx/importer.h"

#include "support/tensor_file.h"

#include <math.h>

static SambaStatus input(const SambaOnnxNode *node, uint32_t index, SambaTensor **out) {
  return sambaOnnxTensor(node, index, out);
}

SambaStatus sambaOnnxImportUnary(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  return sambaOnnxSetTensor(node, 0,
                            sambaTraceCall(node->importer->trace, sambaOnnxRowOf(node)->samba, 1, &x, 0, NULL));
}

SambaStatus sambaOnnxImportNot(const SambaOnnxNode *node) { return sambaOnnxImportUnary(node); }

/* LeakyRelu, Elu, HardSigmoid, with ONNX's defaults. */
SambaStatus sambaOnnxImportParametric(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  const char *name = node->proto->op_type;
  if (strcmp(name, "LeakyRelu") == 0)
    return sambaOnnxSetTensor(node, 0, sambaLeakyRelu(x, sambaOnnxFloat(node, "alpha", 0.01)));
  if (strcmp(name, "Elu") == 0)
    return sambaOnnxSetTensor(node, 0, sambaElu(x, sambaOnnxFloat(node, "alpha", 1)));
  return sambaOnnxSetTensor(node, 0,
                            sambaHardsigmoid(x, sambaOnnxFloat(node, "alpha", 0.2), sambaOnnxFloat(node, "beta", 0.5)));
}

SambaStatus sambaOnnxImportBinary(const SambaOnnxNode *node) {
  SambaTensor *x[2];
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x[0]));
  SAMBA_RETURN_IF_ERROR(input(node, 1, &x[1]));
  return sambaOnnxSetTensor(node, 0, sambaTraceCall(node->importer->trace, sambaOnnxRowOf(node)->samba, 2, x, 0, NULL));
}

/* Known small exponents become what frameworks compute for them. Integers are computed in f32. */
SambaStatus sambaOnnxImportPow(const SambaOnnxNode *node) {
  SambaTensor *x, *y;
  const SambaConstant *exponent = sambaOnnxConstant(node, 1);
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  if (exponent && exponent->count == 1 && exponent->rank <= x->type.rank) {
    double value = sambaConstantReal(exponent, 0);
    if (value == 1)
      return sambaOnnxSetTensor(node, 0, x);
    if (value == 2)
      return sambaOnnxSetTensor(node, 0, sambaMul(x, x));
    if (value == 3)
      return sambaOnnxSetTensor(node, 0, sambaMul(sambaMul(x, x), x));
    if (value == 0.5 && sambaDTypeIsFloat(x->type.dtype))
      return sambaOnnxSetTensor(node, 0, sambaSqrt(x));
  }
  SAMBA_RETURN_IF_ERROR(input(node, 1, &y));
  SambaDType dtype = sambaDTypeIsFloat(x->type.dtype) ? x->type.dtype : SAMBA_DTYPE_F32;
  return sambaOnnxSetTensor(node, 0, sambaCast(sambaPow(sambaCast(x, dtype), sambaCast(y, dtype)), x->type.dtype));
}

SambaStatus sambaOnnxImportMod(const SambaOnnxNode *node) {
  SambaTensor *x, *y;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(input(node, 1, &y));
  return sambaOnnxSetTensor(node, 0, sambaOnnxInt(node, "fmod", 0) ? sambaFmod(x, y) : sambaRemainder(x, y));
}

/* Min, Max, Sum, Mean of any number of operands. */
SambaStatus sambaOnnxImportVariadic(const SambaOnnxNode *node) {
  SambaTensor *sum, *next;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &sum));
  for (uint32_t i = 1; i < node->input_count && sum; ++i) {
    SAMBA_RETURN_IF_ERROR(input(node, i, &next));
    SambaTensor *pair[] = {sum, next};
    sum = sambaTraceCall(node->importer->trace, sambaOnnxRowOf(node)->samba, 2, pair, 0, NULL);
  }
  if (sum && strcmp(node->proto->op_type, "Mean") == 0)
    sum = sambaDiv(sum, sambaTraceScalar(node->importer->trace, sum->type.dtype, (double)node->input_count));
  return sambaOnnxSetTensor(node, 0, sum);
}

/* Bounds are attributes before opset 11, then inputs; unknown ones become maximum and minimum. */
SambaStatus sambaOnnxImportClip(const SambaOnnxNode *node) {
  static const char *const names[] = {"min", "max"};
  SambaTensor *x, *bounds[2] = {NULL, NULL};
  double values[2];
  const double *known[2] = {NULL, NULL};
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  for (uint32_t i = 0; i < 2; ++i) {
    const SambaConstant *constant = sambaOnnxConstant(node, i + 1);
    const Onnx__AttributeProto *attribute = node->version < 11 ? sambaOnnxAttribute(node, names[i]) : NULL;
    if (attribute)
      values[i] = (double)attribute->f, known[i] = &values[i];
    else if (constant && constant->count == 1 && sambaConstantReal(constant, 0) == sambaConstantReal(constant, 0))
      values[i] = sambaConstantReal(constant, 0), known[i] = &values[i];
    else if (sambaOnnxHasInput(node, i + 1))
      SAMBA_RETURN_IF_ERROR(input(node, i + 1, &bounds[i]));
  }
  if (bounds[0])
    x = sambaMaximum(x, bounds[0]);
  if (known[0] || (known[1] && !bounds[0]))
    x = sambaClamp(x, known[0], bounds[1] ? NULL : known[1]);
  else if (known[1])
    x = sambaClamp(x, NULL, known[1]);
  if (bounds[1])
    x = sambaMinimum(x, bounds[1]);
  return sambaOnnxSetTensor(node, 0, x);
}

SambaStatus sambaOnnxImportWhere(const SambaOnnxNode *node) {
  SambaTensor *c, *a, *b;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &c));
  SAMBA_RETURN_IF_ERROR(input(node, 1, &a));
  SAMBA_RETURN_IF_ERROR(input(node, 2, &b));
  return sambaOnnxSetTensor(node, 0, sambaWhere(c, a, b));
}

SambaStatus sambaOnnxImportCast(const SambaOnnxNode *node) {
  SambaTensor *x, *like;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  if (strcmp(node->proto->op_type, "CastLike") == 0) {
    SAMBA_RETURN_IF_ERROR(input(node, 1, &like));
    return sambaOnnxSetTensor(node, 0, sambaCast(x, like->type.dtype));
  }
  int64_t to = sambaOnnxInt(node, "to", 0);
  SambaDType dtype = sambaDTypeOfOnnx(to);
  if (dtype == SAMBA_DTYPE_COUNT)
    return sambaStatusMake(
        SAMBA_UNSUPPORTED,
        "cast to %s is not supported; the types are f32, f16, bf16, bool, int8, uint8, int16, int32, int64",
        sambaOnnxTypeName(to));
  return sambaOnnxSetTensor(node, 0, sambaCast(x, dtype));
}

SambaStatus sambaOnnxImportGelu(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  return sambaOnnxSetTensor(node, 0,
                            sambaOnnxStringIs(node, "approximate", "tanh", false) ? sambaGeluTanh(x) : sambaGelu(x));
}

static SambaTensor *scalar(const SambaTensor *like, double value) {
  return sambaTraceScalar(like->trace, like->type.dtype, value);
}

/* x < 0 ? slope * x : x; the slope is broadcast as a numpy operand. */
SambaStatus sambaOnnxImportPRelu(const SambaOnnxNode *node) {
  SambaTensor *x, *slope;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(input(node, 1, &slope));
  return sambaOnnxSetTensor(node, 0, sambaWhere(sambaLt(x, scalar(x, 0)), sambaMul(x, slope), x));
}

SambaStatus sambaOnnxImportSoftsign(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  return sambaOnnxSetTensor(node, 0, sambaDiv(x, sambaAdd(sambaAbs(x), scalar(x, 1))));
}

SambaStatus sambaOnnxImportSelu(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  double alpha = sambaOnnxFloat(node, "alpha", 1.67326319217681884765625),
         gamma = sambaOnnxFloat(node, "gamma", 1.05070102214813232421875);
  return sambaOnnxSetTensor(node, 0, sambaMul(sambaElu(x, alpha), scalar(x, gamma)));
}

/* max(0, x) + min(0, alpha * (exp(x / alpha) - 1)) = alpha * elu(x / alpha) */
SambaStatus sambaOnnxImportCelu(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  SambaTensor *alpha = scalar(x, sambaOnnxFloat(node, "alpha", 1));
  return sambaOnnxSetTensor(node, 0, sambaMul(sambaElu(sambaDiv(x, alpha), 1), alpha));
}

SambaStatus sambaOnnxImportMish(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  return sambaOnnxSetTensor(node, 0, sambaMul(x, sambaTanh(sambaSoftplus(x))));
}

SambaStatus sambaOnnxImportThresholdedRelu(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  return sambaOnnxSetTensor(node, 0,
                            sambaWhere(sambaGt(x, scalar(x, sambaOnnxFloat(node, "alpha", 1))), x, scalar(x, 0)));
}

SambaStatus sambaOnnxImportIdentity(const SambaOnnxNode *node) { return sambaOnnxSetSame(node, 0, 0); }

/* In inference the first output is the input, the mask all true. */
SambaStatus sambaOnnxImportDropout(const SambaOnnxNode *node) {
  const SambaConstant *training = sambaOnnxConstant(node, 2);
  if (sambaOnnxHasInput(node, 2) && (!training || training->count != 1 || training->data[0].i))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "training mode is not supported; export the model for inference");
  if (sambaOnnxOutputUsed(node, 1)) {
    uint32_t rank;
    int64_t dims[SAMBA_MAX_RANK];
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
    SambaTensorType type = {.dtype = SAMBA_DTYPE_I1, .rank = rank};
    memcpy(type.dims, dims, sizeof type.dims);
    SAMBA_RETURN_IF_ERROR(
        sambaOnnxSetTensor(node, 1, sambaTraceConstant(node->importer->trace, &type, &(uint8_t){1}, true)));
  }
  return sambaOnnxSetSame(node, 0, 0);
}

SambaStatus sambaOnnxImportIsNan(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  return sambaOnnxSetTensor(node, 0, sambaNe(x, x));
}

SambaStatus sambaOnnxImportIsInf(const SambaOnnxNode *node) {
  SambaTensor *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  bool negative = sambaOnnxInt(node, "detect_negative", 1) != 0,
       positive = sambaOnnxInt(node, "detect_positive", 1) != 0;
  if (negative && positive)
    return sambaOnnxSetTensor(node, 0, sambaEq(sambaAbs(x), scalar(x, INFINITY)));
  if (negative || positive)
    return sambaOnnxSetTensor(node, 0, sambaEq(x, scalar(x, negative ? -INFINITY : INFINITY)));
  SambaTensorType type = x->type; /* neither is asked for */
  type.dtype = SAMBA_DTYPE_I1;
  return sambaOnnxSetTensor(node, 0, sambaTraceConstant(x->trace, &type, &(uint8_t){0}, true));
}
