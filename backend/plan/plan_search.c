/* The search over tiles, loop orders and unrolls of one group: a product of few candidates, each
 * priced by the model. */
#include "backend/plan/plan_internal.h"
#include "backend/plan/plan_loads.h"

#include "support/number/integer.h"

#include <math.h>
#include <string.h>

/* Plans that move at most this many times the bytes of operands and result read nothing again. */
static const double mostOfLeast = 1.18;

/* Sums may go through a PMU at this cost where memory works for this share of the time. */
static const double carriedCost = 1.1, carriedShare = 2.0 / 3;

/* Dimensions of which there are copies at most, and places for what has been tried: a power of two,
 * above the 336 choices of copies that tryUnrolls makes at most. */
enum { COPIED = 3, PLACES = 512 };

/* The copies that have been tried with the tiles and the order of this round. */
typedef struct Tried {
  uint32_t round;
  struct {
    uint32_t round; /* in any other one the place is free */
    uint32_t unroll[COPIED];
  } places[PLACES];
} Tried;

typedef struct Search {
  const SambaStageGraph *graph;
  const SambaGroup *group;
  const SambaMachine *machine;
  const SambaGroupLimits *limits;
  SambaGroupChoice *best;
  bool found;
  bool carried;             /* the loops over what is reduced run outside of all others */
  double bound, most_bytes; /* choices of this score or more, or that move more, are left out */
  int64_t tile[SAMBA_MAX_STAGE_DIMS];
  uint32_t unroll[SAMBA_MAX_STAGE_DIMS], order[SAMBA_MAX_STAGE_DIMS];
  SambaTileNest nest; /* of the last choice; of the next, when the tiles are the same */
  Tried *tried;
} Search;

/* What a choice must cost less than. */
static double boundOf(const Search *search) {
  return search->found ? search->best->score : search->bound;
}

static void countWork(const Search *search, uint64_t work) {
  if (search->limits->trace)
    search->limits->trace->work += work;
}

static void tryNest(Search *search, SambaGroupChoice *choice) {
  double bound = boundOf(search);
  countWork(search, SAMBA_WORK_OF_PRICE);
  if (sambaPlanPrice(search->limits, bound, choice) && choice->score < bound &&
      choice->elements_bytes <= search->most_bytes) {
    *search->best = *choice;
    search->found = true;
  }
}

/* Whether a step of the dimension changes the places of an indexed store. */
static bool isStoredByIndex(const Search *search, uint32_t dim) {
  uint32_t index = search->group->output.index_operand;
  return index != SAMBA_NO_INDEX && sambaGroupDepends(search->group, index, dim);
}

/* Whether copies store the same number of whole parts of rows by index: what reaches past the end
 * of a row would be in the next one, which others store. */
static bool storesEvenParts(const Search *search) {
  bool even = true;
  for (uint32_t dim = 0; dim < search->group->parallel_count; ++dim)
    even &= search->unroll[dim] == 1 ||
            search->group->extents[dim] % (search->tile[dim] * search->unroll[dim]) == 0;
  return even;
}

/* The nest of the search's tiles, order and copies. */
static void fillNest(const Search *search, SambaTileNest *nest) {
  sambaTileNestFill(search->graph, search->group, search->machine, search->limits->pipeline.count,
                    search->order, search->tile, search->unroll, nest);
  for (uint32_t i = 0; i < search->group->operand_count; ++i)
    if (search->limits->on_chip >> i & 1)
      nest->sliced[i] = search->limits->sliced[i];
}

