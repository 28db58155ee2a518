/* Where tensors lie that one call streams side by side.
 *
 * A request to a row of a bank waits for the row that another stream has open there. Streams that
 * walk their tensors at one pace never meet in a bank when the addresses at which they are differ
 * in a bit that turns the bank, and in nothing else that does. So memory is seen as blocks of four
 * columns: from column to column each place moves to a bank that lies a quarter, a half and three
 * quarters of the banks away (docs/timing-model.md, "Memory"). What is streamed together lies at
 * one height of different columns. */
#ifndef SAMBA_BACKEND_ADDRESS_BANK_COLUMNS_H
#define SAMBA_BACKEND_ADDRESS_BANK_COLUMNS_H

#include "backend/machine/machine.h"

enum { SAMBA_BANK_COLUMNS = 4 };

/* What has fewer bytes passes through all banks of the HBM less often than there are banks, and
 * lies anywhere. 0: the banks have no columns. */
uint64_t sambaBankColumnsLeast(const SambaMachine *machine);
/* Bytes of the smallest columns in which tensors of so many bytes lie; 0: there are none. */
uint64_t sambaBankColumnBytes(const SambaMachine *machine, uint64_t bytes);

typedef struct SambaColumnTensor {
  uint64_t bytes;   /* a multiple of the memory's alignment */
  uint64_t address; /* out */
} SambaColumnTensor;

/* Indices of tensors that one call reads or writes, none of them twice. */
typedef struct SambaColumnTeam {
  const uint32_t *tensors;
  uint32_t count;
} SambaColumnTeam;

/* Gives every tensor an address in [start, end) of the HBM. Small teams choose first: in a large
 * one not all is streamed at one pace. Deterministic; sorts the teams. False when there is not
 * enough room, or the banks have no columns. */
bool sambaBankColumnsAssign(const SambaMachine *machine, SambaColumnTensor *tensors, uint32_t count,
                            SambaColumnTeam *teams, uint32_t team_count, uint64_t start,
                            uint64_t end);

#endif
