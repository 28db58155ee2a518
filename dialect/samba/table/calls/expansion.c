/* Composite operators as calls of others; see expansion.h. */
#include "dialect/samba/table/calls/expansion.h"

#include "dialect/samba/table/core/rows.h"

#include <stdlib.h>
#include <string.h>

static bool sameType(const SambaTensorType *a, const SambaTensorType *b) {
  return a->dtype == b->dtype && a->rank == b->rank &&
         memcmp(a->dims, b->dims, a->rank * sizeof *a->dims) == 0;
}

/* Remembers a failure (taken) unless there is one. */
static void fail(SambaExpansion *expansion, SambaStatus status) {
  if (expansion->status)
    sambaStatusFree(status);
  else
    expansion->status = status;
}

SambaStatus sambaOperatorExpand(const SambaOperatorCall *call, SambaExpansion *expansion,
                                uint32_t *out_results) {
  SambaTensorType results[SAMBA_MAX_RESULTS];
  SAMBA_RETURN_IF_ERROR(sambaOperatorInfer(call, results));
  uint32_t *operands = SAMBA_ARENA_ARRAY(expansion->arena, uint32_t, call->operand_count + 1);

  for (uint32_t i = 0; i < call->operand_count; ++i)
    operands[i] = sambaExpandOperand(expansion, &call->operands[i]);

  SambaStatus status = call->operator->decompose(call, expansion, operands, out_results);
  if (status)
    fail(expansion, status);
  for (uint32_t i = 0; !expansion->status && i < sambaOperatorResults(call->operator); ++i) {
    char made[160], wanted[160];
    if (!sameType(sambaExpansionType(expansion, out_results[i]), &results[i]))
      fail(expansion,
           sambaStatusMake(
               SAMBA_INVALID, "result %u of the decomposition is %s, not %s", i,
               sambaTensorTypeFormat(sambaExpansionType(expansion, out_results[i]), made),
               sambaTensorTypeFormat(&results[i], wanted)));
  }

  status = expansion->status;
  expansion->status = NULL;
  return status;
}

uint32_t sambaExpandOperand(SambaExpansion *expansion, const SambaTensorType *type) {
  sambaArrayAppend(&expansion->types, *type);
  return (uint32_t)expansion->types.size - 1;
}

void sambaExpansionFree(SambaExpansion *expansion) {
  sambaStatusFree(expansion->status);
  expansion->status = NULL;
  sambaArrayFree(&expansion->types);
  sambaArrayFree(&expansion->steps);
}

const SambaTensorType *sambaExpansionType(const SambaExpansion *expansion, uint32_t value) {
  return &expansion->types.data[value];
}

uint32_t sambaExpandCall(SambaExpansion *expansion, const char *name, uint32_t operand_count,
                         const uint32_t *operands, uint32_t attribute_count,
                         const SambaAttribute *attributes) {
  if (expansion->status)
    return 0;
  SambaOperatorCall call = {.operator = expansion->find(sambaStringRef(name)),
                            .operand_count = operand_count,
                            .attribute_count = attribute_count};
  SambaTensorType results[SAMBA_MAX_RESULTS];
  SambaTensorType *types = SAMBA_ARENA_ARRAY(expansion->arena, SambaTensorType, operand_count + 1);
  SambaAttribute *copies = SAMBA_ARENA_ARRAY(expansion->arena, SambaAttribute, attribute_count + 1);

  for (uint32_t i = 0; i < operand_count; ++i)
    types[i] = expansion->types.data[operands[i]];
  for (uint32_t i = 0; i < attribute_count; ++i) {
    copies[i] = attributes[i];
    if (copies[i].kind == SAMBA_ATTRIBUTE_INTS)
      copies[i].value.integers.data =
          sambaArenaCopy(expansion->arena, copies[i].value.integers.data,
                         copies[i].value.integers.size * sizeof(int64_t));
    if (copies[i].kind == SAMBA_ATTRIBUTE_FLOATS)
      copies[i].value.reals.data = sambaArenaCopy(expansion->arena, copies[i].value.reals.data,
                                                  copies[i].value.reals.size * sizeof(double));
  }

  call.operands = types;
  call.attributes = copies;
  SambaStatus status = call.operator ? sambaOperatorInfer(&call, results)
                                     : sambaStatusMake(SAMBA_INVALID, "there is no such operator");
  if (status) {
    fail(expansion, sambaStatusAnnotate(status, "%s", name));
    return 0;
  }

  SambaExpansionStep step = {
      .operator = call.operator,
      .operand_count = operand_count,
      .operands = sambaArenaCopy(expansion->arena, operands, operand_count * sizeof *operands),
      .attribute_count = attribute_count,
      .attributes = copies,
      .first_value = (uint32_t)expansion->types.size,
      .starts_section = expansion->starts_section};
  expansion->starts_section = false;
  sambaArrayAppend(&expansion->steps, step);
  for (uint32_t i = 0; i < sambaOperatorResults(call.operator); ++i)
    sambaArrayAppend(&expansion->types, results[i]);
  return step.first_value;
}

