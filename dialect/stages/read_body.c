/* Bodies of structured operations; see read_body.h.
 *
 * From the value that is yielded it is found what it needs: operations of the body, elements of
 * operands, elements that are read at places of their own (tensor.extract), constants from outside.
 * Operands come first in a stage, in the order of the operation's; then the operations as they
 * stand. */
#include "dialect/stages/read_body.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/kind.h"
#include "dialect/stages/body_operations.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

/* The most that one operation of a body becomes. */
enum { mostOfOne = 48 };

void sambaBodyStageFree(SambaBodyStage *stage) {
  sambaPointerMapFree(&stage->values);
  sambaPointerMapFree(&stage->zeros);
  sambaPointerMapFree(&stage->depends);
  sambaPointerMapFree(&stage->needed);
  sambaPointerMapFree(&stage->extracted);
}

/*===-- Maps ----------------------------------------------------------------------------------===*/

static bool addExpression(const SambaBodyStage *stage, MlirAffineExpr expression, int64_t factor,
                          SambaAxisMap *axis) {
  if (mlirAffineExprIsADim(expression)) {
    intptr_t loop = mlirAffineDimExprGetPosition(expression);
    if (loop >= stage->structured->loop_count)
      return false;
    axis->coefficients[stage->dim_of[loop]] += factor;
    return true;
  }

  if (mlirAffineExprIsAConstant(expression)) {
    axis->constant += factor * mlirAffineConstantExprGetValue(expression);
    return true;
  }

  if (!mlirAffineExprIsAAdd(expression) && !mlirAffineExprIsAMul(expression))
    return false;
  MlirAffineExpr left = mlirAffineBinaryOpExprGetLHS(expression);
  MlirAffineExpr right = mlirAffineBinaryOpExprGetRHS(expression);
  if (mlirAffineExprIsAAdd(expression))
    return addExpression(stage, left, factor, axis) && addExpression(stage, right, factor, axis);
  if (mlirAffineExprIsAConstant(left))
    return addExpression(stage, right, factor * mlirAffineConstantExprGetValue(left), axis);
  return mlirAffineExprIsAConstant(right) &&
         addExpression(stage, left, factor * mlirAffineConstantExprGetValue(right), axis);
}

bool sambaReadAxis(const SambaBodyStage *stage, MlirAffineExpr expression, SambaAxisMap *out_axis) {
  *out_axis = (SambaAxisMap){0};
  return addExpression(stage, expression, 1, out_axis);
}

SambaStatus sambaReadMap(const SambaBodyStage *stage, uint32_t position,
                         SambaStageOperand *out_operand) {
  MlirAffineMap map =
      mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(stage->structured->maps, position));
  *out_operand = (SambaStageOperand){.index_operand = SAMBA_NO_INDEX};
  for (intptr_t a = 0; a < mlirAffineMapGetNumResults(map); ++a)
    if (a >= SAMBA_MAX_RANK ||
        !sambaReadAxis(stage, mlirAffineMapGetResult(map, a), &out_operand->axes[a]))
      return sambaStatusMake(SAMBA_UNSUPPORTED, "a '%.*s' with an indexing map that is not linear",
                             SAMBA_STRING_ARGS(sambaReaderName(stage->structured->operation)));
  return NULL;
}

/*===-- What the result needs -----------------------------------------------------------------===*/

/* Elements that are read at places of their own are read as operands; what computes the place is no
 * operation of the program. */
static bool isExtract(MlirOperation operation) {
  return sambaOperationIs(operation, "tensor.extract");
}

static void markNeeded(SambaBodyStage *stage, MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  uint32_t unused;
  if (sambaPointerMapGet(&stage->structured->computed, value.ptr, &unused) ||
      sambaPointerMapGet(&stage->needed, value.ptr, &unused))
    return;
  sambaPointerMapSet(&stage->needed, value.ptr, 0);
  if (mlirOperationIsNull(maker) ||
      !mlirBlockEqual(mlirOperationGetBlock(maker), stage->structured->body) || isExtract(maker))
    return;
  sambaPointerMapSet(&stage->needed, maker.ptr, 0);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(maker); ++i)
    markNeeded(stage, mlirOperationGetOperand(maker, i));
}

