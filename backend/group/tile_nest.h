/* The loop nest of a mapped group: what a mapping means for one group on one machine.
 *
 * A group's points are cut into tiles; a firing computes one tile. Along dimension d there are
 * ceil(extent / tile) tiles; unroll copies share them, trips[d] each: copy c, iteration i, in-tile
 * point x is index c * copy_step[d] + i * loop_step[d] + x. Copies take neighbouring tiles in turn,
 * or runs of tiles where a buffer's slot spans their iterations (sambaTileNestSettle). Points past
 * the extent are masked where memory is touched. Position p of the loop order runs dimension
 * dim_at[p]; the tile loops are the firings' counters, outermost first. */
#ifndef SAMBA_BACKEND_GROUP_TILE_NEST_H
#define SAMBA_BACKEND_GROUP_TILE_NEST_H

#include "backend/group/group.h"

/* How the copies of an operand share loads and buffers, where that is possible. */
typedef enum {
  SAMBA_COPIES_APART,
  SAMBA_COPIES_JOINED, /* those whose slots overlap are loaded together, a buffer for each */
  SAMBA_COPIES_PAIRED  /* two neighbours have one buffer, with a read port for each */
} SambaCopySharing;

typedef struct SambaTileNest {
  const SambaStageGraph *graph;
  const SambaGroup *group;
  const SambaMachine *machine;
  uint32_t pipeline_dim; /* SAMBA_NO_INDEX: none; else dim_at[0] */
  uint32_t dim_at[SAMBA_MAX_STAGE_DIMS];
  int64_t tile[SAMBA_MAX_STAGE_DIMS], trips[SAMBA_MAX_STAGE_DIMS];
  uint32_t unroll[SAMBA_MAX_STAGE_DIMS];
  int64_t loop_step[SAMBA_MAX_STAGE_DIMS], copy_step[SAMBA_MAX_STAGE_DIMS];
  uint32_t copies;
  bool sums_outside; /* the loops over what is reduced run outside of all others */
  uint32_t inner[SAMBA_MAX_STAGE_DIMS]; /* in-tile counters, outermost first */
  uint32_t level[SAMBA_MAX_GROUP_OPERANDS], depth[SAMBA_MAX_GROUP_OPERANDS];
  uint32_t joined[SAMBA_MAX_GROUP_OPERANDS]; /* SambaCopySharing */
  /* Of each operand, by sambaTileNestSettleTokens: what order, tiles and trips decide alone. */
  uint32_t token_level[SAMBA_MAX_GROUP_OPERANDS];
  int64_t token_elements[SAMBA_MAX_GROUP_OPERANDS];
} SambaTileNest;

/* A box of a tensor that counters sweep: along axis a the elements low + step * [0, size), low
 * relative to the map's value with all counters at zero. */
typedef struct SambaTileBox {
  uint32_t rank;
  int64_t low[SAMBA_MAX_RANK], step[SAMBA_MAX_RANK], size[SAMBA_MAX_RANK];
  int64_t elements;
} SambaTileBox;

/* Reads the mappings of the group's stages. Fails when they break a rule (naming stage and
 * dimension). */
SambaStatus sambaTileNestMake(const SambaStageGraph *graph, const SambaGroup *group,
                              const SambaMachine *machine, SambaTileNest *out_nest);
/* The same from parts, unchecked, for searches: order, tile, unroll as in SambaMapping; levels are
 * left zero, and sambaTileNestSettleTokens comes before anything is asked about operands. */
void sambaTileNestFill(const SambaStageGraph *graph, const SambaGroup *group,
                       const SambaMachine *machine, uint32_t pipeline_dim, const uint32_t *order,
                       const int64_t *tile, const uint32_t *unroll, SambaTileNest *out_nest);

/* Settles the level and the elements of every operand's tokens. */
void sambaTileNestSettleTokens(SambaTileNest *nest);
/* Settles loop_step and copy_step, in points, once the levels are known. */
void sambaTileNestSettle(SambaTileNest *nest);

