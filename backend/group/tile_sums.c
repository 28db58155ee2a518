/* PMUs of running sums; see tile_sums.h. */
#include "backend/group/tile_sums.h"

#include "support/number/integer.h"

static void keepFewest(SambaTileSums *best, SambaTileSums sums) {
  if (!best->buffers || sums.buffers < best->buffers)
    *best = sums;
}

/* Copies that share a PMU with all of their sums, at most: they want their next ones at the same
 * time, and more of them wait for each other and stand farther from it. A product of 4096^3 whose
 * PMUs serve 16 copies each takes 3% longer. */
enum { mostSharing = 8 };

bool sambaTileNestSums(const SambaTileNest *nest, SambaTileSums *out_sums) {
  int64_t flows = nest->machine->flows_per_lane;
  int64_t copies = nest->copies;
  int64_t tiles = sambaTileNestResults(nest) * sambaTileNestPasses(nest); /* of a copy */
  int64_t token_bytes = sambaTileNestPassElements(nest) * sambaDTypeBytes(SAMBA_DTYPE_F32);
  int64_t room = nest->machine->pmu_bytes / token_bytes; /* passes that a PMU holds */

  *out_sums = (SambaTileSums){0};
  if (room >= tiles) {
    int64_t most = sambaClampInteger(room / tiles, 1, flows < mostSharing ? flows : mostSharing);
    int64_t shared = sambaCeilDiv(copies, sambaCeilDiv(copies, most));
    *out_sums = (SambaTileSums){.copies = (uint32_t)shared,
                                .buffers = (uint32_t)sambaCeilDiv(copies, shared)};
    if (most == mostSharing) /* runs would leave fewer PMUs, with more copies each */
      return true;
  }

  /* The longest runs that leave the fewest PMUs. Copies that share a PMU take turns tile by tile:
   * what one waits for behind another's next tile might be what that other needs to get there. So
   * they share one run of each, or runs of one tile. */
  for (int64_t run = room < tiles ? room : tiles; run >= 1; --run) {
    if (tiles % run || tiles / run > flows)
      continue;
    int64_t runs = tiles / run, each = run > 1 ? 1 : sambaClampInteger(room, 1, flows);
    keepFewest(out_sums, (SambaTileSums){.runs = (uint32_t)runs,
                                         .each = (uint32_t)each,
                                         .buffers = (uint32_t)sambaCeilDiv(runs * copies, each)});
    int64_t own = room / run, shared = sambaClampInteger(own, 1, flows);
    if (runs > 1 && runs % own == 1)
      keepFewest(out_sums, (SambaTileSums){.copies = (uint32_t)shared,
                                           .runs = (uint32_t)runs,
                                           .each = (uint32_t)own,
                                           .buffers = (uint32_t)(copies * (runs / own) +
                                                                 sambaCeilDiv(copies, shared))});
  }
  return out_sums->buffers > 0;
}
