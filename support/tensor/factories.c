/* Fresh tensors: of one value, of a sequence, and like another one. */
#include "support/tensor/tensor_state.h"

static SambaStatus named(SambaStatus status, SambaStringRef name, SambaTensor **out_tensor) {
  if (!status)
    sambaTensorSetName(*out_tensor, name);
  return status;
}

SambaStatus sambaTensorCreateUninitialized(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                           SambaStringRef name, SambaTensor **out_tensor) {
  return named(sambaTensorAllocate(dtype, rank, dims, false, out_tensor), name, out_tensor);
}

SambaStatus sambaTensorCreateZeros(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                   SambaStringRef name, SambaTensor **out_tensor) {
  return named(sambaTensorAllocate(dtype, rank, dims, true, out_tensor), name, out_tensor);
}
