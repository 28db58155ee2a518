/* Stages as linalg; see emit_stage.h. */
#include "dialect/stages/emit_stage.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/section/lane_body.h"
#include "dialect/samba/samba.h"
#include "support/number/dtype.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Dialect/Linalg.h"

#include <stdlib.h>
#include <string.h>

enum { maxInputs = SAMBA_MAX_STAGE_OPERANDS + 1 };

/* Where one stage is being emitted. */
typedef struct {
  const SambaStageGraph *graph;
  const SambaStage *stage;
  MlirContext context;
  MlirBlock block;
  MlirOperation before;
  MlirLocation location;
  bool slices;
} Emitter;

bool sambaStageHasLinalgForm(const SambaStage *stage) {
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    if (stage->operands[i].index_operand != SAMBA_NO_INDEX)
      return false;
  return !sambaStageScatters(stage);
}

static MlirType tensorType(MlirContext context, SambaDType dtype, uint32_t rank,
                           const int64_t *dims) {
  return mlirRankedTensorTypeGet(rank, dims, sambaDTypeToType(context, dtype),
                                 mlirAttributeGetNull());
}

static MlirAttribute elementAttribute(MlirContext context, SambaDType dtype, uint64_t bits) {
  MlirType type = sambaDTypeToType(context, dtype);
  if (!sambaDTypeIsFloat(dtype))
    return mlirIntegerAttrGet(type, (int64_t)bits);
  return mlirFloatAttrDoubleGet(context, type, (double)sambaBitsToFloat(dtype, (uint32_t)bits));
}

static MlirAffineExpr axisExpression(const Emitter *emitter, const SambaAxisMap *axis,
                                     int64_t shift) {
  MlirAffineExpr sum = {NULL};
  for (uint32_t d = 0; d < emitter->stage->dim_count; ++d) {
    if (!axis->coefficients[d])
      continue;
    MlirAffineExpr term = mlirAffineDimExprGet(emitter->context, d);
    if (axis->coefficients[d] != 1)
      term = mlirAffineMulExprGet(
          term, mlirAffineConstantExprGet(emitter->context, axis->coefficients[d]));
    sum = sum.ptr ? mlirAffineAddExprGet(sum, term) : term;
  }

  int64_t constant = axis->constant + shift;
  if (!sum.ptr)
    return mlirAffineConstantExprGet(emitter->context, constant);
  return constant ? mlirAffineAddExprGet(sum, mlirAffineConstantExprGet(emitter->context, constant))
                  : sum;
}

/* The dimension an axis walks plainly (coefficient 1, constant 0), or -1. */
static int plainDimension(const SambaStage *stage, const SambaAxisMap *axis) {
  int found = -1;
  if (axis->constant)
    return -1;
  for (uint32_t d = 0; d < stage->dim_count; ++d) {
    if (!axis->coefficients[d])
      continue;
    if (axis->coefficients[d] != 1 || found >= 0)
      return -1;
    found = (int)d;
  }
  return found;
}

static void axisRange(const SambaStage *stage, const SambaAxisMap *axis, int64_t *out_low,
                      int64_t *out_high) {
  *out_low = *out_high = axis->constant;
  for (uint32_t d = 0; d < stage->dim_count; ++d)
    *(axis->coefficients[d] < 0 ? out_low : out_high) +=
        axis->coefficients[d] * (stage->extents[d] - 1);
}

static MlirNamedAttribute segmentSizes(MlirContext context, intptr_t count, const int32_t *sizes) {
  return sambaNamedAttribute(context, "operandSegmentSizes",
                             mlirDenseI32ArrayGet(context, count, sizes));
}

static MlirValue emitEmpty(const Emitter *emitter, MlirType type) {
  SambaOperationParts parts = {
      .name = "tensor.empty", .location = emitter->location, .result_count = 1, .results = &type};
  return mlirOperationGetResult(sambaBuildOperationIn(emitter->block, emitter->before, &parts), 0);
}

