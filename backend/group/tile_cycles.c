/* Cycles of a firing of a nest, and the copies of an array whose sums a tail takes in turn: as many
 * as it has time for. */
#include "backend/group/tile_nest.h"

#include "support/number/integer.h"

#include <math.h>

/* The shape of a firing on the array. */
static SambaArrayFiring arrayFiring(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  SambaArrayFiring firing = {1, 1, 1, 1, false};

  for (uint32_t dim = 0; dim < group->dim_count; ++dim) {
    bool first = sambaGroupDepends(group, group->mac[0], dim);
    bool second = sambaGroupDepends(group, group->mac[1], dim);
    if (group->reduced[dim])
      firing.depth *= nest->pass[dim];
    else if (first && !second)
      firing.rows *= nest->pass[dim];
    else if (second && !first)
      firing.columns *= nest->pass[dim];
    else
      firing.batch *= nest->pass[dim];
  }

  firing.wide = sambaDTypeBytes(sambaTileNestDType(nest, group->mac[0])) > 2 ||
                sambaDTypeBytes(sambaTileNestDType(nest, group->mac[1])) > 2;
  return firing;
}

/* Whether two counters of the lanes run as one: every operand and the result step with both or with
 * neither. */
static bool runAsOne(const SambaGroup *group, uint32_t a, uint32_t b) {
  bool same =
      group->reduced[a] == group->reduced[b] && !((group->counted >> a | group->counted >> b) & 1);
  for (uint32_t i = 0; i < group->operand_count && same; ++i)
    same = !group->operands[i].value ||
           sambaGroupDepends(group, i, a) == sambaGroupDepends(group, i, b);
  return same;
}

/* A firing of one of the group's SIMD PCUs: its rows of points. */
static SambaSimdFiring simdFiring(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  SambaSimdFiring firing = group->simd;
  uint32_t last = SAMBA_NO_INDEX; /* the counter before, while they run as one */
  bool merging = true;

  for (uint32_t i = group->dim_count; i-- > 0;) {
    uint32_t dim = nest->inner[i];
    if (nest->pass[dim] == 1)
      continue;
    merging = merging && (last == SAMBA_NO_INDEX || runAsOne(group, last, dim));
    *(merging ? &firing.innermost : &firing.rows) *= nest->pass[dim];
    last = dim;
  }

  return firing;
}

/* Whether PCUs behind the array work on what it hands to them. */
static bool hasTail(const SambaTileNest *nest) {
  return nest->group->systolic && nest->group->handed != SAMBA_NO_INDEX;
}

/* Cycles in which PCUs behind the array work on the sums of a pass, as they come: the lanes, or
 * the port that takes most. */
static double tailCycles(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  SambaSimdFiring firing = group->simd;
  firing.innermost = sambaTileNestPassElements(nest);
  double elements = (double)firing.innermost;
  double bytes = elements * sambaDTypeBytes(SAMBA_DTYPE_F32);

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    if (!group->operands[i].value || !group->operands[i].late)
      continue;
    double own = sambaDTypeBytes(sambaTileNestDType(nest, i));
    for (uint32_t dim = 0; dim < group->parallel_count; ++dim)
      own *= sambaGroupDepends(group, i, dim) ? (double)nest->pass[dim] : 1;
    bytes = fmax(bytes, own);
  }
  return fmax(sambaSimdCycles(nest->machine, &firing), bytes / (double)nest->machine->vector_bytes);
}

/* Cycles in which the array, or one of the SIMD PCUs, works on a pass. */
static double passCycles(const SambaTileNest *nest) {
  if (nest->group->copy)
    return 1;
  if (nest->group->systolic) {
    SambaArrayFiring firing = arrayFiring(nest);
    return sambaArrayCycles(nest->machine, &firing);
  }
  SambaSimdFiring firing = simdFiring(nest);
  return sambaSimdCycles(nest->machine, &firing);
}

void sambaTileNestSettlePasses(SambaTileNest *nest) {
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    nest->pass_trips[dim] =
        nest->pass[dim] == nest->tile[dim] ? 1 : nest->tile[dim] / nest->pass[dim];
  nest->pass_cycles = passCycles(nest);
  nest->tail_cycles = hasTail(nest) ? tailCycles(nest) : 0;
}

double sambaTileNestWorkCycles(const SambaTileNest *nest) {
  return hasTail(nest) ? fmax(nest->pass_cycles, nest->tail * nest->tail_cycles)
                       : nest->pass_cycles;
}

