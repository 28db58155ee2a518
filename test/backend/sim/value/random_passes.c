/* Products pass by pass; see random_passes.h. The counters are tile | row pass, column pass, chunk
 * of k | k, row, column. Tokens of A go (k, row), tokens of B (k, column). */
#include "test/backend/sim/value/random_passes.h"

#include <stdlib.h>

static const SambaDType F = SAMBA_DTYPE_F32;

static uint32_t upTo(uint32_t n) { return 1 + (uint32_t)(lrand48() % n); } /* 1..n */
static bool chance(int percent) { return lrand48() % 100 < percent; }

/* Trips, and the tile that they make up. */
typedef struct Passes {
  uint32_t tiles, row_passes, column_passes, chunks, k, rows, columns;
  int64_t height, width, depth;
  SambaDType dtype;
  uint32_t copies; /* units among which row passes are dealt */
} Passes;

/* The tile of an operand, written token by token of `lines` lines; one slot per tile, or one for
 * all. */
static uint32_t addTile(Builder *builder, const Passes *passes, const char *name, uint32_t tiles,
                        uint32_t lines, uint32_t length, bool padded) {
  uint64_t elements = (uint64_t)lines * length;
  uint32_t part = upTo(lines);
  while (lines % part)
    --part;
  uint32_t symbol = builderSymbol(builder, name, passes->dtype, elements * tiles, false);
  uint32_t load =
      builderLoad(builder, symbol,
                  builderAccess(4, 2, TRIPS(builder, tiles, lines / part, part, length),
                                STRIDES(builder, lines * length, part * length, length, 1)));
  int64_t pitch = length + (padded ? 1 : 0);
  uint32_t buffer = builderBuffer(builder, passes->dtype, upTo(3), (uint64_t)pitch * lines);
  SambaAccess write = builderAccess(4, 2, TRIPS(builder, tiles, lines / part, part, length),
                                    STRIDES(builder, 0, part * pitch, pitch, 1));
  write.slot_level = 1;
  builderBufferWrite(builder, buffer, write);
  builderStream(builder, load, 0, buffer, 0);
  return buffer;
}

/* A read port that walks tile, row pass, column pass, chunk, k and one side. */
static void addRead(Builder *builder, uint32_t buffer, const Passes *passes, uint32_t slot_level,
                    uint32_t side, const int64_t *strides) {
  SambaAccess read = builderAccess(6, 4,
                                   TRIPS(builder, passes->tiles, passes->row_passes,
                                         passes->column_passes, passes->chunks, passes->k, side),
                                   builderStrides(builder, 6, strides));
  read.slot_level = slot_level;
  uint32_t port = builderBufferRead(builder, buffer, read);
  builder->section.units[buffer].outputs[port].block = passes->column_passes * passes->chunks;
}

static uint32_t addA(Builder *builder, const Passes *passes) {
  bool transposed = chance(30); /* [k][m] in the slot */
  uint32_t m = (uint32_t)passes->height, k = (uint32_t)passes->depth;
  bool padded = chance(20);
  uint32_t buffer =
      addTile(builder, passes, "a", passes->tiles, transposed ? k : m, transposed ? m : k, padded);
  int64_t pitch = (transposed ? m : k) + padded;
  int64_t row = transposed ? 1 : pitch, step = transposed ? pitch : 1;
  addRead(builder, buffer, passes, 1, passes->rows,
          (int64_t[]){0, passes->rows * row, 0, passes->k * step, step, row});
  return buffer;
}

static uint32_t addB(Builder *builder, const Passes *passes) {
  bool transposed = chance(30); /* [n][k] in the slot */
  uint32_t n = (uint32_t)passes->width, k = (uint32_t)passes->depth;
  bool padded = chance(20);
  uint32_t buffer =
      addTile(builder, passes, "b", 1, transposed ? n : k, transposed ? k : n, padded);
  int64_t pitch = (transposed ? k : n) + padded;
  int64_t column = transposed ? pitch : 1, step = transposed ? 1 : pitch;
  addRead(builder, buffer, passes, 0, passes->columns,
          (int64_t[]){0, 0, passes->columns * column, passes->k * step, step, column});
  return buffer;
}