static MlirValue emitFill(const Emitter *emitter, MlirAttribute element, MlirValue init) {
  MlirValue scalar =
      sambaBuildConstant(emitter->block, emitter->before, emitter->location, element);
  MlirType type = mlirValueGetType(init);
  MlirNamedAttribute sizes = segmentSizes(emitter->context, 2, (int32_t[]){1, 1});
  MlirRegion region = mlirRegionCreate();
  SambaOperationParts parts = {.name = "linalg.fill",
                               .location = emitter->location,
                               .operand_count = 2,
                               .operands = (MlirValue[]){scalar, init},
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 1,
                               .attributes = &sizes,
                               .region_count = 1,
                               .regions = &region};
  MlirOperation fill = sambaBuildOperation(&parts);

  mlirLinalgFillBuiltinNamedOpRegion(fill);
  mlirBlockInsertOwnedOperationBefore(emitter->block, emitter->before, fill);
  return mlirOperationGetResult(fill, 0);
}

/* A constant of an element type. arith works on signless integers: ui8 is a cast of i8. */
static MlirValue emitElement(const Emitter *emitter, MlirBlock block, MlirOperation before,
                             SambaDType dtype, MlirAttribute value) {
  if (dtype != SAMBA_DTYPE_UI8)
    return sambaBuildConstant(block, before, emitter->location, value);
  value = mlirIntegerAttrGet(mlirIntegerTypeGet(emitter->context, 8),
                             (int8_t)mlirIntegerAttrGetValueUInt(value));
  MlirValue plain = sambaBuildConstant(block, before, emitter->location, value);
  return sambaBuildUnaryOrMore(block, before, emitter->location,
                               "builtin.unrealized_conversion_cast", 1, &plain,
                               sambaDTypeToType(emitter->context, dtype));
}

/* tensor.pad so that a guarded map stays inside; low[] receives how far each axis moved. */
static MlirValue emitPad(const Emitter *emitter, const SambaStageOperand *operand, MlirValue source,
                         int64_t *low) {
  const SambaStageTensor *tensor = &emitter->graph->tensors[operand->tensor];
  int64_t high[SAMBA_MAX_RANK], dims[SAMBA_MAX_RANK];
  bool any = false;

  for (uint32_t a = 0; a < tensor->rank; ++a) {
    int64_t first, last;
    axisRange(emitter->stage, &operand->axes[a], &first, &last);
    low[a] = first < 0 ? -first : 0;
    high[a] = last >= tensor->dims[a] ? last - tensor->dims[a] + 1 : 0;
    dims[a] = tensor->dims[a] + low[a] + high[a];
    any |= low[a] || high[a];
  }

  if (!any)
    return source;
  MlirValue fill = emitElement(emitter, emitter->block, emitter->before, tensor->dtype,
                               elementAttribute(emitter->context, tensor->dtype, operand->fill));
  MlirRegion region = mlirRegionCreate();
  MlirType index[SAMBA_MAX_RANK];
  MlirLocation locations[SAMBA_MAX_RANK];
  for (uint32_t a = 0; a < tensor->rank; ++a)
    index[a] = mlirIndexTypeGet(emitter->context), locations[a] = emitter->location;
  MlirBlock body = mlirBlockCreate(tensor->rank, index, locations);
  mlirRegionAppendOwnedBlock(region, body);
  MlirOperation none = {NULL};
  SambaOperationParts yield = {
      .name = "tensor.yield", .location = emitter->location, .operand_count = 1, .operands = &fill};
  sambaBuildOperationIn(body, none, &yield);
  MlirType type = tensorType(emitter->context, tensor->dtype, tensor->rank, dims);
  MlirNamedAttribute attributes[] = {
      segmentSizes(emitter->context, 3, (int32_t[]){1, 0, 0}),
      sambaNamedAttribute(emitter->context, "static_low",
                          mlirDenseI64ArrayGet(emitter->context, tensor->rank, low)),
      sambaNamedAttribute(emitter->context, "static_high",
                          mlirDenseI64ArrayGet(emitter->context, tensor->rank, high))};
  SambaOperationParts parts = {.name = "tensor.pad",
                               .location = emitter->location,
                               .operand_count = 1,
                               .operands = &source,
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 3,
                               .attributes = attributes,
                               .region_count = 1,
                               .regions = &region};
  return mlirOperationGetResult(sambaBuildOperationIn(emitter->block, emitter->before, &parts), 0);
}

