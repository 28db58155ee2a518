/* The loop nest of a mapped group: what a mapping means for one group on one machine.
 *
 * A group's points are cut into tiles, and a tile into passes; a firing computes one pass. Along
 * dimension d there are ceil(extent / tile) tiles; unroll copies share them, trips[d] each: copy c,
 * iteration i, pass j, point x is index c * copy_step[d] + i * loop_step[d] + j * pass[d] + x.
 * Copies take neighbouring tiles in turn, or runs of tiles where a buffer's slot spans their
 * iterations (sambaTileNestSettle). Points past the extent are masked where memory is touched.
 *
 * The chain of a PCU: tile loops (position p of the loop order runs dimension dim_at[p]) and pass
 * loops, which step firings, then the points of a pass. The pass loops stand behind the tile loops,
 * but before those over what is reduced: the sums of a pass are whole before the next pass begins,
 * or they go through a PMU. Buffers hold tiles; a PCU sees passes. */
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
  uint32_t pipeline_count; /* the outermost loops, of the pipeline: dim_at[0] and so on */
  uint32_t dim_at[SAMBA_MAX_STAGE_DIMS];
  /* Of each operand from buffers of the section: the first loops of the pipeline, which slice it.
   * Replicas along the others share its buffers, as copies do. */
  uint32_t sliced[SAMBA_MAX_GROUP_OPERANDS];
  int64_t tile[SAMBA_MAX_STAGE_DIMS], tiles[SAMBA_MAX_STAGE_DIMS];
  int64_t trips[SAMBA_MAX_STAGE_DIMS];      /* tiles of one copy */
  int64_t pass[SAMBA_MAX_STAGE_DIMS];       /* divides the tile */
  int64_t pass_trips[SAMBA_MAX_STAGE_DIMS]; /* passes of a tile */
  double pass_cycles, tail_cycles; /* that one keeps its PCU busy, and those behind an array */
  uint32_t unroll[SAMBA_MAX_STAGE_DIMS];
  int64_t loop_step[SAMBA_MAX_STAGE_DIMS], copy_step[SAMBA_MAX_STAGE_DIMS];
  uint32_t copies;
  /* PCUs behind the array take the sums of this many neighbouring copies in turn, and these lie
   * along these dimensions, as bits: the last ones with copies, all but the first of them whole. */
  uint32_t tail, tail_dims;
  bool sums_outside; /* the loops over what is reduced run outside of all others */
  uint32_t inner[SAMBA_MAX_STAGE_DIMS];      /* counters over a pass, outermost first */
  uint32_t pass_order[SAMBA_MAX_STAGE_DIMS]; /* pass loops, outermost first */
  uint32_t stepping[2 * SAMBA_MAX_STAGE_DIMS], stepping_count; /* positions of several trips */
  int64_t registers; /* vectors that the running sums leave for operands */
  uint32_t level[SAMBA_MAX_GROUP_OPERANDS], depth[SAMBA_MAX_GROUP_OPERANDS];
  uint32_t joined[SAMBA_MAX_GROUP_OPERANDS]; /* SambaCopySharing */
  /* Of each operand, by sambaTileNestSettleTokens: what order, tiles and trips decide alone. A
   * token steps with the loops before its level; it has the points of the streamed dimensions in
   * the order of `inner`, also of those on which the operand does not depend: these send it again.
   * What is neither streamed nor stepped is held or broadcast. */
  uint32_t token_level[SAMBA_MAX_GROUP_OPERANDS];
  uint32_t streamed[SAMBA_MAX_GROUP_OPERANDS]; /* dimensions, as bits */
  int64_t token_elements[SAMBA_MAX_GROUP_OPERANDS];
} SambaTileNest;

/* A loop of the chain that steps firings. */
typedef struct SambaTileLoop {
  uint32_t dim;
  int64_t trips, step; /* step: points along the dimension */
} SambaTileLoop;

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
 * left zero, all loops of the pipeline slice all operands, and sambaTileNestSettleTokens comes
 * before anything is asked about operands. */
void sambaTileNestFill(const SambaStageGraph *graph, const SambaGroup *group,
                       const SambaMachine *machine, uint32_t pipeline_count, const uint32_t *order,
                       const int64_t *tile, const uint32_t *unroll, SambaTileNest *out_nest);

/* The same tiles, and so the same passes, in another order and with other copies. */
void sambaTileNestReorder(SambaTileNest *nest, const uint32_t *order, const uint32_t *unroll);

/* Settles what follows from the passes alone. */
void sambaTileNestSettlePasses(SambaTileNest *nest);
/* Settles the level and the elements of every operand's tokens, and what PCUs hold of them. */
void sambaTileNestSettleTokens(SambaTileNest *nest);
/* Cuts the passes of lanes to at most so many points, as far as they can be cut. */
void sambaTileNestCutPasses(SambaTileNest *nest, int64_t points);
/* Chooses how many copies share the PCUs behind the array: as many as they have cycles for. */
void sambaTileNestShareTail(SambaTileNest *nest);
/* Settles loop_step and copy_step, in points, once the levels are known. */
void sambaTileNestSettle(SambaTileNest *nest);