static void tryChoice(Search *search) {
  SambaTileNest *nest = &search->nest;
  if (nest->graph &&
      memcmp(nest->tile, search->tile, search->group->dim_count * sizeof *nest->tile) == 0)
    sambaTileNestReorder(nest, search->order, search->unroll);
  else
    fillNest(search, nest);
  countWork(search, 1);
  if (search->group->output.index_operand != SAMBA_NO_INDEX && !storesEvenParts(search))
    return;
  if (!sambaPlanMayFit(search->limits, boundOf(search), nest))
    return;
  SambaGroupChoice apart = {.nest = *nest};
  tryNest(search, &apart);

  /* PMUs with sums leave few for operands: two copies may share one, of either or of both. */
  for (uint32_t sides = 1; sides < 4 && search->carried; ++sides) {
    SambaGroupChoice paired = {.nest = *nest};
    bool several = true;
    for (uint32_t side = 0; side < 2; ++side) {
      uint32_t operand = search->group->mac[side];
      if (!(sides >> side & 1))
        continue;
      several &= sambaTileNestSources(nest, operand) > 1;
      paired.nest.joined[operand] = SAMBA_COPIES_PAIRED;
    }
    if (several)
      tryNest(search, &paired);
  }
}

/* Whether these copies along the dimensions come for the first time in this round: several ways
 * lead to the same ones, which cost what they cost before. */
static bool isNew(Search *search, const uint32_t *dims, uint32_t count) {
  uint32_t unroll[COPIED] = {0}, hash = 0;
  for (uint32_t i = 0; i < count; ++i) {
    unroll[i] = search->unroll[dims[i]];
    hash = (hash ^ unroll[i]) * 0x9e3779b1u;
  }
  Tried *tried = search->tried;
  for (uint32_t at = hash >> 16;; ++at) {
    at %= PLACES;
    if (tried->places[at].round != tried->round) {
      tried->places[at].round = tried->round;
      memcpy(tried->places[at].unroll, unroll, sizeof unroll);
      return true;
    }
    if (memcmp(tried->places[at].unroll, unroll, sizeof unroll) == 0)
      return false;
  }
}

static void tryCopies(Search *search, const uint32_t *dims, uint32_t count) {
  if (isNew(search, dims, count))
    tryChoice(search);
}

/* Copies for n tiles when each takes at least k of them. */
static uint32_t copiesFor(int64_t tiles, int64_t each) {
  int64_t copies = sambaCeilDiv(tiles, each < 1 ? 1 : each);
  return (uint32_t)sambaCeilDiv(tiles, sambaCeilDiv(tiles, copies));
}

/* Copies for which there are PCUs, as far as those behind arrays can be shared. */
static int64_t mostCopies(const Search *search) {
  const SambaGroup *group = search->group;
  const SambaGroupLimits *limits = search->limits;
  if (group->output.index_operand != SAMBA_NO_INDEX) /* a store and a load of indices each */
    return limits->ags / 4 > 1 ? limits->ags / 4 : 1;
  if (!group->pcus)
    return limits->pmus;
  if (group->handed == SAMBA_NO_INDEX)
    return limits->pcus / group->pcus;
  int64_t shared = search->machine->flows_per_lane;
  return limits->pcus * shared / (shared + group->pcus - 1);
}

static int64_t tilesOf(const Search *search, uint32_t dim) {
  return sambaCeilDiv(search->group->extents[dim], search->tile[dim]);
}

/* The most copies along a dimension beside those there are, evenly loaded. */
static uint32_t fullCopies(const Search *search, uint32_t dim, int64_t room) {
  int64_t tiles = tilesOf(search, dim);
  return copiesFor(tiles, sambaCeilDiv(tiles, room < tiles ? room : tiles));
}

/* Two dimensions leave more than half of the PCUs: copies along a third one, too. */
static void tryThird(Search *search, const uint32_t *dims, uint32_t count, uint32_t i, uint32_t j,
                     int64_t room) {
  for (uint32_t k = 0; k < count && room > 1; ++k) {
    if (k == i || k == j)
      continue;
    search->unroll[dims[k]] = fullCopies(search, dims[k], room);
    if (search->unroll[dims[k]] > 1)
      tryCopies(search, dims, count);
    search->unroll[dims[k]] = 1;
  }
}

enum { fewCopies = 5 };

/* Generators that are left for one operand in memory when the other ones and the result have one
 * each. */
static int64_t spareAgs(const Search *search) {
  int64_t others = search->limits->stored_output;
  for (uint32_t i = 0; i < search->group->operand_count; ++i)
    others += search->group->operands[i].value && !(search->limits->on_chip >> i & 1);
  return search->limits->ags - others + 1;
}

