/* Dependences between calls through the bytes that they read and write: a read after the write that
 * made its bytes, a write after everything that read or wrote what it overwrites. */
#ifndef SAMBA_BACKEND_ADDRESS_DEPENDENCES_H
#define SAMBA_BACKEND_ADDRESS_DEPENDENCES_H

#include "support/base/memory.h"
#include "support/container/interval_tree.h"

/* An access of a call to a range of bytes. */
typedef struct SambaMemoryAccess {
  uint64_t begin, end;
  uint32_t call;
  bool write;
} SambaMemoryAccess;

typedef struct SambaDependences { /* zero-initialize */
  SAMBA_ARRAY(SambaMemoryAccess) accesses;
  SambaIntervalTree writes, reads; /* accesses to bytes that nothing has overwritten since */
  SambaIntervalValues found;
  SAMBA_ARRAY(uint32_t) calls;       /* that the current call depends on, each once */
  SAMBA_ARRAY(uint32_t) last_waiter; /* per call: the last that depends on it, at first itself */
  uint32_t current;
} SambaDependences;

/* Calls are taken in order: begin, all its reads, all its writes; `calls` is then what it depends
 * on, in the order of the accesses that it depends on. No bytes: no access. */
void sambaDependencesBegin(SambaDependences *dependences, uint32_t call);
void sambaDependencesRead(SambaDependences *dependences, uint64_t address, uint64_t bytes);
void sambaDependencesWrite(SambaDependences *dependences, uint64_t address, uint64_t bytes);
void sambaDependencesFree(SambaDependences *dependences);

#endif
