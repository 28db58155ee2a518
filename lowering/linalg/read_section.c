/* A section's body as a stage graph; see read_section.h. Every SSA tensor value is a view: a base tensor of the graph
 * and an affine map from the value's axes to the base's. Stages read through the composition of their own map and the
 * view. */
#include "lowering/linalg/read_section.h"

#include "dialect/bridge/build.h"
#include "dialect/rdu/lane_body.h"
#include "dialect/rdu/mapping.h"
#include "dialect/samba/samba.h"
#include "lowering/linalg/emit_stage.h"
#include "support/pointer_map.h"

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

/* What an SSA value stands for. */
typedef struct {
  SambaTensorType type;
  bool isEmpty;           /* tensor.empty: gets a tensor when something is written into it */
  bool isSplat;           /* a constant of one repeated value */
  uint64_t splat;         /* bits in the value's dtype */
  bool isScalar;          /* an element-typed constant (fills of pads and inits) */
  SambaStageOperand view; /* base tensor and map over this value's axes */
  bool isWhole;           /* the view is the base tensor itself */
} Value;

typedef struct {
  SambaArena *arena;
  SambaStageGraph *graph;
  SAMBA_ARRAY(Value) values;
  SambaPointerMap valueOf; /* SSA value -> index in values */
  SAMBA_ARRAY(MlirOperation) stageOperations;
  SAMBA_ARRAY(uint32_t) stageOrdinals;
  SAMBA_ARRAY(uint32_t) formals; /* per tensor */
  MlirOperation operation;       /* being read */
} Reader;

/* False when the type is no static tensor that Samba knows; the callers say whose type it is. */
static bool tensorTypeOf(MlirType type, SambaTensorType *out_type) {
  SambaStatus status = sambaTensorTypeFromMlir(type, out_type);
  sambaStatusFree(status);
  return !status;
}

static SambaStringRef nameOf(MlirOperation operation) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  return (SambaStringRef){name.data, name.length};
}

static bool is(MlirOperation operation, const char *name) { return sambaStringRefEqualC(nameOf(operation), name); }

static uint32_t addTensor(Reader *r, const SambaTensorType *type, SambaTensorRole role, uint32_t aliasOf,
                          uint32_t formal, const char *name) {
  SambaStageTensor tensor = {.name = name, .role = role, .dtype = type->dtype, .rank = type->rank, .alias_of = aliasOf};
  memcpy(tensor.dims, type->dims, sizeof tensor.dims);
  uint32_t index = sambaStageGraphAddTensor(r->graph, &tensor);
  sambaArrayAppend(&r->formals, formal);
  return index;
}

static SambaStageOperand identityView(uint32_t tensor, uint32_t rank) {
  SambaStageOperand view = {.tensor = tensor, .index_operand = -1};
  for (uint32_t a = 0; a < rank; ++a)
    view.axes[a].coefficients[a] = 1;
  return view;
}

static uint32_t addValue(Reader *r, MlirValue ssa, const Value *value) {
  sambaArrayAppend(&r->values, *value);
  sambaPointerMapSet(&r->valueOf, ssa.ptr, (uint32_t)r->values.size - 1);
  return (uint32_t)r->values.size - 1;
}

static void addWhole(Reader *r, MlirValue ssa, const SambaTensorType *type, uint32_t tensor) {
  Value value = {.type = *type, .view = identityView(tensor, type->rank), .isWhole = true};
  addValue(r, ssa, &value);
}

static SambaStatus getValue(Reader *r, MlirValue ssa, uint32_t *out_index) {
  if (sambaPointerMapGet(&r->valueOf, ssa.ptr, out_index))
    return NULL;
  SambaTensorType type;
  if (!tensorTypeOf(mlirValueGetType(ssa), &type))
    return sambaStatusMake(SAMBA_INVALID, "an operand of '%.*s' is not a static tensor of a type that Samba knows",
                           SAMBA_STRING_ARGS(nameOf(r->operation)));
  /* Not made by what is being read: an argument. */
  uint32_t tensor = addTensor(r, &type, SAMBA_TENSOR_ARGUMENT, 0, UINT32_MAX, "argument");
  addWhole(r, ssa, &type, tensor);
  *out_index = (uint32_t)r->values.size - 1;
  return NULL;
}

/* outer(view(x)): how a stage that reads a value by `outer` reads its base. False when a guard of the outer map would
 * have to cut at the bounds of a part of the base. */
