/* Lane programs as arith and math operations; see lane_body.h. */
#include "dialect/rdu/section/lane_body.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/samba.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <math.h>
#include <string.h>

/* Each opcode's operation for float and for integer (i1 as well) classes; NULL where there is none.
 * A comparison carries its predicate; predicates are MLIR's stable numbers (arith::CmpFPredicate,
 * arith::CmpIPredicate). */
typedef struct {
  uint8_t opcode;
  const char *on_float, *on_integer;
  int8_t float_predicate, integer_predicate;
} LaneRow;

static const LaneRow rows[] = {
    {SAMBA_LANE_ADD, "arith.addf", "arith.addi", -1, -1},
    {SAMBA_LANE_SUB, "arith.subf", "arith.subi", -1, -1},
    {SAMBA_LANE_MUL, "arith.mulf", "arith.muli", -1, -1},
    {SAMBA_LANE_FMA, "math.fma", NULL, -1, -1},
    {SAMBA_LANE_DIV, "arith.divf", "arith.divsi", -1, -1},
    {SAMBA_LANE_REM, "arith.remf", "arith.remsi", -1, -1},
    {SAMBA_LANE_NEG, "arith.negf", NULL, -1, -1},
    {SAMBA_LANE_ABS, "math.absf", "math.absi", -1, -1},
    {SAMBA_LANE_MIN, "arith.minimumf", "arith.minsi", -1, -1},
    {SAMBA_LANE_MAX, "arith.maximumf", "arith.maxsi", -1, -1},
    {SAMBA_LANE_AND, NULL, "arith.andi", -1, -1},
    {SAMBA_LANE_OR, NULL, "arith.ori", -1, -1},
    {SAMBA_LANE_XOR, NULL, "arith.xori", -1, -1},
    {SAMBA_LANE_SHL, NULL, "arith.shli", -1, -1},
    {SAMBA_LANE_SHRA, NULL, "arith.shrsi", -1, -1},
    {SAMBA_LANE_SHRL, NULL, "arith.shrui", -1, -1},
    {SAMBA_LANE_EQ, "arith.cmpf", "arith.cmpi", 1, 0},
    {SAMBA_LANE_NE, "arith.cmpf", "arith.cmpi", 13, 1},
    {SAMBA_LANE_LT, "arith.cmpf", "arith.cmpi", 4, 2},
    {SAMBA_LANE_LE, "arith.cmpf", "arith.cmpi", 5, 3},
    {SAMBA_LANE_GT, "arith.cmpf", "arith.cmpi", 2, 4},
    {SAMBA_LANE_GE, "arith.cmpf", "arith.cmpi", 3, 5},
    {SAMBA_LANE_SELECT, "arith.select", "arith.select", -1, -1},
    {SAMBA_LANE_FLOOR, "math.floor", NULL, -1, -1},
    {SAMBA_LANE_CEIL, "math.ceil", NULL, -1, -1},
    {SAMBA_LANE_ROUNDEVEN, "math.roundeven", NULL, -1, -1},
    {SAMBA_LANE_TRUNC, "math.trunc", NULL, -1, -1},
    {SAMBA_LANE_EXP, "math.exp", NULL, -1, -1},
    {SAMBA_LANE_LOG, "math.log", NULL, -1, -1},
    {SAMBA_LANE_SQRT, "math.sqrt", NULL, -1, -1},
    {SAMBA_LANE_RSQRT, "math.rsqrt", NULL, -1, -1},
    {SAMBA_LANE_TANH, "math.tanh", NULL, -1, -1},
    {SAMBA_LANE_ERF, "math.erf", NULL, -1, -1},
    {SAMBA_LANE_SIN, "math.sin", NULL, -1, -1},
    {SAMBA_LANE_COS, "math.cos", NULL, -1, -1},
    {SAMBA_LANE_POW, "math.powf", "math.ipowi", -1, -1},
    {SAMBA_LANE_EXPM1, "math.expm1", NULL, -1, -1},
    {SAMBA_LANE_LOG1P, "math.log1p", NULL, -1, -1},
    {SAMBA_LANE_ATAN, "math.atan", NULL, -1, -1},
};
/* Reductions: the combining operation. MAC on floats is math.fma with the accumulator last. */
static const LaneRow reductionRows[] = {
    {SAMBA_LANE_REDUCE_ADD, "arith.addf", "arith.addi", -1, -1},
    {SAMBA_LANE_REDUCE_MUL, "arith.mulf", "arith.muli", -1, -1},
    {SAMBA_LANE_REDUCE_MIN, "arith.minimumf", "arith.minsi", -1, -1},
    {SAMBA_LANE_REDUCE_MAX, "arith.maximumf", "arith.maxsi", -1, -1},
    {SAMBA_LANE_REDUCE_AND, NULL, "arith.andi", -1, -1},
    {SAMBA_LANE_REDUCE_OR, NULL, "arith.ori", -1, -1},
};
enum {
  rowCount = sizeof rows / sizeof *rows,
  reductionRowCount = sizeof reductionRows / sizeof *reductionRows
};

