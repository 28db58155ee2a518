/* What a list of indices selects of a tensor; see index_plan.h. */
#include "support/tensor/index_plan.h"

#include "support/base/memory.h"
#include "support/number/convert.h"
#include "support/number/integer.h"

#include <math.h>
#include <stdlib.h>

/* The dimension that the next index applies to, and its size. */
typedef struct Place {
  const SambaTensor *tensor;
  uint32_t dim;
  SambaIndexPlan *plan;
} Place;

static SambaStatus addDimension(Place *place, int64_t size, int64_t stride) {
  SambaIndexPlan *plan = place->plan;
  if (plan->rank == SAMBA_TENSOR_MAX_RANK)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "the indices give more than %u dimensions, which a tensor can have",
                           (unsigned)SAMBA_TENSOR_MAX_RANK);
  plan->dims[plan->rank] = size;
  plan->strides[plan->rank++] = stride;
  return NULL;
}

static SambaStatus resolvePlace(const Place *place, int64_t at, int64_t *out_at) {
  int64_t size = place->tensor->dims[place->dim];
  if (at < -size || at >= size)
    return sambaStatusMake(SAMBA_INVALID,
                           "index %lld is out of bounds for dimension %u, which has the size %lld",
                           (long long)at, place->dim, (long long)size);
  *out_at = at < 0 ? at + size : at;
  return NULL;
}

static SambaStatus applyInt(Place *place, int64_t at) {
  SAMBA_RETURN_IF_ERROR(resolvePlace(place, at, &at));
  place->plan->offset += at * place->tensor->strides[place->dim];
  ++place->dim;
  return NULL;
}

/* A bound of a slice, as Python counts: from the end when negative, and never outside. */
static int64_t bound(bool has, int64_t given, int64_t otherwise, int64_t size) {
  if (!has)
    return otherwise;
  return sambaClampInteger(given < 0 ? given + size : given, 0, size);
}

static SambaStatus applySlice(Place *place, const SambaIndex *index) {
  int64_t size = place->tensor->dims[place->dim], stride = place->tensor->strides[place->dim];
  int64_t step = index->has_step ? index->step : 1;
  if (step <= 0)
    return sambaStatusMake(SAMBA_INVALID,
                           "a slice of dimension %u has the step %lld; expected 1 or more",
                           place->dim, (long long)step);

  int64_t start = bound(index->has_start, index->start, 0, size);
  int64_t stop = bound(index->has_stop, index->stop, size, size);
  int64_t length = start < stop ? (stop - start - 1) / step + 1 : 0;
  if (length < 2)
    step = 1; /* a step over the end might not be countable in elements */
  place->plan->offset += length ? start * stride : 0;
  ++place->dim;
  return addDimension(place, length, stride * step);
}

/* ---- Places one by one ---- */

static SambaStatus beginGather(Place *place, int64_t count) {
  SambaIndexPlan *plan = place->plan;
  if (plan->gathers)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "more than one index tensor or list; index one dimension after the "
                           "other");
  plan->gathers = true;
  plan->gather_axis = plan->rank;
  plan->places = sambaAllocate(sambaArraySize((size_t)count, sizeof *plan->places));
  return addDimension(place, count, place->tensor->strides[place->dim]);
}

static SambaStatus applyList(Place *place, const SambaIndex *index) {
  SAMBA_RETURN_IF_ERROR(beginGather(place, index->count));
  for (uint32_t i = 0; i < index->count; ++i)
    SAMBA_RETURN_IF_ERROR(resolvePlace(place, index->list[i], &place->plan->places[i]));
  ++place->dim;
  return NULL;
}

/* An element of an index tensor. */
static SambaStatus loadPlace(const SambaTensor *tensor, int64_t index, int64_t *out_at) {
  const uint8_t *data = sambaTensorGetDataPtr(tensor);
  int64_t stride = tensor->rank ? tensor->strides[0] : 0;
  SambaScalar item =
      sambaScalarLoad(tensor->dtype, data + index * stride * sambaDTypeBytes(tensor->dtype));
  if (item.dtype == SAMBA_DTYPE_F64 &&
      !(fabs(item.number) < 0x1p53 && rint(item.number) == item.number))
    return sambaStatusMake(SAMBA_INVALID,
                           "element %lld of an index tensor is %g; expected a whole number",
                           (long long)index, item.number);
  *out_at = sambaScalarToInteger(item);
  return NULL;
}

static SambaStatus applyTensor(Place *place, const SambaIndex *index) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  const SambaTensor *tensor = index->tensor;
  if (tensor->dtype == SAMBA_DTYPE_I1 || tensor->dtype == SAMBA_DTYPE_UI8)
    return sambaStatusMake(SAMBA_UNSUPPORTED,
                           "%s as an index: masks are not supported; use the places themselves",
                           sambaTensorDescribe(tensor, text));
  if (tensor->rank > 1)
    return sambaStatusMake(SAMBA_UNSUPPORTED, "%s as an index: expected a tensor of rank 1",
                           sambaTensorDescribe(tensor, text));
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "indexing"));
  int64_t at;
  if (!tensor->rank) {
    SAMBA_RETURN_IF_ERROR(loadPlace(tensor, 0, &at));
    return applyInt(place, at);
  }

  SAMBA_RETURN_IF_ERROR(beginGather(place, tensor->elements));
  for (int64_t i = 0; i < tensor->elements; ++i) {
    SAMBA_RETURN_IF_ERROR(loadPlace(tensor, i, &at));
    SAMBA_RETURN_IF_ERROR(resolvePlace(place, at, &place->plan->places[i]));
  }
  ++place->dim;
  return NULL;
}

static SambaStatus apply(Place *place, const SambaIndex *index) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  if (index->kind == SAMBA_INDEX_NEW_AXIS)
    return addDimension(place, 1, 0);
  if (place->dim == place->tensor->rank)
    return sambaStatusMake(SAMBA_INVALID, "too many indices for %s",
                           sambaTensorDescribe(place->tensor, text));
  switch (index->kind) {
  case SAMBA_INDEX_INT:
    return applyInt(place, index->at);
  case SAMBA_INDEX_SLICE:
    return applySlice(place, index);
  case SAMBA_INDEX_LIST:
    return applyList(place, index);
  case SAMBA_INDEX_TENSOR:
    return applyTensor(place, index);
  default:
    return sambaStatusMake(SAMBA_INVALID, "%d is no kind of index", (int)index->kind);
  }
}

SambaStatus sambaIndexPlanMake(const SambaTensor *tensor, uint32_t count, const SambaIndex *indices,
                               SambaIndexPlan *out_plan) {
  *out_plan = (SambaIndexPlan){.offset = tensor->offset};
  Place place = {tensor, 0, out_plan};
  SambaStatus status = NULL;
  for (uint32_t i = 0; i < count && !status; ++i)
    status = apply(&place, &indices[i]);
  for (; place.dim < tensor->rank && !status; ++place.dim)
    status = addDimension(&place, tensor->dims[place.dim], tensor->strides[place.dim]);
  if (!status && out_plan->gathers) /* a list of places can be longer than the dimension */
    status = sambaTensorCheckShape(tensor->dtype, out_plan->rank, out_plan->dims);
  if (status)
    sambaIndexPlanFree(out_plan);
  return status;
}

void sambaIndexPlanFree(SambaIndexPlan *plan) {
  free(plan->places);
  plan->places = NULL;
}
