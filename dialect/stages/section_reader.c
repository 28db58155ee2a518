/* The reader of sections: values and views; see reader.h. Every SSA tensor value is a view: a base
 * tensor of the graph and an affine map from the value's axes to the base's. Stages read through
 * the composition of their own map and the view. */
#include "dialect/stages/section_reader.h"

#include "backend/stage/stage_compose.h"
#include "dialect/bridge/bridge.h"
#include "dialect/bridge/build_operation.h"
#include "dialect/rdu/mapping.h"
#include "dialect/rdu/section/lane_body.h"
#include "dialect/samba/graph.h"
#include "dialect/stages/emit_stage.h"
#include "support/number/dtype.h"

#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"

#include <stdlib.h>
#include <string.h>

/* False when the type is no static tensor that Samba knows; the callers say whose type it is. */
bool sambaReaderTensorType(MlirType type, SambaTensorType *out_type) {
  SambaStatus status = sambaTensorTypeFromMlir(type, out_type);
  sambaStatusFree(status);
  return !status;
}

SambaStringRef sambaReaderName(MlirOperation operation) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(operation));
  return (SambaStringRef){name.data, name.length};
}

uint32_t sambaReaderAddTensor(SambaSectionReader *reader, const SambaTensorType *type,
                              SambaTensorRole role, uint32_t alias_of, uint32_t formal,
                              const char *name) {
  SambaStageTensor tensor = {.name = name, .role = role, .dtype = type->dtype, .rank = type->rank};
  memcpy(tensor.dims, type->dims, sizeof tensor.dims);
  uint32_t index = sambaStageGraphAddTensor(reader->graph, &tensor);
  reader->graph->tensors[index].alias_of = alias_of;
  sambaArrayAppend(&reader->formals, formal);
  return index;
}

SambaStageOperand sambaReaderIdentityView(uint32_t tensor, uint32_t rank) {
  SambaStageOperand view = {.tensor = tensor, .index_operand = SAMBA_NO_INDEX};
  for (uint32_t a = 0; a < rank; ++a)
    view.axes[a].coefficients[a] = 1;
  return view;
}

uint32_t sambaReaderAddValue(SambaSectionReader *reader, MlirValue ssa,
                             const SambaSectionReaderValue *value) {
  sambaArrayAppend(&reader->values, *value);
  sambaPointerMapSet(&reader->value_of, ssa.ptr, (uint32_t)reader->values.size - 1);
  return (uint32_t)reader->values.size - 1;
}

void sambaReaderAddWhole(SambaSectionReader *reader, MlirValue ssa, const SambaTensorType *type,
                         uint32_t tensor) {
  SambaSectionReaderValue value = {
      .type = *type, .view = sambaReaderIdentityView(tensor, type->rank), .is_whole = true};
  sambaReaderAddValue(reader, ssa, &value);
}

void sambaReaderAddArgin(SambaSectionReader *reader, MlirValue ssa, const SambaTensorType *type) {
  SambaSectionReaderValue value = {.type = *type, .is_argin = true, .slot = reader->argin_count++};
  sambaReaderAddValue(reader, ssa, &value);
}

SambaStatus sambaReaderGetValue(SambaSectionReader *reader, MlirValue ssa, uint32_t *out_index) {
  if (sambaPointerMapGet(&reader->value_of, ssa.ptr, out_index))
    return NULL;
  SambaTensorType type;
  if (!sambaReaderTensorType(mlirValueGetType(ssa), &type))
    return sambaStatusMake(SAMBA_INVALID,
                           "an operand of '%.*s' is not a static tensor of a type that Samba knows",
                           SAMBA_STRING_ARGS(sambaReaderName(reader->operation)));
  /* Not made by what is being read: an argument. */
  if (sambaValueIsArgin(ssa))
    sambaReaderAddArgin(reader, ssa, &type);
  else
    sambaReaderAddWhole(reader, ssa, &type,
                        sambaReaderAddTensor(reader, &type, SAMBA_TENSOR_ARGUMENT, SAMBA_NO_INDEX,
                                             SAMBA_NO_INDEX, "argument"));
  *out_index = (uint32_t)reader->values.size - 1;
  return NULL;
}

bool sambaReaderCompose(const SambaSectionReader *reader, const SambaSectionReaderValue *value,
                        const SambaStage *stage, const SambaStageOperand *outer,
                        SambaStageOperand *out) {
  if (value->is_empty || value->is_splat || value->is_scalar || value->is_argin)
    return false; /* no tensor to read from */
  if (value->is_whole) {
    uint32_t tensor = value->view.tensor;
    *out = *outer;
    out->tensor = tensor;
    return true;
  }
  SambaStageTensor viewed = {.dtype = value->type.dtype, .rank = value->type.rank};
  memcpy(viewed.dims, value->type.dims, sizeof viewed.dims);
  return sambaStageOperandCompose(stage, outer, &viewed, &value->view,
                                  &reader->graph->tensors[value->view.tensor], out);
}

