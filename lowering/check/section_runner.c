/* The simulator that the program has brought; see section_runner.h. */
#include "lowering/check/section_runner.h"

static SambaSectionRunner section_runner;

void sambaSetSectionRunner(SambaSectionRunner runner) { section_runner = runner; }
SambaSectionRunner sambaGetSectionRunner(void) { return section_runner; }
