/* Scalars between the operations of a graph, which other compilers take out of tensors, compute
 * with and put back: they become tensors of rank 0.
 *
 * A scalar is written as the element of such a tensor, tensor.extract %t[]: whoever reads it looks
 * through to the tensor. Arithmetic on scalars becomes the same arithmetic on tensors; a body of
 * linalg that reads one from outside gets it as an operand. */
#include "lowering/enter/enter.h"
#include "lowering/foreign/foreign_call.h"

#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/samba/graph.h"
#include "dialect/samba/interface.h"
#include "dialect/samba/samba.h"

#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

static MlirType rankZero(MlirType element) {
  return mlirRankedTensorTypeGet(0, NULL, element, mlirAttributeGetNull());
}

/* ---- Arguments and results ---- */

static void liftArgument(MlirBlock body, intptr_t index) {
  MlirValue scalar = mlirBlockGetArgument(body, index);
  MlirLocation location = mlirValueGetLocation(scalar);
  MlirOperation first = mlirBlockGetFirstOperation(body);
  MlirValue tensor =
      mlirBlockInsertArgument(body, index, rankZero(mlirValueGetType(scalar)), location);
  mlirValueReplaceAllUsesOfWith(scalar, sambaForeignExtract(first, location, tensor));
  mlirBlockEraseArgument(body, (unsigned)index + 1);
}

/* The tensor of rank 0 of a scalar, made of a constant where it is one; null: it has none. */
static MlirValue tensorOf(MlirOperation before, MlirValue scalar) {
  MlirValue tensor = sambaForeignTensorOf(scalar);
  MlirOperation owner = sambaDefiningOperation(scalar);
  if (!mlirValueIsNull(tensor) || mlirOperationIsNull(owner) ||
      !sambaOperationIs(owner, "arith.constant"))
    return tensor;
  MlirAttribute value = sambaOperationAttribute(owner, "value");
  return sambaBuildConstant(
      mlirOperationGetBlock(before), before, mlirOperationGetLocation(owner),
      mlirDenseElementsAttrSplatGet(rankZero(mlirValueGetType(scalar)), value));
}

static bool isScalar(MlirValue value) {
  return sambaDTypeFromType(mlirValueGetType(value)) != SAMBA_DTYPE_COUNT;
}

static void liftResults(MlirOperation terminator) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(terminator); ++i) {
    MlirValue value = mlirOperationGetOperand(terminator, i);
    MlirValue tensor = isScalar(value) ? tensorOf(terminator, value) : (MlirValue){NULL};
    if (!mlirValueIsNull(tensor))
      mlirOperationSetOperand(terminator, i, tensor);
  }
}

/* ---- Elements ---- */

/* The index is known, or it is a scalar of the graph as an index. */
static uint32_t indexOf(SambaForeignCall *call, uint32_t operand) {
  SambaExpansion *expansion = &call->expansion;
  MlirValue value = mlirOperationGetOperand(call->operation, operand);
  int64_t number;
  if (sambaForeignIndex(value, &number))
    return sambaExpandNumbers(expansion, SAMBA_DTYPE_I64, 1, (int64_t[]){1},
                              (double[]){(double)number});
  MlirOperation owner = sambaDefiningOperation(value);
  MlirValue tensor = {NULL};
  if (!mlirOperationIsNull(owner) && (sambaOperationIs(owner, "arith.index_cast") ||
                                      sambaOperationIs(owner, "arith.index_castui")))
    tensor = sambaForeignTensorOf(mlirOperationGetOperand(owner, 0));
  if (mlirValueIsNull(tensor)) {
    sambaForeignFail(call, sambaStatusMake(SAMBA_UNSUPPORTED,
                                           "reads at an index that is computed between operations; "
                                           "compute it in tensors of i64"));
    return 0;
  }
  SambaTensorType type;
  sambaStatusFree(sambaTensorTypeFromMlir(mlirValueGetType(tensor), &type));
  call->tensors[operand] = tensor;
  call->operands[operand] = sambaExpandOperand(expansion, &type);
  uint32_t wide = sambaExpandCast(expansion, call->operands[operand], SAMBA_DTYPE_I64);
  return sambaExpandReshape(expansion, wide, 1, (int64_t[]){1});
}

