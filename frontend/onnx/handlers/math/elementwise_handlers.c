/* Handlers of elementwise ONNX operators. */
#include "dialect/samba/table/registry/registry.h"
#include "frontend/onnx/handlers/handlers.h"

#include <float.h>
#include <math.h>

static SambaStatus input(const SambaOnnxNode *node, uint32_t index, SambaTraceValue **out) {
  return sambaOnnxTensor(node, index, out);
}

/* Of whole numbers: f32 in every precision, toward zero. */
SambaStatus sambaOnnxImportErf(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  SambaDType dtype = x->type.dtype;
  bool whole = !sambaDTypeIsFloat(dtype) && dtype != SAMBA_DTYPE_I1;
  sambaTraceKeepPrecision(node->trace, whole);
  x = sambaCast(sambaErf(whole ? sambaCast(x, SAMBA_DTYPE_F32) : x), dtype);
  sambaTraceKeepPrecision(node->trace, false);
  return sambaOnnxSetTensor(node, 0, x);
}

/* Both operands of an arithmetic or comparing node. Before opset 7 attribute `axis` says where the
 * second one's dimensions lie in the first one's; without it they are the last ones, as later. */
static SambaStatus inputPair(const SambaOnnxNode *node, SambaTraceValue **out_a,
                             SambaTraceValue **out_b) {
  SAMBA_RETURN_IF_ERROR(input(node, 0, out_a));
  SAMBA_RETURN_IF_ERROR(input(node, 1, out_b));
  SambaTensorType *a = &(*out_a)->type;
  SambaTensorType *b = &(*out_b)->type;

  if (node->version >= 7 || !sambaOnnxAttribute(node, "axis"))
    return NULL;
  int64_t dims[SAMBA_MAX_RANK];
  int64_t axis = sambaOnnxInt(node, "axis", 0);
  axis = axis < 0 ? axis + a->rank : axis;
  if (axis < 0 || axis + b->rank > a->rank)
    return sambaStatusMake(SAMBA_INVALID,
                           "input 1 of rank %u at axis %lld does not lie within input 0 of rank %u",
                           b->rank, (long long)axis, a->rank);
  uint32_t rank = a->rank - (uint32_t)axis;
  for (uint32_t d = 0; d < rank; ++d)
    dims[d] = d < b->rank ? b->dims[d] : 1;
  *out_b = sambaReshape(*out_b, rank, dims);

  return NULL;
}

static const SambaOnnxForm *formOf(const SambaOnnxNode *node, const SambaOperator *operator) {
  const SambaOnnxForm *form = operator->onnx;
  while (strcmp(form->name, node->proto->op_type) != 0 ||
         (form->last && node->version > form->last))
    ++form;
  return form;
}

/* The attribute's value in the node, or ONNX's default. */
static double attributeOf(const SambaOnnxNode *node, const SambaOnnxForm *form,
                          const SambaAttributeRow *row) {
  size_t most = sizeof form->attributes / sizeof *form->attributes;
  for (size_t i = 0; i < most && form->attributes[i].attribute; ++i) {
    const SambaOnnxAttribute *attribute = &form->attributes[i];
    if (strcmp(attribute->attribute, row->name) != 0)
      continue;
    double otherwise = attribute->differs ? attribute->otherwise : row->otherwise.real;
    return attribute->onnx ? sambaOnnxFloat(node, attribute->onnx, otherwise) : otherwise;
  }
  return sambaOnnxFloat(node, row->name, row->otherwise.real);
}

/* An ONNX operator that is one of ours, by that one's row. */
SambaStatus sambaOnnxImportOperator(const SambaOnnxNode *node) {
  const char *name = node->row->samba;
  const SambaOperator *operator = sambaOperatorFind(sambaStringRef(name));
  const SambaOnnxForm *form = formOf(node, operator);
  SambaTraceValue *x[2];
  SambaAttribute attributes[sizeof operator->attributes / sizeof *operator->attributes];
  uint32_t operands = sambaOperatorMostOperands(operator), count = 0;

  if (operands == 2)
    SAMBA_RETURN_IF_ERROR(inputPair(node, &x[0], &x[1]));
  else
    SAMBA_RETURN_IF_ERROR(input(node, 0, &x[0]));
  for (const SambaAttributeRow *row = operator->attributes; row->name; ++row)
    attributes[count++] = sambaFloatAttribute(row->name, attributeOf(node, form, row));

  return sambaOnnxSetTensor(node, 0,
                            sambaTraceBuild(name, operands, operands, x, count, attributes));
}