/* Copies that a tail may take in turn. Tails of other copies take turns too, at who gets the
 * results, and one multicast may bring all of them the same tokens of another operand, one for each
 * copy. What waits for its turn must hold those of a whole turn, or nobody gets any more: its FIFO
 * and that of the last switch do. */
static uint32_t mostInTurn(const SambaTileNest *nest, uint32_t dims) {
  const SambaGroup *group = nest->group;
  int64_t room = 2 * nest->machine->fifo_depth, most = nest->machine->flows_per_lane;
  uint32_t others = 0;
  for (uint32_t d = 0; d < group->dim_count; ++d)
    others |= nest->unroll[d] > 1 && !(dims >> d & 1) ? 1u << d : 0;

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    uint32_t depends = group->operands[i].depends;
    if (!group->operands[i].value || !group->operands[i].late || !(depends & dims) ||
        !(others & ~depends))
      continue;
    int64_t bytes = sambaDTypeBytes(sambaTileNestDType(nest, i));
    for (uint32_t d = 0; d < group->parallel_count; ++d)
      bytes *= depends >> d & 1 ? nest->pass[d] : 1;
    int64_t copies = room / sambaCeilDiv(bytes, nest->machine->vector_bytes);
    most = copies < most ? copies : most;
  }
  return most > 1 ? (uint32_t)most : 1;
}

/* Whether a tail may take copies along several dimensions: of what it reads beside the sums one
 * buffer holds the slots of copies along one of them. That is the last: for each step of the
 * others its tokens come again. What is stored is staged in rows of copies along one of them. */
static bool mayShareTail(const SambaTileNest *nest, uint32_t dims) {
  const SambaGroup *group = nest->group;
  uint32_t last = 31u - (uint32_t)__builtin_clz(dims);
  bool may = nest->graph->tensors[group->output.tensor].role == SAMBA_TENSOR_INTERMEDIATE;
  for (uint32_t i = 0; i < group->operand_count; ++i)
    may &= !group->operands[i].value || !group->operands[i].late ||
           !(group->operands[i].depends & dims & ~(1u << last));
  return may;
}

/* The last dimension with copies before `end` over which tails may turn; SAMBA_NO_INDEX: none. */
static uint32_t turnedDim(const SambaTileNest *nest, uint32_t end) {
  while (end-- > 0)
    if (nest->unroll[end] > 1)
      return sambaTileNestIsPipelined(nest, end) ? SAMBA_NO_INDEX : end;
  return SAMBA_NO_INDEX;
}

void sambaTileNestShareTail(SambaTileNest *nest) {
  nest->tail = 1;
  nest->tail_dims = 0;
  if (!hasTail(nest))
    return;

  double room = floor(nest->pass_cycles / nest->tail_cycles);
  uint32_t end = nest->group->dim_count;
  for (uint32_t dim; (dim = turnedDim(nest, end)) != SAMBA_NO_INDEX; end = dim) {
    uint32_t dims = nest->tail_dims | 1u << dim;
    if (nest->tail_dims && !mayShareTail(nest, dims))
      return;
    uint32_t most = (uint32_t)fmin(room, mostInTurn(nest, dims)) / nest->tail;
    uint32_t copies = most < nest->unroll[dim] ? most : nest->unroll[dim];
    while (copies > 1 && nest->unroll[dim] % copies)
      --copies;
    if (copies < 2)
      return;
    nest->tail *= copies;
    nest->tail_dims = dims;
    if (copies < nest->unroll[dim])
      return;
  }
}

double sambaTileNestFiringCycles(const SambaTileNest *nest) {
  const SambaGroup *group = nest->group;
  const SambaMachine *machine = nest->machine;
  double cycles = sambaTileNestWorkCycles(nest);
  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));

  for (uint32_t i = 0; i < group->operand_count; ++i) {
    if (!group->operands[i].value)
      continue;
    double bytes = (double)nest->token_elements[i] * sambaDTypeBytes(sambaTileNestDType(nest, i)) /
                   (double)machine->vector_bytes;
    bytes *= (double)sambaTileNestTrips(nest, sambaTileNestTokenLevel(nest, i)) / firings;
    cycles = bytes > cycles ? bytes : cycles;
  }

  double out = (double)sambaTileNestPassElements(nest) *
               sambaDTypeBytes(nest->graph->tensors[group->output.tensor].dtype) /
               (double)machine->vector_bytes;
  out *= (double)sambaTileNestTrips(nest, sambaTileNestOutputLevel(nest)) / firings;

  return out > cycles ? out : cycles;
}