static MlirValue build(MlirBlock block, MlirLocation location, const char *name, intptr_t count,
                       const MlirValue *operands, SambaDType result) {
  MlirOperation none = {NULL};
  return sambaBuildUnaryOrMore(block, none, location, name, count, operands,
                               sambaDTypeToType(mlirLocationGetContext(location), result));
}

static MlirAttribute constantAttribute(MlirContext context, SambaDType type, uint64_t bits) {
  MlirType mlir_type = sambaDTypeToType(context, type);
  if (type == SAMBA_DTYPE_I32)
    return mlirIntegerAttrGet(mlir_type, (int32_t)bits);
  if (type == SAMBA_DTYPE_I1)
    return mlirIntegerAttrGet(mlir_type, (int64_t)(bits & 1));
  if (type != SAMBA_DTYPE_F32)
    return mlirIntegerAttrGet(mlir_type, (int64_t)bits);
  uint32_t narrow = (uint32_t)bits;
  float value;
  memcpy(&value, &narrow, sizeof value);
  return mlirFloatAttrDoubleGet(context, mlir_type, (double)value);
}

static MlirValue buildConstant(MlirBlock block, MlirLocation location, SambaDType type,
                               uint64_t bits) {
  MlirOperation none = {NULL};
  return sambaBuildConstant(block, none, location,
                            constantAttribute(mlirLocationGetContext(location), type, bits));
}

MlirValue sambaLaneBodyExtend(MlirBlock block, MlirLocation location, SambaDType dtype,
                              MlirValue element) {
  switch (dtype) {
  case SAMBA_DTYPE_BF16:
  case SAMBA_DTYPE_F16:
    return build(block, location, "arith.extf", 1, &element, SAMBA_DTYPE_F32);
  case SAMBA_DTYPE_UI8: { /* arith works on signless integers */
    MlirValue plain =
        build(block, location, "builtin.unrealized_conversion_cast", 1, &element, SAMBA_DTYPE_I8);
    return build(block, location, "arith.extui", 1, &plain, SAMBA_DTYPE_I32);
  }
  case SAMBA_DTYPE_I8:
  case SAMBA_DTYPE_I16:
    return build(block, location, "arith.extsi", 1, &element, SAMBA_DTYPE_I32);
  default:
    return element;
  }
}

static bool operationIs(MlirOperation operation, const char *name) {
  return mlirStringRefEqual(mlirIdentifierStr(mlirOperationGetName(operation)),
                            sambaMlirString(name));
}

MlirValue sambaLaneBodyNarrow(MlirBlock block, MlirLocation location, SambaDType dtype,
                              MlirValue value) {
  MlirType wanted = sambaDTypeToType(mlirLocationGetContext(location), dtype);
  if (mlirTypeEqual(mlirValueGetType(value), wanted))
    return value;

  /* A rounded or wrapped lane value is an extension of the narrow one: give that. */
  for (MlirValue source = value; mlirValueIsAOpResult(source);) {
    MlirOperation owner = mlirOpResultGetOwner(source);
    if (!operationIs(owner, "arith.extf") && !operationIs(owner, "arith.extsi") &&
        !operationIs(owner, "arith.extui") &&
        !operationIs(owner, "builtin.unrealized_conversion_cast"))
      break;
    source = mlirOperationGetOperand(owner, 0);
    if (mlirTypeEqual(mlirValueGetType(source), wanted))
      return source;
  }

  if (sambaDTypeIsFloat(dtype))
    return build(block, location, "arith.truncf", 1, &value, dtype);
  if (dtype != SAMBA_DTYPE_UI8)
    return build(block, location, "arith.trunci", 1, &value, dtype);
  MlirValue plain = build(block, location, "arith.trunci", 1, &value, SAMBA_DTYPE_I8);

  return build(block, location, "builtin.unrealized_conversion_cast", 1, &plain, SAMBA_DTYPE_UI8);
}