static bool composeView(const Reader *r, const Value *value, const SambaStageOperand *outer, SambaStageOperand *out) {
  if (value->isEmpty || value->isSplat || value->isScalar) /* no tensor to read from */
    return false;
  const SambaStageTensor *base = &r->graph->tensors[value->view.tensor];
  *out = *outer;
  out->tensor = value->view.tensor;
  if (value->isWhole)
    return true;
  if (outer->guarded) {
    if (value->view.guarded)
      return false;
    for (uint32_t a = 0; a < base->rank; ++a)
      for (uint32_t v = 0; v < value->type.rank; ++v)
        if (value->view.axes[a].coefficients[v] &&
            (value->view.axes[a].coefficients[v] != 1 || value->view.axes[a].constant ||
             value->type.dims[v] != base->dims[a]))
          return false;
  }
  if (outer->index_operand >= 0) { /* the indexed axis must be a plain axis of the base */
    uint32_t axis = UINT32_MAX;
    for (uint32_t a = 0; a < base->rank; ++a)
      if (value->view.axes[a].coefficients[outer->index_axis])
        axis = axis == UINT32_MAX && value->view.axes[a].coefficients[outer->index_axis] == 1 ? a : UINT32_MAX - 1;
    if (axis >= base->rank)
      return false;
    out->index_axis = axis;
  }
  memset(out->axes, 0, sizeof out->axes);
  for (uint32_t a = 0; a < base->rank; ++a) {
    const SambaAxisMap *inner = &value->view.axes[a];
    out->axes[a].constant = inner->constant;
    for (uint32_t v = 0; v < value->type.rank; ++v) {
      if (!inner->coefficients[v])
        continue;
      out->axes[a].constant += inner->coefficients[v] * outer->axes[v].constant;
      for (int d = 0; d < SAMBA_MAX_STAGE_DIMS; ++d)
        out->axes[a].coefficients[d] += inner->coefficients[v] * outer->axes[v].coefficients[d];
    }
  }
  if (value->view.guarded) {
    out->guarded = true;
    out->fill = value->view.fill;
  }
  return true;
}

static SambaStatus notComposable(Reader *r) {
  return sambaStatusMake(
      SAMBA_UNSUPPORTED,
      "'%.*s' reads a view that has no affine form here; samba-materialize-views makes a copy of such views",
      SAMBA_STRING_ARGS(nameOf(r->operation)));
}

static const char *layerOf(Reader *r) {
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(r->operation));
  return sambaStringRefCopy(r->arena, layer).data;
}

static const char *stageName(Reader *r) {
  MlirAttribute given = mlirOperationGetAttributeByName(r->operation, sambaMlirString(SAMBA_STAGE_ATTRIBUTE));
  MlirStringRef text = mlirAttributeIsNull(given) || !mlirAttributeIsAString(given)
                           ? mlirIdentifierStr(mlirOperationGetName(r->operation))
                           : mlirStringAttrGetValue(given);
  SambaStringRef name = {text.data, text.length};
  for (size_t i = 0; i < name.size; ++i)
    if (name.data[i] == '.') {
      name.data += i + 1, name.size -= i + 1;
      break;
    }
  return sambaStringRefCopy(r->arena, name).data;
}

/* Replaces operand k of the stage by an immediate of its lane class. */
static void inlineSplat(Reader *r, SambaStage *stage, uint32_t k, SambaDType dtype, uint64_t bits) {
  SambaLaneOp constant = {.opcode = SAMBA_LANE_CONSTANT, .type = (uint8_t)sambaLaneClassOf(dtype), .immediate = bits};
  if (dtype == SAMBA_DTYPE_BF16 || dtype == SAMBA_DTYPE_F16) {
    float value = dtype == SAMBA_DTYPE_BF16 ? sambaBf16ToFloat((uint16_t)bits) : sambaHalfToFloat((uint16_t)bits);
    uint32_t wide;
    memcpy(&wide, &value, sizeof wide);
    constant.immediate = wide;
  }
  SambaLaneOp *ops = SAMBA_ARENA_ARRAY(r->arena, SambaLaneOp, stage->op_count + 1);
  uint32_t last = stage->operand_count - 1;
  /* New numbering: operands above k move down by one, the constant becomes value `last`, old ops stay where they are.
   */
  ops[0] = constant;
  for (uint32_t i = 0; i < stage->op_count; ++i) {
    ops[i + 1] = stage->ops[i];
    for (int o = 0; o < sambaLaneOpOperands(ops[i + 1].opcode); ++o) {
      uint16_t *operand = &ops[i + 1].operands[o];
      *operand = *operand == k                      ? (uint16_t)last
                 : *operand > k && *operand <= last ? (uint16_t)(*operand - 1)
                                                    : *operand;
    }
  }
  if (stage->result <= last)
    stage->result = stage->result == k ? last : stage->result > k ? stage->result - 1 : stage->result;
  for (uint32_t i = k; i < last; ++i)
    stage->operands[i] = stage->operands[i + 1];
  for (uint32_t i = 0; i < last; ++i)
    if (stage->operands[i].index_operand > (int32_t)k)
      --stage->operands[i].index_operand;
  stage->operand_count = last;
  stage->ops = ops;
  ++stage->op_count;
}

static bool isIndexOfAnother(const SambaStage *stage, uint32_t k) {
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    if (stage->operands[i].index_operand == (int32_t)k)
      return true;
  return false;
}

static void addStage(Reader *r, const SambaStage *stage, uint32_t ordinal) {
  uint32_t index = sambaStageGraphAddStage(r->graph, stage);
  sambaMappingOfOperation(r->operation, ordinal, &r->graph->mappings[index]);
  sambaArrayAppend(&r->stageOperations, r->operation);
  sambaArrayAppend(&r->stageOrdinals, ordinal);
}

