/* Composing views into stage operands: a slice, transpose, expand, pad or reshape between two stages moves no data when
 * the reader's map can address the viewed tensor directly. */
#ifndef SAMBA_BACKEND_MAP_STAGE_COMPOSE_H
#define SAMBA_BACKEND_MAP_STAGE_COMPOSE_H

#include "backend/map/stage.h"

/* operand reads a tensor `viewed` through a stage's dimensions; view says how each axis of `base` is read from the axes
 * of `viewed` (coefficients[i]: viewed axis i; view->tensor is base's index in the graph). On success fills
 * out_operand, which reads base (tensor, axes, guard, fill, index), and returns true. False when one affine map with
 * one fill cannot say it: the caller then makes the viewed tensor real with a copy stage. out_operand may be operand.
 */
bool sambaStageOperandCompose(const SambaStage *stage, const SambaStageOperand *operand, const SambaStageTensor *viewed,
                              const SambaStageOperand *view, const SambaStageTensor *base,
                              SambaStageOperand *out_operand);

/* The view that reads row-major base as shape `dims` when every axis of base is the product of a run of axes of the new
 * shape (a split: [s, 768] read as [s, 12, 64]). Fills out_view (axes only); false for any other reshape. */
bool sambaStageReshapeSplit(const SambaStageTensor *base, uint32_t rank, const int64_t *dims,
                            SambaStageOperand *out_view);

/* Declares a tensor of the graph with a coarser shape, each new axis the product of a run of old ones ([n, c, h, w] as
 * [n, c*h*w]), and rewrites the maps of all stages that read or write it. For intermediates, whose memory is ours to
 * shape. False, with nothing changed, when the new shape is not a coarsening or a guarded or indexed map forbids it. */
bool sambaStageGraphMergeAxes(SambaStageGraph *graph, uint32_t tensor, uint32_t rank, const int64_t *dims);

#endif
