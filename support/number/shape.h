/* Shapes: how many elements they have and how they are written ("2x3x4xf32"). */
#ifndef SAMBA_SUPPORT_NUMBER_SHAPE_H
#define SAMBA_SUPPORT_NUMBER_SHAPE_H

#include <stddef.h>
#include <stdint.h>

enum { SAMBA_SHAPE_TEXT_BYTES = 160 }; /* enough for every shape that the dialects accept */

/* A place that no tensor has: what programs make of an index that lies outside of its dimension.
 * With the size of any tensor added to it, it is still less than half of it. */
#define SAMBA_NO_PLACE (-((int64_t)1 << 48))

/* The product of dimensions, which are not negative; 1 for rank 0. INT64_MAX when it does not fit:
 * whoever takes dimensions from a file compares the result with a bound. */
int64_t sambaShapeElements(uint32_t rank, const int64_t *dims);
/* "2x3x4xf32", or "2x3x4" when element is "". Cut off where the buffer ends; returns buffer. */
const char *sambaShapeFormat(char *buffer, size_t size, uint32_t rank, const int64_t *dims,
                             const char *element);

#endif