SambaStage sambaReaderStageOver(const SambaTensorType *type) {
  SambaStage stage = {.dim_count = type->rank};
  memcpy(stage.extents, type->dims, type->rank * sizeof *type->dims);
  return stage;
}

SambaStatus sambaReaderNotComposable(SambaSectionReader *reader) {
  return sambaStatusMake(SAMBA_UNSUPPORTED,
                         "'%.*s' reads a view that has no affine form here; "
                         "samba-materialize-views makes a copy of such views",
                         SAMBA_STRING_ARGS(sambaReaderName(reader->operation)));
}

const char *sambaReaderLayer(SambaSectionReader *reader) {
  SambaStringRef layer = sambaLayerOfLocation(mlirOperationGetLocation(reader->operation));
  return sambaStringRefCopy(reader->arena, layer).data;
}

const char *sambaReaderStageName(SambaSectionReader *reader) {
  MlirAttribute given = sambaOperationAttribute(reader->operation, SAMBA_STAGE_ATTRIBUTE);
  MlirStringRef text = mlirAttributeIsNull(given) || !mlirAttributeIsAString(given)
                           ? mlirIdentifierStr(mlirOperationGetName(reader->operation))
                           : mlirStringAttrGetValue(given);
  SambaStringRef name = {text.data, text.length};
  for (size_t i = 0; i < name.size; ++i)
    if (name.data[i] == '.') {
      name.data += i + 1, name.size -= i + 1;
      break;
    }
  return sambaStringRefCopy(reader->arena, name).data;
}

/* The new number of a value when value k becomes the `last` and those between move down by one. */
static uint32_t movedToLast(uint32_t value, uint32_t k, uint32_t last) {
  if (value == k)
    return last;
  return value > k && value <= last ? value - 1 : value;
}

static SambaLaneOp sourceOf(const SambaSectionReaderValue *value) {
  SambaDType dtype = value->type.dtype;
  SambaLaneOp op = {.opcode = SAMBA_LANE_CONSTANT,
                    .type = (uint8_t)sambaDTypeLaneClass(dtype),
                    .immediate = value->splat};
  if (value->is_argin) {
    op.opcode = SAMBA_LANE_ARGIN;
    op.immediate = value->slot;
  } else if (sambaDTypeIsFloat(dtype)) { /* a lane computes in f32 */
    op.immediate =
        sambaFloatToBits(SAMBA_DTYPE_F32, sambaBitsToFloat(dtype, (uint32_t)value->splat));
  }
  return op;
}

void sambaReaderInline(SambaSectionReader *reader, SambaStage *stage, uint32_t k,
                       const SambaSectionReaderValue *value) {
  SambaLaneOp *ops = SAMBA_ARENA_ARRAY(reader->arena, SambaLaneOp, stage->op_count + 1);
  uint32_t last = stage->operand_count - 1;

  /* New numbering: operands above k move down by one, the source becomes value `last`, old ops
   * stay where they are. */
  ops[0] = sourceOf(value);

  for (uint32_t i = 0; i < stage->op_count; ++i) {
    ops[i + 1] = stage->ops[i];
    for (int o = 0; o < sambaLaneOpOperands(ops[i + 1].opcode); ++o) {
      uint16_t *operand = &ops[i + 1].operands[o];
      *operand = (uint16_t)movedToLast(*operand, k, last);
    }
  }

  stage->result = movedToLast(stage->result, k, last);
  for (uint32_t i = k; i < last; ++i)
    stage->operands[i] = stage->operands[i + 1];
  for (uint32_t i = 0; i < last; ++i)
    if (stage->operands[i].index_operand != SAMBA_NO_INDEX && stage->operands[i].index_operand > k)
      --stage->operands[i].index_operand;
  stage->operand_count = last;
  stage->ops = ops;
  ++stage->op_count;
}

void sambaReaderAddStage(SambaSectionReader *reader, const SambaStage *stage, uint32_t ordinal) {
  uint32_t index = sambaStageGraphAddStage(reader->graph, stage);
  sambaMappingOfOperation(reader->operation, ordinal, &reader->graph->mappings[index]);
  sambaArrayAppend(&reader->stage_operations, reader->place);
  sambaArrayAppend(&reader->stage_ordinals, ordinal);
}

SambaStatus sambaReaderCopy(SambaSectionReader *reader, const SambaSectionReaderValue *value,
                            uint32_t tensor, uint32_t ordinal) {
  SambaStage stage = sambaReaderStageOver(&value->type);
  stage.name = sambaReaderStageName(reader);
  stage.layer = sambaReaderLayer(reader);
  stage.output = sambaReaderIdentityView(tensor, value->type.rank);
  stage.operand_count = 1;
  SambaStageOperand identity = sambaReaderIdentityView(0, value->type.rank);
  if (value->is_splat || value->is_argin)
    sambaReaderInline(reader, &stage, 0, value);
  else if (!sambaReaderCompose(reader, value, &stage, &identity, &stage.operands[0]))
    return sambaReaderNotComposable(reader);
  sambaReaderAddStage(reader, &stage, ordinal);
  return NULL;
}

