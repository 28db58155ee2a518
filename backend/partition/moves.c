/* Moves of single groups, and of whole sections, to other sections.
 *
 * Sections run in order, so a group may be in any section from those that make what it reads up to
 * those that read what it makes. Worth a price are sections that have to do with it: they make or
 * read something of it, read the same, or stand beside its own. Between sections there are places
 * for new ones. */
#include "backend/partition/partition_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { mostTargets = 12 };

typedef SAMBA_ARRAY(uint32_t) Numbers;

/* A partition while groups move. */
typedef struct Moves {
  SambaSearch *search;
  const SambaPartitionProblem *problem;
  const SambaGroupOrder *order;
  uint32_t section_count;
  Numbers *operators;        /* of each section */
  uint32_t *section_of;      /* of each group, by number */
  uint32_t *maker;           /* of each value: an operator, SAMBA_NO_INDEX: none */
  uint32_t *first, *end;     /* operators of each group */
  uint32_t *in_block, block; /* of each group: `block` when it is in the present one */
  Numbers scratch, group;
} Moves;

static uint32_t sectionOfOperator(const Moves *moves, uint32_t operator) {
  return moves->section_of[moves->problem->operators[operator].group];
}

/* Cycles of a section of these operators; INFINITY: it does not fit, or time is over. */
static double cyclesOf(Moves *moves, const Numbers *operators) {
  if (!operators->size)
    return 0;
  SambaSearch *search = moves->search;
  uint32_t class =
      sambaSectionClassOf(&search->classes, operators->data, (uint32_t)operators->size);
  if (!search->classes.list.data[class].priced && sambaSearchIsOver(search))
    return INFINITY;
  if (search->classes.list.data[class].priced)
    ++search->result->reused;
  else
    sambaSearchPrice(search, &class, 1, false);
  const SambaSectionClass *found = &search->classes.list.data[class];
  return found->fits ? found->cycles : INFINITY;
}

/* What moves: a group or a section, by its operators. */
typedef struct Block {
  const uint32_t *operators; /* in the order of the problem */
  uint32_t count;
} Block;

/* The section's operators without those of the block, in scratch. */
static void leaveOut(Moves *moves, uint32_t section, const Block *block) {
  const Numbers *operators = &moves->operators[section];
  uint32_t left = 0;
  moves->scratch.size = 0;
  for (size_t i = 0; i < operators->size; ++i)
    if (left < block->count && operators->data[i] == block->operators[left])
      ++left;
    else
      sambaArrayAppend(&moves->scratch, operators->data[i]);
}

/* The section's operators with those of the block, in scratch, in the order of the problem. */
static void putIn(Moves *moves, uint32_t section, const Block *block) {
  const Numbers *operators = &moves->operators[section];
  uint32_t put = 0;
  moves->scratch.size = 0;
  for (size_t i = 0; i < operators->size; ++i) {
    for (; put < block->count && block->operators[put] < operators->data[i]; ++put)
      sambaArrayAppend(&moves->scratch, block->operators[put]);
    sambaArrayAppend(&moves->scratch, operators->data[i]);
  }
  for (; put < block->count; ++put)
    sambaArrayAppend(&moves->scratch, block->operators[put]);
}

static void takeScratch(Moves *moves, uint32_t section) {
  Numbers operators = moves->operators[section];
  moves->operators[section] = moves->scratch;
  moves->scratch = operators;
}

/*===-- Where a group may go ------------------------------------------------------------------===*/

typedef struct Targets {
  uint32_t lowest, highest;
  uint32_t count, sections[mostTargets];
} Targets;

static void addTarget(Targets *targets, uint32_t section) {
  for (uint32_t i = 0; i < targets->count; ++i)
    if (targets->sections[i] == section)
      return;
  if (targets->count < mostTargets)
    targets->sections[targets->count++] = section;
}

static bool isInBlock(const Moves *moves, uint32_t operator) {
  return moves->in_block[moves->problem->operators[operator].group] == moves->block;
}

/* Sections of the readers of a value, which all have to stand behind its maker. */
static void addReaders(const Moves *moves, uint32_t value, bool makes, Targets *targets) {
  const SambaValueReaders *readers = &moves->search->classes.readers;
  uint32_t start = readers->start[value], end = readers->start[value + 1];
  for (uint32_t i = start; i < end; ++i) {
    uint32_t section = sectionOfOperator(moves, readers->operators[i]);
    if (isInBlock(moves, readers->operators[i]))
      continue;
    if (makes && section < targets->highest)
      targets->highest = section;
    if (end - start <= mostTargets)
      addTarget(targets, section);
  }
}

