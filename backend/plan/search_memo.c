/* Known results of searches; see search_memo.h. A table with few places for each hash, of which the
 * oldest is given up, so that a long graph takes no more memory than a short one. */
#include "backend/plan/search_memo.h"

#include "support/container/byte_buffer.h"
#include "support/container/packed_words.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Results, of which `ways` may have the same place, and kinds of groups. */
enum { placeCount = 4096, ways = 4, mostKinds = 2048 };

typedef struct Known {
  uint64_t hash;
  SambaSearchTrace trace; /* of the search: for limits that grant and refuse the same */
  bool found;
  uint32_t key_words;
  uint64_t *words; /* the key, and behind it the choice, packed */
} Known;

/* What a result follows from beside the PMUs and the units. */
enum { mostWords = 13 + 2 * SAMBA_MAX_PIPELINE_DIMS + 2 * SAMBA_MAX_GROUP_OPERANDS };
typedef struct LimitsKey {
  uint64_t hash;
  uint32_t count;
  uint64_t words[mostWords];
} LimitsKey;

typedef struct Kind {
  uint64_t hash;
  size_t size;
  uint8_t *bytes;
} Kind;

struct SambaSearchMemo {
  pthread_mutex_t mutex;
  uint32_t references;
  uint64_t first_kind; /* number of kinds[0]: those before are forgotten */
  uint32_t kind_count;
  Kind kinds[mostKinds];
  Known known[placeCount][ways];
  uint8_t next[placeCount]; /* the way that is given up next */
};

SambaSearchMemo *sambaSearchMemoCreate(void) {
  SambaSearchMemo *memo = sambaAllocateZeroed(1, sizeof *memo);
  pthread_mutex_init(&memo->mutex, NULL);
  memo->references = 1;
  return memo;
}

SambaSearchMemo *sambaSearchMemoRetain(SambaSearchMemo *memo) {
  pthread_mutex_lock(&memo->mutex);
  ++memo->references;
  pthread_mutex_unlock(&memo->mutex);
  return memo;
}

static void forgetKinds(SambaSearchMemo *memo) {
  for (uint32_t i = 0; i < memo->kind_count; ++i)
    free(memo->kinds[i].bytes);
  memo->first_kind += memo->kind_count;
  memo->kind_count = 0;
}

void sambaSearchMemoRelease(SambaSearchMemo *memo) {
  if (!memo)
    return;
  pthread_mutex_lock(&memo->mutex);
  bool last = --memo->references == 0;
  pthread_mutex_unlock(&memo->mutex);
  if (!last)
    return;
  for (uint32_t place = 0; place < placeCount; ++place)
    for (uint32_t way = 0; way < ways; ++way)
      free(memo->known[place][way].words);
  forgetKinds(memo);
  pthread_mutex_destroy(&memo->mutex);
  free(memo);
}

/*===-- Keys ----------------------------------------------------------------------------------===*/

static void put(SambaByteBuffer *key, const void *data, size_t size) {
  sambaArrayReserve(key, key->size + size);
  memcpy(key->data + key->size, data, size);
  key->size += size;
}
static void putNumber(SambaByteBuffer *key, uint64_t number) { put(key, &number, sizeof number); }

static uint64_t hashOf(const void *words, size_t count) { /* of 8 bytes */
  uint64_t hash = count;
  for (size_t at = 0; at < count; ++at) {
    uint64_t word;
    memcpy(&word, (const char *)words + at * sizeof word, sizeof word);
    hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 29;
  }
  return hash;
}

static void putMap(SambaByteBuffer *key, const SambaStageGraph *graph, const SambaGroup *group,
                   const SambaStageOperand *map) {
  const SambaStageTensor *tensor = &graph->tensors[map->tensor];
  putNumber(key, (uint64_t)tensor->role << 32 | (uint64_t)tensor->dtype << 16 | tensor->rank);
  put(key, tensor->dims, tensor->rank * sizeof *tensor->dims);
  for (uint32_t axis = 0; axis < tensor->rank; ++axis) {
    putNumber(key, (uint64_t)map->axes[axis].constant);
    put(key, map->axes[axis].coefficients, group->dim_count * sizeof(int64_t));
  }
  putNumber(key, map->guarded);
  putNumber(key, (uint64_t)map->index_operand << 32 | map->index_axis);
}

