/* Operators on images that hold the channels of a pixel side by side; inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_WINDOW_CHANNELS_LAST_H
#define SAMBA_DIALECT_SAMBA_TABLE_WINDOW_CHANNELS_LAST_H

#include "dialect/samba/table/calls/expansion.h"

/* The operator without `_channels_last` in its name, between two permutations. */
SambaStatus sambaDecomposeChannelsLast(const SambaOperatorCall *call, SambaExpansion *expansion,
                                       const uint32_t *operands, uint32_t *out_results);

#endif
