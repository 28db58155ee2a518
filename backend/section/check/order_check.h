/* Order through memory: what one call of a section both loads and stores. */
#ifndef SAMBA_BACKEND_SECTION_CHECK_ORDER_CHECK_H
#define SAMBA_BACKEND_SECTION_CHECK_ORDER_CHECK_H

#include "backend/section/section.h"

/* Every element that a load reads and a store writes in the same call, and every element that two
 * stores write, is ordered by tokens: one firing needs the other. Two formals that are bound to
 * one symbol - an update in place - are two names of the same elements. addresses: of each formal's
 * element 0. SAMBA_FAULT `missing synchronisation` names the two units, firing and formals. The
 * section has passed sambaSectionCheck. */
SambaStatus sambaSectionCheckOrder(const SambaSection *section, const uint64_t *addresses);

#endif
