/* Tensors without elements. Operators never see them: here they fold away.
 *
 * A value without elements is a constant of the importer, whatever it comes from. A node's results
 * are known when the model declares them to have no elements, or when the rules below say so for an
 * input that has none; contractions and reductions over nothing give their neutral element. What
 * has no rule ends in the operator's own refusal. */
#include "frontend/onnx/core/shape_rules.h"
#include "frontend/onnx/dynamic/dynamic.h"
#include "support/file/tensor_file.h"
#include "support/number/shape.h"

#include <math.h>

static bool isEmpty(const SambaOnnxNode *node, uint32_t input) {
  const SambaConstant *constant = sambaOnnxConstant(node, input);
  return constant && constant->count == 0;
}

/* Whether a result can be without elements. */
static bool canBeEmpty(const SambaOnnxNode *node) {
  bool can = node->input_count == 0 || node->row->traits & SAMBA_ONNX_MAKES_EMPTY;
  for (uint32_t i = 0; i < node->input_count; ++i)
    can |= isEmpty(node, i);
  return can;
}

/* Every result that is asked for is declared without elements. */
static SambaStatus declaredEmpty(const SambaOnnxNode *node, bool *out_done) {
  uint32_t rank, used = 0;
  int64_t dims[SAMBA_MAX_RANK];

  for (uint32_t output = 0; output < node->output_count; ++output) {
    if (!sambaOnnxOutputUsed(node, output))
      continue;
    if (!sambaOnnxDeclaredType(node, output) ||
        !sambaOnnxDeclaredShape(node, output, &rank, dims) || sambaShapeElements(rank, dims))
      return NULL;
    ++used;
  }

  for (uint32_t output = 0; output < node->output_count; ++output)
    if (sambaOnnxOutputUsed(node, output) && sambaOnnxDeclaredShape(node, output, &rank, dims))
      SAMBA_RETURN_IF_ERROR(
          sambaOnnxSetEmpty(node, output, sambaOnnxDeclaredType(node, output), rank, dims));
  *out_done = used > 0;

  return NULL;
}

/* Element by element: the broadcast shape has a dimension of 0. */
static SambaStatus elementwise(const SambaOnnxNode *node, bool *out_done) {
  static const char *const truths[] = {"Equal",          "Less",  "LessOrEqual", "Greater",
                                       "GreaterOrEqual", "IsNaN", "IsInf"};
  uint32_t rank = 0, other;
  int64_t dims[SAMBA_MAX_RANK], other_dims[SAMBA_MAX_RANK], type = 0;

  for (uint32_t i = 0; i < node->input_count; ++i) {
    if (!sambaOnnxHasInput(node, i))
      continue;
    SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, i, &other, other_dims));
    SAMBA_RETURN_IF_ERROR(sambaOnnxBroadcast(rank, dims, other, other_dims, &rank, dims));
  }

  if (sambaShapeElements(rank, dims))
    return NULL;
  type = sambaOnnxInputType(node, sambaOnnxHasTrait(node, SAMBA_ONNX_CHOOSES) ? 1 : 0);
  for (size_t i = 0; i < sizeof truths / sizeof *truths; ++i)
    type = strcmp(node->proto->op_type, truths[i]) == 0 ? SAMBA_ONNX_BOOL : type;
  *out_done = true;

  return sambaOnnxSetEmpty(node, 0, type, rank, dims);
}

/* The result has the shape and type of the first input; other results are not known. */
static SambaStatus sameShape(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  for (uint32_t output = 1; output < node->output_count; ++output)
    if (sambaOnnxOutputUsed(node, output))
      return NULL;
  *out_done = true;
  return sambaOnnxSetEmpty(node, 0, x->onnx_type, x->rank, x->dims);
}

static SambaStatus firstInput(const SambaOnnxNode *node, bool *out_done) {
  *out_done = true;
  return sambaOnnxSetSame(node, 0, 0);
}

static SambaTraceValue *zeros(const SambaOnnxNode *node, SambaDType dtype, uint32_t rank,
                              const int64_t *dims) {
  return sambaExpand(sambaTraceScalar(node->trace, dtype, 0), rank, dims);
}

