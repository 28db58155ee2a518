/* Rows of elementwise operators with one operand: each is its name, its formula, its dtypes and its
 * scalar program; inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_H
#define SAMBA_DIALECT_SAMBA_TABLE_ELEMENTWISE_ELEMENTWISE_H

#include "dialect/samba/table/core/stage_builder.h"

/* The result has the operand's shape and dtype. */
SambaStatus sambaUnaryInfer(const SambaOperatorCall *call, SambaTensorType *out);
SambaStatus sambaUnaryStages(const SambaOperatorCall *call, SambaStageGraph *graph,
                             const uint32_t *operands, const uint32_t *results, const char *layer);
/* The program that is the row's one lane operation. */
uint16_t sambaUnaryProgram(const SambaOperatorCall *call, SambaStageBuilder *builder,
                           const uint16_t *x);

/* What the rows of operators with one operand share. */
#define UNARY_WITH(set, rule, function)                                                            \
  .operands = {"input"}, .elementwise = true,                                                      \
  .constraints = {"the operand's dtype is one that the operation is defined for",                  \
                  "attributes are in their range"},                                                \
  .dtypes = set, .infer = rule, .stages = sambaUnaryStages, .program = function
#define UNARY(set, function)                                                                       \
  .builder = SAMBA_BUILDER_ALL, UNARY_WITH(set, sambaUnaryInfer, function)
#define UNARY_OPCODE(set, code) .opcode = code, UNARY(set, sambaUnaryProgram)

#endif
