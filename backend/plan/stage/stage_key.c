/* Stage graphs as bytes; see stage_key.h. Field by field, counts before lists: padding never takes
 * part. */
#include "backend/plan/stage/stage_key.h"

#include <stdlib.h>
#include <string.h>

typedef SAMBA_ARRAY(char) Key;

static void put(Key *key, const void *data, size_t size) {
  sambaArrayReserve(key, key->size + size);
  memcpy(key->data + key->size, data, size);
  key->size += size;
}
static void putNumber(Key *key, uint64_t number) { put(key, &number, sizeof number); }

static void putOperand(Key *key, const SambaStageGraph *graph, const SambaStage *stage,
                       const SambaStageOperand *map) {
  putNumber(key, map->tensor);
  uint32_t rank = map->tensor < graph->tensor_count ? graph->tensors[map->tensor].rank : 0;
  for (uint32_t axis = 0; axis < rank && axis < SAMBA_MAX_RANK; ++axis) {
    putNumber(key, (uint64_t)map->axes[axis].constant);
    put(key, map->axes[axis].coefficients, stage->dim_count * sizeof *map->axes[axis].coefficients);
  }
  putNumber(key, map->guarded);
  putNumber(key, map->fill);
  putNumber(key, (uint64_t)(int64_t)map->index_operand);
  putNumber(key, map->index_axis);
}

static void putStage(Key *key, const SambaStageGraph *graph, const SambaStage *stage) {
  putNumber(key, stage->dim_count);
  put(key, stage->extents, stage->dim_count * sizeof *stage->extents);
  put(key, stage->reduced, stage->dim_count * sizeof *stage->reduced);
  putNumber(key, stage->operand_count);
  for (uint32_t i = 0; i < stage->operand_count; ++i)
    putOperand(key, graph, stage, &stage->operands[i]);
  putOperand(key, graph, stage, &stage->output);
  putNumber(key, stage->lane_reduce);
  putNumber(key, stage->op_count);

  for (uint32_t i = 0; i < stage->op_count; ++i) {
    const SambaLaneOp *op = &stage->ops[i];
    putNumber(key, (uint64_t)op->opcode << 8 | op->type);
    put(key, op->operands, sizeof op->operands);
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
  putNumber(key, mapping->group);
  putNumber(key, (uint64_t)(int64_t)mapping->pipeline_dim);
}

SambaStringRef sambaStageGraphKey(const SambaStageGraph *graph, SambaArena *arena) {
  Key key = {0};
  putNumber(&key, graph->tensor_count);
  for (uint32_t t = 0; t < graph->tensor_count; ++t) {
    const SambaStageTensor *tensor = &graph->tensors[t];
    putNumber(&key, (uint64_t)tensor->role << 16 | (uint64_t)tensor->dtype << 8 | tensor->rank);
    put(&key, tensor->dims, tensor->rank * sizeof *tensor->dims);
    putNumber(&key, tensor->alias_of);
  }

  putNumber(&key, graph->stage_count);
  for (uint32_t s = 0; s < graph->stage_count; ++s) {
    putStage(&key, graph, &graph->stages[s]);
    putMapping(&key, &graph->mappings[s]);
  }

  SambaStringRef copy = {sambaArenaCopy(arena, key.data, key.size), key.size};
  sambaArrayFree(&key);
  return copy;
}
