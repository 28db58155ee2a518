/* Evaluating nodes whose inputs are known at compile time: shape arithmetic, masks, scales. Every function sets
 * *out_done only when it has made the outputs; what it cannot do stays for the graph. */
#include "frontend/onnx/importer.h"

#include <math.h>

typedef enum {
  ADD,
  SUB,
  MUL,
  DIV,
  POW,
  MOD,
  MIN,
  MAX,
  EQUAL,
  LESS,
  LESS_EQUAL,
  GREATER,
  GREATER_EQUAL,
  AND,
  OR,
  XOR, /* two operands */
  NOT,
  NEG,
  ABS,
  SIGN,
  SQRT,
  RECIPROCAL,
  EXP,
  LOG,
  FLOOR,
  CEIL,
  ROUND,
  SIN,
  COS,
  ERF,
  TANH, /* one */
  WHERE
} Operation;

static const struct {
  const char *name;
  Operation operation;
  bool variadic;
} operations[] = {{"Add", ADD, false},
                  {"Sub", SUB, false},
                  {"Mul", MUL, false},
                  {"Div", DIV, false},
                  {"Pow", POW, false},
                  {"Mod", MOD, false},
                  {"Min", MIN, true},
                  {"Max", MAX, true},
                  {"Sum", ADD, true},
                  {"Equal", EQUAL, false},
                  {"Less", LESS, false},
                  {"LessOrEqual", LESS_EQUAL, false},
                  {"Greater", GREATER, false},
                  {"GreaterOrEqual", GREATER_EQUAL, false},
                  {"And", AND, false},
                  {"Or", OR, false},
                  {"Xor", XOR, false},
                  {"Not", NOT, false},
                  {"Neg", NEG, false},
                  {"Abs", ABS, false},
                  {"Sign", SIGN, false},
                  {"Sqrt", SQRT, false},
                  {"Reciprocal", RECIPROCAL, false},
                  {"Exp", EXP, false},
                  {"Log", LOG, false},
                  {"Floor", FLOOR, false},
                  {"Ceil", CEIL, false},
                  {"Round", ROUND, false},
                  {"Sin", SIN, false},
                  {"Cos", COS, false},
                  {"Erf", ERF, false},
                  {"Tanh", TANH, false},
                  {"Where", WHERE, false}};

static int64_t integerPower(int64_t base, int64_t exponent) {
  uint64_t result = 1, factor = (uint64_t)base;
  if (exponent < 0)
    return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
  for (; exponent; exponent >>= 1, factor *= factor)
    if (exponent & 1)
      result *= factor;
  return (int64_t)result;
}