/* A product of matrices: empty, or sums of nothing. */
static SambaStatus product(const SambaOnnxNode *node, bool gemm, bool *out_done) {
  uint32_t rank_a, rank_b, rank;
  int64_t a[SAMBA_MAX_RANK], b[SAMBA_MAX_RANK], dims[SAMBA_MAX_RANK];
  int64_t type = sambaOnnxInputType(node, 0);

  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank_a, a));
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 1, &rank_b, b));
  if (!rank_a || !rank_b || (gemm && (rank_a != 2 || rank_b != 2)))
    return NULL;

  /* Where rows and columns are: a vector has none of the one and stands for the other. */
  bool turn_a = gemm && sambaOnnxInt(node, "transA", 0);
  bool turn_b = gemm && sambaOnnxInt(node, "transB", 0);
  uint32_t batch_a = rank_a < 2 ? 0 : rank_a - 2;
  uint32_t batch_b = rank_b < 2 ? 0 : rank_b - 2;
  int64_t columns_a = a[rank_a - (turn_a ? 2 : 1)];
  uint32_t row_axis_b = turn_b ? rank_b - 1 : batch_b;
  int64_t rows_b = b[rank_b < 2 ? 0 : row_axis_b];
  if (columns_a != rows_b)
    return sambaStatusMake(SAMBA_INVALID, "the matrices do not fit: %lld columns against %lld rows",
                           (long long)columns_a, (long long)rows_b);

  SAMBA_RETURN_IF_ERROR(sambaOnnxBroadcast(batch_a, a, batch_b, b, &rank, dims));
  if (rank + 2 > SAMBA_MAX_RANK)
    return NULL;
  if (rank_a > 1)
    dims[rank++] = a[rank_a - (turn_a ? 1 : 2)];
  if (rank_b > 1)
    dims[rank++] = b[rank_b - (turn_b ? 2 : 1)];

  *out_done = true;
  if (!sambaShapeElements(rank, dims))
    return sambaOnnxSetEmpty(node, 0, type, rank, dims);
  SambaTraceValue *y = zeros(node, sambaOnnxDType(node->importer, type), rank, dims);
  if (gemm && sambaOnnxHasInput(node, 2)) {
    SambaTraceValue *c;
    SAMBA_RETURN_IF_ERROR(sambaOnnxTensor(node, 2, &c));
    double beta = sambaOnnxFloat(node, "beta", 1);
    y = sambaAdd(y, sambaMul(c, sambaTraceScalar(node->trace, c->type.dtype, beta)));
  }

  return sambaOnnxSetTensor(node, 0, y);
}

static SambaStatus matMul(const SambaOnnxNode *node, bool *out_done) {
  return product(node, false, out_done);
}
static SambaStatus gemm(const SambaOnnxNode *node, bool *out_done) {
  return product(node, true, out_done);
}

/* Sums of no products; the equation's shape is the declared one. */
static SambaStatus einsum(const SambaOnnxNode *node, bool *out_done) {
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SambaDType dtype = sambaOnnxDType(node->importer, sambaOnnxInputType(node, 0));
  if (dtype == SAMBA_DTYPE_COUNT || !sambaOnnxDeclaredShape(node, 0, &rank, dims))
    return NULL;
  *out_done = true;
  return sambaOnnxSetTensor(node, 0, zeros(node, dtype, rank, dims));
}

/* The smallest or largest number of the type. */
static double extreme(SambaDType dtype, bool largest) {
  if (sambaDTypeIsFloat(dtype))
    return largest ? (double)INFINITY : -(double)INFINITY;
  bool is_unsigned = dtype == SAMBA_DTYPE_UI8 || dtype == SAMBA_DTYPE_I1;
  int bits = dtype == SAMBA_DTYPE_I1 ? 1 : 8 * (int)sambaDTypeBytes(dtype);
  if (!is_unsigned)
    --bits;
  if (largest)
    return ldexp(1, bits) - 1;
  return is_unsigned ? 0 : -ldexp(1, bits);
}

/* What a reduction of nothing gives. */
static double neutral(SambaOnnxVariant variant, SambaDType dtype) {
  switch (variant) {
  case SAMBA_ONNX_REDUCE_PROD:
    return 1;
  case SAMBA_ONNX_REDUCE_MAX:
  case SAMBA_ONNX_REDUCE_MIN:
    return extreme(dtype, variant == SAMBA_ONNX_REDUCE_MIN);
  case SAMBA_ONNX_REDUCE_MEAN:
    return (double)NAN;
  case SAMBA_ONNX_REDUCE_LOG_SUM:
  case SAMBA_ONNX_REDUCE_LOG_SUM_EXP:
    return -(double)INFINITY;
  default:
    return 0;
  }
}

static SambaStatus reduction(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  bool reduced[SAMBA_MAX_RANK], none, keep = sambaOnnxInt(node, "keepdims", 1) != 0;
  int64_t dims[SAMBA_MAX_RANK];
  uint32_t rank = 0;
  SambaDType dtype = sambaOnnxDType(node->importer, x->onnx_type);

  if (dtype == SAMBA_DTYPE_COUNT)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaOnnxReducedAxes(node, x->rank, reduced, &none));
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if (!reduced[axis] || keep)
      dims[rank++] = reduced[axis] ? 1 : x->dims[axis];
  *out_done = true;
  if (!sambaShapeElements(rank, dims))
    return sambaOnnxSetEmpty(node, 0, x->onnx_type, rank, dims);
  double value = neutral(node->row->variant, dtype);
  if (isnan(value) && !sambaDTypeIsFloat(dtype))
    return sambaStatusMake(SAMBA_INVALID, "the mean of no integers is not defined");
  SambaConstant *one = sambaConstantNew(node->arena, x->onnx_type, 0, NULL);
  if (one->is_float)
    one->data[0].r = value;
  else
    one->data[0].i = value >= 0x1p63 ? INT64_MAX : (int64_t)value;
  SambaTraceValue *scalar;
  SAMBA_RETURN_IF_ERROR(sambaOnnxMaterialize(node, one, &scalar));

  return sambaOnnxSetTensor(node, 0, rank ? sambaExpand(scalar, rank, dims) : scalar);
}