/* Whether the section is a pipeline along the dimension. */
static inline bool sambaTileNestIsPipelined(const SambaTileNest *nest, uint32_t dim) {
  for (uint32_t i = 0; i < nest->pipeline_count; ++i)
    if (nest->dim_at[i] == dim)
      return true;
  return false;
}
/* Whether the nest streams: a pipeline of several loops has many slices, so that units work side by
 * side on different ones nearly all the time. Streams share the lanes of links token by token:
 * there tokens are short, because what waits for a long one waits long. */
static inline bool sambaTileNestStreams(const SambaTileNest *nest) {
  return nest->pipeline_count > 1;
}
/* Pipelines side by side, each with other slices: the product of the copies along the pipeline's
 * dimensions. */
uint32_t sambaTileNestReplicas(const SambaTileNest *nest);

/* The loops that step firings, by their position in the chain: [0, sambaTileNestLoops). The pass
 * loops begin at sambaTileNestPassesAt. */
static inline uint32_t sambaTileNestLoops(const SambaTileNest *nest) {
  return 2 * nest->group->dim_count;
}
static inline uint32_t sambaTileNestPassesAt(const SambaTileNest *nest) {
  return nest->sums_outside ? nest->group->dim_count : nest->group->parallel_count;
}
static inline SambaTileLoop sambaTileNestLoop(const SambaTileNest *nest, uint32_t position) {
  const uint32_t passes_at = sambaTileNestPassesAt(nest);
  const uint32_t dims = nest->group->dim_count;
  uint32_t dim;
  if (position >= passes_at && position < passes_at + dims) {
    dim = nest->pass_order[position - passes_at];
    return (SambaTileLoop){dim, nest->pass_trips[dim], nest->pass[dim]};
  }
  dim = nest->dim_at[position < passes_at ? position : position - dims];
  return (SambaTileLoop){dim, nest->trips[dim], nest->loop_step[dim]};
}
/* Where copies along a dimension take runs of tiles, and its loop is the innermost that makes
 * results: the position of that loop. Then the results of all its steps make rows together. It is
 * SAMBA_NO_INDEX elsewhere, and where the rows would be most of the results. */
uint32_t sambaTileNestRunLoop(const SambaTileNest *nest, uint32_t dim);
/* The position in the chain of a position of the loop order, as mappings name levels. */
uint32_t sambaTileNestChainLevel(const SambaTileNest *nest, uint32_t level);

/* What the loops at positions >= from and the points of a pass touch of an operand (from =
 * sambaTileNestLoops: one pass). */
void sambaTileNestBox(const SambaTileNest *nest, uint32_t operand, uint32_t from,
                      SambaTileBox *out_box);
/* The position from which on the loops leave the operand's current token alone: tokens step with
 * positions before. */
static inline uint32_t sambaTileNestTokenLevel(const SambaTileNest *nest, uint32_t operand) {
  return nest->token_level[operand];
}
/* The position of the operand's buffer level after dropping loops that change nothing; at most the
 * token level. */
uint32_t sambaTileNestSlotLevel(const SambaTileNest *nest, uint32_t operand);
/* Buffers over which the slot of each source is spread: one per iteration of the loop at
 * out_position (1: not spread). */
uint32_t sambaTileNestSpread(const SambaTileNest *nest, uint32_t operand, uint32_t *out_position);
/* PMUs that take the slots of each source in turn, where one does not hold as many as it should. */
uint32_t sambaTileNestRing(const SambaTileNest *nest, uint32_t operand);
/* Whether copies along a dimension take runs of tiles for the operand's sake: its slot spans the
 * loop of the dimension, at `position`. */
bool sambaTileNestMakesRuns(const SambaTileNest *nest, uint32_t operand, uint32_t dim,
                            uint32_t position);
/* Copies along a dimension that share a tail. */
uint32_t sambaTileNestTailCopies(const SambaTileNest *nest, uint32_t dim);
/* Whether the copies of a tail differ in what they need of the operand. */
static inline bool sambaTileNestTailDepends(const SambaTileNest *nest, uint32_t operand) {
  return (nest->group->operands[operand].depends & nest->tail_dims) != 0;
}
/* Copies whose tokens of the operand one unit takes in turn, those of a tail; and the tokens that
 * it takes in a turn, more where others of its copies need the same ones. */
uint32_t sambaTileNestTakenInTurn(const SambaTileNest *nest, uint32_t operand);
uint32_t sambaTileNestTokensInTurn(const SambaTileNest *nest, uint32_t operand);
/* Which copies of an operand share: dimensions whose copies are loaded together (their slots
 * overlap, so one load brings a slot that holds what all of them read, and each has it in a buffer
 * of its own), and the dimension of which neighbouring copies share a buffer: two with a read port
 * for each, or those of a tail, which takes their tokens in turn from one port. */
