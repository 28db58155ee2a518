/* Evaluating nodes whose inputs are known at compile time: arithmetic, comparison, logic and
 * reductions; see fold_node.c. */
#include "frontend/onnx/core/shape_rules.h"
#include "frontend/onnx/fold/fold_node.h"

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
  uint64_t result = 1;
  uint64_t factor = (uint64_t)base;
  if (exponent < 0 && base != 1 && base != -1)
    return 0;
  if (exponent < 0)
    return exponent % 2 ? base : 1;
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
    if (a > 0)
      return 1;
    return a < 0 ? -1 : a; /* zeros and NaN stay */
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
    if (b == -1) /* the smallest number stays what it is */
      return (int64_t)(0 - (uint64_t)a);
    return b == 0 ? 0 : a / b;
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
    return (a > 0) - (a < 0);
  default:
    return a;
  }
}

/* -1, 0 or 1; 2: one of them is NaN. */
static int orderOf(bool is_float, SambaNumber a, SambaNumber b) {
  if (!is_float)
    return (a.i > b.i) - (a.i < b.i);
  if (isnan(a.r) || isnan(b.r))
    return 2;
  return (a.r > b.r) - (a.r < b.r);
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

static SambaConstant *combine(const SambaOnnxNode *node, Operation operation,
                              const SambaConstant *const *x, uint32_t count) {
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

  bool compares = operation >= EQUAL && operation <= GREATER_EQUAL,
       truncated = sambaOnnxInt(node, "fmod", 0) != 0;
  const SambaConstant *typed = x[operation == WHERE ? 1 : 0];
  bool only_float = operation >= SQRT && operation <= TANH,
       only_integer = operation == AND || operation == OR || operation == XOR || operation == NOT;
  if ((only_float && !typed->is_float) || (only_integer && typed->is_float))
    return NULL;
  SambaConstant *result =
      sambaConstantNew(node->arena, compares ? SAMBA_ONNX_BOOL : typed->onnx_type, rank, dims);

  for (int64_t i = 0; result && i < result->count; ++i) {
    SambaNumber v[3] = {{0}, {0}, {0}};
    for (uint32_t k = 0; k < count; ++k)
      v[k] = x[k]->data[sambaConstantBroadcastIndex(x[k], rank, dims, i)];
    if (operation == WHERE) {
      result->data[i] = v[0].i ? v[1] : v[2];
    } else if (compares) {
      result->data[i].i = compare(operation, orderOf(typed->is_float, v[0], v[1]));
    } else if (typed->is_float) {
      double y = count > 1 && !x[1]->is_float ? (double)v[1].i
                                              : v[1].r; /* Pow takes an integer exponent */
      result->data[i] = sambaNumberConvert(
          (SambaNumber){.r = realValue(operation, v[0].r, y, truncated)}, true, typed->onnx_type);
    } else if (operation == POW && x[1]->is_float && v[1].r != floor(v[1].r)) {
      result->data[i] = sambaNumberConvert((SambaNumber){.r = pow((double)v[0].i, v[1].r)}, true,
                                           typed->onnx_type);
    } else {
      int64_t y = count > 1 && x[1]->is_float
                      ? (int64_t)sambaDTypeBitsOfNumber(SAMBA_DTYPE_I64, v[1].r)
                      : v[1].i;
      result->data[i] =
          sambaNumberConvert((SambaNumber){.i = integerValue(operation, v[0].i, y, truncated)},
                             false, typed->onnx_type);
    }
  }

  return result;
}

SambaStatus sambaOnnxFoldElementwise(const SambaOnnxNode *node, bool *out_done) {
  for (size_t i = 0; i < sizeof operations / sizeof *operations; ++i) {
    if (strcmp(node->proto->op_type, operations[i].name) != 0)
      continue;
    const SambaConstant *x[3] = {sambaOnnxConstant(node, 0), sambaOnnxConstant(node, 1),
                                 sambaOnnxConstant(node, 2)};
    if (!x[0] || (node->version < 7 && sambaOnnxAttribute(node, "axis")))
      return NULL;
    if (!operations[i].variadic)
      return node->input_count <= 3
                 ? sambaOnnxFoldTo(node, 0,
                                   combine(node, operations[i].operation, x, node->input_count),
                                   out_done)
                 : NULL;
    SambaConstant *result =
        combine(node, operations[i].operation, x, node->input_count < 2 ? 1 : 2);
    if (node->input_count < 2)
      return sambaOnnxFoldIdentity(node, out_done);
    for (uint32_t next = 2; result && next < node->input_count; ++next) {
      const SambaConstant *pair[] = {result, sambaOnnxConstant(node, next)};
      result = combine(node, operations[i].operation, pair, 2);
    }
    return sambaOnnxFoldTo(node, 0, result, out_done);
  }

  return NULL;
}

/* Sum, product, minimum and maximum of integers: sizes computed from shapes. */
SambaStatus sambaOnnxFoldReduce(const SambaOnnxNode *node, bool *out_done) {
  const SambaConstant *x = sambaOnnxConstant(node, 0);
  static const struct {
    SambaOnnxVariant variant;
    Operation operation;
  } forms[] = {{SAMBA_ONNX_REDUCE_SUM, ADD},
               {SAMBA_ONNX_REDUCE_PROD, MUL},
               {SAMBA_ONNX_REDUCE_MIN, MIN},
               {SAMBA_ONNX_REDUCE_MAX, MAX}};
  bool reduced[SAMBA_MAX_RANK], none, keep = sambaOnnxInt(node, "keepdims", 1) != 0;
  int64_t dims[SAMBA_MAX_RANK], kept[SAMBA_MAX_RANK];
  uint32_t rank = 0;

  for (size_t f = 0; f < sizeof forms / sizeof *forms; ++f) {
    if (node->row->variant != forms[f].variant || x->is_float || x->count == 0)
      continue;
    SAMBA_RETURN_IF_ERROR(sambaOnnxReducedAxes(node, x->rank, reduced, &none));
    for (uint32_t axis = 0; axis < x->rank; ++axis) {
      kept[axis] = reduced[axis] ? 1 : x->dims[axis];
      if (!reduced[axis] || keep)
        dims[rank++] = kept[axis];
    }
    SambaConstant *result = sambaConstantNew(node->arena, x->onnx_type, rank, dims);
    bool *started = SAMBA_ARENA_ARRAY(node->arena, bool, (size_t)x->count);
    for (int64_t i = 0; result && i < x->count; ++i) {
      int64_t at = 0, stride = 1, rest = i;
      for (uint32_t axis = x->rank; axis-- > 0; rest /= x->dims[axis]) {
        at += reduced[axis] ? 0 : rest % x->dims[axis] * stride;
        stride *= kept[axis];
      }
      int64_t value =
          started[at] ? integerValue(forms[f].operation, result->data[at].i, x->data[i].i, false)
                      : x->data[i].i;
      result->data[at] = sambaNumberConvert((SambaNumber){.i = value}, false, x->onnx_type);
      started[at] = true;
    }
    return sambaOnnxFoldTo(node, 0, result, out_done);
  }

  return NULL;
}