/* samba.slice where an axis is walked plainly but not to its end. */
static MlirValue emitPart(const Emitter *emitter, const SambaStageOperand *operand,
                          MlirValue source) {
  const SambaStageTensor *tensor = &emitter->graph->tensors[operand->tensor];
  int64_t starts[SAMBA_MAX_RANK] = {0}, ends[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK];
  bool any = false;

  for (uint32_t a = 0; a < tensor->rank; ++a) {
    int plain = plainDimension(emitter->stage, &operand->axes[a]);
    steps[a] = 1;
    ends[a] = plain < 0 ? tensor->dims[a] : emitter->stage->extents[plain];
    any |= ends[a] != tensor->dims[a];
  }

  if (!any)
    return source;
  MlirNamedAttribute attributes[] = {
      sambaNamedAttribute(emitter->context, "starts",
                          mlirDenseI64ArrayGet(emitter->context, tensor->rank, starts)),
      sambaNamedAttribute(emitter->context, "ends",
                          mlirDenseI64ArrayGet(emitter->context, tensor->rank, ends)),
      sambaNamedAttribute(emitter->context, "steps",
                          mlirDenseI64ArrayGet(emitter->context, tensor->rank, steps))};
  MlirOperation slice =
      sambaOperationCreate("samba.slice", emitter->location, 1, &source, 3, attributes);
  mlirBlockInsertOwnedOperationBefore(emitter->block, emitter->before, slice);

  return mlirOperationGetResult(slice, 0);
}

static MlirValue emitCounter(const Emitter *emitter, MlirBlock body, const SambaLaneOp *op) {
  MlirOperation none = {NULL};
  MlirNamedAttribute dim = sambaNamedAttribute(
      emitter->context, "dim",
      mlirIntegerAttrGet(mlirIntegerTypeGet(emitter->context, 64), (int64_t)op->immediate));
  MlirType index = mlirIndexTypeGet(emitter->context);
  SambaOperationParts parts = {.name = "linalg.index",
                               .location = emitter->location,
                               .result_count = 1,
                               .results = &index,
                               .attribute_count = 1,
                               .attributes = &dim};
  MlirValue value = mlirOperationGetResult(sambaBuildOperationIn(body, none, &parts), 0);
  bool is_float = op->type == SAMBA_DTYPE_F32;
  SambaDType integer = is_float ? SAMBA_DTYPE_I32 : (SambaDType)op->type;

  value = sambaBuildUnaryOrMore(body, none, emitter->location, "arith.index_cast", 1, &value,
                                sambaDTypeToType(emitter->context, integer));
  return is_float ? sambaBuildUnaryOrMore(body, none, emitter->location, "arith.sitofp", 1, &value,
                                          mlirF32TypeGet(emitter->context))
                  : value;
}

static MlirValue emitIndex(const Emitter *emitter, MlirBlock body, int64_t number) {
  MlirOperation none = {NULL};
  return sambaBuildConstant(body, none, emitter->location,
                            mlirIntegerAttrGet(mlirIndexTypeGet(emitter->context), number));
}

/* Read element by element: what another operand indexes, and without slices what is walked plainly
 * but not to its end (linalg would take its size for the loop's bound). */
static bool isExtracted(const Emitter *emitter, const SambaStageOperand *operand) {
  const SambaStageTensor *tensor = &emitter->graph->tensors[operand->tensor];
  for (uint32_t a = 0; a < tensor->rank && !operand->guarded && !emitter->slices; ++a) {
    int plain = plainDimension(emitter->stage, &operand->axes[a]);
    if (plain >= 0 && tensor->dims[a] != emitter->stage->extents[plain])
      return true;
  }
  return operand->index_operand != SAMBA_NO_INDEX;
}

