/* Columns of banks; see bank_columns.h. */
#include "backend/address/bank_columns.h"

#include "support/base/index.h"
#include "support/base/memory.h"

#include <stdlib.h>

static bool isPowerOfTwo(int64_t value) { return value > 0 && !(value & (value - 1)); }

/* Bytes after which the bank changes; 0: higher bits of the address are not folded into its number,
 * or there are too few banks. */
static uint64_t bytesOfBank(const SambaMachine *machine) {
  if (!isPowerOfTwo(machine->hbm_channels) || !isPowerOfTwo(machine->dram_banks) ||
      machine->dram_banks < SAMBA_BANK_COLUMNS)
    return 0;
  return (uint64_t)(machine->hbm_channels * machine->dram_row_bytes);
}

uint64_t sambaBankColumnsLeast(const SambaMachine *machine) {
  uint64_t banks = (uint64_t)machine->dram_banks;
  return bytesOfBank(machine) * banks * banks;
}

uint64_t sambaBankColumnBytes(const SambaMachine *machine, uint64_t bytes) {
  /* Above the digit of the address that numbers the bank, further digits of its size are folded
   * into it. A column is a quarter of what such a digit counts. */
  uint64_t column = sambaBankColumnsLeast(machine) / SAMBA_BANK_COLUMNS;
  uint64_t channels = (uint64_t)(machine->hbm_channels * machine->dram_interleave_bytes);
  while (column && (column < bytes || column < channels))
    if (__builtin_mul_overflow(column, (uint64_t)machine->dram_banks, &column))
      return 0;
  return column;
}

/* Memory, block by block, and how far each column is filled. */
typedef struct Columns {
  uint64_t column, start, end;
  SAMBA_ARRAY(uint64_t) filled; /* by block and column */
} Columns;

static bool addBlock(Columns *columns) {
  uint64_t block = columns->filled.size / SAMBA_BANK_COLUMNS;
  uint64_t first = block * SAMBA_BANK_COLUMNS * columns->column;
  if (first + SAMBA_BANK_COLUMNS * columns->column > columns->end)
    return false;
  for (uint32_t c = 0; c < SAMBA_BANK_COLUMNS; ++c) {
    uint64_t from = first + c * columns->column;
    uint64_t taken = columns->start > from ? columns->start - from : 0;
    sambaArrayAppend(&columns->filled, taken < columns->column ? taken : columns->column);
  }
  return true;
}

/* In this order the banks of neighbours are as far apart as they can be. */
static uint32_t columnOf(uint32_t first, uint32_t member) {
  static const uint32_t order[SAMBA_BANK_COLUMNS] = {0, 2, 1, 3};
  return order[(first + member) % SAMBA_BANK_COLUMNS];
}

/* The lowest height of a block at which a team can lie; two of them lie half of the banks apart. */
static uint64_t lowestIn(const Columns *columns, uint32_t block, uint32_t members,
                         uint32_t *out_first) {
  const uint64_t *filled = &columns->filled.data[(size_t)block * SAMBA_BANK_COLUMNS];
  uint64_t lowest = UINT64_MAX;
  for (uint32_t first = 0; first < SAMBA_BANK_COLUMNS; first += members > 1 ? 2 : 1) {
    uint64_t height = 0;
    for (uint32_t m = 0; m < members; ++m) {
      uint64_t own = filled[columnOf(first, m)];
      height = own > height ? own : height;
    }
    if (height >= lowest)
      continue;
    lowest = height;
    *out_first = first;
  }
  return lowest;
}

/* Places up to a column's number of tensors at one height. */
static bool placeTeam(Columns *columns, SambaColumnTensor *tensors, const uint32_t *members,
                      uint32_t count) {
  uint64_t largest = 0;
  for (uint32_t m = 0; m < count; ++m)
    largest = tensors[members[m]].bytes > largest ? tensors[members[m]].bytes : largest;

  for (uint32_t block = 0;; ++block) {
    if ((size_t)block * SAMBA_BANK_COLUMNS == columns->filled.size && !addBlock(columns))
      return false;
    uint32_t first = 0;
    uint64_t height = lowestIn(columns, block, count, &first);
    if (height > columns->column - largest)
      continue;
    for (uint32_t m = 0; m < count; ++m) {
      uint32_t place = block * SAMBA_BANK_COLUMNS + columnOf(first, m);
      tensors[members[m]].address = place * columns->column + height;
      columns->filled.data[place] = height + tensors[members[m]].bytes;
    }
    return true;
  }
}

static int smallTeamsFirst(const void *left, const void *right) {
  const SambaColumnTeam *a = left, *b = right;
  if (a->count != b->count)
    return a->count < b->count ? -1 : 1;
  return a->tensors < b->tensors ? -1 : a->tensors > b->tensors;
}

bool sambaBankColumnsAssign(const SambaMachine *machine, SambaColumnTensor *tensors, uint32_t count,
                            SambaColumnTeam *teams, uint32_t team_count, uint64_t start,
                            uint64_t end) {
  uint64_t largest = 0;
  for (uint32_t i = 0; i < count; ++i)
    largest = tensors[i].bytes > largest ? tensors[i].bytes : largest;
  Columns columns = {.column = sambaBankColumnBytes(machine, largest), .start = start, .end = end};
  if (!columns.column || columns.column > end / SAMBA_BANK_COLUMNS)
    return false;

  bool *placed = sambaAllocateZeroed(count, sizeof *placed);
  if (team_count)
    qsort(teams, team_count, sizeof *teams, smallTeamsFirst);
  bool fits = true;
  for (uint32_t t = 0; t < team_count + count && fits; ++t) { /* last, those of no team */
    const uint32_t alone = t - team_count;
    SambaColumnTeam team = t < team_count ? teams[t] : (SambaColumnTeam){&alone, 1};
    uint32_t members[SAMBA_BANK_COLUMNS], size = 0;
    for (uint32_t m = 0; m < team.count && fits; ++m) {
      if (!placed[team.tensors[m]])
        members[size++] = team.tensors[m];
      placed[team.tensors[m]] = true;
      if (size == SAMBA_BANK_COLUMNS) {
        fits = placeTeam(&columns, tensors, members, size);
        size = 0;
      }
    }
    if (size && fits)
      fits = placeTeam(&columns, tensors, members, size);
  }

  free(placed);
  sambaArrayFree(&columns.filled);
  return fits;
}
