/* What the body of a reduction does with its accumulator; see reduce_form.h. */
#include "lowering/raise/reduce_form.h"

#include <math.h>
#include <string.h>

static const SambaReduceRow rows[] = {
    {"add", "sum", false},      {"mul", "prod", false},       {"maximum", "amax", false},
    {"minimum", "amin", false}, {"logical_or", "amax", true}, {"logical_and", "amin", true},
};

bool sambaReductionOf(const SambaNest *nest, uint32_t output, SambaReduction *out) {
  const SambaScalar *root = sambaNestYield(nest, output);
  uint32_t accumulator = nest->input_count + output;
  *out = (SambaReduction){0};

  if (root->kind == SAMBA_SCALAR_FMA) {
    const SambaScalar *last = &nest->scalars[root->scalars[2]];
    if (last->kind != SAMBA_SCALAR_OPERAND || last->operand != accumulator)
      return false;
    out->row = &rows[0];
    out->is_product = true;
    out->factors[0] = root->scalars[0], out->factors[1] = root->scalars[1];
  } else {
    if (root->kind != SAMBA_SCALAR_OPERATION || root->count != 2 || root->inverted)
      return false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !out->row; ++i)
      if (strcmp(rows[i].combine, root->operator) == 0)
        out->row = &rows[i];
    uint32_t side = 0;
    while (side < 2 && !(nest->scalars[root->scalars[side]].kind == SAMBA_SCALAR_OPERAND &&
                         nest->scalars[root->scalars[side]].operand == accumulator))
      ++side;
    if (!out->row || side == 2)
      return false;
    out->element = root->scalars[1 - side];
    const SambaScalar *element = &nest->scalars[out->element];
    out->is_product = element->kind == SAMBA_SCALAR_OPERATION &&
                      strcmp(element->operator, "mul") == 0 && strcmp(out->row->reduce, "sum") == 0;
    if (out->is_product)
      out->factors[0] = element->scalars[0], out->factors[1] = element->scalars[1];
  }

  for (uint32_t k = 0; k < nest->output_count; ++k) {
    uint32_t other = nest->input_count + k;
    if (root->kind == SAMBA_SCALAR_FMA ? sambaNestReads(nest, out->factors[0], other) ||
                                             sambaNestReads(nest, out->factors[1], other)
                                       : sambaNestReads(nest, out->element, other))
      return false;
  }
  return true;
}

/* The number that changes nothing, as bits; -0 as well as +0 for sums. */
static bool isNeutral(const SambaReduceRow *row, SambaDType dtype, uint64_t bits) {
  bool floating = sambaDTypeIsFloat(dtype);
  bool is_signed = dtype != SAMBA_DTYPE_UI8;
  int width = 8 * (int)sambaDTypeBytes(dtype);
  double number;

  if (strcmp(row->reduce, "sum") == 0)
    return bits == sambaDTypeBitsOfNumber(dtype, 0) ||
           (floating && bits == sambaDTypeBitsOfNumber(dtype, -0.0));
  if (row->booleans)
    return (bits & 1) == (strcmp(row->reduce, "amin") == 0);
  if (strcmp(row->reduce, "prod") == 0) {
    number = 1;
  } else if (strcmp(row->reduce, "amax") == 0) {
    number = is_signed ? -ldexp(1, width - 1) : 0;
    if (floating)
      number = -INFINITY;
  } else if (width == 64 && !floating) { /* no double is the largest i64 */
    return bits == INT64_MAX;
  } else {
    number = floating ? INFINITY : ldexp(1, is_signed ? width - 1 : width) - 1;
  }
  return bits == sambaDTypeBitsOfNumber(dtype, number);
}

bool sambaReductionStart(const SambaNest *nest, SambaExpansion *expansion, uint32_t output,
                         const SambaReduceRow *row, uint32_t reduced, uint32_t *out_result) {
  const SambaNestOperand *start = sambaNestOutput(nest, output);
  *out_result = reduced;
  if (start->is_undefined)
    return false;
  if (!start->is_splat) {
    *out_result = sambaExpandBinary(expansion, row->combine, reduced, start->value);
  } else if (!isNeutral(row, start->type.dtype, start->bits)) {
    SambaTensorType scalar = {.dtype = start->type.dtype};
    uint32_t number = sambaExpandConstant(expansion, &scalar, &start->bits, true);
    *out_result = sambaExpandBinary(expansion, row->combine, reduced, number);
  }
  return !expansion->status;
}

uint32_t sambaReductionKept(const SambaNest *nest) {
  uint32_t mask = 0;
  for (uint32_t d = 0; d < nest->dim_count; ++d)
    if (!nest->reduced[d] && nest->extents[d] != 1)
      mask |= 1u << d;
  return mask;
}

bool sambaReductionFinish(const SambaNest *nest, SambaExpansion *expansion, uint32_t output,
                          const SambaReduceRow *row, uint32_t value, const SambaFrame *frame,
                          uint32_t *out_result) {
  const SambaTensorType *type = &sambaNestOutput(nest, output)->type;
  SambaFrame whole;
  if (!sambaFrameOfOutput(nest, output, &whole) ||
      !sambaFrameMove(nest, expansion, value, frame, &whole, &value) ||
      sambaExpansionType(expansion, value)->dtype != type->dtype)
    return false;
  value = sambaFrameFill(nest, expansion, value, &whole);
  return !expansion->status && sambaReductionStart(nest, expansion, output, row, value, out_result);
}
