/* Operations of linalg as nests; see read_nest.h. */
#include "lowering/raise/read_nest.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "lowering/raise/scalar_rows.h"
#include "support/container/pointer_map.h"
#include "support/number/dtype.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"

#include <string.h>

/*===-- Constants -----------------------------------------------------------------------------===*/

static bool bitsOfAttribute(MlirAttribute attribute, SambaDType dtype, uint64_t *out_bits) {
  if (mlirAttributeIsAFloat(attribute)) {
    *out_bits = sambaFloatToBits(dtype, (float)mlirFloatAttrGetValueDouble(attribute));
    return true;
  }
  if (!mlirAttributeIsAInteger(attribute))
    return false;
  unsigned width = dtype == SAMBA_DTYPE_I1 ? 1 : 8 * sambaDTypeBytes(dtype);
  bool is_unsigned = dtype == SAMBA_DTYPE_UI8;
  *out_bits = (is_unsigned ? mlirIntegerAttrGetValueUInt(attribute)
                           : (uint64_t)mlirIntegerAttrGetValueInt(attribute)) &
              (UINT64_MAX >> (64 - width));
  return true;
}

static bool scalarConstant(MlirValue value, SambaDType *out_dtype, uint64_t *out_bits) {
  MlirOperation owner = sambaDefiningOperation(value);
  *out_dtype = sambaDTypeFromType(mlirValueGetType(value));
  return *out_dtype != SAMBA_DTYPE_COUNT && !mlirOperationIsNull(owner) &&
         sambaOperationIs(owner, "arith.constant") &&
         bitsOfAttribute(sambaOperationAttribute(owner, "value"), *out_dtype, out_bits);
}

bool sambaNestSplat(MlirValue value, SambaDType *out_dtype, uint64_t *out_bits) {
  if (scalarConstant(value, out_dtype, out_bits))
    return true;
  MlirOperation owner = sambaDefiningOperation(value);
  while (!mlirOperationIsNull(owner) && sambaOperationIsView(owner) &&
         !sambaOperationIs(owner, "samba.pad")) /* a view of a splat is one */
    owner = sambaDefiningOperation(mlirOperationGetOperand(owner, 0));
  if (mlirOperationIsNull(owner))
    return false;
  if (sambaOperationIs(owner, "linalg.fill") || sambaOperationIs(owner, "tensor.splat"))
    return scalarConstant(mlirOperationGetOperand(owner, 0), out_dtype, out_bits);
  if (!sambaOperationIs(owner, "arith.constant") && !sambaOperationIs(owner, "samba.constant"))
    return false;
  MlirAttribute attribute = sambaOperationAttribute(owner, "value");
  if (!mlirAttributeIsADenseElements(attribute) || !mlirDenseElementsAttrIsSplat(attribute))
    return false;
  *out_dtype = sambaDTypeFromType(mlirShapedTypeGetElementType(mlirValueGetType(value)));
  return *out_dtype != SAMBA_DTYPE_COUNT &&
         bitsOfAttribute(mlirDenseElementsAttrGetSplatValue(attribute), *out_dtype, out_bits);
}

/*===-- Operands ------------------------------------------------------------------------------===*/

/* On the way from an operation to a nest. */
typedef struct Reader {
  MlirOperation operation;
  SambaExpansion *expansion;
  SambaNest *nest;
  MlirValue *values;
  MlirBlock body;
  SambaPointerMap scalar_of; /* of block arguments and results in the body */
} Reader;

static bool addExpression(MlirAffineExpr expression, int64_t factor, SambaAxisMap *axis) {
  if (mlirAffineExprIsADim(expression)) {
    intptr_t d = mlirAffineDimExprGetPosition(expression);
    if (d >= SAMBA_MAX_STAGE_DIMS)
      return false;
    axis->coefficients[d] += factor;
    return true;
  }
  if (mlirAffineExprIsAConstant(expression)) {
    axis->constant += factor * mlirAffineConstantExprGetValue(expression);
    return true;
  }
  bool is_sum = mlirAffineExprIsAAdd(expression);
  if (!is_sum && !mlirAffineExprIsAMul(expression))
    return false;
  MlirAffineExpr left = mlirAffineBinaryOpExprGetLHS(expression);
  MlirAffineExpr right = mlirAffineBinaryOpExprGetRHS(expression);
  if (is_sum)
    return addExpression(left, factor, axis) && addExpression(right, factor, axis);
  if (mlirAffineExprIsAConstant(left))
    return addExpression(right, factor * mlirAffineConstantExprGetValue(left), axis);
  return mlirAffineExprIsAConstant(right) &&
         addExpression(left, factor * mlirAffineConstantExprGetValue(right), axis);
}