/* Copies of long runs: as many as there may be, and, where each point is loaded and used once, as
 * many as there are generators, a few of them for the rest. A group on arrays that has many tiles
 * and, in a pipeline, few units has them too. */
static uint32_t fewCandidates(const Search *search, uint32_t dim, int64_t most, uint32_t *out_few) {
  uint32_t count = 0;
  int64_t ags = search->limits->ags;
  int64_t spare = spareAgs(search);
  int64_t wanted[fewCopies] = {most, spare, spare - ags / 32, spare - ags / 16, spare - ags / 8};
  for (uint32_t k = 0; k < fewCopies && !search->group->systolic && most > 1; ++k)
    if (wanted[k] > 1)
      out_few[count++] = fullCopies(search, dim, wanted[k] < most ? wanted[k] : most);
  if (search->group->systolic && search->limits->pipeline.count && most > 1)
    out_few[count++] = fullCopies(search, dim, most);
  return count;
}

/* Whether no copies can make the tiles win that have just been tried without any: `most` of them,
 * none of which waits for anything, are too slow. */
static bool isHopeless(const Search *search, int64_t most) {
  const SambaTileNest *nest = &search->nest;
  double firings = (double)sambaTileNestTrips(nest, sambaTileNestLoops(nest));
  double least = sambaTileNestWorkCycles(nest) * firings / fmax((double)most, 1);
  return least * 0.999 >= boundOf(search); /* rounded otherwise than the price */
}

static void tryUnrolls(Search *search) {
  static const int64_t runs[] = {1, 2, 3, 4, 5, 6, 8, 12, 16, 24, 32, 64};
  const uint32_t run_count = sizeof runs / sizeof runs[0];
  const SambaGroup *group = search->group;

  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    search->unroll[dim] = 1;
  for (uint32_t i = 0; i < search->limits->pipeline.count; ++i)
    search->unroll[search->limits->pipeline.dim[i]] = search->limits->pipeline_copies[i];
  tryChoice(search);
  int64_t most = mostCopies(search);
  most = (most < search->limits->copies ? most : search->limits->copies) / search->limits->replicas;
  if (isHopeless(search, most))
    return;
  uint32_t dims[COPIED], count = 0; /* those with the most tiles */
  for (uint32_t dim = 0; dim < group->parallel_count; ++dim) {
    if (sambaLimitsLoop(search->limits, dim) != SAMBA_NO_INDEX || tilesOf(search, dim) < 2)
      continue;
    if (group->copy && !sambaGroupDepends(group, group->result, dim))
      continue;
    if (isStoredByIndex(search, dim))
      continue; /* one store takes all indices, so that the last of equal ones stays */
    if (count == COPIED && tilesOf(search, dim) <= tilesOf(search, dims[COPIED - 1]))
      continue;
    uint32_t at = count < COPIED ? count++ : COPIED - 1;
    for (; at && tilesOf(search, dims[at - 1]) < tilesOf(search, dim); --at)
      dims[at] = dims[at - 1];
    dims[at] = dim;
  }

  ++search->tried->round;
  for (uint32_t i = 0; i < count; ++i) {
    uint32_t few[fewCopies], few_count = fewCandidates(search, dims[i], most, few);
    for (uint32_t r = 0; r < run_count + few_count; ++r) {
      uint32_t u =
          r < run_count ? copiesFor(tilesOf(search, dims[i]), runs[r]) : few[r - run_count];
      if (u < 2 || u > most)
        continue;
      search->unroll[dims[i]] = u;
      tryCopies(search, dims, count);
      for (uint32_t j = 0; j < count; ++j) {
        int64_t room = most / u;
        int64_t tiles = tilesOf(search, dims[j]);
        if (j == i || room < 2)
          continue;
        uint32_t full = fullCopies(search, dims[j], room);
        search->unroll[dims[j]] = full;
        tryCopies(search, dims, count);
        tryThird(search, dims, count, i, j, room / full);
        if (full > 3) {
          search->unroll[dims[j]] = copiesFor(tiles, 2 * sambaCeilDiv(tiles, full));
          tryCopies(search, dims, count);
        }
        search->unroll[dims[j]] = 1;
      }
      search->unroll[dims[i]] = 1;
    }
  }
}