static void convertExtract(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t x = call->operands[0], indices[SAMBA_MAX_RANK];
  uint32_t rank = sambaForeignType(call, x).rank;
  bool known = true;
  int64_t at[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < rank; ++axis)
    known &= sambaForeignIndex(mlirOperationGetOperand(call->operation, axis + 1), &at[axis]);

  for (uint32_t axis = 0; known && axis < rank; ++axis)
    x = sambaExpandSlice(expansion, x, axis, at[axis], 1, 1);
  if (known) {
    call->results[0] = sambaExpandReshape(expansion, x, 0, NULL);
    return;
  }
  for (uint32_t axis = 0; axis < rank; ++axis)
    indices[axis] = indexOf(call, axis + 1);
  uint32_t tuple = rank == 1 ? indices[0] : sambaExpandCat(expansion, rank, indices, 0);
  tuple = sambaExpandReshape(expansion, tuple, 2, (int64_t[]){1, rank});
  uint32_t element = SAMBA_FOREIGN_CALL(call, "gather_nd", ((uint32_t[]){x, tuple}),
                                        sambaIntAttribute("batch_dims", 0));
  call->results[0] = sambaExpandReshape(expansion, element, 0, NULL);
}

/* ---- Arithmetic ---- */

static bool isArithmetic(MlirOperation operation) {
  MlirStringRef name = sambaOperationName(operation);
  bool named = (name.length > 6 && memcmp(name.data, "arith.", 6) == 0) ||
               (name.length > 5 && memcmp(name.data, "math.", 5) == 0);
  intptr_t operands = mlirOperationGetNumOperands(operation);
  bool scalars = named && operands > 0 && mlirOperationGetNumResults(operation) == 1 &&
                 isScalar(mlirOperationGetResult(operation, 0));
  for (intptr_t i = 0; scalars && i < operands; ++i)
    scalars = isScalar(mlirOperationGetOperand(operation, i));
  return scalars;
}

/* The same operation on tensors of rank 0, when all its operands have one. */
static MlirOperation liftArithmetic(MlirOperation operation) {
  enum { mostOperands = 4 };
  MlirValue operands[mostOperands];
  intptr_t count = mlirOperationGetNumOperands(operation);
  for (intptr_t i = 0; i < count; ++i) {
    if (i < mostOperands)
      operands[i] = tensorOf(operation, mlirOperationGetOperand(operation, i));
    if (i == mostOperands || mlirValueIsNull(operands[i]))
      return operation;
  }

  MlirLocation location = mlirOperationGetLocation(operation);
  MlirOperation made = mlirOperationClone(operation);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(operation), operation, made);
  for (intptr_t i = 0; i < count; ++i)
    mlirOperationSetOperand(made, i, operands[i]);
  MlirValue result = mlirOperationGetResult(made, 0);
  mlirValueSetType(result, rankZero(mlirValueGetType(result)));
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(operation, 0),
                                sambaForeignExtract(operation, location, result));
  mlirOperationDestroy(operation);
  return made;
}

/* ---- Structured operations ---- */

typedef struct Capture {
  MlirBlock body; /* of the structured operation */
  MlirValue scalar;
} Capture;

static bool liesIn(MlirBlock block, MlirValue value) {
  MlirBlock at = mlirValueIsABlockArgument(value)
                     ? mlirBlockArgumentGetOwner(value)
                     : mlirOperationGetBlock(mlirOpResultGetOwner(value));
  return mlirBlockEqual(at, block);
}

static MlirWalkResult findCapture(MlirOperation operation, void *user) {
  Capture *capture = user;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i) {
    MlirValue operand = mlirOperationGetOperand(operation, i);
    if (!liesIn(capture->body, operand) && !mlirValueIsNull(sambaForeignTensorOf(operand)) &&
        isScalar(operand)) {
      capture->scalar = operand;
      return MlirWalkResultInterrupt;
    }
  }
  return MlirWalkResultAdvance;
}

/* A scalar from outside that the body reads; null: there is none. */
static MlirValue captureOf(MlirBlock body) {
  Capture capture = {.body = body};
  for (MlirOperation inner = mlirBlockGetFirstOperation(body);
       !mlirOperationIsNull(inner) && mlirValueIsNull(capture.scalar);
       inner = mlirOperationGetNextInBlock(inner))
    mlirOperationWalk(inner, findCapture, &capture, MlirWalkPreOrder);
  return capture.scalar;
}

