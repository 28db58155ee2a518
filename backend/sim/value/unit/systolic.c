/* Systolic firings; see systolic.h. Row operands are read in place; columns are read in place when
 * they are contiguous and fill whole vectors, else packed into panels, once per block. */
#include "backend/sim/value/unit/systolic.h"

#include "backend/section/access.h"

#include <stdlib.h>
#include <string.h>

/* One class of counters as a list of offsets for both operands. */
typedef struct Axis {
  uint64_t count;
  int64_t *offsets[2];
} Axis;

/* Tables of offsets stay small. Larger firings run as SIMD kernels, which give the same bits. */
static const uint64_t maxAxis = UINT64_C(1) << 22;

static uint64_t axisCount(const SambaUnit *unit, uint64_t mask) {
  uint64_t count = 1;
  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c)
    if (mask >> c & 1)
      count *= unit->compute.trips[c];
  return count;
}

static Axis makeAxis(SambaArena *arena, const SambaUnit *unit, uint64_t mask,
                     const int64_t *const strides[2]) {
  Axis axis = {.count = axisCount(unit, mask)};
  axis.offsets[0] = SAMBA_ARENA_ARRAY(arena, int64_t, axis.count);
  axis.offsets[1] = SAMBA_ARENA_ARRAY(arena, int64_t, axis.count);
  uint32_t counters[SAMBA_MAX_COUNTERS] = {0};

  for (uint64_t i = 0; i < axis.count; ++i) {
    for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c)
      for (int o = 0; o < 2; ++o)
        axis.offsets[o][i] += (mask >> c & 1) ? strides[o][c] * counters[c] : 0;
    for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level;) {
      if (!(mask >> c & 1))
        continue;
      if (++counters[c] < unit->compute.trips[c])
        break;
      counters[c] = 0;
    }
  }

  return axis;
}

static bool isContiguous(const int64_t *offsets, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    if (offsets[i] != (int64_t)i)
      return false;
  return true;
}

enum { shortRun = 16 };

/* Offsets of the row operand step by step: what a kernel follows when runs are too short
 * to set up. */
static void makeRowTable(SambaArena *arena, SambaSystolic *systolic, const int64_t *offsets) {
  if (systolic->inner_count >= shortRun || systolic->outer_count == 1)
    return;
  for (uint64_t k = 0; k < systolic->depth; ++k)
    if (offsets[k] < INT32_MIN || offsets[k] > INT32_MAX)
      return;
  systolic->row_table = SAMBA_ARENA_ARRAY(arena, int32_t, systolic->depth);
  for (uint64_t k = 0; k < systolic->depth; ++k)
    systolic->row_table[k] = (int32_t)offsets[k];
}

/* The longest run with one step per operand of which k is a whole number. b may be NULL. */
static uint64_t runLength(const int64_t *a, const int64_t *b, uint64_t count) {
  uint64_t length = 1;
  while (length < count && (length == 1 || (a[length] - a[length - 1] == a[1] - a[0] &&
                                            (!b || b[length] - b[length - 1] == b[1] - b[0]))))
    ++length;
  while (count % length)
    --length;
  for (uint64_t i = 0; i < count && length > 1; ++i) /* every run as the first */
    if (i % length && (a[i] - a[i - 1] != a[1] - a[0] || (b && b[i] - b[i - 1] != b[1] - b[0])))
      length = 1;
  return length;
}

