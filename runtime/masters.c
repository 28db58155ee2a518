/* Weights of 16 bits and their copies in f32; see masters.h. */
#include "runtime/masters.h"

#include <stdlib.h>

/* ---- Pairs ---- */

static void setStale(SambaMasters *masters, SambaMasterPair *pair) {
  masters->stale += !pair->is_stale;
  pair->is_stale = true;
}

static void setAllStale(SambaMasters *masters) {
  for (size_t p = 0; p < masters->pairs.size; ++p)
    setStale(masters, &masters->pairs.data[p]);
}

static bool meet(const SambaLoadedPef *loaded, uint32_t one, uint32_t other) {
  const SambaPefSymbol *symbols = loaded->pef->symbols;
  return sambaPefSymbolsMeet(&symbols[one], &symbols[other]);
}

/* Does the call touch memory of the symbol? Does it write there? */
static bool touches(const SambaLoadedPef *loaded, uint32_t call, uint32_t symbol, bool writes) {
  const SambaPefCall *record = &loaded->pef->calls[call];
  for (uint32_t b = 0; b < record->bindings_count; ++b) {
    const SambaPefBinding *binding = &record->bindings[b];
    if (binding->kind == SAMBA_PEF_BINDING_SYMBOL && meet(loaded, binding->symbol, symbol) &&
        (!writes || loaded->device->functions->writes(loaded->device, call, binding->formal)))
      return true;
  }
  return false;
}

/* Calls that write a weight but not its copy, or the copy alone: in a graph with another optimizer,
 * or in one whose step is several sections. */
static void findHalves(SambaLoadedPef *loaded) {
  SambaMasters *masters = &loaded->masters;
  if (!loaded->device->functions->writes)
    return;
  for (uint32_t call = 0; call < loaded->pef->calls_count; ++call)
    for (size_t p = 0; p < masters->pairs.size; ++p) {
      const SambaMasterPair *pair = &masters->pairs.data[p];
      SambaMasterHalf half = {call, (uint32_t)p, touches(loaded, call, pair->weight, true)};
      if (half.is_weight != touches(loaded, call, pair->master, true))
        sambaArrayAppend(&masters->halves, half);
    }
}

void sambaMastersFind(SambaLoadedPef *loaded) {
  const SambaPef *pef = loaded->pef;
  if (!loaded->device->holds_values)
    return;
  for (uint32_t s = 0; s < pef->symbols_count; ++s)
    if (pef->symbols[s].master != SAMBA_PEF_NONE) {
      SambaMasterPair pair = {.weight = s, .master = pef->symbols[s].master};
      sambaArrayAppend(&loaded->masters.pairs, pair);
    }
  findHalves(loaded);
  setAllStale(&loaded->masters);
}

void sambaMastersFree(SambaMasters *masters) {
  sambaArrayFree(&masters->pairs);
  sambaArrayFree(&masters->halves);
}

/* ---- Who writes ---- */

void sambaMastersWritten(SambaLoadedPef *loaded, uint32_t symbol) {
  SambaMasters *masters = &loaded->masters;
  for (size_t p = 0; p < masters->pairs.size; ++p) {
    SambaMasterPair *pair = &masters->pairs.data[p];
    if (meet(loaded, symbol, pair->weight) || meet(loaded, symbol, pair->master))
      setStale(masters, pair);
  }
}

/* A graph that has written both has done a step, in whatever order. */
void sambaMastersEnd(SambaLoadedPef *loaded) {
  SambaMasters *masters = &loaded->masters;
  for (size_t p = 0; p < masters->pairs.size && masters->halves.size; ++p) {
    SambaMasterPair *pair = &masters->pairs.data[p];
    if (pair->weight_written != pair->master_written)
      setStale(masters, pair);
    pair->weight_written = pair->master_written = false;
  }
}

void sambaMastersAfter(SambaLoadedPef *loaded, uint32_t call, bool failed) {
  SambaMasters *masters = &loaded->masters;
  if (failed) /* it may have written one and not the other */
    setAllStale(masters);
  for (size_t i = 0; i < masters->halves.size; ++i) {
    const SambaMasterHalf *half = &masters->halves.data[i];
    SambaMasterPair *pair = &masters->pairs.data[half->pair];
    pair->weight_written |= half->call == call && half->is_weight;
    pair->master_written |= half->call == call && !half->is_weight;
  }
}

/* ---- Who reads ---- */

void sambaMastersBefore(SambaLoadedPef *loaded, uint32_t call) {
  SambaMasters *masters = &loaded->masters;
  if (loaded->pef->calls[call].graph != masters->graph)
    sambaMastersEnd(loaded);
  masters->graph = loaded->pef->calls[call].graph;
}

bool sambaMastersAreRead(const SambaLoadedPef *loaded, uint32_t call, const SambaMasterPair *pair) {
  return pair->is_stale && touches(loaded, call, pair->master, false);
}
