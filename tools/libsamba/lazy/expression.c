/* Lazy values and the operators that make them; see expression.h and samba/lazy.h. */
#include "tools/libsamba/lazy/expression.h"

#include "dialect/samba/table/registry/registry.h"
#include "support/number/dtype.h"
#include "support/number/shape.h"
#include "support/text/string_ref.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- Nodes ---- */

SambaLazyNode *sambaLazyNodeRetain(SambaLazyNode *node) {
  ++node->references;
  return node;
}

static void dropOperands(SambaLazyNode *node) {
  for (uint32_t i = 0; i < node->operand_count; ++i)
    sambaLazyNodeRelease(node->operands[i].node);
  free(node->operands);
  node->operands = NULL;
  node->operand_count = 0;
}

static void freeNode(SambaLazyNode *node) {
  dropOperands(node);
  for (uint32_t r = 0; r < node->result_count; ++r)
    sambaTensorRelease(node->values[r]);
  sambaArenaDestroy(&node->arena);
  free(node);
}

/* A chain of nodes is freed one by one: it may be longer than the stack is deep. */
void sambaLazyNodeRelease(SambaLazyNode *node) {
  static _Thread_local SambaLazyNode *waiting;
  static _Thread_local bool busy;
  if (!node || --node->references)
    return;
  node->next_free = waiting;
  waiting = node;
  if (busy)
    return;

  busy = true;
  while (waiting) {
    SambaLazyNode *first = waiting;
    waiting = first->next_free;
    freeNode(first);
  }
  busy = false;
}

void sambaLazyCollapse(SambaLazyNode *node) {
  if (!node->operator || (node->requires_grad && !node->forgotten))
    return;
  for (uint32_t r = 0; r < node->result_count; ++r)
    if (!node->values[r])
      return;
  dropOperands(node);
  node->operator = NULL;
}

void sambaLazySetComputed(SambaLazyValue value, SambaTensor *data) {
  SambaTensor **place = &value.node->values[value.result];
  sambaTensorRetain(data);
  sambaTensorRelease(*place);
  *place = data;
  sambaLazyCollapse(value.node);
}

SambaStatus sambaLazyWriteInPlace(SambaTensor *tensor, const SambaTensor *source) {
  int64_t bytes = sambaTensorGetNumBytes(tensor);
  void *data = sambaAllocate((size_t)bytes);
  SambaStatus status = sambaTensorReadData(source, data, bytes);
  if (!status)
    status = sambaTensorWriteData(tensor, data, bytes, true);
  free(data);
  return status;
}

/* ---- Tensors and their values ---- */

/* What is in the slot of a tensor. */
typedef struct Expression {
  SambaLazyValue value;
  const SambaTensor *tensor;
} Expression;

static void releaseExpression(void *user) {
  Expression *expression = user;
  SambaLazyNode *node = expression->value.node;
  if (node->owner == expression->tensor)
    node->owner = NULL;
  sambaLazyNodeRelease(node);
  free(expression);
}

void sambaLazyHang(SambaTensor *tensor, SambaLazyValue value) {
  Expression *expression = sambaAllocate(sizeof *expression);
  sambaLazyNodeRetain(value.node);
  *expression = (Expression){value, tensor};
  sambaTensorSetExpression(tensor, expression, releaseExpression);
}

SambaLazyValue sambaLazyValueOf(const SambaTensor *tensor) {
  const Expression *expression = sambaTensorGetExpression(tensor);
  return expression ? expression->value : (SambaLazyValue){0};
}

/* Does the node still stand for what the tensor holds? Its data may have been set anew since. */
static bool isCurrent(SambaLazyValue value, SambaTensor *tensor) {
  if (!value.node)
    return false;
  SambaTensor *data = value.node->values[value.result];
  if (!sambaTensorHasData(tensor))
    return value.node->operator || (data && !sambaTensorHasData(data));
  bool leaf = !value.node->operator;
  if (!leaf && value.node->requires_grad && !value.node->forgotten)
    return true; /* a copy, too, passes gradients on */
  return data && sambaTensorGetDataPtr(data) == sambaTensorGetDataPtr(tensor) &&
         (!leaf || value.node->requires_grad == sambaTensorGetRequiresGrad(tensor));
}

