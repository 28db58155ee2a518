/* Whether two sections mean the same: every field equal, streams told apart by where they come
 * from. */
#ifndef SAMBA_TEST_DIALECT_RDU_SAME_SECTION_H
#define SAMBA_TEST_DIALECT_RDU_SAME_SECTION_H

#include "backend/section/section.h"

/* Fails the running test with the first field that differs. */
void assertSameSection(const SambaSection *a, const SambaSection *b);

#endif
