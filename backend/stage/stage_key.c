/* Stage graphs as bytes; see stage_key.h. Field by field, counts before lists: padding never takes
 * part. */
#include "backend/stage/stage_key.h"

#include <stdlib.h>
#include <string.h>

typedef struct Key {
  const SambaStageGraph *graph;
  SAMBA_ARRAY(char) bytes;
  uint32_t *number_of; /* tensors: 1 + the place of their first use, 0: not used so far */
  uint32_t *reads;     /* of each tensor */
  uint32_t used;
} Key;

static void put(Key *key, const void *data, size_t size) {
  sambaArrayReserve(&key->bytes, key->bytes.size + size);
  memcpy(key->bytes.data + key->bytes.size, data, size);
  key->bytes.size += size;
}
static void putNumber(Key *key, uint64_t number) { put(key, &number, sizeof number); }

/* A tensor is described where it is used first, and known by its number from then on. */
static void putTensor(Key *key, uint32_t index) {
  if (index >= key->graph->tensor_count || key->number_of[index]) {
    putNumber(key, index < key->graph->tensor_count ? key->number_of[index] : UINT64_MAX);
    return;
  }

  const SambaStageTensor *tensor = &key->graph->tensors[index];
  key->number_of[index] = ++key->used;
  putNumber(key, key->used);
  putNumber(key, (uint64_t)tensor->role << 16 | (uint64_t)tensor->dtype << 8 | tensor->rank);
  put(key, tensor->dims, tensor->rank * sizeof *tensor->dims);
  putNumber(key, tensor->alias_of != SAMBA_NO_INDEX);
  if (tensor->alias_of != SAMBA_NO_INDEX)
    putTensor(key, tensor->alias_of);
}

static void putMap(Key *key, const SambaStage *stage, const SambaStageOperand *map, bool indexed) {
  putTensor(key, map->tensor);
  uint32_t rank =
      map->tensor < key->graph->tensor_count ? key->graph->tensors[map->tensor].rank : 0;
  for (uint32_t axis = 0; axis < rank && axis < SAMBA_MAX_RANK; ++axis) {
    putNumber(key, (uint64_t)map->axes[axis].constant);
    put(key, map->axes[axis].coefficients, stage->dim_count * sizeof *map->axes[axis].coefficients);
  }
  putNumber(key, map->guarded);
  putNumber(key, map->guarded ? map->fill : 0);
  putNumber(key, indexed);
  putNumber(key, indexed ? (uint64_t)map->index_operand << 32 | map->index_axis : 0);
}

static void putStage(Key *key, const SambaStage *stage) {
  putNumber(key, stage->dim_count);
  put(key, stage->extents, stage->dim_count * sizeof *stage->extents);
  put(key, stage->reduced, stage->dim_count * sizeof *stage->reduced);
  putNumber(key, stage->operand_count);
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    if (stage->operands[i].tensor < key->graph->tensor_count)
      ++key->reads[stage->operands[i].tensor];
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    putMap(key, stage, &stage->operands[i], stage->operands[i].index_operand != SAMBA_NO_INDEX);
  putMap(key, stage, &stage->output, sambaStageScatters(stage));
  putNumber(key, stage->lane_reduce);
  putNumber(key, stage->op_count);

  for (uint32_t i = 0; i < stage->op_count; ++i) {
    const SambaLaneOp *op = &stage->ops[i];
    putNumber(key, (uint64_t)op->opcode << 8 | op->type);
    for (int o = 0; o < sambaLaneOpOperands(op->opcode); ++o)
      putNumber(key, op->operands[o]);
    putNumber(key, op->immediate);
  }

  putNumber(key, stage->result);
}

static void putMapping(Key *key, const SambaMapping *mapping) {
  putNumber(key, mapping->dim_count);
  if (mapping->dim_count == 0)
    return;
  put(key, mapping->tile, sizeof mapping->tile);
  put(key, mapping->unroll, sizeof mapping->unroll);
  put(key, mapping->order, sizeof mapping->order);
  put(key, mapping->operand_level, sizeof mapping->operand_level);
  put(key, mapping->operand_depth, sizeof mapping->operand_depth);
  put(key, mapping->operand_joined, sizeof mapping->operand_joined);
  putNumber(key, mapping->group);
  putNumber(key, mapping->pipeline_count);
  put(key, mapping->pipeline_dims, sizeof mapping->pipeline_dims);
  putNumber(key, mapping->phases);
}

/* Arguments that several stages read, in the order of the graph: loads of shared arguments are
 * settled in this order, so that another order might get another plan. */
static void putArgumentOrder(Key *key) {
  for (uint32_t t = 0; t < key->graph->tensor_count; ++t)
    if (key->reads[t] > 1 && key->graph->tensors[t].role == SAMBA_TENSOR_ARGUMENT)
      putNumber(key, key->number_of[t]);
}

SambaStringRef sambaStageGraphKey(const SambaStageGraph *graph, SambaArena *arena) {
  Key key = {.graph = graph,
             .number_of = sambaAllocateZeroed(graph->tensor_count, sizeof *key.number_of),
             .reads = sambaAllocateZeroed(graph->tensor_count, sizeof *key.reads)};
  putNumber(&key, graph->stage_count);
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    putStage(&key, &graph->stages[s]);
    putMapping(&key, &graph->mappings[s]);
  }
  putArgumentOrder(&key);

  SambaStringRef copy = {sambaArenaCopy(arena, key.bytes.data, key.bytes.size), key.bytes.size};
  sambaArrayFree(&key.bytes);
  free(key.number_of);
  free(key.reads);
  return copy;
}
