/* Order through memory: what one call of a section both loads and stores. */
#ifndef SAMBA_BACKEND_SECTION_CHECK_ORDER_CHECK_H
#define SAMBA_BACKEND_SECTION_CHECK_ORDER_CHECK_H

#include "backend/section/section.h"

/* Every element that a load reads and a store writes in the same call is ordered by tokens: the
 * store's firing needs the load's, or the load's needs the store's. Two formals that are bound to
 * one symbol - an update in place - are two names of the same elements. addresses: of each formal's
 * element 0. SAMBA_FAULT `missing synchronisation` names load, firing, formals and store. The
 * section has passed sambaSectionCheck. */
SambaStatus sambaSectionCheckOrder(const SambaSection *section, const uint64_t *addresses);

#endif