static uint32_t addValue(Reader *reader, const SambaTensorType *type, MlirValue value) {
  uint32_t number = sambaExpandOperand(reader->expansion, type);
  reader->values[number] = value;
  return number;
}

/* What samba.pad was applied to. */
static void readPad(Reader *reader, MlirValue value, SambaNestOperand *operand) {
  MlirOperation pad = sambaDefiningOperation(value);
  if (mlirOperationIsNull(pad) || !sambaOperationIs(pad, "samba.pad"))
    return;
  MlirValue inner = mlirOperationGetOperand(pad, 0);
  MlirAttribute low = sambaOperationAttribute(pad, "low");
  MlirAttribute high = sambaOperationAttribute(pad, "high");
  MlirAttribute fill = sambaOperationAttribute(pad, "value");
  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(inner), &operand->inner_type);
  if (status) {
    sambaStatusFree(status);
    return;
  }

  operand->is_padded = true;
  operand->inner_value = addValue(reader, &operand->inner_type, inner);
  operand->fill = mlirAttributeIsNull(fill) ? 0 : mlirFloatAttrGetValueDouble(fill);
  for (uint32_t a = 0; a < operand->type.rank; ++a) {
    operand->low[a] = mlirDenseI64ArrayGetElement(low, a);
    operand->high[a] = mlirDenseI64ArrayGetElement(high, a);
  }
}

/* A tensor or scalar without its map. */
static bool readValue(Reader *reader, MlirValue value, SambaNestOperand *out) {
  MlirOperation owner = sambaDefiningOperation(value);
  SambaDType dtype;
  *out = (SambaNestOperand){0};
  if (!mlirTypeIsATensor(mlirValueGetType(value))) {
    out->is_splat = sambaNestSplat(value, &dtype, &out->bits);
    out->type.dtype = dtype;
    return out->is_splat;
  }

  SambaStatus status = sambaTensorTypeFromMlir(mlirValueGetType(value), &out->type);
  if (status) {
    sambaStatusFree(status);
    return false;
  }
  out->is_undefined = !mlirOperationIsNull(owner) && sambaOperationIs(owner, "tensor.empty");
  out->is_splat = sambaNestSplat(value, &dtype, &out->bits);
  if (!out->is_splat && !out->is_undefined) {
    out->value = addValue(reader, &out->type, value);
    readPad(reader, value, out);
  }
  return true;
}

static bool readOperand(Reader *reader, MlirAttribute maps, intptr_t position) {
  SambaNest *nest = reader->nest;
  MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, position));
  SambaNestOperand *operand = &nest->operands[nest->operand_count++];
  MlirValue value = mlirOperationGetOperand(reader->operation, position);

  if (!readValue(reader, value, operand) ||
      mlirAffineMapGetNumResults(map) != (intptr_t)operand->type.rank)
    return false;
  for (uint32_t a = 0; a < operand->type.rank; ++a) {
    SambaAxisMap *axis = &operand->axes[a];
    if (!addExpression(mlirAffineMapGetResult(map, a), 1, axis))
      return false;
    for (uint32_t d = 0; d < nest->dim_count; ++d) { /* an axis that one dimension walks plainly */
      SambaAxisMap plain = {0};
      plain.coefficients[d] = 1;
      if (memcmp(&plain, axis, sizeof plain) == 0)
        nest->extents[d] = operand->type.dims[a];
    }
  }
  return true;
}

static bool readOperands(Reader *reader) {
  SambaNest *nest = reader->nest;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(reader->operation);
  intptr_t count = mlirOperationGetNumOperands(reader->operation);
  if (mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) != count ||
      count > SAMBA_MAX_NEST_OPERANDS / 2)
    return false;
  MlirAffineMap first = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0));
  if (mlirAffineMapGetNumDims(first) > SAMBA_MAX_STAGE_DIMS ||
      mlirAffineMapGetNumSymbols(first) != 0)
    return false;

  nest->dim_count = (uint32_t)mlirAffineMapGetNumDims(first);
  nest->output_count = (uint32_t)mlirOperationGetNumResults(reader->operation);
  nest->input_count = (uint32_t)count - nest->output_count;
  if (!nest->output_count || nest->output_count > SAMBA_MAX_NEST_OUTPUTS ||
      nest->output_count > (uint32_t)count)
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!readOperand(reader, maps, i))
      return false;

  /* Dimensions that no output walks are reduced. */
  for (uint32_t d = 0; d < nest->dim_count; ++d) {
    nest->reduced[d] = true;
    for (uint32_t k = 0; k < nest->output_count; ++k)
      for (uint32_t a = 0; a < sambaNestOutput(nest, k)->type.rank; ++a)
        nest->reduced[d] &= !sambaNestOutput(nest, k)->axes[a].coefficients[d];
    nest->reduces |= nest->reduced[d];
    if (nest->extents[d] < 1)
      return false;
  }
  return true;
}