/* One unit that runs every `copies`-th block of row passes. */
static uint32_t addArray(Builder *builder, const Passes *passes, bool columns_first) {
  uint32_t turns = passes->tiles * passes->row_passes / passes->copies;
  int64_t r = passes->rows, c = passes->columns;
  uint32_t unit = builderCompute(builder, 6, 3,
                                 TRIPS(builder, turns, passes->column_passes, passes->chunks,
                                       passes->k, columns_first ? passes->columns : passes->rows,
                                       columns_first ? passes->rows : passes->columns));
  SambaProgram *program = &builder->section.units[unit].compute.program;
  program->systolic = true;
  program->reduce_mask = 1 << 2 | 1 << 3;
  builderComputeInput(builder, unit, passes->dtype, 3, passes->k * passes->rows,
                      columns_first ? STRIDES(builder, 0, 0, 0, r, 0, 1)
                                    : STRIDES(builder, 0, 0, 0, r, 1, 0));
  builderComputeInput(builder, unit, passes->dtype, 3, passes->k * passes->columns,
                      columns_first ? STRIDES(builder, 0, 0, 0, c, 1, 0)
                                    : STRIDES(builder, 0, 0, 0, c, 0, 1));
  return unit;
}

static void finishArray(Builder *builder, const Passes *passes, uint32_t unit, bool columns_first,
                        uint32_t start) {
  int64_t inner = columns_first ? passes->rows : passes->columns;
  bool on = start != SAMBA_NO_INDEX;
  if (on)
    builderComputeInput(builder, unit, F, 2, passes->rows * passes->columns,
                        STRIDES(builder, 0, 0, 0, 0, inner, 1));
  uint32_t value =
      builderOp(builder, unit, on ? SAMBA_LANE_MAC_ON : SAMBA_LANE_MAC, F, 0, 1, on ? 2 : 0, 0);
  if (chance(30))
    value = builderOp(builder, unit, SAMBA_LANE_MAX, F, value, value, 0, 0);
  builderComputeOutput(builder, unit, F, 2, passes->rows * passes->columns,
                       STRIDES(builder, 0, 0, 0, 0, inner, 1), value);
}

/* Where the elements of a pass lie in a tile of the result. */
static SambaAccess resultAccess(Builder *builder, const Passes *passes, bool columns_first,
                                int64_t tile) {
  int64_t r = passes->rows, c = passes->columns, w = passes->width;
  return columns_first ? builderAccess(5, 3,
                                       TRIPS(builder, passes->tiles, passes->row_passes,
                                             passes->column_passes, passes->columns, passes->rows),
                                       STRIDES(builder, tile, r * w, c, 1, w))
                       : builderAccess(5, 3,
                                       TRIPS(builder, passes->tiles, passes->row_passes,
                                             passes->column_passes, passes->rows, passes->columns),
                                       STRIDES(builder, tile, r * w, c, w, 1));
}

/* Stores the merged results, straight or through a buffer whose read port may add a stage. */
static void addResult(Builder *builder, const Passes *passes, const uint32_t *units,
                      bool columns_first) {
  int64_t tile = passes->height * passes->width;
  uint32_t symbol = builderSymbol(builder, "c", F, (uint64_t)tile * passes->tiles, true);
  uint32_t end;

  if (chance(40)) {
    end = builderStore(builder, symbol, resultAccess(builder, passes, columns_first, tile));
  } else {
    end = builderBuffer(builder, F, upTo(3), (uint64_t)tile);
    SambaAccess write = resultAccess(builder, passes, columns_first, 0);
    write.slot_level = 1;
    SambaAccess each = builderAccess(
        3, 2, TRIPS(builder, passes->tiles, (uint32_t)passes->height, (uint32_t)passes->width),
        STRIDES(builder, tile, passes->width, 1));
    SambaAccess read = each;
    read.strides = STRIDES(builder, 0, passes->width, 1);
    read.slot_level = 1;
    builderBufferWrite(builder, end, write);
    builderBufferRead(builder, end, read);
    builderStream(builder, end, 0, builderStore(builder, symbol, each), 0);
  }

  builder->section.units[end].inputs[0].block = passes->column_passes;
  for (uint32_t i = 0; i < passes->copies; ++i)
    builderStream(builder, units[i], 0, end, 0);
}

