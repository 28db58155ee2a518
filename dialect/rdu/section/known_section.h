/* Sections that are known as structs already, so that passes need not read each other's IR.
 *
 * Whoever has written a section's IR, or has read and checked it, leaves the struct in its
 * context's store under the digest of the IR. The next one that asks for an operation with this
 * digest gets the struct; if anything else has changed the operation, its digest is another one and
 * the section is read from IR. */
#ifndef SAMBA_DIALECT_RDU_SECTION_KNOWN_SECTION_H
#define SAMBA_DIALECT_RDU_SECTION_KNOWN_SECTION_H

#include "backend/section/section.h"
#include "support/container/result_store.h"

#include "mlir-c/IR.h"

typedef struct SambaKnownSection {
  SambaArena arena; /* of the section */
  SambaSection *section;
  SambaContentDigest digest; /* of the IR that says the same */
} SambaKnownSection;

/* A known section that makes the arena its own. */
SambaKnownSection *sambaKnownSectionCreate(SambaArena arena, SambaSection *section);
void sambaKnownSectionDestroy(SambaKnownSection *known); /* may be NULL */

/* What the rdu.section says, from the store or read: the caller's, to change and to keep again. Its
 * structure has been checked. */
SambaStatus sambaKnownSectionTake(MlirOperation op, SambaKnownSection **out_known);
/* The operation says what the struct says from now on, structure checked and streams numbered as
 * sambaSectionNumberStreams does. */
void sambaKnownSectionKeep(MlirOperation op, SambaKnownSection *known);
/* Neither the operation nor the struct has changed since it was taken. */
void sambaKnownSectionGiveBack(MlirOperation op, SambaKnownSection *known);
/* Checks the operation's structure unless it is known. out_fault: as in sambaSectionFromIr. */
SambaStatus sambaKnownSectionVerify(MlirOperation op, MlirOperation *out_fault);

#endif
