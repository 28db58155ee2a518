/* Fresh tensors: of one value, of a sequence, and like another one. */
#include "support/base/memory.h"
#include "support/number/convert.h"
#include "support/tensor/tensor_state.h"

#include <math.h>

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

SambaStatus sambaTensorCreateOnes(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                  SambaStringRef name, SambaTensor **out_tensor) {
  return sambaTensorCreateFull(dtype, rank, dims, sambaScalarInt(1), name, out_tensor);
}

/* What a number is when nobody names a type. */
static SambaDType dtypeOf(SambaScalar scalar) {
  return scalar.dtype == SAMBA_DTYPE_F64 ? SAMBA_DTYPE_F32 : scalar.dtype;
}

SambaStatus sambaTensorCreateFull(SambaDType dtype, uint32_t rank, const int64_t *dims,
                                  SambaScalar value, SambaStringRef name,
                                  SambaTensor **out_tensor) {
  if (dtype == SAMBA_DTYPE_NONE)
    dtype = dtypeOf(value);
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateUninitialized(dtype, rank, dims, name, out_tensor));
  SambaStatus status = sambaTensorSetIndexScalar(*out_tensor, 0, NULL, value);
  if (status) {
    sambaTensorRelease(*out_tensor);
    *out_tensor = NULL;
  }
  return status;
}

/* ---- Sequences ---- */

/* How many numbers there are in [start, end), or in (end, start] for a negative step. */
static SambaStatus countSteps(SambaDType dtype, SambaScalar start, SambaScalar end,
                              SambaScalar step, int64_t *out_count) {
  double first = sambaScalarToDouble(start), last = sambaScalarToDouble(end);
  double width = sambaScalarToDouble(step);
  if (!isfinite(first) || !isfinite(last) || !isfinite(width) || width == 0 ||
      (!sambaDTypeIsFloatingPoint(dtype) && !sambaScalarToInteger(step)))
    return sambaStatusMake(SAMBA_INVALID,
                           "a range from %g to %g in steps of %g; expected finite numbers, and a "
                           "step that is not 0",
                           first, last, width);
  if ((last - first) * width < 0)
    return sambaStatusMake(SAMBA_INVALID, "a range from %g to %g in steps of %g goes the other way",
                           first, last, width);

  if (dtype == SAMBA_DTYPE_I64) { /* exact where a double is not */
    __int128 size = sambaScalarToInteger(step);
    __int128 range = (__int128)sambaScalarToInteger(end) - sambaScalarToInteger(start);
    __int128 steps = (range + size - (size > 0 ? 1 : -1)) / size;
    *out_count = steps > INT64_MAX ? INT64_MAX : (int64_t)steps;
    return NULL;
  }
  double steps = ceil((last - first) / width);
  *out_count = steps < 0x1p62 ? (int64_t)steps : INT64_MAX;
  return NULL;
}

SambaStatus sambaTensorCreateArange(SambaDType dtype, SambaScalar start, SambaScalar end,
                                    SambaScalar step, SambaStringRef name,
                                    SambaTensor **out_tensor) {
  int64_t count;
  *out_tensor = NULL;
  if (dtype == SAMBA_DTYPE_NONE)
    dtype = dtypeOf(start) == SAMBA_DTYPE_F32 || dtypeOf(end) == SAMBA_DTYPE_F32 ||
                    dtypeOf(step) == SAMBA_DTYPE_F32
                ? SAMBA_DTYPE_F32
                : SAMBA_DTYPE_I64;
  if (dtype == SAMBA_DTYPE_I1)
    return sambaStatusMake(SAMBA_INVALID, "a range of i1; expected a type of numbers");
  SAMBA_RETURN_IF_ERROR(countSteps(dtype, start, end, step, &count));
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateUninitialized(dtype, 1, &count, name, out_tensor));

  uint8_t *data = (*out_tensor)->storage->data;
  double first = sambaScalarToDouble(start), width = sambaScalarToDouble(step);
  uint64_t first_integer = (uint64_t)sambaScalarToInteger(start);
  uint64_t integer_width = (uint64_t)sambaScalarToInteger(step);
  for (int64_t i = 0; i < count; ++i, data += sambaDTypeBytes(dtype)) {
    if (sambaDTypeIsFloatingPoint(dtype))
      sambaScalarStore(sambaScalarFloat(first + width * (double)i), dtype, data);
    else /* modulo the type's size, as in C */
      sambaScalarStore(sambaScalarInt((int64_t)(first_integer + integer_width * (uint64_t)i)),
                       dtype, data);
  }
  return NULL;
}

/* ---- Like another tensor ---- */

static SambaDType typeLike(const SambaTensor *like, SambaDType dtype) {
  return dtype == SAMBA_DTYPE_NONE ? like->dtype : dtype;
}

SambaStatus sambaTensorNewEmpty(const SambaTensor *like, SambaDType dtype, uint32_t rank,
                                const int64_t *dims, SambaTensor **out_tensor) {
  return sambaTensorAllocate(typeLike(like, dtype), rank, dims, false, out_tensor);
}

SambaStatus sambaTensorNewFull(const SambaTensor *like, SambaDType dtype, uint32_t rank,
                               const int64_t *dims, SambaScalar value, SambaTensor **out_tensor) {
  return sambaTensorCreateFull(typeLike(like, dtype), rank, dims, value, sambaStringRef(""),
                               out_tensor);
}

SambaStatus sambaTensorNewOnes(const SambaTensor *like, SambaDType dtype, uint32_t rank,
                               const int64_t *dims, SambaTensor **out_tensor) {
  return sambaTensorCreateOnes(typeLike(like, dtype), rank, dims, sambaStringRef(""), out_tensor);
}

SambaStatus sambaTensorNewZeros(const SambaTensor *like, SambaDType dtype, uint32_t rank,
                                const int64_t *dims, SambaTensor **out_tensor) {
  return sambaTensorAllocate(typeLike(like, dtype), rank, dims, true, out_tensor);
}