static SambaStatus typeOf(const SambaTensor *tensor, SambaTensorType *out_type) {
  char text[SAMBA_LAZY_TEXT_BYTES];
  *out_type = (SambaTensorType){sambaTensorGetDType(tensor), sambaTensorGetRank(tensor), {0}};
  if (out_type->rank > SAMBA_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s: graphs hold tensors of rank %d at most",
                           sambaLazyDescribe(tensor, text), SAMBA_MAX_RANK);
  if (out_type->dtype >= SAMBA_DTYPE_COUNT)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s: no device has this type; cast it to f32 first",
                           sambaLazyDescribe(tensor, text));
  memcpy(out_type->dims, sambaTensorGetDims(tensor), out_type->rank * sizeof *out_type->dims);
  return NULL;
}

/* A node for what the tensor holds: a view of it, which stays when the tensor gets other data. It
 * has the name, from which lazy numbers come. */
static SambaStatus makeLeaf(SambaContext *context, SambaTensor *tensor, SambaLazyNode **out_node) {
  SambaTensorType type;
  SambaTensor *view;
  SAMBA_RETURN_IF_ERROR(typeOf(tensor, &type));
  SAMBA_RETURN_IF_ERROR(
      sambaTensorCreateEmpty(type.dtype, type.rank, type.dims, sambaTensorGetName(tensor), &view));
  SAMBA_RETURN_IF_ERROR(sambaTensorSetData(view, tensor));

  SambaLazyNode *leaf = sambaAllocateZeroed(1, sizeof *leaf);
  leaf->references = 1;
  leaf->context = context;
  leaf->result_count = 1;
  leaf->types[0] = type;
  leaf->values[0] = view;
  leaf->requires_grad = sambaTensorGetRequiresGrad(tensor);
  leaf->owner = tensor;
  *out_node = leaf;
  return NULL;
}

SambaStatus sambaLazyValueOfOperand(SambaContext *context, SambaTensor *tensor,
                                    SambaLazyValue *out_value) {
  SambaLazyValue value = sambaLazyValueOf(tensor);
  bool foreign = value.node && !value.node->operator && value.node->context != context;
  if (foreign || !isCurrent(value, tensor)) {
    SAMBA_RETURN_IF_ERROR(makeLeaf(context, tensor, &value.node));
    value.result = 0;
    sambaLazyHang(tensor, value);
    sambaLazyNodeRelease(value.node); /* the tensor has it */
  }
  if (value.node->context != context) {
    char text[SAMBA_LAZY_TEXT_BYTES];
    return sambaStatusMake(SAMBA_INVALID, "%s belongs to another context; realize and clone it",
                           sambaLazyDescribe(tensor, text));
  }
  *out_value = value;
  return NULL;
}

const char *sambaLazyDescribe(const SambaTensor *tensor, char *buffer) {
  char shape[SAMBA_LAZY_TEXT_BYTES / 2];
  SambaStringRef name = sambaTensorGetName(tensor);
  sambaShapeFormat(shape, sizeof shape, sambaTensorGetRank(tensor), sambaTensorGetDims(tensor),
                   sambaDTypeName(sambaTensorGetDType(tensor)));
  snprintf(buffer, SAMBA_LAZY_TEXT_BYTES, "tensor '%.*s' of shape %s",
           (int)(name.size < 128 ? name.size : 128), name.data ? name.data : "", shape);
  return buffer;
}

/* ---- Operators ---- */

static SambaAttribute copyAttribute(SambaArena *arena, const SambaAttribute *from) {
  SambaAttribute to = *from;
  to.name = sambaStringRefCopy(arena, from->name);
  if (from->kind == SAMBA_ATTRIBUTE_STRING)
    to.value.string = sambaStringRefCopy(arena, from->value.string);
  else if (from->kind == SAMBA_ATTRIBUTE_INTS)
    to.value.integers.data = sambaArenaCopy(arena, from->value.integers.data,
                                            from->value.integers.size * sizeof(int64_t));
  else if (from->kind == SAMBA_ATTRIBUTE_FLOATS)
    to.value.reals.data =
        sambaArenaCopy(arena, from->value.reals.data, from->value.reals.size * sizeof(double));
  return to;
}