static MlirWalkResult replaceInside(MlirOperation operation, void *user) {
  MlirValue *values = user; /* old, new */
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(operation); ++i)
    if (mlirValueEqual(mlirOperationGetOperand(operation, i), values[0]))
      mlirOperationSetOperand(operation, i, values[1]);
  return MlirWalkResultAdvance;
}

/* The maps with one more at `at`: every point reads the one element. */
static MlirAttribute withMap(MlirOperation generic, intptr_t at) {
  enum { mostMaps = 64 };
  MlirContext context = mlirOperationGetContext(generic);
  MlirAttribute maps = sambaOperationAttribute(generic, "indexing_maps"), list[mostMaps];
  intptr_t count = mlirArrayAttrGetNumElements(maps);
  intptr_t dims =
      mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)));
  if (count + 1 > mostMaps)
    return maps;
  for (intptr_t i = 0; i < count; ++i)
    list[i < at ? i : i + 1] = mlirArrayAttrGetElement(maps, i);
  list[at] = mlirAffineMapAttrGet(mlirAffineMapGet(context, dims, 0, 0, NULL));
  return mlirArrayAttrGet(context, count + 1, list);
}

/* linalg.generic or linalg.map with one more input, at the place `at`. */
static MlirOperation withInput(MlirOperation generic, MlirValue tensor, intptr_t at) {
  MlirContext context = mlirOperationGetContext(generic);
  bool is_map = sambaOperationIs(generic, "linalg.map");
  intptr_t operands = mlirOperationGetNumOperands(generic);
  intptr_t results = mlirOperationGetNumResults(generic);
  MlirValue *values = sambaAllocate(sambaArraySize((size_t)operands + 1, sizeof *values));
  MlirType *types = sambaAllocate(sambaArraySize((size_t)results + 1, sizeof *types));
  for (intptr_t i = 0; i < operands; ++i)
    values[i < at ? i : i + 1] = mlirOperationGetOperand(generic, i);
  values[at] = tensor;
  for (intptr_t i = 0; i < results; ++i)
    types[i] = mlirValueGetType(mlirOperationGetResult(generic, i));

  int32_t segments[] = {(int32_t)at + 1, (int32_t)(operands - at)};
  MlirAttribute maps = is_map ? (MlirAttribute){NULL} : withMap(generic, at);
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(context, "indexing_maps", maps),
      sambaNamedAttribute(context, "iterator_types",
                          sambaOperationAttribute(generic, "iterator_types")),
      sambaNamedAttribute(context, "operandSegmentSizes",
                          mlirDenseI32ArrayGet(context, 2, segments))};
  MlirRegion region = mlirRegionCreate();
  mlirRegionTakeBody(region, mlirOperationGetRegion(generic, 0));
  SambaOperationParts parts = {.name = is_map ? "linalg.map" : "linalg.generic",
                               .location = mlirOperationGetLocation(generic),
                               .operand_count = operands + 1,
                               .operands = values,
                               .result_count = results,
                               .results = types,
                               .attribute_count = is_map ? 0 : 3,
                               .attributes = attributes,
                               .region_count = 1,
                               .regions = &region};
  MlirOperation made = sambaBuildOperationIn(mlirOperationGetBlock(generic), generic, &parts);
  for (intptr_t i = 0; i < results; ++i)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(generic, i),
                                  mlirOperationGetResult(made, i));
  mlirOperationDestroy(generic);
  free(values);
  free(types);
  return made;
}

/* The tensor as often as linalg.map wants it: one element per point. */
static MlirValue spread(MlirOperation map, MlirValue tensor) {
  MlirContext context = mlirOperationGetContext(map);
  MlirType type = mlirValueGetType(mlirOperationGetOperand(map, 0));
  int64_t dims[SAMBA_MAX_RANK];
  intptr_t rank = mlirShapedTypeGetRank(type);
  for (intptr_t i = 0; i < rank && i < SAMBA_MAX_RANK; ++i)
    dims[i] = mlirShapedTypeGetDimSize(type, i);
  MlirNamedAttribute shape =
      sambaNamedAttribute(context, "shape", mlirDenseI64ArrayGet(context, rank, dims));
  MlirOperation made =
      sambaOperationCreate("samba.expand", mlirOperationGetLocation(map), 1, &tensor, 1, &shape);
  mlirBlockInsertOwnedOperationBefore(mlirOperationGetBlock(map), map, made);
  return mlirOperationGetResult(made, 0);
}

