/* Parts of a body that become stages of their own. */
#ifndef SAMBA_DIALECT_STAGES_READ_PARTS_H
#define SAMBA_DIALECT_STAGES_READ_PARTS_H

#include "dialect/stages/read_body.h"

/* Makes stages of parts of what the body yields: of a factor of a summed product that is computed
 * from fewer loops than there are - else it would be computed again for each of the others, and not
 * by the array - and of as much as leaves a stage no more tensors to read than it can.
 * accumulator: null when nothing is reduced. */
SambaStatus sambaPartsRead(SambaStructured *structured, MlirValue yielded, MlirValue accumulator,
                           uint32_t *ordinal);

#endif