SambaStatus sambaOnnxImportBitShift(const SambaOnnxNode *node) {
  SambaTraceValue *x, *amount;
  SAMBA_RETURN_IF_ERROR(inputPair(node, &x, &amount));
  bool left = sambaOnnxStringIs(node, "direction", "LEFT", false);
  if (!left && !sambaOnnxStringIs(node, "direction", "RIGHT", false))
    return sambaStatusMake(SAMBA_INVALID, "attribute 'direction' must be LEFT or RIGHT");
  return sambaOnnxSetTensor(
      node, 0, left ? sambaBitwiseLeftShift(x, amount) : sambaBitwiseRightShift(x, amount));
}

/* In one dtype wide enough for both; the result has the base's. */
static SambaTraceValue *powIn(SambaDType dtype, SambaTraceValue *x, SambaTraceValue *y) {
  return x && y ? sambaCast(sambaPow(sambaCast(x, dtype), sambaCast(y, dtype)), x->type.dtype)
                : NULL;
}

/* Known small exponents become what frameworks compute for them. Powers of integers by whole
 * numbers are exact; by others they are those of f32, toward zero. */
SambaStatus sambaOnnxImportPow(const SambaOnnxNode *node) {
  SambaTraceValue *x, *y;
  const SambaConstant *exponent = sambaOnnxConstant(node, 1);

  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  bool is_float = sambaDTypeIsFloat(x->type.dtype);
  if (exponent && exponent->count == 1 && exponent->rank <= x->type.rank) {
    double value = sambaConstantReal(exponent, 0);
    if (value == 1)
      return sambaOnnxSetTensor(node, 0, x);
    if (value == 2)
      return sambaOnnxSetTensor(node, 0, sambaMul(x, x));
    if (value == 3 && (!is_float || x->type.dtype == SAMBA_DTYPE_F32))
      return sambaOnnxSetTensor(node, 0, sambaMul(sambaMul(x, x), x));
    if (value == 0.5 && is_float)
      return sambaOnnxSetTensor(node, 0, sambaSqrt(x));
    if (!is_float && exponent->is_float && value == floor(value) &&
        fabs(value) < 9007199254740992.0)
      return sambaOnnxSetTensor(
          node, 0,
          powIn(SAMBA_DTYPE_I64, x, sambaTraceScalar(node->trace, SAMBA_DTYPE_I64, value)));
  }

  SAMBA_RETURN_IF_ERROR(inputPair(node, &x, &y));
  if (!y)
    return sambaOnnxSetTensor(node, 0, NULL);
  if (x->type.dtype == y->type.dtype)
    return sambaOnnxSetTensor(node, 0, sambaPow(x, y));
  sambaTraceKeepPrecision(node->trace, !is_float);
  SambaTraceValue *real = powIn(SAMBA_DTYPE_F32, x, y);
  sambaTraceKeepPrecision(node->trace, false);
  if (is_float)
    return sambaOnnxSetTensor(node, 0, real);
  if (!sambaDTypeIsFloat(y->type.dtype))
    return sambaOnnxSetTensor(node, 0,
                              powIn(sambaPromoteDTypes(x->type.dtype, y->type.dtype), x, y));
  SambaTraceValue *whole = powIn(SAMBA_DTYPE_I64, x, y);

  return sambaOnnxSetTensor(node, 0, sambaWhere(sambaEq(y, sambaFloor(y)), whole, real));
}

SambaStatus sambaOnnxImportMod(const SambaOnnxNode *node) {
  SambaTraceValue *x, *y;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(input(node, 1, &y));
  return sambaOnnxSetTensor(node, 0,
                            sambaOnnxInt(node, "fmod", 0) ? sambaFmod(x, y) : sambaRemainder(x, y));
}