static int64_t integerModulo(int64_t a, int64_t b, bool truncated) {
  if (b == 0 || b == -1)
    return 0;
  int64_t rest = a % b;
  return !truncated && rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

static double realValue(Operation operation, double a, double b, bool truncated) {
  switch (operation) {
  case ADD:
    return a + b;
  case SUB:
    return a - b;
  case MUL:
    return a * b;
  case DIV:
    return a / b;
  case POW:
    return pow(a, b);
  case MOD: {
    double rest = fmod(a, b);
    return !truncated && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case MIN:
    return a != a || a < b ? a : b;
  case MAX:
    return a != a || a > b ? a : b;
  case NEG:
    return -a;
  case ABS:
    return fabs(a);
  case SIGN:
    return a > 0 ? 1 : a < 0 ? -1 : a;
  case SQRT:
    return sqrt(a);
  case RECIPROCAL:
    return 1 / a;
  case EXP:
    return exp(a);
  case LOG:
    return log(a);
  case FLOOR:
    return floor(a);
  case CEIL:
    return ceil(a);
  case ROUND:
    return nearbyint(a);
  case SIN:
    return sin(a);
  case COS:
    return cos(a);
  case ERF:
    return erf(a);
  case TANH:
    return tanh(a);
  default:
    return a;
  }
}

static int64_t integerValue(Operation operation, int64_t a, int64_t b, bool truncated) {
  switch (operation) {
  case ADD:
    return (int64_t)((uint64_t)a + (uint64_t)b);
  case SUB:
    return (int64_t)((uint64_t)a - (uint64_t)b);
  case MUL:
    return (int64_t)((uint64_t)a * (uint64_t)b);
  case DIV:
    return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
  case POW:
    return integerPower(a, b);
  case MOD:
    return integerModulo(a, b, truncated);
  case MIN:
    return a < b ? a : b;
  case MAX:
    return a > b ? a : b;
  case AND:
    return a && b;
  case OR:
    return a || b;
  case XOR:
    return !a != !b;
  case NOT:
    return !a;
  case NEG:
    return (int64_t)(0 - (uint64_t)a);
  case ABS:
    return a < 0 ? (int64_t)(0 - (uint64_t)a) : a;
  case SIGN:
    return a > 0 ? 1 : a < 0 ? -1 : 0;
  default:
    return a;
  }
}

static bool compare(Operation operation, int order) {
  switch (operation) {
  case EQUAL:
    return order == 0;
  case LESS:
    return order == -1;
  case LESS_EQUAL:
    return order == -1 || order == 0;
  case GREATER:
    return order == 1;
  default:
    return order == 0 || order == 1;
  }
}

/* The element of c under the row-major index of a box that c broadcasts to. */
static int64_t broadcastIndex(const SambaConstant *c, uint32_t rank, const int64_t *dims, int64_t index) {
  int64_t at = 0, stride = 1;
  for (uint32_t back = 1; back <= rank; ++back) {
    int64_t position = index % dims[rank - back];
    index /= dims[rank - back];
    if (back <= c->rank) {
      at += c->dims[c->rank - back] == 1 ? 0 : position * stride;
      stride *= c->dims[c->rank - back];
    }
  }
  return at;
}

enum { BOOL_TYPE = 9 };

static SambaConstant *combine(const SambaOnnxNode *node, Operation operation, const SambaConstant *const *x,
                              uint32_t count) {
  uint32_t rank = x[0]->rank;
  int64_t dims[SAMBA_MAX_RANK];
  memcpy(dims, x[0]->dims, sizeof dims);
  for (uint32_t i = 1; i < count; ++i) {
    SambaStatus status = sambaOnnxBroadcast(rank, dims, x[i]->rank, x[i]->dims, &rank, dims);
    if (status) {
      sambaStatusFree(status);
      return NULL;
    }
  }
  bool compares = operation >= EQUAL && operation <= GREATER_EQUAL, truncated = sambaOnnxInt(node, "fmod", 0) != 0;
  const SambaConstant *typed = x[operation == WHERE ? 1 : 0];
  bool onlyFloat = operation >= SQRT && operation <= TANH,
       onlyInteger = operation == AND || operation == OR || operation == XOR || operation == NOT;
  if ((onlyFloat && !typed->is_float) || (onlyInteger && typed->is_float))
    return NULL;
  SambaConstant *result = sambaConstantNew(&node->importer->arena, compares ? BOOL_TYPE : typed->onnx_type, rank, dims);
  for (int64_t i = 0; result && i < result->count; ++i) {
    SambaNumber v[3] = {{0}, {0}, {0}};
    for (uint32_t k = 0; k < count; ++k)
      v[k] = x[k]->data[broadcastIndex(x[k], rank, dims, i)];
    if (operation == WHERE) {
      result->data[i] = v[0].i ? v[1] : v[2];
    } else if (compares) {
      int order = typed->is_float   ? (v[0].r < v[1].r    ? -1
                                       : v[0].r > v[1].r  ? 1
                                       : v[0].r == v[1].r ? 0
                                                          : 2)
                  : v[0].i < v[1].i ? -1
                                    : v[0].i > v[1].i;
      result->data[i].i = compare(operation, order);
    } else if (typed->is_float) {
      double y = count > 1 && !x[1]->is_float ? (double)v[1].i : v[1].r; /* Pow takes an integer exponent */
      result->data[i] =
          sambaNumberConvert((SambaNumber){.r = realValue(operation, v[0].r, y, truncated)}, true, typed->onnx_type);
    } else if (operation == POW && x[1]->is_float && v[1].r != floor(v[1].r)) {
      result->data[i] = sambaNumberConvert((SambaNumber){.r = pow((double)v[0].i, v[1].r)}, true, typed->onnx_type);
    } else {
      int64_t y = count > 1 && x[1]->is_float ? (int64_t)sambaDTypeBitsOfNumber(SAMBA_DTYPE_I64, v[1].r) : v[1].i;
      result->data[i] = sambaNumberConvert((SambaNumber){.i = integerValue(operation, v[0].i, y, truncated)}, false,
                                           typed->onnx_type);
    }
  }
  return result;
}

static SambaStatus finish(const SambaOnnxNode *node, SambaConstant *result, bool *out_done) {
  if (!result)
    return NULL;
  *out_done = true;
  return sambaOnnxSetConstant(node, 0, result);
}

SambaStatus sambaOnnxFoldElementwise(const SambaOnnxNode *node, bool *out_done) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(node->proto->op_type, operations[i].name) != 0)
      continue;
    const SambaConstant *x[3] = {sambaOnnxConstant(node, 0), sambaOnnxConstant(node, 1), sambaOnnxConstant(node, 2)};
    if (!x[0] || (node->version < 7 && sambaOnnxAttribute(node, "axis")))
      return NULL;
    if (!operations[i].variadic)
      return node->input_count <= 3
                 ? finish(node, combine(node, operations[i].operation, x, node->input_count), out_done)
                 : NULL;
    SambaConstant *result = combine(node, operations[i].operation, x, node->input_count < 2 ? 1 : 2);
    if (node->input_count < 2)
      return sambaOnnxFoldIdentity(node, out_done);
    for (uint32_t next = 2; result && next < node->input_count; ++next) {
      const SambaConstant *pair[] = {result, sambaOnnxConstant(node, next)};
      result = combine(node, operations[i].operation, pair, 2);
    }
    return finish(node, result, out_done);
  }
  return NULL;
}

