/* Sections of one structure, run one after the other.
 *
 * A section that runs right behind an equal one is not loaded again. What nobody of its stretch
 * reads - the gradients of weights, the updates of an optimizer - may run at the end of the
 * stretch: there such sections stand by structure. */
#include "backend/partition/partition_internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct Repeats {
  const SambaPartitionProblem *problem;
  const SambaPartition *found;
  uint32_t *class_of, *stretch_of, *section_of_maker; /* of sections, and of values */
  bool *read;                                         /* of each section: by its stretch */
} Repeats;

static const SambaPartitionOperator *operatorAt(const Repeats *repeats, uint32_t section,
                                                uint32_t at) {
  const SambaPartitionSection *own = &repeats->found->sections[section];
  return &repeats->problem->operators[repeats->found->order[own->first + at]];
}

static void visit(Repeats *repeats, SambaSectionClasses *classes) {
  const SambaPartition *found = repeats->found;
  sambaClearIndices(repeats->section_of_maker, repeats->problem->value_count);
  for (uint32_t s = 0; s < found->section_count; ++s) {
    const SambaPartitionSection *section = &found->sections[s];
    repeats->class_of[s] =
        sambaSectionClassOf(classes, found->order + section->first, section->count);
    repeats->stretch_of[s] = operatorAt(repeats, s, 0)->stretch;
    for (uint32_t o = 0; o < section->count; ++o) {
      const SambaPartitionOperator *operator = operatorAt(repeats, s, o);
      repeats->read[s] |= operator->keeps_place;
      for (uint32_t i = 0; i < operator->make_count; ++i)
        repeats->section_of_maker[operator->makes[i]] = s;
      for (uint32_t i = 0; i < operator->read_count; ++i) {
        uint32_t maker = repeats->section_of_maker[operator->reads[i].value];
        if (maker != SAMBA_NO_INDEX && maker != s &&
            repeats->stretch_of[maker] == repeats->stretch_of[s])
          repeats->read[maker] = true;
      }
    }
  }
}

/* Appends the sections [from, to), which are one stretch: those that are read, then the others by
 * structure, structures in the order in which they occur. */
static void orderStretch(const Repeats *repeats, uint32_t from, uint32_t to, uint32_t *order,
                         uint32_t *count) {
  for (uint32_t s = from; s < to; ++s)
    if (repeats->read[s])
      order[(*count)++] = s;
  for (uint32_t s = from; s < to; ++s) {
    bool first = !repeats->read[s];
    for (uint32_t before = from; before < s && first; ++before)
      first = repeats->read[before] || repeats->class_of[before] != repeats->class_of[s];
    for (uint32_t equal = s; equal < to && first; ++equal)
      if (!repeats->read[equal] && repeats->class_of[equal] == repeats->class_of[s])
        order[(*count)++] = equal;
  }
}

/* Cycles that are not spent because a section runs right behind an equal one. */
static double savedLoads(const Repeats *repeats, const SambaSectionClasses *classes,
                         const uint32_t *order) {
  double saved = 0;
  for (uint32_t i = 1; i < repeats->found->section_count; ++i) {
    const SambaSectionClass *class = &classes->list.data[repeats->class_of[order[i]]];
    if (repeats->class_of[order[i - 1]] == repeats->class_of[order[i]])
      saved += class->priced ? class->load : repeats->problem->launch;
  }
  return saved;
}

/* The bytes that values take at once when the sections run in this order. */
static uint64_t memoryOf(const Repeats *repeats, const uint32_t *order, SambaArena *arena) {
  const SambaPartition *found = repeats->found;
  const SambaPartitionProblem *problem = repeats->problem;
  uint32_t *groups = sambaAllocate(sambaArraySize(problem->operator_count + 1, sizeof *groups));
  uint32_t count = 0;
  for (uint32_t i = 0; i < found->section_count; ++i)
    for (uint32_t o = 0; o < found->sections[order[i]].count; ++o) {
      uint32_t group = operatorAt(repeats, order[i], o)->group;
      if (o == 0 || operatorAt(repeats, order[i], o - 1)->group != group)
        groups[count++] = group;
    }
  SambaGroupOrder of_groups = sambaGroupOrderCreate(problem, groups, arena);
  free(groups);
  return sambaOrderMemory(problem, &of_groups);
}

void sambaGatherRepeats(SambaSearch *search, SambaArena *arena) {
  SambaPartition *found = search->result;
  uint32_t count = found->section_count, filled = 0;
  size_t values = search->problem->value_count + 1;
  Repeats repeats = {.problem = search->problem,
                     .found = found,
                     .class_of = sambaAllocateZeroed(count + 1, sizeof(uint32_t)),
                     .stretch_of = sambaAllocateZeroed(count + 1, sizeof(uint32_t)),
                     .section_of_maker = sambaAllocateZeroed(values, sizeof(uint32_t)),
                     .read = sambaAllocateZeroed(count + 1, sizeof(bool))};
  uint32_t *given = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1);
  uint32_t *gathered = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1);

  visit(&repeats, &search->classes);
  for (uint32_t from = 0, to; from < count; from = to) {
    for (to = from; to < count && repeats.stretch_of[to] == repeats.stretch_of[from]; ++to)
      given[to] = to;
    orderStretch(&repeats, from, to, gathered, &filled);
  }
  found->runs = given;
  if (savedLoads(&repeats, &search->classes, gathered) >
      savedLoads(&repeats, &search->classes, given)) {
    uint64_t memory = memoryOf(&repeats, gathered, arena);
    if (memory <= search->problem->memory || memory <= memoryOf(&repeats, given, arena))
      found->runs = gathered;
  }

  free(repeats.class_of);
  free(repeats.stretch_of);
  free(repeats.section_of_maker);
  free(repeats.read);
}