/*===-- Bodies --------------------------------------------------------------------------------===*/

static uint32_t addScalar(Reader *reader, const SambaScalar *scalar) {
  reader->nest->scalars[reader->nest->scalar_count] = *scalar;
  return reader->nest->scalar_count++;
}

/* A constant from outside of the body. */
static bool readConstant(MlirOperation owner, MlirValue value, SambaScalar *out) {
  *out = (SambaScalar){.kind = SAMBA_SCALAR_CONSTANT};
  if (!sambaOperationIs(owner, "arith.constant"))
    return false;
  if (!mlirTypeIsAIndex(mlirValueGetType(value)))
    return scalarConstant(value, &out->dtype, &out->bits);
  out->kind = SAMBA_SCALAR_NUMBER;
  out->dtype = SAMBA_DTYPE_COUNT;
  out->bits = (uint64_t)mlirIntegerAttrGetValueInt(sambaOperationAttribute(owner, "value"));
  return true;
}

/* The tensor of a tensor.extract, as an operand without a map. */
static bool readExtracted(Reader *reader, MlirOperation operation, SambaScalar *out) {
  SambaNest *nest = reader->nest;
  if (nest->operand_count == SAMBA_MAX_NEST_OPERANDS)
    return false;
  out->kind = SAMBA_SCALAR_EXTRACT;
  out->operand = nest->operand_count++;
  SambaNestOperand *operand = &nest->operands[out->operand];
  if (!readValue(reader, mlirOperationGetOperand(operation, 0), operand))
    return false;
  out->dtype = operand->type.dtype;
  out->count = operand->type.rank;
  return true;
}

/* The number of a scalar of the body; a constant from outside, or an element at a constant place of
 * a tensor, becomes one. */
static bool scalarOf(Reader *reader, MlirValue value, uint32_t *out_scalar) {
  if (sambaPointerMapGet(&reader->scalar_of, value.ptr, out_scalar))
    return true;
  MlirOperation owner = sambaDefiningOperation(value);
  SambaScalar scalar;
  if (mlirOperationIsNull(owner) ||
      reader->nest->scalar_count + SAMBA_MAX_RANK >= SAMBA_MAX_NEST_SCALARS)
    return false;
  if (!readConstant(owner, value, &scalar)) {
    SambaScalar index;
    scalar = (SambaScalar){0};
    if (!sambaOperationIs(owner, "tensor.extract") || !readExtracted(reader, owner, &scalar))
      return false;
    for (uint32_t i = 0; i < scalar.count; ++i) {
      MlirValue place = mlirOperationGetOperand(owner, 1 + i);
      MlirOperation constant = sambaDefiningOperation(place);
      if (mlirOperationIsNull(constant) || !readConstant(constant, place, &index))
        return false;
      scalar.scalars[i] = addScalar(reader, &index);
    }
  }
  *out_scalar = addScalar(reader, &scalar);
  sambaPointerMapSet(&reader->scalar_of, value.ptr, *out_scalar);
  return true;
}

/* Block arguments: elements of operands; of a splat, its number. */
static void readArguments(Reader *reader) {
  SambaNest *nest = reader->nest;
  for (uint32_t i = 0; i < nest->operand_count; ++i) {
    const SambaNestOperand *operand = &nest->operands[i];
    bool is_output = i >= nest->input_count;
    SambaScalar scalar = {.kind = SAMBA_SCALAR_OPERAND, .dtype = operand->type.dtype, .operand = i};
    if (operand->is_splat && !(is_output && nest->reduces)) {
      scalar.kind = SAMBA_SCALAR_CONSTANT;
      scalar.bits = operand->bits;
    }
    uint32_t number = addScalar(reader, &scalar);
    sambaPointerMapSet(&reader->scalar_of, mlirBlockGetArgument(reader->body, i).ptr, number);
  }
}