SambaStatus sambaOnnxFoldIdentity(const SambaOnnxNode *node, bool *out_done) {
  *out_done = true;
  return sambaOnnxSetSame(node, 0, 0);
}

SambaStatus sambaOnnxFoldCast(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  int64_t to = sambaOnnxCastTarget(node);
  SambaConstant *result = sambaConstantNew(&node->importer->arena, to, x->rank, x->dims);
  for (int64_t i = 0; result && i < result->count; ++i)
    result->data[i] = sambaNumberConvert(x->data[i], x->is_float, to);
  return finish(node, result, out_done);
}

SambaStatus sambaOnnxFoldReshape(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  uint32_t rank;
  int64_t dims[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxReshapedDims(node, x->rank, x->dims, &rank, dims));
  SambaConstant *result = sambaConstantNew(&node->importer->arena, x->onnx_type, rank, dims);
  if (result)
    memcpy(result->data, x->data, (size_t)x->count * sizeof *x->data);
  return finish(node, result, out_done);
}

/* result element at [i0, i1, ..] = x element at base + sum(strides[a] * ia) */
static SambaConstant *strided(const SambaOnnxNode *node, const SambaConstant *x, uint32_t rank, const int64_t *dims,
                              int64_t base, const int64_t *strides) {
  SambaConstant *result = sambaConstantNew(&node->importer->arena, x->onnx_type, rank, dims);
  for (int64_t i = 0; result && i < result->count; ++i) {
    int64_t at = base, rest = i;
    for (uint32_t axis = rank; axis-- > 0; rest /= dims[axis])
      at += rest % dims[axis] * strides[axis];
    result->data[i] = x->data[at];
  }
  return result;
}

static void rowMajorStrides(const SambaConstant *x, int64_t *out) {
  int64_t stride = 1;
  for (uint32_t axis = x->rank; axis-- > 0; stride *= x->dims[axis])
    out[axis] = stride;
}

SambaStatus sambaOnnxFoldTranspose(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  int64_t order[SAMBA_MAX_RANK], strides[SAMBA_MAX_RANK], dims[SAMBA_MAX_RANK], moved[SAMBA_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaOnnxPermutation(node, x->rank, order));
  rowMajorStrides(x, strides);
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    dims[axis] = x->dims[order[axis]], moved[axis] = strides[order[axis]];
  return finish(node, strided(node, x, x->rank, dims, 0, moved), out_done);
}

