/* Which operator of the table a scalar operation is; see scalar_rows.h. */
#include "lowering/raise/scalar_rows.h"

#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "support/number/dtype.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

enum {
  floats = 1,
  integers = 2,
  booleans = 4,
  counts = 8, /* places along dimensions, which are not negative */
  numbers = floats | integers,
  any = numbers | booleans
};

typedef struct ScalarRow {
  const char *name, *operator;
  uint8_t types;    /* of the last operand */
  int8_t predicate; /* of comparisons; -1: none */
  bool inverted;
  bool same; /* only where both operands are one value */
} ScalarRow;

/* What rounds or treats NaN otherwise has no row: maxnumf, fma, unsigned operations. Predicates are
 * MLIR's stable numbers. Unordered comparisons are the opposite ordered ones, inverted. */
static const ScalarRow rows[] = {
    {"arith.addf", "add", floats, -1, false, false},
    {"arith.addi", "add", integers, -1, false, false},
    {"arith.subf", "sub", floats, -1, false, false},
    {"arith.subi", "sub", integers, -1, false, false},
    {"arith.mulf", "mul", floats, -1, false, false},
    {"arith.muli", "mul", integers, -1, false, false},
    {"arith.divf", "div", floats, -1, false, false},
    {"arith.divsi", "div", integers, -1, false, false},
    {"arith.remf", "fmod", floats, -1, false, false},
    {"arith.remsi", "fmod", integers, -1, false, false},
    {"arith.negf", "neg", floats, -1, false, false},
    {"math.absf", "abs", floats, -1, false, false},
    {"math.absi", "abs", integers, -1, false, false},
    {"arith.maximumf", "maximum", floats, -1, false, false},
    {"arith.maxsi", "maximum", integers, -1, false, false},
    {"arith.maxui", "logical_or", booleans, -1, false, false},
    {"arith.minimumf", "minimum", floats, -1, false, false},
    {"arith.minsi", "minimum", integers, -1, false, false},
    {"arith.minui", "logical_and", booleans, -1, false, false},
    {"arith.andi", "logical_and", booleans, -1, false, false},
    {"arith.ori", "logical_or", booleans, -1, false, false},
    {"arith.xori", "logical_xor", booleans, -1, false, false},
    {"arith.andi", "bitwise_and", integers, -1, false, false},
    {"arith.ori", "bitwise_or", integers, -1, false, false},
    {"arith.xori", "bitwise_xor", integers, -1, false, false},
    {"arith.muli", "logical_and", booleans, -1, false, false},
    {"arith.shli", "bitwise_left_shift", integers, -1, false, false},
    {"arith.shrsi", "bitwise_right_shift", integers, -1, false, false},
    {"arith.select", "where", any, -1, false, false},
    {"arith.cmpf", "eq", floats, 1, false, false},
    {"arith.cmpf", "gt", floats, 2, false, false},
    {"arith.cmpf", "ge", floats, 3, false, false},
    {"arith.cmpf", "lt", floats, 4, false, false},
    {"arith.cmpf", "le", floats, 5, false, false},
    {"arith.cmpf", "le", floats, 9, true, false},
    {"arith.cmpf", "lt", floats, 10, true, false},
    {"arith.cmpf", "ge", floats, 11, true, false},
    {"arith.cmpf", "gt", floats, 12, true, false},
    {"arith.cmpf", "ne", floats, 13, false, false},
    {"arith.cmpf", "eq", floats, 7, false, true}, /* ord, uno: of x and x */
    {"arith.cmpf", "ne", floats, 14, false, true},
    {"arith.cmpi", "eq", integers | booleans, 0, false, false},
    {"arith.cmpi", "ne", integers | booleans, 1, false, false},
    {"arith.cmpi", "lt", integers, 2, false, false},
    {"arith.cmpi", "le", integers, 3, false, false},
    {"arith.cmpi", "gt", integers, 4, false, false},
    {"arith.cmpi", "ge", integers, 5, false, false},
    {"arith.cmpi", "lt", counts, 6, false, false},
    {"arith.cmpi", "le", counts, 7, false, false},
    {"arith.cmpi", "gt", counts, 8, false, false},
    {"arith.cmpi", "ge", counts, 9, false, false},
    {"math.floor", "floor", floats, -1, false, false},
    {"math.ceil", "ceil", floats, -1, false, false},
    {"math.trunc", "trunc", floats, -1, false, false},
    {"math.roundeven", "round", floats, -1, false, false},
    {"math.exp", "exp", floats, -1, false, false},
    {"math.expm1", "expm1", floats, -1, false, false},
    {"math.log", "log", floats, -1, false, false},
    {"math.log1p", "log1p", floats, -1, false, false},
    {"math.sqrt", "sqrt", floats, -1, false, false},
    {"math.rsqrt", "rsqrt", floats, -1, false, false},
    {"math.tanh", "tanh", floats, -1, false, false},
    {"math.erf", "erf", floats, -1, false, false},
    {"math.sin", "sin", floats, -1, false, false},
    {"math.cos", "cos", floats, -1, false, false},
    {"math.tan", "tan", floats, -1, false, false},
    {"math.asin", "asin", floats, -1, false, false},
    {"math.acos", "acos", floats, -1, false, false},
    {"math.atan", "atan", floats, -1, false, false},
    {"math.sinh", "sinh", floats, -1, false, false},
    {"math.cosh", "cosh", floats, -1, false, false},
    {"math.asinh", "asinh", floats, -1, false, false},
    {"math.acosh", "acosh", floats, -1, false, false},
    {"math.atanh", "atanh", floats, -1, false, false},
    {"math.powf", "pow", floats, -1, false, false},
    {"math.ipowi", "pow", integers, -1, false, false},
};

