/* Updates in place; see in_place.h.
 *
 * From each stage that reads the old tensor, what it read is followed through the stages behind
 * it. Of every tensor on the way it is known which elements of the old one an element contains: for
 * each axis of the old tensor, those at the element's own index along one axis, or all. The new
 * tensor may have the old one's memory when each of its elements contains at least its own place.
 */
#include "backend/stage/in_place.h"

#include <stdlib.h>
#include <string.h>

/* What one element of a tensor contains of the old tensor: per axis of that, the axis whose index
 * it has; SAMBA_NO_INDEX: it contains all of the axis. */
typedef struct Contents {
  bool known;
  uint32_t axes[SAMBA_MAX_RANK];
} Contents;

/* The dimension that an axis of an operand follows step by step; SAMBA_NO_INDEX: none. */
static uint32_t dimOf(const SambaStage *stage, const SambaAxisMap *axis) {
  uint32_t found = SAMBA_NO_INDEX;
  if (axis->constant)
    return SAMBA_NO_INDEX;
  for (uint32_t d = 0; d < stage->dim_count; ++d) {
    if (axis->coefficients[d] == 0)
      continue;
    if (axis->coefficients[d] != 1 || found != SAMBA_NO_INDEX)
      return SAMBA_NO_INDEX;
    found = d;
  }
  return found;
}

static bool isPlain(const SambaStageOperand *operand) {
  return !operand->guarded && operand->index_operand == SAMBA_NO_INDEX;
}

/* The axis of the stage's output along which a dimension runs (of a reduced one SAMBA_NO_INDEX: an
 * element contains all of it); false when neither is so. */
static bool findOutputAxis(const SambaStageGraph *graph, const SambaStage *stage, uint32_t dim,
                           uint32_t *out_axis) {
  *out_axis = SAMBA_NO_INDEX;
  if (stage->reduced[dim])
    return true;
  const SambaStageTensor *output = &graph->tensors[stage->output.tensor];
  for (uint32_t a = 0; a < output->rank; ++a)
    if (dimOf(stage, &stage->output.axes[a]) == dim) {
      *out_axis = a;
      return true;
    }
  return false;
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
    if (inside->axes[t] == SAMBA_NO_INDEX)
      continue;
    uint32_t dim = dimOf(stage, &operand->axes[inside->axes[t]]);
    if (dim == SAMBA_NO_INDEX || !findOutputAxis(graph, stage, dim, &contents.axes[t]))
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
    uint32_t dim = dimOf(stage, &operand->axes[a]);
    seen |= dim == SAMBA_NO_INDEX ? 0 : 1u << dim;
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
    own.axes[t] = graph->tensors[updated].dims[t] == 1 ? SAMBA_NO_INDEX : t;
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
    fits = contents[updated].axes[t] == SAMBA_NO_INDEX || contents[updated].axes[t] == t;
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
