/* Reading rows, checking calls against them; see operator.h. */
#include "dialect/samba/table/core/operator.h"

#include "support/number/shape.h"

#include <stdio.h>
#include <string.h>

static bool endsWith(const char *text, char last) { return text[strlen(text) - 1] == last; }

uint32_t sambaOperatorLeastOperands(const SambaOperator *operator) {
  uint32_t count = 0;
  while (operator->operands[count] && !endsWith(operator->operands[count], '?'))
    ++count;
  return count;
}

uint32_t sambaOperatorMostOperands(const SambaOperator *operator) {
  uint32_t count = 0;
  while (operator->operands[count])
    if (endsWith(operator->operands[count++], '*'))
      return UINT32_MAX;
  return count;
}

uint32_t sambaOperatorPutsInto(const SambaOperator *operator, uint32_t operand_count) {
  if (!operator->puts_into)
    return UINT32_MAX;
  for (uint32_t i = 0; i < operand_count; ++i)
    if (strcmp(operator->operands[i], operator->puts_into) == 0)
      return i;
  return UINT32_MAX;
}

uint32_t sambaOperatorResults(const SambaOperator *operator) {
  uint32_t count = 0;
  while (count < SAMBA_MAX_RESULTS && operator->results[count])
    ++count;
  return count ? count : 1;
}

const SambaAttributeRow *sambaOperatorAttribute(const SambaOperator *operator,
                                                SambaStringRef name) {
  for (const SambaAttributeRow *row = operator->attributes; row->name; ++row)
    if (sambaStringRefEqualC(name, row->name))
      return row;
  return NULL;
}

const SambaAttribute *sambaOperatorCallFind(const SambaOperatorCall *call, const char *name) {
  for (uint32_t i = 0; i < call->attribute_count; ++i)
    if (sambaStringRefEqualC(call->attributes[i].name, name))
      return &call->attributes[i];
  return NULL;
}

/* The row's default; NULL: it has none. */
static const SambaAttributeRow *defaultOf(const SambaOperatorCall *call, const char *name) {
  const SambaAttributeRow *row = sambaOperatorAttribute(call->operator, sambaStringRef(name));
  return row && row->absence == SAMBA_ABSENT_DEFAULT ? row : NULL;
}

int64_t sambaOperatorCallIntOr(const SambaOperatorCall *call, const char *name, int64_t otherwise) {
  const SambaAttribute *attribute = sambaOperatorCallFind(call, name);
  return attribute ? attribute->value.integer : otherwise;
}

int64_t sambaOperatorCallInt(const SambaOperatorCall *call, const char *name) {
  const SambaAttributeRow *row = defaultOf(call, name);
  return sambaOperatorCallIntOr(call, name, row ? row->otherwise.integer : 0);
}

double sambaOperatorCallFloat(const SambaOperatorCall *call, const char *name) {
  const SambaAttribute *attribute = sambaOperatorCallFind(call, name);
  if (attribute)
    return attribute->value.real;
  const SambaAttributeRow *row = defaultOf(call, name);
  return row ? row->otherwise.real : 0;
}

SambaStringRef sambaOperatorCallString(const SambaOperatorCall *call, const char *name) {
  const SambaAttribute *attribute = sambaOperatorCallFind(call, name);
  if (attribute)
    return attribute->value.string;
  const SambaAttributeRow *row = defaultOf(call, name);
  return sambaStringRef(row ? row->otherwise.string : "");
}

const char *sambaTensorTypeFormat(const SambaTensorType *type, char *buffer) {
  uint32_t rank = type->rank < SAMBA_MAX_RANK ? type->rank : SAMBA_MAX_RANK;
  return sambaShapeFormat(buffer, SAMBA_SHAPE_TEXT_BYTES, rank, type->dims,
                          sambaDTypeName(type->dtype));
}

static const char *kindName(SambaAttributeKind kind) {
  static const char *const names[] = {"an integer",         "a number",          "a boolean",
                                      "a list of integers", "a list of numbers", "a string",
                                      "an element type"};
  return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "of an unknown kind";
}

static SambaStatus checkAttributes(const SambaOperatorCall *call) {
  for (uint32_t i = 0; i < call->attribute_count; ++i) {
    const SambaAttribute *attribute = &call->attributes[i];
    const SambaAttributeRow *row = sambaOperatorAttribute(call->operator, attribute->name);
    if (!row)
      return sambaStatusMake(SAMBA_INVALID, "there is no attribute '%.*s'",
                             SAMBA_STRING_ARGS(attribute->name));
    if (row->kind != attribute->kind)
      return sambaStatusMake(SAMBA_INVALID, "attribute '%s' must be %s, not %s", row->name,
                             kindName(row->kind), kindName(attribute->kind));
  }

  for (const SambaAttributeRow *row = call->operator->attributes; row->name; ++row)
    if (row->absence == SAMBA_ABSENT_REFUSED && !sambaOperatorCallFind(call, row->name))
      return sambaStatusMake(SAMBA_INVALID, "attribute '%s' (%s) is missing", row->name,
                             kindName(row->kind));
  return NULL;
}

static SambaStatus checkOperands(const SambaOperatorCall *call) {
  uint32_t least = sambaOperatorLeastOperands(call->operator);
  uint32_t most = sambaOperatorMostOperands(call->operator);
  if (call->operand_count < least || call->operand_count > most) {
    if (most == UINT32_MAX)
      return sambaStatusMake(SAMBA_INVALID, "takes %u or more operands, not %u", least,
                             call->operand_count);
    if (least == most)
      return sambaStatusMake(SAMBA_INVALID, "takes %u operands, not %u", least,
                             call->operand_count);
    return sambaStatusMake(SAMBA_INVALID, "takes %u to %u operands, not %u", least, most,
                           call->operand_count);
  }

  for (uint32_t i = 0; i < call->operand_count; ++i)
    for (uint32_t axis = 0; axis < call->operands[i].rank; ++axis)
      if (call->operands[i].dims[axis] < 1)
        return sambaStatusMake(
            SAMBA_INVALID,
            "operand %u has %lld as dimension %u: operators take no tensors without elements", i,
            (long long)call->operands[i].dims[axis], axis);
  return NULL;
}

SambaStatus sambaOperatorInfer(const SambaOperatorCall *call, SambaTensorType *out_results) {
  const SambaOperator *operator = call->operator;
  uint32_t results = sambaOperatorResults(operator);
  SAMBA_RETURN_IF_ERROR(checkOperands(call));
  SAMBA_RETURN_IF_ERROR(checkAttributes(call));
  memset(out_results, 0, results * sizeof *out_results);
  SAMBA_RETURN_IF_ERROR(operator->infer(call, out_results));

  for (uint32_t i = 0; i < results; ++i) {
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