/* Conversions that samba.cast does in the same way: from types, to types. An i1 is 0 or 1, so only
 * its zero extension is one; to i1 the cast asks for != 0, a truncation for the last bit. */
static const struct {
  const char *name;
  uint8_t from, to;
} casts[] = {{"arith.extf", floats, floats},      {"arith.truncf", floats, floats},
             {"arith.sitofp", integers, floats},  {"arith.uitofp", booleans, floats},
             {"arith.fptosi", floats, integers},  {"arith.extsi", integers, integers},
             {"arith.extui", booleans, integers}, {"arith.trunci", integers, integers}};

static uint8_t typesOf(SambaDType dtype) {
  if (dtype == SAMBA_DTYPE_COUNT)
    return 0;
  if (sambaDTypeIsFloat(dtype))
    return floats;
  return dtype == SAMBA_DTYPE_I1 ? booleans : integers;
}

static SambaDType dtypeOf(MlirValue value) { return sambaDTypeFromType(mlirValueGetType(value)); }

static bool indexFromOperation(MlirOperation operation, SambaScalar *out) {
  bool to_index = mlirTypeIsAIndex(mlirValueGetType(mlirOperationGetResult(operation, 0)));
  if (sambaOperationIs(operation, "arith.index_cast")) {
    out->kind = to_index ? SAMBA_SCALAR_AS_INDEX : SAMBA_SCALAR_FROM_INDEX;
    return to_index || out->dtype != SAMBA_DTYPE_COUNT;
  }
  if (sambaOperationIs(operation, "linalg.index")) {
    out->kind = SAMBA_SCALAR_INDEX;
    out->dimension =
        (uint32_t)mlirIntegerAttrGetValueInt(sambaOperationAttribute(operation, "dim"));
    return true;
  }
  static const struct {
    const char *name;
    SambaScalarKind kind;
  } kinds[] = {{"arith.addi", SAMBA_SCALAR_SUM},
               {"arith.subi", SAMBA_SCALAR_DIFFERENCE},
               {"arith.muli", SAMBA_SCALAR_PRODUCT}};
  for (size_t i = 0; to_index && i < sizeof kinds / sizeof *kinds; ++i)
    if (sambaOperationIs(operation, kinds[i].name)) {
      out->kind = kinds[i].kind;
      return true;
    }
  return false;
}

bool sambaScalarFromOperation(MlirOperation operation, SambaScalar *out) {
  intptr_t count = mlirOperationGetNumOperands(operation);
  if (mlirOperationGetNumResults(operation) != 1)
    return false;
  out->dtype = dtypeOf(mlirOperationGetResult(operation, 0));
  if (sambaOperationIs(operation, "arith.index_cast") ||
      sambaOperationIs(operation, "linalg.index") || out->dtype == SAMBA_DTYPE_COUNT)
    return indexFromOperation(operation, out);
  if (!count)
    return false;

  SambaDType last = dtypeOf(mlirOperationGetOperand(operation, count - 1));
  uint8_t types = typesOf(last);
  if (mlirTypeIsAIndex(mlirValueGetType(mlirOperationGetOperand(operation, count - 1))))
    types = integers | counts; /* the reader makes the indices integers */
  out->kind = SAMBA_SCALAR_OPERATION;
  if (sambaOperationIs(operation, "math.fma")) {
    out->kind = SAMBA_SCALAR_FMA;
    return true;
  }
  for (size_t i = 0; i < sizeof casts / sizeof *casts; ++i)
    if (sambaOperationIs(operation, casts[i].name)) {
      out->operator = "cast";
      return casts[i].from & typesOf(last) && casts[i].to & typesOf(out->dtype);
    }

  MlirAttribute attribute = sambaOperationAttribute(operation, "predicate");
  int64_t predicate = mlirAttributeIsNull(attribute) ? -1 : mlirIntegerAttrGetValueInt(attribute);
  bool same = count == 2 && mlirValueEqual(mlirOperationGetOperand(operation, 0),
                                           mlirOperationGetOperand(operation, 1));
  for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
    if ((same || !rows[i].same) && rows[i].types & types && rows[i].predicate == predicate &&
        sambaOperationIs(operation, rows[i].name)) {
      out->operator = rows[i].operator;
      out->inverted = rows[i].inverted;
      out->counts = rows[i].types == counts;
      return true;
    }
  return false;
}