static MlirValue buildComparison(MlirBlock block, MlirLocation location, const char *name,
                                 int predicate, const MlirValue *operands) {
  MlirContext context = mlirLocationGetContext(location);
  MlirType result = mlirIntegerTypeGet(context, 1);
  MlirNamedAttribute attribute = sambaNamedAttribute(
      context, "predicate", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), predicate));
  SambaOperationParts parts = {.name = name,
                               .location = location,
                               .operand_count = 2,
                               .operands = operands,
                               .result_count = 1,
                               .results = &result,
                               .attribute_count = 1,
                               .attributes = &attribute};
  MlirOperation none = {NULL};

  return mlirOperationGetResult(sambaBuildOperationIn(block, none, &parts), 0);
}

static SambaDType classOfValue(MlirValue value) {
  return sambaDTypeFromType(mlirValueGetType(value));
}

static MlirValue emitConversion(MlirBlock block, MlirLocation location, const SambaLaneOp *op,
                                const MlirValue *operands) {
  SambaDType from = classOfValue(operands[0]);
  SambaDType to = (SambaDType)op->type;

  switch (op->opcode) {
  case SAMBA_LANE_TO_BF16:
  case SAMBA_LANE_TO_F16: {
    SambaDType narrow = op->opcode == SAMBA_LANE_TO_BF16 ? SAMBA_DTYPE_BF16 : SAMBA_DTYPE_F16;
    MlirValue rounded = build(block, location, "arith.truncf", 1, operands, narrow);
    return build(block, location, "arith.extf", 1, &rounded, SAMBA_DTYPE_F32);
  }
  case SAMBA_LANE_FLOAT_TO_INT:
    return build(block, location, "arith.fptosi", 1, operands, to);
  case SAMBA_LANE_INT_TO_FLOAT:
    return build(block, location, from == SAMBA_DTYPE_I1 ? "arith.uitofp" : "arith.sitofp", 1,
                 operands, SAMBA_DTYPE_F32);
  case SAMBA_LANE_WRAP: {
    SambaDType narrow = (SambaDType)op->immediate;
    MlirValue cut = sambaLaneBodyNarrow(block, location, narrow, operands[0]);
    if (narrow == SAMBA_DTYPE_I1)
      return build(block, location, "arith.extui", 1, &cut, SAMBA_DTYPE_I32);
    return sambaLaneBodyExtend(block, location, narrow, cut);
  }
  default: /* INT_RESIZE */
    if (from == to)
      return operands[0];
    if (to == SAMBA_DTYPE_I1) {
      MlirValue pair[2] = {operands[0], buildConstant(block, location, from, 0)};
      return buildComparison(block, location, "arith.cmpi", 1, pair);
    }
    if (from == SAMBA_DTYPE_I1)
      return build(block, location, "arith.extui", 1, operands, to);
    return build(block, location, to == SAMBA_DTYPE_I64 ? "arith.extsi" : "arith.trunci", 1,
                 operands, to);
  }
}

