/* Parts of bodies; see read_parts.h. */
#include "dialect/stages/read_parts.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/samba/kind.h"
#include "dialect/stages/structured_stage.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

/* What a value of the body is made of. */
typedef struct Sources {
  const SambaStructured *structured;
  MlirValue accumulator;
  SambaPointerMap seen;
  uint32_t tensors;                 /* that are read for it */
  bool loops[SAMBA_MAX_STAGE_DIMS]; /* on which it depends */
  bool is_plain;                    /* each axis of what is read walks one loop, or none */
  bool reads_accumulator;
} Sources;

static bool isInBody(const SambaStructured *structured, MlirOperation operation) {
  return !mlirOperationIsNull(operation) &&
         mlirBlockEqual(mlirOperationGetBlock(operation), structured->body);
}

static void addElement(Sources *sources, uint32_t position) {
  const SambaStructured *structured = sources->structured;
  MlirAffineMap map =
      mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(structured->maps, position));
  MlirType type = mlirValueGetType(mlirOperationGetOperand(structured->operation, position));
  sources->tensors += mlirTypeIsAShaped(type);
  for (intptr_t a = 0; a < mlirAffineMapGetNumResults(map); ++a) {
    MlirAffineExpr axis = mlirAffineMapGetResult(map, a);
    sources->is_plain =
        sources->is_plain && (mlirAffineExprIsADim(axis) || mlirAffineExprIsAConstant(axis));
    for (uint32_t loop = 0; loop < structured->loop_count; ++loop)
      sources->loops[loop] |= mlirAffineExprIsFunctionOfDim(axis, loop);
  }
}

static void addSources(Sources *sources, MlirValue value) {
  const SambaStructured *structured = sources->structured;
  MlirOperation maker = sambaDefiningOperation(value);
  uint32_t known;
  if (sambaPointerMapGet(&sources->seen, value.ptr, &known))
    return;
  sambaPointerMapSet(&sources->seen, value.ptr, 0);
  if (!mlirValueIsNull(sources->accumulator) && mlirValueEqual(value, sources->accumulator)) {
    sources->reads_accumulator = true;
    return;
  }

  if (sambaPointerMapGet(&structured->computed, value.ptr, &known)) {
    const SambaStageOperand *whole = &structured->whole.data[known];
    ++sources->tensors;
    for (uint32_t a = 0; a < SAMBA_MAX_RANK; ++a)
      for (uint32_t loop = 0; loop < structured->loop_count; ++loop)
        sources->loops[loop] |= whole->axes[a].coefficients[loop] != 0;
    return;
  }
  if (mlirOperationIsNull(maker)) {
    addElement(sources, (uint32_t)mlirBlockArgumentGetArgNumber(value));
    return;
  }
  if (!isInBody(structured, maker))
    return;
  if (sambaOperationIs(maker, "linalg.index"))
    sources->loops[mlirIntegerAttrGetValueInt(sambaOperationAttribute(maker, "dim"))] = true;
  bool extracts = sambaOperationIs(maker, "tensor.extract");
  sources->tensors += extracts;
  for (intptr_t i = extracts; i < mlirOperationGetNumOperands(maker); ++i)
    addSources(sources, mlirOperationGetOperand(maker, i));
}

static Sources sourcesOf(const SambaStructured *structured, MlirValue value,
                         MlirValue accumulator) {
  Sources sources = {.structured = structured, .accumulator = accumulator, .is_plain = true};
  addSources(&sources, value);
  sambaPointerMapFree(&sources.seen);
  return sources;
}

/* A stage over the loops on which the value depends, into a tensor with an axis for each. */
static SambaStatus readPart(SambaStructured *structured, MlirValue value, const bool *loops,
                            SambaBodyStage *stage, uint32_t *ordinal) {
  SambaSectionReader *reader = structured->reader;
  SambaStage *made = &stage->builder.stage;
  SambaTensorType type = {.dtype = sambaDTypeFromType(mlirValueGetType(value))};
  SambaStageOperand whole = {.index_operand = SAMBA_NO_INDEX};
  uint16_t result;
  made->name = sambaReaderStageName(reader);
  made->layer = sambaReaderLayer(reader);
  for (uint32_t loop = 0; loop < structured->loop_count; ++loop) {
    if (!loops[loop])
      continue;
    uint32_t dim = made->dim_count++;
    stage->dim_of[loop] = dim;
    made->extents[dim] = type.dims[type.rank] = structured->extents[loop];
    made->output.axes[dim].coefficients[dim] = 1;
    whole.axes[type.rank++].coefficients[loop] = 1;
  }

  uint32_t tensor = sambaStructuredAddTensor(reader, &type);
  made->output.tensor = tensor;
  SAMBA_RETURN_IF_ERROR(sambaBodyRead(stage, value));
  SAMBA_RETURN_IF_ERROR(sambaBodyValue(stage, value, &result));
  SAMBA_RETURN_IF_ERROR(sambaStructuredAddStage(reader, &stage->builder, result, false, ordinal));

  SambaSectionReaderValue read = {
      .type = type, .view = sambaReaderIdentityView(tensor, type.rank), .is_whole = true};
  whole.tensor = (uint32_t)reader->values.size;
  sambaArrayAppend(&reader->values, read);
  sambaPointerMapSet(&structured->computed, value.ptr, (uint32_t)structured->whole.size);
  sambaArrayAppend(&structured->whole, whole);
  return NULL;
}

