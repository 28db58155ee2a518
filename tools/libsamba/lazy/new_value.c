/* New values for tensors: replace and assign; see samba/lazy.h. */
#include "support/number/dtype.h"
#include "support/number/shape.h"
#include "support/text/string_ref.h"
#include "support/text/text.h"
#include "tools/libsamba/lazy/expression.h"

static bool haveOneShape(const SambaTensor *a, const SambaTensor *b) {
  uint32_t rank = sambaTensorGetRank(a);
  return rank == sambaTensorGetRank(b) &&
         memcmp(sambaTensorGetDims(a), sambaTensorGetDims(b), rank * sizeof(int64_t)) == 0;
}

/* "2x3", of a tensor. */
static const char *shapeText(const SambaTensor *tensor, char *buffer) {
  return sambaShapeFormat(buffer, SAMBA_LAZY_TEXT_BYTES, sambaTensorGetRank(tensor),
                          sambaTensorGetDims(tensor), "");
}

static SambaStatus checkShapes(const SambaTensor *tensor, const SambaTensor *source,
                               const char *what) {
  char mine[SAMBA_LAZY_TEXT_BYTES], its[SAMBA_LAZY_TEXT_BYTES];
  if (haveOneShape(tensor, source))
    return NULL;
  return sambaStatusMake(SAMBA_INVALID, "%s: the tensor has shape [%s], but its new value [%s]",
                         what, shapeText(tensor, mine), shapeText(source, its));
}

static SambaStatus checkNoGradient(const SambaTensor *source, const char *what) {
  if (!sambaTensorGetRequiresGrad(source))
    return NULL;
  return sambaStatusMake(
      SAMBA_INVALID, "%s: the new value requires a gradient, which would be lost; detach it", what);
}

/* Is it computed from what requires a gradient, so that backward could start here? */
static bool hasGradientContext(const SambaTensor *tensor) {
  SambaLazyValue value = sambaLazyValueOf(tensor);
  return value.node && value.node->operator && value.node->requires_grad && !value.node->forgotten;
}

/* Data and expression of the source. */
static SambaStatus become(SambaTensor *tensor, const SambaTensor *source) {
  SambaLazyValue value = sambaLazyValueOf(source);
  if (value.node)
    sambaLazyNodeRetain(value.node); /* it may be the tensor's own */
  SambaStatus status = sambaTensorSetData(tensor, source);
  if (!status && value.node && value.node->operator)
    sambaLazyHang(tensor, value);
  else if (!status)
    sambaTensorSetExpression(tensor, NULL, NULL);
  sambaLazyNodeRelease(value.node);
  return status;
}

SambaStatus sambaTensorReplace(SambaTensor *tensor, SambaTensor *source) {
  if (tensor == source)
    return NULL;
  SAMBA_RETURN_IF_ERROR(checkShapes(tensor, source, "replace"));
  SAMBA_RETURN_IF_ERROR(checkNoGradient(source, "replace"));
  if (hasGradientContext(tensor))
    return sambaStatusMake(SAMBA_INVALID,
                           "replace: the tensor is computed from what requires a gradient, which "
                           "would be lost; replace a detached one");
  return become(tensor, source);
}

/* "cpu" or "dev0, dev1" */
static const char *devicesText(const SambaTensor *tensor, SambaText *text) {
  for (uint32_t i = 0; i < sambaTensorGetDeviceCount(tensor); ++i) {
    SambaStringRef device = sambaTensorGetDevice(tensor, i);
    sambaTextFormat(text, "%s%.*s", i ? ", " : "", SAMBA_STRING_ARGS(device));
  }
  return sambaTextGet(text);
}

static SambaStatus checkDevices(const SambaTensor *tensor, const SambaTensor *source) {
  uint32_t count = sambaTensorGetDeviceCount(tensor), mine = 0, its = 0;
  bool same = count == sambaTensorGetDeviceCount(source);
  for (uint32_t i = 0; same && i < count; ++i)
    same = sambaStringRefEqual(sambaTensorGetDevice(tensor, i), sambaTensorGetDevice(source, i));
  if (!same) {
    SambaText one = {0}, other = {0};
    SambaStatus status = sambaStatusMake(
        SAMBA_INVALID, "assign: the tensor is on device %s, but its new value on %s",
        devicesText(tensor, &one), devicesText(source, &other));
    sambaTextFree(&one);
    sambaTextFree(&other);
    return status;
  }

  bool sharded = sambaTensorGetShardAxis(tensor, &mine);
  if (sharded != sambaTensorGetShardAxis(source, &its) || mine != its)
    return sambaStatusMake(SAMBA_INVALID,
                           "assign: the tensor is sharded along axis %d, but its new value along "
                           "%d (-1: not sharded)",
                           sharded ? (int)mine : -1,
                           sambaTensorGetShardAxis(source, &its) ? (int)its : -1);
  return NULL;
}

SambaStatus sambaTensorAssign(SambaTensor *tensor, SambaTensor *source) {
  if (tensor == source)
    return NULL;
  SAMBA_RETURN_IF_ERROR(checkShapes(tensor, source, "assign"));
  SAMBA_RETURN_IF_ERROR(checkDevices(tensor, source));
  if (sambaTensorGetDType(tensor) != sambaTensorGetDType(source))
    return sambaStatusMake(SAMBA_INVALID, "assign: the tensor is %s, but its new value %s",
                           sambaDTypeName(sambaTensorGetDType(tensor)),
                           sambaDTypeName(sambaTensorGetDType(source)));
  SAMBA_RETURN_IF_ERROR(checkNoGradient(source, "assign"));
  if (!sambaTensorHasData(tensor))
    return sambaTensorReplace(tensor, source);
  SAMBA_RETURN_IF_ERROR(sambaTensorRealize(1, &source, NULL));
  return sambaLazyWriteInPlace(tensor, source);
}

SambaStatus sambaTensorAssignScalar(SambaTensor *tensor, SambaScalar number) {
  SambaTensor *source;
  SAMBA_RETURN_IF_ERROR(
      sambaTensorCreateFull(sambaTensorGetDType(tensor), sambaTensorGetRank(tensor),
                            sambaTensorGetDims(tensor), number, (SambaStringRef){0}, &source));
  SambaStatus status = sambaTensorHasData(tensor) ? sambaLazyWriteInPlace(tensor, source)
                                                  : sambaTensorReplace(tensor, source);
  sambaTensorRelease(source);
  return status;
}