static Targets targetsOf(Moves *moves, uint32_t own, const Block *block) {
  Targets targets = {.highest = moves->section_count - 1};
  ++moves->block;
  for (uint32_t i = 0; i < block->count; ++i)
    moves->in_block[moves->problem->operators[block->operators[i]].group] = moves->block;
  for (uint32_t o = 0; o < block->count; ++o) {
    const SambaPartitionOperator *operator = &moves->problem->operators[block->operators[o]];
    for (uint32_t i = 0; i < operator->make_count; ++i)
      addReaders(moves, operator->makes[i], true, &targets);
    for (uint32_t i = 0; i < operator->read_count; ++i) {
      uint32_t value = operator->reads[i].value, maker = moves->maker[value];
      if (maker != SAMBA_NO_INDEX && !isInBlock(moves, maker)) {
        uint32_t section = sectionOfOperator(moves, maker);
        targets.lowest = section > targets.lowest ? section : targets.lowest;
        addTarget(&targets, section);
      }
      addReaders(moves, value, false, &targets);
    }
  }
  for (uint32_t section = own > 2 ? own - 2 : 0; section <= own + 2; ++section)
    if (section < moves->section_count)
      addTarget(&targets, section);
  return targets;
}

static bool mayGo(const Moves *moves, uint32_t own, const Block *block, const Targets *targets,
                  uint32_t section) {
  const Numbers *operators = &moves->operators[section];
  if (section == own || section < targets->lowest || section > targets->highest)
    return false;
  if (!operators->size) /* a new section, unless that is what it was */
    return moves->operators[own].size > block->count;
  uint32_t stretch = moves->problem->operators[block->operators[0]].stretch;
  return moves->problem->operators[operators->data[0]].stretch == stretch &&
         operators->size + block->count <= moves->problem->most[stretch];
}

/*===-- Moving --------------------------------------------------------------------------------===*/

static double cyclesOfSection(Moves *moves, uint32_t section) {
  return fmin(cyclesOf(moves, &moves->operators[section]), SAMBA_HOPELESS_CYCLES);
}

/* The section to which the block goes where that saves most; SAMBA_NO_INDEX: nowhere. */
static uint32_t findTarget(Moves *moves, uint32_t own, const Block *block) {
  Targets targets = targetsOf(moves, own, block);
  uint32_t best = SAMBA_NO_INDEX;
  double before = -1, without = 0, saved = 0;
  for (uint32_t i = 0; i < targets.count; ++i) {
    uint32_t section = targets.sections[i];
    if (!mayGo(moves, own, block, &targets, section))
      continue;
    if (before < 0) {
      before = cyclesOfSection(moves, own);
      leaveOut(moves, own, block);
      without = cyclesOf(moves, &moves->scratch);
    }
    if (isinf(without))
      return SAMBA_NO_INDEX;
    putIn(moves, section, block);
    double now = without + cyclesOf(moves, &moves->scratch);
    double gain = before + cyclesOfSection(moves, section) - now;
    if (gain > saved) {
      saved = gain;
      best = section;
    }
  }
  return best;
}

static bool moveBlock(Moves *moves, uint32_t own, const Block *block) {
  if (moves->problem->operators[block->operators[0]].keeps_place)
    return false;
  uint32_t target = findTarget(moves, own, block);
  if (target == SAMBA_NO_INDEX)
    return false;
  for (uint32_t i = 0; i < block->count; ++i)
    moves->section_of[moves->problem->operators[block->operators[i]].group] = target;
  putIn(moves, target, block);
  takeScratch(moves, target);
  leaveOut(moves, own, block);
  takeScratch(moves, own);
  return true;
}

static bool moveGroup(Moves *moves, uint32_t group) {
  uint32_t operators = moves->end[group] - moves->first[group];
  moves->group.size = 0;
  for (uint32_t i = 0; i < operators; ++i)
    sambaArrayAppend(&moves->group, moves->first[group] + i);
  return moveBlock(moves, moves->section_of[group], &(Block){moves->group.data, operators});
}