/* Nothing is chosen, or from nothing nothing. */
static SambaStatus gather(const SambaOnnxNode *node, bool *out_done) {
  uint32_t rank, index_rank, axis, count = 0;
  int64_t dims[SAMBA_MAX_RANK], indices[SAMBA_MAX_RANK], result[2 * SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 0, &rank, dims));
  SAMBA_RETURN_IF_ERROR(sambaOnnxShape(node, 1, &index_rank, indices));
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), rank, &axis));
  for (uint32_t d = 0; d < rank; ++d) {
    for (uint32_t k = 0; d == axis && k < index_rank; ++k)
      result[count++] = indices[k];
    if (d != axis)
      result[count++] = dims[d];
  }
  *out_done = count <= SAMBA_MAX_RANK && !sambaShapeElements(count, result);
  return *out_done ? sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), count, result) : NULL;
}

static SambaStatus gatherElements(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *indices = sambaOnnxConstant(node, 1);
  *out_done = true;
  return sambaOnnxSetEmpty(node, 0, sambaOnnxInputType(node, 0), indices->rank, indices->dims);
}

/* Blocks between the channels and the picture. */
static SambaStatus blocks(const SambaOnnxNode *node, bool to_space, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  int64_t size = sambaOnnxInt(node, "blocksize", 0);
  int64_t dims[4];

  if (x->rank != 4 || size < 1 || size > INT32_MAX)
    return NULL;
  for (uint32_t d = 0; d < 4; ++d) {
    const int64_t factors[] = {1, size * size, size, size};
    bool divides = to_space == (d == 1); /* channels become the picture's, or the reverse */
    if (divides && x->dims[d] % factors[d])
      return NULL; /* the handler's error */
    dims[d] = divides ? x->dims[d] / factors[d] : x->dims[d] * factors[d];
  }

  *out_done = true;
  return sambaOnnxSetEmpty(node, 0, x->onnx_type, 4, dims);
}

static SambaStatus depthToSpace(const SambaOnnxNode *node, bool *out_done) {
  return blocks(node, true, out_done);
}
static SambaStatus spaceToDepth(const SambaOnnxNode *node, bool *out_done) {
  return blocks(node, false, out_done);
}

static SambaStatus eyeLike(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  *out_done = true;
  return sambaOnnxSetEmpty(node, 0, sambaOnnxInt(node, "dtype", x->onnx_type), x->rank, x->dims);
}

static bool isReduction(SambaOnnxVariant variant) {
  return variant >= SAMBA_ONNX_REDUCE_SUM && variant <= SAMBA_ONNX_REDUCE_LOG_SUM_EXP;
}

enum { ANY_INPUT = UINT8_MAX };

/* By the input that is empty. */
static const struct {
  const char *name;
  uint32_t input;
  SambaStatus (*import)(const SambaOnnxNode *node, bool *out_done);
} rules[] = {{"Einsum", ANY_INPUT, einsum},
             {"MatMul", 0, matMul},
             {"MatMul", 1, matMul},
             {"Gemm", 0, gemm},
             {"Gemm", 1, gemm},
             {"Gather", 0, gather},
             {"Gather", 1, gather},
             {"GatherElements", 1, gatherElements},
             {"ScatterND", 1, firstInput},
             {"ScatterElements", 1, firstInput},
             {"DepthToSpace", 0, depthToSpace},
             {"SpaceToDepth", 0, spaceToDepth},
             {"EyeLike", 0, eyeLike},
             {"Softmax", 0, sameShape},
             {"LogSoftmax", 0, sameShape},
             {"Hardmax", 0, sameShape},
             {"Dropout", 0, sameShape},
             {"Clip", 0, sameShape},
             {"CumSum", 0, sameShape},
             {"Trilu", 0, sameShape},
             {"LRN", 0, sameShape},
             {"LpNormalization", 0, sameShape},
             {"LayerNormalization", 0, sameShape},
             {"GroupNormalization", 0, sameShape},
             {"InstanceNormalization", 0, sameShape},
             {"BatchNormalization", 0, sameShape}};

SambaStatus sambaOnnxImportEmpty(const SambaOnnxNode *node, bool *out_done) {
  const SambaOnnxRow *row = node->row;
  if (canBeEmpty(node))
    SAMBA_RETURN_IF_ERROR(declaredEmpty(node, out_done));
  bool any = false;

  for (uint32_t i = 0; i < node->input_count; ++i)
    any |= isEmpty(node, i);
  if (*out_done || !any || *row->domain)
    return NULL;
  if (row->traits & SAMBA_ONNX_ELEMENTWISE)
    return elementwise(node, out_done);
  if (isReduction(row->variant) && isEmpty(node, 0))
    return reduction(node, out_done);
  for (size_t i = 0; i < sizeof rules / sizeof *rules; ++i)
    if (strcmp(rules[i].name, row->name) == 0 &&
        (rules[i].input == ANY_INPUT || isEmpty(node, rules[i].input)))
      return rules[i].import(node, out_done);
  return NULL;
}
