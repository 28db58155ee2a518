/* Copies of a group and ranges of them, and the other small steps of codegen. */
#include "backend/codegen/codegen_internal.h"

#include "backend/section/banks.h"

#include <string.h>

const char *sambaCodegenLayer(const SambaCodegen *codegen, const SambaGroup *group) {
  const char *layer = codegen->graph->stages[group->anchor].layer;
  return layer ? layer : "";
}

uint32_t sambaCopyMask(const SambaTileNest *nest, uint32_t operand) {
  uint32_t mask = 0;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (nest->unroll[dim] > 1 &&
        (operand == SAMBA_NO_INDEX || sambaGroupDepends(nest->group, operand, dim)))
      mask |= 1u << dim;
  return mask;
}

uint32_t sambaCopyIndex(const SambaTileNest *nest, uint32_t mask, const uint32_t *copy) {
  uint32_t index = 0;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    if (mask & 1u << dim)
      index = index * nest->unroll[dim] + copy[dim];
  return index;
}

bool sambaCopyNext(const SambaTileNest *nest, const SambaCopyRange *range, uint32_t *copy) {
  for (uint32_t dim = nest->group->dim_count; dim-- > 0;) {
    if (++copy[dim] < range->first[dim] + range->count[dim])
      return true;
    copy[dim] = range->first[dim];
  }
  return false;
}

uint32_t sambaCopyRangeSize(const SambaCopyRange *range, uint32_t dim_count) {
  uint32_t size = 1;
  for (uint32_t dim = 0; dim < dim_count; ++dim)
    size *= range->count[dim];
  return size;
}

/* How the copies of a range are cut: outer dimensions copy by copy as far as that stays within
 * what is wanted, one dimension in runs, the rest whole. */
typedef struct Cut {
  uint32_t split;         /* the dimension in runs */
  uint32_t ranges, parts; /* of the dimensions before it, and of it */
  uint32_t run;
} Cut;

static Cut cutOf(const SambaCopyRange *whole, uint32_t dim_count, uint32_t wanted) {
  Cut cut = {0, 1, 1, 1};
  while (cut.split < dim_count && (uint64_t)cut.ranges * whole->count[cut.split] <= wanted)
    cut.ranges *= whole->count[cut.split++];
  if (cut.split < dim_count) {
    uint32_t factor = wanted / cut.ranges;
    factor = factor < 1 ? 1 : factor;
    cut.run = (whole->count[cut.split] + factor - 1) / factor;
    cut.parts = (whole->count[cut.split] + cut.run - 1) / cut.run;
  }
  return cut;
}

/* sambaCutCopies of the copies of a range. */
static uint32_t cutRange(const SambaCopyRange *whole, uint32_t dim_count, uint32_t wanted,
                         SambaCopyRange *out_ranges) {
  const Cut cut = cutOf(whole, dim_count, wanted);
  uint32_t split = cut.split, ranges = cut.ranges, parts = cut.parts, run = cut.run;

  for (uint32_t r = 0; out_ranges && r < ranges * parts; ++r) {
    SambaCopyRange *range = &out_ranges[r];
    *range = *whole;
    if (split < dim_count) {
      uint32_t part = r % parts;
      range->first[split] = whole->first[split] + part * run;
      range->count[split] = part + 1 == parts ? whole->count[split] - part * run : run;
    }
    uint32_t rest = r / parts;
    for (uint32_t dim = split; dim-- > 0; rest /= whole->count[dim]) {
      range->first[dim] = whole->first[dim] + rest % whole->count[dim];
      range->count[dim] = 1;
    }
  }

  return ranges * parts;
}

static void allCopies(const SambaTileNest *nest, uint32_t mask, SambaCopyRange *out_range) {
  for (uint32_t dim = 0; dim < SAMBA_MAX_STAGE_DIMS; ++dim) {
    out_range->first[dim] = 0;
    out_range->count[dim] = mask & 1u << dim ? nest->unroll[dim] : 1;
  }
}

