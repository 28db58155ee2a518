/* Known stage graphs; see known_stages.h. */
#include "dialect/stages/known_stages.h"

#include "dialect/bridge/build_operation.h"
#include "dialect/bridge/hooks.h"
#include "dialect/bridge/operation_digest.h"
#include "support/container/packed_words.h"

#include <assert.h>
#include <stdlib.h>

void sambaKnownStagesDestroy(SambaKnownStages *known) {
  if (known) {
    sambaArenaDestroy(&known->arena);
    sambaArenaDestroy(&known->tables);
    free(known->packed);
  }
  free(known);
}
static void destroyKnown(void *known) { sambaKnownStagesDestroy(known); }

/*===-- Packing -------------------------------------------------------------------------------===*/

/* A stage has room for operands of any rank, so most of its words are 0. */
static_assert(sizeof(SambaStage) % sizeof(uint64_t) == 0, "stages are packed by words");
static_assert(sizeof(SambaMapping) % sizeof(uint64_t) == 0, "mappings are packed by words");

static void packTables(SambaKnownStages *known) {
  SambaStageGraph *graph = known->stages.graph;
  SambaPackedWords words = {0};
  sambaWordsPack(graph->stages, graph->stage_count * sizeof *graph->stages, &words);
  sambaWordsPack(graph->mappings, graph->stage_count * sizeof *graph->mappings, &words);
  known->packed = sambaReallocate(words.data, words.size, sizeof *words.data);
  sambaArenaDestroy(&known->tables);
  known->tables = (SambaArena){0};
  graph->stages = NULL;
  graph->mappings = NULL;
}

static void unpackTables(SambaKnownStages *known) {
  SambaStageGraph *graph = known->stages.graph;
  uint32_t count = graph->stage_capacity = graph->stage_count;
  graph->stages = SAMBA_ARENA_ARRAY(&known->tables, SambaStage, count);
  graph->mappings = SAMBA_ARENA_ARRAY(&known->tables, SambaMapping, count);
  const uint64_t *packed = known->packed;
  packed = sambaWordsUnpack(packed, graph->stages, count * sizeof *graph->stages);
  sambaWordsUnpack(packed, graph->mappings, count * sizeof *graph->mappings);
  free(known->packed);
  known->packed = NULL;
}

/*===-- The store -----------------------------------------------------------------------------===*/

static SambaResultStore *storeOf(MlirOperation section) {
  return sambaDialectResults(mlirOperationGetContext(section), sambaMlirString("rdu"));
}

SambaStatus sambaKnownStagesTake(MlirOperation section, SambaKnownStages **out_known) {
  *out_known = sambaResultStoreTake(storeOf(section), sambaOperationDigest(section), destroyKnown);
  if (*out_known) {
    unpackTables(*out_known);
    return NULL;
  }

  SambaKnownStages *known = sambaAllocateZeroed(1, sizeof *known);
  SambaStatus status = sambaSectionRead(section, &known->arena, &known->tables, &known->stages);
  if (status)
    sambaKnownStagesDestroy(known);
  else
    *out_known = known;
  return status;
}

void sambaKnownStagesKeep(MlirOperation section, SambaKnownStages *known) {
  packTables(known);
  sambaResultStorePut(storeOf(section), sambaOperationDigest(section), known, destroyKnown);
}
