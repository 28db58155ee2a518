/* Casts of whole tensors, copies that cast, and the type of what several tensors give. */
#include "support/base/memory.h"
#include "support/number/convert.h"
#include "support/tensor/strided.h"
#include "support/tensor/tensor_state.h"

typedef struct Types {
  SambaDType from, to;
} Types;

static void convertRow(void *user, uint8_t *target, int64_t target_step, const uint8_t *source,
                       int64_t source_step, int64_t count) {
  const Types *types = user;
  sambaConvertRow(types->from, source, source_step, types->to, target, target_step, count);
}

void sambaTensorConvert(const SambaTensor *source, const int64_t *source_strides,
                        SambaTensor *target) {
  Types types = {source->dtype, target->dtype};
  SambaStridedPair pair = {.rank = target->rank};
  memcpy(pair.dims, target->dims, sizeof pair.dims);
  sambaStridedSetTarget(&pair, sambaTensorGetDataPtr(target), target->strides,
                        sambaDTypeBytes(target->dtype));
  sambaStridedSetSource(&pair, sambaTensorGetDataPtr(source), source_strides,
                        sambaDTypeBytes(source->dtype));
  if (types.from == types.to)
    sambaStridedCopy(&pair, sambaDTypeBytes(types.to));
  else
    sambaStridedForEachRow(&pair, convertRow, &types);
}

/* A fresh row-major tensor of the same shape, with the data if there are any. */
static SambaStatus convertToFresh(const SambaTensor *tensor, SambaDType dtype,
                                  SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (!sambaTensorHasData(tensor))
    return sambaTensorCreateEmpty(dtype, tensor->rank, tensor->dims, sambaStringRef(""),
                                  out_tensor);
  SAMBA_RETURN_IF_ERROR(sambaTensorAllocate(dtype, tensor->rank, tensor->dims, false, out_tensor));
  sambaTensorConvert(tensor, tensor->strides, *out_tensor);
  return NULL;
}

/* ---- Casts of lazy tensors: their data are cast when they are made ---- */

static void releaseTensor(void *user) { sambaTensorRelease(user); }

static SambaStatus makeCast(void *user, const SambaMaterializeRequest *request) {
  SambaTensor *source = user, *made, *cast;
  SAMBA_RETURN_IF_ERROR(sambaTensorCopyMaterialized(source, request->generator, &made));
  SambaStatus status = convertToFresh(made, request->dtype, &cast);
  if (!status)
    status = sambaTensorReadData(cast, request->data, request->bytes);
  sambaTensorRelease(cast);
  sambaTensorRelease(made);
  return status;
}

SambaStatus sambaTensorCopyAs(SambaTensor *tensor, SambaDType dtype, SambaTensor **out_tensor) {
  SAMBA_RETURN_IF_ERROR(sambaTensorCheckShape(dtype, tensor->rank, tensor->dims));
  SAMBA_RETURN_IF_ERROR(convertToFresh(tensor, dtype, out_tensor));
  sambaTensorInherit(*out_tensor, tensor);
  if (!sambaTensorHasData(tensor) && tensor->storage->maker)
    sambaTensorSetMaterializer(*out_tensor, makeCast, sambaTensorRetain(tensor), releaseTensor);
  return NULL;
}

SambaStatus sambaTensorCast(SambaTensor *tensor, SambaDType dtype, SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (dtype != tensor->dtype)
    return sambaTensorCopyAs(tensor, dtype, out_tensor);
  *out_tensor = sambaTensorRetain(tensor);
  return NULL;
}

SambaStatus sambaTensorCastLike(SambaTensor *tensor, const SambaTensor *like,
                                SambaTensor **out_tensor) {
  return sambaTensorCast(tensor, like->dtype, out_tensor);
}

SambaStatus sambaTensorClone(SambaTensor *tensor, SambaTensor **out_tensor) {
  *out_tensor = NULL;
  return sambaTensorCopyAs(tensor, tensor->dtype, out_tensor);
}

SambaStatus sambaTensorContiguous(SambaTensor *tensor, SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (!sambaTensorIsContiguous(tensor))
    return sambaTensorClone(tensor, out_tensor);
  *out_tensor = sambaTensorRetain(tensor);
  return NULL;
}

