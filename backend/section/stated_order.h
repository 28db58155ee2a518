/* What ports state of the order of their streams: part of the streams' types in the rdu dialect.
 *
 * It tells apart what no order of places alone can (stream_order.h): elements whose places indices
 * give, and elements that a copy takes to another tensor. Where indices give the places, the order
 * in which the elements pass depends on data; then it says in which order the indices arrive. */
#ifndef SAMBA_BACKEND_SECTION_STATED_ORDER_H
#define SAMBA_BACKEND_SECTION_STATED_ORDER_H

#include "backend/section/stream_order.h"

/* Outermost first. */
typedef struct SambaStatedOrder {
  SambaOrderKind kind;
  uint32_t count;
  SambaOrderStep steps[SAMBA_MAX_COUNTERS];
} SambaStatedOrder;

/* Which places of a copy are meant. */
typedef enum { SAMBA_PLACES_FROM, SAMBA_PLACES_TO } SambaPlaces;

/* No counters yet. An order is large, so the steps that it does not have are not set. */
static inline void sambaStatedOrderStart(SambaStatedOrder *order, SambaOrderKind kind) {
  order->kind = kind;
  order->count = 0;
}
/* Adds a counter inside of the others, joined with the one around it where both step as one. The
 * kind is that of the caller. */
void sambaStatedOrderAppend(SambaStatedOrder *order, SambaOrderStep step);
/* What a port states, counters joined. */
SambaStatedOrder sambaPortStates(const SambaPort *port);
/* A token of one element has no order: then the port states none. */
void sambaPortState(SambaPort *port, const SambaStatedOrder *order, SambaArena *arena);
/* True where the port says which elements pass, or where nothing is to be said: one element. */
bool sambaPortStatesPlaces(const SambaPort *port);

/* Orders whose counters are joined: the same elements pass at the same time. */
bool sambaStatedOrdersEqual(const SambaStatedOrder *a, const SambaStatedOrder *b);
/* As types of streams show it: "16x8 by [8, 1]", "16x8 by [1 : index, 1]", "16x8 by {from = [8, 1],
 * to = [1, 16]}", and of a shape alone "16x8". */
const char *sambaStatedOrderText(SambaArena *arena, const SambaStatedOrder *order);
/* The steps behind "by", for types: "[8, 1]". */
const char *sambaOrderStepsText(SambaArena *arena, SambaOrderKind kind, uint32_t count,
                                const SambaOrderStep *steps);

/* Whether a counter steps places that indices give. */
bool sambaStatedOrderIsIndexed(const SambaStatedOrder *order, SambaPlaces places);
/* Two orders of one tensor as orders of places that are numbers: a place that indices give counts
 * as far from all others. False where these numbers do not fit, or where one states no places. */
bool sambaStatedOrdersAsPlaces(const SambaStatedOrder *made, const SambaStatedOrder *taken,
                               SambaStreamOrder *out_made, SambaStreamOrder *out_taken);
/* The order in the tensor alone, without what indices add. */
SambaStreamOrder sambaStatedOrderOffsets(const SambaStatedOrder *order, SambaPlaces places);
/* The order in which the indices of `elements` elements arrive; false where counters after these
 * step indices too. */
bool sambaStatedOrderIndices(const SambaStatedOrder *order, SambaPlaces places, uint64_t elements,
                             SambaStreamOrder *out_order);

#endif
