/* Reductions over whole dimensions: sum, prod, amax, amin of an element that the body computes, and
 * the searches argmax and argmin, which keep the place beside the value. */
#include "lowering/raise/patterns.h"
#include "lowering/raise/reduce_form.h"

#include <string.h>

/* Whether the operand walks every dimension, those of the output in its order; its frame. */
static bool isWholeBox(const SambaNest *nest, const SambaNestOperand *operand,
                       const SambaFrame *result, SambaFrame *out_frame) {
  uint32_t next = 0;
  *out_frame = (SambaFrame){0};
  if (operand->is_splat || operand->is_undefined)
    return false;

  for (uint32_t a = 0; a < operand->type.rank; ++a) {
    bool plain;
    uint32_t dim = sambaNestAxisDimension(nest, &operand->axes[a], &plain);
    bool twice = dim != SAMBA_NEST_UNIT && sambaFrameHas(out_frame, dim);
    if (!plain || twice ||
        operand->type.dims[a] != (dim == SAMBA_NEST_UNIT ? 1 : nest->extents[dim]))
      return false;
    sambaFrameAppend(out_frame, dim);
    if (dim == SAMBA_NEST_UNIT || nest->reduced[dim])
      continue;
    while (next < result->rank && result->dims[next] == SAMBA_NEST_UNIT)
      ++next;
    if (next == result->rank || result->dims[next++] != dim)
      return false;
  }

  for (uint32_t d = 0; d < nest->dim_count; ++d)
    if (nest->extents[d] != 1 && !sambaFrameHas(out_frame, d))
      return false;
  return true;
}

/* The frame of an operand that the element reads and that is the whole box, so that it need not
 * move; without one, the output's dimensions and then the reduced ones. */
static bool frameOfElement(const SambaNest *nest, uint32_t output, uint32_t element,
                           SambaFrame *out_frame) {
  SambaFrame result;
  if (!sambaFrameOfOutput(nest, output, &result))
    return false;
  for (uint32_t i = 0; i < nest->input_count; ++i)
    if (sambaNestReads(nest, element, i) &&
        isWholeBox(nest, &nest->operands[i], &result, out_frame))
      return true;

  *out_frame = (SambaFrame){0};
  for (uint32_t a = 0; a < result.rank; ++a)
    if (result.dims[a] != SAMBA_NEST_UNIT)
      sambaFrameAppend(out_frame, result.dims[a]);
  for (uint32_t d = 0; d < nest->dim_count; ++d)
    if (nest->reduced[d] && nest->extents[d] != 1)
      sambaFrameAppend(out_frame, d);
  return out_frame->rank <= SAMBA_MAX_RANK;
}

/* Whether the box is much more than what is read: then its elements are better not made. */
static bool isSpread(const SambaNest *nest, uint32_t element) {
  int64_t box = 1, most = 1;
  for (uint32_t d = 0; d < nest->dim_count; ++d)
    box *= nest->extents[d];
  for (uint32_t i = 0; i < nest->input_count; ++i) {
    int64_t elements = 1;
    for (uint32_t a = 0; a < nest->operands[i].type.rank; ++a)
      elements *= nest->operands[i].type.dims[a];
    if (sambaNestReads(nest, element, i) && elements > most)
      most = elements;
  }
  return box > 2 * most;
}

/* The element; of a fused multiplication and addition the product. */
static bool evaluateElement(const SambaNest *nest, SambaExpansion *expansion,
                            const SambaReduction *reduction, bool fused, const SambaFrame *frame,
                            uint32_t *out_value) {
  uint32_t factors[2];
  if (!fused)
    return sambaFrameEvaluate(nest, expansion, reduction->element, frame, out_value);
  for (int i = 0; i < 2; ++i)
    if (!sambaFrameEvaluate(nest, expansion, reduction->factors[i], frame, &factors[i]))
      return false;
  *out_value = sambaExpandBinary(expansion, "mul", factors[0], factors[1]);
  return !expansion->status;
}