static bool readExtract(Reader *reader, MlirOperation operation, SambaScalar *scalar) {
  if (!readExtracted(reader, operation, scalar))
    return false;
  for (uint32_t i = 0; i < scalar->count; ++i)
    if (!scalarOf(reader, mlirOperationGetOperand(operation, 1 + i), &scalar->scalars[i]))
      return false;
  return true;
}

/* The operand of an operation on numbers; an index becomes an integer. */
static bool numberOf(Reader *reader, MlirValue value, bool as_integer, uint32_t *out_scalar) {
  if (!scalarOf(reader, value, out_scalar))
    return false;
  if (as_integer && reader->nest->scalars[*out_scalar].dtype == SAMBA_DTYPE_COUNT) {
    SambaScalar integer = {.kind = SAMBA_SCALAR_FROM_INDEX,
                           .dtype = SAMBA_DTYPE_I64,
                           .count = 1,
                           .scalars = {*out_scalar}};
    *out_scalar = addScalar(reader, &integer);
  }
  return true;
}

/* Whether an index is not negative whatever the place: sums and products of places and numbers. */
static bool isCount(const SambaNest *nest, uint32_t scalar) {
  const SambaScalar *part = &nest->scalars[scalar];
  if (part->kind == SAMBA_SCALAR_NUMBER)
    return (int64_t)part->bits >= 0;
  if (part->kind == SAMBA_SCALAR_FROM_INDEX)
    return isCount(nest, part->scalars[0]);
  if (part->kind == SAMBA_SCALAR_SUM || part->kind == SAMBA_SCALAR_PRODUCT)
    return isCount(nest, part->scalars[0]) && isCount(nest, part->scalars[1]);
  return part->kind == SAMBA_SCALAR_INDEX;
}

/* An index that affine.apply computes; operands: the scalars of its dimensions, then symbols. */
static bool readAffine(Reader *reader, MlirAffineExpr expression, const uint32_t *operands,
                       intptr_t dim_count, uint32_t *out_scalar) {
  SambaScalar scalar = {.kind = SAMBA_SCALAR_NUMBER, .dtype = SAMBA_DTYPE_COUNT};
  if (reader->nest->scalar_count + SAMBA_MAX_RANK >= SAMBA_MAX_NEST_SCALARS)
    return false;
  if (mlirAffineExprIsADim(expression)) {
    *out_scalar = operands[mlirAffineDimExprGetPosition(expression)];
    return true;
  }
  if (mlirAffineExprIsASymbol(expression)) {
    *out_scalar = operands[dim_count + mlirAffineSymbolExprGetPosition(expression)];
    return true;
  }
  if (mlirAffineExprIsAConstant(expression)) {
    scalar.bits = (uint64_t)mlirAffineConstantExprGetValue(expression);
  } else if (mlirAffineExprIsAAdd(expression) || mlirAffineExprIsAMul(expression)) {
    scalar.kind = mlirAffineExprIsAAdd(expression) ? SAMBA_SCALAR_SUM : SAMBA_SCALAR_PRODUCT;
    scalar.count = 2;
    if (!readAffine(reader, mlirAffineBinaryOpExprGetLHS(expression), operands, dim_count,
                    &scalar.scalars[0]) ||
        !readAffine(reader, mlirAffineBinaryOpExprGetRHS(expression), operands, dim_count,
                    &scalar.scalars[1]))
      return false;
  } else {
    return false;
  }
  *out_scalar = addScalar(reader, &scalar);
  return true;
}

static bool readApply(Reader *reader, MlirOperation operation, uint32_t *out_scalar) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(sambaOperationAttribute(operation, "map"));
  uint32_t operands[SAMBA_MAX_RANK];
  intptr_t count = mlirOperationGetNumOperands(operation);
  if (count > SAMBA_MAX_RANK || mlirAffineMapGetNumResults(map) != 1)
    return false;
  for (intptr_t i = 0; i < count; ++i)
    if (!scalarOf(reader, mlirOperationGetOperand(operation, i), &operands[i]))
      return false;
  return readAffine(reader, mlirAffineMapGetResult(map, 0), operands, mlirAffineMapGetNumDims(map),
                    out_scalar);
}

