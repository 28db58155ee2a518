/* Finding operators, checking calls against their rows; see operator.h. */
#include "dialect/samba/table/core/rows.h"

#include <stdio.h>
#include <stdlib.h>

static const SambaOperatorRow *const rows[] = {
#define X(name) &sambaOperatorRow_##name,
#include "dialect/samba/table/operators.def"
#undef X
};
enum { rowCount = sizeof rows / sizeof *rows };

const SambaAttributeRow sambaNoAttributes[] = {{0}};
const SambaAttributeRow sambaDimAttributes[] = {
    {"dim", SAMBA_ATTRIBUTE_INT, true, "negative: from the end"}, {0}};

const SambaOperator *sambaOperatorAt(uint32_t index) {
  return index < rowCount ? &rows[index]->operator : NULL;
}

const SambaOperator *sambaOperatorFind(SambaStringRef name) {
  uint32_t low = 0, high = rowCount;
  while (low < high) {
    uint32_t middle = (low + high) / 2;
    SambaStringRef other = sambaStringRef(rows[middle]->operator.name);
    size_t shared = name.size < other.size ? name.size : other.size;
    int order = shared ? memcmp(name.data, other.data, shared) : 0;
    if (order == 0 && name.size == other.size)
      return &rows[middle]->operator;
    if (order < 0 || (order == 0 && name.size < other.size))
      high = middle;
    else
      low = middle + 1;
  }

  return NULL;
}

const SambaAttribute *sambaOperatorCallFind(const SambaOperatorCall *call, const char *name) {
  for (uint32_t i = 0; i < call->attribute_count; ++i)
    if (sambaStringRefEqualC(call->attributes[i].name, name))
      return &call->attributes[i];
  return NULL;
}

int64_t sambaOperatorCallInt(const SambaOperatorCall *call, const char *name, int64_t otherwise) {
  const SambaAttribute *attribute = sambaOperatorCallFind(call, name);
  return attribute ? attribute->value.integer : otherwise;
}

double sambaOperatorCallFloat(const SambaOperatorCall *call, const char *name, double otherwise) {
  const SambaAttribute *attribute = sambaOperatorCallFind(call, name);
  return attribute ? attribute->value.real : otherwise;
}

const char *sambaTensorTypeFormat(const SambaTensorType *type, char *buffer) {
  size_t used = 0;
  for (uint32_t axis = 0; axis < type->rank && axis < SAMBA_MAX_RANK; ++axis)
    used += (size_t)snprintf(buffer + used, 160 - used, "%lldx", (long long)type->dims[axis]);
  snprintf(buffer + used, 160 - used, "%s", sambaDTypeName(type->dtype));
  return buffer;
}

static const char *kindName(SambaAttributeKind kind) {
  static const char *const names[] = {"an integer",         "a number",          "a boolean",
                                      "a list of integers", "a list of numbers", "a string",
                                      "an element type"};
  return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "of an unknown kind";
}

static SambaStatus checkAttributes(const SambaOperatorCall *call) {
  const SambaAttributeRow *known = call->operator->attributes;
  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    const SambaAttribute *attribute = &call->attributes[i];
    const SambaAttributeRow *row = known;
    while (row->name && !sambaStringRefEqualC(attribute->name, row->name))
      ++row;
    if (!row->name)
      return sambaStatusMake(SAMBA_INVALID, "there is no attribute '%.*s'",
                             SAMBA_STRING_ARGS(attribute->name));
    if (row->kind != attribute->kind)
      return sambaStatusMake(SAMBA_INVALID, "attribute '%s' must be %s, not %s", row->name,
                             kindName(row->kind), kindName(attribute->kind));
  }

  for (const SambaAttributeRow *row = known; row->name; ++row)
    if (row->required && !sambaOperatorCallFind(call, row->name))
      return sambaStatusMake(SAMBA_INVALID, "attribute '%s' (%s) is missing", row->name,
                             kindName(row->kind));
  return NULL;
}

SambaStatus sambaOperatorInfer(const SambaOperatorCall *call, SambaTensorType *out_results) {
  const SambaOperator *operator = call->operator;
  if (call->operand_count < operator->minimum_operands ||
      call->operand_count > operator->maximum_operands) {
    if (operator->maximum_operands == UINT32_MAX)
      return sambaStatusMake(SAMBA_INVALID, "takes %u or more operands, not %u",
                             operator->minimum_operands, call->operand_count);
    if (operator->minimum_operands == operator->maximum_operands)
      return sambaStatusMake(SAMBA_INVALID, "takes %u operands, not %u", operator->minimum_operands,
                             call->operand_count);
    return sambaStatusMake(SAMBA_INVALID, "takes %u to %u operands, not %u",
                           operator->minimum_operands, operator->maximum_operands,
                           call->operand_count);
  }

  for (uint32_t i = 0; i < call->operand_count; ++i)
    for (uint32_t axis = 0; axis < call->operands[i].rank; ++axis)
      if (call->operands[i].dims[axis] < 1)
        return sambaStatusMake(
            SAMBA_INVALID,
            "operand %u has %lld as dimension %u: operators take no tensors without elements", i,
            (long long)call->operands[i].dims[axis], axis);
  SAMBA_RETURN_IF_ERROR(checkAttributes(call));
  memset(out_results, 0, operator->result_count * sizeof *out_results);
  SAMBA_RETURN_IF_ERROR(operator->infer(call, out_results));

  for (uint32_t i = 0; i < operator->result_count; ++i) {
    int64_t elements = 1;
    for (uint32_t axis = 0; axis < out_results[i].rank; ++axis)
      if (out_results[i].dims[axis] < 1 ||
          sambaMulOverflows(elements, out_results[i].dims[axis], &elements) ||
          elements >= (int64_t)1 << 48)
        return sambaStatusMake(SAMBA_INVALID,
                               "the result's dimension %u would have %lld elements; dimensions "
                               "need 1 or more, tensors less than 2^48",
                               axis, (long long)out_results[i].dims[axis]);
  }

  return NULL;
}
