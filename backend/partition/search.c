/* The search; see partition.h.
 *
 * Intervals are priced by their length: those of one group first, then those of two. One is left
 * out when a part of it finds no room, or when what is known of its parts says that it is no better
 * than a way through it that is priced already. Time may be over before all have their price. So
 * those come first whose parts let expect that they are better, then the other ones, and those that
 * are cut in front of an operator that follows the one before it last. Then the shortest way
 * through the intervals of an order is the partition. */
#include "backend/partition/partition_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A larger section takes this share of the cycles of one in it at least. */
static const double saneShare = 0.8;

/* A section that takes this many times what its parts take is in no better one. */
static const double hopelessShare = 2;

/* A way from the start of the graph to the end of an interval. */
typedef struct Way {
  double cycles;
  double rarity; /* among equals, fewer structures and those that occur often */
  bool repeats;  /* the section before it is the same */
} Way;

/* Which intervals are priced. */
typedef enum {
  SEEMS_BETTER, /* those that are expected to be better than the ways through them that are known */
  NO_FOLLOWERS, /* that do not cut followers off */
  ALL
} Scope;

/* The search of one order. */
typedef struct Search {
  SambaSearch *all;
  const SambaPartitionProblem *problem;
  const SambaGroupOrder *order;
  SambaIntervals intervals;
  bool *follows; /* whether each place's group follows the one before it; the end does not */
} Search;

static SambaSectionClass *classOf(const Search *search, const SambaCell *cell) {
  return &search->all->classes.list.data[cell->class];
}

/*===-- Pricing -------------------------------------------------------------------------------===*/

static void findClass(Search *search, SambaCell *cell, uint32_t first, uint32_t length) {
  const SambaGroupOrder *order = search->order;
  if (cell->class != SAMBA_NO_INDEX)
    return;
  cell->class = sambaSectionClassOf(&search->all->classes, order->operators + order->first[first],
                                    order->first[first + length] - order->first[first]);
  ++classOf(search, cell)->intervals;
}

/* Takes the price of the cell's class, when it has one. */
static void takePrice(Search *search, SambaCell *cell, uint32_t length) {
  const SambaSectionClass *class = classOf(search, cell);
  if (!class->priced) {
    cell->state = CELL_SKIPPED;
    return;
  }
  double alone = length == 1 ? SAMBA_HOPELESS_CYCLES : INFINITY;
  cell->state = CELL_PRICED;
  cell->bound = class->fits ? class->cycles : INFINITY;
  cell->best = fmin(cell->best, class->fits ? class->cycles : alone);
  cell->guess = class->fits ? class->cycles : INFINITY;
}

/*===-- Which intervals are worth a price -----------------------------------------------------===*/

/* The best of the ways through an interval that has more than one section. */
static double bestApart(const Search *search, uint32_t first, uint32_t length) {
  double best = INFINITY;
  for (uint32_t i = 1; i < length; ++i)
    best = fmin(best, sambaCellAt(&search->intervals, first, i)->best +
                          sambaCellAt(&search->intervals, first + i, length - i)->best);
  return best;
}

/* What a part says of the whole, unless that reads or leaves fewer values: that it does not fit, or
 * that it takes as many cycles, but for those in which bytes are moved that are not any more, at
 * half of the memory's rate. In any case, that it is hopeless. */
static void learnFrom(const Search *search, const SambaCell *part, SambaCell *whole) {
  if (part->state == CELL_PRICED && !isinf(part->bound) && part->bound > hopelessShare * part->best)
    whole->bound = INFINITY;
  if (whole->reads < part->reads || whole->leaves < part->leaves)
    return;
  double saved =
      fmax(part->read_bytes - whole->read_bytes, 0) + fmax(part->left_bytes - whole->left_bytes, 0);
  whole->bound = fmax(whole->bound, part->bound - 2 * saved / search->problem->bytes_per_cycle);
}