/* The dimensions of an order that have several tiles: the others decide nothing. */
static uint32_t steppedDims(const Search *search, const uint32_t *order, uint32_t *out_dims) {
  uint32_t count = 0;
  for (uint32_t position = 0; position < search->group->dim_count; ++position)
    if (tilesOf(search, order[position]) > 1)
      out_dims[count++] = order[position];
  return count;
}

/* Loop orders: as the dimensions stand, and with those of the second MAC operand first. */
static void tryOrders(Search *search) {
  const SambaGroup *group = search->group;
  uint32_t count = 0;

  for (uint32_t i = 0; i < search->limits->pipeline.count; ++i)
    search->order[count++] = search->limits->pipeline.dim[i];
  for (uint32_t dim = group->parallel_count; dim < group->dim_count && search->carried; ++dim)
    search->order[count++] = dim;
  uint32_t fixed = count;
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    if (sambaLimitsLoop(search->limits, dim) == SAMBA_NO_INDEX &&
        !(search->carried && group->reduced[dim]))
      search->order[count++] = dim;
  tryUnrolls(search);
  if (!group->systolic)
    return;
  uint32_t natural[SAMBA_MAX_STAGE_DIMS], other[SAMBA_MAX_STAGE_DIMS];
  uint32_t stepped = steppedDims(search, search->order, natural);
  count = fixed;
  for (int columns_first = 1; columns_first >= 0; --columns_first)
    for (uint32_t dim = 0; dim < group->parallel_count; ++dim) {
      bool column = sambaGroupDepends(group, group->mac[1], dim) &&
                    !sambaGroupDepends(group, group->mac[0], dim);
      if (sambaLimitsLoop(search->limits, dim) == SAMBA_NO_INDEX && column == (columns_first == 1))
        search->order[count++] = dim;
    }
  steppedDims(search, search->order, other);
  if (memcmp(natural, other, stepped * sizeof *natural) != 0)
    tryUnrolls(search);
}

/* Gives the dimensions of mask tiles whose product is about target points, innermost first,
 * even-sized. */
static int64_t fillTiles(Search *search, uint32_t mask, int64_t target, bool above) {
  int64_t product = 1;
  for (uint32_t dim = search->group->parallel_count; dim-- > 0;) {
    if (!(mask & 1u << dim))
      continue;
    int64_t extent = search->group->extents[dim];
    uint32_t loop = sambaLimitsLoop(search->limits, dim);
    if (loop != SAMBA_NO_INDEX) {
      product *= search->tile[dim] = search->limits->pipeline_tile[loop];
      continue;
    }
    int64_t wanted = above ? sambaCeilDiv(target, product) : target / product;
    wanted = sambaClampInteger(wanted, 1, extent);
    /* Even tiles, but not below a multiple of the array's or lanes' 16 that fits the target. */
    int64_t even = sambaCeilDiv(extent, sambaCeilDiv(extent, wanted));
    int64_t rows = search->machine->systolic_rows > 1 ? search->machine->systolic_rows
                                                      : search->machine->simd_lanes;
    search->tile[dim] = wanted % rows == 0 || wanted == extent ? wanted : even;
    product *= search->tile[dim];
  }

  return product;
}

/* Cuts the reduced dimensions to at most target points per firing, whole inner dimensions first;
 * returns the points. */
static int64_t chunkReduced(Search *search, int64_t target) {
  int64_t product = 1;
  bool cut = false;

  for (uint32_t dim = search->group->dim_count; dim-- > search->group->parallel_count;) {
    int64_t extent = search->group->extents[dim];
    int64_t tile = 1;
    /* The largest divisor that fits; lanes that reduce together want whole rows of lanes. */
    int64_t lanes = search->group->lane_reduce ? search->machine->simd_lanes : 1;
    for (int64_t t = 1; !cut && t * t <= extent; ++t)
      for (int side = 0; side < 2 && extent % t == 0; ++side) {
        int64_t divisor = side ? extent / t : t;
        if (product * divisor <= target && divisor > tile &&
            (divisor == extent || product * divisor % lanes == 0))
          tile = divisor;
      }
    search->tile[dim] = tile;
    cut |= tile != extent;
    product *= tile;
  }

  return product;
}