static bool isNeeded(const SambaBodyStage *stage, const void *thing) {
  uint32_t unused;
  return sambaPointerMapGet(&stage->needed, thing, &unused);
}

/* What is made of the accumulator: the reduction, which is read as a whole. */
static void markDependent(SambaBodyStage *stage) {
  if (mlirValueIsNull(stage->accumulator))
    return;
  sambaPointerMapSet(&stage->depends, stage->accumulator.ptr, 0);
  MlirOperation operation = mlirBlockGetFirstOperation(stage->structured->body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    uint32_t unused;
    bool depends = false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
      depends |=
          sambaPointerMapGet(&stage->depends, mlirOperationGetOperand(operation, i).ptr, &unused);
    for (intptr_t r = 0; depends && r < mlirOperationGetNumResults(operation); ++r)
      sambaPointerMapSet(&stage->depends, mlirOperationGetResult(operation, r).ptr, 0);
  }
}

bool sambaBodyDependsOnAccumulator(const SambaBodyStage *stage, MlirValue value) {
  uint32_t unused;
  return sambaPointerMapGet(&stage->depends, value.ptr, &unused);
}

/*===-- Operands ------------------------------------------------------------------------------===*/

/* operand->tensor: number of the reader's value, whose dtype decides the lane class. */
static SambaStatus addOperand(SambaBodyStage *stage, const SambaStageOperand *operand,
                              SambaDType dtype, uint16_t *out_value) {
  SambaStage *made = &stage->builder.stage;
  if (made->operand_count == SAMBA_MAX_STAGE_OPERANDS)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a '%.*s' that reads more than %d tensors",
                           SAMBA_STRING_ARGS(sambaReaderName(stage->structured->operation)),
                           SAMBA_MAX_STAGE_OPERANDS);
  made->operands[made->operand_count] = *operand;
  stage->builder.types[made->operand_count] = (uint8_t)sambaDTypeLaneClass(dtype);
  *out_value = (uint16_t)made->operand_count++;
  return NULL;
}

static SambaStatus addBlockArgument(SambaBodyStage *stage, uint32_t position) {
  SambaStructured *structured = stage->structured;
  MlirValue argument = mlirBlockGetArgument(structured->body, position);
  SambaStageOperand operand;
  uint32_t index;
  uint16_t value;

  SAMBA_RETURN_IF_ERROR(sambaReadMap(stage, position, &operand));
  SAMBA_RETURN_IF_ERROR(sambaReaderGetValue(
      structured->reader, mlirOperationGetOperand(structured->operation, position), &index));
  const SambaSectionReaderValue *read = &structured->reader->values.data[index];
  if (read->is_empty)
    return sambaStatusMake(SAMBA_INVALID, "a '%.*s' reads a 'tensor.empty'",
                           SAMBA_STRING_ARGS(sambaReaderName(structured->operation)));
  operand.tensor = index;
  SAMBA_RETURN_IF_ERROR(addOperand(stage, &operand, read->type.dtype, &value));
  sambaPointerMapSet(&stage->values, argument.ptr, value);
  if (read->type.dtype == SAMBA_DTYPE_UI8)
    sambaPointerMapSet(&stage->zeros, argument.ptr, 0);
  return NULL;
}

/* A place: a sum over loops and constants, and at most one integer that is read from a tensor. */
typedef struct Place {
  SambaAxisMap axis;
  uint32_t index_operand; /* SAMBA_NO_INDEX: none */
} Place;

static SambaStatus readExtract(SambaBodyStage *stage, MlirOperation extract, uint16_t *out_value);

