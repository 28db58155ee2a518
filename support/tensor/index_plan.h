/* What a list of indices selects of a tensor. */
#ifndef SAMBA_SUPPORT_TENSOR_INDEX_PLAN_H
#define SAMBA_SUPPORT_TENSOR_INDEX_PLAN_H

#include "support/tensor/tensor_state.h"

/* A view, and at most one dimension of it whose elements are named one by one. */
typedef struct SambaIndexPlan {
  uint32_t rank;
  int64_t dims[SAMBA_TENSOR_MAX_RANK], strides[SAMBA_TENSOR_MAX_RANK];
  int64_t offset;

  bool gathers;
  uint32_t gather_axis; /* of the view; its size in dims is the number of places */
  int64_t *places;      /* resolved, 0 or more; owned */
} SambaIndexPlan;

/* On success the caller frees the plan. */
SambaStatus sambaIndexPlanMake(const SambaTensor *tensor, uint32_t count, const SambaIndex *indices,
                               SambaIndexPlan *out_plan);
void sambaIndexPlanFree(SambaIndexPlan *plan);

#endif