static void findRuns(SambaArena *arena, SambaSystolic *systolic, const Axis *k, int row,
                     int column) {
  const int64_t *a = k->offsets[row];
  const int64_t *b = k->offsets[column];

  systolic->row_step = k->count > 1 ? a[1] - a[0] : 0;
  systolic->column_step = k->count > 1 ? b[1] - b[0] : 0;
  systolic->inner_count = (int64_t)runLength(a, b, k->count);
  systolic->outer_count = (int64_t)k->count / systolic->inner_count;
  systolic->depth = k->count;
  systolic->outer_rows = SAMBA_ARENA_ARRAY(arena, int64_t, systolic->outer_count);
  systolic->outer_columns = SAMBA_ARENA_ARRAY(arena, int64_t, systolic->outer_count);

  for (int64_t o = 0; o < systolic->outer_count; ++o) {
    systolic->outer_rows[o] = a[o * systolic->inner_count];
    systolic->outer_columns[o] = b[o * systolic->inner_count];
  }

  makeRowTable(arena, systolic, a);
  systolic->pack_inner = (int64_t)runLength(b, NULL, k->count);
  systolic->pack_outer = (int64_t)k->count / systolic->pack_inner;
  systolic->pack_step = systolic->column_step;
  systolic->pack_offsets = SAMBA_ARENA_ARRAY(arena, int64_t, systolic->pack_outer);
  for (int64_t o = 0; o < systolic->pack_outer; ++o)
    systolic->pack_offsets[o] = b[o * systolic->pack_inner];
}

static double sideCost(uint64_t count, uint64_t other, bool contiguous, uint32_t sharers) {
  double vectors = (double)((count + 15) / 16 * 16) / (double)count;
  return vectors + (contiguous ? 0 : 20.0 / (double)other / (double)sharers);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
}

/* Two units that pack a block in the same way share the result. */
static uint64_t hashPacking(const SambaSystolic *systolic) {
  uint64_t hash = mix(mix(mix(systolic->columns, systolic->depth), (uint64_t)systolic->pack_inner),
                      (uint64_t)systolic->pack_step);
  hash = mix(hash, systolic->kernels->columns);
  for (uint64_t i = 0; i < systolic->columns; ++i)
    hash = mix(hash, (uint64_t)systolic->column_offsets[i]);
  for (int64_t o = 0; o < systolic->pack_outer; ++o)
    hash = mix(hash, (uint64_t)systolic->pack_offsets[o]);
  return hash;
}

/* The counters of a firing, as masks: which it sums over, which both operands or neither follow,
 * and which one operand alone follows. */
typedef struct CounterClasses {
  uint64_t reduced, batch, own[2];
} CounterClasses;

static CounterClasses classifyCounters(const SambaUnit *unit, const int64_t *const strides[2]) {
  CounterClasses classes = {0};
  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c) {
    uint64_t bit = UINT64_C(1) << c;
    if (unit->compute.program.reduce_mask & bit)
      classes.reduced |= bit;
    else if ((strides[0][c] != 0) == (strides[1][c] != 0))
      classes.batch |= bit;
    else
      classes.own[strides[1][c] != 0] |= bit;
  }
  return classes;
}

/* Decides which operand is the vector side; returns its index. */
static int chooseColumns(SambaArena *arena, SambaSystolic *systolic, const SambaUnit *unit,
                         const CounterClasses *classes, const int64_t *const strides[2],
                         const uint32_t sharers[2]) {
  Axis axes[2];
  bool contiguous[2];
  for (int o = 0; o < 2; ++o) {
    axes[o] = makeAxis(arena, unit, classes->own[o], strides);
    contiguous[o] = isContiguous(axes[o].offsets[o], axes[o].count);
  }

  systolic->swapped = sideCost(axes[0].count, axes[1].count, contiguous[0], sharers[0]) <
                      sideCost(axes[1].count, axes[0].count, contiguous[1], sharers[1]);
  const int column = systolic->swapped ? 0 : 1;
  const int row = 1 - column;
  systolic->rows = axes[row].count;
  systolic->columns = axes[column].count;
  systolic->row_offsets = axes[row].offsets[row];
  systolic->column_offsets = axes[column].offsets[column];
  systolic->columns_contiguous = contiguous[column];
  return column;
}

static void setBatches(SambaArena *arena, SambaSystolic *systolic, const SambaUnit *unit,
                       uint64_t mask, const int64_t *const strides[2], int column) {
  Axis axis = makeAxis(arena, unit, mask, strides);
  systolic->batches = axis.count;
  systolic->batch_rows = axis.offsets[1 - column];
  systolic->batch_columns = axis.offsets[column];
  systolic->shared_columns = true;
  for (uint64_t i = 0; i < axis.count; ++i)
    systolic->shared_columns &= systolic->batch_columns[i] == 0;
}