static SambaStatus addPart(SambaStructured *structured, MlirValue value, const Sources *sources,
                           uint32_t *ordinal) {
  SambaBodyStage *stage = sambaAllocateZeroed(1, sizeof *stage);
  stage->structured = structured;
  sambaStageBegin(&stage->builder, structured->reader->graph, "", "", 0);
  SambaStatus status = readPart(structured, value, sources->loops, stage, ordinal);
  sambaBodyStageFree(stage);
  free(stage);
  return status;
}

/* Whether the value can be an element of a tensor in memory. */
static bool canBePart(const SambaStructured *structured, MlirValue value, const Sources *sources) {
  uint32_t rank = 0;
  for (uint32_t loop = 0; loop < structured->loop_count; ++loop)
    rank += sources->loops[loop];
  return !sources->reads_accumulator && rank <= SAMBA_MAX_RANK &&
         sambaDTypeFromType(mlirValueGetType(value)) != SAMBA_DTYPE_COUNT;
}

/*===-- Factors -------------------------------------------------------------------------------===*/

static MlirValue behindExtensions(MlirValue value) {
  MlirOperation maker = sambaDefiningOperation(value);
  while (!mlirOperationIsNull(maker) && sambaOperationIs(maker, "arith.extf")) {
    value = mlirOperationGetOperand(maker, 0);
    maker = sambaDefiningOperation(value);
  }
  return value;
}

/* The product that the body adds to its accumulator; null: it does something else. */
static MlirOperation summedProduct(MlirValue yielded, MlirValue accumulator) {
  MlirOperation none = {NULL}, sum = sambaDefiningOperation(yielded);
  if (mlirOperationIsNull(sum) || !sambaOperationIs(sum, "arith.addf"))
    return none;
  for (int i = 0; i < 2; ++i) {
    MlirOperation product =
        sambaDefiningOperation(behindExtensions(mlirOperationGetOperand(sum, i)));
    if (mlirValueEqual(mlirOperationGetOperand(sum, !i), accumulator) &&
        !mlirOperationIsNull(product) && sambaOperationIs(product, "arith.mulf"))
      return product;
  }
  return none;
}

static SambaStatus readFactors(SambaStructured *structured, MlirOperation product,
                               MlirValue accumulator, uint32_t *ordinal) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(product); ++i) {
    MlirValue factor = behindExtensions(mlirOperationGetOperand(product, i));
    Sources sources = sourcesOf(structured, factor, accumulator);
    uint32_t used = 0, known;
    for (uint32_t loop = 0; loop < structured->loop_count; ++loop)
      used += sources.loops[loop];
    bool computes = isInBody(structured, sambaDefiningOperation(factor)) && sources.tensors &&
                    !sambaPointerMapGet(&structured->computed, factor.ptr, &known);
    if (computes && sources.is_plain && used < structured->loop_count &&
        canBePart(structured, factor, &sources))
      SAMBA_RETURN_IF_ERROR(addPart(structured, factor, &sources, ordinal));
  }
  return NULL;
}

/*===-- Too many tensors ----------------------------------------------------------------------===*/

/* The value of the body that is made of most tensors, of as many as a stage can read. */
static MlirValue largestPart(const SambaStructured *structured, MlirValue yielded,
                             MlirValue accumulator, Sources *out_sources) {
  MlirValue largest = {NULL};
  Sources all = {.structured = structured, .accumulator = accumulator};
  addSources(&all, yielded);
  out_sources->tensors = 1;
  MlirOperation operation = mlirBlockGetFirstOperation(structured->body);
  for (; !mlirOperationIsNull(operation); operation = mlirOperationGetNextInBlock(operation)) {
    uint32_t needed;
    if (mlirOperationGetNumResults(operation) != 1)
      continue;
    MlirValue value = mlirOperationGetResult(operation, 0);
    if (mlirValueEqual(value, yielded) || !sambaPointerMapGet(&all.seen, value.ptr, &needed))
      continue;
    Sources sources = sourcesOf(structured, value, accumulator);
    if (sources.tensors > out_sources->tensors && sources.tensors <= SAMBA_MAX_STAGE_OPERANDS &&
        canBePart(structured, value, &sources)) {
      *out_sources = sources;
      largest = value;
    }
  }
  sambaPointerMapFree(&all.seen);
  return largest;
}

SambaStatus sambaPartsRead(SambaStructured *structured, MlirValue yielded, MlirValue accumulator,
                           uint32_t *ordinal) {
  if (!mlirValueIsNull(accumulator)) {
    MlirOperation product = summedProduct(yielded, accumulator);
    if (!mlirOperationIsNull(product))
      SAMBA_RETURN_IF_ERROR(readFactors(structured, product, accumulator, ordinal));
  }

  while (sourcesOf(structured, yielded, accumulator).tensors > SAMBA_MAX_STAGE_OPERANDS) {
    Sources sources;
    MlirValue part = largestPart(structured, yielded, accumulator, &sources);
    if (mlirValueIsNull(part))
      return NULL; /* the reader of the body says that there are too many */
    SAMBA_RETURN_IF_ERROR(addPart(structured, part, &sources, ordinal));
  }
  return NULL;
}
