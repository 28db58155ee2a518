/* Padding of long reductions; see stage_pad.c. Inside the operator table. */
#ifndef SAMBA_DIALECT_SAMBA_TABLE_CORE_STAGE_PAD_H
#define SAMBA_DIALECT_SAMBA_TABLE_CORE_STAGE_PAD_H

#include "dialect/samba/table/core/lane_program.h"

/* Makes reduced dimensions longer whose extents have no divisor that a long reduction could be cut
 * by. The program's last operation is the reduction. */
void sambaStagePad(SambaStageBuilder *builder);

#endif
