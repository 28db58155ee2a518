/* What programs may know of the operator table; see samba/operator_info.h. */
#include "samba/operator_info.h"

#include "dialect/samba/table/registry/registry.h"

static SambaOperatorInfo describe(const SambaOperator *operator) {
  uint32_t attribute_count = 0;
  while (operator->attributes[attribute_count].name)
    ++attribute_count;
  return (SambaOperatorInfo){.name = operator->name,
                             .summary = operator->summary ? operator->summary : "",
                             .formula = operator->formula ? operator->formula : "",
                             .least_operands = sambaOperatorLeastOperands(operator),
                             .most_operands = sambaOperatorMostOperands(operator),
                             .attribute_count = attribute_count,
                             .result_count = sambaOperatorResults(operator)};
}

bool sambaOperatorGetInfo(SambaStringRef name, SambaOperatorInfo *out_info) {
  const SambaOperator *operator = sambaOperatorFind(name);
  if (operator)
    *out_info = describe(operator);
  return operator != NULL;
}

void sambaForEachOperator(void (*visit)(void *user, const SambaOperatorInfo *info), void *user) {
  const SambaOperator *operator;
  for (uint32_t i = 0; (operator = sambaOperatorAt(i)); ++i) {
    SambaOperatorInfo info = describe(operator);
    visit(user, &info);
  }
}

static SambaAttributeInfo describeAttribute(const SambaAttributeRow *row) {
  return (SambaAttributeInfo){.name = row->name,
                              .kind = row->kind,
                              .required = row->absence == SAMBA_ABSENT_REFUSED,
                              .choices = row->choices ? row->choices : ""};
}

bool sambaOperatorGetAttribute(const SambaOperatorInfo *info, SambaStringRef name,
                               SambaAttributeInfo *out_attribute) {
  const SambaAttributeRow *row =
      sambaOperatorAttribute(sambaOperatorFind(sambaStringRef(info->name)), name);
  if (row)
    *out_attribute = describeAttribute(row);
  return row != NULL;
}

void sambaOperatorForEachAttribute(const SambaOperatorInfo *info,
                                   void (*visit)(void *user, const SambaAttributeInfo *attribute),
                                   void *user) {
  const SambaOperator *operator = sambaOperatorFind(sambaStringRef(info->name));
  for (uint32_t i = 0; i < info->attribute_count; ++i) {
    SambaAttributeInfo attribute = describeAttribute(&operator->attributes[i]);
    visit(user, &attribute);
  }
}