SambaStatus sambaReaderSettle(SambaSectionReader *reader, SambaSectionReaderValue *value) {
  if (!reader->is_section || value->is_empty)
    return sambaReaderNotComposable(reader);
  uint32_t tensor =
      sambaReaderAddTensor(reader, &value->type, SAMBA_TENSOR_INTERMEDIATE, SAMBA_NO_INDEX,
                           SAMBA_NO_INDEX, sambaReaderStageName(reader));
  SAMBA_RETURN_IF_ERROR(sambaReaderCopy(reader, value, tensor, 0));
  *value = (SambaSectionReaderValue){.type = value->type,
                                     .view = sambaReaderIdentityView(tensor, value->type.rank),
                                     .is_whole = true};
  return NULL;
}

void sambaReaderReshape(SambaSectionReader *reader, uint32_t tensor, const SambaTensorType *type) {
  const SambaStageTensor *base = &reader->graph->tensors[tensor];
  uint32_t root = base->alias_of != SAMBA_NO_INDEX ? base->alias_of : tensor;
  uint32_t alias =
      sambaReaderAddTensor(reader, type, reader->graph->tensors[root].role, root,
                           reader->formals.data[root], reader->graph->tensors[root].name);
  sambaReaderAddWhole(reader, mlirOperationGetResult(reader->operation, 0), type, alias);
}

/* How axes of `type` are read from those of `other`, where each became one or several of them. */
static bool expandAxes(const SambaTensorType *type, const SambaTensorType *other,
                       SambaStageOperand *out_map) {
  uint32_t next = 0;
  *out_map = (SambaStageOperand){.index_operand = SAMBA_NO_INDEX};
  for (uint32_t a = 0; a < type->rank; ++a) {
    uint32_t first = next;
    int64_t elements = 1;
    while (next < other->rank && elements < type->dims[a])
      elements *= other->dims[next++];
    if (elements != type->dims[a])
      return false;
    for (uint32_t t = next; t-- > first; elements = elements / other->dims[t])
      out_map->axes[a].coefficients[t] = type->dims[a] / elements;
  }
  for (; next < other->rank; ++next)
    if (other->dims[next] != 1)
      return false;
  return true;
}

/* The view reads its base from the first element to the last. */
static bool readsInOrder(const SambaSectionReader *reader, const SambaSectionReaderValue *value) {
  const SambaStageTensor *base = &reader->graph->tensors[value->view.tensor];
  int64_t of_base = 1, of_value = 1, strides[SAMBA_MAX_RANK], first = 0;
  if (value->view.guarded)
    return false;
  for (uint32_t b = base->rank; b-- > 0; of_base *= base->dims[b]) {
    strides[b] = of_base;
    first += value->view.axes[b].constant * of_base;
  }

  for (uint32_t a = value->type.rank; a-- > 0; of_value *= value->type.dims[a]) {
    int64_t stride = 0;
    for (uint32_t b = 0; b < base->rank; ++b)
      stride += value->view.axes[b].coefficients[a] * strides[b];
    if (value->type.dims[a] != 1 && stride != of_value)
      return false;
  }
  return first == 0 && of_base == of_value;
}

bool sambaReaderReshapeValue(SambaSectionReader *reader, const SambaSectionReaderValue *value,
                             const SambaTensorType *type) {
  uint32_t axis_of[SAMBA_MAX_RANK];
  SambaSectionReaderValue result = {.type = *type};
  SambaStage over = sambaReaderStageOver(type);
  SambaStageOperand map = {.index_operand = SAMBA_NO_INDEX};
  bool unit = sambaAxesMatch(value->type.dims, value->type.rank, type->dims, type->rank, axis_of);
  for (uint32_t a = 0; a < value->type.rank && unit; ++a)
    if (axis_of[a] != SAMBA_NO_INDEX)
      map.axes[a].coefficients[axis_of[a]] = 1;

  /* Only what is in memory already can be read there in two shapes. */
  bool in_memory = reader->graph->tensors[value->view.tensor].role == SAMBA_TENSOR_ARGUMENT;
  bool ordered = readsInOrder(reader, value);
  if (unit || ((!in_memory || !ordered) && expandAxes(&value->type, type, &map))) {
    if (!sambaReaderCompose(reader, value, &over, &map, &result.view))
      return false;
    sambaReaderAddValue(reader, mlirOperationGetResult(reader->operation, 0), &result);
    return true;
  }

  if (!ordered)
    return false;
  sambaReaderReshape(reader, value->view.tensor, type);
  return true;
}
