/* Walks: the counters of one port, each with what a step of it adds to a tensor's axes and to the
 * group's dimensions; and how a walk over a tensor becomes a port's access (addresses, guards),
 * with neighbouring counters merged. */
#ifndef SAMBA_BACKEND_CODEGEN_WALK_H
#define SAMBA_BACKEND_CODEGEN_WALK_H

#include "backend/group/tile_nest.h"

enum { SAMBA_MAX_WALK_STEPS = 48 };

typedef struct SambaWalkStep {
  uint32_t trips;
  bool fixed; /* never merged with a neighbour: something counts these counters (index tokens) */
  int64_t axis[SAMBA_MAX_RANK];
  int64_t dim[SAMBA_MAX_STAGE_DIMS];
} SambaWalkStep;

typedef struct SambaWalk {
  uint32_t count, slot_level, token_level; /* as in SambaAccess; set while steps are added */
  int64_t axis_start[SAMBA_MAX_RANK];      /* axis indices with all counters at zero */
  int64_t dim_start[SAMBA_MAX_STAGE_DIMS];
  /* Places in the tensor that a step along each axis passes; 0: the walk is not over a tensor. */
  int64_t pitch[SAMBA_MAX_RANK];
  SambaWalkStep steps[SAMBA_MAX_WALK_STEPS]; /* set when they are added */
} SambaWalk;

/* How axis indices become element addresses: base + sum of (index / step) * stride. */
typedef struct SambaTokenLayout {
  uint32_t rank;
  int64_t base;
  int64_t step[SAMBA_MAX_RANK], stride[SAMBA_MAX_RANK];
} SambaTokenLayout;

/* Part of an operand's or output's copies: for each dimension the copies [first, first + count). */
typedef struct SambaCopyRange {
  uint32_t first[SAMBA_MAX_STAGE_DIMS], count[SAMBA_MAX_STAGE_DIMS];
} SambaCopyRange;

/* An empty walk of `map`'s tensor from the first copy of the range on (NULL: copy 0 of
 * everything). */
void sambaWalkStart(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                    const SambaCopyRange *range);
/* A copy; of the steps those that there are. */
void sambaWalkCopy(SambaWalk *walk, const SambaWalk *from);
/* The loops of the chain at positions [from, to); loops with one trip are left out. */
void sambaWalkLoops(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                    uint32_t from, uint32_t to);
/* The copies of the range, outermost dimension first. */
void sambaWalkCopies(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                     const SambaCopyRange *range);
/* The elements of a box as in memory; moves the start to the box's first element. */
void sambaWalkBox(SambaWalk *walk, const SambaTileBox *box);
/* The points of a pass, or of a tile, along one dimension. */
void sambaWalkPoints(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                     uint32_t dim);
void sambaWalkTile(SambaWalk *walk, const SambaTileNest *nest, const SambaStageOperand *map,
                   uint32_t dim);
/* The points of an operand's tokens, in the order in which its taker uses them. */
void sambaWalkToken(SambaWalk *walk, const SambaTileNest *nest, uint32_t operand);

/* Row-major layout of sizes (elements of step 1 from 0). */
SambaTokenLayout sambaLayoutRowMajor(uint32_t rank, const int64_t *sizes);
/* Layout of a slot that holds the box, for walks made relative to it. */
SambaTokenLayout sambaLayoutBox(const SambaTileBox *box);
/* Lets a walk begin within the slot that holds a box instead of within the tensor: where the map's
 * value with all counters at zero lies, or at the first element. */
void sambaWalkMakeRelative(SambaWalk *walk, const SambaTileBox *slot);
void sambaWalkFromFirst(SambaWalk *walk);

/* What must hold for an element to be touched: limits on axes (0: none) and on dimensions (0:
 * none). */
typedef struct SambaBounds {
  int64_t axis[SAMBA_MAX_RANK];
  int64_t dim[SAMBA_MAX_STAGE_DIMS];
} SambaBounds;

/* The access of a walk. Guards are made only for bounds that the walk can leave; arrays come from
 * the arena. */
SambaAccess sambaWalkAccess(const SambaWalk *walk, const SambaTokenLayout *layout,
                            const SambaBounds *bounds, uint64_t fill, SambaArena *arena);
/* Elements of one token. */
uint64_t sambaWalkTokenElements(const SambaWalk *walk);
/* The pitches of a tensor's axes, row-major: they give every element its place. */
void sambaTensorPitches(const SambaStageTensor *tensor, int64_t *out_pitches);
/* In which order the elements of a token pass, by their places; none where that is not known. */
void sambaWalkOrder(const SambaWalk *walk, SambaArena *arena, SambaPort *port);

#endif