typedef struct SambaTileSharing {
  uint32_t joined;            /* as bits */
  uint32_t paired;            /* SAMBA_NO_INDEX: none */
  uint32_t neighbours, ports; /* copies of a buffer, and its read ports */
} SambaTileSharing;
SambaTileSharing sambaTileNestSharing(const SambaTileNest *nest, uint32_t operand);
/* The nest whose copies are the operand's buffers, and that whose copies are loaded apart. */
void sambaTileNestOfBuffers(const SambaTileNest *nest, uint32_t operand, SambaTileNest *out_nest);
void sambaTileNestOfLoads(const SambaTileNest *nest, uint32_t operand, SambaTileNest *out_nest);
/* What one buffer's slot holds: the box of the slot level, of one iteration of a spread loop, of
 * all copies that share it. */
void sambaTileNestSlotBox(const SambaTileNest *nest, uint32_t operand, SambaTileBox *out_box);
/* Whether an operand in DRAM is streamed to the PCUs without a buffer. */
bool sambaTileNestIsDirect(const SambaTileNest *nest, uint32_t operand);
/* Whether copies with tokens of their own of an operand get the same ones of another, and FIFOs
 * hold neither: no port can send those in turn without waiting for itself. */
bool sambaTileNestMeetsMulticast(const SambaTileNest *nest, uint32_t operand);
/* The same of results: copies that send what they make in turn get the same large tokens. */
bool sambaTileNestResultsMeetMulticast(const SambaTileNest *nest);
/* Copies of an operand's source: product of the unrolls it depends on. */
uint32_t sambaTileNestSources(const SambaTileNest *nest, uint32_t operand);
/* Those of them that are loaded apart. */
uint32_t sambaTileNestLoadedSources(const SambaTileNest *nest, uint32_t operand);
/* Buffers with the same content behind each source in memory, each for a part of the copies. */
uint32_t sambaTileNestTwins(const SambaTileNest *nest, uint32_t operand);
/* The same of an operand that comes from buffers of the section. */
uint32_t sambaTileNestTwinsInside(const SambaTileNest *nest, uint32_t operand);
/* Read ports in each replica of the buffer that an operand comes from when that is one of the
 * section: one that deals tokens to the sources in turn, or one for each source. */
uint32_t sambaTileNestReadPorts(const SambaTileNest *nest, uint32_t operand);
/* Units that send the results: tails, or copies that have none. */
static inline uint32_t sambaTileNestWriters(const SambaTileNest *nest) {
  return nest->copies / nest->tail;
}
/* PCUs of all copies. */
static inline uint32_t sambaTileNestPcus(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  if (group->handed == SAMBA_NO_INDEX)
    return nest->copies * group->pcus;
  return nest->copies + sambaTileNestWriters(nest) * (group->pcus - 1);
}
/* In a pipeline, tokens of more vectors than this make others wait. */
enum { SAMBA_LONG_TOKEN = 512 };
/* Whether arrays take long tokens of an operand that comes from buffers of the section: each port
 * then has half of the read side of a PMU for long, and two of them leave it no cycle to spare. */
bool sambaTileNestTakesHalves(const SambaTileNest *nest, uint32_t operand);
/* Cycles in which a PMU reads a vector of an array's operand: two where its elements lie in more
 * words than there are banks. */
double sambaTileNestBankTurns(const SambaTileNest *nest, uint32_t operand);
/* Product of the trips of the loops at positions [0, level). */
int64_t sambaTileNestTrips(const SambaTileNest *nest, uint32_t level);
/* Passes of a tile. */
int64_t sambaTileNestPasses(const SambaTileNest *nest);
/* Whether the sums go through a PMU: a firing adds its part of the reduction to what it finds
 * there.
 */
bool sambaTileNestCarriesSums(const SambaTileNest *nest);
/* The position from which on the loops make one output token: one per step of those before. */
uint32_t sambaTileNestOutputLevel(const SambaTileNest *nest);
/* Finished tiles of one copy. */
int64_t sambaTileNestResults(const SambaTileNest *nest);
/* Elements of the result in a tile, and in a pass: one output token. */
int64_t sambaTileNestTileElements(const SambaTileNest *nest);
int64_t sambaTileNestPassElements(const SambaTileNest *nest);
/* The dimensions of an output token as the PCU makes it, outermost first, only those with several
 * points; returns how many. */
uint32_t sambaTileNestOutputDims(const SambaTileNest *nest, uint32_t *out_dims);
/* Cycles of one firing's arithmetic. */
double sambaTileNestWorkCycles(const SambaTileNest *nest);
/* Cycles that one firing occupies its slowest PCU or port. */
double sambaTileNestFiringCycles(const SambaTileNest *nest);

static inline SambaDType sambaTileNestDType(const SambaTileNest *nest, uint32_t operand) {
  return nest->graph->tensors[nest->group->operands[operand].map.tensor].dtype;
}

#endif
