/* Seeded random matrix products as the array of a chip does them: pass by pass, with operands that
 * PMUs send again for each pass. */
#ifndef SAMBA_TEST_BACKEND_SIM_VALUE_RANDOM_PASSES_H
#define SAMBA_TEST_BACKEND_SIM_VALUE_RANDOM_PASSES_H

#include "test/backend/sim/value/builder.h"

/* Builds the section; formals have zeroed memory still. Uses the state of srand48. */
void randomPasses(Builder *builder);

#endif