/* Whether the groups from `a` on are of the same kinds as those from `b` on. */
static bool looksEqual(const Search *search, uint32_t a, uint32_t b, uint32_t length) {
  const SambaGroupOrder *order = search->order;
  uint32_t count = order->first[a + length] - order->first[a];
  if (count != order->first[b + length] - order->first[b])
    return false;
  for (uint32_t i = 0; i < count; ++i)
    if (search->problem->operators[order->operators[order->first[a] + i]].kind !=
        search->problem->operators[order->operators[order->first[b] + i]].kind)
      return false;
  return true;
}

/* Whether the same section may run before it or behind it. */
static bool mayRepeat(const Search *search, uint32_t first, uint32_t length) {
  return (first >= length && looksEqual(search, first - length, first, length)) ||
         (first + 2 * length <= search->order->group_count &&
          looksEqual(search, first, first + length, length));
}

/* Decides about an interval whose parts are settled: to be priced or not. */
static bool isWorthIt(Search *search, uint32_t first, uint32_t length) {
  SambaCell *cell = sambaCellAt(&search->intervals, first, length);
  cell->best = bestApart(search, first, length);
  if (length > 1) {
    learnFrom(search, sambaCellAt(&search->intervals, first, length - 1), cell);
    learnFrom(search, sambaCellAt(&search->intervals, first + 1, length - 1), cell);
  }
  if (cell->seed || length == 1)
    return true;

  cell->guess = cell->bound; /* INFINITY, too */
  if (isinf(cell->bound)) {
    cell->state = CELL_NO_ROOM;
    return false;
  }
  double least = fmax(cell->floor, saneShare * cell->bound);
  if (least < cell->best ||
      (least - search->problem->load < cell->best && mayRepeat(search, first, length)))
    return true;
  search->all->result->skipped += cell->state != CELL_SKIPPED;
  cell->state = CELL_SKIPPED;
  cell->guess = cell->best;
  return false;
}

typedef struct Candidate {
  uint32_t class;
  double gain; /* that it may bring at most, in all places */
} Candidate;
typedef SAMBA_ARRAY(Candidate) Candidates;

static int compareCandidates(const void *a, const void *b) {
  const Candidate *x = a, *y = b;
  if (x->gain != y->gain)
    return x->gain > y->gain ? -1 : 1;
  return (x->class > y->class) - (x->class < y->class);
}

static void priceCandidates(Search *search, Candidates *candidates) {
  if (candidates->size)
    qsort(candidates->data, candidates->size, sizeof *candidates->data, compareCandidates);
  for (size_t i = 0; i < candidates->size && !sambaSearchIsOver(search->all);
       i += SAMBA_TRIALS_AT_ONCE) {
    uint32_t classes[SAMBA_TRIALS_AT_ONCE], count = 0;
    for (size_t k = i; k < candidates->size && count < SAMBA_TRIALS_AT_ONCE; ++k)
      classes[count++] = candidates->data[k].class;
    sambaSearchPrice(search->all, classes, count, false);
  }
}

static bool cutsFollowers(const Search *search, uint32_t first, uint32_t length) {
  return search->follows[first] || search->follows[first + length];
}

static double bytesOf(const SambaCell *cell) { return cell->read_bytes + cell->left_bytes; }

/* What an interval of three parts takes that cuts no followers off, when the last part adds to all
 * of it what it adds to the one before it; less what is not moved any more. Its first and its last
 * part are a group with its followers. 0: it has less than three. */
static double guessCycles(const Search *search, uint32_t first, uint32_t length) {
  uint32_t middle = first + 1, last = first + length - 1;
  while (search->follows[middle])
    ++middle;
  while (search->follows[last])
    --last;
  if (middle >= last)
    return 0;
  const SambaCell *before = sambaCellAt(&search->intervals, first, last - first);
  const SambaCell *behind = sambaCellAt(&search->intervals, middle, first + length - middle);
  const SambaCell *both = sambaCellAt(&search->intervals, middle, last - middle);
  double saved = bytesOf(before) + bytesOf(behind) - bytesOf(both) -
                 bytesOf(sambaCellAt(&search->intervals, first, length));
  if (isinf(before->guess) || isinf(behind->guess) || isinf(both->guess))
    return INFINITY;
  return before->guess + behind->guess - both->guess -
         fmax(saved, 0) / search->problem->bytes_per_cycle;
}

