/* Writing stages in a few calls: dimensions, operands with their maps, then the lane program
 * (lane_program.h), then the result.
 *
 * Inside the operator table. Conversions to and from tensors' dtypes are written here once. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CORE_STAGE_BUILDER_H
#define SAMBA_DIALECT_SAMBA_TABLE_CORE_STAGE_BUILDER_H

#include "dialect/samba/table/core/lane_program.h"

/* Starts a stage that writes `output`; its output map is all zero. */
void sambaStageBegin(SambaStageBuilder *builder, SambaStageGraph *graph, const char *name,
                     const char *layer, uint32_t output);
/* Parallel dimensions first, then reduced ones. Returns the dimension's index. */
uint32_t sambaStageDim(SambaStageBuilder *builder, int64_t extent, bool reduced);
/* All operands before the first operation. The map is all zero; returns the program value. */
uint16_t sambaStageOperand(SambaStageBuilder *builder, uint32_t tensor);
static inline SambaAxisMap *sambaStageAxis(SambaStageBuilder *builder, uint16_t operand,
                                           uint32_t axis) {
  return &builder->stage.operands[operand].axes[axis];
}
/* Elements outside read `value` (converted to the operand's dtype). */
void sambaStageGuard(SambaStageBuilder *builder, uint16_t operand, double value);

/* A stage with one dimension per axis of `output`, written in place. */
void sambaStageBeginElementwise(SambaStageBuilder *builder, SambaStageGraph *graph,
                                const char *name, const char *layer, uint32_t output);
/* An operand whose axes are aligned with the last dimensions of the output, broadcast where it
 * has 1. */
uint16_t sambaStageBroadcastOperand(SambaStageBuilder *builder, uint32_t tensor);
/* An operand read as axis i = dimension dims[i]. */
uint16_t sambaStageMappedOperand(SambaStageBuilder *builder, uint32_t tensor, const uint32_t *dims);

/* A stage that reduces tensor x over the flagged axes into `output`, which has them as 1, or with
 * keepdim false not at all. out_dims: the dimension of each axis of x, those that stay first.
 * Returns the program value of x. */
uint16_t sambaStageBeginReduction(SambaStageBuilder *builder, SambaStageGraph *graph,
                                  const char *name, const char *layer, uint32_t x,
                                  const bool *reduced, bool keepdim, uint32_t output,
                                  uint32_t *out_dims);

/* Ends the stage: `result` is written as it is. Sets lane_reduce where there is a reduction other
 * than a contraction. */
void sambaStageEnd(SambaStageBuilder *builder, uint16_t result);
/* Rounds or wraps the result to what the output's dtype can hold, then sambaStageEnd. */
void sambaStageEndRounded(SambaStageBuilder *builder, uint16_t result);

/* Tensors between the stages of one operation. */
uint32_t sambaStageIntermediate(SambaStageGraph *graph, SambaDType dtype, uint32_t rank,
                                const int64_t *dims);
/* `result` itself when it has this dtype, else an intermediate of its shape. */
uint32_t sambaStageIntermediateLike(SambaStageGraph *graph, uint32_t result, SambaDType dtype);
/* A stage that converts `from` to the dtype of `to` (same shape); nothing when they are
 * one tensor. */
void sambaStageConvert(SambaStageGraph *graph, const char *name, const char *layer, uint32_t from,
                       uint32_t to);
/* The dtype in which sums and products of this dtype are accumulated. */
SambaDType sambaAccumulatorDType(SambaDType dtype);

#endif
