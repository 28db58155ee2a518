/* Views as the operations of tensor and linalg; see views_to_linalg.h. */
#include "lowering/linalg/views_to_linalg.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/samba.h"
#include "support/number/dtype.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"

#include <string.h>

static uint32_t numbersOf(MlirOperation operation, const char *name, int64_t *out) {
  MlirAttribute list = sambaOperationAttribute(operation, name);
  intptr_t count = mlirDenseArrayGetNumElements(list);
  for (intptr_t i = 0; i < count; ++i)
    out[i] = mlirDenseI64ArrayGetElement(list, i);
  return (uint32_t)count;
}

static SambaTensorType typeOf(MlirValue value) {
  SambaTensorType type = {0};
  sambaStatusFree(sambaTensorTypeFromMlir(mlirValueGetType(value), &type)); /* of an operator */
  return type;
}

static MlirNamedAttribute numbers(MlirContext context, const char *name, uint32_t count,
                                  const int64_t *values) {
  return sambaNamedAttribute(context, name, mlirDenseI64ArrayGet(context, count, values));
}

static MlirNamedAttribute segments(MlirContext context, intptr_t count, const int32_t *sizes) {
  return sambaNamedAttribute(context, "operandSegmentSizes",
                             mlirDenseI32ArrayGet(context, count, sizes));
}

/* An operation of one result in front of `before`. */
static MlirValue build(MlirOperation before, const char *name, intptr_t operand_count,
                       const MlirValue *operands, MlirType result, intptr_t attribute_count,
                       const MlirNamedAttribute *attributes) {
  SambaOperationParts parts = {.name = name,
                               .location = mlirOperationGetLocation(before),
                               .operand_count = operand_count,
                               .operands = operands,
                               .result_count = 1,
                               .results = &result,
                               .attribute_count = attribute_count,
                               .attributes = attributes};
  return mlirOperationGetResult(
      sambaBuildOperationIn(mlirOperationGetBlock(before), before, &parts), 0);
}

static void replace(MlirOperation operation, MlirValue value) {
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0), value);
  mlirOperationDestroy(operation);
}

/*===-- Slices, pads, permutations ------------------------------------------------------------===*/

static void convertSlice(MlirOperation operation) {
  MlirContext context = mlirOperationGetContext(operation);
  int64_t starts[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK];
  uint32_t rank = numbersOf(operation, "starts", starts);
  numbersOf(operation, "steps", steps);
  for (uint32_t a = 0; a < rank; ++a)
    if (steps[a] < 1)
      return;

  MlirValue source = mlirOperationGetOperand(operation, 0);
  MlirValue result = mlirOperationGetResult(operation, 0);
  SambaTensorType type = typeOf(result);
  MlirNamedAttribute attributes[] = {segments(context, 4, (int32_t[]){1, 0, 0, 0}),
                                     numbers(context, "static_offsets", rank, starts),
                                     numbers(context, "static_sizes", rank, type.dims),
                                     numbers(context, "static_strides", rank, steps)};
  replace(operation, build(operation, "tensor.extract_slice", 1, &source, mlirValueGetType(result),
                           4, attributes));
}

/* The number that a pad is filled with, as a constant. */
static MlirValue fillOf(MlirOperation operation, SambaDType dtype) {
  MlirContext context = mlirOperationGetContext(operation);
  MlirAttribute value = sambaOperationAttribute(operation, "value");
  double number = mlirAttributeIsNull(value) ? 0 : mlirFloatAttrGetValueDouble(value);
  MlirType type = sambaDTypeToType(context, dtype);
  MlirAttribute constant = sambaDTypeIsFloat(dtype) ? mlirFloatAttrDoubleGet(context, type, number)
                                                    : mlirIntegerAttrGet(type, (int64_t)number);
  return sambaBuildConstant(mlirOperationGetBlock(operation), operation,
                            mlirOperationGetLocation(operation), constant);
}

static void convertPad(MlirOperation operation) {
  MlirContext context = mlirOperationGetContext(operation);
  MlirLocation location = mlirOperationGetLocation(operation);
  int64_t low[SAMBA_MAX_RANK], high[SAMBA_MAX_RANK];
  uint32_t rank = numbersOf(operation, "low", low);
  numbersOf(operation, "high", high);
  MlirType result = mlirValueGetType(mlirOperationGetResult(operation, 0));
  MlirValue source = mlirOperationGetOperand(operation, 0);
  SambaDType dtype = typeOf(source).dtype;
  if (dtype == SAMBA_DTYPE_UI8) /* arith has no constants of it */
    return;

  MlirValue fill = fillOf(operation, dtype);
  MlirType index[SAMBA_MAX_RANK];
  MlirLocation locations[SAMBA_MAX_RANK];
  for (uint32_t a = 0; a < rank; ++a)
    index[a] = mlirIndexTypeGet(context), locations[a] = location;
  MlirRegion region = mlirRegionCreate();
  MlirBlock body = mlirBlockCreate(rank, index, locations);
  mlirRegionAppendOwnedBlock(region, body);
  SambaOperationParts yield = {
      .name = "tensor.yield", .location = location, .operand_count = 1, .operands = &fill};
  sambaBuildOperationIn(body, (MlirOperation){NULL}, &yield);

  MlirNamedAttribute attributes[] = {segments(context, 3, (int32_t[]){1, 0, 0}),
                                     numbers(context, "static_low", rank, low),
                                     numbers(context, "static_high", rank, high)};
  SambaOperationParts parts = {.name = "tensor.pad",
                               .location = location,
                               .operand_count = 1,
                               .operands = &source,
                               .result_count = 1,
                               .results = &result,
                               .attribute_count = 3,
                               .attributes = attributes,
                               .region_count = 1,
                               .regions = &region};
  replace(operation,
          mlirOperationGetResult(
              sambaBuildOperationIn(mlirOperationGetBlock(operation), operation, &parts), 0));
}