MlirValue sambaLaneBodyEmit(MlirBlock block, MlirLocation location, const SambaLaneOp *op,
                            const MlirValue *operands) {
  SambaDType type = (SambaDType)op->type;
  bool is_float = type == SAMBA_DTYPE_F32;

  if (op->opcode == SAMBA_LANE_CONSTANT)
    return buildConstant(block, location, type, op->immediate);
  if (op->opcode == SAMBA_LANE_MOVE)
    return operands[0];
  if (sambaLaneOpClass(op->opcode) == 'C')
    return emitConversion(block, location, op, operands);
  if (op->opcode == SAMBA_LANE_NEG && !is_float) {
    MlirValue pair[2] = {buildConstant(block, location, type, 0), operands[0]};
    return build(block, location, "arith.subi", 2, pair, type);
  }

  if (op->opcode == SAMBA_LANE_FMA && !is_float) {
    MlirValue pair[2] = {build(block, location, "arith.muli", 2, operands, type), operands[2]};
    return build(block, location, "arith.addi", 2, pair, type);
  }

  for (int i = 0; i < rowCount; ++i) {
    const char *name = is_float ? rows[i].on_float : rows[i].on_integer;
    if (rows[i].opcode != op->opcode || !name)
      continue;
    int predicate = is_float ? rows[i].float_predicate : rows[i].integer_predicate;
    if (predicate >= 0)
      return buildComparison(block, location, name, predicate, operands);
    return build(block, location, name, sambaLaneOpOperands(op->opcode), operands, type);
  }

  return (MlirValue){NULL};
}

MlirValue sambaLaneBodyEmitReduction(MlirBlock block, MlirLocation location, const SambaLaneOp *op,
                                     const MlirValue *operands, MlirValue accumulator) {
  SambaDType type = (SambaDType)op->type;
  bool is_float = type == SAMBA_DTYPE_F32;

  if (op->opcode == SAMBA_LANE_MAC) {
    MlirValue three[3] = {operands[0], operands[1], accumulator};
    SambaLaneOp fma = {.opcode = SAMBA_LANE_FMA, .type = op->type};
    return sambaLaneBodyEmit(block, location, &fma, three);
  }

  for (int i = 0; i < reductionRowCount; ++i) {
    const char *name = is_float ? reductionRows[i].on_float : reductionRows[i].on_integer;
    if (reductionRows[i].opcode != op->opcode || !name)
      continue;
    MlirValue pair[2] = {accumulator, operands[0]};
    return build(block, location, name, 2, pair, type);
  }

  return (MlirValue){NULL};
}

MlirAttribute sambaLaneReductionIdentity(MlirContext context, const SambaLaneOp *op) {
  SambaDType type = (SambaDType)op->type;
  MlirType mlir_type = sambaDTypeToType(context, type);
  bool is_float = type == SAMBA_DTYPE_F32;
  int64_t lowest = INT32_MIN;
  int64_t highest = INT32_MAX;
  if (type == SAMBA_DTYPE_I64)
    lowest = INT64_MIN, highest = INT64_MAX;
  else if (type == SAMBA_DTYPE_I1)
    lowest = 0, highest = 1;
  double real = 0;
  int64_t integer = 0;

  switch (op->opcode) {
  case SAMBA_LANE_REDUCE_MUL:
    real = 1, integer = 1;
    break;
  case SAMBA_LANE_REDUCE_MIN:
    real = INFINITY, integer = highest;
    break;
  case SAMBA_LANE_REDUCE_MAX:
    real = -INFINITY, integer = lowest;
    break;
  case SAMBA_LANE_REDUCE_AND:
    integer = type == SAMBA_DTYPE_I1 ? 1 : -1;
    break;
  default:
    break;
  }

  return is_float ? mlirFloatAttrDoubleGet(context, mlir_type, real)
                  : mlirIntegerAttrGet(mlir_type, integer);
}

static int64_t predicateOf(MlirOperation operation) {
  MlirAttribute attribute = sambaOperationAttribute(operation, "predicate");
  return mlirAttributeIsNull(attribute) ? -1 : mlirIntegerAttrGetValueInt(attribute);
}