SambaDType sambaTensorResultType(uint32_t count, const SambaTensor *const *tensors,
                                 const SambaScalar *scalar) {
  SambaTypedOperand each[2] = {{SAMBA_OPERAND_DIMENSIONED, SAMBA_DTYPE_NONE},
                               {SAMBA_OPERAND_RANK_ZERO, SAMBA_DTYPE_NONE}};
  for (uint32_t i = 0; i < count; ++i) {
    SambaTypedOperand *of = &each[sambaTensorGetRank(tensors[i]) ? 0 : 1];
    of->dtype = sambaDTypePromote(of->dtype, sambaTensorGetDType(tensors[i]));
  }
  SambaTypedOperand all[3] = {each[0], each[1], {SAMBA_OPERAND_SCALAR, SAMBA_DTYPE_NONE}};
  if (scalar)
    all[2].dtype = scalar->dtype;
  return sambaDTypeResult(3, all);
}

/* ---- Elements out as numbers ---- */

SambaStatus sambaTensorCopyToFloat(const SambaTensor *tensor, float *data, int64_t count) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "copying"));
  if (count != tensor->elements)
    return sambaStatusMake(SAMBA_INVALID, "%s has %lld elements, but the buffer has place for %lld",
                           sambaTensorDescribe(tensor, text), (long long)tensor->elements,
                           (long long)count);

  SambaTensor *target;
  SambaBufferView view = {data, SAMBA_DTYPE_F32, tensor->rank, tensor->dims, NULL};
  SAMBA_RETURN_IF_ERROR(sambaTensorCreateFromBuffer(&view, sambaStringRef(""), &target));
  sambaTensorConvert(tensor, tensor->strides, target);
  sambaTensorRelease(target);
  return NULL;
}

SambaStatus sambaTensorGetItem(const SambaTensor *tensor, SambaScalar *out_item) {
  char text[SAMBA_TENSOR_TEXT_BYTES];
  if (tensor->elements != 1)
    return sambaStatusMake(SAMBA_INVALID,
                           "%s has %lld elements; only a tensor with one element is a number",
                           sambaTensorDescribe(tensor, text), (long long)tensor->elements);
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "reading its item"));
  *out_item = sambaScalarLoad(tensor->dtype, sambaTensorGetDataPtr(tensor));
  return NULL;
}

/* ---- Elements in, broadcast ---- */

/* The strides of `source` seen in the target's shape; false: it cannot be broadcast to it. */
static bool broadcastStrides(const SambaTensor *source, const SambaTensor *target,
                             int64_t *out_strides) {
  uint32_t skipped = 0; /* dimensions of size 1 in front that are too many */
  while (source->rank - skipped > target->rank && source->dims[skipped] == 1)
    ++skipped;
  if (source->rank - skipped > target->rank)
    return false;

  uint32_t lead = target->rank - (source->rank - skipped);
  for (uint32_t axis = 0; axis < target->rank; ++axis) {
    uint32_t from = axis - lead + skipped;
    bool repeated = axis < lead || source->dims[from] == 1;
    if (!repeated && source->dims[from] != target->dims[axis])
      return false;
    out_strides[axis] = repeated ? 0 : source->strides[from];
  }
  return true;
}

SambaStatus sambaTensorCopyFrom(SambaTensor *tensor, const SambaTensor *source) {
  char text[SAMBA_TENSOR_TEXT_BYTES], other[SAMBA_TENSOR_TEXT_BYTES];
  int64_t strides[SAMBA_TENSOR_MAX_RANK];
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(tensor, "writing in place"));
  SAMBA_RETURN_IF_ERROR(sambaTensorNeedData(source, "writing from it"));
  SAMBA_RETURN_IF_ERROR(sambaTensorCheckWritable(tensor));
  if (!broadcastStrides(source, tensor, strides))
    return sambaStatusMake(SAMBA_INVALID, "%s cannot be broadcast to %s",
                           sambaTensorDescribe(source, other), sambaTensorDescribe(tensor, text));

  SambaTensor *copy = NULL; /* where both have the same memory, what is read must not change */
  if (sambaTensorSharesStorage(tensor, source)) {
    SAMBA_RETURN_IF_ERROR(convertToFresh(source, source->dtype, &copy));
    broadcastStrides(copy, tensor, strides);
  }
  sambaTensorConvert(copy ? copy : source, strides, tensor);
  sambaTensorRelease(copy);
  return NULL;
}