static void putGroup(SambaByteBuffer *key, const SambaStageGraph *graph, const SambaGroup *group) {
  putNumber(key, (uint64_t)group->dim_count << 32 | group->parallel_count);
  put(key, group->extents, group->dim_count * sizeof *group->extents);
  put(key, group->output_stride, group->dim_count * sizeof *group->output_stride);
  for (uint32_t dim = 0; dim < group->dim_count; ++dim)
    putNumber(key, (uint64_t)group->output_order[dim] << 1 | group->reduced[dim]);
  putNumber(key, group->operand_count);
  for (uint32_t i = 0; i < group->operand_count; ++i) {
    const SambaGroupOperand *operand = &group->operands[i];
    putMap(key, graph, group, &operand->map);
    putNumber(key, (uint64_t)operand->depends << 3 | operand->value << 2 | operand->late << 1 |
                       operand->indexes);
    for (uint32_t dim = 0; dim < group->dim_count; ++dim)
      putNumber(key, operand->axes[dim]);
  }

  putMap(key, graph, group, &group->output);
  putNumber(key, (uint64_t)group->result << 32 | group->counted);
  putNumber(key, (uint64_t)group->mac[0] << 32 | group->mac[1]);
  putNumber(key, (uint64_t)group->lane_reduce << 3 | group->copy << 2 | group->systolic << 1 |
                     sambaGroupMayCarrySums(graph, group));
  putNumber(key, (uint64_t)group->sum_width << 32 | group->transcendentals);
  putNumber(key, (uint64_t)group->stage_ops << 32 | group->pcus);
  putNumber(key, group->handed);
  putNumber(key, (uint64_t)group->simd.lanes);
  putNumber(key, (uint64_t)group->simd.rows);
  putNumber(key, (uint64_t)group->simd.innermost);
  putNumber(key, (uint64_t)group->simd.stages << 32 | group->simd.transcendentals);
  putNumber(key, (uint64_t)group->simd.wide << 1 | group->simd.moves_only);
}

static void putMachine(SambaByteBuffer *key, const SambaMachine *machine) {
  SambaMachine copy = *machine;
  copy.grid_rows = copy.grid_columns = 0;
  put(key, (const char *)&copy + sizeof copy.name,
      offsetof(SambaMachine, reasons) - sizeof copy.name);
}

uint64_t sambaSearchMemoKind(SambaSearchMemo *memo, const SambaStageGraph *graph,
                             const SambaGroup *group, const SambaMachine *machine) {
  SambaByteBuffer key = {0};
  putMachine(&key, machine);
  putGroup(&key, graph, group);
  uint64_t hash = hashOf(key.data, key.size / sizeof(uint64_t));

  pthread_mutex_lock(&memo->mutex);
  uint32_t i = 0;
  while (i < memo->kind_count && (memo->kinds[i].hash != hash || memo->kinds[i].size != key.size ||
                                  memcmp(memo->kinds[i].bytes, key.data, key.size) != 0))
    ++i;
  if (i == mostKinds) { /* numbers are given once, so what is known of these is never found */
    forgetKinds(memo);
    i = 0;
  }
  if (i == memo->kind_count) {
    memo->kinds[memo->kind_count++] = (Kind){hash, key.size, key.data};
    key = (SambaByteBuffer){0};
  }
  uint64_t number = memo->first_kind + i;
  pthread_mutex_unlock(&memo->mutex);

  sambaArrayFree(&key);
  return number;
}