/* The parallel dimensions of a contraction by who walks them, as bits. */
typedef struct ArraySides {
  uint32_t rows, columns, batch;
} ArraySides;

static ArraySides arraySides(const SambaGroup *group) {
  ArraySides array = {0};
  for (uint32_t dim = 0; dim < group->parallel_count; ++dim) {
    bool first = sambaGroupDepends(group, group->mac[0], dim);
    bool second = sambaGroupDepends(group, group->mac[1], dim);
    if (first == second)
      array.batch |= 1u << dim;
    else if (first)
      array.rows |= 1u << dim;
    else
      array.columns |= 1u << dim;
  }
  return array;
}

/* Points of a part where the sums are to be cut; 0: as is best. */
static int64_t partOfSums(const Search *search) {
  uint32_t parts = search->limits->sum_parts;
  return parts > 1 ? sambaCeilDiv(sambaGroupSumPoints(search->group), parts) : 0;
}

static void searchSystolic(Search *search) {
  static const int64_t sides[] = {8, 16, 32, 64, 128, 256};
  static const int64_t wholeFirst[] = {INT64_MAX, 1024, 256, 64, 16};
  static const int64_t streamed[] = {INT64_MAX, 1024, 512, 256, 128};
  static const int64_t rounds[] = {4096, 2048, 1024, 512, 256, 128, 64, 16};
  const bool streams = search->limits->pipeline.count > 1;
  const int64_t *depths = streams ? streamed : wholeFirst;
  depths = search->carried ? rounds : depths;
  uint32_t depth_count =
      search->carried ? sizeof rounds / sizeof rounds[0] : sizeof wholeFirst / sizeof wholeFirst[0];
  const SambaGroup *group = search->group;
  const ArraySides array = arraySides(group);

  const int64_t part = partOfSums(search);
  depths = part ? &part : depths;
  depth_count = part ? 1 : depth_count;

  int64_t last_depth = -1;
  for (uint32_t d = 0; d < depth_count; ++d) {
    int64_t depth = chunkReduced(search, depths[d]);
    bool whole = true;
    for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
      whole &= search->tile[dim] == group->extents[dim];
    if (depth == last_depth || (whole && (search->carried || part)))
      continue;
    if (d && search->found && whole)
      continue;
    last_depth = depth;
    int64_t last_rows = -1;
    /* Where no whole sum fits, the accumulators limit the tile: half the array's width along one
     * side lets the other side hold more of what is read together. */
    uint32_t first = whole || search->found ? 2 : 0;
    for (uint32_t r = first; r < 2 * sizeof sides / sizeof sides[0]; ++r) {
      int64_t row_points = fillTiles(search, array.rows, sides[r / 2], r % 2);
      if (row_points == last_rows)
        continue;
      last_rows = row_points;
      int64_t last_columns = -1;
      for (uint32_t c = first; c < 2 * sizeof sides / sizeof sides[0]; ++c) {
        int64_t column_points = fillTiles(search, array.columns, sides[c / 2], c % 2);
        if (column_points == last_columns)
          continue;
        last_columns = column_points;
        int64_t macs = row_points * column_points * depth;
        for (uint32_t b = 0; b < 2; ++b) {
          int64_t batch_points =
              fillTiles(search, array.batch, b ? sambaCeilDiv(131072, macs) : 1, false);
          if (b && batch_points == 1)
            continue;
          if (!whole && !search->carried &&
              row_points * column_points * batch_points > search->machine->systolic_accumulators)
            continue;
          tryOrders(search);
        }
      }
    }

    if (search->found && d >= 1 && !search->carried && !streams)
      break; /* smaller chunks only cost more */
  }
}

/* Points of a tile of an indexed store at least, which is one for whole rows of the result: several
 * generators load so many rows together, as far as two of them fit a PMU. */
