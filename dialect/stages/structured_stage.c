/* Stages of structured operations; see structured_stage.h. */
#include "dialect/stages/structured_stage.h"

/* Splats and argins become sources of the program; what is left are views of tensors. */
static SambaStatus composeOperands(SambaSectionReader *reader, SambaStage *stage) {
  for (uint32_t k = stage->operand_count; k-- > 0;) {
    const SambaSectionReaderValue *value = &reader->values.data[stage->operands[k].tensor];
    if (!value->is_splat && !value->is_scalar && !value->is_argin)
      continue;
    for (uint32_t i = 0; i < stage->operand_count; ++i)
      if (stage->operands[i].index_operand == k)
        return sambaStatusMake(SAMBA_UNSUPPORTED,
                               "'%.*s' reads a %s that must be a tensor in memory here",
                               SAMBA_STRING_ARGS(sambaReaderName(reader->operation)),
                               value->is_argin ? "hyperparameter" : "repeated constant");
    sambaReaderInline(reader, stage, k, value);
  }

  for (uint32_t k = 0; k < stage->operand_count; ++k) {
    SambaStageOperand composed;
    if (!sambaReaderCompose(reader, &reader->values.data[stage->operands[k].tensor], stage,
                            &stage->operands[k], &composed))
      return sambaReaderNotComposable(reader);
    stage->operands[k] = composed;
  }
  return NULL;
}

static void markUsed(const SambaStage *stage, uint32_t value, bool *used) {
  if (used[value])
    return;
  used[value] = true;
  if (value < stage->operand_count)
    return;
  const SambaLaneOp *op = &stage->ops[value - stage->operand_count];
  for (int i = 0; i < sambaLaneOpOperands(op->opcode); ++i)
    markUsed(stage, op->operands[i], used);
}

/* Operations that nobody needs: products that became part of a sum, halves of what was expanded. */
static void dropUnused(SambaStageBuilder *builder) {
  SambaStage *stage = &builder->stage;
  bool used[SAMBA_MAX_STAGE_OPERANDS + SAMBA_MAX_BUILDER_OPS] = {false};
  uint16_t renamed[SAMBA_MAX_STAGE_OPERANDS + SAMBA_MAX_BUILDER_OPS];
  uint32_t kept = 0;
  stage->ops = builder->ops;
  markUsed(stage, stage->result, used);

  for (uint32_t k = 0; k < stage->operand_count; ++k)
    renamed[k] = (uint16_t)k;
  for (uint32_t i = 0; i < stage->op_count; ++i) {
    SambaLaneOp op = builder->ops[i];
    renamed[stage->operand_count + i] = (uint16_t)(stage->operand_count + kept);
    if (!used[stage->operand_count + i])
      continue;
    for (int o = 0; o < sambaLaneOpOperands(op.opcode); ++o)
      op.operands[o] = renamed[op.operands[o]];
    builder->ops[kept++] = op;
  }
  stage->result = renamed[stage->result];
  stage->op_count = kept;
}

SambaStatus sambaStructuredAddStage(SambaSectionReader *reader, SambaStageBuilder *builder,
                                    uint16_t result, bool is_ours, uint32_t *ordinal) {
  SambaStage *stage = &builder->stage;
  stage->result = result;
  if (!is_ours)
    dropUnused(builder);
  stage->ops = sambaArenaCopy(reader->arena, builder->ops, stage->op_count * sizeof *stage->ops);
  SAMBA_RETURN_IF_ERROR(composeOperands(reader, stage));
  sambaReaderAddStage(reader, stage, (*ordinal)++);
  return NULL;
}

uint32_t sambaStructuredAddTensor(SambaSectionReader *reader, const SambaTensorType *type) {
  return sambaReaderAddTensor(reader, type, SAMBA_TENSOR_INTERMEDIATE, SAMBA_NO_INDEX,
                              SAMBA_NO_INDEX, sambaReaderStageName(reader));
}