/* A tensor for a value that something is written into (inits and destinations). */
static uint32_t destinationTensor(Reader *r, uint32_t valueIndex) {
  Value *value = &r->values.data[valueIndex];
  if (value->isEmpty || value->isSplat) {
    uint32_t tensor = addTensor(r, &value->type, SAMBA_TENSOR_INTERMEDIATE, 0, UINT32_MAX, stageName(r));
    value = &r->values.data[valueIndex];
    value->isEmpty = value->isSplat = false;
    value->view = identityView(tensor, value->type.rank);
    value->isWhole = true;
  }
  return value->view.tensor;
}

/* ---- samba operations: stages and views of the operator table ---- */

static SambaStatus importFragment(Reader *r, const SambaStageGraph *fragment, uint32_t operandCount,
                                  const uint32_t *operandValues) {
  uint32_t *tensorOf = SAMBA_ARENA_ARRAY(r->arena, uint32_t, fragment->tensor_count + 1);
  intptr_t resultCount = mlirOperationGetNumResults(r->operation);
  for (int aliases = 0; aliases < 2; ++aliases) /* first the tensors, then their other shapes */
    for (uint32_t t = operandCount; t < fragment->tensor_count; ++t) {
      const SambaStageTensor *tensor = &fragment->tensors[t];
      if ((tensor->alias_of != 0) != aliases)
        continue;
      SambaTensorType type = {.dtype = tensor->dtype, .rank = tensor->rank};
      memcpy(type.dims, tensor->dims, sizeof type.dims);
      tensorOf[t] = addTensor(r, &type, SAMBA_TENSOR_INTERMEDIATE, aliases ? tensorOf[tensor->alias_of - 1] + 1 : 0,
                              UINT32_MAX, stageName(r));
      if (t < operandCount + (uint32_t)resultCount)
        addWhole(r, mlirOperationGetResult(r->operation, t - operandCount), &type, tensorOf[t]);
    }
  for (uint32_t s = 0; s < fragment->stage_count; ++s) {
    SambaStage stage = fragment->stages[s];
    for (uint32_t k = 0; k < stage.operand_count;) {
      SambaStageOperand *operand = &stage.operands[k];
      if (operand->tensor >= operandCount) {
        operand->tensor = tensorOf[operand->tensor];
        ++k;
        continue;
      }
      const Value *value = &r->values.data[operandValues[operand->tensor]];
      if (value->isSplat && !operand->guarded && operand->index_operand < 0 && !isIndexOfAnother(&stage, k)) {
        inlineSplat(r, &stage, k, value->type.dtype, value->splat);
        continue;
      }
      if (value->isEmpty || value->isSplat) /* a splat that cannot be an immediate */
        return sambaStatusMake(SAMBA_UNSUPPORTED,
                               "'%.*s' reads a repeated constant that must be a tensor in memory here",
                               SAMBA_STRING_ARGS(nameOf(r->operation)));
      SambaStageOperand composed;
      if (!composeView(r, value, operand, &composed))
        return notComposable(r);
      *operand = composed;
      ++k;
    }
    stage.output.tensor = tensorOf[stage.output.tensor];
    addStage(r, &stage, s);
  }
  return NULL;
}

static SambaStatus readReshape(Reader *r, const Value *source, const SambaTensorType *type) {
  if (!source->isWhole)
    return notComposable(r);
  const SambaStageTensor *base = &r->graph->tensors[source->view.tensor];
  uint32_t root = base->alias_of ? base->alias_of - 1 : source->view.tensor;
  uint32_t alias =
      addTensor(r, type, r->graph->tensors[root].role, root + 1, r->formals.data[root], r->graph->tensors[root].name);
  addWhole(r, mlirOperationGetResult(r->operation, 0), type, alias);
  return NULL;
}

static SambaStatus readView(Reader *r, const SambaOperatorCall *call, const Value *given, const SambaTensorType *type) {
  Value source = *given, result = {.type = *type};
  if (source.isSplat) { /* a view of a splat is a splat, unless it pads with another value */
    SambaStageOperand pad = {.fill = source.splat};
    if (call->operator_->compose)
      SAMBA_RETURN_IF_ERROR(call->operator_->compose(call, type, &pad));
    if (pad.fill != source.splat)
      return notComposable(r);
    result.isSplat = true;
    result.splat = source.splat;
    addValue(r, mlirOperationGetResult(r->operation, 0), &result);
    return NULL;
  }
  if (!call->operator_->compose)
    return readReshape(r, &source, type);
  SambaStageOperand map = {.index_operand = -1};
  SAMBA_RETURN_IF_ERROR(call->operator_->compose(call, type, &map));
  if (!composeView(r, &source, &map, &result.view))
    return notComposable(r);
  addValue(r, mlirOperationGetResult(r->operation, 0), &result);
  return NULL;
}

