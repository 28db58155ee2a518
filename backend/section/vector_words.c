/* See vector_words.h. */
#include "backend/section/vector_words.h"

#include <string.h>

SambaVectorWords sambaVectorWordsCreate(const SambaMachine *machine, SambaArena *arena) {
  /* No element has more than 8 bytes, no word less than one. */
  uint64_t most = machine->pmu_port_bytes > 8 ? (uint64_t)machine->pmu_port_bytes : 8, bits = 2;
  while (UINT64_C(1) << bits < 4 * most)
    ++bits;
  SambaVectorWords vector = {.words = SAMBA_ARENA_ARRAY(arena, SambaStampedWord, (size_t)1 << bits),
                             .shift = (uint32_t)(64 - bits),
                             .mask = (UINT64_C(1) << bits) - 1,
                             .taken = SAMBA_ARENA_ARRAY(arena, uint64_t, (size_t)1 << bits),
                             .places = SAMBA_ARENA_ARRAY(arena, SambaWordPlace, (size_t)1 << bits),
                             .given =
                                 SAMBA_ARENA_ARRAY(arena, uint32_t, (size_t)machine->pmu_banks)};
  for (uint32_t i = 0; i < SAMBA_VECTOR_LAYOUTS; ++i)
    vector.layouts[i] =
        (SambaVectorLayout){.places = SAMBA_ARENA_ARRAY(arena, SambaWordPlace, (size_t)most),
                            .most = SAMBA_ARENA_ARRAY(arena, uint32_t, (size_t)machine->pmu_banks)};
  return vector;
}

/* False when the table has the word already. */
static bool enterWord(SambaVectorWords *vector, uint64_t word) {
  uint64_t at = word * UINT64_C(0x9e3779b97f4a7c15) >> vector->shift;
  while (vector->words[at].stamp == vector->stamp) {
    if (vector->words[at].word == word)
      return false;
    at = (at + 1) & vector->mask;
  }
  vector->words[at] = (SambaStampedWord){vector->stamp, word};
  return true;
}

void sambaVectorTake(SambaVectorWords *vector, const SambaWordRule *rule, uint64_t word) {
  if (word == vector->last)
    return;
  bool rises = vector->count == 0 || word > vector->last;
  vector->last = word;
  if (!vector->hashed && !rises) {
    vector->hashed = true;
    for (uint32_t i = 0; i < vector->count; ++i)
      enterWord(vector, vector->taken[i]);
  }
  if (vector->hashed && !enterWord(vector, word))
    return;
  vector->taken[vector->count] = word;
  vector->places[vector->count++] = sambaWordPlace(rule->machine, rule->buffer, word);
}

void sambaVectorBegin(SambaVectorWords *vector) {
  vector->last = UINT64_MAX;
  vector->hashed = false;
  vector->count = 0;
  ++vector->stamp;
}

static bool isLayout(const SambaVectorWords *vector, const SambaWordRule *rule,
                     const SambaVectorLayout *layout) {
  return layout->count == vector->count && layout->skew == rule->buffer->skew &&
         layout->skew_count == rule->skew_count &&
         memcmp(layout->places, vector->places, vector->count * sizeof *vector->places) == 0;
}

/* Counts the words of the running vector in each bank, with each skew. */
static void countWords(SambaVectorWords *vector, const SambaWordRule *rule, uint32_t mask,
                       SambaVectorLayout *layout) {
  layout->count = vector->count;
  layout->skew = rule->buffer->skew;
  layout->skew_count = rule->skew_count;
  memcpy(layout->places, vector->places, vector->count * sizeof *vector->places);
  for (uint32_t s = 0; s < rule->skew_count; ++s) {
    uint32_t skew = rule->buffer->skew + s, most = 0;
    for (uint32_t i = 0; i < vector->count; ++i) {
      const SambaWordPlace *place = &vector->places[i];
      uint32_t given = ++vector->given[(place->bank + skew * place->row) & mask];
      most = given > most ? given : most;
    }
    for (uint32_t i = 0; i < vector->count; ++i)
      vector->given[(vector->places[i].bank + skew * vector->places[i].row) & mask] = 0;
    layout->most[s] = most;
  }
}

void sambaVectorEnd(SambaVectorWords *vector, const SambaWordRule *rule, uint64_t *cycles) {
  uint32_t mask = (uint32_t)rule->machine->pmu_banks - 1;
  SambaWordPlace first = vector->count ? vector->places[0] : (SambaWordPlace){0, 0};
  uint32_t hash = 0;
  for (uint32_t i = 0; i < vector->count; ++i) {
    SambaWordPlace *place = &vector->places[i];
    *place = (SambaWordPlace){(place->bank - first.bank) & mask, (place->row - first.row) & mask};
    hash += (place->bank + 3 * place->row) * (2 * i + 1);
  }

  SambaVectorLayout *layout = vector->last_layout;
  if (!layout || !isLayout(vector, rule, layout)) {
    layout = vector->last_layout = &vector->layouts[hash % SAMBA_VECTOR_LAYOUTS];
    if (!isLayout(vector, rule, layout))
      countWords(vector, rule, mask, layout);
  }
  for (uint32_t s = 0; s < rule->skew_count; ++s)
    cycles[s] += layout->most[s] > rule->least_cycles ? layout->most[s] : rule->least_cycles;
  if (vector->noted)
    *vector->noted++ =
        layout->most[0] > rule->least_cycles ? layout->most[0] : (uint32_t)rule->least_cycles;
  sambaVectorBegin(vector);
}