uint32_t sambaLargestCut(const SambaTileNest *nest, uint32_t mask, uint32_t wanted) {
  SambaCopyRange whole;
  allCopies(nest, mask, &whole);
  const Cut cut = cutOf(&whole, nest->group->dim_count, wanted);
  return sambaCopyRangeSize(&whole, nest->group->dim_count) / cut.ranges /
         (cut.split < nest->group->dim_count ? whole.count[cut.split] : 1) * cut.run;
}

uint32_t sambaCutCopies(const SambaTileNest *nest, uint32_t mask, uint32_t wanted,
                        SambaCopyRange *out_ranges) {
  SambaCopyRange whole;
  allCopies(nest, mask, &whole);
  return cutRange(&whole, nest->group->dim_count, wanted, out_ranges);
}

/* The nest as its results leave it: copies that share a tail are one. */
static SambaTileNest withTails(const SambaTileNest *nest) {
  SambaTileNest tails = *nest;
  for (uint32_t dim = 0; dim < nest->group->dim_count; ++dim)
    tails.unroll[dim] /= sambaTileNestTailCopies(nest, dim);
  return tails;
}

uint32_t sambaCutResults(const SambaTileNest *nest, uint32_t wanted, SambaCopyRange *out_ranges) {
  SambaTileNest tails = withTails(nest);
  uint32_t count = sambaCutCopies(&tails, sambaCopyMask(nest, SAMBA_NO_INDEX), wanted, out_ranges);
  for (uint32_t dim = 0; dim < nest->group->dim_count && out_ranges; ++dim)
    for (uint32_t r = 0; r < count; ++r) {
      out_ranges[r].first[dim] *= sambaTileNestTailCopies(nest, dim);
      out_ranges[r].count[dim] *= sambaTileNestTailCopies(nest, dim);
    }
  return count;
}

uint32_t sambaLargestResults(const SambaTileNest *nest, uint32_t wanted) {
  SambaTileNest tails = withTails(nest);
  return nest->tail * sambaLargestCut(&tails, sambaCopyMask(nest, SAMBA_NO_INDEX), wanted);
}

void sambaReplicaRange(const SambaTileNest *nest, uint32_t mask, uint32_t loops, uint32_t replica,
                       SambaCopyRange *out_range) {
  sambaCutCopies(nest, mask, 1, out_range);
  for (uint32_t i = loops; i-- > 0;) {
    uint32_t dim = nest->dim_at[i];
    out_range->first[dim] = replica % nest->unroll[dim];
    out_range->count[dim] = 1;
    replica /= nest->unroll[dim];
  }
}

uint32_t sambaReplicaMask(const SambaTileNest *nest, uint32_t loops) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < loops; ++i)
    mask |= nest->unroll[nest->dim_at[i]] > 1 ? 1u << nest->dim_at[i] : 0;
  return mask;
}

int64_t sambaSlicesOf(const SambaCodegen *codegen, uint32_t tensor) {
  const SambaTileNest *nest = &codegen->plans[codegen->pipeline_group].nest;
  int64_t slices = 1;
  for (uint32_t i = 0; i < codegen->tensors[tensor].slices.count; ++i)
    slices *= nest->trips[nest->dim_at[i]];
  return slices;
}

SambaTileBox sambaSliceBox(const SambaCodegen *codegen, uint32_t tensor) {
  SambaTileBox slice = {.rank = codegen->graph->tensors[tensor].rank, .elements = 1};
  sambaSliceSizes(codegen, tensor, slice.size);
  for (uint32_t axis = 0; axis < slice.rank; ++axis) {
    slice.step[axis] = 1;
    slice.elements *= slice.size[axis];
  }
  return slice;
}

void sambaSliceSizes(const SambaCodegen *codegen, uint32_t tensor, int64_t *out_sizes) {
  sambaSliceExtents(&codegen->graph->tensors[tensor], &codegen->tensors[tensor].slices,
                    codegen->pipeline.tile, out_sizes);
}

void sambaClearSliced(const SambaSlices *slices, int64_t *axes) {
  for (uint32_t i = 0; i < slices->count; ++i)
    axes[slices->axis[i]] = 0;
}

