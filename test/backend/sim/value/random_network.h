/* Seeded random sections whose units wait for each other in many ways: streams that part and meet
 * again, tokens dealt to copies that share others, rings of slots, values that go around, sums,
 * gathers. About half of them end on machines with shallow FIFOs. */
#ifndef SAMBA_TEST_BACKEND_SIM_VALUE_RANDOM_NETWORK_H
#define SAMBA_TEST_BACKEND_SIM_VALUE_RANDOM_NETWORK_H

#include "test/backend/sim/value/builder.h"

/* Uses the state of srand48. */
void randomNetwork(Builder *builder);

#endif
