/* What a program load moves: the bits of the configuration, that is, the records of units and
 * switches as the encoder writes them (records.def), with the zero bits that align each of them.
 * Symbols are memory that a call binds, and names are not in the bits: neither is loaded. */
#ifndef SAMBA_BACKEND_CONFIG_LOAD_SIZE_H
#define SAMBA_BACKEND_CONFIG_LOAD_SIZE_H

#include "backend/machine/machine.h"
#include "backend/section/section.h"

/* Bytes of a unit's record. They do not depend on where the unit is, nor on lanes and flow ids: a
 * unit that is not placed, with its streams, has them too. */
uint64_t sambaUnitLoadBytes(const SambaUnit *unit);
/* Bytes of a switch's record with so many entries of one kind, none of which names an address
 * generator. */
uint64_t sambaSwitchLoadBytes(uint32_t entries);

/* What loading a section means for each tile of its machine: a tile without units and switch
 * entries has 0 bytes and is not loaded. An address generator belongs to the tile that it meets. */
typedef struct SambaSectionLoad {
  uint64_t bytes; /* of all tiles */
  uint32_t tile_count;
  uint64_t *tile_bytes;
} SambaSectionLoad;
/* Of a placed and routed section, such as a decoded one; in the arena. */
SambaSectionLoad sambaSectionLoadMake(const SambaSection *section, const SambaMachine *machine,
                                      SambaArena *arena);

#endif