/* Of the limits all but what the search may use of PMUs and of units: that is compared. */
static void makeKey(uint64_t kind, const SambaGroupLimits *limits, uint32_t operand_count,
                    LimitsKey *key) {
  uint64_t *word = key->words;
  *word++ = kind;
  *word++ = limits->pipeline.count;
  for (uint32_t i = 0; i < limits->pipeline.count; ++i) {
    *word++ = (uint64_t)limits->pipeline.dim[i] << 32 | limits->pipeline_copies[i];
    *word++ = (uint64_t)limits->pipeline_tile[i];
  }
  *word++ = (uint64_t)limits->replicas << 32 | limits->pcus;
  *word++ = (uint64_t)limits->copies << 32 | limits->ags;
  *word++ = (uint64_t)limits->on_chip << 32 | limits->several;
  *word++ = (uint64_t)limits->writers << 32 | limits->output_buffers;
  *word++ = (uint64_t)limits->sum_parts << 3 | (uint64_t)limits->carries_sums << 2 |
            (uint64_t)limits->buffered_output << 1 | limits->stored_output;
  memcpy(word++, &limits->pcu_launch, sizeof *word);
  memcpy(word++, &limits->pmu_launch, sizeof *word);
  for (uint32_t i = 0; i < operand_count; ++i) {
    *word++ = (uint64_t)limits->sliced[i] << 32 | limits->buffers[i];
    *word++ = limits->least_level[i];
  }
  key->count = (uint32_t)(word - key->words);
  key->hash = hashOf(key->words, key->count);
}

/*===-- Results -------------------------------------------------------------------------------===*/

static bool isWithin(const SambaSearchTrace *trace, const SambaGroupLimits *limits) {
  return limits->pmus >= trace->pmus_granted && limits->pmus < trace->pmus_refused &&
         limits->units >= trace->units_granted && limits->units < trace->units_refused;
}

static bool isResult(const Known *known, const LimitsKey *key, const SambaGroupLimits *limits) {
  return known->words && known->hash == key->hash && known->key_words == key->count &&
         isWithin(&known->trace, limits) &&
         memcmp(known->words, key->words, key->count * sizeof *key->words) == 0;
}

bool sambaSearchMemoFind(SambaSearchMemo *memo, uint64_t kind, const SambaGroupLimits *limits,
                         uint32_t operand_count, uint64_t *out_work, bool *out_found,
                         SambaGroupChoice *out_choice) {
  LimitsKey key;
  makeKey(kind, limits, operand_count, &key);
  const Known *known = NULL;

  pthread_mutex_lock(&memo->mutex);
  for (uint32_t way = 0; way < ways && !known; ++way) {
    const Known *at = &memo->known[key.hash % placeCount][way];
    known = isResult(at, &key, limits) ? at : NULL;
  }
  *out_found = known && known->found;
  *out_work = known ? known->trace.work : 0;
  if (*out_found)
    sambaWordsUnpack(known->words + known->key_words, out_choice, sizeof *out_choice);
  pthread_mutex_unlock(&memo->mutex);
  return known;
}

void sambaSearchMemoKeep(SambaSearchMemo *memo, uint64_t kind, const SambaGroupLimits *limits,
                         uint32_t operand_count, const SambaSearchTrace *trace,
                         const SambaGroupChoice *choice) {
  LimitsKey key;
  SambaPackedWords words = {0};
  makeKey(kind, limits, operand_count, &key);
  if (choice)
    sambaWordsPack(choice, sizeof *choice, &words);
  uint64_t *all = sambaAllocate(sambaArraySize(key.count + words.size, sizeof *all));
  memcpy(all, key.words, key.count * sizeof *all);
  if (choice)
    memcpy(all + key.count, words.data, words.size * sizeof *all);
  sambaArrayFree(&words);
  Known kept = {key.hash, *trace, choice, key.count, all};

  pthread_mutex_lock(&memo->mutex);
  uint8_t *next = &memo->next[key.hash % placeCount];
  Known *place = &memo->known[key.hash % placeCount][*next];
  *next = (*next + 1) % ways;
  uint64_t *old = place->words;
  *place = kept;
  pthread_mutex_unlock(&memo->mutex);

  free(old);
}