enum { storedRows = 16 };
static int64_t leastStored(const Search *search) {
  const SambaGroup *group = search->group;
  if (group->output.index_operand == SAMBA_NO_INDEX)
    return 0;
  int64_t row = 1, bytes = sambaDTypeBytes(search->graph->tensors[group->output.tensor].dtype);
  for (uint32_t dim = 0; dim < group->parallel_count; ++dim)
    if (!isStoredByIndex(search, dim))
      row *= group->extents[dim];
  return sambaClampInteger(search->machine->pmu_bytes / (2 * bytes * row), 1, storedRows) * row;
}

/* Parts of rows that are stored by index, a store for each: none moves the whole row, and all take
 * the indices in order. A part is as long as rows that need no staging buffer. */
static void tryParts(Search *search, int64_t points) {
  const SambaGroup *group = search->group;
  const uint32_t last = group->parallel_count - 1;
  const int64_t short_row = 4 * search->machine->dram_burst_bytes /
                            sambaDTypeBytes(search->graph->tensors[group->output.tensor].dtype);
  if (group->output.index_operand == SAMBA_NO_INDEX || group->output_stride[last] != 1 ||
      isStoredByIndex(search, last))
    return;
  const int64_t row = group->extents[last], most = mostCopies(search);
  for (int64_t parts = 2; parts <= most && parts * short_row <= row; ++parts) {
    if (row % parts)
      continue;
    search->tile[last] = row / parts;
    fillTiles(search, (1u << last) - 1, points / search->tile[last], false);
    tryOrders(search);
  }
}

static void searchSimd(Search *search) {
  static const int64_t points[] = {256, 1024, 4096, 16384, 65536};
  static const int64_t depths[] = {INT64_MAX, 4096, 512, 64, 1};
  const SambaGroup *group = search->group;
  uint32_t all = (1u << group->parallel_count) - 1;
  int64_t last_depth = -1;

  for (uint32_t d = 0; d < sizeof depths / sizeof depths[0]; ++d) {
    int64_t depth = chunkReduced(search, depths[d]);
    bool whole = true;
    for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim)
      whole &= search->tile[dim] == group->extents[dim];
    if (depth == last_depth ||
        (!whole && group->lane_reduce && depth % search->machine->simd_lanes))
      continue;
    last_depth = depth;
    int64_t last = -1, least = leastStored(search);
    for (uint32_t p = 0; p < sizeof points / sizeof points[0]; ++p) {
      int64_t wanted = sambaCeilDiv(points[p], depth < points[p] ? depth : points[p]);
      int64_t made = fillTiles(search, all, wanted > least ? wanted : least, false);
      if (made == last)
        continue;
      last = made;
      tryOrders(search);
      tryParts(search, made);
    }
    if (search->found && search->limits->pipeline.count < 2)
      break; /* chunked sums only where whole ones do not fit, or for short tokens */
  }
}

/* Bytes of a group's operands in memory and of its result: what must move at least. */
static double leastBytes(const Search *search) {
  const SambaGroup *group = search->group;
  double bytes = 0;

  for (uint32_t i = 0; i <= group->operand_count; ++i) {
    uint32_t index =
        i < group->operand_count ? group->operands[i].map.tensor : group->output.tensor;
    const SambaStageTensor *tensor = &search->graph->tensors[index];
    double own = sambaDTypeBytes(tensor->dtype);
    for (uint32_t axis = 0; axis < tensor->rank; ++axis)
      own *= (double)tensor->dims[axis];
    bytes += own;
  }
  return bytes;
}

/* Whether sums of the group may go through PMUs, as it is planned. */
static bool mayCarrySums(const Search *search) {
  const SambaGroupLimits *limits = search->limits;
  return search->group->systolic && !limits->pipeline.count && !limits->on_chip &&
         !limits->buffered_output && sambaGroupMayCarrySums(search->graph, search->group);
}

/* Where operands are read again for each round of tiles, sums that go through a PMU let all rounds
 * use what is loaded once: taken when that is about as fast. Returns whether it is. */