SambaStatus sambaCheckBufferBytes(const SambaCodegen *codegen, const char *name, uint64_t elements,
                                  SambaDType dtype, uint32_t slots) {
  uint64_t bytes = sambaSlotBytes(codegen->machine, elements, dtype) * slots;
  if (bytes <= (uint64_t)codegen->machine->pmu_bytes)
    return NULL;
  SambaStatus status = sambaStatusMake(
      SAMBA_EXHAUSTED,
      "buffer %s needs %llu bytes (%u slots of %llu elements of %s), but a PMU of %s has %lld",
      name, (unsigned long long)bytes, slots, (unsigned long long)elements, sambaDTypeName(dtype),
      codegen->machine->name, (long long)codegen->machine->pmu_bytes);
  return sambaStatusNote(status, "map its stage with smaller tiles or fewer slots");
}

uint32_t sambaOutermostAxis(const SambaTileBox *box) {
  uint32_t axis = 0;
  while (axis + 1 < box->rank && box->size[axis] == 1)
    ++axis;
  return axis;
}

SambaTileBox sambaBoxPart(const SambaTileBox *box, uint32_t axis, uint32_t parts, uint32_t index) {
  SambaTileBox part = *box;
  if (parts > 1) {
    int64_t first = box->size[axis] * index / parts;
    part.size[axis] = box->size[axis] * (index + 1) / parts - first;
    part.elements = box->elements / box->size[axis] * part.size[axis];
  }
  return part;
}

int64_t sambaBoxPartStart(const SambaTileBox *box, uint32_t axis, uint32_t parts, uint32_t index) {
  return box->size[axis] * index / parts * box->step[axis];
}

void sambaSetPort(SambaArena *arena, SambaPort *port, const SambaWalk *walk, SambaDType dtype,
                  SambaAccess access) {
  sambaWalkOrder(walk, arena, port);
  port->dtype = dtype;
  port->access = access;
  port->token_elements = sambaWalkTokenElements(walk);
}

void sambaWalkClearAddresses(SambaWalk *walk, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    memset(walk->steps[i].axis, 0, sizeof walk->steps[i].axis);
    memset(walk->steps[i].dim, 0, sizeof walk->steps[i].dim);
  }
}

int64_t sambaStagingRowBytes(const SambaMachine *machine) { return 4 * machine->dram_burst_bytes; }

void sambaMemoryBounds(const SambaCodegen *codegen, uint32_t tensor, SambaBounds *out_bounds) {
  memset(out_bounds, 0, sizeof *out_bounds);
  memcpy(out_bounds->axis, codegen->graph->tensors[tensor].dims,
         codegen->graph->tensors[tensor].rank * sizeof(int64_t));
}

uint32_t sambaCodegenAddLoad(SambaCodegen *codegen, uint32_t tensor, const char *name,
                             const char *layer, uint32_t inputs, const SambaWalk *walk,
                             uint64_t fill) {
  SambaBounds bounds;
  sambaMemoryBounds(codegen, tensor, &bounds);
  SambaTokenLayout layout = sambaLayoutRowMajor(codegen->graph->tensors[tensor].rank,
                                                codegen->graph->tensors[tensor].dims);
  uint32_t unit = sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_LOAD, name, layer, inputs, 1);
  sambaAssemblyUnit(&codegen->assembly, unit)->load_store.symbol = codegen->symbols[tensor];
  sambaSetPort(codegen->arena, &sambaAssemblyUnit(&codegen->assembly, unit)->outputs[0], walk,
               codegen->graph->tensors[tensor].dtype,
               sambaWalkAccess(walk, &layout, &bounds, fill, codegen->arena));
  return unit;
}

void sambaConnectRange(SambaCodegen *codegen, const SambaTileNest *nest, uint32_t mask,
                       const SambaCopyRange *range, SambaEndpoint source,
                       const SambaEndpoints *consumers) {
  uint32_t copy[SAMBA_MAX_STAGE_DIMS];
  memcpy(copy, range->first, sizeof copy);
  do {
    const SambaEndpoints *list = &consumers[sambaCopyIndex(nest, mask, copy)];
    sambaAssemblyConnect(&codegen->assembly, source, list->data, list->size);
  } while (sambaCopyNext(nest, range, copy));
}