static SambaStatus readSambaOperation(Reader *r) {
  SambaOperatorCall call;
  SAMBA_RETURN_IF_ERROR(sambaOperatorCallFromOperation(r->arena, r->operation, &call));
  SambaTensorType results[4];
  for (intptr_t i = 0; i < mlirOperationGetNumResults(r->operation) && i < 4; ++i)
    if (!tensorTypeOf(mlirValueGetType(mlirOperationGetResult(r->operation, i)), &results[i]))
      return sambaStatusMake(SAMBA_INVALID, "a result of '%.*s' is not a static tensor",
                             SAMBA_STRING_ARGS(nameOf(r->operation)));
  uint32_t *operandValues = SAMBA_ARENA_ARRAY(r->arena, uint32_t, call.operand_count + 1);
  for (uint32_t i = 0; i < call.operand_count; ++i)
    SAMBA_RETURN_IF_ERROR(getValue(r, mlirOperationGetOperand(r->operation, i), &operandValues[i]));
  if (call.operator_->view)
    return readView(r, &call, &r->values.data[operandValues[0]], &results[0]);
  if (!call.operator_->stages)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "'%.*s' has no hardware form", SAMBA_STRING_ARGS(nameOf(r->operation)));
  SambaStageGraph fragment = {.arena = r->arena, .name = ""};
  uint32_t *operands = SAMBA_ARENA_ARRAY(r->arena, uint32_t, call.operand_count + 1), resultTensors[4];
  for (uint32_t i = 0; i < call.operand_count; ++i) {
    SambaStageTensor tensor = {.name = "operand",
                               .role = SAMBA_TENSOR_ARGUMENT,
                               .dtype = call.operands[i].dtype,
                               .rank = call.operands[i].rank};
    memcpy(tensor.dims, call.operands[i].dims, sizeof tensor.dims);
    operands[i] = sambaStageGraphAddTensor(&fragment, &tensor);
  }
  for (uint32_t i = 0; i < call.operator_->result_count && i < 4; ++i) {
    SambaStageTensor tensor = {
        .name = "result", .role = SAMBA_TENSOR_RESULT, .dtype = results[i].dtype, .rank = results[i].rank};
    memcpy(tensor.dims, results[i].dims, sizeof tensor.dims);
    resultTensors[i] = sambaStageGraphAddTensor(&fragment, &tensor);
  }
  SAMBA_RETURN_IF_ERROR(call.operator_->stages(&call, &fragment, operands, resultTensors, layerOf(r)));
  return importFragment(r, &fragment, call.operand_count, operandValues);
}

static bool splatBits(MlirAttribute attribute, SambaDType dtype, uint64_t *out_bits) {
  if (!mlirAttributeIsADenseElements(attribute) || !mlirDenseElementsAttrIsSplat(attribute))
    return false;
  if (dtype == SAMBA_DTYPE_F32) {
    float value = mlirDenseElementsAttrGetFloatSplatValue(attribute);
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    *out_bits = bits;
  } else {
    MlirAttribute element = mlirDenseElementsAttrGetSplatValue(attribute);
    if (dtype == SAMBA_DTYPE_BF16)
      *out_bits = sambaFloatToBf16((float)mlirFloatAttrGetValueDouble(element));
    else if (dtype == SAMBA_DTYPE_F16)
      *out_bits = sambaFloatToHalf((float)mlirFloatAttrGetValueDouble(element));
    else if (dtype == SAMBA_DTYPE_UI8)
      *out_bits = mlirIntegerAttrGetValueUInt(element);
    else
      *out_bits = (uint64_t)mlirIntegerAttrGetValueInt(element);
  }
  return true;
}

/* ---- constants, empties, pads, slices ---- */

static SambaStatus readConstant(Reader *r) {
  MlirValue result = mlirOperationGetResult(r->operation, 0);
  MlirAttribute attribute = mlirOperationGetAttributeByName(r->operation, sambaMlirString("value"));
  Value value = {0};
  SambaDType dtype = sambaDTypeFromType(mlirValueGetType(result));
  if (dtype != SAMBA_DTYPE_COUNT) {
    value.isScalar = true;
    value.type = (SambaTensorType){.dtype = dtype};
    if (mlirAttributeIsAFloat(attribute)) {
      float real = (float)mlirFloatAttrGetValueDouble(attribute);
      uint32_t bits;
      memcpy(&bits, &real, sizeof bits);
      value.splat = dtype == SAMBA_DTYPE_F32    ? bits
                    : dtype == SAMBA_DTYPE_BF16 ? sambaFloatToBf16(real)
                                                : sambaFloatToHalf(real);
    } else if (mlirAttributeIsAInteger(attribute)) {
      value.splat = (uint64_t)mlirIntegerAttrGetValueInt(attribute);
    }
    addValue(r, result, &value);
    return NULL;
  }
  if (tensorTypeOf(mlirValueGetType(result), &value.type) && splatBits(attribute, value.type.dtype, &value.splat)) {
    value.isSplat = true;
    addValue(r, result, &value);
    return NULL;
  }
  if (!tensorTypeOf(mlirValueGetType(result), &value.type))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a constant of a type that Samba does not know");
  return sambaStatusMake(SAMBA_UNSUPPORTED,
                         "a constant of many values inside a section; pass it as an argument of the section");
}

static SambaStatus readEmpty(Reader *r) {
  Value value = {.isEmpty = true};
  MlirValue result = mlirOperationGetResult(r->operation, 0);
  if (!tensorTypeOf(mlirValueGetType(result), &value.type))
    return sambaStatusMake(SAMBA_INVALID, "'tensor.empty' is not a static tensor of a type that Samba knows");
  addValue(r, result, &value);
  return NULL;
}