/* Reduces the value, which is the whole frame; what is reduced stays as axes of one element. */
static uint32_t reduceOver(const SambaNest *nest, SambaExpansion *expansion, const char *name,
                           uint32_t value, SambaFrame *frame) {
  int64_t dims[SAMBA_MAX_RANK];
  size_t count = 0;
  for (uint32_t a = 0; a < frame->rank; ++a)
    if (frame->dims[a] != SAMBA_NEST_UNIT && nest->reduced[frame->dims[a]])
      dims[count++] = a, frame->dims[a] = SAMBA_NEST_UNIT;
  if (!count)
    return value;
  SambaAttribute attributes[] = {sambaIntsAttribute("dim", dims, count),
                                 sambaBoolAttribute("keepdim", true)};
  return sambaExpandCall(expansion, name, 1, &value, 2, attributes);
}

bool sambaNestReduction(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results) {
  if (!nest->reduces)
    return false;
  for (uint32_t output = 0; output < nest->output_count; ++output) {
    SambaReduction reduction;
    SambaFrame frame;
    uint32_t value;
    const SambaScalar *root = sambaNestYield(nest, output);
    bool fused = root->kind == SAMBA_SCALAR_FMA;
    if (!sambaReductionOf(nest, output, &reduction) ||
        reduction.row->booleans != (root->dtype == SAMBA_DTYPE_I1))
      return false;
    uint32_t element = fused ? nest->yields[output] : reduction.element;
    if (!frameOfElement(nest, output, element, &frame) || isSpread(nest, element) ||
        !evaluateElement(nest, expansion, &reduction, fused, &frame, &value))
      return false;
    value = sambaFrameFill(nest, expansion, value, &frame);
    value = reduceOver(nest, expansion, reduction.row->reduce, value, &frame);
    if (!sambaReductionFinish(nest, expansion, output, reduction.row, value, &frame,
                              &out_results[output]))
      return false;
  }
  return true;
}

/*===-- Searches ------------------------------------------------------------------------------===*/

static bool isOperation(const SambaScalar *scalar, const char *name) {
  return scalar->kind == SAMBA_SCALAR_OPERATION && strcmp(scalar->operator, name) == 0;
}

static bool isAccumulator(const SambaNest *nest, uint32_t scalar, uint32_t output) {
  const SambaScalar *part = &nest->scalars[scalar];
  return part->kind == SAMBA_SCALAR_OPERAND && part->operand == nest->input_count + output;
}

/* The place along a dimension, as the integer that the search keeps. */
static bool isPlace(const SambaNest *nest, uint32_t scalar, uint32_t *out_dim) {
  const SambaScalar *part = &nest->scalars[scalar];
  while (part->kind == SAMBA_SCALAR_FROM_INDEX || isOperation(part, "cast"))
    part = &nest->scalars[part->scalars[0]];
  *out_dim = part->dimension;
  return part->kind == SAMBA_SCALAR_INDEX;
}

typedef struct SearchForm {
  const char *compare, *search, *reduce;
  bool inverted; /* the comparison; then a NaN wins once */
} SearchForm;

typedef struct Search {
  const SearchForm *form;
  uint32_t value, place; /* outputs */
  uint32_t dim, element;
} Search;

/* The comparison of an element with the value so far. In the form in which a NaN wins, a value that
 * is one stays: compare(element, value) and value == value. */
static const SambaScalar *comparisonOf(const SambaNest *nest, const SambaScalar *choice,
                                       uint32_t value, bool *out_nan) {
  *out_nan = false;
  if (!isOperation(choice, "logical_and"))
    return choice;
  for (int i = 0; i < 2; ++i) {
    const SambaScalar *ordered = &nest->scalars[choice->scalars[i]];
    if (!isOperation(ordered, "eq") || ordered->inverted ||
        !isAccumulator(nest, ordered->scalars[0], value) ||
        !isAccumulator(nest, ordered->scalars[1], value))
      continue;
    *out_nan = true;
    return &nest->scalars[choice->scalars[1 - i]];
  }
  return choice;
}

