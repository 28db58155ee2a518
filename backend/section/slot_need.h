/* What a slot of a buffer must hold, from the orders in which its ports write and read it.
 *
 * A slot is read when it is full. So it holds the shortest runs that all orders have in common
 * (SambaConversion.block), in whole tokens of every port. Where all orders step one outermost
 * counter, a slot for one step of it would do: then the counter can step slots instead. */
#ifndef SAMBA_BACKEND_SECTION_SLOT_NEED_H
#define SAMBA_BACKEND_SECTION_SLOT_NEED_H

#include "backend/section/access.h"

/* How a slot can be cut: word w lies in part w / stride % parts, at w / (stride * parts) * stride +
 * w % stride. */
typedef struct SambaSlotCut {
  uint64_t parts; /* 1: the slot is as small as the orders allow */
  uint64_t stride;
} SambaSlotCut;

/* The cut at the outermost counter within a slot; what is left may be cut again. Slots that keep
 * what they hold for a later round (loop_carried, in_place) are not cut. */
SambaSlotCut sambaSlotCut(const SambaUnit *buffer);

#endif
