/* Operands that are read by index: what the load of one sends, and whether PMUs stand between it
 * and the PCUs. */
#ifndef SAMBA_BACKEND_GROUP_TILE_GATHER_H
#define SAMBA_BACKEND_GROUP_TILE_GATHER_H

#include "backend/group/tile_nest.h"

/* What an indexed load sends: tokens with the dimensions of the index outside. Where PCUs use the
 * elements in that order and once, these are their tokens. Else the load fills slots of PMUs, which
 * send them. */
typedef struct SambaTileGather {
  bool buffered;
  uint32_t level; /* tokens step with the loops before it */
  uint32_t count, index_count;
  uint32_t dims[SAMBA_MAX_STAGE_DIMS];  /* of a token, outermost first, those of the index first */
  int64_t points[SAMBA_MAX_STAGE_DIMS]; /* along each of them */
} SambaTileGather;

SambaTileGather sambaTileNestGather(const SambaTileNest *nest, uint32_t operand);

#endif