/* Fills operands, attributes and result types. */
static SambaStatus fillCall(SambaLazyNode *node, uint32_t operand_count,
                            SambaTensor *const *operands, uint32_t attribute_count,
                            const SambaAttribute *attributes) {
  node->operands = sambaAllocateZeroed(operand_count + 1, sizeof *node->operands);
  node->attributes = SAMBA_ARENA_ARRAY(&node->arena, SambaAttribute, attribute_count + 1);
  SambaTensorType *types = SAMBA_ARENA_ARRAY(&node->arena, SambaTensorType, operand_count + 1);
  bool wants_gradient = false;

  for (uint32_t i = 0; i < operand_count; ++i) {
    SambaLazyValue *operand = &node->operands[i];
    if (!operands[i])
      return sambaStatusMake(SAMBA_INVALID, "operand %u is missing", i);
    SAMBA_RETURN_IF_ERROR(sambaLazyValueOfOperand(node->context, operands[i], operand));
    sambaLazyNodeRetain(operand->node);
    ++node->operand_count;
    types[i] = operand->node->types[operand->result];
    wants_gradient |= sambaTensorGetRequiresGrad(operands[i]);
  }

  for (uint32_t i = 0; i < attribute_count; ++i)
    node->attributes[i] = copyAttribute(&node->arena, &attributes[i]);
  node->attribute_count = attribute_count;
  node->result_count = sambaOperatorResults(node->operator);
  SambaOperatorCall call = {node->operator, operand_count, types, attribute_count,
                            node->attributes};
  SAMBA_RETURN_IF_ERROR(sambaOperatorInfer(&call, node->types));
  bool stops = node->operator->no_gradient || strcmp(node->operator->name, "detach") == 0;
  node->requires_grad = wants_gradient && !stops;
  return NULL;
}

static SambaStatus makeResults(SambaLazyNode *node, SambaTensor **out_results) {
  for (uint32_t r = 0; r < node->result_count; ++r) {
    const SambaTensorType *type = &node->types[r];
    SAMBA_RETURN_IF_ERROR(sambaTensorCreateEmpty(type->dtype, type->rank, type->dims,
                                                 (SambaStringRef){0}, &out_results[r]));
    if (node->requires_grad && sambaDTypeIsFloat(type->dtype))
      SAMBA_RETURN_IF_ERROR(sambaTensorSetRequiresGrad(out_results[r], true));
    sambaLazyHang(out_results[r], (SambaLazyValue){node, r});
  }
  return NULL;
}

SambaStatus sambaLazyCall(SambaContext *context, const char *name, uint32_t operand_count,
                          SambaTensor *const *operands, uint32_t attribute_count,
                          const SambaAttribute *attributes, uint32_t *out_count,
                          SambaTensor **out_results) {
  const SambaOperator *operator = sambaOperatorFind(sambaStringRef(name));
  *out_results = NULL;
  if (!operator)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s: there is no such operator", name);
  uint32_t results = sambaOperatorResults(operator);
  *out_count = results;
  memset(out_results, 0, results * sizeof *out_results);

  SambaLazyNode *node = sambaAllocateZeroed(1, sizeof *node);
  node->references = 1;
  node->context = context;
  node->operator = operator;
  SambaStatus status = fillCall(node, operand_count, operands, attribute_count, attributes);
  if (!status)
    status = makeResults(node, out_results);
  sambaLazyNodeRelease(node); /* the results have it */
  for (uint32_t r = 0; status && r < results; ++r) {
    sambaTensorRelease(out_results[r]);
    out_results[r] = NULL;
  }
  return sambaStatusAnnotate(status, "%s", name);
}

bool sambaTensorIsRealized(const SambaTensor *tensor) { return sambaTensorHasData(tensor); }