static bool constantOf(MlirValue value, int64_t *out_number) {
  MlirOperation maker = sambaDefiningOperation(value);
  if (mlirOperationIsNull(maker) || !sambaOperationIs(maker, "arith.constant"))
    return false;
  MlirAttribute attribute = sambaOperationAttribute(maker, "value");
  if (!mlirAttributeIsAInteger(attribute))
    return false;
  *out_number = mlirIntegerAttrGetValueInt(attribute);
  return true;
}

static bool isCast(MlirOperation operation) {
  static const char *const casts[] = {"arith.index_cast", "arith.extsi", "arith.trunci"};
  for (size_t i = 0; i < sizeof casts / sizeof *casts; ++i)
    if (sambaOperationIs(operation, casts[i]))
      return true;
  return false;
}

static SambaStatus refusePlace(const SambaBodyStage *stage, const char *why) {
  return sambaStatusMake(
      SAMBA_UNSUPPORTED,
      "a 'tensor.extract' in the body of a '%.*s' %s; a place is a sum of loops, "
      "constants and one integer of a tensor",
      SAMBA_STRING_ARGS(sambaReaderName(stage->structured->operation)), why);
}

static SambaStatus addPlace(SambaBodyStage *stage, MlirValue value, int64_t factor, Place *place) {
  MlirOperation maker = sambaDefiningOperation(value);
  int64_t number;
  uint32_t id;
  if (constantOf(value, &number)) {
    place->axis.constant += factor * number;
    return NULL;
  }

  if (mlirOperationIsNull(maker) || isExtract(maker)) { /* an integer of a tensor */
    uint16_t read;
    if (factor != 1 || place->index_operand != SAMBA_NO_INDEX)
      return refusePlace(stage, "multiplies or adds the integers of tensors");
    if (!mlirOperationIsNull(maker)) {
      SAMBA_RETURN_IF_ERROR(readExtract(stage, maker, &read));
      id = read;
    } else if (!sambaPointerMapGet(&stage->values, value.ptr, &id)) {
      return refusePlace(stage, "reads the result");
    }
    place->index_operand = id;
    return NULL;
  }

  if (sambaOperationIs(maker, "linalg.index")) {
    int64_t loop = mlirIntegerAttrGetValueInt(sambaOperationAttribute(maker, "dim"));
    place->axis.coefficients[stage->dim_of[loop]] += factor;
    return NULL;
  }
  if (isCast(maker))
    return addPlace(stage, mlirOperationGetOperand(maker, 0), factor, place);

  MlirValue left = mlirOperationGetOperand(maker, 0);
  bool adds = sambaOperationIs(maker, "arith.addi"),
       subtracts = sambaOperationIs(maker, "arith.subi");
  if (adds || subtracts) {
    SAMBA_RETURN_IF_ERROR(addPlace(stage, left, factor, place));
    return addPlace(stage, mlirOperationGetOperand(maker, 1), adds ? factor : -factor, place);
  }
  if (sambaOperationIs(maker, "arith.muli") &&
      constantOf(mlirOperationGetOperand(maker, 1), &number))
    return addPlace(stage, left, factor * number, place);
  if (sambaOperationIs(maker, "arith.muli") && constantOf(left, &number))
    return addPlace(stage, mlirOperationGetOperand(maker, 1), factor * number, place);
  return refusePlace(stage, "computes its place");
}

