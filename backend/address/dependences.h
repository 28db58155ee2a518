/* Dependences between calls through the bytes that they read and write: a read after the write that
 * made its bytes, a write after everything that read or wrote what it overwrites. */
#ifndef SAMBA_BACKEND_ADDRESS_DEPENDENCES_H
#define SAMBA_BACKEND_ADDRESS_DEPENDENCES_H

#include "support/base/memory.h"

/* A call's last access to a range of bytes that nothing has overwritten since. */
typedef struct SambaMemoryAccess {
  uint64_t begin, end;
  uint32_t call;
  bool write;
} SambaMemoryAccess;

typedef struct SambaDependences { /* zero-initialize */
  SAMBA_ARRAY(SambaMemoryAccess) accesses;
  SAMBA_ARRAY(uint32_t) calls; /* that the current call depends on, each once */
  uint32_t current;
} SambaDependences;

/* Calls are taken in order: begin, all its reads, all its writes; `calls` is then what it depends
 * on, in the order in which the accesses found it. */
void sambaDependencesBegin(SambaDependences *dependences, uint32_t call);
void sambaDependencesRead(SambaDependences *dependences, uint64_t address, uint64_t bytes);
void sambaDependencesWrite(SambaDependences *dependences, uint64_t address, uint64_t bytes);
void sambaDependencesFree(SambaDependences *dependences);

#endif