/* arith.floordivsi: what is left over has the divisor's sign, so that the rest divides exactly. */
static bool readFloorDivision(Reader *reader, MlirOperation operation, SambaScalar *out) {
  static const char *const steps[] = {"remainder", "sub", "div"};
  MlirType type = mlirValueGetType(mlirOperationGetResult(operation, 0));
  uint32_t operands[2];
  for (int i = 0; i < 2; ++i)
    if (!numberOf(reader, mlirOperationGetOperand(operation, i), true, &operands[i]))
      return false;

  for (int i = 0; i < 3; ++i) {
    *out = (SambaScalar){.kind = SAMBA_SCALAR_OPERATION,
                         .dtype = sambaDTypeFromType(type),
                         .operator = steps[i],
                         .count = 2,
                         .scalars = {operands[0], operands[1]}};
    if (i < 2) /* a % b, then a - a % b in place of a */
      operands[i == 0 ? 1 : 0] = addScalar(reader, out);
    if (i == 1 && !numberOf(reader, mlirOperationGetOperand(operation, 1), true, &operands[1]))
      return false;
  }
  return out->dtype != SAMBA_DTYPE_COUNT;
}

static bool readBodyOperation(Reader *reader, MlirOperation operation) {
  SambaScalar scalar = {0};
  uint32_t number;
  if (mlirOperationGetNumResults(operation) != 1 ||
      reader->nest->scalar_count + 2 * SAMBA_MAX_RANK >= SAMBA_MAX_NEST_SCALARS)
    return false;
  MlirValue result = mlirOperationGetResult(operation, 0);
  if (sambaOperationIs(operation, "arith.constant"))
    return scalarOf(reader, result, &number);
  if (sambaOperationIs(operation, "affine.apply")) {
    if (!readApply(reader, operation, &number))
      return false;
    sambaPointerMapSet(&reader->scalar_of, result.ptr, number);
    return true;
  }

  if (sambaOperationIs(operation, "tensor.extract")) {
    if (!readExtract(reader, operation, &scalar))
      return false;
  } else if (sambaOperationIs(operation, "arith.floordivsi")) {
    if (!readFloorDivision(reader, operation, &scalar))
      return false;
  } else {
    if (!sambaScalarFromOperation(operation, &scalar) ||
        mlirOperationGetNumOperands(operation) > SAMBA_MAX_RANK)
      return false;
    scalar.count = (uint32_t)mlirOperationGetNumOperands(operation);
    for (uint32_t i = 0; i < scalar.count; ++i)
      if (!numberOf(reader, mlirOperationGetOperand(operation, i),
                    scalar.kind == SAMBA_SCALAR_OPERATION, &scalar.scalars[i]) ||
          (scalar.counts && !isCount(reader->nest, scalar.scalars[i])))
        return false;
  }
  sambaPointerMapSet(&reader->scalar_of, result.ptr, addScalar(reader, &scalar));
  return true;
}

static bool readBody(Reader *reader) {
  MlirOperation operation = mlirBlockGetFirstOperation(reader->body);
  MlirOperation last = mlirBlockGetTerminator(reader->body);
  for (; !mlirOperationEqual(operation, last); operation = mlirOperationGetNextInBlock(operation))
    if (!readBodyOperation(reader, operation))
      return false;
  if (mlirOperationGetNumOperands(last) != (intptr_t)reader->nest->output_count)
    return false;
  for (uint32_t k = 0; k < reader->nest->output_count; ++k)
    if (!scalarOf(reader, mlirOperationGetOperand(last, k), &reader->nest->yields[k]))
      return false;
  return true;
}

bool sambaNestRead(MlirOperation operation, SambaExpansion *expansion, SambaNest *out_nest,
                   MlirValue out_values[2 * SAMBA_MAX_NEST_OPERANDS]) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  if (name.length < 7 || memcmp(name.data, "linalg.", 7) != 0 ||
      mlirOperationGetNumRegions(operation) != 1 || mlirOperationGetNumResults(operation) < 1)
    return false;
  Reader reader = {.operation = operation,
                   .expansion = expansion,
                   .nest = out_nest,
                   .values = out_values,
                   .body = mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, 0))};
  *out_nest = (SambaNest){
      .scalars = SAMBA_ARENA_ARRAY(expansion->arena, SambaScalar, SAMBA_MAX_NEST_SCALARS)};
  if (mlirBlockIsNull(reader.body) || !readOperands(&reader) ||
      mlirBlockGetNumArguments(reader.body) != (intptr_t)out_nest->operand_count)
    return false;
  readArguments(&reader);
  bool fine = readBody(&reader);
  sambaPointerMapFree(&reader.scalar_of);
  return fine;
}