/* tensor.extract at the operand's axes; index: of an indexed operand, the value that is added. */
static MlirValue emitExtract(const Emitter *emitter, MlirBlock body,
                             const SambaStageOperand *operand, MlirValue source, MlirValue index) {
  const SambaStageTensor *tensor = &emitter->graph->tensors[operand->tensor];
  MlirOperation none = {NULL};
  MlirType type = mlirIndexTypeGet(emitter->context);
  MlirValue inputs[1 + SAMBA_MAX_RANK] = {source};

  for (uint32_t a = 0; a < tensor->rank; ++a) {
    MlirValue sum = emitIndex(emitter, body, operand->axes[a].constant);
    for (uint32_t d = 0; d < emitter->stage->dim_count; ++d) {
      if (!operand->axes[a].coefficients[d])
        continue;
      SambaLaneOp counter = {.opcode = SAMBA_LANE_COUNTER, .type = SAMBA_DTYPE_I64, .immediate = d};
      MlirValue factors[2] = {emitCounter(emitter, body, &counter),
                              emitIndex(emitter, body, operand->axes[a].coefficients[d])};
      factors[0] = sambaBuildUnaryOrMore(body, none, emitter->location, "arith.index_cast", 1,
                                         factors, type);
      MlirValue terms[2] = {sum, sambaBuildUnaryOrMore(body, none, emitter->location, "arith.muli",
                                                       2, factors, type)};
      sum = sambaBuildUnaryOrMore(body, none, emitter->location, "arith.addi", 2, terms, type);
    }
    if (operand->index_operand != SAMBA_NO_INDEX && a == operand->index_axis) {
      MlirValue terms[2] = {sum, sambaBuildUnaryOrMore(body, none, emitter->location,
                                                       "arith.index_cast", 1, &index, type)};
      sum = sambaBuildUnaryOrMore(body, none, emitter->location, "arith.addi", 2, terms, type);
    }
    inputs[1 + a] = sum;
  }

  return sambaBuildUnaryOrMore(body, none, emitter->location, "tensor.extract", 1 + tensor->rank,
                               inputs, sambaDTypeToType(emitter->context, tensor->dtype));
}

/* The scalar body. inputs: one block argument or body constant per operand, already in its lane
 * class. */
static MlirValue emitBody(const Emitter *emitter, MlirBlock body, MlirValue *program_values,
                          MlirValue accumulator) {
  const SambaStage *stage = emitter->stage;
  for (uint32_t i = 0; i < stage->op_count; ++i) {
    const SambaLaneOp *op = &stage->ops[i];
    MlirValue operands[3];
    for (int k = 0; k < sambaLaneOpOperands(op->opcode); ++k)
      operands[k] = program_values[op->operands[k]];
    MlirValue *result = &program_values[stage->operand_count + i];
    if (op->opcode == SAMBA_LANE_COUNTER)
      *result = emitCounter(emitter, body, op);
    else if (sambaLaneOpClass(op->opcode) == 'R')
      *result = sambaLaneBodyEmitReduction(body, emitter->location, op, operands, accumulator);
    else
      *result = sambaLaneBodyEmit(body, emitter->location, op, operands);
  }

  return program_values[stage->result];
}

static const SambaLaneOp *reductionOf(const SambaStage *stage) {
  for (uint32_t i = 0; i < stage->op_count; ++i)
    if (sambaLaneOpClass(stage->ops[i].opcode) == 'R')
      return &stage->ops[i];
  return NULL;
}

/* The output's box: extents of the walked dimension per axis, or 1 where an axis is constant. */
static bool outputIsWhole(const Emitter *emitter, int64_t *box, int64_t *offsets,
                          int64_t *strides) {
  const SambaStageOperand *output = &emitter->stage->output;
  const SambaStageTensor *tensor = &emitter->graph->tensors[output->tensor];
  bool whole = true;
  for (uint32_t a = 0; a < tensor->rank; ++a) {
    const SambaAxisMap *axis = &output->axes[a];
    box[a] = 1, offsets[a] = axis->constant, strides[a] = 1;
    for (uint32_t d = 0; d < emitter->stage->dim_count; ++d)
      if (axis->coefficients[d])
        box[a] = emitter->stage->extents[d], strides[a] = axis->coefficients[d];
    whole &= offsets[a] == 0 && box[a] == tensor->dims[a] && (strides[a] == 1 || box[a] == 1);
  }
  return whole;
}