/* What the sums of each pass start at. */
static uint32_t addStart(Builder *builder, const Passes *passes) {
  uint32_t elements = passes->rows * passes->columns;
  uint32_t tokens = passes->tiles * passes->row_passes * passes->column_passes;
  uint32_t symbol = builderSymbol(builder, "start", F, (uint64_t)elements * tokens, false);
  uint32_t load = builderLoad(
      builder, symbol,
      builderAccess(2, 1, TRIPS(builder, tokens, elements), STRIDES(builder, elements, 1)));
  builder->section.units[load].outputs[0].block = passes->column_passes;
  return load;
}

/* The sums of each chunk of k go round through a buffer. */
static void addCarried(Builder *builder, Passes *passes) {
  passes->tiles = passes->chunks; /* a chunk is a tile of its own, all on one tile of the result */
  passes->depth = passes->k;
  passes->chunks = passes->copies = 1;
  bool columns_first = chance(50);
  uint32_t a = addA(builder, passes), b = addB(builder, passes);
  uint32_t unit = addArray(builder, passes, columns_first);
  finishArray(builder, passes, unit, columns_first, 0);
  uint32_t carried = builderBuffer(builder, F, 1, (uint64_t)(passes->height * passes->width));
  SambaAccess access = resultAccess(builder, passes, columns_first, 0);
  access.slot_level = 1;
  builderBufferWrite(builder, carried, access);
  builderBufferRead(builder, carried, access);
  builder->section.units[carried].buffer.loop_carried = true;
  builderStream(builder, a, 0, unit, 0);
  builderStream(builder, b, 0, unit, 1);
  builderStream(builder, carried, 0, unit, 2);
  addResult(builder, passes, &unit, columns_first);
  builderDestination(builder, builder->section.units[unit].outputs[0].streams[0], carried, 0);
}

/* A convolution over [y][x][channel] in a buffer, `pad` rows and columns around it being 0: one row
 * of the result per tile, its pixels in passes. The windows are sent again per pass of columns. */
