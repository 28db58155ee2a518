/* The parts of sambaSectionCheck; see section_check.c. Each names what is wrong; the caller adds
 * unit and port. */
#ifndef SAMBA_BACKEND_SECTION_CHECK_CHECK_INTERNAL_H
#define SAMBA_BACKEND_SECTION_CHECK_CHECK_INTERNAL_H

#include "backend/section/access.h"

/* A chain of counters: how many, each trip count, the product. */
SambaStatus sambaChainCheck(const uint32_t *trips, uint32_t counter_count);
/* What one access touches: levels, ranges, guards, fill, index. elements: of the slot or
 * symbol it walks. */
SambaStatus sambaAccessCheck(const SambaUnit *unit, const SambaPort *port, uint64_t elements);
/* A COMPUTE unit: program, types, reductions, and its ports against both. */
SambaStatus sambaComputeCheck(const SambaUnit *unit);
/* Streams against the ports at their ends. Units have passed the checks above. */
SambaStatus sambaStreamsCheck(const SambaSection *section);

typedef struct SambaPortOf {
  const SambaUnit *unit;
  uint32_t port;
} SambaPortOf;
/* The shapes and orders of the ends of a stream: an output and an input. */
SambaStatus sambaStreamOrderCheck(uint32_t stream, SambaPortOf source, SambaPortOf taker);
/* The order that a port states, against its counters. */
SambaStatus sambaPortOrderCheck(const SambaUnit *unit, bool output, uint32_t port);
/* The orders of a buffer's outputs, against those of its inputs. */
SambaStatus sambaBufferOrderCheck(const SambaUnit *unit);

#endif
