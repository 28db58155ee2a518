/* Counting with chains: trip products, tokens of ports, address ranges. Everything that check,
 * planner, simulator and reports must count alike is counted here. */
#ifndef SAMBA_BACKEND_SECTION_ACCESS_H
#define SAMBA_BACKEND_SECTION_ACCESS_H

#include "backend/section/section.h"

/* Limits of the format (docs/pef-format.md). */
enum { SAMBA_MAX_COUNTERS = 64, SAMBA_MAX_PROGRAM_OPS = 4096, SAMBA_MAX_GUARDS = 64 };
#define SAMBA_MAX_STEPS (INT64_C(1) << 48) /* the product of a chain's trips is below this */
#define SAMBA_MAX_TOKEN_ELEMENTS (INT64_C(1) << 27) /* elements of one token, at most */
#define SAMBA_MAX_ELEMENTS (INT64_C(1) << 44)       /* elements of one symbol or slot, at most */

/* Product of trips[from, until); saturates at UINT64_MAX. */
uint64_t sambaTripProduct(const uint32_t *trips, uint32_t from, uint32_t until);
/* Smallest and largest value of base + sum(strides[c] * counter[c]) over the whole chain; false
 * when it leaves int64. */
bool sambaAffineRange(int64_t base, const int64_t *strides, const uint32_t *trips,
                      uint32_t counter_count, int64_t *out_minimum, int64_t *out_maximum);
/* True when every enabled element's address provably lies in [0, elements): no run-time check is
 * needed. Guards count: where an address moves in step with a guarded expression, the guard bounds
 * it. With an index, its values are taken to lie in [0, index_limit) (that itself is checked at run
 * time). */
bool sambaAccessStaysWithin(const SambaAccess *access, uint64_t elements);

/* Firings of a unit in one run of the section: LOAD, STORE, COMPUTE. For a BUFFER: slots visited by
 * each port. */
uint64_t sambaUnitFirings(const SambaUnit *unit);
/* Tokens that a port takes or makes in one run of the section. */
uint64_t sambaPortTokens(const SambaUnit *unit, bool output, uint32_t port);
/* How many of `tokens` tokens go to (or come from) the port's stream at `position` of its
 * round-robin list. */
uint64_t sambaPortStreamTokens(const SambaPort *port, uint64_t tokens, uint32_t position);
/* The port carries the access whose addresses it follows: LOAD output 0, STORE input 0, every
 * BUFFER port. */
bool sambaPortHasAccess(const SambaUnit *unit, bool output, uint32_t port);
/* Counters of the longest chain that a unit or one of its ports walks. */
uint32_t sambaUnitLongestChain(const SambaUnit *unit);
/* The access of a LOAD or STORE. */
const SambaAccess *sambaMemoryAccess(const SambaUnit *unit);

/* Type in which a value of a program is computed: an input's by its dtype, an operation's result by
 * its opcode. */
SambaDType sambaProgramInputType(SambaDType dtype);
SambaDType sambaLaneOpResultType(const SambaLaneOp *op);

/* True only if no two steps of the counters have one address: sorted by stride, each is larger than
 * all that the smaller ones reach. Changes the order of the steps. */
bool sambaStepsVisitOnce(SambaAccessStep *steps, uint32_t count);

#endif
