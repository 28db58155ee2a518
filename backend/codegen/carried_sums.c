/* Sums that go through PMUs: buffers that start full of zeros. Each firing takes the sums of its
 * tile from there, adds its part, and gives them back; a slot is one tile, and the slots go round.
 */
#include "backend/codegen/codegen_internal.h"
#include "backend/group/tile_sums.h"

/* Output tokens of one copy in a round. */
static int64_t resultsOf(const SambaTileNest *nest) {
  return sambaTileNestResults(nest) * sambaTileNestPasses(nest);
}

/* A buffer of `slots` passes. */
static SambaStatus addSums(SambaCodegen *codegen, const SambaGroupPlan *plan, int64_t slots,
                           uint32_t number, uint32_t *out_unit) {
  const SambaTileNest *nest = &plan->nest;
  int64_t elements = sambaTileNestPassElements(nest);
  int64_t rounds = sambaTileNestTrips(nest, sambaTileNestLoops(nest)) / resultsOf(nest);
  const char *name = sambaArenaFormat(codegen->arena, "%s.sums%u", plan->prefix, number);
  SAMBA_RETURN_IF_ERROR(
      sambaCheckBufferBytes(codegen, name, (uint64_t)elements, SAMBA_DTYPE_F32, (uint32_t)slots));

  SambaWalk walk = {.count = 0};
  walk.steps[walk.count++] = (SambaWalkStep){.trips = (uint32_t)(rounds * slots)};
  walk.slot_level = walk.token_level = walk.count;
  if (elements > 1) {
    walk.steps[walk.count] = (SambaWalkStep){.trips = (uint32_t)elements};
    walk.steps[walk.count++].axis[0] = 1;
  }

  SambaTokenLayout layout = sambaLayoutRowMajor(1, &elements);
  *out_unit = sambaAssemblyAddUnit(&codegen->assembly, SAMBA_UNIT_BUFFER, name,
                                   sambaCodegenLayer(codegen, nest->group), 1, 1);
  SambaUnit *unit = sambaAssemblyUnit(&codegen->assembly, *out_unit);
  unit->buffer.slot_count = (uint32_t)slots;
  unit->buffer.slot_elements = (uint64_t)elements;
  unit->buffer.loop_carried = true;
  sambaSetPort(codegen->arena, &unit->inputs[0], &walk, SAMBA_DTYPE_F32,
               sambaWalkAccess(&walk, &layout, NULL, 0, codegen->arena));
  sambaSetPort(codegen->arena, &unit->outputs[0], &walk, SAMBA_DTYPE_F32,
               sambaWalkAccess(&walk, &layout, NULL, 0, codegen->arena));
  sambaStateResult(nest, codegen->arena, &unit->inputs[0]);
  sambaStateResult(nest, codegen->arena, &unit->outputs[0]);
  return NULL;
}

/* Joins a buffer with a copy, both ways. */
static void connectSums(SambaCodegen *codegen, uint32_t compute, uint32_t buffer) {
  uint32_t start = sambaAssemblyUnit(&codegen->assembly, compute)->input_count - 1;
  sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){buffer, 0},
                       &(SambaEndpoint){compute, start}, 1);
  sambaAssemblyConnect(&codegen->assembly, (SambaEndpoint){compute, 1}, &(SambaEndpoint){buffer, 0},
                       1);
}

/* Tokens that each stream of a copy, or of a buffer, carries in turn. */
static void dealCopies(SambaCodegen *codegen, const uint32_t *computes, uint32_t count,
                       int64_t block) {
  for (uint32_t i = 0; i < count; ++i) {
    SambaUnit *copy = sambaAssemblyUnit(&codegen->assembly, computes[i]);
    copy->inputs[copy->input_count - 1].block = copy->outputs[1].block = (uint32_t)block;
  }
}

