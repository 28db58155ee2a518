/* Systolic firings; see systolic.h. Row operands are read in place; columns are read in place when
 * they are contiguous and fill whole vectors, else packed into panels, once per block. */
#include "backend/sim/value/network/systolic.h"

#include <stdlib.h>
#include <string.h>

/* One class of counters as a list of offsets for both operands. */
typedef struct Axis {
  uint64_t count;
  int64_t *offsets[2];
} Axis;

/* Tables of offsets stay small; beyond, the SIMD way has the same bits. */
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
static void makeRowTable(SambaArena *arena, SambaSystolic *s, const int64_t *offsets) {
  if (s->inner_count >= shortRun || s->outer_count == 1)
    return;
  for (uint64_t k = 0; k < s->depth; ++k)
    if (offsets[k] < INT32_MIN || offsets[k] > INT32_MAX)
      return;
  s->row_table = SAMBA_ARENA_ARRAY(arena, int32_t, s->depth);
  for (uint64_t k = 0; k < s->depth; ++k)
    s->row_table[k] = (int32_t)offsets[k];
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

static void findRuns(SambaArena *arena, SambaSystolic *s, const Axis *k, int row, int column) {
  const int64_t *a = k->offsets[row];
  const int64_t *b = k->offsets[column];

  s->row_step = k->count > 1 ? a[1] - a[0] : 0;
  s->column_step = k->count > 1 ? b[1] - b[0] : 0;
  s->inner_count = (int64_t)runLength(a, b, k->count);
  s->outer_count = (int64_t)k->count / s->inner_count;
  s->depth = k->count;
  s->outer_rows = SAMBA_ARENA_ARRAY(arena, int64_t, s->outer_count);
  s->outer_columns = SAMBA_ARENA_ARRAY(arena, int64_t, s->outer_count);

  for (int64_t o = 0; o < s->outer_count; ++o) {
    s->outer_rows[o] = a[o * s->inner_count];
    s->outer_columns[o] = b[o * s->inner_count];
  }

  makeRowTable(arena, s, a);
  s->pack_inner = (int64_t)runLength(b, NULL, k->count);
  s->pack_outer = (int64_t)k->count / s->pack_inner;
  s->pack_step = s->column_step;
  s->pack_offsets = SAMBA_ARENA_ARRAY(arena, int64_t, s->pack_outer);
  for (int64_t o = 0; o < s->pack_outer; ++o)
    s->pack_offsets[o] = b[o * s->pack_inner];
}

static double sideCost(uint64_t count, uint64_t other, bool contiguous) {
  double vectors = (double)((count + 15) / 16 * 16) / (double)count;
  return vectors + (contiguous ? 0 : 20.0 / (double)other);
}

static uint64_t mix(uint64_t hash, uint64_t value) {
  return (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15) ^ hash >> 29;
}

/* Two units that pack a block in the same way share the result. */
static uint64_t hashPacking(const SambaSystolic *s) {
  uint64_t hash =
      mix(mix(mix(s->columns, s->depth), (uint64_t)s->pack_inner), (uint64_t)s->pack_step);
  hash = mix(hash, s->kernels->columns);
  for (uint64_t i = 0; i < s->columns; ++i)
    hash = mix(hash, (uint64_t)s->column_offsets[i]);
  for (int64_t o = 0; o < s->pack_outer; ++o)
    hash = mix(hash, (uint64_t)s->pack_offsets[o]);
  return hash;
}

SambaSystolic *sambaSystolicCreate(SambaArena *arena, const SambaUnit *unit, const SambaLaneOp *mac,
                                   const char *cpu, const int64_t *const strides[2],
                                   int64_t *out_strides) {
  SambaSystolic *s = SAMBA_ARENA_NEW(arena, SambaSystolic);
  s->kernels = sambaDTypeIsFloat(mac->type) ? sambaTileKernelsFind(cpu) : sambaTileKernelsInteger();
  s->element_bytes = 4;
  uint64_t reduced = 0;
  uint64_t own[2] = {0, 0};
  uint64_t batch = 0;

  for (uint32_t c = unit->compute.token_level; c < unit->compute.counter_count; ++c) {
    uint64_t bit = UINT64_C(1) << c;
    if (unit->compute.program.reduce_mask & bit)
      reduced |= bit;
    else if ((strides[0][c] != 0) == (strides[1][c] != 0))
      batch |= bit;
    else
      own[strides[1][c] != 0] |= bit;
  }

  const uint64_t all[4] = {reduced, batch, own[0], own[1]};
  for (int i = 0; i < 4; ++i)
    if (axisCount(unit, all[i]) > maxAxis)
      return NULL;
  Axis axes[2] = {makeAxis(arena, unit, own[0], strides), makeAxis(arena, unit, own[1], strides)};
  bool contiguous[2];
  for (int o = 0; o < 2; ++o)
    contiguous[o] = isContiguous(axes[o].offsets[o], axes[o].count);
  s->swapped = sideCost(axes[0].count, axes[1].count, contiguous[0]) <
               sideCost(axes[1].count, axes[0].count, contiguous[1]);
  const int column = s->swapped ? 0 : 1;
  const int row = 1 - column;
  s->rows = axes[row].count;
  s->columns = axes[column].count;
  s->row_offsets = axes[row].offsets[row];
  s->column_offsets = axes[column].offsets[column];
  s->columns_contiguous = contiguous[column];
  Axis k = makeAxis(arena, unit, reduced, strides);
  Axis b = makeAxis(arena, unit, batch, strides);
  findRuns(arena, s, &k, row, column);
  s->batches = b.count;
  s->batch_rows = b.offsets[row];
  s->batch_columns = b.offsets[column];
  s->shared_columns = true;
  for (uint64_t i = 0; i < b.count; ++i)
    s->shared_columns &= s->batch_columns[i] == 0;

  /* Accumulators: batch, rows, columns, each in chain order. */
  int64_t stride[3] = {1, (int64_t)s->columns, (int64_t)(s->columns * s->rows)};
  const uint64_t masks[3] = {own[column], own[row], batch};
  for (int m = 0; m < 3; ++m)
    for (uint32_t c = unit->compute.counter_count; c-- > unit->compute.token_level;)
      if (masks[m] >> c & 1) {
        out_strides[c] = stride[m];
        stride[m] *= unit->compute.trips[c];
      }

  /* A packed panel has all of k, run by run. */
  s->packed_outer = SAMBA_ARENA_ARRAY(arena, int64_t, s->outer_count * 2);
  for (int64_t o = 0; o < s->outer_count; ++o) {
    s->packed_outer[o] = o * s->inner_count * s->kernels->columns;
    s->packed_outer[s->outer_count + o] = o * s->inner_count * s->kernels->narrow_columns;
  }

  s->key = hashPacking(s);
  return s;
}

uint64_t sambaSystolicPoints(const SambaSystolic *s) { return s->batches * s->rows * s->columns; }

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
static void transposeRun(const SambaSystolic *s, const uint32_t *from, uint64_t begin,
                         uint64_t live, uint32_t width, uint32_t *run) {
  const int64_t whole = s->pack_inner / 4 * 4;
  uint64_t n = 0;

  for (; n + 4 <= live; n += 4) {
    const uint32_t *columns[4];
    for (int i = 0; i < 4; ++i)
      columns[i] = from + s->column_offsets[begin + n + (uint64_t)i];
    for (int64_t k = 0; k < whole; k += 4) {
      transposeFour(columns, run + k * width + n, width);
      for (int i = 0; i < 4; ++i)
        columns[i] += 4;
    }
    for (int64_t k = whole; k < s->pack_inner; ++k)
      for (int i = 0; i < 4; ++i)
        run[k * width + (int64_t)n + i] = columns[i][k - whole];
  }

  for (; n < live; ++n)
    for (int64_t k = 0; k < s->pack_inner; ++k)
      run[k * width + (int64_t)n] = from[s->column_offsets[begin + n] + k];
}

/* Columns [begin, begin + width) for all k, zero beyond the last one. */
static void packPanel(const SambaSystolic *s, const uint32_t *columns, uint64_t begin,
                      uint32_t width, uint32_t *panel) {
  uint64_t live = s->columns - begin < width ? s->columns - begin : width;
  if (live < width)
    memset(panel, 0, (size_t)s->depth * width * 4);

  for (int64_t o = 0; o < s->pack_outer; ++o) {
    uint32_t *run = panel + o * s->pack_inner * width;
    const uint32_t *from = columns + s->pack_offsets[o];
    if (s->columns_contiguous) {
      for (int64_t k = 0; k < s->pack_inner; ++k)
        memcpy(run + k * width, from + k * s->pack_step + (int64_t)begin, live * 4);
    } else if (s->pack_step == 1) {
      transposeRun(s, from, begin, live, width, run);
    } else {
      for (int64_t k = 0; k < s->pack_inner; ++k)
        for (uint64_t n = 0; n < live; ++n)
          run[k * width + (int64_t)n] = from[s->column_offsets[begin + n] + k * s->pack_step];
    }
  }
}

static bool isWide(const SambaSystolic *s, uint64_t begin) {
  return s->columns - begin > s->kernels->narrow_columns;
}

static uint32_t panelWidth(const SambaSystolic *s, uint64_t begin) {
  return isWide(s, begin) ? s->kernels->columns : s->kernels->narrow_columns;
}

static uint64_t packedColumns(const SambaSystolic *s) {
  uint64_t total = 0;
  for (uint64_t begin = 0; begin < s->columns; begin += panelWidth(s, begin))
    total += panelWidth(s, begin);
  return total;
}

static SambaBlock *packColumns(const SambaSystolic *s, SambaPool *pool, const uint32_t *columns) {
  SambaBlock *block = sambaBlockCreate(pool, packedColumns(s) * s->depth * 4);
  uint32_t *panel = (uint32_t *)(void *)block->data;
  for (uint64_t begin = 0; begin < s->columns;) {
    uint32_t width = panelWidth(s, begin);
    packPanel(s, columns, begin, width, panel);
    panel += (uint64_t)width * s->depth;
    begin += width;
  }
  return block;
}

/* All rows against one panel of columns. */
static void runPanel(const SambaSystolic *s, SambaTile *tile, const uint32_t *rows, uint32_t *c,
                     bool wide, uint64_t live) {
  const SambaTileFunction *functions = wide ? s->kernels->wide : s->kernels->narrow;
  const uint32_t width = wide ? s->kernels->columns : s->kernels->narrow_columns;
  uint32_t edge[SAMBA_TILE_MAX_ROWS * SAMBA_TILE_MAX_COLUMNS] = {0};

  for (uint64_t row = 0; row < s->rows;) {
    uint32_t count = s->kernels->max_rows;
    while (count > s->rows - row || !functions[count])
      --count;
    for (uint32_t i = 0; i < count; ++i)
      tile->a[i] = rows + s->row_offsets[row + i];
    uint32_t *target = c + row * s->columns;
    if (live == width) {
      tile->c = target;
      tile->c_pitch = (int64_t)s->columns;
      functions[count](tile);
    } else { /* the last panel's columns end before the vectors do */
      for (uint32_t i = 0; i < count && !tile->first; ++i)
        memcpy(edge + i * width, target + i * s->columns, live * 4);
      tile->c = edge;
      tile->c_pitch = width;
      functions[count](tile);
      for (uint32_t i = 0; i < count; ++i)
        memcpy(target + i * s->columns, edge + i * width, live * 4);
    }
    row += count;
  }
}

static uint64_t packKey(const SambaSystolic *s, int64_t offset) {
  return s->key * UINT64_C(0x9E3779B97F4A7C15) + (uint64_t)offset;
}

/* The packed columns of a token: cached on its block when every batch shares them; the caller
 * releases it. */
static SambaBlock *packedOf(const SambaSystolic *s, SambaPool *pool, SambaBlock *block,
                            int64_t offset, const uint32_t *columns, bool cache) {
  SambaBlock *packed = cache ? atomic_load_explicit(&block->packed, memory_order_acquire) : NULL;
  if (packed && packed->packed_key == packKey(s, offset))
    return sambaBlockRetain(packed);
  SambaBlock *fresh = packColumns(s, pool, columns);
  fresh->packed_key = packKey(s, offset);
  SambaBlock *none = NULL;
  if (cache && !packed) {
    sambaBlockRetain(fresh);
    if (!atomic_compare_exchange_strong(&block->packed, &none, fresh))
      sambaBlockRelease(pool, fresh);
  }
  return fresh;
}

void sambaSystolicRun(const SambaSystolic *s, SambaPool *pool, const SambaToken operands[2],
                      void *accumulators, bool first) {
  const int column = s->swapped ? 0 : 1;
  const uint32_t *rows = (const uint32_t *)(const void *)operands[1 - column].block->data +
                         operands[1 - column].offset;
  const uint32_t *columns =
      (const uint32_t *)(const void *)operands[column].block->data + operands[column].offset;
  SambaBlock *packed = NULL;
  const bool whole =
      s->columns_contiguous && s->columns % s->kernels->narrow_columns == 0 && !s->row_table;

  for (uint64_t batch = 0; batch < s->batches; ++batch) {
    const uint32_t *here = columns + s->batch_columns[batch];
    if (!whole && (!packed || !s->shared_columns)) {
      sambaBlockRelease(pool, packed);
      packed = packedOf(s, pool, operands[column].block, operands[column].offset, here,
                        s->shared_columns);
    }
    uint32_t *panel = packed ? (uint32_t *)(void *)packed->data : NULL;
    for (uint64_t begin = 0; begin < s->columns;) {
      bool wide = isWide(s, begin);
      uint32_t width = panelWidth(s, begin);
      SambaTile tile = {.a_outer = s->outer_rows,
                        .outer_count = s->outer_count,
                        .inner_count = s->inner_count,
                        .a_step = s->row_step,
                        .first = first};
      tile.a_table = panel ? s->row_table : NULL;
      tile.depth = (int64_t)s->depth;
      tile.b = panel ? panel : here + begin;
      tile.b_outer = panel ? s->packed_outer + (wide ? 0 : s->outer_count) : s->outer_columns;
      tile.b_step = panel ? width : s->column_step;
      uint64_t live = s->columns - begin < width ? s->columns - begin : width;
      runPanel(s, &tile, rows + s->batch_rows[batch],
               (uint32_t *)accumulators + batch * s->rows * s->columns + begin, wide, live);
      panel = panel ? panel + (uint64_t)width * s->depth : NULL;
      begin += width;
    }
  }

  sambaBlockRelease(pool, packed);
}