static SambaLaneRead readConstant(MlirOperation operation, SambaLaneOp *out_op) {
  MlirAttribute value = sambaOperationAttribute(operation, "value");
  SambaDType type = classOfValue(mlirOperationGetResult(operation, 0));

  out_op->opcode = SAMBA_LANE_CONSTANT;
  out_op->type = (uint8_t)type;
  if (mlirAttributeIsAFloat(value)) {
    float real = (float)mlirFloatAttrGetValueDouble(value);
    uint32_t bits;
    memcpy(&bits, &real, sizeof bits);
    out_op->immediate = bits;
    out_op->type = SAMBA_DTYPE_F32;
    return SAMBA_LANE_READ_OP;
  }

  if (!mlirAttributeIsAInteger(value) || type == SAMBA_DTYPE_COUNT)
    return SAMBA_LANE_READ_UNKNOWN;
  int64_t integer = mlirIntegerAttrGetValueInt(value);
  out_op->type = (uint8_t)sambaDTypeLaneClass(type);
  switch (type) {
  case SAMBA_DTYPE_I64:
    out_op->immediate = (uint64_t)integer;
    break;
  case SAMBA_DTYPE_I1:
    out_op->immediate = (uint64_t)(integer & 1);
    break;
  case SAMBA_DTYPE_UI8:
    out_op->immediate = (uint8_t)integer;
    break;
  default:
    out_op->immediate = (uint32_t)(int32_t)integer;
  }
  return SAMBA_LANE_READ_OP;
}

/* A narrow constant was read with its sign; as ui8 it is another number. */
static bool readZeroExtendedConstant(MlirValue value, SambaLaneOp *out_op) {
  while (mlirValueIsAOpResult(value)) {
    MlirOperation owner = mlirOpResultGetOwner(value);
    if (operationIs(owner, "arith.constant")) {
      SambaDType dtype = classOfValue(value);
      if (dtype != SAMBA_DTYPE_I8 && dtype != SAMBA_DTYPE_I16)
        return false;
      SambaLaneRead read = readConstant(owner, out_op);
      out_op->immediate &= dtype == SAMBA_DTYPE_I8 ? 0xff : 0xffff;
      return read == SAMBA_LANE_READ_OP;
    }
    if (!operationIs(owner, "builtin.unrealized_conversion_cast"))
      return false;
    value = mlirOperationGetOperand(owner, 0);
  }

  return false;
}

/* What a truncation wraps to. i8 has no sign of its own: a cast to ui8 or a zero extension of the
 * result makes it ui8. */
static SambaDType wrappedType(MlirOperation truncation, SambaDType to) {
  if (to == SAMBA_DTYPE_I16)
    return SAMBA_DTYPE_I16;
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(truncation, 0));
  if (mlirOpOperandIsNull(use))
    return SAMBA_DTYPE_I8;
  MlirOperation user = mlirOpOperandGetOwner(use);
  bool as_unsigned =
      operationIs(user, "builtin.unrealized_conversion_cast") || operationIs(user, "arith.extui");
  return as_unsigned ? SAMBA_DTYPE_UI8 : SAMBA_DTYPE_I8;
}

static SambaLaneRead readConversion(MlirOperation operation, SambaLaneOp *out_op, bool *out_known) {
  *out_known = true;
  SambaDType from = classOfValue(mlirOperationGetOperand(operation, 0));
  SambaDType to = classOfValue(mlirOperationGetResult(operation, 0));

  if (operationIs(operation, "arith.extf") ||
      operationIs(operation, "builtin.unrealized_conversion_cast"))
    return SAMBA_LANE_READ_FORWARD;
  if (operationIs(operation, "arith.truncf")) {
    out_op->opcode = to == SAMBA_DTYPE_BF16 ? SAMBA_LANE_TO_BF16 : SAMBA_LANE_TO_F16;
    out_op->type = SAMBA_DTYPE_F32;
    return SAMBA_LANE_READ_OP;
  }

  if (operationIs(operation, "arith.extui") && to == SAMBA_DTYPE_I32 &&
      readZeroExtendedConstant(mlirOperationGetOperand(operation, 0), out_op))
    return SAMBA_LANE_READ_OP;
  if (operationIs(operation, "arith.extsi") || operationIs(operation, "arith.extui")) {
    if (from == SAMBA_DTYPE_I8 || from == SAMBA_DTYPE_I16 || from == SAMBA_DTYPE_UI8)
      return to == SAMBA_DTYPE_I32 ? SAMBA_LANE_READ_FORWARD : SAMBA_LANE_READ_UNKNOWN;
    out_op->opcode = SAMBA_LANE_INT_RESIZE;
    out_op->type = (uint8_t)to;
    return SAMBA_LANE_READ_OP;
  }

  if (operationIs(operation, "arith.trunci")) {
    bool narrow = to == SAMBA_DTYPE_I8 || to == SAMBA_DTYPE_I16;
    out_op->opcode = narrow ? SAMBA_LANE_WRAP : SAMBA_LANE_INT_RESIZE;
    out_op->type = narrow ? SAMBA_DTYPE_I32 : (uint8_t)to;
    if (narrow)
      out_op->immediate = wrappedType(operation, to);
    return SAMBA_LANE_READ_OP;
  }

  if (operationIs(operation, "arith.fptosi")) {
    out_op->opcode = SAMBA_LANE_FLOAT_TO_INT;
    out_op->type = (uint8_t)to;
    return to == SAMBA_DTYPE_I32 || to == SAMBA_DTYPE_I64 ? SAMBA_LANE_READ_OP
                                                          : SAMBA_LANE_READ_UNKNOWN;
  }

  if (operationIs(operation, "arith.sitofp") || operationIs(operation, "arith.uitofp")) {
    out_op->opcode = SAMBA_LANE_INT_TO_FLOAT;
    out_op->type = (uint8_t)from;
    return SAMBA_LANE_READ_OP;
  }

  *out_known = false;
  return SAMBA_LANE_READ_UNKNOWN;
}

