/* Composing views into stage operands: a slice, transpose, expand or pad between two stages moves
 * no data when the reader's map can address the viewed tensor directly. */
#ifndef SAMBA_BACKEND_STAGE_STAGE_COMPOSE_H
#define SAMBA_BACKEND_STAGE_STAGE_COMPOSE_H

#include "backend/stage/stage.h"

/* operand reads a tensor `viewed` through a stage's dimensions; view says how each axis of `base`
 * is read from the axes of `viewed` (coefficients[i]: viewed axis i; view->tensor is base's index
 * in the graph). On success fills out_operand, which reads base (tensor, axes, guard, fill, index),
 * and returns true. False when one affine map with one fill cannot say it: the caller then makes
 * the viewed tensor real with a copy stage. out_operand may be operand. */
bool sambaStageOperandCompose(const SambaStage *stage, const SambaStageOperand *operand,
                              const SambaStageTensor *viewed, const SambaStageOperand *view,
                              const SambaStageTensor *base, SambaStageOperand *out_operand);

#endif
