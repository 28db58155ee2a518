/* Tensors as a nest's dimensions: every tensor that patterns work on is seen in a frame, which says
 * which dimension each of its axes is. */
#ifndef SAMBA_LOWERING_RAISE_FRAME_H
#define SAMBA_LOWERING_RAISE_FRAME_H

#include "lowering/raise/nest.h"

/* SAMBA_NEST_UNIT: an axis of one element. */
typedef struct SambaFrame {
  uint32_t rank;
  uint32_t dims[SAMBA_MAX_RANK];
} SambaFrame;

void sambaFrameAppend(SambaFrame *frame, uint32_t dim);
int64_t sambaFrameSize(const SambaNest *nest, const SambaFrame *frame, uint32_t axis);
bool sambaFrameHas(const SambaFrame *frame, uint32_t dim);

/* The frame of an output: each axis is a dimension of its own, or of one element. */
bool sambaFrameOfOutput(const SambaNest *nest, uint32_t output, SambaFrame *out_frame);
/* A value of frame `from` so that it broadcasts in frame `to`, which has all its dimensions; views
 * alone. Fails where a frame has more axes than tensors may have. */
bool sambaFrameMove(const SambaNest *nest, SambaExpansion *expansion, uint32_t value,
                    const SambaFrame *from, const SambaFrame *to, uint32_t *out_value);
/* The operand in its own frame: where its map is no plain walk, a slice of it. */
bool sambaFrameOfOperand(const SambaNest *nest, SambaExpansion *expansion, uint32_t value,
                         const SambaTensorType *type, const SambaAxisMap *axes,
                         SambaFrame *out_frame, uint32_t *out_value);
/* Repeats a value that broadcasts in the frame to its whole size. */
uint32_t sambaFrameFill(const SambaNest *nest, SambaExpansion *expansion, uint32_t value,
                        const SambaFrame *frame);
/* The value of a scalar, as a tensor that broadcasts in the frame. */
bool sambaFrameEvaluate(const SambaNest *nest, SambaExpansion *expansion, uint32_t scalar,
                        const SambaFrame *frame, uint32_t *out_value);
/* The dimensions of more than one element on which a scalar depends, one bit each; false when it
 * depends on something that has no frame. */
bool sambaFrameDimensions(const SambaNest *nest, uint32_t scalar, uint32_t *out_mask);

#endif