static bool searchOf(const SambaNest *nest, uint32_t place, Search *out) {
  static const SearchForm forms[] = {{"gt", "argmax", "amax", false},
                                     {"lt", "argmin", "amin", false},
                                     {"le", "argmax", "amax", true},
                                     {"ge", "argmin", "amin", true}};
  const SambaScalar *where = sambaNestYield(nest, place);
  const SambaScalar *value = sambaNestYield(nest, 1 - place);
  bool nan;

  *out = (Search){.value = 1 - place, .place = place};
  if (!isOperation(where, "where") || !isPlace(nest, where->scalars[1], &out->dim) ||
      !isAccumulator(nest, where->scalars[2], place) || !nest->reduced[out->dim])
    return false;
  const SambaScalar *choice =
      comparisonOf(nest, &nest->scalars[where->scalars[0]], out->value, &nan);
  for (size_t i = 0; i < sizeof forms / sizeof *forms; ++i)
    if (isOperation(choice, forms[i].compare) && choice->inverted == forms[i].inverted &&
        forms[i].inverted == nan)
      out->form = &forms[i];
  if (!out->form || !isAccumulator(nest, choice->scalars[1], out->value))
    return false;

  out->element = choice->scalars[0];
  bool chosen = isOperation(value, "where") && value->scalars[0] == where->scalars[0] &&
                value->scalars[1] == out->element &&
                isAccumulator(nest, value->scalars[2], out->value);
  bool largest = isOperation(value, strcmp(out->form->reduce, "amax") == 0 ? "maximum" : "minimum");
  bool extreme =
      largest && !sambaDTypeIsFloat(value->dtype) && /* of floats a NaN would win */
      ((value->scalars[0] == out->element && isAccumulator(nest, value->scalars[1], out->value)) ||
       (value->scalars[1] == out->element && isAccumulator(nest, value->scalars[0], out->value)));
  return (extreme || chosen) && !sambaNestReads(nest, out->element, nest->input_count) &&
         !sambaNestReads(nest, out->element, nest->input_count + 1);
}

/* Two outputs, value and place in any order: both are chosen by one comparison of the element with
 * the value so far. What does not win against the start, a NaN in an ordered comparison too,
 * becomes the start, so that the operator finds the same place. */
bool sambaNestSearch(const SambaNest *nest, SambaExpansion *expansion, uint32_t *out_results) {
  Search search;
  if (!nest->reduces || nest->output_count != 2 ||
      (!searchOf(nest, 0, &search) && !searchOf(nest, 1, &search)))
    return false;
  for (uint32_t d = 0; d < nest->dim_count; ++d)
    if (nest->reduced[d] && d != search.dim && nest->extents[d] != 1)
      return false;
  const SambaNestOperand *start = sambaNestOutput(nest, search.value);
  const SambaNestOperand *first = sambaNestOutput(nest, search.place);
  if (!start->is_splat || !first->is_splat || first->bits)
    return false;

  SambaFrame frame;
  uint32_t x;
  if (nest->extents[search.dim] == 1 ||
      !frameOfElement(nest, search.value, search.element, &frame) ||
      !sambaFrameEvaluate(nest, expansion, search.element, &frame, &x))
    return false;
  SambaTensorType scalar = {.dtype = start->type.dtype};
  uint32_t least = sambaExpandConstant(expansion, &scalar, &start->bits, true);
  x = sambaFrameFill(nest, expansion, x, &frame);
  uint32_t wins = sambaExpandBinary(expansion, search.form->compare, x, least);
  if (search.form->inverted)
    wins = sambaExpandUnary(expansion, "logical_not", wins);
  x = sambaExpandCall(expansion, "where", 3, (uint32_t[]){wins, x, least}, 0, NULL);

  uint32_t axis = 0;
  while (axis < frame.rank && frame.dims[axis] != search.dim)
    ++axis;
  SambaAttribute attributes[] = {sambaIntAttribute("dim", axis),
                                 sambaBoolAttribute("keepdim", true)};
  uint32_t found[2];
  found[search.place] = sambaExpandCast(
      expansion, sambaExpandCall(expansion, search.form->search, 1, &x, 2, attributes),
      first->type.dtype);
  found[search.value] = reduceOver(nest, expansion, search.form->reduce, x, &frame);

  for (uint32_t k = 0; k < 2; ++k) {
    const SambaTensorType *type = &sambaNestOutput(nest, k)->type;
    SambaFrame whole;
    uint32_t moved;
    if (!sambaFrameOfOutput(nest, k, &whole) ||
        !sambaFrameMove(nest, expansion, found[k], &frame, &whole, &moved))
      return false;
    out_results[k] = sambaExpandReshape(expansion, moved, type->rank, type->dims);
  }
  return true;
}
