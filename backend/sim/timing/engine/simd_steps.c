/* Tables of SIMD steps; see simd_steps.h.
 *
 * Firings of very many steps have them in parts, so that no file can ask for much memory. */
#include "backend/sim/timing/engine/simd_steps.h"

#include <stdlib.h>
#include <string.h>

enum { mostRows = 1024 };

/* Elements of an output that a step makes. */
static uint64_t elementsMade(const SambaSimdOutput *output, const SambaSimdStep *step) {
  if (!output->is_result)
    return step->points;
  if (!step->ends_sums)
    return 0;
  return output->folds ? 1 : step->points;
}

static void fillRow(SambaSimdSteps *steps, const SambaSimdStep *step, uint64_t *row) {
  for (uint32_t o = 0; o < steps->output_count; ++o) {
    SambaSimdOutput *output = &steps->outputs[o];
    output->elements += elementsMade(output, step);
    *row++ = output->elements == output->token_elements
                 ? output->token_vectors
                 : sambaVectorsIn(output->vector, output->elements);
    output->elements = step->ends_firing ? 0 : output->elements;
  }
  for (uint32_t i = 0; i < steps->input_count; ++i) {
    SambaSimdNeed need = {0};
    SambaSimdInput *input = &steps->walk.inputs[steps->inputs[i].port];
    if (!steps->inputs[i].is_left_out) {
      uint64_t uses =
          sambaSimdWalkUses(&steps->walk, steps->inputs[i].port, step, step->ends_firing);
      need = sambaSimdInputNeed(input, uses);
      input->elements = step->ends_firing ? 0 : uses;
    }
    *row++ = need.touched;
    *row++ = need.used_up;
  }
}

static void fill(SambaSimdSteps *steps, uint64_t *rows) {
  steps->count = 0;
  do {
    SambaSimdStep step = sambaSimdWalkNext(&steps->walk);
    fillRow(steps, &step, rows + (size_t)steps->count++ * steps->width);
    sambaSimdWalkAdvance(&steps->walk, &step);
    steps->ends_firing = step.ends_firing;
  } while (!steps->ends_firing && steps->count < mostRows);
}

void sambaSimdStepsRefill(SambaSimdSteps *steps) { fill(steps, steps->rows); }

void sambaSimdStepsMake(SambaSimdSteps *steps, SambaArena *arena, SambaSimdTables *tables) {
  steps->width = steps->output_count + 2 * steps->input_count;
  steps->next = 0;
  uint64_t *rows = sambaAllocate(sambaArraySize(mostRows, steps->width * sizeof *rows));
  fill(steps, rows);
  steps->is_whole = steps->ends_firing;
  size_t size = steps->count * steps->width * sizeof *rows;

  steps->rows = NULL;
  for (size_t t = 0; t < tables->size && steps->is_whole && !steps->rows; ++t) {
    const SambaSimdSteps *other = tables->data[t];
    if (other->count == steps->count && other->width == steps->width &&
        !memcmp(other->rows, rows, size))
      steps->rows = other->rows;
  }
  if (!steps->rows) {
    steps->rows = sambaArenaCopy(arena, rows, size);
    if (steps->is_whole)
      sambaArrayAppend(tables, steps);
  }
  free(rows);
}
