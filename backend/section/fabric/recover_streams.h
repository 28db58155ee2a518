/* Recovers the streams from configuration bits alone: follows every flow that a unit sends through
 * the switch entries to the unit ports that take it. The decoder makes a section's streams this
 * way; the route checker compares what it finds with what was asked. */
#ifndef SAMBA_BACKEND_SECTION_FABRIC_RECOVER_STREAMS_H
#define SAMBA_BACKEND_SECTION_FABRIC_RECOVER_STREAMS_H

#include "backend/section/fabric/fabric.h"

/* On an ideal network there is nothing to follow: a stream is the ends that name one wire. */
typedef struct SambaRecoveredStream {
  SambaStreamKind kind;
  SambaEndpoint source;
  uint32_t source_end; /* index into SambaFabric.ends */
  uint32_t destination_count;
  SambaEndpoint *destinations; /* in the order in which the hops reach them */
  uint32_t *destination_ends;  /* parallel to destinations: indices into SambaFabric.ends */
  uint32_t hop_count;
  SambaHop *hops; /* depth-first from the source, branches in the order of the switch entries */
} SambaRecoveredStream;

/* One recovered stream per output end, in the order of the ends; everything lives in the arena.
 * Refused, naming switch, port, lane and flow: values the machine does not have, two ends on one
 * lane and flow, a flow that ends nowhere, a loop, two flows on one (x, y, port, lane, flow), an
 * entry that no flow reaches, an input that nothing feeds. Units must pass sambaPlacementCheck;
 * entries may come in any order. */
SambaStatus sambaStreamsRecover(const SambaMachine *machine, const SambaUnit *units,
                                uint32_t unit_count, const SambaFabric *fabric, SambaArena *arena,
                                SambaRecoveredStream **out_streams, uint32_t *out_count);

#endif