static void convertPermute(MlirOperation operation) {
  int64_t dims[SAMBA_MAX_RANK];
  uint32_t rank = numbersOf(operation, "dims", dims);
  MlirType type = mlirValueGetType(mlirOperationGetResult(operation, 0));
  for (uint32_t a = 0; a < rank; ++a)
    dims[a] += dims[a] < 0 ? rank : 0;

  MlirValue operands[] = {mlirOperationGetOperand(operation, 0),
                          build(operation, "tensor.empty", 0, NULL, type, 0, NULL)};
  MlirNamedAttribute permutation =
      numbers(mlirOperationGetContext(operation), "permutation", rank, dims);
  MlirRegion region = mlirRegionCreate();
  SambaOperationParts parts = {.name = "linalg.transpose",
                               .location = mlirOperationGetLocation(operation),
                               .operand_count = 2,
                               .operands = operands,
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 1,
                               .attributes = &permutation,
                               .region_count = 1,
                               .regions = &region};
  MlirOperation transpose = sambaBuildOperation(&parts);
  mlirLinalgFillBuiltinNamedOpRegion(transpose);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, transpose);
  replace(operation, mlirOperationGetResult(transpose, 0));
}

static const struct {
  const char *name;
  void (*convert)(MlirOperation operation);
} rows[] = {
    {"samba.slice", convertSlice}, {"samba.pad", convertPad}, {"samba.permute", convertPermute}};

void sambaViewsToLinalg(MlirOperation function) {
  MlirOperation next;
  for (MlirOperation operation = mlirBlockGetFirstOperation(sambaBodyOf(function));
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; ++i)
      if (sambaOperationIs(operation, rows[i].name)) {
        rows[i].convert(operation);
        break;
      }
  }
}

/*===-- Reshapes ------------------------------------------------------------------------------===*/

/* Which axes of `wide` each axis of `narrow` is made of: ends[i] is one behind the last of them.
 * False where an axis is no product of whole axes. A tensor of rank 0 has no groups. */
static bool groupAxes(const SambaTensorType *wide, const SambaTensorType *narrow, uint32_t *ends) {
  uint32_t at = 0;
  for (uint32_t i = 0; i < narrow->rank; ++i) {
    int64_t size = 1;
    if (at == wide->rank)
      return false;
    do
      size *= wide->dims[at++];
    while (at < wide->rank && size < narrow->dims[i]);
    if (size != narrow->dims[i])
      return false;
    while (at < wide->rank && wide->dims[at] == 1 &&
           (i + 1 == narrow->rank || narrow->dims[i + 1] != 1))
      ++at;
    ends[i] = at;
  }
  for (; narrow->rank == 0 && at < wide->rank; ++at)
    if (wide->dims[at] != 1)
      return false;
  return at == wide->rank;
}

/* tensor.collapse_shape or tensor.expand_shape; the groups are of the wider one's axes. */
static MlirValue emitShape(MlirOperation before, bool expands, MlirValue source,
                           const SambaTensorType *type, uint32_t group_count,
                           const uint32_t *ends) {
  MlirContext context = mlirOperationGetContext(before);
  MlirAttribute groups[SAMBA_MAX_RANK];
  for (uint32_t i = 0, at = 0; i < group_count; ++i) {
    MlirAttribute axes[SAMBA_MAX_RANK];
    uint32_t count = 0;
    for (; at < ends[i]; ++at)
      axes[count++] = mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), at);
    groups[i] = mlirArrayAttrGet(context, count, axes);
  }
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "reassociation", mlirArrayAttrGet(context, group_count, groups)),
      numbers(context, "static_output_shape", type->rank, type->dims)};
  return build(before, expands ? "tensor.expand_shape" : "tensor.collapse_shape", 1, &source,
               sambaTensorTypeToMlir(context, type), expands ? 2 : 1, attributes);
}

/* In one step where one shape groups the other's axes, else by way of the flat tensor. */
void sambaReshapeToLinalg(MlirOperation operation) {
  MlirValue value = mlirOperationGetOperand(operation, 0);
  SambaTensorType from = typeOf(value), to = typeOf(mlirOperationGetResult(operation, 0));
  uint32_t ends[SAMBA_MAX_RANK];

  if (from.rank > to.rank && groupAxes(&from, &to, ends)) {
    value = emitShape(operation, false, value, &to, to.rank, ends);
  } else if (from.rank < to.rank && groupAxes(&to, &from, ends)) {
    value = emitShape(operation, true, value, &to, from.rank, ends);
  } else {
    SambaTensorType flat = {.dtype = from.dtype, .rank = 1, .dims = {1}};
    for (uint32_t a = 0; a < from.rank; ++a)
      flat.dims[0] *= from.dims[a];
    if (from.rank > 1)
      value = emitShape(operation, false, value, &flat, 1, &from.rank);
    if (to.rank > 1)
      value = emitShape(operation, true, value, &to, 1, &to.rank);
  }
  replace(operation, value);
}