static bool moveSection(Moves *moves, uint32_t section) {
  const Numbers *operators = &moves->operators[section];
  moves->group.size = 0;
  for (size_t i = 0; i < operators->size; ++i)
    sambaArrayAppend(&moves->group, operators->data[i]);
  return operators->size &&
         moveBlock(moves, section, &(Block){moves->group.data, (uint32_t)moves->group.size});
}

static void beginMoves(Moves *moves, uint32_t section_count, const uint32_t *sizes) {
  const SambaPartitionProblem *problem = moves->problem;
  uint32_t groups = moves->order->group_count, place = 0;
  moves->operators = sambaAllocateZeroed(moves->section_count + 1, sizeof *moves->operators);
  moves->section_of = sambaAllocate(sambaArraySize(groups + 1, sizeof *moves->section_of));
  moves->first = sambaAllocate(sambaArraySize(groups + 1, sizeof *moves->first));
  moves->end = sambaAllocate(sambaArraySize(groups + 1, sizeof *moves->end));
  moves->in_block = sambaAllocateZeroed(groups + 1, sizeof *moves->in_block);
  moves->maker = sambaAllocate(sambaArraySize(problem->value_count + 1, sizeof *moves->maker));
  for (uint32_t s = 0; s < section_count; ++s)
    for (uint32_t i = 0; i < sizes[s]; ++i)
      moves->section_of[moves->order->groups[place++]] = 2 * s + 1;

  sambaClearIndices(moves->maker, problem->value_count);
  for (uint32_t o = 0; o < problem->operator_count; ++o) {
    uint32_t group = problem->operators[o].group;
    if (o == 0 || problem->operators[o - 1].group != group)
      moves->first[group] = o;
    moves->end[group] = o + 1;
    sambaArrayAppend(&moves->operators[moves->section_of[group]], o);
    for (uint32_t i = 0; i < problem->operators[o].make_count; ++i)
      moves->maker[problem->operators[o].makes[i]] = o;
  }
}

static void endMoves(Moves *moves) {
  for (uint32_t s = 0; s < moves->section_count; ++s)
    sambaArrayFree(&moves->operators[s]);
  sambaArrayFree(&moves->scratch);
  sambaArrayFree(&moves->group);
  free(moves->in_block);
  free(moves->operators);
  free(moves->section_of);
  free(moves->first);
  free(moves->end);
  free(moves->maker);
}

/* The order of the sections as they are now, and their sizes in groups. */
static SambaGroupOrder orderOf(const Moves *moves, uint32_t *section_count, uint32_t *sizes,
                               SambaArena *arena) {
  uint32_t *groups = sambaAllocate(sambaArraySize(moves->order->group_count + 1, sizeof *groups));
  uint32_t filled = 0, sections = 0;
  for (uint32_t s = 0; s < moves->section_count; ++s) {
    uint32_t before = filled;
    for (size_t i = 0; i < moves->operators[s].size; ++i) {
      uint32_t group = moves->problem->operators[moves->operators[s].data[i]].group;
      if (moves->first[group] == moves->operators[s].data[i])
        groups[filled++] = group;
    }
    if (filled > before)
      sizes[sections++] = filled - before;
  }
  *section_count = sections;
  SambaGroupOrder order = sambaGroupOrderCreate(moves->problem, groups, arena);
  free(groups);
  return order;
}

bool sambaMoveGroups(SambaSearch *search, const SambaGroupOrder *order, uint32_t *section_count,
                     uint32_t *sizes, SambaArena *arena, SambaGroupOrder *out_order) {
  Moves moves = {.search = search,
                 .problem = search->problem,
                 .order = order,
                 .section_count = 2 * *section_count + 1};
  beginMoves(&moves, *section_count, sizes);
  bool moved = false;
  for (bool again = true; again && !sambaSearchIsOver(search);) {
    again = false;
    for (uint32_t group = 0; group < order->group_count; ++group)
      again |= moveGroup(&moves, group);
    for (uint32_t section = 0; section < moves.section_count; ++section)
      again |= moveSection(&moves, section);
    moved |= again;
  }
  if (moved) {
    *out_order = orderOf(&moves, section_count, sizes, arena);
    uint64_t memory = sambaOrderMemory(search->problem, out_order);
    moved = memory <= search->problem->memory || memory <= sambaOrderMemory(search->problem, order);
  }
  endMoves(&moves);
  return moved;
}