SambaStatus sambaOnnxFoldSlice(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  SambaOnnxSlice slice;
  int64_t strides[SAMBA_MAX_RANK], base = 0;
  SAMBA_RETURN_IF_ERROR(sambaOnnxSliceRange(node, x->rank, x->dims, &slice));
  rowMajorStrides(x, strides);
  for (uint32_t axis = 0; axis < x->rank; ++axis) {
    base += slice.starts[axis] * strides[axis];
    strides[axis] *= slice.steps[axis];
  }
  return finish(node, strided(node, x, x->rank, slice.sizes, base, strides), out_done);
}

SambaStatus sambaOnnxFoldSplit(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  int64_t *sizes = SAMBA_ARENA_ARRAY(&node->importer->arena, int64_t, node->output_count), strides[SAMBA_MAX_RANK],
          dims[SAMBA_MAX_RANK];
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaOnnxSplitSizes(node, x->rank, x->dims, &axis, sizes));
  rowMajorStrides(x, strides);
  memcpy(dims, x->dims, sizeof dims);
  int64_t start = 0;
  for (uint32_t part = 0; part < node->output_count; start += sizes[part++]) {
    dims[axis] = sizes[part];
    SAMBA_RETURN_IF_ERROR(
        sambaOnnxSetConstant(node, part, strided(node, x, x->rank, dims, start * strides[axis], strides)));
  }
  *out_done = true;
  return NULL;
}

SambaStatus sambaOnnxFoldConcat(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *first = sambaOnnxConstant(node, 0);
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", node->version < 4 ? 1 : 0), first->rank, &axis));
  int64_t dims[SAMBA_MAX_RANK], outer = 1;
  memcpy(dims, first->dims, sizeof dims);
  for (uint32_t i = 1; i < node->input_count; ++i) {
    const SambaConstant *next = sambaOnnxConstant(node, i);
    if (next->rank != first->rank || next->is_float != first->is_float)
      return sambaStatusMake(SAMBA_INVALID, "input %u does not fit input 0", i);
    for (uint32_t d = 0; d < first->rank; ++d)
      if (d != axis && next->dims[d] != first->dims[d])
        return sambaStatusMake(SAMBA_INVALID, "dimension %u of input %u is %lld, but %lld in input 0", d, i,
                               (long long)next->dims[d], (long long)first->dims[d]);
    dims[axis] += next->dims[axis];
  }
  SambaConstant *result = sambaConstantNew(&node->importer->arena, first->onnx_type, first->rank, dims);
  if (!result)
    return NULL;
  for (uint32_t d = 0; d < axis; ++d)
    outer *= dims[d];
  SambaNumber *to = result->data;
  for (int64_t o = 0; o < outer; ++o)
    for (uint32_t i = 0; i < node->input_count; ++i) {
      const SambaConstant *x = sambaOnnxConstant(node, i);
      int64_t block = outer ? x->count / outer : 0;
      if (block)
        memcpy(to, x->data + o * block, (size_t)block * sizeof *to);
      to += block;
    }
  return finish(node, result, out_done);
}

SambaStatus sambaOnnxFoldGather(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0), *indices = sambaOnnxConstant(node, 1);
  uint32_t axis;
  SAMBA_RETURN_IF_ERROR(sambaOnnxAxis(sambaOnnxInt(node, "axis", 0), x->rank, &axis));
  int64_t dims[2 * SAMBA_MAX_RANK], outer = 1, inner = 1, size = x->dims[axis];
  uint32_t rank = 0;
  for (uint32_t d = 0; d < x->rank; ++d) {
    if (d < axis)
      outer *= x->dims[d];
    if (d > axis)
      inner *= x->dims[d];
    for (uint32_t k = 0; d == axis && k < indices->rank; ++k)
      dims[rank++] = indices->dims[k];
    if (d != axis)
      dims[rank++] = x->dims[d];
  }
  SambaConstant *result =
      rank <= SAMBA_MAX_RANK ? sambaConstantNew(&node->importer->arena, x->onnx_type, rank, dims) : NULL;
  if (!result)
    return NULL;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t k = 0; k < indices->count; ++k) {
      int64_t index = indices->data[k].i < 0 ? indices->data[k].i + size : indices->data[k].i;
      if (index < 0 || index >= size)
        return sambaStatusMake(SAMBA_INVALID, "index %lld is not within [%lld, %lld)", (long long)indices->data[k].i,
                               (long long)-size, (long long)size);
      if (inner)
        memcpy(result->data + (o * indices->count + k) * inner, x->data + (o * size + index) * inner,
               (size_t)inner * sizeof *result->data);
    }
  return finish(node, result, out_done);
}

