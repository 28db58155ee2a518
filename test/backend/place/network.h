/* Building sections for the placer's and router's tests: units, streams, and the shapes
 * that recur. */
#ifndef SAMBA_TEST_BACKEND_PLACE_NETWORK_H
#define SAMBA_TEST_BACKEND_PLACE_NETWORK_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

typedef struct Network {
  SambaArena arena;
  SambaSection section;
  uint32_t *rates; /* of the streams, in permille of a lane */
  size_t unit_capacity, stream_capacity, rate_capacity;
  uint64_t random;
} Network;

void networkCreate(Network *network, const char *name);
void networkDestroy(Network *network);
uint32_t networkRandom(Network *network, uint32_t bound);

/* A unit; name is "load0", "buffer1", ... by its index among all units. */
uint32_t networkUnit(Network *network, SambaUnitKind kind, const char *layer);
/* A vector stream from a new or existing output port to input ports; port UINT32_MAX makes a new
 * port. */
uint32_t networkStream(Network *network, uint32_t rate, SambaEndpoint source,
                       const SambaEndpoint *destinations, uint32_t count);
/* One stream between new ports of two units. */
uint32_t networkLink(Network *network, uint32_t rate, uint32_t source, uint32_t destination);

/* rows x columns PCUs; each row's operand buffer is multicast to the row's PCUs, each column's to
 * the column's; each row's results merge into one store; loads feed the buffers, several each. */
void networkMatmul(Network *network, uint32_t rows, uint32_t columns, uint32_t loads,
                   uint32_t operandRate, uint32_t resultRate);
/* loads -> random acyclic graph of buffers and PCUs -> stores. */
void networkRandomGraph(Network *network, uint32_t buffers, uint32_t computes, uint32_t ags,
                        uint32_t fanout, uint32_t rate);

/* A copy of a shipped machine that may be changed. */
SambaMachine networkMachine(const char *name);

#endif
