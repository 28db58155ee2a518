/* Comparison with references; see run.h. */
#include "tools/samba-run/run.h"

#include "support/number/dtype.h"
#include "support/number/shape.h"

#include <math.h>
#include <string.h>

static double elementOf(SambaDType dtype, const void *data, uint64_t i) {
  switch (dtype) {
  case SAMBA_DTYPE_F32:
  case SAMBA_DTYPE_BF16:
  case SAMBA_DTYPE_F16:
    return (double)sambaLoadFloat(dtype, data, i);
  case SAMBA_DTYPE_I8:
    return ((const int8_t *)data)[i];
  case SAMBA_DTYPE_I1:
  case SAMBA_DTYPE_UI8:
    return ((const uint8_t *)data)[i];
  case SAMBA_DTYPE_I16:
    return ((const int16_t *)data)[i];
  case SAMBA_DTYPE_I32:
    return ((const int32_t *)data)[i];
  default:
    return (double)((const int64_t *)data)[i];
  }
}

static SambaStatus checkShape(const char *name, const SambaBufferView *got,
                              const SambaTensorFile *reference) {
  if (got->dtype != reference->dtype)
    return sambaStatusMake(SAMBA_MISMATCH, "output '%s' has dtype %s, the reference %s", name,
                           sambaDTypeName(got->dtype), sambaDTypeName(reference->dtype));
  bool same = got->rank == reference->rank;
  for (uint32_t a = 0; same && a < got->rank; ++a)
    same = got->dims[a] == reference->dims[a];
  if (same)
    return NULL;
  uint64_t bytes = (uint64_t)sambaShapeElements(got->rank, got->dims) * sambaDTypeBytes(got->dtype);
  return sambaStatusMake(SAMBA_MISMATCH,
                         "output '%s' has %u axes and %llu bytes, the reference %u axes and %llu "
                         "bytes: the shapes differ",
                         name, got->rank, (unsigned long long)bytes, reference->rank,
                         (unsigned long long)reference->bytes);
}

static SambaStatus compareIntegers(const char *name, const SambaBufferView *got,
                                   const SambaTensorFile *reference) {
  uint64_t bad = 0, first = 0;
  uint32_t size = sambaDTypeBytes(got->dtype);

  for (uint64_t i = 0; i < reference->elements; ++i)
    if (memcmp((const uint8_t *)got->data + i * size, (const uint8_t *)reference->data + i * size,
               size) != 0 &&
        !bad++)
      first = i;
  if (!bad)
    return NULL;
  return sambaStatusMake(
      SAMBA_MISMATCH,
      "output '%s': %llu of %llu integers differ, the first at element %llu: %.0f, expected %.0f",
      name, (unsigned long long)bad, (unsigned long long)reference->elements,
      (unsigned long long)first, elementOf(got->dtype, got->data, first),
      elementOf(got->dtype, reference->data, first));
}

static SambaStatus compareElements(const char *name, const SambaBufferView *got,
                                   const SambaTensorFile *reference,
                                   const SambaCriteria *criteria) {
  uint64_t bad = 0, worst = 0;
  double worst_excess = -1;

  for (uint64_t i = 0; i < reference->elements; ++i) {
    double a = elementOf(got->dtype, got->data, i);
    double b = elementOf(got->dtype, reference->data, i);
    if (a == b || (isnan(a) && isnan(b)))
      continue;
    double bound = criteria->atol + criteria->rtol * fabs(b);
    double difference = fabs(a - b);
    if (difference <= bound && isfinite(b))
      continue;
    ++bad;
    double excess = isfinite(difference) ? difference - bound : INFINITY;
    if (excess > worst_excess)
      worst_excess = excess, worst = i;
  }

  if (!bad)
    return NULL;
  return sambaStatusMake(
      SAMBA_MISMATCH,
      "output '%s': %llu of %llu elements differ by more than %g + %g * |reference|; the worst is "
      "element %llu: %.9g, expected %.9g",
      name, (unsigned long long)bad, (unsigned long long)reference->elements, criteria->atol,
      criteria->rtol, (unsigned long long)worst, elementOf(got->dtype, got->data, worst),
      elementOf(got->dtype, reference->data, worst));
}