SambaStatus sambaOnnxFoldExpand(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0), *shape = sambaOnnxConstant(node, 1);
  int64_t target[SAMBA_MAX_RANK], dims[SAMBA_MAX_RANK];
  uint32_t rank;
  if (shape->count > SAMBA_MAX_RANK)
    return NULL;
  for (int64_t i = 0; i < shape->count; ++i)
    target[i] = shape->data[i].i;
  SAMBA_RETURN_IF_ERROR(sambaOnnxBroadcast(x->rank, x->dims, (uint32_t)shape->count, target, &rank, dims));
  SambaConstant *result = sambaConstantNew(&node->importer->arena, x->onnx_type, rank, dims);
  for (int64_t i = 0; result && i < result->count; ++i)
    result->data[i] = x->data[broadcastIndex(x, rank, dims, i)];
  return finish(node, result, out_done);
}

SambaStatus sambaOnnxFoldTile(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0), *repeats = sambaOnnxConstant(node, 1);
  int64_t dims[SAMBA_MAX_RANK];
  if (repeats->count != x->rank || node->version < 6)
    return NULL;
  for (uint32_t axis = 0; axis < x->rank; ++axis)
    if (repeats->data[axis].i < 0 || sambaMulOverflows(x->dims[axis], repeats->data[axis].i, &dims[axis]))
      return NULL;
  SambaConstant *result = sambaConstantNew(&node->importer->arena, x->onnx_type, x->rank, dims);
  for (int64_t i = 0; result && i < result->count; ++i) {
    int64_t at = 0, stride = 1, rest = i;
    for (uint32_t axis = x->rank; axis-- > 0; rest /= dims[axis]) {
      at += rest % dims[axis] % x->dims[axis] * stride;
      stride *= x->dims[axis];
    }
    result->data[i] = x->data[at];
  }
  return finish(node, result, out_done);
}

/* Sum, product, minimum and maximum of integers: sizes computed from shapes. */
SambaStatus sambaOnnxFoldReduce(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  static const struct {
    const char *name;
    Operation operation;
  } forms[] = {{"ReduceSum", ADD}, {"ReduceProd", MUL}, {"ReduceMin", MIN}, {"ReduceMax", MAX}};
  bool reduced[SAMBA_MAX_RANK], none, keep = sambaOnnxInt(node, "keepdims", 1) != 0;
  int64_t dims[SAMBA_MAX_RANK], kept[SAMBA_MAX_RANK];
  uint32_t rank = 0;
  for (size_t f = 0; f < sizeof forms / sizeof *forms; ++f) {
    if (strcmp(node->proto->op_type, forms[f].name) != 0 || x->is_float || x->count == 0)
      continue;
    SAMBA_RETURN_IF_ERROR(sambaOnnxReducedAxes(node, x->rank, reduced, &none));
    for (uint32_t axis = 0; axis < x->rank; ++axis) {
      kept[axis] = reduced[axis] ? 1 : x->dims[axis];
      if (!reduced[axis] || keep)
        dims[rank++] = kept[axis];
    }
    SambaConstant *result = sambaConstantNew(&node->importer->arena, x->onnx_type, rank, dims);
    bool *started = SAMBA_ARENA_ARRAY(&node->importer->arena, bool, (size_t)x->count);
    for (int64_t i = 0; result && i < x->count; ++i) {
      int64_t at = 0, stride = 1, rest = i;
      for (uint32_t axis = x->rank; axis-- > 0; rest /= x->dims[axis]) {
        at += reduced[axis] ? 0 : rest % x->dims[axis] * stride;
        stride *= kept[axis];
      }
      int64_t value =
          started[at] ? integerValue(forms[f].operation, result->data[at].i, x->data[i].i, false) : x->data[i].i;
      result->data[at] = sambaNumberConvert((SambaNumber){.i = value}, false, x->onnx_type);
      started[at] = true;
    }
    return finish(node, result, out_done);
  }
  return NULL;
}