static SambaStatus readExtract(SambaBodyStage *stage, MlirOperation extract, uint16_t *out_value) {
  SambaSectionReader *reader = stage->structured->reader;
  MlirValue result = mlirOperationGetResult(extract, 0);
  SambaStageOperand operand = {.index_operand = SAMBA_NO_INDEX};
  uint32_t known;
  if (sambaPointerMapGet(&stage->extracted, result.ptr, &known)) {
    *out_value = (uint16_t)known;
    return NULL;
  }

  SAMBA_RETURN_IF_ERROR(
      sambaReaderGetValue(reader, mlirOperationGetOperand(extract, 0), &operand.tensor));
  const SambaTensorType type = reader->values.data[operand.tensor].type;
  for (uint32_t a = 0; a < type.rank; ++a) {
    Place place = {.index_operand = SAMBA_NO_INDEX};
    SAMBA_RETURN_IF_ERROR(
        addPlace(stage, mlirOperationGetOperand(extract, 1 + (intptr_t)a), 1, &place));
    operand.axes[a] = place.axis;
    if (place.index_operand == SAMBA_NO_INDEX)
      continue;
    if (operand.index_operand != SAMBA_NO_INDEX)
      return refusePlace(stage, "takes two of its axes from tensors");
    operand.index_operand = place.index_operand;
    operand.index_axis = a;
  }

  SAMBA_RETURN_IF_ERROR(addOperand(stage, &operand, type.dtype, out_value));
  sambaPointerMapSet(&stage->extracted, result.ptr, *out_value);
  sambaPointerMapSet(&stage->values, result.ptr, *out_value);
  return NULL;
}

/* The block arguments that a place needs are operands too. */
static void markPlaces(SambaBodyStage *stage, MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  sambaPointerMapSet(&stage->needed, value.ptr, 0);
  if (mlirOperationIsNull(maker) ||
      !mlirBlockEqual(mlirOperationGetBlock(maker), stage->structured->body))
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(maker); ++i)
    markPlaces(stage, mlirOperationGetOperand(maker, i));
}

static SambaStatus readOperands(SambaBodyStage *stage) {
  const SambaStructured *structured = stage->structured;
  MlirOperation operation = mlirBlockGetFirstOperation(structured->body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (isExtract(operation) && isNeeded(stage, mlirOperationGetResult(operation, 0).ptr))
      markPlaces(stage, mlirOperationGetResult(operation, 0));

  for (intptr_t i = 0; i < mlirBlockGetNumArguments(structured->body); ++i) {
    MlirValue argument = mlirBlockGetArgument(structured->body, i);
    if (!isNeeded(stage, argument.ptr) || mlirValueEqual(argument, stage->accumulator))
      continue;
    if (!mlirValueIsNull(stage->accumulator) && i >= structured->input_count)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "a '%.*s' that reduces two results together; make an operation of "
                             "each",
                             SAMBA_STRING_ARGS(sambaReaderName(structured->operation)));
    SAMBA_RETURN_IF_ERROR(addBlockArgument(stage, (uint32_t)i));
  }

  operation = mlirBlockGetFirstOperation(structured->body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    uint16_t unused;
    if (isExtract(operation) && isNeeded(stage, mlirOperationGetResult(operation, 0).ptr))
      SAMBA_RETURN_IF_ERROR(readExtract(stage, operation, &unused));
  }
  return NULL;
}

/* Values from outside of the body that are no constants: elements at constant places. And what
 * earlier stages have left. */
static SambaStatus readOutside(SambaBodyStage *stage, MlirValue value) {
  SambaStructured *structured = stage->structured;
  SambaSectionReader *reader = structured->reader;
  MlirOperation maker = sambaDefiningOperation(value);
  uint32_t index;
  uint16_t made;
  if (sambaPointerMapGet(&stage->values, value.ptr, &index) || mlirOperationIsNull(maker))
    return NULL;
  if (sambaPointerMapGet(&structured->computed, value.ptr, &index)) {
    SambaStageOperand operand = structured->whole.data[index];
    for (uint32_t a = 0; a < SAMBA_MAX_RANK; ++a) { /* kept over loops */
      SambaAxisMap loops = operand.axes[a];
      memset(operand.axes[a].coefficients, 0, sizeof loops.coefficients);
      for (uint32_t l = 0; l < structured->loop_count; ++l)
        operand.axes[a].coefficients[stage->dim_of[l]] = loops.coefficients[l];
    }
    SAMBA_RETURN_IF_ERROR(
        addOperand(stage, &operand, reader->values.data[operand.tensor].type.dtype, &made));
    sambaPointerMapSet(&stage->values, value.ptr, made);
    return NULL;
  }

  if (mlirBlockEqual(mlirOperationGetBlock(maker), structured->body) ||
      !sambaPointerMapGet(&reader->value_of, value.ptr, &index) ||
      reader->values.data[index].is_scalar)
    return NULL;
  SambaStageOperand operand = {.tensor = index, .index_operand = SAMBA_NO_INDEX};
  SAMBA_RETURN_IF_ERROR(addOperand(stage, &operand, reader->values.data[index].type.dtype, &made));
  sambaPointerMapSet(&stage->values, value.ptr, made);
  return NULL;
}

