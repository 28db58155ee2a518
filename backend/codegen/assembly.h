/* Assembly of a section: units, ports and streams are appended one by one; names are made unique;
 * the finished arrays go into the section's arena. Streams of a port take turns in the order in
 * which they were connected. */
#ifndef SAMBA_BACKEND_CODEGEN_ASSEMBLY_H
#define SAMBA_BACKEND_CODEGEN_ASSEMBLY_H

#include "backend/section/section.h"
#include "support/container/string_map.h"

typedef struct SambaAssembly {
  SambaArena *arena; /* the section's */
  SAMBA_ARRAY(SambaUnit) units;
  SAMBA_ARRAY(SambaStream) streams;
  SambaStringMap names;
  SAMBA_ARRAY(uint32_t) suffixes; /* of each unit: the next one for another unit of its name */
} SambaAssembly;

typedef struct SambaEndpoints {
  size_t size, capacity;
  SambaEndpoint *data;
} SambaEndpoints;

/* Appends a unit with this many ports (zeroed) and returns its index. name is made unique with
 * "_2", "_3", ... */
uint32_t sambaAssemblyAddUnit(SambaAssembly *assembly, SambaUnitKind kind, const char *name,
                              const char *layer, uint32_t inputs, uint32_t outputs);
/* Borrowed until the next unit is added. */
static inline SambaUnit *sambaAssemblyUnit(SambaAssembly *assembly, uint32_t unit) {
  return &assembly->units.data[unit];
}
/* Joins source port and destination ports with a vector stream (planned rate: set later). */
void sambaAssemblyConnect(SambaAssembly *assembly, SambaEndpoint source,
                          const SambaEndpoint *destinations, size_t count);
/* Fills the ports' stream lists and moves everything into out_section; releases the assembly. */
void sambaAssemblyFinish(SambaAssembly *assembly, SambaSection *out_section);
void sambaAssemblyDestroy(SambaAssembly *assembly);

#endif