SambaLaneRead sambaLaneBodyRead(MlirOperation operation, SambaLaneOp *out_op) {
  memset(out_op, 0, sizeof *out_op);
  if (mlirOperationGetNumResults(operation) != 1)
    return SAMBA_LANE_READ_UNKNOWN;
  if (operationIs(operation, "arith.constant"))
    return readConstant(operation, out_op);
  if (mlirOperationGetNumOperands(operation) == 0)
    return SAMBA_LANE_READ_UNKNOWN;
  bool known;
  SambaLaneRead conversion = readConversion(operation, out_op, &known);

  if (known)
    return conversion;

  /* The type of an operation is that of its last operand (comparisons: operands; select: the chosen
   * values). */
  SambaDType type =
      classOfValue(mlirOperationGetOperand(operation, mlirOperationGetNumOperands(operation) - 1));
  bool is_float = type == SAMBA_DTYPE_F32;
  if (!is_float && type != SAMBA_DTYPE_I32 && type != SAMBA_DTYPE_I64 && type != SAMBA_DTYPE_I1)
    return SAMBA_LANE_READ_UNKNOWN;
  int64_t predicate = predicateOf(operation);

  for (int i = 0; i < rowCount; ++i) {
    const char *name = is_float ? rows[i].on_float : rows[i].on_integer;
    if (!name || !operationIs(operation, name) ||
        (is_float ? rows[i].float_predicate : rows[i].integer_predicate) != predicate ||
        sambaLaneOpOperands(rows[i].opcode) != (int)mlirOperationGetNumOperands(operation))
      continue;
    out_op->opcode = rows[i].opcode;
    out_op->type = (uint8_t)type;
    return SAMBA_LANE_READ_OP;
  }

  return SAMBA_LANE_READ_UNKNOWN;
}

bool sambaLaneBodyReadReduction(MlirOperation operation, MlirValue accumulator, SambaLaneOp *out_op,
                                int *out_count, int out_operands[2]) {
  memset(out_op, 0, sizeof *out_op);
  intptr_t count = mlirOperationGetNumOperands(operation);
  SambaDType type = classOfValue(accumulator);
  bool is_float = type == SAMBA_DTYPE_F32;

  out_op->type = (uint8_t)type;
  if (operationIs(operation, "math.fma") &&
      mlirValueEqual(mlirOperationGetOperand(operation, 2), accumulator)) {
    out_op->opcode = SAMBA_LANE_MAC;
    *out_count = 2;
    out_operands[0] = 0, out_operands[1] = 1;
    return true;
  }

  if (count != 2)
    return false;
  int at = 0;
  while (at < 2 && !mlirValueEqual(mlirOperationGetOperand(operation, at), accumulator))
    ++at;
  if (at == 2)
    return false;

  for (int i = 0; i < reductionRowCount; ++i) {
    const char *name = is_float ? reductionRows[i].on_float : reductionRows[i].on_integer;
    if (!name || !operationIs(operation, name))
      continue;
    out_op->opcode = reductionRows[i].opcode;
    *out_count = 1;
    out_operands[0] = 1 - at;
    return true;
  }

  return false;
}
