/* Reverse-mode differentiation; see differentiate.h. */
#include "dialect/samba/table/calls/differentiate.h"

#include "dialect/samba/table/core/rows.h"
#include "support/base/index.h"

#include <stdlib.h>
#include <string.h>

/* The state of one differentiation. Arrays over values and steps cover the forward graph only. */
typedef struct Reverse {
  SambaExpansion *graph;
  size_t value_count, step_count; /* of the forward graph */
  bool *wanted;                   /* per value: it depends on a wanted value, differentiably */
  bool *seeded;                   /* per value: a seed depends on it, differentiably */
  uint32_t *gradients;            /* per value: SAMBA_NO_INDEX until something flows */
  SAMBA_ARRAY(uint32_t) origins;
} Reverse;

SambaGradientKind sambaOperatorGradientKind(const SambaOperator *operator) {
  if (operator->no_gradient)
    return SAMBA_GRADIENT_NONE;
  if (operator->differentiate)
    return SAMBA_GRADIENT_RULE;
  return operator->decompose ? SAMBA_GRADIENT_INHERITED : SAMBA_GRADIENT_MISSING;
}

static bool isFloat(const SambaExpansion *graph, uint32_t value) {
  return sambaDTypeIsFloat(sambaExpansionType(graph, value)->dtype);
}

static uint32_t resultCount(const SambaExpansionStep *step) {
  return step->operator ? sambaOperatorResults(step->operator) : 1;
}

static bool passesGradients(const SambaExpansionStep *step) {
  return step->operator && sambaOperatorGradientKind(step->operator) != SAMBA_GRADIENT_NONE;
}

/* Values that depend on a wanted one through operators that pass gradients. */
static void markWanted(Reverse *reverse, const SambaDifferentiation *what) {
  for (uint32_t i = 0; i < what->wanted_count; ++i)
    reverse->wanted[what->wanted[i]] = true;
  for (size_t s = 0; s < reverse->step_count; ++s) {
    const SambaExpansionStep *step = &reverse->graph->steps.data[s];
    bool depends = false;
    for (uint32_t i = 0; i < step->operand_count && !depends && passesGradients(step); ++i)
      depends = reverse->wanted[step->operands[i]];
    for (uint32_t r = 0; depends && r < resultCount(step); ++r)
      reverse->wanted[step->first_value + r] |= isFloat(reverse->graph, step->first_value + r);
  }
}

/* Values that a seed depends on; those that wait for a gradient are seeded and wanted. */
static void markSeeded(Reverse *reverse, const SambaDifferentiation *what) {
  for (uint32_t i = 0; i < what->seed_count; ++i)
    reverse->seeded[what->seeds[i]] = true;
  for (size_t s = reverse->step_count; s-- > 0;) {
    const SambaExpansionStep *step = &reverse->graph->steps.data[s];
    bool leads = false;
    for (uint32_t r = 0; r < resultCount(step) && !leads && passesGradients(step); ++r)
      leads = reverse->seeded[step->first_value + r];
    for (uint32_t i = 0; leads && i < step->operand_count; ++i)
      reverse->seeded[step->operands[i]] = true;
  }
}

/* Steps that were made since the last call belong to `step`. */
static void recordOrigins(Reverse *reverse, uint32_t step) {
  while (reverse->step_count + reverse->origins.size < reverse->graph->steps.size)
    sambaArrayAppend(&reverse->origins, step);
}

/* The step that makes the value; NULL: none, it is an operand. */
static const SambaExpansionStep *makerOf(const SambaExpansion *graph, uint32_t value) {
  size_t first = 0, end = graph->steps.size; /* steps make values in order */
  while (first < end) {
    size_t middle = (first + end) / 2;
    if (graph->steps.data[middle].first_value <= value)
      first = middle + 1;
    else
      end = middle;
  }
  const SambaExpansionStep *step = first ? &graph->steps.data[first - 1] : NULL;
  return step && step->first_value == value && step->operator ? step : NULL;
}

/* A value with zeros before and behind it along one axis. */
typedef struct Padded {
  uint32_t value, axis;
  int64_t low, size, high;
} Padded;

static const int64_t *integersOf(const SambaExpansionStep *step, const char *name) {
  for (uint32_t i = 0; i < step->attribute_count; ++i)
    if (sambaStringRefEqualC(step->attributes[i].name, name))
      return step->attributes[i].value.integers.data;
  return NULL;
}

