/* Reading and writing what indices select. */
#include "support/base/memory.h"
#include "support/number/convert.h"
#include "support/tensor/index_plan.h"

/* A view of the tensor without the gathered dimension, at its place number `k`. */
static SambaTensor *sliceAt(const SambaTensor *tensor, const SambaIndexPlan *plan,
                            const int64_t *strides, int64_t offset, int64_t at) {
  int64_t dims[SAMBA_TENSOR_MAX_RANK], kept[SAMBA_TENSOR_MAX_RANK];
  uint32_t rank = 0;
  for (uint32_t axis = 0; axis < plan->rank; ++axis) {
    if (axis == plan->gather_axis)
      continue;
    dims[rank] = plan->dims[axis];
    kept[rank++] = strides[axis];
  }
  return sambaTensorView(tensor, rank, dims, kept, offset + at * strides[plan->gather_axis]);
}

/* A fresh tensor of the elements at the places. */
static SambaStatus gather(const SambaTensor *tensor, const SambaIndexPlan *plan,
                          SambaTensor **out_tensor) {
  if (!sambaTensorHasData(tensor))
    return sambaTensorCreateEmpty(tensor->dtype, plan->rank, plan->dims, sambaStringRef(""),
                                  out_tensor);
  SAMBA_RETURN_IF_ERROR(
      sambaTensorAllocate(tensor->dtype, plan->rank, plan->dims, false, out_tensor));
  for (int64_t k = 0; k < plan->dims[plan->gather_axis]; ++k) {
    SambaTensor *from = sliceAt(tensor, plan, plan->strides, plan->offset, plan->places[k]);
    SambaTensor *to = sliceAt(*out_tensor, plan, (*out_tensor)->strides, 0, k);
    sambaTensorConvert(from, from->strides, to);
    sambaTensorRelease(from);
    sambaTensorRelease(to);
  }
  return NULL;
}

SambaStatus sambaTensorIndex(SambaTensor *tensor, uint32_t count, const SambaIndex *indices,
                             SambaTensor **out_tensor) {
  SambaIndexPlan plan;
  *out_tensor = NULL;
  SAMBA_RETURN_IF_ERROR(sambaIndexPlanMake(tensor, count, indices, &plan));
  SambaStatus status = NULL;
  if (plan.gathers)
    status = gather(tensor, &plan, out_tensor);
  else
    *out_tensor = sambaTensorView(tensor, plan.rank, plan.dims, plan.strides, plan.offset);
  sambaIndexPlanFree(&plan);
  if (!status)
    (*out_tensor)->requires_grad = tensor->requires_grad;
  return status;
}

/* ---- Writing ---- */

/* The update, broadcast to what is selected, is written place by place: the last one wins. */
static SambaStatus scatter(SambaTensor *tensor, const SambaIndexPlan *plan,
                           const SambaTensor *update) {
  SambaTensor *whole;
  SAMBA_RETURN_IF_ERROR(sambaTensorAllocate(tensor->dtype, plan->rank, plan->dims, false, &whole));
  SambaStatus status = sambaTensorCopyFrom(whole, update);
  for (int64_t k = 0; k < plan->dims[plan->gather_axis] && !status; ++k) {
    SambaTensor *to = sliceAt(tensor, plan, plan->strides, plan->offset, plan->places[k]);
    SambaTensor *from = sliceAt(whole, plan, whole->strides, 0, k);
    sambaTensorConvert(from, from->strides, to);
    sambaTensorRelease(from);
    sambaTensorRelease(to);
  }
  sambaTensorRelease(whole);
  return status;
}

SambaStatus sambaTensorSetIndex(SambaTensor *tensor, uint32_t count, const SambaIndex *indices,
                                const SambaTensor *update) {
  SambaIndexPlan plan;
  for (uint32_t i = 0; i < count; ++i)
    if (indices[i].kind == SAMBA_INDEX_LIST)
      return sambaStatusMake(SAMBA_UNSUPPORTED,
                             "index %u is a list, which can be read but not written; use a tensor",
                             i);
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "writing in place"));
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(update, "writing from it"));
  SAMBA_RETURN_IF_ERROR(sambaTensorCheckWritable(tensor));
  SAMBA_RETURN_IF_ERROR(sambaIndexPlanMake(tensor, count, indices, &plan));

  SambaStatus status;
  if (plan.gathers) {
    status = scatter(tensor, &plan, update);
  } else {
    SambaTensor *view = sambaTensorView(tensor, plan.rank, plan.dims, plan.strides, plan.offset);
    status = sambaTensorCopyFrom(view, update);
    sambaTensorRelease(view);
  }
  sambaIndexPlanFree(&plan);
  return status;
}

SambaStatus sambaTensorSetIndexScalar(SambaTensor *tensor, uint32_t count,
                                      const SambaIndex *indices, SambaScalar update) {
  uint64_t bits = 0; /* large enough for an element of any type */
  SambaTensor *number;
  SambaBufferView view = {&bits, tensor->dtype, 0, NULL, NULL};
  sambaScalarStore(update, tensor->dtype, &bits);
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateFromBuffer(&view, sambaStringRef(""), &number));
  SambaStatus status = sambaTensorSetIndex(tensor, count, indices, number);
  sambaTensorRelease(number);
  return status;
}
