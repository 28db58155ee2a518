/* Updates in place; see update_in_place.h.
 *
 * From each stage that reads the old tensor, what it read is followed through the stages behind
 * it. Of every tensor on the way it is known which elements of the old one an element contains: for
 * each axis of the old tensor, those at the element's own index along one axis, or all. The new
 * tensor may have the old one's memory when each of its elements contains at least its own place.
 */
#include "backend/stage/update_in_place.h"

#include <stdlib.h>
#include <string.h>

enum { all = -1 };

/* What one element of a tensor contains of the old tensor: per axis of that, the axis whose index
 * it has, or `all`. */
typedef struct Contents {
  bool known;
  int32_t axes[SAMBA_MAX_RANK];
} Contents;

/* The dimension that an axis of an operand follows step by step, or -1. */
static int32_t dimOf(const SambaStage *stage, const SambaAxisMap *axis) {
  int32_t found = -1;
  if (axis->constant)
    return -1;
  for (uint32_t d = 0; d < stage->dim_count; ++d) {
    if (axis->coefficients[d] == 0)
      continue;
    if (axis->coefficients[d] != 1 || found >= 0)
      return -1;
    found = (int32_t)d;
  }
  return found;
}

static bool isPlain(const SambaStageOperand *operand) {
  return !operand->guarded && operand->index_operand == SAMBA_NO_INDEX;
}

/* The axis of the stage's output along which dimension d runs, `all` for a reduced dimension; -2
 * when neither is so. */
static int32_t outputAxis(const SambaStageGraph *graph, const SambaStage *stage, int32_t d) {
  if (stage->reduced[d])
    return all;
  const SambaStageTensor *output = &graph->tensors[stage->output.tensor];
  for (uint32_t a = 0; a < output->rank; ++a)
    if (dimOf(stage, &stage->output.axes[a]) == d)
      return (int32_t)a;
  return -2;
}

/* The whole output is written by plain places of its own. */
static bool writesPlainly(const SambaStageGraph *graph, const SambaStage *stage) {
  if (!isPlain(&stage->output) || sambaStageScatters(stage))
    return false;
  uint32_t writers = 0;
  for (uint32_t s = 0; s < graph->stage_count; ++s)
    writers += graph->stages[s].output.tensor == stage->output.tensor;
  return writers == 1;
}

/* What an output element of the stage contains through operand k, whose elements contain
 * `inside`. */
static Contents through(const SambaStageGraph *graph, const SambaStage *stage, uint32_t k,
                        const Contents *inside, uint32_t rank) {
  const SambaStageOperand *operand = &stage->operands[k];
  Contents contents = *inside;
  if (!isPlain(operand) || !writesPlainly(graph, stage))
    return (Contents){0};

  for (uint32_t t = 0; t < rank; ++t) {
    if (inside->axes[t] == all)
      continue;
    int32_t d = dimOf(stage, &operand->axes[inside->axes[t]]);
    contents.axes[t] = d < 0 ? -2 : outputAxis(graph, stage, d);
    if (contents.axes[t] == -2)
      return (Contents){0};
  }
  return contents;
}

/* Each element of the tensor is read at one point of the stage: every dimension is an axis. */
static bool readsOnce(const SambaStage *stage, const SambaStageOperand *operand, uint32_t rank) {
  uint32_t seen = 0, wide = 0;
  if (!isPlain(operand))
    return false;
  for (uint32_t d = 0; d < stage->dim_count; ++d)
    wide |= (uint32_t)(stage->extents[d] > 1) << d;
  for (uint32_t a = 0; a < rank; ++a) {
    int32_t d = dimOf(stage, &operand->axes[a]);
    seen |= d >= 0 ? 1u << d : 0;
  }
  return (wide & ~seen) == 0;
}

/* Each element of `updated` contains its own place of the old tensor, by way of operand k of
 * `reader`. */
static bool reaches(const SambaStageGraph *graph, uint32_t reader, uint32_t k, uint32_t updated,
                    Contents *contents) {
  const SambaStage *stage = &graph->stages[reader];
  uint32_t rank = graph->tensors[updated].rank;
  Contents own = {.known = true};
  for (uint32_t t = 0; t < rank; ++t) /* an axis of one element: all of it */
    own.axes[t] = graph->tensors[updated].dims[t] == 1 ? all : (int32_t)t;
  memset(contents, 0, graph->tensor_count * sizeof *contents);
  contents[stage->output.tensor] = through(graph, stage, k, &own, rank);

  for (uint32_t s = reader + 1; s < graph->stage_count; ++s) {
    stage = &graph->stages[s];
    Contents *output = &contents[stage->output.tensor];
    for (uint32_t i = 0; i < stage->operand_count && !output->known; ++i)
      if (contents[stage->operands[i].tensor].known)
        *output = through(graph, stage, i, &contents[stage->operands[i].tensor], rank);
  }

  bool fits = contents[updated].known;
  for (uint32_t t = 0; t < rank && fits; ++t)
    fits = contents[updated].axes[t] == all || contents[updated].axes[t] == (int32_t)t;
  return fits;
}

static bool hasAlias(const SambaStageGraph *graph, uint32_t tensor) {
  bool alias = graph->tensors[tensor].alias_of != SAMBA_NO_INDEX;
  for (uint32_t t = 0; t < graph->tensor_count; ++t)
    alias |= graph->tensors[t].alias_of == tensor;
  return alias;
}

bool sambaStageGraphUpdatesInPlace(const SambaStageGraph *graph, uint32_t old, uint32_t updated) {
  const SambaStageTensor *before = &graph->tensors[old], *after = &graph->tensors[updated];
  if (before->rank != after->rank || hasAlias(graph, old) || hasAlias(graph, updated) ||
      memcmp(before->dims, after->dims, before->rank * sizeof *before->dims))
    return false;

  Contents *contents = sambaAllocate(sambaArraySize(graph->tensor_count, sizeof *contents));
  bool fits = true;
  for (uint32_t s = 0; s < graph->stage_count && fits; ++s)
    for (uint32_t k = 0; k < graph->stages[s].operand_count && fits; ++k)
      if (graph->stages[s].operands[k].tensor == old)
        fits = readsOnce(&graph->stages[s], &graph->stages[s].operands[k], before->rank) &&
               reaches(graph, s, k, updated, contents);
  free(contents);
  return fits;
}