/* Whether an interval that is worth a price gets it now. */
static bool isInScope(const Search *search, uint32_t first, uint32_t length, Scope scope) {
  SambaCell *cell = sambaCellAt(&search->intervals, first, length);
  if (cell->seed || scope == ALL)
    return true;
  if (cutsFollowers(search, first, length))
    return false;
  if (scope == NO_FOLLOWERS)
    return true;
  cell->guess = guessCycles(search, first, length);
  return cell->guess < cell->best ||
         (cell->guess - search->problem->load < cell->best && mayRepeat(search, first, length));
}

/* The classes of the cells of one length that are worth it and have no price, each once. */
static void gather(Search *search, uint32_t length, Scope scope, Candidates *candidates) {
  SAMBA_ARRAY(uint32_t) at = {0}; /* of each class: 1 + its candidate */
  candidates->size = 0;
  for (uint32_t first = 0; first < search->order->group_count; ++first) {
    if (sambaRowLength(&search->intervals, first) < length || !isWorthIt(search, first, length) ||
        !isInScope(search, first, length, scope))
      continue;
    SambaCell *cell = sambaCellAt(&search->intervals, first, length);
    findClass(search, cell, first, length);
    if (classOf(search, cell)->priced) {
      search->all->result->reused += cell->state == CELL_NEW;
      continue;
    }
    while (at.size <= cell->class)
      sambaArrayAppend(&at, 0);
    search->all->result->reused += at.data[cell->class] > 0;
    if (!at.data[cell->class]) {
      sambaArrayAppend(candidates, (Candidate){.class = cell->class});
      at.data[cell->class] = (uint32_t)candidates->size;
    }
    /* What has no way through it so far comes first. */
    double least = fmax(cell->floor, scope == SEEMS_BETTER ? cell->guess : 0);
    double gain = isinf(cell->best) ? SAMBA_HOPELESS_CYCLES : cell->best - least;
    candidates->data[at.data[cell->class] - 1].gain += gain;
  }
  sambaArrayFree(&at);
}

static void priceIntervals(Search *search, Scope scope) {
  Candidates candidates = {0};
  for (uint32_t length = 1; length <= search->intervals.longest; ++length) {
    if (scope != ALL && sambaSearchIsOver(search->all))
      break;
    gather(search, length, scope, &candidates);
    priceCandidates(search, &candidates);
    for (uint32_t first = 0; first < search->order->group_count; ++first) {
      if (sambaRowLength(&search->intervals, first) < length)
        continue;
      SambaCell *cell = sambaCellAt(&search->intervals, first, length);
      if (cell->class != SAMBA_NO_INDEX)
        takePrice(search, cell, length);
    }
  }
  sambaArrayFree(&candidates);
}

/* A partition that is known: the groups of each section. */
typedef struct KnownPartition {
  uint32_t count;
  const uint32_t *sizes;
} KnownPartition;

/* It has its prices whatever the time is. */
static void priceKnown(Search *search, const KnownPartition *known) {
  uint32_t first = 0;
  for (uint32_t s = 0; s < known->count; first += known->sizes[s++]) {
    SambaCell *cell = sambaCellAt(&search->intervals, first, known->sizes[s]);
    cell->seed = true;
    findClass(search, cell, first, known->sizes[s]);
    if (!classOf(search, cell)->priced)
      sambaSearchPrice(search->all, &cell->class, 1, false);
  }
}

/*===-- The best way --------------------------------------------------------------------------===*/

static bool isBetter(const Way *a, const Way *b) {
  return a->cycles < b->cycles || (a->cycles == b->cycles && a->rarity < b->rarity);
}

/* What the cell's section takes; INFINITY: it has no price. */
static double cyclesOf(const Search *search, const SambaCell *cell, uint32_t length) {
  if (cell->state != CELL_PRICED)
    return INFINITY;
  const SambaSectionClass *class = classOf(search, cell);
  if (class->fits)
    return class->cycles;
  return length == 1 ? SAMBA_HOPELESS_CYCLES : INFINITY;
}

/* The best way to the end of an interval that has it as its last section; `before`: the best one to
 * its start. A section that runs again is not loaded again. */