static void dealBuffer(SambaCodegen *codegen, uint32_t buffer, int64_t block) {
  SambaUnit *sums = sambaAssemblyUnit(&codegen->assembly, buffer);
  sums->inputs[0].block = sums->outputs[0].block = (uint32_t)block;
}

/* Buffers with the same number of tiles of some copies each, which take turns tile by tile. */
static SambaStatus addShared(SambaCodegen *codegen, uint32_t g, const uint32_t *computes,
                             const SambaTileSums *sums, int64_t tiles, uint32_t number) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  uint32_t all = plan->nest.copies;
  for (uint32_t first = 0; first < all; first += sums->copies, ++number) {
    uint32_t copies = all - first < sums->copies ? all - first : sums->copies;
    uint32_t buffer;
    SAMBA_RETURN_IF_ERROR(addSums(codegen, plan, tiles * copies, number, &buffer));
    for (uint32_t copy = first; copy < first + copies; ++copy)
      connectSums(codegen, computes[copy], buffer);
    dealBuffer(codegen, buffer, 1);
  }
  return NULL;
}

/* Buffers with runs of tiles, in the order in which the copies come to them. */
static SambaStatus addRuns(SambaCodegen *codegen, uint32_t g, const uint32_t *computes,
                           const SambaTileSums *sums) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  uint32_t all = sums->runs * plan->nest.copies;
  int64_t tiles = resultsOf(&plan->nest) / sums->runs; /* of a run */
  for (uint32_t number = 0; number < sums->buffers; ++number) {
    uint32_t first = number * sums->each;
    uint32_t runs = all - first < sums->each ? all - first : sums->each;
    uint32_t buffer;
    SAMBA_RETURN_IF_ERROR(addSums(codegen, plan, tiles * runs, number, &buffer));
    for (uint32_t run = first; run < first + runs; ++run)
      connectSums(codegen, computes[run % plan->nest.copies], buffer);
    dealBuffer(codegen, buffer, tiles);
  }
  dealCopies(codegen, computes, plan->nest.copies, tiles);
  return NULL;
}

/* Each copy's runs in buffers of its own, but for the last one. */
static SambaStatus addOwn(SambaCodegen *codegen, uint32_t g, const uint32_t *computes,
                          const SambaTileSums *sums) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  uint32_t copies = plan->nest.copies, own = sums->runs / sums->each;
  int64_t tiles = resultsOf(&plan->nest) / sums->runs; /* of a run */
  for (uint32_t number = 0; number < copies * own; ++number) {
    uint32_t buffer;
    SAMBA_RETURN_IF_ERROR(addSums(codegen, plan, tiles * sums->each, number, &buffer));
    for (uint32_t run = 0; run < sums->each; ++run)
      connectSums(codegen, computes[number / own], buffer);
    dealBuffer(codegen, buffer, tiles);
  }
  dealCopies(codegen, computes, copies, tiles);
  return addShared(codegen, g, computes, sums, tiles, copies * own);
}

SambaStatus sambaCodegenAddSums(SambaCodegen *codegen, uint32_t g, const uint32_t *computes) {
  const SambaGroupPlan *plan = &codegen->plans[g];
  const SambaTileNest *nest = &plan->nest;
  SambaTileSums sums;
  if (!sambaTileNestSums(nest, &sums))
    return sambaStatusMake(
        SAMBA_EXHAUSTED,
        "the sums of %s need %lld bytes for each copy, more than the PMUs that "
        "one PCU of %s reaches have",
        codegen->graph->stages[nest->group->anchor].name,
        (long long)(4 * sambaTileNestTileElements(nest) * sambaTileNestResults(nest)),
        codegen->machine->name);

  if (!sums.runs) {
    dealCopies(codegen, computes, nest->copies, 1);
    return addShared(codegen, g, computes, &sums, resultsOf(nest), 0);
  }
  return sums.copies ? addOwn(codegen, g, computes, &sums) : addRuns(codegen, g, computes, &sums);
}