static MlirValue emitInsertSlice(const Emitter *emitter, MlirValue source, MlirValue destination,
                                 uint32_t rank, const int64_t *box, const int64_t *offsets,
                                 const int64_t *strides) {
  MlirType type = mlirValueGetType(destination);
  MlirNamedAttribute attributes[] = {
      segmentSizes(emitter->context, 5, (int32_t[]){1, 1, 0, 0, 0}),
      sambaNamedAttribute(emitter->context, "static_offsets",
                          mlirDenseI64ArrayGet(emitter->context, rank, offsets)),
      sambaNamedAttribute(emitter->context, "static_sizes",
                          mlirDenseI64ArrayGet(emitter->context, rank, box)),
      sambaNamedAttribute(emitter->context, "static_strides",
                          mlirDenseI64ArrayGet(emitter->context, rank, strides))};
  SambaOperationParts parts = {.name = "tensor.insert_slice",
                               .location = emitter->location,
                               .operand_count = 2,
                               .operands = (MlirValue[]){source, destination},
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = 4,
                               .attributes = attributes};
  return mlirOperationGetResult(sambaBuildOperationIn(emitter->block, emitter->before, &parts), 0);
}

/* The operands of a linalg.generic under construction, its output last. */
typedef struct Generic {
  intptr_t count;
  MlirValue values[maxInputs + 1];
  MlirAttribute maps[maxInputs + 1];
  MlirType element_types[maxInputs + 1];
  int argument_of[SAMBA_MAX_STAGE_OPERANDS]; /* block argument of each operand of the stage, -1:
                                                made in the body */
  bool covered[SAMBA_MAX_STAGE_DIMS];        /* loops whose bound an operand tells */
} Generic;

static void addGenericOperand(const Emitter *emitter, Generic *generic, MlirValue value,
                              uint32_t rank, MlirAffineExpr *axes) {
  generic->values[generic->count] = value;
  generic->element_types[generic->count] = mlirShapedTypeGetElementType(mlirValueGetType(value));
  generic->maps[generic->count++] = mlirAffineMapAttrGet(
      mlirAffineMapGet(emitter->context, emitter->stage->dim_count, 0, rank, axes));
}

/* The stage's operands but those that the body makes: constants and extracted elements. */
static void addStageOperands(const Emitter *emitter, const MlirValue *values,
                             const MlirAttribute *constants, Generic *generic) {
  for (uint32_t i = 0; i < emitter->stage->operand_count; ++i) {
    const SambaStageOperand *operand = &emitter->stage->operands[i];
    const SambaStageTensor *tensor = &emitter->graph->tensors[operand->tensor];
    generic->argument_of[i] = -1;
    if (isExtracted(emitter, operand) ||
        (!mlirAttributeIsNull(constants[operand->tensor]) && !operand->guarded))
      continue;

    int64_t low[SAMBA_MAX_RANK] = {0};
    MlirValue source = values[operand->tensor];
    if (operand->guarded)
      source = emitPad(emitter, operand, source, low);
    else if (emitter->slices)
      source = emitPart(emitter, operand, source);

    MlirAffineExpr axes[SAMBA_MAX_RANK];
    for (uint32_t a = 0; a < tensor->rank; ++a) {
      axes[a] = axisExpression(emitter, &operand->axes[a], low[a]);
      SambaAxisMap shifted = operand->axes[a];
      shifted.constant += low[a];
      int plain = plainDimension(emitter->stage, &shifted);
      if (plain >= 0)
        generic->covered[plain] = true;
    }

    generic->argument_of[i] = (int)generic->count;
    addGenericOperand(emitter, generic, source, tensor->rank, axes);
  }
}

/* The output, and before it a shape operand where one is needed: linalg infers every loop bound
 * from an operand, so that one walks the dimensions that no other operand walks plainly. */
static void addShapeAndOutput(const Emitter *emitter, MlirValue init, Generic *generic) {
  const SambaStage *stage = emitter->stage;
  uint32_t output_rank = emitter->graph->tensors[stage->output.tensor].rank;
  MlirAffineExpr output_axes[SAMBA_MAX_RANK];
  for (uint32_t a = 0; a < output_rank; ++a) {
    SambaAxisMap axis = stage->output.axes[a];
    axis.constant = 0;
    for (uint32_t d = 0; d < stage->dim_count; ++d)
      if (axis.coefficients[d])
        axis.coefficients[d] = 1, generic->covered[d] = true;
    output_axes[a] = axisExpression(emitter, &axis, 0);
  }

  MlirAffineExpr window[SAMBA_MAX_STAGE_DIMS];
  int64_t window_dims[SAMBA_MAX_STAGE_DIMS];
  uint32_t window_rank = 0;
  for (uint32_t d = 0; d < stage->dim_count; ++d)
    if (!generic->covered[d])
      window[window_rank] = mlirAffineDimExprGet(emitter->context, d),
      window_dims[window_rank++] = stage->extents[d];
  if (window_rank) {
    MlirType type = tensorType(emitter->context, SAMBA_DTYPE_F32, window_rank, window_dims);
    addGenericOperand(emitter, generic, emitEmpty(emitter, type), window_rank, window);
  }

  addGenericOperand(emitter, generic, init, output_rank, output_axes);
}

