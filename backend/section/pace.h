/* The pace of a unit: how many tokens its ports take and make as it advances, and what that asks
 * of the units before it. Whoever counts tokens along streams counts them here. */
#ifndef SAMBA_BACKEND_SECTION_PACE_H
#define SAMBA_BACKEND_SECTION_PACE_H

#include "backend/section/section.h"

/* Counts saturate here. */
#define SAMBA_PACE_UNBOUNDED (UINT64_C(1) << 60)

/* A unit advances in steps: COMPUTE per step of its counters before token_level, BUFFER per slot,
 * others per firing. Steps that one token of a port lasts (COMPUTE), or tokens of a port in one
 * step (BUFFER); the other is 1. */
typedef struct SambaPace {
  uint64_t steps_per_token, tokens_per_step;
} SambaPace;

SambaPace sambaPaceOf(const SambaUnit *unit, const SambaPort *port);
/* Tokens that `steps` steps take in, and steps needed until `tokens` tokens are out. */
uint64_t sambaPaceTokensTaken(SambaPace pace, uint64_t steps);
uint64_t sambaPaceStepsNeeded(SambaPace pace, uint64_t tokens);

/* A port deals `block` tokens to each of its streams in turn: how many of its tokens have passed
 * when the stream at `place` of its list has got its n-th. */
uint64_t sambaPacePortTokens(const SambaPort *port, uint32_t place, uint64_t n);

uint64_t sambaPaceMultiply(uint64_t a, uint64_t b);
uint64_t sambaPaceAdd(uint64_t a, uint64_t b);

#endif