/* Accumulators lie by batch, rows, columns, each in chain order. */
static void layOutAccumulators(const SambaSystolic *systolic, const SambaUnit *unit,
                               const CounterClasses *classes, int column, int64_t *out_strides) {
  int64_t stride[3] = {1, (int64_t)systolic->columns,
                       (int64_t)(systolic->columns * systolic->rows)};
  const uint64_t masks[3] = {classes->own[column], classes->own[1 - column], classes->batch};
  for (int m = 0; m < 3; ++m)
    for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level;)
      if (masks[m] >> c & 1) {
        out_strides[c] = stride[m];
        stride[m] *= unit->compute.trips[c];
      }
}

/* A packed panel has all of k, run by run. */
static void layOutPanels(SambaArena *arena, SambaSystolic *systolic) {
  systolic->packed_outer = SAMBA_ARENA_ARRAY(arena, int64_t, systolic->outer_count * 2);
  for (int64_t o = 0; o < systolic->outer_count; ++o) {
    int64_t before = o * systolic->inner_count;
    systolic->packed_outer[o] = before * systolic->kernels->columns;
    systolic->packed_outer[systolic->outer_count + o] = before * systolic->kernels->narrow_columns;
  }
}

SambaSystolic *sambaSystolicCreate(SambaArena *arena, const SambaUnit *unit, const SambaLaneOp *mac,
                                   const char *cpu, const int64_t *const strides[2],
                                   const uint32_t sharers[2], int64_t *out_strides) {
  SambaSystolic *systolic = SAMBA_ARENA_NEW(arena, SambaSystolic);
  systolic->kernels =
      sambaDTypeIsFloat(mac->type) ? sambaTileKernelsFind(cpu) : sambaTileKernelsInteger();
  systolic->element_bytes = 4;

  CounterClasses classes = classifyCounters(unit, strides);
  const uint64_t all[4] = {classes.reduced, classes.batch, classes.own[0], classes.own[1]};
  for (int i = 0; i < 4; ++i)
    if (axisCount(unit, all[i]) > maxAxis)
      return NULL;

  int column = chooseColumns(arena, systolic, unit, &classes, strides, sharers);
  Axis depth = makeAxis(arena, unit, classes.reduced, strides);
  findRuns(arena, systolic, &depth, 1 - column, column);
  setBatches(arena, systolic, unit, classes.batch, strides, column);
  layOutAccumulators(systolic, unit, &classes, column, out_strides);
  layOutPanels(arena, systolic);
  systolic->key = hashPacking(systolic);
  return systolic;
}

uint64_t sambaSystolicPoints(const SambaSystolic *systolic) {
  return systolic->batches * systolic->rows * systolic->columns;
}

/* Four columns of four steps become four steps of four columns. */
typedef uint32_t Four __attribute__((vector_size(16)));

static void transposeFour(const uint32_t *const columns[4], uint32_t *to, uint32_t width) {
  Four a, b, c, d;
  memcpy(&a, columns[0], 16);
  memcpy(&b, columns[1], 16);
  memcpy(&c, columns[2], 16);
  memcpy(&d, columns[3], 16);
  Four ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  Four ab1 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  Four cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  Four cd1 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  Four rows[4] = {
      __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5), __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7),
      __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5), __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7)};
  for (int k = 0; k < 4; ++k)
    memcpy(to + (uint64_t)k * width, &rows[k], 16);
}

