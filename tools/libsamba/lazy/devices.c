/* Tensors on other devices; see samba/lazy.h. */
#include "support/text/string_ref.h"
#include "tools/libsamba/lazy/expression.h"

static SambaStatus place(SambaTensor *tensor, uint32_t count, const SambaStringRef *devices) {
  SambaSharding sharding = {.device_count = count, .devices = devices, .replicated = true};
  return sambaTensorShardInPlace(tensor, &sharding);
}

static bool isThere(const SambaTensor *tensor, uint32_t count, const SambaStringRef *devices) {
  uint32_t axis;
  if (count != sambaTensorGetDeviceCount(tensor) || sambaTensorGetShardAxis(tensor, &axis))
    return false;
  for (uint32_t i = 0; i < count; ++i)
    if (!sambaStringRefEqual(devices[i], sambaTensorGetDevice(tensor, i)))
      return false;
  return true;
}

/* A tensor with data of its own, or with what makes them. */
static SambaStatus copyTensor(const SambaTensor *tensor, SambaTensor **out_copy) {
  SambaDType dtype = sambaTensorGetDType(tensor);
  uint32_t rank = sambaTensorGetRank(tensor);
  const int64_t *dims = sambaTensorGetDims(tensor);
  SambaStringRef name = sambaTensorGetName(tensor);
  SambaTensor *copy;
  SambaStatus status = NULL;
  if (sambaTensorHasData(tensor)) {
    SAMBA_RETURN_IF_ERROR(sambaTensorCreateUninitialized(dtype, rank, dims, name, &copy));
    status = sambaLazyWriteInPlace(copy, tensor);
  } else {
    SAMBA_RETURN_IF_ERROR(sambaTensorCreateEmpty(dtype, rank, dims, name, &copy));
    status = sambaTensorSetData(copy, tensor); /* and who makes them */
  }

  SambaLazyValue value = sambaLazyValueOf(tensor);
  if (!status && value.node && value.node->operator)
    sambaLazyHang(copy, value);
  if (!status)
    status = sambaTensorSetRequiresGrad(copy, sambaTensorGetRequiresGrad(tensor));
  if (status) {
    sambaTensorRelease(copy);
    copy = NULL;
  }
  *out_copy = copy;
  return status;
}

/* The copy gets a copy of the gradient, on the same devices. */
static SambaStatus moveGradient(const SambaTensor *tensor, SambaTensor *copy, uint32_t count,
                                const SambaStringRef *devices) {
  SambaTensor *grad = sambaTensorGetGrad(tensor), *moved;
  if (!grad)
    return NULL;
  SAMBA_RETURN_IF_ERROR(sambaTensorToDevices(grad, count, devices, &moved));
  SambaStatus status = sambaTensorSetGrad(copy, moved);
  sambaTensorRelease(moved);
  return status;
}

SambaStatus sambaTensorToDevices(SambaTensor *tensor, uint32_t count, const SambaStringRef *devices,
                                 SambaTensor **out_tensor) {
  *out_tensor = NULL;
  if (isThere(tensor, count, devices)) {
    *out_tensor = sambaTensorRetain(tensor);
    return NULL;
  }
  SambaTensor *copy;
  SAMBA_RETURN_IF_ERROR(copyTensor(tensor, &copy));
  SambaStatus status = place(copy, count, devices);
  if (!status)
    status = moveGradient(tensor, copy, count, devices);
  if (status)
    sambaTensorRelease(copy);
  else
    *out_tensor = copy;
  return status;
}

SambaStatus sambaTensorToDevicesInPlace(SambaTensor *tensor, uint32_t count,
                                        const SambaStringRef *devices) {
  if (isThere(tensor, count, devices))
    return NULL;
  SAMBA_RETURN_IF_ERROR(place(tensor, count, devices));
  return moveGradient(tensor, tensor, count, devices);
}