static SambaStatus compareNorm(const char *name, const SambaBufferView *got,
                               const SambaTensorFile *reference, double bound) {
  double difference = 0, norm = 0;
  for (uint64_t i = 0; i < reference->elements; ++i) {
    double a = elementOf(got->dtype, got->data, i);
    double b = elementOf(got->dtype, reference->data, i);
    if (a == b || (isnan(a) && isnan(b))) {
      norm += isfinite(b) ? b * b : 0;
      continue;
    }
    difference += (a - b) * (a - b);
    norm += b * b;
  }

  if (sqrt(difference) <= bound * sqrt(norm))
    return NULL;
  return sambaStatusMake(SAMBA_MISMATCH, "output '%s': relative L2 difference %.3g, allowed %.3g",
                         name, sqrt(difference / norm), bound);
}

static SambaStatus compareArgmax(const char *name, const SambaBufferView *got,
                                 const SambaTensorFile *reference) {
  uint64_t width = reference->rank ? (uint64_t)reference->dims[reference->rank - 1] : 1;
  uint64_t bad = 0;
  uint64_t asked = 0;
  uint64_t first = 0;
  bool undefined = false;

  for (uint64_t row = 0; width && row < reference->elements / width; ++row) {
    uint64_t best = 0, ours = 0;
    double top = -INFINITY, second = -INFINITY, ourTop = -INFINITY, error = 0;
    bool lost = false; /* a NaN of ours that the reference does not have decides nothing and hides
                          nothing */
    for (uint64_t i = 0; i < width; ++i) {
      double a = elementOf(got->dtype, got->data, row * width + i);
      double b = elementOf(got->dtype, reference->data, row * width + i);
      if (b > top)
        second = top, top = b, best = i;
      else if (b > second)
        second = b;
      if (a > ourTop)
        ourTop = a, ours = i;
      lost |= isnan(a) && !isnan(b);
      if (a != b)
        error = fmax(error, isnan(a - b) ? INFINITY : fabs(a - b));
    }
    if (!lost && !(top - second > 2 * error))
      continue;
    ++asked;
    if ((lost || ours != best) && !bad++)
      first = row, undefined = lost;
  }

  if (!bad)
    return NULL;
  return sambaStatusMake(SAMBA_MISMATCH,
                         "output '%s': the largest element differs in %llu of %llu decided rows, "
                         "the first is row %llu%s",
                         name, (unsigned long long)bad, (unsigned long long)asked,
                         (unsigned long long)first, undefined ? ", which has a NaN" : "");
}

SambaStatus sambaCompareTensors(const char *name, const SambaTensor *tensor,
                                const SambaTensorFile *reference, const SambaCriteria *criteria) {
  SambaBufferView view;
  const SambaBufferView *got = &view;
  sambaTensorGetBuffer(tensor, &view);
  SAMBA_RETURN_IF_ERROR(checkShape(name, got, reference));
  if (!sambaDTypeIsFloat(got->dtype))
    return compareIntegers(name, got, reference);
  if (criteria->rtol >= 0 || criteria->atol >= 0) {
    SambaCriteria bounds = {.rtol = fmax(criteria->rtol, 0), .atol = fmax(criteria->atol, 0)};
    SAMBA_RETURN_IF_ERROR(compareElements(name, got, reference, &bounds));
  }
  if (criteria->relative_l2 >= 0)
    SAMBA_RETURN_IF_ERROR(compareNorm(name, got, reference, criteria->relative_l2));
  if (criteria->argmax)
    SAMBA_RETURN_IF_ERROR(compareArgmax(name, got, reference));
  return NULL;
}