static Way wayOver(const Search *search, const Way *ways, const Way *before, uint32_t first,
                   uint32_t length) {
  const SambaCell *cell = sambaCellAt(&search->intervals, first, length);
  double cycles = cyclesOf(search, cell, length);
  if (isinf(cycles))
    return (Way){.cycles = INFINITY};

  const SambaSectionClass *class = classOf(search, cell);
  double rarity = 1 / (double)class->intervals;
  Way way = {before->cycles + cycles, before->rarity + rarity, false};
  if (first < length || sambaRowLength(&search->intervals, first - length) < length)
    return way;
  size_t at = search->intervals.row[first - length] + length - 1;
  if (search->intervals.cells[at].class != cell->class || isinf(ways[at].cycles))
    return way;
  Way again = {ways[at].cycles + cycles - class->load, ways[at].rarity + rarity, true};
  return isBetter(&again, &way) ? again : way;
}

/* Of each place, the best way to it: its last section begins at `from`. */
typedef struct Arrival {
  Way way;
  uint32_t from;
} Arrival;

static void findArrivals(const Search *search, Way *ways, Arrival *arrivals) {
  uint32_t count = search->order->group_count;
  for (uint32_t place = 0; place <= count; ++place)
    arrivals[place] = (Arrival){{.cycles = place ? INFINITY : 0}, SAMBA_NO_INDEX};
  for (uint32_t first = 0; first < count; ++first)
    for (uint32_t length = 1; length <= sambaRowLength(&search->intervals, first); ++length) {
      Way way = wayOver(search, ways, &arrivals[first].way, first, length);
      ways[search->intervals.row[first] + length - 1] = way;
      if (isBetter(&way, &arrivals[first + length].way))
        arrivals[first + length] = (Arrival){way, first};
    }
}

static double cyclesOfKnown(const Search *search, const KnownPartition *known) {
  double cycles = 0;
  uint32_t before = SAMBA_NO_INDEX, first = 0;
  for (uint32_t s = 0; s < known->count; first += known->sizes[s++]) {
    const SambaCell *cell = sambaCellAt(&search->intervals, first, known->sizes[s]);
    const SambaSectionClass *class = classOf(search, cell);
    cycles += cyclesOf(search, cell, known->sizes[s]) - (cell->class == before ? class->load : 0);
    before = cell->class;
  }
  return cycles;
}

/*===-- Why sections end ----------------------------------------------------------------------===*/

/* Of each place, the cycles from it to the end; those of repeated sections count whole. */
static double *cyclesBehind(const Search *search) {
  uint32_t count = search->order->group_count;
  double *behind = sambaAllocate(sambaArraySize(count + 1, sizeof *behind));
  behind[count] = 0;
  for (uint32_t first = count; first-- > 0;) {
    behind[first] = INFINITY;
    for (uint32_t length = 1; length <= sambaRowLength(&search->intervals, first); ++length)
      behind[first] = fmin(
          behind[first], cyclesOf(search, sambaCellAt(&search->intervals, first, length), length) +
                             behind[first + length]);
  }
  return behind;
}

static void explainEnd(Search *search, uint32_t first, uint32_t length, const double *behind,
                       SambaPartitionSection *section) {
  const SambaGroupOrder *order = search->order;
  const SambaPartitionOperator *operators = search->problem->operators;
  uint32_t end = first + length;
  section->end = SAMBA_PARTITION_GRAPH;
  if (end == order->group_count)
    return;
  section->next = order->first[end + 1] - order->first[end];
  section->end = SAMBA_PARTITION_ORDER;
  if (operators[order->operators[order->first[end]]].stretch !=
      operators[order->operators[order->first[first]]].stretch)
    return;
  section->end = SAMBA_PARTITION_NUMBER;
  if (sambaRowLength(&search->intervals, first) == length)
    return;

  SambaCell *longer = sambaCellAt(&search->intervals, first, length + 1);
  findClass(search, longer, first, length + 1);
  section->end = SAMBA_PARTITION_TIME;
  if (!classOf(search, longer)->priced && sambaSearchIsOver(search->all))
    return;
  if (!classOf(search, longer)->priced)
    sambaSearchPrice(search->all, &longer->class, 1, false);
  const SambaSectionClass *class = classOf(search, longer);
  section->end = class->fits ? SAMBA_PARTITION_SEARCH : SAMBA_PARTITION_ROOM;
  double more = class->cycles + behind[end + 1] - section->cycles - behind[end];
  if (class->fits && isfinite(more))
    section->more = fmax(0, more);
  else if (class->fits) /* time was over before a way behind the longer section was known */
    section->end = SAMBA_PARTITION_TIME;
}