static SambaStatus readFill(Reader *r) {
  uint32_t scalar;
  SAMBA_RETURN_IF_ERROR(getValue(r, mlirOperationGetOperand(r->operation, 0), &scalar));
  Value value = {.isSplat = true, .splat = r->values.data[scalar].splat};
  MlirValue result = mlirOperationGetResult(r->operation, 0);
  if (!r->values.data[scalar].isScalar || !tensorTypeOf(mlirValueGetType(result), &value.type) ||
      r->values.data[scalar].type.dtype != value.type.dtype)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "'linalg.fill' with a value that is not a constant of the tensor's type");
  addValue(r, result, &value);
  return NULL;
}

static SambaStatus readPad(Reader *r) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(r->operation, 0));
  MlirOperation yield = mlirBlockGetTerminator(body);
  uint32_t source, fill;
  SAMBA_RETURN_IF_ERROR(getValue(r, mlirOperationGetOperand(r->operation, 0), &source));
  Value value = {0}, from = r->values.data[source];
  MlirValue result = mlirOperationGetResult(r->operation, 0);
  MlirAttribute low = mlirOperationGetAttributeByName(r->operation, sambaMlirString("static_low"));
  if (mlirOperationGetNumOperands(r->operation) != 1 ||
      !sambaPointerMapGet(&r->valueOf, mlirOperationGetOperand(yield, 0).ptr, &fill) ||
      !r->values.data[fill].isScalar || !tensorTypeOf(mlirValueGetType(result), &value.type))
    return sambaStatusMake(SAMBA_UNSUPPORTED, "'tensor.pad' with dynamic amounts or a value that is not a constant");
  SambaStageOperand map = {.index_operand = -1, .guarded = true, .fill = r->values.data[fill].splat};
  for (uint32_t a = 0; a < value.type.rank; ++a) {
    map.axes[a].coefficients[a] = 1;
    map.axes[a].constant = -mlirDenseI64ArrayGetElement(low, a);
  }
  value.isSplat = from.isSplat && from.splat == map.fill;
  value.splat = from.splat;
  if (!value.isSplat && !composeView(r, &from, &map, &value.view))
    return notComposable(r);
  addValue(r, result, &value);
  return NULL;
}

static SambaStatus readInsertSlice(Reader *r) {
  uint32_t source, destination;
  SAMBA_RETURN_IF_ERROR(getValue(r, mlirOperationGetOperand(r->operation, 0), &source));
  SAMBA_RETURN_IF_ERROR(getValue(r, mlirOperationGetOperand(r->operation, 1), &destination));
  MlirAttribute offsets = mlirOperationGetAttributeByName(r->operation, sambaMlirString("static_offsets"));
  MlirAttribute strides = mlirOperationGetAttributeByName(r->operation, sambaMlirString("static_strides"));
  const SambaTensorType type = r->values.data[source].type;
  if (mlirOperationGetNumOperands(r->operation) != 2 || type.rank != r->values.data[destination].type.rank)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "'tensor.insert_slice' with dynamic or rank-changing slices");
  uint32_t tensor = destinationTensor(r, destination);
  SambaStage stage = {.name = stageName(r), .layer = layerOf(r), .dim_count = type.rank, .operand_count = 1};
  SambaStageOperand identity = identityView(0, type.rank);
  stage.output = identityView(tensor, type.rank);
  for (uint32_t a = 0; a < type.rank; ++a) {
    stage.extents[a] = type.dims[a];
    stage.output.axes[a].constant = mlirDenseI64ArrayGetElement(offsets, a);
    stage.output.axes[a].coefficients[a] = mlirDenseI64ArrayGetElement(strides, a);
  }
  if (r->values.data[source].isSplat)
    inlineSplat(r, &stage, 0, type.dtype, r->values.data[source].splat);
  else if (!composeView(r, &r->values.data[source], &identity, &stage.operands[0]))
    return notComposable(r);
  addStage(r, &stage, 0);
  const SambaTensorType whole = r->values.data[destination].type;
  addWhole(r, mlirOperationGetResult(r->operation, 0), &whole, tensor);
  return NULL;
}

/* ---- linalg.generic ---- */

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
  if (!mlirAffineExprIsAAdd(expression) && !mlirAffineExprIsAMul(expression))
    return false;
  MlirAffineExpr left = mlirAffineBinaryOpExprGetLHS(expression), right = mlirAffineBinaryOpExprGetRHS(expression);
  if (mlirAffineExprIsAAdd(expression))
    return addExpression(left, factor, axis) && addExpression(right, factor, axis);
  if (mlirAffineExprIsAConstant(left))
    return addExpression(right, factor * mlirAffineConstantExprGetValue(left), axis);
  return mlirAffineExprIsAConstant(right) && addExpression(left, factor * mlirAffineConstantExprGetValue(right), axis);
}

static bool readMap(MlirAttribute maps, intptr_t position, SambaStageOperand *operand) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, position));
  operand->index_operand = -1;
  for (intptr_t a = 0; a < mlirAffineMapGetNumResults(map); ++a)
    if (a >= SAMBA_MAX_RANK || !addExpression(mlirAffineMapGetResult(map, a), 1, &operand->axes[a]))
      return false;
  return true;
}

