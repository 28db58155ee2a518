/* How the banks of a section's buffers are laid out. */
#ifndef SAMBA_BACKEND_CODEGEN_BANKING_H
#define SAMBA_BACKEND_CODEGEN_BANKING_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Sets banking, row_words and skew of every buffer to what costs its ports the fewest cycles. The
 * section has its ports and streams. */
void sambaChooseBanking(const SambaMachine *machine, SambaSection *section);

#endif