/* The program's first values: what its operands are in the body. An extracted element may have
 * another operand as its index, so it comes after those. */
static void emitOperandValues(const Emitter *emitter, const Generic *generic,
                              const MlirValue *values, const MlirAttribute *constants,
                              MlirBlock body, MlirValue *out_values) {
  for (uint32_t i = 0; i < emitter->stage->operand_count; ++i) {
    const SambaStageOperand *operand = &emitter->stage->operands[i];
    SambaDType dtype = emitter->graph->tensors[operand->tensor].dtype;
    MlirOperation none = {NULL};
    if (isExtracted(emitter, operand))
      continue;
    MlirValue element =
        generic->argument_of[i] >= 0
            ? mlirBlockGetArgument(body, generic->argument_of[i])
            : emitElement(emitter, body, none, dtype,
                          mlirDenseElementsAttrGetSplatValue(constants[operand->tensor]));
    out_values[i] = sambaLaneBodyExtend(body, emitter->location, dtype, element);
  }

  for (uint32_t i = 0; i < emitter->stage->operand_count; ++i) {
    const SambaStageOperand *operand = &emitter->stage->operands[i];
    if (!isExtracted(emitter, operand))
      continue;
    MlirValue index = operand->index_operand != SAMBA_NO_INDEX ? out_values[operand->index_operand]
                                                               : (MlirValue){NULL};
    out_values[i] =
        sambaLaneBodyExtend(body, emitter->location, emitter->graph->tensors[operand->tensor].dtype,
                            emitExtract(emitter, body, operand, values[operand->tensor], index));
  }
}

static MlirRegion emitGenericBody(const Emitter *emitter, const Generic *generic,
                                  const MlirValue *values, const MlirAttribute *constants) {
  const SambaStage *stage = emitter->stage;
  MlirLocation locations[maxInputs + 1];
  for (intptr_t i = 0; i < generic->count; ++i)
    locations[i] = emitter->location;
  MlirBlock body = mlirBlockCreate(generic->count, generic->element_types, locations);

  MlirValue *program_values =
      sambaAllocateZeroed(stage->operand_count + stage->op_count, sizeof *program_values);
  emitOperandValues(emitter, generic, values, constants, body, program_values);
  MlirValue accumulator = mlirBlockGetArgument(body, generic->count - 1);
  MlirValue result = emitBody(emitter, body, program_values, accumulator);
  free(program_values);

  result = sambaLaneBodyNarrow(body, emitter->location,
                               emitter->graph->tensors[stage->output.tensor].dtype, result);
  MlirOperation none = {NULL};
  SambaOperationParts yield = {.name = "linalg.yield",
                               .location = emitter->location,
                               .operand_count = 1,
                               .operands = &result};
  sambaBuildOperationIn(body, none, &yield);

  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, body);
  return region;
}

static MlirAttribute iteratorTypes(const Emitter *emitter) {
  MlirAttribute iterators[SAMBA_MAX_STAGE_DIMS];
  MlirAttribute parallel =
      mlirAttributeParseGet(emitter->context, sambaMlirString("#linalg.iterator_type<parallel>"));
  MlirAttribute reduction =
      mlirAttributeParseGet(emitter->context, sambaMlirString("#linalg.iterator_type<reduction>"));
  for (uint32_t d = 0; d < emitter->stage->dim_count; ++d)
    iterators[d] = emitter->stage->reduced[d] ? reduction : parallel;
  return mlirArrayAttrGet(emitter->context, emitter->stage->dim_count, iterators);
}

