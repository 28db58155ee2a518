/* What operands and results of a mapped group move and hold: bytes, requests, generators, PMUs. */
#ifndef SAMBA_BACKEND_PLAN_PLAN_TRAFFIC_H
#define SAMBA_BACKEND_PLAN_PLAN_TRAFFIC_H

#include "backend/plan/plan_internal.h"

typedef struct SambaPlanTraffic {
  const SambaTileNest *nest;
  const SambaGroupLimits *limits;
  double dram_bytes, first_bytes; /* all, and those that must arrive before the first firing */
  double elements_bytes;
  double requests;  /* to the memory */
  double slowest;   /* cycles of the slowest port, PMU or address generator */
  double turns;     /* cycles in which buffers of one slot are filled while the PCUs wait */
  double least_ags; /* without more streams into or out of a port than a lane has flow ids */
  double stored_bytes, store_ags; /* of the result in memory: all, and generators at least */
  uint32_t uses;                  /* operands and results in memory */
  double ag_cycles;
  uint32_t pmus;
  uint32_t demand_count;
  SambaDemand demands[SAMBA_MAX_GROUP_OPERANDS]; /* of the operands in memory */
} SambaPlanTraffic;

static inline void sambaRaiseTo(double *value, double other) {
  *value = other > *value ? other : *value;
}

/* Of a choice whose levels and depths are known. What the group loads and stores is added by the
 * functions below. */
void sambaPlanTrafficBegin(SambaPlanTraffic *traffic, const SambaGroupLimits *limits,
                           const SambaTileNest *nest);
void sambaPlanTrafficOperand(SambaPlanTraffic *traffic, SambaTileNest *nest, uint32_t i);
/* The result on its way to memory; bytes: what all copies make. */
void sambaPlanTrafficStores(SambaPlanTraffic *traffic, double bytes);
/* The PMUs of sums that go through some, and how long their ports take. False when they cannot hold
 * the sums, or when each copy has one tile, whose sums its array keeps. */
bool sambaPlanTrafficSums(SambaPlanTraffic *traffic);
/* The dimension whose runs of tiles make rows together; SAMBA_NO_INDEX: none. */
uint32_t sambaPlanRunDim(const SambaTileNest *nest);

#endif
