/* The order of a stream: the sequence in which elements pass, and what lies between two orders.
 *
 * Data have *places*: numbers that both ends of a stream understand, such as the index of an
 * element in its tensor. An order is a nest of counters, outermost first; each adds its step to the
 * place. It says which element passes when, apart from where the sequence starts. Two ends may be
 * joined by a FIFO when their orders are equal; otherwise a PMU stands between them, and what it
 * must hold follows from the two orders alone. */
#ifndef SAMBA_BACKEND_SECTION_STREAM_ORDER_H
#define SAMBA_BACKEND_SECTION_STREAM_ORDER_H

#include "backend/section/access.h"

/* Outermost first. A step of 0 sends what is inside again. */
typedef struct SambaStreamOrder {
  uint32_t count;
  SambaAccessStep steps[SAMBA_MAX_COUNTERS];
} SambaStreamOrder;

/* Adds a counter inside of the others; one trip adds nothing, and a step that goes on where the
 * counter around it would step joins that one. So equal sequences have equal counters. */
void sambaOrderAppend(SambaStreamOrder *order, uint64_t trips, int64_t step);
/* Counters [from, until) of a chain with these strides. */
SambaStreamOrder sambaOrderOf(const uint32_t *trips, const int64_t *strides, uint32_t from,
                              uint32_t until);
/* Of an access, the counters from `from` inwards. */
SambaStreamOrder sambaAccessOrder(const SambaAccess *access, uint32_t from);
/* True only if no element passes twice. */
bool sambaOrderVisitsOnce(const SambaStreamOrder *order);
/* Orders that were made by the functions above: the same elements pass at the same time. */
bool sambaOrdersEqual(const SambaStreamOrder *a, const SambaStreamOrder *b);
uint64_t sambaOrderLength(const SambaStreamOrder *order);
/* As types of streams show it: "16x8 by [8, 1]". */
const char *sambaOrderText(SambaArena *arena, const SambaStreamOrder *order);

/* What a buffer between two orders needs. It takes one element at a time in the first order, gives
 * them in the second, each as often as that asks for it, and frees a word after its last read. */
typedef struct SambaConversion {
  uint64_t window; /* words, at least: with fewer, no schedule gets through; with as many, reading
                      as early as possible does */
  uint64_t first;  /* elements that must be there before the first read */
  uint64_t block;  /* elements of the shortest runs that both orders have in common: the least slot
                      of a PMU whose slots are read when they are full */
  bool exact;      /* else the window is an upper bound: the orders have no common counters, and too
                      many elements to try them all */
} SambaConversion;

/* False when the orders do not pass the same elements, or the first passes one twice. Exact where
 * the second passes each element once but for steps of 0; in other cases (windows that overlap) the
 * sequences are walked, and the block is all of them. */
bool sambaOrderConversion(const SambaStreamOrder *made, const SambaStreamOrder *taken,
                          SambaConversion *out);

#endif