static bool isPadded(const SambaExpansion *graph, uint32_t value, Padded *out) {
  const SambaExpansionStep *step = makerOf(graph, value);
  if (!step || strcmp(step->operator->name, "pad") != 0)
    return false;
  const int64_t *low = integersOf(step, "low"), *high = integersOf(step, "high");
  const SambaTensorType *inner = sambaExpansionType(graph, step->operands[0]);
  uint32_t axes = 0;
  for (uint32_t axis = 0; axis < inner->rank; ++axis) {
    if (low[axis] < 0 || high[axis] < 0)
      return false;
    if (!low[axis] && !high[axis])
      continue;
    ++axes;
    *out = (Padded){step->operands[0], axis, low[axis], inner->dims[axis], high[axis]};
  }
  return axes == 1;
}

/* Adds the parts of a value along an axis to the list: those of a cat, or the value itself. */
static uint32_t listParts(const SambaExpansion *graph, const Padded *padded, uint32_t *out) {
  const SambaExpansionStep *step = makerOf(graph, padded->value);
  const SambaAttribute *attributes = step ? step->attributes : NULL;
  if (!step || strcmp(step->operator->name, "cat") != 0 || step->attribute_count != 1 ||
      attributes[0].value.integer != (int64_t)padded->axis) {
    out[0] = padded->value;
    return 1;
  }
  memcpy(out, step->operands, step->operand_count * sizeof *out);
  return step->operand_count;
}

enum { mostParts = 16 };

/* The sum of two gradients. Those of neighbouring slices follow each other in memory: then nothing
 * is added. */
static uint32_t sumOf(SambaExpansion *graph, uint32_t sum, uint32_t gradient) {
  Padded a, b;
  uint32_t parts[2 * mostParts], count;
  if (!isPadded(graph, gradient, &b) || !isPadded(graph, sum, &a) || a.axis != b.axis ||
      (a.low + a.size != b.low && b.low + b.size != a.low))
    return sambaExpandBinary(graph, "add", sum, gradient);
  const Padded *first = a.low < b.low ? &a : &b, *second = a.low < b.low ? &b : &a;
  if (makerOf(graph, a.value) && makerOf(graph, a.value)->operand_count > mostParts)
    return sambaExpandBinary(graph, "add", sum, gradient);

  count = listParts(graph, first, parts);
  count += listParts(graph, second, parts + count);
  uint32_t joined = sambaExpandCat(graph, count, parts, a.axis);
  if (!first->low && !second->high)
    return joined;
  int64_t low[SAMBA_MAX_RANK] = {0}, high[SAMBA_MAX_RANK] = {0};
  uint32_t rank = sambaExpansionType(graph, joined)->rank;
  low[a.axis] = first->low;
  high[a.axis] = second->high;
  SambaAttribute attributes[] = {sambaIntsAttribute("low", low, rank),
                                 sambaIntsAttribute("high", high, rank)};
  return sambaExpandCall(graph, "pad", 1, &joined, 2, attributes);
}

static SambaStatus accumulate(Reverse *reverse, const SambaExpansionStep *step, uint32_t operand,
                              uint32_t gradient) {
  SambaExpansion *graph = reverse->graph;
  uint32_t value = step->operands[operand];
  const SambaTensorType *wanted = sambaExpansionType(graph, value);
  const SambaTensorType *made = sambaExpansionType(graph, gradient);
  if (wanted->dtype != made->dtype || wanted->rank != made->rank ||
      memcmp(wanted->dims, made->dims, wanted->rank * sizeof *wanted->dims) != 0) {
    char want[160], got[160];
    return sambaStatusMake(SAMBA_INVALID, "the gradient of operand %u of %s is %s, not %s", operand,
                           step->operator->name, sambaTensorTypeFormat(made, got),
                           sambaTensorTypeFormat(wanted, want));
  }

  uint32_t *sum = &reverse->gradients[value];
  *sum = *sum == SAMBA_NO_INDEX ? gradient : sumOf(graph, *sum, gradient);
  return NULL;
}

