/* The tokens of operands: what a PCU takes, in the order in which it uses it, what it holds and
 * what is sent again. Operands that are used again share the registers that the running sums leave;
 * those that hold least come first. */
#include "backend/group/tile_nest.h"

#include "support/number/integer.h"

/* Vectors that hold `elements` of an operand that are used again: where they are part of a longer
 * token, their run may begin within a vector. */
static int64_t heldVectors(const SambaTileNest *nest, uint32_t operand, int64_t elements,
                           bool part) {
  int64_t vector = nest->machine->vector_bytes;
  int64_t bytes = elements * sambaDTypeBytes(sambaTileNestDType(nest, operand));
  return sambaCeilDiv(bytes, vector) + (part && bytes % vector != 0);
}

/* A walk over the chain of a PCU, innermost counter first. */
typedef struct TokenWalk {
  int64_t elements, held; /* held: 0: nothing */
  uint32_t streamed, level;
  bool leaves; /* it does not stay while a tail turns to other copies that need the same */
} TokenWalk;

/* Whether the elements so far stay while a counter of `trips` runs on which the operand does not
 * depend. One element is broadcast. */
static bool stays(const SambaTileNest *nest, uint32_t operand, int64_t room, TokenWalk *walk) {
  if (walk->elements == 1)
    return true;
  if (heldVectors(nest, operand, walk->elements, true) > room)
    return false;
  walk->held = walk->elements;
  return true;
}

/* The tokens of an operand when `room` vectors may be held. */
static TokenWalk walkToken(const SambaTileNest *nest, uint32_t operand, int64_t room) {
  const SambaGroup *group = nest->group;
  bool late = group->operands[operand].late;
  TokenWalk walk = {.elements = 1};

  for (uint32_t i = group->dim_count; i-- > 0;) {
    uint32_t dim = nest->inner[i];
    if (nest->pass[dim] == 1 || (late && group->reduced[dim]))
      continue;
    if (!sambaGroupDepends(group, operand, dim) && stays(nest, operand, room, &walk))
      continue;
    walk.streamed |= 1u << dim;
    walk.elements *= nest->pass[dim];
  }

  /* A tail turns from copy to copy at each pass. */
  if (late && nest->tail > 1) {
    bool apart = sambaTileNestTailDepends(nest, operand);
    walk.leaves = !apart && !stays(nest, operand, room, &walk);
    walk.level = sambaTileNestOutputLevel(nest);
    if (apart || walk.leaves)
      return walk;
    walk.level = 0;
  }

  for (uint32_t i = nest->stepping_count; i-- > 0;) {
    SambaTileLoop loop = sambaTileNestLoop(nest, nest->stepping[i]);
    if (late && group->reduced[loop.dim])
      continue;
    if (sambaGroupDepends(group, operand, loop.dim) || !stays(nest, operand, room, &walk)) {
      walk.level = nest->stepping[i] + 1;
      break;
    }
  }
  return walk;
}

/* The level behind all loops that step. */
static uint32_t lastLevel(const SambaTileNest *nest) {
  return nest->stepping_count ? nest->stepping[nest->stepping_count - 1] + 1 : 0;
}

/* The array holds no operand: it takes steps of k with the points of its side, for every pass. */
static TokenWalk walkMac(const SambaTileNest *nest, uint32_t operand) {
  const SambaGroup *group = nest->group;
  TokenWalk walk = {.elements = 1};
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    if (nest->pass[dim] > 1 && (group->reduced[dim] || sambaGroupDepends(group, operand, dim))) {
      walk.streamed |= 1u << dim;
      walk.elements *= nest->pass[dim];
    }
  walk.level = lastLevel(nest);
  return walk;
}

/* What moves without a PCU goes to a buffer or store, which keep nothing. */
static TokenWalk walkCopy(const SambaTileNest *nest) {
  TokenWalk walk = {.elements = 1};
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (nest->pass[dim] > 1) {
      walk.streamed |= 1u << dim;
      walk.elements *= nest->pass[dim];
    }
  walk.level = lastLevel(nest);
  return walk;
}

static void keep(SambaTileNest *nest, uint32_t operand, const TokenWalk *walk) {
  nest->token_elements[operand] = walk->elements;
  nest->streamed[operand] = walk->streamed;
  nest->token_level[operand] = walk->level;
}

/* False when copies that share a tail need an operand that does not stay there. */
static bool settleTokens(SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  uint32_t waiting = 0; /* operands whose tokens depend on what is left of the registers, as bits */

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    TokenWalk walk;
    if (group->copy)
      walk = walkCopy(nest);
    else if (group->systolic && (i == group->mac[0] || i == group->mac[1]))
      walk = walkMac(nest, i);
    else
      walk = walkToken(nest, i, nest->registers);
    keep(nest, i, &walk);
    if (walk.leaves && group->operands[i].value)
      return false;
    if (walk.held && group->operands[i].value)
      waiting |= 1u << i;
  }

  for (int64_t room = nest->registers; waiting;) {
    uint32_t least = SAMBA_NO_INDEX;
    int64_t fewest = 0;
    TokenWalk best = {0};
    for (uint32_t i = 0; i < group->operand_count; ++i) {
      if (!(waiting >> i & 1))
        continue;
      TokenWalk walk = walkToken(nest, i, room);
      int64_t vectors = walk.held ? heldVectors(nest, i, walk.held, walk.elements > walk.held) : 0;
      if (least != SAMBA_NO_INDEX && vectors >= fewest)
        continue;
      least = i;
      fewest = vectors;
      best = walk;
    }
    keep(nest, least, &best);
    if (best.leaves)
      return false;
    waiting &= ~(1u << least);
    room -= fewest;
  }
  return true;
}

/* Points of which a FIFO holds a token of each operand and of the result. */
static int64_t pointsOfFifo(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  int64_t widest = sambaDTypeBytes(nest->graph->tensors[group->output.tensor].dtype);
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    int64_t bytes = sambaDTypeBytes(sambaTileNestDType(nest, i));
    widest = group->operands[i].value && bytes > widest ? bytes : widest;
  }
  return nest->machine->fifo_depth * nest->machine->vector_bytes / widest;
}

void sambaTileNestSettleTokens(SambaTileNest *nest) {
  if (!settleTokens(nest)) {
    nest->tail = 1;
    nest->tail_dims = 0;
    settleTokens(nest);
  }

  if (sambaTileNestResultsMeetMulticast(nest)) {
    sambaTileNestCutPasses(nest, pointsOfFifo(nest));
    settleTokens(nest);
  }
}
