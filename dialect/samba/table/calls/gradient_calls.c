/* What the rules of rows share; see gradient_calls.h. */
#include "dialect/samba/table/calls/gradient_calls.h"

#include <string.h>

static uint32_t reduce(SambaExpansion *expansion, const char *name, uint32_t a, const bool *reduced,
                       bool keeps) {
  int64_t dims[SAMBA_MAX_RANK];
  size_t count = 0;
  for (uint32_t axis = 0; axis < sambaExpansionType(expansion, a)->rank; ++axis)
    if (reduced[axis])
      dims[count++] = axis;
  SambaAttribute attributes[] = {sambaIntsAttribute("dim", dims, count),
                                 sambaBoolAttribute("keepdim", keeps)};
  return count ? sambaExpandCall(expansion, name, 1, &a, 2, attributes) : a;
}

uint32_t sambaExpandReduce(SambaExpansion *expansion, const char *name, uint32_t a,
                           const bool *reduced) {
  return reduce(expansion, name, a, reduced, true);
}

uint32_t sambaExpandFilled(SambaExpansion *expansion, SambaDType dtype, uint32_t rank,
                           const int64_t *dims, double number) {
  SambaTensorType type = {.dtype = dtype, .rank = rank};
  uint64_t bits = sambaDTypeBitsOfNumber(dtype, number);
  memcpy(type.dims, dims, rank * sizeof *dims);
  return sambaExpandConstant(expansion, &type, &bits, true);
}

/* The dimensions that stay are those of the result: the sum has its shape, and nothing is a view.
 */
static bool hasShapeOfRest(const SambaTensorType *type, const bool *summed, uint32_t rank,
                           const int64_t *dims) {
  uint32_t kept = 0;
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    if (!summed[axis] && (kept == rank || type->dims[axis] != dims[kept++]))
      return false;
  return kept == rank;
}

uint32_t sambaExpandSumTo(SambaExpansion *expansion, uint32_t value, uint32_t rank,
                          const int64_t *dims) {
  const SambaTensorType *type = sambaExpansionType(expansion, value);
  bool summed[SAMBA_MAX_RANK];
  uint32_t added = type->rank - rank; /* dimensions that broadcasting put in front */

  for (uint32_t axis = 0; axis < type->rank; ++axis)
    summed[axis] = axis < added || dims[axis - added] != type->dims[axis];
  bool keeps = !hasShapeOfRest(type, summed, rank, dims);
  value = reduce(expansion, "sum", value, summed, keeps);
  return sambaExpandReshape(expansion, value, rank, dims);
}

void sambaGradientBroadcast(const SambaGradientCall *gradient, SambaExpansion *expansion,
                            uint32_t operand, uint32_t value) {
  const SambaTensorType *type = &gradient->call->operands[operand];
  if (gradient->needed[operand])
    gradient->operand_gradients[operand] =
        sambaExpandSumTo(expansion, value, type->rank, type->dims);
}