/* Columns [begin, begin + live) of a run of k with step 1, four by four. */
static void transposeRun(const SambaSystolic *systolic, const uint32_t *from, uint64_t begin,
                         uint64_t live, uint32_t width, uint32_t *run) {
  const int64_t whole = systolic->pack_inner / 4 * 4;
  uint64_t n = 0;

  for (; n + 4 <= live; n += 4) {
    const uint32_t *columns[4];
    for (int i = 0; i < 4; ++i)
      columns[i] = from + systolic->column_offsets[begin + n + (uint64_t)i];
    for (int64_t k = 0; k < whole; k += 4) {
      transposeFour(columns, run + k * width + n, width);
      for (int i = 0; i < 4; ++i)
        columns[i] += 4;
    }
    for (int64_t k = whole; k < systolic->pack_inner; ++k)
      for (int i = 0; i < 4; ++i)
        run[k * width + (int64_t)n + i] = columns[i][k - whole];
  }

  for (; n < live; ++n)
    for (int64_t k = 0; k < systolic->pack_inner; ++k)
      run[k * width + (int64_t)n] = from[systolic->column_offsets[begin + n] + k];
}

/* Columns [begin, begin + width) for all k, zero beyond the last one. */
static void packPanel(const SambaSystolic *systolic, const uint32_t *columns, uint64_t begin,
                      uint32_t width, uint32_t *panel) {
  uint64_t live = systolic->columns - begin < width ? systolic->columns - begin : width;
  if (live < width)
    memset(panel, 0, (size_t)systolic->depth * width * 4);

  for (int64_t o = 0; o < systolic->pack_outer; ++o) {
    uint32_t *run = panel + o * systolic->pack_inner * width;
    const uint32_t *from = columns + systolic->pack_offsets[o];
    if (systolic->columns_contiguous) {
      for (int64_t k = 0; k < systolic->pack_inner; ++k)
        memcpy(run + k * width, from + k * systolic->pack_step + (int64_t)begin, live * 4);
    } else if (systolic->pack_step == 1) {
      transposeRun(systolic, from, begin, live, width, run);
    } else {
      for (int64_t k = 0; k < systolic->pack_inner; ++k)
        for (uint64_t n = 0; n < live; ++n)
          run[k * width + (int64_t)n] =
              from[systolic->column_offsets[begin + n] + k * systolic->pack_step];
    }
  }
}

static bool isWide(const SambaSystolic *systolic, uint64_t begin) {
  return systolic->columns - begin > systolic->kernels->narrow_columns;
}

static uint32_t panelWidth(const SambaSystolic *systolic, uint64_t begin) {
  return isWide(systolic, begin) ? systolic->kernels->columns : systolic->kernels->narrow_columns;
}

static uint64_t packedColumns(const SambaSystolic *systolic) {
  uint64_t total = 0;
  for (uint64_t begin = 0; begin < systolic->columns; begin += panelWidth(systolic, begin))
    total += panelWidth(systolic, begin);
  return total;
}

static SambaBlock *packColumns(const SambaSystolic *systolic, SambaPool *pool,
                               const uint32_t *columns) {
  SambaBlock *block = sambaBlockCreate(pool, packedColumns(systolic) * systolic->depth * 4);
  uint32_t *panel = (uint32_t *)(void *)block->data;
  for (uint64_t begin = 0; begin < systolic->columns;) {
    uint32_t width = panelWidth(systolic, begin);
    packPanel(systolic, columns, begin, width, panel);
    panel += (uint64_t)width * systolic->depth;
    begin += width;
  }
  return block;
}

/* All rows against one panel of columns. */
static void runPanel(const SambaSystolic *systolic, SambaTile *tile, const uint32_t *rows,
                     uint32_t *c, bool wide, uint64_t live) {
  const SambaTileFunction *functions = wide ? systolic->kernels->wide : systolic->kernels->narrow;
  const uint32_t width = wide ? systolic->kernels->columns : systolic->kernels->narrow_columns;
  uint32_t edge[SAMBA_TILE_MAX_ROWS * SAMBA_TILE_MAX_COLUMNS] = {0};

  for (uint64_t row = 0; row < systolic->rows;) {
    uint32_t count = systolic->kernels->max_rows;
    while (count > systolic->rows - row || !functions[count])
      --count;
    for (uint32_t i = 0; i < count; ++i)
      tile->a[i] = rows + systolic->row_offsets[row + i];
    uint32_t *target = c + row * systolic->columns;
    if (live == width) {
      tile->c = target;
      tile->c_pitch = (int64_t)systolic->columns;
      functions[count](tile);
    } else { /* the last panel'systolic columns end before the vectors do */
      for (uint32_t i = 0; i < count && !tile->first; ++i)
        memcpy(edge + i * width, target + i * systolic->columns, live * 4);
      tile->c = edge;
      tile->c_pitch = width;
      functions[count](tile);
      for (uint32_t i = 0; i < count; ++i)
        memcpy(target + i * systolic->columns, edge + i * width, live * 4);
    }
    row += count;
  }
}