/* The body of a generic as a lane program. valueIds: block arguments and results of body operations. */
static SambaStatus readBody(Reader *r, MlirBlock body, SambaStage *stage, SambaPointerMap *valueIds,
                            MlirValue accumulator, bool hasReduction) {
  SAMBA_ARRAY(SambaLaneOp) ops = {0};
  SambaStatus status = NULL;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !status && !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    SambaLaneOp op;
    uint32_t id;
    if (is(operation, "linalg.yield")) {
      if (sambaPointerMapGet(valueIds, mlirOperationGetOperand(operation, 0).ptr, &id))
        stage->result = id;
      else
        status = sambaStatusMake(SAMBA_UNSUPPORTED, "a 'linalg.generic' yields a value from outside its body");
      continue;
    }
    int count = (int)mlirOperationGetNumOperands(operation), picks[3] = {0, 1, 2}, reductionPicks[2];
    MlirValue result = mlirOperationGetResult(operation, 0);
    if (is(operation, "linalg.index")) {
      MlirAttribute dim = mlirOperationGetAttributeByName(operation, sambaMlirString("dim"));
      op = (SambaLaneOp){.opcode = SAMBA_LANE_COUNTER,
                         .type = SAMBA_DTYPE_I32,
                         .immediate = (uint64_t)mlirIntegerAttrGetValueInt(dim)};
      MlirOpOperand use = mlirValueGetFirstUse(result);
      if (!mlirOpOperandIsNull(use)) { /* the cast that follows says which lane class it is */
        SambaDType cast = sambaDTypeFromType(mlirValueGetType(mlirOperationGetResult(mlirOpOperandGetOwner(use), 0)));
        op.type = (uint8_t)(cast == SAMBA_DTYPE_I64 ? SAMBA_DTYPE_I64 : SAMBA_DTYPE_I32);
      }
      count = 0;
    } else if (hasReduction && sambaLaneBodyReadReduction(operation, accumulator, &op, &count, reductionPicks)) {
      picks[0] = reductionPicks[0], picks[1] = count > 1 ? reductionPicks[1] : 0;
    } else if (is(operation, "arith.index_cast")) {
      count = -1;
    } else {
      SambaLaneRead read = sambaLaneBodyRead(operation, &op);
      if (read == SAMBA_LANE_READ_UNKNOWN) {
        status = sambaStatusMake(SAMBA_UNSUPPORTED, "'%.*s' in the body of a 'linalg.generic' is not a lane operation",
                                 SAMBA_STRING_ARGS(nameOf(operation)));
        continue;
      }
      if (read == SAMBA_LANE_READ_FORWARD)
        count = -1;
      else if (op.opcode == SAMBA_LANE_CONSTANT)
        count = 0;
    }
    if (count < 0) { /* the value itself */
      if (sambaPointerMapGet(valueIds, mlirOperationGetOperand(operation, 0).ptr, &id))
        sambaPointerMapSet(valueIds, result.ptr, id);
      else
        status =
            sambaStatusMake(SAMBA_UNSUPPORTED, "a 'linalg.generic' uses its output in a way that is not a reduction");
      continue;
    }
    for (int i = 0; i < count && i < 3 && !status; ++i) {
      if (!sambaPointerMapGet(valueIds, mlirOperationGetOperand(operation, picks[i]).ptr, &id))
        status = sambaStatusMake(
            SAMBA_UNSUPPORTED,
            "a 'linalg.generic' uses its output or a value from outside in a way that is not a reduction");
      else
        op.operands[i] = (uint16_t)id;
    }
    sambaPointerMapSet(valueIds, result.ptr, stage->operand_count + (uint32_t)ops.size);
    sambaArrayAppend(&ops, op);
  }
  stage->op_count = (uint32_t)ops.size;
  stage->ops = sambaArenaCopy(r->arena, ops.data, ops.size * sizeof *ops.data);
  sambaArrayFree(&ops);
  return status;
}