static SambaStatus readOutsides(SambaBodyStage *stage, MlirValue yielded) {
  MlirOperation operation = mlirBlockGetFirstOperation(stage->structured->body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    for (intptr_t i = 0;
         isNeeded(stage, operation.ptr) && i < mlirOperationGetNumOperands(operation); ++i)
      SAMBA_RETURN_IF_ERROR(readOutside(stage, mlirOperationGetOperand(operation, i)));
  return readOutside(stage, yielded);
}

/*===-- Operations ----------------------------------------------------------------------------===*/

static bool isIndex(MlirValue value) { return mlirTypeIsAIndex(mlirValueGetType(value)); }

/* index counts as i64. */
static SambaDType dtypeOf(MlirValue value) {
  return isIndex(value) ? SAMBA_DTYPE_I64 : sambaDTypeFromType(mlirValueGetType(value));
}

static uint16_t appendConstant(SambaStageBuilder *builder, SambaDType dtype,
                               MlirAttribute attribute) {
  SambaDType lane = sambaDTypeLaneClass(dtype);
  if (mlirAttributeIsAFloat(attribute))
    return sambaLaneFloat(builder, (float)mlirFloatAttrGetValueDouble(attribute));
  int64_t integer = mlirIntegerAttrGetValueInt(attribute);
  if (dtype == SAMBA_DTYPE_I1)
    integer &= 1;
  else if (dtype == SAMBA_DTYPE_UI8)
    integer &= 0xff;
  return sambaLaneInteger(builder, lane, integer);
}

static SambaStatus refuseType(const SambaBodyStage *stage, MlirOperation operation) {
  return sambaStatusMake(SAMBA_UNSUPPORTED,
                         "'%.*s' in the body of a '%.*s' is not a lane operation",
                         SAMBA_STRING_ARGS(sambaReaderName(operation)),
                         SAMBA_STRING_ARGS(sambaReaderName(stage->structured->operation)));
}

/* The program value of an SSA value that stands before; constants from outside are made here. */
SambaStatus sambaBodyValue(SambaBodyStage *stage, MlirValue value, uint16_t *out_value) {
  uint32_t known;
  MlirOperation maker = sambaDefiningOperation(value);
  if (sambaPointerMapGet(&stage->values, value.ptr, &known)) {
    *out_value = (uint16_t)known;
    return NULL;
  }

  if (!mlirOperationIsNull(maker) && sambaOperationIs(maker, "arith.constant")) {
    SambaDType dtype = dtypeOf(value);
    MlirAttribute attribute = sambaOperationAttribute(maker, "value");
    if (dtype == SAMBA_DTYPE_COUNT ||
        !(mlirAttributeIsAFloat(attribute) || mlirAttributeIsAInteger(attribute)))
      return refuseType(stage, maker);
    *out_value = appendConstant(&stage->builder, dtype, attribute);
    sambaPointerMapSet(&stage->values, value.ptr, *out_value);
    return NULL;
  }

  return refuseType(stage, mlirOperationIsNull(maker) ? stage->structured->operation : maker);
}

/* linalg.index: the cast that follows says which lane class the counter is. */
static void readCounter(SambaBodyStage *stage, MlirOperation operation) {
  int64_t loop = mlirIntegerAttrGetValueInt(sambaOperationAttribute(operation, "dim"));
  MlirValue result = mlirOperationGetResult(operation, 0);
  MlirOperation user = mlirOpOperandGetOwner(mlirValueGetFirstUse(result));
  SambaDType type = SAMBA_DTYPE_I64;
  if (sambaOperationIs(user, "arith.index_cast") &&
      dtypeOf(mlirOperationGetResult(user, 0)) != SAMBA_DTYPE_I64)
    type = SAMBA_DTYPE_I32;
  sambaPointerMapSet(&stage->values, result.ptr,
                     sambaLaneCounter(&stage->builder, stage->dim_of[loop], type));
}

/* The constant behind casts between i8 and ui8; null when there is none. */
static MlirAttribute constantBehind(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  while (!mlirOperationIsNull(maker) &&
         sambaOperationIs(maker, "builtin.unrealized_conversion_cast"))
    maker = sambaDefiningOperation(mlirOperationGetOperand(maker, 0));
  return mlirOperationIsNull(maker) || !sambaOperationIs(maker, "arith.constant")
             ? mlirAttributeGetNull()
             : sambaOperationAttribute(maker, "value");
}

static bool isZeroExtended(const SambaBodyStage *stage, MlirValue value) {
  uint32_t unused;
  return sambaPointerMapGet(&stage->zeros, value.ptr, &unused);
}

/* ui8 and i8 are the same bits: the lane value stays what it is. */
static SambaStatus readCast(SambaBodyStage *stage, MlirOperation operation) {
  MlirValue from = mlirOperationGetOperand(operation, 0), to = mlirOperationGetResult(operation, 0);
  uint16_t value;
  SAMBA_RETURN_IF_ERROR(sambaBodyValue(stage, from, &value));
  SambaDType dtypes[] = {dtypeOf(from), dtypeOf(to)};
  for (int i = 0; i < 2; ++i)
    if (dtypes[i] != SAMBA_DTYPE_I8 && dtypes[i] != SAMBA_DTYPE_UI8)
      return refuseType(stage, operation);
  if (dtypes[1] == SAMBA_DTYPE_UI8 && !isZeroExtended(stage, from))
    value = sambaLaneRound(&stage->builder, value, SAMBA_DTYPE_UI8);
  sambaPointerMapSet(&stage->values, to.ptr, value);
  sambaPointerMapSet(&stage->zeros, to.ptr, 0);
  return NULL;
}

/* i8 has no sign of its own: what a truncation is used as says how it is extended. */
static bool truncatesToUnsigned(MlirOperation operation) {
  MlirValue result = mlirOperationGetResult(operation, 0);
  if (!sambaOperationIs(operation, "arith.trunci") || dtypeOf(result) != SAMBA_DTYPE_I8)
    return false;
  MlirOpOperand use = mlirValueGetFirstUse(result);
  MlirOperation user = mlirOpOperandGetOwner(use);
  return sambaOperationIs(user, "builtin.unrealized_conversion_cast") ||
         sambaOperationIs(user, "arith.extui");
}

/* Operands as the table wants them: index in i64, narrow integers extended by their sign. */
static SambaStatus readCallOperands(SambaBodyStage *stage, MlirOperation operation,
                                    SambaBodyCall *call) {
  bool extends =
      sambaOperationIs(operation, "arith.extui") || sambaOperationIs(operation, "arith.extsi");
  for (uint32_t i = 0; i < call->operand_count; ++i) {
    MlirValue operand = mlirOperationGetOperand(operation, i);
    SAMBA_RETURN_IF_ERROR(sambaBodyValue(stage, operand, &call->values[i]));
    call->dtypes[i] = dtypeOf(operand);
    if (call->dtypes[i] == SAMBA_DTYPE_COUNT)
      return refuseType(stage, operation);
    if (isIndex(operand) && !sambaOperationIs(operation, "arith.index_cast"))
      call->values[i] = sambaLaneCast(&stage->builder, call->values[i], SAMBA_DTYPE_I64);
    if (extends)
      call->is_zero_extended = isZeroExtended(stage, operand);
    else if (isZeroExtended(stage, operand))
      call->values[i] = sambaLaneRound(&stage->builder, call->values[i], SAMBA_DTYPE_I8);
  }
  return NULL;
}

static SambaStatus readRow(SambaBodyStage *stage, MlirOperation operation) {
  const SambaBodyRow *row = sambaBodyRowFind(sambaReaderName(operation));
  MlirValue result = mlirOperationGetResult(operation, 0);
  MlirAttribute predicate = sambaOperationAttribute(operation, "predicate");
  SambaBodyCall call = {
      .builder = &stage->builder,
      .operand_count = (uint32_t)mlirOperationGetNumOperands(operation),
      .result = dtypeOf(result),
      .predicate = mlirAttributeIsNull(predicate) ? -1 : mlirIntegerAttrGetValueInt(predicate)};
  if (!row || call.operand_count > 3 || call.result == SAMBA_DTYPE_COUNT)
    return refuseType(stage, operation);
  MlirAttribute constant = constantBehind(mlirOperationGetOperand(operation, 0));

  if (sambaOperationIs(operation, "arith.extui") && !mlirAttributeIsNull(constant) &&
      mlirAttributeIsAInteger(constant) &&
      dtypeOf(mlirOperationGetOperand(operation, 0)) != SAMBA_DTYPE_I1) {
    /* A narrow constant was read with its sign; here it is another number. */
    int64_t mask = INT64_MAX;
    unsigned bits = 8 * sambaDTypeBytes(dtypeOf(mlirOperationGetOperand(operation, 0)));
    mask = bits < 64 ? ((int64_t)1 << bits) - 1 : -1;
    uint16_t value = sambaLaneInteger(&stage->builder, sambaDTypeLaneClass(call.result),
                                      mlirIntegerAttrGetValueInt(constant) & mask);
    sambaPointerMapSet(&stage->values, result.ptr, value);
    return NULL;
  }

  SAMBA_RETURN_IF_ERROR(readCallOperands(stage, operation, &call));
  bool as_unsigned = truncatesToUnsigned(operation);
  if (as_unsigned) {
    call.result = SAMBA_DTYPE_UI8;
    sambaPointerMapSet(&stage->zeros, result.ptr, 0);
  }
  uint16_t value = sambaBodyRowProgram(row, &call);
  if (value == SAMBA_NO_VALUE)
    return refuseType(stage, operation);
  sambaPointerMapSet(&stage->values, result.ptr, value);
  return NULL;
}

static SambaStatus readOperation(SambaBodyStage *stage, MlirOperation operation) {
  uint16_t unused;
  if (stage->builder.stage.op_count + mostOfOne > SAMBA_MAX_BUILDER_OPS)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a '%.*s' with more than %d lane operations",
                           SAMBA_STRING_ARGS(sambaReaderName(stage->structured->operation)),
                           SAMBA_MAX_BUILDER_OPS - mostOfOne);
  if (mlirOperationGetNumResults(operation) != 1)
    return refuseType(stage, operation);
  if (sambaOperationIs(operation, "arith.constant"))
    return sambaBodyValue(stage, mlirOperationGetResult(operation, 0), &unused);
  if (sambaOperationIs(operation, "linalg.index")) {
    readCounter(stage, operation);
    return NULL;
  }
  return sambaOperationIs(operation, "builtin.unrealized_conversion_cast")
             ? readCast(stage, operation)
             : readRow(stage, operation);
}

SambaStatus sambaBodyRead(SambaBodyStage *stage, MlirValue yielded) {
  markDependent(stage);
  markNeeded(stage, yielded);
  SAMBA_RETURN_IF_ERROR(readOperands(stage));
  SAMBA_RETURN_IF_ERROR(readOutsides(stage, yielded));

  MlirOperation operation = mlirBlockGetFirstOperation(stage->structured->body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation))
    if (isNeeded(stage, operation.ptr) &&
        !sambaBodyDependsOnAccumulator(stage, mlirOperationGetResult(operation, 0)))
      SAMBA_RETURN_IF_ERROR(readOperation(stage, operation));
  return NULL;
}