/* One linalg.generic over the inputs into `init`. */
static MlirValue emitGeneric(const Emitter *emitter, const MlirValue *values,
                             const MlirAttribute *constants, MlirValue init) {
  Generic generic = {0};
  addStageOperands(emitter, values, constants, &generic);
  addShapeAndOutput(emitter, init, &generic);
  MlirRegion region = emitGenericBody(emitter, &generic, values, constants);

  int32_t segments[] = {(int32_t)generic.count - 1, 1};
  MlirNamedAttribute attributes[5] = {
      sambaNamedAttribute(emitter->context, "indexing_maps",
                          mlirArrayAttrGet(emitter->context, generic.count, generic.maps)),
      sambaNamedAttribute(emitter->context, "iterator_types", iteratorTypes(emitter)),
      segmentSizes(emitter->context, 2, segments),
      sambaNamedAttribute(
          emitter->context, SAMBA_STAGE_ATTRIBUTE,
          mlirStringAttrGet(emitter->context, sambaMlirString(emitter->stage->name))),
      sambaNamedAttribute(emitter->context, SAMBA_LANE_REDUCE_ATTRIBUTE,
                          mlirUnitAttrGet(emitter->context))};
  MlirType type = mlirValueGetType(init);
  SambaOperationParts parts = {.name = "linalg.generic",
                               .location = emitter->location,
                               .operand_count = generic.count,
                               .operands = generic.values,
                               .result_count = 1,
                               .results = &type,
                               .attribute_count = emitter->stage->lane_reduce ? 5 : 4,
                               .attributes = attributes,
                               .region_count = 1,
                               .regions = &region};
  return mlirOperationGetResult(sambaBuildOperationIn(emitter->block, emitter->before, &parts), 0);
}

static bool isPlainCopy(const Emitter *emitter, const MlirAttribute *constants,
                        const int64_t *box) {
  const SambaStage *stage = emitter->stage;
  if (stage->operand_count == 1 && !mlirAttributeIsNull(constants[stage->operands[0].tensor]))
    return false;
  if (stage->op_count || stage->operand_count != 1 || stage->operands[0].guarded)
    return false;
  const SambaStageTensor *tensor = &emitter->graph->tensors[stage->operands[0].tensor];

  if (tensor->rank != emitter->graph->tensors[stage->output.tensor].rank)
    return false;
  for (uint32_t a = 0; a < tensor->rank; ++a) {
    const SambaAxisMap *in = &stage->operands[0].axes[a];
    const SambaAxisMap *out = &stage->output.axes[a];
    if (tensor->dims[a] != box[a] || in->constant)
      return false;
    for (uint32_t d = 0; d < stage->dim_count; ++d)
      if (in->coefficients[d] != (out->coefficients[d] ? 1 : 0))
        return false;
  }

  return true;
}

MlirOperation sambaStageEmitLinalg(const SambaStageGraph *graph, const SambaStage *stage,
                                   MlirBlock block, MlirOperation before, MlirLocation location,
                                   bool slices, MlirValue *values, const MlirAttribute *constants) {
  Emitter emitter = {graph,    stage, mlirLocationGetContext(location), block, before,
                     location, slices};
  const SambaStageTensor *tensor = &graph->tensors[stage->output.tensor];
  int64_t box[SAMBA_MAX_RANK], offsets[SAMBA_MAX_RANK], strides[SAMBA_MAX_RANK];
  bool whole = outputIsWhole(&emitter, box, offsets, strides);
  bool copy = !whole && isPlainCopy(&emitter, constants, box);
  MlirValue *out = &values[stage->output.tensor];
  MlirValue result;

  if (copy) {
    result = values[stage->operands[0].tensor];
  } else {
    MlirValue init =
        emitEmpty(&emitter, tensorType(emitter.context, tensor->dtype, tensor->rank, box));
    const SambaLaneOp *reduction = reductionOf(stage);
    if (reduction)
      init = emitFill(&emitter, sambaLaneReductionIdentity(emitter.context, reduction), init);
    result = emitGeneric(&emitter, values, constants, init);
  }
  MlirValue read = result;

  if (!whole) {
    MlirValue destination = mlirValueIsNull(*out)
                                ? emitEmpty(&emitter, tensorType(emitter.context, tensor->dtype,
                                                                 tensor->rank, tensor->dims))
                                : *out;
    result = emitInsertSlice(&emitter, result, destination, tensor->rank, box, offsets, strides);
  }

  *out = result;
  return mlirOpResultGetOwner(copy ? result : read);
}