static SambaStatus readGeneric(Reader *r) {
  MlirAttribute maps = mlirOperationGetAttributeByName(r->operation, sambaMlirString("indexing_maps"));
  MlirAttribute iterators = mlirOperationGetAttributeByName(r->operation, sambaMlirString("iterator_types"));
  MlirAttribute reduction =
      mlirAttributeParseGet(mlirOperationGetContext(r->operation), sambaMlirString("#linalg.iterator_type<reduction>"));
  intptr_t dims = mlirArrayAttrGetNumElements(iterators), inputs = mlirOperationGetNumOperands(r->operation) - 1;
  if (mlirOperationGetNumResults(r->operation) != 1 || dims > SAMBA_MAX_STAGE_DIMS)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "a 'linalg.generic' with several results or more than %d loops",
                           SAMBA_MAX_STAGE_DIMS);
  SambaStage stage = {.name = stageName(r), .layer = layerOf(r), .dim_count = (uint32_t)dims};
  bool hasReduction = false;
  for (intptr_t d = 0; d < dims; ++d)
    hasReduction |= stage.reduced[d] = mlirAttributeEqual(mlirArrayAttrGetElement(iterators, d), reduction);
  stage.lane_reduce =
      !mlirAttributeIsNull(mlirOperationGetAttributeByName(r->operation, sambaMlirString(SAMBA_LANE_REDUCE_ATTRIBUTE)));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(r->operation, 0));
  SambaPointerMap valueIds = {0};
  SambaStatus status = NULL;
  uint32_t splats[SAMBA_MAX_STAGE_OPERANDS], splatCount = 0;
  for (intptr_t i = 0; i <= inputs && !status; ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    SambaStageOperand outer = {0};
    uint32_t index;
    if (!readMap(maps, i, &outer)) {
      status = sambaStatusMake(SAMBA_UNSUPPORTED, "a 'linalg.generic' with an indexing map that is not linear");
      break;
    }
    if ((status = getValue(r, mlirOperationGetOperand(r->operation, i), &index)))
      break;
    const Value *value = &r->values.data[index];
    for (uint32_t a = 0; a < value->type.rank; ++a) /* loop bounds come from axes that walk one dimension plainly */
      for (intptr_t d = 0; d < dims; ++d) {
        SambaAxisMap plain = {0};
        plain.coefficients[d] = 1;
        if (memcmp(&plain, &outer.axes[a], sizeof plain) == 0)
          stage.extents[d] = value->type.dims[a];
      }
    if (i == inputs) {
      stage.output = outer;
      break;
    }
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(argument)))
      continue; /* a shape operand, or one that canonicalization left */
    if (stage.operand_count == SAMBA_MAX_STAGE_OPERANDS) {
      status =
          sambaStatusMake(SAMBA_UNSUPPORTED, "a 'linalg.generic' with more than %d inputs", SAMBA_MAX_STAGE_OPERANDS);
      break;
    }
    if (value->isSplat || value->isScalar)
      splats[splatCount++] = stage.operand_count;
    if (value->isEmpty) {
      status = sambaStatusMake(SAMBA_INVALID, "a 'linalg.generic' reads a 'tensor.empty'");
      break;
    }
    SambaStageOperand *operand = &stage.operands[stage.operand_count];
    *operand = outer;
    operand->tensor = index; /* of the value, until its view is composed below */
    sambaPointerMapSet(&valueIds, argument.ptr, stage.operand_count++);
  }
  if (!status)
    status = readBody(r, body, &stage, &valueIds, mlirBlockGetArgument(body, inputs), hasReduction);
  sambaPointerMapFree(&valueIds);
  if (status)
    return status;
  while (splatCount) {
    uint32_t k = splats[--splatCount];
    const Value *value = &r->values.data[stage.operands[k].tensor];
    inlineSplat(r, &stage, k, value->type.dtype, value->splat);
  }
  for (uint32_t k = 0; k < stage.operand_count; ++k) {
    SambaStageOperand composed;
    if (!composeView(r, &r->values.data[stage.operands[k].tensor], &stage.operands[k], &composed))
      return notComposable(r);
    stage.operands[k] = composed;
  }
  MlirValue result = mlirOperationGetResult(r->operation, 0);
  SambaTensorType type;
  if (!tensorTypeOf(mlirValueGetType(result), &type))
    return sambaStatusMake(SAMBA_INVALID,
                           "the result of a 'linalg.generic' is not a static tensor of a type that Samba knows");
  stage.output.tensor = addTensor(r, &type, SAMBA_TENSOR_INTERMEDIATE, 0, UINT32_MAX, stage.name);
  /* A copy has no operations: its program is the operand itself. */
  if (stage.op_count == 0 && stage.operand_count == 1)
    stage.result = 0;
  addStage(r, &stage, 0);
  addWhole(r, result, &type, stage.output.tensor);
  return NULL;
}

/* ---- operations ---- */

static SambaStatus readOperation(Reader *r, MlirOperation operation) {
  static const struct {
    const char *name;
    SambaStatus (*read)(Reader *r);
  } readers[] = {{"arith.constant", readConstant}, {"samba.constant", readConstant},
                 {"tensor.empty", readEmpty},      {"linalg.fill", readFill},
                 {"tensor.pad", readPad},          {"tensor.insert_slice", readInsertSlice},
                 {"linalg.generic", readGeneric}};
  r->operation = operation;
  for (size_t i = 0; i < sizeof readers / sizeof *readers; ++i)
    if (is(operation, readers[i].name))
      return readers[i].read(r);
  SambaStringRef name = nameOf(operation);
  if (name.size > 6 && memcmp(name.data, "samba.", 6) == 0)
    return readSambaOperation(r);
  return sambaStatusMake(SAMBA_UNSUPPORTED, "'%.*s' has no hardware form", SAMBA_STRING_ARGS(name));
}

static void destroyReader(Reader *r) {
  sambaArrayFree(&r->values);
  sambaPointerMapFree(&r->valueOf);
  sambaArrayFree(&r->stageOperations);
  sambaArrayFree(&r->stageOrdinals);
  sambaArrayFree(&r->formals);
}

static Reader createReader(SambaArena *arena, const char *name) {
  SambaStageGraph *graph = SAMBA_ARENA_NEW(arena, SambaStageGraph);
  graph->arena = arena;
  graph->name = name;
  return (Reader){.arena = arena, .graph = graph};
}