/* Min, Max, Sum, Mean of any number of operands; sums are f32 until the end. */
SambaStatus sambaOnnxImportVariadic(const SambaOnnxNode *node) {
  const char *samba = node->row->samba;
  SambaTraceValue *result, *next;

  SAMBA_RETURN_IF_ERROR(input(node, 0, &result));
  SambaDType dtype = result->type.dtype;
  bool wide = strcmp(samba, "add") == 0 && sambaDTypeIsFloat(dtype) && node->input_count > 1;
  result = wide ? sambaCast(result, SAMBA_DTYPE_F32) : result;

  for (uint32_t i = 1; i < node->input_count && result; ++i) {
    SAMBA_RETURN_IF_ERROR(input(node, i, &next));
    SambaTraceValue *pair[] = {result, wide ? sambaCast(next, SAMBA_DTYPE_F32) : next};
    result = pair[1] ? sambaTraceCall(node->trace, samba, 2, pair, 0, NULL) : NULL;
  }

  if (result && strcmp(node->proto->op_type, "Mean") == 0)
    result = sambaDiv(result,
                      sambaTraceScalar(node->trace, result->type.dtype, (double)node->input_count));
  return sambaOnnxSetTensor(node, 0, sambaCast(result, dtype));
}

/* Bounds are attributes before opset 11, by default the largest finite numbers; then inputs. A
 * bound that is known is an attribute of clamp where that holds it, all others become maximum and
 * minimum. */
SambaStatus sambaOnnxImportClip(const SambaOnnxNode *node) {
  static const char *const names[] = {"min", "max"};
  SambaTraceValue *x;
  SambaTraceValue *bounds[2] = {NULL, NULL};
  double values[2];
  const double *known[2] = {NULL, NULL};

  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  for (uint32_t i = 0; i < 2; ++i) {
    const SambaConstant *constant = sambaOnnxConstant(node, i + 1);
    if (node->version < 11)
      values[i] = sambaOnnxFloat(node, names[i], i ? (double)FLT_MAX : -(double)FLT_MAX),
      known[i] = &values[i];
    else if (constant && constant->count == 1 &&
             fabs(sambaConstantReal(constant, 0)) <= 9007199254740992.0)
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
  SambaTraceValue *c, *a, *b;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &c));
  SAMBA_RETURN_IF_ERROR(input(node, 1, &a));
  SAMBA_RETURN_IF_ERROR(input(node, 2, &b));
  return sambaOnnxSetTensor(node, 0, sambaWhere(c, a, b));
}

SambaStatus sambaOnnxImportGelu(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  return sambaOnnxSetTensor(node, 0,
                            sambaOnnxStringIs(node, "approximate", "tanh", false) ? sambaGeluTanh(x)
                                                                                  : sambaGelu(x));
}

static SambaTraceValue *scalar(const SambaTraceValue *like, double value) {
  return sambaTraceScalar(like->trace, like->type.dtype, value);
}

SambaStatus sambaOnnxImportSwish(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  double alpha = sambaOnnxFloat(node, "alpha", 1);
  if (alpha == 1)
    return sambaOnnxSetTensor(node, 0, sambaSilu(x));
  return sambaOnnxSetTensor(node, 0, sambaMul(x, sambaSigmoid(sambaMul(x, scalar(x, alpha)))));
}

/* The slope broadcasts as a numpy operand; before opset 7 it has one number, or one per channel. */
SambaStatus sambaOnnxImportPRelu(const SambaOnnxNode *node) {
  SambaTraceValue *x, *slope;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  SAMBA_RETURN_IF_ERROR(input(node, 1, &slope));
  if (node->version < 7 && slope->type.rank == 1 && slope->type.dims[0] > 1 && x->type.rank > 1) {
    int64_t dims[SAMBA_MAX_RANK] = {slope->type.dims[0], 1, 1, 1, 1, 1, 1, 1};
    slope = sambaReshape(slope, x->type.rank - 1, dims);
  }
  return sambaOnnxSetTensor(node, 0, sambaPrelu(x, slope));
}

SambaStatus sambaOnnxImportIdentity(const SambaOnnxNode *node) {
  return sambaOnnxSetSame(node, 0, 0);
}

SambaStatus sambaOnnxImportIsNan(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  return sambaOnnxSetTensor(node, 0, sambaNe(x, x));
}

SambaStatus sambaOnnxImportIsInf(const SambaOnnxNode *node) {
  SambaTraceValue *x;
  SAMBA_RETURN_IF_ERROR(input(node, 0, &x));
  x = sambaDTypeIsFloat(x->type.dtype)
          ? x
          : sambaCast(x, SAMBA_DTYPE_F32); /* integers that the model has as f64 */
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