/* Where the sections of the best way begin, the last one first, and the end before them all. */
typedef SAMBA_ARRAY(uint32_t) Places;

static Places findStarts(const Search *search, const Way *ways, const Arrival *arrivals) {
  Places starts = {0};
  uint32_t at = search->order->group_count;
  bool repeats = false;
  sambaArrayAppend(&starts, at);
  for (uint32_t length = 0; at > 0; at -= length) {
    length = repeats ? length : at - arrivals[at].from;
    repeats = ways[search->intervals.row[at - length] + length - 1].repeats;
    sambaArrayAppend(&starts, at - length);
  }
  return starts;
}

static int compareNumbers(const void *a, const void *b) {
  const uint32_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

/* Writes the partition of the order into the result. Within a section operators stand in the order
 * of the problem. */
static void writeResult(Search *search, const Places *starts, double cycles, SambaArena *arena) {
  SambaPartition *result = search->all->result;
  const SambaGroupOrder *order = search->order;
  uint32_t operators = search->problem->operator_count;
  result->cycles = cycles;
  result->order = sambaArenaCopy(arena, order->operators, operators * sizeof *result->order);
  result->section_count = 0;
  result->sections = SAMBA_ARENA_ARRAY(arena, SambaPartitionSection, starts->size);

  double *behind = cyclesBehind(search);
  for (size_t s = starts->size - 1; s-- > 0;) {
    uint32_t first = starts->data[s + 1], length = starts->data[s] - first;
    SambaPartitionSection *section = &result->sections[result->section_count++];
    section->first = order->first[first];
    section->count = order->first[first + length] - section->first;
    section->cycles = cyclesOf(search, sambaCellAt(&search->intervals, first, length), length);
    qsort(result->order + section->first, section->count, sizeof *result->order, compareNumbers);
    explainEnd(search, first, length, behind, section);
  }
  free(behind);
}

static void findFollowers(Search *search) {
  const SambaGroupOrder *order = search->order;
  const SambaPartitionOperator *operators = search->problem->operators;
  search->follows = sambaAllocateZeroed(order->group_count + 1, sizeof *search->follows);
  for (uint32_t place = 1; place < order->group_count; ++place) {
    uint32_t first = order->operators[order->first[place]];
    search->follows[place] =
        operators[first].follows && operators[first - 1].group == order->groups[place - 1];
  }
}

/* What has been found in an order. */
typedef struct Found {
  double cycles, known_cycles;
  Places starts;
} Found;

/* The ways through the intervals of an order. */
typedef struct Ways {
  Way *ways;
  Arrival *arrivals;
} Ways;

static Ways waysCreate(const Search *search) {
  uint32_t count = search->order->group_count;
  size_t cells = search->intervals.row[count];
  return (Ways){sambaAllocate(sambaArraySize(cells + 1, sizeof(Way))),
                sambaAllocate(sambaArraySize(count + 1, sizeof(Arrival)))};
}

static void waysFree(Ways *ways) {
  free(ways->ways);
  free(ways->arrivals);
}

/*===-- Careful prices ------------------------------------------------------------------------===*/

/* A section is asked for its careful price where that may be lower by this share than the first one
 * and where it takes this share of the whole graph: sections of several products gain most. */
static const double carefulShare = 0.75, worthShare = 0.02;

static void addCareful(Search *search, SambaCell *cell, double gain, Candidates *candidates) {
  SambaSectionClass *class = classOf(search, cell);
  if (!class->priced || !class->fits || class->careful)
    return;
  class->careful = true; /* once */
  sambaArrayAppend(candidates, (Candidate){cell->class, gain});
}

/* The groups of a section one by one: a product alone may have plans that it has in no section. */
static void addGroups(Search *search, uint32_t first, uint32_t length, double least,
                      Candidates *candidates) {
  for (uint32_t i = first; i < first + length; ++i) {
    SambaCell *cell = sambaCellAt(&search->intervals, i, 1);
    if (cell->state == CELL_PRICED && classOf(search, cell)->cycles >= least)
      addCareful(search, cell, classOf(search, cell)->cycles, candidates);
  }
}

/* The sections of the best way, first of all, then their groups, and those that would be better
 * than the ways through them. */
static void gatherCareful(Search *search, const Ways *ways, Candidates *candidates) {
  double all = ways->arrivals[search->order->group_count].way.cycles;
  Places starts = findStarts(search, ways->ways, ways->arrivals);
  candidates->size = 0;
  for (size_t s = starts.size - 1; s-- > 0;) {
    uint32_t first = starts.data[s + 1], length = starts.data[s] - first;
    addCareful(search, sambaCellAt(&search->intervals, first, length), INFINITY, candidates);
    addGroups(search, first, length, worthShare * all, candidates);
  }
  sambaArrayFree(&starts);

  for (uint32_t first = 0; first < search->order->group_count; ++first)
    for (uint32_t length = 2; length <= sambaRowLength(&search->intervals, first); ++length) {
      SambaCell *cell = sambaCellAt(&search->intervals, first, length);
      if (cell->state != CELL_PRICED || !classOf(search, cell)->fits)
        continue;
      double cycles = classOf(search, cell)->cycles, best = bestApart(search, first, length);
      if (cycles >= worthShare * all && carefulShare * cycles < best)
        addCareful(search, cell, best - carefulShare * cycles, candidates);
    }
}

/* First prices are those of the plan that the planner finds in large steps. What a section gets in
 * the end is the best of several plans. Sections of several products gain more by that than the
 * products alone (up to a fifth), so that first prices part what should be together. */
static void priceCarefully(Search *search, Ways *ways) {
  Candidates candidates = {0};
  gatherCareful(search, ways, &candidates);
  qsort(candidates.data, candidates.size, sizeof *candidates.data, compareCandidates);
  for (size_t i = 0; i < candidates.size; i += SAMBA_TRIALS_AT_ONCE) {
    uint32_t classes[SAMBA_TRIALS_AT_ONCE], count = 0;
    for (size_t k = i; k < candidates.size && count < SAMBA_TRIALS_AT_ONCE; ++k) {
      classes[count] = candidates.data[k].class;
      search->all->classes.list.data[classes[count++]].careful = false;
    }
    if (!sambaSearchIsOverForCareful(search->all))
      sambaSearchPrice(search->all, classes, count, true);
  }
  sambaArrayFree(&candidates);
  findArrivals(search, ways->ways, ways->arrivals);
}

/* Searches one order, and writes the result when it is better than what that has. `careful`: the
 * result comes of careful prices, and is written in any case. */
static Found searchOrder(SambaSearch *all, const SambaGroupOrder *order,
                         const KnownPartition *known, bool careful, SambaArena *arena) {
  uint32_t count = order->group_count;
  Search search = {.all = all, .problem = all->problem, .order = order};
  search.intervals = sambaIntervalsCreate(all->problem, order);
  priceKnown(&search, known);
  findFollowers(&search);
  for (Scope scope = SEEMS_BETTER; scope <= ALL; ++scope)
    priceIntervals(&search, scope);

  Ways ways = waysCreate(&search);
  findArrivals(&search, ways.ways, ways.arrivals);
  if (careful && !isinf(ways.arrivals[count].way.cycles))
    priceCarefully(&search, &ways);
  Found found = {.cycles = ways.arrivals[count].way.cycles,
                 .known_cycles = cyclesOfKnown(&search, known)};
  if (!isinf(found.cycles))
    found.starts = findStarts(&search, ways.ways, ways.arrivals);
  if (careful ? !isinf(found.cycles) : found.cycles < all->result->cycles)
    writeResult(&search, &found.starts, found.cycles, arena);
  waysFree(&ways);
  free(search.follows);
  sambaIntervalsFree(&search.intervals);
  return found;
}

/*===-- Orders --------------------------------------------------------------------------------===*/

/* Sections of so many operators in groups. */
static KnownPartition inGroups(const SambaGroupOrder *order, uint32_t count,
                               const uint32_t *operator_counts, SambaArena *arena) {
  uint32_t group = 0, operators = 0;
  uint32_t *sizes = SAMBA_ARENA_ARRAY(arena, uint32_t, count + 1);
  for (uint32_t s = 0; s < count; ++s) {
    uint32_t first = group;
    operators += operator_counts[s];
    while (group < order->group_count && order->first[group + 1] <= operators)
      ++group;
    sizes[s] = group - first;
  }
  return (KnownPartition){count, sizes};
}

/* Searches the order of the result once more, with careful prices. */
static void searchCarefully(SambaSearch *search, const SambaGroupOrder *order, SambaArena *arena) {
  const SambaPartition *result = search->result;
  uint32_t *counts = SAMBA_ARENA_ARRAY(arena, uint32_t, result->section_count + 1);
  for (uint32_t s = 0; s < result->section_count; ++s)
    counts[s] = result->sections[s].count;
  KnownPartition known = inGroups(order, result->section_count, counts, arena);
  Found found = searchOrder(search, order, &known, true, arena);
  sambaArrayFree(&found.starts);
}

/* Moves groups between the sections that were found and searches the order that comes of it, as
 * long as that helps. */
static void improve(SambaSearch *search, SambaGroupOrder order, Found *found,
                    SambaGroupOrder *out_best, SambaArena *arena) {
  uint32_t *sizes = sambaAllocate(sambaArraySize(order.group_count + 1, sizeof *sizes));
  for (double before = INFINITY; found->cycles < before && !isinf(found->cycles);) {
    uint32_t count = (uint32_t)found->starts.size - 1;
    SambaGroupOrder moved;
    before = found->cycles;
    for (uint32_t s = 0; s < count; ++s)
      sizes[s] = found->starts.data[count - 1 - s] - found->starts.data[count - s];
    if (sambaSearchIsOver(search) || !sambaMoveGroups(search, &order, &count, sizes, arena, &moved))
      break;
    sambaArrayFree(&found->starts);
    double best = search->result->cycles;
    *found = searchOrder(search, &moved, &(KnownPartition){count, sizes}, false, arena);
    if (found->cycles < best)
      *out_best = moved;
    order = moved;
  }
  free(sizes);
}

SambaPartition sambaPartitionSearch(const SambaPartitionProblem *problem, SambaArena *arena) {
  SambaPartition result = {.cycles = INFINITY};
  SambaSearch search = {
      .problem = problem, .classes = sambaSectionClassesCreate(problem), .result = &result};
  SambaGroupOrder given = sambaGroupOrderCreate(problem, NULL, arena), late = {0};
  KnownPartition seed = inGroups(&given, problem->seed_count, problem->seed, arena);
  Found of_given = searchOrder(&search, &given, &seed, false, arena),
        of_late = {.cycles = INFINITY};
  result.seed_cycles = of_given.known_cycles;
  double in_order = of_given.cycles;
  bool has_late = !sambaSearchIsOver(&search) && sambaLateOrder(problem, &given, arena, &late);
  if (has_late)
    of_late = searchOrder(&search, &late, &(KnownPartition){0, NULL}, false, arena);

  /* Time may be over before groups have moved in both orders: the better one is first. */
  bool late_first = of_late.cycles < of_given.cycles;
  SambaGroupOrder best = late_first ? late : given;
  improve(&search, best, late_first ? &of_late : &of_given, &best, arena);
  if (has_late && !sambaSearchIsOver(&search))
    improve(&search, late_first ? given : late, late_first ? &of_given : &of_late, &best, arena);
  bool reordered = result.cycles < in_order;
  searchCarefully(&search, &best, arena);
  sambaArrayFree(&of_given.starts);
  sambaArrayFree(&of_late.starts);
  result.reordered = reordered;
  sambaGatherRepeats(&search, arena);
  sambaSectionClassesFree(&search.classes);
  return result;
}
