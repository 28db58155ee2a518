/* Hand-made sections for the tests of backend/: placed and routed by straight x-then-y paths
 * whose flow id is the stream's index, so that nothing collides. */
#ifndef SAMBA_TEST_BACKEND_SAMPLE_SECTIONS_H
#define SAMBA_TEST_BACKEND_SAMPLE_SECTIONS_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

#define LIST(arena, type, ...)                                                                     \
  ((const type *)sambaArenaCopy((arena), (const type[]){__VA_ARGS__},                              \
                                sizeof((const type[]){__VA_ARGS__})))

/* 128x128x128 bf16 in tiles of 64: two loads, two double buffers, one systolic PCU, one store. */
SambaSection *sampleMatmul(SambaArena *arena);
/* Gather, multicast, split, merge, control, guards: rows of a table picked by index, doubled or
 * squared, written back after each other. Nothing of it is an operator. */
SambaSection *sampleGather(SambaArena *arena);
/* Routes every stream of a placed section (see above). */
void sampleRoute(SambaSection *section, const SambaMachine *machine);
const SambaMachine *sampleMachine(void);      /* of the matrix product: tiny */
const SambaMachine *sampleLargeMachine(void); /* of the gather: sn40l */

#endif
