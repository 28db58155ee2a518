/* Numbers from one element type to another, as PyTorch converts them. */
#ifndef SAMBA_SUPPORT_NUMBER_CONVERT_H
#define SAMBA_SUPPORT_NUMBER_CONVERT_H

#include "samba/element_type.h"

/* Converts `count` elements; the steps are in bytes. The arrays do not overlap. */
void sambaConvertRow(SambaDType from, const uint8_t *source, int64_t source_step, SambaDType to,
                     uint8_t *target, int64_t target_step, int64_t count);

/* One element from and to a number of the host. */
SambaScalar sambaScalarLoad(SambaDType dtype, const void *data);
void sambaScalarStore(SambaScalar scalar, SambaDType dtype, void *data);
/* The number as a float or an integer, whatever it is. */
double sambaScalarToDouble(SambaScalar scalar);
int64_t sambaScalarToInteger(SambaScalar scalar);

#endif