static bool searchCarried(Search *search) {
  double most = mostOfLeast * leastBytes(search);
  double memory = search->best->dram_bytes / sambaMachineDramBytesPerCycle(search->machine);
  if (search->best->elements_bytes <= most || !mayCarrySums(search))
    return false;

  SambaGroupChoice choice;
  Search carried = *search;
  carried.best = &choice;
  carried.found = false;
  carried.carried = true;
  carried.bound = search->best->score;
  if (memory > carriedShare * search->best->cycles)
    carried.bound *= carriedCost;
  carried.most_bytes = most;
  searchSystolic(&carried);
  if (carried.found)
    *search->best = choice;
  return carried.found;
}

/* Sums run while their slots come: what memory brings is taken in tokens of so many bytes at most,
 * so that a PMU passes it on part by part. */
enum { sumTokenBytes = 8192 };

/* Points of a sum that PCUs should take at once: as many as are in a token of the operand with the
 * longest tokens that memory brings slot by slot. */
static int64_t sumPoints(const Search *search, int64_t depth) {
  const SambaTileNest *nest = &search->best->nest;
  int64_t points = depth;
  for (uint32_t i = 0; i < search->group->operand_count; ++i) {
    int64_t bytes = nest->token_elements[i] * sambaDTypeBytes(sambaTileNestDType(nest, i));
    if (search->group->operands[i].value && !(search->limits->on_chip >> i & 1) &&
        nest->depth[i] > 1 && sambaPlanIsStepped(nest, i) && depth * sumTokenBytes / bytes < points)
      points = depth * sumTokenBytes / bytes;
  }
  return points;
}

/* Of an array: streams of several groups share lanes, which they pass token by token, and longer
 * tokens let others wait longer than FIFOs even out. */
enum { arraySumPoints = 512 };

/* Cuts the sums of a pipeline: of SIMD where a slot is one token that is taken when all of it is
 * there, of arrays where their tokens are long. */
static void cutSums(Search *search) {
  const SambaGroup *group = search->group;
  SambaTileNest *nest = &search->best->nest;
  int64_t depth = 1;
  memcpy(search->tile, nest->tile, sizeof search->tile);
  for (uint32_t dim = group->parallel_count; dim < group->dim_count; ++dim) {
    depth *= nest->tile[dim];
    if (nest->tile[dim] != group->extents[dim] && !group->systolic)
      return;
  }

  int64_t wanted = group->systolic && depth > arraySumPoints ? arraySumPoints : depth;
  if (!group->systolic)
    wanted = sumPoints(search, depth);
  if (group->lane_reduce || wanted == depth || 2 * chunkReduced(search, wanted) < wanted)
    return;
  SambaTileNest cut;
  sambaTileNestFill(search->graph, group, search->machine, nest->pipeline_count, nest->dim_at,
                    search->tile, nest->unroll, &cut);
  memcpy(cut.sliced, nest->sliced, sizeof cut.sliced);
  memcpy(cut.level, nest->level, sizeof cut.level);
  memcpy(cut.depth, nest->depth, sizeof cut.depth);
  memcpy(cut.joined, nest->joined, sizeof cut.joined);
  sambaTileNestSettleTokens(&cut);
  sambaTileNestSettle(&cut);
  *nest = cut;
}

bool sambaPlanSearch(const SambaStageGraph *graph, const SambaGroup *group,
                     const SambaMachine *machine, const SambaGroupLimits *limits,
                     SambaGroupChoice *out_choice) {
  Tried tried = {0};
  Search search = {.graph = graph,
                   .group = group,
                   .machine = machine,
                   .limits = limits,
                   .best = out_choice,
                   .tried = &tried,
                   .bound = INFINITY,
                   .most_bytes = INFINITY,
                   .carried = limits->carries_sums};
  if (search.carried && !mayCarrySums(&search))
    return false;
  if (group->systolic)
    searchSystolic(&search);
  else
    searchSimd(&search);
  if (search.found)
    sambaPlanJoinLoads(limits, out_choice);
  if (search.found)
    sambaPlanStreamLoads(limits, out_choice);
  if (search.found && group->systolic && !limits->sum_parts && !search.carried &&
      searchCarried(&search))
    sambaPlanJoinLoads(limits, out_choice);
  if (search.found && limits->pipeline.count && !search.carried)
    cutSums(&search);
  return search.found;
}