static uint64_t packKey(const SambaSystolic *systolic, int64_t offset) {
  return systolic->key * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)offset;
}

/* The packed columns of a token: cached on its block when every batch shares them; the caller
 * releases it. */
static SambaBlock *packedOf(const SambaSystolic *systolic, SambaPool *pool, SambaBlock *block,
                            int64_t offset, const uint32_t *columns, bool cache) {
  SambaBlock *packed = cache ? atomic_load_explicit(&block->packed, memory_order_acquire) : NULL;
  if (packed && packed->packed_key == packKey(systolic, offset))
    return sambaBlockRetain(packed);
  SambaBlock *fresh = packColumns(systolic, pool, columns);
  fresh->packed_key = packKey(systolic, offset);
  SambaBlock *none = NULL;
  if (cache && !packed) {
    sambaBlockRetain(fresh);
    if (!atomic_compare_exchange_strong(&block->packed, &none, fresh))
      sambaBlockRelease(pool, fresh);
  }
  return fresh;
}

void sambaSystolicRun(const SambaSystolic *systolic, SambaPool *pool, const SambaToken operands[2],
                      void *accumulators, bool first) {
  const int column = systolic->swapped ? 0 : 1;
  const uint32_t *rows = (const uint32_t *)(const void *)operands[1 - column].block->data +
                         operands[1 - column].offset;
  const uint32_t *columns =
      (const uint32_t *)(const void *)operands[column].block->data + operands[column].offset;
  SambaBlock *packed = NULL;
  const bool whole = systolic->columns_contiguous &&
                     systolic->columns % systolic->kernels->narrow_columns == 0 &&
                     !systolic->row_table;

  for (uint64_t batch = 0; batch < systolic->batches; ++batch) {
    const uint32_t *here = columns + systolic->batch_columns[batch];
    if (!whole && (!packed || !systolic->shared_columns)) {
      sambaBlockRelease(pool, packed);
      packed = packedOf(systolic, pool, operands[column].block, operands[column].offset, here,
                        systolic->shared_columns);
    }
    uint32_t *panel = packed ? (uint32_t *)(void *)packed->data : NULL;
    for (uint64_t begin = 0; begin < systolic->columns;) {
      bool wide = isWide(systolic, begin);
      uint32_t width = panelWidth(systolic, begin);
      SambaTile tile = {.a_outer = systolic->outer_rows,
                        .outer_count = systolic->outer_count,
                        .inner_count = systolic->inner_count,
                        .a_step = systolic->row_step,
                        .first = first};
      tile.a_table = panel ? systolic->row_table : NULL;
      tile.depth = (int64_t)systolic->depth;
      tile.b = panel ? panel : here + begin;
      const int64_t *packed_outer = systolic->packed_outer + (wide ? 0 : systolic->outer_count);
      tile.b_outer = panel ? packed_outer : systolic->outer_columns;
      tile.b_step = panel ? width : systolic->column_step;
      uint64_t live = systolic->columns - begin < width ? systolic->columns - begin : width;
      runPanel(systolic, &tile, rows + systolic->batch_rows[batch],
               (uint32_t *)accumulators + batch * systolic->rows * systolic->columns + begin, wide,
               live);
      panel = panel ? panel + (uint64_t)width * systolic->depth : NULL;
      begin += width;
    }
  }

  sambaBlockRelease(pool, packed);
}
