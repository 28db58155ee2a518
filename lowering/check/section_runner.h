/* Running an rdu section with values. The compiler half does not know the simulator: a program that
 * links both brings it here. */
#ifndef SAMBA_LOWERING_CHECK_SECTION_RUNNER_H
#define SAMBA_LOWERING_CHECK_SECTION_RUNNER_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* The memory behind a formal of a section, as the device stores it. */
typedef struct SambaSectionFormal {
  uint8_t *data; /* aligned to 64 */
  uint64_t bytes;
} SambaSectionFormal;

typedef SambaStatus (*SambaSectionRunner)(const SambaMachine *machine, const SambaSection *section,
                                          const SambaSectionFormal *formals, const uint64_t *argins,
                                          uint32_t argin_count);

/* Once, at the start of the program. */
void sambaSetSectionRunner(SambaSectionRunner runner);
/* NULL: the program has none. */
SambaSectionRunner sambaGetSectionRunner(void);

#endif