/* What the tile loops at positions >= from and the in-tile points touch of an operand (from =
 * dim_count: one token). */
void sambaTileNestBox(const SambaTileNest *nest, uint32_t operand, uint32_t from,
                      SambaTileBox *out_box);
/* The position from which on the tile loops leave the operand's current token alone: tokens step
 * with positions before. */
static inline uint32_t sambaTileNestTokenLevel(const SambaTileNest *nest, uint32_t operand) {
  return nest->token_level[operand];
}
/* The operand's buffer level after dropping loops that change nothing; at most the token level. */
uint32_t sambaTileNestSlotLevel(const SambaTileNest *nest, uint32_t operand);
/* Buffers over which the slot of each source is spread: one per iteration of the loop at
 * out_position (1: not spread). */
uint32_t sambaTileNestSpread(const SambaTileNest *nest, uint32_t operand, uint32_t *out_position);
/* Which copies of an operand share: dimensions whose copies are loaded together (their slots
 * overlap, so one load brings a slot that holds what all of them read, and each has it in a buffer
 * of its own), and the dimension of which two copies share a buffer. */
typedef struct SambaTileSharing {
  uint32_t joined; /* as bits */
  uint32_t paired; /* SAMBA_NO_INDEX: none */
} SambaTileSharing;
SambaTileSharing sambaTileNestSharing(const SambaTileNest *nest, uint32_t operand);
/* The nest whose copies are the operand's buffers, and that whose copies are loaded apart. */
void sambaTileNestOfBuffers(const SambaTileNest *nest, uint32_t operand, SambaTileNest *out_nest);
void sambaTileNestOfLoads(const SambaTileNest *nest, uint32_t operand, SambaTileNest *out_nest);
/* What one buffer's slot holds: the box of the slot level, of one iteration of a spread loop, of
 * all copies that share it. */
void sambaTileNestSlotBox(const SambaTileNest *nest, uint32_t operand, SambaTileBox *out_box);
/* How often a token's vectors pass the port within one firing. */
int64_t sambaTileNestReplay(const SambaTileNest *nest, uint32_t operand);
/* The order of a token's axes: the axis that the innermost in-tile counter walks comes last. True
 * when that is the order in memory. */
bool sambaTileNestTokenOrder(const SambaTileNest *nest, uint32_t operand, const SambaTileBox *token,
                             uint32_t *out_axes);
/* Whether an operand in DRAM is streamed to the PCUs without a buffer. */
bool sambaTileNestIsDirect(const SambaTileNest *nest, uint32_t operand);
/* Copies of an operand's source: product of the unrolls it depends on. */
uint32_t sambaTileNestSources(const SambaTileNest *nest, uint32_t operand);
/* Those of them that are loaded apart. */
uint32_t sambaTileNestLoadedSources(const SambaTileNest *nest, uint32_t operand);
/* Product of the trips of the loops at positions [0, level). */
int64_t sambaTileNestTrips(const SambaTileNest *nest, uint32_t level);
/* Whether the sums go through a PMU: a firing adds its part of the reduction to what it finds
 * there.
 */
bool sambaTileNestCarriesSums(const SambaTileNest *nest);
/* The position from which on the tile loops make one output token: one per step of those before. */
uint32_t sambaTileNestOutputLevel(const SambaTileNest *nest);
/* Finished output tokens of one copy. */
int64_t sambaTileNestResults(const SambaTileNest *nest);
/* Elements of one output token. */
int64_t sambaTileNestOutputElements(const SambaTileNest *nest);
/* Cycles of one firing's arithmetic. */
double sambaTileNestWorkCycles(const SambaTileNest *nest);
/* Cycles that one firing occupies its slowest PCU or port. */
double sambaTileNestFiringCycles(const SambaTileNest *nest);

static inline SambaDType sambaTileNestDType(const SambaTileNest *nest, uint32_t operand) {
  return nest->graph->tensors[nest->group->operands[operand].map.tensor].dtype;
}

#endif
