/* Orders of groups. */
#include "backend/partition/partition_internal.h"

#include <stdlib.h>
#include <string.h>

static void findPlaces(const SambaPartitionProblem *problem, SambaGroupOrder *order) {
  for (uint32_t v = 0; v < problem->value_count; ++v)
    order->maker[v] = order->last_reader[v] = SAMBA_NO_INDEX;
  for (uint32_t place = 0; place < order->group_count; ++place)
    for (uint32_t at = order->first[place]; at < order->first[place + 1]; ++at) {
      const SambaPartitionOperator *operator = &problem->operators[order->operators[at]];
      for (uint32_t i = 0; i < operator->read_count; ++i)
        order->last_reader[operator->reads[i].value] = place;
      for (uint32_t i = 0; i < operator->make_count; ++i)
        order->maker[operator->makes[i]] = place;
    }
}

SambaGroupOrder sambaGroupOrderCreate(const SambaPartitionProblem *problem, const uint32_t *groups,
                                      SambaArena *arena) {
  uint32_t operators = problem->operator_count;
  uint32_t count = operators ? problem->operators[operators - 1].group + 1 : 0;
  SambaGroupOrder order = {.group_count = count,
                           .groups = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1),
                           .first = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1),
                           .operators = SAMBA_ARENA_ARRAY(arena, uint32_t, operators + 1),
                           .maker = SAMBA_ARENA_ARRAY(arena, uint32_t, problem->value_count + 1),
                           .last_reader =
                               SAMBA_ARENA_ARRAY(arena, uint32_t, problem->value_count + 1)};
  uint32_t *start = sambaAllocateZeroed(count + 2, sizeof *start);
  for (uint32_t i = 0; i < operators; ++i)
    ++start[problem->operators[i].group + 1];
  for (uint32_t g = 0; g < count; ++g)
    start[g + 1] += start[g];

  uint32_t filled = 0;
  for (uint32_t place = 0; place < count; ++place) {
    uint32_t group = groups ? groups[place] : place;
    order.groups[place] = group;
    order.first[place] = filled;
    for (uint32_t i = start[group]; i < start[group + 1]; ++i)
      order.operators[filled++] = i;
  }
  order.first[count] = filled;
  free(start);
  findPlaces(problem, &order);
  return order;
}

uint64_t sambaOrderMemory(const SambaPartitionProblem *problem, const SambaGroupOrder *order) {
  uint64_t now = 0, most = 0;
  uint64_t *freed = sambaAllocateZeroed(order->group_count + 1, sizeof *freed);
  for (uint32_t place = 0; place < order->group_count; ++place) {
    for (uint32_t at = order->first[place]; at < order->first[place + 1]; ++at) {
      const SambaPartitionOperator *operator = &problem->operators[order->operators[at]];
      for (uint32_t i = 0; i < operator->make_count; ++i) {
        const SambaPartitionValue *value = &problem->values[operator->makes[i]];
        uint32_t last = order->last_reader[operator->makes[i]];
        now += value->bytes;
        if (!value->leaves)
          freed[last == SAMBA_NO_INDEX ? place : last] += value->bytes;
      }
    }
    most = now > most ? now : most;
    now -= freed[place];
  }
  free(freed);
  return most;
}

/* Groups from the last place to the first. */
typedef struct Backwards {
  const SambaPartitionProblem *problem;
  const SambaGroupOrder *given;
  uint32_t from;   /* where the present stretch begins */
  uint32_t *waits; /* of each place of the given order: groups that read it and stand nowhere yet */
  uint32_t *ready; /* places, the last one is taken next */
  uint32_t ready_count;
} Backwards;

/* Changes how many wait for the groups that make what a group reads, once for each read. */
static void visitMakers(Backwards *backwards, uint32_t place, int32_t change) {
  const SambaGroupOrder *given = backwards->given;
  for (uint32_t at = given->first[place]; at < given->first[place + 1]; ++at) {
    const SambaPartitionOperator *operator = &backwards->problem->operators[given->operators[at]];
    for (uint32_t i = 0; i < operator->read_count; ++i) {
      uint32_t maker = given->maker[operator->reads[i].value];
      if (maker == SAMBA_NO_INDEX || maker == place)
        continue;
      backwards->waits[maker] += (uint32_t)change;
      if (change < 0 && backwards->waits[maker] == 0 && maker >= backwards->from)
        backwards->ready[backwards->ready_count++] = maker;
    }
  }
}

/* Of the groups [from, to), which are one stretch. */
static void orderStretch(Backwards *backwards, uint32_t from, uint32_t to, uint32_t *groups) {
  uint32_t first = backwards->given->operators[backwards->given->first[from]];
  bool keeps = backwards->problem->operators[first].keeps_place;
  uint32_t left = to;
  backwards->from = from;
  backwards->ready_count = 0;
  /* What nobody of the stretch reads is ready, in the order as it is. */
  for (uint32_t place = from; place < to; ++place)
    if (backwards->waits[place] == 0)
      backwards->ready[backwards->ready_count++] = place;
  while (left > from) {
    uint32_t place = keeps ? left - 1 : backwards->ready[--backwards->ready_count];
    groups[--left] = backwards->given->groups[place];
    visitMakers(backwards, place, -1);
  }
}

bool sambaLateOrder(const SambaPartitionProblem *problem, const SambaGroupOrder *given,
                    SambaArena *arena, SambaGroupOrder *out_order) {
  uint32_t count = given->group_count;
  uint32_t *groups = sambaAllocate(sambaArraySize(count + 1, sizeof *groups));
  Backwards backwards = {.problem = problem,
                         .given = given,
                         .waits = sambaAllocateZeroed(count + 1, sizeof(uint32_t)),
                         .ready = sambaAllocate(sambaArraySize(count + 1, sizeof(uint32_t)))};
  for (uint32_t place = 0; place < count; ++place)
    visitMakers(&backwards, place, 1);

  for (uint32_t to = count, from; to > 0; to = from) {
    from = to - 1;
    uint32_t stretch = problem->operators[given->operators[given->first[from]]].stretch;
    while (from > 0 &&
           problem->operators[given->operators[given->first[from - 1]]].stretch == stretch)
      --from;
    orderStretch(&backwards, from, to, groups);
  }

  bool changed = memcmp(groups, given->groups, count * sizeof *groups) != 0;
  if (changed) {
    *out_order = sambaGroupOrderCreate(problem, groups, arena);
    uint64_t memory = sambaOrderMemory(problem, out_order);
    changed = memory <= problem->memory || memory <= sambaOrderMemory(problem, given);
  }
  free(groups);
  free(backwards.waits);
  free(backwards.ready);
  return changed;
}
