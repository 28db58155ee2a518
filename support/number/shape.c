/* Shapes; see shape.h. */
#include "support/number/shape.h"

#include <stdio.h>

int64_t sambaShapeElements(uint32_t rank, const int64_t *dims) {
  int64_t elements = 1;
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (dims[axis] == 0)
      return 0; /* no elements, however large the other dimensions are */
  for (uint32_t axis = 0; axis < rank; ++axis)
    if (__builtin_mul_overflow(elements, dims[axis], &elements))
      return INT64_MAX;
  return elements;
}

const char *sambaShapeFormat(char *buffer, size_t size, uint32_t rank, const int64_t *dims,
                             const char *element) {
  size_t used = 0;
  buffer[0] = '\0';

  for (uint32_t axis = 0; axis < rank && used < size; ++axis) {
    const char *between = axis + 1 < rank || element[0] ? "x" : "";
    used += (size_t)snprintf(buffer + used, size - used, "%lld%s", (long long)dims[axis], between);
  }
  if (used < size)
    snprintf(buffer + used, size - used, "%s", element);

  return buffer;
}
