/* Operations of tensor and linalg that only move data, and of which no loop nest is made: tiles
 * (pack, unpack), gathers. */
#include "lowering/enter/enter.h"
#include "lowering/foreign/foreign_call.h"

#include <stdlib.h>

/* What linalg.pack and unpack say: axes in tiles, tile sizes, the order of the outer axes. */
typedef struct Tiles {
  uint32_t rank, count;
  int64_t axis[SAMBA_MAX_RANK], tile[SAMBA_MAX_RANK], outer[SAMBA_MAX_RANK];
} Tiles;

/* next: the operand that says the first tile size that is no attribute. */
static void readTiles(SambaForeignCall *call, uint32_t rank, uint32_t next, Tiles *out) {
  out->rank = rank;
  out->count = sambaForeignInts(call, "inner_dims_pos", out->axis, SAMBA_MAX_RANK);
  sambaForeignMixed(call, "static_inner_tiles", &next, out->count, out->tile);
  if (!sambaForeignInts(call, "outer_dims_perm", out->outer, SAMBA_MAX_RANK))
    for (uint32_t i = 0; i < rank; ++i)
      out->outer[i] = i;
}

/* Number of the tile of an axis; count: it has none. */
static uint32_t tileOf(const Tiles *tiles, uint32_t axis) {
  uint32_t found = 0;
  while (found < tiles->count && tiles->axis[found] != axis)
    ++found;
  return found;
}

/* The axes apart, each followed by its tile: their sizes, and where each of the packed tensor's
 * dimensions stands among them. Their number. */
static uint32_t spread(const Tiles *tiles, const int64_t *outer_dims, int64_t *out_dims,
                       int64_t *out_places) {
  uint32_t at = 0;
  for (uint32_t axis = 0; axis < tiles->rank; ++axis) {
    uint32_t tile = tileOf(tiles, axis);
    for (uint32_t i = 0; i < tiles->rank; ++i)
      if (tiles->outer[i] == axis)
        out_places[i] = at;
    out_dims[at++] = outer_dims[axis];
    if (tile < tiles->count) {
      out_places[tiles->rank + tile] = at;
      out_dims[at++] = tiles->tile[tile];
    }
  }
  return at;
}

/* Operands: source, destination, padding value, tile sizes. */
static void convertPack(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t x = call->operands[0];
  SambaTensorType type = sambaForeignType(call, x);
  int64_t segments[4] = {0};
  Tiles tiles;
  sambaForeignInts(call, "operandSegmentSizes", segments, 4);
  readTiles(call, type.rank, 2 + (uint32_t)segments[2], &tiles);
  if (expansion->status)
    return;

  int64_t low[SAMBA_MAX_RANK] = {0}, high[SAMBA_MAX_RANK] = {0}, outer[SAMBA_MAX_RANK];
  bool pads = false;
  for (uint32_t axis = 0; axis < type.rank; ++axis) {
    uint32_t tile = tileOf(&tiles, axis);
    int64_t size = tile < tiles.count ? tiles.tile[tile] : 1;
    outer[axis] = (type.dims[axis] + size - 1) / size;
    high[axis] = outer[axis] * size - type.dims[axis];
    pads |= high[axis] != 0;
  }
  if (pads)
    x = sambaForeignPad(call, x, low, high, segments[2] ? 2 : SAMBA_FOREIGN_NO_VALUE);

  int64_t dims[SAMBA_MAX_RANK], places[SAMBA_MAX_RANK];
  uint32_t rank = spread(&tiles, outer, dims, places);
  x = sambaExpandReshape(expansion, x, rank, dims);
  call->results[0] = sambaExpandPermute(expansion, x, places);
}

/* Operands: source, destination, tile sizes. */
static void convertUnpack(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t x = call->operands[0];
  SambaTensorType packed = sambaForeignType(call, x), type = call->types[0];
  Tiles tiles;
  readTiles(call, type.rank, 2, &tiles);
  if (expansion->status)
    return;

  int64_t outer[SAMBA_MAX_RANK], dims[SAMBA_MAX_RANK], places[SAMBA_MAX_RANK];
  int64_t back[SAMBA_MAX_RANK], joined[SAMBA_MAX_RANK];
  for (uint32_t i = 0; i < type.rank; ++i)
    outer[tiles.outer[i]] = packed.dims[i];
  uint32_t rank = spread(&tiles, outer, dims, places);
  for (uint32_t i = 0; i < rank; ++i)
    back[places[i]] = i;
  x = sambaExpandPermute(expansion, x, back);
  for (uint32_t axis = 0; axis < type.rank; ++axis) {
    uint32_t tile = tileOf(&tiles, axis);
    joined[axis] = outer[axis] * (tile < tiles.count ? tiles.tile[tile] : 1);
  }
  x = sambaExpandReshape(expansion, x, type.rank, joined);
  for (uint32_t axis = 0; axis < type.rank; ++axis)
    if (joined[axis] != type.dims[axis])
      x = sambaExpandSlice(expansion, x, axis, 0, type.dims[axis], 1);
  call->results[0] = x;
}

/* tensor.gather: the axes that the indices name come first, are gathered, and the result's unit
 * dimensions are a matter of shape. */
static void convertGather(SambaForeignCall *call) {
  SambaExpansion *expansion = &call->expansion;
  uint32_t x = call->operands[0];
  SambaTensorType type = sambaForeignType(call, x);
  int64_t gathered[SAMBA_MAX_RANK], order[SAMBA_MAX_RANK];
  uint32_t count = sambaForeignInts(call, "gather_dims", gathered, SAMBA_MAX_RANK), at = count;
  for (uint32_t i = 0; i < count; ++i)
    order[i] = gathered[i];
  for (uint32_t axis = 0; axis < type.rank; ++axis) {
    bool named = false;
    for (uint32_t i = 0; i < count; ++i)
      named |= gathered[i] == axis;
    if (!named)
      order[at++] = axis;
  }
  x = sambaExpandPermute(expansion, x, order);
  uint32_t indices = call->operands[1];
  if (sambaForeignType(call, indices).dtype != SAMBA_DTYPE_I32)
    indices = sambaExpandCast(expansion, indices, SAMBA_DTYPE_I64);
  x = SAMBA_FOREIGN_CALL(call, "gather_nd", ((uint32_t[]){x, indices}),
                         sambaIntAttribute("batch_dims", 0));
  call->results[0] = sambaExpandReshape(expansion, x, call->types[0].rank, call->types[0].dims);
}

static const SambaForeignRow rows[] = {{"linalg.pack", convertPack, NULL},
                                       {"linalg.unpack", convertUnpack, NULL},
                                       {"tensor.pack", convertPack, NULL},
                                       {"tensor.unpack", convertUnpack, NULL},
                                       {"tensor.gather", convertGather, NULL}};

bool sambaEnterTensors(MlirOperation function) {
  return sambaForeignConvert(function, rows, sizeof rows / sizeof *rows);
}
