/* Rows of elementwise operators with one operand: each is its name, its dtypes and its scalar
 * program; inside the operator table.
 *
 * (C1) the operand's dtype is one the operator is defined for. (C2) attributes are in their range.
 */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_H
#define SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_H

#include "dialect/samba/table/core/stage_builder.h"

/* The result has the operand's shape and dtype. */
SambaStatus sambaUnaryInfer(const SambaOperatorCall *call, SambaTensorType *out);
SambaStatus sambaUnaryStages(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer);
/* The program that is the row's one lane operation. */
uint16_t sambaUnaryProgram(const SambaOperatorCall *call, SambaStageBuilder *b, const uint16_t *x);

#define UNARY_ROW(word, set, code, rule, function, rows)                                           \
  const SambaOperatorRow sambaOperatorRow_##word = {.operator= {.name = #word,                     \
                                                                .minimum_operands = 1,             \
                                                                .maximum_operands = 1,             \
                                                                .attributes = rows,                \
                                                                .result_count = 1,                 \
                                                                .elementwise = true,               \
                                                                .infer = rule,                     \
                                                                .stages = sambaUnaryStages},       \
                                                    .dtypes = set,                                 \
                                                    .opcode = code,                                \
                                                    .program = function};
#define UNARY(word, set, code, function)                                                           \
  UNARY_ROW(word, set, code, sambaUnaryInfer, function, sambaNoAttributes)
#define UNARY_WITH(word, set, function, rule, ...)                                                 \
  static const SambaAttributeRow word##Attributes[] = {__VA_ARGS__, {0}};                          \
  UNARY_ROW(word, set, 0, rule, function, word##Attributes)

#endif