/* What a section yields becomes its results: whole intermediate tensors. */
static SambaStatus readYield(Reader *r, MlirOperation yield, uint32_t argumentCount) {
  r->operation = yield;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(yield); ++i) {
    uint32_t index;
    SAMBA_RETURN_IF_ERROR(getValue(r, mlirOperationGetOperand(yield, i), &index));
    const Value *value = &r->values.data[index];
    if (!value->isWhole)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "a section yields a view; samba-materialize-views makes a copy of it");
    SambaStageTensor *tensor = &r->graph->tensors[value->view.tensor];
    uint32_t root = tensor->alias_of ? tensor->alias_of - 1 : value->view.tensor;
    if (r->graph->tensors[root].role == SAMBA_TENSOR_ARGUMENT)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "a section yields one of its arguments; samba-materialize-views makes a copy of it");
    if (r->graph->tensors[root].role == SAMBA_TENSOR_RESULT)
      return sambaStatusMake(SAMBA_UNSUPPORTED, "a section yields the same tensor twice");
    for (uint32_t t = 0; t < r->graph->tensor_count; ++t) /* the tensor and its other shapes are one symbol */
      if (t == root || r->graph->tensors[t].alias_of == root + 1) {
        r->graph->tensors[t].role = SAMBA_TENSOR_RESULT;
        r->formals.data[t] = argumentCount + (uint32_t)i;
      }
  }
  return NULL;
}

SambaStatus sambaSectionRead(MlirOperation section, SambaArena *arena, SambaSectionStages *out_stages) {
  MlirStringRef symbol = mlirStringAttrGetValue(mlirOperationGetAttributeByName(section, sambaMlirString("sym_name")));
  Reader reader = createReader(arena, sambaStringRefCopy(arena, (SambaStringRef){symbol.data, symbol.length}).data),
         *r = &reader;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(section, 0));
  uint32_t arguments = (uint32_t)mlirBlockGetNumArguments(body);
  SambaStatus status = NULL;
  for (uint32_t i = 0; i < arguments && !status; ++i) {
    MlirValue argument = mlirBlockGetArgument(body, i);
    SambaTensorType type;
    if (tensorTypeOf(mlirValueGetType(argument), &type))
      addWhole(r, argument, &type,
               addTensor(r, &type, SAMBA_TENSOR_ARGUMENT, 0, i, sambaArenaFormat(arena, "arg%u", i)));
    else
      status = sambaStatusMake(SAMBA_INVALID, "argument %u is not a static tensor of a type that Samba knows", i);
  }
  uint32_t results = 0;
  for (MlirOperation operation = mlirBlockGetFirstOperation(body); !status && !mlirOperationIsNull(operation);
       operation = mlirOperationGetNextInBlock(operation)) {
    if (is(operation, "samba.yield")) {
      results = (uint32_t)mlirOperationGetNumOperands(operation);
      status = readYield(r, operation, arguments);
    } else {
      status = readOperation(r, operation);
    }
  }
  if (!status) {
    *out_stages = (SambaSectionStages){.graph = r->graph, .argument_count = arguments, .result_count = results};
    out_stages->stage_operation =
        sambaArenaCopy(arena, r->stageOperations.data, r->stageOperations.size * sizeof(MlirOperation));
    out_stages->stage_ordinal = sambaArenaCopy(arena, r->stageOrdinals.data, r->stageOrdinals.size * sizeof(uint32_t));
    out_stages->tensor_formal = sambaArenaCopy(arena, r->formals.data, r->formals.size * sizeof(uint32_t));
  }
  destroyReader(r);
  return sambaStatusAnnotate(status, "section @%.*s", (int)symbol.length, symbol.data);
}

SambaStatus sambaOperationsRead(const MlirOperation *operations, uint32_t count, SambaArena *arena,
                                SambaStageGraph **out_graph, uint32_t **out_operation_of_stage) {
  Reader reader = createReader(arena, "trial"), *r = &reader;
  SambaPointerMap members = {0};
  SambaStatus status = NULL;
  SAMBA_ARRAY(uint32_t) origins = {0};
  for (uint32_t i = 0; i < count; ++i)
    sambaPointerMapSet(&members, operations[i].ptr, i);
  for (uint32_t i = 0; i < count && !status; ++i) {
    status = readOperation(r, operations[i]);
    while (origins.size < r->graph->stage_count)
      sambaArrayAppend(&origins, i);
    /* A result that somebody outside uses is stored. */
    for (intptr_t k = 0; !status && k < mlirOperationGetNumResults(operations[i]); ++k) {
      MlirValue result = mlirOperationGetResult(operations[i], k);
      uint32_t index, unused;
      if (!sambaPointerMapGet(&r->valueOf, result.ptr, &index) || !r->values.data[index].isWhole)
        continue;
      SambaStageTensor *tensor = &r->graph->tensors[r->values.data[index].view.tensor];
      if (tensor->alias_of)
        tensor = &r->graph->tensors[tensor->alias_of - 1];
      for (MlirOpOperand use = mlirValueGetFirstUse(result); !mlirOpOperandIsNull(use);
           use = mlirOpOperandGetNextUse(use))
        if (tensor->role == SAMBA_TENSOR_INTERMEDIATE &&
            !sambaPointerMapGet(&members, mlirOpOperandGetOwner(use).ptr, &unused))
          tensor->role = SAMBA_TENSOR_RESULT;
    }
  }
  if (!status) {
    *out_graph = r->graph;
    *out_operation_of_stage = sambaArenaCopy(arena, origins.data, origins.size * sizeof(uint32_t));
  }
  sambaArrayFree(&origins);
  sambaPointerMapFree(&members);
  destroyReader(r);
  return status;
}