static void addConvolution(Builder *builder) {
  uint32_t kernel = upTo(3), step = upTo(2), channels = upTo(4), pixels = upTo(4);
  uint32_t passes = upTo(3), column_passes = upTo(3), columns = upTo(5);
  uint32_t pad = (uint32_t)(lrand48() % kernel), out = passes * pixels;
  uint32_t size = (out - 1) * step + kernel > 2 * pad ? (out - 1) * step + kernel - 2 * pad : 1;
  uint32_t flat = kernel * kernel * channels, width = columns * column_passes;
  SambaDType dtype = chance(60) ? F : SAMBA_DTYPE_BF16;
  int64_t s = step, c = channels, line = (int64_t)size * channels, n = width;

  uint32_t image = size * size * channels;
  uint32_t in = builderSymbol(builder, "in", dtype, image, false);
  uint32_t buffer = builderBuffer(builder, dtype, 1, image);
  SambaAccess all = builderAccess(1, 0, TRIPS(builder, image), STRIDES(builder, 1));
  SambaAccess windows = builderAccess(
      7, 3, TRIPS(builder, out, passes, column_passes, kernel, kernel, channels, pixels),
      STRIDES(builder, s * line, s * c * pixels, 0, line, c, 1, s * c));
  SambaGuard *guards = SAMBA_ARENA_ARRAY(&builder->arena, SambaGuard, 2);
  guards[0] = (SambaGuard){-(int64_t)pad, size, STRIDES(builder, s, 0, 0, 1, 0, 0, 0)};
  guards[1] = (SambaGuard){-(int64_t)pad, size, STRIDES(builder, 0, s * pixels, 0, 0, 1, 0, s)};
  windows.base = -(int64_t)pad * (line + c);
  windows.guards = guards, windows.guard_count = 2;
  builderBufferWrite(builder, buffer, all);
  builderBufferRead(builder, buffer, windows);

  uint32_t weights = builderSymbol(builder, "w", dtype, (uint64_t)flat * width, false);
  uint32_t kept = builderBuffer(builder, dtype, 1, (uint64_t)flat * width);
  SambaAccess flat_weights = builderAccess(1, 0, TRIPS(builder, flat * width), STRIDES(builder, 1));
  builderBufferWrite(builder, kept, flat_weights);
  builderBufferRead(
      builder, kept,
      builderAccess(7, 3,
                    TRIPS(builder, out, passes, column_passes, kernel, kernel, channels, columns),
                    STRIDES(builder, 0, 0, columns, kernel * c * n, c * n, n, 1)));

  uint32_t unit = builderCompute(
      builder, 8, 3,
      TRIPS(builder, out, passes, column_passes, kernel, kernel, channels, pixels, columns));
  builder->section.units[unit].compute.program.systolic = true;
  builder->section.units[unit].compute.program.reduce_mask = 7 << 3;
  int64_t p = pixels, w = columns;
  builderComputeInput(builder, unit, dtype, 3, flat * pixels,
                      STRIDES(builder, 0, 0, 0, kernel * c * p, c * p, p, 1, 0));
  builderComputeInput(builder, unit, dtype, 3, flat * columns,
                      STRIDES(builder, 0, 0, 0, kernel * c * w, c * w, w, 0, 1));
  builderComputeOutput(builder, unit, F, 3, pixels * columns,
                       STRIDES(builder, 0, 0, 0, 0, 0, 0, w, 1),
                       builderOp(builder, unit, SAMBA_LANE_MAC, F, 0, 1, 0, 0));

  uint32_t result = builderSymbol(builder, "out", F, (uint64_t)out * out * width, true);
  uint32_t store =
      builderStore(builder, result,
                   builderAccess(5, 3, TRIPS(builder, out, passes, column_passes, pixels, columns),
                                 STRIDES(builder, out * n, p * n, w, n, 1)));
  builderStream(builder, builderLoad(builder, in, all), 0, buffer, 0);
  builderStream(builder, builderLoad(builder, weights, flat_weights), 0, kept, 0);
  builderStream(builder, buffer, 0, unit, 0);
  builderStream(builder, kept, 0, unit, 1);
  builderStream(builder, unit, 0, store, 0);
}

void randomPasses(Builder *builder) {
  if (chance(30)) {
    addConvolution(builder);
    return;
  }
  Passes passes = {.tiles = upTo(3),
                   .row_passes = upTo(4),
                   .column_passes = upTo(4),
                   .chunks = upTo(3),
                   .k = upTo(9),
                   .rows = upTo(chance(30) ? 16 : 4),
                   .columns = upTo(chance(30) ? 16 : 4),
                   .dtype = chance(60) ? F : SAMBA_DTYPE_BF16,
                   .copies = 1};
  passes.height = (int64_t)passes.rows * passes.row_passes;
  passes.width = (int64_t)passes.columns * passes.column_passes;
  passes.depth = (int64_t)passes.k * passes.chunks;
  if (chance(25)) {
    addCarried(builder, &passes);
    return;
  }

  uint32_t copies = upTo(4);
  if (passes.tiles * passes.row_passes % copies == 0)
    passes.copies = copies;
  bool columns_first = chance(50);
  uint32_t a = addA(builder, &passes), b = addB(builder, &passes);
  uint32_t start = chance(30) ? addStart(builder, &passes) : SAMBA_NO_INDEX;
  uint32_t units[4];
  for (uint32_t i = 0; i < passes.copies; ++i) {
    units[i] = addArray(builder, &passes, columns_first);
    finishArray(builder, &passes, units[i], columns_first, start);
    builderStream(builder, a, 0, units[i], 0);
    builderStream(builder, b, 0, units[i], 1);
    if (start != SAMBA_NO_INDEX)
      builderStream(builder, start, 0, units[i], 2);
  }
  addResult(builder, &passes, units, columns_first);
}