static SambaStatus reverseStep(Reverse *reverse, uint32_t index) {
  SambaExpansion *graph = reverse->graph;
  SambaExpansionStep step = graph->steps.data[index]; /* a copy: rules append steps */
  SambaArena *arena = graph->arena;
  uint32_t results[SAMBA_MAX_RESULTS], result_gradients[SAMBA_MAX_RESULTS];
  bool *needed = SAMBA_ARENA_ARRAY(arena, bool, step.operand_count + 1);
  uint32_t *operand_gradients = SAMBA_ARENA_ARRAY(arena, uint32_t, step.operand_count + 1);
  SambaTensorType *types = SAMBA_ARENA_ARRAY(arena, SambaTensorType, step.operand_count + 1);
  bool flows = false, asked = false;

  for (uint32_t r = 0; r < resultCount(&step); ++r) {
    results[r] = step.first_value + r;
    result_gradients[r] = reverse->gradients[results[r]];
    flows |= result_gradients[r] != SAMBA_NO_INDEX;
  }
  for (uint32_t i = 0; i < step.operand_count; ++i) {
    types[i] = *sambaExpansionType(graph, step.operands[i]);
    needed[i] = reverse->wanted[step.operands[i]];
    asked |= needed[i];
  }
  if (!flows || !asked || !passesGradients(&step))
    return NULL;

  if (!step.operator->differentiate)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "%s has no rule for its gradient; compute it outside of what is trained",
                           step.operator->name);
  SambaOperatorCall call = {.operator = step.operator,
                            .operand_count = step.operand_count,
                            .operands = types,
                            .attribute_count = step.attribute_count,
                            .attributes = step.attributes};
  SambaGradientCall gradient = {&call,  step.operands,    results, result_gradients,
                                needed, operand_gradients};
  sambaClearIndices(operand_gradients, step.operand_count);
  SAMBA_RETURN_IF_ERROR(step.operator->differentiate(&gradient, graph));
  for (uint32_t i = 0; i < step.operand_count && !graph->status; ++i)
    if (needed[i] && operand_gradients[i] != SAMBA_NO_INDEX)
      SAMBA_RETURN_IF_ERROR(accumulate(reverse, &step, i, operand_gradients[i]));

  SambaStatus status = graph->status;
  graph->status = NULL;
  return sambaStatusAnnotate(status, "gradient of %s", step.operator->name);
}

/* The first step behind the value that passes no gradient on, on a way to a seed or not. */
static uint32_t findCut(const Reverse *reverse, uint32_t value) {
  bool *reached = sambaAllocateZeroed(reverse->value_count + 1, sizeof *reached);
  uint32_t cut = SAMBA_NO_INDEX;

  reached[value] = true;
  for (size_t s = 0; s < reverse->step_count && cut == SAMBA_NO_INDEX; ++s) {
    const SambaExpansionStep *step = &reverse->graph->steps.data[s];
    bool reads = false;
    for (uint32_t i = 0; i < step->operand_count && !reads; ++i)
      reads = reached[step->operands[i]];
    if (reads && !passesGradients(step))
      cut = (uint32_t)s;
    for (uint32_t r = 0; reads && r < resultCount(step); ++r)
      reached[step->first_value + r] = true;
  }

  free(reached);
  return cut;
}

static SambaStatus reverseSteps(Reverse *reverse, uint32_t *out_step) {
  for (size_t s = reverse->step_count; s-- > 0;) {
    SambaStatus status = reverseStep(reverse, (uint32_t)s);
    if (status) {
      *out_step = (uint32_t)s;
      return status;
    }
    recordOrigins(reverse, (uint32_t)s);
  }
  return NULL;
}

SambaStatus sambaDifferentiate(SambaExpansion *graph, const SambaDifferentiation *what,
                               SambaGradients *out, uint32_t *out_step) {
  Reverse reverse = {
      .graph = graph, .value_count = graph->types.size, .step_count = graph->steps.size};
  size_t values = reverse.value_count + 1;
  reverse.wanted = sambaAllocateZeroed(values, sizeof *reverse.wanted);
  reverse.seeded = sambaAllocateZeroed(values, sizeof *reverse.seeded);
  reverse.gradients = sambaAllocate(sambaArraySize(values, sizeof *reverse.gradients));
  sambaClearIndices(reverse.gradients, values);

  markWanted(&reverse, what);
  markSeeded(&reverse, what);
  for (size_t v = 0; v < reverse.value_count; ++v)
    reverse.wanted[v] &= reverse.seeded[v];
  for (uint32_t i = 0; i < what->seed_count; ++i) {
    uint32_t *sum = &reverse.gradients[what->seeds[i]];
    *sum = *sum == SAMBA_NO_INDEX ? what->seed_gradients[i]
                                  : sambaExpandBinary(graph, "add", *sum, what->seed_gradients[i]);
  }
  *out_step = SAMBA_NO_INDEX;
  SambaStatus status = reverseSteps(&reverse, out_step);

  out->gradients = SAMBA_ARENA_ARRAY(graph->arena, uint32_t, what->wanted_count + 1);
  out->cuts = SAMBA_ARENA_ARRAY(graph->arena, uint32_t, what->wanted_count + 1);
  for (uint32_t i = 0; i < what->wanted_count; ++i) {
    out->gradients[i] = reverse.gradients[what->wanted[i]];
    bool missing = !status && out->gradients[i] == SAMBA_NO_INDEX;
    out->cuts[i] = missing ? findCut(&reverse, what->wanted[i]) : SAMBA_NO_INDEX;
  }
  out->origins = sambaArenaCopy(graph->arena, reverse.origins.data,
                                reverse.origins.size * sizeof *reverse.origins.data);
  out->first_step = (uint32_t)reverse.step_count;

  free(reverse.wanted);
  free(reverse.seeded);
  free(reverse.gradients);
  sambaArrayFree(&reverse.origins);
  return status;
}
