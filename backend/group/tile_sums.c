/* PMUs of running sums; see tile_sums.h. */
#include "backend/group/tile_sums.h"

#include "support/number/integer.h"

bool sambaTileNestSums(const SambaTileNest *nest, SambaTileSums *out_sums) {
  int64_t flows = nest->machine->flows_per_lane;
  int64_t tiles = sambaTileNestResults(nest) * sambaTileNestPasses(nest); /* of a copy */
  int64_t token_bytes = sambaTileNestPassElements(nest) * sambaDTypeBytes(SAMBA_DTYPE_F32);
  int64_t room = nest->machine->pmu_bytes / token_bytes; /* passes that a PMU holds */

  *out_sums = (SambaTileSums){0};
  if (room >= tiles) {
    int64_t most = sambaClampInteger(room / tiles, 1, flows);
    int64_t groups = sambaCeilDiv(nest->copies, most);
    out_sums->copies = (uint32_t)sambaCeilDiv(nest->copies, groups);
    out_sums->buffers = (uint32_t)sambaCeilDiv(nest->copies, out_sums->copies);
  }

  /* The longest runs that leave the fewest PMUs. Copies that share a PMU take turns tile by tile:
   * what one waits for behind another's next tile might be what that other needs to get there. */
  for (int64_t run = room < tiles ? room : tiles; run >= 1; --run) {
    int64_t each = run > 1 ? 1 : sambaClampInteger(room, 1, flows);
    if (tiles % run || tiles / run > flows)
      continue;
    uint32_t buffers = (uint32_t)sambaCeilDiv(tiles / run * nest->copies, each);
    if (out_sums->buffers && buffers >= out_sums->buffers)
      continue;
    *out_sums = (SambaTileSums){
        .runs = (uint32_t)(tiles / run), .each = (uint32_t)each, .buffers = buffers};
  }
  return out_sums->buffers > 0;
}