uint32_t sambaExpandConstant(SambaExpansion *expansion, const SambaTensorType *type,
                             const void *data, bool splat) {
  if (expansion->status)
    return 0;
  size_t bytes = (size_t)(splat ? 1 : sambaTensorTypeElements(type)) * sambaDTypeBytes(type->dtype);
  SambaExpansionStep step = {.data = sambaArenaCopy(expansion->arena, data, bytes),
                             .splat = splat,
                             .first_value = (uint32_t)expansion->types.size};
  sambaArrayAppend(&expansion->steps, step);
  sambaArrayAppend(&expansion->types, *type);
  return step.first_value;
}

uint32_t sambaExpandNumbers(SambaExpansion *expansion, SambaDType dtype, uint32_t rank,
                            const int64_t *dims, const double *numbers) {
  SambaTensorType type = {.dtype = dtype, .rank = rank};
  for (uint32_t axis = 0; axis < rank; ++axis) /* of rank 0: no dims */
    type.dims[axis] = dims[axis];
  size_t width = sambaDTypeBytes(dtype);
  size_t elements = (size_t)sambaTensorTypeElements(&type);
  uint8_t *data = sambaAllocate(sambaArraySize(elements, width));
  for (size_t i = 0; i < elements; ++i) {
    uint64_t bits = sambaDTypeBitsOfNumber(dtype, numbers[i]);
    memcpy(data + i * width, &bits, width);
  }
  uint32_t value = sambaExpandConstant(expansion, &type, data, false);
  free(data);
  return value;
}

uint32_t sambaExpandScalar(SambaExpansion *expansion, SambaDType dtype, double value) {
  SambaTensorType type = {.dtype = dtype};
  uint64_t bits = sambaDTypeBitsOfNumber(dtype, value);
  return sambaExpandConstant(expansion, &type, &bits, true);
}

uint32_t sambaExpandUnary(SambaExpansion *expansion, const char *name, uint32_t x) {
  return sambaExpandCall(expansion, name, 1, &x, 0, NULL);
}

uint32_t sambaExpandBinary(SambaExpansion *expansion, const char *name, uint32_t a, uint32_t b) {
  return sambaExpandCall(expansion, name, 2, (uint32_t[]){a, b}, 0, NULL);
}

uint32_t sambaExpandWithNumber(SambaExpansion *expansion, const char *name, uint32_t a,
                               double number) {
  return sambaExpandBinary(
      expansion, name, a,
      sambaExpandScalar(expansion, sambaExpansionType(expansion, a)->dtype, number));
}

uint32_t sambaExpandCast(SambaExpansion *expansion, uint32_t x, SambaDType dtype) {
  if (sambaExpansionType(expansion, x)->dtype == dtype)
    return x;
  SambaAttribute attribute = sambaDTypeAttribute("dtype", dtype);
  return sambaExpandCall(expansion, "cast", 1, &x, 1, &attribute);
}

static uint32_t reshaped(SambaExpansion *expansion, const char *name, uint32_t x, uint32_t rank,
                         const int64_t *dims) {
  const SambaTensorType *type = sambaExpansionType(expansion, x);
  if (type->rank == rank && (rank == 0 || memcmp(type->dims, dims, rank * sizeof *dims) == 0))
    return x;
  SambaAttribute attribute = sambaIntsAttribute("shape", dims, rank);
  return sambaExpandCall(expansion, name, 1, &x, 1, &attribute);
}

uint32_t sambaExpandReshape(SambaExpansion *expansion, uint32_t x, uint32_t rank,
                            const int64_t *dims) {
  return reshaped(expansion, "reshape", x, rank, dims);
}

uint32_t sambaExpandBroadcast(SambaExpansion *expansion, uint32_t x, uint32_t rank,
                              const int64_t *dims) {
  return reshaped(expansion, "expand", x, rank, dims);
}

uint32_t sambaExpandPermute(SambaExpansion *expansion, uint32_t x, const int64_t *dims) {
  SambaAttribute attribute =
      sambaIntsAttribute("dims", dims, sambaExpansionType(expansion, x)->rank);
  return sambaExpandCall(expansion, "permute", 1, &x, 1, &attribute);
}

uint32_t sambaExpandSlice(SambaExpansion *expansion, uint32_t x, uint32_t dim, int64_t start,
                          int64_t count, int64_t step) {
  const SambaTensorType *type = sambaExpansionType(expansion, x);
  if (start == 0 && step == 1 && count == type->dims[dim])
    return x;
  int64_t starts[SAMBA_MAX_RANK] = {0}, ends[SAMBA_MAX_RANK], steps[SAMBA_MAX_RANK];
  for (uint32_t axis = 0; axis < type->rank; ++axis)
    ends[axis] = type->dims[axis], steps[axis] = 1;
  starts[dim] = start;
  ends[dim] = start + (count - 1) * step + (step > 0 ? 1 : -1);
  steps[dim] = step;
  SambaAttribute attributes[] = {sambaIntsAttribute("starts", starts, type->rank),
                                 sambaIntsAttribute("ends", ends, type->rank),
                                 sambaIntsAttribute("steps", steps, type->rank)};
  return sambaExpandCall(expansion, "slice", 1, &x, 3, attributes);
}

uint32_t sambaExpandCat(SambaExpansion *expansion, uint32_t count, const uint32_t *operands,
                        uint32_t dim) {
  if (count == 1)
    return operands[0];
  SambaAttribute attribute = sambaIntAttribute("dim", dim);
  return sambaExpandCall(expansion, "cat", count, operands, 1, &attribute);
}