/* Scalars that the operation reads, as operands and in its body, become tensors. */
static void liftStructured(MlirOperation operation) {
  bool is_map = sambaOperationIs(operation, "linalg.map");
  bool generic = is_map || sambaOperationIs(operation, "linalg.generic");
  for (intptr_t i = 0; generic && i < mlirOperationGetNumOperands(operation); ++i) {
    MlirValue tensor = sambaForeignTensorOf(mlirOperationGetOperand(operation, i));
    if (!mlirValueIsNull(tensor))
      mlirOperationSetOperand(operation, i, tensor);
  }
  while (generic) {
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, 0));
    MlirValue replaced[] = {captureOf(body), {NULL}};
    if (mlirValueIsNull(replaced[0]))
      return;
    intptr_t at = mlirOperationGetNumOperands(operation) - mlirOperationGetNumResults(operation);
    MlirValue tensor = sambaForeignTensorOf(replaced[0]);
    operation = withInput(operation, is_map ? spread(operation, tensor) : tensor, at);
    body = mlirRegionGetFirstBlock(mlirOperationGetRegion(operation, 0));
    replaced[1] = mlirBlockInsertArgument(body, at, mlirValueGetType(replaced[0]),
                                          mlirOperationGetLocation(operation));
    for (MlirOperation inner = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(inner);
         inner = mlirOperationGetNextInBlock(inner))
      mlirOperationWalk(inner, replaceInside, replaced, MlirWalkPreOrder);
  }
}

/* ---- Tensors of scalars ---- */

static void convertSplat(SambaForeignCall *call) {
  call->results[0] = sambaExpandBroadcast(&call->expansion, call->operands[0], call->types[0].rank,
                                          call->types[0].dims);
}

static void convertFromElements(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t *parts = SAMBA_ARENA_ARRAY(expansion->arena, uint32_t, call->operand_count + 1);
  for (uint32_t i = 0; i < call->operand_count; ++i)
    parts[i] = sambaExpandReshape(expansion, call->operands[i], 1, (int64_t[]){1});
  uint32_t row = call->operand_count == 1
                     ? parts[0]
                     : sambaExpandCat(expansion, call->operand_count, parts, 0);
  call->results[0] = sambaExpandReshape(expansion, row, call->types[0].rank, call->types[0].dims);
}

static bool isKnown(MlirValue scalar) {
  MlirOperation owner = sambaDefiningOperation(scalar);
  return !mlirOperationIsNull(owner) && sambaOperationIs(owner, "arith.constant");
}

/* Rows for scalars that are not known; what is filled with constants stays as it is. */
static const SambaForeignRow extractRow = {"tensor.extract", convertExtract, NULL};
static const SambaForeignRow fillRows[] = {{"linalg.fill", convertSplat, NULL},
                                           {"tensor.splat", convertSplat, NULL},
                                           {"tensor.from_elements", convertFromElements, NULL}};

static const SambaForeignRow *rowOf(MlirOperation operation) {
  if (sambaOperationIs(operation, "tensor.extract"))
    return mlirOperationGetNumOperands(operation) > 1 ? &extractRow : NULL;
  for (size_t i = 0; i < sizeof fillRows / sizeof *fillRows; ++i) {
    if (!sambaOperationIs(operation, fillRows[i].name))
      continue;
    bool elements = fillRows[i].convert == convertFromElements;
    return elements || !isKnown(mlirOperationGetOperand(operation, 0)) ? &fillRows[i] : NULL;
  }
  return NULL;
}

bool sambaEnterScalars(MlirOperation function) {
  MlirBlock body = sambaBodyOf(function);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); ++i)
    if (isScalar(mlirBlockGetArgument(body, i)))
      liftArgument(body, i);

  for (MlirOperation operation = mlirBlockGetFirstOperation(body), next;
       !mlirOperationIsNull(operation); operation = next) {
    next = mlirOperationGetNextInBlock(operation);
    const SambaForeignRow *row = rowOf(operation);
    if (row && !sambaForeignConvertOperation(operation, row))
      return false;
    if (row)
      continue;
    if (isArithmetic(operation))
      liftArithmetic(operation);
    else
      liftStructured(operation);
  }
  liftResults(mlirBlockGetTerminator(body));
  SambaInterface interface = {0};
  sambaInterfaceRead(function, &interface);
  sambaInterfaceWrite(&interface);
  sambaInterfaceFree(&interface);
  return true;
}
